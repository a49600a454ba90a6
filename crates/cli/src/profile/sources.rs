//! The text of the lines that a profile shows.

use crate::run::Ran;
use raddle_runtime::input;
use raddle_runtime::profile::Line;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// The PTX of a run, and what it was compiled from as far as that can be read.
pub struct Sources<'r> {
    ptx: Vec<&'r str>,
    /// The folder the PTX is in.
    folder: &'r Path,
    /// Files that have been looked for.
    files: RefCell<BTreeMap<String, Option<Vec<String>>>>,
}

impl<'r> Sources<'r> {
    pub fn new(ran: &'r Ran<'_>) -> Self {
        let lines = |text: &str| Some(text.lines().map(str::to_owned).collect());
        let files = ran.cuda.iter().map(|(name, text)| (name.clone(), lines(text))).collect();
        let folder = Path::new(&ran.ptx.path).parent().unwrap_or(Path::new(""));
        Self { ptx: ran.source().lines().collect(), folder, files: RefCell::new(files) }
    }

    /// An instruction as the PTX has it.
    pub fn ptx(&self, line: u32) -> String {
        let text = self.ptx.get((line as usize).saturating_sub(1)).copied().unwrap_or_default();
        let text = text.split("//").next().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// All lines of the PTX.
    pub fn ptx_lines(&self) -> &[&str] {
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
