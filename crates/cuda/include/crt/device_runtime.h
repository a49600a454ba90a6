/* Support of device code: clang has its own. */
#ifndef __DEVICE_RUNTIME_H__
#define __DEVICE_RUNTIME_H__

#endif
