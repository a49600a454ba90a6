//! The page that lists every parameter of a machine, with its value in every preset.

use std::fmt::Write;

use raddle_sim::config::{Field, Kind, Machine, PRESETS, Section, Source, keys};

use crate::Result;

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask codegen` from crates/sim/src/config and crates/sim/presets; do not edit. -->

# Parameters of a machine

This page lists every key of a machine file, with its value in each preset. [The page about machines](../machines.md)
explains how files, presets and `--set` work together. Times are in cycles of the clock of the part they belong to. Sizes are
in bytes, unless the text says otherwise. The preset files, in `crates/sim/presets`, name the source of each value.
";

/// The whole page.
pub fn page() -> Result<String> {
    let load = |preset| Machine::load(Source::Preset(preset), &[""; 0]).map_err(|problems| problems[0].to_string());
    let machines = PRESETS.iter().map(|preset| load(preset.name)).collect::<std::result::Result<Vec<_>, _>>()?;
    let mut text = INTRODUCTION.to_owned();
    for section in keys().sections.iter().filter(|section| !is_timing(&section.path)) {
        text += &table(section, &machines);
    }
    Ok(text)
}

/// Whether this is the pair of numbers of one kind of instruction, which has a line, not a table.
fn is_timing(path: &str) -> bool {
    path.starts_with("sm.latency.")
}

fn table(section: &Section, machines: &[Machine]) -> String {
    let mut text = format!("\n## `[{}]`\n\n{}\n", section.path, section.doc);
    let fields: Vec<&Field> = keys().fields.iter().filter(|field| field.section() == section.path).collect();
    let timings: Vec<&Section> = keys()
        .sections
        .iter()
        .filter(|inner| is_timing(&inner.path) && inner.path.rsplit_once('.').is_some_and(|(s, _)| s == section.path))
        .collect();
    if fields.is_empty() && timings.is_empty() {
        return text;
    }
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let rule = "| --- ".repeat(names.len() + 2);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n| key | {} | meaning |\n{rule}|", names.join(" | "));
    for field in fields {
        let values: Vec<String> = machines.iter().map(|machine| value(machine, &field.path)).collect();
        row(&mut text, &field.path, &values, &format!("{}{}", field.doc, words(&field.kind)));
    }
    for timing in timings {
        let part = |machine: &Machine, part: &str| value(machine, &format!("{}.{part}", timing.path));
        let values: Vec<String> =
            machines.iter().map(|m| format!("{}, {}", part(m, "latency"), part(m, "interval"))).collect();
        row(&mut text, &timing.path, &values, &format!("{} `latency`, `interval`", timing.doc));
    }
    text
}

fn row(text: &mut String, path: &str, values: &[String], meaning: &str) {
    let key = path.rsplit('.').next().unwrap_or(path);
    let _ = writeln!(text, "| `{key}` | {} | {} |", values.join(" | "), meaning.replace('|', "\\|"));
}

/// The value of a key, without the quotes of a text.
fn value(machine: &Machine, path: &str) -> String {
    let found = machine.values().find(|(key, ..)| *key == path);
    found.map_or_else(String::new, |(_, value, _)| value.to_string().replace('"', ""))
}

/// The words a key may have, with what they mean.
fn words(kind: &Kind) -> String {
    let Kind::Word(words) = kind else { return String::new() };
    words.iter().map(|(word, meaning)| format!(" `{word}`: {meaning}")).collect()
}
