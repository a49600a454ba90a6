#!/usr/bin/env python3
"""Writes the tests of matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix.

Run it without arguments; it overwrites the files it is responsible for, next to this folder. The expected values come
from the model below, which computes with exact fractions and rounds them itself.
"""

import random
import struct
from fractions import Fraction
from math import copysign, isinf, isnan

import common
from common import HEAD, note

BITS = dict(f16=16, bf16=16, tf32=32, f32=32, f64=64, s8=8, u8=8, s4=4, u4=4, b1=1, s32=32)
# How numbers are rounded: exponent bits, fraction bits, NaN.
FORMATS = dict(f16=(5, 10, 0x7FFF), f32=(8, 23, 0x7FFFFFFF), f64=(11, 52, 0xFFF8000000000000))


def write(name, text):
    common.write(f"matrix/{name}.ptx", text)


# ---------------------------------------------------------------- numbers


def decode(element, bits):
    """An element as a Python number; all of them are exact."""
    if element == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    if element == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if element == "tf32":
        return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFE000))[0]
    if element == "f32":
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    if element == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if element[0] == "s" and bits >> (BITS[element] - 1):
        return bits - (1 << BITS[element])
    return bits


def encode(element, number):
    """The bits of a small integer."""
    if element == "bf16":
        return encode("f32", number) >> 16
    if element in ("f16", "tf32", "f32", "f64"):
        letter, kind = {"f16": ("H", "e"), "tf32": ("I", "f"), "f32": ("I", "f"), "f64": ("Q", "d")}[element]
        return struct.unpack("<" + letter, struct.pack("<" + kind, number))[0]
    return number & ((1 << BITS[element]) - 1)


def rounded(fmt, value, mode):
    """The bits of a fraction that is not zero."""
    exponents, fraction, _ = FORMATS[fmt]
    bias = (1 << (exponents - 1)) - 1
    sign = value < 0
    value = abs(value)
    scale = 0
    while value >= 2:
        value /= 2
        scale += 1
    while value < 1 and scale > 1 - bias:
        value *= 2
        scale -= 1
    units = value * (1 << fraction)
    whole = units.numerator // units.denominator
    rest = units - whole
    up = {
        "rn": rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1,
        "rz": False,
        "rm": rest > 0 and sign,
        "rp": rest > 0 and not sign,
    }[mode]
    # The fraction carries into the exponent where it has to.
    bits = whole + bool(up) + ((scale + bias - 1) << fraction)
    infinity = ((1 << exponents) - 1) << fraction
    if bits >= infinity:
        away = mode == "rn" or mode == ("rm" if sign else "rp")
        bits = infinity if away else infinity - 1
    return bits | sign << (exponents + fraction)


def fma(fmt, a, b, c, mode="rn"):
    """a * b + c, rounded once."""
    product = a * b
    if isnan(product) or isnan(c) or isinf(product) or isinf(c):
        # The factors are far from the limits of a double unless they are infinite themselves.
        total = product + c
        assert fmt != "f64" or not isnan(total)
        return FORMATS[fmt][2] if isnan(total) else encode(fmt, total)
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total:
        return rounded(fmt, total, mode)
    minus = copysign(1, a) * copysign(1, b) < 0
    same = minus == (copysign(1, c) < 0) and c == 0
    minus = minus if same else mode == "rm"
    return minus << (sum(FORMATS[fmt][:2]))


def narrow(bits):
    """Single to half precision."""
    value = decode("f32", bits)
    if isnan(value):
        return 0x7FFF
    if isinf(value) or value == 0:
        return encode("f16", value)
    return rounded("f16", Fraction(value), "rn")


def dot(types, a, b, c, satfinite=False, mode="rn", bit_op="xor"):
    """One element of the result: a row of `a`, a column of `b`, an element of `c`."""
    ty_d, ty_a, ty_b, ty_c = types
    if ty_a == "b1":
        return (c + sum(x & y if bit_op == "and" else x ^ y for x, y in zip(a, b))) & 0xFFFFFFFF
    if ty_a[0] in "su":
        total = decode(ty_c, c) + sum(decode(ty_a, x) * decode(ty_b, y) for x, y in zip(a, b))
        if satfinite:
            total = max(-(1 << 31), min((1 << 31) - 1, total))
        return total & 0xFFFFFFFF
    fmt = "f64" if ty_a == "f64" else "f32"
    total = decode(ty_c, c)
    for x, y in zip(a, b):
        total = decode(fmt, bits := fma(fmt, decode(ty_a, x), decode(ty_b, y), total, mode))
    return narrow(bits) if ty_d == "f16" else bits


def product(types, a, b, c, **how):
    columns = list(zip(*b))
    return [[dot(types, row, columns[j], c[i][j], **how) for j in range(len(columns))] for i, row in enumerate(a)]


SPECIAL = {
    "f16": [0, 0x8000, 0x7C00, 0xFC00, 0x7E01, 1, 0x83FF, 0x7BFF, 0x0400],
    "bf16": [0, 0x8000, 0x7F80, 0xFF80, 0x7FC1, 1, 0x807F, 0x7F7F, 0x0080],
    "tf32": [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC02000, 0x2000, 0x807FE000, 0x7F7FE000, 0x3F801FFF],
    "f32": [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 1, 0x807FFFFF, 0x7F7FFFFF, 0x00800000],
}


def matrix(rng, element, rows, columns, wild):
    """Raw elements: small integers, whose sums are exact, or anything."""
    def one(row, column):
        if element in ("f16", "bf16", "tf32", "f32", "f64"):
            if not wild:
                return encode(element, rng.randrange(-4, 5))
            # Some rows and columns have what infects a sum; the others have numbers that have to be rounded.
            if element in SPECIAL and row % 8 == 5 and column % 8 < 3:
                return rng.choice(SPECIAL[element])
            exponent = {"f16": 15, "bf16": 127, "tf32": 127, "f32": 127, "f64": 1023}[element] + rng.randrange(-9, 7)
            fraction = {"f16": 10, "bf16": 7, "tf32": 23, "f32": 23, "f64": 52}[element]
            sign = rng.getrandbits(1) << (BITS[element] - 1)
            return sign | exponent << fraction | rng.getrandbits(fraction)
        if element == "s32":
            return rng.choice([rng.getrandbits(32), 0x7FFFFFFF, 0x80000000]) if wild else rng.randrange(100)
        return rng.getrandbits(BITS[element])

    return [[one(i, j) for j in range(columns)] for i in range(rows)]


# ---------------------------------------------------------------- mma: matrices in registers


def per_register(element):
    return max(32 // BITS[element], 1)


def owner(which, m, element, row, column):
    """Lane, register and part of the register that hold an element, as the figures of the manual show it."""
    each = per_register(element)
    if which in "cd":
        # Eight rows of two registers' worth, the lower half behind the upper.
        i = row // 8 * 2 + column % 2
        return row % 8 * 4 + column // 2, i // (2 if element == "f16" else 1), i % 2 if element == "f16" else 0
    across, along = (row, column) if which == "a" else (column, row)
    tile = along // (4 * each)
    lane = across % 8 * 4 + along % (4 * each) // each
    register = tile * (m // 8) + across // 8 if which == "a" else tile
    return lane, register, along % each


def owner_of_quarter(which, layout, element, row, column):
    """The same for m8n8k4 on half precision, within lanes 0 to 3 and 16 to 19."""
    for lane in [*range(4), *range(16, 20)]:
        upper = 4 if lane >= 16 else 0
        for i in range(8 if which in "cd" else 4):
            place = {
                ("a", "row"): (lane % 4 + upper, i),
                ("a", "col"): (i + upper, lane % 4),
                ("b", "row"): (lane % 4, i + upper),
                ("b", "col"): (i, lane % 4 + upper),
            }.get((which, layout))
            if place is None and element == "f16":
                place = (lane % 4 + upper, i)
            elif place is None:
                place = ((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1))
            if place == (row, column):
                return lane, i // per_register(element), i % per_register(element)
    raise AssertionError


def fragments(which, shape, element, matrices, layout=None):
    """The registers of all lanes, lane by lane."""
    m, n, k = shape
    words = {}
    for quarter, matrix in enumerate(matrices):
        for row, line in enumerate(matrix):
            for column, bits in enumerate(line):
                if layout:
                    lane, register, part = owner_of_quarter(which, layout, element, row, column)
                    lane += quarter * 4
                else:
                    lane, register, part = owner(which, m, element, row, column)
                words[lane, register] = words.get((lane, register), 0) | bits << part * BITS[element]
    count = max(register for _, register in words) + 1
    return [words[lane, register] for lane in range(32) for register in range(count)], count


def show(words):
    return [f"{word:#x}" for word in words]


def mma_kernel(name, words, types, counts):
    """Loads the fragments of every lane, multiplies, stores."""
    body = []
    registers = {}
    for which, element, count in zip("dabc", types, counts):
        wide = element == "f64"
        kind = {"f32": "f32", "f64": "f64"}.get(element, "b32")
        registers[which] = "{" + ", ".join(f"%{which}{i}" for i in range(count)) + "}"
        body.append(f"    .reg .{kind} %{which}<{count}>;")
        size = 8 if wide else 4
        body.append(f"    ld.param.u64 %p{which}, [{name}_{which}];")
        body.append(f"    mad.wide.u32 %p{which}, %lane, {size * count}, %p{which};")
        for i in range(count if which != "d" else 0):
            body.append(f"    ld.global.{kind} %{which}{i}, [%p{which}+{size * i}];")
    body.append(f"    {words} {registers['d']}, {registers['a']}, {registers['b']}, {registers['c']};")
    kind = {"f32": "f32", "f64": "f64"}.get(types[0], "b32")
    for i in range(counts[0]):
        body.append(f"    st.global.{kind} [%pd+{(8 if types[0] == 'f64' else 4) * i}], %d{i};")
    params = ", ".join(f".param .u64 {name}_{which}" for which in "dabc")
    return f"""
.visible .entry {name}({params})
{{
    .reg .b32 %lane;
    .reg .b64 %pd, %pa, %pb, %pc;
    mov.u32 %lane, %laneid;
""" + "\n".join(body) + "\n    ret;\n}\n"


def mma_run(rng, name, shape, types, wild, layouts=None, **how):
    m, n, k = shape
    quarters = 4 if layouts else 1
    a = [matrix(rng, types[1], m, k, wild) for _ in range(quarters)]
    b = [matrix(rng, types[2], k, n, wild) for _ in range(quarters)]
    c = [matrix(rng, types[3], m, n, wild) for _ in range(quarters)]
    d = [product(types, *abc, **how) for abc in zip(a, b, c)]
    text = f"// run: grid=1 block=32 kernel={name}\n// widths: 32\n"
    counts, notes = [], {}
    for which, element, matrices in zip("dabc", types, (d, a, b, c)):
        layout = dict(zip("ab", layouts)).get(which, "cd") if layouts else None
        words, count = fragments(which, shape, element, matrices, layout)
        counts.append(count)
        notes[which] = (f"{'u64' if element == 'f64' else 'b32'}[{len(words)}]", show(words))
    text += f"// arg: d {notes['d'][0]} = zero\n"
    for which in "abc":
        text += note("arg", f"{which} {notes[which][0]}", notes[which][1])
    return text + note("expect", "d", notes["d"][1]), counts


def shape_of(text):
    m, rest = text[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def mma_file(name, title, cases):
    """`cases`: words, shape, types, whether numbers are wild, layouts of quarters, and how to compute."""
    runs, kernels = "", {}
    rng = random.Random(name)
    for words, shape, types, wild, layouts, how in cases:
        kernel = "k_" + words.split("aligned.")[1].replace(".", "_")
        run, counts = mma_run(rng, kernel, shape_of(shape), types, wild, layouts, **how)
        runs += run
        kernels[kernel] = mma_kernel(kernel, words, types, counts)
    write(name, f"// {title}\n{runs}{HEAD}{''.join(kernels.values())}")


def all_mma():
    exact = "small integers, whose sums are exact"
    for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
        cases = []
        for la in ("row", "col"):
            for lb in ("row", "col"):
                words = f"mma.sync.aligned.m8n8k4.{la}.{lb}.{d}.f16.f16.{c}"
                cases.append((words, "m8n8k4", (d, "f16", "f16", c), False, (la, lb), {}))
        cases.append(cases[0][:3] + (True,) + cases[0][4:])
        mma_file(f"mma-m8n8k4-{d}-{c}", "mma.m8n8k4: four matrices at once, in all layouts; at last any numbers.", cases)
    floats = [("m16n8k8", "f16"), ("m16n8k16", "f16"), ("m16n8k8", "bf16"), ("m16n8k16", "bf16"), ("m16n8k4", "tf32"),
              ("m16n8k8", "tf32"), ("m8n8k4", "f64")]
    for shape, ty in floats:
        for d in {"f16": ("f16", "f32"), "f64": ("f64",)}.get(ty, ("f32",)):
            words = f"mma.sync.aligned.{shape}.row.col.{d}.{ty}.{ty}.{d}"
            types = (d, ty, ty, d)
            title = f"{words}: {exact}, then any numbers, added along k one after the other."
            mma_file(f"mma-{shape}-{d}-{ty}", title, [(words, shape, types, wild, None, {}) for wild in (False, True)])
    for bits, shapes in ((8, ("m8n8k16", "m16n8k16", "m16n8k32")), (4, ("m8n8k32", "m16n8k32", "m16n8k64"))):
        for shape in shapes:
            cases = []
            for a in (f"s{bits}", f"u{bits}"):
                for b in (f"s{bits}", f"u{bits}"):
                    types = ("s32", a, b, "s32")
                    words = f"mma.sync.aligned.{shape}.row.col.s32.{a}.{b}.s32"
                    cases.append((words, shape, types, a != b, None, {}))
                    words = words.replace("col.s32", "col.satfinite.s32")
                    cases.append((words, shape, types, True, None, dict(satfinite=True)))
            mma_file(f"mma-{shape}-s{bits}", f"mma.{shape} on integers of {bits} bits, which wrap or saturate.", cases)
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        cases = []
        for bit_op in ("xor", "and"):
            words = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{bit_op}.popc"
            cases.append((words, shape, ("s32", "b1", "b1", "s32"), bit_op == "and", None, dict(bit_op=bit_op)))
        mma_file(f"mma-{shape}-b1", f"mma.{shape} on single bits.", cases)


# ---------------------------------------------------------------- wmma: matrices in memory

# The type of a buffer that holds elements.
BUFFER = dict(f16="f16", bf16="bf16", tf32="f32", f32="f32", f64="f64", s8="s8", u8="u8", s4="b32", u4="b32", b1="b32",
              s32="s32")
# One kernel for each: where its matrices lie, and whether strides are given.
SPACES = [(".global", True), (".shared", False), (".shared::cta", True), ("", False)]


def spell(element, bits):
    if BUFFER[element] == "b32":
        return f"0x{bits:08x}"
    if element in ("f16", "bf16"):
        return f"0x{bits:04x}"
    if element in ("tf32", "f32", "f64"):
        value = decode("f32" if element == "tf32" else element, bits)
        if abs(value) < 10000 and value == int(value) and not (value == 0 and copysign(1, value) < 0):
            return str(int(value))
        return f"0d{bits:016X}" if element == "f64" else f"0f{bits:08X}"
    return str(decode(element, bits))


def packed(element, flat):
    """Elements of less than a byte in words."""
    if BUFFER[element] != "b32":
        return flat
    each = 32 // BITS[element]
    return [sum(bits << i * BITS[element] for i, bits in enumerate(flat[at:at + each]))
            for at in range(0, len(flat), each)]


def as_matrix(flat, rows, columns, layout, stride):
    if layout == "row":
        return [[flat[i * stride + j] for j in range(columns)] for i in range(rows)]
    return [[flat[j * stride + i] for j in range(columns)] for i in range(rows)]


def registers(which, shape, element):
    """How many registers of a lane hold a matrix."""
    m, n, k = shape
    if element == "f16" and which in "ab":
        return 8
    size = {"a": m * k, "b": k * n}.get(which, m * n)
    return size // 32 * BITS[element] // (64 if element == "f64" else 32)


def copy_words(source, target, count, load, store):
    return f"""    mov.u32 %i, %lane;
L{source}{target}:
    setp.ge.u32 %q, %i, {count};
    @%q bra E{source}{target};
    mad.wide.u32 %from, %i, 4, %{source};
    mad.wide.u32 %to, %i, 4, %{target};
    ld{load}.b32 %word, [%from];
    st{store}.b32 [%to], %word;
    add.u32 %i, %i, 32;
    bra L{source}{target};
E{source}{target}:
    bar.warp.sync 0xffffffff;
"""


def wmma_kernel(name, shape, types, layouts, space, strides, mma, sizes, aligned=".aligned"):
    """Loads three matrices, multiplies, stores. `sizes`: bytes of each buffer, in the order of d, a, b, c."""
    text = "m{}n{}k{}".format(*shape)
    near = space.startswith(".shared")
    body, shared = [], ""
    for which, size in zip("dabc", sizes):
        body.append(f"    ld.param.u64 %g{which}, [{name}_{which}];")
        if near:
            shared += f"    .shared .align 128 .b8 {name}_s{which}[{size}];\n"
            body.append(f"    mov.u64 %p{which}, {name}_s{which};")
            if which != "d":
                body.append(copy_words(f"g{which}", f"p{which}", size // 4, ".global", space).rstrip("\n"))
        else:
            body.append(f"    mov.u64 %p{which}, %g{which};")
    lists = {}
    for which, element in zip("dabc", types):
        count = registers(which, shape, element)
        kind = {"f32": "f32", "f64": "f64"}.get(element, "b32")
        body.append(f"    .reg .{kind} %{which}<{count}>;")
        lists[which] = "{" + ", ".join(f"%{which}{i}" for i in range(count)) + "}"
    for which, element in zip("abc", types[1:]):
        stride = f", {strides[which]}" if strides else ""
        head = f"wmma.load.{which}.sync{aligned}.{layouts[which]}.{text}{space}.{element}"
        body.append(f"    {head} {lists[which]}, [%p{which}]{stride};")
    body.append(f"    {mma} {lists['d']}, {lists['a']}, {lists['b']}, {lists['c']};")
    stride = ", %stride" if strides else ""
    if strides:
        body.append(f"    mov.u32 %stride, {strides['d']};")
    head = f"wmma.store.d.sync{aligned}.{layouts['d']}.{text}{space}.{types[0]}"
    body.append(f"    {head} [%pd], {lists['d']}{stride};")
    if near:
        body.append("    bar.warp.sync 0xffffffff;")
        body.append(copy_words("pd", "gd", sizes[0] // 4, space, ".global").rstrip("\n"))
    params = ", ".join(f".param .u64 {name}_{which}" for which in "dabc")
    pointers = ", ".join(f"%{letter}{which}" for letter in "pg" for which in "dabc")
    return f"""
.visible .entry {name}({params})
{{
    .reg .pred %q;
    .reg .b32 %lane, %i, %word, %stride;
    .reg .b64 %from, %to, {pointers};
{shared}    mov.u32 %lane, %laneid;
""" + "\n".join(body) + "\n    ret;\n}\n"


def wmma_case(rng, kernel, shape, types, layouts, place, mma, wild, aligned, **how):
    """One launch and its kernel."""
    m, n, k = shape
    space, has_stride = place
    size = {"d": (m, n), "a": (m, k), "b": (k, n), "c": (m, n)}
    flat, strides, matrices = {}, {}, {}
    for which, element in zip("dabc", types):
        rows, columns = size[which]
        lines, across = (rows, columns) if layouts[which] == "row" else (columns, rows)
        # Some room between the rows; a multiple of what such matrices have to be aligned to.
        strides[which] = across + (128 // BITS[element] if has_stride else 0)
        if which == "d":
            flat[which] = [0] * (lines * strides[which])
            continue
        flat[which] = [x for row in matrix(rng, element, lines, strides[which], wild) for x in row]
        matrices[which] = as_matrix(flat[which], rows, columns, layouts[which], strides[which])
    result = product(types, matrices["a"], matrices["b"], matrices["c"], **how)
    for i, row in enumerate(result):
        for j, bits in enumerate(row):
            at = i * strides["d"] + j if layouts["d"] == "row" else j * strides["d"] + i
            flat["d"][at] = bits
    text = f"// run: grid=1 block=32 kernel={kernel}\n// widths: 32\n"
    sizes = [len(flat[which]) * BITS[element] // 8 for which, element in zip("dabc", types)]
    words = {which: packed(element, flat[which]) for which, element in zip("dabc", types)}
    text += f"// arg: d {BUFFER[types[0]]}[{len(words['d'])}] = zero\n"
    for which, element in zip("abc", types[1:]):
        shown = [spell(element, bits) for bits in words[which]]
        text += note("arg", f"{which} {BUFFER[element]}[{len(shown)}]", shown)
    text += note("expect", "d", [spell(types[0], bits) for bits in words["d"]])
    return text, wmma_kernel(kernel, shape, types, layouts, space, strides if has_stride else None, mma, sizes, aligned)


def wmma_file(name, title, shape, types, words, layouts=None, variants=None, wild=False, aligned=".aligned"):
    """Four kernels: one for each layout of the factors, each in another space. `words(la, lb, j)` spells the product."""
    rng = random.Random(name)
    runs, kernels = "", ""
    for j, place in enumerate(SPACES):
        la, lb = layouts or (("row", "col")[j & 1], ("row", "col")[j >> 1])
        own = {"a": la, "b": lb, "c": ("row", "col")[j & 1], "d": ("col", "row")[j & 1]}
        how = variants[j] if variants else {}
        kept = aligned if j == 3 else ".aligned"
        run, kernel = wmma_case(rng, f"k{j}", shape_of(shape), types, own, place, words(la, lb, j, kept), wild, kept,
                                **how)
        runs += run
        kernels += kernel
    write(name, f"// {title}\n{runs}{HEAD}{kernels}")


def all_wmma():
    shapes = ("m16n16k16", "m8n32k16", "m32n8k16")
    for shape in shapes:
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                wmma_file(
                    f"wmma-{shape}-{d}-{c}",
                    f"wmma.{shape} on half precision, {c} added to a result of {d}: all layouts and spaces.",
                    shape, (d, "f16", "f16", c),
                    lambda la, lb, j, kept: f"wmma.mma.sync{kept}.{la}.{lb}.{shape}.{d}.{c}", aligned="")
        for ty in ("s8", "u8"):
            sat = lambda j: ".satfinite" if j & 1 else ""
            wmma_file(
                f"wmma-{shape}-{ty}", f"wmma.{shape} on {ty}, which wraps or saturates.", shape,
                ("s32", ty, ty, "s32"),
                lambda la, lb, j, kept: f"wmma.mma.sync.aligned.{la}.{lb}.{shape}.s32.{ty}.{ty}.s32{sat(j)}",
                variants=[dict(satfinite=bool(j & 1)) for j in range(4)], wild=True)
        wmma_file(
            f"wmma-{shape}-bf16", f"wmma.{shape} on bf16.", shape, ("f32", "bf16", "bf16", "f32"),
            lambda la, lb, j, kept: f"wmma.mma.sync.aligned.{la}.{lb}.{shape}.f32.bf16.bf16.f32")
    wmma_file(
        "wmma-m16n16k16-any", "wmma on any numbers: the order in which they are added.", "m16n16k16",
        ("f32", "f16", "f16", "f32"),
        lambda la, lb, j, kept: f"wmma.mma.sync.aligned.{la}.{lb}.m16n16k16.f32.f32", wild=True)
    wmma_file(
        "wmma-m16n16k8-tf32", "wmma.m16n16k8 on tf32, whose lower bits are ignored.", "m16n16k8",
        ("f32", "tf32", "tf32", "f32"),
        lambda la, lb, j, kept: f"wmma.mma.sync.aligned.{la}.{lb}.m16n16k8.f32.tf32.tf32.f32", wild=True)
    modes = ["rn", "rz", "rm", "rp"]
    wmma_file(
        "wmma-m8n8k4-f64", "wmma.m8n8k4 on double precision, in all directions of rounding.", "m8n8k4",
        ("f64",) * 4,
        lambda la, lb, j, kept: f"wmma.mma.sync.aligned.{la}.{lb}.m8n8k4.{modes[j]}.f64.f64.f64.f64",
        variants=[dict(mode=mode) for mode in modes], wild=True)
    wmma_file(
        "wmma-m8n8k4-f64-default", "wmma.m8n8k4 on double precision rounds to nearest unless told otherwise.", "m8n8k4",
        ("f64",) * 4, lambda la, lb, j, kept: f"wmma.mma.sync.aligned.{la}.{lb}.m8n8k4.f64.f64.f64.f64", wild=True)
    for ty in ("s4", "u4"):
        wmma_file(
            f"wmma-m8n8k32-{ty}", f"wmma.m8n8k32 on {ty}, which wraps or saturates.", "m8n8k32",
            ("s32", ty, ty, "s32"),
            lambda la, lb, j, kept: f"wmma.mma.sync.aligned.row.col.m8n8k32.s32.{ty}.{ty}.s32"
            + (".satfinite" if j & 1 else ""),
            layouts=("row", "col"), variants=[dict(satfinite=bool(j & 1)) for j in range(4)], wild=True)
    ops = ["xor", "and", "and", "xor"]
    wmma_file(
        "wmma-m8n8k128-b1", "wmma.m8n8k128 on single bits.", "m8n8k128", ("s32", "b1", "b1", "s32"),
        lambda la, lb, j, kept: f"wmma.mma.{ops[j]}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        layouts=("row", "col"), variants=[dict(bit_op=op) for op in ops])


# ---------------------------------------------------------------- 8 by 8 matrices of 16 bits


def rows_kernel(name, body, count):
    return f"""
.visible .entry {name}(.param .u64 {name}_out, .param .u64 {name}_in)
{{
    .shared .align 16 .b8 {name}_tile[512];
    .reg .b32 %lane, %at, %v<8>;
    .reg .b64 %out, %in, %row, %generic;
    mov.u32 %lane, %laneid;
    ld.param.u64 %out, [{name}_out];
    ld.param.u64 %in, [{name}_in];
{body}    ret;
}}
"""


def move_files():
    rng = random.Random("rows")
    tile = [rng.getrandbits(16) for _ in range(256)]
    # Rows of the four matrices lie in an order of their own.
    order = list(range(32))
    rng.shuffle(order)

    def words(halves):
        return [f"0x{a | b << 16:08x}" for a, b in zip(halves[::2], halves[1::2])]

    def element(n, lane, i, trans):
        row, column = lane // 4, lane % 4 * 2 + i
        if trans:
            row, column = column, row
        return tile[order[n * 8 + row] * 8 + column]

    spaces = [("", ".shared"), (".trans", ".shared::cta"), ("", ""), (".trans", ".shared")]
    for op in ("ldmatrix", "stmatrix"):
        runs, kernels = "", ""
        for count in (1, 2, 4):
            for j, (trans, space) in enumerate(spaces):
                name = f"k{count}{j}"
                regs = "{" + ", ".join(f"%v{i}" for i in range(count)) + "}"
                if count == 1 and j == 2:
                    regs = "%v0"
                setup = f"""    mad.wide.u32 %in, %lane, 16, %in;
    mov.u64 %row, {name}_tile;
"""
                if op == "ldmatrix":
                    setup += f"""    mad.wide.u32 %row, %lane, 16, %row;
    ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%in];
    st.shared.v4.b32 [%row], {{%v0, %v1, %v2, %v3}};
    bar.warp.sync 0xffffffff;
    ld.param.u64 %in, [{name}_in];
    mad.wide.u32 %in, %lane, 4, %in;
    ld.global.b32 %at, [%in+512];
    mov.u64 %row, {name}_tile;
    mad.wide.u32 %row, %at, 16, %row;
"""
                else:
                    setup += f"""    ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%in];
    ld.param.u64 %in, [{name}_in];
    mad.wide.u32 %in, %lane, 4, %in;
    ld.global.b32 %at, [%in+512];
    mad.wide.u32 %row, %at, 16, %row;
"""
                address = "%row"
                if not space:
                    setup += "    cvta.shared.u64 %generic, %row;\n"
                    address = "%generic"
                head = f"{op}.sync.aligned.m8n8.x{count}{trans}{space}.b16"
                text = f"// run: grid=1 block=32 kernel={name}\n// widths: 32\n"
                if op == "ldmatrix":
                    setup += f"    {head} {regs}, [{address}];\n    mad.wide.u32 %out, %lane, {4 * count}, %out;\n"
                    setup += "".join(f"    st.global.b32 [%out+{4 * i}], %v{i};\n" for i in range(count))
                    result = [element(n, lane, i, trans) for lane in range(32) for n in range(count) for i in (0, 1)]
                    text += f"// arg: out b32[{32 * count}] = zero\n"
                    inputs = words(tile)
                else:
                    setup += f"    {head} [{address}], {regs};\n    bar.warp.sync 0xffffffff;\n"
                    setup += f"""    mov.u64 %row, {name}_tile;
    mad.wide.u32 %row, %lane, 16, %row;
    ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%row];
    mad.wide.u32 %out, %lane, 16, %out;
    st.global.v4.b32 [%out], {{%v0, %v1, %v2, %v3}};
"""
                    # Register n of a lane has two elements of matrix n; those that are not stored leave zeros.
                    result = [0] * 256
                    for n in range(count):
                        for lane in range(32):
                            for i in (0, 1):
                                row, column = lane // 4, lane % 4 * 2 + i
                                if trans:
                                    row, column = column, row
                                result[order[n * 8 + row] * 8 + column] = tile[lane * 8 + n * 2 + i]
                    text += "// arg: out b32[128] = zero\n"
                    inputs = words(tile)
                text += note("arg", "in b32[160]", inputs + [str(o) for o in order])
                text += note("expect", "out", words(result))
                runs += text
                kernels += rows_kernel(name, setup, count)
        what = "loads" if op == "ldmatrix" else "stores"
        write(op, f"// {op} {what} one, two or four matrices of 8 by 8, also transposed; lanes name rows.\n{runs}{HEAD}{kernels}")

    halves = tile[:64]
    moved = [halves[(lane % 4 * 2 + i) * 8 + lane // 4] for lane in range(32) for i in (0, 1)]
    body = """    mad.wide.u32 %in, %lane, 4, %in;
    mad.wide.u32 %out, %lane, 4, %out;
    ld.global.b32 %v0, [%in];
    movmatrix.sync.aligned.m8n8.trans.b16 %v1, %v0;
    st.global.b32 [%out], %v1;
"""
    text = "// movmatrix transposes a matrix of 8 by 8 that a warp holds.\n// run: grid=1 block=32\n// widths: 32\n"
    text += "// arg: out b32[32] = zero\n" + note("arg", "in b32[32]", words(halves)) + note("expect", "out", words(moved))
    write("movmatrix", text + HEAD + rows_kernel("k", body, 1))


def layout_file():
    """Where wmma puts elements: each lane stores its registers of matrices whose elements are their own numbers."""
    cases = [("a", "row", "m16n16k16", "f16"), ("b", "col", "m16n16k16", "f16"), ("a", "row", "m32n8k16", "bf16"),
             ("b", "row", "m8n32k16", "u8"), ("c", "row", "m8n32k16", "f32"), ("c", "col", "m16n16k16", "f16"),
             ("a", "col", "m16n16k8", "tf32")]
    runs, kernels = "", ""
    for number, (which, layout, shape_text, element) in enumerate(cases):
        m, n, k = shape = shape_of(shape_text)
        rows, columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
        flat = [i & ((1 << BITS[element]) - 1) for i in range(rows * columns)]
        stride = columns if layout == "row" else rows
        all_of_it = as_matrix(flat, rows, columns, layout, stride)
        each = per_register(element) if which != "c" else 2
        tall, wide = (4 * each, 8) if which == "b" else (8, 4 * each)
        tiles = [(i, j) for j in range(0, columns, wide) for i in range(0, rows, tall)]
        count = registers(which, shape, element)
        bits = BITS[element]
        in_register = 32 // bits
        words = []
        for lane in range(32):
            for register in range(count):
                word = 0
                for part in range(in_register):
                    index = register * in_register + part
                    i, j = tiles[index // each % len(tiles)]
                    along, across = lane % 4 * each + index % each, lane // 4
                    i, j = (i + along, j + across) if which == "b" else (i + across, j + along)
                    word |= all_of_it[i][j] << part * bits
                words.append(word)
        name = f"k{number}"
        kind = "f32" if element == "f32" else "b32"
        regs = [f"%v{i}" for i in range(count)]
        memory = {8: "u8", 16: "u16", 32: "u32"}[bits]
        runs += f"// run: grid=1 block=32 kernel={name}\n// widths: 32\n// arg: out b32[{len(words)}] = zero\n"
        if bits == 8:
            runs += note("arg", f"in {memory}[{len(flat)}]", flat)
        else:
            runs += f"// arg: in {memory}[{len(flat)}] = iota\n"
        runs += note("expect", "out", show(words))
        kernels += f"""
.visible .entry {name}(.param .u64 {name}_out, .param .u64 {name}_in)
{{
    .reg .b32 %lane;
    .reg .{kind} %v<{count}>;
    .reg .b64 %out, %in;
    mov.u32 %lane, %laneid;
    ld.param.u64 %out, [{name}_out];
    ld.param.u64 %in, [{name}_in];
    mad.wide.u32 %out, %lane, {4 * count}, %out;
    wmma.load.{which}.sync.aligned.{layout}.{shape_text}.global.{element} {{{", ".join(regs)}}}, [%in], {stride};
""" + "".join(f"    st.global.{kind} [%out+{4 * i}], {reg};\n" for i, reg in enumerate(regs)) + "    ret;\n}\n"
    title = "Where wmma puts elements in registers, which the ISA leaves open: see the page of semantics."
    write("wmma-layout", f"// {title}\n{runs}{HEAD}{kernels}")


all_mma()
all_wmma()
move_files()
layout_file()
