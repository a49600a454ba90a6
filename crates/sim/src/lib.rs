//! The timing model: a GPU cycle by cycle.
//!
//! * [`config`]: every parameter of a machine.
//! * [`packet`]: what SMs and memory partitions send each other.
//! * [`mem`]: interconnect, L2, DRAM.
//! * [`sm`]: one streaming multiprocessor.
//! * [`gpu`]: all of it, window by window.
//! * [`job`]: a kernel with its buffers, for examples and small tests.
//! * [`residency`]: how many blocks an SM holds.
//! * [`seam`]: what mechanisms decide, and their registry.
//! * [`event`]: what happened, for those who listen.
//! * [`stats`]: counters, declared once.
#![forbid(unsafe_code)]

pub mod config;
pub mod event;
pub mod gpu;
pub mod job;
pub mod kernel;
pub mod mem;
pub mod packet;
mod parallel;
pub mod residency;
pub mod result;
pub mod seam;
pub mod sm;
pub mod stats;
