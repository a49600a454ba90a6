//! Lane kernels: one operation over 32 lanes.
//!
//! A kernel is a plain loop over planes `[T; 32]` that the compiler vectorises. An operation is
//! declared once, as a function of one lane's values ([`LaneOp`]); [`run`] makes the loop. Hot
//! operations are compiled for several instruction-set levels and the level is chosen when a
//! program is decoded, so that one binary runs everywhere; results do not depend on the choice.

mod bits;
mod compare;
mod convert;
mod extended;
mod float;
mod half;
mod integer;
mod level;
mod logic;
mod plane;
mod select;

pub use level::Level;
pub(crate) use level::leveled;
pub(crate) use plane::Regs;
pub(crate) use select::{moves, select};

use crate::op::Op;
use plane::{Dst, Src};

/// Lanes in a row of thread state. Warps may be narrower, never wider.
pub const LANES: usize = ROW_THREADS as usize;

/// [`LANES`] where threads are counted.
pub(crate) const ROW_THREADS: u32 = 32;

/// A compiled kernel. Unsafe to call because some are compiled for instruction sets the host may
/// lack; [`Level::detect`] decides which may be used.
pub(crate) type KernelFn = unsafe fn(&mut Regs<'_>, &Op, u32);

/// An operation on the values of one lane.
///
/// Unused inputs are `()`. `aux` is [`Op::aux`]: constants such as a rounding mode or a look-up
/// table.
pub(crate) trait LaneOp {
    /// First source.
    type A: Src;
    /// Second source.
    type B: Src;
    /// Third source.
    type C: Src;
    /// Fourth source.
    type E: Src;
    /// Result.
    type D: Dst;
    /// One lane.
    fn lane(aux: u64, a: Self::A, b: Self::B, c: Self::C, e: Self::E) -> Self::D;
}

/// The loop over lanes. All lanes are computed, those in `mask` are written.
#[inline(always)]
fn body<O: LaneOp>(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    let a = O::A::plane(regs, op.s[0]);
    let b = O::B::plane(regs, op.s[1]);
    let c = O::C::plane(regs, op.s[2]);
    let e = O::E::plane(regs, op.s[3]);
    let mut out = [O::D::default(); LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = O::lane(op.aux, O::A::get(a, lane), O::B::get(b, lane), O::C::get(c, lane), O::E::get(e, lane));
    }
    O::D::write(regs, op, &out, mask);
}

fn run<O: LaneOp>(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    body::<O>(regs, op, mask);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
fn run_v3<O: LaneOp>(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    body::<O>(regs, op, mask);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn run_v4<O: LaneOp>(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    body::<O>(regs, op, mask);
}

/// The same kernel for each level.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    base: KernelFn,
    v3: KernelFn,
    v4: KernelFn,
}

impl Kernels {
    /// Compiled for every level: for operations that programs spend their time in.
    pub(crate) const fn hot<O: LaneOp>() -> Self {
        #[cfg(target_arch = "x86_64")]
        return Self { base: run::<O>, v3: run_v3::<O>, v4: run_v4::<O> };
        #[cfg(not(target_arch = "x86_64"))]
        Self::rare::<O>()
    }

    /// Compiled once.
    pub(crate) const fn rare<O: LaneOp>() -> Self {
        Self { base: run::<O>, v3: run::<O>, v4: run::<O> }
    }

    /// As [`Self::hot`], with another operation where the host may lack the instructions of `O`.
    pub(crate) const fn hot_or<O: LaneOp, Fallback: LaneOp>() -> Self {
        #[cfg(target_arch = "x86_64")]
        return Self { base: run::<Fallback>, v3: run_v3::<O>, v4: run_v4::<O> };
        #[cfg(not(target_arch = "x86_64"))]
        Self::rare::<O>()
    }

    /// The kernel for one level.
    pub(crate) fn at(self, level: Level) -> KernelFn {
        match level {
            Level::Base => self.base,
            Level::V3 => self.v3,
            Level::V4 => self.v4,
        }
    }
}

/// Does nothing.
pub(crate) fn nop(_: &mut Regs<'_>, _: &Op, _: u32) {}

/// Declares lane operations: `Name(a: u32, b: u32) -> u32 = expression;`, with `aux` in sight when
/// written `Name[aux](...)`.
macro_rules! lane_ops {
    ($($(#[$doc:meta])* $name:ident $([$aux:ident])? ($($arg:tt)*) -> $ret:ty = $body:expr;)+) => { $(
        $(#[$doc])*
        pub(super) struct $name;
        $crate::lanes::lane_ops!(@impl $name, ($($aux)?), ($($arg)*), $ret, $body);
    )+ };
    (@impl $name:ident, $aux:tt, ($a:ident : $ta:ty), $ret:ty, $body:expr) => {
        $crate::lanes::lane_ops!(@fn $name, $aux, ($a: $ta), (_b: ()), (_c: ()), (_e: ()), $ret, $body);
    };
    (@impl $name:ident, $aux:tt, ($a:ident : $ta:ty, $b:ident : $tb:ty), $ret:ty, $body:expr) => {
        $crate::lanes::lane_ops!(@fn $name, $aux, ($a: $ta), ($b: $tb), (_c: ()), (_e: ()), $ret, $body);
    };
    (@impl $name:ident, $aux:tt, ($a:ident : $ta:ty, $b:ident : $tb:ty, $c:ident : $tc:ty), $ret:ty, $body:expr) => {
        $crate::lanes::lane_ops!(@fn $name, $aux, ($a: $ta), ($b: $tb), ($c: $tc), (_e: ()), $ret, $body);
    };
    (@impl $name:ident, $aux:tt,
        ($a:ident : $ta:ty, $b:ident : $tb:ty, $c:ident : $tc:ty, $e:ident : $te:ty), $ret:ty, $body:expr) => {
        $crate::lanes::lane_ops!(@fn $name, $aux, ($a: $ta), ($b: $tb), ($c: $tc), ($e: $te), $ret, $body);
    };
    (@fn $name:ident, (), ($a:ident : $ta:ty), ($b:ident : $tb:ty), ($c:ident : $tc:ty), ($e:ident : $te:ty),
        $ret:ty, $body:expr) => {
        $crate::lanes::lane_ops!(@fn $name, (_aux), ($a: $ta), ($b: $tb), ($c: $tc), ($e: $te), $ret, $body);
    };
    (@fn $name:ident, ($aux:ident), ($a:ident : $ta:ty), ($b:ident : $tb:ty), ($c:ident : $tc:ty),
        ($e:ident : $te:ty), $ret:ty, $body:expr) => {
        impl $crate::lanes::LaneOp for $name {
            type A = $ta;
            type B = $tb;
            type C = $tc;
            type E = $te;
            type D = $ret;
            #[inline(always)]
            fn lane($aux: u64, $a: $ta, $b: $tb, $c: $tc, $e: $te) -> $ret {
                $body
            }
        }
    };
}
pub(crate) use lane_ops;

/// Runs the kernel of `op`.
#[inline(always)]
#[allow(unsafe_code)] // A plain function pointer cannot carry the instruction-set levels.
pub(crate) fn call(regs: &mut Regs<'_>, op: &Op, mask: u32) {
    // SAFETY: kernels come from `Kernels::at` with a level not above `Level::detect`, so the host
    // has the instructions they were compiled for; they are safe functions otherwise.
    unsafe { (op.kernel)(regs, op, mask) }
}
