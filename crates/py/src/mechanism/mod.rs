//! Mechanisms that are classes of Python, at three seams.
//!
//! A class is made once for each scheduler, SM or GPU. Its method decides; an exception in it ends the launch, and is
//! raised when that has ended.

mod dispatch;
mod fetch;
mod issue;

pub use dispatch::DispatchView;
pub use fetch::FetchView;
pub use issue::SchedulerView;

use crate::error;
use crate::trouble::Trouble;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use raddle_mech::NoConfig;
use raddle_runtime::Problem;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::{MechanismInfo, Registry, Seam, WarpId, WarpSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A class of Python that is a mechanism. Who has it tells the garbage collector of Python: classes often refer to what
/// uses them. It is nothing when the collector has broken such a cycle.
#[derive(Clone)]
pub struct Class(Arc<Mutex<Option<Py<PyAny>>>>);

impl Class {
    pub fn new(class: Py<PyAny>) -> Self {
        Self(Arc::new(Mutex::new(Some(class))))
    }

    /// An instance.
    fn make(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let class = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|class| class.clone_ref(py));
        class.ok_or_else(|| PyRuntimeError::new_err("the class of this mechanism is gone"))?.call0(py)
    }

    /// Shows the class to the collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is locked is in use, and is not garbage.
        self.0.try_lock().map_or(Ok(()), |class| visit.call(&*class))
    }

    /// Forgets the class.
    pub fn clear(&self) {
        let class = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(class);
    }
}

/// An object of a class of Python, or none where it could not be made.
struct Object {
    object: Option<Py<PyAny>>,
    trouble: Trouble,
}

impl Object {
    /// One for the launch that this thread makes; without such a launch, what goes wrong goes to `trouble`.
    fn new(class: &Class, trouble: &Trouble) -> Self {
        let trouble = Trouble::current().unwrap_or_else(|| trouble.clone());
        let made = trouble.callback(|py| class.make(py));
        let object = made.map_err(|error| trouble.keep(error)).ok();
        Self { object, trouble }
    }

    /// Calls into the object. Nothing where something went wrong, now or before.
    fn ask<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let object = self.object.as_ref().filter(|_| !self.trouble.is_there())?;
        self.trouble.callback(|py| call(object.bind(py))).map_err(|error| self.trouble.keep(error)).ok()
    }

    /// Whether it has a method of this name.
    fn has(&self, method: &str) -> bool {
        self.ask(|object| object.hasattr(method)).unwrap_or(false)
    }
}

/// The warp that a method chose, which must be one of those it was given.
fn chosen(answer: &Bound<'_, PyAny>, among: &WarpSet, method: &str) -> PyResult<WarpId> {
    let number: u16 = answer.extract()?;
    let warp = WarpId(number);
    if usize::from(number) < raddle_sim::seam::MAX_WARPS && among.contains(warp) {
        return Ok(warp);
    }
    let known: Vec<u16> = among.iter().map(|warp| warp.0).collect();
    Err(PyValueError::new_err(format!("{method} chose warp {number}, which is not one of {known:?}")))
}

/// Adds a class to a registry. Names live as long as the program: each is kept once for a class.
pub fn register(registry: &mut Registry, seam: &str, name: &str, class: Class, trouble: &Trouble) -> PyResult<()> {
    let found = [Seam::Issue, Seam::Fetch, Seam::Dispatch].into_iter().find(|known| known.key() == seam);
    let Some(seam) = found else {
        let problem = Problem::new(format!("the seam `{seam}` takes no class of Python"));
        return Err(error::problem(problem.help("issue, fetch and dispatch do; the others are written in Rust")));
    };
    if registry.get(seam, name).is_some() {
        let problem = Problem::new(format!("there is a mechanism `{name}` already"));
        return Err(error::problem(problem.help("give the class another name, or a `name` of its own")));
    }
    let (summary, source) = ("a class of Python", "");
    let info = MechanismInfo { seam, name: kept(name), summary, source, counters: &[], refuses: &[] };
    let trouble = trouble.clone();
    let object = move || Object::new(&class, &trouble);
    match seam {
        Seam::Issue => registry.issue(info, move |_: NoConfig, _: &MachineConfig| issue::Scheduler::new(object())),
        Seam::Fetch => registry.fetch(info, move |_: NoConfig, _: &MachineConfig| fetch::Fetcher::new(object())),
        _ => registry.dispatch(info, move |_: NoConfig, _: &MachineConfig| dispatch::Giver::new(object())),
    }
    Ok(())
}

/// A name that is never freed, since what ships with Raddle has names of that kind. The same one is kept once.
fn kept(name: &str) -> &'static str {
    use std::collections::BTreeSet;
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = name.to_owned().leak();
    names.insert(name);
    name
}
