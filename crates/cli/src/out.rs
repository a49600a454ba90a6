//! Writing to the terminal or to whatever stands in its place.

use raddle_lab::drawing::Drawing;
use raddle_lab::png::png;
use raddle_lab::svg::svg;
use raddle_runtime::Error;
pub use raddle_runtime::numbers::{count, grouped, percent};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Writes data to stdout.
///
/// # Errors
/// When stdout cannot be written.
pub fn data(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes one JSON value to stdout, on a line of its own.
///
/// # Errors
/// When stdout cannot be written.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    data(&(serde_json::to_string(value)? + "\n"))
}

/// Writes a drawing to a file: as a PNG if its name ends in .png, else as an SVG.
///
/// # Errors
/// When the file cannot be written.
pub fn picture(path: &Path, drawing: &Drawing) -> Result<(), Error> {
    let is_png = path.extension().is_some_and(|e| e == "png");
    let picture = if is_png { png(drawing) } else { (svg(drawing, true) + "\n").into_bytes() };
    std::fs::write(path, picture).map_err(|source| Error::Write { path: path.display().to_string(), source })
}

/// Writes a message and a newline to stderr, in colour where there is any.
pub fn talk(text: &str) {
    anstream::eprintln!("{text}");
}

/// Columns padded to the widest cell, the first flush left and the others flush right.
pub fn table(rows: &[Vec<String>]) -> String {
    aligned(rows, 1)
}

/// Columns padded to the widest cell, all of them flush left.
pub fn columns(rows: &[Vec<String>]) -> String {
    aligned(rows, usize::MAX)
}

fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            let gap = if column == 0 { "" } else { "  " };
            text += &if column < left { format!("{gap}{cell:<width$}") } else { format!("{gap}{cell:>width$}") };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn tables_line_up() {
        let rows = [["kernel", "registers"], ["a_long_name", "8"]].map(|r| r.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "kernel       registers\na_long_name          8\n");
    }
}
