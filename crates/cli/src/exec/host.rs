//! Programs of the user as workloads: how they are compiled and started. What they are is in `raddle_lab::program_file`.

use super::{command, library, refuse_static};
use crate::run::cuda;
use raddle_cuda::clang::Clang;
use raddle_cuda::{compile_options, nvcc, toolkit};
use raddle_lab::experiment::Loaders;
use raddle_lab::program_file::{ALLOW_VARIABLE, Built, Host};
use raddle_runtime::{Problem, input};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Those who know what launch files and program files name; programs are run if the user has allowed them.
pub const fn loaders(is_allowed: bool) -> Loaders {
    Loaders { module: cuda::module, host: Host { is_allowed, check: compile_options::check, build, command: start } }
}

/// Whether programs that files name may be run.
#[derive(clap::Args)]
pub struct AllowArgs {
    /// Compile and run the programs that program files name; they have your rights
    #[arg(long)]
    allow_programs: bool,
}

impl AllowArgs {
    /// What may be run.
    pub fn loaders(&self) -> Loaders {
        loaders(self.is_allowed())
    }

    /// By the option, or by the variable.
    pub fn is_allowed(&self) -> bool {
        self.allow_programs || std::env::var_os(ALLOW_VARIABLE).is_some_and(|value| value == "1")
    }
}

/// The command that starts a program, if it can run here.
fn start(program: &Path, options: &[String]) -> Result<Command, Problem> {
    refuse_static(program)?;
    command(program, options)
}

/// Compiles a program, unless the same one has been compiled before.
fn build(sources: &[PathBuf], options: &[String]) -> Result<Built, Problem> {
    let sources = &sources.iter().map(|source| plain(source)).collect::<Vec<_>>()[..];
    let clang = Clang::find()?;
    let mut files = Vec::new();
    for source in sources {
        files.extend(read_by(&clang, source, options)?);
    }
    files.sort();
    files.dedup();
    let compiler = format!("clang {}, headers {}", clang.version, toolkit::version());
    let folder = toolkit::cache()?.join("programs").join(name(&files, sources, options, &clang)?);
    let program = folder.join("program");
    if !program.is_file() {
        compile(sources, options, &folder)?;
    }
    Ok(Built { program, files, compiler })
}

/// A path that the compiler takes neither for an option nor for a file of options.
fn plain(path: &Path) -> PathBuf {
    let is_odd = path.to_string_lossy().starts_with(['-', '@']);
    if is_odd { Path::new(".").join(path) } else { path.to_owned() }
}

/// The name under which a program is kept: whatever changes it makes another one.
fn name(files: &[PathBuf], sources: &[PathBuf], options: &[String], clang: &Clang) -> Result<String, Problem> {
    let mut all = format!("{clang:?} {sources:?} {options:?} {:?}", library::toolkit(clang)?).into_bytes();
    for path in files {
        let bytes = input::bytes(path, input::MAX_TEXT)
            .map_err(|error| Problem::new(format!("cannot read {}: {error}", path.display())))?;
        let about = format!("{} {}", path.display(), toolkit::digest(&bytes));
        all.extend(about.as_bytes());
    }
    Ok(toolkit::digest(&all))
}

/// A source and the files of the user that it includes.
fn read_by(clang: &Clang, source: &Path, options: &[String]) -> Result<Vec<PathBuf>, Problem> {
    let words = ["-MM".to_owned(), source.display().to_string()];
    let plan = nvcc::translate(&[&words, options].concat())?;
    let mut command = clang.command();
    command.arg(format!("--cuda-path={}", library::toolkit(clang)?.display()));
    command.args(["-Wno-unknown-cuda-version", "--cuda-host-only"]).args(plan.line());
    let cannot = |e| Problem::new(format!("cannot run {}: {e}", clang.path.display()));
    let output = command.output().map_err(cannot)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Problem::new(format!("{} does not compile:\n{}", source.display(), text.trim_end())));
    }
    Ok(of_rule(&String::from_utf8_lossy(&output.stdout)))
}

/// The files of a rule of make, `main.o: main.cu a\ b.h`.
fn of_rule(rule: &str) -> Vec<PathBuf> {
    let Some((_, files)) = rule.split_once(": ") else { return Vec::new() };
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut letters = files.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(' ' | '#' | '\\')) | ('$', Some('$')) => name.extend(letters.next()),
            ('\\', Some('\n')) | (' ' | '\n', _) => names.push(std::mem::take(&mut name)),
            _ => name.push(letter),
        }
    }
    names.push(name);
    names.into_iter().filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

/// Compiles sources with `raddle cc` into a folder.
fn compile(sources: &[PathBuf], options: &[String], folder: &Path) -> Result<(), Problem> {
    let new = folder.with_extension(std::process::id().to_string());
    let cannot = |e: std::io::Error| Problem::new(format!("cannot write {}: {e}", new.display()));
    std::fs::create_dir_all(&new).map_err(cannot)?;
    let program = library::program()?;
    let mut command = Command::new(&program);
    command.arg("cc").args(sources).args(options).arg("-o").arg(new.join("program"));
    let ended = command.output().map_err(|e| Problem::new(format!("cannot run {}: {e}", program.display())));
    let made = ended.and_then(|ended| {
        if !ended.status.success() {
            let names: Vec<String> = sources.iter().map(|source| source.display().to_string()).collect();
            let text = String::from_utf8_lossy(&ended.stderr).into_owned();
            return Err(Problem::new(format!("{} does not compile:\n{}", names.join(", "), text.trim_end())));
        }
        // Somebody else may have been faster.
        match std::fs::rename(&new, folder) {
            Err(_) if folder.join("program").is_file() => Ok(()),
            moved => moved.map_err(cannot),
        }
    });
    let _ = std::fs::remove_dir_all(&new);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sources_are_no_options() {
        let names = ["-oevil.cu", "@evil.cu", "a.cu", "/a/-o.cu"].map(|name| plain(Path::new(name)));
        assert_eq!(names, ["./-oevil.cu", "./@evil.cu", "a.cu", "/a/-o.cu"].map(PathBuf::from));
    }

    #[test]
    fn rules_of_make_are_read() {
        let files = of_rule("main.o: main.cu include/a.h \\\n  my\\ own.h cost$$.h\n");
        let names: Vec<_> = files.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(names, ["main.cu", "include/a.h", "my own.h", "cost$.h"]);
        assert!(of_rule("").is_empty());
    }
}
