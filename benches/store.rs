//! What a large store of results costs: inserting, opening, looking up.
//!
//! `store FOLDER [RECORDS]` makes a store in FOLDER with 10^6 records of the size real ones have, unless RECORDS says
//! otherwise, unless there is one, in segments of 50,000 as if many processes had written them; then it is opened and read. Records are
//! synced a thousand at a time.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)] // A benchmark prints its result.

use raddle_lab::record::{Identity, KernelCounts, MachineSpec, SCHEMA};
use raddle_lab::{Key, Record, Store};
use raddle_sim::config::{Machine, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const BATCH: u64 = 1000;
const SEGMENT: u64 = 50_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = args.first() else { return println!("store FOLDER [RECORDS]") };
    let records = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let folder = Path::new(folder);
    if !folder.exists() {
        insert(folder, records);
    }
    open(folder);
}

fn insert(folder: &Path, records: u64) {
    let config = Machine::load(Source::Preset("gtx480"), &[] as &[&str]).expect("a preset").config;
    let machine = Arc::new(MachineSpec::new(&config, &raddle_mech::registry()).expect("a preset"));
    let start = Instant::now();
    let mut next = 0;
    while next < records {
        let mut store = Store::create(folder).expect("a folder");
        let end = (next + SEGMENT).min(records);
        while next < end {
            let batch: Vec<Record> = (next..(next + BATCH).min(end)).map(|seed| record(seed, &machine)).collect();
            store.put_all(&batch).expect("room on the disk");
            next += batch.len() as u64;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("inserted {records} records in {seconds:.1} s: {:.0} a second", records as f64 / seconds);
}

fn open(folder: &Path) {
    let before = resident();
    let start = Instant::now();
    let store = Store::open(folder).expect("a store");
    let seconds = start.elapsed().as_secs_f64();
    let memory = resident() - before;
    println!("opened {} records in {seconds:.3} s, {memory:.0} MB of memory", store.len());
    let keys = store.keys();
    let start = Instant::now();
    let found = keys.iter().filter(|key| store.contains(key)).count();
    println!("looked up {found} keys in {:.3} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let read = keys.iter().step_by((keys.len() / 1000).max(1)).filter(|key| store.get(key).is_ok_and(|r| r.is_some()));
    println!("read {} records in {:.3} s", read.count(), start.elapsed().as_secs_f64());
}

fn record(seed: u64, machine: &Arc<MachineSpec>) -> Record {
    let identity = Identity {
        schema: SCHEMA,
        epoch: raddle_sim::EPOCH,
        workload: "generated".to_owned(),
        ptx: Key([1; 32]),
        driver: Key([2; 32]),
        size: "tiny".to_owned(),
        parameters: BTreeMap::from([("n".to_owned(), 1024)]),
        seed,
        heap_offset: 0,
        virtualize: None,
        machine: Arc::clone(machine),
    };
    let counters = raddle_lab::metric::counters().enumerate().filter(|(n, _)| n % 2 == 0);
    let counters = counters.map(|(n, name)| (name, seed * 7919 % 1_000_003 + n as u64)).collect();
    let kernel = KernelCounts { kernel: "kernel".to_owned(), launches: 1, cycles: 100_000 + seed, counters };
    Record { identity, checked: 1, kernels: vec![kernel] }
}

/// Resident memory of this process in MB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
