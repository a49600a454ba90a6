//! Virtual environments of Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::files::run_command;

/// Python with the packages of a requirements file, installed in a folder of its own at first use.
pub fn with(folder: &Path, requirements: &Path) -> Result<PathBuf> {
    let needs = fs::read_to_string(requirements)?;
    let (python, mark) = (folder.join("bin/python"), folder.join("installed"));
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == needs) {
        return Ok(python);
    }
    let python = empty(folder)?;
    install(&python, &["-r".as_ref(), requirements])?;
    fs::write(&mark, needs)?;
    Ok(python)
}

/// Python with nothing, in a folder whose contents are deleted.
pub fn empty(folder: &Path) -> Result<PathBuf> {
    run_command(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    Ok(folder.join("bin/python"))
}

/// Installs packages with pip.
pub fn install(python: &Path, what: &[&Path]) -> Result {
    let mut command = Command::new(python);
    run_command(command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(what))
}
