//! What was found, for the user.

use crate::decode::Program;
use crate::fault::ThreadId;
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
    /// A word of shared memory is read that no thread has written.
    NeverWritten,
}

/// One place, or pair of places, with something wrong; reported once, however often it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// The address, where there is one.
    pub address: u64,
    /// The earlier access or arrival: who and by which operation.
    pub earlier: Option<(ThreadId, u32)>,
    /// The later one.
    pub later: (ThreadId, u32),
    /// How often it happened.
    pub count: u64,
}

fn verb(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

impl Finding {
    /// The text for the user.
    #[must_use]
    pub fn describe(&self, program: &Program, source: Option<&str>) -> String {
        let place = |pc: u32| program.place(pc, source);
        let (thread, pc) = self.later;
        let times = if self.count > 1 { format!(", {} times", self.count) } else { String::new() };
        let head = match self.kind {
            Kind::Race { space, earlier_writes, later_writes } => format!(
                "race in {space} memory at {:#x}{times}: {} and {} are not ordered",
                self.address,
                verb(earlier_writes),
                verb(later_writes)
            ),
            Kind::DivergentBarrier => {
                format!("divergent barrier{times}: some threads of a warp come without the others")
            }
            Kind::DifferentBarriers => format!("threads of a block meet at different barrier instructions{times}"),
            Kind::EndedBeforeBarrier => format!("threads of a block have ended before its barrier{times}"),
            Kind::NeverWritten => {
                format!("shared memory at {:#x} is read before it is written{times}", self.address)
            }
        };
        let mut text = head;
        if let Some((other, at)) = self.earlier {
            text += &format!("\n  first {other}\n    at {}\n  then {thread}\n    at {}", place(at), place(pc));
        } else {
            text += &format!("\n  in {thread}\n    at {}", place(pc));
        }
        text
    }
}
