//! Divergence models.

mod pdom;
mod pdom_lcp;

pub use pdom::Pdom;

use raddle_sim::seam::Registry;

/// Adds all divergence models.
pub fn register(registry: &mut Registry) {
    registry.divergence(pdom::INFO, Pdom::new);
    registry.divergence(pdom_lcp::INFO, Pdom::with_likely_convergence);
}
