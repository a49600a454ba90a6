// Integers, bits, and numbers seen as bits.

typedef unsigned int u32;
typedef unsigned long long u64;

template <class To, class From> FN To bits(From v) { return __builtin_bit_cast(To, v); }

NV int __nv_abs(int a) { return a < 0 ? -a : a; }
NV long long __nv_llabs(long long a) { return a < 0 ? -a : a; }
NV int __nv_max(int a, int b) { return a > b ? a : b; }
NV int __nv_min(int a, int b) { return a < b ? a : b; }
NV u32 __nv_umax(u32 a, u32 b) { return a > b ? a : b; }
NV u32 __nv_umin(u32 a, u32 b) { return a < b ? a : b; }
NV long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
NV long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
NV u64 __nv_ullmax(u64 a, u64 b) { return a > b ? a : b; }
NV u64 __nv_ullmin(u64 a, u64 b) { return a < b ? a : b; }

NV int __nv_brev(int a) { return (int)__builtin_bitreverse32((u32)a); }
NV long long __nv_brevll(long long a) { return (long long)__builtin_bitreverse64((u64)a); }
NV int __nv_clz(int a) { return a ? __builtin_clz(a) : 32; }
NV int __nv_clzll(long long a) { return a ? __builtin_clzll(a) : 64; }
NV int __nv_ffs(int a) { return __builtin_ffs(a); }
NV int __nv_ffsll(long long a) { return __builtin_ffsll(a); }
NV int __nv_popc(u32 a) { return __builtin_popcount(a); }
NV int __nv_popcll(u64 a) { return __builtin_popcountll(a); }
NV int __nv_byte_perm(int a, int b, int c) { return (int)__nvvm_prmt((u32)a, (u32)b, (u32)c); }

NV int __nv_mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
NV u32 __nv_umulhi(u32 a, u32 b) { return __nvvm_mulhi_ui(a, b); }
NV long long __nv_mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
NV u64 __nv_umul64hi(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }
NV int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
NV u32 __nv_umul24(u32 a, u32 b) { return __nvvm_mul24_ui(a, b); }
// Averages whose sum may not fit: the bits both have, and half of those that differ.
NV int __nv_hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
NV int __nv_rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
NV int __nv_uhadd(u32 a, u32 b) { return (int)((a & b) + ((a ^ b) >> 1)); }
NV u32 __nv_urhadd(u32 a, u32 b) { return (a | b) - ((a ^ b) >> 1); }
NV int __nv_sad(int a, int b, int c) { return (int)((a > b ? (u32)a - (u32)b : (u32)b - (u32)a) + (u32)c); }
NV u32 __nv_usad(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }

NV int __nv_float_as_int(float a) { return bits<int>(a); }
NV u32 __nv_float_as_uint(float a) { return bits<u32>(a); }
NV float __nv_int_as_float(int a) { return bits<float>(a); }
NV float __nv_uint_as_float(u32 a) { return bits<float>(a); }
NV u64 __nv_double_as_longlong(double a) { return bits<u64>(a); }
NV double __nv_longlong_as_double(long long a) { return bits<double>(a); }
NV int __nv_double2hiint(double a) { return (int)(bits<u64>(a) >> 32); }
NV int __nv_double2loint(double a) { return (int)bits<u64>(a); }
NV double __nv_hiloint2double(int hi, int lo) { return bits<double>((u64)(u32)hi << 32 | (u32)lo); }

NV int __nv_signbitf(float a) { return bits<int>(a) < 0; }
NV int __nv_signbitd(double a) { return bits<long long>(a) < 0; }
NV int __nv_isnanf(float a) { return a != a; }
NV int __nv_isnand(double a) { return a != a; }
NV int __nv_isinff(float a) { return __builtin_fabsf(a) == __builtin_inff(); }
NV int __nv_isinfd(double a) { return __builtin_fabs(a) == INF; }
NV int __nv_finitef(float a) { return __builtin_fabsf(a) < __builtin_inff(); }
NV int __nv_isfinited(double a) { return __builtin_fabs(a) < INF; }
NV float __nv_nanf(const signed char *) { return __builtin_nanf(""); }
NV double __nv_nan(const signed char *) { return NAN; }
