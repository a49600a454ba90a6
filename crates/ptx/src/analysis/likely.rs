//! Likely-convergence points: where threads that part inside a loop will probably meet, though nothing makes them.
//!
//! A `break` moves the immediate post-dominator of the branches around it behind the loop. Most threads still meet
//! earlier, in the block that jumps back to the loop's head. That block is the likely-convergence point of every branch
//! in the loop whose post-dominator is outside of it. The block itself has none: behind it, threads are in the next
//! iteration or have left.

use super::{Cfg, Dominators, Loops, PostDominators};
use crate::ir::InstId;

/// The likely-convergence points of a function.
#[derive(Clone, Debug)]
pub struct LikelyConvergence {
    loops: Loops,
}

impl LikelyConvergence {
    /// Looks for the loops of a function.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        Self { loops: Loops::new(cfg, &Dominators::new(cfg)) }
    }

    /// Where threads that part at `branch` are likely to meet before its immediate post-dominator: the first
    /// instruction of the last block in program order that jumps back to the head of the innermost loop around it.
    #[must_use]
    pub fn of(&self, cfg: &Cfg, post: &PostDominators, branch: InstId) -> Option<InstId> {
        let block = cfg.block_of(branch);
        let innermost = self.loops.innermost(block)?;
        let tail = *self.loops.get(innermost).tails.last()?;
        let stays = post.ipdom(block).is_some_and(|meet| self.loops.contains(innermost, meet));
        let first = cfg.block(tail).insts().next()?;
        (tail != block && !stays).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::kernel;

    /// The likely-convergence point of every branch with two ways, by instruction.
    fn points(body: &str) -> Vec<(u32, Option<u32>)> {
        let (module, id) = kernel(body);
        let cfg = Cfg::new(module.func(id));
        let (post, likely) = (PostDominators::new(&cfg), LikelyConvergence::new(&cfg));
        let branches = cfg.iter().filter(|(id, _)| cfg.succs(*id).len() > 1);
        let ends = branches.filter_map(|(_, block)| block.insts().next_back());
        ends.map(|inst| (inst.0, likely.of(&cfg, &post, inst).map(|i| i.0))).collect()
    }

    #[test]
    fn branches_around_a_break_meet_where_the_loop_goes_round() {
        // The loop of the TBC paper's second example: A 0, B 1-2, C 3, D 4, E 5-6, F 7.
        let body = "A: @%p0 bra C; add.s32 %r0, %r0, 1; bra E; C: @%p1 bra E; bra F; E: add.s32 %r1, %r1, 1; @%p2 bra A; F: ret;";
        assert_eq!(points(body), [(0, Some(5)), (3, Some(5)), (6, None)]);
    }

    #[test]
    fn branches_that_meet_inside_the_loop_need_none() {
        let body = "A: @%p0 bra C; add.s32 %r0, %r0, 1; C: add.s32 %r1, %r1, 1; @%p1 bra A; ret;";
        assert_eq!(points(body), [(0, None), (3, None)]);
        assert_eq!(points("@%p0 bra B; add.s32 %r0, %r0, 1; B: ret;"), [(0, None)]);
    }

    #[test]
    fn the_innermost_loop_counts() {
        // The outer loop A..G holds the loop B..E with a break.
        let body = "A: add.s32 %r0, %r0, 1; B: @%p0 bra D; @%p1 bra G; D: add.s32 %r1, %r1, 1; @%p2 bra B; \
                    add.s32 %r1, %r1, 2; G: @%p3 bra A; ret;";
        assert_eq!(points(body), [(1, Some(3)), (2, Some(3)), (4, None), (6, None)]);
    }
}
