//! Writing to the terminal or to whatever stands in its place.

use raddle_lab::drawing::{Drawing, Medium};
use raddle_lab::picture::Format;
use raddle_runtime::Error;
pub use raddle_runtime::numbers::{count, grouped, percent, ratio};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Writes data to stdout: to a terminal with control characters spelt out, as kernels print what they like, and to
/// anything else byte by byte.
///
/// # Errors
/// When stdout cannot be written.
pub fn data(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let text = if stdout.is_terminal() { visible(text) } else { text.into() };
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Text with control characters spelt out, such as `\u{1b}`; newlines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown.into()
}

/// Writes one JSON value to stdout, on a line of its own.
///
/// # Errors
/// When stdout cannot be written.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    data(&(serde_json::to_string(value)? + "\n"))
}

/// A file for a picture.
pub struct Picture<'p> {
    path: &'p Path,
    format: Format,
}

impl<'p> Picture<'p> {
    /// Asked for before a run, so that nobody waits for one whose picture cannot be written.
    ///
    /// # Errors
    /// When the name asks for a format that is not written.
    pub fn new(path: &'p Path) -> Result<Self, Error> {
        Ok(Self { path, format: Format::of(path)? })
    }

    /// Writes it, and says what is on it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, drawing: &Drawing, medium: Medium, what: &str) -> Result<(), Error> {
        file(self.path, self.format.file(drawing, medium))?;
        talk(&format!("{}: {what}", self.path.display()));
        Ok(())
    }
}

/// So many things a second.
pub fn rate(per_second: f64) -> String {
    match per_second {
        ..1e6 => format!("{:.0} thousand/s", per_second / 1e3),
        _ => format!("{:.1} million/s", per_second / 1e6),
    }
}

/// Writes a file.
///
/// # Errors
/// When it cannot be written.
pub fn file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    std::fs::write(path, contents).map_err(|source| Error::Write { path: path.display().to_string(), source })
}

/// Writes a message and a newline to stderr, in colour where there is any. When that fails there is nobody to tell; the
/// exit code says how it went.
pub fn talk(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Columns padded to the widest cell, the first flush left and the others flush right.
pub fn table(rows: &[Vec<String>]) -> String {
    aligned(rows, |column| column == 0)
}

/// Columns padded to the widest cell, all of them flush left.
pub fn columns(rows: &[Vec<String>]) -> String {
    aligned(rows, |_| true)
}

/// As [`table`], with the last column flush left because it is text.
pub fn table_with_text(rows: &[Vec<String>]) -> String {
    let last = rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
    aligned(rows, |column| column == 0 || column == last)
}

fn aligned(rows: &[Vec<String>], is_left: impl Fn(usize) -> bool) -> String {
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            let gap = if column == 0 { "" } else { "  " };
            text += &if is_left(column) { format!("{gap}{cell:<width$}") } else { format!("{gap}{cell:>width$}") };
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
    fn rates_have_few_digits() {
        assert_eq!([999.0, 548_300.0, 20_685_000.0].map(rate), ["1 thousand/s", "548 thousand/s", "20.7 million/s"]);
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(visible("a\tb\n"), "a\tb\n");
        assert_eq!(visible("\x1b[2Jä\r\u{9b}\x7f\0"), "\\u{1b}[2Jä\\r\\u{9b}\\u{7f}\\u{0}");
    }

    #[test]
    fn tables_line_up() {
        let rows = [["kernel", "registers"], ["a_long_name", "8"]].map(|r| r.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "kernel       registers\na_long_name          8\n");
    }
}
