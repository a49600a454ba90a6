//! Register allocation: PTX registers are unlimited, those of a machine are not.
//!
//! Values of up to 32 bits take one 32-bit register, 64-bit values an aligned pair; predicates
//! have a file of their own. Two registers may share a place unless one is written where the other
//! is live. A `mov` is the exception: right behind it both hold the same value, so they may share.
//!
//! The result is exact for the program as written: nothing is reordered, recomputed or left out.
//! It can be executed, and [`verify`] checks that it can, in a way that knows nothing of liveness.
//! What a compiler for a real machine would need is estimated in `need.rs`.
//!
//! A function with thousands of values alive at the same time fits no machine: when there are too many for colouring
//! (see `colour.rs`), every register gets a place of its own, as in [`Allocation::identity`].
//!
//! Vector loads and stores do not ask for neighbouring registers here, as they do on hardware.

use super::colour::Graph;
use super::{BitSet, Cfg, Liveness};
use crate::ir::{Function, Inst, Module, Operand, RegId};
use crate::isa::{Opcode, Type, Word};

/// Where each PTX register lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First 32-bit register of each PTX register; even for 64-bit values. `None` for predicates,
    /// and for what does not fit into the first 65,536, which no machine has.
    pub slot: Vec<Option<u16>>,
    /// Predicate register of each PTX predicate.
    pub pred: Vec<Option<u16>>,
    /// How many 32-bit registers are used.
    pub registers: u32,
    /// How many predicate registers are used.
    pub predicates: u32,
}

/// 32-bit registers a value of this type takes; 0 for predicates.
pub(super) fn width(ty: Type) -> u8 {
    match ty {
        Type::Pred => 0,
        ty if ty.bytes() > 4 => 2,
        _ => 1,
    }
}

/// The registers of an unguarded `d = s` between registers.
pub(super) fn copy(inst: &Inst) -> Option<(RegId, RegId)> {
    match (inst.opcode, &inst.guard, &inst.operands[..]) {
        (Opcode::Mov, None, [Operand::Reg(d), Operand::Reg(s)]) => Some((*d, *s)),
        _ => None,
    }
}

/// The registers of a change of address space, which keeps the bits on machines where global
/// addresses are generic ones.
pub(super) fn address_copy(inst: &Inst) -> Option<(RegId, RegId)> {
    match (inst.opcode, &inst.guard, &inst.operands[..]) {
        (Opcode::Cvta, None, [Operand::Reg(d), Operand::Reg(s)]) if inst.has(Word::Global) => Some((*d, *s)),
        _ => None,
    }
}

impl Allocation {
    /// Allocates the registers of `function`, with as few as we can.
    #[must_use]
    pub fn new(_: &Module, function: &Function, cfg: &Cfg, live: &Liveness) -> Self {
        let widths = function.regs.iter().map(|r| width(r.ty)).collect();
        let Some((mut graph, mut preds)) = interference(function, cfg, live, widths, copy) else {
            return Self::identity(function);
        };
        for (a, b) in function.insts.iter().filter_map(|i| copy(i).or_else(|| address_copy(i))) {
            graph.add_partners(a.0, b.0);
            preds.add_partners(a.0, b.0);
        }
        let order = order_of_appearance(function, cfg);
        let (slots, preds) = (graph.colour(&order), preds.colour(&order));
        let fit = |list: Vec<Option<u32>>| list.into_iter().map(|p| p.and_then(|p| u16::try_from(p).ok())).collect();
        Self { slot: fit(slots.place), pred: fit(preds.place), registers: slots.count, predicates: preds.count }
    }

    /// Gives every register a place of its own, in declaration order.
    #[must_use]
    pub fn identity(function: &Function) -> Self {
        let mut all = Self { slot: Vec::new(), pred: Vec::new(), registers: 0, predicates: 0 };
        for reg in &function.regs {
            let width = u32::from(width(reg.ty));
            if width == 0 {
                all.pred.push(u16::try_from(all.predicates).ok());
                all.slot.push(None);
                all.predicates += 1;
            } else {
                let at = all.registers.next_multiple_of(width);
                all.slot.push(u16::try_from(at).ok());
                all.pred.push(None);
                all.registers = at + width;
            }
        }
        all
    }
}

/// Which registers must not share: one is written where the other is live, and it is not a copy of
/// it. Data registers with these widths, and predicates. Nothing when there are too many to colour.
pub(super) fn interference(
    function: &Function,
    cfg: &Cfg,
    live: &Liveness,
    widths: Vec<u8>,
    copy: impl Fn(&Inst) -> Option<(RegId, RegId)>,
) -> Option<(Graph, Graph)> {
    let mut graph = Graph::new(widths);
    let mut preds = Graph::new(function.regs.iter().map(|r| u8::from(r.ty == Type::Pred)).collect());
    let mut too_large = false;
    for (block, _) in cfg.iter() {
        live.for_each_after(function, cfg, block, |id, live| {
            too_large |= graph.is_too_large() || preds.is_too_large();
            if too_large {
                return;
            }
            let inst = &function.insts[id.index()];
            let source = copy(inst).map(|(_, s)| s);
            let mut defs: Vec<RegId> = Vec::new();
            inst.for_each_def(|r| defs.push(r));
            for (i, def) in defs.iter().enumerate() {
                let others = live.iter().map(RegId::from_index).filter(|r| Some(*r) != source);
                for other in others.chain(defs[..i].iter().copied()) {
                    graph.add_edge(def.0, other.0);
                    preds.add_edge(def.0, other.0);
                }
            }
        });
        if too_large {
            return None;
        }
    }
    Some((graph, preds))
}

/// The registers that instructions mention, in the order in which control gets to them.
pub(super) fn order_of_appearance(function: &Function, cfg: &Cfg) -> Vec<u32> {
    let mut order = Vec::new();
    let mut seen = BitSet::new(function.regs.len());
    let unreachable = cfg.iter().map(|(b, _)| b).filter(|b| !cfg.is_reachable(*b));
    for block in cfg.reverse_postorder().iter().copied().chain(unreachable) {
        for inst in cfg.block(block).insts().map(|i| &function.insts[i.index()]) {
            let mut visit = |r: RegId| {
                if seen.insert(r.index()) {
                    order.push(r.0);
                }
            };
            inst.for_each_use(&mut visit);
            inst.for_each_def(&mut visit);
        }
    }
    order
}

/// Checks that an allocation keeps every value until its last read, by following where values are:
/// a write destroys whatever else lived in its places, and what is read must be intact on every
/// way there. Registers that were never written count as intact at the entry.
///
/// # Errors
/// The first read of a destroyed value, or a place missing, odd or out of range.
pub fn verify(function: &Function, cfg: &Cfg, allocation: &Allocation) -> Result<(), String> {
    let places = Places::new(function, allocation)?;
    let everything = || {
        let mut all = BitSet::new(function.regs.len());
        for r in 0..function.regs.len() {
            all.insert(r);
        }
        all
    };
    let mut at_start = vec![everything(); cfg.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in cfg.reverse_postorder() {
            let mut intact = at_start[block.index()].clone();
            for inst in cfg.block(block).insts() {
                places.step(&function.insts[inst.index()], &mut intact);
            }
            for succ in cfg.succs(block).iter().filter(|s| **s != cfg.exit()) {
                let before = at_start[succ.index()].len();
                at_start[succ.index()].intersect_with(&intact);
                changed |= before != at_start[succ.index()].len();
            }
        }
    }
    for &block in cfg.reverse_postorder() {
        let mut intact = at_start[block.index()].clone();
        for id in cfg.block(block).insts() {
            let inst = &function.insts[id.index()];
            let mut lost = None;
            inst.for_each_use(|r| lost = lost.or((!intact.contains(r.index())).then_some(r)));
            if let Some(reg) = lost {
                let (name, what) = (&function.reg(reg).name, inst.mnemonic());
                return Err(format!("{name} is read by `{what}` (instruction {}) but was overwritten", id.0));
            }
            let mut defs = Vec::new();
            inst.for_each_def(|r| defs.push(r.index()));
            for (i, a) in defs.iter().enumerate() {
                if defs[..i].iter().any(|b| a != b && places.overlap(*a, *b)) {
                    return Err(format!("results of instruction {} overlap", id.0));
                }
            }
            places.step(inst, &mut intact);
        }
    }
    Ok(())
}

/// The places of registers as ranges of cells; predicates have cells of their own.
struct Places {
    cells: Vec<std::ops::Range<usize>>,
    /// Registers that use each cell.
    users: Vec<Vec<usize>>,
}

impl Places {
    fn new(function: &Function, allocation: &Allocation) -> Result<Self, String> {
        let slots = allocation.registers as usize;
        let mut users = vec![Vec::new(); slots + allocation.predicates as usize];
        let mut mentioned = BitSet::new(function.regs.len());
        for (_, inst) in function.insts() {
            let mut visit = |r: RegId| {
                mentioned.insert(r.index());
            };
            inst.for_each_use(&mut visit);
            inst.for_each_def(&mut visit);
        }
        let mut cells = Vec::new();
        for (i, reg) in function.regs.iter().enumerate() {
            let width = usize::from(width(reg.ty));
            let (at, bound) = match width {
                0 => (allocation.pred.get(i).copied().flatten().map(|p| slots + usize::from(p)), users.len()),
                _ => (allocation.slot.get(i).copied().flatten().map(usize::from), slots),
            };
            let Some(at) = at else {
                if mentioned.contains(i) {
                    return Err(format!("{} has no place", reg.name));
                }
                cells.push(0..0);
                continue;
            };
            let range = at..at + width.max(1);
            if width == 2 && at % 2 != 0 || range.end > bound {
                return Err(format!("{} has the wrong place {at}", reg.name));
            }
            range.clone().for_each(|c| users[c].push(i));
            cells.push(range);
        }
        Ok(Self { cells, users })
    }

    fn overlap(&self, a: usize, b: usize) -> bool {
        self.cells[a].start < self.cells[b].end && self.cells[b].start < self.cells[a].end
    }

    /// What is intact behind an instruction, from what was before it.
    fn step(&self, inst: &Inst, intact: &mut BitSet) {
        if let Some((d, s)) = copy(inst).filter(|(d, s)| self.cells[d.index()] == self.cells[s.index()]) {
            // The places keep their content, and it is that of both registers now.
            if intact.contains(s.index()) {
                intact.insert(d.index());
            } else {
                intact.remove(d.index());
            }
            return;
        }
        inst.for_each_def(|d| {
            let was_intact = intact.contains(d.index());
            for user in self.cells[d.index()].clone().flat_map(|c| &self.users[c]) {
                intact.remove(*user);
            }
            // When a guard may skip the write, the old value must have been there.
            if inst.guard.is_none() || was_intact {
                intact.insert(d.index());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, kernel, module, random_body, reference_kernels};
    use super::*;

    fn allocate(module: &Module, function: &Function) -> Allocation {
        let cfg = Cfg::new(function);
        let live = Liveness::new(function, &cfg);
        let allocation = Allocation::new(module, function, &cfg, &live);
        verify(function, &cfg, &allocation).unwrap_or_else(|e| panic!("{}: {e}", function.name));
        verify(function, &cfg, &Allocation::identity(function)).expect("the identity is right");
        allocation
    }

    #[track_caller]
    fn expect(body: &str, registers: u32, predicates: u32) {
        let (module, id) = kernel(body);
        let allocation = allocate(&module, module.func(id));
        assert_eq!((allocation.registers, allocation.predicates), (registers, predicates), "{body}");
    }

    #[test]
    fn values_that_do_not_meet_share() {
        expect("mov.u32 %r1, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; st.shared.u32 [s], %r3; ret;", 1, 0);
        expect("mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [s], %r3; ret;", 2, 0);
        expect("setp.eq.u32 %p1, 0, 1; @%p1 ret; setp.eq.u32 %p2, 0, 0; @%p2 ret; ret;", 0, 1);
    }

    #[test]
    fn pairs_are_aligned() {
        expect("mov.u32 %r1, 1; mov.u64 %rd1, 2; st.shared.u32 [%rd1], %r1; ret;", 3, 0);
        expect("mov.u32 %r1, 1; mov.u64 %rd1, 2; mov.u32 %r2, 3; st.shared.v2.u32 [%rd1], {%r1, %r2}; ret;", 4, 0);
    }

    #[test]
    fn copies_share() {
        expect("mov.u32 %r1, 1; mov.u32 %r2, %r1; st.shared.v2.u32 [s], {%r1, %r2}; ret;", 1, 0);
        // Not when one of the two changes while the other is still needed.
        expect("mov.u32 %r1, 1; mov.u32 %r2, %r1; add.u32 %r2, %r2, 1; st.shared.v2.u32 [s], {%r1, %r2}; ret;", 2, 0);
    }

    #[test]
    fn a_result_nobody_reads_still_needs_a_place() {
        expect("mov.u32 %r1, 1; mov.u32 %r2, 2; st.shared.u32 [s], %r1; ret;", 2, 0);
    }

    #[test]
    fn the_verifier_finds_an_overwritten_value() {
        let (module, id) =
            kernel("mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [s], %r3; ret;");
        let function = module.func(id);
        let cfg = Cfg::new(function);
        let mut allocation = Allocation::identity(function);
        allocation.slot.fill(Some(0));
        let error = verify(function, &cfg, &allocation).expect_err("two values in one place");
        assert_eq!(error, "%r1 is read by `add.u32` (instruction 2) but was overwritten");
    }

    #[test]
    fn reference_kernels_are_allocated_right() {
        for (_, text) in reference_kernels() {
            let module = module(&text);
            for (_, function) in module.kernels() {
                allocate(&module, function);
            }
        }
    }

    #[test]
    fn random_programs_are_allocated_right() {
        let mut random = Random(0xA110C);
        for _ in 0..1500 {
            let (module, id) = kernel(&random_body(&mut random));
            allocate(&module, module.func(id));
        }
    }
}
