//! Functional SIMT machine.
pub mod math;
