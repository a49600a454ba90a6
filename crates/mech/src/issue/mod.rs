//! Issue schedulers.

mechanisms! { issue {
    lrr Lrr,
    gto Gto,
    oldest Oldest,
    two_level TwoLevel,
    by_block ByBlock,
    majority Majority,
    gates Gates,
    origami Origami,
} and {
    mwf_lrr ByWaiting::mwf_lrr,
    saws ByWaiting::saws,
    lowest_pc Ranked::by_pc,
    pdom_priority Ranked::by_nesting,
    mwf_gto ByWaiting::mwf_gto,
    pro ByProgress::pro,
    vtw ByProgress::vtw,
} }

mod active_set;
mod arrival;
mod inside;
mod progress;
mod ranked;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod type_tests;
mod waiting;

pub use active_set::ActiveConfig;
pub use inside::Inside;
pub use origami::OrigamiConfig;
pub use progress::ByProgress;
use raddle_sim::seam::{SchedulerView, WarpId};
pub use ranked::Ranked;
pub use waiting::ByWaiting;

/// The warps of a scheduler, the one of lowest rank first.
fn by_rank<K: Ord>(view: &SchedulerView<'_>, order: &mut Vec<WarpId>, rank: impl Fn(WarpId) -> K) {
    let start = order.len();
    order.extend(view.warps.iter());
    order[start..].sort_by_cached_key(|w| rank(*w));
}

/// The warps of a scheduler, the one that came first first.
fn by_age(view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
    by_rank(view, order, |w| view.age[w.index()]);
}
