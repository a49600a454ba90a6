/* Functions of C that kernels may call come with every CUDA compilation. */
#ifndef RADDLE_COMMON_FUNCTIONS_H
#define RADDLE_COMMON_FUNCTIONS_H

#include "crt/host_defines.h"

#endif
