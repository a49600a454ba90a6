//! Scalar arithmetic with PTX semantics.
