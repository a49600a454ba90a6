//! Licences, sources and known holes of dependencies, by `cargo deny`.

use crate::Result;
use crate::files::{cargo, run_cargo};

/// Checks licences and sources by `deny.toml`, and advisories where their database can be fetched.
pub fn run() -> Result {
    if !cargo(&["deny", "--version"]).output()?.status.success() {
        return Err("cargo-deny is not there: install it with `cargo install cargo-deny`".into());
    }
    run_cargo(&["deny", "--locked", "check", "licenses", "bans", "sources"])?;
    if !cargo(&["deny", "--locked", "fetch", "db"]).output()?.status.success() {
        println!("deny: ADVISORIES WERE NOT CHECKED: their database cannot be fetched from here");
        return Ok(());
    }
    run_cargo(&["deny", "--locked", "check", "--disable-fetch", "advisories"])
}
