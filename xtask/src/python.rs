//! The Python package: built, installed into an empty environment, typed, tested, and shown by notebooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;
use crate::files::{root, run_cargo, run_command, target};
use crate::install::embedded_library;
use crate::sample::Sample;
use crate::venv;

/// What the tests need, the builder of wheels among it.
const NEEDS: &str = "crates/py/tests/requirements.txt";

/// The chapter whose blocks of Python are run.
const CHAPTER: &str = "docs/src/guide/python.md";

/// Notebooks, and where the book shows them.
const NOTEBOOKS: &str = "examples/notebooks";
const PAGES: &str = "docs/src/notebooks";

/// What an installation and the chapter, and each notebook, may take on a machine as slow as those of CI.
const FIRST_RESULT: Duration = Duration::from_secs(120);
const NOTEBOOK: Duration = Duration::from_secs(180);

/// The options of `cargo xtask python`.
#[derive(clap::Args)]
pub struct Args {
    /// Run the notebooks, and write the pages that show them
    #[arg(long)]
    write_notebooks: bool,
    /// Measure launches and sweeps with a build as it is released, for the chapter
    #[arg(long)]
    measure: bool,
}

/// How many notebooks a commit runs.
const NOTEBOOKS_OF_A_COMMIT: usize = 1;

/// What the options say, or the check with all notebooks.
pub fn run(args: &Args) -> Result {
    if args.measure || args.write_notebooks { write(args) } else { check(&Sample::Complete) }
}

/// Measures, or writes the pages of the notebooks.
fn write(args: &Args) -> Result {
    let (tools, _) = installed(args.measure)?;
    if args.measure {
        run_cargo(&["build", "--profile", "dist", "--quiet", "--locked", "-p", "raddle-cli"])?;
        let program = target().join("dist/raddle");
        return run_command(Command::new(&tools).arg(root().join("crates/py/tests/measure.py")).arg(program));
    }
    write_pages(&tools)
}

/// The step of CI.
pub fn check(sample: &Sample) -> Result {
    let (tools, wheel) = installed(false)?;
    check_pages()?;
    follow(&folder(), &wheel)?;
    check_types(&tools)?;
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cli"])?;
    run_tests(&tools)?;
    run_notebooks(&tools, sample)
}

fn folder() -> PathBuf {
    target().join("python")
}

/// An environment with all tools and the wheel, and the wheel.
fn installed(is_final: bool) -> Result<(PathBuf, PathBuf)> {
    fs::create_dir_all(folder())?;
    let tools = venv::with(&folder().join("tools"), &root().join(NEEDS))?;
    let wheel = wheel(&tools, &folder(), is_final)?;
    install_again(&tools, &wheel)?;
    Ok((tools, wheel))
}

/// Builds the wheel, with the library for CUDA programs inside.
fn wheel(tools: &Path, folder: &Path, is_final: bool) -> Result<PathBuf> {
    let wheels = folder.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let mut build = Command::new(tools);
    build.args(["-m", "maturin", "build", "--quiet", "--locked", "--compatibility", "linux"]);
    build.args(["--profile", if is_final { "dist" } else { "dev" }, "--out"]).arg(&wheels);
    build.arg("--manifest-path").arg(root().join("crates/py/Cargo.toml"));
    run_command(build.env("RADDLE_EMBED_CUDART", embedded_library()?).env("CARGO_TARGET_DIR", target()))?;
    let mut made = fs::read_dir(&wheels)?;
    let wheel = made.next().ok_or("maturin made no wheel")??.path();
    println!("python: {} has {} MB", wheel.display(), fs::metadata(&wheel)?.len() >> 20);
    Ok(wheel)
}

/// Installs the wheel where an older one of the same version may be.
fn install_again(python: &Path, wheel: &Path) -> Result {
    venv::install(python, &["--force-reinstall".as_ref(), "--no-deps".as_ref(), wheel])
}

/// Installs the wheel into an empty environment, away from the clone, and runs what the chapter shows.
fn follow(folder: &Path, wheel: &Path) -> Result {
    let start = Instant::now();
    let python = venv::empty(&folder.join("empty"))?;
    venv::install(&python, &[wheel])?;
    let program = folder.join("chapter.py");
    fs::write(&program, blocks(&fs::read_to_string(root().join(CHAPTER))?).join("\n"))?;
    run_command(Command::new(&python).arg(&program).current_dir(folder))?;
    let command = python.with_file_name("raddle");
    run_command(Command::new(command).args(["run", "bfs", "--size", "tiny", "--quiet"]).current_dir(folder))?;
    let took = start.elapsed();
    println!("python: installed, and {CHAPTER} followed, in {:.1} s", took.as_secs_f64());
    if took > FIRST_RESULT {
        return Err(format!("installing the package and following {CHAPTER} took {} s", took.as_secs()).into());
    }
    Ok(())
}

/// The blocks of Python of a page.
fn blocks(page: &str) -> Vec<&str> {
    let parts = page.split("\n```python\n").skip(1);
    parts.filter_map(|part| part.split("\n```").next()).collect()
}

/// The types of the package, and whether those of the native module are what it has.
fn check_types(tools: &Path) -> Result {
    let mut mypy = Command::new(tools);
    run_command(mypy.args(["-m", "mypy", "--config-file", "pyproject.toml"]).current_dir(root().join("crates/py")))?;
    run_command(Command::new(tools).args(["-m", "mypy.stubtest", "raddle._raddle"]).current_dir(target()))
}

fn run_tests(tools: &Path) -> Result {
    let mut pytest = Command::new(tools);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"]);
    run_command(pytest.env("RADDLE", target().join("debug/raddle")).current_dir(root().join("crates/py")))
}

fn notebooks() -> Result<Vec<PathBuf>> {
    let entries: std::io::Result<Vec<PathBuf>> =
        fs::read_dir(root().join(NOTEBOOKS))?.map(|entry| Ok(entry?.path())).collect();
    let mut found: Vec<PathBuf> =
        entries?.into_iter().filter(|p| p.extension().is_some_and(|e| e == "ipynb")).collect();
    found.sort();
    Ok(found)
}

fn run_notebooks(tools: &Path, sample: &Sample) -> Result {
    for notebook in sample.choose("notebooks", &notebooks()?, NOTEBOOKS_OF_A_COMMIT) {
        let start = Instant::now();
        let mut pytest = Command::new(tools);
        pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbmake", "--nbmake-timeout=300"]);
        run_command(pytest.arg(&notebook).current_dir(target()))?;
        let (name, took) = (notebook.file_name().unwrap_or_default().to_string_lossy(), start.elapsed());
        println!("python: {name} ran in {:.1} s", took.as_secs_f64());
        if took > NOTEBOOK {
            return Err(format!("{name} took {} s", took.as_secs()).into());
        }
    }
    Ok(())
}

/// Runs the notebooks and writes the pages of the book with what they print.
fn write_pages(tools: &Path) -> Result {
    let pages = root().join(PAGES);
    let executed = target().join("python/notebooks");
    for notebook in notebooks()? {
        let name = notebook.file_name().unwrap_or_default();
        convert(tools, &notebook, &["notebook", "--execute"], &executed)?;
        // What one cell prints in several pieces is one output.
        convert(tools, &executed.join(name), &["markdown", "--CoalesceStreamsPreprocessor.enabled=True"], &pages)?;
    }
    let mut tidy = Command::new(tools);
    run_command(tidy.arg(root().join("crates/py/tests/pages.py")).arg(&pages))
}

/// Calls nbconvert with a format and options.
fn convert(tools: &Path, notebook: &Path, to: &[&str], folder: &Path) -> Result {
    let mut convert = Command::new(tools);
    convert.args(["-m", "nbconvert", "--log-level", "ERROR", "--to"]).args(to).arg("--output-dir").arg(folder);
    run_command(convert.arg(notebook).current_dir(root().join(NOTEBOOKS)))
}

/// The text of a cell.
fn text(cell: &Value) -> String {
    let lines = cell["source"].as_array().map(Vec::as_slice).unwrap_or_default();
    lines.iter().filter_map(Value::as_str).collect()
}

/// Whether the pages have every cell of their notebooks.
fn check_pages() -> Result {
    for notebook in notebooks()? {
        let name = notebook.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let page = fs::read_to_string(root().join(PAGES).join(format!("{name}.md")))?;
        let cells: Value = serde_json::from_str(&fs::read_to_string(&notebook)?)?;
        for cell in cells["cells"].as_array().map(Vec::as_slice).unwrap_or_default() {
            if !page.contains(text(cell).trim()) {
                let text = text(cell);
                return Err(format!(
                    "{PAGES}/{name}.md lacks a cell of its notebook: {}\nwrite it with: cargo xtask python --write-notebooks",
                    text.lines().next().unwrap_or_default()
                )
                .into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_followed_block_by_block() {
        let page = "text\n\n```python\na = 1\nb\n```\n\n```text\n$ x\n```\n\n```python\nc\n```\n";
        assert_eq!(blocks(page), ["a = 1\nb", "c"]);
    }
}
