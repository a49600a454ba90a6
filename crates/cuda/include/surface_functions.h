/* Reads and writes of surfaces come with every CUDA compilation. */
#ifndef RADDLE_SURFACE_FUNCTIONS_H
#define RADDLE_SURFACE_FUNCTIONS_H

#include "surface_types.h"

#endif
