use super::*;
use crate::record::tests::record;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("raddle-store-{}-{number}", std::process::id())))
    }

    fn store(&self) -> Store {
        Store::create(&self.0).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key(n: u64) -> Key {
    record(n).identity.key().unwrap()
}

/// Changes a file behind the back of everybody.
fn change(path: &Path, how: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    how(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Every file of a folder and what is in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

fn failure(n: u64) -> Failure {
    Failure {
        key: record(n).identity.key().unwrap(),
        title: format!("point {n}"),
        error: "it broke".to_owned(),
        is_refusal: false,
    }
}

#[test]
fn what_was_put_is_there() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put(&record(1)).unwrap();
    store.put_all(&[record(2), record(3)]).unwrap();
    for store in [&store, &Store::open(&folder.0).unwrap()] {
        assert_eq!(store.len(), 3);
        for n in 1..4 {
            assert_eq!(store.get(&record(n).identity.key().unwrap()).unwrap(), Some(record(n)));
        }
        assert_eq!(store.get(&record(4).identity.key().unwrap()).unwrap(), None);
    }
}

#[test]
fn a_result_hides_a_failure() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put_failure(&failure(1)).unwrap();
    store.put_failure(&failure(2)).unwrap();
    assert_eq!(store.failures().unwrap().len(), 2);
    store.put(&record(1)).unwrap();
    assert_eq!(store.failures().unwrap(), [failure(2)]);
    assert_eq!(Store::open(&folder.0).unwrap().failures().unwrap(), [failure(2)]);
    assert_eq!(store.len(), 1);
}

#[test]
fn writers_do_not_meet() {
    let folder = Folder::new();
    let (mut one, mut two) = (folder.store(), folder.store());
    for n in 0..10 {
        one.put(&record(n)).unwrap();
        two.put(&record(n + 5)).unwrap();
    }
    one.refresh().unwrap();
    assert_eq!(one.len(), 15);
    assert_eq!(one.results.len(), 20, "all copies are known");
}

#[test]
fn cleaning_keeps_what_is_wanted() {
    let folder = Folder::new();
    let mut store = folder.store();
    let of_epoch = |n: u64| {
        let mut record = record(n);
        record.identity.epoch = if n < 2 { 1 } else { 2 + (n == 5) as u32 };
        record
    };
    (0..6).for_each(|n| store.put(&of_epoch(n)).unwrap());
    let mut other = folder.store();
    other.put_failure(&failure(7)).unwrap();
    other.put(&of_epoch(5)).unwrap();
    drop(other);
    let mut busy = folder.store();
    busy.put(&record(50)).unwrap();
    let planned = store.clean(1, 2, true).unwrap();
    let room = planned.room;
    assert_eq!(planned, Cleaned { kept: 4, stale: 2, dropped: 2, busy: 1, room, ..Cleaned::default() });
    assert_eq!(store.len(), 7, "nothing has happened");
    assert_eq!(store.clean(1, 2, false).unwrap(), planned);
    assert_eq!(store.len(), 5);
    assert_eq!(store.get(&of_epoch(5).identity.key().unwrap()).unwrap(), Some(of_epoch(5)));
    busy.put(&record(51)).unwrap();
    store.refresh().unwrap();
    assert_eq!(store.len(), 6, "the other writer goes on");
}

#[test]
fn a_damaged_record_is_missing_and_is_put_aside() {
    let folder = Folder::new();
    let mut store = folder.store();
    (1..4).for_each(|n| store.put(&record(n)).unwrap());
    let path = store.path(&store.segments[0]);
    let damaged = store.copies(&key(2)).next().unwrap().entry;
    let piece = damaged.offset as usize..damaged.offset as usize + segment::HEADER + damaged.length as usize;
    change(&path, |bytes| bytes[piece.start + 200] ^= 1);
    let piece = fs::read(&path).unwrap()[piece].to_vec();
    drop(store);
    let mut store = Store::open(&folder.0).unwrap();
    let found = |store: &Store| [1, 2, 3].map(|n| store.get(&key(n)).unwrap().is_some());
    assert_eq!(found(&store), [true, false, true]);
    let cleaned = store.clean(1, 1, false).unwrap();
    let (damaged, damaged_bytes) = (1, piece.len() as u64);
    assert_eq!(cleaned, Cleaned { kept: 2, damaged, damaged_bytes, room: cleaned.room, ..Cleaned::default() });
    assert_eq!(found(&store), [true, false, true]);
    let aside: Vec<Vec<u8>> = files(&store.damaged_folder()).into_values().collect();
    assert_eq!(aside, [piece], "what cannot be read is not thrown away");
    store.put(&record(2)).unwrap();
    assert_eq!(found(&store), [true; 3], "it can be run again");
}

#[test]
fn a_result_that_is_run_again_is_seen_at_once() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put(&record(1)).unwrap();
    change(&store.path(&store.segments[0]), |bytes| bytes[100] ^= 1);
    drop(store);
    let mut store = Store::open(&folder.0).unwrap();
    assert!(store.contains(&key(1)) && store.get(&key(1)).unwrap().is_none());
    store.put_failure(&failure(1)).unwrap();
    assert_eq!(store.get_failure(&key(1)).unwrap(), Some(failure(1)), "a damaged result hides no failure");
    store.put(&record(1)).unwrap();
    assert_eq!((store.get(&key(1)).unwrap(), store.len()), (Some(record(1)), 1));
    assert_eq!(Store::open(&folder.0).unwrap().get(&key(1)).unwrap(), Some(record(1)));
}

#[test]
fn of_two_copies_the_whole_one_is_used_and_kept() {
    for (damaged, has_index) in [(0, true), (1, true), (0, false), (1, false)] {
        let folder = Folder::new();
        let mut writers = [folder.store(), folder.store()];
        writers.iter_mut().for_each(|store| store.put(&record(1)).unwrap());
        drop(writers);
        let mut store = Store::open(&folder.0).unwrap();
        let path = store.path(&store.segments[damaged]);
        change(&path, |bytes| bytes[300] ^= 0x40);
        if !has_index {
            fs::remove_file(segment::index_path(&path)).unwrap();
        }
        store.refresh().unwrap();
        assert_eq!(store.get(&key(1)).unwrap(), Some(record(1)), "copy {damaged} is damaged");
        let cleaned = store.clean(1, 1, false).unwrap();
        assert_eq!((cleaned.kept, cleaned.dropped, cleaned.damaged), (1, 0, 1));
        assert_eq!(store.get(&key(1)).unwrap(), Some(record(1)));
    }
}

/// A record that passes its check and says something else than its key: as good as damaged.
#[test]
fn of_two_copies_the_one_that_is_understood_is_used_and_kept() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.append(&[(Kind::Result, key(1), b"{}".to_vec())]).unwrap();
    store.append(&[(Kind::Result, key(1), serde_json::to_vec(&record(1)).unwrap())]).unwrap();
    store.append(&[(Kind::Result, key(2), b"{}".to_vec()), (Kind::Result, key(2), b"[]".to_vec())]).unwrap();
    store.refresh().unwrap();
    for _ in 0..2 {
        assert_eq!(store.get(&key(1)).unwrap(), Some(record(1)));
        assert_eq!(store.get(&key(2)).unwrap(), None);
        store.clean(1, 1, false).unwrap();
        assert_eq!(store.results.len(), 3, "what is not understood is all kept");
    }
}

#[test]
fn the_last_failure_that_is_whole_is_told() {
    let folder = Folder::new();
    let mut store = folder.store();
    let failures = ["first", "second"].map(|error| Failure { error: error.to_owned(), ..failure(1) });
    failures.iter().for_each(|failure| store.put_failure(failure).unwrap());
    let last = store.failures[&key(1)][1].entry.offset as usize;
    change(&store.path(&store.segments[0]), |bytes| bytes[last + 100] ^= 1);
    assert_eq!(store.get_failure(&key(1)).unwrap().as_ref(), Some(&failures[0]));
}

#[test]
fn a_store_that_vanishes_is_noticed() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put(&record(1)).unwrap();
    store.check().unwrap();
    let moved = folder.0.with_extension("moved");
    fs::rename(&folder.0, &moved).unwrap();
    assert!(store.check().is_err());
    let message = store.put(&record(2)).unwrap_err().to_string();
    assert!(message.contains(" has lost segments/") && message.contains("run the same command again"), "{message}");
    fs::create_dir_all(&folder.0).unwrap();
    assert!(store.put(&record(2)).is_err(), "another store in its place is not it");
    fs::remove_dir_all(&folder.0).unwrap();
    fs::rename(&moved, &folder.0).unwrap();
    store.put(&record(3)).unwrap();
    let fresh = folder.store();
    fs::remove_dir_all(&folder.0).unwrap();
    assert!(fresh.check().is_err(), "also one that has not been written to");
}

#[test]
fn what_cannot_be_cleaned_up_is_left_as_it_was() {
    let folder = Folder::new();
    for n in 0..3 {
        folder.store().put(&record(n)).unwrap();
    }
    let mut store = Store::open(&folder.0).unwrap();
    change(&store.path(&store.segments[1]), |bytes| bytes.truncate(500));
    // No folder can be made there.
    fs::write(store.damaged_folder(), "").unwrap();
    let before = files(&folder.0);
    assert!(store.clean(1, 1, false).is_err());
    assert_eq!(files(&folder.0), before);
    fs::remove_file(store.damaged_folder()).unwrap();
    let cleaned = store.clean(1, 1, false).unwrap();
    assert_eq!((cleaned.kept, cleaned.damaged, cleaned.damaged_bytes), (2, 1, 500 - 8));
}

#[test]
fn a_clean_store_takes_no_room_to_clean() {
    let folder = Folder::new();
    let mut store = folder.store();
    (0..3).for_each(|n| store.put(&record(n)).unwrap());
    let before = files(&folder.0);
    assert_eq!(store.clean(1, 1, false).unwrap(), Cleaned { kept: 3, ..Cleaned::default() });
    assert_eq!(files(&folder.0), before);
    folder.store().put(&record(0)).unwrap();
    let planned = store.clean(1, 1, true).unwrap();
    assert_eq!((planned.kept, planned.dropped), (3, 1));
    assert_eq!(store.clean(1, 1, false).unwrap(), planned);
    let size: usize = files(&folder.0.join(SEGMENTS)).values().map(Vec::len).sum();
    assert_eq!(size as u64, planned.room, "it is known before how much room it takes");
}

#[test]
fn cleaning_up_while_others_write_loses_nothing() {
    let folder = Folder::new();
    folder.store();
    let writers = AtomicU32::new(3);
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let (folder, writers) = (&folder, &writers);
            scope.spawn(move || {
                for n in 0..20 {
                    folder.store().put(&record(100 * writer + n)).unwrap();
                }
                writers.fetch_sub(1, Ordering::Relaxed);
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                while writers.load(Ordering::Relaxed) > 0 {
                    Store::open(&folder.0).unwrap().clean(1, 1, false).unwrap();
                }
            });
        }
    });
    let mut store = Store::open(&folder.0).unwrap();
    for _ in 0..2 {
        assert_eq!((store.len(), store.damaged().len()), (60, 0));
        assert!(store.keys().iter().all(|key| store.get(key).unwrap().is_some()));
        store.clean(1, 1, false).unwrap();
    }
}

#[test]
fn what_a_killed_clean_up_leaves_is_swept() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put(&record(1)).unwrap();
    let before = files(&folder.0);
    for name in ["7.tmp", "7.idx", "8.idx"] {
        fs::write(folder.0.join(SEGMENTS).join(name), "half").unwrap();
    }
    let unfinished = Writer::create(&folder.0.join(SEGMENTS).join("9.tmp")).unwrap();
    assert_eq!(Store::open(&folder.0).unwrap().len(), 1);
    store.clean(1, 1, false).unwrap();
    let left: Vec<PathBuf> = files(&folder.0).into_keys().filter(|path| !before.contains_key(path)).collect();
    assert_eq!(left, ["9.idx", "9.tmp"].map(|name| folder.0.join(SEGMENTS).join(name)), "somebody is at it");
    drop(unfinished);
    store.clean(1, 1, false).unwrap();
    assert_eq!(files(&folder.0), before);
}

#[test]
fn a_damaged_mark_costs_nothing() {
    let folder = Folder::new();
    folder.store().put(&record(1)).unwrap();
    let mark = folder.0.join(MARK);
    for text in ["", "{\"format\":3}", "{\"form", "\u{0}"] {
        fs::write(&mark, text).unwrap();
        let message = Store::open(&folder.0).err().unwrap().to_string();
        assert!(message.contains("raddle-store.json is damaged: delete that file"), "{message}");
        assert_eq!(Store::create(&folder.0).err().unwrap().to_string(), message);
        fs::remove_file(&mark).unwrap();
        assert_eq!(Store::open(&folder.0).unwrap().len(), 1);
        assert_eq!(folder.store().len(), 1);
        assert!(mark.exists());
    }
}

#[test]
fn other_folders_are_left_alone() {
    let folder = Folder::new();
    assert!(Store::open(&folder.0).err().unwrap().to_string().ends_with("is not a store of results"));
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("thesis.tex"), "").unwrap();
    assert!(Store::create(&folder.0).is_err());
    fs::write(folder.0.join(MARK), "{\"format\": 99}").unwrap();
    let message = Store::open(&folder.0).err().unwrap().to_string();
    assert!(message.contains("is a store of format 99, this version of Raddle has format 1"), "{message}");
}

#[test]
fn results_that_cannot_be_read_are_counted_by_version() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put_all(&[record(1), record(2)]).unwrap();
    let old = |n: u64, schema: u32| {
        let text = format!(r#"{{"identity": {{"schema": {schema}, "epoch": 3, "was": true}}, "cycles": 7}}"#);
        (Kind::Result, Key::of(&n.to_be_bytes()), text.into_bytes())
    };
    store.append(&[old(1, 5), old(2, 5), old(3, 7), (Kind::Result, Key::of(b"?"), b"{".to_vec())]).unwrap();
    let by = |schema| Some(Versions { schema, epoch: 3 });
    assert_eq!(store.unreadable().unwrap(), BTreeMap::from([(None, 1), (by(5), 2), (by(7), 1)]));
    assert_eq!(Store::open(&folder.0).unwrap().unreadable().unwrap().len(), 3);
}
