//! The order of warps inside a block, for schedulers that choose a block first.

use raddle_sim::seam::{SchedulerView, WarpId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which warp of a block comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inside {
    /// Loose round robin.
    #[default]
    Lrr,
    /// The last one, then the oldest.
    Gto,
}

impl Inside {
    /// The place of a warp among those of its block, smaller is earlier, when `last` issued last.
    pub(super) fn place(self, view: &SchedulerView<'_>, last: Option<WarpId>, warp: WarpId) -> u64 {
        match self {
            Self::Gto if last == Some(warp) => 0,
            Self::Gto => 1 + view.age[warp.index()],
            Self::Lrr => {
                let (slots, next) = (view.age.len() as u64, last.map_or(0, |w| u64::from(w.0) + 1));
                (u64::from(warp.0) + slots - next % slots) % slots
            }
        }
    }
}

/// The warp of each block that issued last.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub(super) struct LastIssued(Vec<Option<WarpId>>);

impl LastIssued {
    /// That of a warp's block.
    pub(super) fn in_block_of(&self, view: &SchedulerView<'_>, warp: WarpId) -> Option<WarpId> {
        self.0.get(view.table.get(warp).cta as usize).copied().flatten()
    }

    /// A warp has issued.
    pub(super) fn set(&mut self, view: &SchedulerView<'_>, warp: WarpId) {
        let block = view.table.get(warp).cta as usize;
        if self.0.len() <= block {
            self.0.resize(block + 1, None);
        }
        self.0[block] = Some(warp);
    }

    /// A warp has come or gone: what its slot did before does not count.
    pub(super) fn forget(&mut self, warp: WarpId) {
        self.0.iter_mut().filter(|last| **last == Some(warp)).for_each(|last| *last = None);
    }
}
