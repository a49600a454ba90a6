//! Atomics: lane after lane, lowest first.

use super::load_store::Place;
use super::{Core, Issue, LaneFault, lanes_in};
use crate::decode::AtomicOp;
use crate::lanes::LANES;
use crate::math::f16_ops::{add_bf16, add_f16};
use crate::math::f32_ops::{add_rn_f32, ftz_f32};
use crate::math::f64_ops::add_rn_f64;
use crate::memory::Global;
use crate::op::NONE;
use raddle_ptx::num::{low16, low32};

impl Core<'_> {
    pub(super) fn atomic(
        &mut self,
        memory: &mut Global<'_>,
        issue: Issue<'_>,
        addresses: &[u64; LANES],
    ) -> Result<(), LaneFault> {
        let Issue { op, row, mask, .. } = issue;
        let bytes = op.access.bytes;
        let kind = AtomicOp::ALL[usize::from(op.variant)];
        for lane in lanes_in(mask) {
            let place = self.locate(memory, issue, lane, addresses[lane], u32::from(bytes))?;
            let old = self.peek(memory, place, 0, bytes);
            let global = matches!(place, Place::Global(..));
            let b = self.file.get(row, op.s[1], op.s_bank[1], lane);
            let c = if op.s[2] == NONE { 0 } else { self.file.get(row, op.s[2], op.s_bank[2], lane) };
            let new = apply_atomic(kind, bytes, old, b, c, global);
            self.poke(memory, place, 0, bytes, new);
            self.file.put(row, op.d[0], op.d_bank[0], lane, old);
        }
        Ok(())
    }
}

/// The new value as memory holds it. Single-precision additions in global memory flush subnormals, in shared
/// memory not.
pub(crate) fn apply_atomic(op: AtomicOp, bytes: u8, old: u64, b: u64, c: u64, global: bool) -> u64 {
    if global && op == AtomicOp::AddF32 { flushed_add(old, b) } else { apply(op, bytes, old, b, c) }
}

fn flushed_add(old: u64, b: u64) -> u64 {
    let flushed = |bits: u64| ftz_f32(f32::from_bits(low32(bits)));
    u64::from(ftz_f32(add_rn_f32(flushed(old), flushed(b))).to_bits())
}

/// The new value; only the low `bytes` bytes count.
pub(crate) fn apply(op: AtomicOp, bytes: u8, old: u64, b: u64, c: u64) -> u64 {
    let bits = u32::from(bytes) * 8;
    let mask = u64::MAX >> (64 - bits);
    let signed = |x: u64| (x << (64 - bits)).cast_signed() >> (64 - bits);
    let (old, b, c) = (old & mask, b & mask, c & mask);
    let halves = |f: fn(u16, u16) -> u16| {
        u64::from(f(low16(old), low16(b))) | u64::from(f(low16(old >> 16), low16(b >> 16))) << 16
    };
    match op {
        AtomicOp::Add => old.wrapping_add(b),
        AtomicOp::AddF32 => u64::from(add_rn_f32(f32::from_bits(low32(old)), f32::from_bits(low32(b))).to_bits()),
        AtomicOp::AddF64 => add_rn_f64(f64::from_bits(old), f64::from_bits(b)).to_bits(),
        AtomicOp::AddF16 => u64::from(add_f16(low16(old), low16(b))),
        AtomicOp::AddF16x2 => halves(add_f16),
        AtomicOp::AddBf16 => u64::from(add_bf16(low16(old), low16(b))),
        AtomicOp::AddBf16x2 => halves(add_bf16),
        AtomicOp::And => old & b,
        AtomicOp::Or => old | b,
        AtomicOp::Xor => old ^ b,
        AtomicOp::Exch => b,
        AtomicOp::Cas if old == b => c,
        AtomicOp::Cas => old,
        AtomicOp::Inc if old >= b => 0,
        AtomicOp::Inc => old + 1,
        AtomicOp::Dec if old == 0 || old > b => b,
        AtomicOp::Dec => old - 1,
        AtomicOp::MinU => old.min(b),
        AtomicOp::MaxU => old.max(b),
        AtomicOp::MinS if signed(old) <= signed(b) => old,
        AtomicOp::MaxS if signed(old) >= signed(b) => old,
        AtomicOp::MinS | AtomicOp::MaxS => b,
    }
}
