//! The memory side.
