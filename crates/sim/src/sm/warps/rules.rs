//! What the machine says about warps, and what keeps some of them from what they otherwise could do.

use crate::config::SmConfig;
use crate::saved;
use crate::seam::{WarpId, WarpSet};
use raddle_exec::core::lanes_of;

/// What the machine says about warps.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Decoded instructions up to which a warp wants more.
    pub(super) fetch_below: u32,
    /// Warps that still have decoded instructions want more.
    pub(super) fetches_ahead: bool,
    /// Warps at a barrier want instructions too.
    pub(super) fetch_waiting: bool,
    pub(super) ideal_fetch: bool,
    pub(super) single_in_flight: bool,
    pub(super) fence_waits_for_stores: bool,
    /// All lanes of a warp.
    pub(super) lanes: u32,
}

impl Rules {
    pub(super) fn new(sm: &SmConfig, fetch_waiting: bool) -> Self {
        let fetch_below = match &sm.fetch {
            fetch if fetch.ideal => 0,
            fetch if fetch.only_when_empty => 1,
            fetch => (fetch.ibuffer + 1).saturating_sub(fetch.width),
        };
        Self {
            fetch_below,
            fetches_ahead: fetch_below > 1,
            fetch_waiting,
            ideal_fetch: sm.fetch.ideal,
            single_in_flight: sm.single_in_flight,
            fence_waits_for_stores: sm.fence_waits_for_stores,
            lanes: lanes_of(sm.warp_width),
        }
    }
}

/// Warps of virtual blocks that may not do all they otherwise could.
#[derive(Default)]
pub(in super::super) struct Held {
    sets: Option<[WarpSet; 2]>,
    /// Operations that may go to shared memory.
    shared_ops: Vec<bool>,
}

saved!(Held { values: sets; fixed: shared_ops });

impl Held {
    /// Warps may be kept from shared memory, to which these operations may go.
    pub(in super::super) fn new(slots: usize, shared_ops: Vec<bool>) -> Self {
        Self { sets: Some([WarpSet::new(slots), WarpSet::new(slots)]), shared_ops }
    }

    /// Whether a warp waits for its next logical block, and whether it may not use shared memory yet.
    pub(in super::super) fn set(&mut self, warp: WarpId, between: bool, apart: bool) {
        if let Some([all_between, all_apart]) = &mut self.sets {
            all_between.set(warp, between);
            all_apart.set(warp, apart);
        }
    }

    /// Whether a warp waits for its next logical block.
    pub(super) fn is_between(&self, warp: WarpId) -> bool {
        self.sets.as_ref().is_some_and(|[between, _]| between.contains(warp))
    }

    /// Whether a warp may not issue an operation because others could still use the shared memory of the logical block
    /// before.
    #[inline]
    pub(in super::super) fn is_kept_apart(&self, warp: WarpId, pc: u32) -> bool {
        let apart = self.sets.as_ref().is_some_and(|[_, apart]| apart.contains(warp));
        apart && self.shared_ops[pc as usize]
    }
}
