//! The functions of the runtime API, a file for each part of it.

mod alias;
pub(crate) mod array;
pub(crate) mod copy;
pub(crate) mod device;
mod function;
pub(crate) mod graph;
pub(crate) mod memory;
mod status;
pub(crate) mod stream;
pub(crate) mod symbol;
pub(crate) mod texture;
mod unsupported;
