/* Registration of device code: clang writes the calls itself. */
#ifndef __HOST_RUNTIME_H__
#define __HOST_RUNTIME_H__

#endif
