//! The launch files and program files among the workloads of an experiment.

use crate::launch_file::{self, LaunchFile, LoadModule, cannot_read};
use crate::program_file::{self, Host, ProgramFile};
use raddle_runtime::{Problem, input};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file of the user that is a workload.
#[derive(Clone, Debug)]
pub enum Own {
    /// It says what is launched.
    Launches(Arc<LaunchFile>),
    /// It names a program that does.
    Program(Arc<ProgramFile>),
}

/// Those who know what such files name.
#[derive(Clone, Copy, Debug)]
pub struct Loaders {
    /// Reads the modules of launch files.
    pub module: LoadModule,
    /// Compiles and starts programs.
    pub host: Host,
}

impl Default for Loaders {
    /// Modules are PTX, and there are no programs.
    fn default() -> Self {
        Self { module: launch_file::ptx, host: Host::default() }
    }
}

/// Files of the user by their names in tables: that of the file without its folder and ending, with the ending where that is
/// taken, and with a number where that is taken too.
#[derive(Clone, Debug)]
pub struct Files {
    folder: PathBuf,
    loaders: Loaders,
    list: Vec<(&'static str, PathBuf, Own)>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new(Path::new(""))
    }
}

impl Files {
    /// None yet; paths are relative to `folder`, modules are PTX, and there are no programs.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self::with_loaders(folder, Loaders::default())
    }

    /// The same with modules of other kinds and with programs.
    #[must_use]
    pub fn with_loaders(folder: &Path, loaders: Loaders) -> Self {
        Self { folder: folder.to_owned(), loaders, list: Vec::new() }
    }

    /// The folder that paths are relative to.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Own> {
        self.list.iter().find(|(known, ..)| *known == name).map(|(_, _, file)| file)
    }

    /// Names of all, in the order in which they were first written.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().map(|(name, ..)| *name)
    }

    /// Whether there are programs among them.
    #[must_use]
    pub fn have_programs(&self) -> bool {
        self.list.iter().any(|(_, _, own)| matches!(own, Own::Program(_)))
    }

    /// What to say when a size is asked for; nothing where there are no files.
    #[must_use]
    pub fn size_note(&self) -> Option<String> {
        let names: Vec<&str> = self.names().collect();
        let has = |kind: fn(&Own) -> bool| self.list.iter().any(|(_, _, own)| kind(own));
        let kinds = match (has(|own| matches!(own, Own::Launches(_))), has(|own| matches!(own, Own::Program(_)))) {
            (_, false) => "launch files",
            (false, true) => "programs",
            (true, true) => "launch files and programs",
        };
        (!names.is_empty()).then(|| format!("--size does not apply to {kinds}: {}", names.join(", ")))
    }

    /// Whether a word is a file: like `raddle run`, whatever has an ending or a slash.
    pub(super) fn is_file(word: &str) -> bool {
        let path = Path::new(word);
        path.extension().is_some() || path.components().count() > 1
    }

    /// The name of the file at a path, which is read if it is new.
    pub(super) fn add(&mut self, word: &str) -> Result<&'static str, Problem> {
        // A file is the same with `./` in front and without.
        let parts = self.folder.join(word);
        let path: PathBuf = parts.components().filter(|part| *part != Component::CurDir).collect();
        if let Some((name, ..)) = self.list.iter().find(|(_, known, _)| *known == path) {
            return Ok(name);
        }
        if path.extension().is_none_or(|ending| ending != "toml") {
            let problem = Problem::new(format!("`{word}` is no workload, launch file or program file"));
            return Err(problem.help(match path.extension().is_some_and(|ending| ending == "ptx") {
                true => "a launch file ends in .toml and says how the kernels of a PTX file are launched",
                false => "a program file ends in .toml and names the program: program = \"./matmul\"",
            }));
        }
        let text = input::text(&path).map_err(|error| cannot_read(&path, &error))?;
        let own = match program_file::is_one(&text) {
            true => Own::Program(Arc::new(ProgramFile::read(&path, self.loaders.host)?)),
            false => Own::Launches(Arc::new(LaunchFile::read(&path, self.loaders.module)?)),
        };
        let [stem, whole] =
            [path.file_stem(), path.file_name()].map(|name| name.unwrap_or_default().to_string_lossy().into_owned());
        let numbered = (2..).map(|n| format!("{whole} {n}"));
        let mut names = [stem, whole.clone()].into_iter().chain(numbered);
        let name = kept(names.find(|name| self.is_free(name)).unwrap_or(whole));
        self.list.push((name, path, own));
        Ok(name)
    }

    fn is_free(&self, name: &str) -> bool {
        self.get(name).is_none() && raddle_workloads::all().iter().all(|workload| workload.name != name)
    }
}

/// A name that lives as long as those of the workloads that come with Raddle. The same name is kept once.
fn kept(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = name.leak();
    names.insert(name);
    name
}
