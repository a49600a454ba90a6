//! Diagnostics: what is wrong with a PTX text, where, and what to do about it.
//!
//! They are plain data. Whoever shows them attaches the source text; the command line does it in
//! the manner of rustc.

use crate::source::{LineIndex, Span};
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the module can be used.
    Warning,
    /// The module cannot be used.
    Error,
}

/// What kind of problem a diagnostic reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A character or literal that is not PTX.
    Lexical,
    /// The text does not follow the grammar.
    Syntax,
    /// A name that is not declared, or is declared twice.
    Name,
    /// Operands or modifiers that do not fit the instruction.
    Type,
    /// Valid PTX that this front end does not support.
    Unsupported,
    /// Directives that contradict each other or the code.
    Directive,
    /// Not a problem of its own: how many more there are.
    Summary,
}

impl Code {
    /// The short name shown in brackets after "error".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Syntax => "syntax",
            Self::Name => "name",
            Self::Type => "type",
            Self::Unsupported => "unsupported",
            Self::Directive => "directive",
            Self::Summary => "summary",
        }
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Kind of problem.
    pub code: Code,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Text at the underlined place, for example what was expected.
    pub label: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    #[must_use]
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), span, label: None, help: None }
    }

    /// A warning.
    #[must_use]
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Adds the text shown at the underlined place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whether this makes the module unusable.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// One line: `line:column: error[code]: message`, with help and, if it says more than the message, the label in brackets.
    #[must_use]
    pub fn one_line(&self, source: &str, lines: &LineIndex) -> String {
        let at = lines.line_col(source, self.span.start);
        let mut text = format!("{at}: {self}");
        if let Some(label) = self.label.as_ref().filter(|l| !self.message.contains(*l)) {
            text += &format!(" ({label})");
        }
        if let Some(help) = &self.help {
            text += &format!(" [help: {help}]");
        }
        text
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}[{}]: {}", self.code.as_str(), self.message)
    }
}

/// How many errors, and how many warnings, are kept; of more than that only the number is told.
pub const MAX_SHOWN: usize = 100;

/// Diagnostics while they come in. A text with a mistake in every line gives a list that can be read, and neither time
/// nor memory is spent on the rest.
#[derive(Debug, Default)]
pub struct Collector {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Collector {
    /// Adds a diagnostic, or only counts it when there are enough of its kind.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if *count <= MAX_SHOWN {
            self.list.push(diagnostic);
        }
    }

    /// Whether further errors are only counted, so that there is no need to look for advice.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.errors >= MAX_SHOWN
    }

    /// The diagnostics in the order of the text, and at the end how many were left out.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| d.span.start);
        let last = self.list.last().map_or(Span::default(), |d| d.span);
        let more = |count: usize| count.checked_sub(MAX_SHOWN).filter(|n| *n > 0);
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        if let Some(n) = more(self.warnings) {
            self.list.push(Diagnostic::warning(Code::Summary, last, format!("{n} more warning{}", plural(n))));
        }
        if let Some(n) = more(self.errors) {
            self.list.push(Diagnostic::error(Code::Summary, last, format!("{n} more error{}", plural(n))));
        }
        self.list
    }
}

/// The closest of `candidates` to `word`, if it is close enough to be a likely misspelling. Their order does not matter.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.trim_start_matches(['%', '$', '_']).len() < 2 {
        return None; // Every other name of one letter would be close.
    }
    let limit = (word.len() / 3).clamp(1, 3);
    let first = word.bytes().next();
    candidates
        .into_iter()
        .map(|c| (edit_distance(word, c, limit + 1), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, c)| (*d, c.bytes().next() != first, c.len(), *c))
        .map(|(_, c)| c)
}

/// Levenshtein distance, or `cap` when it is at least that.
fn edit_distance(a: &str, b: &str, cap: usize) -> usize {
    if a.len().abs_diff(b.len()) >= cap || a.len() > 64 {
        return cap;
    }
    let b: Vec<u8> = b.bytes().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
            least = least.min(row[j + 1]);
        }
        if least >= cap {
            return cap; // It can only grow from row to row.
        }
    }
    row[b.len()].min(cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_finds_misspellings_only() {
        let words = ["add", "mad", "sub", "shfl"];
        assert_eq!(closest("ad", words), Some("add"));
        assert_eq!(closest("ad", ["ld", "add"]), Some("add"), "the first letter is rarely wrong");
        assert_eq!(closest("%q", ["%p"]), None);
        assert_eq!(closest("shlf", ["shfl2", "popc"]), None, "two edits are too many for four letters");
        assert_eq!(closest("xyz", words), None);
    }

    #[test]
    fn a_flood_is_counted_and_an_error_is_never_lost() {
        let mut collector = Collector::default();
        for _ in 0..MAX_SHOWN + 2 {
            collector.push(Diagnostic::warning(Code::Type, Span::new(9, 9), "w"));
        }
        collector.push(Diagnostic::error(Code::Type, Span::new(1, 1), "e"));
        let list = collector.finish();
        assert_eq!(list[0].message, "e", "in the order of the text");
        assert_eq!(list.len(), MAX_SHOWN + 2);
        assert_eq!(list[MAX_SHOWN + 1].to_string(), "warning[summary]: 2 more warnings");
    }
}
