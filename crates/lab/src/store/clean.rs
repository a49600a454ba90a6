//! Cleaning up: what is wanted goes to one new segment, what cannot be read is put aside, then the others go away.
//!
//! Nothing is taken away before everything that takes its place is on disk. The new segment has a name that no reader
//! looks at until it is complete, so a process that is killed or a disk that is full leaves the store as it was.

use super::segment::{self, Kind};
use super::{Place, SEGMENTS, Store, Versions, understood};
use crate::error::{Error, reading, writing};
use raddle_runtime::numbers::grouped;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where bytes go that are no record.
const DAMAGED: &str = "damaged";
/// How the name of a new segment ends until it is complete.
const UNFINISHED: &str = "tmp";

/// What cleaning up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Results kept.
    pub kept: usize,
    /// Results of older epochs or schemas that were dropped.
    pub stale: usize,
    /// Copies of results and failures that were dropped.
    pub dropped: usize,
    /// Segments of writers that are at work and were left alone.
    pub busy: usize,
    /// Pieces of segments that are no record and were put aside.
    pub damaged: usize,
    /// Bytes of these pieces.
    pub damaged_bytes: u64,
    /// Bytes of free room it takes.
    pub room: u64,
}

/// What is to be done.
struct Plan {
    keep: Vec<Place>,
    /// Pieces of segments that are no record.
    aside: Vec<(String, Range<u64>)>,
    cleaned: Cleaned,
}

impl Store {
    /// The folder where cleaning up puts what it cannot read.
    #[must_use]
    pub fn damaged_folder(&self) -> PathBuf {
        self.folder.join(DAMAGED)
    }

    /// Writes what is not older than these versions to one new segment and takes the others away, except those of
    /// writers that are at work. What cannot be read is put aside. With `dry` it only says what it would do.
    ///
    /// # Errors
    /// When the store cannot be read or written, or there is no room; then nothing has been taken away.
    pub fn clean(&mut self, schema: u32, epoch: u32, dry: bool) -> Result<Cleaned, Error> {
        self.writer = None;
        let locked = self.lock()?;
        // Only now: until it was locked, a segment could grow. Without indexes: what they name may be damaged.
        self.read(segment::scan)?;
        let plan = self.plan(&locked, schema, epoch)?;
        if !dry {
            self.sweep()?;
            if !self.is_clean(&plan, &locked) {
                self.write(&plan)?;
                for path in locked.keys().map(|name| self.path(name)) {
                    fs::remove_file(&path).map_err(writing(&path))?;
                    let _ = fs::remove_file(segment::index_path(&path));
                }
            }
        }
        self.refresh()?;
        Ok(plan.cleaned)
    }

    /// The segments that nobody writes to; while the files are open nobody else cleans them up.
    fn lock(&self) -> Result<BTreeMap<String, File>, Error> {
        let mut locked = BTreeMap::new();
        for name in self.names()? {
            let path = self.path(&name);
            let file = match File::open(&path) {
                // Somebody else is cleaning up.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.map_err(reading(&path))?,
            };
            if file.try_lock().is_ok() && path.exists() {
                locked.insert(name, file);
            }
        }
        Ok(locked)
    }

    fn plan(&self, locked: &BTreeMap<String, File>, schema: u32, epoch: u32) -> Result<Plan, Error> {
        let is_ours: Vec<bool> = self.segments.iter().map(|name| locked.contains_key(name)).collect();
        let is_ours = |place: &&Place| is_ours[place.segment as usize];
        let busy = self.segments.iter().filter(|name| !locked.contains_key(*name)).count();
        let mut cleaned = Cleaned { busy, ..Cleaned::default() };
        let mut keep = Vec::new();
        // Copies in other segments do not count: they are in somebody else's hands.
        let ours: Vec<Place> = self.results.iter().filter(is_ours).copied().collect();
        for copies in ours.chunk_by(Place::is_copy) {
            let (mut kept, mut stale) = (0, 0);
            for (place, body) in self.best(copies)? {
                // What a later version has written may not be understood, and is not ours to drop.
                if Versions::of(&body).is_some_and(|version| version.schema < schema || version.epoch < epoch) {
                    stale += 1;
                } else {
                    kept += 1;
                    keep.push(place);
                }
            }
            cleaned.kept += kept;
            cleaned.stale += stale;
            cleaned.dropped += copies.len() - kept - stale;
        }
        cleaned.dropped += self.failures.values().flatten().filter(is_ours).count();
        let aside: Vec<_> = self.damaged.iter().filter(|(name, _)| locked.contains_key(name)).cloned().collect();
        cleaned.damaged = aside.len();
        cleaned.damaged_bytes = aside.iter().map(|(_, range)| range.end - range.start).sum();
        cleaned.room = cleaned.damaged_bytes + segment::room(keep.iter().map(|place| &place.entry));
        let plan = Plan { keep, aside, cleaned };
        let room = if self.is_clean(&plan, locked) { 0 } else { plan.cleaned.room };
        Ok(Plan { cleaned: Cleaned { room, ..plan.cleaned }, ..plan })
    }

    /// The first copy that is understood; if none is, all that differ.
    fn best(&self, copies: &[Place]) -> Result<Vec<(Place, Vec<u8>)>, Error> {
        let mut found: Vec<(Place, Vec<u8>)> = Vec::new();
        for place in copies {
            let Some(body) = self.body(place)? else {
                let reason = "changes while it is read; nothing was dropped".to_owned();
                let path = self.path(&self.segments[place.segment as usize]);
                return Err(Error::Store { path: path.display().to_string(), reason });
            };
            if understood(&place.entry.key, &body).is_some() {
                return Ok(vec![(*place, body)]);
            }
            if !found.iter().any(|(_, other)| *other == body) {
                found.push((*place, body));
            }
        }
        Ok(found)
    }

    /// Whether all is as it would be afterwards: one segment at most, with nothing in it that would go.
    fn is_clean(&self, plan: &Plan, locked: &BTreeMap<String, File>) -> bool {
        let Cleaned { stale, dropped, damaged, kept, .. } = plan.cleaned;
        stale + dropped + damaged == 0 && (locked.is_empty() || (locked.len() == 1 && kept > 0))
    }

    /// Takes away what others left behind that did not come to their end: copies, and indexes of nothing.
    fn sweep(&self) -> Result<(), Error> {
        let folder = self.folder.join(SEGMENTS);
        for file in fs::read_dir(&folder).map_err(reading(&folder))? {
            let path = file.map_err(reading(&folder))?.path();
            if path.extension().is_none_or(|end| end != UNFINISHED) {
                continue;
            }
            // Locked until it is gone: whoever has just made it notices.
            if let Ok(file) = File::open(&path)
                && file.try_lock().is_ok()
            {
                let _ = fs::remove_file(&path);
            }
        }
        for file in fs::read_dir(&folder).map_err(reading(&folder))? {
            let path = file.map_err(reading(&folder))?.path();
            let is_of_one = || ["seg", UNFINISHED].iter().any(|end| path.with_extension(end).exists());
            if path.extension().is_some_and(|end| end == "idx") && !is_of_one() {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }

    /// Writes everything that takes the place of what goes away, or nothing.
    fn write(&self, plan: &Plan) -> Result<(), Error> {
        let mut made = Vec::new();
        let written = self.put_aside(&plan.aside, &mut made).and_then(|()| self.merge(&plan.keep, &mut made));
        written.map_err(|error| {
            made.iter().for_each(|path| drop(fs::remove_file(path)));
            let _ = fs::remove_dir(self.damaged_folder());
            match error {
                Error::Write { source, .. } if is_full(&source) => Error::Store {
                    path: self.folder.display().to_string(),
                    reason: format!(
                        "cannot be cleaned up, as the disk is full: that takes {} bytes of free space, because nothing \
                         is deleted before all that is kept is on disk a second time. Nothing was changed",
                        grouped(plan.cleaned.room)
                    ),
                },
                other => other,
            }
        })
    }

    /// Copies what is no record to files of its own.
    fn put_aside(&self, pieces: &[(String, Range<u64>)], made: &mut Vec<PathBuf>) -> Result<(), Error> {
        if pieces.is_empty() {
            return Ok(());
        }
        let folder = self.damaged_folder();
        fs::create_dir_all(&folder).map_err(writing(&folder))?;
        for (name, range) in pieces {
            let from = self.path(name);
            let mut segment = File::open(&from).map_err(reading(&from))?;
            segment.seek(SeekFrom::Start(range.start)).map_err(reading(&from))?;
            let to = folder.join(format!("{name}-{}.bytes", range.start));
            made.push(to.clone());
            let mut file = File::create(&to).map_err(writing(&to))?;
            let copied = io::copy(&mut segment.take(range.end - range.start), &mut file);
            copied.and_then(|_| file.sync_all()).map_err(writing(&to))?;
        }
        segment::sync_folder(&folder).and_then(|()| segment::sync_folder(&self.folder)).map_err(writing(&folder))
    }

    /// Writes records to a new segment.
    fn merge(&self, keep: &[Place], made: &mut Vec<PathBuf>) -> Result<(), Error> {
        if keep.is_empty() {
            return Ok(());
        }
        let (name, unfinished, mut writer) = self.new_segment(UNFINISHED)?;
        let path = self.path(&name);
        made.extend([unfinished.clone(), segment::index_path(&path)]);
        for places in keep.chunks(256) {
            let mut records = Vec::new();
            for place in places {
                let body = self.body(place)?.ok_or_else(|| io::Error::other("it changes while it is read"));
                let from = || self.path(&self.segments[place.segment as usize]);
                records.push((Kind::Result, place.entry.key, body.map_err(|error| reading(&from())(error))?));
            }
            let records: Vec<_> = records.iter().map(|(kind, key, body)| (*kind, *key, body.as_slice())).collect();
            writer.append(&records).map_err(writing(&unfinished))?;
        }
        fs::rename(&unfinished, &path).map_err(writing(&path))?;
        made.push(path.clone());
        segment::sync_folder(path.parent().unwrap_or(Path::new("."))).map_err(writing(&path))
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
