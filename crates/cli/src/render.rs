//! Errors with the source line they are about, in the manner of rustc.

use crate::exit::Failure;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};
use raddle_exec::{Fault, FaultKind, OutsideRead};
use raddle_ptx::diag::Severity;
use raddle_ptx::source::LineIndex;
use raddle_ptx::{Diagnostic, Module};
use raddle_runtime::{Error, Problem};
use raddle_sim::config;
use std::io;
use std::ops::Range;

/// A text with its name and its lines.
pub struct Text<'a> {
    path: &'a str,
    source: &'a str,
    lines: LineIndex,
}

impl<'a> Text<'a> {
    /// The text `source` of the file `path`.
    pub fn new(path: &'a str, source: &'a str) -> Self {
        Self { path, source, lines: LineIndex::new(source) }
    }

    /// The lines that hold `range`, with it underlined. Only these lines go to the renderer, which
    /// reads all it is given: files of compilers are long.
    fn snippet(&self, range: Range<usize>, label: Option<&'a str>) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let floor = |at: usize| (0..=at.min(self.source.len())).rev().find(|i| self.source.is_char_boundary(*i));
        let start = floor(range.start).unwrap_or(0);
        let end = floor(range.end).unwrap_or(0).max(start);
        let from = self.source[..start].rfind('\n').map_or(0, |i| i + 1);
        let to = self.source[end..].find('\n').map_or(self.source.len(), |i| end + i);
        let annotation = AnnotationKind::Primary.span(start - from..end - from).label(label);
        Snippet::source(&self.source[from..to])
            .path(self.path)
            .line_start(self.lines.line(u32::try_from(start).unwrap_or(u32::MAX)) as usize)
            .annotation(annotation)
    }

    /// A diagnostic.
    pub fn diagnostic(&self, d: &Diagnostic) -> String {
        let level = match d.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let snippet = self.snippet(d.span.range(), d.label.as_deref());
        let group = level.primary_title(d.message.as_str()).id(d.code.as_str()).element(snippet);
        render(group, d.help.as_deref().map(|help| Level::HELP.message(help).into()))
    }

    /// A problem that points into this text.
    fn problem(&self, problem: &Problem) -> String {
        let title = Level::ERROR.primary_title(problem.message.as_str());
        let help = problem.help.as_deref().map(|help| Level::HELP.message(help).into());
        match &problem.at {
            Some(at) => render(title.element(self.snippet(at.clone(), None)), help),
            None => render(title.elements(std::iter::empty::<Element<'_>>()), help),
        }
    }

    /// A fault of a kernel of `module`, whose text this is.
    pub fn fault(&self, fault: &Fault, module: &Module) -> String {
        self.access(Level::ERROR, "fault", fault, module, None)
    }

    /// A place that read outside of memory, in a launch that continued.
    pub fn outside_read(&self, read: &OutsideRead, module: &Module) -> String {
        let count = crate::out::grouped(read.count);
        let more = match read.count {
            1 => "the read returned zero, and the launch continued".to_owned(),
            _ => format!("{count} reads here in this launch were outside; they returned zero and the launch continued"),
        };
        self.access(Level::WARNING, "outside-read", &read.first, module, Some(more))
    }

    fn access(&self, level: Level<'_>, id: &str, fault: &Fault, module: &Module, more: Option<String>) -> String {
        let text = fault.kind.to_string();
        let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let thread = fault.thread.map_or_else(|| "here".to_owned(), |t| t.to_string());
        let title = level.primary_title(title).id(id);
        let mut notes: Vec<String> = Vec::new();
        let at = fault.at.and_then(|(f, i)| Some((f, i, module.func(f).insts.get(i.index())?)));
        let group = match at {
            None => {
                notes.extend(fault.thread.map(|t| format!("in {t}")));
                title.elements(std::iter::empty::<Element<'_>>())
            }
            Some((func, id, inst)) => {
                notes.push(format!("at instruction {} of `{}`", id.0, module.func(func).name));
                notes.extend(inst.loc.map(|loc| {
                    let file = module.file(loc.file).unwrap_or("?");
                    format!("compiled from {file}:{}:{}", loc.line, loc.column)
                }));
                title.element(self.snippet(inst.span.range(), Some(&thread)))
            }
        };
        if !rest.is_empty() {
            notes.push(rest.to_owned());
        }
        notes.extend(more);
        let help = match fault.kind {
            FaultKind::InstructionLimit(_) => Some("raise the limit with --max-insts"),
            _ => None,
        };
        let elements = notes.iter().map(|n| Level::NOTE.message(n.as_str()).into());
        render(group, elements.chain(help.map(|h| Level::HELP.message(h).into())))
    }
}

fn render<'a>(group: Group<'a>, more: impl IntoIterator<Item = Element<'a>>) -> String {
    Renderer::styled().render(&[group.elements(more)])
}

/// An error without a place.
fn plain(message: &str, help: Option<&str>) -> String {
    let problem = Problem { message: message.to_owned(), help: help.map(str::to_owned), at: None };
    Text::new("", "").problem(&problem)
}

/// Why a launch stopped: a title with notes under it.
pub fn stopped(id: &str, title: &str, notes: &[String], help: Option<&str>) -> String {
    let group = Level::ERROR.primary_title(title).id(id).elements(std::iter::empty::<Element<'_>>());
    let notes = notes.iter().map(|n| Level::NOTE.message(n.as_str()).into());
    render(group, notes.chain(help.map(|h| Level::HELP.message(h).into())))
}

/// What a failed command says; nothing when nobody listens any more.
pub fn failure(failure: &Failure) -> Option<String> {
    Some(match failure {
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
        Failure::Output(error) => plain(&format!("cannot write the output: {error}"), None),
        Failure::Runtime { error: Error::Problem(problem), file: Some(file) } => {
            Text::new(&file.0, &file.1).problem(problem)
        }
        Failure::Runtime { error: Error::Problem(problem), .. } => plain(&problem.message, problem.help.as_deref()),
        Failure::Runtime { error: Error::Ptx { path, source_text, diagnostics }, .. } => {
            let text = Text::new(path, source_text);
            let mut parts: Vec<String> = diagnostics.iter().map(|d| text.diagnostic(d)).collect();
            let errors = diagnostics.iter().filter(|d| d.is_error()).count();
            parts.push(plain(&format!("{path} has {}", crate::out::count(errors, "error")), None));
            parts.join("\n\n")
        }
        Failure::Runtime { error, .. } => plain(&error.to_string(), None),
        Failure::Machine { problems, file } => {
            let file = file.as_deref().map(|(path, text)| Text::new(path, text));
            let parts: Vec<String> = problems.iter().map(|problem| machine(problem, file.as_ref())).collect();
            parts.join("\n\n")
        }
    })
}

/// A problem of a machine, with its place in the file if that is where it comes from.
fn machine(problem: &config::Problem, file: Option<&Text<'_>>) -> String {
    match (&problem.origin, file) {
        (Some(config::Origin::File { span, .. }), Some(file)) => {
            let (message, help) = (problem.message.clone(), problem.help.clone());
            file.problem(&Problem { message, help, at: Some(span.clone()) })
        }
        (Some(config::Origin::Set(text)), _) => {
            plain(&format!("--set {text}: {}", problem.message), problem.help.as_deref())
        }
        (Some(config::Origin::Option(name)), _) => {
            plain(&format!("{name}: {}", problem.message), problem.help.as_deref())
        }
        _ => plain(&problem.message, problem.help.as_deref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAXPY: &str = include_str!("../../../examples/saxpy.ptx");

    #[test]
    fn whatever_a_file_ends_in_can_be_rendered() {
        for end in (0..SAXPY.len()).filter(|i| SAXPY.is_char_boundary(*i)) {
            for tail in ["", "é", "\t\"", "{\r\n"] {
                let source = format!("{}{tail}", &SAXPY[..end]);
                let text = Text::new("a.ptx", &source);
                let (_, diagnostics) = raddle_ptx::load(&source);
                diagnostics.iter().for_each(|d| assert!(text.diagnostic(d).contains("a.ptx:")));
            }
        }
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        let text = Text::new("a", "é\n");
        for at in [0..0, 1..2, 0..9, 7..9, 3..3] {
            text.problem(&Problem::new("x").at(Some(at)));
        }
    }
}
