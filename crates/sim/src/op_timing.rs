//! Unit, latency and interval of every PTX operation.
//!
//! The match in [`work`] has no default: an opcode that is new to the instruction set does not compile before somebody
//! has said what it costs. What an operation costs on GPGPU-Sim is the source, unless it says otherwise below.

use crate::config::{LatencyConfig, OpTiming, SmConfig};
use crate::kernel::UnitKind;
use raddle_ptx::isa::{Opcode, Type};

/// What an operation is for its unit: which of a machine's latencies it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Moves, logic, comparisons, conversions, control: `sm.latency.simple`.
    Simple,
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
    /// Executed by the engines without time only; a launch is refused.
    Untimed,
    /// Not executed, see the instruction table.
    Unsupported,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Simple,
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
        Self::Untimed,
        Self::Unsupported,
    ];
}

/// The numbers an operation works on, as far as its time depends on them. Half precision counts as integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Integers and everything else.
    Int,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Numbers {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Int, Self::F32, Self::F64];

    /// Of an operation on this type.
    #[must_use]
    pub fn of(ty: Type) -> Self {
        match ty {
            Type::F64 => Self::F64,
            Type::F32 => Self::F32,
            _ => Self::Int,
        }
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
        // Bits.
        O::And | O::Or | O::Xor | O::Not | O::Cnot | O::Lop3 | O::Shl | O::Shr | O::Shf | O::Bfe | O::Bfi | O::Bfind
        | O::Bmsk | O::Brev | O::Clz | O::Popc | O::Prmt | O::Fns | O::Szext
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
        // Matrices: no machine here has units for them.
        O::Ldmatrix | O::Stmatrix | O::Movmatrix | O::Mma | O::Wmma => Work::Untimed,
        O::Cp | O::Mbarrier | O::Wgmma | O::Multimem | O::Sured | O::Tcgen05 | O::Tensormap
            => Work::Unsupported,
    }
}

/// Latency and interval of a kind of work on a kind of numbers.
#[must_use]
pub fn timing(l: &LatencyConfig, work: Work, numbers: Numbers) -> OpTiming {
    let pick = |int: OpTiming, f32: OpTiming, f64: OpTiming| match numbers {
        Numbers::Int => int,
        Numbers::F32 => f32,
        Numbers::F64 => f64,
    };
    let one_more = |t: OpTiming| OpTiming { latency: t.latency + 1, interval: t.interval + 1 };
    match work {
        Work::Simple | Work::Memory | Work::Untimed | Work::Unsupported => l.simple,
        Work::Add => pick(l.int_add, l.f32_add, l.f64_add),
        Work::Max => pick(l.int_max, l.f32_max, l.f64_max),
        Work::Mul => pick(l.int_mul, l.f32_mul, l.f64_mul),
        Work::Mul24 => one_more(l.int_mul),
        Work::Mad => pick(l.int_mad, l.f32_mad, l.f64_mad),
        Work::Mad24 => one_more(l.int_mad),
        // Only of half precision, when it is of none of these.
        Work::Fma => pick(l.f32_fma, l.f32_fma, l.f64_fma),
        Work::Div => pick(l.int_div, l.f32_div, l.f64_div),
        Work::Transcendental => l.transcendental,
        Work::Shuffle => l.shuffle,
        Work::Matrix => l.tensor,
    }
}

/// The unit a kind of work is done on.
#[must_use]
pub fn unit(sm: &SmConfig, work: Work, numbers: Numbers) -> UnitKind {
    let has = |pipelines: u32, unit: UnitKind, other: UnitKind| if pipelines > 0 { unit } else { other };
    let on_sfu = match work {
        Work::Memory => return UnitKind::Mem,
        Work::Matrix => return UnitKind::Tensor,
        Work::Simple | Work::Shuffle | Work::Untimed | Work::Unsupported => false,
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
        Work::Simple | Work::Shuffle | Work::Untimed | Work::Unsupported => {
            has(sm.units.int, UnitKind::Int, UnitKind::Sp)
        }
        _ if numbers == Numbers::F64 => has(sm.units.dp, UnitKind::Dp, sfu),
        _ if on_sfu => sfu,
        _ if numbers == Numbers::Int => has(sm.units.int, UnitKind::Int, UnitKind::Sp),
        _ => UnitKind::Sp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_ptx::isa::{forms, unsupported};

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
