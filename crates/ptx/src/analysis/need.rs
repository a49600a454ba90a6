//! An estimate of the registers a compiler for a real machine would use.
//!
//! [`Allocation`](super::Allocation) takes the program as it is written. A machine's assembler does
//! not: it drops what nobody needs, keeps constants and parameters out of registers and computes
//! only the halves of addresses that matter. This estimate makes the same four simplifications, each
//! a property of the machines PTX is meant for and none of them fitted to a kernel:
//!
//! * Results that nothing needs are not computed.
//! * Constants, kernel parameters, addresses of variables and changes of address space are not
//!   kept: an instruction names a constant or a word of the parameter bank directly. It can name one;
//!   a second one, the base of an address and the data of a store need a register for that one
//!   instruction.
//! * A 64-bit value of which only the lower half is used takes one register. Addresses of shared,
//!   local, constant and parameter memory are such.
//! * Register 1 is the stack pointer.
//!
//! When there are too many values for that (see `colour.rs`), each counts for itself.
//!
//! What it does not do is what makes real counts differ most: unroll loops, reorder loads to hide
//! their latency, or keep values apart to lengthen the distance between dependent instructions.

use super::liveness::step;
use super::registers::{address_copy, copy, interference, order_of_appearance, width};
use super::worklist::Worklist;
use super::{Allocation, BitSet, Cfg, Liveness};
use crate::ir::{Address, Base, Function, Imm, Inst, InstId, Operand, RegId, Space};
use crate::isa::{Opcode, Special, Word};
use crate::num::fit;

/// Registers that the machine keeps for itself: the stack pointer.
const STACK_POINTER: u32 = 1;

/// Estimated register need of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterNeed {
    /// 32-bit registers.
    pub registers: u32,
    /// Predicate registers.
    pub predicates: u32,
}

impl RegisterNeed {
    /// Estimates the need of `function`.
    #[must_use]
    pub fn estimate(function: &Function, cfg: &Cfg) -> Self {
        let mut reduced = function.clone();
        drop_unneeded(&mut reduced);
        let wide = needs_both_halves(&reduced);
        let widths: Vec<u8> = (0..reduced.regs.len())
            .map(|r| width(reduced.regs[r].ty).min(if wide.contains(r) { 2 } else { 1 }))
            .collect();
        let momentary = inline_constants(&mut reduced, &widths);
        let live = Liveness::new(&reduced, cfg);
        let any_copy = |inst: &Inst| copy(inst).or_else(|| address_copy(inst));
        let Some((mut graph, preds)) = interference(&reduced, cfg, &live, widths, any_copy) else {
            return Self::one_place_each(function);
        };
        for (a, b) in reduced.insts.iter().filter_map(any_copy) {
            graph.add_partners(a.0, b.0);
        }
        let mut order = order_of_appearance(&reduced, cfg);
        let predicates = preds.colour(&order).count;
        for (block, _) in cfg.iter() {
            live.for_each_after(&reduced, cfg, block, |inst, after| {
                let start = momentary.partition_point(|(i, _)| *i < inst);
                let here = momentary[start..].iter().take_while(|(i, _)| *i == inst);
                let mut before = None;
                for (i, (_, width)) in (0..).zip(here) {
                    let before = before.get_or_insert_with(|| {
                        let mut live = after.clone();
                        step(&reduced.insts[inst.index()], &mut live);
                        live
                    });
                    let node = graph.add_node(*width);
                    order.push(node);
                    before.iter().for_each(|reg| graph.add_edge(node, fit(reg)));
                    // Those of one instruction are there at the same time.
                    (node - i..node).for_each(|other| graph.add_edge(node, other));
                }
            });
        }
        if graph.is_too_large() {
            return Self::one_place_each(function);
        }
        graph.reserved = Some(STACK_POINTER);
        Self { registers: graph.colour(&order).count.max(STACK_POINTER + 1), predicates }
    }
}

impl RegisterNeed {
    fn one_place_each(function: &Function) -> Self {
        let all = Allocation::identity(function);
        Self { registers: all.registers.max(STACK_POINTER + 1), predicates: all.predicates }
    }
}

/// Whether an instruction does more than write registers.
fn has_effect(inst: &Inst) -> bool {
    use Opcode as O;
    inst.ends_block()
        || inst.has(Word::Volatile)
        || matches!(
            inst.opcode,
            O::St
                | O::Sust
                | O::Atom
                | O::Red
                | O::Bar
                | O::Barrier
                | O::Membar
                | O::Fence
                | O::Call
                | O::Brkpt
                | O::Nanosleep
                | O::Pmevent
        )
        || matches!(inst.opcode, O::Prefetch | O::Prefetchu | O::Shfl | O::Vote | O::Match | O::Redux | O::Elect)
}

/// Takes the operands off instructions whose results nobody needs.
fn drop_unneeded(function: &mut Function) {
    let mut needed = BitSet::new(function.regs.len());
    let mut keep = BitSet::new(function.insts.len());
    let mut work = Worklist::backwards(function);
    while let Some(at) = work.pop() {
        let inst = &function.insts[at];
        let mut wanted = has_effect(inst);
        inst.for_each_def(|r| wanted |= needed.contains(r.index()));
        if wanted && keep.insert(at) {
            inst.for_each_use(|r| {
                if needed.insert(r.index()) {
                    work.changed(r.index());
                }
            });
        }
    }
    for (i, inst) in function.insts.iter_mut().enumerate().filter(|(i, _)| !keep.contains(*i)) {
        debug_assert!(!inst.ends_block(), "instruction {i} has an effect");
        blank(inst);
    }
}

fn blank(inst: &mut Inst) {
    inst.guard = None;
    inst.operands.clear();
}

/// The registers whose upper half something depends on.
fn needs_both_halves(function: &Function) -> BitSet {
    let mut wide = BitSet::new(function.regs.len());
    let mut work = Worklist::backwards(function);
    while let Some(at) = work.pop() {
        let inst = &function.insts[at];
        let mut result_is_wide = false;
        inst.for_each_def(|r| result_is_wide |= wide.contains(r.index()));
        let only_low = match inst.opcode {
            // The lower half of the result depends on the lower halves of the operands.
            Opcode::Add | Opcode::Sub | Opcode::Mad | Opcode::Mul if !inst.has(Word::Cc) && !inst.has(Word::Hi) => {
                !inst.ty().is_float() && !result_is_wide
            }
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Shl | Opcode::Neg | Opcode::Selp => {
                !result_is_wide
            }
            Opcode::Mov => !result_is_wide && matches!(inst.operands[..], [Operand::Reg(_), Operand::Reg(_)]),
            Opcode::Cvt => {
                let narrows = inst.nth_type(0).is_some_and(|t| t.bytes() <= 4 && !t.is_float());
                let from_int = inst.nth_type(1).is_some_and(|t| !t.is_float());
                !inst.has(Word::Sat) && from_int && (narrows || !result_is_wide)
            }
            _ => false,
        };
        let narrow_space = matches!(inst.space(), Some(Space::Shared | Space::Local | Space::Const | Space::Param));
        for operand in &inst.operands {
            let is_near_address = matches!(operand, Operand::Memory(_)) && narrow_space;
            if !only_low && !is_near_address {
                operand.for_each_reg(&mut |r| {
                    // Destinations are not uses; reading what is written does not widen it.
                    if is_used(inst, r) && wide.insert(r.index()) {
                        work.changed(r.index());
                    }
                });
            }
        }
    }
    wide
}

fn is_used(inst: &Inst, reg: RegId) -> bool {
    let mut used = false;
    inst.for_each_use(|r| used |= r == reg);
    used
}

/// Replaces registers that only hold constants by the constants and gives the registers that are
/// needed for a moment: at which instruction, how wide; in the order of instructions.
fn inline_constants(function: &mut Function, widths: &[u8]) -> Vec<(InstId, u8)> {
    let mut writes = vec![0_u32; function.regs.len()];
    for (_, inst) in function.insts() {
        inst.for_each_def(|r| writes[r.index()] += 1);
    }
    let mut constant = BitSet::new(function.regs.len());
    let mut work = Worklist::forwards(function);
    while let Some(at) = work.pop() {
        let inst = &function.insts[at];
        let Some(Operand::Reg(dest)) = inst.operands.first() else { continue };
        let once = inst.guard.is_none() && writes[dest.index()] == 1;
        if once && is_constant(function, inst, &constant) && constant.insert(dest.index()) {
            work.changed(dest.index());
        }
    }
    let mut momentary = Vec::new();
    for (i, inst) in function.insts.iter_mut().enumerate() {
        if let Some(Operand::Reg(dest)) = inst.operands.first()
            && constant.contains(dest.index())
            && is_written(inst, *dest)
        {
            blank(inst);
            continue;
        }
        let mut free = !matches!(
            inst.opcode,
            Opcode::St | Opcode::Sust | Opcode::Atom | Opcode::Red | Opcode::Call | Opcode::Shfl
        );
        for operand in &mut inst.operands {
            inline(operand, &constant, &mut free, &mut |r| momentary.push((InstId::from_index(i), widths[r.index()])));
        }
    }
    momentary
}

fn is_written(inst: &Inst, reg: RegId) -> bool {
    let mut written = false;
    inst.for_each_def(|r| written |= r == reg);
    written
}

/// Whether an instruction writes a value that need not be kept.
fn is_constant(function: &Function, inst: &Inst, constant: &BitSet) -> bool {
    if let Some((_, from)) = copy(inst).or_else(|| address_copy(inst)) {
        return constant.contains(from.index());
    }
    match (inst.opcode, &inst.operands[..]) {
        (Opcode::Mov, [_, Operand::Imm(_) | Operand::VarAddress(..) | Operand::Func(_)])
        | (Opcode::Cvta, [_, Operand::VarAddress(..)]) => true,
        // The launch's dimensions are words of the parameter bank.
        (Opcode::Mov, [_, Operand::Special(s)]) => is_launch_constant(*s),
        (Opcode::Ld, [_, Operand::Memory(Address { base: Base::Var(var), .. })]) => {
            inst.space() == Some(Space::Param) && function.is_entry && function.params.contains(var)
        }
        _ => false,
    }
}

fn is_launch_constant(special: Special) -> bool {
    use Special as S;
    matches!(special, S::NtidX | S::NtidY | S::NtidZ | S::NctaidX | S::NctaidY | S::NctaidZ | S::WarpSz)
}

/// Replaces registers in an operand. `free` says whether the instruction can still name a
/// constant; otherwise `momentary` is told.
fn inline(operand: &mut Operand, constant: &BitSet, free: &mut bool, momentary: &mut impl FnMut(RegId)) {
    match operand {
        Operand::Reg(r) if constant.contains(r.index()) => {
            if !std::mem::take(free) {
                momentary(*r);
            }
            *operand = Operand::Imm(Imm::Int(0));
        }
        Operand::Memory(address) => {
            if let Base::Reg(r) = address.base
                && constant.contains(r.index())
            {
                momentary(r);
                address.base = Base::Absolute;
            }
        }
        Operand::Vector(list) | Operand::List(list) | Operand::Texture { coords: list, .. } => {
            list.iter_mut().for_each(|o| inline(o, constant, &mut false, momentary));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, kernel, module, random_body, reference_kernels};
    use super::*;

    #[track_caller]
    fn expect(body: &str, registers: u32, predicates: u32) {
        let (module, id) = kernel(body);
        let function = module.func(id);
        let need = RegisterNeed::estimate(function, &Cfg::new(function));
        assert_eq!((need.registers, need.predicates), (registers, predicates), "{body}");
    }

    #[test]
    fn the_stack_pointer_is_always_there() {
        expect("ret;", 2, 0);
    }

    #[test]
    fn unneeded_results_take_nothing() {
        expect("mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; mul.lo.u32 %r3, %r2, %r1; ret;", 2, 0);
    }

    #[test]
    fn constants_and_parameters_are_named_in_place() {
        // %r1 and %r3 keep their registers (0 and 2); the parameter and the constant take none.
        let body = "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; mov.u32 %r4, 7; mad.lo.u32 %r3, %r1, %r2, %r4; \
                    add.u32 %r3, %r3, %r2; st.shared.v2.u32 [s], {%r1, %r3}; ret;";
        expect(body, 3, 0);
    }

    #[test]
    fn the_base_of_an_address_needs_a_register_for_a_moment() {
        expect("mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], %r1; ret;", 4, 0);
        expect("mov.u32 %r1, %tid.x; mov.u64 %rd1, s; st.shared.u32 [%rd1], %r1; ret;", 3, 0);
    }

    #[test]
    fn shared_addresses_take_one_register() {
        let body = "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, s; add.s64 %rd3, %rd2, %rd1; \
                    st.shared.u32 [%rd3], %r1; ret;";
        expect(body, 3, 0);
        expect(&body.replace("st.shared", "st.global"), 4, 0);
    }

    #[test]
    fn nothing_breaks_on_random_programs() {
        let mut random = Random(0xE57);
        for _ in 0..500 {
            let (module, id) = kernel(&random_body(&mut random));
            let function = module.func(id);
            let need = RegisterNeed::estimate(function, &Cfg::new(function));
            assert!(need.registers <= 40);
        }
    }

    #[test]
    fn reference_kernels_without_unrolled_loops_come_close() {
        for (name, text) in reference_kernels() {
            let expected = match name.as_str() {
                "vecadd" | "reduce" | "f64_chain" => 8,
                "diverge_1" | "diverge_2" | "diverge_4" | "fma_chain" | "imul_chain" => 6,
                _ => continue,
            };
            let module = module(&text);
            let (_, function) = module.kernels().next().expect("a kernel");
            assert_eq!(RegisterNeed::estimate(function, &Cfg::new(function)).registers, expected, "{name}");
        }
    }
}
