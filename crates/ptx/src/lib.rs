//! The PTX front end.
//!
//! ```text
//!  text ──lex, parse──► syntax tree ──resolve, check──► IR ──► analyses (one file each)
//!                           │  ▲
//!                           ▼  │  print, then parse again, gives the same tree
//!                        normalised text
//! ```
//!
//! * [`syntax`]: lexer, parser, syntax tree with spans, printer.
//! * [`isa`]: the instruction set as data: which forms exist, with which words and operands.
//! * [`ir`]: names resolved to indices, labels to positions, every instruction checked against
//!   its form.
//! * [`analysis`]: control flow, dominators, loops, uniform branches, liveness, register need.
//! * [`link`](mod@link): several modules made into one.
//! * [`transform`]: kernels changed into others: virtual thread blocks.
//!
//! Nothing here panics on any input and nothing stops at the first mistake: [`load`] gives the
//! module together with all diagnostics.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

pub mod analysis;
pub mod diag;
pub mod ir;
pub mod isa;
pub mod link;
pub mod num;
pub mod source;
pub mod syntax;
pub mod transform;

pub use diag::Diagnostic;
pub use ir::{Module, load};
