//! Ganging units.

mechanisms! { ganging {
    none NoGanging,
    vws Vws,
} }
