//! Gating schemes.

mechanisms! { gating {
    none NoGating,
} }
