//! Positions in a PTX text.

use std::fmt;

/// A half-open byte range of the source text.
///
/// Spans never decide equality: two syntax trees that differ only in where their parts stand
/// in the text are the same tree. That is what makes "print, then parse again, gives the same
/// module" a plain `==`.
#[derive(Clone, Copy, Default, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte offsets.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: clamped(start), end: clamped(end) }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a range of byte offsets.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text this span covers; empty when the span is not of this text.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }
}

/// A place in a text, or the last one there is a number for. No text with a module is that long.
fn clamped(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::hash::Hash for Span {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A line and column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for LineCol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Finds lines and columns of byte offsets in one text.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    /// Byte offset at which each line starts.
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let starts = std::iter::once(0).chain(after_newlines).map(clamped).collect();
        Self { starts }
    }

    /// The line and column of byte `offset` of `text`, which must be the text indexed.
    #[must_use]
    pub fn line_col(&self, text: &str, offset: u32) -> LineCol {
        let line = self.starts.partition_point(|s| *s <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0) as usize;
        let upto = text.get(start..offset as usize).map_or(0, |t| t.chars().count());
        LineCol { line: clamped(line), column: clamped(upto).saturating_add(1) }
    }

    /// The line (from 1) of byte `offset`.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        clamped(self.starts.partition_point(|s| *s <= offset).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let text = "ab\ncé d\n";
        let index = LineIndex::new(text);
        let at = |o| index.line_col(text, o).to_string();
        assert_eq!(at(0), "1:1");
        assert_eq!(at(2), "1:3");
        assert_eq!(at(3), "2:1");
        assert_eq!(at(7), "2:4", "é is one column though two bytes");
    }
}
