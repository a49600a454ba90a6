//! Unit, latency and interval of every PTX operation.
//!
//! The match in [`work`] has no default: an opcode that is new to the instruction set does not compile before somebody
//! has said what it costs. What an operation costs on GPGPU-Sim is the source, unless it says otherwise below.

use crate::config::{LatencyConfig, OpTiming, SmConfig};
use crate::kernel::UnitKind;
use raddle_ptx::ir::Inst;
use raddle_ptx::isa::{Element, Matrix, MatrixKind, MatrixOp, Opcode, Type};
use raddle_ptx::num::fit;

/// What an operation is for its unit: which of a machine's latencies it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Moves, logic, comparisons, conversions, control: `sm.latency.simple`.
    Simple,
    /// Counting, finding and reversing bits.
    Bits,
    /// Additions.
    Add,
    /// Minimum and maximum.
    Max,
    /// Multiplications.
    Mul,
    /// Of 24 bits: multiplications and a cycle more for cutting the operands.
    Mul24,
    /// Multiply-add.
    Mad,
    /// Of 24 bits: as [`Work::Mul24`].
    Mad24,
    /// Fused multiply-add.
    Fma,
    /// Quotient and remainder.
    Div,
    /// Square root, reciprocal, sine and the like.
    Transcendental,
    /// Values of other lanes.
    Shuffle,
    /// What the load-store unit does: the time is that of memory.
    Memory,
    /// Products of matrices.
    Matrix,
    /// Not executed, see the instruction table.
    Unsupported,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Simple,
        Self::Bits,
        Self::Add,
        Self::Max,
        Self::Mul,
        Self::Mul24,
        Self::Mad,
        Self::Mad24,
        Self::Fma,
        Self::Div,
        Self::Transcendental,
        Self::Shuffle,
        Self::Memory,
        Self::Matrix,
        Self::Unsupported,
    ];
}

/// The numbers an operation works on, as far as its time depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Integers and everything else.
    Int,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Numbers {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Int, Self::F16, Self::F32, Self::F64];

    /// Of an operation on this type.
    #[must_use]
    pub fn of(ty: Type) -> Self {
        match ty {
            Type::F64 => Self::F64,
            Type::F32 => Self::F32,
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => Self::F16,
            _ => Self::Int,
        }
    }
}

/// What an instruction is for its unit.
#[must_use]
pub fn work_of(inst: &Inst) -> Work {
    match inst.matrix().map(|matrix| matrix.kind) {
        Some(MatrixKind::Load(_) | MatrixKind::Store) => Work::Memory,
        None if inst.opcode == Opcode::Cp && inst.space().is_none() => Work::Simple,
        _ => work(inst.opcode),
    }
}

/// What an operation is for its unit.
#[must_use]
#[rustfmt::skip] // by kind
pub fn work(opcode: Opcode) -> Work {
    use Opcode as O;
    match opcode {
        O::Add | O::Addc | O::Sub | O::Subc => Work::Add,
        O::Max | O::Min => Work::Max,
        O::Mul => Work::Mul,
        O::Mul24 => Work::Mul24,
        O::Mad | O::Madc => Work::Mad,
        O::Mad24 => Work::Mad24,
        O::Fma => Work::Fma,
        O::Div | O::Rem => Work::Div,
        // GPGPU-Sim does not know `tanh`; GPUs that have it compute it where they compute the others.
        O::Sqrt | O::Rsqrt | O::Rcp | O::Sin | O::Cos | O::Ex2 | O::Lg2 | O::Tanh => Work::Transcendental,
        O::Shfl => Work::Shuffle,
        O::Ld | O::Ldu | O::St | O::Atom | O::Red | O::Tex | O::Tld4 | O::Membar | O::Fence => Work::Memory,
        O::Suld | O::Sust => Work::Memory,
        O::Popc | O::Clz | O::Bfind | O::Brev | O::Fns => Work::Bits,
        // Bits.
        O::And | O::Or | O::Xor | O::Not | O::Cnot | O::Lop3 | O::Shl | O::Shr | O::Shf | O::Bfe | O::Bfi
        | O::Bmsk | O::Prmt | O::Szext
        // Signs, distances, sums of narrow products and video operations; GPGPU-Sim gives them one cycle.
        | O::Abs | O::Neg | O::Copysign | O::Sad | O::Dp2a | O::Dp4a
        | O::Vabsdiff | O::Vabsdiff2 | O::Vabsdiff4 | O::Vadd | O::Vadd2 | O::Vadd4 | O::Vavrg2 | O::Vavrg4 | O::Vmad
        | O::Vmax | O::Vmax2 | O::Vmax4 | O::Vmin | O::Vmin2 | O::Vmin4 | O::Vset | O::Vset2 | O::Vset4 | O::Vshl
        | O::Vshr | O::Vsub | O::Vsub2 | O::Vsub4
        // Moves, selections, comparisons, conversions.
        | O::Mov | O::Cvt | O::Cvta | O::Selp | O::Slct | O::Set | O::Setp | O::Testp | O::Isspacep | O::Istypep
        // Control.
        | O::Bra | O::Brx | O::Call | O::Ret | O::Exit | O::Trap | O::Brkpt | O::Nanosleep | O::Pmevent | O::Raddle
        // Barriers and what all lanes of a warp do together.
        | O::Bar | O::Barrier | O::Vote | O::Match | O::Redux | O::Activemask | O::Elect
        // Hints, addresses of the stack, properties of textures and surfaces.
        | O::Prefetch | O::Prefetchu | O::Applypriority | O::Discard | O::Createpolicy | O::Alloca | O::Stacksave
        | O::Stackrestore | O::Txq | O::Suq | O::Griddepcontrol | O::Setmaxnreg | O::Getctarank | O::Mapa
            => Work::Simple,
        // Matrices; `wmma` loads and stores too, see [`work_of`].
        O::Mma | O::Wmma => Work::Matrix,
        O::Ldmatrix | O::Stmatrix => Work::Memory,
        // To commit groups of copies and to wait for them too, see [`work_of`].
        O::Cp => Work::Memory,
        O::Movmatrix => Work::Shuffle,
        O::Mbarrier | O::Wgmma | O::Multimem | O::Sured | O::Tcgen05 | O::Tensormap
            => Work::Unsupported,
    }
}

/// Latency and interval of a kind of work on a kind of numbers.
#[must_use]
pub fn timing(l: &LatencyConfig, work: Work, numbers: Numbers) -> OpTiming {
    let pick = |int: OpTiming, f16: OpTiming, f32: OpTiming, f64: OpTiming| match numbers {
        Numbers::Int => int,
        Numbers::F16 => f16,
        Numbers::F32 => f32,
        Numbers::F64 => f64,
    };
    let one_more = |t: OpTiming| OpTiming { latency: t.latency + 1, interval: t.interval + 1 };
    match work {
        Work::Simple | Work::Memory | Work::Unsupported => l.simple,
        Work::Bits => l.bits,
        Work::Add => pick(l.int_add, l.f16_add, l.f32_add, l.f64_add),
        Work::Max => pick(l.int_max, l.f16_max, l.f32_max, l.f64_max),
        Work::Mul => pick(l.int_mul, l.f16_mul, l.f32_mul, l.f64_mul),
        Work::Mul24 => one_more(l.int_mul),
        Work::Mad => pick(l.int_mad, l.f16_fma, l.f32_mad, l.f64_mad),
        Work::Mad24 => one_more(l.int_mad),
        Work::Fma => pick(l.f32_fma, l.f16_fma, l.f32_fma, l.f64_fma),
        Work::Div => pick(l.int_div, l.f32_div, l.f32_div, l.f64_div),
        Work::Transcendental if numbers == Numbers::F64 => l.f64_sqrt,
        Work::Transcendental => l.transcendental,
        Work::Shuffle => l.shuffle,
        Work::Matrix => l.tensor,
    }
}

/// Latency and interval of a matrix product, where those of one of 16 by 16 and 16 by 16 elements of 16 bits are known: others
/// occupy the tensor core in proportion to their products and to the bits of a factor, double precision four times as long. That is how the
/// peak rates of the A100 stand to each other (f16 312, tf32 156, int8 624, int4 1248, f64 19.5 in units of 10^12 a second).
#[must_use]
pub fn matrix_timing(tensor: OpTiming, op: &MatrixOp) -> OpTiming {
    let element = op.element(Matrix::A);
    let size = op.m * op.n * op.k * if op.is_quartered() { 4 } else { 1 };
    let cost = size * element.bits() * if element == Element::F64 { 4 } else { 1 };
    let interval = (u64::from(tensor.interval) * u64::from(cost)).div_ceil(16 * 16 * 16 * 16);
    let interval = fit::<u32, _>(interval).max(1);
    OpTiming { latency: (tensor.latency + interval).saturating_sub(tensor.interval).max(1), interval }
}

/// The unit a kind of work is done on.
#[must_use]
pub fn unit(sm: &SmConfig, work: Work, numbers: Numbers) -> UnitKind {
    let has = |pipelines: u32, unit: UnitKind, other: UnitKind| if pipelines > 0 { unit } else { other };
    let on_sfu = match work {
        Work::Memory => return UnitKind::Mem,
        Work::Matrix => return UnitKind::Tensor,
        Work::Simple | Work::Bits | Work::Shuffle | Work::Unsupported => false,
        Work::Div | Work::Transcendental => true,
        Work::Mul | Work::Mul24 | Work::Mad | Work::Mad24 if numbers == Numbers::Int => sm.units.sfu_int_mul,
        Work::Add | Work::Max | Work::Mul | Work::Mul24 | Work::Mad | Work::Mad24 | Work::Fma => {
            numbers == Numbers::F64
        }
    };
    let sfu = has(sm.units.sfu, UnitKind::Sfu, UnitKind::Sp);
    match work {
        Work::Div | Work::Transcendental => sfu,
        // Comparisons, moves and conversions of numbers of any type are integers' too.
        Work::Simple | Work::Bits | Work::Shuffle | Work::Unsupported => has(sm.units.int, UnitKind::Int, UnitKind::Sp),
        _ if numbers == Numbers::F64 => has(sm.units.dp, UnitKind::Dp, sfu),
        _ if on_sfu => sfu,
        _ if matches!(numbers, Numbers::Int | Numbers::F16) => has(sm.units.int, UnitKind::Int, UnitKind::Sp),
        _ => UnitKind::Sp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_ptx::isa::{Word, forms, unsupported};

    #[test]
    fn what_is_executed_has_a_time_and_what_is_refused_has_none() {
        for form in forms() {
            assert_ne!(work(form.opcode), Work::Unsupported, "{}", form.opcode);
        }
        let executed = |opcode| forms().iter().any(|form| form.opcode == opcode);
        for refused in unsupported().iter().filter(|u| !executed(u.opcode)) {
            let work = work(refused.opcode);
            assert!(matches!(work, Work::Unsupported | Work::Simple), "{}: {work:?}", refused.opcode);
        }
    }

    #[test]
    fn matrix_products_take_as_long_as_they_have_products_and_bits() {
        let known = OpTiming { latency: 40, interval: 32 };
        let of = |words: &[Word]| matrix_timing(known, &MatrixOp::of(Opcode::Mma, words).expect("a product"));
        let times = [
            (&[Word::M16n8k16, Word::F32, Word::F16, Word::F16, Word::F32], 24, 16),
            (&[Word::M8n8k4, Word::F32, Word::F16, Word::F16, Word::F32], 16, 8),
            (&[Word::M16n8k8, Word::F32, Word::Tf32, Word::Tf32, Word::F32], 24, 16),
            (&[Word::M16n8k32, Word::S32, Word::S8, Word::S8, Word::S32], 24, 16),
            (&[Word::M8n8k4, Word::F64, Word::F64, Word::F64, Word::F64], 40, 32),
        ];
        for (words, latency, interval) in times {
            assert_eq!(of(words), OpTiming { latency, interval }, "{words:?}");
        }
    }

    #[test]
    fn a_remainder_takes_as_long_as_a_quotient() {
        let mut sm = crate::mem::test_machine::gtx480().sm;
        sm.latency.int_div = OpTiming { latency: 145, interval: 8 };
        let of = |opcode, numbers| {
            let work = work(opcode);
            (unit(&sm, work, numbers), timing(&sm.latency, work, numbers))
        };
        assert_eq!(of(Opcode::Rem, Numbers::Int), of(Opcode::Div, Numbers::Int));
        assert_eq!(of(Opcode::Rem, Numbers::Int), (UnitKind::Sfu, sm.latency.int_div));
        let OpTiming { latency, interval } = sm.latency.int_mul;
        let longer = OpTiming { latency: latency + 1, interval: interval + 1 };
        assert_eq!(of(Opcode::Mul24, Numbers::Int), (UnitKind::Sp, longer));
        assert_eq!(of(Opcode::Add, Numbers::F64).0, UnitKind::Sfu);
        assert_eq!(of(Opcode::Neg, Numbers::F64), (UnitKind::Sp, sm.latency.simple));
    }
}
