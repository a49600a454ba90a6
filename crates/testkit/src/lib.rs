//! Fixtures, harnesses and oracles for the tests of the other crates.
//!
//! - [`kernel_file`]: `.ptx` tests with the memory they must leave behind.
//! - [`differential`]: generated programs, compiled for the device and for the host, whose memory
//!   after the run must be the same.

#![forbid(unsafe_code)]

pub mod differential;
pub mod kernel_file;
