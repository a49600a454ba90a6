//! Bit fields, counting, permutation.

use super::lane_ops;
use crate::math::bit_ops::{
    PrmtMode, ShiftMode, bfe_s32, bfe_s64, bfe_u32, bfe_u64, bfi_b32, bfi_b64, bfind_s32, bfind_s64, bfind_u32,
    bfind_u64, bmsk_b32, brev_b32, brev_b64, clz_b32, clz_b64, fns_b32, popc_b32, popc_b64, prmt_b32, shf_l_b32,
    shf_r_b32, szext_s32, szext_u32,
};

/// `aux` bit 0: wrap instead of clamp.
#[inline(always)]
fn shift_mode(aux: u64) -> ShiftMode {
    if aux & 1 != 0 { ShiftMode::Wrap } else { ShiftMode::Clamp }
}

/// `aux`: the mode's number, generic first.
#[inline(always)]
fn prmt_mode(aux: u64) -> PrmtMode {
    match aux {
        0 => PrmtMode::Generic,
        1 => PrmtMode::F4e,
        2 => PrmtMode::B4e,
        3 => PrmtMode::Rc8,
        4 => PrmtMode::Ecl,
        5 => PrmtMode::Ecr,
        _ => PrmtMode::Rc16,
    }
}

lane_ops! {
    Popc32(a: u32) -> u32 = popc_b32(a);
    Popc64(a: u64) -> u32 = popc_b64(a);
    Clz32(a: u32) -> u32 = clz_b32(a);
    Clz64(a: u64) -> u32 = clz_b64(a);
    Brev32(a: u32) -> u32 = brev_b32(a);
    Brev64(a: u64) -> u64 = brev_b64(a);
    BfindU32[aux](a: u32) -> u32 = bfind_u32(a, aux != 0);
    BfindS32[aux](a: i32) -> u32 = bfind_s32(a, aux != 0);
    BfindU64[aux](a: u64) -> u32 = bfind_u64(a, aux != 0);
    BfindS64[aux](a: i64) -> u32 = bfind_s64(a, aux != 0);
    Fns(mask: u32, base: u32, offset: i32) -> u32 = fns_b32(mask, base, offset);
    BfeU32(a: u32, pos: u32, len: u32) -> u32 = bfe_u32(a, pos, len);
    BfeS32(a: i32, pos: u32, len: u32) -> i32 = bfe_s32(a, pos, len);
    BfeU64(a: u64, pos: u32, len: u32) -> u64 = bfe_u64(a, pos, len);
    BfeS64(a: i64, pos: u32, len: u32) -> i64 = bfe_s64(a, pos, len);
    Bfi32(a: u32, b: u32, pos: u32, len: u32) -> u32 = bfi_b32(a, b, pos, len);
    Bfi64(a: u64, b: u64, pos: u32, len: u32) -> u64 = bfi_b64(a, b, pos, len);
    SzextU[aux](a: u32, n: u32) -> u32 = szext_u32(a, n, shift_mode(aux));
    SzextS[aux](a: i32, n: u32) -> i32 = szext_s32(a, n, shift_mode(aux));
    Bmsk[aux](pos: u32, len: u32) -> u32 = bmsk_b32(pos, len, shift_mode(aux));
    ShfL[aux](a: u32, b: u32, c: u32) -> u32 = shf_l_b32(a, b, c, shift_mode(aux));
    ShfR[aux](a: u32, b: u32, c: u32) -> u32 = shf_r_b32(a, b, c, shift_mode(aux));
    Prmt[aux](a: u32, b: u32, selector: u32) -> u32 = prmt_b32(a, b, selector, prmt_mode(aux));
}
