/* Lanes with the same value, and waiting: what clang's own headers leave to the toolkit from compute capability 7.0. */
#ifndef __SM_70_RT_HPP__
#define __SM_70_RT_HPP__

#if defined(__CUDA__)

#define RADDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))

RADDLE_FN void __nanosleep(unsigned int ns) { __asm__ __volatile__("nanosleep.u32 %0;" : : "r"(ns)); }

#define RADDLE_MATCH(T, BITS, WORD)                                                                                    \
    RADDLE_FN unsigned int __match_any_sync(unsigned int mask, T value) {                                              \
        return __match##BITS##_any_sync(mask, __builtin_bit_cast(WORD, value));                                        \
    }                                                                                                                  \
    RADDLE_FN unsigned int __match_all_sync(unsigned int mask, T value, int *pred) {                                   \
        return __match##BITS##_all_sync(mask, __builtin_bit_cast(WORD, value), pred);                                  \
    }
RADDLE_MATCH(int, 32, unsigned int)
RADDLE_MATCH(unsigned int, 32, unsigned int)
RADDLE_MATCH(float, 32, unsigned int)
RADDLE_MATCH(long, 64, unsigned long long)
RADDLE_MATCH(unsigned long, 64, unsigned long long)
RADDLE_MATCH(long long, 64, unsigned long long)
RADDLE_MATCH(unsigned long long, 64, unsigned long long)
RADDLE_MATCH(double, 64, unsigned long long)
#undef RADDLE_MATCH
#undef RADDLE_FN

#endif

#endif
