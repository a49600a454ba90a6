//! What drivers use.

pub(crate) use crate::error::Error;
pub(crate) use crate::rng::Rng;
pub(crate) use crate::run::Run;

/// How a driver ends.
pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// A grid or block of one dimension, or of two.
pub(crate) trait Shape {
    /// All three.
    fn xyz(self) -> [u32; 3];
}

impl Shape for usize {
    fn xyz(self) -> [u32; 3] {
        [self as u32, 1, 1]
    }
}

impl Shape for (usize, usize) {
    fn xyz(self) -> [u32; 3] {
        [self.0 as u32, self.1 as u32, 1]
    }
}

impl Shape for [u32; 3] {
    fn xyz(self) -> [u32; 3] {
        self
    }
}
