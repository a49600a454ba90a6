//! The memory side: interconnect, L2, DRAM.
//!
//! ```text
//!  SMs ──► Crossbar<Request> ──► Partition 0..n: slices (ROP, L2) ──► channel (scheduler, banks)
//!  SMs ◄── Crossbar<Reply>   ◄──────────────────────────┘
//! ```
//!
//! A [`partition::Partition`] is one DRAM channel with its L2 slices; it runs a window of core cycles on its own.
//! The two [`crossbar::Crossbar`]s are stepped at a window's edge. [`cache`] and [`mshr`] hold tags and outstanding
//! misses for the L2 and for the caches of an SM alike.

pub mod address;
pub mod cache;
pub mod clock;
pub mod crossbar;
pub mod dram;
pub mod dram_bank;
pub mod l2;
pub mod mshr;
pub mod partition;
pub(crate) mod ports;
pub mod profile;
pub(crate) mod ring;
pub mod system;

#[cfg(test)]
pub(crate) mod test_machine;
#[cfg(test)]
mod tests;
