//! The wrapper loop as PTX text, in parts around the body of a kernel.
//!
//! ```text
//!  declare     registers of the loop
//!  before      sizes of the logical grid; the first logical block
//!   top:       the barrier, where one is needed; indices from the scalar index
//!              ... the body, with these for the special registers; returns are branches to `step` ...
//!   step:      the next logical block
//!   end:       the return
//! ```

use super::virtualize::{Form, ThreadOrder};
use crate::isa::Special;
use crate::syntax::ast::{Item, Statement, Variable};

/// Components of an index.
pub(super) const AXES: [char; 3] = ['x', 'y', 'z'];

/// The special registers that wrapped code must not read, by component.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// `%ctaid`.
    pub ctaid: [bool; 3],
    /// `%nctaid`.
    pub nctaid: [bool; 3],
    /// `%tid`.
    pub tid: [bool; 3],
    /// `%ntid`: it stays, and says how many dimensions a block has.
    pub ntid: [bool; 3],
}

impl Reads {
    /// Notes a read; false when the register is none of these.
    pub(super) fn note(&mut self, special: Special) -> bool {
        let (list, axis) = match special {
            Special::CtaidX => (&mut self.ctaid, 0),
            Special::CtaidY => (&mut self.ctaid, 1),
            Special::CtaidZ => (&mut self.ctaid, 2),
            Special::NctaidX => (&mut self.nctaid, 0),
            Special::NctaidY => (&mut self.nctaid, 1),
            Special::NctaidZ => (&mut self.nctaid, 2),
            Special::TidX => (&mut self.tid, 0),
            Special::TidY => (&mut self.tid, 1),
            Special::TidZ => (&mut self.tid, 2),
            Special::NtidX => (&mut self.ntid, 0),
            Special::NtidY => (&mut self.ntid, 1),
            Special::NtidZ => (&mut self.ntid, 2),
            _ => return false,
        };
        list[axis] = true;
        true
    }

    /// Dimensions of the grid that are looked at, at least one.
    pub(super) fn grid_dims(&self) -> u8 {
        dims(&self.ctaid).max(dims(&self.nctaid)).max(1)
    }

    /// Dimensions of a block that are looked at, at least one.
    pub(super) fn block_dims(&self) -> u8 {
        dims(&self.tid).max(dims(&self.ntid)).max(1)
    }
}

fn dims(reads: &[bool; 3]) -> u8 {
    (1..).zip(reads).filter(|(_, is_read)| **is_read).map(|(dims, _)| dims).max().unwrap_or(0)
}

/// The loop around a kernel.
pub(super) struct Wrapper<'a> {
    /// The kernel's name: the parameters begin with it.
    pub kernel: &'a str,
    /// What all new names have in them and no other name has.
    pub prefix: &'a str,
    /// Who gives out logical blocks.
    pub form: Form,
    /// What the body reads.
    pub reads: Reads,
    /// Dimensions of the logical grid; every further one has one block.
    pub grid_dims: u8,
    /// Dimensions of a block; every further one has one thread.
    pub block_dims: u8,
    /// Number of the barrier at the loop's top, where one is needed.
    pub barrier: Option<u32>,
}

impl Wrapper<'_> {
    /// A label of the loop.
    pub(super) fn label(&self, name: &str) -> String {
        format!("${}_{name}", self.prefix)
    }

    fn reg(&self, name: &str) -> String {
        format!("%{}_{name}", self.prefix)
    }

    fn axis(&self, name: &str, axis: usize) -> String {
        format!("{}_{}", self.reg(name), AXES[axis])
    }

    /// The parameter with the number of logical blocks along an axis.
    fn param(&self, axis: usize) -> String {
        format!("{}_{}_grid_{}", self.kernel, self.prefix, AXES[axis])
    }

    /// The register that holds what the body reads of `%ctaid`, `%nctaid` or `%tid`; none for what it may go on reading.
    pub(super) fn replacement(&self, special: &str, axis: usize) -> Option<String> {
        match special {
            "%ctaid" if self.grid_dims == 1 => Some(self.reg("block")),
            "%ctaid" => Some(self.axis("block", axis)),
            "%nctaid" => Some(self.axis("grid", axis)),
            "%tid" if self.new_threads().is_none() => None,
            "%tid" if self.block_dims == 1 => Some(self.reg("thread")),
            "%tid" => Some(self.axis("thread", axis)),
            _ => None,
        }
    }

    /// How threads get new indices, if they do: in the software form and in their own lanes they keep those they have.
    fn new_threads(&self) -> Option<ThreadOrder> {
        match self.form {
            Form::Software | Form::Hardware(ThreadOrder::SameLane) => None,
            Form::Hardware(order) => Some(order),
        }
    }

    /// Whether threads get new indices.
    pub(super) fn gives_threads(&self) -> bool {
        self.new_threads().is_some()
    }

    /// The parameters behind those of the kernel.
    pub(super) fn params(&self) -> Vec<Variable> {
        let list = (0..usize::from(self.grid_dims)).map(|axis| format!(".param .u32 {}", self.param(axis)));
        let text = list.collect::<Vec<_>>().join(", ");
        function(&format!(".entry k({text}) {{ ret; }}")).map_or_else(Vec::new, |f| f.params)
    }

    /// Axes whose number of blocks is needed in a register: read, or to take indices apart.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        let grid = usize::from(self.grid_dims);
        let divides = move |axis: usize| axis + 1 < grid && self.reads.ctaid[axis..].contains(&true);
        (0..3).filter(move |axis| self.reads.nctaid[*axis] || divides(*axis))
    }

    /// Declarations of registers.
    pub(super) fn declare(&self) -> Vec<Statement> {
        let mut names = vec![self.reg("block"), self.reg("blocks")];
        names.extend(self.sizes().map(|axis| self.axis("grid", axis)));
        if self.grid_dims > 1 {
            names.extend((0..3).filter(|a| self.reads.ctaid[*a]).map(|axis| self.axis("block", axis)));
        }
        if self.splits_twice(&self.reads.ctaid, self.grid_dims) {
            names.push(self.reg("rest"));
        }
        if self.form == Form::Software {
            names.push(self.reg("step"));
        }
        if self.new_threads().is_some() {
            names.push(self.reg("thread"));
            if self.block_dims > 1 {
                names.extend((0..3).filter(|a| self.reads.tid[*a]).map(|axis| self.axis("thread", axis)));
                names.extend((0..usize::from(self.block_dims) - 1).map(|axis| self.axis("width", axis)));
                names.push(self.reg("line"));
            }
        }
        let more = format!(".reg .pred {};\n.reg .b32 {};", self.reg("more"), names.join(", "));
        statements(&more)
    }

    /// Whether taking an index apart gives a rest that is taken apart again.
    fn splits_twice(&self, reads: &[bool; 3], dims: u8) -> bool {
        dims == 3 && (reads[1] || reads[2])
    }

    /// What is done once.
    pub(super) fn before(&self) -> Vec<Statement> {
        let (block, blocks) = (self.reg("block"), self.reg("blocks"));
        let mut text = format!("ld.param.u32 {blocks}, [{}];\n", self.param(0));
        for axis in self.sizes() {
            let size = self.axis("grid", axis);
            text += &match axis {
                0 => format!("mov.u32 {size}, {blocks};\n"),
                _ if axis < usize::from(self.grid_dims) => format!("ld.param.u32 {size}, [{}];\n", self.param(axis)),
                _ => format!("mov.u32 {size}, 1;\n"),
            };
        }
        for axis in 1..usize::from(self.grid_dims) {
            let size = if self.sizes().any(|a| a == axis) {
                self.axis("grid", axis)
            } else {
                text += &format!("ld.param.u32 {block}, [{}];\n", self.param(axis));
                block.clone()
            };
            text += &format!("mul.lo.u32 {blocks}, {blocks}, {size};\n");
        }
        match self.form {
            Form::Software => {
                let (more, end) = (self.reg("more"), self.label("end"));
                text += &format!("mov.u32 {}, %nctaid.x;\nmov.u32 {block}, %ctaid.x;\n", self.reg("step"));
                text += &format!("setp.lt.u32 {more}, {block}, {blocks};\n@!{more} bra {end};\n");
            }
            Form::Hardware(_) if self.new_threads().is_some() => text += &self.first_thread(),
            Form::Hardware(_) => {}
        }
        statements(&text)
    }

    /// The thread's index in its block as one number.
    fn first_thread(&self) -> String {
        let (thread, line) = (self.reg("thread"), self.reg("line"));
        let dims = usize::from(self.block_dims);
        let mut text = format!("mov.u32 {thread}, %tid.{};\n", AXES[dims - 1]);
        for axis in (0..dims - 1).rev() {
            let width = self.axis("width", axis);
            text += &format!("mov.u32 {width}, %ntid.{0};\nmov.u32 {line}, %tid.{0};\n", AXES[axis]);
            text += &format!("mad.lo.u32 {thread}, {thread}, {width}, {line};\n");
        }
        text
    }

    /// The start of the loop.
    pub(super) fn top(&self) -> Vec<Statement> {
        let (block, blocks, more) = (self.reg("block"), self.reg("blocks"), self.reg("more"));
        let mut text = format!("{}:\n", self.label("top"));
        if matches!(self.form, Form::Hardware(_)) {
            text += &format!("raddle.next_tbid.u32 {block}, {blocks};\n");
            text += &format!("setp.lt.u32 {more}, {block}, {blocks};\n@!{more} bra {};\n", self.label("end"));
        }
        if let Some(order) = self.new_threads() {
            let (thread, order) = (self.reg("thread"), order.word());
            text += &format!("raddle.next_tidx.{order}.u32 {thread}, {thread};\n");
            if self.block_dims > 1 {
                let (split, rest) = (["thread", "width", "thread"], self.reg("line"));
                text += &self.split(split, &rest, &self.reads.tid, self.block_dims);
            }
        }
        if self.grid_dims > 1 {
            text += &self.split(["block", "grid", "block"], &self.reg("rest"), &self.reads.ctaid, self.grid_dims);
        }
        if let Some(number) = self.barrier {
            text += &format!("bar.sync {number};\n");
        }
        statements(&text)
    }

    /// Takes an index apart into those of its components that are read.
    fn split(&self, [from, size, to]: [&str; 3], rest: &str, reads: &[bool; 3], dims: u8) -> String {
        let (from, last) = (self.reg(from), usize::from(dims) - 1);
        let mut text = String::new();
        if reads[0] {
            text += &format!("rem.u32 {}, {from}, {};\n", self.axis(to, 0), self.axis(size, 0));
        }
        if last == 1 && reads[1] {
            text += &format!("div.u32 {}, {from}, {};\n", self.axis(to, 1), self.axis(size, 0));
        }
        if self.splits_twice(reads, dims) {
            text += &format!("div.u32 {rest}, {from}, {};\n", self.axis(size, 0));
            for (op, axis) in [("rem", 1), ("div", 2)].into_iter().filter(|(_, axis)| reads[*axis]) {
                text += &format!("{op}.u32 {}, {rest}, {};\n", self.axis(to, axis), self.axis(size, 1));
            }
        }
        text
    }

    /// The end of the loop.
    pub(super) fn step(&self) -> Vec<Statement> {
        let (step, top, end) = (self.label("step"), self.label("top"), self.label("end"));
        let (block, blocks, more) = (self.reg("block"), self.reg("blocks"), self.reg("more"));
        let next = match self.form {
            Form::Software => format!(
                "add.u32 {block}, {block}, {};\nsetp.lt.u32 {more}, {block}, {blocks};\n@{more} bra {top};\n",
                self.reg("step")
            ),
            Form::Hardware(_) => format!("bra.uni {top};\n"),
        };
        statements(&format!("{step}:\n{next}{end}:\nret;\n"))
    }
}

impl ThreadOrder {
    /// Its word behind `raddle.next_tidx`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::SameLane => "same_lane",
            Self::SlowestLane => "slowest_lane",
            Self::LowestLane => "lowest_lane",
        }
    }
}

/// The function of a text that has one.
fn function(text: &str) -> Option<crate::syntax::ast::Function> {
    let (module, diagnostics) = crate::syntax::parse(&format!(".version 6.0\n.target sm_50\n{text}"));
    debug_assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    module.items.into_iter().find_map(|item| if let Item::Function(f) = item { Some(f) } else { None })
}

/// Text as statements.
fn statements(text: &str) -> Vec<Statement> {
    function(&format!(".func f() {{\n{text}\n}}")).and_then(|f| f.body).unwrap_or_default()
}
