//! Uniform branches: those on which the threads of a thread block cannot disagree.
//!
//! A register *varies* when two threads of a thread block may hold different values in it at the
//! same point of the same iteration. Everything else is uniform. A branch is uniform when it is
//! marked `.uni`, has no condition, or its condition does not vary.
//!
//! # Where variation comes from
//!
//! * Special registers that differ inside a thread block (`%tid`, `%laneid`, `%warpid`,
//!   `%lanemask_*`) or in time (`%clock*`, `%globaltimer*`). `%smid` and `%ctaid` are uniform.
//! * Memory, except kernel parameters and `.const` at a uniform address: other memory may change
//!   between the reads of two threads.
//! * Atomics, textures, warp-wide operations (their result is that of a warp, not of a thread block)
//!   and results of calls. In a function that is called, parameters vary.
//! * `bar.red` over the whole thread block gives every thread the same value and is uniform.
//!
//! # How it spreads
//!
//! By data: a result varies when an operand, the guard or the carry flag read does. By control:
//! behind a varying branch, threads take different ways until its immediate post-dominator. A
//! register written on the way varies if it is live at a block where ways from two different
//! successors meet, the post-dominator among them. That covers values that leave a loop in
//! different iterations. Threads that leave the function meet nobody, so the usual
//! `if (i >= n) return;` does not spoil the rest of a kernel.
//!
//! Branches from which two ways lead back into one cycle, before the threads have to meet, make the same registers
//! vary: that is found once for each cycle. Looking at the ways behind every other branch costs the product of branches
//! and blocks at worst. When that is more than a second or two, nothing is uniform but what is marked so.

use super::worklist::Worklist;
use super::{BitSet, BlockId, Cfg, Liveness, PostDominators};
use crate::ir::{Address, Base, Function, Inst, InstId, Module, Operand, RegId, Space};
use crate::isa::{Opcode, Word};

/// Blocks, instructions and words of sets that may be looked at behind branches.
const MAX_STEPS: u64 = 1 << 26;

/// What is uniform in a function.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// Registers that may differ inside a thread block.
    pub varying_regs: BitSet,
    /// Instructions on which threads may diverge.
    divergent: BitSet,
}

impl Uniformity {
    /// Finds the uniform branches of `function`.
    #[must_use]
    pub fn new(module: &Module, function: &Function, cfg: &Cfg, post: &PostDominators) -> Self {
        Self::exact(module, function, cfg, post, false, MAX_STEPS).unwrap_or_else(|| Self::coarse(function, cfg))
    }

    /// The same, where loads from one address are taken to give all threads of a block one value. Programs whose
    /// barriers stand behind such conditions rely on it, and wait for ever where it does not hold.
    #[must_use]
    pub fn with_steady_memory(module: &Module, function: &Function, cfg: &Cfg, post: &PostDominators) -> Self {
        Self::exact(module, function, cfg, post, true, MAX_STEPS).unwrap_or_else(|| Self::coarse(function, cfg))
    }

    /// What is uniform, if finding out takes no more than `steps`.
    fn exact(
        module: &Module,
        function: &Function,
        cfg: &Cfg,
        post: &PostDominators,
        steady: bool,
        mut steps: u64,
    ) -> Option<Self> {
        let live = Liveness::new(function, cfg);
        let cycles = post.cycles(cfg);
        let mut spread_cycles = BitSet::new(cycles.len());
        let carry = function.regs.len();
        let mut varying = BitSet::new(carry + 1);
        let mut divergent = BitSet::new(function.insts.len());
        let mut work = Worklist::new(function, carry + 1, |inst, f| {
            inst.for_each_use(|r| f(r.index()));
            if reads_carry(inst) {
                f(carry);
            }
        });
        while let Some(at) = work.pop() {
            let inst = &function.insts[at];
            let mut found = Vec::new();
            if varies(module, function, inst, &varying, carry, steady) {
                for_each_result(inst, carry, |r| found.push(r));
            }
            let block = cfg.block_of(InstId::from_index(at));
            if cfg.succs(block).len() > 1 && inst.ends_block() && may_part(inst, &varying) && divergent.insert(at) {
                // What varies is the same for all branches of a cycle.
                let is_known = cycles[block.index()].is_some_and(|cycle| !spread_cycles.insert(cycle as usize));
                if !is_known {
                    spread(function, cfg, post, &live, block, carry, &mut steps, &mut found)?;
                }
            }
            for reg in found {
                if varying.insert(reg) {
                    work.changed(reg);
                }
            }
        }
        varying.remove(carry);
        Some(Self { varying_regs: varying, divergent })
    }

    /// Every register varies, and threads part wherever they could.
    fn coarse(function: &Function, cfg: &Cfg) -> Self {
        let mut varying = BitSet::new(function.regs.len());
        (0..function.regs.len()).for_each(|r| {
            varying.insert(r);
        });
        let mut divergent = BitSet::new(function.insts.len());
        for (_, block) in cfg.iter() {
            if block.succs.len() > 1 && may_part(&function.insts[block.last.index()], &varying) {
                divergent.insert(block.last.index());
            }
        }
        Self { varying_regs: varying, divergent }
    }

    /// Whether all threads of a thread block that get to `inst` together go on at the same place.
    /// True for instructions that do not branch.
    #[must_use]
    pub fn is_uniform(&self, inst: InstId) -> bool {
        !self.divergent.contains(inst.index())
    }

    /// The branches on which threads may diverge, in order.
    pub fn divergent(&self) -> impl Iterator<Item = InstId> {
        self.divergent.iter().map(InstId::from_index)
    }

    /// Whether the register may differ inside a thread block.
    #[must_use]
    pub fn varies(&self, reg: RegId) -> bool {
        self.varying_regs.contains(reg.index())
    }
}

/// Whether threads may diverge at `inst`.
fn may_part(inst: &Inst, varying: &BitSet) -> bool {
    let mut condition_varies = false;
    inst.for_each_use(|r| condition_varies |= varying.contains(r.index()));
    inst.ends_block() && !inst.has(Word::Uni) && condition_varies
}

/// Registers an instruction writes, and the carry flag.
fn for_each_result(inst: &Inst, carry: usize, mut f: impl FnMut(usize)) {
    inst.for_each_def(|r| f(r.index()));
    if inst.has(Word::Cc) {
        f(carry);
    }
}

/// Whether results of `inst` vary, given what is known to vary.
fn varies(module: &Module, function: &Function, inst: &Inst, varying: &BitSet, carry: usize, steady: bool) -> bool {
    // With a number of threads the barrier may be one of a part of the thread block.
    if matches!(inst.opcode, Opcode::Bar | Opcode::Barrier) && inst.guard.is_none() {
        return inst.operands.len() > 3;
    }
    let mut operand_varies = false;
    inst.for_each_use(|r| operand_varies |= varying.contains(r.index()));
    operand_varies
        || (reads_carry(inst) && varying.contains(carry))
        || inst.operands.iter().any(special_varies)
        || source_varies(module, function, inst, steady)
}

fn reads_carry(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc)
}

fn special_varies(operand: &Operand) -> bool {
    match operand {
        Operand::Special(special) => !special.is_uniform_in_cta(),
        Operand::Vector(list) | Operand::List(list) => list.iter().any(special_varies),
        Operand::Pair(pair) => pair.iter().any(special_varies),
        Operand::Texture { coords, .. } => coords.iter().any(special_varies),
        _ => false,
    }
}

/// Whether the instruction brings in values that differ between threads, whatever its operands.
fn source_varies(module: &Module, function: &Function, inst: &Inst, steady: bool) -> bool {
    match inst.opcode {
        Opcode::Ld | Opcode::Ldu => match inst.space() {
            Some(Space::Const) => false,
            Some(Space::Param) => !is_kernel_param(module, function, inst),
            Some(Space::Local) => true,
            _ => !steady,
        },
        Opcode::Atom
        | Opcode::Call
        | Opcode::Tex
        | Opcode::Tld4
        | Opcode::Suld
        | Opcode::Shfl
        | Opcode::Vote
        | Opcode::Match
        | Opcode::Activemask
        | Opcode::Redux
        | Opcode::Elect
        | Opcode::Mma
        | Opcode::Wmma
        | Opcode::Ldmatrix
        | Opcode::Movmatrix => true,
        _ => false,
    }
}

/// Whether an `ld.param` reads what the launch passed: not an argument of a call.
fn is_kernel_param(module: &Module, function: &Function, inst: &Inst) -> bool {
    if !function.is_entry {
        return false;
    }
    match inst.operands.iter().find_map(|o| if let Operand::Memory(a) = o { Some(a) } else { None }) {
        Some(Address { base: Base::Var(var), .. }) => function.params.contains(var),
        // Through a register it could be any parameter in sight.
        Some(Address { base: Base::Reg(_), .. }) => {
            !function.locals.iter().any(|v| module.vars.get(v.index()).is_some_and(|v| v.space == Space::Param))
        }
        _ => true,
    }
}

/// Lists the registers that vary because threads part at the end of `branch`. Nothing when that takes more steps than
/// there are.
#[expect(clippy::too_many_arguments, reason = "one caller, and a struct for it would say no more")]
fn spread(
    function: &Function,
    cfg: &Cfg,
    post: &PostDominators,
    live: &Liveness,
    branch: BlockId,
    carry: usize,
    steps: &mut u64,
    found: &mut Vec<usize>,
) -> Option<()> {
    let end = post.ipdom(branch).unwrap_or_else(|| cfg.exit());
    let mut between = BitSet::new(cfg.blocks.len() + 1);
    let mut joins = BitSet::new(cfg.blocks.len() + 1);
    for succ in cfg.succs(branch) {
        *steps = steps.checked_sub(cfg.blocks.len() as u64 / 16)?;
        let mut way = BitSet::new(cfg.blocks.len() + 1);
        let mut todo = vec![*succ];
        while let Some(block) = todo.pop() {
            *steps = steps.checked_sub(1)?;
            if way.insert(block.index()) && block != end {
                todo.extend(cfg.succs(block));
            }
        }
        let mut met = way.clone();
        met.intersect_with(&between);
        joins.union_with(&met);
        between.union_with(&way);
    }
    between.remove(end.index());
    let mut live_at_joins = BitSet::new(function.regs.len());
    for join in joins.iter() {
        *steps = steps.checked_sub(function.regs.len() as u64 / 64)?;
        live_at_joins.union_with(live.live_in(BlockId::from_index(join)));
    }
    for block in between.iter().filter_map(|b| cfg.get(BlockId::from_index(b))) {
        *steps = steps.checked_sub(block.insts().count() as u64)?;
        for inst in block.insts() {
            for_each_result(&function.insts[inst.index()], carry, |r| {
                // The carry flag has no liveness; it is taken to live on.
                if r == carry || live_at_joins.contains(r) {
                    found.push(r);
                }
            });
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, kernel, module, random_body, run};
    use super::*;
    use std::fmt::Write;

    fn analyse(module: &Module, function: &Function) -> Uniformity {
        let cfg = Cfg::new(function);
        Uniformity::new(module, function, &cfg, &PostDominators::new(&cfg))
    }

    /// Positions of the divergent branches, and names of the varying registers.
    #[track_caller]
    fn expect(body: &str, divergent: &[u32], varying: &str) {
        let (module, id) = kernel(body);
        let function = module.func(id);
        let found = analyse(&module, function);
        assert_eq!(found.divergent().map(|i| i.0).collect::<Vec<_>>(), divergent, "{body}");
        let mut names: Vec<&str> = found.varying_regs.iter().map(|r| function.regs[r].name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), varying, "{body}");
    }

    #[test]
    fn parameters_and_block_indices_are_uniform() {
        expect(
            "ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L; mov.u32 %r3, 1; L: ret;",
            &[],
            "",
        );
    }

    #[test]
    fn thread_indices_and_memory_vary() {
        expect("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4; @%p1 bra L; ret; L: ret;", &[2], "%p1 %r1");
        expect("ld.shared.u32 %r1, [s]; setp.lt.u32 %p1, %r1, 4; @%p1 ret; ret;", &[2], "%p1 %r1");
        expect("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4; @%p1 bra.uni L; ret; L: ret;", &[], "%p1 %r1");
    }

    #[test]
    fn warp_wide_results_vary_and_block_wide_ones_do_not() {
        expect("setp.lt.u32 %p1, 1, 4; vote.sync.all.pred %p2, %p1, -1; @%p2 ret; ret;", &[2], "%p2");
        expect(
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4; bar.red.or.pred %p2, 0, %p1; @%p2 ret; ret;",
            &[],
            "%p1 %r1",
        );
        expect("setp.lt.u32 %p1, 1, 4; bar.red.or.pred %p2, 0, 64, %p1; @%p2 ret; ret;", &[2], "%p2");
    }

    #[test]
    fn a_value_written_on_one_arm_varies_behind_the_join() {
        let body = "mov.u32 %r9, %tid.x; setp.lt.u32 %p1, %r9, 4; mov.u32 %r1, 0; @%p1 bra L; mov.u32 %r1, 1; L: \
                    setp.eq.u32 %p2, %r1, 0; @%p2 bra M; M: ret;";
        expect(body, &[3], "%p1 %p2 %r1 %r9");
        let body = "mov.u32 %r9, %tid.x; setp.lt.u32 %p1, %r9, 4; mov.u32 %r1, 0; @%p1 mov.u32 %r1, 1; \
                    setp.eq.u32 %p2, %r1, 0; @%p2 exit; ret;";
        expect(body, &[5], "%p1 %p2 %r1 %r9");
    }

    #[test]
    fn an_early_exit_does_not_spoil_the_rest() {
        let body = "ld.param.u32 %r5, [n]; mov.u32 %r9, %tid.x; setp.ge.u32 %p1, %r9, %r5; @%p1 bra E; mov.u32 %r1, 0; \
                    L: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r5; @%p2 bra L; E: ret;";
        expect(body, &[3], "%p1 %r9");
    }

    #[test]
    fn a_counter_varies_behind_a_loop_that_threads_leave_one_by_one() {
        let body = "mov.u32 %r9, %tid.x; mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r9; @%p1 bra L; \
                    setp.lt.u32 %p2, %r1, 5; @%p2 exit; ret;";
        expect(body, &[4, 6], "%p1 %p2 %r1 %r9");
    }

    #[test]
    fn an_inner_divergent_if_leaves_the_outer_counter_uniform() {
        let body = "mov.u32 %r9, %tid.x; mov.u32 %r1, 0; mov.u32 %r2, 0; L: setp.eq.u32 %p1, %r9, %r1; @%p1 bra M; \
                    add.u32 %r2, %r2, 1; M: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 8; @%p2 bra L; \
                    st.shared.u32 [s], %r2; ret;";
        expect(body, &[4], "%p1 %r2 %r9");
    }

    #[test]
    fn the_carry_flag_carries_variation() {
        let body =
            "mov.u32 %r9, %tid.x; add.cc.u32 %r1, %r9, 1; addc.u32 %r2, 0, 0; setp.eq.u32 %p1, %r2, 0; @%p1 exit; ret;";
        expect(body, &[4], "%p1 %r1 %r2 %r9");
    }

    #[test]
    fn parameters_of_called_functions_vary() {
        let module = module(
            ".version 3.2\n.target sm_20\n.address_size 64\n.func f(.param .u32 x) { .reg .u32 %r<2>; .reg .pred %p;\n\
             ld.param.u32 %r1, [x]; setp.eq.u32 %p, %r1, 0; @%p ret; ret; }",
        );
        assert_eq!(analyse(&module, &module.functions[0]).divergent().count(), 1);
    }

    /// What is called uniform is the same in all lanes whenever they execute together.
    #[test]
    fn random_programs_never_break_a_promise() {
        let mut random = Random(0xD1CE);
        let (mut promised, mut parted) = (0, 0);
        for round in 0..3000 {
            let body = format!(
                "mov.u32 %r0, %tid.x;\nld.param.u32 %r1, [n];\nmov.u32 %r2, 3;\ncvt.u64.u32 %rd1, %r1;\n\
                 setp.lt.u32 %p0|%p3, %r0, 4;\nsetp.lt.u32 %p1|%p2, %r1, %r2;\n{}",
                random_body(&mut random)
            );
            let (module, id) = kernel(&body);
            let function = module.func(id);
            let cfg = Cfg::new(function);
            let post = PostDominators::new(&cfg);
            let found = Uniformity::new(&module, function, &cfg, &post);
            run(function, &post, 2000, |id, lanes, regs| {
                let inst = &function.insts[id.index()];
                inst.for_each_use(|r| {
                    let same = lanes.iter().all(|l| regs[*l][r.index()] == regs[lanes[0]][r.index()]);
                    parted += u32::from(!same && inst.ends_block());
                    if !found.varies(r) {
                        promised += 1;
                        let name = &function.reg(r).name;
                        assert!(same, "round {round}: {name} differs at instruction {} of\n{body}", id.0);
                    }
                });
            });
        }
        assert!(promised > 100_000 && parted > 2_000, "the programs are worth running: {promised}, {parted}");
    }

    /// Blocks that write a register and branch to others, each on its own predicate: a jump to the block `target` of the
    /// block's number.
    fn tangle(count: u32, mut target: impl FnMut(u32) -> u32) -> String {
        let mut body = "ld.param.u32 %r0, [n];\n".to_owned();
        for i in 0..count {
            let (source, reg, to) = (i % 7, 1 + i % 5, target(i));
            let _ = writeln!(body, "L{i}: add.u32 %r{reg}, %r{source}, 1;");
            let _ = writeln!(body, "setp.lt.u32 %p{}, %r{source}, {i};\n@%p{} bra L{to};", i % 3, i % 3);
        }
        body + "ret;"
    }

    /// Finding what a cycle makes vary once is the same as finding it for every branch.
    #[test]
    fn cycles_make_the_same_vary_as_their_branches() {
        let (mut random, mut shared) = (Random(0x7A6), 0);
        for round in 0..400 {
            let count = 2 + random.below(30);
            let body = match round % 2 {
                0 => random_body(&mut random),
                _ => tangle(count, |_| random.below(count)),
            };
            let (module, id) = kernel(&format!("mov.u32 %r6, %tid.x;\n{body}"));
            let function = module.func(id);
            let cfg = Cfg::new(function);
            let post = PostDominators::new(&cfg);
            let found = Uniformity::new(&module, function, &cfg, &post);
            let (live, carry) = (Liveness::new(function, &cfg), function.regs.len());
            let cycles = post.cycles(&cfg);
            for branch in found.divergent().map(|inst| cfg.block_of(inst)) {
                let (mut steps, mut own) = (MAX_STEPS, Vec::new());
                spread(function, &cfg, &post, &live, branch, carry, &mut steps, &mut own).expect("a small function");
                assert!(own.iter().all(|r| *r == carry || found.varying_regs.contains(*r)), "{branch:?} of\n{body}");
                shared += u32::from(cycles[branch.index()].is_some());
            }
        }
        assert!(shared > 1000, "only {shared} branches in cycles");
    }

    /// Looking at everything behind each branch would take 20,000 steps for each of 20,000 branches.
    #[test]
    fn a_tangle_takes_steps_in_proportion_to_its_size() {
        let count = 20_000;
        let (module, id) = kernel(&format!("mov.u32 %r6, %tid.x;\n{}", tangle(count, |i| (i * 7919 + 13) % count)));
        let function = module.func(id);
        let cfg = Cfg::new(function);
        let post = PostDominators::new(&cfg);
        let steps = 100 * u64::from(count);
        let found = Uniformity::exact(&module, function, &cfg, &post, false, steps).expect("few steps");
        assert!(found.divergent().count() > 19_000);
        let uniform = function.regs.iter().position(|reg| reg.name == "%r0").expect("a register");
        assert!(!found.varying_regs.contains(uniform), "it is written before every branch");
    }

    #[test]
    fn the_coarse_answer_holds_the_exact_one() {
        for (name, text) in super::super::testing::reference_kernels() {
            let (module, _) = crate::load(&text);
            for function in &module.functions {
                let cfg = Cfg::new(function);
                let post = PostDominators::new(&cfg);
                let coarse = Uniformity::coarse(function, &cfg);
                let exact =
                    Uniformity::exact(&module, function, &cfg, &post, false, MAX_STEPS).expect("a small function");
                assert!(exact.divergent().all(|i| !coarse.is_uniform(i)), "{name}");
                assert!(exact.varying_regs.iter().all(|r| coarse.varying_regs.contains(r)), "{name}");
            }
        }
    }
}
