#!/usr/bin/env python3
"""Writes the test of accesses with a cache policy, which copy what accesses without one copy.

Run it without arguments.
"""

from itertools import product

from common import HEAD, note, write
from memory import REGS, TYPES, bits_of, lines, register

PRIORITIES = [f"L1::{what}" for what in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")]
PREFETCHES = ["L2::64B", "L2::128B", "L2::256B"]
SCOPES = ["cta", "cluster", "gpu", "sys"]
HINT = "L2::cache_hint"

#: Bytes between the values of two accesses.
STEP = 16


def accesses(name, orders, operators, ways):
    """Words before and after the hint: for every type and order, and with each word that may be absent."""
    for ty in TYPES:
        for before in ways:
            yield f"{name}{before}.global", "", ty
        for order, scope in product(orders, SCOPES):
            yield f"{name}.{order}.{scope}.global", "", ty
    ordered = f"{name}.{orders[0]}.gpu"
    yield ordered, "", "u32"
    yield f"{name}.weak", "", "u32"
    for head in (f"{name}.global", f"{name}.global.{operators[0]}", f"{ordered}.global"):
        for priority in PRIORITIES:
            yield f"{head}.{priority}", "", "u32"
    for operator in operators:
        yield f"{name}.global.{operator}", "", "u32"
    for head, vector in product((f"{name}.global", f"{ordered}.global"), (".v2", ".v4")):
        yield head, vector, "u32"


def loads():
    yield from accesses("ld", ("relaxed", "acquire"), ("ca", "cg", "cs"), ("", ".nc"))
    for head in ("ld.global", "ld.relaxed.gpu.global", "ld.global.nc"):
        for prefetch in PREFETCHES:
            yield head, f".{prefetch}", "u32"
    for operator in ("ca", "cg", "cs"):
        yield f"ld.global.{operator}.nc", "", "u32"
    for priority in PRIORITIES:
        yield f"ld.global.nc.{priority}", "", "u32"
    for vector in (".v2", ".v4"):
        yield "ld.global.nc", vector, "u32"


def stores():
    return accesses("st", ("relaxed", "release"), ("wb", "cg", "cs", "wt"), ("",))


def registers(after, ty):
    count = int(after[-1]) if after[:2] == ".v" else 1
    names = [register(ty, 10 + n) for n in range(count)]
    return count, names[0] if count == 1 else "{" + ", ".join(names) + "}"


def main():
    body = ["ld.param.u64 %rd0, [out];", "ld.param.u64 %rd1, [in];"]
    second = ("", ".L2::evict_first", ".L2::evict_unchanged")
    for first in ("evict_last", "evict_normal", "evict_first", "evict_unchanged"):
        body += [f"createpolicy.fractional.L2::{first}{also}.b64 %rd2, 0.5;" for also in second]
    body.append("createpolicy.fractional.L2::evict_last.b64 %rd3;")
    copied = []

    def copy(ty, after, load, store):
        count, there = registers(after, ty)
        at = STEP * len(copied)
        (load, load_policy), (store, store_policy) = load, store
        body.append(f"{load}.{ty} {there}, [%rd1+{at}]{load_policy};")
        body.append(f"{store}.{ty} [%rd0+{at}], {there}{store_policy};")
        copied.append(bits_of(ty) // 8 * count)

    # The other access of each pair has no policy.
    for head, after, ty in loads():
        vector = after if after[:2] == ".v" else ""
        copy(ty, after, (f"{head}.{HINT}{after}", ", %rd2"), (f"st.global{vector}", ""))
    for head, after, ty in stores():
        copy(ty, after, (f"ld.global{after}", ""), (f"{head}.{HINT}{after}", ", %rd3"))
    body.append("ret;")
    words = [(0x8123456789ABCDEF * (2 * n + 1)) % 2**64 for n in range(2 * len(copied))]
    expected = []
    for n, size in enumerate(copied):
        both = (words[2 * n] | words[2 * n + 1] << 64) % 2 ** (8 * size)
        expected += [both % 2**64, both >> 64]
    text = "// Accesses with a cache policy copy what accesses without one do.\n// run: grid=1 block=1\n"
    text += f"// arg: out u64[{len(words)}] = zero\n" + note("arg", f"in u64[{len(words)}]", map(hex, words))
    text += note("expect", "out", map(hex, expected))
    text += HEAD + ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" + REGS + lines(*body) + "}\n"
    write("memory/cache_policies.ptx", text)


if __name__ == "__main__":
    main()
