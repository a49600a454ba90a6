//! The functional SIMT machine: what instructions do, with no notion of when.
//!
//! * [`memory`]: device memory with known allocations, the address windows.
//! * [`image`]: a PTX module placed in memory, and per kernel where its variables live.
//! * [`math`]: scalar arithmetic right to the bit.
//! * [`reference`](mod@reference): an interpreter of one thread at a time, written apart from the
//!   fast path, that checks it.
//!
//! Nothing in this crate knows about cycles; a timing model asks it what an instruction does.
#![deny(unsafe_code)]

pub mod decode;
pub mod fault;
pub mod image;
mod lanes;
pub mod launch;
pub mod math;
pub mod memory;
pub mod op;
pub mod printf;
pub mod reference;
pub mod texture;

pub use fault::{Fault, FaultKind, ThreadId};
pub use image::{Image, KernelLayout};
pub use launch::{Launch, Report};
pub use memory::DeviceMemory;
