/* Barriers by which threads arrive and wait, as cuda::barrier. */
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda/barrier"

#endif
