//! Scalar arithmetic with PTX semantics.
//!
//! Pure functions on host floats (`f32`, `f64`), on raw bits (`u16` for `.f16` and `.bf16`) and on
//! integers, meant to be called once per lane from vectorised loops. They know nothing about
//! registers, warps or modifiers: a caller composes them. In particular
//!
//! * `.ftz` is `ftz_f32(op(ftz_f32(a), ftz_f32(b)))`, so no operation exists twice;
//! * `.sat` is `sat_f32(op(..))`, applied after rounding and after the flush;
//! * round-to-nearest has its own small function (`add_rn_f32`), a host operation followed by a
//!   select, which the compiler can vectorise; the function that takes a [`Rounding`]
//!   (`add_f32`) is exact integer arithmetic for the other three modes.
//!
//! No result depends on the host's maths library: the only host operations used are those IEEE 754
//! fixes to the bit (`+ - * /`, square root, fused multiply-add, conversions), and the transcendental
//! functions come from correctly rounded implementations that ship with the simulator.
//!
//! # NaN
//!
//! | type | result of an operation that is NaN |
//! |---|---|
//! | `.f16`, `.bf16` | `0x7fff` |
//! | `.f32` | `0x7fffffff` |
//! | `.f64` | the first NaN operand, quieted; `0xfff8000000000000` if no operand is NaN |

pub mod approx;
pub mod bit_ops;
pub mod compare;
pub mod convert;
pub mod f16_ops;
pub mod f32_ops;
pub mod f64_ops;
pub mod int_ops;
pub mod round;
mod soft;

#[cfg(test)]
mod lanes;
#[cfg(test)]
mod testing;

pub use round::Rounding;
