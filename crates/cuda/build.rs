//! Lists the files of the toolkit, so that the program holds them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    for folder in ["include", "device"] {
        println!("cargo:rerun-if-changed={folder}");
        walk(&root.join(folder), &mut files);
    }
    files.sort();
    let mut text = "&[\n".to_owned();
    for file in &files {
        let name = file.strip_prefix(&root).expect("it is in the folder").display();
        writeln!(text, "    ({:?}, include_str!({:?})),", name.to_string(), file.display().to_string())
            .expect("a string takes all");
    }
    text += "]\n";
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("files.rs");
    std::fs::write(out, text).expect("the folder of the build can be written");
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo:rerun-if-changed={}", folder.display());
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if path.ends_with("tests") => {}
            true => walk(&path, files),
            false if path.extension().is_some_and(|e| e == "md") => {}
            false => files.push(path),
        }
    }
}
