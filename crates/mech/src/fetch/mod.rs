//! Fetch schedulers.

mod lrr;

pub use lrr::Lrr;

use raddle_sim::seam::Registry;

/// Adds all fetch schedulers.
pub fn register(registry: &mut Registry) {
    registry.fetch(lrr::INFO, Lrr::new);
}
