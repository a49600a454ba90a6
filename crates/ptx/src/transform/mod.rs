//! Transformations of kernels: a syntax tree in, a syntax tree out, to be printed, read again and run.
//!
//! ```text
//!  syntax tree ──► virtualize ──────────► syntax tree: the kernel in a loop over logical blocks
//!       │            ▲   ▲   ▲
//!       ▼            │   │   └─ wrapper: the loop, and indices from a scalar
//!      IR ──────► leaving invariant
//!                    │   └─ what moves in front of the loop
//!                    └─ threads that end before a barrier of their own
//!
//!  registers: how many the kernel takes afterwards
//! ```
//!
//! Decisions are made on the IR, where names mean something; the tree is what changes. The `n`-th instruction of a body
//! is the same in both.

mod invariant;
mod leaving;
mod registers;
mod virtualize;
mod wrapper;

pub use invariant::Invariants;
pub use registers::Registers;
pub use virtualize::{Form, Options, Refusal, ThreadOrder, Virtualized, VirtualizedModule, virtualize};
