//! Device code alone: every file with kernels compiled to PTX, and the PTX checked. Says more about headers and PTX than whole
//! programs do, since one file that does not compile takes no others with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::known::{self, SUITES};
use super::{Args, Tried};
use crate::Result;

/// What became of the files of one suite.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    pub suite: String,
    pub every: usize,
    pub files: usize,
    pub no_library: usize,
    pub not_compiled: usize,
    pub refused: usize,
    pub passed: usize,
    /// Files that do not compile or are refused, and why.
    pub problems: Vec<(String, String)>,
}

/// Files with kernels below a folder, by name.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = folder.read_dir().into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "cu") {
            let text = fs::read(&path).unwrap_or_default();
            if String::from_utf8_lossy(&text).contains("__global__") && !is_part(&path) {
                found.push(path);
            }
        }
    }
}

/// Whether another file, beside it or in a folder above or beside that, includes this one: it is compiled with that.
fn is_part(file: &Path) -> bool {
    let (Some(name), Some(folder)) = (file.file_name().map(|name| name.to_string_lossy()), file.parent()) else {
        return false;
    };
    let above = folder.parent().unwrap_or(folder);
    let beside = above.read_dir().into_iter().flatten().flatten().map(|e| e.path()).filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = beside.collect();
    // Folders of one program, and not those of all programs.
    if folders.len() > 12 {
        folders = vec![folder.to_owned()];
    }
    folders.push(above.to_owned());
    let names = folders.into_iter().flat_map(|folder| {
        known::files(&folder, &[".cu", ".c", ".cpp", ".cuh", ".h"]).into_iter().map(move |name| folder.join(name))
    });
    let includes = |path: PathBuf| {
        let text = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let ends = [format!("\"{name}\""), format!("/{name}\""), format!("<{name}>")];
        path != file
            && text.lines().any(|line| line.contains("#include") && ends.iter().any(|end| line.contains(end.as_str())))
    };
    names.into_iter().any(includes)
}

/// Compiles and checks the files of the suites that are asked for; those of the larger ones are sampled.
pub(super) fn run(args: &Args, tried: &Tried) -> Result<Vec<Counts>> {
    let mut all = Vec::new();
    for suite in SUITES.iter().filter(|suite| args.only.is_empty() || args.only.iter().any(|only| only == suite.name)) {
        let top = suite.top(&args.folder);
        let mut files = Vec::new();
        sources(&top, &mut files);
        if suite.name == "HeCBench" {
            files.retain(|file| file.parent().is_some_and(|parent| parent.to_string_lossy().contains("-cuda")));
        }
        let mut counts = Counts { suite: suite.name.to_owned(), every: suite.sample, ..Counts::default() };
        for file in files.iter().step_by(suite.sample) {
            counts.files += 1;
            let name = file.strip_prefix(&args.folder).unwrap_or(file).display().to_string();
            let verdict = one(tried, suite.includes, file)?;
            println!("{name}: {}", verdict.as_ref().map_or_else(|(_, why)| why.as_str(), |()| "passes"));
            match verdict {
                Ok(()) => counts.passed += 1,
                Err((Stage::NoLibrary, _)) => counts.no_library += 1,
                Err((stage, why)) => {
                    *(if stage == Stage::Compile { &mut counts.not_compiled } else { &mut counts.refused }) += 1;
                    counts.problems.push((name, why));
                }
            }
        }
        all.push(counts);
    }
    Ok(all)
}

/// Where a file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    NoLibrary,
    Compile,
    Check,
}

fn one(tried: &Tried, includes: &str, file: &Path) -> Result<std::result::Result<(), (Stage, String)>> {
    let folder = file.parent().unwrap_or(file);
    // The names of the library that these compare themselves with are in the toolkit.
    let has_names = folder.ends_with("llm.c/dev/cuda");
    if let (false, Some(library)) = (has_names, known::missing_header(file)) {
        return Ok(Err((Stage::NoLibrary, library)));
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let ptx = std::env::temp_dir().join(format!("raddle-device-{}.ptx", std::process::id()));
    let output = ptx.display();
    let limit = Duration::from_secs(120);
    let line = format!("nvcc -w -ptx -I. -I.. {includes} '{name}' -o {output}");
    let compiled = tried.shell(folder, &line, "fast", limit)?;
    if compiled.code != Some(0) {
        let why = known::first_error(&compiled.text);
        // Headers include others.
        let missing = why.split_once("fatal error: '").filter(|(_, header)| known::is_missing(header));
        let stage = if missing.is_some() { Stage::NoLibrary } else { Stage::Compile };
        return Ok(Err((stage, why)));
    }
    let checked = tried.shell(folder, &format!("{} ptx check {output}", tried.raddle.display()), "fast", limit)?;
    let _ = fs::remove_file(&ptx);
    Ok(match checked.code {
        Some(0) => Ok(()),
        _ => Err((Stage::Check, known::first_error(&checked.text))),
    })
}
