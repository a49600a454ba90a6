//! The store of results: one immutable record for each point, found by its key.
//!
//! ```text
//!  STORE/raddle-store.json          version of the format
//!  STORE/segments/TIME-RANDOM.seg   records, appended by one writer
//!  STORE/segments/TIME-RANDOM.idx   where each is
//!  STORE/damaged/                   what cleaning up could not read
//! ```
//!
//! Every process that writes appends to a segment of its own. So writers on different machines never meet, there are
//! as many files as writers and not as points, and what a killed writer leaves behind is at most a torn tail, which
//! readers pass over. A record counts as written when it has been synced to disk. The alternative, a file for each
//! record in folders by the first digits of the key, needs a million opens to list a million points; the indexes of
//! segments are 48 bytes a record and are read in one go. Two writers may compute the same point: both records are
//! the same, and `gc` keeps one. Each record has a check. One that fails it is as good as missing, unless there is
//! another copy: whoever looks for a result gets the first copy that is whole.
//!
//! A point that failed leaves a failure: its key and what was said. It is no result, so the point is run again; a
//! result puts the failure out of sight.

mod clean;
mod segment;
mod versions;

pub use clean::Cleaned;
pub use versions::Versions;

use crate::error::{Error, reading, writing};
use crate::key::Key;
use crate::record::{Failure, Record};
use raddle_runtime::input;
use segment::{Entry, Kind, Listing, Writer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Version of the layout of folders, segments and indexes.
pub const FORMAT: u32 = 1;

const MARK: &str = "raddle-store.json";
const SEGMENTS: &str = "segments";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    format: u32,
}

/// Where a record is.
#[derive(Clone, Copy)]
struct Place {
    segment: u32,
    entry: Entry,
}

impl Place {
    /// By key, and of equal keys by age. Keys are hashes: their first bytes decide nearly always, and quickly.
    fn order(&self) -> (u64, Key, u32, u64) {
        let start = self.entry.key.0.first_chunk().map_or(0, |start| u64::from_be_bytes(*start));
        (start, self.entry.key, self.segment, self.entry.offset)
    }

    fn is_copy(&self, other: &Self) -> bool {
        self.entry.key == other.entry.key
    }
}

/// A store that has been opened. It knows what was there then and what it has written since.
pub struct Store {
    folder: PathBuf,
    segments: Vec<String>,
    /// Results by key, all copies, the oldest first.
    results: Vec<Place>,
    /// Results written since.
    fresh: BTreeMap<Key, Place>,
    /// Failures by key, the oldest first.
    failures: BTreeMap<Key, Vec<Place>>,
    damaged: Vec<(String, Range<u64>)>,
    writer: Option<(PathBuf, Writer<File>)>,
}

impl Store {
    /// Opens the store in a folder, which is made if there is none.
    ///
    /// # Errors
    /// When the folder is something else, a store of another version, or cannot be read or written.
    pub fn create(folder: &Path) -> Result<Self, Error> {
        if !folder.join(MARK).exists() {
            let is_other = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
            if is_other && !folder.join(SEGMENTS).exists() {
                let reason = "is not empty and not a store of results".to_owned();
                return Err(Error::Store { path: folder.display().to_string(), reason });
            }
            let segments = folder.join(SEGMENTS);
            fs::create_dir_all(&segments).map_err(writing(&segments))?;
            let mark = serde_json::to_string(&Mark { format: FORMAT }).map_err(io::Error::from);
            let path = folder.join(MARK);
            mark.and_then(|text| replace(&path, (text + "\n").as_bytes())).map_err(writing(&path))?;
            let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            segment::sync_folder(above).map_err(writing(folder))?;
        }
        Self::open(folder)
    }

    /// Opens the store in a folder.
    ///
    /// # Errors
    /// When there is none, it is of another version, or cannot be read.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Store { path: folder.display().to_string(), reason };
        let path = folder.join(MARK);
        let mark = match input::bytes(&path, input::MAX_TEXT) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !folder.join(SEGMENTS).is_dir() {
                    return Err(wrong("is not a store of results".to_owned()));
                }
                Ok(Mark { format: FORMAT })
            }
            other => serde_json::from_slice::<Mark>(&other.map_err(reading(&path))?),
        };
        let help = format!("{MARK} is damaged: delete that file, results are not touched, and run the command again");
        match mark {
            Ok(Mark { format: FORMAT }) => {}
            Ok(Mark { format }) => {
                let versions = format!("is a store of format {format}, this version of Raddle has format {FORMAT}");
                return Err(wrong(format!("{versions}; if it was made by this version, its {help}")));
            }
            Err(error) => return Err(wrong(format!("cannot be opened ({error}), its {help}"))),
        }
        let mut store = Self {
            folder: folder.to_owned(),
            segments: Vec::new(),
            results: Vec::new(),
            fresh: BTreeMap::new(),
            failures: BTreeMap::new(),
            damaged: Vec::new(),
            writer: None,
        };
        store.refresh()?;
        Ok(store)
    }

    /// Reads the indexes again: other writers may have added results.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.read(segment::list)
    }

    fn read(&mut self, list: fn(&Path) -> io::Result<Listing>) -> Result<(), Error> {
        let (names, listings) = self.listings(list)?;
        let (mut results, mut failures, mut damaged) = (Vec::new(), BTreeMap::<Key, Vec<Place>>::new(), Vec::new());
        for ((number, name), listing) in names.iter().enumerate().zip(listings) {
            damaged.extend(listing.damaged.into_iter().map(|range| (name.clone(), range)));
            for entry in listing.entries {
                let place = Place { segment: number as u32, entry };
                match entry.kind {
                    Kind::Result => results.push(place),
                    Kind::Failure => failures.entry(entry.key).or_default().push(place),
                }
            }
        }
        results.sort_unstable_by_key(Place::order);
        (self.segments, self.results, self.failures, self.damaged) = (names, results, failures, damaged);
        self.fresh.clear();
        Ok(())
    }

    /// The names of all segments, and what is in them.
    fn listings(&self, list: fn(&Path) -> io::Result<Listing>) -> Result<(Vec<String>, Vec<Listing>), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let names = self.names()?;
            let all = names.iter().map(|name| self.path(name));
            let listings = all.map(|path| list(&path).map_err(reading(&path))).collect::<Result<Vec<_>, _>>();
            match listings {
                Ok(listings) => return Ok((names, listings)),
                // It has been cleaned up meanwhile; what was in it is in a newer one.
                Err(Error::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound && tries < 20 => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The names of all segments, in order.
    fn names(&self) -> Result<Vec<String>, Error> {
        let folder = self.folder.join(SEGMENTS);
        let mut names = Vec::new();
        for file in fs::read_dir(&folder).map_err(reading(&folder))? {
            let name = file.map_err(reading(&folder))?.file_name();
            names.extend(name.to_string_lossy().strip_suffix(".seg").map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(SEGMENTS).join(format!("{name}.seg"))
    }

    /// All copies of a result, whole or not.
    fn copies(&self, key: &Key) -> impl Iterator<Item = &Place> {
        let first = self.results.partition_point(|place| place.entry.key < *key);
        let old = self.results[first..].iter().take_while(|place| place.entry.key == *key);
        old.chain(self.fresh.get(key))
    }

    /// Whether a result is listed. It may be damaged: [`Store::get`] looks.
    #[must_use]
    pub fn contains(&self, key: &Key) -> bool {
        self.copies(key).next().is_some()
    }

    /// Results that are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty() && self.fresh.is_empty()
    }

    /// Bytes of segments that are no record. Where segments have an index, damage shows only when a record is read.
    #[must_use]
    pub fn damaged(&self) -> &[(String, Range<u64>)] {
        &self.damaged
    }

    /// The keys of all results that are listed, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::with_capacity(self.results.len() + self.fresh.len());
        keys.extend(self.results.chunk_by(Place::is_copy).map(|copies| copies[0].entry.key));
        if !self.fresh.is_empty() {
            keys.extend(self.fresh.keys());
            keys.sort();
            keys.dedup();
        }
        keys
    }

    /// A result, from the first copy that is whole; none when there is no such.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<Record>, Error> {
        let mut trouble = Ok(None);
        for place in self.copies(key) {
            match self.body(place) {
                Ok(Some(body)) => match understood(key, &body) {
                    None => {}
                    record => return Ok(record),
                },
                Ok(None) => {}
                Err(error) => trouble = trouble.and(Err(error)),
            }
        }
        trouble
    }

    /// Failures of points without a result, in the order of their keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn failures(&self) -> Result<Vec<Failure>, Error> {
        let mut list = Vec::new();
        for key in self.failures.keys() {
            list.extend(self.get_failure(key)?);
        }
        Ok(list)
    }

    /// The last failure of a point without a result.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn get_failure(&self, key: &Key) -> Result<Option<Failure>, Error> {
        let Some(places) = self.failures.get(key) else { return Ok(None) };
        if self.get(key)?.is_some() {
            return Ok(None);
        }
        for place in places.iter().rev() {
            if let Some(failure) = self.body(place)?.and_then(|body| serde_json::from_slice(&body).ok()) {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }

    /// Where the last failure of a point is, segment and offset: another place is another failure.
    pub(crate) fn failure_place(&self, key: &Key) -> Option<(String, u64)> {
        let place = self.failures.get(key)?.last()?;
        Some((self.segments[place.segment as usize].clone(), place.entry.offset))
    }

    /// The folder it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn body(&self, place: &Place) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path(&self.segments[place.segment as usize]);
        let read = input::open(&path).and_then(|mut file| segment::body(&mut file, &place.entry));
        read.map_err(reading(&path))
    }

    /// Adds a result. When it returns without error the result is on disk.
    ///
    /// # Errors
    /// When it cannot be written; the store is as it was.
    pub fn put(&mut self, record: &Record) -> Result<(), Error> {
        self.put_all(std::slice::from_ref(record))
    }

    /// Adds results, all or none, with one sync.
    ///
    /// # Errors
    /// When they cannot be written; the store is as it was.
    pub fn put_all(&mut self, records: &[Record]) -> Result<(), Error> {
        let mut bodies = Vec::new();
        for record in records {
            let body = serde_json::to_vec(record).map_err(|e| writing(&self.folder)(e.into()))?;
            bodies.push((Kind::Result, record.identity.key()?, body));
        }
        self.append(&bodies)
    }

    /// Adds a failure.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_failure(&mut self, failure: &Failure) -> Result<(), Error> {
        let body = serde_json::to_vec(failure).map_err(|e| writing(&self.folder)(e.into()))?;
        self.append(&[(Kind::Failure, failure.key, body)])
    }

    fn append(&mut self, records: &[(Kind, Key, Vec<u8>)]) -> Result<(), Error> {
        if self.writer.as_ref().is_none_or(|(_, writer)| writer.is_torn()) {
            let (name, path, writer) = self.new_segment("seg")?;
            self.writer = Some((path, writer));
            self.segments.push(name);
        }
        let Some((path, writer)) = &mut self.writer else { return Ok(()) };
        let records: Vec<_> = records.iter().map(|(kind, key, body)| (*kind, *key, body.as_slice())).collect();
        let entries = writer.append(&records).map_err(writing(path))?;
        self.check()?;
        for entry in entries {
            let place = Place { segment: self.segments.len() as u32 - 1, entry };
            match entry.kind {
                Kind::Result => drop(self.fresh.insert(entry.key, place)),
                Kind::Failure => self.failures.entry(entry.key).or_default().push(place),
            }
        }
        Ok(())
    }

    /// Makes a segment whose name ends so: its name without that, its path and the writer.
    fn new_segment(&self, extension: &str) -> Result<(String, PathBuf, Writer<File>), Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let name = new_name();
            let path = self.path(&name).with_extension(extension);
            match Writer::create(&path) {
                Ok(writer) => return Ok((name, path, writer)),
                // Whoever cleans up took it for one that somebody left behind.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.check().is_ok() && tries < 20 => {}
                Err(error) => return Err(writing(&path)(error)),
            }
        }
    }

    /// Whether what has been written is still there: files that have been deleted can be written to without an error.
    ///
    /// # Errors
    /// When it has vanished.
    pub fn check(&self) -> Result<(), Error> {
        let segments = self.folder.join(SEGMENTS);
        let path = self.writer.as_ref().map_or(&segments, |(path, _)| path);
        match fs::metadata(path) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let reason = format!(
                    "has lost {} while results were written to it: was it deleted or moved? Put it back, or run the \
                     same command again; what has no result is run anew",
                    path.strip_prefix(&self.folder).unwrap_or(path).display()
                );
                Err(Error::Store { path: self.folder.display().to_string(), reason })
            }
            Err(error) => Err(reading(path)(error)),
        }
    }
}

/// The record of a body, if it is one of this key.
fn understood(key: &Key, body: &[u8]) -> Option<Record> {
    let record = serde_json::from_slice::<Record>(body).ok()?;
    record.identity.key().is_ok_and(|own| own == *key).then_some(record)
}

/// A name that sorts by time and that nobody else chooses.
fn new_name() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let random = RandomState::new().build_hasher().finish();
    format!("{nanos:020}-{random:016x}")
}

/// Writes a file so that it is there as a whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", new_name()));
    let written = File::create(&temporary).and_then(|mut file| {
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed?;
    segment::sync_folder(folder)
}

#[cfg(test)]
mod tests;
