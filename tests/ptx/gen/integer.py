#!/usr/bin/env python3
"""Writes the kernel files for integer arithmetic, carries, comparison, logic, mov and integer cvt.

    python3 tests/ptx/gen/integer.py

rewrites every file of tests/ptx/{int,carry,compare,logic,mov,cvt-int}; the same files come out each time. Expected
values come from the model in this file, which is written from the PTX ISA text and shares nothing with the simulator:
Python integers without a width, cut to the width of the destination at the end.

Most kernels have one shape: thread i takes its operands from element i of the input buffers and writes element i of
`out`. Four launch shapes take turns: one block that is no multiple of a warp; several blocks; an instruction under a
guard that leaves every fourth destination as it was; more threads than elements.
"""

import pathlib
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

INT = ["u16", "u32", "u64", "s16", "s32", "s64"]
INT8 = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]
BITS = ["b16", "b32", "b64"]
DATA = BITS + INT + ["f32", "f64"]
ICMP = ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"]
FCMP = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
BOOLS = ["and", "or", "xor"]

# ---------------------------------------------------------------- types and values


def bits_of(ty):
    """Width in bits; f16x2 and bf16x2 are 32 wide."""
    return 32 if ty.endswith("x2") else int(ty.lstrip("ubsf"))


def signed(ty):
    return ty[0] == "s"


def cut(value, ty):
    """The value that is left when `value` is stored in `ty`."""
    n = bits_of(ty)
    value &= (1 << n) - 1
    return value - (1 << n) if signed(ty) and value >> (n - 1) else value


def low(ty):
    return -(1 << (bits_of(ty) - 1)) if signed(ty) else 0


def high(ty):
    return (1 << (bits_of(ty) - signed(ty))) - 1


def clamp(value, ty):
    return max(low(ty), min(high(ty), value))


class Numbers:
    """splitmix64, seeded by a name, so that a file does not depend on the ones before it."""

    def __init__(self, name):
        self.state = zlib.crc32(name.encode())

    def word(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    def below(self, n):
        return self.word() % n

    def of(self, ty):
        """A value of any magnitude: a random number of random low bits, sometimes negated."""
        n = bits_of(ty)
        value = self.word() >> (64 - n) >> self.below(n)
        return cut(-value if self.below(2) else value, ty)

    def pick(self, values):
        return values[self.below(len(values))]


def edges(ty):
    """Values where arithmetic of this type changes its behaviour."""
    n = bits_of(ty)
    half = 1 << (n // 2)
    raw = [0, 1, -1, 1 << (n - 1), (1 << (n - 1)) - 1, 2, -2, half, half - 1, half + 1, (1 << (n - 1)) + 1, -half]
    return list(dict.fromkeys(cut(v, ty) for v in raw))


def operands(name, types, count):
    """`count` tuples: all pairs of the first edges, then edges and random values mixed."""
    rnd = Numbers(name)
    rows = []
    if len(types) == 1:
        rows = [(e,) for e in edges(types[0])]
    elif len(types) == 2:
        rows = [(a, b) for a in edges(types[0])[:5] for b in edges(types[1])[:5]]
    else:
        five = [edges(t)[:5] for t in types]
        rows = [tuple(rnd.pick(values) for values in five) for _ in range(16)]
    while len(rows) < count:
        rows.append(tuple(rnd.pick(edges(t)) if rnd.below(4) == 0 else rnd.of(t) for t in types))
    return rows[:count]


def show(value, ty):
    """A value as it is written behind `arg:` and `expect:`."""
    if signed(ty) or (ty[0] == "u" and value < 1000):
        return str(value)
    return f"0x{value:x}" if ty[0] == "u" else f"0x{value:0{bits_of(ty) // 4}x}"


# ---------------------------------------------------------------- files

written = []


class Test:
    """A kernel file: buffers, registers and instructions, with the frame around them."""

    def __init__(self, path, what, version="8.0", target="sm_80", grid="1", block="1", extra=()):
        self.path, self.what, self.version, self.target = path, what, version, target
        self.grid, self.block = grid, block
        self.extra = list(extra)
        self.params = []  # (name, comment, parameter type)
        self.expects = []
        self.regs = []
        self.globals = []
        self.body = []

    def buffer(self, name, ty, values=None, count=None):
        """A buffer parameter: with values, or of `count` zeros."""
        if values is None:
            text = f"arg: {name} {ty}[{count}] = zero"
        else:
            text = f"arg: {name} {ty}[{len(values)}] = " + " ".join(show(v, ty) for v in values)
        self.params.append((name, text, "u64"))

    def scalar(self, name, ty, value):
        self.params.append((name, f"arg: {name} {ty} = {show(value, ty)}", ty))

    def expect(self, name, ty, values):
        self.expects.append(f"expect: {name} = " + " ".join(show(v, ty) for v in values))

    def reg(self, ty, *names):
        for name in names:
            self.regs.append(f".reg .{ty} {name};")

    def add(self, *lines):
        self.body += lines

    def index(self):
        """%i becomes the index of the thread in the grid."""
        self.reg("u32", "%i", "%ctaid_x", "%ntid_x")
        self.add("mov.u32 %i, %tid.x;", "mov.u32 %ctaid_x, %ctaid.x;", "mov.u32 %ntid_x, %ntid.x;")
        self.add("mad.lo.u32 %i, %ctaid_x, %ntid_x, %i;")

    def point(self, name, stride):
        """%p_NAME becomes the address of this thread's part of a buffer, `stride` bytes wide."""
        self.reg("u64", f"%p_{name}")
        self.add(f"ld.param.u64 %p_{name}, [{name}];", f"mad.wide.u32 %p_{name}, %i, {stride}, %p_{name};")

    def load(self, name, ty, reg_ty=None, memory=None):
        """%NAME becomes this thread's element of an input buffer."""
        memory = memory or memory_type(ty)
        self.reg(reg_ty or register_type(ty), f"%{name}")
        self.point(name, bits_of(memory) // 8)
        self.add(f"ld.global.{memory} %{name}, [%p_{name}];")

    def write(self):
        lines = [f"// {line}" for line in self.what.split("\n")]
        lines.append(f"// run: grid={self.grid} block={self.block}" + "".join(f" {e}" for e in self.extra if "=" in e))
        lines += [f"// {e}" for e in self.extra if ":" in e]
        for text in [p[1] for p in self.params] + self.expects:
            lines += wrap(text)
        lines += ["", f".version {self.version}", f".target {self.target}", ".address_size 64", ""]
        if self.globals:
            lines += self.globals + [""]
        name = pathlib.PurePosixPath(self.path).stem.replace("-", "_")
        params = ", ".join(f".param .{ty} {n}" for n, _, ty in self.params)
        lines += [f".visible .entry {name}({params})", "{"]
        lines += ["    " + r for r in self.regs] + [""]
        lines += [line if line.endswith(":") else "    " + line for line in self.body]
        lines += ["    ret;", "}", ""]
        file = ROOT / (self.path + ".ptx")
        assert self.path not in written, self.path
        written.append(self.path)
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(lines), encoding="ascii")


def wrap(text):
    """A comment line, continued in the next when long."""
    lines, line = [], "//"
    for word in text.split(" "):
        if len(line) + 1 + len(word) > 118:
            lines.append(line)
            line = "//  "
        line += " " + word
    return lines + [line]


def memory_type(ty):
    """The type of a load or store for a value of `ty`."""
    return f"b{bits_of(ty)}" if ty in ("f16", "bf16") or ty.endswith("x2") else ty


def register_type(ty):
    """The register that holds a value of `ty`: 8-bit values live in 16-bit registers."""
    if bits_of(ty) == 8:
        return "b16"
    return memory_type(ty)


shape = 0


def simple(path, op, dst, sources, model, rows=None, count=40, note="", **options):
    """One instruction, one result, in the next launch shape. `model` gets and gives plain integers."""
    global shape
    name = path.split("/")[1]
    rows = rows or operands(name, sources, count)
    count = len(rows)
    expected = [cut(model(*row), dst) for row in rows]
    names = ["a", "b", "c", "e"][: len(sources)]
    kind, shape = shape % 5, shape + 1
    test = Test(path, f"{op}{': ' + note if note else '.'}", **options)
    test.block = str(count)
    if kind == 1 and count % 8 == 0:
        test.grid, test.block = str(count // 8), "8"
    test.buffer("out", dst, count=count)
    for k, (n, ty) in enumerate(zip(names, sources)):
        test.buffer(n, ty, [row[k] for row in rows])
    test.index()
    guard = ""
    if kind == 3:
        test.block = str((count // 32 + 1) * 32)
        test.what += "\nThe block has more threads than there are elements."
        test.scalar("n", "u32", count)
        test.reg("u32", "%n")
        test.reg("pred", "%beyond")
        test.add("ld.param.u32 %n, [n];", "setp.ge.u32 %beyond, %i, %n;", "@%beyond bra DONE;")
    elif kind in (2, 4):
        test.what += "\nEvery fourth destination keeps the value it had, by a guard."
        test.reg("pred", "%g")
        test.reg("u32", "%quarter")
        test.add("and.b32 %quarter, %i, 3;")
        if kind == 2:
            test.add("setp.ne.u32 %g, %quarter, 1;")
            guard = "@%g "
        else:
            test.add("setp.eq.u32 %g, %quarter, 1;")
            guard = "@!%g "
        expected = [0x55 if i % 4 == 1 else e for i, e in enumerate(expected)]
    for n, ty in zip(names, sources):
        test.load(n, ty)
    test.reg(register_type(dst), "%d")
    test.point("out", bits_of(dst) // 8)
    if guard:
        test.add(f"mov.b{bits_of(dst)} %d, 0x55;")
    test.add(f"{guard}{op} %d, " + ", ".join(f"%{n}" for n in names) + ";")
    test.add(f"st.global.{memory_type(dst)} [%p_out], %d;")
    if kind == 3:
        test.add("DONE:")
    test.expect("out", dst, expected)
    test.write()


# ---------------------------------------------------------------- integer arithmetic


def product_part(part, ty):
    """The low or high half of a product."""
    shift = bits_of(ty) if part == "hi" else 0
    return lambda a, b: (a * b) >> shift


def divide(a, b):
    """Rounds towards zero."""
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def arithmetic():
    for ty in INT:
        simple(f"int/add-{ty}", f"add.{ty}", ty, [ty, ty], lambda a, b: a + b, note="wraps around")
        simple(f"int/sub-{ty}", f"sub.{ty}", ty, [ty, ty], lambda a, b: a - b, note="wraps around")
        for part in ["lo", "hi"]:
            mul = product_part(part, ty)
            half = "low" if part == "lo" else "high"
            simple(
                f"int/mul-{part}-{ty}",
                f"mul.{part}.{ty}",
                ty,
                [ty, ty],
                mul,
                note=f"the {half} half of the product",
            )
            simple(
                f"int/mad-{part}-{ty}",
                f"mad.{part}.{ty}",
                ty,
                [ty, ty, ty],
                lambda a, b, c, mul=mul: mul(a, b) + c,
                note=f"the {half} half of the product, plus c, wraps around",
            )
        simple(
            f"int/sad-{ty}",
            f"sad.{ty}",
            ty,
            [ty, ty, ty],
            lambda a, b, c: c + abs(a - b),
            note="c plus the absolute difference of a and b",
        )
        # Division by zero, and the smallest number by -1, have a file of their own.
        rows = operands(f"div-{ty}", [ty, ty], 80)
        rows = [r for r in rows if r[1] != 0 and not (r[1] == -1 and r[0] == low(ty))][:40]
        simple(f"int/div-{ty}", f"div.{ty}", ty, [ty, ty], divide, rows=rows, note="rounds towards zero")
        simple(
            f"int/rem-{ty}",
            f"rem.{ty}",
            ty,
            [ty, ty],
            lambda a, b: a - b * divide(a, b),
            rows=rows,
            note="the sign is that of the dividend",
        )
        simple(f"int/min-{ty}", f"min.{ty}", ty, [ty, ty], min)
        simple(f"int/max-{ty}", f"max.{ty}", ty, [ty, ty], max)
        if signed(ty):
            simple(f"int/abs-{ty}", f"abs.{ty}", ty, [ty], abs, note="the smallest number stays as it is")
            simple(f"int/neg-{ty}", f"neg.{ty}", ty, [ty], lambda a: -a, note="the smallest number stays as it is")
    for ty, wide in [("u16", "u32"), ("u32", "u64"), ("s16", "s32"), ("s32", "s64")]:
        simple(f"int/mul-wide-{ty}", f"mul.wide.{ty}", wide, [ty, ty], lambda a, b: a * b, note="the whole product")
        simple(
            f"int/mad-wide-{ty}",
            f"mad.wide.{ty}",
            wide,
            [ty, ty, wide],
            lambda a, b, c: a * b + c,
            note="the whole product plus a number twice as wide",
        )
    pair, three = ["s32", "s32"], ["s32", "s32", "s32"]
    simple("int/add-sat-s32", "add.sat.s32", "s32", pair, lambda a, b: clamp(a + b, "s32"), note="stops at the limits")
    simple("int/sub-sat-s32", "sub.sat.s32", "s32", pair, lambda a, b: clamp(a - b, "s32"), note="stops at the limits")
    simple(
        "int/mad-hi-sat-s32",
        "mad.hi.sat.s32",
        "s32",
        three,
        lambda a, b, c: clamp(((a * b) >> 32) + c, "s32"),
        note="the high half of the product plus c stops at the limits",
    )


def arithmetic24():
    """mul24 and mad24; operands stay within 24 bits, as the ISA asks for."""
    for ty in ["u32", "s32"]:
        top = (1 << 24) - 1 if ty == "u32" else (1 << 23) - 1
        bottom = 0 if ty == "u32" else -(1 << 23)
        rnd = Numbers("mul24" + ty)
        ends = [0, 1, top, bottom, top - 1, bottom + 1, 0x1000, 0xFFFF, 0x10000]
        rows = [(a, b) for a in ends[:5] for b in ends[:5]]
        rows += [(rnd.pick(ends), bottom + rnd.below(top - bottom + 1)) for _ in range(7)]
        rows += [tuple(bottom + rnd.below(top - bottom + 1) for _ in range(2)) for _ in range(8)]
        sums = [row + (rnd.pick(edges(ty)) if rnd.below(2) else rnd.of(ty),) for row in rows]
        for part, shift in [("lo", 0), ("hi", 16)]:
            which = "low" if part == "lo" else "high"

            def mul(a, b, shift=shift):
                return (a * b) >> shift

            note = f"the {which} 32 bits of the 48-bit product"
            simple(f"int/mul24-{part}-{ty}", f"mul24.{part}.{ty}", ty, [ty, ty], mul, rows=rows, note=note)
            simple(
                f"int/mad24-{part}-{ty}",
                f"mad24.{part}.{ty}",
                ty,
                [ty, ty, ty],
                lambda a, b, c, mul=mul: mul(a, b) + c,
                rows=sums,
                note=note + ", plus c, wraps around",
            )
        if ty == "s32":
            sums += [(top, top, high(ty)), (bottom, bottom, high(ty)), (bottom, top, low(ty)), (0, 0, low(ty))] * 2
            simple(
                "int/mad24-hi-sat-s32",
                "mad24.hi.sat.s32",
                ty,
                [ty, ty, ty],
                lambda a, b, c: clamp(((a * b) >> 16) + c, "s32"),
                rows=sums,
                note="the high 32 bits of the 48-bit product plus c stop at the limits",
            )


def highest_bit(a):
    """Position of the highest bit that differs from the sign, -1 if there is none."""
    return (~a if a < 0 else a).bit_length() - 1


def bit_string(value, n):
    return [(value >> i) & 1 for i in range(n)]


def from_bits(bits):
    return sum(b << i for i, b in enumerate(bits))


def extract(ty):
    """bfe: bits beyond the operand read as the sign of the field, or zero."""
    n = bits_of(ty)

    def model(a, pos, length):
        a = bit_string(a, n)
        fill = a[min(pos + length - 1, n - 1)] if signed(ty) and length else 0
        return from_bits([a[pos + i] if i < length and pos + i < n else fill for i in range(n)])

    return model


def insert(ty):
    n = bits_of(ty)

    def model(a, b, pos, length):
        a, field = bit_string(a, n), bit_string(b, n)
        for i in range(n):
            if i < length and pos + i < n:
                field[pos + i] = a[i]
        return from_bits(field)

    return model


def find_nth(mask, base, offset):
    """fns: the n-th set bit, counted from `base` upwards or downwards; offset 0 asks for the base itself."""
    mask = bit_string(mask, 32)
    if offset == 0:
        return base if mask[base] else -1
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [p for p in places if mask[p]]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else -1


def extend(mode, ty):
    def model(a, b):
        n = b % 32 if mode == "wrap" else min(b, 32)
        field = a & ((1 << n) - 1)
        return field - (1 << n) if signed(ty) and n and field >> (n - 1) else field

    return model


def bit_mask(mode):
    def model(a, b):
        if mode == "wrap":
            a, b = a % 32, b % 32
        return sum(1 << i for i in range(32) if a <= i < a + b)

    return model


def parts(value, width, ty):
    """A 32-bit operand taken apart into numbers of `width` bits, signed like `ty`."""
    return [cut(value >> at, f"{ty[0]}{width}") for at in range(0, 32, width)]


def bit_arithmetic():
    for ty in BITS[1:]:
        n = bits_of(ty)
        simple(f"int/popc-{ty}", f"popc.{ty}", "u32", [ty], lambda a: bin(a).count("1"), note="how many bits are set")
        simple(f"int/clz-{ty}", f"clz.{ty}", "u32", [ty], lambda a, n=n: n - a.bit_length(), note="zeros at the top")
        simple(f"int/brev-{ty}", f"brev.{ty}", ty, [ty], lambda a, n=n: from_bits(bit_string(a, n)[::-1]))
    for ty in ["u32", "u64", "s32", "s64"]:
        n = bits_of(ty)

        def shift_amount(a, n=n):
            return -1 if highest_bit(a) < 0 else n - 1 - highest_bit(a)

        note = "the highest set bit" if ty[0] == "u" else "the highest bit that differs from the sign"
        simple(f"int/bfind-{ty}", f"bfind.{ty}", "u32", [ty], highest_bit, note=note)
        note = "how far to shift left to bring " + note + " to the top"
        simple(f"int/bfind-shiftamt-{ty}", f"bfind.shiftamt.{ty}", "u32", [ty], shift_amount, note=note)
        simple(
            f"int/bfe-{ty}",
            f"bfe.{ty}",
            ty,
            [ty, "u32", "u32"],
            extract(ty),
            rows=fields(f"bfe-{ty}", [ty], n),
            note="a field at b of length c, also beyond the end",
        )
    for ty in ["b32", "b64"]:
        n = bits_of(ty)
        rows = fields(f"bfi-{ty}", [ty, ty], n)
        note = "puts a field at c of length e into b, also beyond the end"
        simple(f"int/bfi-{ty}", f"bfi.{ty}", ty, [ty, ty, "u32", "u32"], insert(ty), rows=rows, note=note)
    masks = [0xAAAAAAAA, 0, 0xFFFFFFFF, 0x80000001, 0x00F0F000]
    rnd = Numbers("fns")
    rows = [(m, base, off) for m in masks for base, off in [(3, 1), (2, -1), (31, -16), (0, 0), (0, 2), (31, 32)]]
    rows += [(rnd.word() & 0xFFFFFFFF, rnd.below(32), rnd.below(21) - 10) for _ in range(18)]
    note = "the n-th set bit from a place upwards or downwards"
    simple("int/fns-b32", "fns.b32", "b32", ["b32", "b32", "s32"], find_nth, rows=rows, note=note)
    amounts = [0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 40, 63, 64, 255, 0x80000000, 0xFFFFFFFF]
    for mode in ["clamp", "wrap"]:
        for ty in ["u32", "s32"]:
            values = [-1, 0x55AA8181, 0x7EFF7E7E]
            rows = [(cut(v, ty), b) for v in values for b in amounts]
            note = "extends a number of b bits, b " + ("at most 32" if mode == "clamp" else "modulo 32")
            simple(
                f"int/szext-{mode}-{ty}",
                f"szext.{mode}.{ty}",
                ty,
                [ty, "u32"],
                extend(mode, ty),
                rows=rows,
                note=note,
            )
        places = [0, 1, 7, 16, 31, 32, 33, 0x80000000]
        rows = [(a, b) for a in places for b in [0, 1, 8, 31, 32, 33]]
        note = "b ones from bit a on, " + ("beyond the end cut off" if mode == "clamp" else "both numbers modulo 32")
        simple(f"int/bmsk-{mode}-b32", f"bmsk.{mode}.b32", "b32", ["u32", "u32"], bit_mask(mode), rows=rows, note=note)
    for at in ["u32", "s32"]:
        for bt in ["u32", "s32"]:

            def dp4a(a, b, c, at=at, bt=bt):
                return c + sum(x * y for x, y in zip(parts(a, 8, at), parts(b, 8, bt)))

            rows = dot_rows(f"dp4a-{at}-{bt}")
            note = "four products of bytes, added up"
            simple(f"int/dp4a-{at}-{bt}", f"dp4a.{at}.{bt}", "b32", ["b32"] * 3, dp4a, rows=rows, note=note)
            for part in ["lo", "hi"]:

                def dp2a(a, b, c, at=at, bt=bt, first=0 if part == "lo" else 2):
                    return c + sum(x * y for x, y in zip(parts(a, 16, at), parts(b, 8, bt)[first:]))

                which = "lower" if part == "lo" else "upper"
                name = f"dp2a-{part}-{at}-{bt}"
                note = f"halves of a times the {which} bytes of b, added up"
                simple(
                    f"int/{name}", f"dp2a.{part}.{at}.{bt}", "b32", ["b32"] * 3, dp2a, rows=dot_rows(name), note=note
                )


def fields(name, types, n):
    """Operands for bit fields; positions and lengths are restricted to a byte."""
    rnd = Numbers(name)
    places = [(0, 0), (0, 1), (0, n), (4, 8), (n - 1, 1), (n - 1, 2), (n - 8, 8), (n - 8, 9), (n, 1), (n // 2, n)]
    places += [(1, n - 1), (1, 255), (255, 255), (255, 0), (0, 255), (n + 3, 0), (7, n), (n // 2, n // 2)]
    rows = []
    for pos, length in places + [(rnd.below(n), rnd.below(n + 1)) for _ in range(22)]:
        rows.append(tuple(rnd.pick([cut(-1, t), rnd.of(t), cut(rnd.word(), t)]) for t in types) + (pos, length))
    return rows


def dot_rows(name):
    rnd = Numbers(name)
    ends = [0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x80008000, 0x7FFF7FFF, 0x01020304]
    rows = [(a, b, rnd.pick([0, 1, 0x7FFFFFFF, 0x80000000])) for a in ends for b in ends[:4]]
    return rows + [tuple(rnd.word() & 0xFFFFFFFF for _ in range(3)) for _ in range(12)]


def division_by_zero():
    """The ISA leaves these results open; this file says what Raddle does."""
    test = Test(
        "int/div-by-zero",
        "Division by zero gives all ones, the remainder is the dividend; the smallest number divided by -1 is itself,\n"
        "remainder 0. The PTX ISA leaves these results open: this is Raddle's choice.",
        block="5",
    )
    test.index()
    for ty in INT:
        values = [0, 1, low(ty) if signed(ty) else high(ty), cut(-7, ty), low(ty)]
        divisors = [0, 0, 0, 0, cut(-1, ty) if signed(ty) else 0]
        quotients = [cut(-1, ty)] * 4 + [low(ty) if signed(ty) else cut(-1, ty)]
        remainders = values[:4] + [0]
        test.buffer(f"q_{ty}", ty, count=5)
        test.buffer(f"r_{ty}", ty, count=5)
        test.buffer(f"a_{ty}", ty, values)
        test.buffer(f"b_{ty}", ty, divisors)
        test.load(f"a_{ty}", ty)
        test.load(f"b_{ty}", ty)
        test.reg(ty, f"%q_{ty}", f"%r_{ty}")
        for letter, op, values in [("q", "div", quotients), ("r", "rem", remainders)]:
            test.add(f"{op}.{ty} %{letter}_{ty}, %a_{ty}, %b_{ty};")
            test.point(f"{letter}_{ty}", bits_of(ty) // 8)
            test.add(f"st.global.{ty} [%p_{letter}_{ty}], %{letter}_{ty};")
            test.expect(f"{letter}_{ty}", ty, values)
    test.write()


def several(path, what, dst, lines, model, sources, rows, **options):
    """Several instructions, one result each: `lines` write %d, `model` gives the list of results."""
    test = Test(path, what, block=str(len(rows)), **options)
    k = len(lines)
    test.buffer("out", dst, count=k * len(rows))
    names = ["a", "b", "c"][: len(sources)]
    for j, (n, ty) in enumerate(zip(names, sources)):
        test.buffer(n, ty, [row[j] for row in rows])
    test.index()
    for n, ty in zip(names, sources):
        test.load(n, ty)
    test.reg(register_type(dst), "%d")
    size = bits_of(dst) // 8
    test.point("out", size * k)
    for j, line in enumerate(lines):
        test.add(line, f"st.global.{memory_type(dst)} [%p_out+{j * size}], %d;")
    expected = [cut(v, dst) for row in rows for v in model(*row)]
    assert len(expected) == k * len(rows), path
    test.expect("out", dst, expected)
    test.write()


def immediates():
    rows = [(v,) for v in edges("s32")]
    several(
        "int/immediates",
        "Constants as operands: decimal, hexadecimal, octal, binary, negative, with U, and a constant expression.",
        "s32",
        [
            "add.s32 %d, %a, 5;",
            "add.s32 %d, %a, -5;",
            "sub.s32 %d, 100, %a;",
            "mul.lo.s32 %d, %a, 0x10;",
            "mad.lo.s32 %d, %a, 010, 0b101;",
            "mad.lo.s32 %d, 3, 4, %a;",
            "max.s32 %d, %a, 0x80000001;",
            "add.u32 %d, %a, 7U;",
            "add.s32 %d, %a, (1 << 4) + 3;",
        ],
        lambda a: [a + 5, a - 5, 100 - a, a * 16, a * 8 + 5, 12 + a, max(a, cut(0x80000001, "s32")), a + 7, a + 19],
        ["s32"],
        rows,
    )
    rows = [(v,) for v in edges("u64")]
    several(
        "int/immediates-64",
        "64-bit constants: all bits count, negative ones are sign-extended.",
        "u64",
        [
            "add.u64 %d, %a, 0x123456789abcdef0;",
            "add.s64 %d, %a, -1;",
            "xor.b64 %d, %a, 0xffffffffffffffff;",
            "and.b64 %d, %a, 0xffffffff00000000;",
            "mul.lo.u64 %d, %a, 10000000000;",
            "min.u64 %d, %a, 0x8000000000000000;",
        ],
        lambda a: [a + 0x123456789ABCDEF0, a - 1, ~a, a & 0xFFFFFFFF00000000, a * 10**10, min(a, 1 << 63)],
        ["u64"],
        rows,
    )
    rows = [(v,) for v in edges("s16")]
    several(
        "int/immediates-16",
        "Constants as operands of 16-bit instructions.",
        "s16",
        ["add.s16 %d, %a, -3;", "mul.lo.u16 %d, %a, 0xfff;", "sub.s16 %d, 0, %a;", "min.s16 %d, %a, -300;"],
        lambda a: [a - 3, a * 0xFFF, -a, min(a, -300)],
        ["s16"],
        rows,
    )
    several(
        "int/same-register",
        "The destination is also a source.",
        "s32",
        ["add.s32 %a, %a, %a; mov.u32 %d, %a;", "sub.s32 %a, %a, 1; mov.u32 %d, %a;", "mad.lo.s32 %a, %a, %a, %a; mov.u32 %d, %a;"],
        lambda a: [2 * a, 2 * a - 1, (2 * a - 1) * (2 * a)],
        ["s32"],
        [(v,) for v in edges("s32")],
    )
    several(
        "int/untyped-registers",
        "Registers of untyped bits and of the other signedness take part in integer instructions.",
        "b32",
        ["add.s32 %d, %a, %b;", "mul.hi.s32 %d, %a, %b;", "mul.hi.u32 %d, %a, %b;", "min.s32 %d, %a, %b;", "min.u32 %d, %a, %b;"],
        lambda a, b: [
            a + b,
            (cut(a, "s32") * cut(b, "s32")) >> 32,
            (a * b) >> 32,
            min(cut(a, "s32"), cut(b, "s32")),
            min(a, b),
        ],
        ["b32", "u32"],
        operands("untyped", ["b32", "u32"], 30),
    )


# ---------------------------------------------------------------- carries


def carries():
    """Every instruction that reads or writes the carry, with the carry before and after made visible.

    An addition makes the carry visible as addc 0, 0 and a subtraction as subc 0, 0, so that no test depends on
    whether a borrow and a carry are the same bit.
    """
    for ty in ["u32", "s32", "u64", "s64"]:
        n = bits_of(ty)
        field = (1 << n) - 1

        def plus(x, y, carry, n=n, field=field):
            total = (x & field) + (y & field) + carry
            return total & field, total >> n

        def minus(x, y, borrow, field=field):
            total = (x & field) - (y & field) - borrow
            return total & field, int(total < 0)

        for name, has_in, has_out in [("add.cc", 0, 1), ("addc", 1, 0), ("addc.cc", 1, 1)]:
            carry_test(ty, name, 2, has_in, has_out, "add", lambda a, b, c, f=plus: f(a, b, c))
        for name, has_in, has_out in [("sub.cc", 0, 1), ("subc", 1, 0), ("subc.cc", 1, 1)]:
            carry_test(ty, name, 2, has_in, has_out, "sub", lambda a, b, c, f=minus: f(a, b, c))
        for part in ["lo", "hi"]:
            mul = product_part(part, ty)
            for name, has_in, has_out in [
                (f"mad.{part}.cc", 0, 1),
                (f"madc.{part}", 1, 0),
                (f"madc.{part}.cc", 1, 1),
            ]:
                carry_test(
                    ty, name, 3, has_in, has_out, "add", lambda a, b, x, c, f=plus, mul=mul: f(mul(a, b), x, c)
                )


def carry_test(ty, name, arity, has_in, has_out, family, model):
    op = f"{name}.{ty}"
    path = "carry/" + op.replace(".", "-")
    rows = operands(path, [ty] * arity, 40)
    rnd = Numbers(path + "carry")
    ins = [i % 2 if i < 25 else rnd.below(2) for i in range(len(rows))]
    values, outs = [], []
    for row, carry in zip(rows, ins):
        value, out = model(*row, carry if has_in else 0)
        values.append(cut(value, ty))
        # Without .cc the carry stays what it was.
        outs.append(out if has_out else carry)
    what = f"{op}: " + ("with" if has_in else "without") + " carry in, "
    what += "writes the carry." if has_out else "leaves the carry alone."
    test = Test(path, what, block=str(len(rows)))
    test.buffer("out", ty, count=len(rows))
    test.buffer("carry", "u32", count=len(rows))
    names = ["a", "b", "c"][:arity]
    for k, n in enumerate(names):
        test.buffer(n, ty, [row[k] for row in rows])
    test.buffer("in", "u32", ins)
    test.index()
    for n in names:
        test.load(n, ty)
    test.load("in", "u32")
    test.point("out", bits_of(ty) // 8)
    test.point("carry", 4)
    test.reg(ty, "%d")
    test.reg("u32", "%t", "%carry")
    if family == "add":
        test.add("add.cc.u32 %t, %in, 0xffffffff;")
    else:
        test.add("sub.cc.u32 %t, 0, %in;")
    test.add(f"{op} %d, " + ", ".join(f"%{n}" for n in names) + ";")
    if family == "add":
        test.add("addc.u32 %carry, 0, 0;")
    else:
        test.add("subc.u32 %carry, 0, 0;", "neg.s32 %carry, %carry;")
    test.add(f"st.global.{ty} [%p_out], %d;", "st.global.u32 [%p_carry], %carry;")
    test.expect("out", ty, values)
    test.expect("carry", "u32", outs)
    test.write()


def long_rows(name, words, count, size):
    """Numbers of several words, with long runs of ones so that carries travel."""
    rnd = Numbers(name)
    ends = [0, 1, (1 << size) - 1, 1 << (size - 1)]
    rows = []
    for i in range(count):
        row = []
        for _ in range(2):
            kind = rnd.below(4)
            if kind == 0:
                row.append(rnd.pick([0, 1, (1 << (size * words)) - 1, 1 << (size * words - 1)]))
            else:
                value = 0
                for w in range(words):
                    part = rnd.pick(ends) if kind == 1 else rnd.word() & ((1 << size) - 1)
                    value |= part << (size * w)
                row.append(value)
        rows.append(tuple(row))
    return rows


def long_test(path, what, size, words, out_words, lines, model, regs=()):
    """Arithmetic on numbers of several words: %a0.. and %b0.. give %d0..; lowest word first in memory."""
    rows = long_rows(path, words, 24, size)
    ty = f"u{size}"
    test = Test(path, what, block=str(len(rows)))
    split = lambda v, n: [(v >> (size * w)) & ((1 << size) - 1) for w in range(n)]
    test.buffer("out", ty, count=out_words * len(rows))
    test.buffer("a", ty, [w for a, _ in rows for w in split(a, words)])
    test.buffer("b", ty, [w for _, b in rows for w in split(b, words)])
    test.index()
    for name in "ab":
        test.reg(ty, f"%{name}<{words}>")
        test.point(name, words * size // 8)
        for w in range(words):
            test.add(f"ld.global.{ty} %{name}{w}, [%p_{name}+{w * size // 8}];")
    test.reg(ty, f"%d<{out_words}>", *regs)
    test.add(*lines)
    test.point("out", out_words * size // 8)
    for w in range(out_words):
        test.add(f"st.global.{ty} [%p_out+{w * size // 8}], %d{w};")
    test.expect("out", ty, [w for a, b in rows for w in split(model(a, b) % (1 << (size * out_words)), out_words)])
    test.write()


def long_arithmetic():
    def chain(op, ty):
        return [
            f"{op}.cc.{ty} %d0, %a0, %b0;",
            f"{op}c.cc.{ty} %d1, %a1, %b1;",
            f"{op}c.cc.{ty} %d2, %a2, %b2;",
            f"{op}c.{ty} %d3, %a3, %b3;",
        ]

    long_test("carry/add-128", "128-bit addition in four words.", 32, 4, 4, chain("add", "u32"), lambda a, b: a + b)
    long_test("carry/sub-128", "128-bit subtraction in four words.", 32, 4, 4, chain("sub", "u32"), lambda a, b: a - b)
    long_test("carry/add-256", "256-bit addition in four words.", 64, 4, 4, chain("add", "u64"), lambda a, b: a + b)
    long_test("carry/sub-256", "256-bit subtraction in four words.", 64, 4, 4, chain("sub", "s64"), lambda a, b: a - b)
    for size in [32, 64]:
        ty = f"u{size}"
        lines = [
            f"mul.lo.{ty} %d0, %a0, %b0;",
            f"mul.hi.{ty} %d1, %a0, %b0;",
            f"mad.lo.cc.{ty} %d1, %a1, %b0, %d1;",
            f"madc.hi.{ty} %d2, %a1, %b0, 0;",
            f"mad.lo.cc.{ty} %d1, %a0, %b1, %d1;",
            f"madc.hi.cc.{ty} %d2, %a0, %b1, %d2;",
            f"addc.{ty} %d3, 0, 0;",
            f"mad.lo.cc.{ty} %d2, %a1, %b1, %d2;",
            f"madc.hi.{ty} %d3, %a1, %b1, %d3;",
        ]
        what = f"The {4 * size}-bit product of two {2 * size}-bit numbers, with mad.cc and madc."
        long_test(f"carry/mul-{2 * size}x{2 * size}", what, size, 2, 4, lines, lambda a, b: a * b)
    lines = [
        "mul.lo.u32 %d0, %a0, %b0;",
        "mul.hi.u32 %d1, %a0, %b0;",
        "add.cc.u32 %d0, %d0, %a0;",
        "addc.u32 %d1, %d1, 0;",
        "add.cc.u32 %x, %a0, %b0;",
        "xor.b32 %x, %x, %a0;",
        "min.u32 %x, %x, 1;",
        "setp.eq.u32 %p, %x, 5;",
        "selp.u32 %y, 1, 0, %p;",
        "addc.u32 %d2, %y, 0;",
    ]
    test = [(a & 0xFFFFFFFF, b & 0xFFFFFFFF) for a, b in long_rows("carry/survives", 1, 40, 32)]
    t = Test("carry/survives", "The carry survives instructions that do not use it.", block=str(len(test)))
    t.buffer("out", "u32", count=3 * len(test))
    t.buffer("a0", "u32", [a for a, _ in test])
    t.buffer("b0", "u32", [b for _, b in test])
    t.index()
    t.load("a0", "u32")
    t.load("b0", "u32")
    t.reg("u32", "%d<3>", "%x", "%y")
    t.reg("pred", "%p")
    t.add(*lines)
    t.point("out", 12)
    t.add(*[f"st.global.u32 [%p_out+{4 * w}], %d{w};" for w in range(3)])
    expected = []
    for a, b in test:
        wide = a * b + a
        expected += [wide & 0xFFFFFFFF, wide >> 32, (a + b) >> 32]
    t.expect("out", "u32", expected)
    t.write()

    rows = [(i, 0xFFFFFFFF if i % 3 else 0) for i in range(40)]
    t = Test(
        "carry/guarded",
        "Each thread has its own carry: where the guard is false the carry stays what it was.",
        block="40",
    )
    t.buffer("out", "u32", count=80)
    t.buffer("b", "u32", [b for _, b in rows])
    t.index()
    t.load("b", "u32")
    t.reg("u32", "%d", "%carry", "%bit")
    t.reg("pred", "%g")
    t.add("and.b32 %bit, %i, 2;", "setp.ne.u32 %g, %bit, 0;", "mov.u32 %d, 0;")
    t.add("add.cc.u32 %carry, %b, 1;", "@%g add.cc.u32 %d, %i, 7;", "addc.u32 %carry, 0, 0;")
    t.point("out", 8)
    t.add("st.global.u32 [%p_out], %d;", "st.global.u32 [%p_out+4], %carry;")
    expected = []
    for i, b in rows:
        expected += [i + 7, 0] if i & 2 else [0, int(b != 0)]
    t.expect("out", "u32", expected)
    t.write()


# ---------------------------------------------------------------- comparison and selection

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def float_edges(ty):
    """Bit patterns of a floating-point type where comparisons are interesting."""
    e, m = FORMATS[ty]
    sign = 1 << (e + m)
    one = ((1 << (e - 1)) - 1) << m
    inf = ((1 << e) - 1) << m
    nan = inf | 1 << (m - 1)
    positive = [0, 1, (1 << m) - 1, 1 << m, one, one + 1, inf - 1, inf, nan]
    return positive + [v | sign for v in positive]


def float_rows(name, ty):
    values = float_edges(ty)
    zero, tiny, largest_tiny, normal, one, _, _, inf, nan = values[:9]
    minus = 1 << (bits_of(ty) - 1)
    rows = [(v, v) for v in values]
    rows += [(zero, zero | minus), (zero | minus, zero), (inf, inf | minus), (inf | minus, inf), (nan, one), (one, nan)]
    rows += [(nan, inf), (zero, nan), (nan, nan | minus | 1), (tiny, zero), (zero, tiny), (tiny, tiny | minus)]
    rows += [(tiny | minus, zero), (zero | minus, tiny | minus), (tiny, largest_tiny), (largest_tiny, normal)]
    rows += [(normal, tiny | minus), (one, one | minus), (one | minus, one), (one, one + 1), (one + 1, one)]
    rnd = Numbers(name)
    rows += [(rnd.pick(values), rnd.pick(values)) for _ in range(48 - len(rows))]
    return rows


def float_key(bits, ty, ftz):
    """None for a NaN, else an integer that is ordered as the numbers are."""
    e, m = FORMATS[ty]
    magnitude = bits & ((1 << (e + m)) - 1)
    if magnitude > ((1 << e) - 1) << m:
        return None
    if ftz and magnitude < 1 << m:
        magnitude = 0
    return -magnitude if bits >> (e + m) else magnitude


def compare(op, a, b, ty, ftz=False):
    """Whether the comparison holds; `a` and `b` are bits for floating-point types."""
    if ty in FORMATS:
        a, b = float_key(a, ty, ftz), float_key(b, ty, ftz)
        unordered = a is None or b is None
        if op in ("num", "nan"):
            return unordered == (op == "nan")
        if unordered:
            return op.endswith("u")
        op = op[:2]
    elif op in ("lo", "ls", "hi", "hs"):
        n = bits_of(ty)
        a, b = a & ((1 << n) - 1), b & ((1 << n) - 1)
        op = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[op]
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op]


def combine(op, x, y):
    return {"and": x and y, "or": x or y, "xor": x != y}[op]


def comparisons(ty):
    if ty[0] == "b" and ty in BITS:
        return ["eq", "ne"]
    return FCMP if ty in FORMATS else ICMP


def compare_rows(name, ty):
    return float_rows(name, ty) if ty in FORMATS else operands(name, [ty, ty], 40)


def plain(ty):
    """The type a buffer of `ty` is declared with: bits for floating point."""
    return f"b{bits_of(ty)}" if ty in FORMATS or ty.endswith("x2") else ty


def newest(ty):
    """Version and target that have comparisons of this type."""
    return {"target": "sm_90"} if ty.startswith("bf16") else {}


class Packed:
    """A kernel of many comparisons whose results are packed into a few words per thread."""

    def __init__(self, path, what, ty, rows, with_predicate, **options):
        self.test = Test(path, what, block=str(len(rows)), **options)
        self.ty, self.rows, self.words = ty, rows, []
        self.code = []
        self.predicate = with_predicate
        rnd = Numbers(path + "c")
        self.c = [i % 2 if i < 26 else rnd.below(2) for i in range(len(rows))]

    def word(self, lines, values):
        """Lines that leave a word in %bits, and what it is for each row."""
        self.code.append(["mov.u32 %bits, 0;"] + lines)
        self.words.append(values)

    def write(self):
        test, k = self.test, len(self.words)
        test.buffer("out", "b32", count=k * len(self.rows))
        memory = plain(self.ty)
        for j, name in enumerate("ab"):
            test.buffer(name, memory, [row[j] for row in self.rows])
        if self.predicate:
            test.buffer("c", "u32", self.c)
        test.index()
        test.load("a", self.ty)
        test.load("b", self.ty)
        test.reg("pred", "%p", "%q")
        test.reg("b32", "%bits")
        if self.predicate:
            test.load("c", "u32")
            test.reg("pred", "%pc")
            test.add("setp.ne.u32 %pc, %c, 0;")
        test.point("out", 4 * k)
        for j, lines in enumerate(self.code):
            test.add(*lines, f"st.global.b32 [%p_out+{4 * j}], %bits;")
        test.expect("out", "b32", [self.words[j][i] for i in range(len(self.rows)) for j in range(k)])
        test.write()


def setp():
    for ty in INT + BITS + ["f32", "f64", "f16", "bf16"]:
        for ftz in [False, True] if ty in ("f32", "f16") else [False]:
            suffix = ("ftz-" if ftz else "") + ty
            dot = (".ftz." if ftz else ".") + ty
            rows = compare_rows(f"setp-{suffix}", ty)
            what = f"setp.CMP{dot} with both destinations: bits 2k and 2k+1 are p and q of the k-th comparison of\n"
            what += f"{' '.join(comparisons(ty))}."
            packed = Packed(f"compare/setp-{suffix}", what, ty, rows, False, **newest(ty))
            lines, values = [], [0] * len(rows)
            for k, op in enumerate(comparisons(ty)):
                lines.append(f"setp.{op}{dot} %p|%q, %a, %b;")
                lines.append(f"@%p or.b32 %bits, %bits, 0x{1 << 2 * k:x};")
                lines.append(f"@%q or.b32 %bits, %bits, 0x{2 << 2 * k:x};")
                for i, (a, b) in enumerate(rows):
                    values[i] |= (1 if compare(op, a, b, ty, ftz) else 2) << 2 * k
            packed.word(lines, values)
            packed.write()
            if ty != "bf16":
                setp_bool(ty, ftz, suffix, dot)
    for ty in ["f16x2", "bf16x2"]:
        part = ty[:-2]
        for ftz in [False, True] if part == "f16" else [False]:
            suffix = ("ftz-" if ftz else "") + ty
            dot = (".ftz." if ftz else ".") + ty
            halves = float_rows(f"setp-{suffix}", part)
            rows = [(a | c << 16, b | d << 16) for (a, b), (c, d) in zip(halves, halves[7:] + halves[:7])]
            what = f"setp.CMP{dot}: p is the comparison of the low halves, q of the high halves; bits 2k and 2k+1 are p\n"
            what += f"and q of the k-th of {' '.join(FCMP)}."
            packed = Packed(f"compare/setp-{suffix}", what, ty, rows, False, **newest(ty))
            lines, values = [], [0] * len(rows)
            for k, op in enumerate(FCMP):
                lines.append(f"setp.{op}{dot} %p|%q, %a, %b;")
                lines.append(f"@%p or.b32 %bits, %bits, 0x{1 << 2 * k:x};")
                lines.append(f"@%q or.b32 %bits, %bits, 0x{2 << 2 * k:x};")
                for i, (a, b) in enumerate(rows):
                    for at in (0, 1):
                        x, y = a >> 16 * at & 0xFFFF, b >> 16 * at & 0xFFFF
                        values[i] |= compare(op, x, y, part, ftz) << (2 * k + at)
            packed.word(lines, values)
            packed.write()


def setp_bool(ty, ftz, suffix, dot):
    """Comparisons combined with a predicate, plain and negated."""
    rows = compare_rows(f"setp-bool-{suffix}", ty)
    what = f"setp.CMP.BOOL{dot}: p combines the comparison with c, q its opposite with c. Words: and, or, xor with c,\n"
    what += f"then with !c; bits 2k and 2k+1 are p and q of the k-th of {' '.join(comparisons(ty))}."
    packed = Packed(f"compare/setp-bool-{suffix}", what, ty, rows, True)
    for negated in ["", "!"]:
        for boolean in BOOLS:
            lines, values = [], [0] * len(rows)
            for k, op in enumerate(comparisons(ty)):
                lines.append(f"setp.{op}.{boolean}{dot} %p|%q, %a, %b, {negated}%pc;")
                lines.append(f"@%p or.b32 %bits, %bits, 0x{1 << 2 * k:x};")
                lines.append(f"@%q or.b32 %bits, %bits, 0x{2 << 2 * k:x};")
                for i, (a, b) in enumerate(rows):
                    c = bool(packed.c[i]) != bool(negated)
                    t = compare(op, a, b, ty, ftz)
                    values[i] |= (combine(boolean, t, c) | combine(boolean, not t, c) << 1) << 2 * k
            packed.word(lines, values)
    packed.write()


def set_value():
    """set: each word of results has a bit for each comparison; next to it the sum of the results themselves."""
    for ty in INT + BITS + ["f32", "f64"]:
        for ftz in [False, True] if ty == "f32" else [False]:
            for boolean in [None] + BOOLS:
                suffix = (f"{boolean}-" if boolean else "") + ("ftz-" if ftz else "") + ty
                rows = compare_rows(f"set-{suffix}", ty)
                name = f"set.CMP{'.' + boolean if boolean else ''}{'.ftz' if ftz else ''}.DST.{ty}"
                what = f"{name} for DST u32, s32, f32: true is all ones, or 1.0 for f32. For each DST two words: a bit\n"
                what += f"for each of {' '.join(comparisons(ty))} (first one highest), and the sum of the results."
                packed = Packed(f"compare/set-{suffix}", what, ty, rows, bool(boolean))
                packed.test.reg("u32", "%sum", "%bit", "%r_u32")
                packed.test.reg("s32", "%r_s32")
                packed.test.reg("f32", "%r_f32")
                packed.test.reg("b32", "%r")
                for dst in ["u32", "s32", "f32"]:
                    true = 0x3F800000 if dst == "f32" else 0xFFFFFFFF
                    lines = ["mov.u32 %sum, 0;"]
                    values, sums = [0] * len(rows), [0] * len(rows)
                    for k, op in enumerate(comparisons(ty)):
                        negated = "!" if boolean and k % 2 else ""
                        words = op + (f".{boolean}" if boolean else "") + (".ftz" if ftz else "")
                        third = f", {negated}%pc" if boolean else ""
                        lines.append(f"set.{words}.{dst}.{ty} %r_{dst}, %a, %b{third};")
                        lines.append(f"mov.b32 %r, %r_{dst};")
                        lines.append("bfe.u32 %bit, %r, 23, 1;")
                        lines.append("mad.lo.u32 %bits, %bits, 2, %bit;")
                        lines.append("add.u32 %sum, %sum, %r;")
                        for i, (a, b) in enumerate(rows):
                            t = compare(op, a, b, ty, ftz)
                            if boolean:
                                t = combine(boolean, t, bool(packed.c[i]) != bool(negated))
                            values[i] = values[i] * 2 + t
                            sums[i] = (sums[i] + true * t) & 0xFFFFFFFF
                    packed.word(lines, values)
                    packed.code.append(["mov.b32 %bits, %sum;"])
                    packed.words.append(sums)
                packed.write()
    for ftz in [False, True]:
        suffix = "ftz-f16x2" if ftz else "f16x2"
        dot = ".ftz" if ftz else ""
        halves = float_rows(f"set-{suffix}", "f16")
        rows = [(a | c << 16, b | d << 16) for (a, b), (c, d) in zip(halves, halves[5:] + halves[:5])]
        what = f"set.CMP{dot}.f16x2.f16x2: 1.0 or 0 in each half. One word for each of {' '.join(FCMP)}."
        packed = Packed(f"compare/set-{suffix}", what, "f16x2", rows, False)
        for op in FCMP:
            values = []
            for a, b in rows:
                low_half = compare(op, a & 0xFFFF, b & 0xFFFF, "f16", ftz)
                values.append(0x3C00 * low_half | 0x3C000000 * compare(op, a >> 16, b >> 16, "f16", ftz))
            packed.word([f"set.{op}{dot}.f16x2.f16x2 %bits, %a, %b;"], values)
        packed.write()


def select():
    for ty in DATA:
        n, shown = bits_of(ty), f"b{bits_of(ty)}" if ty[0] == "f" else ty
        rnd = Numbers(f"selp-{ty}")
        # Selection copies bits: a signalling NaN must come through unchanged.
        pool = float_edges(ty) + [0x7F800001 if n == 32 else 0x7FF0000000000001] if ty[0] == "f" else edges(ty)
        rows = [(rnd.pick(pool), cut(rnd.word(), shown), rnd.below(2)) for _ in range(40)]
        test = Test(f"compare/selp-{ty}", f"selp.{ty}: copies a or b bit for bit.", block="40")
        test.buffer("out", shown, count=40)
        for j, (name, t) in enumerate([("a", shown), ("b", shown), ("c", "u32")]):
            test.buffer(name, t, [row[j] for row in rows])
        test.index()
        for name, t in [("a", ty), ("b", ty), ("c", "u32")]:
            test.load(name, t)
        test.reg("pred", "%p")
        test.reg(ty, "%d")
        test.point("out", n // 8)
        test.add("setp.ne.u32 %p, %c, 0;", f"selp.{ty} %d, %a, %b, %p;", f"st.global.{ty} [%p_out], %d;")
        test.expect("out", shown, [a if c else b for a, b, c in rows])
        test.write()

        ints = edges("s32")
        floats = float_edges("f32")
        rows = [(rnd.pick(pool), cut(rnd.word(), shown), ints[i % len(ints)], floats[i % len(floats)]) for i in range(36)]
        what = f"slct.{ty}: a when c >= 0, else b; a NaN selects b, -0 selects a. Results for c in s32, in f32, and in\n"
        what += "f32 with subnormal c flushed to zero."
        test = Test(f"compare/slct-{ty}", what, block="36")
        test.buffer("out", shown, count=36 * 3)
        for j, (name, t) in enumerate([("a", shown), ("b", shown), ("ci", "s32"), ("cf", "b32")]):
            test.buffer(name, t, [row[j] for row in rows])
        test.index()
        for name, t in [("a", ty), ("b", ty), ("ci", "s32"), ("cf", "f32")]:
            test.load(name, t)
        test.reg(ty, "%d")
        test.point("out", 3 * n // 8)
        for j, (op, c) in enumerate([(f"slct.{ty}.s32", "ci"), (f"slct.{ty}.f32", "cf"), (f"slct.ftz.{ty}.f32", "cf")]):
            test.add(f"{op} %d, %a, %b, %{c};", f"st.global.{ty} [%p_out+{j * n // 8}], %d;")
        expected = []
        for a, b, ci, cf in rows:
            expected += [a if ci >= 0 else b] + [a if compare("ge", cf, 0, "f32", ftz) else b for ftz in (False, True)]
        test.expect("out", shown, expected)
        test.write()


def compare_operands():
    """Sinks, constants and guards in comparisons."""
    rows = operands("setp-sink", ["s32", "s32"], 40)
    what = "setp with a sink in place of either destination. Bit 0: p of lt; bit 1: q of lt."
    packed = Packed("compare/setp-sink", what, "s32", rows, False)
    lines = ["setp.lt.s32 %p|_, %a, %b;", "@%p or.b32 %bits, %bits, 1;"]
    lines += ["setp.lt.s32 _|%q, %a, %b;", "@%q or.b32 %bits, %bits, 2;"]
    packed.word(lines, [1 if a < b else 2 for a, b in rows])
    packed.write()
    what = "setp with constants on either side; set and selp with constants."
    tests = [
        ("setp.gt.s32 %p, %a, -1;", lambda a, b: a > -1),
        ("setp.lt.s32 %p, 0x7ffffffe, %b;", lambda a, b: 0x7FFFFFFE < b),
        ("setp.hi.u32 %p, %a, 0xfffffff0;", lambda a, b: (a & 0xFFFFFFFF) > 0xFFFFFFF0),
        ("setp.eq.b32 %p, %b, 0x80000000;", lambda a, b: b == -(1 << 31)),
    ]
    packed = Packed("compare/setp-constants", what, "s32", rows, False)
    lines, values = [], [0] * len(rows)
    for k, (line, model) in enumerate(tests):
        lines += [line, f"@%p or.b32 %bits, %bits, {1 << k};"]
        for i, row in enumerate(rows):
            values[i] |= model(*row) << k
    packed.word(lines, values)
    packed.word(["setp.lt.s32 %p, %a, %b;", "selp.b32 %bits, 123, -5, %p;"], [123 if a < b else 0xFFFFFFFB for a, b in rows])
    packed.word(["set.le.u32.s32 %bits, %a, 1;"], [0xFFFFFFFF * (a <= 1) for a, b in rows])
    packed.write()
    what = "A guarded setp leaves its destinations alone where the guard is false; the guard may be a destination."
    packed = Packed("compare/setp-guarded", what, "s32", rows, True)
    lines = ["setp.ge.s32 %p|%q, %a, 0;", "@%pc setp.lt.s32 %p|%q, %a, %b;"]
    lines += ["@%p or.b32 %bits, %bits, 1;", "@%q or.b32 %bits, %bits, 2;"]
    first = [a < b if c else a >= 0 for (a, b), c in zip(rows, packed.c)]
    packed.word(lines, [1 if p else 2 for p in first])
    lines = ["setp.ne.s32 %p, %a, %b;", "@%p setp.gt.s32 %p, %a, %b;", "@!%p setp.eq.s32 %p, %b, 1;"]
    values = []
    for a, b in rows:
        p = a != b
        p = a > b if p else p
        p = p if p else b == 1
        values.append(int(p))
    packed.word(lines + ["selp.b32 %bits, 1, 0, %p;"], values)
    packed.write()


# ---------------------------------------------------------------- logic and shift

# The PTX ISA writes prmt.b32.MODE, the instruction table of the parser has prmt.MODE.b32.
PRMT_MODE_FIRST = True


def prmt_name(mode):
    if not mode:
        return "prmt.b32"
    return f"prmt.{mode}.b32" if PRMT_MODE_FIRST else f"prmt.b32.{mode}"


# Bytes 3, 2, 1, 0 of the result for the selectors 0 to 3.
PRMT_MODES = {
    "f4e": ["3210", "4321", "5432", "6543"],
    "b4e": ["5670", "6701", "7012", "0123"],
    "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"],
    "ecr": ["0000", "1110", "2210", "3210"],
    "rc16": ["1010", "3232", "1010", "3232"],
}


def permute(mode):
    def model(a, b, c):
        source = [(a | b << 32) >> 8 * i & 0xFF for i in range(8)]
        if mode:
            picked = [source[int(x)] for x in reversed(PRMT_MODES[mode][c & 3])]
        else:
            picked = []
            for i in range(4):
                selector = c >> 4 * i & 15
                byte = source[selector & 7]
                picked.append((0xFF if byte & 0x80 else 0) if selector & 8 else byte)
        return sum(byte << 8 * i for i, byte in enumerate(picked))

    return model


def lut(table):
    """lop3: bit i of the result is the table's bit at the number (a, b, c)."""

    def model(a, b, c):
        return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32))

    return model


def logic():
    for ty in BITS:
        n = bits_of(ty)
        simple(f"logic/and-{ty}", f"and.{ty}", ty, [ty, ty], lambda a, b: a & b)
        simple(f"logic/or-{ty}", f"or.{ty}", ty, [ty, ty], lambda a, b: a | b)
        simple(f"logic/xor-{ty}", f"xor.{ty}", ty, [ty, ty], lambda a, b: a ^ b)
        simple(f"logic/not-{ty}", f"not.{ty}", ty, [ty], lambda a: ~a)
        simple(f"logic/cnot-{ty}", f"cnot.{ty}", ty, [ty], lambda a: int(a == 0), note="1 for zero, else 0")
        amounts = [0, 1, n - 1, n, n + 1, 8, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000000, 0xFFFFFFFF]

        def rows(kind):
            rnd = Numbers(f"shift-{kind}")
            ends = [cut(-1, kind), low(kind), cut(0x8001 << (n - 16) | 1, kind)]
            return [(v, b) for v in ends[::2] for b in amounts] + [(rnd.of(kind), rnd.below(n)) for _ in range(8)]

        note = "amounts beyond the width shift everything out"
        simple(
            f"logic/shl-{ty}",
            f"shl.{ty}",
            ty,
            [ty, "u32"],
            lambda a,
            b,
            n=n: a << min(b, n),
            rows=rows(ty),
            note=note,
        )
        for kind in [ty, f"u{n}", f"s{n}"]:
            note = "amounts beyond the width leave " + ("the sign" if kind[0] == "s" else "zero")
            simple(
                f"logic/shr-{kind}", f"shr.{kind}", kind, [kind, "u32"], lambda a, b, n=n: a >> min(b, n), rows=rows(kind), note=note
            )
    amounts = [0, 1, 4, 16, 31, 32, 33, 63, 64, 0xFFFFFFFF]
    pairs = [(0x89ABCDEF, 0x01234567), (0xFFFFFFFF, 0), (0, 0xFFFFFFFF), (0x80000001, 0x40000002)]
    rows = [(a, b, c) for a, b in pairs for c in amounts]
    for side in ["l", "r"]:
        for mode in ["clamp", "wrap"]:

            def funnel(a, b, c, side=side, mode=mode):
                c = min(c, 32) if mode == "clamp" else c % 32
                both = a | b << 32
                return both << c >> 32 if side == "l" else both >> c

            note = f"b and a together {'left' if side == 'l' else 'right'}, by "
            note += "32 at most" if mode == "clamp" else "c modulo 32"
            simple(
                f"logic/shf-{side}-{mode}-b32", f"shf.{side}.{mode}.b32", "b32", ["b32", "b32", "u32"], funnel, rows=rows, note=note
            )
    rnd = Numbers("prmt")
    pairs = [(0x03020100, 0x07060504), (0x83028100, 0x07868504), (0xFF7F8000, 0x01FE55AA)]
    selectors = [0x3210, 0x7654, 0x0123, 0x7531, 0xFEDC, 0xBA98, 0x8888, 0xF0F0, 0x0008, 0x4C19]
    rows = [(a, b, c) for a, b in pairs for c in selectors]
    rows += [(rnd.word() & 0xFFFFFFFF, rnd.word() & 0xFFFFFFFF, rnd.word() & 0xFFFF) for _ in range(10)]
    note = "any four bytes of a and b, or their signs"
    simple("logic/prmt-b32", "prmt.b32", "b32", ["b32"] * 3, permute(None), rows=rows, note=note)
    for mode in PRMT_MODES:
        rows = [(a, b, c) for a, b in pairs for c in [0, 1, 2, 3, 4, 7, 0x1001, 0xFFFFFFFE]]
        note = "the lowest two bits of c select"
        simple(f"logic/prmt-{mode}-b32", prmt_name(mode), "b32", ["b32"] * 3, permute(mode), rows=rows, note=note)


def lop3():
    test = Test(
        "logic/lop3-tables",
        "lop3.b32 with every table: for a = 0xf0, b = 0xcc, c = 0xaa the low byte of the result is the table.",
        block="1",
    )
    test.buffer("out", "u8", count=256)
    test.buffer("in", "b32", [0xF0, 0xCC, 0xAA])
    test.reg("b32", "%a", "%b", "%c", "%d")
    test.reg("u64", "%p_in", "%p_out")
    test.add("ld.param.u64 %p_in, [in];", "ld.param.u64 %p_out, [out];")
    test.add(*[f"ld.global.b32 %{r}, [%p_in+{4 * i}];" for i, r in enumerate("abc")])
    for table in range(256):
        test.add(f"lop3.b32 %d, %a, %b, %c, 0x{table:x};", f"st.global.u8 [%p_out+{table}], %d;")
    test.expect("out", "u8", range(256))
    test.write()
    rows = operands("lop3", ["b32"] * 3, 32)
    tables = [0x00, 0x1E, 0x2D, 0x80, 0x96, 0xB1, 0xCA, 0xE8, 0xFE, 0xFF]
    several(
        "logic/lop3-b32",
        "lop3.b32 on whole words with the tables " + " ".join(f"0x{t:02x}" for t in tables) + ".",
        "b32",
        [f"lop3.b32 %d, %a, %b, %c, 0x{t:02x};" for t in tables],
        lambda a, b, c: [lut(t)(a, b, c) for t in tables],
        ["b32"] * 3,
        rows,
    )
    for boolean in ["or", "and"]:
        what = f"lop3.{boolean}.b32: p is (d != 0) {boolean} q. Words: d, p with q, p with !q, p with a sink for d."
        rows3 = rows[:16] + [(0, 0, 0), (0xFFFFFFFF, 0, 1), (1, 2, 4), (0xF0, 0x0F, 0)] + rows[16:28]
        test = Test(f"logic/lop3-{boolean}-b32", what, version="8.2", block=str(len(rows3)))
        test.buffer("out", "b32", count=4 * len(rows3))
        for j, name in enumerate("abc"):
            test.buffer(name, "b32", [row[j] for row in rows3])
        test.index()
        for name in "abc":
            test.load(name, "b32")
        test.reg("b32", "%d", "%t", "%odd")
        test.reg("pred", "%p", "%q")
        test.point("out", 16)
        test.add("and.b32 %odd, %i, 1;", "setp.ne.u32 %q, %odd, 0;")
        test.add(f"lop3.{boolean}.b32 %d|%p, %a, %b, %c, 0x80, %q;", "selp.b32 %t, 1, 0, %p;")
        test.add("st.global.b32 [%p_out], %d;", "st.global.b32 [%p_out+4], %t;")
        test.add(f"lop3.{boolean}.b32 %d|%p, %a, %b, %c, 0x80, !%q;", "selp.b32 %t, 1, 0, %p;")
        test.add("st.global.b32 [%p_out+8], %t;")
        test.add(f"lop3.{boolean}.b32 _|%p, %a, %b, %c, 0x96, %q;", "selp.b32 %t, 1, 0, %p;")
        test.add("st.global.b32 [%p_out+12], %t;")
        expected = []
        for i, (a, b, c) in enumerate(rows3):
            both, q = a & b & c, bool(i & 1)
            expected += [both, int(combine(boolean, both != 0, q)), int(combine(boolean, both != 0, not q))]
            expected.append(int(combine(boolean, a ^ b ^ c != 0, q)))
        test.expect("out", "b32", expected)
        test.write()


def predicates():
    for op, model in [
        ("and", lambda a, b: a and b),
        ("or", lambda a, b: a or b),
        ("xor", lambda a, b: a != b),
        ("not", lambda a, b: not a),
    ]:
        test = Test(f"logic/{op}-pred", f"{op}.pred: all combinations.", block="8")
        test.buffer("out", "u32", count=8)
        test.index()
        test.reg("pred", "%a", "%b", "%d")
        test.reg("u32", "%t", "%r")
        test.add("and.b32 %t, %i, 1;", "setp.ne.u32 %a, %t, 0;", "and.b32 %t, %i, 2;", "setp.ne.u32 %b, %t, 0;")
        test.add(f"{op}.pred %d, %a{'' if op == 'not' else ', %b'};", "selp.u32 %r, 1, 0, %d;")
        test.point("out", 4)
        test.add("st.global.u32 [%p_out], %r;")
        test.expect("out", "u32", [int(model(bool(i & 1), bool(i & 2))) for i in range(8)])
        test.write()
    what = "not.pred and mov.pred with guards, and predicates that overwrite themselves."
    test = Test("logic/pred-guarded", what, block="16")
    test.buffer("out", "u32", count=16)
    test.index()
    test.reg("pred", "%p", "%q", "%r")
    test.reg("u32", "%t", "%d")
    for bit, name in [(1, "p"), (2, "q"), (4, "r")]:
        test.add(f"and.b32 %t, %i, {bit};", f"setp.ne.u32 %{name}, %t, 0;")
    test.add("@%r not.pred %p, %p;", "@!%r and.pred %q, %p, %q;", "@%q mov.pred %r, %p;", "xor.pred %p, %p, %r;")
    test.add("mov.u32 %d, 0;", "@%p or.b32 %d, %d, 1;", "@%q or.b32 %d, %d, 2;", "@%r or.b32 %d, %d, 4;")
    test.point("out", 4)
    test.add("st.global.u32 [%p_out], %d;")
    expected = []
    for i in range(16):
        p, q, r = bool(i & 1), bool(i & 2), bool(i & 4)
        p, q = (not p, q) if r else (p, p and q)
        r = p if q else r
        p = p != r
        expected.append(p | q << 1 | r << 2)
    test.expect("out", "u32", expected)
    test.write()


def guards():
    """Guards on instructions of several widths, and a guard that is false or true everywhere."""
    for negated in [False, True]:
        name = "guard-negated" if negated else "guard"
        mark = "@!%g" if negated else "@%g"
        what = f"{mark} on instructions of several widths, over a block of one and a half warps."
        test = Test(f"logic/{name}", what, block="48")
        test.buffer("out16", "u16", count=48)
        test.buffer("out32", "u32", count=48)
        test.buffer("out64", "u64", count=48)
        test.index()
        test.reg("pred", "%g")
        test.reg("u16", "%h")
        test.reg("u32", "%r", "%t")
        test.reg("u64", "%d")
        test.add("mul.lo.u32 %t, %i, 0x9e3779b9;", "setp.lt.u32 %g, %t, 0x80000000;")
        test.add("mov.u16 %h, 7;", "mov.u32 %r, 70000;", "mov.u64 %d, 7000000000;")
        test.add(f"{mark} sub.u16 %h, %h, 9;", f"{mark} mad.lo.u32 %r, %r, %i, 3;", f"{mark} shl.b64 %d, %d, 3;")
        test.add(f"{mark} add.u64 %d, %d, 1;")
        for n, reg in [(16, "h"), (32, "r"), (64, "d")]:
            test.point(f"out{n}", n // 8)
            test.add(f"st.global.u{n} [%p_out{n}], %{reg};")
        on = [((i * 0x9E3779B9 & 0xFFFFFFFF) < 0x80000000) != negated for i in range(48)]
        test.expect("out16", "u16", [0xFFFE if g else 7 for g in on])
        test.expect("out32", "u32", [(70000 * i + 3) & 0xFFFFFFFF if g else 70000 for i, g in enumerate(on)])
        test.expect("out64", "u64", [7000000000 * 8 + 1 if g else 7000000000 for g in on])
        test.write()
    what = "Guards that are true in every thread, in none, in one thread of the block, and in its last thread."
    test = Test("logic/guard-uniform", what, block="37")
    test.buffer("out", "u32", count=37)
    test.index()
    test.reg("pred", "%all", "%none", "%one", "%last")
    test.reg("u32", "%r")
    test.add("setp.lt.u32 %all, %i, 1000;", "setp.ge.u32 %none, %i, 1000;", "setp.eq.u32 %one, %i, 5;")
    test.add("setp.gt.u32 %last, %i, 35;", "mov.u32 %r, %i;")
    test.add(
        "@%all add.u32 %r, %r, 100;",
        "@!%all mov.u32 %r, 0;",
        "@%none mov.u32 %r, 1;",
        "@!%none add.u32 %r, %r, 1000;",
    )
    test.add("@%one shl.b32 %r, %r, 4;", "@!%one add.u32 %r, %r, 10000;", "@%last neg.s32 %r, %r;")
    test.point("out", 4)
    test.add("st.global.u32 [%p_out], %r;")
    expected = []
    for i in range(37):
        r = i + 1100
        r = r << 4 if i == 5 else r + 10000
        expected.append(-r & 0xFFFFFFFF if i > 35 else r)
    test.expect("out", "u32", expected)
    test.write()
    what = "Guarded loads and stores: a false guard touches neither the register nor memory; the address may be wild."
    test = Test("logic/guard-memory", what, block="20")
    test.buffer("out", "u32", [900 + i for i in range(20)])
    test.buffer("in", "u32", [3 * i + 1 for i in range(20)])
    test.index()
    test.reg("pred", "%g")
    test.reg("u32", "%r", "%t")
    test.point("in", 4)
    test.point("out", 4)
    test.add("rem.u32 %t, %i, 3;", "setp.eq.u32 %g, %t, 1;", "mov.u32 %r, 5;", "@!%g mov.u64 %p_in, 1;")
    test.add(
        "@%g ld.global.u32 %r, [%p_in];",
        "setp.gt.u32 %g, %i, 9;",
        "@%g mov.u64 %p_out, 3;",
        "@!%g st.global.u32 [%p_out], %r;",
    )
    test.expect("out", "u32", [900 + i if i > 9 else (3 * i + 1 if i % 3 == 1 else 5) for i in range(20)])
    test.write()


# ---------------------------------------------------------------- mov


def mov():
    constants = {
        "f16": "0x3c00",
        "f32": "0fBF800001",
        "f64": "0dC008000000000001",
        "s16": "-300",
        "s32": "-70000",
        "s64": "-5000000000",
    }
    values = {"f16": 0x3C00, "f32": 0xBF800001, "f64": 0xC008000000000001, "s16": -300, "s32": -70000, "s64": -5000000000}
    for ty in BITS + INT + ["f16", "f32", "f64"]:
        n = bits_of(ty)
        shown = f"b{n}" if ty[0] == "f" else ty
        value = values.get(ty, 0xFEDCBA9876543210 >> (64 - n))
        text = constants.get(ty, f"0x{value:x}")
        pool = float_edges(ty) if ty[0] == "f" else edges(ty)
        rows = (pool * 3)[:20]
        register = "f16" if ty == "f16" else register_type(ty)
        test = Test(
            f"mov/mov-{ty}",
            f"mov.{ty} from a register, through a second one, and from a constant.",
            block="20",
        )
        test.buffer("out", shown, count=40)
        test.buffer("a", shown, rows)
        test.index()
        test.load("a", ty, reg_ty=register)
        test.reg(register, "%d", "%t")
        test.point("out", n // 4)
        memory = memory_type(ty)
        test.add(f"mov.{ty} %t, %a;", f"mov.{ty} %a, {text};", f"mov.{ty} %d, %t;", f"st.global.{memory} [%p_out], %d;")
        test.add(f"st.global.{memory} [%p_out+{n // 8}], %a;")
        test.expect("out", shown, [x for v in rows for x in (v, value)])
        test.write()
    test = Test("mov/mov-pred", "mov.pred from a register and from constants.", block="6")
    test.buffer("out", "u32", count=6)
    test.index()
    test.reg("pred", "%p", "%q", "%yes", "%no", "%minus")
    test.reg("u32", "%d")
    test.add("setp.gt.u32 %p, %i, 2;", "mov.pred %q, %p;", "setp.eq.u32 %p, %i, 0;", "mov.pred %yes, 1;")
    test.add("mov.pred %no, 0;", "mov.pred %minus, -1;", "mov.u32 %d, 0;")
    for k, name in enumerate(["p", "q", "yes", "no", "minus"]):
        test.add(f"@%{name} or.b32 %d, %d, {1 << k};")
    test.point("out", 4)
    test.add("st.global.u32 [%p_out], %d;")
    test.expect("out", "u32", [(i == 0) | (i > 2) << 1 | 4 | 16 for i in range(6)])
    test.write()
    test = Test(
        "mov/mov-float-bits",
        "mov.b32 and mov.b64 between floating-point and integer registers copy bits.",
        block="18",
    )
    test.buffer("out32", "b32", count=18)
    test.buffer("out64", "b64", count=18)
    test.buffer("a", "b32", float_edges("f32"))
    test.buffer("b", "b64", float_edges("f64"))
    test.index()
    test.load("a", "b32")
    test.load("b", "b64")
    test.reg("f32", "%f")
    test.reg("f64", "%g")
    test.reg("s32", "%r")
    test.reg("u64", "%d")
    test.add("mov.b32 %f, %a;", "mov.b32 %r, %f;", "mov.b64 %g, %b;", "mov.b64 %d, %g;")
    test.point("out32", 4)
    test.point("out64", 8)
    test.add("st.global.b32 [%p_out32], %r;", "st.global.b64 [%p_out64], %d;")
    test.expect("out32", "b32", float_edges("f32"))
    test.expect("out64", "b64", float_edges("f64"))
    test.write()


def packing():
    for whole, part, count in [("b32", "b16", 2), ("b64", "b32", 2), ("b64", "b16", 4), ("b32", "b8", 4)]:
        n, m = bits_of(whole), bits_of(part)
        rnd = Numbers(f"pack-{whole}-{part}")
        rows = [[cut(rnd.word(), part) for _ in range(count)] for _ in range(20)]
        wholes = [sum(v << m * i for i, v in enumerate(row)) for row in rows]
        names = ", ".join(f"%x{i}" for i in range(count))
        what = f"mov.{whole} makes one register of {count} parts of {m} bits, the first at the low end."
        test = Test(f"mov/pack-{whole}-{part}", what, block="20")
        test.buffer("out", whole, count=20)
        test.buffer("a", part, [v for row in rows for v in row])
        test.index()
        test.point("a", n // 8)
        test.reg(part, f"%x<{count}>")
        test.reg(whole, "%d")
        test.add(*[f"ld.global.{part} %x{i}, [%p_a+{i * m // 8}];" for i in range(count)])
        test.add(f"mov.{whole} %d, {{{names}}};")
        test.point("out", n // 8)
        test.add(f"st.global.{whole} [%p_out], %d;")
        test.expect("out", whole, wholes)
        test.write()
        what = f"mov.{whole} takes a register apart into {count} parts of {m} bits, the first from the low end."
        test = Test(f"mov/unpack-{whole}-{part}", what, block="20")
        test.buffer("out", part, count=20 * count)
        test.buffer("a", whole, wholes)
        test.index()
        test.load("a", whole)
        test.reg(part, f"%x<{count}>")
        test.add(f"mov.{whole} {{{names}}}, %a;")
        test.point("out", n // 8)
        test.add(*[f"st.global.{part} [%p_out+{i * m // 8}], %x{i};" for i in range(count)])
        test.expect("out", part, [v for row in rows for v in row])
        test.write()
    values = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0, (1 << 64) - 1, 0x8000000000000001]
    test = Test("mov/unpack-sink", "mov.b64 takes a register apart and drops some of the parts.", block="5")
    test.buffer("out", "b32", count=15)
    test.buffer("a", "b64", values)
    test.index()
    test.load("a", "b64")
    test.reg("b32", "%lo", "%hi", "%r")
    test.reg("b16", "%h")
    test.add("mov.b64 {%lo, _}, %a;", "mov.b64 {_, %hi}, %a;", "mov.b64 {_, _, %h, _}, %a;", "cvt.u32.u16 %r, %h;")
    test.point("out", 12)
    test.add("st.global.b32 [%p_out], %lo;", "st.global.b32 [%p_out+4], %hi;", "st.global.b32 [%p_out+8], %r;")
    test.expect("out", "b32", [x for v in values for x in (v & 0xFFFFFFFF, v >> 32, v >> 32 & 0xFFFF)])
    test.write()
    test = Test(
        "mov/pack-constants",
        "mov packs constants together with registers; a part may be the destination's source.",
        block="5",
    )
    test.buffer("out", "b64", count=10)
    test.buffer("a", "b64", values)
    test.index()
    test.load("a", "b64")
    test.reg("b32", "%lo", "%hi")
    test.reg("b64", "%d")
    test.point("out", 16)
    test.add("mov.b64 {%lo, %hi}, %a;", "mov.b64 %d, {%lo, 0x77};", "st.global.b64 [%p_out], %d;")
    test.add("mov.b64 %a, {%hi, %lo};", "st.global.b64 [%p_out+8], %a;")
    test.expect("out", "b64", [x for v in values for x in (v & 0xFFFFFFFF | 0x77 << 32, v >> 32 | (v & 0xFFFFFFFF) << 32)])
    test.write()
    test = Test("mov/pack-guarded", "Packing and unpacking under a guard.", block="24")
    test.buffer("out", "b64", count=24)
    test.index()
    test.reg("b32", "%lo", "%hi", "%t")
    test.reg("b64", "%d")
    test.reg("pred", "%g")
    test.add("and.b32 %t, %i, 1;", "setp.ne.u32 %g, %t, 0;", "mov.b32 %lo, %i;", "mov.b32 %hi, 0xabcd;")
    test.add(
        "mov.b64 %d, 0x100000002;",
        "@%g mov.b64 %d, {%hi, %lo};",
        "@!%g mov.b64 {%lo, %hi}, %d;",
        "shl.b64 %d, %d, 4;",
    )
    test.add("@!%g mov.b64 %d, {%hi, %lo};")
    test.point("out", 8)
    test.add("st.global.b64 [%p_out], %d;")
    test.expect("out", "b64", [(0xABCD | i << 32) << 4 if i & 1 else 0x200000001 for i in range(24)])
    test.write()
    test = Test(
        "mov/pack-floats",
        "mov.b64 packs two floats into a double's register and back; mov.b32 packs two f16.",
        block="6",
    )
    floats = [0x3F800000, 0xBF800000, 0x7FC00001, 0x00000001, 0x80000000, 0x7F800000]
    test.buffer("out", "b32", count=18)
    test.buffer("a", "b32", floats)
    test.index()
    test.load("a", "f32", memory="f32")
    test.reg("f32", "%x", "%y")
    test.reg("f64", "%d")
    test.reg("f16", "%h0", "%h1")
    test.reg("b32", "%r")
    test.add("mov.f32 %y, 0f40490FDB;", "mov.b64 %d, {%a, %y};", "mov.b64 {%y, %x}, %d;")
    test.add("mov.b32 {%h0, %h1}, %a;", "mov.b32 %r, {%h1, %h0};")
    test.point("out", 12)
    test.add("st.global.f32 [%p_out], %x;", "st.global.f32 [%p_out+4], %y;", "st.global.b32 [%p_out+8], %r;")
    test.expect("out", "b32", [x for v in floats for x in (0x40490FDB, v, v >> 16 | (v & 0xFFFF) << 16)])
    test.write()


def addresses():
    def frame(path, what, declarations, lines, count, expected, local=(), ty="u32"):
        test = Test(path, what, block=str(count))
        test.globals = list(declarations)
        test.buffer("out", ty, count=len(expected))
        test.regs += list(local)
        test.index()
        test.reg("u64", "%v", "%w")
        test.reg("u32", "%d", "%s")
        test.point("out", 4 * len(expected) // count)
        test.add(*lines)
        test.expect("out", ty, expected)
        test.write()

    table = [11, 22, 33, 44, 55, 66, 77, 88]
    text = ", ".join(str(v) for v in table)
    frame(
        "mov/address-global",
        "mov.u64 of a .global variable's name gives its address.",
        [f".global .align 4 .u32 table[8] = {{{text}}};"],
        ["mov.u64 %v, table;", "mad.wide.u32 %v, %i, 4, %v;", "ld.global.u32 %d, [%v];", "st.global.u32 [%p_out], %d;"],
        8,
        table,
    )
    frame(
        "mov/address-offset",
        "mov.u64 of a name plus a number of bytes.",
        [f".global .align 4 .u32 table[8] = {{{text}}};"],
        [
            "mov.u64 %v, table+12;",
            "ld.global.u32 %d, [%v];",
            "st.global.u32 [%p_out], %d;",
            "mov.u64 %w, table;",
            "sub.u64 %w, %v, %w;",
            "cvt.u32.u64 %d, %w;",
            "st.global.u32 [%p_out+4], %d;",
        ],
        2,
        [44, 12, 44, 12],
    )
    frame(
        "mov/address-const",
        "mov.u64 of a .const variable's name gives its address in constant memory.",
        [f".const .align 4 .u32 table[8] = {{{text}}};"],
        ["mov.u64 %v, table;", "mad.wide.u32 %v, %i, 4, %v;", "ld.const.u32 %d, [%v];", "st.global.u32 [%p_out], %d;"],
        8,
        table,
    )
    for width, reg in [("u64", "%v"), ("u32", "%s")]:
        wide = "mad.wide.u32 %v, %i, 4, %v;" if width == "u64" else "mad.lo.u32 %s, %i, 4, %s;"
        frame(
            f"mov/address-shared-{width}",
            f"mov.{width} of a .shared variable's name gives its address in shared memory; two variables do not overlap.",
            [],
            [
                f"mov.{width} {reg}, first;",
                wide,
                "add.u32 %d, %i, 500;",
                f"st.shared.u32 [{reg}], %d;",
                f"mov.{width} {reg}, second;",
                wide,
                "add.u32 %d, %i, 900;",
                f"st.shared.u32 [{reg}], %d;",
                f"mov.{width} {reg}, first;",
                wide,
                f"ld.shared.u32 %d, [{reg}];",
                "st.global.u32 [%p_out], %d;",
            ],
            16,
            [500 + i for i in range(16)],
            local=[".shared .align 4 .u32 first[16];", ".shared .align 4 .u32 second[16];"],
        )
    frame(
        "mov/address-local",
        "mov.u64 of a .local variable's name gives an address that belongs to the thread.",
        [],
        [
            "mov.u64 %v, mine;",
            "mul.lo.u32 %d, %i, 3;",
            "st.local.u32 [%v], %d;",
            "add.u32 %d, %d, 1;",
            "st.local.u32 [%v+4], %d;",
            "mov.u64 %w, mine+4;",
            "ld.local.u32 %d, [%w];",
            "ld.local.u32 %s, [%v];",
            "mad.lo.u32 %d, %d, 100, %s;",
            "st.global.u32 [%p_out], %d;",
        ],
        20,
        [(3 * i + 1) * 100 + 3 * i for i in range(20)],
        local=[".local .align 4 .u32 mine[2];"],
    )
    frame(
        "mov/address-function",
        "mov.u64 of a function's name: the same each time, another one for another function, never 0.",
        [".func one() { ret; }", ".func two() { ret; }"],
        [
            "mov.u64 %v, one;",
            "mov.u64 %w, one;",
            "setp.eq.u64 %p, %v, %w;",
            "selp.u32 %d, 1, 0, %p;",
            "mov.u64 %w, two;",
            "setp.ne.u64 %p, %v, %w;",
            "@%p add.u32 %d, %d, 2;",
            "setp.ne.u64 %p, %v, 0;",
            "@%p add.u32 %d, %d, 4;",
            "st.global.u32 [%p_out], %d;",
        ],
        3,
        [7, 7, 7],
        local=[".reg .pred %p;"],
    )


def specials():
    """Special registers. What depends on the warp width is compared with WARP_SZ or runs with 32 only."""

    def frame(path, what, grid, block, lines, per_thread, expected, regs=(), extra=(), local=()):
        test = Test(path, what, grid=grid, block=block, extra=extra)
        test.buffer("out", "u32", count=len(expected))
        test.regs += list(local)
        # The index counts x first, then y, then z, blocks last.
        test.reg("u32", "%i", "%x", "%n", "%t", "%u", "%d")
        test.reg("pred", "%p")
        for ty, name in regs:
            test.reg(ty, name)
        test.add("mov.u32 %i, %ctaid.z;")
        for reg, size in [("ctaid.y", "nctaid.y"), ("ctaid.x", "nctaid.x"), ("tid.z", "ntid.z"), ("tid.y", "ntid.y"), ("tid.x", "ntid.x")]:
            test.add(f"mov.u32 %x, %{reg};", f"mov.u32 %n, %{size};", "mad.lo.u32 %i, %i, %n, %x;")
        test.point("out", 4 * per_thread)
        test.add(*lines)
        test.expect("out", "u32", expected)
        test.write()

    def read(names):
        return [line for k, n in enumerate(names) for line in (f"mov.u32 %d, {n};", f"st.global.u32 [%p_out+{4 * k}], %d;")]

    threads = [(x, y, z) for z in range(2) for y in range(3) for x in range(5)]
    frame("mov/tid", "%tid in a block of three dimensions.", "1", "5,3,2", read(["%tid.x", "%tid.y", "%tid.z"]), 3, [v for t in threads for v in t])
    frame(
        "mov/ntid",
        "%ntid in a block of three dimensions.",
        "1",
        "5,3,2",
        read(["%ntid.x", "%ntid.y", "%ntid.z"]),
        3,
        [5, 3, 2] * 30,
    )
    blocks = [(x, y, z) for z in range(2) for y in range(3) for x in range(4)]
    frame(
        "mov/ctaid",
        "%ctaid in a grid of three dimensions.",
        "4,3,2",
        "2",
        read(["%ctaid.x", "%ctaid.y", "%ctaid.z"]),
        3,
        [v for b in blocks for _ in range(2) for v in b],
    )
    frame(
        "mov/nctaid",
        "%nctaid in a grid of three dimensions.",
        "4,3,2",
        "1",
        read(["%nctaid.x", "%nctaid.y", "%nctaid.z"]),
        3,
        [4, 3, 2] * 24,
    )
    frame(
        "mov/tid-narrow",
        "%tid and %ctaid read by mov.s32, mov.b32 and, widened, by cvt.",
        "3",
        "4",
        [
            "mov.s32 %d, %tid.x;",
            "st.global.u32 [%p_out], %d;",
            "mov.b32 %d, %ctaid.x;",
            "cvt.u16.u32 %h, %d;",
            "cvt.u32.u16 %d, %h;",
            "st.global.u32 [%p_out+4], %d;",
            "cvt.u64.u32 %w, %tid.x;",
            "cvt.u32.u64 %d, %w;",
            "st.global.u32 [%p_out+8], %d;",
        ],
        3,
        [v for b in range(3) for t in range(4) for v in (t, b, t)],
        regs=[("u16", "%h"), ("u64", "%w")],
    )
    only32 = ["widths: 32"]
    frame("mov/laneid", "%laneid in warps of 32, in a block of one and a half warps.", "1", "48", read(["%laneid"]), 1, [i % 32 for i in range(48)], extra=only32)
    frame("mov/warp-sz", "WARP_SZ is a constant.", "1", "40", read(["WARP_SZ"]), 1, [32] * 40, extra=only32)
    frame("mov/warpid", "%warpid counts the warps of a block, which follow the threads in order x, y, z.", "2", "8,5,3", read(["%warpid"]), 1, [i // 32 for i in range(120)] * 2, extra=only32)
    masks = []
    for i in range(48):
        eq = 1 << i % 32
        masks += [eq, 2 * eq - 1, eq - 1, 0x100000000 - eq, 0x100000000 - 2 * eq]
    frame(
        "mov/lanemask",
        "%lanemask_eq, _le, _lt, _ge and _gt in warps of 32; lanes without a thread count as well.",
        "1",
        "48",
        read([f"%lanemask_{r}" for r in ["eq", "le", "lt", "ge", "gt"]]),
        5,
        masks,
        extra=only32,
    )
    frame(
        "mov/lanemask-widths",
        "For every warp width: %lanemask_eq is 1 << %laneid, _lt and _le the bits below it, and _gt, _ge begin after and\n"
        "at it; %laneid is the thread's number modulo WARP_SZ.",
        "1",
        "50",
        [
            "mov.u32 %d, 0;",
            "mov.u32 %t, %laneid;",
            "mov.u32 %u, WARP_SZ;",
            "rem.u32 %n, %i, %u;",
            "setp.eq.u32 %p, %n, %t;",
            "@%p or.b32 %d, %d, 1;",
            "shl.b32 %n, 1, %t;",
            "mov.u32 %u, %lanemask_eq;",
            "setp.eq.u32 %p, %n, %u;",
            "@%p or.b32 %d, %d, 2;",
            "sub.u32 %n, %n, 1;",
            "mov.u32 %u, %lanemask_lt;",
            "setp.eq.u32 %p, %n, %u;",
            "@%p or.b32 %d, %d, 4;",
            "mov.u32 %x, %lanemask_eq;",
            "or.b32 %n, %u, %x;",
            "mov.u32 %u, %lanemask_le;",
            "setp.eq.u32 %p, %n, %u;",
            "@%p or.b32 %d, %d, 8;",
            "mov.u32 %u, %lanemask_gt;",
            "and.b32 %n, %u, %n;",
            "setp.eq.u32 %p, %n, 0;",
            "@%p or.b32 %d, %d, 16;",
            "or.b32 %n, %u, %x;",
            "mov.u32 %u, %lanemask_ge;",
            "setp.eq.u32 %p, %n, %u;",
            "@%p or.b32 %d, %d, 32;",
            "st.global.u32 [%p_out], %d;",
        ],
        1,
        [63] * 50,
    )
    frame(
        "mov/smid",
        "%smid is below %nsmid, %warpid below %nwarpid, and all threads of a block see the same %smid.",
        "3",
        "33",
        [
            "mov.u32 %t, %smid;",
            "mov.u32 %u, %nsmid;",
            "setp.lt.u32 %p, %t, %u;",
            "selp.u32 %d, 1, 0, %p;",
            "mov.u32 %n, %warpid;",
            "mov.u32 %u, %nwarpid;",
            "setp.lt.u32 %p, %n, %u;",
            "@%p or.b32 %d, %d, 2;",
            "mov.u32 %x, %tid.x;",
            "setp.eq.u32 %p, %x, 0;",
            "@%p st.shared.u32 [seen], %t;",
            "bar.sync 0;",
            "ld.shared.u32 %u, [seen];",
            "setp.eq.u32 %p, %t, %u;",
            "@%p or.b32 %d, %d, 4;",
            "st.global.u32 [%p_out], %d;",
        ],
        1,
        [7] * 99,
        local=[".shared .align 4 .u32 seen;"],
    )
    frame(
        "mov/clock",
        "%clock64 does not run backwards, nor does %clock; %clock_hi lies between the high halves before and after.",
        "1",
        "8",
        [
            "mov.u64 %c0, %clock64;",
            "mov.u32 %t, %clock;",
            "mov.u32 %x, %clock_hi;",
            "mov.u32 %u, %clock;",
            "mov.u64 %c1, %clock64;",
            "setp.ge.u64 %p, %c1, %c0;",
            "selp.u32 %d, 1, 0, %p;",
            "sub.u32 %u, %u, %t;",
            "setp.ge.s32 %p, %u, 0;",
            "@%p or.b32 %d, %d, 2;",
            "mov.b64 {_, %t}, %c0;",
            "mov.b64 {_, %u}, %c1;",
            "setp.ge.u32 %p, %x, %t;",
            "@%p or.b32 %d, %d, 4;",
            "setp.le.u32 %p, %x, %u;",
            "@%p or.b32 %d, %d, 8;",
            "st.global.u32 [%p_out], %d;",
        ],
        1,
        [15] * 8,
        regs=[("u64", "%c0"), ("u64", "%c1")],
    )
    frame(
        "mov/globaltimer",
        "%globaltimer does not run backwards; its halves can be read alone.",
        "1",
        "8",
        [
            "mov.u64 %c0, %globaltimer;",
            "mov.u32 %x, %globaltimer_hi;",
            "mov.u32 %n, %globaltimer_lo;",
            "mov.u64 %c1, %globaltimer;",
            "setp.ge.u64 %p, %c1, %c0;",
            "selp.u32 %d, 1, 0, %p;",
            "mov.b64 {_, %t}, %c0;",
            "mov.b64 {_, %u}, %c1;",
            "setp.ge.u32 %p, %x, %t;",
            "@%p or.b32 %d, %d, 2;",
            "setp.le.u32 %p, %x, %u;",
            "@%p or.b32 %d, %d, 4;",
            "st.global.u32 [%p_out], %d;",
        ],
        1,
        [7] * 8,
        regs=[("u64", "%c0"), ("u64", "%c1")],
    )
    frame(
        "mov/gridid",
        "%gridid is the same for all threads of a launch.",
        "2",
        "20",
        [
            "mov.u64 %c0, %gridid;",
            "mov.u32 %x, %tid.x;",
            "setp.eq.u32 %p, %x, 0;",
            "@%p st.shared.u64 [seen], %c0;",
            "bar.sync 0;",
            "ld.shared.u64 %c1, [seen];",
            "setp.eq.u64 %p, %c0, %c1;",
            "selp.u32 %d, 1, 0, %p;",
            "st.global.u32 [%p_out], %d;",
        ],
        1,
        [1] * 40,
        regs=[("u64", "%c0"), ("u64", "%c1")],
        local=[".shared .align 8 .u64 seen;"],
    )
    frame(
        "mov/smem-size",
        "%dynamic_smem_size is what the launch asks for, %total_smem_size also counts the kernel's own variables.",
        "1",
        "4",
        ["mov.u32 %t, 1;", "st.shared.u32 [fixed+252], %t;"] + read(["%total_smem_size", "%dynamic_smem_size"]),
        2,
        [768, 512] * 4,
        extra=["shared=512"],
        local=[".shared .align 4 .b8 fixed[256];"],
    )


# ---------------------------------------------------------------- cvt between integers


def cvt():
    for src in INT8:
        n = bits_of(src)
        # Plain conversions between registers of the types' own sizes, 8-bit values in 16-bit registers.
        values = list(dict.fromkeys(edges(src) + [cut(v, src) for d in INT8 for v in (low(d), high(d), high(d) + 1, low(d) - 1)]))
        values = values[:40]
        cvt_test(
            f"cvt-int/cvt-{src}",
            f"cvt.DST.{src} for every integer DST: cuts off the top, or extends by the sign of the source.",
            src,
            values,
            INT8,
            "",
        )
        narrower = [d for d in INT8 if low(src) < low(d) or high(src) > high(d)]
        if narrower:
            what = f"cvt.sat.DST.{src} for every DST that cannot hold all of .{src}: stops at the limits of DST."
            cvt_test(f"cvt-int/cvt-sat-{src}", what, src, values, narrower, ".sat")
        # Registers wider than the types: only the low bits of the source count, the result is extended like DST.
        rnd = Numbers(f"cvt-wide-{src}")
        raw = [(v & ((1 << n) - 1)) | (rnd.word() << n) & ((1 << 64) - 1) for v in values[:24]]
        for sat in ["", ".sat"]:
            targets = narrower if sat else INT8
            if not targets:
                continue
            name = f"cvt-int/wide-{'sat-' if sat else ''}{src}"
            what = f"cvt{sat}.DST.{src} between 64-bit registers: only the low {n} bits of the source count, the result is extended\n"
            what += f"like DST. Results for {' '.join(targets)}."
            if n == 64:
                what = f"cvt{sat}.DST.{src} to a 64-bit register: the result is extended like DST. Results for {' '.join(targets)}."
            expected = []
            for v in raw:
                for d in targets:
                    value = cut(v, src)
                    expected.append(cut(clamp(value, d) if sat else cut(value, d), "b64"))
            test = Test(name, what, block=str(len(raw)))
            test.buffer("out", "b64", count=len(expected))
            test.buffer("a", "b64", raw)
            test.index()
            test.load("a", "b64")
            test.reg("b64", "%d")
            test.point("out", 8 * len(targets))
            for k, d in enumerate(targets):
                test.add(f"cvt{sat}.{d}.{src} %d, %a;", f"st.global.b64 [%p_out+{8 * k}], %d;")
            test.expect("out", "b64", expected)
            test.write()
    guarded()


def guarded():
    values = edges("u32")
    test = Test("cvt-int/guarded", "cvt under a guard, and with the source as destination.", block=str(len(values)))
    test.buffer("out", "u32", count=3 * len(values))
    test.buffer("a", "u32", values)
    test.index()
    test.load("a", "u32")
    test.reg("u32", "%d")
    test.reg("pred", "%p")
    test.point("out", 12)
    test.add("setp.lt.s32 %p, %a, 0;", "mov.u32 %d, 77;", "@%p cvt.u32.u8 %d, %a;", "st.global.u32 [%p_out], %d;")
    test.add("mov.u32 %d, %a;", "cvt.s32.s8 %d, %d;", "st.global.u32 [%p_out+4], %d;")
    test.add("mov.u32 %d, %a;", "@!%p cvt.sat.s8.s32 %d, %d;", "st.global.u32 [%p_out+8], %d;")
    expected = []
    for a in values:
        negative = a >> 31
        expected += [a & 0xFF if negative else 77, cut(cut(a, "s8"), "u32"), a if negative else clamp(a, "s8")]
    test.expect("out", "u32", expected)
    test.write()


def cvt_test(path, what, src, values, targets, sat):
    test = Test(path, what, block=str(len(values)))
    for d in targets:
        test.buffer(f"out_{d}", d, count=len(values))
    test.buffer("a", src, values)
    test.index()
    test.load("a", src)
    for d in targets:
        test.reg(register_type(d), f"%d_{d}")
        test.add(f"cvt{sat}.{d}.{src} %d_{d}, %a;")
        test.point(f"out_{d}", bits_of(d) // 8)
        test.add(f"st.global.{d} [%p_out_{d}], %d_{d};")
        test.expect(f"out_{d}", d, [clamp(v, d) if sat else cut(v, d) for v in values])
    test.write()


def main():
    arithmetic()
    arithmetic24()
    bit_arithmetic()
    division_by_zero()
    immediates()
    carries()
    long_arithmetic()
    setp()
    set_value()
    select()
    compare_operands()
    logic()
    lop3()
    predicates()
    guards()
    mov()
    packing()
    addresses()
    specials()
    cvt()
    print(f"{len(written)} files")


if __name__ == "__main__":
    main()
