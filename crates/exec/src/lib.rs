//! The functional SIMT machine: what instructions do, with no notion of when.
//!
//! * [`image`]: a PTX module placed in memory, and per kernel where its variables live.
//! * [`decode`]: a kernel as a dense list of operations ([`op`]), everything resolved.
//! * [`core`](mod@core): thread state, and what one operation does to it and to memory.
//! * [`splits`]: parts of a diverged warp.
//! * [`atomics`]: global atomics executed away from the thread.
//! * [`run()`]: a launch from start to end.
//! * [`memory`]: device memory with known allocations, the address windows.
//! * [`sanitize`]: checks of what threads do to each other.
//! * [`saved`](mod@saved): state that is written down and read back.
//! * [`math`]: scalar arithmetic right to the bit.
//! * [`reference`](mod@reference): an interpreter of one thread at a time, written apart from the
//!   fast path, that checks it.
//!
//! Nothing in this crate knows about cycles; a timing model asks it what an instruction does.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

pub mod atomics;
mod calls;
pub mod core;
pub mod decode;
pub mod fault;
mod heap;
pub mod image;
mod interrupt;
mod lanes;
pub mod launch;
pub mod math;
pub mod memory;
pub mod op;
pub mod outside;
pub mod printf;
pub mod reference;
mod run;
pub mod sanitize;
pub mod saved;
pub mod splits;
pub mod texture;

pub use decode::Program;
pub use fault::{Fault, FaultKind, ThreadId};
pub use heap::{HEAP_BYTES, has_heap};
pub use image::{Image, KernelLayout, LoadError};
pub use interrupt::Interrupt;
pub use lanes::Level;
pub use launch::{Launch, Logical, Report};
pub use memory::DeviceMemory;
pub use outside::{OutsideRead, OutsideReads};
pub use run::{RunError, RunOptions, Stretches, Touch, run};
