/* Device functions for doubles come with every CUDA compilation. */
#ifndef __SM_13_DOUBLE_FUNCTIONS_H__
#define __SM_13_DOUBLE_FUNCTIONS_H__

#include "crt/host_defines.h"

#endif
