//! `--sanitize`: what threads do to each other, checked while a program runs.

use super::once::Once;
use crate::out;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle_exec::sanitize::{Checks, Finding, Kind};
use raddle_ptx::ir::{FuncId, InstId};
use raddle_runtime::outcome::Launched;
use raddle_runtime::{Engine, Problem, PtxFile};
use serde_json::{Value, json};

/// What the option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Data races in shared and global memory.
    Races,
    /// Barriers that some threads miss.
    Sync,
    /// Shared or global memory read before it is written.
    Init,
    /// Reads outside of memory; a write outside of memory ends a launch without any option.
    Memory,
    /// All of them.
    All,
}

/// The names of the checks.
pub fn checks() -> impl TypedValueParser<Value = Check> {
    PossibleValuesParser::new(["races", "sync", "init", "memory", "all"]).map(|name| match name.as_str() {
        "races" => Check::Races,
        "sync" => Check::Sync,
        "init" => Check::Init,
        "memory" => Check::Memory,
        _ => Check::All,
    })
}

/// What launches look for.
pub fn wanted(list: &[Check]) -> Checks {
    let has = |check: Check| list.iter().any(|one| [check, Check::All].contains(one));
    Checks { races: has(Check::Races), sync: has(Check::Sync), init: has(Check::Init) }
}

/// Whether reads outside of memory are reported and the program continues.
pub fn warns_of_reads(list: &[Check]) -> bool {
    list.iter().any(|check| [Check::Memory, Check::All].contains(check))
}

/// Refuses engines that do not check.
pub fn refuse(list: &[Check], engine: Engine) -> Result<(), Problem> {
    match wanted(list).any() && engine == Engine::Reference {
        true => Err(Problem::new(format!("the engine `{engine}` does not check what --sanitize asks for"))
            .help("use --engine fast or timing")),
        false => Ok(()),
    }
}

/// What makes a finding the same as that of another launch: what, and by which instructions.
type Key = (Kind, Option<(FuncId, InstId)>, (FuncId, InstId));

/// The findings of a whole run.
#[derive(Default)]
pub struct Found(Once<Key>);

impl Found {
    /// Takes note of a launch; gives what is to be said of findings that are new.
    pub fn add(&mut self, launched: &Launched, file: &PtxFile) -> Vec<String> {
        let mut said = Vec::new();
        for finding in &launched.report.findings {
            let key = (finding.kind, finding.earlier.map(|by| by.1), finding.later.1);
            let text = || finding.describe(&file.module, Some(&file.source));
            said.extend(self.0.say(file, key, "there are more findings; they are only counted", text));
        }
        said
    }

    /// How many different ones there were.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The line in the end.
    pub fn line(&self) -> String {
        match self.0.len() {
            0 => "sanitizer: nothing found".to_owned(),
            n => format!("sanitizer: {}", out::count(n, "finding")),
        }
    }
}

/// What is said of all launches of one text, when something is looked for.
pub fn lines(list: &[Check], launches: &[Launched], file: &PtxFile) -> Vec<String> {
    let mut found = Found::default();
    let mut lines: Vec<String> = launches.iter().flat_map(|launched| found.add(launched, file)).collect();
    lines.extend(wanted(list).any().then(|| found.line()));
    lines
}

/// Whether any launch has a finding.
pub fn is_bad(launches: &[Launched]) -> bool {
    launches.iter().any(|launched| !launched.report.findings.is_empty())
}

/// A finding for programs that read the output.
pub fn json(finding: &Finding, file: &PtxFile) -> Value {
    let text = finding.describe(&file.module, Some(&file.source));
    json!({"what": text.lines().next().unwrap_or_default(), "text": text, "count": finding.count})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_checks() {
        assert_eq!(wanted(&[Check::Races]), Checks { races: true, ..Checks::default() });
        assert_eq!(wanted(&[Check::All]), Checks { races: true, sync: true, init: true });
        assert!(warns_of_reads(&[Check::Memory]) && !wanted(&[Check::Memory]).any());
        assert!(refuse(&[Check::Races], Engine::Reference).is_err());
        assert!(refuse(&[Check::Memory], Engine::Reference).is_ok() && refuse(&[Check::Sync], Engine::Timing).is_ok());
    }
}
