#!/usr/bin/env python3
"""Writes the floating-point kernel files: tests/ptx/{f32,f64,f16,cvt-float,approx}/*.ptx.

The expected values come from a model of its own: operands become exact fractions, the operation is
done exactly, the result is rounded once. Square roots use integer square roots with a sticky bit,
transcendental functions 60 decimal digits. Nothing here uses the floating-point numbers of the host.

    python3 tests/ptx/gen/float.py

rewrites all files; the same generator always gives the same files.
"""

import math
import os
import textwrap
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["f32", "f64", "f16", "cvt-float", "approx"]
ROWS = 64

# What a NaN becomes in a conversion to an integer when the source is f64 or the destination has 64
# bits. False: zero, as for all other conversions. True: only the highest bit set, as newer editions
# of the PTX manual say. These cases stand in files of their own.
NAN_TO_WIDE_INT_IS_TOP_BIT = True


# ---------------------------------------------------------------------------------------- formats


class Fmt:
    """A binary floating-point format: precision p (with the hidden bit) and exponent range."""

    def __init__(self, name, width, p):
        self.name, self.width, self.p = name, width, p
        ebits = width - p
        self.emax = (1 << (ebits - 1)) - 1
        self.emin = 1 - self.emax
        self.sign = 1 << (width - 1)
        self.inf = ((1 << ebits) - 1) << (p - 1)
        self.max = self.inf - 1
        self.min_normal = 1 << (p - 1)
        self.one = self.emax << (p - 1)
        self.nan = (1 << (width - 1)) - 1
        self.qnan = self.inf | 1 << (p - 2)

    def is_nan(self, b):
        return (b & ~self.sign) > self.inf

    def is_inf(self, b):
        return (b & ~self.sign) == self.inf

    def is_zero(self, b):
        return (b & ~self.sign) == 0

    def is_sub(self, b):
        return 0 < (b & ~self.sign) < self.min_normal

    def neg(self, b):
        return b ^ self.sign

    def value(self, b):
        """The exact value of a finite number."""
        m = b & ~self.sign
        e = m >> (self.p - 1)
        f = m & (self.min_normal - 1)
        v = Fraction(f + (self.min_normal if e else 0)) * pow2(max(e, 1) - 1 + self.emin - self.p + 1)
        return -v if b & self.sign else v

    def show(self, b):
        if b is None:
            return "nan"
        if self.name == "f32":
            return "0f%08X" % b
        if self.name == "f64":
            return "0d%016X" % b
        return "0x%04x" % b


F16 = Fmt("f16", 16, 11)
BF16 = Fmt("bf16", 16, 8)
F32 = Fmt("f32", 32, 24)
F64 = Fmt("f64", 64, 53)
FMT = {f.name: f for f in (F16, BF16, F32, F64)}


class Skip(Exception):
    """The row would test something that no rule decides; it is left out."""


def pow2(e):
    return Fraction(1 << e) if e >= 0 else Fraction(1, 1 << -e)


def log2floor(x):
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= pow2(e) else e - 1


def away(mode, negative, odd, rest):
    """Whether the magnitude goes up to the next step; rest is the part cut off, 0 <= rest < 1."""
    if rest == 0 or mode == "rz":
        return False
    if mode == "rm":
        return negative
    if mode == "rp":
        return not negative
    return rest > Fraction(1, 2) or (rest == Fraction(1, 2) and odd)


def rnd(fmt, x, mode="rn", zero_sign=0):
    """Rounds an exact value once. zero_sign is the sign bit if x is exactly zero."""
    if x == 0:
        return fmt.sign if zero_sign else 0
    negative = x < 0
    x = abs(x)
    e = max(log2floor(x), fmt.emin)
    q = x / pow2(e - fmt.p + 1)
    n = q.numerator // q.denominator
    n += away(mode, negative, n & 1, q - n)
    if n < fmt.min_normal:
        bits = n
    else:
        bits = ((e - fmt.emin + 1) << (fmt.p - 1)) + (n - fmt.min_normal)
    if bits >= fmt.inf:
        bits = fmt.inf if mode == "rn" or (mode == "rm" and negative) or (mode == "rp" and not negative) else fmt.max
    return bits | (fmt.sign if negative else 0)


def flush(fmt, b):
    return b & fmt.sign if fmt.is_sub(b) else b


def canonical(fmt):
    """The NaN an arithmetic instruction gives; None stands for any NaN."""
    return None if fmt is F64 else fmt.nan


# ------------------------------------------------------------------------------------- arithmetic


def s(fmt, b):
    return 1 if b & fmt.sign else 0


def op_add(fmt, mode, a, b):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return None
    if fmt.is_inf(a) or fmt.is_inf(b):
        if fmt.is_inf(a) and fmt.is_inf(b) and a != b:
            return None
        return a if fmt.is_inf(a) else b
    zero = s(fmt, a) if s(fmt, a) == s(fmt, b) else int(mode == "rm")
    return rnd(fmt, fmt.value(a) + fmt.value(b), mode, zero)


def op_sub(fmt, mode, a, b):
    return op_add(fmt, mode, a, b if fmt.is_nan(b) else fmt.neg(b))


def op_mul(fmt, mode, a, b):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return None
    sign = (a ^ b) & fmt.sign
    if fmt.is_inf(a) or fmt.is_inf(b):
        return None if fmt.is_zero(a) or fmt.is_zero(b) else fmt.inf | sign
    return rnd(fmt, fmt.value(a) * fmt.value(b), mode, sign)


def op_fma(fmt, mode, a, b, c):
    if fmt.is_nan(a) or fmt.is_nan(b) or fmt.is_nan(c):
        return None
    sign = (a ^ b) & fmt.sign
    if fmt.is_inf(a) or fmt.is_inf(b):
        if fmt.is_zero(a) or fmt.is_zero(b) or (fmt.is_inf(c) and (c & fmt.sign) != sign):
            return None
        return fmt.inf | sign
    if fmt.is_inf(c):
        return c
    zero = int(sign != 0) if sign == (c & fmt.sign) else int(mode == "rm")
    return rnd(fmt, fmt.value(a) * fmt.value(b) + fmt.value(c), mode, zero)


def op_div(fmt, mode, a, b):
    if fmt.is_nan(a) or fmt.is_nan(b):
        return None
    sign = (a ^ b) & fmt.sign
    if fmt.is_inf(a):
        return None if fmt.is_inf(b) else fmt.inf | sign
    if fmt.is_inf(b):
        return sign
    if fmt.is_zero(b):
        return None if fmt.is_zero(a) else fmt.inf | sign
    return rnd(fmt, fmt.value(a) / fmt.value(b), mode, sign)


def op_rcp(fmt, mode, a):
    return op_div(fmt, mode, fmt.one, a)


def root(v, bits):
    """sqrt(v) cut to at least that many bits, with half a unit more if it is not exact."""
    k = 0
    while (v * pow2(2 * k)).denominator != 1 or (v * pow2(2 * k)).numerator.bit_length() < 2 * bits + 2:
        k += 16
    n = (v * pow2(2 * k)).numerator
    r = math.isqrt(n)
    return (Fraction(r) + (0 if r * r == n else Fraction(1, 2))) / pow2(k)


def op_sqrt(fmt, mode, a):
    if fmt.is_nan(a) or (s(fmt, a) and not fmt.is_zero(a)):
        return None
    if fmt.is_zero(a) or fmt.is_inf(a):
        return a
    return rnd(fmt, root(fmt.value(a), fmt.p + 4), mode)


OPS = {"add": op_add, "sub": op_sub, "mul": op_mul, "fma": op_fma, "mad": op_fma, "div": op_div, "rcp": op_rcp,
       "sqrt": op_sqrt}


def arith(op, fmt, mods, args):
    """One instruction with rounding, .ftz, .sat and .relu; None is any NaN."""
    mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp")), "rn")
    if "ftz" in mods:
        args = [flush(fmt, a) for a in args]
    r = OPS[op](fmt, mode, *args)
    if r is not None and "ftz" in mods:
        # Whether a value below the smallest normal number that rounds up to it is flushed is open.
        if (r & ~fmt.sign) == fmt.min_normal and abs(OPS[op](F64, "rn", *[widen(fmt, a) for a in args]) & ~F64.sign) \
                < widen(fmt, fmt.min_normal):
            raise Skip
        r = flush(fmt, r)
    return clamp(fmt, mods, r)


def widen(fmt, b):
    return rnd(F64, fmt.value(b)) if not (fmt.is_nan(b) or fmt.is_inf(b)) else F64.inf


MINUS_ZERO = [False]


def clamp(fmt, mods, r):
    if "sat" in mods or "relu" in mods:
        if r == fmt.sign and not MINUS_ZERO[0]:
            raise Skip  # a -0 that is clamped has files of its own
        if r is None:
            return 0 if "sat" in mods else canonical(fmt)
        if r & fmt.sign:
            return 0
        return min(r, fmt.one) if "sat" in mods else r
    return canonical(fmt) if r is None else r


def minmax(op, fmt, mods, a, b):
    if "ftz" in mods:
        a, b = flush(fmt, a), flush(fmt, b)
    sign = (a ^ b) & fmt.sign
    if "xorsign" in mods:
        a, b = a & ~fmt.sign, b & ~fmt.sign
    na, nb = fmt.is_nan(a), fmt.is_nan(b)
    if (na and nb) or ("NaN" in mods and (na or nb)):
        return canonical(fmt)
    if na or nb:
        r = b if na else a
    else:
        key = lambda x: -(x & ~fmt.sign) - 1 if x & fmt.sign else x
        r = (min if op == "min" else max)(a, b, key=key)
    return (r & ~fmt.sign) | sign if "xorsign" in mods else r


# ------------------------------------------------------------------------------------ conversions

INTS = {f"{k}{w}": (w, k == "s") for w in (8, 16, 32, 64) for k in "us"}


def int_range(t):
    w, signed = INTS[t]
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if signed else (0, (1 << w) - 1)


def to_integer(x, irnd):
    n = math.floor(abs(x))
    n += away(irnd[:2], x < 0, n & 1, abs(x) - n)
    return -n if x < 0 else n


def float_to_int(fmt, mods, t, b):
    lo, hi = int_range(t)
    if "ftz" in mods and fmt is F32:
        b = flush(fmt, b)
    if fmt.is_nan(b):
        if NAN_TO_WIDE_INT_IS_TOP_BIT and (fmt is F64 or INTS[t][0] == 64):
            return lo if lo else (hi >> 1) + 1
        return 0
    if fmt.is_inf(b):
        return lo if b & fmt.sign else hi
    return min(max(to_integer(fmt.value(b), next(m for m in mods if m in IRND)), lo), hi)


def int_to_float(fmt, mods, n):
    return clamp(fmt, mods, rnd(fmt, Fraction(n), next(m for m in mods if m in RND)))


def float_to_float(dst, mods, src, b, nan="canonical"):
    """cvt between floating-point formats, with floating-point or integer rounding."""
    if "ftz" in mods and src is F32:
        b = flush(src, b)
    irnd = next((m for m in mods if m in IRND), None)
    mode = next((m for m in mods if m in RND), "rn")
    if src.is_nan(b):
        if "sat" in mods:
            return 0
        return None if nan == "any" or dst is F64 else dst.nan
    if src.is_inf(b):
        r = dst.inf | (dst.sign if b & src.sign else 0)
    else:
        v = src.value(b)
        if irnd:
            v = Fraction(to_integer(v, irnd))
        r = rnd(dst, v, mode, s(src, b))
        if "ftz" in mods and dst is F32:
            if (r & ~dst.sign) == dst.min_normal and abs(v) < dst.value(dst.min_normal):
                raise Skip
            r = flush(dst, r)
    return clamp(dst, mods, r)


RND = ["rn", "rz", "rm", "rp"]
IRND = ["rni", "rzi", "rmi", "rpi"]


# -------------------------------------------------------------------------- transcendental functions


def dec(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def frac(d):
    return Fraction(*d.as_integer_ratio())


def arctan_inverse(n):
    total, term, k = Decimal(0), Decimal(1) / n, 0
    while abs(term) > Decimal(10) ** -70:
        total += term / (2 * k + 1) * (-1) ** k
        term /= n * n
        k += 1
    return total


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
LN2 = Decimal(2).ln()


def sine(x, shift=0):
    """sin(x + shift * pi / 2) for an exact x."""
    d = dec(x) + shift * PI / 2
    d -= (d / (2 * PI)).to_integral_value() * 2 * PI
    total, term, k = Decimal(0), d, 1
    while abs(term) > Decimal(10) ** -70:
        total += term
        term *= -d * d / ((k + 1) * (k + 2))
        k += 2
    return frac(total)


def exp2(x):
    x = min(max(x, Fraction(-2000)), Fraction(2000))  # far past the ends of every format used with it
    return frac((dec(x) * LN2).exp()) if x.denominator != 1 else pow2(int(x))


def log2(x):
    e = log2floor(x)
    return Fraction(e) if x == pow2(e) else Fraction(e) + frac((dec(x / pow2(e))).ln() / LN2)


def tanh(x):
    if abs(x) < Fraction(1, 10**8):
        return x - x**3 / 3
    e = (2 * dec(x)).exp()
    return frac((e - 1) / (e + 1))


# ------------------------------------------------------------------------------------------ inputs


class Rng:
    """splitmix64."""

    def __init__(self, seed):
        self.state = 0
        for ch in seed:
            self.state = (self.state * 1099511628211 + ord(ch) + 1) & (2**64 - 1)

    def bits(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return (z ^ (z >> 31)) >> (64 - n)

    def below(self, n):
        return self.bits(64) % n

    def pick(self, seq):
        return seq[self.below(len(seq))]


def rand_float(rng, fmt, lo, hi, signed=True):
    """A finite number with an exponent in lo..hi."""
    e = lo + rng.below(hi - lo + 1) - fmt.emin + 1
    b = (e << (fmt.p - 1)) | rng.bits(fmt.p - 1)
    return b | (fmt.sign if signed and rng.bits(1) else 0)


def specials(fmt):
    one, sg = fmt.one, fmt.sign
    out = [0, sg, 1, sg | 1, fmt.min_normal - 1, sg | (fmt.min_normal - 1), fmt.min_normal, sg | fmt.min_normal,
           fmt.max, sg | fmt.max, fmt.inf, sg | fmt.inf, fmt.qnan | 1, sg | fmt.qnan | 0x15, fmt.inf | 1,
           one, sg | one, one - 1, one + 1]
    return out


def num(fmt, x):
    b = rnd(fmt, Fraction(x))
    assert fmt.value(b) == Fraction(x), (fmt.name, x)
    return b


def binary_rows(op, fmt, rng):
    p, one, sg = fmt.p, fmt.one, fmt.sign
    mx, mn, inf, nan = fmt.max, fmt.min_normal, fmt.inf, fmt.qnan | 5
    two, half = num(fmt, 2), num(fmt, Fraction(1, 2))
    ulp2 = num(fmt, pow2(-p))  # half a unit of 1
    rows = [(0, 0), (0, sg), (sg, 0), (sg, sg), (one, sg | one), (inf, sg | inf), (inf, inf), (inf, 0), (sg, inf),
            (nan, one), (one, sg | nan), (fmt.inf | 1, 0), (inf, mx), (one, sg | inf), (0, one), (sg | one, 0),
            (mn, sg | 1), (1, 1), (sg | 1, 1), (mn - 1, 1), (mx, mx), (sg | mx, mx)]
    if op in ("add", "sub"):
        t = num(fmt, fmt.value(mx) * pow2(-p))  # somewhat less than half a unit of the largest number
        pairs = [(one, ulp2), (one + 1, ulp2), (one, ulp2 + 1), (one + 1, ulp2 - 1), (one, 1), (mx, t + 1), (mx, t),
                 (two, one), (one - 1, ulp2), (half, one), (half, num(fmt, Fraction(1, 4)))]
        for a, b in pairs:
            rows += [(a, b), (a, sg | b), (sg | a, sg | b)]
        for _ in range(20):
            e = rng.below(2 * fmt.emax - 3 * p if fmt.emax > 3 * p else 8) + fmt.emin + p
            rows.append((rand_float(rng, fmt, e, e + 2), rand_float(rng, fmt, e - p // 2, e + 1)))
    elif op == "mul":
        rows += [(mx, two), (sg | mx, two), (mx, one + 1), (mx, sg | (one + 1)), (mn, half), (mn + 1, half),
                 (mn + 3, half), (sg | (mn + 1), half), (1, half), (sg | 1, half), (3, half), (1, num(fmt, Fraction(3, 4))),
                 (1, num(fmt, Fraction(1, 4))), (sg | 1, num(fmt, Fraction(1, 4))), (one + 1, one + 1),
                 (one - 1, one - 1), (one + 1, sg | (one - 1)), (mn, mn), (sg | mn, mn)]
    else:
        rows += [(mx, half), (sg | mx, half), (mn, two), (mn + 1, two), (mn + 3, two), (sg | (mn + 1), two), (1, two),
                 (sg | 1, two), (3, two), (1, num(fmt, 4)), (sg | 1, num(fmt, 4)), (one, num(fmt, 3)),
                 (sg | one, num(fmt, 3)), (two, num(fmt, 3)), (one, one - 1), (one - 1, one + 1), (mn, mx), (mx, mn),
                 (mx, sg | mn), (num(fmt, 10), num(fmt, 5))]
    r = min(fmt.emax // 2 - 2, 60)
    for i in range(3 * ROWS):
        lo, hi = [(-2, 0), (-3, 3), (-r, r)][i % 3]
        rows.append((rand_float(rng, fmt, lo, hi), rand_float(rng, fmt, lo, hi)))
    return rows


def ternary_rows(fmt, rng):
    p, one, sg = fmt.p, fmt.one, fmt.sign
    mx, mn, inf, nan = fmt.max, fmt.min_normal, fmt.inf, fmt.qnan | 9
    two, half = num(fmt, 2), num(fmt, Fraction(1, 2))
    ulp2 = num(fmt, pow2(-p))
    rows = [(0, one, sg), (sg, one, sg), (sg, one, 0), (one, sg | one, one), (one, one, sg | one), (0, inf, one),
            (inf, sg, nan), (inf, one, sg | inf), (inf, one, inf), (one, one, sg | inf), (nan, one, one),
            (one, nan, one), (one, one, sg | nan), (mx, two, sg | mx), (mx, two, sg | inf), (mx, one, mx),
            (sg | mx, one, sg | mx), (mx, mx, sg | mx),
            # the product cancels up to its last bits, which two roundings would lose
            (one + 1, one + 1, sg | (one + 2)), (one + 1, one - 1, sg | one), (one - 1, one - 1, sg | one),
            (one + 1, sg | (one + 1), one + 2),
            (one + 1, ulp2, one), (one, ulp2, one), (one, ulp2, one + 1), (one, sg | ulp2, sg | one),
            (half, 1, 0), (half, 3, 0), (half, sg | 1, 0), (half, 1, 1), (half, 1, mn), (mn, half, 1), (1, 1, 1),
            (1, 1, one), (sg | 1, 1, one), (1, sg | 1, sg | one), (mn, mn, mn), (mn, sg | mn, mn)]
    for i in range(3 * ROWS):
        lo, hi = [(-1, 0), (-3, 3), (-6, 6)][i % 3]
        rows.append((rand_float(rng, fmt, lo, hi), rand_float(rng, fmt, lo, hi), rand_float(rng, fmt, lo, hi)))
    return rows


def unary_rows(op, fmt, rng):
    rows = [(b,) for b in specials(fmt)]
    if op == "sqrt":
        rows += [(num(fmt, x),) for x in (2, 3, 4, 9, 10, Fraction(1, 4), Fraction(1, 2))]
        rows += [(2,), (3,), (4,), (fmt.min_normal + 1,), (fmt.one + 2,), (fmt.one + 3,), (fmt.one - 2,)]
    else:
        rows += [(num(fmt, x),) for x in (2, 3, 5, 10, -3, -7, Fraction(1, 2), Fraction(3, 4))]
        rows += [(2,), (fmt.min_normal // 2,), (fmt.sign | fmt.min_normal // 2 + 1,), (fmt.max - 1,),
                 (fmt.min_normal // 4 + 1,), (rnd(fmt, pow2(fmt.emax)) + 1,), (fmt.sign | rnd(fmt, pow2(fmt.emax - 1)) + 3,)]
    r = min(fmt.emax - 3, 90)
    for i in range(2 * ROWS):
        rows.append((rand_float(rng, fmt, -r if i & 1 else -2, r if i & 1 else 2, signed=op != "sqrt" or i % 7 == 0),))
    return rows


# ------------------------------------------------------------------------------------- kernel files

WIDTH = {"u8": 1, "s8": 1, "b8": 1, "u16": 2, "s16": 2, "b16": 2, "f16": 2, "bf16": 2, "u32": 4, "s32": 4, "b32": 4,
         "f32": 4, "u64": 8, "s64": 8, "b64": 8, "f64": 8}
COUNT = [0]
MARK = "// Generated by gen/float.py."


def lines_of(prefix, values):
    """A list of values over several comment lines."""
    out, line = [], prefix
    for v in values:
        if len(line) + 1 + len(v) > 116:
            out.append(line)
            line = "//  "
        line += " " + v
    return out + [line]


def show_all(t, values):
    if t in FMT:
        return [FMT[t].show(v) for v in values]
    if t[0] == "b":
        return ["0x%0*x" % (2 * WIDTH[t], v) for v in values]
    return [str(v) for v in values]


def mem_type(t):
    return {"f16": "b16", "bf16": "b16"}.get(t, t)


def reg_type(t):
    return {"u8": "b16", "s8": "b16", "b8": "b16", "f16": "b16", "bf16": "b16"}.get(t, t)


def emit(path, about, ins, outs, body, extra_regs=(), ulp=None):
    """Writes a file. ins and outs: (name, type, values); body: instructions on registers of these names."""
    rows = len(ins[0][2])
    text = [f"// {line}" for part in about.split("\n") for line in textwrap.wrap(part, 113)]
    text.append(MARK)
    text.append(f"// run: grid=1 block={rows}")
    for name, t, _ in outs:
        text.append(f"// arg: {name} {t}[{rows}] = zero")
    for name, t, values in ins:
        assert len(values) == rows
        text += lines_of(f"// arg: {name} {t}[{rows}] =", show_all(t, values))
    for name, t, values in outs:
        assert len(values) == rows, (path, name)
        n = ulp.get(name, 0) if isinstance(ulp, dict) else ulp
        text += lines_of(f"// expect-ulp {n}: {name} =" if n else f"// expect: {name} =", show_all(t, values))
    text += ["", ".version 8.0", ".target sm_90", ".address_size 64", "", ".visible .entry kernel("]
    params = [f"    .param .u64 {name}" for name, _, _ in outs + ins]
    text += [",\n".join(params), ")", "{"]
    text.append("    .reg .b32 %i;")
    text.append("    .reg .b64 %p;")
    for name, t, _ in ins + outs:
        text.append(f"    .reg .{reg_type(t)} %{name};")
    text += [f"    {r}" for r in extra_regs]
    text += ["", "    mov.u32 %i, %tid.x;"]
    for name, t, _ in ins:
        text += address(name, t) + [f"    ld.global.{mem_type(t)} %{name}, [%p];"]
    text.append("")
    text += [f"    {line}" for line in body]
    text.append("")
    for name, t, _ in outs:
        text += address(name, t) + [f"    st.global.{mem_type(t)} [%p], %{name};"]
    text += ["    ret;", "}", ""]
    full = os.path.join(ROOT, path + ".ptx")
    assert not os.path.exists(full), path
    with open(full, "w", encoding="ascii", newline="\n") as f:
        f.write("\n".join(text))
    COUNT[0] += 1


def address(name, t):
    return [f"    ld.param.u64 %p, [{name}];", "    cvta.to.global.u64 %p, %p;",
            f"    mad.wide.u32 %p, %i, {WIDTH[t]}, %p;"]


def take(candidates, models, rows=ROWS):
    """The first rows for which every variant has a defined result, with the results of each variant."""
    ins, outs, seen = [], [[] for _ in models], set()
    for row in candidates:
        if row in seen:
            continue
        seen.add(row)
        try:
            results = [m(*row) for m in models]
        except Skip:
            continue
        ins.append(row)
        for o, r in zip(outs, results):
            o.append(r)
        if len(ins) == rows:
            break
    return ins, outs


def dotted(op, mods, *types):
    return ".".join([op, *[m for m in mods if m], *types])


def out_name(mods):
    return "_".join(["d", *[m.lower() for m in mods if m]])


def clamped(path, variants):
    """Yields (path, note, variants): those with .sat or .relu go to a file of their own."""
    for word in (None, "sat", "relu"):
        part = [v for v in variants if [m for m in v if m in ("sat", "relu")] == ([word] if word else [])]
        if not part:
            continue
        folder, name = path.split("/")
        words = name.split("-")
        if word and word not in words:
            at = 2 if words[1] in RND + IRND else 1
            words.insert(at, word)
        ftz = any("ftz" in v for v in part)
        note = f" With .{word}." if word else ""
        if ftz and any("ftz" not in v for v in part):
            note += " With and without .ftz."
        yield f"{folder}/{'-'.join(words)}", note, part


def scalar_file(path, about, op, fmt, variants, candidates, model):
    for p, note, part in clamped(path, variants):
        scalar_part(p, about + note, op, fmt, part, candidates, model)


def packed_file(path, about, op, fmt, variants, candidates, model):
    for p, note, part in clamped(path, variants):
        packed_part(p, about + note, op, fmt, part, candidates, model)


def scalar_part(path, about, op, fmt, variants, candidates, model):
    """A file for a non-packed instruction: one output for each variant of the modifiers."""
    models = [lambda *row, v=v: model(v, *row) for v in variants]
    ins, outs = take(candidates, models)
    names = "abc"[: len(ins[0])]
    t = fmt.name
    emit(path, about,
         [(n, t, [row[i] for row in ins]) for i, n in enumerate(names)],
         [(out_name(v), t, o) for v, o in zip(variants, outs)],
         [f"{dotted(op, v, t)} %{out_name(v)}, {', '.join('%' + n for n in names)};" for v in variants])


def packed_part(path, about, op, fmt, variants, candidates, model):
    """The same on two halves of a 32-bit register; the upper half takes the rows in another order."""
    models = [lambda *row, v=v: model(v, *row) for v in variants]
    ins, outs = take(candidates, models)
    n = len(ins)
    turn = lambda xs: xs[n // 3:] + xs[: n // 3]
    join = lambda xs: [lo | hi << 16 for lo, hi in zip(xs, turn(xs))]
    names = "abc"[: len(ins[0])]
    t = fmt.name + "x2"
    emit(path, about,
         [(x, "b32", join([row[i] for row in ins])) for i, x in enumerate(names)],
         [(out_name(v), "b32", join(o)) for v, o in zip(variants, outs)],
         [f"{dotted(op, v, t)} %{out_name(v)}, {', '.join('%' + x for x in names)};" for v in variants])


def half_files(path, about, op, variants_of, candidates, model):
    """The four types of half precision. variants_of: name of the format to the variants."""
    for fmt in (F16, BF16):
        variants = variants_of[fmt.name]
        if not variants:
            continue
        rows = candidates(fmt)
        m = lambda v, *row, fmt=fmt: model(fmt, v, *row)
        scalar_file(f"f16/{path}-{fmt.name}", about.replace("TYPE", fmt.name) + ".", op, fmt, variants, rows, m)
        packed_file(f"f16/{path}-{fmt.name}x2", about.replace("TYPE", fmt.name + "x2") + ": both halves on their own.",
                    op, fmt, variants, rows, m)


WORDS = {"rn": "to nearest even", "rz": "toward zero", "rm": "toward minus infinity", "rp": "toward plus infinity"}


def subsets(words):
    out = [[]]
    for w in words:
        out += [o + [w] for o in out]
    return out


# ------------------------------------------------------------------------- floating-point arithmetic


def arithmetic():
    for op in ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"):
        optional = op in ("add", "sub", "mul", "mad")
        for fmt in (F32, F64):
            words = [] if fmt is F64 else ["ftz"] if op in ("div", "rcp", "sqrt") else ["ftz", "sat"]
            for mode in ([None] if optional else []) + RND:
                rng = Rng(f"{op} {fmt.name}")
                if op in ("fma", "mad"):
                    rows = ternary_rows(fmt, rng)
                elif op in ("rcp", "sqrt"):
                    rows = unary_rows(op, fmt, rng)
                else:
                    rows = binary_rows(op, fmt, rng)
                variants = [[mode, *x] for x in subsets(words)]
                how = f"rounded {WORDS[mode]}" if mode else "without a rounding word, which is to nearest even"
                name = f"{op}-{mode}-{fmt.name}" if mode else f"{op}-{fmt.name}"
                scalar_file(f"{fmt.name}/{name}", f"{op}.{fmt.name} {how}.", op, fmt, variants, rows,
                            lambda v, *row, op=op, fmt=fmt: arith(op, fmt, v, row))
    # A result of -0 that is clamped to 0..1 becomes +0.
    MINUS_ZERO[0] = True
    sg, one = F32.sign, F32.one
    rows = [(sg, sg, sg), (sg, one, sg), (sg | one, 0, sg), (0, sg | one, sg), (sg | 1, 1, sg), (1, sg | 1, sg)]
    rows = rows + [(a, b, sg | 1) for a, b, _ in rows]
    variants = [("add", ["sat"]), ("add", ["ftz", "sat"]), ("mul", ["sat"]), ("mul", ["ftz", "sat"]),
                ("fma", ["rn", "sat"]), ("fma", ["rn", "ftz", "sat"])]
    outs = [(op + "_" + out_name(v), F32.name,
             [arith(op, F32, v, row[: 3 if op == "fma" else 2]) for row in rows]) for op, v in variants]
    emit("f32/sat-minus-zero-f32", "A result of -0 that is clamped to 0..1 is +0.",
         [(n, "f32", [row[i] for row in rows]) for i, n in enumerate("abc")], outs,
         [f"{dotted(op, v, 'f32')} %{op}_{out_name(v)}, %a, %b{', %c' if op == 'fma' else ''};" for op, v in variants])
    MINUS_ZERO[0] = False


def sign_rows(fmt, rng, nan=True):
    rows = [(b,) for b in specials(fmt) if nan or not fmt.is_nan(b)]
    return rows + [(rand_float(rng, fmt, fmt.emin, fmt.emax),) for _ in range(ROWS)]


def sign_model(op, fmt, mods, a):
    if fmt.is_nan(a):
        return None
    if "ftz" in mods:
        a = flush(fmt, a)
    return fmt.neg(a) if op == "neg" else a & ~fmt.sign


def minmax_rows(fmt, rng):
    sp = specials(fmt)
    rows = [(0, fmt.sign), (fmt.sign, 0), (1, fmt.sign | 1), (fmt.sign | 1, 0), (0, 1), (fmt.min_normal, 1),
            (fmt.one, fmt.sign | fmt.one), (fmt.inf, fmt.sign | fmt.inf), (fmt.qnan | 1, fmt.one),
            (fmt.sign | fmt.one, fmt.sign | fmt.qnan | 3), (fmt.qnan, fmt.sign | fmt.qnan), (fmt.inf | 1, fmt.inf | 2),
            (fmt.sign | fmt.qnan, fmt.inf), (fmt.sign, fmt.qnan), (fmt.one, fmt.one + 1), (fmt.sign | fmt.one, fmt.sign | (fmt.one + 1))]
    rows += [(rng.pick(sp), rng.pick(sp)) for _ in range(20)]
    for _ in range(2 * ROWS):
        e = fmt.emin + rng.below(fmt.emax - fmt.emin)
        rows.append((rand_float(rng, fmt, e, e + 1), rand_float(rng, fmt, e, e + 1)))
    return rows


def signs_and_order():
    for fmt in (F32, F64):
        t = fmt.name
        words = ["ftz"] if fmt is F32 else []
        for op in ("neg", "abs"):
            scalar_file(f"{t}/{op}-{t}", f"{op}.{t} changes only the sign bit.", op, fmt, subsets(words),
                        sign_rows(fmt, Rng(op + t)), lambda v, a, op=op, fmt=fmt: sign_model(op, fmt, v, a))
        for op in ("min", "max"):
            rows = minmax_rows(fmt, Rng(op + t))
            model = lambda v, a, b, op=op, fmt=fmt: minmax(op, fmt, v, a, b)
            scalar_file(f"{t}/{op}-{t}", f"{op}.{t}: a NaN loses against a number, -0 is less than +0.", op, fmt,
                        subsets(words), rows, model)
            if fmt is F32:
                scalar_file(f"f32/{op}-nan-f32", f"{op}.NaN.f32: a NaN operand gives the canonical NaN.", op, fmt,
                            [["NaN"], ["ftz", "NaN"]], rows, model)
                scalar_file(f"f32/{op}-xorsign-abs-f32", f"{op}.xorsign.abs.f32: of the absolute values, "
                            "with the product of the signs.", op, fmt,
                            [x + ["xorsign", "abs"] for x in subsets(["ftz", "NaN"])], rows, model)
        rows = minmax_rows(fmt, Rng("copysign" + t))
        scalar_file(f"{t}/copysign-{t}", f"copysign.{t} d, a, b: the sign of a, the rest of b.", "copysign", fmt, [[]],
                    rows, lambda v, a, b, fmt=fmt: None if fmt.is_nan(b) else (a & fmt.sign) | (b & ~fmt.sign))
        testp(fmt)


def testp(fmt):
    t = fmt.name
    tests = {
        "finite": lambda b: not fmt.is_nan(b) and not fmt.is_inf(b),
        "infinite": fmt.is_inf,
        "number": lambda b: not fmt.is_nan(b),
        "notanumber": fmt.is_nan,
        "normal": lambda b: not fmt.is_nan(b) and not fmt.is_inf(b) and not fmt.is_sub(b),
        "subnormal": fmt.is_sub,
    }
    rng = Rng("testp" + t)
    rows = specials(fmt) + [fmt.nan, fmt.sign | fmt.nan, fmt.min_normal // 2]
    rows += [rand_float(rng, fmt, fmt.emin, fmt.emax) for _ in range(32 - len(rows))]
    for word, test in tests.items():
        note = " Zero counts as normal." if word == "normal" else ""
        emit(f"{t}/testp-{word}-{t}", f"testp.{word}.{t} as 0 or 1.{note}", [("a", t, rows)],
             [("d", "u32", [int(test(b)) for b in rows])],
             [f"testp.{word}.{t} %q, %a;", "selp.u32 %d, 1, 0, %q;"], [".reg .pred %q;"])


# ------------------------------------------------------------------------------------ half precision


def half_precision():
    for op in ("add", "sub", "mul"):
        model = lambda fmt, v, *row, op=op: arith(op, fmt, v, row)
        rows = lambda fmt, op=op: binary_rows(op, fmt, Rng(f"{op} {fmt.name}"))
        half_files(op, f"{op}.TYPE without a rounding word, which is to nearest even", op,
                   {"f16": subsets(["ftz", "sat"]), "bf16": [[]]}, rows, model)
        half_files(op + "-rn", f"{op}.rn.TYPE", op,
                   {"f16": [["rn", *x] for x in subsets(["ftz", "sat"])], "bf16": [["rn"]]}, rows, model)
    model = lambda fmt, v, *row: arith("fma", fmt, v, row)
    rows = lambda fmt: ternary_rows(fmt, Rng(f"fma {fmt.name}"))
    half_files("fma-rn", "fma.rn.TYPE rounds once", "fma",
               {"f16": [["rn", *x] for x in subsets(["ftz", "sat"])], "bf16": [["rn"]]}, rows, model)
    half_files("fma-rn-relu", "fma.rn.relu.TYPE: negative results become 0", "fma",
               {"f16": [["rn", "relu"], ["rn", "ftz", "relu"]], "bf16": [["rn", "relu"]]}, rows, model)
    for op in ("neg", "abs"):
        half_files(op, f"{op}.TYPE changes only the sign bit", op, {"f16": [[], ["ftz"]], "bf16": [[]]},
                   lambda fmt, op=op: sign_rows(fmt, Rng(op + fmt.name), nan=False),
                   lambda fmt, v, a, op=op: sign_model(op, fmt, v, a))
    for op in ("min", "max"):
        rows = lambda fmt, op=op: minmax_rows(fmt, Rng(op + fmt.name))
        model = lambda fmt, v, a, b, op=op: minmax(op, fmt, v, a, b)
        half_files(op, f"{op}.TYPE: a NaN loses against a number, -0 is less than +0", op,
                   {"f16": [[], ["ftz"]], "bf16": [[]]}, rows, model)
        half_files(op + "-nan", f"{op}.NaN.TYPE: a NaN operand gives the canonical NaN", op,
                   {"f16": [["NaN"], ["ftz", "NaN"]], "bf16": [["NaN"]]}, rows, model)
        half_files(op + "-xorsign-abs", f"{op}.xorsign.abs.TYPE: of the absolute values, with the product of the signs", op,
                   {"f16": [x + ["xorsign", "abs"] for x in subsets(["ftz", "NaN"])],
                    "bf16": [["xorsign", "abs"], ["NaN", "xorsign", "abs"]]}, rows, model)
    # neg and abs of a NaN are some NaN.
    for fmt in (F16, BF16):
        t = fmt.name
        rows = [fmt.qnan, fmt.sign | fmt.qnan, fmt.inf | 1, fmt.sign | fmt.nan, fmt.inf, fmt.one, fmt.sign, 1]
        d = [int(fmt.is_nan(b)) for b in rows]
        emit(f"f16/abs-neg-of-nan-{t}", f"abs.{t} and neg.{t} of a NaN are a NaN, of others they are not.",
             [("a", t, rows)], [("d_abs", "u32", d), ("d_neg", "u32", d)],
             [f"abs.{t} %x, %a;", f"setp.nan.{t} %q, %x, %x;", "selp.u32 %d_abs, 1, 0, %q;",
              f"neg.{t} %x, %a;", f"setp.nan.{t} %q, %x, %x;", "selp.u32 %d_neg, 1, 0, %q;"],
             [".reg .b16 %x;", ".reg .pred %q;"])
    # -0 that is clamped by .sat or .relu becomes +0.
    MINUS_ZERO[0] = True
    sg, one = F16.sign, F16.one
    rows = [(sg, sg, sg), (sg, one, sg), (sg | one, 0, sg), (0, sg | one, sg), (sg | 1, 1, sg), (1, sg | 1, sg),
            (one, one, sg | one), (sg | one, one, 0)]
    variants = [("add", ["sat"]), ("mul", ["sat"]), ("fma", ["rn", "sat"]), ("fma", ["rn", "relu"])]
    emit("f16/clamp-minus-zero-f16", "A result of -0 that is clamped by .sat or .relu is +0.",
         [(n, "f16", [row[i] for row in rows]) for i, n in enumerate("abc")],
         [(op + "_" + out_name(v), "f16", [arith(op, F16, v, row[: 3 if op == "fma" else 2]) for row in rows])
          for op, v in variants],
         [f"{dotted(op, v, 'f16')} %{op}_{out_name(v)}, %a, %b{', %c' if op == 'fma' else ''};" for op, v in variants])
    MINUS_ZERO[0] = False


FCMP = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def compare(fmt, word, ftz, a, b):
    if ftz:
        a, b = flush(fmt, a), flush(fmt, b)
    unordered = fmt.is_nan(a) or fmt.is_nan(b)
    if word in ("num", "nan"):
        return unordered == (word == "nan")
    if unordered:
        return len(word) == 3
    val = lambda x: (Fraction(-1 if x & fmt.sign else 1) * pow2(2000)) if fmt.is_inf(x) else fmt.value(x)
    x, y = val(a), val(b)
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[word[:2]]


def compare_rows(fmt, rng):
    rows = [(0, fmt.sign), (fmt.sign, 0), (1, 0), (fmt.sign | 1, 1), (0, fmt.sign | 1), (fmt.min_normal, fmt.min_normal - 1),
            (fmt.one, fmt.one), (fmt.one, fmt.one + 1), (fmt.sign | fmt.one, fmt.sign | (fmt.one + 1)),
            (fmt.inf, fmt.inf), (fmt.inf, fmt.sign | fmt.inf), (fmt.max, fmt.inf), (fmt.qnan | 1, fmt.one),
            (fmt.one, fmt.sign | fmt.qnan), (fmt.qnan | 1, fmt.qnan | 1), (fmt.inf | 1, fmt.inf)]
    while len(rows) < 32:
        e = fmt.emin + rng.below(fmt.emax - fmt.emin)
        rows.append((rand_float(rng, fmt, e, e + 1), rand_float(rng, fmt, e, e + 1)))
    return rows


def half_compare():
    for fmt in (F16, BF16):
        t = fmt.name
        rows = compare_rows(fmt, Rng("setp" + t))
        n = len(rows)
        a, b = [r[0] for r in rows], [r[1] for r in rows]
        turn = lambda xs: xs[n // 3:] + xs[: n // 3]
        join = lambda xs: [lo | hi << 16 for lo, hi in zip(xs, turn(xs))]
        for ftz in ([], ["ftz"]) if fmt is F16 else ([],):
            res = {w: [compare(fmt, w, ftz, x, y) for x, y in rows] for w in FCMP}
            f = "-ftz" if ftz else ""
            # All comparisons in one word: bit 2k is the first destination, bit 2k+1 the second.
            body, d = ["mov.b32 %d, 0;"], [0] * n
            for k, w in enumerate(FCMP):
                body += [f"{dotted('setp', [w, *ftz], t)} %q|%r, %a, %b;", f"@%q or.b32 %d, %d, {1 << (2 * k)};",
                         f"@%r or.b32 %d, %d, {2 << (2 * k)};"]
                for i in range(n):
                    d[i] |= (1 if res[w][i] else 2) << (2 * k)
            emit(f"f16/setp{f}-{t}", f"{dotted('setp', ['CMP', *ftz], t)} with both destinations, the second one is the "
                 f"opposite.\nBits 2k and 2k+1 belong to: {' '.join(FCMP)}.",
                 [("a", t, a), ("b", t, b)], [("d", "b32", d)], body, [".reg .pred %q;", ".reg .pred %r;"])
            one_body = ["mov.b32 %d, 0;"]
            for k, w in enumerate(FCMP):
                one_body += [f"{dotted('setp', [w, *ftz], t)} %q, %a, %b;", f"@%q or.b32 %d, %d, {1 << k};"]
            emit(f"f16/setp-one-destination{f}-{t}", f"{dotted('setp', ['CMP', *ftz], t)} with one destination.\n"
                 f"Bit k belongs to: {' '.join(FCMP)}.", [("a", t, a), ("b", t, b)],
                 [("d", "b32", [sum(res[w][i] << k for k, w in enumerate(FCMP)) for i in range(n)])], one_body,
                 [".reg .pred %q;"])
            body, d = ["mov.b32 %d, 0;"], [0] * n
            for k, w in enumerate(FCMP):
                up = turn(res[w])
                body += [f"{dotted('setp', [w, *ftz], t + 'x2')} %q|%r, %a, %b;", f"@%q or.b32 %d, %d, {1 << (2 * k)};",
                         f"@%r or.b32 %d, %d, {2 << (2 * k)};"]
                for i in range(n):
                    d[i] |= (int(res[w][i]) + 2 * int(up[i])) << (2 * k)
            emit(f"f16/setp{f}-{t}x2", f"{dotted('setp', ['CMP', *ftz], t + 'x2')}: the first destination is the lower half, "
                 f"the second the upper.\nBits 2k and 2k+1 belong to: {' '.join(FCMP)}.",
                 [("a", "b32", join(a)), ("b", "b32", join(b))], [("d", "b32", d)], body,
                 [".reg .pred %q;", ".reg .pred %r;"])
            if fmt is BF16:
                continue
            # Combined with a predicate, plain and negated.
            for word in ("and", "or", "xor"):
                fn = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}[word]
                body, d, e = ["mov.b32 %d, 0;", "mov.b32 %e, 0;", "setp.ne.u32 %c, %k, 0;"], [0] * n, [0] * n
                ks = [i % 3 % 2 for i in range(n)]
                for k, w in enumerate(FCMP):
                    name = dotted("setp", [w, word, *ftz], t)
                    body += [f"{name} %q|%r, %a, %b, %c;", f"@%q or.b32 %d, %d, {1 << (2 * k)};",
                             f"@%r or.b32 %d, %d, {2 << (2 * k)};", f"{name} %q, %a, %b, !%c;",
                             f"@%q or.b32 %e, %e, {1 << k};"]
                    for i in range(n):
                        x, c = res[w][i], bool(ks[i])
                        d[i] |= (int(fn(x, c)) + 2 * int(fn(not x, c))) << (2 * k)
                        e[i] |= int(fn(x, not c)) << k
                emit(f"f16/setp-{word}{f}-f16", f"{dotted('setp', ['CMP', word, *ftz], t)} with a predicate (d) and with the "
                     f"negated predicate (e).\nBits 2k and 2k+1 of d, k of e belong to: {' '.join(FCMP)}.",
                     [("a", t, a), ("b", t, b), ("k", "u32", ks)], [("d", "b32", d), ("e", "b32", e)], body,
                     [".reg .pred %c;", ".reg .pred %q;", ".reg .pred %r;"])
            emit(f"f16/set{f}-f16x2", f"{dotted('set', ['CMP', *ftz], 'f16x2', 'f16x2')}: 1.0 or 0 in each half.",
                 [("a", "b32", join(a)), ("b", "b32", join(b))],
                 [("d_" + w, "b32", join([0x3C00 if x else 0 for x in res[w]])) for w in FCMP],
                 [f"{dotted('set', [w, *ftz], 'f16x2', 'f16x2')} %d_{w}, %a, %b;" for w in FCMP])


# --------------------------------------------------------------------------------------- conversions


def near(fmt, x):
    """The number nearest to x and its neighbours."""
    b = rnd(fmt, Fraction(x), "rz")
    m, sg = b & ~fmt.sign, b & fmt.sign
    return [sg | v for v in (m - 1, m, m + 1) if 0 <= v < fmt.inf]


def float_to_int_rows(fmt, t, rng):
    lo, hi = int_range(t)
    q = Fraction(1, 2)
    small = [0, fmt.sign, 1, fmt.sign | 1, fmt.min_normal - 1, fmt.min_normal, fmt.max, fmt.sign | fmt.max, fmt.inf,
             fmt.sign | fmt.inf]
    small += [num(fmt, x) for x in (1, -1, q, -q, q * 3, -q * 3, q * 5, -q * 5, q * 7, q / 2, -q / 2, -q * 3 / 2)]
    small += [fmt.one - 1, fmt.sign | (fmt.one - 1), fmt.one + 1] + near(fmt, q)[::2]
    for x in (hi - q, hi, hi + q, hi + 1, lo - q, lo - 1, lo, lo - q * 3):
        small += near(fmt, x)
    top = min(INTS[t][0], fmt.emax)
    small += [rand_float(rng, fmt, -2, top) for _ in range(ROWS * 2)]
    return [(b,) for b in dict.fromkeys(small)]


def nan_rows(fmt):
    return [fmt.qnan, fmt.sign | fmt.qnan, fmt.inf | 1, fmt.sign | fmt.inf | 3, fmt.nan, fmt.qnan | 5, fmt.one, fmt.inf]


def wide(t):
    """The type of the register and buffer that takes a converted integer: narrow ones are extended."""
    return t if INTS[t][0] >= 32 else t[0] + "32"


def conversions_to_int():
    for irnd in IRND:
        for fmt in (F32, F64, F16, BF16):
            for t in INTS:
                words = {"f32": ["ftz", "sat"], "f64": ["sat"], "f16": ["sat"], "bf16": []}[fmt.name]
                variants = [[irnd, *x] for x in subsets(words)]
                rows = float_to_int_rows(fmt, t, Rng(f"cvt {fmt.name} {t}"))
                settled = fmt is not F64 and INTS[t][0] != 64
                if settled:
                    rows = [(fmt.qnan | 1,), (fmt.sign | fmt.qnan,), (fmt.inf | 1,)] + rows
                models = [lambda b, v=v: float_to_int(fmt, v, t, b) for v in variants]
                ins, outs = take(rows, models, 56)
                ext = ", extended to 32 bits" if INTS[t][0] < 32 else ""
                emit(f"cvt-float/cvt-{irnd}-{t}-{fmt.name}",
                     f"cvt.{irnd}.{t}.{fmt.name}: rounded {WORDS[irnd[:2]]}, then clamped to the range{ext}.",
                     [("a", fmt.name, [r[0] for r in ins])],
                     [(out_name(v), wide(t), o) for v, o in zip(variants, outs)],
                     [f"{dotted('cvt', v, t, fmt.name)} %{out_name(v)}, %a;" for v in variants])
    for fmt in (F32, F64, F16, BF16):
        types = [t for t in INTS if fmt is F64 or INTS[t][0] == 64]
        rows = nan_rows(fmt)
        emit(f"cvt-float/cvt-nan-to-int-{fmt.name}", "What a NaN becomes in an integer: source of 64 bits or destination of 64 bits.",
             [("a", fmt.name, rows)],
             [(f"d_{t}", wide(t), [float_to_int(fmt, ["rzi"], t, b) for b in rows]) for t in types],
             [f"cvt.rzi.{t}.{fmt.name} %d_{t}, %a;" for t in types])


def int_rows(t, fmt, rng):
    lo, hi = int_range(t)
    rows = [0, 1, 2, hi, hi - 1, lo, lo + 1, -1, -2, 3, 7]
    w = INTS[t][0]
    for p in (fmt.p, fmt.p + 1, 11, 16, w - 1):
        base = 1 << p
        for d in (-1, 1, 2, 3, base >> fmt.p, 3 * base >> fmt.p, (base >> fmt.p) + 1, base >> (fmt.p + 1)):
            rows += [base + d, -base - d]
    rows += [65504, 65505, 65519, 65520, 65521, 65536, -65519, -65520, -65521]
    for _ in range(3 * ROWS):
        k = 2 + rng.below(w - 1)
        n = rng.bits(min(k, 64))
        rows += [n, -n]
    return [(n,) for n in dict.fromkeys(rows) if lo <= n <= hi]


def conversions_from_int():
    for fmt in (F32, F64, F16, BF16):
        for t in INTS:
            # No integer becomes a subnormal number, so .ftz may stand there and changes nothing.
            words = {F32: ["ftz", "sat"], BF16: []}.get(fmt, ["sat"])
            variants = [[mode, *x] for mode in RND for x in subsets(words)]
            models = [lambda n, v=v: int_to_float(fmt, v, n) for v in variants]
            ins, outs = take(int_rows(t, fmt, Rng(f"cvt {t} {fmt.name}")), models, 56)
            # Narrow integers come in a 32-bit register whose upper bits must not matter.
            w = INTS[t][0]
            if w < 32:
                vals = [(n[0] & ((1 << w) - 1)) | 0xA5C30000 | (0x5A00 if w == 8 else 0) for n in ins]
                inp = ("a", "b32", vals)
                note = "; the upper bits of the register do not count"
            else:
                inp = ("a", t, [n[0] for n in ins])
                note = ""
            emit(f"cvt-float/cvt-{fmt.name}-{t}", f"cvt.RND.{fmt.name}.{t} with all roundings{note}.", [inp],
                 [(out_name(v), fmt.name, o) for v, o in zip(variants, outs)],
                 [f"{dotted('cvt', v, fmt.name, t)} %{out_name(v)}, %a;" for v in variants])


def narrow_rows(src, dst, rng):
    """Values of src around the steps, the ends and the subnormal numbers of dst."""
    sg = src.sign
    rows = specials(src)
    value = lambda b: dst.value(b)
    steps = [0, 1, 2, 3, dst.min_normal - 2, dst.min_normal - 1, dst.min_normal, dst.one - 1, dst.one, dst.one + 1, dst.max - 1]
    steps += [rand_float(rng, dst, -3, 1, False) for _ in range(3)] + [rng.bits(dst.p - 1) for _ in range(2)]
    for b in steps:
        mid = (value(b) + value(b + 1)) / 2 if b + 1 < dst.inf else value(b)
        m = rnd(src, mid, "rz")
        rows += [m, m + 1, sg | m, m - 1 if m else 1]
    top = value(dst.max) + (value(dst.max) - value(dst.max - 1)) / 2
    m = rnd(src, top, "rz")
    rows += [m, m - 1, m + 1, sg | m, sg | (m - 1), rnd(src, value(dst.max)), sg | rnd(src, value(dst.max)),
             rnd(src, value(dst.max)) + 1]
    rows += [rand_float(rng, src, max(dst.emin - 4, src.emin), min(dst.emax, src.emax)) for _ in range(8)]
    rows += [rand_float(rng, src, -3, 0) for _ in range(40)]
    return [(b,) for b in dict.fromkeys(rows)]


def float_file(path, about, dst, src, variants, rows, nan="canonical", count=64):
    for p, note, part in clamped(path, variants):
        float_part(p, about + note, dst, src, part, rows, nan, count)


def float_part(path, about, dst, src, variants, rows, nan, count):
    models = [lambda b, v=v: float_to_float(dst, v, src, b, nan) for v in variants]
    ins, outs = take(rows, models, count)
    emit(path, about, [("a", src.name, [r[0] for r in ins])],
         [(out_name(v), dst.name, o) for v, o in zip(variants, outs)],
         [f"{dotted('cvt', v, dst.name, src.name)} %{out_name(v)}, %a;" for v in variants])


def conversions_between_floats():
    for mode in RND:
        how = f"rounded {WORDS[mode]}"
        float_file(f"cvt-float/cvt-{mode}-f32-f64", f"cvt.{mode}.f32.f64 {how}; .ftz flushes the result.", F32, F64,
                   [[mode, *x] for x in subsets(["ftz", "sat"])], narrow_rows(F64, F32, Rng("f32 f64")))
        float_file(f"cvt-float/cvt-{mode}-f16-f32", f"cvt.{mode}.f16.f32 {how}; .ftz flushes the source only.", F16, F32,
                   [[mode, *x] for x in subsets(["ftz", "sat"])], narrow_rows(F32, F16, Rng("f16 f32")))
        float_file(f"cvt-float/cvt-{mode}-f16-f64", f"cvt.{mode}.f16.f64 {how}.", F16, F64,
                   [[mode, *x] for x in subsets(["sat"])], narrow_rows(F64, F16, Rng("f16 f64")))
        for src in (F64, F16):
            float_file(f"cvt-float/cvt-{mode}-bf16-{src.name}", f"cvt.{mode}.bf16.{src.name} {how}.", BF16, src, [[mode]],
                       narrow_rows(src, BF16, Rng("bf16" + src.name)) if src is F64 else
                       [(b,) for b in specials(F16)] + [(rand_float(Rng(f"h{i}"), F16, -14, 15),) for i in range(20)]
                       + [(F16.one | i,) for i in (3, 4, 5, 12, 20, 0x3FC, 0x3FB)] + [(F16.sign | F16.one | i,) for i in (4, 12, 0x3FC)],
                       count=48)
    for mode in ("rn", "rz"):
        how = f"rounded {WORDS[mode]}"
        for dst in (F16, BF16):
            rows = narrow_rows(F32, dst, Rng("x2 " + dst.name))
            if dst is F16:
                float_file(f"cvt-float/cvt-{mode}-relu-f16-f32", f"cvt.{mode}.relu.f16.f32 {how}; negative becomes 0.",
                           F16, F32, [[mode, "relu"]], rows)
            else:
                float_file(f"cvt-float/cvt-{mode}-bf16-f32", f"cvt.{mode}.bf16.f32 {how}.", BF16, F32,
                           [[mode], [mode, "relu"]], rows)
            for path, note, part in clamped(f"cvt-float/cvt-{mode}-{dst.name}x2-f32", [[mode], [mode, "relu"]]):
                models = [lambda b, v=v: float_to_float(dst, v, F32, b) for v in part]
                ins, outs = take(rows, models, 64)
                n = len(ins)
                turn = lambda xs: xs[n // 3:] + xs[: n // 3]
                a = [r[0] for r in ins]
                t = dst.name + "x2"
                emit(path, f"cvt.{mode}.{t}.f32 d, a, b {how}: a goes to the upper half, b to the lower.{note}",
                     [("a", "f32", a), ("b", "f32", turn(a))],
                     [(out_name(v), "b32", [hi << 16 | lo for hi, lo in zip(o, turn(o))]) for v, o in zip(part, outs)],
                     [f"{dotted('cvt', v, t, 'f32')} %{out_name(v)}, %a, %b;" for v in part])
    # Conversions without loss.
    rng = Rng("widen")
    rows_of = lambda f: [(b,) for b in specials(f)] + [(b,) for b in (2, 3, f.min_normal // 2, f.sign | 5)] \
        + [(rand_float(rng, f, -3, 1),) for _ in range(14)] + [(rand_float(rng, f, f.emin, f.emax),) for _ in range(20)]
    float_file("cvt-float/cvt-f64-f32", "cvt.f64.f32 is exact; .ftz flushes the source.", F64, F32, subsets(["ftz", "sat"]),
               rows_of(F32), count=48)
    float_file("cvt-float/cvt-f32-f16", "cvt.f32.f16 is exact; .ftz has nothing to flush, subnormal sources are normal in f32.",
               F32, F16, subsets(["ftz", "sat"]), rows_of(F16), count=48)
    float_file("cvt-float/cvt-f64-f16", "cvt.f64.f16 is exact.", F64, F16, subsets(["sat"]), rows_of(F16), count=48)
    float_file("cvt-float/cvt-f32-bf16", "cvt.f32.bf16 is exact.", F32, BF16, subsets(["sat"]), rows_of(BF16), nan="any", count=48)
    float_file("cvt-float/cvt-f64-bf16", "cvt.f64.bf16 is exact.", F64, BF16, [[]], rows_of(BF16), count=48)
    float_file("cvt-float/cvt-f16-bf16", "cvt.f16.bf16 without a rounding word: values that f16 can hold.", F16, BF16, [[]],
               [(b,) for b in (0, BF16.sign, BF16.inf, BF16.sign | BF16.inf, BF16.one, BF16.sign | BF16.one, BF16.one + 1,
                               BF16.one - 1, num(BF16, 65280), num(BF16, pow2(-14)), num(BF16, pow2(-24)),
                               num(BF16, -3 * pow2(-24)), BF16.qnan, BF16.sign | BF16.qnan | 1)]
               + [(rand_float(rng, BF16, -14, 15),) for _ in range(18)], count=32)
    # The same format: a copy, or rounded to an integral value.
    for f, words in ((F32, ["ftz", "sat"]), (F64, ["sat"]), (F16, ["sat"])):
        t = f.name
        rows = [(b,) for b in specials(f) if f is not F16 or not f.is_nan(b)]
        rows += [(rand_float(rng, f, -3, 1),) for _ in range(10)] + [(rand_float(rng, f, f.emin, f.emax),) for _ in range(30)]
        float_file(f"cvt-float/cvt-{t}-{t}", f"cvt.{t}.{t} without rounding copies.", f, f, subsets(words), rows, nan="any",
                   count=32)
        q = Fraction(1, 2)
        rows = specials(f) + [num(f, x) for x in (q, -q, 3 * q, -3 * q, 5 * q, -5 * q, 7 * q, q / 2, -q / 2, -3 * q / 2, 100, -100)]
        rows += near(f, q) + near(f, -q) + near(f, 3 * q)
        step = pow2(f.p - 2)  # from here on only halves are left
        for x in (step + q, step + 3 * q, -step - q, 2 * step - q, 2 * step + 1, 1 - 2 * step, 4 * step + 2):
            rows.append(num(f, x))
        rows += [rand_float(rng, f, -2, min(f.p + 1, f.emax)) for _ in range(40)]
        for irnd in IRND:
            float_file(f"cvt-float/cvt-{irnd}-{t}-{t}", f"cvt.{irnd}.{t}.{t}: to an integral value, {WORDS[irnd[:2]]}; the sign of "
                       "zero stays.", f, f, [[irnd, *x] for x in subsets(words)],
                       [(b,) for b in dict.fromkeys(rows)], nan="any" if f is not F16 else "canonical", count=56)
    # -0 under .sat and .relu.
    MINUS_ZERO[0] = True
    cases = [("f32", "f32", ["sat"]), ("f32", "f32", ["rpi", "sat"]), ("f64", "f32", ["sat"]), ("f16", "f32", ["rn", "sat"]),
             ("f16", "f32", ["rn", "relu"]), ("bf16", "f32", ["rz", "relu"])]
    vals = [F32.sign, F32.sign | 1, F32.sign | rnd(F32, pow2(-30)), F32.sign | F32.one, 0, F32.one]
    emit("cvt-float/clamp-minus-zero", "A -0 that is clamped by .sat or .relu becomes +0.", [("a", "f32", vals)],
         [(f"{d}_{out_name(v)}", d, [float_to_float(FMT[d], v, FMT[x], b) for b in vals]) for d, x, v in cases],
         [f"{dotted('cvt', v, d, x)} %{d}_{out_name(v)}, %a;" for d, x, v in cases])
    MINUS_ZERO[0] = False


# ----------------------------------------------------------------------- approximate instructions


def approx_file(name, about, op, mods, t, ins, model, ulp):
    """ins: lists of operands; model gives bits."""
    emit(f"approx/{name}", about, [(n, t, list(v)) for n, v in zip("ab", ins)], [("d", t, [model(*row) for row in zip(*ins)])],
         [f"{dotted(op, mods, t)} %d, {', '.join('%' + n for n in 'ab'[: len(ins)])};"], ulp=ulp)


def exact_file(name, about, op, variants, t, rows, model):
    """Special values: one output for each variant, exact."""
    names = "ab"[: len(rows[0])]
    emit(f"approx/{name}", about, [(n, t, [r[i] for r in rows]) for i, n in enumerate(names)],
         [(out_name(v[1:]), t, [model(v, *r) for r in rows]) for v in variants],
         [f"{dotted(op, v, t)} %{out_name(v[1:])}, {', '.join('%' + n for n in names)};" for v in variants])


def with_ftz(fmt, fn):
    return lambda *row: flush(fmt, fn(*[flush(fmt, b) for b in row]))


def both(name, about, op, word, fmt, ins, fn, ulp):
    """The plain and the .ftz variant of an approximate instruction."""
    approx_file(name, about, op, [word], fmt.name, ins, fn, ulp)
    f = with_ftz(fmt, fn)
    keep = [row for row in zip(*ins) if not any(fmt.is_sub(x) for x in (fn(*row), *row))]
    approx_file(name.replace(f"-{fmt.name}", f"-ftz-{fmt.name}"), about.replace(f".{fmt.name}", f".ftz.{fmt.name}"), op,
                [word, "ftz"], fmt.name, list(zip(*keep)), f, ulp)


def approximate():
    f = F32
    sg, inf, one, mn, nan = f.sign, f.inf, f.one, f.min_normal, f.qnan | 7
    rng = Rng("approx")
    draw = lambda n, lo, hi, signed=True: [rand_float(rng, f, lo, hi, signed) for _ in range(n)]
    nums = lambda *xs: [rnd(f, Fraction(x)) for x in xs]
    ftz = [["approx"], ["approx", "ftz"]]

    # rcp: 1 unit. A reciprocal below 2^-126 is subnormal.
    big = [f.max, sg | f.max, num(f, pow2(126)) + 1, num(f, pow2(127)), sg | num(f, pow2(127)) + 9]
    a = nums(1, 2, 3, -3, 5, 7, 10, Fraction(1, 3), Fraction(-1, 10)) + [one - 1, one + 1, mn, sg | mn, mn + 1, num(f, pow2(126))]
    both("rcp-approx-f32", "rcp.approx.f32 to 1 unit in the last place.", "rcp", "approx", f,
         [a + big + draw(28, -120, 120)], lambda x: op_rcp(f, "rn", x), 1)
    rows = [(b,) for b in (0, sg, inf, sg | inf, nan, sg | nan, f.inf | 1)]
    exact_file("rcp-approx-special-f32", "rcp.approx.f32 of special values.", "rcp", ftz, "f32", rows,
               lambda v, x: arith("rcp", f, v[1:], [x]))
    rows = [(b,) for b in (1, sg | 1, mn // 4, mn - 1, sg | (mn - 1), num(f, pow2(127)), sg | f.max)]
    exact_file("rcp-approx-ftz-flush-f32", "rcp.approx.ftz.f32 flushes subnormal sources and results.", "rcp", [["approx", "ftz"]],
               "f32", rows, lambda v, x: arith("rcp", f, v[1:], [x]))

    # div: 2 units; .approx for divisors from 2^-126 to 2^126.
    for word in ("approx", "full"):
        lim = 60 if word == "approx" else 62
        xs, ys = draw(40, -lim, lim), draw(40, -lim, lim)
        xs += nums(1, 2, 10, -1, 100, 7) + [one, sg | (one - 1)]
        ys += nums(3, 3, 5, 7, -7, Fraction(1, 3)) + [one - 1, one + 1]
        both(f"div-{word}-f32", f"div.{word}.f32 to 2 units in the last place.", "div", word, f, [xs, ys],
             lambda x, y: op_div(f, "rn", x, y), 2)
        rows = [(0, one), (sg, one), (one, 0), (one, sg), (sg | one, 0), (0, 0), (0, sg), (inf, one), (inf, sg | one), (one, inf),
                (sg | one, inf), (inf, inf), (inf, sg | inf), (inf, 0), (0, inf), (nan, one), (one, nan), (nan, nan)]
        exact_file(f"div-{word}-special-f32", f"div.{word}.f32 of special values.", "div", [[word], [word, "ftz"]], "f32", rows,
                   lambda v, x, y: arith("div", f, v[1:], [x, y]))
        rows = [(1, one), (sg | 1, one), (one, 1), (one, sg | (mn - 1)), (1, 1), (mn, num(f, 4)), (sg | mn, num(f, 2)), (mn - 1, mn)]
        exact_file(f"div-{word}-ftz-flush-f32", f"div.{word}.ftz.f32 flushes subnormal sources and results.", "div", [[word, "ftz"]],
                   "f32", rows, lambda v, x, y: arith("div", f, v[1:], [x, y]))
    rows = [(f.max, f.max), (f.max, sg | (f.max - 1)), (num(f, pow2(127)), num(f, pow2(127)) + 1), (one, f.max), (sg | one, num(f, pow2(127)) + 5),
            (num(f, 3), num(f, pow2(126)) + 1), (mn, mn + 1), (mn + 5, mn), (1, mn), (num(f, pow2(100)), f.max - 77)]
    approx_file("div-full-range-f32", "div.full.f32 with divisors above 2^126 and results that are subnormal.", "div", ["full"],
                "f32", list(zip(*rows)), lambda x, y: op_div(f, "rn", x, y), 2)

    # sqrt and rsqrt: relative errors of 2^-23 and 2^-22.9, less than 2.5 units from the nearest number.
    a = nums(1, 2, 3, 4, 5, 9, 10, 100, Fraction(1, 2), Fraction(1, 4)) + [one - 1, one + 1, mn, mn + 1, f.max, 1, 3, mn - 1]
    a += draw(30, -126, 127, False)
    both("sqrt-approx-f32", "sqrt.approx.f32, relative error at most 2^-23.", "sqrt", "approx", f, [a],
         lambda x: op_sqrt(f, "rn", x), 2)
    both("rsqrt-approx-f32", "rsqrt.approx.f32, relative error at most 2^-22.9.", "rsqrt", "approx", f, [a],
         lambda x: rnd(f, 1 / root(f.value(x), 60)), 2)

    def rsqrt_special(fmt, v, x):
        if "ftz" in v:
            x = flush(fmt, x)
        if fmt.is_nan(x):
            return canonical(fmt)
        if fmt.is_zero(x):
            return fmt.inf | x
        if x & fmt.sign:
            return canonical(fmt)
        return 0 if fmt.is_inf(x) else rnd(fmt, 1 / root(fmt.value(x), 60))

    rows = [(b,) for b in (0, sg, inf, sg | inf, nan, sg | nan, sg | one, sg | mn, sg | f.max, sg | 1, sg | (mn - 1))]
    exact_file("sqrt-approx-special-f32", "sqrt.approx.f32 of special values.", "sqrt", ftz, "f32", rows,
               lambda v, x: arith("sqrt", f, v[1:], [x]))
    exact_file("rsqrt-approx-special-f32", "rsqrt.approx.f32 of special values.", "rsqrt", ftz, "f32", rows,
               lambda v, x: rsqrt_special(f, v, x))
    rows = [(1,), (mn - 1,), (mn // 2,)]
    exact_file("sqrt-approx-ftz-flush-f32", "sqrt.approx.ftz.f32 flushes subnormal sources.", "sqrt", [["approx", "ftz"]], "f32",
               rows, lambda v, x: arith("sqrt", f, v[1:], [x]))
    exact_file("rsqrt-approx-ftz-flush-f32", "rsqrt.approx.ftz.f32 flushes subnormal sources.", "rsqrt", [["approx", "ftz"]], "f32",
               rows, lambda v, x: rsqrt_special(f, v, x))

    # sin and cos: absolute errors; where the result is at least 1/2 they are some units.
    for op, shift in (("sin", 0), ("cos", 1)):
        fn = lambda x, shift=shift: rnd(f, sine(f.value(x), shift))
        for lim, bound, ulp, name in ((2, "2^-20.5", 11, ""), (100, "2^-14.7", 630, "-far")):
            top = lim * PI
            xs = [rnd(f, Fraction(k * 7 + 1, 300) * frac(top) * (-1) ** k) for k in range(1, 42)] + draw(60, -1, 2 if lim == 2 else 8)
            xs = [x for x in xs if abs(f.value(x)) < frac(top) and abs(sine(f.value(x), shift)) >= Fraction(1, 2)][:48]
            both(f"{op}-approx{name}-f32", f"{op}.approx.f32 between -{lim} pi and {lim} pi: absolute error at most {bound}, where the "
                 "result is at least 1/2.", op, "approx", f, [xs], fn, ulp)
            xs = [rnd(f, frac(PI) * Fraction(k, 2)) for k in range(-2 * lim + 1, 2 * lim, max(1, lim // 5))]
            xs += [rnd(f, frac(PI) * Fraction(k, 6)) for k in range(-11, 12)]
            xs = [x for x in dict.fromkeys(xs) if abs(f.value(x)) < frac(top)][:56]
            tol = Fraction(*(Decimal(2) ** Decimal(bound[2:])).as_integer_ratio()) + pow2(-24)
            tol = f.show(rnd(f, tol, "rp"))
            emit(f"approx/{op}-approx-absolute{name}-f32", f"{op}.approx.f32 near its zeros: d is 1 if the absolute error is at most "
                 f"{bound}.", [("a", "f32", xs), ("b", "f32", [fn(x) for x in xs])],
                 [("d", "u32", [1] * len(xs)), ("d_ftz", "u32", [1] * len(xs))],
                 [x for v, d in (("", "d"), (".ftz", "d_ftz")) for x in (
                     f"{op}.approx{v}.f32 %x, %a;", "sub.f32 %x, %x, %b;", "abs.f32 %x, %x;", f"setp.le.f32 %q, %x, {tol};",
                     f"selp.u32 %{d}, 1, 0, %q;")], [".reg .f32 %x;", ".reg .pred %q;"])
        rows = [(b,) for b in (0, sg, inf, sg | inf, nan, sg | nan)]
        exact_file(f"{op}-approx-special-f32", f"{op}.approx.f32 of special values.", op, ftz, "f32", rows,
                   lambda v, x, op=op: f.nan if f.is_nan(x) or f.is_inf(x) else (x if op == "sin" else one))
        rows = [(1,), (sg | 1,), (mn - 1,), (sg | (mn - 1),)]
        exact_file(f"{op}-approx-ftz-flush-f32", f"{op}.approx.ftz.f32 flushes subnormal sources.", op, [["approx", "ftz"]], "f32",
                   rows, lambda v, x, op=op: x & sg if op == "sin" else one)

    # lg2: relative error of 2^-22 outside of (0.5, 2), absolute inside.
    fn = lambda x: rnd(f, log2(f.value(x)))
    xs = nums(2, 3, 4, 5, 7, 10, 1000, Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)) + [mn, mn + 1, f.max, 1, 2, 3, mn - 1]
    xs += nums(*[Fraction(142 + 8 * k, 100) for k in range(7)], *[Fraction(51 + 3 * k, 100) for k in range(7)])
    xs += draw(14, 1, 127, False) + draw(10, -126, -2, False)
    both("lg2-approx-f32", "lg2.approx.f32: error at most 2^-22, where the result is at least 1/2.", "lg2", "approx", f, [xs], fn, 4)
    xs = nums(*[Fraction(72 + 2 * k, 100) for k in range(34)]) + [one, one - 1, one + 1, one + 1000, one - 1000]
    tol = f.show(rnd(f, pow2(-22) + pow2(-25), "rp"))
    emit("approx/lg2-approx-absolute-f32", "lg2.approx.f32 around 1: d is 1 if the absolute error is at most 2^-22.",
         [("a", "f32", xs), ("b", "f32", [fn(x) for x in xs])], [("d", "u32", [1] * len(xs)), ("d_ftz", "u32", [1] * len(xs))],
         [x for v, d in (("", "d"), (".ftz", "d_ftz")) for x in (
             f"lg2.approx{v}.f32 %x, %a;", "sub.f32 %x, %x, %b;", "abs.f32 %x, %x;", f"setp.le.f32 %q, %x, {tol};",
             f"selp.u32 %{d}, 1, 0, %q;")], [".reg .f32 %x;", ".reg .pred %q;"])

    def lg2_special(v, x):
        if "ftz" in v:
            x = flush(f, x)
        if f.is_nan(x):
            return f.nan
        if f.is_zero(x):
            return sg | inf
        return f.nan if x & sg else x

    rows = [(b,) for b in (0, sg, inf, sg | inf, nan, sg | nan, sg | one, sg | mn, sg | f.max, sg | 1, sg | (mn - 1))]
    exact_file("lg2-approx-special-f32", "lg2.approx.f32 of special values.", "lg2", ftz, "f32", rows, lg2_special)
    exact_file("lg2-approx-ftz-flush-f32", "lg2.approx.ftz.f32 flushes subnormal sources.", "lg2", [["approx", "ftz"]], "f32",
               [(1,), (mn - 1,), (sg | 1,)], lg2_special)

    # ex2: 2 units.
    fn = lambda x: rnd(f, exp2(f.value(x)))
    xs = nums(1, -1, 2, 10, -10, Fraction(1, 2), Fraction(-1, 2), Fraction(1, 3), Fraction(5, 4), 127, -126, -140, Fraction(255, 2), -133)
    xs += [rnd(f, Fraction(-1271, 10)), rnd(f, Fraction(-1405, 10))] + draw(34, -8, 6)
    xs = [x for x in xs if f.value(x) < 128]
    both("ex2-approx-f32", "ex2.approx.f32 to 2 units in the last place.", "ex2", "approx", f, [xs], fn, 2)

    def ex2_special(v, x):
        if f.is_nan(x):
            return f.nan
        if f.is_inf(x):
            return 0 if x & sg else inf
        r = rnd(f, exp2(f.value(flush(f, x) if "ftz" in v else x)))
        return flush(f, r) if "ftz" in v else r

    rows = [(b,) for b in [0, sg, 1, sg | 1, mn - 1, sg | (mn - 1), inf, sg | inf, nan, sg | nan, f.max, sg | f.max]
            + nums(128, 129, 1000, -200, -1000)]
    exact_file("ex2-approx-special-f32", "ex2.approx.f32 of special values.", "ex2", ftz, "f32", rows, ex2_special)
    rows = [(b,) for b in nums(-127, -128, -149, Fraction(-1265, 10))]
    exact_file("ex2-approx-ftz-flush-f32", "ex2.approx.ftz.f32 flushes subnormal results.", "ex2", [["approx", "ftz"]], "f32", rows,
               ex2_special)

    # tanh: relative error of 2^-11.
    xs = draw(40, -6, 3) + nums(1, -1, Fraction(1, 2), 9, -20, 100, Fraction(1, 1000), Fraction(-1, 100))
    approx_file("tanh-approx-f32", "tanh.approx.f32, relative error at most 2^-11.", "tanh", ["approx"], "f32", [xs],
                lambda x: rnd(f, tanh(f.value(x))), 8192)
    rows = [(b,) for b in (0, sg, 1, sg | 1, mn - 1, sg | (mn - 1), inf, sg | inf, nan, sg | nan)]
    exact_file("tanh-approx-special-f32", "tanh.approx.f32 of special values; subnormal sources stay.", "tanh", [["approx"]], "f32",
               rows, lambda v, x: f.nan if f.is_nan(x) else (one | x & sg if f.is_inf(x) else x))
    approximate_f64()
    approximate_half()


def approximate_f64():
    f = F64
    sg, inf, one, mn, nan = f.sign, f.inf, f.one, f.min_normal, f.qnan | 7
    rng = Rng("approx f64")
    high = ~0xFFFFFFFF  # these two look at the upper 32 bits only and give 20 bits of mantissa
    coarse = [rand_float(rng, f, -300, 300) & high for _ in range(20)] + [num(f, x) & high for x in (1, 2, 3, 10, -7)]
    coarse += [rnd(f, Fraction(1, 3)) & high, mn, one + (1 << 32)]
    unit = 1 << 33
    approx_file("rcp-approx-ftz-f64", "rcp.approx.ftz.f64 to 20 bits of the mantissa.", "rcp", ["approx", "ftz"], "f64", [coarse],
                lambda x: op_rcp(f, "rn", x), unit)
    positive = [x & ~sg for x in coarse]
    rsqrt = lambda x: rnd(f, 1 / root(f.value(x), 80))
    approx_file("rsqrt-approx-ftz-f64", "rsqrt.approx.ftz.f64 to 20 bits of the mantissa.", "rsqrt", ["approx", "ftz"], "f64",
                [positive], rsqrt, unit)
    for op, xs in (("rcp", coarse), ("rsqrt", positive)):
        # Ones in the lower half of the source change nothing; the lower half of the result is zero.
        emit(f"approx/{op}-approx-ftz-low-word-f64", f"{op}.approx.ftz.f64: the lower 32 bits of the source do not count, those of "
             "the result are zero.", [("a", "f64", xs), ("b", "f64", [x | 0xFFFFFFFF for x in xs])],
             [("low", "b32", [0] * len(xs)), ("same", "u32", [1] * len(xs))],
             [f"{op}.approx.ftz.f64 %x, %a;", f"{op}.approx.ftz.f64 %y, %b;", "mov.b64 {%low, %h}, %x;",
              "setp.eq.f64 %q, %x, %y;", "selp.u32 %same, 1, 0, %q;"],
             [".reg .f64 %x;", ".reg .f64 %y;", ".reg .b32 %h;", ".reg .pred %q;"])
    specials_ = [0, sg, inf, sg | inf, nan, sg | nan, 1, sg | 1, mn - 1, sg | (mn - 1)]
    exact_file("rcp-approx-ftz-special-f64", "rcp.approx.ftz.f64 of special values.", "rcp", [["approx", "ftz"]],
               "f64", [(b,) for b in specials_], lambda v, x: arith("rcp", f, ["rn", "ftz"], [x]))

    def special(v, x):
        if "ftz" in v:
            x = flush(f, x)
        if f.is_nan(x):
            return None
        if f.is_zero(x):
            return inf | x
        if x & sg:
            return None
        return 0 if f.is_inf(x) else rsqrt(x)

    exact_file("rsqrt-approx-ftz-special-f64", "rsqrt.approx.ftz.f64 of special values.", "rsqrt",
               [["approx", "ftz"]], "f64", [(b,) for b in specials_ + [sg | one]], special)
    exact_file("rsqrt-approx-special-f64", "rsqrt.approx.f64 of special values.", "rsqrt", [["approx"]], "f64",
               [(b,) for b in (0, sg, inf, sg | inf, nan, sg | nan, sg | 1, sg | mn, sg | one)],
               special)
    xs = [rand_float(rng, f, -1022, 1023, False) for _ in range(20)] + [num(f, x) for x in (2, 3, 5, 10)] + [1, 3, mn - 1, mn + 1, f.max]
    approx_file("rsqrt-approx-f64", "rsqrt.approx.f64, also of subnormal numbers.", "rsqrt", ["approx"], "f64", [xs], rsqrt, 2)


def approximate_half():
    for f, word, ulp in ((F16, [], 2), (BF16, ["ftz"], 2)):
        t = f.name
        sg, inf, one, mn, nan = f.sign, f.inf, f.one, f.min_normal, f.qnan | 3
        rng = Rng("approx " + t)
        xs = [num(f, x) for x in (1, -1, 2, 10, -10, Fraction(1, 2), Fraction(-1, 2), Fraction(5, 4))]
        xs += [rand_float(rng, f, -6, 3) for _ in range(24)]
        xs = [x for x in xs if -14 <= f.value(x) < 15]
        fn = lambda x: rnd(f, exp2(f.value(x)))
        approx_file(f"ex2-approx-{t}", f"{dotted('ex2', ['approx', *word], t)}, relative error at most "
                    f"{'2^-9.9' if f is F16 else '2^-7'}.", "ex2", ["approx", *word], t, [xs], fn, ulp)

        def special(v, x):
            if f.is_nan(x):
                return f.nan
            if f.is_inf(x):
                return 0 if x & sg else inf
            return rnd(f, exp2(f.value(flush(f, x) if "ftz" in v else x)))

        rows = [0, sg, 1, sg | 1, mn - 1, sg | (mn - 1), inf, sg | inf, nan, sg | nan]
        rows += [num(f, x) for x in (16, 100, -30, -100)] if f is F16 else [num(f, x) for x in (128, 1000, -140, -1000)]
        exact_file(f"ex2-approx-special-{t}", f"{dotted('ex2', ['approx', *word], t)} of special values.", "ex2", [["approx", *word]], t,
                   [(b,) for b in rows], special)
        n = len(rows)
        a = [lo | hi << 16 for lo, hi in zip(rows, rows[3:] + rows[:3])]
        r = [special(word, x) for x in rows]
        emit(f"approx/ex2-approx-special-{t}x2", f"{dotted('ex2', ['approx', *word], t + 'x2')} of special values in both halves.",
             [("a", "b32", a)], [("d", "b32", [lo | hi << 16 for lo, hi in zip(r, r[3:] + r[:3])])],
             [f"{dotted('ex2', ['approx', *word], t + 'x2')} %d, %a;"])
        halves(f"ex2-approx-{t}x2", f"{dotted('ex2', ['approx', *word], t + 'x2')}: both halves on their own.",
               dotted("ex2", ["approx", *word], t + "x2"), f, xs, fn, ulp)

        # tanh: absolute error of 2^-10.987 and 2^-8, one unit where the result is at least 1/2.
        fn = lambda x: rnd(f, tanh(f.value(x)))
        xs = [num(f, x) for x in (1, -1, 2, -3, 8, 100)] + [rand_float(rng, f, -1, 2) for _ in range(40)]
        xs = [x for x in xs if abs(tanh(f.value(x))) >= Fraction(1, 2)][:32]
        approx_file(f"tanh-approx-{t}", f"tanh.approx.{t}, absolute error at most {'2^-10.987' if f is F16 else '2^-8'}, where the result "
                    "is at least 1/2.", "tanh", ["approx"], t, [xs], fn, 1)
        halves(f"tanh-approx-{t}x2", f"tanh.approx.{t}x2: both halves on their own.", f"tanh.approx.{t}x2", f, xs, fn, 1)
        rows = [0, sg, inf, sg | inf, nan, sg | nan]
        special = lambda x: f.nan if f.is_nan(x) else (one | x & sg if f.is_inf(x) else x)
        exact_file(f"tanh-approx-special-{t}", f"tanh.approx.{t} of special values.", "tanh", [["approx"]], t, [(b,) for b in rows],
                   lambda v, x: special(x))
        emit(f"approx/tanh-approx-special-{t}x2", f"tanh.approx.{t}x2 of special values in both halves.",
             [("a", "b32", [lo | hi << 16 for lo, hi in zip(rows, rows[2:] + rows[:2])])],
             [("d", "b32", [special(lo) | special(hi) << 16 for lo, hi in zip(rows, rows[2:] + rows[:2])])],
             [f"tanh.approx.{t}x2 %d, %a;"])


def halves(name, about, instr, f, xs, fn, ulp):
    """A packed approximate instruction; the halves of the result go to buffers of their own."""
    hi = xs[5:] + xs[:5]
    emit(f"approx/{name}", about, [("a", f.name, xs), ("b", f.name, hi)],
         [("lower", f.name, [fn(x) for x in xs]), ("upper", f.name, [fn(x) for x in hi])],
         ["mov.b32 %x, {%a, %b};", f"{instr} %x, %x;", "mov.b32 {%lower, %upper}, %x;"], [".reg .b32 %x;"], ulp=ulp)


def main():
    for folder in FOLDERS:
        path = os.path.join(ROOT, folder)
        os.makedirs(path, exist_ok=True)
        for name in os.listdir(path):
            with open(os.path.join(path, name), encoding="utf-8") as f:
                old = MARK in f.read().split("\n")[:5]
            if old:
                os.remove(os.path.join(path, name))
    arithmetic()
    signs_and_order()
    half_precision()
    half_compare()
    conversions_to_int()
    conversions_from_int()
    conversions_between_floats()
    approximate()
    print(f"{COUNT[0]} files")


if __name__ == "__main__":
    main()
