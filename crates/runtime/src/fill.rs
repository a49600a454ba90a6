//! What a buffer holds before the first launch.

use crate::data::DataFile;
use crate::element::{Element, ValueError, integer};
use raddle_ptx::diag::closest;

/// Contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Nothing was said: zero bytes, counted as never written.
    Unwritten,
    /// `zero`.
    Zero,
    /// `iota`: 0, 1, 2 and so on.
    Iota,
    /// `const:V`: V everywhere.
    Const(u64),
    /// `lcg:SEED:MASK[:SKIP[:STRIDE]]`: pseudo-random integers.
    Lcg(Lcg),
    /// Values in order, the rest zero.
    Values(Vec<u64>),
    /// `npy:FILE` or `raw:FILE`.
    File(DataFile),
}

/// The generator behind the reference results: x ← x·1664525 + 1013904223 mod 2^32, of which
/// (x >> 8) & mask is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lcg {
    /// The first x, before the first step.
    pub seed: u32,
    /// Bits of x >> 8 that are kept.
    pub mask: u32,
    /// Numbers of the stream left out before the first element.
    pub skip: u64,
    /// Element i takes number `skip + i * stride`; 2 takes every other one.
    pub stride: u64,
}

/// The step x ← x·m + c mod 2^32.
#[derive(Clone, Copy)]
struct Step(u32, u32);

const ONE_STEP: Step = Step(1_664_525, 1_013_904_223);

impl Step {
    fn apply(self, x: u32) -> u32 {
        x.wrapping_mul(self.0).wrapping_add(self.1)
    }

    /// This step, then `next`.
    fn then(self, next: Self) -> Self {
        Self(self.0.wrapping_mul(next.0), next.apply(self.1))
    }

    /// `n` steps as one.
    fn times(self, mut n: u64) -> Self {
        let mut total = Self(1, 0);
        let mut power = self;
        while n > 0 {
            if n & 1 == 1 {
                total = total.then(power);
            }
            power = power.then(power);
            n >>= 1;
        }
        total
    }
}

impl Lcg {
    /// The values in order, without end.
    pub fn values(self) -> impl Iterator<Item = u64> {
        let first = ONE_STEP.times(self.skip).then(ONE_STEP).apply(self.seed);
        let stride = ONE_STEP.times(self.stride);
        let states = std::iter::successors(Some(first), move |x| Some(stride.apply(*x)));
        states.map(move |x| u64::from((x >> 8) & self.mask))
    }
}

/// Why a fill cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// The word in front is not known.
    #[error(
        "unknown fill `{word}`{}; fills are zero, iota, const:V, lcg:SEED:MASK[:SKIP[:STRIDE]], npy:FILE, raw:FILE",
        close.map_or_else(String::new, |c| format!(", did you mean `{c}`?"))
    )]
    Unknown {
        /// As written.
        word: String,
        /// What was probably meant.
        close: Option<&'static str>,
    },
    /// Numbers of `lcg` missing, too many or wrong.
    #[error("`{0}` should read lcg:SEED:MASK[:SKIP[:STRIDE]] with integers, such as lcg:1:0xfff")]
    Lcg(String),
    /// A value of the wrong kind.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// No file name.
    #[error("`{0}` names no file")]
    NoFile(String),
}

impl Fill {
    /// Reads the notation of launch files and of the command line, for elements of type `ty`.
    ///
    /// # Errors
    /// When the text is not a fill.
    pub fn parse(text: &str, ty: Element) -> Result<Self, FillError> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let file = |make: fn(&str) -> DataFile| {
            if rest.is_empty() { Err(FillError::NoFile(text.to_owned())) } else { Ok(Self::File(make(rest))) }
        };
        match word {
            "zero" if rest.is_empty() => Ok(Self::Zero),
            "iota" if rest.is_empty() => Ok(Self::Iota),
            "const" => Ok(Self::Const(ty.parse(rest)?)),
            "lcg" => lcg(rest).map(Self::Lcg).ok_or_else(|| FillError::Lcg(text.to_owned())),
            "npy" => file(DataFile::npy),
            "raw" => file(DataFile::raw),
            _ => {
                let close = closest(word, ["zero", "iota", "const", "lcg", "npy", "raw"]);
                Err(FillError::Unknown { word: text.to_owned(), close: close.filter(|c| *c != text) })
            }
        }
    }

    /// The number of elements this brings with it, when it does without reading a file.
    #[must_use]
    pub fn own_len(&self) -> Option<u64> {
        match self {
            Self::Values(values) => Some(values.len() as u64),
            _ => None,
        }
    }

    /// The bits of `len` elements, for the fills that are computed; `None` when they are zero or come from a file.
    #[must_use]
    pub fn values(&self, ty: Element, len: u64) -> Option<Box<dyn Iterator<Item = u64> + '_>> {
        Some(match self {
            Self::Unwritten | Self::Zero | Self::File(_) => return None,
            Self::Iota => Box::new((0..len).map(move |i| ty.from_u64(i))),
            Self::Const(bits) => Box::new((0..len).map(|_| *bits)),
            Self::Lcg(lcg) => Box::new((0..len).zip(lcg.values()).map(move |(_, v)| ty.from_u64(v))),
            Self::Values(values) => {
                let zeros = std::iter::repeat(&0);
                Box::new((0..len).zip(values.iter().chain(zeros)).map(|(_, v)| *v))
            }
        })
    }
}

fn lcg(text: &str) -> Option<Lcg> {
    let numbers: Vec<i128> = text.split(':').map(integer).collect::<Option<_>>()?;
    let (seed, mask, skip, stride) = match numbers[..] {
        [seed, mask] => (seed, mask, 0, 1),
        [seed, mask, skip] => (seed, mask, skip, 1),
        [seed, mask, skip, stride] => (seed, mask, skip, stride),
        _ => return None,
    };
    Some(Lcg {
        seed: seed.try_into().ok()?,
        mask: mask.try_into().ok()?,
        skip: skip.try_into().ok()?,
        stride: stride.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str) -> Element {
        Element::from_name(name).unwrap()
    }

    fn show(text: &str, name: &str, len: u64) -> String {
        let fill = Fill::parse(text, ty(name)).unwrap();
        fill.values(ty(name), len).unwrap().map(|v| ty(name).show(v)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn computed_fills() {
        assert_eq!(show("iota", "f32", 4), "0 1 2 3");
        assert_eq!(show("iota", "u8", 258).split(' ').next_back(), Some("1"));
        assert_eq!(show("const:-1.5", "f64", 2), "-1.5 -1.5");
        assert!(Fill::parse("zero", ty("u8")).unwrap().values(ty("u8"), 3).is_none());
        let few = Fill::Values(vec![3, 4]);
        assert_eq!(few.values(ty("u8"), 3).unwrap().collect::<Vec<_>>(), [3, 4, 0]);
    }

    #[test]
    fn the_generator_is_that_of_the_reference_results() {
        // x after one and two steps from 1: 1015568748, 1586005467.
        let plain = [1_015_568_748u32 >> 8, 1_586_005_467 >> 8].map(|v| v.to_string()).join(" ");
        assert_eq!(show("lcg:1:0xffffff", "u32", 2), plain);
        let long: Vec<_> = Lcg { seed: 1, mask: 0xfff, skip: 0, stride: 1 }.values().take(9).collect();
        let odd: Vec<_> = Lcg { seed: 1, mask: 0xfff, skip: 1, stride: 2 }.values().take(4).collect();
        assert_eq!(odd, [long[1], long[3], long[5], long[7]]);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text| Fill::parse(text, ty("u8")).unwrap_err().to_string();
        assert!(message("zeros").starts_with("unknown fill `zeros`, did you mean `zero`?; fills are zero"));
        assert!(message("lcg:1").starts_with("`lcg:1` should read lcg:SEED:MASK"));
        assert!(message("lcg:1:-1").contains("should read"));
        assert_eq!(message("const:256"), "`256` is not a value of type u8: the range is 0 to 255");
        assert_eq!(message("npy:"), "`npy:` names no file");
    }
}
