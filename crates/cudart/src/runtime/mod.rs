//! The functions of the runtime API, a file for each part of it.

pub(crate) mod array;
mod copy;
mod device;
mod function;
pub(crate) mod graph;
mod memory;
mod status;
pub(crate) mod stream;
mod symbol;
pub(crate) mod texture;
