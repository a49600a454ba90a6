/* Marks and ranges for a profiler, by their old address. */
#ifndef NVTOOLSEXT_RADDLE_H
#define NVTOOLSEXT_RADDLE_H

#include "nvtx3/nvToolsExt.h"

#endif
