/* Device functions: clang has its own. */
#ifndef __DEVICE_FUNCTIONS_HPP__
#define __DEVICE_FUNCTIONS_HPP__

#endif
