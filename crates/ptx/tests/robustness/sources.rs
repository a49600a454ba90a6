//! The PTX files of the repository.

use std::path::{Path, PathBuf};

/// Path and text of every `.ptx` file under `tests/`, sorted by path.
pub fn sources() -> Vec<(PathBuf, String)> {
    let files = files_of("tests");
    assert!(files.len() > 100, "only {} PTX files found", files.len());
    files
}

/// Path and text of every `.ptx` file under a folder of the repository, sorted by path.
pub fn files_of(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut files);
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "ptx") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            files.push((path, text));
        }
    }
}
