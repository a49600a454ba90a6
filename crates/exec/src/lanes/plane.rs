//! Planes: the values of one register in 32 lanes, and how kernels read and write them.

use super::LANES;
use crate::op::{CONST, NONE, NOT, Op, Slot};
use raddle_ptx::num::low16;

/// The registers of one row of 32 threads, and the constants of the program.
pub(crate) struct Regs<'a> {
    pub(crate) r32: &'a mut [[u32; LANES]],
    pub(crate) r64: &'a mut [[u64; LANES]],
    pub(crate) preds: &'a mut [u32],
    pub(crate) c32: &'a [[u32; LANES]],
    pub(crate) c64: &'a [[u64; LANES]],
}

impl Regs<'_> {
    /// The plane of a 32-bit source.
    #[inline(always)]
    pub(crate) fn plane32(&self, s: Slot) -> &[u32; LANES] {
        let file: &[[u32; LANES]] = if s & CONST == 0 { self.r32 } else { self.c32 };
        &file[(s & !CONST) as usize]
    }

    /// The plane of a 64-bit source.
    #[inline(always)]
    pub(crate) fn plane64(&self, s: Slot) -> &[u64; LANES] {
        let file: &[[u64; LANES]] = if s & CONST == 0 { self.r64 } else { self.c64 };
        &file[(s & !CONST) as usize]
    }

    /// The lanes in which a predicate source is true.
    #[inline(always)]
    pub(crate) fn pred(&self, s: Slot) -> u32 {
        let value = if s & CONST == 0 { self.preds[(s & !NOT) as usize] } else { 0u32.wrapping_sub(s & 1) };
        if s & NOT == 0 { value } else { !value }
    }

    /// Writes the lanes of `mask` of a predicate; nothing when there is no destination.
    #[inline(always)]
    pub(crate) fn set_pred(&mut self, d: Slot, bits: u32, mask: u32) {
        if d != NONE {
            let old = &mut self.preds[d as usize];
            *old = *old & !mask | bits & mask;
        }
    }

    /// Writes the lanes of `mask` of a 32-bit register.
    #[inline(always)]
    pub(crate) fn set32(&mut self, d: Slot, out: &[u32; LANES], mask: u32) {
        if d == NONE {
            return;
        }
        let plane = &mut self.r32[d as usize];
        if mask == u32::MAX {
            *plane = *out;
        } else {
            for (lane, value) in plane.iter_mut().enumerate() {
                let keep = (mask >> lane & 1).wrapping_sub(1);
                *value = *value & keep | out[lane] & !keep;
            }
        }
    }

    /// Writes the lanes of `mask` of a 64-bit register.
    #[inline(always)]
    pub(crate) fn set64(&mut self, d: Slot, out: &[u64; LANES], mask: u32) {
        if d == NONE {
            return;
        }
        let plane = &mut self.r64[d as usize];
        if mask == u32::MAX {
            *plane = *out;
        } else {
            for (lane, value) in plane.iter_mut().enumerate() {
                let keep = u64::from(mask >> lane & 1).wrapping_sub(1);
                *value = *value & keep | out[lane] & !keep;
            }
        }
    }
}

/// A type a lane operation can read.
pub(crate) trait Src: Copy {
    /// How all lanes of it are held.
    type Plane<'a>: Copy;
    /// All lanes of a source.
    fn plane<'a>(regs: &'a Regs<'_>, s: Slot) -> Self::Plane<'a>;
    /// One lane.
    fn get(plane: Self::Plane<'_>, lane: usize) -> Self;
}

/// A type a lane operation can write.
pub(crate) trait Dst: Copy + Default {
    /// Writes the lanes of `mask`.
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32);
}

/// Implements [`Src`] and [`Dst`] for types held in one of the register files.
macro_rules! values {
    ($($ty:ty, $plane:ident, $set:ident, $word:ty, |$from:ident| $load:expr, |$to:ident| $store:expr;)+) => { $(
        impl Src for $ty {
            type Plane<'a> = &'a [$word; LANES];
            #[inline(always)]
            fn plane<'a>(regs: &'a Regs<'_>, s: Slot) -> Self::Plane<'a> {
                regs.$plane(s)
            }
            #[inline(always)]
            fn get(plane: Self::Plane<'_>, lane: usize) -> Self {
                let $from = plane[lane];
                $load
            }
        }
        impl Dst for $ty {
            #[inline(always)]
            fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
                let mut words: [$word; LANES] = [0; LANES];
                for (word, value) in words.iter_mut().zip(out) {
                    let $to = *value;
                    *word = $store;
                }
                regs.$set(op.d[0], &words, mask);
            }
        }
    )+ };
}

values! {
    u32, plane32, set32, u32, |x| x, |x| x;
    i32, plane32, set32, u32, |x| x.cast_signed(), |x| x.cast_unsigned();
    f32, plane32, set32, u32, |x| f32::from_bits(x), |x| x.to_bits();
    // 16-bit values are kept zero-extended.
    u16, plane32, set32, u32, |x| low16(u64::from(x)), |x| u32::from(x);
    i16, plane32, set32, u32, |x| low16(u64::from(x)).cast_signed(), |x| u32::from(x.cast_unsigned());
    u64, plane64, set64, u64, |x| x, |x| x;
    i64, plane64, set64, u64, |x| x.cast_signed(), |x| x.cast_unsigned();
    f64, plane64, set64, u64, |x| f64::from_bits(x), |x| x.to_bits();
}

impl Src for () {
    type Plane<'a> = ();
    #[inline(always)]
    fn plane(_: &Regs<'_>, _: Slot) {}
    #[inline(always)]
    fn get((): (), _: usize) {}
}

impl Src for bool {
    type Plane<'a> = u32;
    #[inline(always)]
    fn plane(regs: &Regs<'_>, s: Slot) -> u32 {
        regs.pred(s)
    }
    #[inline(always)]
    fn get(plane: u32, lane: usize) -> Self {
        plane >> lane & 1 != 0
    }
}

/// Packs one truth value per lane into a mask.
#[inline(always)]
pub(crate) fn pack(out: &[bool; LANES]) -> u32 {
    let mut bits = 0;
    for (lane, value) in out.iter().enumerate() {
        bits |= u32::from(*value) << lane;
    }
    bits
}

impl Dst for bool {
    #[inline(always)]
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
        regs.set_pred(op.d[0], pack(out), mask);
    }
}

/// A value and a carry: the second destination is a predicate.
impl Dst for (u32, bool) {
    #[inline(always)]
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
        regs.set32(op.d[0], &out.map(|(v, _)| v), mask);
        regs.set_pred(op.d[1], pack(&out.map(|(_, c)| c)), mask);
    }
}

/// A value and a carry: the second destination is a predicate.
impl Dst for (u64, bool) {
    #[inline(always)]
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
        regs.set64(op.d[0], &out.map(|(v, _)| v), mask);
        regs.set_pred(op.d[1], pack(&out.map(|(_, c)| c)), mask);
    }
}

/// Two 32-bit results.
impl Dst for (u32, u32) {
    #[inline(always)]
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
        regs.set32(op.d[0], &out.map(|(v, _)| v), mask);
        regs.set32(op.d[1], &out.map(|(_, v)| v), mask);
    }
}

/// Four 32-bit results.
impl Dst for [u32; 4] {
    #[inline(always)]
    fn write(regs: &mut Regs<'_>, op: &Op, out: &[Self; LANES], mask: u32) {
        for part in 0..4 {
            regs.set32(op.d[part], &out.map(|v| v[part]), mask);
        }
    }
}
