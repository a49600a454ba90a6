//! What a program's instructions say about the order of memory.

use crate::decode::{AtomicOp, Program};
use crate::op::{Class, Op, Origin};
use raddle_ptx::analysis::{BitSet, Cfg, Liveness};
use raddle_ptx::ir::{FuncId, Function};
use raddle_ptx::isa::{Opcode, Word};
use std::collections::BTreeMap;

/// What one operation does to the order of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fact {
    /// Atomic, volatile or relaxed: it does not race with others of its kind.
    pub(super) is_strong: bool,
    /// Whoever reads its value learns what came before.
    pub(super) releases: bool,
    /// For threads of the grid, and not of the block alone.
    pub(super) is_wide: bool,
    /// It writes memory and does not read it.
    pub(super) is_store: bool,
    /// An atomic for which it does not matter what was in memory: an exchange whose result no instruction reads.
    pub(super) ignores_old: bool,
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
    let mut unread: BTreeMap<FuncId, BitSet> = BTreeMap::new();
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
            is_store: match op.class {
                Class::Matrix => op.access.writes,
                Class::Surface => program.surfaces[op.target as usize].is_store,
                class => class == Class::Store,
            },
            ignores_old: is_exchange(op) && {
                let Origin { func, inst } = program.origins[pc];
                unread.entry(func).or_insert_with(|| unread_results(module.func(func))).contains(inst.index())
            },
            is_fence: matches!(inst.opcode, Opcode::Membar | Opcode::Fence),
            is_meeting: op.is_warp_barrier(),
            is_aligned: inst.opcode == Opcode::Bar || inst.has(Word::Aligned),
        }
    };
    (0..program.ops.len()).map(one).collect()
}

fn is_exchange(op: &Op) -> bool {
    op.class == Class::Atomic && AtomicOp::ALL[usize::from(op.variant)] == AtomicOp::Exch
}

/// The instructions of a function whose results no instruction reads.
fn unread_results(function: &Function) -> BitSet {
    let cfg = Cfg::new(function);
    let live = Liveness::new(function, &cfg);
    let mut unread = BitSet::new(function.insts.len());
    for (block, _) in cfg.iter() {
        live.for_each_after(function, &cfg, block, |id, after| {
            let mut is_read = false;
            function.insts[id.index()].for_each_def(|reg| is_read |= after.contains(reg.index()));
            if !is_read {
                unread.insert(id.index());
            }
        });
    }
    unread
}
