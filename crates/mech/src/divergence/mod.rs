//! Divergence models.

mod block;
mod dwf;
mod dwf_wb;
mod pdom;
mod pdom_lcp;
mod pool;
mod tbc;
mod tbc_lcp;

pub use dwf::Dwf;
pub use pdom::Pdom;
pub use tbc::Tbc;

use raddle_sim::seam::Registry;

/// Adds all divergence models.
pub fn register(registry: &mut Registry) {
    registry.divergence(pdom::INFO, Pdom::new);
    registry.divergence(pdom_lcp::INFO, Pdom::with_likely_convergence);
    registry.divergence(dwf::INFO, Dwf::new);
    registry.divergence(dwf_wb::INFO, Dwf::with_warp_barriers);
    registry.divergence(tbc::INFO, Tbc::new);
    registry.divergence(tbc_lcp::INFO, Tbc::with_likely_convergence);
}
