//! The licences of what packages carry and others wrote: crates that are compiled into programs, data in them, and the
//! libraries of Rust and C that every program has. `LICENSE-THIRD-PARTY` has their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::files::{cargo, root};

/// Where the texts go.
pub const FILE: &str = "LICENSE-THIRD-PARTY";
/// What is built for packages.
const PACKAGES: [&str; 3] = ["raddle-cli", "raddle-cudart", "raddle-py"];
/// What it is built for; dependencies differ.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
];
/// Texts about what is not a crate of Cargo.lock; the first line of each says what it is.
const OTHERS: &str = "packaging/licences";
/// How names of files with licences begin.
const BEGINNINGS: [&str; 6] = ["LICENSE", "LICENCE", "UNLICENSE", "COPYING", "COPYRIGHT", "NOTICE"];
/// In names of files: licences that are there beside another one, at the user's choice.
const CHOICES: [&str; 8] = ["APACHE", "UNLICENSE", "ZLIB", "BOOST", "BSL", "CC0", "GPL", "0BSD"];
/// Between two texts.
const LINE: &str = "--------------------------------------------------------------------------------\n";

/// A crate from elsewhere.
struct Foreign {
    /// Name and version.
    name: String,
    licence: String,
    folder: PathBuf,
}

/// The whole file.
pub fn text() -> Result<String> {
    let (mut rows, mut texts) = (Vec::new(), BTreeMap::<String, BTreeSet<String>>::new());
    let crates = crates()?;
    for one in &crates {
        rows.push(format!("  {}: {}\n", one.name, one.licence));
        let files = chosen(files(&one.folder)?, &one.licence);
        if files.is_empty() {
            let (name, folder) = (&one.name, one.folder.display());
            return Err(format!("{name} has no text of its licence in {folder}: add one to {OTHERS}").into());
        }
        for file in files {
            let text = plain(&fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?);
            texts.entry(text).or_default().insert(one.name.clone());
        }
    }
    let mut all = String::from(HEAD);
    let others = others()?;
    all.extend(others.iter().filter_map(|text| Some(format!("  {}\n", text.lines().next()?))));
    all.extend(rows);
    for text in others {
        all += LINE;
        all += &plain(&text);
    }
    // By the first that has it.
    let mut texts: Vec<_> = texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        let names: Vec<String> = names.into_iter().collect();
        all += &format!("{LINE}{}:\n\n{text}", wrapped(&names));
    }
    Ok(all)
}

const HEAD: &str = "\
The programs and packages of Raddle carry works of others. Their licences follow: first a list, then the texts.
Where a work can be used under one of several licences, Raddle uses the one whose text is here. `cargo xtask codegen`
writes this file.

";

/// The crates in the packages, by name. Those that only build them, or only run on other systems, are not carried.
fn crates() -> Result<Vec<Foreign>> {
    let mut carried = BTreeSet::new();
    for target in TARGETS {
        let mut tree = cargo(&["tree", "--locked", "--edges", "normal", "--prefix", "none", "--target", target]);
        tree.args(["--format", "{p}"]).args(PACKAGES.iter().flat_map(|package| ["--package", package]));
        carried.extend(output(&mut tree)?.lines().filter_map(name_and_version));
    }
    let metadata = output(&mut cargo(&["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten().filter(|one| !one["source"].is_null()) {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        if carried.contains(&name) {
            let folder = Path::new(text("manifest_path")).parent().unwrap_or(Path::new("")).to_owned();
            found.push(Foreign { name, licence: text("license").to_owned(), folder });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// `serde v1.0.2 (proc-macro)` as `serde 1.0.2`.
fn name_and_version(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
}

fn output(command: &mut std::process::Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The files with licences in a folder and in those below it, which may have code or data of others.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && !name.ends_with(".RS") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// One of several licences at our choice: MIT, or else Apache.
fn chosen(mut files: Vec<PathBuf>, licence: &str) -> Vec<PathBuf> {
    if !licence.contains(" OR ") && !licence.contains('/') {
        return files;
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let ours = ["MIT", "APACHE"].into_iter().find(|ours| files.iter().any(|path| name(path).contains(ours)));
    if let Some(ours) = ours {
        files.retain(|path| name(path).contains(ours) || !CHOICES.iter().any(|choice| name(path).contains(choice)));
    }
    files
}

/// A text with one kind of ends of lines, and without blanks at them.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned() + "\n"
}

/// Names in lines of a hundred letters.
fn wrapped(names: &[String]) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for (n, name) in names.iter().enumerate() {
        let end = if n + 1 < names.len() { "," } else { "" };
        let gap = match width {
            0 => "",
            width if width + name.len() > 100 => "\n",
            _ => " ",
        };
        width = if gap == "\n" { 0 } else { width } + gap.len() + name.len() + end.len();
        text += &format!("{gap}{name}{end}");
    }
    text
}

/// The texts that are not those of crates, by name of the file.
fn others() -> Result<Vec<String>> {
    let entries: std::io::Result<Vec<_>> = fs::read_dir(root().join(OTHERS))?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = entries?;
    paths.sort();
    paths.iter().map(|path| Ok(fs::read_to_string(path)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_licence_of_several_is_enough() {
        let names = |names: &[&str], licence| -> Vec<String> {
            let chosen = chosen(names.iter().map(PathBuf::from).collect(), licence);
            chosen.iter().map(|path| path.display().to_string()).collect()
        };
        let both = ["LICENSE-APACHE", "LICENSE-MIT", "data/LICENSE_OFL.txt"];
        assert_eq!(names(&both, "MIT OR Apache-2.0"), ["LICENSE-MIT", "data/LICENSE_OFL.txt"]);
        assert_eq!(names(&both, "MIT/Apache-2.0"), ["LICENSE-MIT", "data/LICENSE_OFL.txt"]);
        assert_eq!(names(&both, "MIT AND Apache-2.0"), both);
        let gpl = ["LICENSE-APACHE", "LICENSE-GPL"];
        assert_eq!(names(&gpl, "Apache-2.0 OR GPL-2.0-only"), ["LICENSE-APACHE"]);
        assert_eq!(names(&["LICENSE"], "BSD-3-Clause"), ["LICENSE"]);
        assert_eq!(names(&["COPYING", "LICENSE-MIT", "UNLICENSE"], "Unlicense/MIT"), ["COPYING", "LICENSE-MIT"]);
    }

    #[test]
    fn names_of_crates_are_read() {
        assert_eq!(name_and_version("serde v1.0.2 (proc-macro) (*)").as_deref(), Some("serde 1.0.2"));
        assert_eq!(name_and_version(""), None);
    }

    #[test]
    fn what_every_package_carries_has_its_licence() {
        let all = fs::read_to_string(root().join(FILE)).unwrap();
        for part in [
            "SIL OPEN FONT LICENSE Version 1.1",
            "UNICODE LICENSE V3",
            "core-math-sys",
            "Redistribution and use in source and binary forms",
            "musl",
            "LLVM",
            "The Rust standard library",
        ] {
            assert!(all.contains(part), "{part}");
        }
        let toolchain = fs::read_to_string(root().join("rust-toolchain.toml")).unwrap();
        let version = toolchain.split('"').nth(1).unwrap();
        let library = format!("The Rust standard library of Rust {version}");
        assert!(all.contains(&library), "packaging/licences/rust-library.txt is of another version than {version}");
    }

    #[test]
    fn every_package_has_the_file() {
        for package in [
            "packaging/build",
            "packaging/fill",
            "packaging/Dockerfile",
            "packaging/conda/recipe.yaml",
            "packaging/homebrew/raddle.rb",
            "packaging/nix/flake.nix",
            "crates/cli/Cargo.toml",
        ] {
            let text = fs::read_to_string(root().join(package)).unwrap();
            assert!(text.contains(FILE) || text.contains("LICENSE-*"), "{package} does not carry {FILE}");
        }
        // Of this folder, maturin takes every LICENSE into the wheel.
        let in_wheel = fs::read_to_string(root().join("crates/py").join(FILE)).unwrap();
        assert_eq!(in_wheel, fs::read_to_string(root().join(FILE)).unwrap());
    }
}
