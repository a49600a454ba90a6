//! What a kernel computes that depends on neither thread nor block: it can be done once, in front of the wrapper loop.
//!
//! An instruction is invariant when it always gives the same value and doing it early does no harm: arithmetic, moves,
//! and loads of parameters and constants at known places, from constants, invariant registers and special registers
//! that are the same for all threads of a launch. It must be the only one that writes its destination, have no guard,
//! and stand on every way to each read of the result, so that moving it changes what nobody reads.

use crate::analysis::{BitSet, Cfg, Dominators};
use crate::ir::{Address, Base, Function, Inst, InstId, Module, Operand, Space};
use crate::isa::{Opcode, Special, Word};

/// The invariant instructions of a function.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    /// Each behind those whose results it reads.
    pub order: Vec<InstId>,
}

impl Invariants {
    /// Finds them among the instructions for which `is_movable` holds.
    #[must_use]
    pub fn new(module: &Module, function: &Function, is_movable: impl Fn(InstId) -> bool) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(&cfg);
        let mut writes = vec![0_u32; function.regs.len()];
        let mut reads: Vec<Vec<InstId>> = vec![Vec::new(); function.regs.len()];
        for (id, inst) in function.insts().filter(|(id, _)| cfg.is_reachable(cfg.block_of(*id))) {
            inst.for_each_def(|r| writes[r.index()] += 1);
            inst.for_each_use(|r| reads[r.index()].push(id));
        }
        let comes_before = |a: InstId, b: InstId| {
            let (from, to) = (cfg.block_of(a), cfg.block_of(b));
            if from == to { a < b } else { dominators.dominates(from, to) }
        };
        let mut known = BitSet::new(function.regs.len());
        let mut order = Vec::new();
        // A block comes behind all that dominate it, so one round finds everything.
        for id in cfg.reverse_postorder().iter().flat_map(|b| cfg.block(*b).insts()) {
            let inst = &function.insts[id.index()];
            let mut is_invariant = is_movable(id) && is_pure(module, function, inst);
            inst.for_each_use(|r| is_invariant &= known.contains(r.index()));
            inst.for_each_def(|r| {
                is_invariant &= writes[r.index()] == 1 && reads[r.index()].iter().all(|read| comes_before(id, *read));
            });
            if is_invariant {
                inst.for_each_def(|r| {
                    known.insert(r.index());
                });
                order.push(id);
            }
        }
        Self { order }
    }
}

/// Whether the result depends on the operands only, the operands bring in nothing that differs between threads or
/// changes, and nothing else happens.
fn is_pure(module: &Module, function: &Function, inst: &Inst) -> bool {
    if inst.guard.is_some() || inst.has(Word::Cc) || !inst.operands.iter().all(is_same_for_all) {
        return false;
    }
    match inst.opcode {
        Opcode::Ld => is_fixed_load(module, function, inst),
        Opcode::Abs
        | Opcode::Add
        | Opcode::And
        | Opcode::Bfe
        | Opcode::Bfi
        | Opcode::Bfind
        | Opcode::Bmsk
        | Opcode::Brev
        | Opcode::Clz
        | Opcode::Cnot
        | Opcode::Copysign
        | Opcode::Cos
        | Opcode::Createpolicy
        | Opcode::Cvt
        | Opcode::Cvta
        | Opcode::Div
        | Opcode::Dp2a
        | Opcode::Dp4a
        | Opcode::Ex2
        | Opcode::Fma
        | Opcode::Fns
        | Opcode::Isspacep
        | Opcode::Lg2
        | Opcode::Lop3
        | Opcode::Mad
        | Opcode::Mad24
        | Opcode::Max
        | Opcode::Min
        | Opcode::Mov
        | Opcode::Mul
        | Opcode::Mul24
        | Opcode::Neg
        | Opcode::Not
        | Opcode::Or
        | Opcode::Popc
        | Opcode::Prmt
        | Opcode::Rcp
        | Opcode::Rem
        | Opcode::Rsqrt
        | Opcode::Sad
        | Opcode::Selp
        | Opcode::Set
        | Opcode::Setp
        | Opcode::Shf
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Sin
        | Opcode::Slct
        | Opcode::Sqrt
        | Opcode::Sub
        | Opcode::Szext
        | Opcode::Tanh
        | Opcode::Testp
        | Opcode::Xor => true,
        _ => false,
    }
}

/// Whether special registers in the operand are the same for all threads of a launch, at all times.
fn is_same_for_all(operand: &Operand) -> bool {
    match operand {
        Operand::Special(special) => matches!(
            special,
            Special::NtidX
                | Special::NtidY
                | Special::NtidZ
                | Special::NctaidX
                | Special::NctaidY
                | Special::NctaidZ
                | Special::Nwarpid
                | Special::Nsmid
                | Special::Gridid
                | Special::TotalSmemSize
                | Special::DynamicSmemSize
                | Special::WarpSz
        ),
        Operand::Vector(list) | Operand::List(list) => list.iter().all(is_same_for_all),
        Operand::Pair(pair) => pair.iter().all(is_same_for_all),
        _ => true,
    }
}

/// Whether a load reads a parameter of the kernel or a constant at a place inside of it. A load through a register might
/// be out of bounds where it was not meant to happen.
fn is_fixed_load(module: &Module, function: &Function, inst: &Inst) -> bool {
    let address = inst.operands.iter().find_map(|o| if let Operand::Memory(a) = o { Some(a) } else { None });
    let Some(Address { base: Base::Var(var), offset }) = address else { return false };
    let known = module.var(*var);
    let is_fixed = match inst.space() {
        Some(Space::Param) => function.is_entry && function.params.contains(var),
        Some(Space::Const) => known.space == Space::Const,
        _ => false,
    };
    let bytes = i64::from(inst.ty().bits() / 8) * inst.vector_width() as i64;
    let fits = *offset >= 0 && offset.saturating_add(bytes) <= i64::try_from(known.size).unwrap_or(i64::MAX);
    is_fixed && fits && !inst.has(Word::Volatile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::kernel;

    /// The mnemonics of what is invariant in this body.
    fn invariant(body: &str) -> Vec<String> {
        let (module, id) = kernel(body);
        let function = module.func(id);
        let found = Invariants::new(&module, function, |_| true);
        found.order.iter().map(|i| function.insts[i.index()].mnemonic()).collect()
    }

    #[test]
    fn what_follows_from_parameters_is_invariant() {
        let body = "ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n\
                    mad.lo.u32 %r3, %r1, 4, 1; add.u32 %r4, %r3, %r2; st.global.u32 [%rd2], %r4; ret;";
        assert_eq!(invariant(body), ["ld.param.u64", "cvta.to.global.u64", "mov.u32", "mad.lo.u32"]);
    }

    #[test]
    fn indices_clocks_and_memory_are_not() {
        let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %clock; mov.u32 %r3, %laneid; mov.u32 %r4, %smid;\n\
                    ld.shared.u32 %r5, [s]; ld.global.u32 %r6, [8]; activemask.b32 %r7; add.cc.u32 %r8, 1, 2; ret;";
        assert!(invariant(body).is_empty());
    }

    #[test]
    fn what_is_written_twice_or_under_a_guard_stays() {
        let body = "mov.u32 %r1, 1; mov.u32 %r2, 1; setp.eq.u32 %p1, %r1, 1; @%p1 mov.u32 %r2, 2;\n\
                    @%p1 mov.u32 %r3, 3; add.u32 %r4, %r2, %r3; ret;";
        assert_eq!(invariant(body), ["mov.u32", "setp.eq.u32"]);
    }

    #[test]
    fn what_is_read_on_a_way_around_it_stays() {
        let around = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra Join; mov.u32 %r2, 7;\n\
                      Join: st.shared.u32 [s], %r2; ret;";
        assert!(invariant(around).is_empty());
        let inside = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra Join; mov.u32 %r2, 7;\n\
                      st.shared.u32 [s], %r2; Join: ret;";
        assert_eq!(invariant(inside), ["mov.u32"]);
    }

    #[test]
    fn order_follows_the_data_and_not_the_text() {
        let body =
            "bra First; Second: add.u32 %r2, %r1, 1; st.shared.u32 [s], %r2; ret; First: mov.u32 %r1, 5; bra Second;";
        assert_eq!(invariant(body), ["mov.u32", "add.u32"]);
    }

    #[test]
    fn loads_outside_of_a_parameter_stay() {
        assert_eq!(invariant("ld.param.u32 %r1, [n]; ret;").len(), 1);
        assert!(invariant("ld.param.u32 %r1, [n+4]; ret;").is_empty());
        assert!(invariant("mov.u64 %rd1, a; ld.param.u64 %rd2, [%rd1]; ret;").len() < 2);
    }
}
