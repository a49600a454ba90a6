/* Atomic functions of kernels. All of them are in device_atomic_functions.hpp, which clang reads next. */
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__

#include "crt/host_defines.h"

#endif
