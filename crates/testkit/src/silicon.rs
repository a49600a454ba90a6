//! What was measured on real GPUs, and the same measured on machines of ours: figures, kernels, and their page in the book.
//!
//! The figures are in `tests/reference/silicon`. Each names a [`Measure`], which is a small kernel of our own run at
//! two lengths, so that what a launch costs cancels. The page is written by `cargo xtask silicon`.

mod figures;
mod kernel;
mod measures;
mod page;
mod run;

pub use figures::{Chip, Figure, Figures, Source};
pub use measures::{Kind, Measure, measures};
pub use page::{Column, Row, compare, tables};
pub use run::{NotRun, Run, value};
