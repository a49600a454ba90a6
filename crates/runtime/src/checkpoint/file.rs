//! The files of a folder of checkpoints: the last one and the one before it.
//!
//! A file is written under another name, forced to disk and renamed, so that a crash leaves the ones before as they were.
//! It ends in the hash of all that is before it.

use crate::error::Error;
use raddle_sim::saved::{self, Pass};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

const LAST: &str = "last.checkpoint";
const BEFORE: &str = "before.checkpoint";
/// The one being written, or what a crash has left of it.
const NEW: &str = "new.checkpoint";

/// What a file begins with.
const MAGIC: &[u8] = b"raddle checkpoint 1\n";

/// The hash at the end.
const HASH: usize = 32;

/// No checkpoint is larger: a device has at most 8 GiB.
const MOST: u64 = 16 << 30;

/// A checkpoint that is whole.
#[derive(Clone)]
pub struct Found {
    /// Where it was read from.
    pub path: PathBuf,
    contents: Arc<Vec<u8>>,
}

impl Found {
    /// What was written.
    pub(super) fn contents(&self) -> &[u8] {
        &self.contents[MAGIC.len()..self.contents.len() - HASH]
    }
}

/// What is in a folder.
#[derive(Default)]
pub struct Search {
    /// The last checkpoint that is whole.
    pub found: Option<Found>,
    /// Those after it that are not, and why.
    pub damaged: Vec<(PathBuf, String)>,
}

/// Looks for the last checkpoint in a folder.
#[must_use]
pub fn find(folder: &Path) -> Search {
    let mut search = Search::default();
    for path in [LAST, BEFORE].map(|name| folder.join(name)) {
        match read(&path) {
            Ok(contents) => {
                search.found = Some(Found { path, contents: Arc::new(contents) });
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => search.damaged.push((path, error.to_string())),
        }
    }
    search
}

/// When the last checkpoint of a folder was written, whole or not.
#[must_use]
pub fn written_at(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder.join(LAST)).and_then(|about| about.modified()).ok()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > MOST {
        return Err(io::Error::other("it is no checkpoint"));
    }
    let contents = fs::read(path)?;
    if !contents.starts_with(MAGIC) || contents.len() < MAGIC.len() + HASH {
        return Err(io::Error::other("it is no checkpoint, or one of another version"));
    }
    let (all, hash) = contents.split_at(contents.len() - HASH);
    if blake3::hash(all).as_bytes() != hash {
        return Err(io::Error::other("it is damaged: its hash is wrong"));
    }
    Ok(contents)
}

/// Deletes the checkpoints of a folder, and the folder if nothing else is in it.
///
/// # Errors
/// When one cannot be deleted.
pub fn clear(folder: &Path) -> Result<(), Error> {
    for path in [NEW, LAST, BEFORE].map(|name| folder.join(name)) {
        match fs::remove_file(&path) {
            Err(source) if !matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(Error::Write { path: path.display().to_string(), source });
            }
            _ => {}
        }
    }
    // It may hold something else, or not be there.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Takes all that is written into a hash.
struct Hashing {
    to: File,
    hash: blake3::Hasher,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes a checkpoint; the last one becomes the one before it. Gives its path.
pub(super) fn write(
    folder: &Path,
    contents: impl FnOnce(&mut Pass<'_>) -> Result<(), saved::Error>,
) -> Result<PathBuf, saved::Error> {
    fs::create_dir_all(folder)?;
    let [new, last, before] = [NEW, LAST, BEFORE].map(|name| folder.join(name));
    // It stays locked until it has its name.
    let written = write_new(&new, contents).and_then(|_file| {
        match fs::rename(&last, &before) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        fs::rename(&new, &last)?;
        sync_folder(folder)?;
        Ok(())
    });
    written.map(|()| last)
}

fn write_new(
    path: &Path,
    contents: impl FnOnce(&mut Pass<'_>) -> Result<(), saved::Error>,
) -> Result<File, saved::Error> {
    let file = File::options().create(true).write(true).truncate(false).open(path)?;
    // Not every file system has locks.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(io::Error::other("another run writes to the same folder").into());
    }
    file.set_len(0)?;
    // Values are small: they are hashed and written together.
    let mut to = BufWriter::with_capacity(1 << 20, Hashing { to: file, hash: blake3::Hasher::new() });
    to.write_all(MAGIC)?;
    let written = contents(&mut Pass::writing(&mut to));
    let file = to.into_inner().map_err(io::IntoInnerError::into_error).and_then(|Hashing { mut to, hash }| {
        to.write_all(hash.finalize().as_bytes())?;
        to.sync_all()?;
        Ok(to)
    });
    let done = written.and(file.map_err(saved::Error::from));
    if done.is_err() {
        // What is left of it takes room that may be short.
        let _ = fs::remove_file(path);
    }
    done
}

/// Forces the new names to disk, where the host can.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("raddle-checkpoint-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    fn put(folder: &Path, mut number: u64) {
        write(folder, |pass| pass.value(&mut number)).unwrap();
    }

    fn number(folder: &Path) -> Option<u64> {
        let found = find(folder).found?;
        let mut number = 0;
        Pass::reading(found.contents()).value(&mut number).unwrap();
        Some(number)
    }

    #[test]
    fn the_last_two_are_kept_and_the_whole_one_is_found() {
        let folder = folder("two");
        assert_eq!(number(&folder), None);
        (1..=3).for_each(|n| put(&folder, n));
        assert_eq!((number(&folder), fs::read_dir(&folder).unwrap().count()), (Some(3), 2));
        let last = folder.join(LAST);
        let whole = fs::read(&last).unwrap();
        for length in 0..whole.len() {
            fs::write(&last, &whole[..length]).unwrap();
            assert_eq!((number(&folder), find(&folder).damaged.len()), (Some(2), 1), "cut at {length}");
        }
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 4;
            fs::write(&last, &other).unwrap();
            assert_eq!(number(&folder), Some(2), "byte {at}");
        }
        fs::remove_file(&last).unwrap();
        assert_eq!(number(&folder), Some(2), "a crash between two renames");
        clear(&folder).unwrap();
        assert!(!folder.exists());
        clear(&folder).unwrap();
    }

    #[test]
    fn two_runs_do_not_write_to_one_folder_at_once() {
        let folder = folder("lock");
        let outer = write(&folder, |_| {
            let inner = write(&folder, |_| Ok(()));
            assert!(inner.unwrap_err().to_string().contains("another run"));
            Ok(())
        });
        assert!(outer.is_ok());
        put(&folder, 2);
        assert_eq!(number(&folder), Some(2));
        clear(&folder).unwrap();
    }

    #[test]
    fn what_fails_leaves_the_ones_before() {
        let folder = folder("fails");
        put(&folder, 1);
        let failed = write(&folder, |_| Err(saved::Error::Damaged("on purpose")));
        assert!(failed.is_err());
        assert_eq!((number(&folder), fs::read_dir(&folder).unwrap().count()), (Some(1), 1));
        clear(&folder).unwrap();
    }
}
