//! Launches written with blanks inside their brackets: `kernel << <blocks, threads>> >(…)`. nvcc takes them, clang does not.
//!
//! Sources stay as they are: clang gets an overlay of the file system in which those files have the brackets joined. Lines keep
//! their numbers, so messages still fit.

use raddle_runtime::Problem;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The text with all such brackets joined; nothing when there are none.
fn joined(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut any = false;
    while let Some(at) = find(rest, '<') {
        let (before, after) = rest.split_at(at);
        out += before;
        out += "<<<";
        // The brackets of a launch and nothing else begin this way.
        rest = skip(after, '<');
        if let Some(end) = find(rest, '>') {
            let (inside, after) = rest.split_at(end);
            out += inside;
            out += ">>>";
            rest = skip(after, '>');
        }
        any = true;
    }
    any.then(|| out + rest)
}

/// Where three brackets in a row begin that are not written together.
fn find(text: &str, bracket: char) -> Option<usize> {
    let two: String = [bracket, bracket].iter().collect();
    let is_apart = |at: &usize| {
        let after = text[at + 2..].trim_start_matches([' ', '\t']);
        after.len() < text.len() - at - 2 && after.starts_with(bracket) && !text[..*at].ends_with(bracket)
    };
    text.match_indices(&two).map(|(at, _)| at).find(is_apart)
}

/// What comes after two brackets, blanks and a third.
fn skip(text: &str, bracket: char) -> &str {
    text[2..].trim_start_matches([' ', '\t']).strip_prefix(bracket).unwrap_or("")
}

/// An overlay for these sources and the files they include by name, written into a folder; nothing when they need none.
///
/// # Errors
/// When the folder cannot be written.
pub fn overlay(sources: &[&str], folder: &Path) -> Result<Option<PathBuf>, Problem> {
    let cannot = |e| Problem::new(format!("cannot write to {}: {e}", folder.display()));
    let mut roots = Vec::new();
    let mut open: Vec<PathBuf> = sources.iter().filter_map(|source| std::path::absolute(source).ok()).collect();
    let mut seen: BTreeSet<PathBuf> = open.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let beside = path.parent().unwrap_or(Path::new("."));
        let quoted = text.lines().filter_map(|line| line.trim().strip_prefix("#include")?.trim().strip_prefix('"'));
        for included in quoted.filter_map(|name| Some(beside.join(name.split_once('"')?.0))) {
            if seen.insert(included.clone()) {
                open.push(included);
            }
        }
        if let Some(text) = joined(&text) {
            let copy = folder.join(format!("joined-{}", roots.len()));
            fs::create_dir_all(folder).and_then(|()| fs::write(&copy, text)).map_err(cannot)?;
            roots.push(format!("{{\"name\": {path:?}, \"type\": \"file\", \"external-contents\": {copy:?}}}"));
        }
    }
    if roots.is_empty() {
        return Ok(None);
    }
    let list = folder.join("overlay.yaml");
    let text = format!("{{\"version\": 0, \"use-external-names\": false, \"roots\": [{}]}}\n", roots.join(", "));
    fs::write(&list, text).map_err(cannot)?;
    Ok(Some(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_launches_are_joined() {
        let join = |text: &str| joined(text).unwrap_or_else(|| "as it is".to_owned());
        assert_eq!(join("k << <a, b>> >(x);"), "k <<<a, b>>>(x);");
        assert_eq!(join("k<<  < a,\n b >>\t> (x); k<< <c>>>(y);"), "k<<< a,\n b >>> (x); k<<<c>>>(y);");
        assert_eq!(join("k<<<a, b>>>(x); cout << a << b; vector<vector<int> > v; a >> b > c;"), "as it is");
    }

    #[test]
    fn included_files_are_joined_too() {
        let folder = std::env::temp_dir().join(format!("raddle-launches-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.cu"), "#include \"b.h\"\n#include \"none.h\"\n").unwrap();
        fs::write(folder.join("b.h"), "#include \"a.cu\"\nk<< <1, 1>> >();\n").unwrap();
        let source = folder.join("a.cu").display().to_string();
        let list = overlay(&[&source], &folder.join("work")).unwrap().expect("one file needs it");
        let text = fs::read_to_string(list).unwrap();
        assert!(text.contains("b.h") && !text.contains("a.cu"), "{text}");
        assert_eq!(overlay(&["/no/such/file.cu"], &folder).unwrap(), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
