//! The page about other people's programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::device_code::Counts;
use super::known::SUITES;
use super::{Outcome, Verdict};
use crate::Result;
use crate::files::root;

/// Where the page is.
const PAGE: &str = "docs/src/validation/programs.md";
/// What stands above and below what is written.
const BEGIN: &str = "<!-- programs: begin -->";
const END: &str = "<!-- programs: end -->";

/// Writes the tables.
pub fn write(folder: &Path, outcomes: &[Outcome]) -> Result {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path)?;
    let (Some((before, rest)), true) = (page.split_once(BEGIN), page.contains(END)) else {
        return Err(format!("{PAGE} has no place for the tables").into());
    };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    let tables = [summary(folder, outcomes)?, device(folder)?, details(outcomes), all(outcomes)].join("\n");
    let tables = tables.replace(&format!("{}/", folder.display()), "");
    fs::write(&path, format!("{before}{BEGIN}\n\n{tables}\n{END}{after}"))?;
    println!("suites: {} programs, wrote {PAGE}", outcomes.len());
    Ok(())
}

fn summary(folder: &Path, outcomes: &[Outcome]) -> Result<String> {
    use Verdict::{CutOff, Failed, NoInput, NoLibrary, NotCompiled, Right, TooLong, Unchecked, Wrong};
    let mut text =
        "| suite | revision | tried | need a missing library | do not compile | right | right, then too long | unchecked | \
                    wrong | end with an error | lack their input | too long |\n\
                    | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
            .to_owned();
    for suite in SUITES {
        let own: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.suite == suite.name).collect();
        if own.is_empty() {
            continue;
        }
        let revision = fs::read_to_string(folder.join(suite.name).join("REVISION")).unwrap_or_default();
        let verdicts = [NoLibrary, NotCompiled, Right, CutOff, Unchecked, Wrong, Failed, NoInput, TooLong];
        let cells = verdicts.map(|verdict| own.iter().filter(|outcome| outcome.verdict == verdict).count().to_string());
        text += &format!(
            "| [{}](https://github.com/{}) | {} | {} of {} | {} |\n",
            suite.name,
            suite.address,
            revision.trim(),
            own.len(),
            suite.programs(folder)?.len(),
            cells.join(" | ")
        );
    }
    text += "\nWhat differs from the suite's own way to build and run its programs:\n\n";
    for suite in SUITES.iter().filter(|suite| outcomes.iter().any(|outcome| outcome.suite == suite.name)) {
        text += &format!("- {}: {}\n", suite.name, suite.changes);
    }
    Ok(text)
}

/// Every program that is not right, by what became of it.
fn details(outcomes: &[Outcome]) -> String {
    let names = [
        (Verdict::Wrong, "Wrong by their own check"),
        (Verdict::Failed, "Ended with an error"),
        (Verdict::NoInput, "Lack their input"),
        (Verdict::NotCompiled, "Do not compile"),
        (Verdict::CutOff, "Right by their own check, then too long"),
        (Verdict::TooLong, "Took too long"),
    ];
    let mut text = String::new();
    for (verdict, title) in names {
        let mut list: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for outcome in outcomes.iter().filter(|outcome| outcome.verdict == verdict) {
            list.insert((&outcome.suite, &outcome.program), &outcome.why);
        }
        if list.is_empty() {
            continue;
        }
        text += &format!("## {title}\n\n| program | why |\n| --- | --- |\n");
        for ((suite, program), why) in list {
            text += &format!("| {suite}/{program} | {} |\n", code(why));
        }
        text += "\n";
    }
    text
}

/// How device code fared that was compiled alone.
fn device(folder: &Path) -> Result<String> {
    let Ok(bytes) = fs::read(folder.join("device.json")) else { return Ok(String::new()) };
    let list: Vec<Counts> = serde_json::from_slice(&bytes)?;
    let mut text = "## Device code alone\n\nEach file with kernels is compiled to PTX on its own, and `raddle ptx check` checks the PTX.\n\n\
                    | suite | files | need a missing library | pass, of the rest | do not compile | are refused |\n\
                    | --- | --: | --: | --: | --: | --: |\n"
        .to_owned();
    let mut sum = [0; 5];
    for counts in &list {
        let Counts { suite, every, files, no_library, passed, not_compiled, refused, .. } = counts;
        let part = if *every > 1 { format!(", one of {every} files") } else { String::new() };
        let numbers = [*files, *no_library, *passed, *not_compiled, *refused];
        sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        text += &format!("| {suite}{part} | {files} | {no_library} | {passed} | {not_compiled} | {refused} |\n");
    }
    let [files, no_library, passed, not_compiled, refused] = sum;
    let share = 100.0 * passed as f64 / (files - no_library).max(1) as f64;
    text += &format!("| all | {files} | {no_library} | {passed} ({share:.1} %) | {not_compiled} | {refused} |\n\n");
    text += "| file | why not |\n| --- | --- |\n";
    for (file, why) in list.iter().flat_map(|counts| &counts.problems) {
        text += &format!("| {file} | {} |\n", code(why));
    }
    Ok(text)
}

/// A text in a cell, as it was printed.
fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        _ => format!("`{}`", text.replace('|', "\\|").replace('`', "'")),
    }
}

/// Every program that was run, and the command.
fn all(outcomes: &[Outcome]) -> String {
    let mut text = "## Commands\n\n| program | outcome | seconds | command |\n| --- | --- | --: | --- |\n".to_owned();
    for outcome in outcomes.iter().filter(|outcome| !outcome.command.is_empty()) {
        let verdict = match (outcome.verdict, outcome.why.starts_with(super::COMPARED)) {
            (Verdict::Right, false) => "right by its own check",
            (Verdict::Right, true) => "as the reference interpreter",
            (Verdict::Unchecked, _) => "unchecked",
            (Verdict::Wrong, _) => "wrong",
            (Verdict::CutOff, _) => "right by its own check, then too long",
            (Verdict::TooLong, _) => "too long",
            _ => "error",
        };
        let Outcome { suite, program, seconds, command, .. } = outcome;
        text += &format!("| {suite}/{program} | {verdict} | {seconds} | {} |\n", code(command));
    }
    text
}
