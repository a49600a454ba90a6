use super::*;
use proptest::prelude::*;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("raddle-segment-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn segment(&self) -> PathBuf {
        self.0.join("a.seg")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(n: usize) -> Vec<u8> {
    format!("record {n} ").repeat(n % 7).into_bytes()
}

fn key(n: usize) -> Key {
    Key::of(&n.to_le_bytes())
}

fn write(folder: &Folder, count: usize) -> Vec<Entry> {
    let mut writer = Writer::create(&folder.segment()).unwrap();
    let kind = |n| if n % 5 == 4 { Kind::Failure } else { Kind::Result };
    (0..count).flat_map(|n| writer.append(&[(kind(n), key(n), &text(n))]).unwrap()).collect()
}

#[test]
fn records_come_back_with_and_without_the_index() {
    let folder = Folder::new();
    let written = write(&folder, 20);
    assert_eq!(list(&folder.segment()).unwrap().entries, written);
    fs::remove_file(index_path(&folder.segment())).unwrap();
    let listing = list(&folder.segment()).unwrap();
    assert_eq!((listing.entries, listing.damaged), (written.clone(), vec![]));
    let mut file = File::open(folder.segment()).unwrap();
    for (n, entry) in written.iter().enumerate() {
        assert_eq!(body(&mut file, entry).unwrap(), Some(text(n)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// However the end of the files is cut or damaged, records before it are there and nothing false is.
    #[test]
    fn a_damaged_tail_costs_nothing_before_it(
        count in 1usize..12, from_end in 0usize..400, is_cut: bool, garbage in prop::collection::vec(any::<u8>(), 0..80),
        index in 0usize..3, index_from_end in 0usize..200,
    ) {
        let folder = Folder::new();
        let written = write(&folder, count);
        let (path, index_path) = (folder.segment(), index_path(&folder.segment()));
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len().saturating_sub(from_end).max(8);
        if is_cut {
            bytes.truncate(at);
            bytes.extend_from_slice(&garbage);
        } else {
            bytes[at..].iter_mut().zip(&garbage).for_each(|(byte, other)| *byte ^= other);
        }
        fs::write(&path, &bytes).unwrap();
        let mut entries = fs::read(&index_path).unwrap();
        match index {
            0 => entries.clear(),
            1 => entries.truncate(entries.len().saturating_sub(index_from_end)),
            _ => {}
        }
        fs::write(&index_path, &entries).unwrap();
        let listing = list(&path).unwrap();
        let whole = written.iter().filter(|entry| entry.end() <= at as u64).count();
        prop_assert!(listing.entries.len() >= whole);
        prop_assert_eq!(&listing.entries[..whole], &written[..whole]);
        let mut file = File::open(&path).unwrap();
        for entry in &listing.entries {
            let n = (0..count).find(|n| key(*n) == entry.key).unwrap();
            let found = body(&mut file, entry).unwrap();
            prop_assert!(found.is_none() || found == Some(text(n)));
            prop_assert!(n >= whole || found.is_some());
        }
    }

    #[test]
    fn no_bytes_panic(data in prop::collection::vec(any::<u8>(), 0..300), index in prop::collection::vec(any::<u8>(), 0..300)) {
        let folder = Folder::new();
        fs::write(folder.segment(), [&SEGMENT_MAGIC[..], &data].concat()).unwrap();
        fs::write(index_path(&folder.segment()), [&INDEX_MAGIC[..], &index].concat()).unwrap();
        prop_assert!(list(&folder.segment()).unwrap().entries.is_empty());
    }
}

#[test]
fn behind_damage_reading_goes_on() {
    let folder = Folder::new();
    let written = write(&folder, 12);
    let path = folder.segment();
    let whole = fs::read(&path).unwrap();
    fs::remove_file(index_path(&path)).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        let is_hit = |entry: &&Entry| (entry.offset..entry.end()).contains(&(at as u64));
        let want: Vec<Entry> = written.iter().filter(|entry| !is_hit(entry)).copied().collect();
        let damaged = written.iter().find(is_hit).map_or(0..8, |entry| entry.offset..entry.end());
        let listing = list(&path).unwrap();
        assert_eq!((listing.entries, listing.damaged), (want, vec![damaged]), "with byte {at} changed");
    }
}

#[test]
fn a_long_piece_of_garbage_is_passed_over() {
    for length in [(1 << 16) - 3, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 300_000] {
        let folder = Folder::new();
        let written = write(&folder, 2);
        let mut bytes = fs::read(folder.segment()).unwrap();
        let at = written[0].end() as usize;
        // What looks like the start of a record is none.
        let garbage: Vec<u8> = b"RRECRREC\0\0\0\0\x10\0\0\0".iter().copied().cycle().take(length).collect();
        bytes.splice(at..at, garbage);
        fs::write(folder.segment(), &bytes).unwrap();
        let listing = scan(&folder.segment()).unwrap();
        let moved = Entry { offset: written[1].offset + length as u64, ..written[1] };
        assert_eq!(listing.entries, [written[0], moved]);
        let piece = at as u64..moved.offset;
        assert_eq!(listing.damaged, [piece]);
    }
}

/// A disk with room for so many bytes.
#[derive(Default)]
struct Small {
    bytes: Vec<u8>,
    room: usize,
    never_cuts: bool,
}

impl Write for Small {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let fits = buffer.len().min(self.room.saturating_sub(self.bytes.len()));
        if fits == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(&buffer[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Small {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.never_cuts {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.truncate(length as usize);
        Ok(())
    }
}

#[test]
fn a_full_disk_keeps_what_was_written() {
    for room in 8..600 {
        let data = Small { room, ..Small::default() };
        let index = Small { room: room / 3, ..Small::default() };
        let mut writer = Writer::start(data, Some(index)).unwrap();
        let mut done = 0;
        while done < 20 && writer.append(&[(Kind::Result, key(done), &text(done))]).is_ok() {
            done += 1;
        }
        assert!(!writer.is_torn());
        assert_eq!(writer.data.bytes.len() as u64, writer.length, "the torn frame is gone");
        // When there is room again, writing goes on where it stopped.
        writer.data.room = usize::MAX;
        writer.append(&[(Kind::Result, key(99), b"more")]).unwrap();
        let folder = Folder::new();
        fs::write(folder.segment(), &writer.data.bytes).unwrap();
        let found: Vec<Key> = list(&folder.segment()).unwrap().entries.iter().map(|e| e.key).collect();
        let want: Vec<Key> = (0..done).chain([99]).map(key).collect();
        assert_eq!(found, want);
    }
}

#[test]
fn what_cannot_be_taken_back_ends_the_segment() {
    let data = Small { room: 120, never_cuts: true, ..Small::default() };
    let mut writer = Writer::start(data, None).unwrap();
    writer.append(&[(Kind::Result, key(0), b"one")]).unwrap();
    assert!(writer.append(&[(Kind::Result, key(1), b"two")]).is_err());
    assert!(writer.is_torn());
    writer.data.room = usize::MAX;
    assert!(writer.append(&[(Kind::Result, key(2), b"three")]).is_err(), "nothing may follow a torn frame");
    let folder = Folder::new();
    fs::write(folder.segment(), &writer.data.bytes).unwrap();
    let listing = list(&folder.segment()).unwrap();
    assert_eq!((listing.entries.len(), !listing.damaged.is_empty()), (1, true));
}
