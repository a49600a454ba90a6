/* Names of streams and events for a profiler: nobody listens. */
#ifndef NVTOOLSEXT_CUDART_RADDLE_H
#define NVTOOLSEXT_CUDART_RADDLE_H

#include "nvToolsExt.h"

#endif
