//! Instructions on matrices: fragments from memory and from registers, products in loops, results to memory.

use super::barrier;
use super::vector::operand;
use super::words;
use super::writer::{Buffer, Writer};
use raddle_ptx::isa::{Element, Form, Matrix, MatrixOp, Opcode, Word, forms_of};

/// Bytes of the buffer of a warp's results.
const TILE: u32 = 2048;

/// A product, or rows of matrices, of all warps or of one.
pub(super) fn emit(writer: &mut Writer) {
    let warps = writer.shape.warps();
    // Products take the interpreter long.
    let one = (warps > 1 && !writer.rng.one_in(4)).then(|| writer.rng.below(warps));
    let label = one.map(|warp| barrier::only(writer, warp, warp + 1));
    match writer.rng.below(6) {
        0..3 => wmma(writer),
        3 | 4 => mma(writer),
        _ => rows(writer),
    }
    if let Some(label) = label {
        writer.line(&format!("{label}:"));
    }
}

fn name_of(element: Element) -> &'static str {
    match element {
        Element::F16 => "f16",
        Element::Bf16 => "bf16",
        Element::Tf32 => "tf32",
        Element::F32 => "f32",
        Element::F64 => "f64",
        Element::S8 => "s8",
        Element::U8 => "u8",
        Element::S4 => "s4",
        Element::U4 => "u4",
        Element::B1 => "b1",
        Element::S32 => "s32",
    }
}

/// Where elements that make sense are, and the bytes there.
fn buffer_of(element: Element) -> (Buffer, u32) {
    match element {
        Element::F16 | Element::Bf16 => (Buffer::Halves, 2048),
        Element::Tf32 | Element::F32 => (Buffer::Floats, 2560),
        Element::F64 => (Buffer::Doubles, 1024),
        _ => (Buffer::Words, 2560),
    }
}

/// A new register for elements.
fn register(writer: &mut Writer, element: Element) -> String {
    match element {
        Element::F32 => writer.f(),
        Element::F64 => writer.e(),
        _ => writer.r(),
    }
}

/// Random words of a form that fits.
fn words_of(writer: &mut Writer, opcode: Opcode, fits: impl Fn(&Form) -> bool) -> Vec<Word> {
    let all: Vec<&Form> = forms_of(opcode).filter(|form| fits(form)).collect();
    let form = *writer.rng.pick(&all);
    words::of_form(form, &mut writer.rng)
}

/// `mov %lane` and the like: the number of a thread in its warp.
fn lane(writer: &mut Writer) -> String {
    let r = writer.r();
    writer.line(&format!("and.b32 {r}, %t, 31;"));
    r
}

/// A matrix in memory.
struct Laid {
    by_columns: bool,
    /// Elements from line to line.
    stride: u32,
    /// Whether the instruction says so.
    has_stride: bool,
    bytes: u32,
}

impl Laid {
    fn random(writer: &mut Writer, (rows, columns): (u32, u32), element: Element, by_columns: bool) -> Self {
        let (line, lines) = if by_columns { (rows, columns) } else { (columns, rows) };
        let more = writer.rng.one_in(2);
        // Lines begin at multiples of 16 bytes.
        let stride = (line * element.bits()).next_multiple_of(128) / element.bits();
        let stride = stride + if more { 128 / element.bits() } else { 0 };
        let has_stride = stride != line || writer.rng.one_in(2);
        Self { by_columns, stride, has_stride, bytes: lines * stride * element.bits() / 8 }
    }

    fn layout(&self) -> &'static str {
        if self.by_columns { "col" } else { "row" }
    }

    /// The operand, if there is one: a constant or a register.
    fn stride(&self, writer: &mut Writer) -> String {
        if !self.has_stride {
            return String::new();
        }
        if writer.rng.one_in(2) {
            return format!(", {}", self.stride);
        }
        let r = writer.r();
        writer.line(&format!("mov.u32 {r}, {};", self.stride));
        format!(", {r}")
    }
}

/// `.aligned`, or not.
fn aligned(writer: &mut Writer) -> &'static str {
    if writer.rng.one_in(2) { ".aligned" } else { "" }
}

fn shape_of(words: &[Word]) -> &'static str {
    let is_shape =
        |w: &&Word| w.as_str().starts_with('m') && w.as_str().as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    words.iter().find(is_shape).map_or("", |w| w.as_str())
}

/// `wmma`: loads, products, and a result that goes into the state or to memory.
fn wmma(writer: &mut Writer) {
    let words = words_of(writer, Opcode::Wmma, |form| form.slots[0].words == [Word::Mma]);
    let Some(op) = MatrixOp::of(Opcode::Wmma, &words) else { return };
    let shape = shape_of(&words);
    let of_c = writer.rng.one_in(2);
    let a = load(writer, &op, shape, Matrix::A, op.by_columns[0]);
    let b = load(writer, &op, shape, Matrix::B, op.by_columns[1]);
    let c = load(writer, &op, shape, Matrix::C, of_c);
    let d = multiply(writer, &words::mnemonic(Opcode::Wmma, &words), &op, [a, b, c]);
    if writer.rng.one_in(2) {
        store(writer, &op, shape, &d);
    } else {
        d.iter().for_each(|register| writer.fold_any(register));
    }
}

fn load(writer: &mut Writer, op: &MatrixOp, shape: &str, matrix: Matrix, by_columns: bool) -> Vec<String> {
    let element = op.element(matrix);
    let laid = Laid::random(writer, op.size(matrix), element, by_columns);
    let (buffer, size) = buffer_of(element);
    let room = laid.bytes.next_multiple_of(512);
    let offset = 32 * writer.rng.below((size - room) / 32 + 1);
    let (from, d) = (writer.buffer(buffer), writer.d());
    writer.line(&format!("add.u64 {d}, {from}, {offset};"));
    let (mut space, mut address) = (*writer.rng.pick(&[".global", ""]), d.clone());
    if writer.rng.one_in(2)
        && let Some(to) = stage(writer, &d, room)
    {
        (space, address) = (*writer.rng.pick(&[".shared", ".shared::cta"]), to);
    }
    let mut into: Vec<String> = (0..op.registers(matrix).0).map(|_| register(writer, element)).collect();
    let which = match matrix {
        Matrix::A => "a",
        Matrix::B => "b",
        _ => "c",
    };
    let (stride, aligned) = (laid.stride(writer), aligned(writer));
    writer.overwrite(&mut into, &format!("{address}{stride}"), false);
    writer.line(&format!(
        "wmma.load.{which}.sync{aligned}.{}.{shape}{space}.{} {{{}}}, [{address}]{stride};",
        laid.layout(),
        name_of(element),
        into.join(", ")
    ));
    into
}

/// Copies bytes to the shared memory of a warp; where they are there.
fn stage(writer: &mut Writer, from: &str, bytes: u32) -> Option<String> {
    let at = writer.take_shared(bytes * writer.shape.warps())?;
    let base = warp_part(writer, at, bytes);
    let (lane, d, to) = (lane(writer), writer.d(), writer.r());
    writer.line(&format!("mad.wide.u32 {d}, {lane}, 16, {from};"));
    writer.line(&format!("mad.lo.u32 {to}, {lane}, 16, {base};"));
    let copies = writer.rng.one_in(2);
    for at in (0..bytes).step_by(512) {
        if copies {
            writer.line(&format!("cp.async.ca.shared.global [{to}+{at}], [{d}+{at}], 16;"));
        } else {
            let all: Vec<String> = (0..4).map(|_| writer.r()).collect();
            writer.line(&format!("ld.global.v4.b32 {}, [{d}+{at}];", operand(&all)));
            writer.line(&format!("st.shared.v4.b32 [{to}+{at}], {};", operand(&all)));
        }
    }
    if copies {
        writer.line("cp.async.wait_all;");
    }
    writer.line("bar.warp.sync 0xffffffff;");
    Some(base)
}

/// The address of a warp's part of shared memory.
fn warp_part(writer: &mut Writer, at: u32, bytes: u32) -> String {
    let base = writer.r();
    writer.line(&format!("mov.u32 {base}, pool;"));
    writer.line(&format!("mad.lo.u32 {base}, %w, {bytes}, {base};"));
    writer.line(&format!("add.u32 {base}, {base}, {at};"));
    base
}

/// A product, perhaps added to itself some times; the registers of the result.
fn multiply(writer: &mut Writer, name: &str, op: &MatrixOp, [a, b, c]: [Vec<String>; 3]) -> Vec<String> {
    let in_place = op.element(Matrix::C) == op.element(Matrix::D);
    let d: Vec<String> = match in_place {
        true => c.clone(),
        false => (0..op.registers(Matrix::D).0).map(|_| register(writer, op.element(Matrix::D))).collect(),
    };
    let [a, b, c] = [a, b, c].map(|all| all.join(", "));
    let product = format!("{name} {{{}}}, {{{a}}}, {{{b}}}, {{{c}}};", d.join(", "));
    if in_place && writer.rng.one_in(3) {
        let (counter, p, label) = (writer.r(), writer.p(), writer.label("PRODUCT"));
        writer.line(&format!("mov.u32 {counter}, 0;"));
        writer.line(&format!("{label}:"));
        writer.line(&product);
        writer.line(&format!("add.u32 {counter}, {counter}, 1;"));
        writer.line(&format!("setp.lt.u32 {p}, {counter}, 2;"));
        writer.line(&format!("@{p} bra {label};"));
    } else {
        writer.line(&product);
    }
    d
}

/// The result to memory, from where each lane loads words of others.
fn store(writer: &mut Writer, op: &MatrixOp, shape: &str, d: &[String]) {
    let element = op.element(Matrix::D);
    let by_columns = writer.rng.one_in(2);
    let laid = Laid::random(writer, op.size(Matrix::D), element, by_columns);
    let shared = if writer.rng.one_in(2) { writer.take_shared(TILE * writer.shape.warps()) } else { None };
    let (space, base) = match shared {
        Some(at) => (*writer.rng.pick(&[".shared", ".shared::cta"]), warp_part(writer, at, TILE)),
        None => (*writer.rng.pick(&[".global", ""]), tile(writer)),
    };
    let (stride, aligned) = (laid.stride(writer), aligned(writer));
    // Lanes may still load what was there.
    writer.line("bar.warp.sync 0xffffffff;");
    writer.line(&format!(
        "wmma.store.d.sync{aligned}.{}.{shape}{space}.{} [{base}], {{{}}}{stride};",
        laid.layout(),
        name_of(element),
        d.join(", ")
    ));
    look(writer, &base, laid.bytes, if shared.is_some() { ".shared" } else { ".global" });
}

/// The address of a warp's part of the buffer of results.
fn tile(writer: &mut Writer) -> String {
    let (buffer, r, d) = (writer.buffer(Buffer::Tiles), writer.r(), writer.d());
    let warps = writer.shape.warps();
    writer.line(&format!("mad.lo.u32 {r}, %c, {warps}, %w;"));
    writer.line(&format!("mad.wide.u32 {d}, {r}, {TILE}, {buffer};"));
    d
}

/// Each lane loads words of what its warp has written.
fn look(writer: &mut Writer, base: &str, bytes: u32, space: &str) {
    writer.line("bar.warp.sync 0xffffffff;");
    let places = 1 << (bytes / 4).ilog2();
    for _ in 0..2 {
        let index = writer.bits(places - 1);
        let value = writer.r();
        if space == ".shared" {
            writer.line(&format!("mad.lo.u32 {index}, {index}, 4, {base};"));
            writer.line(&format!("ld.shared.b32 {value}, [{index}];"));
        } else {
            let d = writer.d();
            writer.line(&format!("mad.wide.u32 {d}, {index}, 4, {base};"));
            writer.line(&format!("ld.global.b32 {value}, [{d}];"));
        }
        writer.fold(&value);
    }
}

/// `mma`, of fragments that each lane makes.
fn mma(writer: &mut Writer) {
    let words = words_of(writer, Opcode::Mma, |_| true);
    let Some(op) = MatrixOp::of(Opcode::Mma, &words) else { return };
    let fragments = [Matrix::A, Matrix::B, Matrix::C].map(|matrix| fragment(writer, &op, matrix));
    let d = multiply(writer, &words::mnemonic(Opcode::Mma, &words), &op, fragments);
    d.iter().for_each(|register| writer.fold_any(register));
}

fn fragment(writer: &mut Writer, op: &MatrixOp, matrix: Matrix) -> Vec<String> {
    let element = op.element(matrix);
    let count = op.registers(matrix).0;
    if matches!(count, 1 | 2 | 4)
        && element.bits() <= 16
        && writer.rng.one_in(3)
        && let Some(rows) = rows_of(writer, buffer_of(element).0, count)
    {
        return rows;
    }
    let (buffer, bytes) = buffer_of(element);
    let size = element.bits().max(32) / 8;
    let one = |writer: &mut Writer| {
        let address = writer.somewhere(buffer, 1 << (bytes / size).ilog2(), size);
        let mut into = [register(writer, element)];
        writer.overwrite(&mut into, &address, false);
        let [into] = into;
        writer.line(&format!("ld.global.b{} {into}, [{address}];", 8 * size));
        into
    };
    (0..count).map(|_| one(writer)).collect()
}

/// `ldmatrix` of as many matrices, from rows of a buffer in any order.
fn rows_of(writer: &mut Writer, buffer: Buffer, count: usize) -> Option<Vec<String>> {
    let from = writer.buffer(buffer);
    let base = stage(writer, &from, 1024)?;
    let (row, address) = (writer.bits(63), writer.r());
    writer.line(&format!("mad.lo.u32 {address}, {row}, 16, {base};"));
    let mut into: Vec<String> = (0..count).map(|_| writer.r()).collect();
    let trans = *writer.rng.pick(&["", ".trans"]);
    let (space, address) = in_a_space(writer, address);
    writer.overwrite(&mut into, &address, false);
    writer
        .line(&format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {{{}}}, [{address}];", into.join(", ")));
    Some(into)
}

/// An address in shared memory, and the space that an instruction names with it, if it names one.
fn in_a_space(writer: &mut Writer, address: String) -> (&'static str, String) {
    let space = *writer.rng.pick(&[".shared", ".shared::cta", ""]);
    if !space.is_empty() {
        return (space, address);
    }
    let d = writer.d();
    writer.line(&format!("cvt.u64.u32 {d}, {address};"));
    writer.line(&format!("cvta.shared.u64 {d}, {d};"));
    (space, d)
}

/// Rows of matrices from memory, transposed, and back.
fn rows(writer: &mut Writer) {
    let count = *writer.rng.pick(&[1, 2, 4]);
    let buffer = *writer.rng.pick(&[Buffer::Words, Buffer::Halves]);
    let Some(mut all) = rows_of(writer, buffer, count) else { return };
    for register in &mut all {
        if writer.rng.one_in(2) {
            let r = writer.r();
            writer.line(&format!("movmatrix.sync.aligned.m8n8.trans.b16 {r}, {register};"));
            *register = r;
        }
    }
    let room = if writer.rng.one_in(2) { writer.take_shared(512 * writer.shape.warps()) } else { None };
    let Some(at) = room else {
        all.iter().for_each(|register| writer.fold(register));
        return;
    };
    let (base, lane, address) = (warp_part(writer, at, 512), lane(writer), writer.r());
    let mixed = writer.rng.below(32);
    writer.line(&format!("xor.b32 {address}, {lane}, {mixed};"));
    writer.line(&format!("mad.lo.u32 {address}, {address}, 16, {base};"));
    let trans = *writer.rng.pick(&["", ".trans"]);
    let (space, address) = in_a_space(writer, address);
    writer.line("bar.warp.sync 0xffffffff;");
    writer.line(&format!("stmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 [{address}], {{{}}};", all.join(", ")));
    look(writer, &base, 512, ".shared");
}

/// `ldmatrix`, whose row is misaligned in the lanes of a predicate.
pub(super) fn misaligned(writer: &mut Writer, p: &str) {
    let Some(at) = writer.take_shared(512 * writer.shape.warps()) else { return };
    let (base, lane, by) = (warp_part(writer, at, 512), lane(writer), writer.rng.between(1, 15));
    let (address, r) = (writer.r(), writer.r());
    writer.line(&format!("mad.lo.u32 {address}, {lane}, 16, {base};"));
    writer.line(&format!("selp.u32 {r}, {by}, 0, {p};"));
    writer.line(&format!("add.u32 {address}, {address}, {r};"));
    let all: Vec<String> = (0..4).map(|_| writer.r()).collect();
    writer.line(&format!("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}}}, [{address}];", all.join(", ")));
    all.iter().for_each(|register| writer.fold(register));
}
