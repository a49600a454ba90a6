/* Settings of the host compiler, by their old address. */
#ifndef RADDLE_HOST_CONFIG_H
#define RADDLE_HOST_CONFIG_H

#include "crt/host_config.h"

#endif
