//! Divergence models.

mod block;
mod pdom;
mod pdom_lcp;
mod tbc;
mod tbc_lcp;

pub use pdom::Pdom;
pub use tbc::Tbc;

use raddle_sim::seam::Registry;

/// Adds all divergence models.
pub fn register(registry: &mut Registry) {
    registry.divergence(pdom::INFO, Pdom::new);
    registry.divergence(pdom_lcp::INFO, Pdom::with_likely_convergence);
    registry.divergence(tbc::INFO, Tbc::new);
    registry.divergence(tbc_lcp::INFO, Tbc::with_likely_convergence);
}
