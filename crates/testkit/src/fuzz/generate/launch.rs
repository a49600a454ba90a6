//! The launches of a kernel, and its file.

use super::Size;
use super::texture::Object;
use super::writer::{Buffer, Writer};
use crate::rng::Rng;
use std::fmt::Write;

/// Launches of a kernel.
const RUNS: usize = 2;

/// Words of constant memory, a power of two.
pub(super) const CONSTANTS: u32 = 16;

/// Threads of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Threads in x and y.
    pub(super) block: [u32; 2],
    /// Blocks of each launch.
    pub(super) grids: [u32; RUNS],
    /// Whether the kernel has instructions on matrices, so that warps have 32 lanes.
    pub(super) matrices: bool,
}

impl Shape {
    pub(super) fn random(rng: &mut Rng, size: Size, matrices: bool) -> Self {
        let most = match (size, matrices) {
            (Size::Small, _) => 2,
            (Size::Full, true) => 3,
            (Size::Full, false) => 4,
        };
        let block = match rng.below(8) {
            // The last warp has some threads only.
            0 if !matrices => [32 * rng.between(0, most - 1) + rng.between(1, 31), 1],
            1 => [16, 2 * rng.between(1, most)],
            2 if !matrices => [5, rng.between(1, 6 * most)],
            _ => [32 * rng.between(1, most), 1],
        };
        let grids = std::array::from_fn(|_| *rng.pick(&[1, 1, 2, 3]));
        Self { block, grids, matrices }
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        self.block[0] * self.block[1]
    }

    /// Warps of 32 in a block, the last perhaps not full.
    pub(super) fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }
}

/// The kernel file.
pub(super) fn finish(mut writer: Writer, seed: u64) -> String {
    let mut text = format!("// Made from seed {seed}.\n");
    if let Some(how_many) = writer.faults {
        let _ = writeln!(text, "// faults: {how_many}");
    }
    if writer.has_full_warps() {
        text.push_str("// widths: 32\n");
    }
    let mut modes = Rng::new(!seed);
    for n in 0..RUNS {
        run(&mut text, &writer, n, &mut modes);
    }
    text.push_str(".version 8.0\n.target sm_90\n.address_size 64\n");
    text.push_str(&std::mem::take(&mut writer.module));
    for object in writer.objects.iter().filter(|o| o.is_variable) {
        let _ = writeln!(text, ".global .{} {};", if object.is_surface { "surfref" } else { "texref" }, object.name);
    }
    if writer.has_key() {
        let words: Vec<String> = (0..CONSTANTS).map(|_| modes.next_u32().to_string()).collect();
        let _ = writeln!(text, ".const .b32 table[{CONSTANTS}] = {{{}}};", words.join(", "));
    }
    text.push_str(".visible .entry k(\n    .param .u64 out\n");
    let handles = writer.objects.iter().filter(|o| !o.is_variable).map(|o| o.name.as_str());
    for name in writer.buffers.iter().map(|b| b.name()).chain(handles) {
        let _ = writeln!(text, "    , .param .u64 {name}");
    }
    text.push_str(")\n{\n");
    text.push_str(&writer.registers.declarations());
    text.push_str("    .reg .b32 %h, %t, %c, %g, %w, %x;\n    .reg .b64 %out;\n");
    for buffer in &writer.buffers {
        let _ = writeln!(text, "    .reg .b64 %{};", buffer.name());
    }
    if writer.most_shared > 0 {
        let _ = writeln!(text, "    .shared .align 128 .b8 pool[{}];", writer.most_shared);
    }
    begin(&mut text, &writer);
    if writer.has_key() {
        key(&mut text, modes.next_u32());
    }
    text.push_str(&writer.body);
    text.push_str("    st.global.b32 [%out], %h;\n    ret;\n}\n");
    text
}

/// What every thread begins with.
fn begin(text: &mut String, writer: &Writer) {
    let [x, y] = writer.shape.block;
    text.push_str("    mov.u32 %t, %tid.x;\n");
    if y > 1 {
        let _ = writeln!(text, "    mov.u32 %x, %tid.y;\n    mad.lo.u32 %t, %x, {x}, %t;");
    }
    let _ = writeln!(text, "    mov.u32 %c, %ctaid.x;\n    mad.lo.u32 %g, %c, {}, %t;", x * y);
    text.push_str("    shr.u32 %w, %t, 5;\n    ld.param.u64 %out, [out];\n    mad.wide.u32 %out, %g, 4, %out;\n");
    for buffer in &writer.buffers {
        let _ = writeln!(text, "    ld.param.u64 %{0}, [{0}];", buffer.name());
    }
    text.push_str("    ld.global.b32 %h, [%out];\n    mad.lo.u32 %h, %h, 0x9e3779b1, %g;\n");
}

/// The key of a thread: made of its number, the number of blocks, and nothing that is loaded.
fn key(text: &mut String, seed: u32) {
    text.push_str("    .reg .b32 %k;\n    mov.u32 %x, %nctaid.x;\n    mad.lo.u32 %k, %x, 0x85ebca6b, %g;\n");
    let _ = writeln!(text, "    mad.lo.u32 %k, %k, 0x9e3779b1, {seed};");
    text.push_str("    shr.u32 %x, %k, 15;\n    xor.b32 %k, %k, %x;\n");
}

/// The lines of a launch.
fn run(text: &mut String, writer: &Writer, n: usize, modes: &mut Rng) {
    let shape = &writer.shape;
    let [x, y] = shape.block;
    let threads = shape.grids[n] * shape.threads();
    let _ = writeln!(text, "// run: grid={} block={x},{y}", shape.grids[n]);
    let mut seed = || modes.next_u32();
    let _ = writeln!(text, "// arg: out b32[{threads}] = random {}", seed());
    for buffer in &writer.buffers {
        let (ty, count) = match buffer {
            Buffer::Words => ("b32", 640),
            Buffer::Halves => ("f16", 1024),
            Buffer::Floats => ("f32", 640),
            Buffer::Doubles => ("f64", 128),
            Buffer::Work => ("b32", 16 * threads),
            Buffer::Plane => ("b32", 16 * threads),
            Buffer::Tiles => ("b32", 512 * shape.warps() * shape.grids[n]),
        };
        let _ = writeln!(text, "// arg: {} {ty}[{count}] = random {}", buffer.name(), seed());
    }
    let (handles, variables): (Vec<&Object>, Vec<&Object>) = writer.objects.iter().partition(|o| !o.is_variable);
    for object in handles {
        let what = if object.is_surface { "surface" } else { "texture" };
        let _ = writeln!(text, "// arg: {} {what} {}", object.name, object.view(modes, threads));
    }
    for object in variables {
        let _ = writeln!(text, "// bind: {} {}", object.name, object.view(modes, threads));
    }
}
