//! The text of a kernel while it is written.

use super::launch::Shape;
use crate::rng::Rng;
use std::collections::BTreeSet;

/// How many threads come to a place together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of a block.
    Block,
    /// All of some warps of 32.
    Warp,
    /// Any.
    Thread,
}

/// A buffer that kernels get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Buffer {
    /// 640 words, read only.
    Words,
    /// 1024 numbers of half precision, read only.
    Halves,
    /// 640 numbers of single precision, read only.
    Floats,
    /// 128 numbers of double precision, read only.
    Doubles,
    /// 64 bytes for every thread.
    Work,
    /// What is behind the surface that kernels write to.
    Plane,
    /// 2048 bytes for every warp of 32.
    Tiles,
}

impl Buffer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Halves => "halves",
            Self::Floats => "floats",
            Self::Doubles => "doubles",
            Self::Work => "work",
            Self::Plane => "plane",
            Self::Tiles => "tiles",
        }
    }
}

/// Bytes of shared memory of a block at most.
const MAX_SHARED: u32 = 16 << 10;

/// Barriers of a block; the first is for all of it.
const BARRIERS: u32 = 16;

/// What decides addresses, flow and guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The state, which everything that is loaded goes into.
    State,
    /// A key of the thread and the launch, which nothing that is loaded goes into.
    Key,
}

/// Writes a kernel. Registers of all threads: `%h` the state, `%t` the number in the block, `%c` the block, `%g` the
/// number in the grid, `%w` the warp of 32, and `%k` the key if it has one.
pub(super) struct Writer {
    pub(super) rng: Rng,
    pub(super) shape: Shape,
    source: Source,
    /// The instructions so far.
    pub(super) body: String,
    /// Functions before the kernel, and variables of the module.
    pub(super) module: String,
    /// Buffers that the kernel uses.
    pub(super) buffers: BTreeSet<Buffer>,
    /// Textures and surfaces.
    pub(super) objects: Vec<super::texture::Object>,
    /// How many registers of each kind there are.
    pub(super) registers: Registers,
    labels: u32,
    /// Bytes of shared memory taken since the last barrier of all.
    pub(super) shared: u32,
    /// The most that were taken.
    pub(super) most_shared: u32,
    /// The next barrier that is not used.
    next_barrier: u32,
    /// Threads may exit here, but for the first of four.
    pub(super) may_exit: bool,
    /// Some may have exited.
    pub(super) has_exits: bool,
    /// Whether this is in a function, where the kernel's registers are not.
    pub(super) in_function: bool,
    /// Whether the kernel has an instruction that faults, and for how many threads it does.
    pub(super) faults: Option<&'static str>,
}

/// How many registers of each kind there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Registers {
    pub(super) p: u32,
    pub(super) h: u32,
    pub(super) r: u32,
    pub(super) d: u32,
    pub(super) f: u32,
    pub(super) e: u32,
}

impl Registers {
    /// The lines that declare them.
    pub(super) fn declarations(&self) -> String {
        let kinds = [
            (".pred", "p", self.p),
            (".b16", "h", self.h),
            (".b32", "r", self.r),
            (".b64", "d", self.d),
            (".f32", "f", self.f),
            (".f64", "e", self.e),
        ];
        let used = kinds.into_iter().filter(|(_, _, count)| *count > 0);
        used.map(|(ty, name, count)| format!("    .reg {ty} %{name}<{count}>;\n")).collect()
    }
}

macro_rules! register {
    ($($name:ident $doc:literal),*) => {
        $(
            #[doc = $doc]
            pub(super) fn $name(&mut self) -> String {
                self.registers.$name += 1;
                format!("%{}{}", stringify!($name), self.registers.$name - 1)
            }
        )*
    };
}

impl Writer {
    pub(super) fn new(rng: Rng, shape: Shape, source: Source) -> Self {
        Self {
            rng,
            shape,
            source,
            body: String::new(),
            module: String::new(),
            buffers: BTreeSet::new(),
            objects: Vec::new(),
            registers: Registers::default(),
            labels: 0,
            shared: 0,
            most_shared: 0,
            next_barrier: 1,
            may_exit: false,
            has_exits: false,
            in_function: false,
            faults: None,
        }
    }

    register!(p "A new predicate.", h "A new register of 16 bits.", r "A new register of 32 bits.",
              d "A new register of 64 bits.", f "A new register of single precision.",
              e "A new register of double precision.");

    pub(super) fn line(&mut self, line: &str) {
        let indent = if line.ends_with(':') { "" } else { "    " };
        self.body.push_str(indent);
        self.body.push_str(line);
        self.body.push('\n');
    }

    pub(super) fn label(&mut self, name: &str) -> String {
        self.labels += 1;
        format!("{name}{}", self.labels)
    }

    /// The register with the address of a buffer.
    pub(super) fn buffer(&mut self, buffer: Buffer) -> String {
        self.buffers.insert(buffer);
        format!("%{}", buffer.name())
    }

    pub(super) fn has_key(&self) -> bool {
        self.source == Source::Key
    }

    /// The register that decides addresses, flow and guards.
    pub(super) fn chooser(&self) -> &'static str {
        if self.has_key() { "%k" } else { "%h" }
    }

    /// Some bits of the chooser, from zero to `mask`, which is one less than a power of two.
    pub(super) fn bits(&mut self, mask: u32) -> String {
        if self.has_key() && self.rng.one_in(2) {
            self.mix_one("%k");
        }
        self.bits_of(self.chooser(), mask)
    }

    fn bits_of(&mut self, from: &str, mask: u32) -> String {
        let (r, shift) = (self.r(), self.rng.below(24));
        self.line(&format!("shr.u32 {r}, {from}, {shift};"));
        self.line(&format!("and.b32 {r}, {r}, {mask};"));
        r
    }

    /// A predicate that depends on the chooser.
    pub(super) fn condition(&mut self) -> String {
        let mask = *self.rng.pick(&[1, 1, 3, 7]);
        let bits = self.bits(mask);
        self.compare(&bits, mask)
    }

    /// A predicate that depends on the state.
    pub(super) fn state_condition(&mut self) -> String {
        let mask = *self.rng.pick(&[1, 1, 3, 7]);
        let bits = self.bits_of("%h", mask);
        self.compare(&bits, mask)
    }

    fn compare(&mut self, bits: &str, mask: u32) -> String {
        let (p, with) = (self.p(), self.rng.below(mask + 1));
        let compare = *self.rng.pick(&["eq", "ne", "lt", "gt"]);
        self.line(&format!("setp.{compare}.u32 {p}, {bits}, {with};"));
        p
    }

    /// Another state, and another key.
    pub(super) fn mix(&mut self) {
        self.mix_one("%h");
        if self.has_key() {
            self.mix_one("%k");
        }
    }

    fn mix_one(&mut self, register: &str) {
        let (factor, addend) = (2 * self.rng.below(1 << 20) + 1, self.rng.below(1 << 20));
        let (r, shift) = (self.r(), self.rng.between(7, 17));
        self.line(&format!("mad.lo.u32 {register}, {register}, {factor}, {addend};"));
        self.line(&format!("shr.u32 {r}, {register}, {shift};"));
        self.line(&format!("xor.b32 {register}, {register}, {r};"));
    }

    /// In kernels with a key, often lets a load write one of the registers of its own address. `operands` are those of
    /// the address, which is not read again. `wider` says whether it may go to a register wider than the value.
    pub(super) fn overwrite(&mut self, into: &mut [String], operands: &str, wider: bool) {
        if !self.has_key() || self.rng.one_in(3) {
            return;
        }
        let is_register = |w: &&str| w.starts_with('%') && w.ends_with(|c: char| c.is_ascii_digit());
        let own = operands.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%')).filter(is_register);
        let fits = |from: u8, to: u8| from == to || wider && matches!((from, to), (b'h', b'r') | (b'h' | b'r', b'd'));
        let kind = |register: &str| register.as_bytes()[1];
        let mut pairs = Vec::new();
        for own in own {
            let places = (0..into.len()).filter(|n| fits(kind(&into[*n]), kind(own)));
            pairs.extend(places.map(|n| (n, own.to_owned())));
        }
        if !pairs.is_empty() {
            let (at, own) = self.rng.pick(&pairs).clone();
            into[at] = own;
        }
    }

    /// A value of 32 bits goes into the state.
    pub(super) fn fold(&mut self, value: &str) {
        let factor = 2 * self.rng.below(1 << 20) + 1;
        self.line(&format!("mad.lo.u32 %h, %h, {factor}, {value};"));
    }

    /// The value of a register of any kind goes into the state.
    pub(super) fn fold_any(&mut self, value: &str) {
        match value.as_bytes()[1] {
            b'h' => {
                let r = self.r();
                self.line(&format!("cvt.u32.u16 {r}, {value};"));
                self.fold(&r);
            }
            b'f' => {
                let r = self.r();
                self.line(&format!("mov.b32 {r}, {value};"));
                self.fold(&r);
            }
            b'd' | b'e' => {
                let (low, high) = (self.r(), self.r());
                self.line(&format!("mov.b64 {{{low}, {high}}}, {value};"));
                self.fold(&low);
                self.fold(&high);
            }
            b'p' => {
                let r = self.r();
                self.line(&format!("selp.u32 {r}, 77, 5, {value};"));
                self.fold(&r);
            }
            _ => self.fold(value),
        }
    }

    /// A new register with a value made of the state, of the kind that holds so many bits.
    pub(super) fn value(&mut self, kind: char) -> String {
        self.value_of("%h", kind)
    }

    /// A value made of another register of 32 bits.
    pub(super) fn value_of(&mut self, from: &str, kind: char) -> String {
        let r = self.r();
        let by = self.rng.next_u32();
        self.line(&format!("xor.b32 {r}, {from}, {by};"));
        match kind {
            'h' => {
                let h = self.h();
                self.line(&format!("cvt.u16.u32 {h}, {r};"));
                h
            }
            'f' => {
                let f = self.f();
                self.line(&format!("mov.b32 {f}, {r};"));
                f
            }
            'd' | 'e' => {
                let wide = if kind == 'd' { self.d() } else { self.e() };
                self.line(&format!("mov.b64 {wide}, {{{from}, {r}}};"));
                wide
            }
            _ => r,
        }
    }

    /// The address of a thread's own part of a buffer.
    pub(super) fn own(&mut self, buffer: Buffer, bytes: u32) -> String {
        let (d, base) = (self.d(), self.buffer(buffer));
        self.line(&format!("mad.wide.u32 {d}, %g, {bytes}, {base};"));
        d
    }

    /// An address in a buffer that is read only: one of `count` places, `step` bytes apart.
    pub(super) fn somewhere(&mut self, buffer: Buffer, count: u32, step: u32) -> String {
        let (d, base, r) = (self.d(), self.buffer(buffer), self.bits(count - 1));
        self.line(&format!("mad.wide.u32 {d}, {r}, {step}, {base};"));
        d
    }

    /// Takes shared memory that has not been used since the last barrier of all; where it begins, if there is enough.
    pub(super) fn take_shared(&mut self, bytes: u32) -> Option<u32> {
        let at = self.shared;
        let end = (at + bytes).next_multiple_of(32);
        if end > MAX_SHARED {
            return None;
        }
        self.shared = end;
        self.most_shared = self.most_shared.max(end);
        Some(at)
    }

    /// Makes room in shared memory, and for barriers, where all threads of a block come.
    pub(super) fn make_room(&mut self) {
        if self.shared > MAX_SHARED / 2 || self.next_barrier > BARRIERS / 2 {
            self.separate();
        }
    }

    /// The address of each thread's part of shared memory that was taken.
    pub(super) fn own_shared(&mut self, at: u32, bytes: u32) -> String {
        let (base, r) = (self.r(), self.r());
        self.line(&format!("mov.u32 {base}, pool;"));
        self.line(&format!("mad.lo.u32 {r}, %t, {bytes}, {base};"));
        if at > 0 {
            self.line(&format!("add.u32 {r}, {r}, {at};"));
        }
        r
    }

    /// Takes barriers that have not been used since the last barrier of all; the number of the first, if there are enough.
    pub(super) fn take_barriers(&mut self, count: u32) -> Option<u32> {
        let first = self.next_barrier;
        if first + count > BARRIERS {
            return None;
        }
        self.next_barrier += count;
        Some(first)
    }

    /// A barrier of all threads of a block: what was used before can be used again.
    pub(super) fn separate(&mut self) {
        super::barrier::of_all(self, 0);
        self.forget();
    }

    /// What was used before can be used again.
    pub(super) fn forget(&mut self) {
        self.shared = 0;
        self.next_barrier = 1;
    }

    /// Whether the kernel's warps have 32 lanes.
    pub(super) fn has_full_warps(&self) -> bool {
        self.shape.matrices
    }
}
