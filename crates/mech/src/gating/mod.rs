//! Gating schemes.

mod none;

pub use none::NoGating;

use raddle_sim::seam::Registry;

/// Adds all gating schemes.
pub fn register(registry: &mut Registry) {
    registry.gating(none::INFO, NoGating::new);
}
