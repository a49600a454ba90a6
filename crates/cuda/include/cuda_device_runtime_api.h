/* What kernels may call of the runtime: launches from the device are not provided, so nothing is declared here. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "driver_types.h"

#endif
