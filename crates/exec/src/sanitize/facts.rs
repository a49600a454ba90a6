//! What a program's instructions say about the order of memory.

use crate::decode::Program;
use crate::op::{Class, MemSpace};
use raddle_ptx::isa::{Opcode, Word};

/// What one operation does to the order of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fact {
    /// Atomic, volatile or relaxed: it does not race with others of its kind.
    pub(super) is_strong: bool,
    /// Whoever reads its value learns what came before.
    pub(super) releases: bool,
    /// For threads of the grid, and not of the block alone.
    pub(super) is_wide: bool,
    /// It writes global memory at addresses that the sanitizer is not told.
    pub(super) is_unseen_store: bool,
    /// A fence.
    pub(super) is_fence: bool,
    /// Lanes of a warp wait for each other.
    pub(super) is_meeting: bool,
    /// All lanes of a warp have to come to it together.
    pub(super) is_aligned: bool,
}

/// For each operation of a program.
pub(super) fn facts(program: &Program) -> Vec<Fact> {
    let module = &program.image.module;
    let one = |pc: usize| {
        let op = &program.ops[pc];
        let Some(inst) = program.origins.get(pc).and_then(|o| module.func(o.func).insts.get(o.inst.index())) else {
            return Fact::default();
        };
        let is_strong = op.class == Class::Atomic
            || inst.first_of(&[Word::Volatile, Word::Relaxed, Word::Acquire, Word::Release]).is_some();
        Fact {
            is_strong,
            releases: is_strong && inst.first_of(&[Word::Release, Word::AcqRel]).is_some(),
            is_wide: !inst.has(Word::Cta),
            is_unseen_store: op.class == Class::Matrix && op.access.writes && op.access.space != MemSpace::Shared,
            is_fence: matches!(inst.opcode, Opcode::Membar | Opcode::Fence),
            is_meeting: op.is_warp_barrier(),
            is_aligned: inst.opcode == Opcode::Bar || inst.has(Word::Aligned),
        }
    };
    (0..program.ops.len()).map(one).collect()
}
