//! The files of a store of results, damaged: reading them never panics.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_lab::record::{Identity, KernelCounts, MachineSpec};
use raddle_lab::{Failure, Key, Record, Store};
use raddle_sim::config::{Machine, Source};
use raddle_testkit::fuzz::damage::damaged;
use raddle_testkit::fuzz::{Done, Target};

use crate::Result;
use crate::files::target;

/// A small store, one file of which is replaced by a damaged one for each input.
pub struct StoreFiles {
    folder: PathBuf,
    /// Its files with their contents.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// The text of a record.
    record: Vec<u8>,
}

impl StoreFiles {
    /// A store of a few results and a failure under the folder of build output.
    pub fn new() -> Result<Self> {
        let folder = target().join(format!("fuzz/store-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.parent().unwrap_or(&folder))?;
        let mut store = Store::create(&folder)?;
        for seed in 0..3 {
            store.put(&record(seed)?)?;
        }
        let (title, error) = ("a point".to_owned(), "it broke".to_owned());
        store.put_failure(&Failure { key: Key::of(b"failed"), title, error, is_refusal: false })?;
        drop(store);
        let mut files = Vec::new();
        read_all(&folder, &mut files)?;
        files.sort();
        let record = serde_json::to_vec(&record(0)?)?;
        Ok(Self { folder, files, record })
    }

    /// Reads everything there is in the store.
    fn read(&self) {
        let Ok(mut store) = Store::open(&self.folder) else { return };
        for key in store.keys() {
            let _ = store.get(&key);
        }
        let _ = (store.failures(), store.refresh());
        let _ = store.clean(0, 0, true);
    }
}

impl Drop for StoreFiles {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The files in a folder and the folders in it.
fn read_all(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Result {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, files)?;
        } else {
            files.push((path.clone(), fs::read(&path)?));
        }
    }
    Ok(())
}

fn record(seed: u64) -> Result<Record> {
    let machine = Machine::load(Source::default(), &[""; 0]).map_err(|_| "the default machine does not load")?;
    let identity = Identity {
        schema: 1,
        epoch: 1,
        workload: "w".to_owned(),
        ptx: Key::of(b"ptx"),
        driver: Key::of(b"driver"),
        size: "tiny".to_owned(),
        parameters: BTreeMap::from([("n".to_owned(), 4)]),
        seed,
        heap_offset: 0,
        virtualize: None,
        machine: Arc::new(MachineSpec::new(&machine.config, &raddle_mech::registry())?),
    };
    let counters = BTreeMap::from([("sm.warp_insts".to_owned(), 10 + seed)]);
    let kernels = vec![KernelCounts { kernel: "k".to_owned(), launches: 1, cycles: 100 * seed, counters }];
    Ok(Record { identity, checked: 1, kernels })
}

impl Target for StoreFiles {
    fn name(&self) -> &'static str {
        "store-file"
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        let choice = seed as usize % (self.files.len() + 1);
        let valid = self.files.get(choice).map_or(&self.record, |(_, bytes)| bytes);
        damaged(seed, std::slice::from_ref(valid))
    }

    fn check(&self, seed: u64, input: &[u8]) -> std::result::Result<Done, String> {
        let choice = seed as usize % (self.files.len() + 1);
        let Some((path, valid)) = self.files.get(choice) else {
            if let Ok(record) = serde_json::from_slice::<Record>(input) {
                let _ = (record.identity.key(), record.identity.title(), record.total("sm.warp_insts"));
            }
            return Ok(Done { executions: 1, compared: 0 });
        };
        fs::write(path, input).map_err(|e| e.to_string())?;
        let left = raddle_testkit::fuzz::caught(|| self.read());
        // Another store for the next one, whatever this one did to it.
        fs::write(path, valid).map_err(|e| e.to_string())?;
        left.map(|()| Done { executions: 1, compared: 0 })
    }
}
