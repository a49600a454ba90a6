/* Dot products of bytes come with every CUDA compilation. */
#ifndef RADDLE_SM_61_INTRINSICS_H
#define RADDLE_SM_61_INTRINSICS_H

#include "crt/host_defines.h"

#endif
