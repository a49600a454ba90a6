/* Device functions for doubles: clang has its own. */
#ifndef __DEVICE_DOUBLE_FUNCTIONS_HPP__
#define __DEVICE_DOUBLE_FUNCTIONS_HPP__

#endif
