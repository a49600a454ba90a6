//! What was found, for the user.

use crate::fault::{ThreadId, place};
use raddle_ptx::ir::{FuncId, InstId, Module};
use std::fmt;

/// A memory that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Of the grid.
    Global,
    /// Of a block.
    Shared,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Shared => "shared",
        })
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Two threads access the same bytes, one of them writes, and nothing orders them.
    Race {
        /// Where.
        space: Space,
        /// Whether the earlier access writes.
        earlier_writes: bool,
        /// Whether the later one writes.
        later_writes: bool,
    },
    /// Some lanes of a warp come to a barrier without the others.
    DivergentBarrier,
    /// Threads of a block wait at one barrier by different instructions.
    DifferentBarriers,
    /// A barrier of the whole block is complete though threads have ended before it.
    EndedBeforeBarrier,
    /// Bytes are read that nobody has written.
    NeverWritten {
        /// Where.
        space: Space,
    },
}

/// Who, and by which instruction.
pub type By = (ThreadId, (FuncId, InstId));

/// One place, or pair of places, with something wrong; reported once, however often it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// The address, where there is one.
    pub address: u64,
    /// The name of the allocation it is in, and how far from its start, where it is one of global memory.
    pub allocation: Option<(String, u64)>,
    /// The earlier access or arrival.
    pub earlier: Option<By>,
    /// The later one.
    pub later: By,
    /// How often it happened.
    pub count: u64,
}

fn verb(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

impl Finding {
    /// Whether its address is one of global memory.
    pub(super) fn is_global(&self) -> bool {
        matches!(self.kind, Kind::Race { space: Space::Global, .. } | Kind::NeverWritten { space: Space::Global })
    }

    /// The text for the user.
    #[must_use]
    pub fn describe(&self, module: &Module, source: Option<&str>) -> String {
        let place = |(func, inst): (FuncId, InstId)| place(module, source, func, inst);
        let (thread, at) = self.later;
        let times = if self.count > 1 { format!(", {} times", self.count) } else { String::new() };
        let address = match &self.allocation {
            Some((name, offset)) => format!("{:#x} (`{name}` + {offset})", self.address),
            None => format!("{:#x}", self.address),
        };
        let head = match self.kind {
            Kind::Race { space, earlier_writes, later_writes } => format!(
                "race in {space} memory at {address}{times}: {} and {} are not ordered",
                verb(earlier_writes),
                verb(later_writes)
            ),
            Kind::DivergentBarrier => {
                format!("divergent barrier{times}: some threads of a warp come without the others")
            }
            Kind::DifferentBarriers => format!("threads of a block meet at different barrier instructions{times}"),
            Kind::EndedBeforeBarrier => format!("threads of a block have ended before its barrier{times}"),
            Kind::NeverWritten { space } => format!("{space} memory at {address} is read before it is written{times}"),
        };
        match self.earlier {
            Some((other, before)) => {
                format!("{head}\n  first {other}\n    at {}\n  then {thread}\n    at {}", place(before), place(at))
            }
            None => format!("{head}\n  in {thread}\n    at {}", place(at)),
        }
    }
}
