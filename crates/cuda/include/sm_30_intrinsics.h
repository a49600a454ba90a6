/* Shuffles and votes come with every CUDA compilation. */
#ifndef RADDLE_SM_30_INTRINSICS_H
#define RADDLE_SM_30_INTRINSICS_H

#include "crt/host_defines.h"

#endif
