"""Asynchronous copies from global to shared memory: every word, every size, parts of a copy and copies that are left out."""

from common import HEAD, note, write

SPACES = ("shared", "shared::cta")
HINTS = ("", ".L2::64B", ".L2::128B", ".L2::256B")
# What shared memory holds before a copy, as a byte.
BEFORE = 0xAB


def source(n):
    """Byte `n` of the buffer that is copied from."""
    return (n * 37 + 11) & 0xFF


def forms():
    """Every form: cache operator, space, hint, bytes, and how much of them is read: all, a number, or a predicate."""
    turn = 0
    for operator, sizes in (("ca", (4, 8, 16)), ("cg", (16,))):
        for space in SPACES:
            for hint in HINTS:
                for size in sizes:
                    turn += 1
                    parts = [None, ("bytes", turn % (size + 3)), ("skip", turn % 2 == 0), ("keep", turn % 2 == 0)]
                    for part in parts:
                        yield f"cp.async.{operator}.{space}.global{hint}", size, part


def copied(size, part, at):
    """The bytes that a copy leaves in shared memory."""
    read = size
    if part and part[0] == "bytes":
        read = min(part[1], size)
    elif part and part[0] == "skip":
        read = 0 if part[1] else size
    elif part:
        read = size if part[1] else 0
    return [source(at + n) if n < read else 0 for n in range(size)]


def words_of(data):
    return [hex(int.from_bytes(bytes(data[n:n + 4]), "little")) for n in range(0, len(data), 4)]


def main():
    cases = list(forms())
    body, wanted = [], []
    for number, (name, size, part) in enumerate(cases):
        at = 16 * number % 1024
        body += [f"st.shared.v4.b32 [tile], {{%r1, %r1, %r1, %r1}};"]
        if part is None:
            more = ""
        elif part[0] == "bytes":
            # A constant or a register.
            more = f", {part[1]}"
            if number % 2:
                body.append(f"mov.u32 %r2, {part[1]};")
                more = ", %r2"
        else:
            body.append(f"setp.eq.u32 %p1, %r3, {0 if part[1] else 1};")
            more = ", %p1" if part[0] == "skip" else ", !%p1"
        body.append(f"{name} [tile], [%rd1+{at}], {size}{more};")
        body.append(("cp.async.wait_all;", "cp.async.commit_group;\ncp.async.wait_group 0;")[number % 2])
        body.append("ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [tile];")
        body.append(f"st.global.v4.b32 [%rd0+{16 * number}], {{%r4, %r5, %r6, %r7}};")
        data = copied(size, part, at)
        wanted += words_of(data + [BEFORE] * (16 - size))
    data = words_of([source(n) for n in range(1024 + 16)])
    text = "// cp.async copies 4, 8 or 16 bytes, of which the first ones, all or none come from global memory.\n"
    text += f"// run: grid=1 block=1\n// arg: out b32[{len(wanted)}] = zero\n"
    text += note("arg", f"in b32[{len(data)}]", data) + note("expect", "out", wanted) + HEAD
    text += ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
    text += "    .reg .b32 %r<8>;\n    .reg .b64 %rd<2>;\n    .reg .pred %p<2>;\n    .shared .align 16 .b8 tile[16];\n"
    first = ["ld.param.u64 %rd0, [out];", "ld.param.u64 %rd1, [in];", f"mov.u32 %r1, {BEFORE * 0x01010101:#x};",
             "mov.u32 %r3, %tid.x;"]
    text += "".join(f"    {line}\n" for part in first + body for line in part.split("\n")) + "    ret;\n}\n"
    write("memory/cp_async.ptx", text)


if __name__ == "__main__":
    main()
