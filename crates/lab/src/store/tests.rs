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

fn failure(n: u64) -> Failure {
    Failure {
        key: record(n).identity.key(),
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
            assert_eq!(store.get(&record(n).identity.key()).unwrap(), Some(record(n)));
        }
        assert_eq!(store.get(&record(4).identity.key()).unwrap(), None);
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
    assert_eq!(one.duplicates, 5);
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
    assert_eq!(planned, Cleaned { kept: 4, stale: 2, dropped: 1, busy: 1 }.with_failures(1));
    assert_eq!(store.len(), 7, "nothing has happened");
    assert_eq!(store.clean(1, 2, false).unwrap(), planned);
    assert_eq!(store.len(), 5);
    assert_eq!(store.get(&of_epoch(5).identity.key()).unwrap(), Some(of_epoch(5)));
    busy.put(&record(51)).unwrap();
    store.refresh().unwrap();
    assert_eq!(store.len(), 6, "the other writer goes on");
}

impl Cleaned {
    fn with_failures(self, n: usize) -> Self {
        Self { dropped: self.dropped + n, ..self }
    }
}

#[test]
fn a_damaged_record_is_missing() {
    let folder = Folder::new();
    let mut store = folder.store();
    store.put(&record(1)).unwrap();
    store.put(&record(2)).unwrap();
    let path = store.path(&store.segments[0]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[200] ^= 1;
    fs::write(&path, bytes).unwrap();
    drop(store);
    let mut store = Store::open(&folder.0).unwrap();
    assert_eq!(store.get(&record(1).identity.key()).unwrap(), None);
    assert_eq!(store.get(&record(2).identity.key()).unwrap(), Some(record(2)));
    assert_eq!(store.clean(1, 1, false).unwrap(), Cleaned { kept: 1, dropped: 1, ..Cleaned::default() });
    assert!(!store.contains(&record(1).identity.key()), "it can be run again");
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
    assert!(message.ends_with("is a store of format 99, this is format 1"), "{message}");
}
