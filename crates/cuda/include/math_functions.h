/* Mathematical functions come with every CUDA compilation. */
#ifndef RADDLE_MATH_FUNCTIONS_H
#define RADDLE_MATH_FUNCTIONS_H

#include "crt/host_defines.h"

#endif
