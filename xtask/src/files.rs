//! The files of the repository and what is wrong with them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::Result;

/// The top folder of the workspace.
///
/// Cargo says at run time where this crate is; what it said at compile time may be another clone of the repository, if
/// the two share a folder for build output.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR");
        let mut root = PathBuf::from(xtask.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()));
        root.pop();
        root
    });
    &ROOT
}

/// The folder of build output.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

/// A `cargo` command that runs in the top folder with nothing on its standard input.
pub fn cargo(args: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs `cargo` with `args` and turns a bad exit status into an error.
pub fn run_cargo(args: &[&str]) -> Result {
    run_command(&mut cargo(args))
}

/// Runs a command made by [`cargo`] and turns a bad exit status into an error.
pub fn run_command(command: &mut Command) -> Result {
    let status = command.status()?;
    if status.success() {
        return Ok(());
    }
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    Err(format!("`{program} {}` ended with {status}", args.join(" ")).into())
}

/// A text file of the repository.
pub struct TextFile {
    /// Path from the top folder, with forward slashes.
    pub path: String,
    /// The whole content.
    pub text: String,
}

impl TextFile {
    /// Whether the file's name ends in `.ext`.
    pub fn has_extension(&self, ext: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == ext)
    }
}

/// Every text file that git tracks or would track, sorted by path. Binary files are left out.
pub fn text_files() -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    for path in paths()? {
        let bytes = std::fs::read(root().join(&path))?;
        if bytes.contains(&0) {
            continue;
        }
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path, text });
        }
    }
    Ok(files)
}

/// Every path that git tracks or would track and that exists as a file, sorted.
pub fn paths() -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err("`git ls-files` failed".into());
    }
    let mut paths: Vec<String> = String::from_utf8(output.stdout)?
        .split_terminator('\0')
        .filter(|path| root().join(path).is_file())
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The sub-folders of `crates/`, sorted.
pub fn crate_folders() -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root().join("crates"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// One broken rule, at one place.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    /// A finding at `line` of `path`, counted from 1.
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Prints the findings of a check; fails if there are any.
pub fn report(check: &str, checked: usize, findings: &[Finding]) -> Result {
    for finding in findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("{check}: {checked} files, nothing to complain about");
            Ok(())
        }
        n => Err(format!("{check}: {n} findings").into()),
    }
}

/// Findings as text, one a line, for tests.
#[cfg(test)]
pub fn render(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
