//! Live registers.
//!
//! A register is live where some path of one thread leads to a read of it with no certain write
//! before. Threads are looked at one by one, each on its own path: what a warp as a whole may need
//! is the union over its threads, and no lane reads another lane's register except through
//! instructions that name it as a source.
//!
//! A guarded instruction may not write, so it does not end the life of what it writes. The carry
//! flag of `add.cc` and its kin is not a register and is left out.
//!
//! Functions so large that the sets would not fit into memory, or so tangled that they would take too long, get a
//! coarser answer: what is live anywhere between blocks counts as live everywhere between blocks.

use super::{BitSet, BlockId, Cfg};
use crate::ir::{Function, Inst, InstId};

/// Bits of one family of sets, a set for each block; above this the answer is coarse. 32,768 blocks with as many
/// registers are still exact.
const MAX_BITS: u64 = 1 << 30;
/// Words of 64 bits that may be looked at until nothing changes: a few seconds.
const MAX_STEPS: u64 = 1 << 31;

/// Live registers at the edges of every block.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Empty when the answer is coarse.
    live_in: Vec<BitSet>,
    live_out: Vec<BitSet>,
    /// What is live at the edges of blocks that have no set of their own.
    elsewhere: BitSet,
}

impl Liveness {
    /// Computes the live registers of `function`.
    #[must_use]
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        if cfg.blocks.len() as u64 * function.regs.len() as u64 > MAX_BITS {
            return Self::coarse(function, cfg);
        }
        Self::exact(function, cfg, MAX_STEPS).unwrap_or_else(|| Self::coarse(function, cfg))
    }

    /// The exact sets, if they take no more than `steps`.
    fn exact(function: &Function, cfg: &Cfg, mut steps: u64) -> Option<Self> {
        let none = BitSet::new(function.regs.len());
        // To begin with, what a block reads of what was there before it.
        let mut live_in = vec![none.clone(); cfg.blocks.len()];
        let mut live_out = live_in.clone();
        let mut writes = live_in.clone();
        for (id, block) in cfg.iter() {
            let (reads, writes) = (&mut live_in[id.index()], &mut writes[id.index()]);
            for inst in block.insts().rev() {
                let inst = &function.insts[inst.index()];
                if inst.guard.is_none() {
                    inst.for_each_def(|r| {
                        writes.insert(r.index());
                        reads.remove(r.index());
                    });
                }
                inst.for_each_use(|r| {
                    reads.insert(r.index());
                });
            }
        }
        // Successors first, until nothing changes; unreachable blocks take part.
        let unreachable = cfg.iter().map(|(b, _)| b).filter(|b| !cfg.is_reachable(*b));
        let order: Vec<BlockId> = unreachable.chain(cfg.reverse_postorder().iter().copied()).collect();
        let mut dirty = vec![true; cfg.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &id in order.iter().rev() {
                if !std::mem::take(&mut dirty[id.index()]) {
                    continue;
                }
                let succs = cfg.succs(id).iter().filter(|s| **s != cfg.exit());
                steps =
                    steps.checked_sub((function.regs.len() as u64 / 64 + 1) * (succs.clone().count() as u64 + 3))?;
                for succ in succs {
                    live_out[id.index()].union_with(&live_in[succ.index()]);
                }
                let mut now = live_out[id.index()].clone();
                now.subtract(&writes[id.index()]);
                if live_in[id.index()].union_with(&now) {
                    changed = true;
                    cfg.preds(id).iter().for_each(|p| dirty[p.index()] = true);
                }
            }
        }
        Some(Self { live_in, live_out, elsewhere: none })
    }

    /// The same set for every block: what some block reads of what was there before it.
    fn coarse(function: &Function, cfg: &Cfg) -> Self {
        let mut everywhere = BitSet::new(function.regs.len());
        let mut written_in = vec![cfg.exit(); function.regs.len()];
        for (id, block) in cfg.iter() {
            for inst in block.insts().map(|i| &function.insts[i.index()]) {
                inst.for_each_use(|r| {
                    if written_in[r.index()] != id {
                        everywhere.insert(r.index());
                    }
                });
                if inst.guard.is_none() {
                    inst.for_each_def(|r| written_in[r.index()] = id);
                }
            }
        }
        Self { live_in: Vec::new(), live_out: Vec::new(), elsewhere: everywhere }
    }

    /// Registers live where the block starts.
    #[must_use]
    pub fn live_in(&self, block: BlockId) -> &BitSet {
        self.live_in.get(block.index()).unwrap_or(&self.elsewhere)
    }

    /// Registers live where the block ends.
    #[must_use]
    pub fn live_out(&self, block: BlockId) -> &BitSet {
        self.live_out.get(block.index()).unwrap_or(&self.elsewhere)
    }

    /// Registers live right behind an instruction, on any way out of it.
    #[must_use]
    pub fn live_after(&self, function: &Function, cfg: &Cfg, inst: InstId) -> BitSet {
        let block = cfg.block_of(inst);
        let mut live = self.live_out(block).clone();
        for later in cfg.get(block).into_iter().flat_map(|b| (inst.0 + 1..=b.last.0).rev()) {
            step(&function.insts[later as usize], &mut live);
        }
        live
    }

    /// Walks a block from its end and calls `f` with each instruction and what is live right
    /// behind it.
    pub fn for_each_after(&self, function: &Function, cfg: &Cfg, block: BlockId, mut f: impl FnMut(InstId, &BitSet)) {
        let mut live = self.live_out(block).clone();
        for id in cfg.get(block).into_iter().flat_map(|b| b.insts().rev()) {
            f(id, &live);
            step(&function.insts[id.index()], &mut live);
        }
    }
}

/// From behind an instruction to before it.
pub(super) fn step(inst: &Inst, live: &mut BitSet) {
    if inst.guard.is_none() {
        inst.for_each_def(|r| {
            live.remove(r.index());
        });
    }
    inst.for_each_use(|r| {
        live.insert(r.index());
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, kernel, random_body};
    use super::*;

    /// Names of the registers live behind instruction `at`.
    fn after(body: &str, at: u32) -> String {
        let (module, id) = kernel(body);
        let function = module.func(id);
        let cfg = Cfg::new(function);
        let live = Liveness::new(function, &cfg);
        let set = live.live_after(function, &cfg, InstId(at));
        live.for_each_after(function, &cfg, cfg.block_of(InstId(at)), |i, walked| {
            assert_eq!(*walked, live.live_after(function, &cfg, i), "both ways to ask agree");
        });
        let mut names: Vec<&str> = set.iter().map(|r| function.regs[r].name.as_str()).collect();
        names.sort_unstable();
        names.join(" ")
    }

    #[test]
    fn a_value_lives_from_its_write_to_its_last_read() {
        let body = "mov.u32 %r1, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, %r2; st.shared.u32 [s], %r3; ret;";
        assert_eq!(after(body, 0), "%r1");
        assert_eq!(after(body, 1), "%r2");
        assert_eq!(after(body, 3), "");
    }

    #[test]
    fn a_guarded_write_does_not_end_a_life() {
        let body = "mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.shared.u32 [s], %r1; ret;";
        assert_eq!(after(body, 0), "%p1 %r1");
        assert_eq!(after(body, 1), "%r1");
    }

    #[test]
    fn values_live_around_loops() {
        let body =
            "mov.u32 %r1, 0; mov.u32 %r2, 5; L: add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, 99; @%p1 bra L; ret;";
        assert_eq!(after(body, 4), "%r1 %r2");
        assert_eq!(after(body, 3), "%p1 %r1 %r2");
    }

    #[test]
    fn addresses_vectors_and_pairs_are_reads_and_writes() {
        let body =
            "ld.shared.v2.u32 {%r1, %r2}, [%rd1]; setp.eq.u32 %p1|%p2, %r1, %r2; @%p2 st.shared.u32 [%rd2], 0; ret;";
        assert_eq!(after(body, 0), "%r1 %r2 %rd2");
        assert_eq!(after(body, 1), "%p2 %rd2");
    }

    /// Whether some way from behind `at` reads `reg` with no certain write before, by trying all.
    fn is_read_later(function: &Function, cfg: &Cfg, at: InstId, reg: usize) -> bool {
        let next = |at: InstId| -> Vec<InstId> {
            let block = cfg.block(cfg.block_of(at));
            match at == block.last {
                true => block.succs.iter().filter_map(|s| cfg.get(*s)).map(|b| b.first).collect(),
                false => vec![InstId(at.0 + 1)],
            }
        };
        let mut seen = BitSet::new(function.insts.len());
        let mut todo = next(at);
        while let Some(at) = todo.pop() {
            if !seen.insert(at.index()) {
                continue;
            }
            let inst = &function.insts[at.index()];
            let (mut read, mut written) = (false, false);
            inst.for_each_use(|r| read |= r.index() == reg);
            inst.for_each_def(|r| written |= r.index() == reg);
            if read {
                return true;
            }
            if !written || inst.guard.is_some() {
                todo.extend(next(at));
            }
        }
        false
    }

    #[test]
    fn random_programs_agree_with_trying_all_ways() {
        let mut random = Random(0x11FE);
        for _ in 0..300 {
            let body = random_body(&mut random);
            let (module, id) = kernel(&body);
            let function = module.func(id);
            let cfg = Cfg::new(function);
            let live = Liveness::new(function, &cfg);
            for _ in 0..20 {
                let at = InstId(random.below(function.insts.len() as u32));
                let reg = random.below(function.regs.len() as u32) as usize;
                let found = live.live_after(function, &cfg, at).contains(reg);
                let name = &function.regs[reg].name;
                assert_eq!(found, is_read_later(function, &cfg, at, reg), "{name} behind {at:?} of\n{body}");
            }
        }
    }

    #[test]
    fn the_coarse_answer_holds_the_exact_one() {
        for (name, text) in super::super::testing::reference_kernels() {
            let (module, _) = crate::load(&text);
            for function in &module.functions {
                let cfg = Cfg::new(function);
                let coarse = Liveness::coarse(function, &cfg);
                let exact = Liveness::exact(function, &cfg, MAX_STEPS).expect("a small function");
                for (block, _) in cfg.iter() {
                    assert!(exact.live_in(block).iter().all(|r| coarse.live_in(block).contains(r)), "{name}");
                    assert!(exact.live_out(block).iter().all(|r| coarse.live_out(block).contains(r)), "{name}");
                }
                assert!(cfg.blocks.is_empty() || Liveness::exact(function, &cfg, 0).is_none(), "steps are counted");
            }
        }
    }
}
