//! `raddle ptx link`.

use crate::exit::{Exit, Failure};
use crate::out;
use raddle_ptx::link::link;
use raddle_runtime::{Problem, PtxFile};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// PTX files; of several weak definitions, the first one counts
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File to write instead of stdout
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let files = args.files.iter().map(|path| PtxFile::read(path).map(|file| (file.path, file.source)));
    let files: Vec<(String, String)> = files.collect::<Result<_, _>>()?;
    let text = link(&files).map_err(|error| Problem::new(error.to_string()))?;
    match &args.output {
        None => out::data(&text)?,
        Some(path) => out::file(path, &text)?,
    }
    Ok(Exit::Good)
}
