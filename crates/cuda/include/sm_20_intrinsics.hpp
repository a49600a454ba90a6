/* Addresses as numbers, and loads and stores with cache hints: what clang's own headers leave to the toolkit. */
#ifndef __SM_20_INTRINSICS_HPP__
#define __SM_20_INTRINSICS_HPP__

#if defined(__CUDA__)

#define RADDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))

RADDLE_FN size_t __cvta_generic_to_global(const void *p) { return (size_t)(void __attribute__((address_space(1))) *)p; }
RADDLE_FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)(void __attribute__((address_space(3))) *)p; }
RADDLE_FN size_t __cvta_generic_to_constant(const void *p) {
    return (size_t)(void __attribute__((address_space(4))) *)p;
}
RADDLE_FN size_t __cvta_generic_to_local(const void *p) { return (size_t)(void __attribute__((address_space(5))) *)p; }
RADDLE_FN void *__cvta_global_to_generic(size_t p) { return (void *)(void __attribute__((address_space(1))) *)p; }
RADDLE_FN void *__cvta_shared_to_generic(size_t p) { return (void *)(void __attribute__((address_space(3))) *)p; }
RADDLE_FN void *__cvta_constant_to_generic(size_t p) { return (void *)(void __attribute__((address_space(4))) *)p; }
RADDLE_FN void *__cvta_local_to_generic(size_t p) { return (void *)(void __attribute__((address_space(5))) *)p; }

/* Loads and stores with cache hints. Vectors of 8 and 16 bytes go as one access; types of other sizes do not exist. */
#define RADDLE_HINTED(T, PTX, CONSTRAINT, R)                                                                           \
    RADDLE_LOAD(__ldcg, "cg", T, PTX, CONSTRAINT, R)                                                                   \
    RADDLE_LOAD(__ldca, "ca", T, PTX, CONSTRAINT, R)                                                                   \
    RADDLE_LOAD(__ldcs, "cs", T, PTX, CONSTRAINT, R)                                                                   \
    RADDLE_LOAD(__ldlu, "lu", T, PTX, CONSTRAINT, R)                                                                   \
    RADDLE_LOAD(__ldcv, "cv", T, PTX, CONSTRAINT, R)                                                                   \
    RADDLE_STORE(__stwb, "wb", T, PTX, CONSTRAINT, R)                                                                  \
    RADDLE_STORE(__stcg, "cg", T, PTX, CONSTRAINT, R)                                                                  \
    RADDLE_STORE(__stcs, "cs", T, PTX, CONSTRAINT, R)                                                                  \
    RADDLE_STORE(__stwt, "wt", T, PTX, CONSTRAINT, R)
#define RADDLE_LOAD(NAME, HINT, T, PTX, CONSTRAINT, R)                                                                 \
    RADDLE_FN T NAME(const T *p) {                                                                                     \
        R v;                                                                                                           \
        __asm__ __volatile__("ld." HINT "." PTX " %0, [%1];" : "=" CONSTRAINT(v) : "l"(p) : "memory");                 \
        return (T)v;                                                                                                   \
    }
#define RADDLE_STORE(NAME, HINT, T, PTX, CONSTRAINT, R)                                                                \
    RADDLE_FN void NAME(T *p, T v) {                                                                                   \
        __asm__ __volatile__("st." HINT "." PTX " [%0], %1;" : : "l"(p), CONSTRAINT((R)v) : "memory");                 \
    }
RADDLE_HINTED(char, "s8", "r", int)
RADDLE_HINTED(signed char, "s8", "r", int)
RADDLE_HINTED(unsigned char, "u8", "r", unsigned int)
RADDLE_HINTED(short, "s16", "h", short)
RADDLE_HINTED(unsigned short, "u16", "h", unsigned short)
RADDLE_HINTED(int, "s32", "r", int)
RADDLE_HINTED(unsigned int, "u32", "r", unsigned int)
RADDLE_HINTED(long, "s64", "l", long)
RADDLE_HINTED(unsigned long, "u64", "l", unsigned long)
RADDLE_HINTED(long long, "s64", "l", long long)
RADDLE_HINTED(unsigned long long, "u64", "l", unsigned long long)
RADDLE_HINTED(float, "f32", "f", float)
RADDLE_HINTED(double, "f64", "d", double)
#undef RADDLE_STORE
#undef RADDLE_LOAD
#define RADDLE_LOAD(NAME, HINT, T, PTX, CONSTRAINT, R)                                                                 \
    RADDLE_FN T NAME(const T *p) {                                                                                     \
        T v;                                                                                                           \
        R x, y;                                                                                                        \
        __asm__ __volatile__("ld." HINT ".v2." PTX " {%0, %1}, [%2];"                                                  \
                             : "=" CONSTRAINT(x), "=" CONSTRAINT(y)                                                    \
                             : "l"(p)                                                                                  \
                             : "memory");                                                                              \
        v.x = x;                                                                                                       \
        v.y = y;                                                                                                       \
        return v;                                                                                                      \
    }
#define RADDLE_STORE(NAME, HINT, T, PTX, CONSTRAINT, R)                                                                \
    RADDLE_FN void NAME(T *p, T v) {                                                                                   \
        __asm__ __volatile__("st." HINT ".v2." PTX " [%0], {%1, %2};"                                                  \
                             :                                                                                         \
                             : "l"(p), CONSTRAINT((R)v.x), CONSTRAINT((R)v.y)                                          \
                             : "memory");                                                                              \
    }
RADDLE_HINTED(char2, "s8", "r", int)
RADDLE_HINTED(uchar2, "u8", "r", unsigned int)
RADDLE_HINTED(short2, "s16", "h", short)
RADDLE_HINTED(ushort2, "u16", "h", unsigned short)
RADDLE_HINTED(int2, "s32", "r", int)
RADDLE_HINTED(uint2, "u32", "r", unsigned int)
RADDLE_HINTED(longlong2, "s64", "l", long long)
RADDLE_HINTED(ulonglong2, "u64", "l", unsigned long long)
RADDLE_HINTED(float2, "f32", "f", float)
RADDLE_HINTED(double2, "f64", "d", double)
#undef RADDLE_STORE
#undef RADDLE_LOAD
#define RADDLE_LOAD(NAME, HINT, T, PTX, CONSTRAINT, R)                                                                 \
    RADDLE_FN T NAME(const T *p) {                                                                                     \
        T v;                                                                                                           \
        R x, y, z, w;                                                                                                  \
        __asm__ __volatile__("ld." HINT ".v4." PTX " {%0, %1, %2, %3}, [%4];"                                          \
                             : "=" CONSTRAINT(x), "=" CONSTRAINT(y), "=" CONSTRAINT(z), "=" CONSTRAINT(w)              \
                             : "l"(p)                                                                                  \
                             : "memory");                                                                              \
        v.x = x;                                                                                                       \
        v.y = y;                                                                                                       \
        v.z = z;                                                                                                       \
        v.w = w;                                                                                                       \
        return v;                                                                                                      \
    }
#define RADDLE_STORE(NAME, HINT, T, PTX, CONSTRAINT, R)                                                                \
    RADDLE_FN void NAME(T *p, T v) {                                                                                   \
        __asm__ __volatile__("st." HINT ".v4." PTX " [%0], {%1, %2, %3, %4};"                                          \
                             :                                                                                         \
                             : "l"(p), CONSTRAINT((R)v.x), CONSTRAINT((R)v.y), CONSTRAINT((R)v.z), CONSTRAINT((R)v.w)  \
                             : "memory");                                                                              \
    }
RADDLE_HINTED(char4, "s8", "r", int)
RADDLE_HINTED(uchar4, "u8", "r", unsigned int)
RADDLE_HINTED(short4, "s16", "h", short)
RADDLE_HINTED(ushort4, "u16", "h", unsigned short)
RADDLE_HINTED(int4, "s32", "r", int)
RADDLE_HINTED(uint4, "u32", "r", unsigned int)
RADDLE_HINTED(float4, "f32", "f", float)
#undef RADDLE_STORE
#undef RADDLE_LOAD
#undef RADDLE_HINTED
#undef RADDLE_FN

#endif

#endif
