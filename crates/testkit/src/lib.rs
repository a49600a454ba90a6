//! Fixtures, harnesses and oracles for the tests of the other crates.
//!
//! - [`engine`]: every way to execute a kernel.
//! - [`kernel_file`]: `.ptx` tests with the memory they must leave behind.
//! - [`coverage`]: which instructions the kernel files use.
//! - [`mod@reference`]: the kernels of the reference simulator with their inputs and outputs.
//! - [`missing`]: what a test does where it cannot run.
//! - [`timing`]: the same kernels on the timing model, beside what the reference simulator measured.
//! - [`accuracy`]: how close the two are, as a page of the book.
//! - [`silicon`]: what was measured on real GPUs, and the same on machines of ours.
//! - [`differential`]: generated programs, compiled for the device and for the host, whose memory
//!   after the run must be the same.
//! - [`fuzz`]: kernels and files with random changes, and generated kernels, which must not break anything.

#![forbid(unsafe_code)]

pub mod accuracy;
pub mod coverage;
pub mod differential;
pub mod digest;
pub mod engine;
pub mod fuzz;
pub mod kernel_file;
pub mod reference;
mod rng;
pub mod silicon;
pub mod timing;

/// The variable that `cargo xtask ci` sets for tests.
pub const CI: &str = "RADDLE_CI";

/// Says that something a test needs is not there. The test may then pass without having tested anything, but not in CI.
///
/// # Panics
/// In CI.
pub fn missing(what: impl std::fmt::Display) {
    assert!(std::env::var_os(CI).is_none(), "a test cannot run in CI: {what}");
}
