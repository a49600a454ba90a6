//! Comparisons of `set` and `setp`, and the classes of `testp`, for floats.

/// A floating-point comparison of `set` and `setp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatCmp {
    /// `.eq`: equal, false on NaN.
    Eq,
    /// `.ne`: not equal, false on NaN (unlike C's `!=`).
    Ne,
    /// `.lt`: less, false on NaN.
    Lt,
    /// `.le`: less or equal, false on NaN.
    Le,
    /// `.gt`: greater, false on NaN.
    Gt,
    /// `.ge`: greater or equal, false on NaN.
    Ge,
    /// `.equ`: equal, true on NaN.
    Equ,
    /// `.neu`: not equal, true on NaN.
    Neu,
    /// `.ltu`: less, true on NaN.
    Ltu,
    /// `.leu`: less or equal, true on NaN.
    Leu,
    /// `.gtu`: greater, true on NaN.
    Gtu,
    /// `.geu`: greater or equal, true on NaN.
    Geu,
    /// `.num`: neither operand is NaN.
    Num,
    /// `.nan`: at least one operand is NaN.
    Nan,
}

impl FloatCmp {
    /// All comparisons.
    pub const ALL: [Self; 14] = [
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
        Self::Gt,
        Self::Ge,
        Self::Equ,
        Self::Neu,
        Self::Ltu,
        Self::Leu,
        Self::Gtu,
        Self::Geu,
        Self::Num,
        Self::Nan,
    ];
}

/// A class of floats that `testp` recognises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatClass {
    /// `.finite`: neither infinite nor NaN.
    Finite,
    /// `.infinite`: plus or minus infinity.
    Infinite,
    /// `.number`: not NaN.
    Number,
    /// `.notanumber`: NaN.
    NotANumber,
    /// `.normal`: finite and not subnormal; zeros count as normal.
    Normal,
    /// `.subnormal`: subnormal and not zero.
    Subnormal,
}

macro_rules! comparisons {
    ($compare:ident, $testp:ident, $t:ty, $name:literal) => {
        #[doc = concat!("`setp.*.", $name, "`: whether the comparison holds. With `.ftz`, flush the operands first.")]
        #[inline(always)]
        pub fn $compare(op: FloatCmp, a: $t, b: $t) -> bool {
            let nan = a.is_nan() || b.is_nan();
            match op {
                FloatCmp::Eq => a == b,
                FloatCmp::Ne => !nan && a != b,
                FloatCmp::Lt => a < b,
                FloatCmp::Le => a <= b,
                FloatCmp::Gt => a > b,
                FloatCmp::Ge => a >= b,
                FloatCmp::Equ => nan || a == b,
                FloatCmp::Neu => a != b,
                FloatCmp::Ltu => nan || a < b,
                FloatCmp::Leu => nan || a <= b,
                FloatCmp::Gtu => nan || a > b,
                FloatCmp::Geu => nan || a >= b,
                FloatCmp::Num => !nan,
                FloatCmp::Nan => nan,
            }
        }

        #[doc = concat!("`testp.*.", $name, "`: whether `a` belongs to the class.")]
        #[inline(always)]
        pub fn $testp(class: FloatClass, a: $t) -> bool {
            match class {
                FloatClass::Finite => a.is_finite(),
                FloatClass::Infinite => a.is_infinite(),
                FloatClass::Number => !a.is_nan(),
                FloatClass::NotANumber => a.is_nan(),
                FloatClass::Normal => a.is_normal() || a == 0.0,
                FloatClass::Subnormal => a.is_subnormal(),
            }
        }
    };
}

comparisons!(compare_f32, testp_f32, f32, "f32");
comparisons!(compare_f64, testp_f64, f64, "f64");

/// `setp.*.f16`, on bits.
#[inline(always)]
pub fn compare_f16(op: FloatCmp, a: u16, b: u16) -> bool {
    compare_f32(op, super::f16_ops::f16_to_f32(a), super::f16_ops::f16_to_f32(b))
}

/// `setp.*.bf16`, on bits.
#[inline(always)]
pub fn compare_bf16(op: FloatCmp, a: u16, b: u16) -> bool {
    compare_f32(op, super::f16_ops::bf16_to_f32(a), super::f16_ops::bf16_to_f32(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn every_comparison_follows_the_order() {
        let values = [f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0e-40, 1.0, f32::INFINITY, f32::NAN];
        for a in values {
            for b in values {
                let order = a.partial_cmp(&b);
                for op in FloatCmp::ALL {
                    use FloatCmp::*;
                    let want = match (op, order) {
                        (Num, o) => o.is_some(),
                        (Nan, o) => o.is_none(),
                        (Equ | Neu | Ltu | Leu | Gtu | Geu, None) => true,
                        (_, None) => false,
                        (Eq | Equ | Le | Leu | Ge | Geu, Some(Ordering::Equal)) => true,
                        (Ne | Neu | Lt | Ltu | Le | Leu, Some(Ordering::Less)) => true,
                        (Ne | Neu | Gt | Gtu | Ge | Geu, Some(Ordering::Greater)) => true,
                        _ => false,
                    };
                    assert_eq!(compare_f32(op, a, b), want, "{op:?} {a} {b}");
                    assert_eq!(compare_f64(op, a.into(), b.into()), want, "{op:?} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn halves_compare_as_numbers() {
        // -1, -0, +0, smallest subnormal, 1, infinity.
        let f16 = [0xbc00, 0x8000, 0x0000, 0x0001, 0x3c00, 0x7c00];
        let bf16 = [0xbf80, 0x8000, 0x0000, 0x0001, 0x3f80, 0x7f80];
        let rank = [0, 1, 1, 2, 3, 4];
        for i in 0..6 {
            for j in 0..6 {
                assert_eq!(compare_f16(FloatCmp::Lt, f16[i], f16[j]), rank[i] < rank[j]);
                assert_eq!(compare_bf16(FloatCmp::Geu, bf16[i], bf16[j]), rank[i] >= rank[j]);
            }
            assert!(compare_f16(FloatCmp::Nan, f16[i], 0x7fff));
            assert!(!compare_bf16(FloatCmp::Ne, 0xffc0, bf16[i]));
        }
    }

    #[test]
    fn classes() {
        use FloatClass::*;
        let check = |x: f32, classes: &[FloatClass]| {
            for c in [Finite, Infinite, Number, NotANumber, Normal, Subnormal] {
                assert_eq!(testp_f32(c, x), classes.contains(&c), "{c:?} {x}");
            }
        };
        check(-0.0, &[Finite, Number, Normal]);
        check(1.0e-40, &[Finite, Number, Subnormal]);
        check(-1.5, &[Finite, Number, Normal]);
        check(f32::NEG_INFINITY, &[Infinite, Number]);
        check(f32::NAN, &[NotANumber]);
        assert!(testp_f64(Subnormal, 5e-324) && !testp_f64(Subnormal, 1.0e-40) && testp_f64(Normal, 0.0));
    }
}
