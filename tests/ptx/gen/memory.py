#!/usr/bin/env python3
"""Writes the regular families of the memory, atomic and warp tests.

Run it without arguments; it overwrites the files it is responsible for, next to this folder. The expected values come
from the small models below, not from the simulator.
"""

import struct

from common import HEAD, note, write

TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split()
REGS = """    .reg .pred %p<8>;
    .reg .b16 %h<16>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<32>;
    .reg .f32 %f<16>;
    .reg .f64 %fd<16>;
"""


def lines(*parts):
    """Instructions, one per line, indented; labels stand at the margin."""
    out = []
    for part in parts:
        for line in part.strip().splitlines():
            line = line.strip()
            out.append(line if line.endswith(":") else "    " + line)
    return "\n".join(out) + "\n"


def bits_of(ty):
    return {"x2": 32}.get(ty[-2:]) or int(ty.lstrip("bfsu"))


def show(ty, value):
    """The bits of a value as the test files spell it."""
    n = bits_of(ty)
    if ty == "f32":
        return f"0f{value:08X}"
    if ty == "f64":
        return f"0d{value:016X}"
    if ty[0] == "s":
        return str(value - (1 << n) if value >> (n - 1) else value)
    return f"{value:#x}"


def extend(ty, value, width):
    n = bits_of(ty)
    if ty[0] == "s" and value >> (n - 1):
        value |= ((1 << width) - 1) & ~((1 << n) - 1)
    return value


def edge_values(ty):
    n = bits_of(ty)
    if ty == "f32":
        return [0x3F800000, 0x80000000, 0x7F800000, 0x00000001]
    if ty == "f64":
        return [0x3FF0000000000000, 0x8000000000000000, 0x7FF0000000000000, 0x0000000000000001]
    top = 1 << (n - 1)
    return [1, top - 1, top, 2 * top - 2]


def register(ty, n, wide=False):
    """Register number n of the class a type is kept in."""
    if ty in ("f32", "f64"):
        return f"%f{n}" if ty == "f32" else f"%fd{n}"
    size = bits_of(ty)
    if wide and size < 32:
        size = 32
    return {8: "%h", 16: "%h", 32: "%r", 64: "%rd"}[size] + str(n)


# ---------------------------------------------------------------- loads and stores


def load(op, ty, address, width):
    """Loads and leaves the whole register, zero-extended, in %rd9."""
    if ty == "f32":
        return f"{op}.f32 %f0, {address};\nmov.b32 %r1, %f0;\ncvt.u64.u32 %rd9, %r1;"
    if ty == "f64":
        return f"{op}.f64 %fd0, {address};\nmov.b64 %rd9, %fd0;"
    if width == 16:
        return f"{op}.{ty} %h0, {address};\ncvt.u64.u16 %rd9, %h0;"
    if width == 32:
        return f"{op}.{ty} %r1, {address};\ncvt.u64.u32 %rd9, %r1;"
    return f"{op}.{ty} %rd9, {address};"


def widths_for(ty):
    if ty[0] == "f":
        return [bits_of(ty)]
    return [w for w in (16, 32, 64) if w >= bits_of(ty)]


def fetch_value(ty):
    """The thread's value, in the register the stores read: upper bits of integers hold rubbish."""
    size = bits_of(ty) // 8
    if ty[0] == "f":
        return f"ld.global.{ty} {register(ty, 8)}, [%rd2];", register(ty, 8)
    if size == 8:
        return f"ld.global.{ty} %rd8, [%rd2];", "%rd8"
    rubbish = (0xA5A5A5A5A5A5A5A5 << (8 * size)) & (2**64 - 1)
    return f"ld.global.b{8 * size} %rd8, [%rd2];\nor.b64 %rd8, %rd8, {rubbish:#x};", "%rd8"


def load_store_file(ty):
    size = bits_of(ty) // 8
    values = edge_values(ty)
    body = [f"""
        ld.param.u64 %rd0, [out];
        ld.param.u64 %rd1, [copy];
        ld.param.u64 %rd2, [in];
        mul.wide.u32 %rd3, %r0, {size};
        add.u64 %rd2, %rd2, %rd3;
        add.u64 %rd1, %rd1, %rd3;
        add.u64 %rd0, %rd0, %rd4;
        mov.u64 %rd5, table;
        add.u64 %rd5, %rd5, %rd3;
        mov.u64 %rd6, sh;
        add.u64 %rd6, %rd6, %rd3;
        cvta.shared.u64 %rd7, %rd6;
        mov.u64 %rd10, loc;
        cvta.local.u64 %rd11, %rd10;
    """]
    slots = []

    def keep(code, width, loaded=values):
        body.append(code + f"\nst.global.u64 [%rd0+{8 * len(slots)}], %rd9;")
        slots.append([extend(ty, v, width) for v in loaded])

    top = widths_for(ty)[-1]
    for w in widths_for(ty):
        keep(load("ld.global", ty, "[%rd2]", w), w)
    keep(load("ld", ty, "[%rd2]", top), top)
    fetch, value = fetch_value(ty)
    body.append(fetch)
    for store, fetched, address in [
        ("st.shared", "ld.shared", "[%rd6]"),
        ("st.shared::cta", "ld.shared::cta", "[%rd6]"),
        ("st", "ld", "[%rd7]"),
        ("st.local", "ld.local", "[loc]"),
        ("st", "ld.local", "[%rd11+8]"),
    ]:
        read = "[loc+8]" if address == "[%rd11+8]" else address
        body.append(f"{store}.{ty} {address}, {value};")
        keep(load(fetched, ty, read, top), top)
    keep(load("ld.const", ty, "[%rd5]", top), top)
    keep(load("ld.param", ty, "[scalar]", top), top, [values[2]] * 4)
    keep(load("ld.param::entry", ty, "[scalar]", top), top, [values[2]] * 4)
    body.append(f"st.global.{ty} [%rd1], {value};\nst.{ty} [%rd1+{4 * size}], {value};\nret;")

    spell = [show(ty, v) for v in values]
    # The values of one thread follow one another.
    body.insert(0, f"mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd4, %r0, {8 * len(slots)};")
    expected = [f"{slot[t]:#x}" for t in range(4) for slot in slots]
    text = f"// ld and st of .{ty} in every state space; narrow values are extended as the type says,\n"
    text += "// stores take the low end of a wider register.\n// run: grid=1 block=4\n"
    text += f"// arg: out u64[{len(expected)}] = zero\n// arg: copy {ty}[8] = zero\n"
    text += note("arg", f"in {ty}[4]", spell) + f"// arg: scalar {ty} = {spell[2]}\n"
    text += note("expect", "out", expected) + note("expect", "copy", spell * 2)
    text += HEAD + f".const .align 8 .{ty} table[4] = {{{', '.join(spell)}}};\n"
    text += f".visible .entry k(.param .u64 out, .param .u64 copy, .param .u64 in, .param .{ty} scalar)\n{{\n"
    text += REGS + "    .shared .align 8 .b8 sh[32];\n    .local .align 8 .b8 loc[16];\n" + lines(*body) + "}\n"
    write(f"memory/load_store_{ty}.ptx", text)


def scoped_file(ty, turn):
    size = bits_of(ty) // 8
    values = edge_values(ty)
    spaces = [("global", "[%rd1]"), ("", "[%rd1]"), ("shared", "[%rd6]"), ("shared::cta", "[%rd6]"), ("", "[%rd7]")]
    steps = []
    for i, scope in enumerate(["cta", "cluster", "gpu", "sys"]):
        for j, (back, forth) in enumerate([("relaxed", "relaxed"), ("acquire", "release")]):
            space, address = spaces[(2 * i + j + turn) % len(spaces)]
            suffix = f".{scope}" + (f".{space}" if space else "")
            steps.append((f"st.{forth}{suffix}", f"ld.{back}{suffix}", address))
    for space, address in spaces:
        suffix = f".{space}" if space else ""
        steps.append((f"st.volatile{suffix}", f"ld.volatile{suffix}", address))
    steps += [(None, "ld.global.nc", "[%rd2]"), (None, "ldu.global", "[%rd2]"), (None, "ldu", "[%rd2]")]
    top = widths_for(ty)[-1]
    body = [f"""
        mov.u32 %r0, %tid.x;
        ld.param.u64 %rd0, [out];
        ld.param.u64 %rd1, [tmp];
        ld.param.u64 %rd2, [in];
        mul.wide.u32 %rd3, %r0, {size};
        mul.wide.u32 %rd4, %r0, {8 * len(steps)};
        add.u64 %rd2, %rd2, %rd3;
        add.u64 %rd1, %rd1, %rd3;
        add.u64 %rd0, %rd0, %rd4;
        mov.u64 %rd6, sh;
        add.u64 %rd6, %rd6, %rd3;
        cvta.shared.u64 %rd7, %rd6;
    """]
    fetch, value = fetch_value(ty)
    body.append(fetch)
    zero = {"f32": "0f00000000", "f64": "0d0000000000000000"}.get(ty, "0")
    for slot, (store, fetched, address) in enumerate(steps):
        if store:
            # What the step before left there must not be mistaken for this one's work.
            body.append(f"st.{ty} {'[%rd1]' if address == '[%rd1]' else '[%rd7]'}, {zero};")
            body.append(f"{store}.{ty} {address}, {value};")
        body.append(load(fetched, ty, address, top))
        body.append(f"st.global.u64 [%rd0+{8 * slot}], %rd9;")
    body.append("ret;")
    expected = [f"{extend(ty, v, top):#x}" for v in values for _ in steps]
    spell = [show(ty, v) for v in values]
    text = f"// ld and st of .{ty} with memory orders and scopes, volatile, non-coherent and uniform loads.\n"
    text += f"// run: grid=1 block=4\n// arg: out u64[{len(expected)}] = zero\n// arg: tmp {ty}[4] = zero\n"
    text += note("arg", f"in {ty}[4]", spell) + note("expect", "out", expected) + note("expect", "tmp", spell)
    text += HEAD + ".visible .entry k(.param .u64 out, .param .u64 tmp, .param .u64 in)\n{\n"
    text += REGS + "    .shared .align 8 .b8 sh[32];\n" + lines(*body) + "}\n"
    write(f"memory/ordered_{ty}.ptx", text)


def vector_file(ty):
    size = bits_of(ty) // 8
    n = bits_of(ty)
    if ty == "f32":
        values = [struct.unpack("<I", struct.pack("<f", 1.5 * i - 4))[0] for i in range(8)]
    elif ty == "f64":
        values = [struct.unpack("<Q", struct.pack("<d", 1.5 * i - 4))[0] for i in range(8)]
    else:
        values = [(0x8123456789ABCDEF * (2 * i + 1)) >> (3 * i) & ((1 << n) - 1) for i in range(8)]
    steps = [
        ("ld.global", "st.global"),
        ("ld.volatile.global", "st.volatile.global"),
        ("ld.acquire.gpu.global", "st.release.gpu.global"),
        ("ld.global.nc", "st.global"),
        ("ldu.global", "st"),
        ("shared", "st.global"),
        ("local", "st.global"),
        ("ld.const", "st.global"),
    ]
    body = ["""
        mov.u32 %r0, %tid.x;
        ld.param.u64 %rd0, [out];
        ld.param.u64 %rd1, [in];
    """]
    expected = []
    for count in (4, 2) if size < 8 else (2,):
        step = count * size
        body.append(f"""
            mul.wide.u32 %rd3, %r0, {step};
            add.u64 %rd2, %rd1, %rd3;
            add.u64 %rd5, %rd0, %rd3;
            mov.u64 %rd4, table;
            add.u64 %rd4, %rd4, %rd3;
            mov.u64 %rd6, sh;
            add.u64 %rd6, %rd6, %rd3;
        """)
        regs = [register(ty, 10 + i, wide=True) for i in range(count)]
        there = "{" + ", ".join(regs) + "}"
        back = "{" + ", ".join(reversed(regs)) + "}"
        for fetched, store in steps:
            address = "[%rd2]"
            if fetched == "ld.const":
                address = "[%rd4]"
            if fetched in ("shared", "local"):
                address = "[%rd6]" if fetched == "shared" else "[loc]"
                body.append(f"ld.global.v{count}.{ty} {there}, [%rd2];")
                body.append(f"st.{fetched}.v{count}.{ty} {address}, {there};")
                fetched = f"ld.{fetched}"
            body.append(f"{fetched}.v{count}.{ty} {there}, {address};")
            body.append(f"{store}.v{count}.{ty} [%rd5+{len(expected) * size}], {back};")
            for t in range(2):
                expected += reversed(values[t * count:(t + 1) * count])
    body.append("ret;")
    spell = [show(ty, v) for v in values]
    text = f"// Vectors of .{ty} in memory: loaded in every way, stored in reverse order.\n// run: grid=1 block=2\n"
    text += f"// arg: out {ty}[{len(expected)}] = zero\n" + note("arg", f"in {ty}[8]", spell)
    text += note("expect", "out", [show(ty, v) for v in expected])
    text += HEAD + f".const .align 32 .{ty} table[8] = {{{', '.join(spell)}}};\n"
    text += ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" + REGS
    text += "    .shared .align 32 .b8 sh[64];\n    .local .align 32 .b8 loc[32];\n" + lines(*body) + "}\n"
    write(f"memory/vector_{ty}.ptx", text)


# ---------------------------------------------------------------- atomics


def to_f16(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]


def from_f16(b):
    return struct.unpack("<e", struct.pack("<H", b))[0]


def to_f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from_f32(b):
    return struct.unpack("<f", struct.pack("<I", b))[0]


def to_f64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from_f64(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def to_bf16(x):
    bits = to_f32(x)
    assert bits & 0xFFFF == 0, "only values that are exact in bf16 are used"
    return bits >> 16


def from_bf16(b):
    return from_f32(b << 16)


FLOATS = {"f16": (to_f16, from_f16), "bf16": (to_bf16, from_bf16), "f32": (to_f32, from_f32), "f64": (to_f64, from_f64)}


def pack(ty, number, second=None):
    """Bits of a number in type ty; both halves of a packed one."""
    if ty.endswith("x2"):
        to = FLOATS[ty[:-2]][0]
        return to(number) | to(number if second is None else second) << 16
    if ty in FLOATS:
        return FLOATS[ty][0](number)
    return int(number) & ((1 << bits_of(ty)) - 1)


def signed(ty, value):
    n = bits_of(ty)
    return value - (1 << n) if ty[0] == "s" and value >> (n - 1) else value


def model(op, ty, old, b, c=None):
    """What an atomic operation leaves in memory."""
    if op == "add":
        if ty.endswith("x2"):
            half = ty[:-2]
            low, high = model("add", half, old & 0xFFFF, b & 0xFFFF), model("add", half, old >> 16, b >> 16)
            return low | high << 16
        if ty in FLOATS:
            to, back = FLOATS[ty]
            return to(back(old) + back(b))
        return (old + b) & ((1 << bits_of(ty)) - 1)
    if op in ("min", "max"):
        return (min if op == "min" else max)(old, b, key=lambda v: signed(ty, v))
    return {
        "and": lambda: old & b,
        "or": lambda: old | b,
        "xor": lambda: old ^ b,
        "exch": lambda: b,
        "cas": lambda: c if old == b else old,
        "inc": lambda: 0 if old >= b else old + 1,
        "dec": lambda: b if old == 0 or old > b else old - 1,
    }[op]()


OPERATIONS = (
    [(op, ty) for op in ("and", "or", "xor", "exch") for ty in ("b32", "b64")]
    + [("cas", ty) for ty in ("b16", "b32", "b64")]
    + [("add", ty) for ty in ("u32", "s32", "u64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2")]
    + [("inc", "u32"), ("dec", "u32")]
    + [(op, ty) for op in ("min", "max") for ty in ("u32", "s32", "u64", "s64")]
)


def atomic_values(op, ty):
    n = bits_of(ty)
    ones = (1 << n) - 1
    if op == "inc" or op == "dec":
        return [0, 5, 9, 10], [5, 5, 5, ones], None
    if op == "cas":
        return [1, ones, 7, 0], [1, ones, 8, 0], [2, 3, 4, ones - 1]
    if ty.endswith("x2"):
        return ([pack(ty, *p) for p in [(1.5, -2), (0.25, 100), (-1, 1), (0, 3)]],
                [pack(ty, *p) for p in [(0.5, 2), (1, 28), (-1, 0.5), (7, -3)]], None)
    if ty in FLOATS:
        return [pack(ty, x) for x in (1.5, -2, 0.25, 100)], [pack(ty, x) for x in (0.5, 2, 1, 28)], None
    if op in ("min", "max"):
        return [5, 1 << (n - 1), 7, ones], [9, 1, 7, 3], None
    return [0x12345678, ones, 1 << (n - 1), 0], [0xFF00FF, 2, (1 << (n - 1)) | 1, ones - 4], None


def storage(ty):
    return "b32" if ty.endswith("x2") else ty


def spell_atomic(ty, value):
    return f"{value:#06x}" if ty in ("f16", "bf16") else show(storage(ty), value)


def atomic_register(ty, n):
    if ty in ("f16", "bf16"):
        return f"%h{n}"
    return register("b32" if ty.endswith("x2") else ty, n)


def atomic_file(kind, op, ty):
    """One file per operation and type: own addresses in every space, then one address for all threads."""
    size = bits_of(ty) // 8
    mem = "b" + str(bits_of(ty)) if ty not in ("f32", "f64") else ty
    word = f"{op}.noftz.{ty}" if ty in ("f16", "f16x2", "bf16", "bf16x2") else f"{op}.{ty}"
    a, b, c = atomic_values(op, ty)
    if kind == "atom":
        variants = [("", ".global", "g"), (".relaxed.cta", ".shared", "s"), (".acquire.cluster", ".shared::cta", "s"),
                    (".release.gpu", "", "g"), (".acq_rel.sys", "", "gs")]
    else:
        variants = [("", ".global", "g"), (".relaxed.cta", ".shared", "s"), (".release.cluster", ".shared::cta", "s"),
                    (".relaxed.gpu", "", "g"), (".release.sys", "", "gs")]
    ra, rb, rc, rd = (atomic_register(ty, n) for n in (10, 11, 12, 13))
    params = (["old"] if kind == "atom" else []) + ["new", "a", "b"] + (["c"] if c else [])
    pointer = {p: f"%rd{i}" for i, p in enumerate(params)}
    body = ["mov.u32 %r0, %tid.x;", f"mul.wide.u32 %rd5, %r0, {size};"]
    for p in params:
        body.append(f"ld.param.u64 {pointer[p]}, [{p}];\nadd.u64 {pointer[p]}, {pointer[p]}, %rd5;")
    body.append(f"mov.u64 %rd6, sh;\nadd.u64 %rd6, %rd6, %rd5;\ncvta.shared.u64 %rd7, %rd6;")
    body.append(f"ld.global.{mem} {ra}, [{pointer['a']}];\nld.global.{mem} {rb}, [{pointer['b']}];")
    if c:
        body.append(f"ld.global.{mem} {rc}, [{pointer['c']}];")
    operands = f"{rb}, {rc}" if c else rb
    for v, (order, space, where) in enumerate(variants):
        cell = {"g": f"[{pointer['new']}+{4 * size * v}]", "s": "[%rd6]", "gs": "[%rd7]"}[where]
        plain = "global" if where == "g" else "shared"
        direct = cell if where != "gs" else "[%rd6]"
        body.append(f"st.{plain}.{mem} {direct}, {ra};")
        dest = f"{rd}, " if kind == "atom" else ""
        body.append(f"{kind}{order}{space}.{word} {dest}{cell}, {operands};")
        if kind == "atom":
            body.append(f"st.global.{mem} [{pointer['old']}+{4 * size * v}], {rd};")
        if where != "g":
            body.append(f"ld.shared.{mem} {rd}, [%rd6];\nst.global.{mem} [{pointer['new']}+{4 * size * v}], {rd};")
    body.append("ret;")
    results = [model(op, ty, *x) for x in (zip(a, b, c) if c else zip(a, b))]
    store = storage(ty)

    def spell(values):
        return [spell_atomic(ty, v) for v in values]

    text = f"// {kind}.{word} by each thread on its own address in every space"
    text += ", with the value it had before" if kind == "atom" else ""
    text += ";\n// then many threads on one address.\n// run: grid=1 block=4 kernel=own\n"
    if kind == "atom":
        text += f"// arg: old {store}[20] = zero\n"
    text += f"// arg: new {store}[20] = zero\n" + note("arg", f"a {store}[4]", spell(a))
    text += note("arg", f"b {store}[4]", spell(b)) + (note("arg", f"c {store}[4]", spell(c)) if c else "")
    if kind == "atom":
        text += note("expect", "old", spell(a) * 5)
    text += note("expect", "new", spell(results) * 5)
    shared_notes, shared_kernel = contended(kind, op, ty, word, mem, size, store, spell)
    text += shared_notes + HEAD
    text += ".visible .entry own(" + ", ".join(f".param .u64 {p}" for p in params) + ")\n{\n" + REGS
    text += f"    .shared .align 8 .b8 sh[{4 * size}];\n" + lines(*body) + "}\n" + shared_kernel
    write(f"atomic/{kind}_{op}_{ty}.ptx", text)


def contended(kind, op, ty, word, mem, size, store, spell):
    """Notes and kernel for 96 threads on one address; the result does not depend on their order."""
    index = """
        mov.u32 %r0, %ctaid.x;
        mov.u32 %r1, %ntid.x;
        mov.u32 %r2, %tid.x;
        mad.lo.u32 %r0, %r0, %r1, %r2;
    """
    value = atomic_register(ty, 10)
    if op == "exch":
        # Old values and the last one are 0..96, each once.
        notes = f"// run: grid=1 block=96 kernel=all\n// arg: acc {store}[1] = 96\n// unordered: acc\n// arg: seen u32[97] = zero\n"
        notes += "// expect: seen = 1 ...\n"
        wide = "cvt.u64.u32 %rd5, %r11;" if size == 4 else "mov.u64 %rd5, %rd11;"
        put = "mov.u32 %r10, %r0;" if size == 4 else "cvt.u64.u32 %rd10, %r0;"
        old = atomic_register(ty, 11)
        body = [index, "ld.param.u64 %rd0, [acc];\nld.param.u64 %rd1, [seen];", put,
                f"atom.global.{word} {old}, [%rd0], {value};", wide,
                "mad.lo.u64 %rd5, %rd5, 4, %rd1;\nred.global.add.u32 [%rd5], 1;\nbar.sync 0;",
                "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra DONE;", f"ld.volatile.global.{mem} {old}, [%rd0];", wide,
                "mad.lo.u64 %rd5, %rd5, 4, %rd1;\nred.global.add.u32 [%rd5], 1;", "DONE:\nret;"]
        return notes, ".visible .entry all(.param .u64 acc, .param .u64 seen)\n{\n" + REGS + lines(*body) + "}\n"
    if op == "cas":
        notes = f"// run: grid=2 block=48 kernel=all\n// arg: acc {store}[1] = zero\n// expect: acc = 96\n"
        n = 8 * size
        r = [atomic_register(ty, i) for i in (10, 11, 12)]
        body = ["ld.param.u64 %rd0, [acc];", f"mov.b{n} {r[0]}, 0;", "AGAIN:", f"add.u{n} {r[1]}, {r[0]}, 1;",
                f"atom.global.cas.b{n} {r[2]}, [%rd0], {r[0]}, {r[1]};", f"setp.ne.b{n} %p0, {r[2]}, {r[0]};",
                f"mov.b{n} {r[0]}, {r[2]};", "@%p0 bra AGAIN;\nret;"]
        return notes, ".visible .entry all(.param .u64 acc)\n{\n" + REGS + lines(*body) + "}\n"
    n = bits_of(ty)
    ones = (1 << n) - 1
    if op in ("inc", "dec"):
        first, values = 0, [40] * 96
    elif ty.endswith("x2"):
        first, values = 0, [pack(ty, 1, 0.5)] * 96
    elif ty in FLOATS:
        first, values = 0, [pack(ty, 1 if n == 16 else i / 4) for i in range(96)]
    elif op in ("min", "max"):
        low = 0 if ty[0] == "u" else 50
        values = [pack(ty, (i * 37 + 11) % 101 - low) for i in range(96)]
        first = values[0]
    elif op == "and":
        first, values = ones, [ones & ~(1 << (i * 5 % (n - 3))) for i in range(96)]
    elif op == "or":
        first, values = 0, [1 << (i * 3 % n) if i % 3 else 0 for i in range(96)]
    else:
        first, values = 0x55, [(0x9E3779B97F4A7C15 * (i + 1)) & ones for i in range(96)]
    final = first
    for v in values:
        final = model(op, ty, final, v)
    notes = f"// run: grid=2 block=48 kernel=all\n// arg: acc {store}[1] = {spell([first])[0]}\n"
    if len(set(values)) == 1:
        notes += f"// arg: b {store}[96] = fill {spell(values[:1])[0]}\n"
    else:
        notes += note("arg", f"b {store}[96]", spell(values))
    notes += f"// expect: acc = {spell([final])[0]}\n"
    body = [index, f"ld.param.u64 %rd0, [acc];\nld.param.u64 %rd1, [b];\nmul.wide.u32 %rd5, %r0, {size};",
            f"add.u64 %rd1, %rd1, %rd5;\nld.global.{mem} {value}, [%rd1];",
            f"{kind}.global.{word} {'_, ' if kind == 'atom' else ''}[%rd0], {value};\nret;"]
    return notes, ".visible .entry all(.param .u64 acc, .param .u64 b)\n{\n" + REGS + lines(*body) + "}\n"


# ---------------------------------------------------------------- shuffles


def shuffle(mode, lane, b, c):
    """Source lane and predicate, as the instruction set manual defines them."""
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    low = lane & segment
    high = low | clamp & ~segment & 31
    if mode == "up":
        source = lane - b
        inside = source >= high
    else:
        source = {"down": lane + b, "bfly": lane ^ b, "idx": low | b & ~segment & 31}[mode]
        inside = source <= high
    return (source if inside else lane), inside


SHUFFLES = {
    "up": [(1, 0), (5, 0), (31, 0), (2, 0x1800), ("lane & 3", 0x1C00), (1, 0x1002), (0, 0)],
    "down": [(1, 31), (5, 31), (31, 31), (3, 0x181F), ("lane & 3", 0x1C1F), (1, 0x1803), (2, 20)],
    "bfly": [(1, 31), (16, 31), (31, 31), (7, 0x181F), ("lane & 3", 0x1C1F), (4, 0x1803), (16, 15)],
    "idx": [(0, 31), (13, 31), (37, 31), (2, 0x181F), ("lane & 3", 0x1C1F), (9, 0x1003), (20, 15)],
}


def shuffle_file(mode, sync):
    cases = SHUFFLES[mode]
    values, inside = [], []
    body = ["""
        mov.u32 %r0, %tid.x;
        ld.param.u64 %rd0, [out];
        ld.param.u64 %rd1, [ok];
        mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd0, %rd0, %rd2;
        add.u64 %rd1, %rd1, %rd2;
        mad.lo.u32 %r1, %r0, 7, 1000;
    """]
    name = f"shfl.sync.{mode}" if sync else f"shfl.{mode}"
    mask = ", 0xffffffff" if sync else ""
    for i, (b, c) in enumerate(cases):
        operand = f"{b}" if isinstance(b, int) else "%r2"
        if not isinstance(b, int):
            body.append("and.b32 %r2, %r0, 3;")
        body.append(f"{name}.b32 %r3|%p1, %r1, {operand}, {c:#x}{mask};")
        if i % 2:
            body.append(f"{name}.b32 %r3, %r1, {operand}, {c:#x}{mask};")
        body.append(f"selp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd0+{128 * i}], %r3;\nst.global.u32 [%rd1+{128 * i}], %r4;")
        for lane in range(32):
            source, good = shuffle(mode, lane, b if isinstance(b, int) else lane & 3, c)
            values.append(source * 7 + 1000)
            inside.append(int(good))
    body.append("ret;")
    text = f"// {name}.b32 in a full warp: clamp and segment bits of c, the predicate, a lane-dependent distance.\n"
    text += f"// run: grid=1 block=32\n// widths: 32\n// arg: out u32[{len(values)}] = zero\n"
    text += f"// arg: ok u32[{len(values)}] = zero\n" + note("expect", "out", values) + note("expect", "ok", inside)
    text += HEAD + ".visible .entry k(.param .u64 out, .param .u64 ok)\n{\n" + REGS + lines(*body) + "}\n"
    write(f"warp/shfl{'_sync' if sync else ''}_{mode}.ptx", text)


def segment_file(name, about, block, widths, prelude, form, mask):
    """All four modes in segments of four lanes: the same at every warp width from four on."""
    cases = [("up", 1, 0x1C00), ("down", 1, 0x1C03), ("bfly", 3, 0x1C03), ("idx", 2, 0x1C03)]
    values = []
    body = ["mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [out];\nmul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd0, %rd0, %rd2;",
            "mad.lo.u32 %r1, %r0, %r0, 5;"] + prelude
    for i, (mode, b, c) in enumerate(cases):
        body.append(f"{form}.{mode}.b32 %r3|%p1, %r1, {b}, {c:#x}{mask};\n@!%p1 add.u32 %r3, %r3, 10000;")
        body.append(f"st.global.u32 [%rd0+{4 * block * i}], %r3;")
        for t in range(block):
            source, good = shuffle(mode, t % 32, b, c)
            source += t - t % 32
            values.append(source * source + 5 + (0 if good else 10000))
    body.append("ret;")
    text = f"// {about}\n// run: grid=1 block={block}\n{widths}// arg: out u32[{len(values)}] = zero\n"
    text += note("expect", "out", values) + HEAD + ".visible .entry k(.param .u64 out)\n{\n" + REGS + lines(*body) + "}\n"
    write(f"warp/{name}.ptx", text)


def main():
    for turn, ty in enumerate(TYPES):
        load_store_file(ty)
        scoped_file(ty, turn)
        vector_file(ty)
    for op, ty in OPERATIONS:
        atomic_file("atom", op, ty)
        if op not in ("exch", "cas"):
            atomic_file("red", op, ty)
    for mode in SHUFFLES:
        shuffle_file(mode, False)
        shuffle_file(mode, True)
    segment_file("shfl_segments_of_four", "shfl in segments of four lanes, the same at every warp width.", 64, "", [],
                 "shfl", "")
    segment_file("shfl_sync_segments_of_four", "shfl.sync in segments of four lanes, the mask being the lanes there are.",
                 64, "", ["activemask.b32 %r5;"], "shfl.sync", ", %r5")
    segment_file("shfl_sync_partial_warp", "shfl.sync in a warp of twenty threads.", 20, "// widths: 32\n", [],
                 "shfl.sync", ", 0x000fffff")


if __name__ == "__main__":
    main()
