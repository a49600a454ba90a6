//! The timing model: a GPU cycle by cycle.
//!
//! * [`config`]: every parameter of a machine.
//! * [`packet`]: what SMs and memory partitions send each other.
//! * [`mem`]: interconnect, L2, DRAM.
//! * [`sm`]: one streaming multiprocessor.
//! * [`gpu`]: all of it, window by window.
//! * [`job`]: a kernel with its buffers, for examples and small tests.
//! * [`residency`]: how many blocks an SM holds.
//! * [`fill`]: how full launches make the machine.
//! * [`seam`]: what mechanisms decide, and their registry.
//! * [`event`]: what happened, for those who listen.
//! * [`stats`]: counters, declared once.
//! * [`profile`]: what is charged to each operation of a kernel.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

pub mod config;
pub mod event;
pub mod fill;
pub mod gpu;
pub mod job;
pub mod kernel;
mod logical_blocks;
pub mod mem;
pub mod op_timing;
pub mod packet;
mod parallel;
pub mod profile;
pub mod residency;
pub mod result;
pub mod seam;
pub mod sm;
pub mod stats;

pub use raddle_exec::saved;

/// The number of the model: raised whenever a change makes any kernel take other cycles or count otherwise. Results of
/// different epochs are not compared; those of one epoch are good whatever else changed. Where only one mechanism decides
/// differently than before, its revision is raised instead ([`seam::Registry::revise`]). `tests/golden/epochs.txt` has
/// the checksum of the golden cycles at each epoch, and a test of `raddle-lab` fails when they have changed and this
/// has not.
pub const EPOCH: u32 = 5;
