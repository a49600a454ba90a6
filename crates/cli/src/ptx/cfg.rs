//! `raddle ptx cfg`.

use crate::exit::{Exit, Failure};
use crate::out;
use clap::ValueEnum;
use raddle_ptx::analysis;
use raddle_runtime::{Error, Problem, PtxFile};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Args {
    /// PTX file
    file: PathBuf,
    /// Kernel or function to draw; may be left out if the file has only one kernel
    #[arg(long, short, value_name = "NAME")]
    kernel: Option<String>,
    /// Format of the output; svg needs Graphviz's `dot` [default: by the ending of OUT, otherwise dot]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write instead of stdout
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Graphviz's language
    Dot,
    /// A picture
    Svg,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let file = PtxFile::read(&args.file)?;
    let wanted = args.kernel.as_deref();
    let defined = wanted.and_then(|name| file.module.functions.iter().find(|f| f.name == name && f.is_defined));
    let function = match defined {
        Some(function) => function,
        None => {
            let name = file.kernel(wanted)?;
            let id = file.module.function(name).ok_or_else(|| Problem::new(format!("there is no kernel `{name}`")))?;
            file.module.func(id)
        }
    };
    let format = args.format.map_or_else(|| format_of(args.output.as_deref()), Ok)?;
    let mut text = analysis::dot(&file.module, function, &file.source);
    if format == Format::Svg {
        text = draw(&text)?;
    }
    match &args.output {
        None => out::data(&text)?,
        Some(path) => write(path, &text)?,
    }
    Ok(Exit::Good)
}

/// The format that a file's name asks for.
fn format_of(output: Option<&Path>) -> Result<Format, Problem> {
    let Some(path) = output else { return Ok(Format::Dot) };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("dot" | "gv") => Ok(Format::Dot),
        _ => Err(Problem::new(format!("it is not clear what format {} should have", path.display()))
            .help("end its name in .svg, .dot or .gv, or use --format")),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    out::file(path, text)?;
    out::talk(&format!("wrote {}", path.display()));
    Ok(())
}

/// Has Graphviz draw a graph.
fn draw(graph: &str) -> Result<String, Problem> {
    let child = Command::new("dot").arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::new("an svg needs the program `dot` of Graphviz, which is not installed")
            .help("install graphviz, or write the graph itself with --format dot"),
        _ => Problem::new(format!("cannot start `dot` of Graphviz: {error}")),
    })?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // Written from another thread, so that neither side waits for the other to read.
        scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(graph.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(|error| Problem::new(format!("`dot` of Graphviz failed: {error}")))?;
    if !output.status.success() {
        return Err(Problem::new(format!("`dot` of Graphviz failed ({})", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
