//! Divergence models.

mod pdom;

pub use pdom::Pdom;

use raddle_sim::seam::Registry;

/// Adds all divergence models.
pub fn register(registry: &mut Registry) {
    registry.divergence(pdom::INFO, Pdom::new);
}
