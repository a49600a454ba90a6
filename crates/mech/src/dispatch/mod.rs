//! Dispatchers.

mechanisms! { dispatch {
    round_robin RoundRobin,
    fill_first FillFirst,
} }
