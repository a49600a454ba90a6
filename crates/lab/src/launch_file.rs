//! Launch files as workloads: programs of the user beside those that come with Raddle.

use crate::key::Key;
use raddle_ptx::source::LineIndex;
use raddle_runtime::device::Setup;
use raddle_runtime::fill::Fill;
use raddle_runtime::plan::Want;
use raddle_runtime::timing::Watch;
use raddle_runtime::{Error, Outcome, Plan, Problem, PtxFile, Session, input};
use raddle_workloads::{Error as RunError, Ran};
use std::io;
use std::path::{Path, PathBuf};

/// A launch file, with what all its runs have in common.
#[derive(Debug)]
pub struct LaunchFile {
    path: PathBuf,
    text: String,
    plan: Plan,
    /// Its kernels.
    pub module: PtxFile,
    /// Hash of its kernels.
    pub(crate) kernels: Key,
    /// Hash of the file and of all data that it names.
    pub(crate) content: Key,
}

/// Reads the module of a plan, and gives the kernels of its launches the names they have there.
pub type LoadModule = fn(&mut Plan) -> Result<PtxFile, Error>;

/// A module in PTX.
///
/// # Errors
/// When it cannot be read or has errors.
pub fn ptx(plan: &mut Plan) -> Result<PtxFile, Error> {
    PtxFile::read(&plan.module)
}

/// The hash of a module without what says where its sources are: the same file in another folder is the same.
fn hash_of(module: &PtxFile) -> Key {
    let is_place = |line: &str| line.starts_with(".file") || line.starts_with(".loc");
    let lines: Vec<&str> = module.source.lines().filter(|line| !is_place(line.trim_start())).collect();
    Key::of(lines.join("\n").as_bytes())
}

pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Problem {
    Problem::new(format!("cannot read {}: {error}", path.display()))
}

/// A problem whose place is in a launch file, for those who show another file: the place is part of the message.
pub(crate) fn placed(path: &Path, text: &str, problem: Problem) -> Problem {
    let place = problem.at.as_ref().map(|at| LineIndex::new(text).line_col(text, at.start as u32));
    let place = place.map_or_else(String::new, |place| format!(":{place}"));
    Problem { message: format!("{}{place}: {}", path.display(), problem.message), at: None, ..problem }
}

/// The hash of a launch file's text and of the data it names.
fn content(text: &str, plan: &Plan) -> Result<Key, Problem> {
    let fills = plan.buffers.iter().filter_map(|buffer| match &buffer.fill {
        Fill::File(file) => Some(file),
        _ => None,
    });
    let wants = plan.expects.iter().filter_map(|expect| match &expect.want {
        Want::File(file) => Some(file),
        Want::Values(_) => None,
    });
    let mut hashes = Key::of(text.as_bytes()).0.to_vec();
    for file in fills.chain(wants) {
        let bytes = input::bytes(&file.path, input::MAX_DATA).map_err(|error| cannot_read(&file.path, &error))?;
        hashes.extend(Key::of(&bytes).0);
    }
    Ok(Key::of(&hashes))
}

impl LaunchFile {
    /// Reads a launch file, its module and the data it names.
    ///
    /// # Errors
    /// When one of them cannot be used; the message has the place in the launch file.
    pub fn read(path: &Path, load: LoadModule) -> Result<Self, Problem> {
        let text = input::text(path).map_err(|error| cannot_read(path, &error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut plan = Plan::from_toml(&text, folder).map_err(|problem| placed(path, &text, problem))?;
        // Runs at the same time would write the same files.
        plan.outputs.clear();
        let module = load(&mut plan).map_err(|error| {
            let problem = match error {
                Error::Problem(problem) => problem,
                Error::Ptx { .. } => {
                    let help = format!("`raddle ptx check {}` says more", plan.module.display());
                    Problem::new(error.to_string()).help(help)
                }
                other => Problem::new(other.to_string()),
            };
            placed(path, &text, problem)
        })?;
        let content = content(&text, &plan).map_err(|problem| placed(path, &text, problem))?;
        Ok(Self { path: path.to_owned(), text, plan, kernels: hash_of(&module), module, content })
    }

    /// The name of the file without its folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs it, and compares with what it expects, if it expects anything.
    ///
    /// # Errors
    /// When it cannot be run like this; what happens while it runs is in the result.
    pub(crate) fn run<'d>(&'d self, module: &'d PtxFile, setup: &'d Setup, watch: Watch<'d>) -> Result<Ran, RunError> {
        let with_place = |error| match error {
            Error::Problem(problem) => RunError::Problem(placed(&self.path, &self.text, problem)),
            other => other.into(),
        };
        self.check_unchanged()?;
        let mut session = Session::new(&self.plan, module, setup).map_err(with_place)?;
        let outcome = session.run(watch).map_err(with_place)?;
        let checked = outcome.checks.iter().filter(|check| check.comparison.wrong == 0).count();
        let wrong = self.wrong(&outcome);
        let Outcome { launches, memory, .. } = outcome;
        Ok(Ran { launches, checked, wrong, memory, kept: Vec::new() })
    }

    /// Refuses files that are no longer those of the key: the result would have the wrong name for ever.
    fn check_unchanged(&self) -> Result<(), Problem> {
        let text = input::text(&self.path).map_err(|error| cannot_read(&self.path, &error))?;
        if content(&text, &self.plan)? == self.content {
            return Ok(());
        }
        let message = format!("{}, or data it names, has changed since the runs were planned", self.path.display());
        Err(Problem::new(message).help("run the same command again"))
    }

    /// Why a run is not good.
    fn wrong(&self, outcome: &Outcome) -> Option<RunError> {
        if let (Some(last), Some(stop)) = (outcome.launches.last(), outcome.stop()) {
            return Some(Error::Stopped { kernel: last.kernel.clone(), ending: stop.name() }.into());
        }
        let check = outcome.checks.iter().find(|check| check.comparison.wrong > 0)?;
        let (name, comparison) = (&self.plan.buffers[check.buffer].name, &check.comparison);
        let (wrong, compared) = (comparison.wrong, comparison.compared);
        let text = format!("buffer `{name}` is not as the launch file expects: {wrong} of {compared} elements differ");
        Some(RunError::Wrong(text))
    }
}
