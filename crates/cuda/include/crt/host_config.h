/* What the host compiler has to be told: nothing. */
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__

#include "crt/host_defines.h"

#endif
