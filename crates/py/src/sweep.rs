//! Sweeps: the experiments of the command line, on its engine and in its store.

use crate::error;
use crate::machine::{NamedClass, registry};
use crate::mechanism::Class;
use crate::run::totals;
use crate::trouble::{Trouble, refuse_callbacks};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use raddle_cli::embed;
use raddle_exec::Interrupt;
use raddle_lab::chart::{Layout, draw};
use raddle_lab::experiment::Experiment;
use raddle_lab::figure::Values;
use raddle_lab::grid::Grid;
use raddle_lab::metric::{Metric, counters};
use raddle_lab::store::Store;
use raddle_lab::svg::svg;
use raddle_lab::work::{self, InMemory, Options, Progress, Results};
use raddle_sim::seam::Registry;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// How often progress is told and signals are looked for.
const EVERY: Duration = Duration::from_millis(100);

/// Where results are kept.
enum Kept {
    Memory(InMemory),
    Store(Box<Store>),
}

/// A point of a sweep: workload, size, labels on the axes, repetition, key, what went wrong, and counters.
type Row = (String, String, Vec<String>, usize, String, Option<(bool, String)>, BTreeMap<String, u64>);

/// A grid of runs, and its results.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct Sweep {
    experiment: Experiment,
    grid: Grid,
    text: String,
    registry: Arc<Registry>,
    classes: Vec<Class>,
    trouble: Trouble,
    kept: Mutex<Kept>,
}

/// Names of all counters.
#[pyfunction]
pub fn counter_names() -> Vec<String> {
    counters().collect()
}

impl Sweep {
    /// Calls a function with the results, without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut dyn Results) -> Result<T, raddle_lab::Error> + Send,
    ) -> PyResult<T> {
        refuse_callbacks()?;
        py.detach(|| {
            let result = match &mut *self.trouble.lock(&self.kept)? {
                Kept::Memory(results) => call(results),
                Kept::Store(results) => call(&mut **results),
            };
            result.map_err(|error| self.wrong(error))
        })
    }

    fn wrong(&self, error: raddle_lab::Error) -> PyErr {
        error::lab(error, &self.text)
    }
}

/// Runs points on threads of their own while this one looks after the interpreter.
fn work(
    sweep: &Sweep,
    results: &mut impl Results,
    jobs: usize,
    mut tell: impl FnMut(Progress) -> PyResult<()>,
) -> PyResult<Progress> {
    let stop = Arc::new(AtomicBool::new(false));
    let (told, trouble) = (Arc::clone(&stop), sweep.trouble.clone());
    let interrupt = Interrupt::new(move || told.load(Ordering::Relaxed) || trouble.is_there());
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        let note = Mutex::new(send);
        let points = &sweep.grid.points;
        let options = Options { jobs, cores: jobs };
        let worker = scope.spawn(move || {
            let tell = |progress| {
                // Nobody listens any more once this thread has ended.
                let _ = note.lock().unwrap_or_else(PoisonError::into_inner).send(progress);
            };
            work::run_until(points, results, options, &interrupt, &tell)
        });
        let mut looked = Ok(());
        while !worker.is_finished() {
            let last = receive.recv_timeout(EVERY).ok().map(|first| receive.try_iter().last().unwrap_or(first));
            if looked.is_ok() {
                looked = Python::attach(|py| py.check_signals()).and_then(|()| last.map_or(Ok(()), &mut tell));
                stop.store(looked.is_err(), Ordering::Relaxed);
            }
        }
        let ended = worker.join();
        looked?;
        sweep.trouble.raise()?;
        match ended {
            Ok(ended) => ended.map_err(|error| sweep.wrong(error)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[pymethods]
impl Sweep {
    /// An experiment with this text; paths in it are relative to a folder.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        folder: PathBuf,
        classes: Vec<NamedClass>,
        store: Option<PathBuf>,
    ) -> PyResult<Self> {
        let trouble = Trouble::default();
        let (registry, classes) = registry(classes, &trouble)?;
        let made = py.detach(|| -> Result<_, raddle_lab::Error> {
            let experiment = Experiment::parse_with(&registry, embed::files(&folder), "sweep", &text)?;
            let grid = Grid::new(&experiment)?;
            let kept = match store {
                Some(folder) => Kept::Store(Box::new(Store::create(&folder)?)),
                None => Kept::Memory(InMemory::default()),
            };
            Ok((experiment, grid, kept))
        });
        trouble.raise()?;
        let (experiment, grid, kept) = made.map_err(|error| error::lab(error, &text))?;
        Ok(Self { experiment, grid, text, registry, classes, trouble, kept: Mutex::new(kept) })
    }

    /// Runs what has no result yet on so many threads. `tell` hears how many points there are, have an end, and failed.
    fn run(&self, py: Python<'_>, jobs: usize, tell: Option<Py<PyAny>>) -> PyResult<(usize, usize, usize)> {
        refuse_callbacks()?;
        let say = |progress: Progress| match &tell {
            Some(tell) => {
                let (all, ended) = (progress.all, progress.known + progress.ended());
                Python::attach(|py| tell.call1(py, (all, ended, progress.failed)).map(drop))
            }
            None => Ok(()),
        };
        let ended = py.detach(|| match &mut *self.trouble.lock(&self.kept)? {
            Kept::Memory(results) => work(self, results, jobs.max(1), say),
            Kept::Store(results) => work(self, &mut **results, jobs.max(1), say),
        })?;
        Ok((ended.all, ended.known, ended.failed))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.classes.iter().try_for_each(|class| class.traverse(&visit))
    }

    fn __clear__(&self) {
        self.classes.iter().for_each(Class::clear);
    }

    /// Names of the axes.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.experiment.axes.iter().map(|axis| axis.name.clone()).collect()
    }

    /// Combinations that make no sense, with the reason.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        self.grid.left_out.clone()
    }

    /// Every point with its result.
    fn rows(&self, py: Python<'_>) -> PyResult<Vec<Row>> {
        self.with(py, |results| {
            let (mut rows, mut wrong) = (Vec::new(), None);
            self.grid.each(|choices, program, repeat, point| {
                let result = results.result(&point.key).and_then(|record| Ok((record, results.failure(&point.key)?)));
                let (record, failure) = result.unwrap_or_else(|error| {
                    wrong.get_or_insert(error);
                    (None, None)
                });
                let axes = self.experiment.axes.iter().zip(choices);
                let labels = axes.map(|(axis, choice)| axis.variants[*choice].label.clone()).collect();
                rows.push((
                    self.grid.programs[program].name.to_owned(),
                    point.size.to_string(),
                    labels,
                    repeat,
                    point.key.to_string(),
                    failure.map(|failure| (failure.is_refusal, failure.error)),
                    record.map(|record| totals(&record.kernels)).unwrap_or_default(),
                ));
            });
            wrong.map_or(Ok(rows), Err)
        })
    }

    /// A metric of every point, in the order of the rows.
    fn metric(&self, py: Python<'_>, name: &str) -> PyResult<Vec<Option<f64>>> {
        let metric = Metric::parse_with(&self.registry, name).map_err(error::problem)?;
        self.with(py, |results| {
            let (mut values, mut wrong) = (Vec::new(), None);
            self.grid.each(|_, _, _, point| match results.result(&point.key) {
                Ok(record) => values.push(record.map(|record| metric.value(&record))),
                Err(error) => drop(wrong.get_or_insert(error)),
            });
            wrong.map_or(Ok(values), Err)
        })
    }

    /// The figures of the experiment as pictures in SVG: name and picture.
    fn figures(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        refuse_callbacks()?;
        py.detach(|| {
            let values = match &*self.trouble.lock(&self.kept)? {
                Kept::Memory(results) => Values::read(&self.experiment, &self.grid, results),
                Kept::Store(results) => Values::read(&self.experiment, &self.grid, &**results),
            };
            let values = values.map_err(|error| self.wrong(error))?;
            let one = |figure| {
                let table = values.table(&self.experiment, figure);
                (figure.name.clone(), svg(&draw(&table, Layout::FILE), true))
            };
            Ok(self.experiment.figures.iter().map(one).collect())
        })
    }
}
