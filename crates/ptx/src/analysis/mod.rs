//! Analyses over the IR, one file each.
//!
//! ```text
//!  Function ──► Cfg ──► Dominators ──► Loops
//!                │  └─► PostDominators ─┐
//!                └────► Liveness ───────┴─► Uniformity ──► dot
//!                          └─► Allocation ──► Resources
//! ```
//!
//! Every analysis is a plain value computed once from the function; none changes the IR. All of
//! them accept modules that had errors: what is missing there counts as leaving the function.

mod bitset;
mod cfg;
mod colour;
mod dom;
mod dot;
mod liveness;
mod loops;
mod need;
mod registers;
mod resources;
#[cfg(test)]
mod testing;
mod uniform;

pub use bitset::BitSet;
pub use cfg::{Block, BlockId, Cfg};
pub use dom::{Dominators, PostDominators};
pub use dot::dot;
pub use liveness::Liveness;
pub use loops::{Loop, LoopId, Loops};
pub use need::RegisterNeed;
pub use registers::{Allocation, verify};
pub use resources::Resources;
pub use uniform::Uniformity;
