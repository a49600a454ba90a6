//! The workloads: their PTX, their results, and the page that says how to add one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::files::{cargo, root, run_cargo};
use crate::workload_table;

/// The page whose example is tried.
const PAGE: &str = "docs/src/contributing/add-a-workload.md";
/// The workload of the example.
const EXAMPLE: &str = "saxpy";

/// Everything CI checks about workloads.
pub fn run() -> Result {
    raddle(&["workloads", "build"])?;
    check("tiny")?;
    workload_table::measure("small", true)?;
    try_page()
}

/// Runs every workload at a size and compares its results.
pub fn check(size: &str) -> Result {
    raddle(&["workloads", "check", "--size", size])
}

/// Checks the format of the drivers, which `cargo fmt` does not see because a macro names them.
pub fn fmt() -> Result {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--check"]).current_dir(root());
    for entry in fs::read_dir(root().join("crates/workloads/suite"))? {
        command.arg(entry?.path().join("driver.rs"));
    }
    let status = command.status()?;
    let advice = "rustfmt --edition 2024 crates/workloads/suite/*/driver.rs";
    if status.success() { Ok(()) } else { Err(format!("drivers are not formatted: {advice}").into()) }
}

/// Runs our program.
fn raddle(args: &[&str]) -> Result {
    let run = ["run", "--quiet", "--locked", "-p", "raddle-cli", "--"];
    run_cargo(&[&run[..], args].concat())
}

/// A file of the example: its path from the top folder, and its text.
type File = (String, String);

/// Does what the page says in a copy of the crate, in its order: files, PTX, the line, the tests.
fn try_page() -> Result {
    let page = fs::read_to_string(root().join(PAGE))?;
    let (files, line) = example(&page)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let copy = target.join("add-a-workload");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_folder(&root().join("crates/workloads"), &copy.join("crates/workloads"))?;
    for (path, text) in &files {
        let path = copy.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    let mut build = Command::new(target.join("debug/raddle"));
    succeed(build.args(["workloads", "build", EXAMPLE, "--write"]).current_dir(&copy))?;
    let list = copy.join("crates/workloads/src/suite.rs");
    fs::write(&list, with_line(&fs::read_to_string(&list)?, &line)?)?;
    test_copy(&copy.join("crates/workloads"), &target.join("debug/deps"))?;
    println!("suite: the example of {PAGE} works");
    Ok(())
}

/// Compiles a copy of the crate and runs its tests. Cargo would build all that the crate uses anew, because it is
/// elsewhere; the compiler takes what has been built.
fn test_copy(folder: &Path, deps: &Path) -> Result {
    let rustc = || {
        let mut command = Command::new("rustc");
        command.args(["--edition", "2024", "-Copt-level=1", "-L"]).arg(format!("dependency={}", deps.display()));
        command.args(["--out-dir", "."]).current_dir(folder);
        command
    };
    let used = ["raddle_ptx", "raddle_runtime", "serde", "thiserror", "toml"];
    let built = built(&used)?;
    let externs: Vec<String> = built.iter().map(|(name, path)| format!("--extern={name}={path}")).collect();
    succeed(rustc().args(["src/lib.rs", "--crate-type=rlib", "--crate-name=raddle_workloads"]).args(&externs))?;
    let own = "--extern=raddle_workloads=libraddle_workloads.rlib";
    succeed(rustc().args(["tests/suite.rs", "--test", "--crate-name=suite_tests", own]).args(&externs))?;
    succeed(Command::new(folder.join("suite_tests")).arg("--quiet").current_dir(folder))
}

/// The libraries of these names that our program was built from.
fn built(names: &[&str]) -> Result<Vec<(String, String)>> {
    let output = cargo(&["build", "--quiet", "--locked", "-p", "raddle-cli", "--message-format=json"]).output()?;
    let mut found = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let name = message["target"]["name"].as_str().unwrap_or_default().replace('-', "_");
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(|f| f.as_str());
        let library = files.into_iter().find(|f| f.ends_with(".rlib"));
        if let Some(path) = library.filter(|_| names.contains(&name.as_str())) {
            found.push((name, path.to_owned()));
        }
    }
    Ok(found)
}

/// Runs a program and turns a bad exit status into an error.
fn succeed(command: &mut Command) -> Result {
    let status = command.status()?;
    let program = command.get_program().to_string_lossy();
    if status.success() {
        Ok(())
    } else {
        Err(format!("the example of {PAGE}: `{program}` ended with {status}").into())
    }
}

/// The files and the line of the list on the page: every code block under a path in backticks and a colon.
fn example(page: &str) -> Result<(Vec<File>, String)> {
    let (mut files, mut line) = (Vec::new(), None);
    let mut path = None;
    let mut block: Option<String> = None;
    for text in page.lines() {
        match (&mut block, text.starts_with("```")) {
            (None, true) => block = Some(String::new()),
            (None, false) if text.ends_with("`:") => path = text.split('`').nth_back(1).map(str::to_owned),
            (None, false) => path = path.filter(|_| text.is_empty()),
            (Some(_), true) => match (path.take(), block.take()) {
                (Some(path), Some(text)) if path.ends_with("suite.rs") => line = Some(text),
                (Some(path), Some(text)) => files.push((path, text)),
                _ => {}
            },
            (Some(block), false) => *block += &format!("{text}\n"),
        }
    }
    let line = line.ok_or_else(|| format!("{PAGE} does not show the line of the list"))?;
    Ok((files, line))
}

/// The list of workloads with one more line, where it belongs by name.
fn with_line(list: &str, line: &str) -> Result<String> {
    let (head, rest) = list.split_once("workloads! {\n    ").ok_or("suite.rs has no list")?;
    let (lines, tail) = rest.split_once("\n}").ok_or("the list has no end")?;
    let mut lines: Vec<&str> = lines.lines().chain([line.trim_end()]).map(str::trim).collect();
    lines.sort_unstable();
    Ok(format!("{head}workloads! {{\n    {}\n}}{tail}", lines.join("\n    ")))
}

fn copy_folder(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_on_the_page() {
        let page = "1. The file `a/b.cu`:\n\n```cuda\nx\n```\n\nA line in `src/suite.rs`:\n\n```rust\n    b \"b\",\n```\n\
                    ```text\nnot a file\n```\n";
        let (files, line) = example(page).unwrap();
        assert_eq!(files, [("a/b.cu".to_owned(), "x\n".to_owned())]);
        assert_eq!(line, "    b \"b\",\n");
        let list = with_line("workloads! {\n    a \"a\",\n    c \"c\",\n}\nrest", &line).unwrap();
        assert_eq!(list, "workloads! {\n    a \"a\",\n    b \"b\",\n    c \"c\",\n}\nrest");
    }
}
