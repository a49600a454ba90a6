//! Licences and sources of dependencies, by `deny.toml`. `cargo deny`, which takes minutes to compile, checks the same and
//! known holes once a week.

use std::collections::BTreeSet;
use std::fs;

use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::Result;
use crate::files::{cargo, root};

/// Where crates come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What is read of `deny.toml`; everything else is for `cargo deny`.
#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
}

/// What is read of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for those of the workspace.
    source: Option<String>,
}

/// Checks every crate of `Cargo.lock`.
pub fn run() -> Result {
    let rules: Rules = toml::from_str(&fs::read_to_string(root().join("deny.toml"))?)?;
    let output = cargo(&["metadata", "--locked", "--format-version", "1"]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let wrong: Vec<String> = metadata.packages.iter().filter_map(|one| wrong(one, &rules.licenses.allow)).collect();
    if wrong.is_empty() {
        println!("deny: {} crates, licences and sources are allowed", metadata.packages.len());
        return Ok(());
    }
    Err(format!("deny: {}", wrong.join("\ndeny: ")).into())
}

/// What is wrong with a crate.
fn wrong(package: &Package, allowed: &BTreeSet<String>) -> Option<String> {
    let Package { name, version, license, source } = package;
    if let Some(source) = source.as_ref().filter(|source| *source != REGISTRY) {
        return Some(format!("{name} {version} comes from {source}"));
    }
    let Some(license) = license else { return Some(format!("{name} {version} names no licence")) };
    // With old names of licences, and the old way to write `OR`.
    let Ok(expression) = Expression::parse_mode(license, ParseMode::LAX) else {
        return Some(format!("{name} {version} has a licence that is no SPDX expression: {license}"));
    };
    let is_allowed = expression.evaluate(|required| allowed.contains(&required.to_string()));
    (!is_allowed).then(|| format!("{name} {version} has a licence that deny.toml does not allow: {license}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(license: Option<&str>, source: Option<&str>) -> String {
        let allowed = BTreeSet::from(["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned));
        let [license, source] = [license, source].map(|text| text.map(str::to_owned));
        let package = Package { name: "one".to_owned(), version: "1.0.0".to_owned(), license, source };
        wrong(&package, &allowed).unwrap_or_default()
    }

    #[test]
    fn licences_are_read_as_expressions() {
        for allowed in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR GPL-2.0) AND Zlib"] {
            assert_eq!(check(Some(allowed), Some(REGISTRY)), "");
        }
        assert_eq!(check(Some("Apache-2.0 WITH LLVM-exception OR GPL-2.0"), None), "");
        for refused in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0"] {
            assert!(check(Some(refused), Some(REGISTRY)).ends_with(&format!("does not allow: {refused}")), "{refused}");
        }
        assert!(check(Some("free for all"), None).contains("no SPDX expression"));
        assert!(check(None, None).contains("names no licence"));
    }

    #[test]
    fn crates_come_from_the_registry() {
        assert!(check(Some("MIT"), Some("git+https://example.org/one")).contains("comes from git+"));
    }
}
