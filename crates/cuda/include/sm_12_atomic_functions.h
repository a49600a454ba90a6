/* Atomic functions come with every CUDA compilation. */
#ifndef __SM_12_ATOMIC_FUNCTIONS_H__
#define __SM_12_ATOMIC_FUNCTIONS_H__

#include "crt/host_defines.h"

#endif
