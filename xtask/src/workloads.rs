//! The workloads: their PTX, their results, and the page that says how to add one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::files::{cargo, root, run_cargo, run_command};

/// The page whose example is tried.
const PAGE: &str = "docs/src/contributing/add-a-workload.md";
/// The workload of the example.
const EXAMPLE: &str = "saxpy";

/// Everything CI checks about workloads.
pub fn run() -> Result {
    raddle(&["workloads", "build"])?;
    check("tiny")?;
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
    let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
    fs::write(copy.join("Cargo.toml"), alone(&workspace, root()))?;
    for name in ["Cargo.lock", "rust-toolchain.toml"] {
        fs::copy(root().join(name), copy.join(name))?;
    }
    for (path, text) in &files {
        let path = copy.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    // The program itself, because cargo would not find its configuration from there and build all anew.
    let program = target.join("debug/raddle");
    let status = Command::new(program).args(["workloads", "build", EXAMPLE, "--write"]).current_dir(&copy).status()?;
    if !status.success() {
        return Err(format!("the kernels of the example do not compile: {status}").into());
    }
    let list = copy.join("crates/workloads/src/suite.rs");
    fs::write(&list, with_line(&fs::read_to_string(&list)?, &line)?)?;
    let mut tests = cargo(&["test", "--quiet", "-p", "raddle-workloads", "--test", "suite"]);
    tests.arg("--manifest-path").arg(copy.join("Cargo.toml")).arg("--target-dir").arg(&target);
    run_command(&mut tests)?;
    println!("suite: the example of {PAGE} works");
    Ok(())
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

/// The manifest of a workspace that has only the workloads and takes everything else from `root`.
fn alone(workspace: &str, root: &Path) -> String {
    let elsewhere = format!("path = \"{}/crates/", root.display());
    let line = |line: &str| match line {
        _ if line.starts_with("members") => "members = [\"crates/workloads\"]".to_owned(),
        _ if line.starts_with("exclude") || line.starts_with("raddle-workloads") => String::new(),
        _ => line.replace("path = \"crates/", &elsewhere),
    };
    workspace.lines().map(|l| line(l) + "\n").collect()
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

    #[test]
    fn a_workspace_takes_the_rest_from_elsewhere() {
        let workspace = "members = [\"crates/*\"]\nraddle-ptx = { path = \"crates/ptx\" }\nclap = \"4\"\n";
        let want = "members = [\"crates/workloads\"]\nraddle-ptx = { path = \"/r/crates/ptx\" }\nclap = \"4\"\n";
        assert_eq!(alone(workspace, Path::new("/r")), want);
    }
}
