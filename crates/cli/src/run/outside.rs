//! `--on-fault`: reads outside of memory that are reported while the program continues.

use super::once::Once;
use crate::out;
use crate::render::Text;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle_ptx::ir::{FuncId, InstId};
use raddle_runtime::PtxFile;
use raddle_runtime::outcome::Launched;

/// What the option takes; whether reads are warned of.
pub fn on_fault() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["stop", "warn"]).map(|name| name == "warn")
}

/// Reads outside of memory of a whole run.
#[derive(Default)]
pub struct Outside {
    /// Instructions that were reported.
    places: Once<(FuncId, InstId)>,
    reads: u64,
}

impl Outside {
    /// Counts the reads of a launch; gives what is to be said of places that are new.
    pub fn add(&mut self, launched: &Launched, file: &PtxFile) -> Vec<String> {
        let mut said = Vec::new();
        for read in &launched.outside_reads {
            self.reads += read.count;
            let text = || Text::new(&file.path, &file.source).outside_read(read, &file.module);
            let more = "more places read outside of memory; they are only counted";
            said.extend(read.first.at.and_then(|at| self.places.say(file, at, more, text)));
        }
        said
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.reads
    }

    /// The line of the summary, if there is something to say.
    pub fn line(&self) -> Option<String> {
        let (reads, places) = (out::grouped(self.reads), out::count(self.places.len(), "place"));
        let what = if self.reads == 1 { "read outside of memory was" } else { "reads outside of memory were" };
        (self.reads > 0).then(|| format!("{reads} {what} answered with zero, at {places}; hardware may give anything"))
    }
}

/// What is said of the reads of all launches of one text.
pub fn lines(launches: &[Launched], file: &PtxFile) -> Vec<String> {
    let mut outside = Outside::default();
    let mut lines: Vec<String> = launches.iter().flat_map(|launched| outside.add(launched, file)).collect();
    lines.extend(outside.line());
    lines
}
