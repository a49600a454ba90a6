//! Fetch schedulers.

mechanisms! { fetch {
    lrr Lrr,
} }
