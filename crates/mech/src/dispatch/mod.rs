//! Dispatchers.

mod fill_first;
mod round_robin;

pub use fill_first::FillFirst;
pub use round_robin::RoundRobin;

use raddle_sim::seam::Registry;

/// Adds all dispatchers.
pub fn register(registry: &mut Registry) {
    registry.dispatch(round_robin::INFO, RoundRobin::new);
    registry.dispatch(fill_first::INFO, FillFirst::new);
}
