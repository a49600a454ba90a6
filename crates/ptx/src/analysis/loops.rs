//! Natural loops.
//!
//! A back edge leads to a block that dominates its source; the natural loop of its head is the head
//! and everything that reaches the back edge without passing the head. Back edges to the same head
//! make one loop. Edges that go back without dominance are entries into the middle of a cycle:
//! such a graph is irreducible, and those cycles are not listed.

use super::{BlockId, Cfg, Dominators};
use crate::num::fit;

/// A loop: index into [`Loops::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The only way in.
    pub head: BlockId,
    /// Sources of the back edges, in rising order.
    pub tails: Vec<BlockId>,
    /// The smallest loop around this one.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// The loops of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// Outer loops before the loops inside them.
    pub loops: Vec<Loop>,
    /// Whether some cycle has more than one way in.
    pub irreducible: bool,
    /// The innermost loop of each block.
    innermost: Vec<Option<LoopId>>,
    /// The loop each block is the head of.
    headed: Vec<Option<LoopId>>,
}

impl Loops {
    /// Finds the loops.
    #[must_use]
    pub fn new(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut place = vec![0; cfg.blocks.len() + 1];
        for (i, block) in cfg.reverse_postorder().iter().enumerate() {
            place[block.index()] = i;
        }
        let mut irreducible = false;
        let mut loops = Vec::new();
        let mut headed = vec![None; cfg.blocks.len()];
        for &head in cfg.reverse_postorder() {
            let mut tails: Vec<BlockId> = Vec::new();
            for &tail in cfg.preds(head).iter().filter(|p| cfg.is_reachable(**p)) {
                if dominators.dominates(head, tail) {
                    tails.push(tail);
                } else {
                    irreducible |= place[tail.index()] >= place[head.index()];
                }
            }
            if !tails.is_empty() {
                headed[head.index()] = Some(LoopId(fit(loops.len())));
                loops.push(Loop { head, tails, parent: None, depth: 1 });
            }
        }
        let innermost = bodies(cfg, &mut loops);
        // Heads come in reverse postorder, so an outer loop stands before the loops inside it.
        for i in 0..loops.len() {
            loops[i].depth = loops[i].parent.map_or(0, |p| loops[p.0 as usize].depth) + 1;
        }
        Self { loops, irreducible, innermost, headed }
    }

    /// The loop.
    #[must_use]
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.0 as usize]
    }

    /// The innermost loop a block is in.
    #[must_use]
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost.get(block.index()).copied().flatten()
    }

    /// In how many loops a block is.
    #[must_use]
    pub fn depth(&self, block: BlockId) -> u32 {
        self.innermost(block).map_or(0, |l| self.get(l).depth)
    }

    /// Whether the edge jumps back to the head of a loop.
    #[must_use]
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        let headed = self.headed.get(to.index()).copied().flatten();
        headed.is_some_and(|l| self.get(l).tails.binary_search(&from).is_ok())
    }

    /// All blocks of a loop, head and inner loops included, in rising order.
    pub fn blocks(&self, id: LoopId) -> impl Iterator<Item = BlockId> {
        (0..self.innermost.len()).map(BlockId::from_index).filter(move |b| self.contains(id, *b))
    }

    /// Whether a block is in a loop, or in a loop inside of it.
    #[must_use]
    pub fn contains(&self, id: LoopId, block: BlockId) -> bool {
        let depth = self.get(id).depth;
        let mut around = self.innermost(block);
        while let Some(l) = around.filter(|l| self.get(*l).depth > depth) {
            around = self.get(l).parent;
        }
        around == Some(id)
    }
}

/// Finds the innermost loop of each block and the parents of the loops.
///
/// Inner loops come first. The body of a loop is found backwards from its tails; where that meets a loop already found,
/// the whole of it is inside, and the search goes on before its head. So every block is looked at once.
fn bodies(cfg: &Cfg, loops: &mut [Loop]) -> Vec<Option<LoopId>> {
    let mut innermost: Vec<Option<LoopId>> = vec![None; cfg.blocks.len()];
    // A way from each loop to the outermost found so far around it, shortened while it is gone.
    let mut around: Vec<usize> = (0..loops.len()).collect();
    for this in (0..loops.len()).rev() {
        let id = LoopId(fit(this));
        innermost[loops[this].head.index()].get_or_insert(id);
        let mut todo = loops[this].tails.clone();
        while let Some(block) = todo.pop() {
            if !cfg.is_reachable(block) {
                continue;
            }
            let Some(inside) = innermost[block.index()] else {
                innermost[block.index()] = Some(id);
                todo.extend(cfg.preds(block));
                continue;
            };
            let mut outermost = inside.0 as usize;
            while around[outermost] != outermost {
                around[outermost] = around[around[outermost]];
                outermost = around[outermost];
            }
            if outermost != this {
                around[outermost] = this;
                loops[outermost].parent = Some(id);
                todo.extend(cfg.preds(loops[outermost].head));
            }
        }
    }
    innermost
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;
    use std::fmt::Write;

    fn render(edges: &[&[u32]]) -> String {
        let edges: Vec<Vec<u32>> = edges.iter().map(|e| e.to_vec()).collect();
        let cfg = Cfg::from_edges(&edges);
        let found = Loops::new(&cfg, &Dominators::new(&cfg));
        let mut text = String::new();
        for (i, l) in found.loops.iter().enumerate() {
            let blocks: Vec<u32> = found.blocks(LoopId(i as u32)).map(|b| b.0).collect();
            let parent = l.parent.map_or(String::new(), |p| format!(" in {}", found.get(p).head.0));
            let _ = writeln!(text, "{}: depth {}{parent} {blocks:?}", l.head.0, l.depth);
        }
        if found.irreducible { text + "irreducible\n" } else { text }
    }

    #[test]
    fn loops_nest() {
        let edges = [&[1][..], &[2, 6], &[3], &[2, 4], &[4, 5], &[1], &[9]];
        assert_eq!(render(&edges), "1: depth 1 [1, 2, 3, 4, 5]\n2: depth 2 in 1 [2, 3]\n4: depth 2 in 1 [4]\n");
    }

    #[test]
    fn back_edges_to_one_head_make_one_loop() {
        assert_eq!(render(&[&[1], &[2, 3], &[1], &[1, 4], &[9]]), "1: depth 1 [1, 2, 3]\n");
    }

    #[test]
    fn two_ways_in_are_irreducible() {
        assert_eq!(render(&[&[1, 2], &[2], &[1, 9]]), "irreducible\n");
    }

    #[test]
    fn unreachable_cycles_are_no_loops() {
        assert_eq!(render(&[&[9], &[1]]), "");
    }

    #[test]
    fn random_loops_hold_together() {
        let mut random = Random(7);
        for _ in 0..2000 {
            let count = 1 + random.below(16);
            let edges: Vec<Vec<u32>> =
                (0..count).map(|_| (0..1 + random.below(2)).map(|_| random.below(count + 1)).collect()).collect();
            let cfg = Cfg::from_edges(&edges);
            let dominators = Dominators::new(&cfg);
            let found = Loops::new(&cfg, &dominators);
            let blocks = |id: LoopId| found.blocks(id).collect::<Vec<_>>();
            for (i, l) in found.loops.iter().enumerate() {
                let inside = blocks(LoopId(i as u32));
                assert!(inside.iter().all(|b| dominators.dominates(l.head, *b)), "the head dominates, {edges:?}");
                for b in inside.iter().filter(|b| **b != l.head) {
                    assert!(cfg.preds(*b).iter().all(|p| !cfg.is_reachable(*p) || inside.contains(p)), "{edges:?}");
                }
                if let Some(parent) = l.parent {
                    let outside = blocks(parent);
                    assert!(inside.iter().all(|b| outside.contains(b)), "inner in outer, {edges:?}");
                }
            }
        }
    }
}
