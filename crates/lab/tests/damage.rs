//! Bits of a store are flipped and its files cut: no record that is whole is lost, and the report comes out the same.
#![allow(missing_docs, clippy::print_stdout, reason = "a test that says what it did")]

use raddle_lab::record::{Failure, SCHEMA};
use raddle_lab::report::Report;
use raddle_lab::work::{self, InMemory, Options, Results};
use raddle_lab::{Experiment, Grid, Key, Record, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXPERIMENT: &str = "title = 'T'\nworkloads = ['spmv', 'scalar-prod']\nsize = 'tiny'\n\
    [repeats]\ncount = 3\nvary = ['seed', 'heap']\n\
    [[axis]]\nname = 'scheduler'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
    [[figure]]\nname = 'speedup'\ntitle = 'Speedup'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'scheduler'\n";

const MARK: &str = "raddle-store.json";

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// An experiment that has been run to its end.
struct Calm {
    experiment: Experiment,
    grid: Grid,
    records: BTreeMap<Key, Record>,
    report: Vec<(String, Vec<u8>)>,
}

impl Calm {
    fn new() -> Self {
        let experiment = Experiment::parse("t", EXPERIMENT).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        work::run(&grid.points, &mut results, Options { jobs: 2, cores: 2 }, &|_| {}).unwrap();
        let record = |key: &Key| (*key, results.result(key).unwrap().unwrap());
        let records = grid.points.iter().map(|point| record(&point.key)).collect();
        let report = Report::new(&experiment, &grid, &results, "", None).unwrap().files;
        Self { experiment, grid, records, report }
    }

    /// The files of a store with all records, of some two or three copies, in three segments, and a failure.
    fn store(&self, folder: &Path) -> Files {
        let records: Vec<Record> = self.records.values().cloned().collect();
        for some in [&records[..8], &records[4..], &records[2..6]] {
            let mut store = Store::create(folder).unwrap();
            some.iter().for_each(|record| store.put(record).unwrap());
            let key = Key([7; 32]);
            let failure = Failure { key, title: "t".to_owned(), error: "e".to_owned(), is_refusal: false };
            store.put_failure(&failure).unwrap();
        }
        files(folder, folder)
    }

    fn report(&self, store: &Store) -> Vec<(String, Vec<u8>)> {
        Report::new(&self.experiment, &self.grid, store, "", None).unwrap().files
    }
}

fn files(root: &Path, folder: &Path) -> Files {
    let mut all = Files::new();
    for path in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if path.is_dir() {
            all.extend(files(root, &path));
        } else {
            all.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    all
}

/// Where records are in a segment, as the book describes it, and their keys.
fn frames(bytes: &[u8]) -> Vec<(Key, Range<usize>)> {
    let (mut at, mut frames) = (8, Vec::new());
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        let end = at + 60 + length;
        frames.push((Key(bytes[at + 12..at + 44].try_into().unwrap()), at..end));
        at = end;
    }
    frames
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Flips some bits and cuts some files.
fn damage(files: &mut Files, random: &mut Random, counts: &mut Counts) {
    let names: Vec<PathBuf> = files.keys().cloned().collect();
    for _ in 0..=random.below(6) {
        let Some(bytes) = files.get_mut(&names[random.below(names.len())]) else { continue };
        if bytes.is_empty() {
            continue;
        }
        let at = random.below(bytes.len());
        if random.below(4) == 0 {
            bytes.truncate(at);
            counts.cuts += 1;
        } else {
            bytes[at] ^= 1 << random.below(8);
            counts.flips += 1;
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    flips: usize,
    cuts: usize,
    marks: usize,
    /// Records that were lost with their only copy, or all of them, and run again.
    run_again: usize,
    /// Records that were there thanks to another copy.
    saved_by_copies: usize,
    put_aside: u64,
}

fn rounds(count: usize) {
    let calm = Calm::new();
    let begun = Instant::now();
    let root = Folder(std::env::temp_dir().join(format!("raddle-damage-{count}-{}", std::process::id())));
    let whole = calm.store(&root.0.join("whole"));
    let (mut random, mut counts) = (Random(0x2545_f491_4f6c_dd1d), Counts::default());
    let folder = root.0.join("store");
    for round in 0..count {
        let mut damaged = whole.clone();
        damage(&mut damaged, &mut random, &mut counts);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("segments")).unwrap();
        damaged.iter().for_each(|(path, bytes)| fs::write(folder.join(path), bytes).unwrap());

        let (mut good, mut hit) = (BTreeSet::new(), BTreeSet::new());
        for (path, bytes) in whole.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "seg")) {
            for (key, range) in frames(bytes) {
                let is_whole = damaged[path].get(range.clone()) == Some(&bytes[range]);
                if is_whole { &mut good } else { &mut hit }.insert(key);
            }
        }
        counts.saved_by_copies += good.intersection(&hit).count();

        let mut store = Store::create(&folder).unwrap_or_else(|error| {
            assert!(error.to_string().contains("delete that file"), "{error}");
            counts.marks += 1;
            fs::remove_file(folder.join(MARK)).unwrap();
            Store::create(&folder).unwrap()
        });
        let check = |store: &Store| {
            for (key, record) in &calm.records {
                let found = store.get(key).unwrap();
                assert_eq!(found.as_ref(), good.contains(key).then_some(record), "round {round}");
            }
        };
        check(&store);
        if round % 2 == 1 {
            counts.put_aside += store.clean(SCHEMA, raddle_sim::EPOCH, false).unwrap().damaged_bytes;
            check(&store);
        }
        // What a run would do, with results that are known.
        let missing = calm.records.iter().filter(|(key, _)| !store.has(key).unwrap());
        let missing: Vec<Record> = missing.map(|(_, record)| record.clone()).collect();
        counts.run_again += missing.len();
        if !missing.is_empty() {
            store.put_all(&missing).unwrap();
        }
        assert!(calm.report(&store) == calm.report, "round {round}: the report is another one");
        store.clean(SCHEMA, raddle_sim::EPOCH, false).unwrap();
        let store = Store::open(&folder).unwrap();
        assert!(calm.records.iter().all(|(key, record)| store.get(key).unwrap().as_ref() == Some(record)));
    }
    println!("{count} rounds in {:.1} s: {counts:?}", begun.elapsed().as_secs_f64());
    assert!(counts.run_again > 0 && counts.saved_by_copies > 0 && counts.put_aside > 0, "{counts:?}");
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn damage_costs_no_whole_record() {
    rounds(20);
}

/// All of it: `cargo nextest run -p raddle-lab --run-ignored only thousand`.
#[test]
#[ignore = "takes a while"]
fn a_thousand_damages_cost_no_whole_record() {
    rounds(1000);
}
