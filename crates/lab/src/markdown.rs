//! Figures as text: a value with its spread, and tables in Markdown.

use crate::chart::{number, small};
use crate::table::{Cell, Gap, Table};
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

/// The text with a capital letter at its start.
#[must_use]
pub fn capital(text: &str) -> String {
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
            let paper = cell.as_ref().ok().and_then(|cell| cell.paper);
            let paper = paper.map(|p| format!(" (paper {})", number(p))).unwrap_or_default();
            let _ = write!(text, " {bold}{}{bold}{paper} |", value(table, cell));
        }
    }
    if !table.source.is_empty() {
        let _ = write!(text, "\n\nThe paper's values: {}.", table.source);
    }
    text + "\n"
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

/// A text in a cell of a table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_values_spread_and_paper() {
        let table = crate::chart::tests::table();
        let text = section(&table);
        assert!(text.starts_with(&format!("### {}\n\n", table.title)), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), table.rows.len() + 2, "{text}");
        assert!(rows.iter().all(|row| row.matches('|').count() == table.bars.len() + 2), "{text}");
        assert!(text.contains("1.250 ±0.010 (paper 1.400) |"), "{text}");
        assert!(text.contains("| **mean, all** |") && text.contains("**≈1.005"), "{text}");
        assert!(text.contains(" refused |"), "{text}");
        assert!(text.contains("**≈1.005 ±0.010 (1 of 2)**"), "{text}");
        let parts = section(&crate::chart::tests::stacked());
        assert!(parts.contains("| mean, all, gto (1 of 2) | 0.250 | 0.755 |"), "{parts}");
    }
}
