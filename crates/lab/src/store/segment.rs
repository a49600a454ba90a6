//! One file of records, and the index beside it.
//!
//! ```text
//!  NAME.seg   "RADSEG1\n"  then frames:   "RREC" kind 0 0 0 | length | key (32) | check (16) | body
//!  NAME.idx   "RADIDX1\n"  then entries:  key (32) | offset of the frame (8) | length, top bit: failure (4) | check (4)
//! ```
//!
//! Numbers are little-endian. A frame's check is the start of the BLAKE3 hash of kind, length, key and body. The
//! segment is the truth and is on disk before a record counts as written. The index repeats what is in it, in its
//! order; it may be shorter or damaged, then what it lacks is read from the segment. Behind a damaged frame, reading
//! goes on with the next one that is whole.

use crate::key::Key;
use raddle_runtime::input;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

const SEGMENT_MAGIC: &[u8; 8] = b"RADSEG1\n";
const INDEX_MAGIC: &[u8; 8] = b"RADIDX1\n";
const FRAME_MAGIC: &[u8; 4] = b"RREC";
pub(crate) const HEADER: usize = 60;
const ENTRY: usize = 48;
const FAILURE_BIT: u32 = 1 << 31;

/// The most bytes a record may have.
pub(crate) const MAX_BODY: usize = 1 << 30;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Result = 0,
    Failure = 1,
}

/// Where a record is in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) kind: Kind,
    pub(crate) offset: u64,
    /// Bytes of its body.
    pub(crate) length: u32,
}

impl Entry {
    fn end(&self) -> u64 {
        self.offset + HEADER as u64 + u64::from(self.length)
    }

    fn bytes(&self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..32].copy_from_slice(&self.key.0);
        bytes[32..40].copy_from_slice(&self.offset.to_le_bytes());
        let flag = if self.kind == Kind::Failure { FAILURE_BIT } else { 0 };
        bytes[40..44].copy_from_slice(&(self.length | flag).to_le_bytes());
        let check = entry_check(&bytes);
        bytes[44..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8; ENTRY]) -> Option<Self> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if number(44) != entry_check(bytes) {
            return None;
        }
        let key = Key(bytes[..32].try_into().ok()?);
        let offset = u64::from_le_bytes(bytes[32..40].try_into().ok()?);
        let kind = if number(40) & FAILURE_BIT == 0 { Kind::Result } else { Kind::Failure };
        Some(Self { key, kind, offset, length: number(40) & !FAILURE_BIT })
    }
}

/// A quick check of an entry: a million of them are looked at when a store is opened.
fn entry_check(bytes: &[u8; ENTRY]) -> u32 {
    let words = bytes[..44].chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let mixed = words.fold(0x9e37_79b9_7f4a_7c15_u64, |hash, word| {
        (hash ^ u64::from(word)).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
    });
    (mixed >> 32) as u32 ^ mixed as u32
}

fn header(kind: Kind, key: &Key, body: &[u8]) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..4].copy_from_slice(FRAME_MAGIC);
    bytes[4] = kind as u8;
    bytes[8..12].copy_from_slice(&(body.len() as u32).to_le_bytes());
    bytes[12..44].copy_from_slice(&key.0);
    let mut hash = blake3::Hasher::new();
    hash.update(&bytes[4..44]).update(body);
    bytes[44..].copy_from_slice(&hash.finalize().as_bytes()[..16]);
    bytes
}

/// What the writer needs of a file; tests have files that fail.
pub(crate) trait Disk: Write {
    /// Waits until everything written is on disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Takes away everything from here on, and goes on writing there.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Disk for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}

/// Appends to a segment.
pub(crate) struct Writer<D> {
    data: D,
    index: Option<D>,
    length: u64,
    indexed: u64,
    is_torn: bool,
}

impl Writer<File> {
    /// Makes a segment; nobody else writes to it.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let new = |path: &Path| OpenOptions::new().write(true).read(true).create_new(true).open(path);
        let data = new(path)?;
        // Held until the writer goes away: whoever cleans up leaves locked segments alone. On a file system without
        // locks it fails there too, and every segment is left alone.
        let _ = data.lock();
        if !path.exists() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the segment was cleaned up before anything was in it",
            ));
        }
        let index = new(&index_path(path)).ok();
        let started = Self::start(data, index).and_then(|writer| {
            path.parent().map_or(Ok(()), sync_folder)?;
            Ok(writer)
        });
        if started.is_err() {
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(index_path(path));
        }
        started
    }
}

impl<D: Disk> Writer<D> {
    /// Starts with empty files.
    pub(crate) fn start(mut data: D, index: Option<D>) -> io::Result<Self> {
        data.write_all(SEGMENT_MAGIC)?;
        data.sync()?;
        let index = index.and_then(|mut index| index.write_all(INDEX_MAGIC).is_ok().then_some(index));
        let length = SEGMENT_MAGIC.len() as u64;
        Ok(Self { data, index, length, indexed: INDEX_MAGIC.len() as u64, is_torn: false })
    }

    /// Whether a failed write could not be taken back: nothing may follow it.
    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Appends records; when it returns without error they are on disk, all of them.
    pub(crate) fn append(&mut self, records: &[(Kind, Key, &[u8])]) -> io::Result<Vec<Entry>> {
        if self.is_torn {
            return Err(io::Error::other("the segment is damaged"));
        }
        let mut entries = Vec::with_capacity(records.len());
        let mut bytes = Vec::new();
        for (kind, key, body) in records {
            if body.len() > MAX_BODY {
                return Err(io::Error::other("a record is too large"));
            }
            let offset = self.length + bytes.len() as u64;
            entries.push(Entry { key: *key, kind: *kind, offset, length: body.len() as u32 });
            bytes.extend_from_slice(&header(*kind, key, body));
            bytes.extend_from_slice(body);
        }
        if let Err(error) = self.data.write_all(&bytes).and_then(|()| self.data.sync()) {
            self.is_torn = self.data.cut(self.length).is_err();
            return Err(error);
        }
        self.length += bytes.len() as u64;
        self.note(&entries);
        Ok(entries)
    }

    /// Adds to the index. It can do without: an index that cannot be written ends here.
    fn note(&mut self, entries: &[Entry]) {
        let bytes: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
        let Some(index) = &mut self.index else { return };
        if index.write_all(&bytes).is_ok() {
            self.indexed += bytes.len() as u64;
        } else {
            let _ = index.cut(self.indexed);
            self.index = None;
        }
    }
}

/// The bytes that a segment of these records and its index take; none for no records.
pub(crate) fn room<'e>(entries: impl Iterator<Item = &'e Entry>) -> u64 {
    let all: u64 = entries.map(|entry| (HEADER + ENTRY) as u64 + u64::from(entry.length)).sum();
    if all == 0 { 0 } else { all + (SEGMENT_MAGIC.len() + INDEX_MAGIC.len()) as u64 }
}

/// Waits until a folder's list of files is on disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The index of a segment.
pub(crate) fn index_path(segment: &Path) -> PathBuf {
    segment.with_extension("idx")
}

/// What a segment holds.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// Bytes that are no record: a write that did not come to its end, or damage.
    pub(crate) damaged: Vec<Range<u64>>,
}

/// Lists a segment, from its index as far as that goes. Of what the index names, nothing has been checked but that
/// there is room for it.
pub(crate) fn list(path: &Path) -> io::Result<Listing> {
    let mut file = input::open(path)?;
    let size = file.metadata()?.len();
    let entries = indexed(&index_path(path), size);
    read(&mut file, size, entries)
}

/// Lists a segment without its index: every record has been checked.
pub(crate) fn scan(path: &Path) -> io::Result<Listing> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    read(&mut file, size, Vec::new())
}

/// Reads the records behind those that are known. Behind damage it goes on with the next record that is whole.
fn read(file: &mut File, size: u64, entries: Vec<Entry>) -> io::Result<Listing> {
    let mut listing = Listing { entries, damaged: Vec::new() };
    let start = SEGMENT_MAGIC.len().min(size as usize);
    let mut magic = vec![0; start];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut magic)?;
    // All before this is accounted for.
    let mut end = if magic == SEGMENT_MAGIC[..start] { start as u64 } else { 0 };
    if let Some(last) = listing.entries.last() {
        listing.damaged.extend((end == 0).then_some(0..start as u64));
        end = last.end();
    }
    let mut at = end;
    let mut reader = io::BufReader::new(file);
    reader.seek(SeekFrom::Start(at))?;
    loop {
        if let Some(entry) = next_frame(&mut reader, at, size)? {
            listing.damaged.extend((end < at).then_some(end..at));
            (at, end) = (entry.end(), entry.end());
            listing.entries.push(entry);
        } else if let Some(next) = next_magic(&mut reader, at + 1, size)? {
            at = next;
            reader.seek(SeekFrom::Start(at))?;
        } else {
            listing.damaged.extend((end < size).then_some(end..size));
            return Ok(listing);
        }
    }
}

/// Where the next frame might start, at `from` or behind it.
fn next_magic(file: &mut (impl Read + Seek), from: u64, size: u64) -> io::Result<Option<u64>> {
    if from >= size {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(from))?;
    let mut file = file.take(size - from);
    // What has been read and lies before `bytes` is `passed`.
    let (mut bytes, mut passed) = (Vec::new(), from);
    loop {
        let read = file.by_ref().take(1 << 16).read_to_end(&mut bytes)?;
        if let Some(at) = bytes.windows(FRAME_MAGIC.len()).position(|window| window == FRAME_MAGIC) {
            return Ok(Some(passed + at as u64));
        }
        if read == 0 {
            return Ok(None);
        }
        // The start of one may be at the end.
        let gone = bytes.len().saturating_sub(FRAME_MAGIC.len() - 1);
        bytes.drain(..gone);
        passed += gone as u64;
    }
}

/// The entries of an index that are whole and lie one behind the other.
fn indexed(path: &Path, size: u64) -> Vec<Entry> {
    let bytes = input::bytes(path, input::MAX_DATA).unwrap_or_default();
    let Some(bytes) = bytes.strip_prefix(INDEX_MAGIC) else { return Vec::new() };
    let mut entries = Vec::with_capacity(bytes.len() / ENTRY);
    let mut end = SEGMENT_MAGIC.len() as u64;
    for chunk in bytes.as_chunks::<ENTRY>().0 {
        match Entry::parse(chunk) {
            Some(entry) if entry.offset == end && entry.end() <= size => {
                end = entry.end();
                entries.push(entry);
            }
            _ => break,
        }
    }
    entries
}

/// The frame that starts at `offset`, if there is a whole one.
fn next_frame(file: &mut impl Read, offset: u64, size: u64) -> io::Result<Option<Entry>> {
    if offset + HEADER as u64 > size {
        return Ok(None);
    }
    let mut head = [0; HEADER];
    // A segment that is being cut back meanwhile ends sooner than it said.
    if file.read_exact(&mut head).is_err() {
        return Ok(None);
    }
    let Some(entry) = parse_header(&head, offset).filter(|entry| entry.end() <= size) else { return Ok(None) };
    let mut body = vec![0; entry.length as usize];
    if file.read_exact(&mut body).is_err() {
        return Ok(None);
    }
    Ok((header(entry.kind, &entry.key, &body) == head).then_some(entry))
}

fn parse_header(head: &[u8; HEADER], offset: u64) -> Option<Entry> {
    if !head.starts_with(FRAME_MAGIC) || head[5..8] != [0; 3] {
        return None;
    }
    let kind = match head[4] {
        0 => Kind::Result,
        1 => Kind::Failure,
        _ => return None,
    };
    let length = u32::from_le_bytes(head[8..12].try_into().ok()?);
    let key = Key(head[12..44].try_into().ok()?);
    (length as usize <= MAX_BODY).then_some(Entry { key, kind, offset, length })
}

/// The body of a record; none when it is damaged.
pub(crate) fn body(file: &mut File, entry: &Entry) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(entry.offset))?;
    let mut bytes = vec![0; HEADER + entry.length as usize];
    match file.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let body = bytes.split_off(HEADER);
    Ok((header(entry.kind, &entry.key, &body)[..] == bytes[..]).then_some(body))
}

#[cfg(test)]
mod tests;
