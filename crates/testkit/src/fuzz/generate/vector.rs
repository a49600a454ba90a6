//! Loads and stores of single values and vectors at random places, in every state space.

use super::writer::{Buffer, Writer};

/// What an access moves.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) ty: &'static str,
    /// Bytes of an element.
    pub(super) bytes: u32,
    /// Elements.
    pub(super) count: u32,
    /// The kind of its registers.
    kind: char,
}

const TYPES: &[(&str, u32, char)] = &[
    ("b8", 1, 'h'),
    ("u8", 1, 'r'),
    ("s8", 1, 'h'),
    ("b16", 2, 'h'),
    ("u16", 2, 'r'),
    ("s16", 2, 'r'),
    ("b32", 4, 'r'),
    ("u32", 4, 'r'),
    ("s32", 4, 'r'),
    ("f32", 4, 'f'),
    ("b64", 8, 'd'),
    ("u64", 8, 'd'),
    ("s64", 8, 'd'),
    ("f64", 8, 'e'),
];

impl Access {
    pub(super) fn random(writer: &mut Writer) -> Self {
        let (ty, bytes, kind) = *writer.rng.pick(TYPES);
        let most = if bytes == 8 { 2 } else { 3 };
        Self { ty, bytes, count: [1, 2, 4][writer.rng.below(most) as usize], kind }
    }

    pub(super) fn size(self) -> u32 {
        self.bytes * self.count
    }

    /// The last words: width and type.
    pub(super) fn words(self) -> String {
        let vector = if self.count > 1 { format!(".v{}", self.count) } else { String::new() };
        format!("{vector}.{}", self.ty)
    }

    /// New registers for what is loaded.
    pub(super) fn registers(self, writer: &mut Writer) -> Vec<String> {
        let one = |writer: &mut Writer| match self.kind {
            'h' => writer.h(),
            'f' => writer.f(),
            'd' => writer.d(),
            'e' => writer.e(),
            _ => writer.r(),
        };
        (0..self.count).map(|_| one(writer)).collect()
    }

    /// Registers with something to store.
    pub(super) fn values(self, writer: &mut Writer) -> Vec<String> {
        (0..self.count).map(|_| writer.value(self.kind)).collect()
    }
}

/// Registers as an operand.
pub(super) fn operand(registers: &[String]) -> String {
    match registers {
        [one] => one.clone(),
        all => format!("{{{}}}", all.join(", ")),
    }
}

const LOADS: &[&str] =
    &["", "", ".ca", ".cg", ".cs", ".lu", ".cv", ".weak", ".volatile", ".relaxed.gpu", ".acquire.cta"];
const STORES: &[&str] = &["", "", ".wb", ".cg", ".cs", ".wt", ".weak", ".volatile", ".relaxed.gpu", ".release.cta"];

/// `ld` or `st` with one of these qualifiers before or after its state space.
fn qualified(writer: &mut Writer, opcode: &str, qualifiers: &[&str], space: &str) -> String {
    let how = writer.rng.pick(qualifiers);
    let after = matches!(*how, ".ca" | ".cg" | ".cs" | ".lu" | ".cv" | ".wb" | ".wt");
    if after { format!("{opcode}{space}{how}") } else { format!("{opcode}{how}{space}") }
}

/// One or two accesses.
pub(super) fn emit(writer: &mut Writer) {
    for _ in 0..writer.rng.between(1, 2) {
        match writer.rng.below(5) {
            0 => constant(writer),
            1 => global(writer),
            2 if !writer.in_function => shared(writer),
            3 => local(writer),
            _ => global(writer),
        }
    }
}

/// A load from one of the buffers that are never written.
fn constant(writer: &mut Writer) {
    let access = Access::random(writer);
    let (buffer, bytes) = *writer.rng.pick(&[
        (Buffer::Words, 2560),
        (Buffer::Halves, 2048),
        (Buffer::Floats, 2560),
        (Buffer::Doubles, 1024),
    ]);
    let count = 1 << (bytes / access.size()).ilog2();
    let address = writer.somewhere(buffer, count, access.size());
    let how = match writer.rng.below(3) {
        0 => "ld.global.nc".to_owned(),
        1 => "ld".to_owned(),
        _ => qualified(writer, "ld", LOADS, ".global"),
    };
    load(writer, &how, access, &address);
}

fn load(writer: &mut Writer, how: &str, access: Access, address: &str) {
    let mut into = access.registers(writer);
    writer.overwrite(&mut into, address, true);
    writer.line(&format!("{how}{} {}, [{address}];", access.words(), operand(&into)));
    for register in &into {
        writer.fold_any(register);
    }
}

/// A store and a load of another type, in so many bytes that are a thread's own.
fn own(writer: &mut Writer, space: &str, bytes: u32, address: impl Fn(&mut Writer, &str) -> String) {
    let access = Access::random(writer);
    if access.size() > bytes {
        return;
    }
    let place = |writer: &mut Writer, access: Access| {
        let r = writer.bits(bytes / access.size() - 1);
        writer.line(&format!("mul.lo.u32 {r}, {r}, {};", access.size()));
        address(writer, &r)
    };
    let to = place(writer, access);
    let values = access.values(writer);
    let store = qualified(writer, "st", STORES, space);
    writer.line(&format!("{store}{} [{to}], {};", access.words(), operand(&values)));
    let access = Access::random(writer);
    let from = place(writer, access);
    let how = qualified(writer, "ld", LOADS, space);
    load(writer, &how, access, &from);
}

fn global(writer: &mut Writer) {
    let base = writer.own(Buffer::Work, 64);
    let space = *writer.rng.pick(&[".global", ".global", ""]);
    own(writer, space, 64, |writer, offset| {
        let d = writer.d();
        writer.line(&format!("cvt.u64.u32 {d}, {offset};"));
        writer.line(&format!("add.u64 {d}, {base}, {d};"));
        d
    });
}

fn shared(writer: &mut Writer) {
    let Some(at) = writer.take_shared(16 * writer.shape.threads()) else { return };
    let base = writer.own_shared(at, 16);
    // What the pool held before depends on what has used it.
    for word in 0..4 {
        writer.line(&format!("st.shared.b32 [{base}+{}], %h;", 4 * word));
    }
    let is_generic = writer.rng.one_in(3);
    let space = if is_generic { "" } else { ".shared" };
    own(writer, space, 16, |writer, offset| {
        let r = writer.r();
        writer.line(&format!("add.u32 {r}, {base}, {offset};"));
        if !is_generic {
            return r;
        }
        let d = writer.d();
        writer.line(&format!("cvt.u64.u32 {d}, {r};"));
        writer.line(&format!("cvta.shared.u64 {d}, {d};"));
        d
    });
}

/// Loads and stores in local memory, which functions have too.
pub(super) fn local(writer: &mut Writer) {
    let name = writer.label("own");
    writer.line(&format!(".local .align 16 .b8 {name}[32];"));
    let r = writer.r();
    writer.line(&format!("mov.u32 {r}, {name};"));
    for word in 0..8 {
        writer.line(&format!("st.local.b32 [{r}+{}], %h;", 4 * word));
    }
    let is_generic = writer.rng.one_in(3);
    let space = if is_generic { "" } else { ".local" };
    own(writer, space, 32, |writer, offset| {
        let a = writer.r();
        writer.line(&format!("add.u32 {a}, {r}, {offset};"));
        if !is_generic {
            return a;
        }
        let d = writer.d();
        writer.line(&format!("cvt.u64.u32 {d}, {a};"));
        writer.line(&format!("cvta.local.u64 {d}, {d};"));
        d
    });
}
