//! Dominators and post-dominators.
//!
//! Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", with path compression only: for
//! e edges and n nodes it takes O(e log n) steps on any graph. Simpler ways walk up the tree for each edge, which is
//! quadratic where many blocks jump to one. Post-dominators are the dominators of the reversed graph from the virtual
//! exit.
//!
//! # Code that cannot end
//!
//! Post-dominance is about paths to the exit. For a block that can reach the exit it is exact,
//! and paths that never end do not count: where one arm of a branch ends in an endless loop, the
//! post-dominator is the other arm. Blocks that cannot reach the exit have only each other as
//! successors, so they are treated on their own: every loop from which there is no way out is
//! thought to leave behind its last block in reverse postorder (in `while (1) { if … }` the block
//! that jumps back), so branches inside it still get a place to rejoin. [`PostDominators::can_exit`]
//! tells the two kinds apart.

use super::BitSet;
use super::cfg::{BlockId, Cfg, postorder};
use crate::ir::InstId;
use crate::num::fit;

/// Marks a node without a parent in a dominator tree.
const NONE: u32 = u32::MAX;

/// The immediate dominator of each node reachable from `root`; `NONE` for the root and the rest.
fn immediate_dominators(root: u32, succs: &[Vec<u32>], preds: &[Vec<u32>]) -> Vec<u32> {
    let walk = Walk::new(root, succs);
    let count = walk.node.len();
    let numbers = 0..fit::<u32, _>(count);
    // From here on nodes are their numbers in the walk. `semi` is the semidominator, `best` the node with the least
    // one on the path up to the root of its tree in the forest so far, and `up` the way there.
    let mut forest = Forest { up: vec![NONE; count], best: numbers.clone().collect(), semi: numbers.clone().collect() };
    let mut idom = vec![NONE; count];
    let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); count];
    for w in numbers.skip(1).rev() {
        let parent = walk.parent[w as usize];
        for pred in preds[walk.node[w as usize] as usize].iter().map(|p| walk.number[*p as usize]) {
            if pred != NONE {
                let u = forest.eval(pred);
                forest.semi[w as usize] = forest.semi[w as usize].min(forest.semi[u as usize]);
            }
        }
        bucket[forest.semi[w as usize] as usize].push(w);
        forest.up[w as usize] = parent;
        for v in std::mem::take(&mut bucket[parent as usize]) {
            let u = forest.eval(v);
            idom[v as usize] = if forest.semi[u as usize] < forest.semi[v as usize] { u } else { parent };
        }
    }
    let mut result = vec![NONE; succs.len()];
    for w in 1..count {
        if idom[w] != forest.semi[w] {
            idom[w] = idom[idom[w] as usize];
        }
        result[walk.node[w] as usize] = walk.node[idom[w] as usize];
    }
    result
}

/// A walk in depth first from a root.
struct Walk {
    /// The nodes in the order in which they are met.
    node: Vec<u32>,
    /// The place of each node in it; `NONE` when it is not met.
    number: Vec<u32>,
    /// The place of the node from which each place was met.
    parent: Vec<u32>,
}

impl Walk {
    fn new(root: u32, succs: &[Vec<u32>]) -> Self {
        let mut walk = Self { node: Vec::new(), number: vec![NONE; succs.len()], parent: Vec::new() };
        let mut todo = vec![(root, NONE)];
        while let Some((node, parent)) = todo.pop() {
            if walk.number[node as usize] == NONE {
                let number = fit(walk.node.len());
                walk.number[node as usize] = number;
                walk.node.push(node);
                walk.parent.push(parent);
                todo.extend(succs[node as usize].iter().map(|s| (*s, number)));
            }
        }
        walk
    }
}

/// The part of the walk's tree that has been dealt with, as paths towards the root.
struct Forest {
    up: Vec<u32>,
    best: Vec<u32>,
    semi: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator from `v` up to, but not including, the root of its tree. Shortens the
    /// paths it goes along.
    fn eval(&mut self, v: u32) -> u32 {
        let mut path = Vec::new();
        let mut at = v;
        while self.up[at as usize] != NONE {
            path.push(at);
            at = self.up[at as usize];
        }
        let tree = at;
        // From the top: the node just below the root keeps its own answer.
        let mut above: Option<u32> = None;
        for node in path.into_iter().rev() {
            if let Some(above) = above {
                let (mine, theirs) = (self.best[node as usize], self.best[above as usize]);
                if self.semi[theirs as usize] < self.semi[mine as usize] {
                    self.best[node as usize] = theirs;
                }
                self.up[node as usize] = tree;
            }
            above = Some(node);
        }
        self.best[v as usize]
    }
}

/// A tree with, for each node, when a walk enters and leaves it: ancestry in two comparisons.
#[derive(Clone, Debug)]
struct Tree {
    parent: Vec<u32>,
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl Tree {
    fn new(root: u32, parent: Vec<u32>) -> Self {
        let mut children = vec![Vec::new(); parent.len()];
        for (node, parent) in parent.iter().enumerate().filter(|(_, p)| **p != NONE) {
            children[*parent as usize].push(fit(node));
        }
        let mut tree = Self { enter: vec![NONE; parent.len()], leave: vec![0; parent.len()], parent };
        let order = postorder(root, &children);
        // In postorder, a subtree is a run that ends with its root.
        let mut size = vec![1; tree.parent.len()];
        for (i, node) in (0..).zip(&order) {
            let n = *node as usize;
            size[n] += children[n].iter().map(|c| size[*c as usize]).sum::<u32>();
            tree.leave[n] = i;
            tree.enter[n] = i + 1 - size[n];
        }
        tree
    }

    fn parent(&self, node: BlockId) -> Option<BlockId> {
        self.parent.get(node.index()).filter(|p| **p != NONE).map(|p| BlockId(*p))
    }

    fn contains(&self, node: BlockId) -> bool {
        self.enter.get(node.index()).is_some_and(|e| *e != NONE)
    }

    /// Which of these siblings, in the order in which a walk leaves them, has `node` below it or is it.
    fn holder(&self, siblings: &[u32], node: BlockId) -> Option<u32> {
        let left = self.leave[node.index()];
        let at = siblings.partition_point(|s| self.leave[*s as usize] < left);
        siblings.get(at).copied().filter(|s| self.is_ancestor(BlockId(*s), node))
    }

    fn is_ancestor(&self, a: BlockId, b: BlockId) -> bool {
        let (a, b) = (a.index(), b.index());
        self.enter[a] != NONE
            && self.enter[b] != NONE
            && self.enter[a] <= self.leave[b]
            && self.leave[b] <= self.leave[a]
    }
}

/// Edges of the graph with the virtual exit as its last node: successors and predecessors.
fn edges(cfg: &Cfg) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let numbers = |list: &[BlockId]| list.iter().map(|b| b.0).collect();
    let nodes = || (0..=cfg.exit().0).map(BlockId);
    (nodes().map(|b| numbers(cfg.succs(b))).collect(), nodes().map(|b| numbers(cfg.preds(b))).collect())
}

/// Which blocks every path from the entry goes through.
#[derive(Clone, Debug)]
pub struct Dominators {
    tree: Tree,
}

impl Dominators {
    /// Computes the dominators of all reachable blocks.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let (succs, preds) = edges(cfg);
        let root = cfg.entry().0;
        Self { tree: Tree::new(root, immediate_dominators(root, &succs, &preds)) }
    }

    /// The immediate dominator; `None` for the entry and for unreachable blocks.
    #[must_use]
    pub fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.tree.parent(block)
    }

    /// Whether every path from the entry to `b` goes through `a`. A block dominates itself;
    /// unreachable blocks dominate nothing and are dominated by nothing.
    #[must_use]
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.is_ancestor(a, b)
    }
}

/// Which blocks every path to the exit goes through; see the module for code that cannot end.
#[derive(Clone, Debug)]
pub struct PostDominators {
    tree: Tree,
    can_exit: BitSet,
    exit: BlockId,
    /// Block of each instruction.
    block_of: Vec<BlockId>,
    /// First instruction of each block.
    first: Vec<InstId>,
}

impl PostDominators {
    /// Computes the post-dominators of all blocks, unreachable ones included.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let (mut succs, mut preds) = edges(cfg);
        let exit = cfg.exit().0;
        let mut can_exit = BitSet::new(succs.len());
        for node in postorder(exit, &preds) {
            can_exit.insert(node as usize);
        }
        let mut idom = immediate_dominators(exit, &preds, &succs);
        // What cannot reach the exit is closed under successors: give its loops a way out, forget
        // everything else, and take the answers for these nodes only.
        let ends = endless_ends(cfg, &can_exit, &succs);
        if !ends.is_empty() {
            for node in 0..succs.len() {
                if can_exit.contains(node) {
                    succs[node].clear();
                }
                preds[node].retain(|p| !can_exit.contains(*p as usize));
            }
            for end in ends {
                succs[end as usize].push(exit);
                preds[exit as usize].push(end);
            }
            let inside = immediate_dominators(exit, &preds, &succs);
            for node in (0..inside.len()).filter(|n| !can_exit.contains(*n)) {
                idom[node] = inside[node];
            }
        }
        Self {
            tree: Tree::new(exit, idom),
            can_exit,
            exit: cfg.exit(),
            block_of: cfg.blocks.iter().flat_map(|b| b.insts()).map(|i| cfg.block_of(i)).collect(),
            first: cfg.blocks.iter().map(|b| b.first).collect(),
        }
    }

    /// The immediate post-dominator; `None` when it is the virtual exit, as it is for the virtual
    /// exit itself.
    #[must_use]
    pub fn ipdom(&self, block: BlockId) -> Option<BlockId> {
        self.tree.parent(block).filter(|b| *b != self.exit)
    }

    /// Whether every path from `b` to the exit goes through `a`. A block post-dominates itself and
    /// the virtual exit post-dominates everything.
    #[must_use]
    pub fn post_dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.contains(a) && self.tree.contains(b) && self.tree.is_ancestor(a, b)
    }

    /// Whether there is a path from the block to the exit.
    #[must_use]
    pub fn can_exit(&self, block: BlockId) -> bool {
        self.can_exit.contains(block.index())
    }

    /// For each block from which at least two ways lead back to it, none of them through its immediate post-dominator:
    /// the number of its cycle. Blocks of one cycle have the same immediate post-dominator, and from each of them, two
    /// ways lead to everything that can be reached from the cycle without passing it.
    pub(super) fn cycles(&self, cfg: &Cfg) -> Vec<Option<u32>> {
        // A path from a successor to the post-dominator of the block passes one of that post-dominator's children: the
        // paths between these children are all that matters, and each edge is looked at once.
        let mut children = vec![Vec::new(); self.tree.parent.len()];
        for (node, parent) in self.tree.parent.iter().enumerate().filter(|(_, p)| **p != NONE) {
            children[*parent as usize].push(fit(node));
        }
        children.iter_mut().for_each(|list| list.sort_by_key(|c| self.tree.leave[*c as usize]));
        let siblings = |block: BlockId| {
            let list = self.tree.parent(block).map_or(&[][..], |p| &children[p.index()]);
            cfg.succs(block).iter().filter_map(|succ| self.tree.holder(list, *succ)).collect()
        };
        let succs: Vec<Vec<u32>> = (0..=self.exit.0).map(|b| siblings(BlockId(b))).collect();
        let component = components(&succs);
        let cycle = |node: usize| {
            let stays = succs[node].iter().filter(|s| component[**s as usize] == component[node]).count();
            (stays >= 2).then_some(component[node])
        };
        (0..succs.len()).map(cycle).collect()
    }

    /// Where threads that diverge at the branch `inst` reconverge at the latest: the first instruction
    /// of the immediate post-dominator of its block. `None` when that is the exit.
    #[must_use]
    pub fn reconvergence(&self, inst: InstId) -> Option<InstId> {
        let block = *self.block_of.get(inst.index())?;
        self.ipdom(block).map(|b| self.first[b.index()])
    }
}

/// For each set of blocks that cannot be left, once entered, the block it is thought to end with.
fn endless_ends(cfg: &Cfg, can_exit: &BitSet, succs: &[Vec<u32>]) -> Vec<u32> {
    if can_exit.len() == succs.len() {
        return Vec::new();
    }
    let mut place = vec![0; succs.len()];
    for (i, block) in cfg.reverse_postorder().iter().enumerate() {
        place[block.index()] = i + 1;
    }
    let component = components(succs);
    // A component that no edge leaves cannot be left.
    let mut can_leave = can_exit.clone();
    for (node, succs) in succs.iter().enumerate() {
        if succs.iter().any(|s| component[*s as usize] != component[node]) {
            can_leave.insert(node);
        }
    }
    let mut leaves = BitSet::new(succs.len());
    can_leave.iter().for_each(|node| {
        leaves.insert(component[node] as usize);
    });
    let mut end = vec![NONE; succs.len()];
    for node in (0..fit::<u32, _>(succs.len())).filter(|n| !leaves.contains(component[*n as usize] as usize)) {
        let end = &mut end[component[node as usize] as usize];
        if *end == NONE || (place[node as usize], node) > (place[*end as usize], *end) {
            *end = node;
        }
    }
    end.retain(|e| *e != NONE);
    end
}

/// The number of the strongly connected component of each node of a graph, by Tarjan's algorithm without recursion.
#[must_use]
pub fn components(succs: &[Vec<u32>]) -> Vec<u32> {
    let count = succs.len();
    let (mut number, mut low, mut component) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut numbers, mut found) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    for root in 0..fit(count) {
        let mut path = vec![(root, 0)];
        if number[root as usize] != NONE {
            continue;
        }
        while let Some((node, next)) = path.last_mut() {
            let n = *node as usize;
            if *next == 0 {
                (number[n], low[n]) = (numbers, numbers);
                numbers += 1;
                open.push(*node);
            }
            if let Some(&succ) = succs[n].get(*next) {
                *next += 1;
                if number[succ as usize] == NONE {
                    path.push((succ, 0));
                } else if component[succ as usize] == NONE {
                    low[n] = low[n].min(number[succ as usize]);
                }
                continue;
            }
            if low[n] == number[n] {
                while let Some(member) = open.pop() {
                    component[member as usize] = found;
                    if member as usize == n {
                        break;
                    }
                }
                found += 1;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent as usize] = low[*parent as usize].min(low[n]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, kernel};
    use super::*;
    use petgraph::algo::dominators::simple_fast;
    use petgraph::graph::{DiGraph, NodeIndex};

    fn ipdoms(edges: &[&[u32]]) -> Vec<Option<u32>> {
        let edges: Vec<Vec<u32>> = edges.iter().map(|e| e.to_vec()).collect();
        let cfg = Cfg::from_edges(&edges);
        let post = PostDominators::new(&cfg);
        cfg.iter().map(|(b, _)| post.ipdom(b).map(|b| b.0)).collect()
    }

    /// The blocks that can be reached from one without passing another.
    fn reached(cfg: &Cfg, from: BlockId, end: BlockId) -> BitSet {
        let (mut seen, mut todo) = (BitSet::new(cfg.blocks.len() + 1), vec![from]);
        while let Some(block) = todo.pop() {
            if seen.insert(block.index()) && block != end {
                todo.extend(cfg.succs(block));
            }
        }
        seen
    }

    #[test]
    fn ways_in_a_cycle_reach_the_same() {
        let (mut random, mut shared) = (Random(0xC1C), 0);
        for _ in 0..3000 {
            let count = 1 + random.below(14);
            let edges: Vec<Vec<u32>> =
                (0..count).map(|_| (0..1 + random.below(3)).map(|_| random.below(count + 1)).collect()).collect();
            let cfg = Cfg::from_edges(&edges);
            let post = PostDominators::new(&cfg);
            let cycles = post.cycles(&cfg);
            let end = |block: BlockId| post.ipdom(block).unwrap_or(cfg.exit());
            let mut known: Vec<Option<(BlockId, BitSet)>> = vec![None; cycles.len()];
            for (block, _) in cfg.iter() {
                let end = end(block);
                let ways: Vec<BitSet> = cfg.succs(block).iter().map(|s| reached(&cfg, *s, end)).collect();
                let back = cfg.succs(block).iter().zip(&ways).filter(|(s, w)| **s != end && w.contains(block.index()));
                let back: Vec<&BitSet> = back.map(|(_, way)| way).collect();
                assert_eq!(cycles[block.index()].is_some(), back.len() >= 2, "{block:?} of {edges:?}");
                if let Some(cycle) = cycles[block.index()] {
                    let (of, all) = known[cycle as usize].get_or_insert_with(|| (end, back[0].clone()));
                    assert!(*of == end && back.iter().all(|way| *way == all), "{block:?} of {edges:?}");
                    assert!(ways.iter().all(|way| way.iter().all(|b| all.contains(b))), "{block:?} of {edges:?}");
                    shared += usize::from(back.len() >= 2);
                }
            }
        }
        assert!(shared > 1000, "only {shared} blocks in cycles");
    }

    #[test]
    fn a_diamond_rejoins_at_its_end() {
        assert_eq!(ipdoms(&[&[1, 2], &[3], &[3], &[9]]), [Some(3), Some(3), Some(3), None]);
    }

    #[test]
    fn an_arm_that_never_ends_does_not_count() {
        assert_eq!(ipdoms(&[&[1, 2], &[1], &[9]]), [Some(2), None, None]);
    }

    #[test]
    fn branches_in_an_endless_loop_rejoin_before_the_jump_back() {
        // while (1) { if … 2 else 3; 4 }
        let endless = [&[1][..], &[2, 3], &[4], &[4], &[1]];
        assert_eq!(ipdoms(&endless), [Some(1), Some(4), Some(4), Some(4), None]);
        // Two of them behind a branch that rejoins nowhere, and code nothing reaches.
        let two = [&[1, 3][..], &[2, 2], &[1], &[4, 5], &[6], &[6], &[3], &[0]];
        assert_eq!(ipdoms(&two), [None, Some(2), None, Some(6), Some(6), Some(6), None, Some(0)]);
    }

    #[test]
    fn reconvergence_is_the_first_instruction_of_the_post_dominator() {
        let (module, id) = kernel("@%p1 bra B; mov.u32 %r1, 1; bra C; B: mov.u32 %r1, 2; C: mov.u32 %r2, %r1; ret;");
        let cfg = Cfg::new(module.func(id));
        let post = PostDominators::new(&cfg);
        assert_eq!(post.reconvergence(InstId(0)), Some(InstId(4)));
        assert_eq!(post.reconvergence(InstId(5)), None);
        assert_eq!(post.reconvergence(InstId(99)), None);
    }

    /// A random graph; about half are sparse like programs, the rest wild.
    fn random_edges(random: &mut Random) -> Vec<Vec<u32>> {
        let count = 1 + random.below(24);
        let wild = random.below(2) == 0;
        let exits = 1 + random.below(4);
        let target = |random: &mut Random, from: u32| match random.below(exits + 6) {
            0 => count,
            _ if wild => random.below(count),
            1 => from.saturating_sub(random.below(6)),
            _ => (from + 1 + random.below(4)).min(count),
        };
        (0..count).map(|from| (0..1 + random.below(3)).map(|_| target(random, from)).collect()).collect()
    }

    #[test]
    fn random_graphs_agree_with_petgraph() {
        let mut random = Random(0x5EED);
        let (mut ended, mut endless) = (0, 0);
        for round in 0..6000 {
            let edges = random_edges(&mut random);
            let cfg = Cfg::from_edges(&edges);
            let mut graph: DiGraph<(), ()> = DiGraph::new();
            for _ in 0..=edges.len() {
                graph.add_node(());
            }
            for (id, block) in cfg.iter() {
                for succ in &block.succs {
                    graph.add_edge(NodeIndex::new(id.index()), NodeIndex::new(succ.index()), ());
                }
            }
            let oracle = simple_fast(&graph, NodeIndex::new(0));
            let ours = Dominators::new(&cfg);
            for (id, _) in cfg.iter() {
                let expected = oracle.immediate_dominator(NodeIndex::new(id.index())).map(|n| n.index());
                assert_eq!(ours.idom(id).map(BlockId::index), expected, "round {round}: block {id:?} of {edges:?}");
                for (other, _) in cfg.iter() {
                    let node = NodeIndex::new(other.index());
                    let expected = oracle.dominators(node).is_some_and(|mut d| d.any(|n| n.index() == id.index()));
                    assert_eq!(
                        ours.dominates(id, other),
                        expected,
                        "round {round}: {id:?} over {other:?} in {edges:?}"
                    );
                }
            }
            graph.reverse();
            let oracle = simple_fast(&graph, NodeIndex::new(edges.len()));
            let ours = PostDominators::new(&cfg);
            for (id, _) in cfg.iter() {
                let expected = oracle.immediate_dominator(NodeIndex::new(id.index())).map(|n| n.index());
                assert_eq!(ours.can_exit(id), expected.is_some());
                if ours.can_exit(id) {
                    ended += 1;
                    let expected = expected.filter(|n| *n != edges.len());
                    assert_eq!(ours.ipdom(id).map(BlockId::index), expected, "round {round}: {id:?} of {edges:?}");
                } else {
                    endless += 1;
                    assert!(ours.post_dominates(cfg.exit(), id), "round {round}: {id:?} has a place in the tree");
                }
            }
        }
        assert!(ended > 10_000 && endless > 1_000, "the graphs cover both kinds: {ended} and {endless}");
    }
}
