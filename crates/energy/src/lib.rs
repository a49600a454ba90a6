//! What a launch takes in joules: counters of the timing model times a table of energies.
//!
//! It reads statistics and decides nothing: a run takes the same cycles whether or not anybody asks for energy. The values
//! come from one documented table ([`Table`]) that a file can override.
#![forbid(unsafe_code)]

mod breakdown;
mod table;

pub use breakdown::{Activity, Breakdown, Component, Hardware, Part};
pub use table::{Table, TableError};
