/* Dot products of bytes and of pairs of 16-bit numbers, added to a third number. */
#ifndef __SM_61_INTRINSICS_HPP__
#define __SM_61_INTRINSICS_HPP__

#if defined(__CUDA__)

#define RADDLE_DOT(NAME, T, A, B, AX, BX, INSTRUCTION)                                                                 \
    static __inline__ __attribute__((device, always_inline, nodebug)) T NAME(A a, B b, T c) {                          \
        T d;                                                                                                           \
        __asm__(INSTRUCTION " %0, %1, %2, %3;" : "=r"(d) : "r"(AX), "r"(BX), "r"(c));                                  \
        return d;                                                                                                      \
    }
RADDLE_DOT(__dp4a, int, int, int, a, b, "dp4a.s32.s32")
RADDLE_DOT(__dp4a, unsigned int, unsigned int, unsigned int, a, b, "dp4a.u32.u32")
RADDLE_DOT(__dp4a, int, char4, char4, __builtin_bit_cast(int, a), __builtin_bit_cast(int, b), "dp4a.s32.s32")
RADDLE_DOT(__dp4a, unsigned int, uchar4, uchar4, __builtin_bit_cast(unsigned int, a),
           __builtin_bit_cast(unsigned int, b), "dp4a.u32.u32")
RADDLE_DOT(__dp2a_lo, int, int, int, a, b, "dp2a.lo.s32.s32")
RADDLE_DOT(__dp2a_lo, unsigned int, unsigned int, unsigned int, a, b, "dp2a.lo.u32.u32")
RADDLE_DOT(__dp2a_lo, int, short2, char4, __builtin_bit_cast(int, a), __builtin_bit_cast(int, b), "dp2a.lo.s32.s32")
RADDLE_DOT(__dp2a_lo, unsigned int, ushort2, uchar4, __builtin_bit_cast(unsigned int, a),
           __builtin_bit_cast(unsigned int, b), "dp2a.lo.u32.u32")
RADDLE_DOT(__dp2a_hi, int, int, int, a, b, "dp2a.hi.s32.s32")
RADDLE_DOT(__dp2a_hi, unsigned int, unsigned int, unsigned int, a, b, "dp2a.hi.u32.u32")
RADDLE_DOT(__dp2a_hi, int, short2, char4, __builtin_bit_cast(int, a), __builtin_bit_cast(int, b), "dp2a.hi.s32.s32")
RADDLE_DOT(__dp2a_hi, unsigned int, ushort2, uchar4, __builtin_bit_cast(unsigned int, a),
           __builtin_bit_cast(unsigned int, b), "dp2a.hi.u32.u32")
#undef RADDLE_DOT

#endif

#endif
