//! The store of results: one immutable record for each point, found by its key.
//!
//! ```text
//!  STORE/raddle-store.json          version of the format
//!  STORE/segments/TIME-RANDOM.seg   records, appended by one writer
//!  STORE/segments/TIME-RANDOM.idx   where each is
//! ```
//!
//! Every process that writes appends to a segment of its own. So writers on different machines never meet, there are
//! as many files as writers and not as points, and what a killed writer leaves behind is at most a torn tail, which
//! readers pass over. A record counts as written when it has been synced to disk. The alternative, a file for each
//! record in folders by the first digits of the key, needs a million opens to list a million points; the indexes of
//! segments are 48 bytes a record and are read in one go. Two writers may compute the same point: both records are
//! the same, and `gc` keeps one.
//!
//! A point that failed leaves a failure: its key and what was said. It is no result, so the point is run again; a
//! result puts the failure out of sight.

mod segment;

use crate::error::{Error, reading, writing};
use crate::key::Key;
use crate::record::{Failure, Record};
use raddle_runtime::input;
use segment::{Entry, Kind, Writer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
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

/// The versions of a record, of whatever schema.
#[derive(Deserialize)]
struct Versioned {
    identity: Versions,
}

#[derive(Deserialize)]
struct Versions {
    schema: u32,
    epoch: u32,
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
}

/// A store that has been opened. It knows what was there then and what it has written since.
pub struct Store {
    folder: PathBuf,
    segments: Vec<String>,
    /// Results by key; the first of equal ones.
    results: Vec<Place>,
    /// Results written since.
    fresh: BTreeMap<Key, Place>,
    failures: BTreeMap<Key, Place>,
    torn: Vec<(String, u64)>,
    duplicates: usize,
    writer: Option<Writer<File>>,
}

/// What cleaning up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Results kept.
    pub kept: usize,
    /// Results of older epochs or schemas that were dropped.
    pub stale: usize,
    /// Copies of results, damaged records and failures that were dropped.
    pub dropped: usize,
    /// Segments of writers that are at work and were left alone.
    pub busy: usize,
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
        let text = match input::text(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(wrong("is not a store of results".to_owned()));
            }
            other => other.map_err(reading(&path))?,
        };
        let format = serde_json::from_str::<Mark>(&text).map(|mark| mark.format);
        match format {
            Ok(FORMAT) => {}
            Ok(other) => return Err(wrong(format!("is a store of format {other}, this is format {FORMAT}"))),
            Err(error) => return Err(wrong(format!("has a {MARK} that cannot be read: {error}"))),
        }
        let mut store = Self {
            folder: folder.to_owned(),
            segments: Vec::new(),
            results: Vec::new(),
            fresh: BTreeMap::new(),
            failures: BTreeMap::new(),
            torn: Vec::new(),
            duplicates: 0,
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
        let names = self.names()?;
        let (mut results, mut failures, mut torn) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (number, name) in names.iter().enumerate() {
            let path = self.path(name);
            let listing = match segment::list(&path) {
                // It has been cleaned up meanwhile; what was in it is in a newer one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.map_err(reading(&path))?,
            };
            if listing.torn > 0 {
                torn.push((name.clone(), listing.torn));
            }
            for entry in listing.entries {
                let place = Place { segment: number as u32, entry };
                match entry.kind {
                    Kind::Result => results.push(place),
                    Kind::Failure => drop(failures.insert(entry.key, place)),
                }
            }
        }
        results.sort_unstable_by_key(Place::order);
        let all = results.len();
        results.dedup_by_key(|place| place.entry.key);
        self.duplicates = all - results.len();
        (self.segments, self.results, self.failures, self.torn) = (names, results, failures, torn);
        self.fresh.clear();
        Ok(())
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

    fn find(&self, key: &Key) -> Option<&Place> {
        let old = self.results.binary_search_by_key(key, |place| place.entry.key).ok();
        old.map(|at| &self.results[at]).or_else(|| self.fresh.get(key))
    }

    /// Whether there is a result.
    #[must_use]
    pub fn contains(&self, key: &Key) -> bool {
        self.find(key).is_some()
    }

    /// Results.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len() + self.fresh.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Segments with bytes at their end that are no record, and how many.
    #[must_use]
    pub fn torn(&self) -> &[(String, u64)] {
        &self.torn
    }

    /// The keys of all results, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.results.iter().map(|p| p.entry.key).chain(self.fresh.keys().copied()).collect();
        keys.sort();
        keys
    }

    /// A result; none when there is none or it is damaged.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<Record>, Error> {
        let Some(body) = self.body(self.find(key))? else { return Ok(None) };
        let record = serde_json::from_slice::<Record>(&body).ok();
        Ok(record.filter(|record| record.identity.key() == *key))
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
        let place = self.failures.get(key).filter(|_| !self.contains(key));
        Ok(self.body(place)?.and_then(|body| serde_json::from_slice(&body).ok()))
    }

    /// Where the last failure of a point is, segment and offset: another place is another failure.
    pub(crate) fn failure_place(&self, key: &Key) -> Option<(String, u64)> {
        let place = self.failures.get(key)?;
        Some((self.segments[place.segment as usize].clone(), place.entry.offset))
    }

    /// The folder it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn body(&self, place: Option<&Place>) -> Result<Option<Vec<u8>>, Error> {
        let Some(Place { segment, entry }) = place else { return Ok(None) };
        let path = self.path(&self.segments[*segment as usize]);
        let read = input::open(&path).and_then(|mut file| segment::body(&mut file, entry));
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
            bodies.push((Kind::Result, record.identity.key(), body));
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
        if self.writer.as_ref().is_none_or(Writer::is_torn) {
            let name = new_name();
            let path = self.path(&name);
            self.writer = Some(Writer::create(&path).map_err(writing(&path))?);
            self.segments.push(name);
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let records: Vec<_> = records.iter().map(|(kind, key, body)| (*kind, *key, body.as_slice())).collect();
        let entries = writer.append(&records).map_err(writing(&self.folder))?;
        for entry in entries {
            let place = Place { segment: self.segments.len() as u32 - 1, entry };
            match entry.kind {
                Kind::Result if !self.contains(&entry.key) => drop(self.fresh.insert(entry.key, place)),
                Kind::Result => {}
                Kind::Failure => drop(self.failures.insert(entry.key, place)),
            }
        }
        Ok(())
    }

    /// Writes what is not older than these versions to one new segment and takes the others away, except those of
    /// writers that are at work. With `dry` it only says what it would do.
    ///
    /// # Errors
    /// When the store cannot be read or written; then nothing has been taken away.
    pub fn clean(&mut self, schema: u32, epoch: u32, dry: bool) -> Result<Cleaned, Error> {
        self.writer = None;
        let mut locked = BTreeMap::new();
        for name in self.names()? {
            let path = self.path(&name);
            let file = input::open(&path).map_err(reading(&path))?;
            if file.try_lock().is_ok() {
                locked.insert(name, (path, file));
            }
        }
        // Only now: until it was locked, a segment could grow.
        self.refresh()?;
        let is_busy: Vec<bool> = self.segments.iter().map(|name| !locked.contains_key(name)).collect();
        let busy = is_busy.iter().filter(|busy| **busy).count();
        let mut cleaned = Cleaned { dropped: self.duplicates, busy, ..Cleaned::default() };
        let places: Vec<Place> = self.results.iter().filter(|p| !is_busy[p.segment as usize]).copied().collect();
        for places in places.chunks(256) {
            let mut keep = Vec::new();
            for place in places {
                let Some(body) = self.body(Some(place))? else {
                    cleaned.dropped += 1;
                    continue;
                };
                // What a later version has written may not be understood, and is not ours to drop.
                let version = serde_json::from_slice::<Versioned>(&body).map(|record| record.identity);
                if version.is_ok_and(|version| version.schema < schema || version.epoch < epoch) {
                    cleaned.stale += 1;
                } else {
                    keep.push((Kind::Result, place.entry.key, body));
                }
            }
            cleaned.kept += keep.len();
            if !dry && !keep.is_empty() {
                self.append(&keep)?;
            }
        }
        cleaned.dropped += self.failures.values().filter(|p| !is_busy[p.segment as usize]).count();
        if !dry {
            for (path, _) in locked.values() {
                fs::remove_file(path).map_err(writing(path))?;
                let _ = fs::remove_file(segment::index_path(path));
            }
            self.refresh()?;
        }
        Ok(cleaned)
    }
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
