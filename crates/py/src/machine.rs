//! Machines: a preset or a file, changes, and mechanisms.

use crate::error;
use crate::mechanism::{self, Class};
use crate::trouble::Trouble;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use raddle_runtime::{Problem, input};
use raddle_sim::config::{PRESETS, Source};
use raddle_sim::seam::{Registry, Seam};
use std::path::Path;
use std::sync::Arc;

/// A machine that has been checked.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct Machine {
    pub machine: Arc<raddle_sim::config::Machine>,
    pub registry: Arc<Registry>,
    /// The classes in the registry.
    classes: Vec<Class>,
}

/// A class of Python as a mechanism: seam, name, class, and what tells its versions apart.
pub type NamedClass = (String, String, Py<PyAny>, String);

/// The registry that ships with Raddle and classes of Python, and these classes.
pub fn registry(classes: Vec<NamedClass>, trouble: &Trouble) -> PyResult<(Arc<Registry>, Vec<Class>)> {
    let (mut registry, mut all) = (raddle_mech::registry(), Vec::new());
    for (seam, name, class, origin) in classes {
        let class = Class::new(class);
        registry.set_origin(&origin);
        mechanism::register(&mut registry, &seam, &name, class.clone(), trouble)?;
        all.push(class);
    }
    Ok((Arc::new(registry), all))
}

/// Whether a word is the path of a machine file.
fn is_file(base: &str) -> bool {
    Path::new(base).extension().is_some() || Path::new(base).components().count() > 1
}

fn load(base: &str, set: &[String]) -> PyResult<raddle_sim::config::Machine> {
    if !is_file(base) {
        return raddle_sim::config::Machine::load(Source::Preset(base), set).map_err(error::machine);
    }
    let cannot = |e: std::io::Error| error::problem(Problem::new(format!("cannot read {base}: {e}")));
    let text = input::text(Path::new(base)).map_err(cannot)?;
    raddle_sim::config::Machine::load(Source::File { name: base, text: &text }, set).map_err(error::machine)
}

#[pymethods]
impl Machine {
    #[new]
    fn new(base: &str, set: Vec<String>, classes: Vec<NamedClass>) -> PyResult<Self> {
        let trouble = Trouble::default();
        let (registry, classes) = registry(classes, &trouble)?;
        let machine = load(base, &set)?;
        let checked = registry.check(&machine.config).map(drop);
        trouble.raise()?;
        if let Err(wrong) = checked {
            let lines: Vec<String> = wrong.into_iter().map(|(key, text)| format!("{key}: {text}")).collect();
            return Err(error::problem(Problem::new(lines.join("\n"))));
        }
        Ok(Self { machine: Arc::new(machine), registry, classes })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.classes.iter().try_for_each(|class| class.traverse(&visit))
    }

    fn __clear__(&self) {
        self.classes.iter().for_each(Class::clear);
    }

    /// Every value, as JSON.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.machine.config).map_err(|e| error::problem(Problem::new(e.to_string())))
    }

    /// The whole machine as a file that can be read again.
    fn toml(&self) -> PyResult<String> {
        toml::to_string(&self.machine.config).map_err(|e| error::problem(Problem::new(e.to_string())))
    }
}

/// Names of the presets.
#[pyfunction]
pub fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// Seam, name and summary of every mechanism that ships with Raddle.
#[pyfunction]
pub fn mechanisms() -> Vec<(&'static str, &'static str, &'static str)> {
    let registry = raddle_mech::registry();
    let of = |seam: Seam| registry.iter().filter(move |m| m.info.seam == seam).map(|m| m.info);
    Seam::ALL.into_iter().flat_map(of).map(|info| (info.seam.key(), info.name, info.summary)).collect()
}
