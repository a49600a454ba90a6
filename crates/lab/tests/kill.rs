//! A writer that is killed loses nothing that it had reported done.
//!
//! The test starts itself as another process, which writes records as fast as it can and says when each is done.
#![allow(missing_docs, clippy::print_stdout, reason = "a test that talks to its parent")]

use raddle_lab::record::{Identity, MachineSpec, SCHEMA};
use raddle_lab::{Key, Record, Store};
use raddle_sim::config::{Machine, Source};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const FOLDER: &str = "RADDLE_TEST_STORE";
const FIRST: &str = "RADDLE_TEST_FIRST";

fn record(seed: u64, machine: &Arc<MachineSpec>) -> Record {
    let identity = Identity {
        schema: SCHEMA,
        epoch: 1,
        workload: "w".to_owned(),
        ptx: Key([1; 32]),
        driver: Key([2; 32]),
        size: "tiny".to_owned(),
        parameters: BTreeMap::new(),
        seed,
        heap_offset: 0,
        virtualize: None,
        machine: Arc::clone(machine),
    };
    Record { identity, checked: 1, kernels: Vec::new() }
}

fn machine() -> Arc<MachineSpec> {
    let config = Machine::load(Source::Preset("gtx480"), &[] as &[&str]).unwrap().config;
    Arc::new(MachineSpec::new(&config, &raddle_mech::registry()).unwrap())
}

/// The child; does nothing when the test is run as a test.
#[test]
fn writer() {
    let (Ok(folder), Ok(first)) = (std::env::var(FOLDER), std::env::var(FIRST)) else { return };
    let machine = machine();
    let mut store = Store::create(Path::new(&folder)).unwrap();
    let first: u64 = first.parse().unwrap();
    for seed in first..first + 100_000 {
        store.put(&record(seed, &machine)).unwrap();
        println!("done {seed}");
        std::io::stdout().flush().unwrap();
    }
}

fn start(folder: &Path, first: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["writer", "--exact", "--nocapture"]).env(FOLDER, folder).env(FIRST, first.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a writer and gives what it had reported.
fn killed(mut child: Child) -> Vec<u64> {
    child.kill().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let done = lines.map_while(Result::ok).filter_map(|line| line.split_once("done ")?.1.parse().ok()).collect();
    child.wait().unwrap();
    done
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn twenty_kills_lose_nothing() {
    let folder = Folder(std::env::temp_dir().join(format!("raddle-kill-{}", std::process::id())));
    let machine = machine();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut done = Vec::new();
    for round in 0..20 {
        // Two at once, whose records overlap.
        let first = round * 1000;
        let children = [start(&folder.0, first), start(&folder.0, first + 5)];
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(random % 150_000));
        children.into_iter().for_each(|child| done.extend(killed(child)));
        let Ok(store) = Store::open(&folder.0) else {
            assert!(done.is_empty(), "a store with results can be opened");
            continue;
        };
        for seed in &done {
            let want = record(*seed, &machine);
            assert_eq!(store.get(&want.identity.key().unwrap()).unwrap(), Some(want), "record {seed} in round {round}");
        }
    }
    assert!(done.len() > 20, "the writers wrote too little for a test: {}", done.len());
    let mut store = Store::open(&folder.0).unwrap();
    let before = store.keys();
    store.clean(SCHEMA, 1, false).unwrap();
    assert_eq!(store.keys(), before);
    assert!(store.damaged().is_empty());
}
