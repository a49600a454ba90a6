/* The words of CUDA C++, by their old address. */
#ifndef RADDLE_HOST_DEFINES_H
#define RADDLE_HOST_DEFINES_H

#include "crt/host_defines.h"

#endif
