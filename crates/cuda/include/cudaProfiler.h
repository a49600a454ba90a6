/* Start and stop of a profiler in the driver API: both are calls that do nothing. */
#ifndef cudaProfiler_H
#define cudaProfiler_H

#include "cuda.h"

#endif
