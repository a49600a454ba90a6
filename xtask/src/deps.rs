//! The direction of dependency between the crates, and the reasons for those from outside.
//!
//! The crates stand in one line, [`ORDER`]; each may use only those to its left. `testkit` stands outside: it may use
//! every crate but `cli`, and any crate may use it in its tests. Every dependency from outside has its line in the book's [`LIST`].

use std::fs;

use toml::{Table, Value};

use crate::Result;
use crate::files::{crate_folders, root};

/// The crates from left to right. Crates in one row may not use each other.
const ORDER: &[&[&str]] = &[
    &["ptx"],
    &["exec"],
    &["sim"],
    &["mech"],
    &["energy"],
    &["runtime"],
    &["workloads"],
    &["lab"],
    &["cuda"],
    &["cli"],
    &["py", "cudart"],
];

/// What every package name of the product starts with.
const PREFIX: &str = "raddle-";

/// The page that says why each dependency is there.
const LIST: &str = "docs/src/dependencies.md";

/// Checks the manifest of every crate and that of the workspace.
pub fn run() -> Result {
    let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
    let list = fs::read_to_string(root().join(LIST))?;
    let mut problems = unexplained(&workspace, &list);
    let folders = crate_folders()?;
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(folder.join("Cargo.toml"))?;
        problems.extend(check(&name, &text));
    }
    if problems.is_empty() {
        println!("deps: {} crates, all edges point left, all dependencies explained", folders.len());
        return Ok(());
    }
    for problem in &problems {
        println!("{problem}");
    }
    Err(format!("deps: {} problems", problems.len()).into())
}

/// The problems in the manifest of the crate in folder `crates/NAME`.
fn check(name: &str, manifest: &str) -> Vec<String> {
    let path = format!("crates/{name}/Cargo.toml");
    let manifest: Table = match manifest.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let mut problems = Vec::new();
    if name != "testkit" && rank(name).is_none() {
        problems.push(format!(
            "{path}: crate `{name}` has no place in the order: give it one in ORDER in xtask/src/deps.rs"
        ));
    }
    let package = manifest.get("package").and_then(|p| p.get("name"));
    let expected = format!("{PREFIX}{name}");
    if package.and_then(Value::as_str) != Some(&expected) {
        problems.push(format!("{path}: the package must be named `{expected}`"));
    }
    for (kind, used) in edges(&manifest) {
        if let Err(reason) = allowed(name, kind, &used) {
            problems.push(format!("{path}: {name} -> {used}: {reason}"));
        }
    }
    problems
}

/// The problems of a workspace manifest whose dependencies from outside are explained in `list`.
fn unexplained(manifest: &str, list: &str) -> Vec<String> {
    let manifest: Table = match manifest.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("Cargo.toml: {error}")],
    };
    let section = manifest.get("workspace").and_then(|w| w.get("dependencies"));
    let names = section.and_then(Value::as_table).into_iter().flat_map(Table::keys);
    names
        .filter(|name| !name.starts_with(PREFIX))
        .filter(|name| !list.contains(&format!("\n| `{name}` |")))
        .map(|name| format!("Cargo.toml: `{name}` has no line in {LIST}: say there why it is used"))
        .collect()
}

/// The kinds of dependency section a manifest has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Build,
    Dev,
}

/// The crates of the product that a manifest names, in any of its dependency sections.
fn edges(manifest: &Table) -> Vec<(Kind, String)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets.into_iter().flat_map(Table::values);
    let tables = per_target.filter_map(Value::as_table).chain([manifest]);
    let mut edges = Vec::new();
    for table in tables {
        for (kind, section) in
            [(Kind::Normal, "dependencies"), (Kind::Build, "build-dependencies"), (Kind::Dev, "dev-dependencies")]
        {
            let section = table.get(section).and_then(Value::as_table);
            for (key, value) in section.into_iter().flatten() {
                let renamed = value.get("package").and_then(Value::as_str);
                if let Some(used) = renamed.unwrap_or(key).strip_prefix(PREFIX) {
                    edges.push((kind, used.to_owned()));
                }
            }
        }
    }
    edges
}

/// Whether crate `user` may depend on crate `used`; if not, why.
fn allowed(user: &str, kind: Kind, used: &str) -> std::result::Result<(), &'static str> {
    match (user, used) {
        ("testkit", "cli") => Err("testkit may use every crate but cli"),
        ("testkit", _) => Ok(()),
        (_, "testkit") if kind == Kind::Dev => Ok(()),
        (_, "testkit") => Err("testkit is for tests: make it a dev-dependency"),
        _ => match (rank(user), rank(used)) {
            (Some(user), Some(used)) if used < user => Ok(()),
            (_, None) => Err("that crate has no place in the order"),
            _ => Err("a crate may use only those to its left in ORDER in xtask/src/deps.rs"),
        },
    }
}

fn rank(name: &str) -> Option<usize> {
    ORDER.iter().position(|row| row.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the crate `name` with these dependency sections against the expected problems, one a line.
    #[track_caller]
    fn expect(name: &str, sections: &str, problems: &str) {
        let manifest = format!("[package]\nname = \"raddle-{name}\"\n{sections}");
        assert_eq!(check(name, &manifest).join("\n"), problems);
    }

    #[test]
    fn edges_to_the_left_are_fine() {
        expect("ptx", "[dependencies]\nlogos.workspace = true", "");
        expect("exec", "[dependencies]\nraddle-ptx.workspace = true", "");
        expect("cli", "[dependencies]\nraddle-ptx.workspace = true\nraddle-lab = { path = \"../lab\" }", "");
    }

    #[test]
    fn an_edge_to_the_right_is_named() {
        expect(
            "ptx",
            "[dependencies]\nraddle-exec.workspace = true",
            "crates/ptx/Cargo.toml: ptx -> exec: a crate may use only those to its left in ORDER in xtask/src/deps.rs",
        );
    }

    #[test]
    fn crates_in_one_row_may_not_use_each_other() {
        expect(
            "py",
            "[dependencies]\nraddle-cudart.workspace = true",
            "crates/py/Cargo.toml: py -> cudart: a crate may use only those to its left in ORDER in xtask/src/deps.rs",
        );
    }

    #[test]
    fn every_section_counts() {
        let problem = "crates/exec/Cargo.toml: exec -> sim: \
                       a crate may use only those to its left in ORDER in xtask/src/deps.rs";
        for section in [
            "[dev-dependencies]\nraddle-sim.workspace = true",
            "[build-dependencies]\nraddle-sim.workspace = true",
            "[target.'cfg(unix)'.dependencies]\nraddle-sim.workspace = true",
            "[dependencies]\nengine = { package = \"raddle-sim\", path = \"../sim\" }",
        ] {
            expect("exec", section, problem);
        }
    }

    #[test]
    fn testkit_is_for_tests() {
        expect("ptx", "[dev-dependencies]\nraddle-testkit.workspace = true", "");
        expect("testkit", "[dependencies]\nraddle-runtime.workspace = true", "");
        expect(
            "ptx",
            "[dependencies]\nraddle-testkit.workspace = true",
            "crates/ptx/Cargo.toml: ptx -> testkit: testkit is for tests: make it a dev-dependency",
        );
        expect(
            "testkit",
            "[dependencies]\nraddle-cli.workspace = true",
            "crates/testkit/Cargo.toml: testkit -> cli: testkit may use every crate but cli",
        );
    }

    #[test]
    fn unknown_crates_and_odd_names_are_refused() {
        expect(
            "loom",
            "",
            "crates/loom/Cargo.toml: crate `loom` has no place in the order: \
             give it one in ORDER in xtask/src/deps.rs",
        );
        expect(
            "exec",
            "[dependencies]\nraddle-loom.workspace = true",
            "crates/exec/Cargo.toml: exec -> loom: that crate has no place in the order",
        );
        assert_eq!(
            check("ptx", "[package]\nname = \"ptx\"").join("\n"),
            "crates/ptx/Cargo.toml: the package must be named `raddle-ptx`"
        );
    }

    #[test]
    fn dependencies_from_outside_are_explained() {
        let manifest = "[workspace.dependencies]\nraddle-ptx.path = \"crates/ptx\"\nclap = \"4\"\nserde = \"1\"";
        let list = "| crate | why |\n| --- | --- |\n| `clap` | command lines |\n";
        assert_eq!(
            unexplained(manifest, list).join("\n"),
            "Cargo.toml: `serde` has no line in docs/src/dependencies.md: say there why it is used"
        );
    }
}
