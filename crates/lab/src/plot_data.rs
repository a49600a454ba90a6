//! The numbers of a figure as CSV, and a script for matplotlib that draws them, for those who draw figures their own way.

use crate::experiment::Kind;
use crate::export::figures_csv;
use crate::table::Table;
use std::fmt::Write as _;

/// What every script does first: it reads the rows of the figure, and what its axes are.
const READ: &str = "\
import csv
import pathlib

import matplotlib.pyplot as plt

here = pathlib.Path(__file__)
with open(here.with_suffix(\".csv\"), newline=\"\", encoding=\"utf-8\") as file:
    values = [row for row in csv.DictReader(file) if row[\"value\"]]
rows = list(dict.fromkeys(row[\"row\"] for row in values))
bars = list(dict.fromkeys(row[\"bar\"] for row in values))
plt.rcParams.update({\"font.size\": 8})
figure, axes = plt.subplots(figsize=(7.16, 3.2), layout=\"constrained\")
";

/// Plain bars with their ranges, from the line of no effect.
const BARS: &str = "\
wide = 0.8 / len(bars)
for n, bar in enumerate(bars):
    own = [row for row in values if row[\"bar\"] == bar]
    at = [rows.index(row[\"row\"]) + (n - (len(bars) - 1) / 2) * wide for row in own]
    value = [float(row[\"value\"]) for row in own]
    spread = [
        [float(row[\"value\"]) - float(row[\"error_low\"] or row[\"value\"]) for row in own],
        [float(row[\"error_high\"] or row[\"value\"]) - float(row[\"value\"]) for row in own],
    ]
    axes.bar(at, [v - origin for v in value], wide, bottom=origin, label=bar, yerr=spread, error_kw={\"lw\": 0.8})
axes.set_xticks(range(len(rows)), rows, rotation=90)
";

/// Stacked bars.
const STACKED: &str = "\
wide = 0.8 / len(bars)
parts = [part for part in dict.fromkeys(row[\"part\"] for row in values) if part]
below = {}
for n, part in enumerate(parts):
    for row in (row for row in values if row[\"part\"] == part):
        at = rows.index(row[\"row\"]) + (bars.index(row[\"bar\"]) - (len(bars) - 1) / 2) * wide
        label = part if not below or all(key[2] != part for key in below) else None
        base = sum(v for key, v in below.items() if key[:2] == (row[\"row\"], row[\"bar\"]))
        axes.bar(at, float(row[\"value\"]), wide, bottom=base, color=plt.cm.tab20(n % 20), label=label)
        below[row[\"row\"], row[\"bar\"], part] = float(row[\"value\"])
axes.set_xticks(range(len(rows)), rows, rotation=90)
axes.set_xlabel(\"bars from the left: \" + \", \".join(bars))
";

/// Lines, or points without them over another metric.
const POINTS: &str = "\
for bar in bars:
    own = [row for row in values if row[\"bar\"] == bar and (row[\"x\"] or not scattered)]
    own = [row for row in own if not (scattered and row[\"is_mean\"] == \"true\")]
    at = [float(row[\"x\"]) if scattered else rows.index(row[\"row\"]) for row in own]
    value = [float(row[\"value\"]) for row in own]
    spread = [
        [float(row[\"value\"]) - float(row[\"error_low\"] or row[\"value\"]) for row in own],
        [float(row[\"error_high\"] or row[\"value\"]) - float(row[\"value\"]) for row in own],
    ]
    axes.errorbar(at, value, spread, fmt=\"o\" if scattered else \"o-\", ms=3, lw=1, elinewidth=0.8, label=bar)
if not scattered:
    axes.set_xticks(range(len(rows)), rows)
";

/// Boxes over the rows of means.
const BOXES: &str = "\
values = [row for row in values if row[\"median\"]]
rows = list(dict.fromkeys(row[\"row\"] for row in values))
wide = 0.8 / len(bars)
for n, bar in enumerate(bars):
    own = [row for row in values if row[\"bar\"] == bar]
    at = [rows.index(row[\"row\"]) + (n - (len(bars) - 1) / 2) * wide for row in own]
    names = {\"med\": \"median\", \"q1\": \"q1\", \"q3\": \"q3\", \"whislo\": \"error_low\", \"whishi\": \"error_high\"}
    boxes = [{key: float(row[column]) for key, column in names.items()} for row in own]
    axes.bxp(boxes, positions=at, widths=0.8 * wide, showfliers=False, patch_artist=True,
             boxprops={\"facecolor\": f\"C{n}\"}, medianprops={\"color\": \"black\"})
    axes.plot([], [], color=f\"C{n}\", lw=6, label=bar)
axes.set_xticks(range(len(rows)), rows)
";

/// The name of a figure as part of the name of a file.
#[must_use]
pub fn file_name(table: &Table) -> String {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = table.name.split(|c| !is_good(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The files of a figure: its numbers, as reports have them, and the script.
#[must_use]
pub fn files(table: &Table) -> [(String, String); 2] {
    let name = file_name(table);
    [(format!("{name}.csv"), figures_csv(std::slice::from_ref(table))), (format!("{name}.py"), script(table))]
}

/// A script that draws a figure from the CSV file beside it.
#[must_use]
pub fn script(table: &Table) -> String {
    let mut text = String::from("# Draws the figure from the CSV file of the same name, and writes a PDF beside it.\n");
    text += READ;
    let _ = writeln!(text, "origin = {}", table.neutral.unwrap_or(0.0));
    text += match table.kind {
        Kind::Bars => BARS,
        Kind::Stacked => STACKED,
        Kind::Line => "scattered = False\n",
        Kind::Scatter => "scattered = True\n",
        Kind::Box => BOXES,
    };
    if matches!(table.kind, Kind::Line | Kind::Scatter) {
        text += POINTS;
    }
    if table.neutral.is_some() {
        text += "axes.axhline(origin, color=\"black\", lw=0.8, ls=\"--\")\n";
    }
    let _ = writeln!(text, "axes.set_ylabel({})", quoted(&table.axis));
    if !table.x_axis.is_empty() {
        let _ = writeln!(text, "axes.set_xlabel({})", quoted(&table.x_axis));
    }
    text + "axes.legend(ncols=4, frameon=False, loc=\"lower left\", bbox_to_anchor=(0, 1))\n\
        figure.savefig(here.with_suffix(\".pdf\"))\n"
}

/// A text as Python writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            // Formulas begin and end with it.
            '$' => quoted += "\\\\$",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::{of_kind, stacked, table};

    #[test]
    fn a_script_reads_the_file_beside_it() {
        let [csv, python] = files(&Table { name: "l1d.hits + l2.hits".to_owned(), ..table() });
        assert_eq!((csv.0.as_str(), python.0.as_str()), ("l1d.hits-l2.hits.csv", "l1d.hits-l2.hits.py"));
        assert!(csv.1.starts_with("figure,row,is_mean,bar,part,value,low,high,"));
        assert!(python.1.contains("origin = 1\n") && python.1.contains("axes.set_ylabel(\"times as fast\")"));
        assert!(script(&stacked()).contains("parts = "));
        assert!(
            script(&of_kind(Kind::Scatter)).contains("scattered = True") && script(&of_kind(Kind::Box)).contains("bxp")
        );
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\" \\ $\n"), "\"a \\\"b\\\" \\\\ \\\\$ \"");
    }
}
