//! What can be wrong with a machine, and where a value comes from.

use std::fmt;
use std::ops::Range;

/// Where a value of a machine comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A preset, by name.
    Preset(&'static str),
    /// A machine file.
    File {
        /// Its path, as given.
        name: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Bytes of the file.
        span: Range<usize>,
    },
    /// An override `path=value`.
    Set(String),
    /// An option of a GPGPU-Sim configuration.
    Option(String),
}

impl Origin {
    /// The place `span` of the file `name` with this text.
    #[must_use]
    pub fn file(name: &str, text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self::File { name: name.to_owned(), line, column: before[line_start..].chars().count() + 1, span }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::File { name, line, column: _, span: _ } => write!(f, "{name}:{line}"),
            Self::Set(_) => f.write_str("--set"),
            Self::Option(name) => f.write_str(name),
        }
    }
}

/// Something wrong with a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key it is about, as in `sm.l1d.sets`; empty when it is about none.
    pub path: String,
    /// What is wrong, a fragment that names the key.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where the value comes from, if that is known.
    pub origin: Option<Origin>,
}

impl Problem {
    /// A problem of the key `path`.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), help: None, origin: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds where the value comes from.
    #[must_use]
    pub fn from(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Adds `did you mean ...?` if one of `candidates` is close to `word`.
    #[must_use]
    pub fn suggest<'a>(mut self, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(close) = raddle_ptx::diag::closest(word, candidates) {
            self.help = Some(format!("did you mean `{close}`?"));
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Some(Origin::File { name, line, column, .. }) => write!(f, "{name}:{line}:{column}: ")?,
            Some(Origin::Set(text)) => write!(f, "--set {text}: ")?,
            Some(Origin::Option(name)) => write!(f, "{name}: ")?,
            Some(Origin::Preset(_)) | None => {}
        }
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for Problem {}
