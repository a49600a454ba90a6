/* Atomic functions are all in device_atomic_functions.hpp. */
#ifndef __SM_60_ATOMIC_FUNCTIONS_HPP__
#define __SM_60_ATOMIC_FUNCTIONS_HPP__

#endif
