//! Ganging units.

mod parting;
mod waiting;

mechanisms! { ganging {
    none NoGanging,
    vws Vws,
} }
