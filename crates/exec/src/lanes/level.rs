//! Instruction-set levels of the host.

/// An instruction-set level of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every host of this architecture has.
    Base,
    /// x86-64-v3: AVX2, FMA, BMI2.
    V3,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
    V4,
}

impl Level {
    /// The best level this host has.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let v3 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("movbe")
                && is_x86_feature_detected!("popcnt");
            let v4 = v3
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if v4 {
                return Self::V4;
            }
            if v3 {
                return Self::V3;
            }
        }
        Self::Base
    }

    /// Every level this host has, best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        [Self::Base, Self::V3, Self::V4].into_iter().filter(|l| *l <= Self::detect()).collect()
    }
}

/// Compiles a function for every level: `leveled! { fn name(a: A) -> R { ... } }` makes
/// `name(level, a)`. The level must not be above [`Level::detect`].
macro_rules! leveled {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident : $ty:ty),* $(,)?) -> $ret:ty $body:block) => {
        $(#[$doc])*
        #[inline]
        #[allow(unsafe_code, clippy::too_many_arguments)] // See the safety note below.
        $vis fn $name(level: $crate::lanes::Level, $($arg: $ty),*) -> $ret {
            #[inline(always)]
            fn body($($arg: $ty),*) -> $ret $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
                fn v3($($arg: $ty),*) -> $ret {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
                fn v4($($arg: $ty),*) -> $ret {
                    body($($arg),*)
                }
                match level {
                    $crate::lanes::Level::Base => {}
                    $crate::lanes::Level::V3 => {
                        // SAFETY: a program's level is never above `Level::detect`, so the host has the
                        // instructions; the function is safe otherwise.
                        return unsafe { v3($($arg),*) };
                    }
                    $crate::lanes::Level::V4 => {
                        // SAFETY: a program's level is never above `Level::detect`, so the host has the
                        // instructions; the function is safe otherwise.
                        return unsafe { v4($($arg),*) };
                    }
                }
            }
            let _ = level;
            body($($arg),*)
        }
    };
}
pub(crate) use leveled;
