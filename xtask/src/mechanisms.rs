//! The page of all mechanisms: their module comments and what they are registered with.

use std::fmt::Write;
use std::fs;

use raddle_sim::seam::{Mechanism, Seam};

use crate::Result;
use crate::files::root;

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask codegen` from crates/mech/src; do not edit. -->

# Mechanisms

This page lists every mechanism. Choose one by its name, under `[mechanism]` in a machine file or with an option such as
`--set mechanism.issue=lrr`. [Writing a mechanism](../mechanisms.md) explains what seams are and how to add a mechanism.
";

/// The headings every mechanism's comment has, in this order.
const HEADINGS: &[&str] = &["What it models", "Source", "Parameters", "Simplifications", "Counters"];

/// The whole page.
pub fn page() -> Result<String> {
    let registry = raddle_mech::registry();
    let mut text = INTRODUCTION.to_owned();
    for seam in Seam::ALL {
        let _ = writeln!(text, "\n## `mechanism.{}`\n\n{}", seam.key(), about(seam));
        for mechanism in registry.iter().filter(|m| m.info.seam == seam) {
            let path = format!("crates/mech/src/{}/{}.rs", seam.key(), mechanism.info.name.replace('-', "_"));
            let source = fs::read_to_string(root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
            text += &entry(mechanism, &source).map_err(|e| format!("{path}: {e}"))?;
        }
    }
    Ok(text)
}

fn about(seam: Seam) -> &'static str {
    match seam {
        Seam::Divergence => {
            "Which threads form a warp, where the warp is in the program, and where its threads wait and reconverge."
        }
        Seam::Issue => "Which warp of a scheduler issues.",
        Seam::Fetch => "For which warp the next instructions are fetched.",
        Seam::Dispatch => "Which block goes to which SM, and when.",
        Seam::Ganging => "Which narrow warps of different slices issue in lockstep.",
        Seam::Gating => "Which lanes are powered.",
        Seam::LogicalBlocks => {
            "When a warp of a [virtual block](../guide/virtual-blocks.md) takes its next logical block, and which of its warps it \
             becomes."
        }
    }
}

/// One mechanism: its comment with headings one level below its own, parameters as a table, refusals as a list.
fn entry(mechanism: &Mechanism, source: &str) -> Result<String> {
    let info = &mechanism.info;
    let comment: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let headings: Vec<&str> = comment.iter().filter_map(|line| line.strip_prefix("# ")).collect();
    if headings != HEADINGS {
        return Err(format!("the headings of its comment must be {HEADINGS:?}, they are {headings:?}").into());
    }
    let mut text = format!("\n### `{}`\n\n{}: {}.\n", info.name, seam_word(info.seam), info.summary);
    let mut under = "";
    let mut is_gap = false;
    for line in comment.iter().skip_while(|line| !line.starts_with("# ")) {
        match line.strip_prefix("# ") {
            Some(heading) => {
                close(&mut text, under, mechanism);
                (under, is_gap) = (heading, false);
                let _ = write!(text, "\n**{heading}.** ");
            }
            None if line.is_empty() => is_gap = true,
            None => {
                // Paragraphs stay apart.
                if std::mem::take(&mut is_gap) {
                    text.push('\n');
                }
                let _ = writeln!(text, "{line}");
            }
        }
    }
    close(&mut text, under, mechanism);
    for refusal in info.refuses {
        let _ = writeln!(text, "\nRefuses `{} = \"{}\"`: {}.", refusal.seam.key(), refusal.name, refusal.reason);
    }
    Ok(text)
}

fn seam_word(seam: Seam) -> &'static str {
    match seam {
        Seam::Divergence => "Divergence model",
        Seam::Issue => "Issue scheduler",
        Seam::Fetch => "Fetch scheduler",
        Seam::Dispatch => "Dispatcher",
        Seam::Ganging => "Ganging unit",
        Seam::Gating => "Gating scheme",
        Seam::LogicalBlocks => "Logical blocks",
    }
}

/// The tables of parameters and of counters follow the text about them.
fn close(text: &mut String, heading: &str, mechanism: &Mechanism) {
    if heading == "Counters" && !mechanism.info.counters.is_empty() {
        *text += "\n| counter | unit | counts |\n| --- | --- | --- |\n";
        for (name, info) in mechanism.info.counter_names() {
            let _ = writeln!(text, "| `{name}` | {} | {} |", info.unit.name(), info.doc);
        }
    }
    if heading != "Parameters" || mechanism.parameters.is_empty() {
        return;
    }
    *text += "\n| parameter | default | values | meaning |\n| --- | --- | --- | --- |\n";
    for p in &mechanism.parameters {
        let range = if p.range.is_empty() { "see meaning" } else { &p.range };
        let doc = p.doc.replace('\n', " ");
        let _ = writeln!(text, "| `{}` | `{}` | {range} | {doc} |", p.name, p.default.replace('"', ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_has_its_entry_and_its_parameters() {
        let page = page().unwrap();
        for mechanism in raddle_mech::registry().iter() {
            assert!(page.contains(&format!("\n### `{}`\n", mechanism.info.name)), "{}", mechanism.info.name);
        }
        assert!(page.contains("| `active` | `8` | 1 to 1024 |"), "{page}");
    }

    #[test]
    fn a_comment_without_headings_is_refused() {
        let registry = raddle_mech::registry();
        let gto = registry.get(Seam::Issue, "gto").unwrap();
        assert!(entry(gto, "//! Greedy.\n").unwrap_err().to_string().starts_with("the headings"));
    }
}
