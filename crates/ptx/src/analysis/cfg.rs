//! The control-flow graph of a function.
//!
//! A basic block ends after `bra`, `brx`, `ret`, `exit` and `trap`, guarded or not, and before an
//! instruction that a branch may jump to. Calls do not end blocks: control comes back behind them.
//!
//! Besides the blocks there is one virtual exit, [`Cfg::exit`], to which every way of leaving the
//! function leads. It has the number behind the last block and no [`Block`] of its own. A guarded
//! `ret` or `exit` therefore has two successors: the virtual exit and the next block.
//!
//! Blocks are numbered in the order of the text, unreachable ones included; block 0 is the entry.
//! A function without a body has no block, and its entry is the virtual exit.

use super::BitSet;
use crate::ir::{Function, Inst, InstId, Operand};
use crate::isa::Opcode;
use crate::num::fit;

/// A basic block: index into [`Cfg::blocks`], or one past its end for the virtual exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The index as `usize`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Of an index into its list.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        Self(fit(index))
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// First instruction.
    pub first: InstId,
    /// Last instruction, inclusive.
    pub last: InstId,
    /// Where control goes next: the targets of the branch in the order in which they are written
    /// (the virtual exit for `ret`, `exit` and `trap`), then the next block if control may fall
    /// through. No block stands here twice.
    pub succs: Vec<BlockId>,
    /// Where control comes from, in rising order.
    pub preds: Vec<BlockId>,
}

impl Block {
    /// The instructions of the block.
    pub fn insts(&self) -> impl DoubleEndedIterator<Item = InstId> + use<> {
        (self.first.0..=self.last.0).map(InstId)
    }
}

/// The control-flow graph of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// The blocks in the order of the text.
    pub blocks: Vec<Block>,
    /// Predecessors of the virtual exit, in rising order.
    pub exit_preds: Vec<BlockId>,
    /// The block of each instruction.
    block_of: Vec<BlockId>,
    /// Blocks that can be reached from the entry, in reverse postorder.
    reverse_postorder: Vec<BlockId>,
    /// The same as a set.
    reachable: BitSet,
}

impl Cfg {
    /// Builds the graph of `function`.
    #[must_use]
    pub fn new(function: &Function) -> Self {
        let count = function.insts.len();
        let mut leader = vec![false; count + 1];
        for (id, inst) in function.insts() {
            for target in targets(function, inst) {
                leader[target.index().min(count)] = true;
            }
            leader[id.index() + 1] |= inst.ends_block();
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut block_of = Vec::with_capacity(count);
        for (id, _) in function.insts() {
            match blocks.last_mut() {
                Some(block) if !leader[id.index()] => block.last = id,
                _ => blocks.push(Block { first: id, last: id, succs: Vec::new(), preds: Vec::new() }),
            }
            block_of.push(BlockId::from_index(blocks.len() - 1));
        }
        let exit = BlockId::from_index(blocks.len());
        let at = |inst: InstId| block_of.get(inst.index()).copied().unwrap_or(exit);
        let succs = blocks.iter().map(|block| {
            let last = &function.insts[block.last.index()];
            let mut succs: Vec<BlockId> = targets(function, last).map(at).collect();
            if succs.is_empty() && last.ends_block() {
                succs.push(exit);
            }
            if last.falls_through() {
                succs.push(at(InstId(block.last.0 + 1)));
            }
            succs
        });
        let succs = succs.collect();
        Self::link(blocks, succs, block_of)
    }

    /// Fills in the edges: duplicates go, predecessors and orders are computed.
    fn link(mut blocks: Vec<Block>, succs: Vec<Vec<BlockId>>, block_of: Vec<BlockId>) -> Self {
        let mut exit_preds = Vec::new();
        // seen[to] == from: the edge is there already. Marks, because a branch table may be long.
        let mut seen = vec![usize::MAX; blocks.len() + 1];
        for (from, succs) in succs.into_iter().enumerate() {
            for to in succs {
                if std::mem::replace(&mut seen[to.index()], from) == from {
                    continue;
                }
                blocks[from].succs.push(to);
                match blocks.get_mut(to.index()) {
                    Some(block) => block.preds.push(BlockId::from_index(from)),
                    None => exit_preds.push(BlockId::from_index(from)),
                }
            }
        }
        let mut cfg = Self { blocks, exit_preds, block_of, reverse_postorder: Vec::new(), reachable: BitSet::new(0) };
        let edges: Vec<Vec<u32>> = cfg.blocks.iter().map(|b| b.succs.iter().map(|s| s.0).collect()).collect();
        let mut order = postorder(cfg.entry().0, &edges);
        order.reverse();
        cfg.reachable = BitSet::new(cfg.blocks.len());
        let exit = cfg.exit();
        for block in order.into_iter().map(BlockId).filter(|b| *b != exit) {
            cfg.reachable.insert(block.index());
            cfg.reverse_postorder.push(block);
        }
        cfg
    }

    /// A graph of one-instruction blocks with these edges; numbers past the end mean the exit.
    #[cfg(test)]
    pub(super) fn from_edges(succs: &[Vec<u32>]) -> Self {
        let exit = succs.len() as u32;
        let block = |i| Block { first: InstId(i), last: InstId(i), succs: Vec::new(), preds: Vec::new() };
        let targets = succs.iter().map(|s| s.iter().map(|t| BlockId((*t).min(exit))).collect()).collect();
        Self::link((0..exit).map(block).collect(), targets, (0..exit).map(BlockId).collect())
    }

    /// Where control enters: block 0, or the virtual exit of a function without a body.
    #[must_use]
    pub fn entry(&self) -> BlockId {
        BlockId(0)
    }

    /// The virtual exit.
    #[must_use]
    pub fn exit(&self) -> BlockId {
        BlockId::from_index(self.blocks.len())
    }

    /// The block; `None` for the virtual exit.
    #[must_use]
    pub fn get(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id.index())
    }

    /// The block; it must not be the virtual exit.
    #[must_use]
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// All blocks with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks.iter().enumerate().map(|(i, b)| (BlockId::from_index(i), b))
    }

    /// Successors of a block; none for the virtual exit.
    #[must_use]
    pub fn succs(&self, id: BlockId) -> &[BlockId] {
        self.get(id).map_or(&[], |b| &b.succs)
    }

    /// Predecessors of a block or of the virtual exit.
    #[must_use]
    pub fn preds(&self, id: BlockId) -> &[BlockId] {
        self.get(id).map_or(&self.exit_preds, |b| &b.preds)
    }

    /// The block an instruction is in.
    #[must_use]
    pub fn block_of(&self, inst: InstId) -> BlockId {
        self.block_of.get(inst.index()).copied().unwrap_or_else(|| self.exit())
    }

    /// Blocks that can be reached from the entry, each before its successors but for back edges.
    #[must_use]
    pub fn reverse_postorder(&self) -> &[BlockId] {
        &self.reverse_postorder
    }

    /// Whether the block can be reached from the entry.
    #[must_use]
    pub fn is_reachable(&self, id: BlockId) -> bool {
        self.reachable.contains(id.index())
    }
}

/// The instructions `inst` may jump to, as written; empty for all but branches.
fn targets<'f>(function: &'f Function, inst: &'f Inst) -> impl Iterator<Item = InstId> + 'f {
    let is_branch = matches!(inst.opcode, Opcode::Bra | Opcode::Brx);
    let labels = inst.operands.iter().filter(move |_| is_branch).flat_map(|operand| match operand {
        Operand::Label(label) => std::slice::from_ref(label),
        Operand::Table(table) => function.tables.get(table.index()).map_or(&[][..], |t| &t.targets),
        _ => &[],
    });
    labels.filter_map(|label| function.labels.get(label.index())).map(|label| label.at)
}

/// The nodes reachable from `root` in postorder, without recursion. Nodes past the end of `edges`
/// have no successors.
pub(super) fn postorder(root: u32, edges: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = BitSet::new(edges.len().max(root as usize) + 1);
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    seen.insert(root as usize);
    while let Some((node, next)) = stack.last_mut() {
        match edges.get(*node as usize).and_then(|e| e.get(*next)) {
            Some(succ) => {
                *next += 1;
                if seen.insert(*succ as usize) {
                    stack.push((*succ, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::testing::kernel;
    use super::*;
    use std::fmt::Write;

    /// One line per block: `0: 0-3 -> 2 1`, `x` for the virtual exit, `!` for unreachable.
    fn render(body: &str) -> String {
        let (module, id) = kernel(body);
        let cfg = Cfg::new(module.func(id));
        let mut text = String::new();
        for (id, block) in cfg.iter() {
            let mark = if cfg.is_reachable(id) { "" } else { " !" };
            let _ = write!(text, "{}: {}-{} ->", id.0, block.first.0, block.last.0);
            for succ in &block.succs {
                let _ = if *succ == cfg.exit() { write!(text, " x") } else { write!(text, " {}", succ.0) };
                assert!(cfg.preds(*succ).contains(&id));
            }
            let _ = writeln!(text, "{mark}");
            assert!(block.insts().all(|i| cfg.block_of(i) == id));
        }
        text
    }

    #[test]
    fn a_straight_line_is_one_block() {
        assert_eq!(render("mov.u32 %r1, 0; Unused: mov.u32 %r2, 1; ret;"), "0: 0-2 -> x\n");
        assert_eq!(render(""), "0: 0-0 -> x\n", "the return at the closing brace");
    }

    #[test]
    fn taken_comes_before_fall_through() {
        let body = "setp.eq.u32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r1, 1; L: ret;";
        assert_eq!(render(body), "0: 0-1 -> 2 1\n1: 2-2 -> 2\n2: 3-3 -> x\n");
    }

    #[test]
    fn guarded_exits_lead_to_the_exit_and_on() {
        assert_eq!(
            render("@%p1 exit; @!%p1 ret; @%p1 trap; ret;"),
            "0: 0-0 -> x 1\n1: 1-1 -> x 2\n2: 2-2 -> x 3\n3: 3-3 -> x\n"
        );
    }

    #[test]
    fn code_behind_a_jump_is_kept_and_marked() {
        assert_eq!(render("bra L; mov.u32 %r1, 0; L: ret;"), "0: 0-0 -> 2\n1: 1-1 -> 2 !\n2: 2-2 -> x\n");
    }

    #[test]
    fn a_branch_to_the_next_instruction_has_one_successor() {
        assert_eq!(render("@%p1 bra L; L: ret;"), "0: 0-0 -> 1\n1: 1-1 -> x\n");
    }

    #[test]
    fn a_table_gives_each_target_once() {
        let body = "T: .branchtargets B, A, B; @%p1 brx.idx %r1, T; A: mov.u32 %r1, 0; B: ret;";
        assert_eq!(render(body), "0: 0-0 -> 2 1\n1: 1-1 -> 2\n2: 2-2 -> x\n");
    }

    #[test]
    fn an_endless_loop_never_exits() {
        assert_eq!(render("L: bra L;"), "0: 0-0 -> 0\n");
    }

    #[test]
    fn a_declaration_has_no_block() {
        let (module, _) = crate::load(".version 3.2\n.target sm_20\n.address_size 64\n.extern .func f();");
        let cfg = Cfg::new(&module.functions[0]);
        assert_eq!((cfg.blocks.len(), cfg.entry()), (0, cfg.exit()));
        assert!(cfg.reverse_postorder().is_empty());
    }
}
