/* Device functions of compute capability 7.0 come with every CUDA compilation. */
#ifndef __SM_70_RT_H__
#define __SM_70_RT_H__

#endif
