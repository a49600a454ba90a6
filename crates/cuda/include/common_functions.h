/* Functions of C that kernels may call come with every CUDA compilation. */
#ifndef RADDLE_COMMON_FUNCTIONS_H
#define RADDLE_COMMON_FUNCTIONS_H

#include "crt/host_defines.h"

/* Programs that were written for the vendor's compiler rely on these being there. */
#if !defined(__CUDACC_RTC__)
#include <string.h>
#include <time.h>
#endif

#endif
