//! The launch files among the workloads of an experiment.

use crate::launch_file::{self, LaunchFile, LoadModule};
use raddle_runtime::Problem;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Launch files by their names in tables: that of the file without its folder and ending, with the ending where that is
/// taken, and with a number where that is taken too.
#[derive(Clone, Debug)]
pub struct Files {
    folder: PathBuf,
    load: LoadModule,
    list: Vec<(&'static str, PathBuf, Arc<LaunchFile>)>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new(Path::new(""))
    }
}

impl Files {
    /// None yet; paths are relative to `folder`, and modules are PTX.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self::with_loader(folder, launch_file::ptx)
    }

    /// The same with modules of other kinds.
    #[must_use]
    pub fn with_loader(folder: &Path, load: LoadModule) -> Self {
        Self { folder: folder.to_owned(), load, list: Vec::new() }
    }

    /// The folder that paths are relative to.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The launch file of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<LaunchFile>> {
        self.list.iter().find(|(known, ..)| *known == name).map(|(_, _, file)| file)
    }

    /// Names of all, in the order in which they were first written.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().map(|(name, ..)| *name)
    }

    /// What to say when a size is asked for; nothing where there are no launch files.
    #[must_use]
    pub fn size_note(&self) -> Option<String> {
        let names: Vec<&str> = self.names().collect();
        (!names.is_empty()).then(|| format!("--size does not apply to launch files: {}", names.join(", ")))
    }

    /// Whether a word is a file: like `raddle run`, whatever has an ending or a slash.
    pub(super) fn is_file(word: &str) -> bool {
        let path = Path::new(word);
        path.extension().is_some() || path.components().count() > 1
    }

    /// The name of the launch file at a path, which is read if it is new.
    pub(super) fn add(&mut self, word: &str) -> Result<&'static str, Problem> {
        // A launch file is the same with `./` in front and without.
        let parts = self.folder.join(word);
        let path: PathBuf = parts.components().filter(|part| *part != Component::CurDir).collect();
        if let Some((name, ..)) = self.list.iter().find(|(_, known, _)| *known == path) {
            return Ok(name);
        }
        if path.extension().is_none_or(|ending| ending != "toml") {
            let problem = Problem::new(format!("`{word}` is neither a workload nor a launch file"));
            return Err(problem.help("a launch file ends in .toml and says how the kernels of a PTX file are launched"));
        }
        let file = LaunchFile::read(&path, self.load)?;
        let (stem, whole) = (path.file_stem().unwrap_or_default().to_string_lossy(), file.file_name());
        let numbered = (2..).map(|n| format!("{whole} {n}"));
        let mut names = [stem.into_owned(), whole.clone()].into_iter().chain(numbered);
        let name = kept(names.find(|name| self.is_free(name)).unwrap_or(whole));
        self.list.push((name, path, Arc::new(file)));
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
