#!/usr/bin/env python3
"""Writes the tests of texture geometries and of surfaces.

Run it without arguments; it overwrites the files it is responsible for, next to this folder. The expected values come
from the small models below, not from the simulator: all numbers are chosen so that they are exact.
"""

import math
import struct
from fractions import Fraction

from common import HEAD, note, write

PARTS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
TYPES = {"f32": "f32", "u32": "u8", "s32": "s16"}


def f32(value):
    return "0f" + struct.pack(">f", float(value)).hex().upper()


def number(value):
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


# ---- Textures ------------------------------------------------------------------------------------------------------


class Texture:
    """Texels in planes of rows, with a sampler."""

    def __init__(self, size, texels, channels=1, address=("clamp",) * 3, linear=False, normalized=False):
        self.size, self.texels, self.channels = size, texels, channels
        self.address, self.linear, self.normalized = address, linear, normalized

    def texel(self, at):
        if None in at:
            return [Fraction(0)] * 4
        x, y, z = at
        first = ((z * self.size[1] + y) * self.size[0] + x) * self.channels
        values = [Fraction(v) for v in self.texels[first : first + self.channels]]
        return values + [Fraction(0), Fraction(0), Fraction(0), Fraction(1)][len(values) :]

    def inside(self, axis, i):
        size, mode = self.size[axis], self.address[axis]
        if 0 <= i < size:
            return i
        if mode == "border":
            return None
        if mode == "wrap" and self.normalized:
            return i % size
        if mode == "mirror" and self.normalized:
            return min(i % (2 * size), 2 * size - 1 - i % (2 * size))
        return max(0, min(size - 1, i))

    def around(self, axis, value, linear):
        """The texels around a coordinate, with their shares."""
        if isinstance(value, int):
            return [(self.inside(axis, value), Fraction(1))]
        place = value * self.size[axis] if self.normalized else value
        if not linear:
            return [(self.inside(axis, math.floor(place)), Fraction(1))]
        place -= Fraction(1, 2)
        first = math.floor(place)
        share = Fraction(round((place - first) * 256), 256)
        return [(self.inside(axis, first), 1 - share), (self.inside(axis, first + 1), share)]

    def axes(self, geometry, coords, linear):
        one = [(0, Fraction(1))]
        if geometry in ("cube", "acube"):
            cube, direction = (0, coords) if geometry == "cube" else (coords[0], coords[1:])
            face, s, t = on_cube(direction)
            clamped = Texture(self.size, self.texels, self.channels, normalized=True)
            rows = [clamped.around(0, s, linear), clamped.around(1, t, linear)]
            return rows + [[(min(cube * 6 + face, self.size[2] - 1), Fraction(1))]]
        if geometry in ("a1d", "a2d"):
            layer = [(max(0, min(self.size[2] - 1, coords[0] % 2**32)), Fraction(1))]
            rows = [self.around(i, v, linear) for i, v in enumerate(coords[1:])]
            return rows + [one] * (2 - len(rows)) + [layer]
        rows = [self.around(i, v, linear) for i, v in enumerate(coords)]
        return rows + [one] * (3 - len(rows))

    def fetch(self, geometry, coords, fractions):
        x, y, z = self.axes(geometry, coords, self.linear and fractions)
        total = [Fraction(0)] * 4
        for k, c in z:
            for j, b in y:
                for i, a in x:
                    texel = self.texel((i, j, k)) if a * b * c else [0] * 4
                    total = [t + a * b * c * v for t, v in zip(total, texel)]
        return total

    def gather(self, geometry, coords, component):
        (x0, x1), (y0, y1), z = ([i for i, _ in axis] for axis in self.axes(geometry, coords, True))
        corners = [(x0, y1), (x1, y1), (x1, y0), (x0, y0)]
        return [self.texel((i, j, z[0]))[component] for i, j in corners]


def on_cube(direction):
    x, y, z = direction
    faces = [(x, -z, -y), (-x, z, -y), (y, x, z), (-y, x, -z), (z, x, -y), (-z, -x, -y)]
    number = max(range(6), key=lambda f: (faces[f][0], -f))
    along, s, t = faces[number]
    return number, (s / along + 1) / 2, (t / along + 1) / 2


def spelt(geometry, coords):
    """Coordinates as an instruction has them."""
    words = [str(c) if isinstance(c, int) else f32(c) for c in coords]
    while len(words) == 3:
        words.append(words[-1])
    return "{" + ", ".join(words) + "}"


class File:
    """A kernel that fetches and stores what it gets, four numbers a fetch."""

    def __init__(self, about, kind):
        self.about, self.kind, self.body, self.wanted, self.args = about, kind, [], [], []

    def texture(self, name, texture, ty, settings):
        """A view of a buffer of its own, with gaps between rows and planes."""
        each = {"u8": 1, "s16": 2, "f32": 4}[ty] * texture.channels
        gap = 4 if texture.size[1] > 1 else 0
        width, height, depth = texture.size
        row = width * texture.channels
        holes = [99] * (gap * texture.channels)
        buffer = []
        for plane in range(depth):
            for line in range(height):
                start = (plane * height + line) * row
                buffer += list(texture.texels[start : start + row]) + holes
            buffer += [77] * row
        pitch, stride = (width + gap) * each, (width + gap) * each * height + width * each
        self.args.append(note("arg", f"{name}_data {ty}[{len(buffer)}]", buffer))
        form = ty if texture.channels == 1 else f"{ty}x{texture.channels}"
        about = f"{width}x{height}x{depth} {form} pitch={pitch} plane={stride} {settings}"
        self.args.append(f"// arg: {name} texture {name}_data {about}\n")
        self.body.append(f"ld.param.u64 %rd1, [{name}];")

    def instruction(self, text, wanted):
        registers = "{%f0, %f1, %f2, %f3}" if self.kind == "f32" else "{%r0, %r1, %r2, %r3}"
        self.body.append(text.replace("@", registers))
        letter = "f" if self.kind == "f32" else "r"
        for i, value in enumerate(wanted):
            self.body.append(f"st.global.b32 [%rd0+{4 * len(self.wanted)}], %{letter}{i};")
            self.wanted.append(number(value))

    def write(self, name):
        buffers = [a.split()[2] for a in self.args]
        kind = {"f32": "f32", "u32": "u32", "s32": "s32"}[self.kind]
        text = "".join(f"// {line}\n" for line in self.about.splitlines()) + "// run: grid=1 block=1\n"
        text += f"// arg: out {kind}[{len(self.wanted)}] = zero\n" + "".join(self.args)
        text += note("expect", "out", self.wanted) + HEAD
        params = ", ".join(f".param .u64 {p}" for p in ["out"] + buffers)
        text += f".visible .entry k({params})\n{{\n    .reg .b32 %r<5>;\n    .reg .f32 %f<5>;\n    .reg .b64 %rd<2>;\n"
        text += "    ld.param.u64 %rd0, [out];\n" + "".join(f"    {line}\n" for line in self.body) + "    ret;\n}\n"
        write(name, text)


def ramp(size, channels, kind):
    count = size[0] * size[1] * size[2] * channels
    sign = -1 if kind == "s32" else 1
    return [sign * (3 * i + 1) if kind != "u32" else (7 * i + 1) % 200 for i in range(count)]


def sizes(geometry):
    return {
        "1d": (8, 1, 1),
        "2d": (4, 3, 1),
        "3d": (4, 3, 2),
        "a1d": (4, 1, 3),
        "a2d": (4, 3, 3),
        "cube": (4, 4, 6),
        "acube": (2, 2, 12),
    }[geometry]


def places(geometry, whole):
    """Coordinates in the texture and outside."""
    if geometry in ("cube", "acube"):
        q = Fraction(1, 4)
        around = [(1, q, -q), (-2, q, 1), (q, 1, q), (q, -2, -1), (-q, q, 1), (q, q, -1), (1, 1, 1)]
        directions = [tuple(Fraction(v) for v in d) for d in around]
        return directions if geometry == "cube" else [(i % 3,) + d for i, d in enumerate(directions)]
    values = [0, 1, 3, -2, 9] if whole else [Fraction(n, 8) for n in (4, 13, 21, -9, 80)]
    parts = PARTS[geometry]
    coords = [tuple(values[(i + j) % 5] for j in range(parts)) for i in range(5)]
    return [(i % 5,) + c for i, c in enumerate(coords)] if geometry.startswith("a") else coords


def geometries():
    """Every geometry with every type of texels and of coordinates, and at level 0 of those with levels."""
    for geometry in PARTS:
        for kind, ty in TYPES.items():
            file = File(f"tex.{geometry} of {ty} texels, with whole and other coordinates, of level 0 too.", kind)
            size, channels = sizes(geometry), {"f32": 1, "u32": 4, "s32": 2}[kind]
            for name, linear in [("t", False)] + [("u", True)] * (kind == "f32"):
                texture = Texture(size, ramp(size, channels, kind), channels, linear=linear)
                file.texture(name, texture, ty, "filter=linear" if linear else "filter=point")
                for by in ["f32"] if geometry.endswith("cube") else ["s32", "f32"]:
                    for at in places(geometry, by == "s32"):
                        wanted = texture.fetch(geometry, at, kind == "f32")
                        file.instruction(f"tex.{geometry}.v4.{kind}.{by} @, [%rd1, {spelt(geometry, at)}];", wanted)
            at = places(geometry, False)[1]
            wanted, coords = texture.fetch(geometry, at, kind == "f32"), spelt(geometry, at)
            file.instruction(f"tex.level.{geometry}.v4.{kind}.f32 @, [%rd1, {coords}], 0f00000000;", wanted)
            steps = "{" + ", ".join(["0f00000000"] * {3: 4}.get(PARTS[geometry], PARTS[geometry])) + "}"
            file.instruction(f"tex.grad.{geometry}.v4.{kind}.f32 @, [%rd1, {coords}], {steps}, {steps};", wanted)
            file.write(f"texture/view_{geometry}_{ty}.ptx")


def gathers():
    for geometry in ["2d", "a2d", "cube", "acube"]:
        for kind, ty in TYPES.items():
            file = File(f"tld4.{geometry} of every component of {ty} texels.", kind)
            size = sizes(geometry)
            texture = Texture(size, ramp(size, 4, kind), 4)
            file.texture("t", texture, ty, "filter=point")
            for component, word in enumerate("rgba"):
                for at in places(geometry, False)[:3]:
                    wanted = texture.gather(geometry, at, component)
                    words = f"tld4.{word}.{geometry}.v4.{kind}.f32"
                    file.instruction(f"{words} @, [%rd1, {spelt(geometry, at)}];", wanted)
            file.write(f"texture/gather_{geometry}_{ty}.ptx")


def samplers():
    """A mode of its own in every direction, normalised or not."""
    size = (4, 2, 2)
    texels = ramp(size, 1, "f32")
    for normalized in (False, True):
        file = File("A volume with an address mode of its own in every direction.", "f32")
        for name, linear, modes in [
            ("t", False, ("wrap", "mirror", "border")),
            ("u", True, ("border", "wrap", "mirror")),
            ("v", True, ("mirror", "border", "wrap")),
        ]:
            texture = Texture(size, texels, 1, modes, linear, normalized)
            settings = f"address={','.join(modes)} filter={'linear' if linear else 'point'} normalized={int(normalized)}"
            file.texture(name, texture, "f32", settings)
            for n in range(-5, 9):
                at = tuple(Fraction(v, 8 if normalized else 2) for v in (2 * n + 1, 3 * n - 2, 5 - 2 * n))
                wanted = texture.fetch("3d", at, True)
                file.instruction(f"tex.3d.v4.f32.f32 @, [%rd1, {spelt('3d', at)}];", wanted)
        file.write(f"texture/view_modes{'_normalised' if normalized else ''}.ptx")


def fractions():
    """Integers of 8 and 16 bits as fractions of the largest, half precision as single."""
    text = "// Channels of 8 and 16 bits read as single precision.\n// run: grid=1 block=1\n"
    wanted, body = [], []
    cases = [
        ("u8", [0, 255, 51, 85], [0, 255, 51, 85], 255),
        ("s8", [127, -127, -128, 0], [127, -127, -127, 0], 127),
        ("u16", [65535, 0, 13107, 21845], [65535, 0, 13107, 21845], 65535),
        ("s16", [32767, -32767, -32768, 0], [32767, -32767, -32767, 0], 32767),
        ("f16", ["0x3c00", "0xc000", "0x0001", "0x7bff"], [1, -2, Fraction(1, 2**24), 65504], 1),
    ]
    args, params = [], ["out"]
    for ty, values, numbers, largest in cases:
        args.append(note("arg", f"{ty}_data {ty}[4]", values))
        args.append(f"// arg: {ty} texture {ty}_data 1x1 {ty}x4\n")
        params += [f"{ty}_data", ty]
        body.append(f"ld.param.u64 %rd1, [{ty}];")
        body.append("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {0}];")
        for i, value in enumerate(numbers):
            body.append(f"st.global.f32 [%rd0+{4 * len(wanted)}], %f{i};")
            wanted.append(f32(struct.unpack("f", struct.pack("f", value / largest))[0]))
    text += f"// arg: out f32[{len(wanted)}] = zero\n" + "".join(args) + note("expect", "out", wanted) + HEAD
    text += f".visible .entry k({', '.join('.param .u64 ' + p for p in params)})\n{{\n"
    text += "    .reg .f32 %f<4>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd0, [out];\n"
    text += "".join(f"    {line}\n" for line in body) + "    ret;\n}\n"
    write("texture/view_fractions.ptx", text)


# ---- Surfaces ------------------------------------------------------------------------------------------------------

SURFACE = {"1d": (8, 1, 1), "2d": (8, 3, 1), "3d": (8, 2, 2), "a1d": (8, 1, 3), "a2d": (8, 2, 2)}
PITCH = 48  # Bytes from row to row; a row has 32.


def surface_place(geometry, at, size, mode):
    """The byte of an access, or none."""
    width, height, depth = SURFACE[geometry]
    x, y, z = {
        "1d": lambda: (at[0], 0, 0),
        "2d": lambda: (at[0], at[1], 0),
        "3d": lambda: at,
        "a1d": lambda: (at[1], 0, at[0]),
        "a2d": lambda: (at[1], at[2], at[0]),
    }[geometry]()
    inside = 0 <= x <= width * 4 - size and 0 <= y < height and 0 <= z < depth
    if mode == "clamp":
        x, y, z = max(0, min(width * 4 - size, x)), max(0, min(height - 1, y)), max(0, min(depth - 1, z))
    elif not inside:
        return None
    return (z * height + y) * PITCH + x


def surfaces():
    for geometry in SURFACE:
        for mode in ["trap", "clamp", "zero"]:
            surface_file(geometry, mode)


def surface_file(geometry, mode):
    width, height, depth = SURFACE[geometry]
    memory = [(11 * i + 5) % 256 for i in range(PITCH * height * depth)]
    before, out, body = list(memory), [], []
    where, given = [0, 16], {"trap": [], "clamp": [-16, 96], "zero": [-16, 96]}[mode]
    hints = {"ld": ["", ".ca", ".cg", ".cs", ".cv"], "st": ["", ".wb", ".cg", ".cs", ".wt"]}
    turn = 0
    for count in (1, 2, 4):
        for bits in (8, 16, 32, 64):
            if count == 4 and bits == 64:
                continue
            size, vector = count * bits // 8, "" if count == 1 else f".v{count}"
            letter = {8: "h", 16: "h", 32: "r", 64: "d"}[bits]
            for store in (False, True):
                xs = given + where
                x = xs[turn % len(xs)]
                more = [turn % n for n in (height, depth)] if mode == "trap" else [turn % 5 - 1, turn % 4 - 1]
                at = {
                    "1d": (x,),
                    "2d": (x, more[0]),
                    "3d": (x, more[0], more[1]),
                    "a1d": (more[1], x),
                    "a2d": (more[1], x, more[0]),
                }[geometry]
                place = surface_place(geometry, at, size, mode)
                # Another start in every file, so that each hint comes with each vector.
                hint = hints["st" if store else "ld"][(turn + 2 * list(SURFACE).index(geometry)) % 5]
                words = f"su{'st' if store else 'ld'}.b.{geometry}{hint}{vector}.b{bits}.{mode}"
                registers = [f"%{letter}{i}" for i in range(count)]
                operand = registers[0] if count == 1 else "{" + ", ".join(registers) + "}"
                surface = f"[%rd1, {spelt(geometry, at)}]"
                if store:
                    values = [(0x0123456789ABCDEF * (turn + i + 1)) % 2**bits for i in range(count)]
                    for register, value in zip(registers, values):
                        body.append(f"mov.b{max(bits, 16)} {register}, {value:#x};")
                    body.append(f"{words} {surface}, {operand};")
                    data = b"".join(v.to_bytes(bits // 8, "little") for v in values)
                    if place is not None:
                        memory[place : place + size] = data
                else:
                    body.append(f"{words} {operand}, {surface};")
                    for i, register in enumerate(registers):
                        start = None if place is None else place + i * bits // 8
                        piece = bytes(bits // 8) if start is None else bytes(memory[start : start + bits // 8])
                        body.append(f"st.global.b{max(bits, 16)} [%rd0+{8 * len(out)}], {register};")
                        out.append(int.from_bytes(piece, "little"))
                turn += 1
    text = f"// suld.b and sust.b of every width on a surface of geometry {geometry}, bounds {mode}.\n"
    text += "// run: grid=1 block=1\n"
    text += f"// arg: out u64[{len(out)}] = zero\n" + note("arg", f"data u8[{len(before)}]", before)
    text += f"// arg: s surface data {width}x{height}x{depth} f32 pitch={PITCH}\n"
    text += note("expect", "out", [hex(v) for v in out]) + note("expect", "data", memory) + HEAD
    text += ".visible .entry k(.param .u64 out, .param .u64 data, .param .u64 s)\n{\n"
    text += "    .reg .b16 %h<4>;\n    .reg .b32 %r<4>;\n    .reg .b64 %d<4>;\n    .reg .b64 %rd<2>;\n"
    text += "    ld.param.u64 %rd0, [out];\n    ld.param.u64 %rd1, [s];\n"
    text += "".join(f"    {line}\n" for line in body) + "    ret;\n}\n"
    write(f"surface/{geometry}_{mode}.ptx", text)


geometries()
gathers()
samplers()
fractions()
surfaces()
