//! How a launch ends when it cannot continue.

use raddle_ptx::ir::{FuncId, InstId, Loc, Module};
use raddle_ptx::source::LineIndex;
use std::fmt;

/// A thread of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    /// Thread block.
    pub cta: [u32; 3],
    /// Thread in the block.
    pub thread: [u32; 3],
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.thread;
        let [a, b, c] = self.cta;
        write!(f, "thread ({x},{y},{z}) of block ({a},{b},{c})")
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A memory access that cannot be done; the text says why.
    Memory(String),
    /// The `trap` or `brkpt` instruction.
    Trap,
    /// A failed device assertion.
    Assert(String),
    /// A register read before it was written (reported on request).
    UninitialisedRegister(String),
    /// More local memory than a thread may have.
    StackOverflow,
    /// An indirect call to something that is not a function, or a branch index out of range.
    BadTarget(String),
    /// Something whose result the PTX ISA leaves undefined; the text says what.
    Undefined(String),
    /// Nothing can continue; the text lists what each thread waits for.
    Deadlock(String),
    /// The instruction limit was reached; the text lists where threads are.
    InstructionLimit(String),
    /// The launch was ended from outside ([`crate::Interrupt`]).
    Interrupted,
}

/// A fault: what, who, where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The first thread concerned.
    pub thread: Option<ThreadId>,
    /// The instruction.
    pub at: Option<(FuncId, InstId)>,
    /// What the kernel printed before.
    pub output: String,
}

impl Fault {
    /// The text for the user: what, which thread, function, PTX line and source line.
    #[must_use]
    pub fn describe(&self, module: &Module, source: Option<&str>) -> String {
        let mut text = self.kind.to_string();
        if let Some(thread) = self.thread {
            text += &format!("\n  in {thread}");
        }
        if let Some((func, inst)) = self.at {
            text += &format!("\n  at {}", place(module, source, func, inst));
        }
        text
    }
}

/// Where an instruction stands: function, number, PTX line and source line.
#[must_use]
pub fn place(module: &Module, source: Option<&str>, func: FuncId, inst: InstId) -> String {
    let function = module.func(func);
    let Some(i) = function.insts.get(inst.index()) else { return function.name.clone() };
    let mut text = format!("{} instruction {}", function.name, inst.0);
    if let Some(source) = source {
        let line = LineIndex::new(source).line(i.span.start);
        text += &format!(", PTX line {line}: {}", i.span.text(source));
    } else {
        text += &format!(": {}", i.mnemonic());
    }
    if let Some(Loc { file, line, column, .. }) = i.loc {
        text += &format!(" ({}:{line}:{column})", module.file(file).unwrap_or("?"));
    }
    text
}

impl FaultKind {
    /// A lane executes a `.sync` operation and is not one of its members.
    pub(crate) fn not_a_member(lane: u32, members: u32) -> Self {
        Self::Undefined(format!(
            "lane {lane} executes a warp-wide operation whose member mask {members:#010x} leaves out lane {lane} itself; \
             the PTX ISA leaves the result undefined"
        ))
    }

    /// An instruction for a whole warp is executed by some of its lanes.
    pub(crate) fn not_a_whole_warp(name: &str, lanes: u32) -> Self {
        Self::Undefined(format!(
            "`{name}` is executed by the lanes {lanes:#010x} of a warp and not by all; the PTX ISA leaves the result undefined"
        ))
    }

    /// The lanes of a warp do not agree about a matrix in memory.
    pub(crate) fn not_the_same(name: &str) -> Self {
        Self::Undefined(format!(
            "`{name}` has another address or stride than in lane 0; the PTX ISA leaves the result undefined"
        ))
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(text) => write!(f, "{text}"),
            Self::Trap => write!(f, "trap instruction"),
            Self::Assert(text) => write!(f, "device assertion failed: {text}"),
            Self::UninitialisedRegister(name) => write!(f, "register `{name}` is read before it was written"),
            Self::StackOverflow => write!(f, "stack overflow: a thread needs more than 512 KiB of local memory"),
            Self::BadTarget(text) | Self::Undefined(text) => write!(f, "{text}"),
            Self::Deadlock(text) => write!(f, "deadlock: no thread can continue\n{text}"),
            Self::InstructionLimit(text) => write!(f, "instruction limit reached\n{text}"),
            Self::Interrupted => write!(f, "interrupted"),
        }
    }
}
