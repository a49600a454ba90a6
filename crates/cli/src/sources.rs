//! The text of the lines that profiles and pictures show.

use crate::run::Ran;
use raddle_lab::label::Label;
use raddle_runtime::profile::Line;
use raddle_runtime::timing::PcCount;
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
    /// Of what was run.
    pub fn of(ran: &Ran<'_>) -> Self {
        Self::new(ran.ptx, ran.cuda.as_ref().map(|(name, text)| (name.as_str(), *text)))
    }

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

    /// What pictures say of an operation.
    pub fn label(&self, count: &PcCount) -> Label {
        let line = own_line(Line::of(count));
        let text = |file: &String| {
            // A CUDA file is the one that is meant; lines of headers say so.
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            let place = if name.ends_with(".cu") { String::new() } else { format!("{name}:") };
            let text = self.text(&line).map_or(String::new(), |text| format!(": {text}"));
            format!("{place}{}{text}", line.line)
        };
        Label { ptx: self.ptx(count.ptx_line), line: line.file.as_ref().map(text) }
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

/// The line that calls what another file has, such as a header of the compiler; else the line itself.
pub fn own_line(line: Line) -> Line {
    match &line.inlined_at {
        Some((file, number)) if line.file.as_ref() != Some(file) => {
            Line { file: Some(file.clone()), line: *number, inlined_at: None }
        }
        _ => line,
    }
}

/// The operations of a launch, counted from 1, that were executed.
pub fn operations<'r>(ran: &'r Ran<'_>, launch: u32) -> &'r [PcCount] {
    let launch = ran.outcome.launches.get((launch as usize).saturating_sub(1));
    launch.and_then(|launch| launch.timed.as_ref()).map_or(&[], |timed| &timed.pcs)
}

/// What pictures say of the operations of a launch, counted from 1.
pub fn labels(ran: &Ran<'_>, launch: u32) -> BTreeMap<u32, Label> {
    let sources = Sources::of(ran);
    operations(ran, launch).iter().map(|count| (count.pc, sources.label(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_header_has_is_of_the_line_that_calls_it() {
        let line = |file: &str, number, call: Option<(&str, u32)>| Line {
            file: Some(file.to_owned()),
            line: number,
            inlined_at: call.map(|(file, line)| (file.to_owned(), line)),
        };
        assert_eq!(own_line(line("vars.h", 53, Some(("a.cu", 7)))), line("a.cu", 7, None));
        let helper = line("a.cu", 3, Some(("a.cu", 7)));
        assert_eq!(own_line(helper.clone()), helper, "a function of the same file");
        assert_eq!(own_line(line("a.cu", 3, None)), line("a.cu", 3, None));
    }
}
