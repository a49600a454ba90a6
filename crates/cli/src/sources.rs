//! The text of the lines that profiles and pictures show.

use crate::run::{self, Ran};
use crate::source_files::{SourceArgs, SourceFiles, folder_of};
use raddle_lab::label::Label;
use raddle_runtime::profile::Line;
use raddle_runtime::timing::PcCount;
use raddle_runtime::{Problem, PtxFile};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The PTX of a run, and what it was compiled from as far as that can be read.
#[derive(Default)]
pub struct Sources {
    ptx: Vec<String>,
    /// Files that have been looked for.
    known: Mutex<BTreeMap<String, Option<Vec<String>>>>,
    files: Arc<SourceFiles>,
}

impl Sources {
    /// Of what was run. Files may be below the folders of the PTX and of the file on the command line.
    pub fn of(ran: &Ran<'_>, run: &run::Args, args: &SourceArgs) -> Result<Self, Problem> {
        let cuda = ran.cuda.as_ref().map(|(name, text)| (name.as_str(), *text));
        // A workload is not in a folder.
        let named = match cuda {
            Some(_) => Vec::new(),
            None => vec![folder_of(Path::new(&ran.ptx.path)), folder_of(run.file())],
        };
        Ok(Self::new(ran.ptx, cuda, Arc::new(args.files(named)?)))
    }

    /// Of PTX, with the name and text of what it was compiled from where that is at hand.
    pub fn new(ptx: &PtxFile, cuda: Option<(&str, &str)>, files: Arc<SourceFiles>) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        let known = cuda.iter().map(|(name, text)| ((*name).to_owned(), Some(lines(text)))).collect();
        Self { ptx: lines(&ptx.source), known: Mutex::new(known), files }
    }

    /// Says which files were not shown.
    pub fn tell(&self) {
        self.files.tell();
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
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(name.to_owned())
            .or_insert_with(|| self.files.lines(name))
            .clone()
    }

    /// A line as its file has it, if the file can be read.
    pub fn text(&self, line: &Line) -> Option<String> {
        let Some(file) = &line.file else { return Some(self.ptx(line.line)) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = known.entry(file.clone()).or_insert_with(|| self.files.lines(file));
        let text = lines.as_ref()?.get((line.line as usize).checked_sub(1)?)?;
        Some(text.trim().to_owned())
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
pub fn labels(ran: &Ran<'_>, launch: u32, run: &run::Args, args: &SourceArgs) -> Result<BTreeMap<u32, Label>, Problem> {
    let sources = Sources::of(ran, run, args)?;
    let labels = operations(ran, launch).iter().map(|count| (count.pc, sources.label(count))).collect();
    sources.tell();
    Ok(labels)
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
