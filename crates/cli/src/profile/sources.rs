//! The text of the lines that a profile shows.

use raddle_runtime::profile::Line;
use raddle_runtime::{PtxFile, input};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The PTX of a run, and what it was compiled from as far as that can be read.
#[derive(Default)]
pub struct Sources {
    ptx: Vec<String>,
    /// The folder the PTX is in.
    folder: PathBuf,
    /// Files that have been looked for.
    files: RefCell<BTreeMap<String, Option<Vec<String>>>>,
}

impl Sources {
    /// Of PTX, with the name and text of what it was compiled from where that is at hand.
    pub fn new(ptx: &PtxFile, cuda: Option<(&str, &str)>) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        let files = cuda.iter().map(|(name, text)| ((*name).to_owned(), Some(lines(text)))).collect();
        let folder = Path::new(&ptx.path).parent().unwrap_or(Path::new("")).to_owned();
        Self { ptx: lines(&ptx.source), folder, files: RefCell::new(files) }
    }

    /// An instruction as the PTX has it.
    pub fn ptx(&self, line: u32) -> String {
        let text = self.ptx.get((line as usize).saturating_sub(1)).map(String::as_str).unwrap_or_default();
        let text = text.split("//").next().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// All lines of the PTX.
    pub fn ptx_lines(&self) -> &[String] {
        &self.ptx
    }

    /// All lines of a file, if it can be read.
    pub fn file(&self, name: &str) -> Option<Vec<String>> {
        self.files.borrow_mut().entry(name.to_owned()).or_insert_with(|| self.read(name)).clone()
    }

    /// A line as its file has it, if the file can be read.
    pub fn text(&self, line: &Line) -> Option<String> {
        let Some(file) = &line.file else { return Some(self.ptx(line.line)) };
        let mut files = self.files.borrow_mut();
        let lines = files.entry(file.clone()).or_insert_with(|| self.read(file));
        let text = lines.as_ref()?.get((line.line as usize).checked_sub(1)?)?;
        Some(text.trim().to_owned())
    }

    /// Reads a file, by its name as the PTX has it or beside the PTX.
    fn read(&self, name: &str) -> Option<Vec<String>> {
        let text =
            [Path::new(name).to_owned(), self.folder.join(name)].iter().find_map(|path| input::text(path).ok())?;
        Some(text.lines().map(str::to_owned).collect())
    }
}
