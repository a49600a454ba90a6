//! Issue schedulers that are classes of Python.

use super::{Object, chosen};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use raddle_sim::seam::{IssueScheduler, WarpId, WarpSet};

/// What is known of a warp.
#[derive(Clone, Copy, Default)]
struct Row {
    age: u64,
    issued: u64,
    progress: u64,
    pc: u32,
    mask: u32,
    block: u64,
}

/// What an issue scheduler sees. It is written anew for every decision; take from it what is to be remembered.
#[pyclass(module = "raddle._raddle")]
#[derive(Default)]
pub struct SchedulerView {
    now: u64,
    warps: Vec<u16>,
    rows: Vec<Row>,
}

impl SchedulerView {
    fn fill(&mut self, view: &raddle_sim::seam::SchedulerView<'_>) {
        self.now = view.now;
        self.warps.clear();
        self.warps.extend(view.warps.iter().map(|warp| warp.0));
        self.rows.resize(view.table.slots(), Row::default());
        for warp in view.warps.iter() {
            let info = view.table.get(warp);
            self.rows[warp.index()] = Row {
                age: view.age[warp.index()],
                issued: view.issued[warp.index()],
                progress: view.progress(warp),
                pc: info.pc,
                mask: info.mask,
                block: view.block(warp).cta,
            };
        }
    }

    fn row(&self, warp: u16) -> PyResult<&Row> {
        let row = self.rows.get(usize::from(warp)).filter(|_| self.warps.contains(&warp));
        row.ok_or_else(|| PyIndexError::new_err(format!("this scheduler has no warp {warp}")))
    }
}

#[pymethods]
impl SchedulerView {
    /// The cycle.
    #[getter]
    fn now(&self) -> u64 {
        self.now
    }

    /// The warps of this scheduler that are in use.
    #[getter]
    fn warps(&self) -> Vec<u16> {
        self.warps.clone()
    }

    /// When a warp came to the SM: a number that grows with every warp.
    fn age(&self, warp: u16) -> PyResult<u64> {
        Ok(self.row(warp)?.age)
    }

    /// Instructions a warp has issued.
    fn issued(&self, warp: u16) -> PyResult<u64> {
        Ok(self.row(warp)?.issued)
    }

    /// Instructions a warp has issued in its block.
    fn progress(&self, warp: u16) -> PyResult<u64> {
        Ok(self.row(warp)?.progress)
    }

    /// The number of the instruction a warp is at.
    fn pc(&self, warp: u16) -> PyResult<u32> {
        Ok(self.row(warp)?.pc)
    }

    /// The active lanes of a warp, as bits.
    fn mask(&self, warp: u16) -> PyResult<u32> {
        Ok(self.row(warp)?.mask)
    }

    /// How many lanes of a warp are active.
    fn lanes(&self, warp: u16) -> PyResult<u32> {
        Ok(self.row(warp)?.mask.count_ones())
    }

    /// The number of the block a warp belongs to.
    fn block(&self, warp: u16) -> PyResult<u64> {
        Ok(self.row(warp)?.block)
    }
}

/// A scheduler with one method, `pick(view, among)`, which chooses one warp of several and changes nothing. Which warp
/// issues, which one an empty slot is charged to and the order of all warps follow from it.
pub struct Scheduler {
    object: Object,
    /// The view that the object is given.
    view: Option<Py<SchedulerView>>,
    hears_issued: bool,
    hears_warps: bool,
    hears_barriers: bool,
}

impl Scheduler {
    pub fn new(object: Object) -> Self {
        let view = object.ask(|object| Py::new(object.py(), SchedulerView::default()));
        let [hears_issued, hears_warps, hears_barriers] =
            ["issued", "warp_changed", "barrier"].map(|method| object.has(method));
        Self { object, view, hears_issued, hears_warps, hears_barriers }
    }

    /// The warp that the object chooses; the oldest where it cannot be asked any more.
    fn choose(&self, view: &raddle_sim::seam::SchedulerView<'_>, among: &WarpSet) -> Option<WarpId> {
        if among.is_empty() {
            return None;
        }
        let shown = self.view.as_ref()?;
        let answer = self.object.ask(|object| {
            let shown = shown.bind(object.py());
            shown.borrow_mut().fill(view);
            let warps: Vec<u16> = among.iter().map(|warp| warp.0).collect();
            chosen(&object.call_method1("pick", (shown, warps))?, among, "pick()")
        });
        answer.or_else(|| among.iter().min_by_key(|warp| view.age[warp.index()]))
    }
}

impl IssueScheduler for Scheduler {
    fn priority_order(&self, view: &raddle_sim::seam::SchedulerView<'_>, order: &mut Vec<WarpId>) {
        let mut left = view.warps.clone();
        while let Some(first) = self.choose(view, &left) {
            left.remove(first);
            order.push(first);
        }
    }

    fn first_of(
        &self,
        view: &raddle_sim::seam::SchedulerView<'_>,
        among: &WarpSet,
        _: &mut Vec<WarpId>,
    ) -> Option<WarpId> {
        self.choose(view, among)
    }

    fn issued(&mut self, view: &raddle_sim::seam::SchedulerView<'_>, warp: WarpId) {
        if !self.hears_issued {
            return;
        }
        let Some(shown) = &self.view else { return };
        self.object.ask(|object| {
            let shown = shown.bind(object.py());
            shown.borrow_mut().fill(view);
            object.call_method1("issued", (shown, warp.0)).map(drop)
        });
    }

    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        if self.hears_warps {
            self.object.ask(|object| object.call_method1("warp_changed", (warp.0, present)).map(drop));
        }
    }

    fn barrier(&mut self, warp: WarpId, arrives: bool) {
        if self.hears_barriers {
            self.object.ask(|object| object.call_method1("barrier", (warp.0, arrives)).map(drop));
        }
    }
}
