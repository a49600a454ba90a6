//! Files that are generated and committed.
//!
//! To add one, write a function that returns its whole text and list it in [`GENERATORS`]. CI runs
//! `cargo xtask codegen --check`, so a file that no longer matches its source fails there.

use std::fs;
use std::path::Path;

use crate::Result;
use crate::command_line;
use crate::files::root;

/// One generated file.
struct Generator {
    /// What is generated, for messages.
    name: &'static str,
    /// Where it goes, from the top folder.
    path: &'static str,
    /// The whole text of the file.
    text: fn() -> Result<String>,
}

/// Every generated file, one row each.
const GENERATORS: &[Generator] = &[
    Generator {
        name: "the page of the command line",
        path: "docs/src/guide/command-line.md",
        text: command_line::page,
    },
    Generator {
        name: "the table of instructions",
        path: "docs/src/reference/instructions.md",
        text: crate::instructions::page,
    },
    Generator {
        name: "the parameters of a machine",
        path: "docs/src/reference/config.md",
        text: crate::machine_keys::page,
    },
    Generator { name: "the page on sampling", path: crate::sampling::PAGE, text: crate::sampling::page },
    Generator { name: "the counters", path: "docs/src/reference/counters.md", text: || Ok(crate::counters::page()) },
    Generator { name: "the mechanisms", path: "docs/src/reference/mechanisms.md", text: crate::mechanisms::page },
    Generator { name: "the workloads", path: "docs/src/reference/workloads.md", text: crate::workload_table::page },
    Generator {
        name: "what virtual thread blocks cost",
        path: "docs/src/reference/virtual-blocks.md",
        text: crate::virtualized_table::page,
    },
    Generator { name: "the licences of what packages carry", path: crate::licences::FILE, text: crate::licences::text },
    Generator {
        name: "register counts against the reference",
        path: "docs/src/validation/registers.md",
        text: || Ok(crate::registers::page()),
    },
];

/// Writes the files that differ or, with `check`, fails naming them.
pub fn run(check: bool) -> Result {
    let stale = stale(GENERATORS, root())?;
    if check && !stale.is_empty() {
        return Err(complaint(&stale).into());
    }
    for (generator, text) in &stale {
        let path = root().join(generator.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
        println!("codegen: wrote {} ({})", generator.path, generator.name);
    }
    println!("codegen: {} generated files, {} were out of date", GENERATORS.len(), stale.len());
    Ok(())
}

/// The generators whose file under `root` is missing or differs, with the text it should have.
fn stale<'a>(generators: &'a [Generator], root: &Path) -> Result<Vec<(&'a Generator, String)>> {
    let mut stale = Vec::new();
    for generator in generators {
        let text = (generator.text)()?;
        if fs::read(root.join(generator.path)).ok().as_deref() != Some(text.as_bytes()) {
            stale.push((generator, text));
        }
    }
    Ok(stale)
}

fn complaint(stale: &[(&Generator, String)]) -> String {
    let mut message = String::from("these generated files are out of date:\n");
    for (generator, _) in stale {
        message += &format!("  {} ({})\n", generator.path, generator.name);
    }
    message + "run `cargo xtask codegen` and commit the result"
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESH: Generator =
        Generator { name: "this crate's name, as a fresh file", path: "fresh.txt", text: || Ok("fresh\n".to_owned()) };
    const MISSING: Generator =
        Generator { name: "a file nobody wrote", path: "missing.txt", text: || Ok(String::new()) };

    #[test]
    fn only_files_that_differ_are_stale() {
        let folder = std::env::temp_dir().join(format!("raddle-codegen-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("fresh.txt"), "fresh\n").unwrap();
        let generators = [FRESH, MISSING];
        let found = stale(&generators, &folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();

        assert_eq!(
            complaint(&found),
            "these generated files are out of date:\n  \
             missing.txt (a file nobody wrote)\n\
             run `cargo xtask codegen` and commit the result"
        );
    }

    #[test]
    fn no_two_generators_write_the_same_file() {
        let mut paths: Vec<_> = GENERATORS.iter().map(|g| g.path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), GENERATORS.len());
    }
}
