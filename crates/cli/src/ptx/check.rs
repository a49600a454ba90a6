//! `raddle ptx check`.

use super::read_text;
use crate::exit::{Exit, Failure};
use crate::out::{self, count};
use crate::render::Text;
use raddle_ptx::Diagnostic;
use raddle_ptx::diag::Severity;
use raddle_ptx::source::LineIndex;
use serde::Serialize;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// PTX files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print one JSON object per diagnostic
    #[arg(long)]
    json: bool,
}

/// A diagnostic for machines. Lines and columns count from 1, columns in characters.
#[derive(Serialize)]
struct Record<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    label: Option<&'a str>,
    help: Option<&'a str>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let (mut errors, mut warnings, mut kernels) = (0, 0, 0);
    for path in &args.files {
        let source = read_text(path)?;
        let (module, diagnostics) = raddle_ptx::load(&source);
        let name = path.display().to_string();
        let text = Text::new(&name, &source);
        let lines = LineIndex::new(&source);
        for d in &diagnostics {
            if args.json {
                out::json(&record(&name, &source, &lines, d))?;
            } else {
                out::talk(&(text.diagnostic(d) + "\n"));
            }
        }
        let bad = diagnostics.iter().filter(|d| d.is_error()).count();
        errors += bad;
        warnings += diagnostics.len() - bad;
        kernels += module.kernels().count();
    }
    if !args.json {
        let (files, kernels) = (count(args.files.len(), "file"), count(kernels, "kernel"));
        out::talk(&format!("{files}, {kernels}: {}, {}", count(errors, "error"), count(warnings, "warning")));
    }
    Ok(Exit::good_if(errors == 0))
}

fn record<'a>(file: &'a str, source: &str, lines: &LineIndex, d: &'a Diagnostic) -> Record<'a> {
    let (start, end) = (lines.line_col(source, d.span.start), lines.line_col(source, d.span.end));
    Record {
        file,
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        severity: match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: d.code.as_str(),
        message: &d.message,
        label: d.label.as_deref(),
        help: d.help.as_deref(),
    }
}
