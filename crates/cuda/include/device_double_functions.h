/* Device functions for doubles come with every CUDA compilation. */
#ifndef RADDLE_DEVICE_DOUBLE_FUNCTIONS_H
#define RADDLE_DEVICE_DOUBLE_FUNCTIONS_H

#include "crt/host_defines.h"

#endif
