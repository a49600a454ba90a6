//! Programs that represent the benchmarks of papers: kernels in CUDA C++, their inputs, and the right results.
//!
//! ```text
//!  suite/NAME/NAME.cu ──clang──► NAME.ptx ──┐
//!  suite/NAME/manifest.toml ────────────────┼──► Workload ──run──► launches, or what was wrong
//!  suite/NAME/driver.rs ────────────────────┘
//! ```
//!
//! * [`suite`]: the list; one line for each workload.
//! * [`manifest`]: what a workload is, read from its folder.
//! * [`run`]: running one: what a driver gets to work with.
//! * [`rng`]: where inputs come from, and `dna` and `web`: texts; [`compare`]: results against what they should be.
//! * [`launches`]: what workloads launch, counted once.
//! * [`compile`]: CUDA C++ to PTX; [`measure`]: what kernels are like on a machine; [`virtualized`]: what a loop over
//!   logical blocks costs them.
//!
//! A driver is the host program: it makes the input from a seed, launches, loops where the algorithm does, computes
//! the right result on the CPU and has every output compared with it.
#![forbid(unsafe_code)]

pub mod compare;
pub mod compile;
mod dna;
pub mod error;
pub mod launches;
pub mod manifest;
pub mod measure;
mod prelude;
pub mod rng;
pub mod run;
pub mod suite;
pub mod virtualized;
mod web;

pub use error::Error;
pub use launches::Launches;
pub use manifest::{Class, Manifest, Size};
pub use measure::Measured;
pub use run::{Ran, Request, Run};
pub use suite::{Workload, all, find};
pub use virtualized::Virtualized;
