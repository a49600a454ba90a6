//! Figures as text: a value with its spread, and tables in Markdown.

use crate::chart::{number, small};
use crate::numbers::{Counts, Number};
use crate::table::{Cell, Gap, Table, TableRow};
use std::fmt::Write as _;

/// A value with its spread, as in `≈1.005 ±0.010`, and what it is over where that is not all: `1.04 (8 of 9)`. Where
/// there is none, a dash or the reason.
#[must_use]
pub fn value(table: &Table, cell: &Result<Cell, Gap>) -> String {
    let cell = match cell {
        Ok(cell) => cell,
        Err(gap) => return gap.text().to_owned(),
    };
    let mark = if table.is_within_spread(cell) { "≈" } else { "" };
    let spread = if cell.high > cell.low { format!(" ±{}", small(cell.spread())) } else { String::new() };
    let note = cell.note().map(|note| format!(" ({note})")).unwrap_or_default();
    format!("{mark}{}{spread}{note}", table.number(cell.value))
}

/// The text with a capital letter at its start; the name of a counter stays as it is.
#[must_use]
pub fn capital(text: &str) -> String {
    if text.split([' ', ';']).next().is_some_and(|word| word.contains('.')) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().to_string() + chars.as_str())
}

/// A figure as a section: title, what its values are, and the table.
#[must_use]
pub fn section(table: &Table) -> String {
    let mut about = capital(&table.about);
    if let Some(baseline) = table.baseline {
        let _ = write!(about, "; the baseline is `{}`", table.bars[baseline]);
    }
    let mut text = format!("### {}\n\n{about}.\n\n| |", table.title);
    if !table.parts.is_empty() {
        add_parts(&mut text, table);
        return text;
    }
    text.extend(table.bars.iter().map(|bar| format!(" {} |", escape(bar))));
    text += "\n| --- |";
    text += &" --: |".repeat(table.bars.len());
    for row in &table.rows {
        let bold = if row.is_mean { "**" } else { "" };
        let _ = write!(text, "\n| {bold}{}{bold} |", escape(&row.name));
        for cell in &row.cells {
            let _ = write!(text, " {} |", self::cell(table, row, cell));
        }
    }
    text.push('\n');
    if !table.source.is_empty() {
        let _ = write!(text, "\nThe paper's values: {}.", table.source);
    }
    if !table.reading.is_empty() {
        let _ = write!(text, "\nValues marked `other` are by our other reading of the paper: {}.", table.reading);
    }
    text.trim_end().to_owned() + "\n"
}

/// A cell of a section: ours, what the paper prints, and our other reading of it.
#[must_use]
pub fn cell(table: &Table, row: &TableRow, cell: &Result<Cell, Gap>) -> String {
    let bold = if row.is_mean { "**" } else { "" };
    let cell_of = cell.as_ref().ok();
    let paper = cell_of.and_then(|cell| cell.paper).map(|p| format!("paper {}", number(p)));
    let other = cell_of.and_then(Cell::by_other_reading).map(|other| format!("other {}", table.number(other)));
    let more: Vec<String> = [paper, other].into_iter().flatten().collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("{bold}{}{bold}{more}", value(table, cell))
}

/// The means of stacked bars: a row for each bar, a column for each part.
fn add_parts(text: &mut String, table: &Table) {
    text.extend(table.parts.iter().map(|part| format!(" {} |", escape(part))));
    *text += "\n| --- |";
    *text += &" --: |".repeat(table.parts.len());
    for row in table.rows.iter().filter(|row| row.is_mean) {
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            let note = cell.as_ref().ok().and_then(Cell::note).map(|note| format!(" ({note})")).unwrap_or_default();
            let _ = write!(text, "\n| {}, {}{note} |", escape(&row.name), escape(bar));
            for n in 0..table.parts.len() {
                let part = cell.as_ref().map(|cell| number(cell.parts[n].value));
                let _ = write!(text, " {} |", part.unwrap_or_else(|gap| gap.text().to_owned()));
            }
        }
    }
    text.push('\n');
}

/// What a page of results begins with: the picture of this name, and the means of the paper beside ours. `all` is where
/// every number is.
#[must_use]
pub fn opening(table: &Table, numbers: &[Number], picture: &str, all: &str) -> String {
    let mut text = format!("![{}: {}]({picture})\n\nBars are our values", escape(&table.title), escape(&table.axis));
    if !table.source.is_empty() {
        let _ = write!(text, ", diamonds are the paper's values ({})", table.source);
    }
    if !table.reading.is_empty() {
        let _ = write!(text, ", circles are our values by the other reading of the paper ({})", table.reading);
    }
    text += ".\n\n";
    let [means, others] = Counts::of_means_and_others(numbers);
    let said = |counts: Counts, what: &str| {
        let counted = counts.text();
        let (all, classes) = counted.split_once(": ").unwrap_or_default();
        format!("Of the {all} {what}, {classes}.")
    };
    if means.all() > 0 {
        text += &table_of_numbers(numbers.iter().filter(|number| number.is_mean), false);
        let _ = writeln!(text, "\n{}", said(means, "means above"));
    }
    if others.all() > 0 {
        let _ = writeln!(text, "{}", said(others, "numbers that the paper prints for single programs"));
    }
    if numbers.is_empty() {
        return text.trim_end().to_owned() + "\n";
    }
    text + &format!(
        "[All numbers]({all}) gives the place of each number in the paper, and the rule by which a value agrees.\n"
    )
}

/// All numbers of a paper beside ours: means, then those of single programs and kernels.
#[must_use]
pub fn numbers(all: &[Number]) -> String {
    let mut text = String::new();
    for (is_mean, title, counts) in [true, false]
        .into_iter()
        .zip([MEANS, SINGLE])
        .zip(Counts::of_means_and_others(all))
        .map(|((is_mean, title), counts)| (is_mean, title, counts))
        .filter(|(.., counts)| counts.all() > 0)
    {
        let _ = write!(text, "{title}, {}.\n\n", counts.text());
        text += &table_of_numbers(all.iter().filter(|number| number.is_mean == is_mean), true);
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

/// What the two tables of [`numbers`] are of.
pub const MEANS: &str = "Means";
/// See [`MEANS`].
pub const SINGLE: &str = "Single programs and kernels";

/// Numbers of a paper, a line for each, with their places in it where wanted.
fn table_of_numbers<'n>(numbers: impl Iterator<Item = &'n Number> + Clone, has_place: bool) -> String {
    let has_other = numbers.clone().any(|number| number.other.is_some());
    let has_why = has_place || numbers.clone().any(|number| !number.reason().is_empty());
    let mut head = vec![("what", "---")];
    if has_place {
        head.insert(0, ("place", "---"));
    }
    head.extend([("paper", "--:"), ("ours", "--:")]);
    if has_other {
        head.push(("other reading", "--:"));
    }
    head.push(("", "---"));
    if has_why {
        head.push(("why", "---"));
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&head.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    text += &line(&head.iter().map(|(_, align)| (*align).to_owned()).collect::<Vec<_>>());
    for number in numbers {
        let dash = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let mut cells = Vec::new();
        if has_place {
            cells.push(escape(&number.place));
        }
        cells.push(escape(&format!("{}: {}", number.figure, number.what)));
        cells.extend([number.paper.clone(), dash(&number.ours)]);
        if has_other {
            cells.push(dash(&number.other));
        }
        cells.push(number.verdict().to_owned());
        if has_why {
            cells.push(escape(number.reason()));
        }
        text += &line(&cells);
    }
    text
}

/// A text in a cell of a table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Class;

    #[test]
    fn a_section_has_values_spread_and_paper() {
        let table = crate::chart::tests::table();
        let text = section(&table);
        assert!(text.starts_with(&format!("### {}\n\n", table.title)), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), table.rows.len() + 2, "{text}");
        assert!(rows.iter().all(|row| row.matches('|').count() == table.bars.len() + 2), "{text}");
        assert!(text.contains("1.250 ±0.010 (paper 1.400, other 1.300) |"), "{text}");
        assert!(text.ends_with("by our other reading of the paper: deeper pipeline.\n"), "{text}");
        assert!(text.contains("| **mean, all** |") && text.contains("**≈1.005"), "{text}");
        assert!(text.contains(" refused |"), "{text}");
        assert!(text.contains("**≈1.005 ±0.010 (1 of 2)**"), "{text}");
        let parts = section(&crate::chart::tests::stacked());
        assert!(parts.contains("| mean, all, gto (1 of 2) | 0.250 | 0.755 |"), "{parts}");
    }

    #[test]
    fn a_page_begins_with_the_means_and_numbers_have_their_places() {
        let number = |what: &str, is_mean, class| Number {
            figure: "F".to_owned(),
            place: "Figure 1".to_owned(),
            what: what.to_owned(),
            is_mean,
            paper: "1.100".to_owned(),
            ours: Some("1.000".to_owned()),
            other: None,
            class: Some(class),
            why: "fewer warps".to_owned(),
        };
        let all = [number("mean, all", true, Class::DoesNot), number("a|b", false, Class::Agrees)];
        let text = opening(&crate::chart::tests::table(), &all, "t.svg", "numbers.md#t");
        assert!(
            text.starts_with("![Speedup <of all>: times as fast](t.svg)\n\nBars are our values, circles"),
            "{text}"
        );
        assert!(text.contains("\n| F: mean, all | 1.100 | 1.000 | does not | fewer warps |\n"), "{text}");
        assert!(
            !text.contains("a\\|b") && text.contains("for single programs, 1 agree, 0 partly, 0 do not."),
            "{text}"
        );
        let text = opening(&crate::chart::tests::table(), &[], "t.svg", "numbers.md#t");
        assert!(text.ends_with("(deeper pipeline).\n"), "without numbers there is no link to them: {text}");
        let text = numbers(&all);
        assert!(text.starts_with("Means, 1: 0 agree, 0 partly, 1 do not.\n\n| place | what |"), "{text}");
        assert!(text.ends_with("| Figure 1 | F: a\\|b | 1.100 | 1.000 | agrees |  |\n"), "{text}");
    }
}
