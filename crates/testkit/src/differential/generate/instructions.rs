//! The single instructions of `instructions.hpp`, as functions that expressions may call.

use super::float::FTy;
use super::ty::Ty;

/// Name, type of the result and types of the operands.
type Signature<R, P> = (&'static str, R, &'static [P]);

/// Integers in, an integer out.
#[rustfmt::skip]
pub(super) const INTEGER: &[Signature<Ty, Ty>] = &[
    ("x_bfe_u32", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_bfe_s32", Ty::I32, &[Ty::I32, Ty::U32, Ty::U32]),
    ("x_bfe_u64", Ty::U64, &[Ty::U64, Ty::U32, Ty::U32]),
    ("x_bfe_s64", Ty::I64, &[Ty::I64, Ty::U32, Ty::U32]),
    ("x_bfi_b32", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32, Ty::U32]),
    ("x_bfi_b64", Ty::U64, &[Ty::U64, Ty::U64, Ty::U32, Ty::U32]),
    ("x_bfind_u32", Ty::U32, &[Ty::U32]),
    ("x_bfind_s32", Ty::U32, &[Ty::I32]),
    ("x_bfind_u64", Ty::U32, &[Ty::U64]),
    ("x_bfind_s64", Ty::U32, &[Ty::I64]),
    ("x_bfind_amount", Ty::U32, &[Ty::U32]),
    ("x_bfind_amount64", Ty::U32, &[Ty::I64]),
    ("x_clz_b32", Ty::U32, &[Ty::U32]),
    ("x_clz_b64", Ty::U32, &[Ty::U64]),
    ("x_cnot_b32", Ty::U32, &[Ty::U32]),
    ("x_cnot_b64", Ty::U64, &[Ty::U64]),
    ("x_prmt", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_prmt_f4e", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_prmt_b4e", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_prmt_rc8", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_prmt_ecl", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_prmt_ecr", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_prmt_rc16", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_lop3_96", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_lop3_ca", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_lop3_1b", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_shl_b32", Ty::U32, &[Ty::U32, Ty::U32]),
    ("x_shr_u32", Ty::U32, &[Ty::U32, Ty::U32]),
    ("x_shr_s32", Ty::I32, &[Ty::I32, Ty::U32]),
    ("x_shl_b64", Ty::U64, &[Ty::U64, Ty::U32]),
    ("x_shr_s64", Ty::I64, &[Ty::I64, Ty::U32]),
    ("x_shl_b16", Ty::U16, &[Ty::U16, Ty::U32]),
    ("x_shr_s16", Ty::I16, &[Ty::I16, Ty::U32]),
    ("x_shf_l_clamp", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_shf_r_clamp", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_shf_r_wrap", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_mul24_lo_u32", Ty::U32, &[Ty::U32, Ty::U32]),
    ("x_mul24_hi_u32", Ty::U32, &[Ty::U32, Ty::U32]),
    ("x_mul24_lo_s32", Ty::I32, &[Ty::I32, Ty::I32]),
    ("x_mad24_lo_u32", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_mad_hi_u32", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_mad_hi_s32", Ty::I32, &[Ty::I32, Ty::I32, Ty::I32]),
    ("x_mad_hi_sat", Ty::I32, &[Ty::I32, Ty::I32, Ty::I32]),
    ("x_mad_wide_u32", Ty::U64, &[Ty::U32, Ty::U32, Ty::U64]),
    ("x_mad_wide_s32", Ty::I64, &[Ty::I32, Ty::I32, Ty::I64]),
    ("x_mad_wide_s16", Ty::I32, &[Ty::I16, Ty::I16, Ty::I32]),
    ("x_sad_u32", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
    ("x_sad_s32", Ty::I32, &[Ty::I32, Ty::I32, Ty::I32]),
    ("x_sad_u64", Ty::U64, &[Ty::U64, Ty::U64, Ty::U64]),
    ("x_add_sat", Ty::I32, &[Ty::I32, Ty::I32]),
    ("x_sub_sat", Ty::I32, &[Ty::I32, Ty::I32]),
    ("x_add_carry", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32, Ty::U32]),
    ("x_sub_borrow", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32, Ty::U32]),
    ("x_mad_carry", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32, Ty::U32]),
    ("x_cvt_sat_u16_s32", Ty::U16, &[Ty::I32]),
    ("x_cvt_sat_s16_u32", Ty::I16, &[Ty::U32]),
    ("x_cvt_sat_s8_s32", Ty::I32, &[Ty::I32]),
    ("x_cvt_sat_u8_s64", Ty::U32, &[Ty::I64]),
    ("x_cvt_sat_s32_u64", Ty::I32, &[Ty::U64]),
    ("x_cvt_sat_u64_s32", Ty::U64, &[Ty::I32]),
    ("x_set_lt_u32", Ty::U32, &[Ty::I32, Ty::I32]),
    ("x_set_hs_s32", Ty::I32, &[Ty::U32, Ty::U32]),
    ("x_slct_u32", Ty::U32, &[Ty::U32, Ty::U32, Ty::I32]),
    ("x_slct_u64", Ty::U64, &[Ty::U64, Ty::U64, Ty::I32]),
    ("x_setp_pair", Ty::U32, &[Ty::U32, Ty::U32, Ty::I32, Ty::I32]),
    ("x_dp4a_s32", Ty::I32, &[Ty::U32, Ty::U32, Ty::I32]),
    ("x_dp4a_u32", Ty::U32, &[Ty::U32, Ty::U32, Ty::U32]),
];

/// Floating point numbers in and out.
#[rustfmt::skip]
pub(super) const FLOAT: &[Signature<FTy, FTy>] = &[
    ("x_add_rz_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_add_rm_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_sub_rp_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_mul_rz_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_mul_rp_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_div_rm_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_add_rm_f64", FTy::F64, &[FTy::F64, FTy::F64]),
    ("x_mul_rz_f64", FTy::F64, &[FTy::F64, FTy::F64]),
    ("x_div_rp_f64", FTy::F64, &[FTy::F64, FTy::F64]),
    ("x_sqrt_rz_f32", FTy::F32, &[FTy::F32]),
    ("x_sqrt_rp_f64", FTy::F64, &[FTy::F64]),
    ("x_rcp_rn_f32", FTy::F32, &[FTy::F32]),
    ("x_rcp_rm_f64", FTy::F64, &[FTy::F64]),
    ("x_fma_rz_f32", FTy::F32, &[FTy::F32, FTy::F32, FTy::F32]),
    ("x_fma_rp_f32", FTy::F32, &[FTy::F32, FTy::F32, FTy::F32]),
    ("x_fma_rm_f64", FTy::F64, &[FTy::F64, FTy::F64, FTy::F64]),
    ("x_cvt_rz_f32_f64", FTy::F32, &[FTy::F64]),
    ("x_cvt_rp_f32_f64", FTy::F32, &[FTy::F64]),
    ("x_add_ftz", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_mul_ftz", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_fma_ftz", FTy::F32, &[FTy::F32, FTy::F32, FTy::F32]),
    ("x_add_sat_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_mul_ftz_sat", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_cvt_sat_f32", FTy::F32, &[FTy::F32]),
    ("x_cvt_rni_ftz", FTy::F32, &[FTy::F32]),
    ("x_set_lt_f32", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_set_geu_ftz", FTy::F32, &[FTy::F32, FTy::F32]),
    ("x_slct_f32", FTy::F32, &[FTy::F32, FTy::F32, FTy::F32]),
];

/// A floating point number in, an integer out.
#[rustfmt::skip]
pub(super) const TO_INTEGER: &[Signature<Ty, FTy>] = &[
    ("x_cvt_rzi_s32_f32", Ty::I32, &[FTy::F32]),
    ("x_cvt_rni_u32_f32", Ty::U32, &[FTy::F32]),
    ("x_cvt_rmi_s64_f32", Ty::I64, &[FTy::F32]),
    ("x_cvt_rpi_s32_f64", Ty::I32, &[FTy::F64]),
    ("x_cvt_rzi_u64_f64", Ty::U64, &[FTy::F64]),
    ("x_cvt_rni_u16_f32", Ty::U16, &[FTy::F32]),
    ("x_cvt_rzi_s16_f32", Ty::I16, &[FTy::F32]),
    ("x_testp_finite_f32", Ty::U32, &[FTy::F32]),
    ("x_testp_infinite_f64", Ty::U32, &[FTy::F64]),
    ("x_testp_number_f64", Ty::U32, &[FTy::F64]),
    ("x_testp_notanumber_f32", Ty::U32, &[FTy::F32]),
    ("x_testp_normal_f32", Ty::U32, &[FTy::F32]),
    ("x_testp_subnormal_f64", Ty::U32, &[FTy::F64]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_is_defined() {
        const TEXT: &str = include_str!("../instructions.hpp");
        let names = INTEGER
            .iter()
            .map(|entry| entry.0)
            .chain(FLOAT.iter().map(|entry| entry.0))
            .chain(TO_INTEGER.iter().map(|entry| entry.0));
        for name in names.filter(|name| !name.starts_with("x_testp_")) {
            assert!(TEXT.contains(&format!(", {name}, ")), "{name} is not in instructions.hpp");
        }
    }
}
