/* Atomic functions of kernels, with the scopes device, _block and _system. Each gives the old value.
 *
 * Names with a scope and sums of doubles need compute capability 6.0, compare-and-swap of 16 bits 7.0: clang says so
 * where a kernel for less uses them. */
#ifndef __DEVICE_ATOMIC_FUNCTIONS_HPP__
#define __DEVICE_ATOMIC_FUNCTIONS_HPP__

#if defined(__CUDA__)

#define RADDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))

/* One operation at one scope on signed and unsigned numbers of 32 and 64 bits. */
#define RADDLE_ATOMIC(NAME, SCOPE, OP)                                                                                 \
    RADDLE_FN int NAME(int *p, int v) { return __nvvm_atom_##SCOPE##OP##_gen_i(p, v); }                                \
    RADDLE_FN unsigned int NAME(unsigned int *p, unsigned int v) {                                                     \
        return (unsigned int)__nvvm_atom_##SCOPE##OP##_gen_i((int *)p, (int)v);                                        \
    }                                                                                                                  \
    RADDLE_FN unsigned long long NAME(unsigned long long *p, unsigned long long v) {                                   \
        return (unsigned long long)__nvvm_atom_##SCOPE##OP##_gen_ll((long long *)p, (long long)v);                     \
    }
#define RADDLE_ATOMIC_SIGNED(NAME, SCOPE, OP)                                                                          \
    RADDLE_FN long long NAME(long long *p, long long v) { return __nvvm_atom_##SCOPE##OP##_gen_ll(p, v); }
#define RADDLE_ATOMIC_ORDER(NAME, SCOPE, OP)                                                                           \
    RADDLE_FN int NAME(int *p, int v) { return __nvvm_atom_##SCOPE##OP##_gen_i(p, v); }                                \
    RADDLE_FN unsigned int NAME(unsigned int *p, unsigned int v) { return __nvvm_atom_##SCOPE##OP##_gen_ui(p, v); }    \
    RADDLE_FN long long NAME(long long *p, long long v) { return __nvvm_atom_##SCOPE##OP##_gen_ll(p, v); }             \
    RADDLE_FN unsigned long long NAME(unsigned long long *p, unsigned long long v) {                                   \
        return __nvvm_atom_##SCOPE##OP##_gen_ull(p, v);                                                                \
    }
#define RADDLE_ATOMICS(SUFFIX, SCOPE, PTX)                                                                             \
    RADDLE_ATOMIC(atomicAdd##SUFFIX, SCOPE, add)                                                                       \
    RADDLE_FN float atomicAdd##SUFFIX(float *p, float v) { return __nvvm_atom_##SCOPE##add_gen_f(p, v); }              \
    RADDLE_FN double atomicAdd##SUFFIX(double *p, double v) { return __nvvm_atom_##SCOPE##add_gen_d(p, v); }           \
    RADDLE_FN int atomicSub##SUFFIX(int *p, int v) { return atomicAdd##SUFFIX(p, (int)(0u - (unsigned int)v)); }       \
    RADDLE_FN unsigned int atomicSub##SUFFIX(unsigned int *p, unsigned int v) { return atomicAdd##SUFFIX(p, 0u - v); } \
    RADDLE_ATOMIC(atomicExch##SUFFIX, SCOPE, xchg)                                                                     \
    RADDLE_FN float atomicExch##SUFFIX(float *p, float v) {                                                            \
        return __builtin_bit_cast(float, atomicExch##SUFFIX((int *)p, __builtin_bit_cast(int, v)));                    \
    }                                                                                                                  \
    RADDLE_ATOMIC(atomicAnd##SUFFIX, SCOPE, and)                                                                       \
    RADDLE_ATOMIC_SIGNED(atomicAnd##SUFFIX, SCOPE, and)                                                                \
    RADDLE_ATOMIC(atomicOr##SUFFIX, SCOPE, or)                                                                         \
    RADDLE_ATOMIC_SIGNED(atomicOr##SUFFIX, SCOPE, or)                                                                  \
    RADDLE_ATOMIC(atomicXor##SUFFIX, SCOPE, xor)                                                                       \
    RADDLE_ATOMIC_SIGNED(atomicXor##SUFFIX, SCOPE, xor)                                                                \
    RADDLE_ATOMIC_ORDER(atomicMin##SUFFIX, SCOPE, min)                                                                 \
    RADDLE_ATOMIC_ORDER(atomicMax##SUFFIX, SCOPE, max)                                                                 \
    RADDLE_FN unsigned int atomicInc##SUFFIX(unsigned int *p, unsigned int v) {                                        \
        return __nvvm_atom_##SCOPE##inc_gen_ui(p, v);                                                                  \
    }                                                                                                                  \
    RADDLE_FN unsigned int atomicDec##SUFFIX(unsigned int *p, unsigned int v) {                                        \
        return __nvvm_atom_##SCOPE##dec_gen_ui(p, v);                                                                  \
    }                                                                                                                  \
    RADDLE_FN int atomicCAS##SUFFIX(int *p, int old, int v) { return __nvvm_atom_##SCOPE##cas_gen_i(p, old, v); }      \
    RADDLE_FN unsigned int atomicCAS##SUFFIX(unsigned int *p, unsigned int old, unsigned int v) {                      \
        return (unsigned int)__nvvm_atom_##SCOPE##cas_gen_i((int *)p, (int)old, (int)v);                               \
    }                                                                                                                  \
    RADDLE_FN unsigned long long atomicCAS##SUFFIX(unsigned long long *p, unsigned long long old,                      \
                                                   unsigned long long v) {                                             \
        return (unsigned long long)__nvvm_atom_##SCOPE##cas_gen_ll((long long *)p, (long long)old, (long long)v);      \
    }                                                                                                                  \
    RADDLE_FN unsigned short atomicCAS##SUFFIX(unsigned short *p, unsigned short old, unsigned short v) {              \
        unsigned short was;                                                                                            \
        __asm__ __volatile__("atom" PTX ".cas.b16 %0, [%1], %2, %3;"                                                   \
                             : "=h"(was)                                                                               \
                             : "l"(p), "h"(old), "h"(v)                                                                \
                             : "memory");                                                                              \
        return was;                                                                                                    \
    }
RADDLE_ATOMICS(, , "")
RADDLE_ATOMICS(_block, cta_, ".cta")
RADDLE_ATOMICS(_system, sys_, ".sys")
#undef RADDLE_ATOMICS
#undef RADDLE_ATOMIC_ORDER
#undef RADDLE_ATOMIC_SIGNED
#undef RADDLE_ATOMIC
#undef RADDLE_FN

#endif

#endif
