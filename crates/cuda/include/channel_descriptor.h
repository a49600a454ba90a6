/* cudaCreateChannelDesc<T>(): how many bits each channel of a texel has, and what they mean. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#if defined(__cplusplus)

#include "cuda_runtime_api.h"

template <class T> static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc(void) {
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define RADDLE_CHANNELS(T, N, BITS, KIND)                                                                              \
    template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<T>(void) {                             \
        return cudaCreateChannelDesc(BITS, N > 1 ? BITS : 0, N > 2 ? BITS : 0, N > 3 ? BITS : 0,                       \
                                     cudaChannelFormatKind##KIND);                                                     \
    }
#define RADDLE_VECTOR_CHANNELS(NAME, BITS, KIND)                                                                       \
    RADDLE_CHANNELS(NAME##1, 1, BITS, KIND)                                                                            \
    RADDLE_CHANNELS(NAME##2, 2, BITS, KIND)                                                                            \
    RADDLE_CHANNELS(NAME##3, 3, BITS, KIND)                                                                            \
    RADDLE_CHANNELS(NAME##4, 4, BITS, KIND)
RADDLE_CHANNELS(char, 1, 8, Signed)
RADDLE_CHANNELS(signed char, 1, 8, Signed)
RADDLE_CHANNELS(unsigned char, 1, 8, Unsigned)
RADDLE_CHANNELS(short, 1, 16, Signed)
RADDLE_CHANNELS(unsigned short, 1, 16, Unsigned)
RADDLE_CHANNELS(int, 1, 32, Signed)
RADDLE_CHANNELS(unsigned int, 1, 32, Unsigned)
RADDLE_CHANNELS(float, 1, 32, Float)
RADDLE_VECTOR_CHANNELS(char, 8, Signed)
RADDLE_VECTOR_CHANNELS(uchar, 8, Unsigned)
RADDLE_VECTOR_CHANNELS(short, 16, Signed)
RADDLE_VECTOR_CHANNELS(ushort, 16, Unsigned)
RADDLE_VECTOR_CHANNELS(int, 32, Signed)
RADDLE_VECTOR_CHANNELS(uint, 32, Unsigned)
RADDLE_VECTOR_CHANNELS(float, 32, Float)
#undef RADDLE_VECTOR_CHANNELS
#undef RADDLE_CHANNELS

static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf(void) {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf1(void) {
    return cudaCreateChannelDescHalf();
}
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf2(void) {
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf4(void) {
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#endif

#endif
