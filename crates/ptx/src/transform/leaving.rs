//! Threads that end before a barrier of their own.
//!
//! A thread that has ended counts as arrived at every barrier of its block. One that has left the body of a wrapper loop
//! has not ended: in the software form nobody tells the barriers, and in the hardware form its lanes may have to wait where
//! they meet those of its warp that are at the barrier. So every thread of a block must come to the same
//! barriers, equally often. That holds when threads cannot part at any branch that decides whether a barrier comes next:
//! at those it is control-dependent on, those these are control-dependent on, and so on. Memory is taken to be steady: a
//! loop around a barrier that ends when a flag is set ends for all threads at once, or the program was wrong before.

use crate::analysis::{BitSet, BlockId, Cfg, PostDominators, Uniformity};
use crate::ir::{Function, Inst, InstId, Module};
use crate::isa::{Opcode, Word};

/// Whether this waits for other threads of the block, or arrives where they wait.
pub(super) fn is_barrier(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Bar | Opcode::Barrier) && !inst.has(Word::Warp)
}

/// A barrier that some threads of a block may miss.
pub(super) struct Missed {
    /// Where they part from the others: a branch, a guarded return, or the barrier when that is guarded.
    pub at: InstId,
    /// The barrier.
    pub barrier: InstId,
}

/// The first barrier of the text that threads may miss; of the branches that decide, the first of the text.
pub(super) fn missed_barrier(module: &Module, function: &Function) -> Option<Missed> {
    let barriers: Vec<InstId> = function.insts().filter(|(_, i)| is_barrier(i)).map(|(id, _)| id).collect();
    if barriers.is_empty() {
        return None;
    }
    let cfg = Cfg::new(function);
    let post = PostDominators::new(&cfg);
    let uniform = Uniformity::with_steady_memory(module, function, &cfg, &post);
    let deciders = deciders(&cfg, &post);
    barriers.into_iter().filter(|b| cfg.is_reachable(cfg.block_of(*b))).find_map(|barrier| {
        let guard = function.insts[barrier.index()].guard;
        if guard.is_some_and(|g| uniform.varies(g.reg)) {
            return Some(Missed { at: barrier, barrier });
        }
        let mut seen = BitSet::new(cfg.blocks.len());
        let mut todo = vec![cfg.block_of(barrier)];
        while let Some(block) = todo.pop() {
            todo.extend(deciders[block.index()].iter().filter(|d| seen.insert(d.index())));
        }
        let branches = seen.iter().map(|b| cfg.blocks[b].last);
        let at = branches.into_iter().find(|branch| !uniform.is_uniform(*branch))?;
        Some(Missed { at, barrier })
    })
}

/// For each block, the blocks whose branch decides whether it is executed.
fn deciders(cfg: &Cfg, post: &PostDominators) -> Vec<Vec<BlockId>> {
    let mut deciders: Vec<Vec<BlockId>> = vec![Vec::new(); cfg.blocks.len() + 1];
    for (branch, block) in cfg.iter().filter(|(id, b)| cfg.is_reachable(*id) && b.succs.len() > 1) {
        let end = post.ipdom(branch);
        for succ in &block.succs {
            // From there up to where all ways meet, everything depends on the branch.
            let mut at = Some(*succ).filter(|s| *s != cfg.exit());
            while let Some(dependent) = at.filter(|a| Some(*a) != end) {
                let list = &mut deciders[dependent.index()];
                if list.last() == Some(&branch) {
                    break;
                }
                list.push(branch);
                at = post.ipdom(dependent);
            }
        }
    }
    deciders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::kernel;

    /// Where threads part before a barrier they may miss.
    fn missed(body: &str) -> Option<String> {
        let (module, id) = kernel(&format!("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; {body} ret;"));
        let function = module.func(id);
        missed_barrier(&module, function).map(|m| function.insts[m.at.index()].mnemonic())
    }

    #[test]
    fn a_barrier_for_all_is_missed_by_nobody() {
        assert_eq!(missed("@%p1 bra A; mov.u32 %r2, 1; A: bar.sync 0; @%p1 mov.u32 %r3, 1;"), None);
        assert_eq!(missed("@%p1 bra End; mov.u32 %r2, 1; End:"), None, "no barrier");
        assert_eq!(missed("bar.sync 0; @%p1 ret; mov.u32 %r2, 1;"), None, "returns behind all barriers");
        assert_eq!(missed("@%p1 bra End; bar.warp.sync -1; End:"), None, "not of the block");
    }

    #[test]
    fn returns_before_a_barrier_are_found() {
        assert_eq!(missed("@%p1 ret; bar.sync 0;").as_deref(), Some("ret"));
        assert_eq!(missed("@%p1 exit; bar.sync 0;").as_deref(), Some("exit"));
        assert_eq!(missed("@%p1 bra End; bar.sync 0; End:").as_deref(), Some("bra"), "the way compilers write it");
        assert_eq!(missed("@%p1 bar.sync 0;").as_deref(), Some("bar.sync"));
        assert_eq!(missed("@%p1 bra A; bra End; A: bar.red.popc.u32 %r2, 0, %p1; End:").as_deref(), Some("bra"));
    }

    #[test]
    fn conditions_that_are_the_same_for_a_block_are_fine() {
        let uniform = "ld.param.u32 %r2, [n]; setp.eq.u32 %p2, %r2, 0;";
        assert_eq!(missed(&format!("{uniform} @%p2 ret; bar.sync 0;")), None);
        assert_eq!(missed(&format!("{uniform} @%p2 bra End; @%p1 bra A; mov.u32 %r3, 1; A: bar.sync 0; End:")), None);
    }

    #[test]
    fn flags_in_memory_are_the_same_for_a_block() {
        let flag = |address: &str| {
            format!("L: bar.sync 0; ld.shared.u32 %r2, {address}; setp.lt.u32 %p2, %r2, 9; @%p2 bra L;")
        };
        assert_eq!(missed(&flag("[s]")), None);
        assert_eq!(missed(&flag("[%r1]")).as_deref(), Some("bra"), "each thread has a flag of its own");
    }

    #[test]
    fn loops_are_followed_all_the_way() {
        let uniform = "mov.u32 %r2, 0; L: bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra L;";
        assert_eq!(missed(uniform), None);
        let varying = "mov.u32 %r2, 0; L: bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r1; @%p2 bra L;";
        assert_eq!(missed(varying).as_deref(), Some("bra"));
        let left = "mov.u32 %r2, 0; L: @%p1 bra End; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra L; bar.sync 0; End:";
        assert_eq!(missed(left).as_deref(), Some("bra"), "a way out of a loop over the barrier");
    }
}
