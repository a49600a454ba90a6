/* Two 16-bit or four 8-bit numbers in a word, each computed with by itself: __vadd4 and its family.
 *
 * clang writes them as video instructions, which devices after Kepler do not have and Raddle does not execute. These
 * are plain arithmetic instead, under the same names. */
#ifndef RADDLE_SIMD_FUNCTIONS_HPP
#define RADDLE_SIMD_FUNCTIONS_HPP

#if defined(__CUDA__)

#define RADDLE_D static __inline__ __attribute__((device))

/* VALUE is computed from the lanes a and b of type T. */
#define RADDLE_SIMD_OF(NAME, T, BITS, VALUE)                                                                           \
    RADDLE_D unsigned int raddle_##NAME(unsigned int x, unsigned int y) {                                              \
        unsigned int r = 0;                                                                                            \
        _Pragma("unroll") for (int i = 0; i < 32; i += BITS) {                                                         \
            int a = (T)(x >> i), b = (T)(y >> i);                                                                      \
            (void)a, (void)b;                                                                                          \
            r |= ((unsigned int)(VALUE) & ((1u << BITS) - 1u)) << i;                                                   \
        }                                                                                                              \
        return r;                                                                                                      \
    }
#define RADDLE_SIMD_S(NAME, VALUE)                                                                                     \
    RADDLE_SIMD_OF(NAME##2, short, 16, VALUE)                                                                          \
    RADDLE_SIMD_OF(NAME##4, signed char, 8, VALUE)
#define RADDLE_SIMD_U(NAME, VALUE)                                                                                     \
    RADDLE_SIMD_OF(NAME##2, unsigned short, 16, VALUE)                                                                 \
    RADDLE_SIMD_OF(NAME##4, unsigned char, 8, VALUE)
#define RADDLE_CLAMP(V, LOW, HIGH) ((V) < (LOW) ? (LOW) : (V) > (HIGH) ? (HIGH) : (V))
#define RADDLE_SIMD_SATURATED(NAME, VALUE)                                                                             \
    RADDLE_SIMD_OF(NAME##ss2, short, 16, RADDLE_CLAMP(VALUE, -32768, 32767))                                           \
    RADDLE_SIMD_OF(NAME##ss4, signed char, 8, RADDLE_CLAMP(VALUE, -128, 127))                                          \
    RADDLE_SIMD_OF(NAME##us2, unsigned short, 16, RADDLE_CLAMP(VALUE, 0, 65535))                                       \
    RADDLE_SIMD_OF(NAME##us4, unsigned char, 8, RADDLE_CLAMP(VALUE, 0, 255))
/* Comparisons give all bits, or one. */
#define RADDLE_SIMD_COMPARE(WORD, OP)                                                                                  \
    RADDLE_SIMD_S(vcmp##WORD##s, a OP b ? -1 : 0)                                                                      \
    RADDLE_SIMD_U(vcmp##WORD##u, a OP b ? -1 : 0)                                                                      \
    RADDLE_SIMD_S(vset##WORD##s, a OP b ? 1 : 0)                                                                       \
    RADDLE_SIMD_U(vset##WORD##u, a OP b ? 1 : 0)
RADDLE_SIMD_U(vadd, a + b)
RADDLE_SIMD_U(vsub, a - b)
RADDLE_SIMD_SATURATED(vadd, a + b)
RADDLE_SIMD_SATURATED(vsub, a - b)
RADDLE_SIMD_S(vavgs, (a + b + (a + b >= 0)) >> 1)
RADDLE_SIMD_U(vavgu, (a + b + 1) >> 1)
RADDLE_SIMD_U(vhaddu, (a + b) >> 1)
RADDLE_SIMD_S(vmaxs, a > b ? a : b)
RADDLE_SIMD_U(vmaxu, a > b ? a : b)
RADDLE_SIMD_S(vmins, a < b ? a : b)
RADDLE_SIMD_U(vminu, a < b ? a : b)
RADDLE_SIMD_S(vabsdiffs, a > b ? a - b : b - a)
RADDLE_SIMD_U(vabsdiffu, a > b ? a - b : b - a)
RADDLE_SIMD_U(vcmpeq, a == b ? -1 : 0)
RADDLE_SIMD_U(vcmpne, a != b ? -1 : 0)
RADDLE_SIMD_U(vseteq, a == b ? 1 : 0)
RADDLE_SIMD_U(vsetne, a != b ? 1 : 0)
RADDLE_SIMD_COMPARE(ge, >=)
RADDLE_SIMD_COMPARE(gt, >)
RADDLE_SIMD_COMPARE(le, <=)
RADDLE_SIMD_COMPARE(lt, <)
RADDLE_SIMD_S(vabs_of_, a < 0 ? -a : a)
RADDLE_SIMD_OF(vabsss_of_2, short, 16, a == -32768 ? 32767 : a < 0 ? -a : a)
RADDLE_SIMD_OF(vabsss_of_4, signed char, 8, a == -128 ? 127 : a < 0 ? -a : a)

/* Sums of absolute differences. */
#define RADDLE_SIMD_SAD(NAME, T, BITS)                                                                                 \
    RADDLE_D unsigned int raddle_##NAME(unsigned int x, unsigned int y) {                                              \
        unsigned int r = 0;                                                                                            \
        _Pragma("unroll") for (int i = 0; i < 32; i += BITS) {                                                         \
            int a = (T)(x >> i), b = (T)(y >> i);                                                                      \
            r += a > b ? a - b : b - a;                                                                                \
        }                                                                                                              \
        return r;                                                                                                      \
    }
RADDLE_SIMD_SAD(vsads2, short, 16)
RADDLE_SIMD_SAD(vsads4, signed char, 8)
RADDLE_SIMD_SAD(vsadu2, unsigned short, 16)
RADDLE_SIMD_SAD(vsadu4, unsigned char, 8)
#undef RADDLE_SIMD_SAD
#undef RADDLE_SIMD_COMPARE
#undef RADDLE_SIMD_SATURATED
#undef RADDLE_CLAMP
#undef RADDLE_SIMD_U
#undef RADDLE_SIMD_S
#undef RADDLE_SIMD_OF

RADDLE_D unsigned int raddle_vneg2(unsigned int x) { return raddle_vsub2(0, x); }
RADDLE_D unsigned int raddle_vneg4(unsigned int x) { return raddle_vsub4(0, x); }
RADDLE_D unsigned int raddle_vnegss2(unsigned int x) { return raddle_vsubss2(0, x); }
RADDLE_D unsigned int raddle_vnegss4(unsigned int x) { return raddle_vsubss4(0, x); }
RADDLE_D unsigned int raddle_vabs2(unsigned int x) { return raddle_vabs_of_2(x, 0); }
RADDLE_D unsigned int raddle_vabs4(unsigned int x) { return raddle_vabs_of_4(x, 0); }
RADDLE_D unsigned int raddle_vabsss2(unsigned int x) { return raddle_vabsss_of_2(x, 0); }
RADDLE_D unsigned int raddle_vabsss4(unsigned int x) { return raddle_vabsss_of_4(x, 0); }
#undef RADDLE_D

#define __vabs2 raddle_vabs2
#define __vabs4 raddle_vabs4
#define __vabsss2 raddle_vabsss2
#define __vabsss4 raddle_vabsss4
#define __vadd2 raddle_vadd2
#define __vadd4 raddle_vadd4
#define __vaddss2 raddle_vaddss2
#define __vaddss4 raddle_vaddss4
#define __vaddus2 raddle_vaddus2
#define __vaddus4 raddle_vaddus4
#define __vsub2 raddle_vsub2
#define __vsub4 raddle_vsub4
#define __vsubss2 raddle_vsubss2
#define __vsubss4 raddle_vsubss4
#define __vsubus2 raddle_vsubus2
#define __vsubus4 raddle_vsubus4
#define __vneg2 raddle_vneg2
#define __vneg4 raddle_vneg4
#define __vnegss2 raddle_vnegss2
#define __vnegss4 raddle_vnegss4
#define __vavgs2 raddle_vavgs2
#define __vavgs4 raddle_vavgs4
#define __vavgu2 raddle_vavgu2
#define __vavgu4 raddle_vavgu4
#define __vhaddu2 raddle_vhaddu2
#define __vhaddu4 raddle_vhaddu4
#define __vmaxs2 raddle_vmaxs2
#define __vmaxs4 raddle_vmaxs4
#define __vmaxu2 raddle_vmaxu2
#define __vmaxu4 raddle_vmaxu4
#define __vmins2 raddle_vmins2
#define __vmins4 raddle_vmins4
#define __vminu2 raddle_vminu2
#define __vminu4 raddle_vminu4
#define __vabsdiffs2 raddle_vabsdiffs2
#define __vabsdiffs4 raddle_vabsdiffs4
#define __vabsdiffu2 raddle_vabsdiffu2
#define __vabsdiffu4 raddle_vabsdiffu4
#define __vsads2 raddle_vsads2
#define __vsads4 raddle_vsads4
#define __vsadu2 raddle_vsadu2
#define __vsadu4 raddle_vsadu4
#define __vcmpeq2 raddle_vcmpeq2
#define __vcmpeq4 raddle_vcmpeq4
#define __vcmpne2 raddle_vcmpne2
#define __vcmpne4 raddle_vcmpne4
#define __vseteq2 raddle_vseteq2
#define __vseteq4 raddle_vseteq4
#define __vsetne2 raddle_vsetne2
#define __vsetne4 raddle_vsetne4
#define __vcmpges2 raddle_vcmpges2
#define __vcmpges4 raddle_vcmpges4
#define __vcmpgeu2 raddle_vcmpgeu2
#define __vcmpgeu4 raddle_vcmpgeu4
#define __vcmpgts2 raddle_vcmpgts2
#define __vcmpgts4 raddle_vcmpgts4
#define __vcmpgtu2 raddle_vcmpgtu2
#define __vcmpgtu4 raddle_vcmpgtu4
#define __vcmples2 raddle_vcmples2
#define __vcmples4 raddle_vcmples4
#define __vcmpleu2 raddle_vcmpleu2
#define __vcmpleu4 raddle_vcmpleu4
#define __vcmplts2 raddle_vcmplts2
#define __vcmplts4 raddle_vcmplts4
#define __vcmpltu2 raddle_vcmpltu2
#define __vcmpltu4 raddle_vcmpltu4
#define __vsetges2 raddle_vsetges2
#define __vsetges4 raddle_vsetges4
#define __vsetgeu2 raddle_vsetgeu2
#define __vsetgeu4 raddle_vsetgeu4
#define __vsetgts2 raddle_vsetgts2
#define __vsetgts4 raddle_vsetgts4
#define __vsetgtu2 raddle_vsetgtu2
#define __vsetgtu4 raddle_vsetgtu4
#define __vsetles2 raddle_vsetles2
#define __vsetles4 raddle_vsetles4
#define __vsetleu2 raddle_vsetleu2
#define __vsetleu4 raddle_vsetleu4
#define __vsetlts2 raddle_vsetlts2
#define __vsetlts4 raddle_vsetlts4
#define __vsetltu2 raddle_vsetltu2
#define __vsetltu4 raddle_vsetltu4

#endif

#endif
