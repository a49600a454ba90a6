/* Loads and stores with cache hints come with every CUDA compilation. */
#ifndef RADDLE_SM_32_INTRINSICS_H
#define RADDLE_SM_32_INTRINSICS_H

#include "crt/host_defines.h"

#endif
