//! Textures of every kind, and fetches from them at random places.

use super::words;
use super::writer::{Buffer, Writer};
use crate::rng::Rng;
use raddle_ptx::isa::{Opcode, Word};

/// A texture or surface. What it is like differs from launch to launch.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) name: String,
    /// Bound to a variable; else a kernel gets its handle.
    pub(super) is_variable: bool,
    pub(super) is_surface: bool,
    /// The buffer behind it, and what its channels can be.
    pub(super) buffer: Buffer,
    /// Whether kernels store to it.
    pub(super) is_written: bool,
}

/// Textures of a kernel at most.
const MOST: usize = 3;

/// Bytes of a texture at most: those of the smallest buffer behind one.
const BYTES: u32 = 2048;

impl Object {
    /// The buffer, the size, the format and the settings, for a launch with so many threads.
    pub(super) fn view(&self, rng: &mut Rng, threads: u32) -> String {
        let buffer = self.buffer.name();
        if self.is_written {
            // A row of 16 bytes for every thread, two rows, two planes.
            return format!("{buffer} {}x2x2 u8", 16 * threads);
        }
        let formats: &[(&str, u32)] = match self.buffer {
            Buffer::Halves => &[("f16", 2)],
            Buffer::Floats => &[("f32", 4)],
            _ => &[("u8", 1), ("s8", 1), ("u16", 2), ("s16", 2), ("u32", 4), ("s32", 4)],
        };
        let ((format, bytes), channels) = (*rng.pick(formats), *rng.pick(&[1, 2, 4]));
        let texel = bytes * channels;
        if self.is_surface {
            return format!("{buffer} {}x{}x{} {format}x{channels}", 64 / texel, rng.between(1, 4), rng.between(1, 7));
        }
        let [width, height] = [rng.between(1, 8), rng.between(1, 5)];
        let pitch = texel * (width + rng.below(3));
        let depth = rng.between(1, 13).min(BYTES / (pitch * height)).max(1);
        let filter = *rng.pick(&["point", "linear"]);
        let mode = |rng: &mut Rng| *rng.pick(&["clamp", "wrap", "mirror", "border"]);
        let address = match rng.below(2) {
            0 => mode(rng).to_owned(),
            _ => format!("{},{},{}", mode(rng), mode(rng), mode(rng)),
        };
        let (normalized, border) = (rng.below(2), rng.below(3));
        format!(
            "{buffer} {width}x{height}x{depth} {format}x{channels} pitch={pitch} filter={filter} address={address} \
             normalized={normalized} border={border}"
        )
    }
}

/// One of the kernel's textures, or surfaces that are never stored to; as it is written in an instruction.
pub(super) fn object(writer: &mut Writer, is_surface: bool) -> String {
    let known: Vec<usize> = (0..writer.objects.len())
        .filter(|n| writer.objects[*n].is_surface == is_surface && !writer.objects[*n].is_written)
        .collect();
    let at = if known.len() < MOST && (known.is_empty() || writer.rng.one_in(2)) {
        let buffer = *writer.rng.pick(&[Buffer::Words, Buffer::Halves, Buffer::Floats]);
        let name = format!("{}{}", if is_surface { "s" } else { "t" }, writer.objects.len());
        let is_variable = writer.rng.one_in(2);
        writer.buffer(buffer);
        writer.objects.push(Object { name, is_variable, is_surface, buffer, is_written: false });
        writer.objects.len() - 1
    } else {
        *writer.rng.pick(&known)
    };
    named(writer, at)
}

/// An object as it stands in an instruction.
pub(super) fn named(writer: &mut Writer, at: usize) -> String {
    let Object { name, is_variable, .. } = writer.objects[at].clone();
    if is_variable {
        return name;
    }
    let d = writer.d();
    writer.line(&format!("ld.param.u64 {d}, [{name}];"));
    d
}

/// A fetch, a gather or a query.
pub(super) fn emit(writer: &mut Writer) {
    let opcode = match writer.rng.below(8) {
        0 => Opcode::Txq,
        1 | 2 => Opcode::Tld4,
        _ => Opcode::Tex,
    };
    let words = words::random(opcode, &mut writer.rng);
    let name = words::mnemonic(opcode, &words);
    let texture = object(writer, false);
    if opcode == Opcode::Txq {
        let r = writer.r();
        writer.line(&format!("{name} {r}, [{texture}];"));
        writer.fold(&r);
        return;
    }
    let is_float = words.last() == Some(&Word::F32);
    let coords = coordinates(writer, &words, is_float);
    let float = words[words.len() - 2] == Word::F32;
    let mut into: Vec<String> = (0..4).map(|_| if float { writer.f() } else { writer.r() }).collect();
    let more = match &words[..] {
        [Word::Level, ..] => format!(", {}", place(writer)),
        [Word::Grad, rest @ ..] => format!(", {}, {}", gradient(writer, rest), gradient(writer, rest)),
        _ => String::new(),
    };
    writer.overwrite(&mut into, &format!("{coords}{more}"), false);
    writer.line(&format!("{name} {{{}}}, [{texture}, {coords}]{more};", into.join(", ")));
    for register in &into {
        writer.fold_any(register);
    }
}

fn coordinates(writer: &mut Writer, words: &[Word], is_float: bool) -> String {
    let has = |word| words.contains(&word);
    let (layers, places) = match () {
        () if has(Word::D1) => (0, 1),
        () if has(Word::D2) => (0, 2),
        () if has(Word::A1d) => (1, 1),
        () if has(Word::A2d) => (1, 2),
        () if has(Word::Acube) => (1, 3),
        () => (0, 3),
    };
    let mut all = Vec::new();
    if layers == 1 {
        all.push(writer.bits(7));
    }
    for _ in 0..places {
        all.push(if is_float { place(writer) } else { texel(writer) });
    }
    // Three coordinates stand in a vector of four.
    if all.len() == 3 {
        all.push(all[2].clone());
    }
    if all.len() == 1 && writer.rng.one_in(2) { all.remove(0) } else { format!("{{{}}}", all.join(", ")) }
}

/// The number of a texel, which may be outside.
pub(super) fn texel(writer: &mut Writer) -> String {
    let r = writer.bits(15);
    writer.line(&format!("sub.u32 {r}, {r}, 4;"));
    r
}

/// A place between texels, which may be outside; seldom anything.
fn place(writer: &mut Writer) -> String {
    if writer.rng.one_in(16) {
        return writer.value_of(writer.chooser(), 'f');
    }
    // In parts of a texel, or of the texture.
    let (scale, from) = *writer.rng.pick(&[("0f3D800000", "0fC0800000"), ("0f3C800000", "0fBFC00000")]);
    let (r, f) = (writer.bits(255), writer.f());
    writer.line(&format!("cvt.rn.f32.u32 {f}, {r};"));
    writer.line(&format!("fma.rn.f32 {f}, {f}, {scale}, {from};"));
    f
}

fn gradient(writer: &mut Writer, words: &[Word]) -> String {
    let has = |word| words.contains(&word);
    let count = match () {
        () if has(Word::D1) || has(Word::A1d) => 1,
        () if has(Word::D2) || has(Word::A2d) => 2,
        () => 4,
    };
    let all: Vec<String> = (0..count).map(|_| place(writer)).collect();
    format!("{{{}}}", all.join(", "))
}
