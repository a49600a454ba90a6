//! Fetch schedulers that are classes of Python.

use super::{Object, chosen};
use pyo3::prelude::*;
use raddle_sim::seam::{FetchScheduler, WarpId};

/// What a fetch scheduler sees.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct FetchView {
    /// The cycle.
    #[pyo3(get)]
    now: u64,
    /// Slots for warps on the SM.
    #[pyo3(get)]
    slots: usize,
    entries: Vec<(u16, u32)>,
}

#[pymethods]
impl FetchView {
    /// Decoded instructions that a warp has.
    fn entries(&self, warp: u16) -> u32 {
        self.entries.iter().find(|(known, _)| *known == warp).map_or(0, |(_, entries)| *entries)
    }
}

/// A scheduler with the method `pick(view, wanting)`, which chooses the warp that instructions are fetched for.
pub struct Fetcher {
    object: Object,
    hears_fetched: bool,
}

impl Fetcher {
    pub fn new(object: Object) -> Self {
        let hears_fetched = object.has("fetched");
        Self { object, hears_fetched }
    }
}

impl FetchScheduler for Fetcher {
    fn pick(&mut self, view: &raddle_sim::seam::FetchView<'_>) -> Option<WarpId> {
        if view.wanting.is_empty() {
            return None;
        }
        let answer = self.object.ask(|object| {
            let warps: Vec<u16> = view.wanting.iter().map(|warp| warp.0).collect();
            let entries = view.wanting.iter().map(|warp| (warp.0, (view.entries)(warp))).collect();
            let shown = FetchView { now: view.now, slots: view.slots, entries };
            chosen(&object.call_method1("pick", (shown, warps))?, view.wanting, "pick()")
        });
        answer.or_else(|| view.wanting.iter().next())
    }

    fn fetched(&mut self, warp: WarpId, hit: bool) {
        if self.hears_fetched {
            self.object.ask(|object| object.call_method1("fetched", (warp.0, hit)).map(drop));
        }
    }
}
