/* Names of streams and events for a profiler, by their old address. */
#ifndef NVTOOLSEXT_CUDART_OLD_RADDLE_H
#define NVTOOLSEXT_CUDART_OLD_RADDLE_H

#include "nvtx3/nvToolsExtCudaRt.h"

#endif
