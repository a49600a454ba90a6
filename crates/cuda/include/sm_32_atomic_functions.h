/* Atomic functions are all in device_atomic_functions.hpp. */
#ifndef __SM_32_ATOMIC_FUNCTIONS_H__
#define __SM_32_ATOMIC_FUNCTIONS_H__

#endif
