//! Loads from surfaces anywhere, and stores to a thread's own part of one.

use super::texture::{Object, named, object, texel};
use super::words;
use super::writer::{Buffer, Writer};
use raddle_ptx::isa::{Opcode, Word};

/// A load, a query, or stores and loads of a thread's own part.
pub(super) fn emit(writer: &mut Writer) {
    match writer.rng.below(6) {
        0 => {
            let name = words::mnemonic(Opcode::Suq, &words::random(Opcode::Suq, &mut writer.rng));
            let (surface, r) = (object(writer, true), writer.r());
            writer.line(&format!("{name} {r}, [{surface}];"));
            writer.fold(&r);
        }
        1 | 2 => {
            let words = words::random(Opcode::Suld, &mut writer.rng);
            let surface = object(writer, true);
            let coords = anywhere(writer, &words);
            load(writer, &words, &surface, &coords);
        }
        _ => {
            let at = own(writer);
            let words = words::random(Opcode::Sust, &mut writer.rng);
            let surface = named(writer, at);
            let coords = own_place(writer, &words);
            store(writer, &words, &surface, &coords);
            let words = words::random(Opcode::Suld, &mut writer.rng);
            let coords = own_place(writer, &words);
            load(writer, &words, &surface, &coords);
        }
    }
}

/// The number of the surface that kernels store to.
fn own(writer: &mut Writer) -> usize {
    if let Some(at) = writer.objects.iter().position(|o| o.is_written) {
        return at;
    }
    let is_variable = writer.rng.one_in(2);
    writer.buffer(Buffer::Plane);
    writer.objects.push(Object {
        name: "own_surface".to_owned(),
        is_variable,
        is_surface: true,
        buffer: Buffer::Plane,
        is_written: true,
    });
    writer.objects.len() - 1
}

fn count(words: &[Word]) -> u32 {
    if words.contains(&Word::V4) { 4 } else { 1 + u32::from(words.contains(&Word::V2)) }
}

fn registers(writer: &mut Writer, words: &[Word], has_values: bool) -> Vec<String> {
    let kind = match words::bytes(words) {
        1 | 2 => 'h',
        4 => 'r',
        _ => 'd',
    };
    let one = |writer: &mut Writer| match (has_values, kind) {
        (true, _) => writer.value(kind),
        (false, 'h') => writer.h(),
        (false, 'r') => writer.r(),
        (false, _) => writer.d(),
    };
    (0..count(words)).map(|_| one(writer)).collect()
}

fn load(writer: &mut Writer, words: &[Word], surface: &str, coords: &str) {
    let mut into = registers(writer, words, false);
    writer.overwrite(&mut into, &format!("{surface}, {coords}"), false);
    let name = words::mnemonic(Opcode::Suld, words);
    writer.line(&format!("{name} {}, [{surface}, {coords}];", super::vector::operand(&into)));
    for register in &into {
        writer.fold_any(register);
    }
}

fn store(writer: &mut Writer, words: &[Word], surface: &str, coords: &str) {
    let values = registers(writer, words, true);
    let name = words::mnemonic(Opcode::Sust, words);
    writer.line(&format!("{name} [{surface}, {coords}], {};", super::vector::operand(&values)));
}

/// The coordinates of a geometry: `x` in bytes, `y`, and `z` or a layer.
pub(super) fn geometry(words: &[Word], x: &str, y: &str, z: &str) -> String {
    let has = |word| words.contains(&word);
    match () {
        () if has(Word::D1) => format!("{{{x}}}"),
        () if has(Word::D2) => format!("{{{x}, {y}}}"),
        () if has(Word::A1d) => format!("{{{z}, {x}}}"),
        () if has(Word::A2d) => format!("{{{z}, {x}, {y}, {y}}}"),
        () => format!("{{{x}, {y}, {z}, {z}}}"),
    }
}

/// Anywhere in a surface whose rows have 64 bytes, and outside if that is not a fault.
fn anywhere(writer: &mut Writer, words: &[Word]) -> String {
    let size = words::bytes(words) * count(words);
    let traps = words.contains(&Word::Trap);
    let x = writer.bits(if traps { 64 / size - 1 } else { 127 / size });
    if !traps {
        writer.line(&format!("sub.u32 {x}, {x}, {};", 16 / size));
    }
    writer.line(&format!("mul.lo.u32 {x}, {x}, {size};"));
    let (y, z) = if traps { ("0".to_owned(), "0".to_owned()) } else { (texel(writer), texel(writer)) };
    geometry(words, &x, &y, &z)
}

/// A thread's own part: 16 bytes of each of two rows of two planes.
fn own_place(writer: &mut Writer, words: &[Word]) -> String {
    let size = words::bytes(words) * count(words);
    let x = writer.bits(16 / size - 1);
    writer.line(&format!("mul.lo.u32 {x}, {x}, {size};"));
    writer.line(&format!("mad.lo.u32 {x}, %g, 16, {x};"));
    let (y, z) = (writer.bits(1), writer.bits(1));
    geometry(words, &x, &y, &z)
}
