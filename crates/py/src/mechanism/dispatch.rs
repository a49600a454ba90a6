//! Dispatchers that are classes of Python.

use super::Object;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use raddle_sim::seam::{Assignment, Dispatcher};

/// What a dispatcher sees.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct DispatchView {
    /// The cycle.
    #[pyo3(get)]
    now: u64,
    /// Blocks that each SM has room for.
    #[pyo3(get)]
    room: Vec<u32>,
    /// Blocks on each SM.
    #[pyo3(get)]
    resident: Vec<u32>,
    /// The number of the next block.
    #[pyo3(get)]
    next: u64,
    /// Blocks of the grid.
    #[pyo3(get)]
    total: u64,
}

/// A dispatcher with the method `dispatch(view)`, which gives a list of the SMs that get the next blocks.
pub struct Giver {
    object: Object,
}

impl Giver {
    pub fn new(object: Object) -> Self {
        Self { object }
    }
}

/// Refuses SMs without room and more blocks than there are.
fn check(view: &raddle_sim::seam::DispatchView<'_>, sms: &[u32]) -> PyResult<()> {
    for (n, sm) in sms.iter().enumerate() {
        if view.room.get(*sm as usize).is_none_or(|room| *room == 0) {
            return Err(PyValueError::new_err(format!("dispatch() chose SM {sm}, which has no room for a block")));
        }
        if sms[..n].contains(sm) {
            return Err(PyValueError::new_err(format!("dispatch() chose SM {sm} twice in one cycle")));
        }
    }
    if sms.len() as u64 > view.total - view.next {
        return Err(PyValueError::new_err("dispatch() chose more SMs than there are blocks left"));
    }
    Ok(())
}

impl Dispatcher for Giver {
    fn dispatch(&mut self, view: &raddle_sim::seam::DispatchView<'_>, out: &mut Vec<Assignment>) {
        let answer = self.object.ask(|object| {
            let (room, resident) = (view.room.to_vec(), view.resident.to_vec());
            let shown = DispatchView { now: view.now, room, resident, next: view.next, total: view.total };
            let sms: Vec<u32> = object.call_method1("dispatch", (shown,))?.extract()?;
            check(view, &sms)?;
            Ok(sms)
        });
        // The launch ends soon where it could not be asked; until then blocks go where there is room.
        let sms = answer.unwrap_or_else(|| {
            (0u32..).zip(view.room).filter(|(_, room)| **room > 0).map(|(n, _)| n).take(1).collect()
        });
        out.extend(sms.into_iter().zip(view.next..view.total).map(|(sm, cta)| Assignment { sm, cta }));
    }
}
