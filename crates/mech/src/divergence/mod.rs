//! Divergence models.

mechanisms! { divergence {
    pdom Pdom,
} }
