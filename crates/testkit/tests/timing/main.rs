//! The timing model as a whole: right memory, equal runs, known latencies, known endings.

mod analytic;
mod common;
mod contract;
mod counters;
mod data_access;
mod determinism;
mod digests;
mod divergence;
mod ending;
mod fetch;
mod ganging;
mod gaps;
mod gating;
mod golden;
mod launches;
mod litmus;
mod locks;
mod logical_blocks;
mod memory;
mod models;
mod random;
mod resume;
mod slices;
mod splits;
mod structured;
mod virtual_blocks;
