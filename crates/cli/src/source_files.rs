//! The files that PTX names with `.file`. A module comes from anybody: only what is below the folders that the command
//! names, or belongs to the compiler, is opened.

use crate::out;
use raddle_cuda::clang::Clang;
use raddle_cuda::toolkit;
use raddle_runtime::{Problem, input};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Names of files that the note shows.
const SHOWN: usize = 3;
/// Headers of the C and C++ libraries.
const SYSTEM: &str = "/usr/include";

/// Where sources may be.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct SourceArgs {
    /// Show the sources in this folder too, if the PTX names them; may be repeated
    #[arg(long = "source-folder", value_name = "FOLDER", help_heading = "Sources")]
    folders: Vec<PathBuf>,
}

impl SourceArgs {
    /// Files below these folders, and below those that the command names.
    pub fn files(&self, named: impl IntoIterator<Item = PathBuf>) -> Result<SourceFiles, Problem> {
        let mut files = SourceFiles::below(named);
        for folder in &self.folders {
            let cannot = |error| Problem::new(format!("cannot read the folder {}: {error}", folder.display()));
            files.folders.push(folder.canonicalize().map_err(cannot)?);
        }
        Ok(files)
    }
}

/// The folder of a file as the command line has it.
pub fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Reads files that PTX names, and knows which were not read because of where they are.
#[derive(Debug, Default)]
pub struct SourceFiles {
    /// Without links; names that are not absolute are relative to these, in this order.
    folders: Vec<PathBuf>,
    compiler: OnceLock<Vec<PathBuf>>,
    refused: Mutex<BTreeSet<PathBuf>>,
}

impl SourceFiles {
    /// Of these folders and the compiler.
    pub fn below(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let folders = folders.into_iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        Self { folders, ..Self::default() }
    }

    fn refused(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines of a file by its name in the PTX; none if there is no such file, or if it may not be read.
    pub fn lines(&self, name: &str) -> Option<Vec<String>> {
        // Links and `..` count where they lead to.
        let found: Vec<PathBuf> =
            self.folders.iter().filter_map(|folder| folder.join(name).canonicalize().ok()).collect();
        let found = if Path::new(name).is_absolute() { vec![Path::new(name).canonicalize().ok()?] } else { found };
        let Some(path) = found.iter().find(|path| self.has(path)) else {
            self.refused().extend(found.into_iter().next());
            return None;
        };
        Some(input::text(path).ok()?.lines().map(str::to_owned).collect())
    }

    fn has(&self, path: &Path) -> bool {
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        is_below(&self.folders) || is_below(self.compiler.get_or_init(compiler))
    }

    /// Says which files were not read, and how to have them shown; each is said once.
    pub fn note(&self) -> Option<String> {
        let refused = std::mem::take(&mut *self.refused());
        let folder = refused.first()?.parent()?.display().to_string();
        let names: Vec<String> = refused.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
        let more = match refused.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = format!(
            "note: the PTX names files outside of the folders of this command, which are not shown: {}{more}; \
             --source-folder {folder} allows those in that folder",
            names.join(", ")
        );
        Some(out::visible(&text).into_owned())
    }

    /// Prints the note, if there is one.
    pub fn tell(&self) {
        self.note().iter().for_each(|note| out::talk(note));
    }
}

/// Folders of headers: ours, those of clang and those of the system.
fn compiler() -> Vec<PathBuf> {
    let clang = Clang::find().ok().and_then(|clang| clang.resources());
    let folders = [toolkit::cache().ok(), clang, Some(PathBuf::from(SYSTEM))];
    folders.into_iter().flatten().filter_map(|folder| folder.canonicalize().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder with `own/a.cu` and `secret.txt` beside it.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let top = std::env::temp_dir().join(format!("raddle-sources-{name}-{}", std::process::id()));
            fs::create_dir_all(top.join("own")).unwrap();
            fs::write(top.join("own/a.cu"), "line\n").unwrap();
            fs::write(top.join("secret.txt"), "secret\n").unwrap();
            Self(top)
        }

        fn files(&self) -> SourceFiles {
            SourceFiles::below([self.0.join("own")])
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn only_files_below_the_folders_are_read() {
        let tree = Tree::new("below");
        let path = |name: &str| tree.0.join(name).display().to_string();
        fs::write(tree.0.join("own-too.cu"), "not below `own`\n").unwrap();
        let files = tree.files();
        for own in ["a.cu", "./a.cu", "../own/a.cu", &path("own/a.cu"), &path("own/../own/a.cu")] {
            assert_eq!(files.lines(own).as_deref(), Some(&["line".to_owned()][..]), "{own}");
        }
        assert_eq!(files.note(), None);
        let others = ["../secret.txt", &path("secret.txt"), &path("own/../secret.txt"), &path("own-too.cu")];
        for other in others.into_iter().chain(["/etc/passwd", "/proc/self/environ"]) {
            assert_eq!(files.lines(other), None, "{other}");
            let note = files.note().unwrap_or_else(|| panic!("nothing is said of {other}"));
            assert!(note.contains("--source-folder "), "{note}");
        }
        assert_eq!((files.lines("missing.cu"), files.note()), (None, None), "there is nothing to allow");
        let args = SourceArgs { folders: vec![tree.0.clone()] };
        assert!(args.files([]).unwrap().lines("secret.txt").is_some());
        assert!(SourceArgs { folders: vec![tree.0.join("none")] }.files([]).is_err());
        assert_eq!(SourceFiles::default().lines("Cargo.toml"), None, "the current folder is not named");
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_devices_are_not_followed_out() {
        use std::os::unix::fs::symlink;
        let tree = Tree::new("links");
        let own = tree.0.join("own");
        symlink(tree.0.join("secret.txt"), own.join("link.cu")).unwrap();
        symlink(&tree.0, own.join("up")).unwrap();
        symlink("a.cu", own.join("same.cu")).unwrap();
        symlink("/dev/zero", own.join("zero.cu")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(own.join("pipe.cu")).status().unwrap().success());
        fs::File::create(own.join("huge.cu")).unwrap().set_len(1 << 40).unwrap();
        let files = tree.files();
        assert!(files.lines("same.cu").is_some());
        for name in ["link.cu", "up/secret.txt", "zero.cu", "/dev/zero", "/dev/stdin"] {
            assert_eq!((files.lines(name), files.note().is_some()), (None, true), "{name}");
        }
        for name in ["pipe.cu", "huge.cu", "."] {
            assert_eq!((files.lines(name), files.note()), (None, None), "{name} is no text");
        }
    }

    #[test]
    fn headers_of_the_compiler_are_read() {
        let header = toolkit::cache().unwrap().join("toolkit-of-a-test.h");
        fs::write(&header, "header\n").unwrap();
        let read = SourceFiles::default().lines(&header.display().to_string());
        fs::remove_file(&header).unwrap();
        assert_eq!(read.as_deref(), Some(&["header".to_owned()][..]));
    }

    #[test]
    fn a_note_is_short() {
        let files = SourceFiles::default();
        files.refused().extend((0..9).map(|n| PathBuf::from(format!("/x/{n}\x1b[2J"))));
        let note = files.note().unwrap();
        assert!(note.contains(r"/x/0\u{1b}[2J, ") && note.contains(" and 6 more; --source-folder /x "), "{note}");
        assert_eq!(files.note(), None, "it is said once");
    }
}
