//! The format of the code, also of the files that `cargo fmt` does not see because a macro names them.

use std::process::Command;

use crate::Result;
use crate::files::{paths, root, run_cargo};

/// Folders of files that a macro names.
const NAMED_BY_MACROS: [&str; 2] = ["crates/mech/src/", "crates/workloads/suite/"];

/// Formats everything or, with `check`, fails where something is not formatted.
pub fn run(check: bool) -> Result {
    let check: &[&str] = if check { &["--check"] } else { &[] };
    run_cargo(&[&["fmt", "--all"], check].concat())?;
    let is_named = |path: &String| path.ends_with(".rs") && NAMED_BY_MACROS.iter().any(|f| path.starts_with(f));
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024"]).args(check).current_dir(root());
    let status = command.args(paths()?.into_iter().filter(is_named)).status()?;
    if status.success() { Ok(()) } else { Err("not formatted: `cargo xtask fmt` does it".into()) }
}
