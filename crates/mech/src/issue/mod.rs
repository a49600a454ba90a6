//! Issue schedulers.

mod by_block;
mod gto;
mod lowest_pc;
mod lrr;
mod majority;
mod oldest;
mod two_level;

pub use by_block::ByBlock;
pub use gto::Gto;
pub use lowest_pc::LowestPc;
pub use lrr::Lrr;
pub use majority::Majority;
pub use oldest::Oldest;
pub use two_level::TwoLevel;

use raddle_sim::seam::{Registry, SchedulerView, WarpId, WarpSet};

/// Adds all issue schedulers.
pub fn register(registry: &mut Registry) {
    registry.issue(lrr::INFO, Lrr::new);
    registry.issue(gto::INFO, Gto::new);
    registry.issue(oldest::INFO, Oldest::new);
    registry.issue(two_level::INFO, TwoLevel::new);
    registry.issue(by_block::INFO, ByBlock::new);
    registry.issue(majority::INFO, Majority::new);
    registry.issue(lowest_pc::INFO, LowestPc::new);
}

/// The member of a set that came to the SM first.
fn oldest_of(view: &SchedulerView<'_>, set: &WarpSet) -> Option<WarpId> {
    set.iter().min_by_key(|w| view.age[w.index()])
}

/// The warps of a scheduler, the one that came first first.
fn by_age(view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
    let start = order.len();
    order.extend(view.warps.iter());
    order[start..].sort_by_key(|w| view.age[w.index()]);
}
