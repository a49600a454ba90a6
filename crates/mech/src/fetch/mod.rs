//! Fetch schedulers.

mechanisms! { fetch {
    lrr Lrr,
    cff Cff,
    fef Fef,
} }

#[cfg(test)]
mod tests;
