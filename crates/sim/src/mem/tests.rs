//! Tests of the memory side as a whole.
