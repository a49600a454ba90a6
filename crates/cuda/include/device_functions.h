/* Device functions come with every CUDA compilation; programs that name this header get the types. */
#ifndef RADDLE_DEVICE_FUNCTIONS_H
#define RADDLE_DEVICE_FUNCTIONS_H

#include "vector_types.h"

#endif
