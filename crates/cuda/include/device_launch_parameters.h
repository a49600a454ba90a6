/* threadIdx, blockIdx, blockDim, gridDim and warpSize.
 *
 * clang declares them in every CUDA compilation. This header is for programs that include it by name, and for editors
 * that read device code as plain C++. */
#ifndef RADDLE_DEVICE_LAUNCH_PARAMETERS_H
#define RADDLE_DEVICE_LAUNCH_PARAMETERS_H

#include "vector_types.h"

#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#if defined(__cplusplus) && !defined(__CUDA__)
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
#endif
#endif

#endif
