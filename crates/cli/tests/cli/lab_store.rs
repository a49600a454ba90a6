//! What may happen to a store of results: kills, a full disk, damage, a folder that goes away.

use super::Folder;
use super::lab::{EXPERIMENT, POINTS, report, results, start, undisturbed};
use raddle_lab::Store;
use raddle_testkit::missing;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Results that are listed, and pieces that are none.
fn listed(folder: &Folder, store: &str) -> (usize, usize) {
    Store::open(&folder.0.join(store)).map_or((0, 0), |store| (store.len(), store.damaged().len()))
}

/// Kills runs of an experiment, each after it has written a result and before all points have one. Every sweep that was
/// killed so is then run to its end.
#[cfg(unix)]
#[allow(clippy::print_stdout, reason = "it says what it did")]
fn kill(kills: usize) {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let calm = undisturbed(&folder);
    let begun = Instant::now();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut hits, mut misses, mut torn, mut sweeps) = (0, 0, 0, 0);
    while hits < kills {
        sweeps += 1;
        assert!(misses < 20 + kills, "too few kills come in time: {hits} of {}", hits + misses);
        let store = format!("store-{sweeps}");
        let (mut known, mut pieces) = (0, 0);
        while hits < kills && known + 1 < POINTS {
            let wanted = (known + 1 + random.below(4) as usize).min(POINTS - 1);
            let mut child = start(&folder, &["lab", "run", "e.toml", "--jobs", "1", "--store", &store]);
            while child.try_wait().unwrap().is_none() && listed(&folder, &store).0 < wanted {
                std::thread::sleep(Duration::from_micros(100));
            }
            std::thread::sleep(Duration::from_micros(random.below(3000)));
            // SIGKILL, which cannot be caught, to this process alone.
            let _ = child.kill();
            let is_killed = child.wait().unwrap().signal() == Some(9);
            let now = listed(&folder, &store);
            assert!(now.0 >= known, "{known} results before, {} after", now.0);
            assert!(now.0 >= wanted || !is_killed);
            let is_hit = is_killed && now.0 > known && now.0 < POINTS;
            *(if is_hit { &mut hits } else { &mut misses }) += 1;
            torn += now.1 - pieces;
            (known, pieces) = now;
        }
        let last = folder.raddle(&["lab", "run", "e.toml", "--store", &store]);
        assert_eq!(last.code, 0, "{}", last.err);
        assert!(last.err.contains(&format!("24 points: {known} known, {} run", POINTS - known)), "{}", last.err);
        assert!(report(&folder, &store) == calm, "the report of sweep {sweeps} is another one");
        let kept = folder.raddle(&["lab", "gc", "--store", &store]);
        assert!(kept.out.starts_with("24 results kept"), "{}", kept.out);
        assert!(report(&folder, &store) == calm, "the report of sweep {sweeps} is another one after cleaning up");
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{hits} kills in {sweeps} sweeps, {torn} in the midst of a record, {misses} too late, {seconds:.1} s");
}

#[cfg(unix)]
#[test]
fn nothing_is_lost_to_kills() {
    kill(8);
}

/// All of it: `cargo nextest run -p raddle-cli --run-ignored only two_hundred`.
#[cfg(unix)]
#[test]
#[ignore = "takes a while"]
fn nothing_is_lost_to_two_hundred_kills() {
    kill(200);
}

/// The segments of a store.
fn segments(folder: &Folder, store: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder.0.join(store).join("segments")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect()
}

#[test]
fn what_is_damaged_is_run_again() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let calm = undisturbed(&folder);
    let path = segments(&folder, "calm").remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let lab = |args: &[&str]| folder.raddle(&[&["lab"], args, &["--store", "calm"]].concat());
    let listed = lab(&["ls"]);
    assert_eq!((listed.code, listed.out.lines().count()), (0, POINTS));
    assert_eq!(listed.err, "1 result left out: damaged. `raddle lab run` runs damaged points again\n");
    let early = lab(&["report", "e.toml", "--output", "early"]);
    assert!(early.code == 1 && early.err.contains("1 result damaged and treated as missing"), "{}", early.err);
    let planned = lab(&["gc", "--dry-run"]);
    assert!(
        planned.err.contains("1 piece that cannot be read (") && planned.err.contains("free space"),
        "{}",
        planned.err
    );
    let again = lab(&["run", "e.toml"]);
    assert!(again.err.starts_with("24 points: 23 known, 1 run in "), "{}", again.err);
    assert!(again.err.ends_with(" s; 1 result was damaged and run again\n"), "{}", again.err);
    assert!(report(&folder, "calm") == calm);
    let cleaned = lab(&["gc"]);
    assert!(cleaned.out.starts_with("24 results kept, 0 of older versions dropped, 0 copies"), "{}", cleaned.out);
    assert!(cleaned.err.ends_with(" bytes) put aside in calm/damaged\n"), "{}", cleaned.err);
    assert_eq!(std::fs::read_dir(folder.0.join("calm/damaged")).unwrap().count(), 1);
    assert!(report(&folder, "calm") == calm);
}

#[test]
fn a_store_that_vanishes_ends_the_run() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(&folder.0).args(["lab", "run", "e.toml", "--jobs", "1"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while child.try_wait().unwrap().is_none() && listed(&folder, "raddle-store").0 == 0 {
        std::thread::sleep(Duration::from_micros(100));
    }
    std::fs::rename(folder.0.join("raddle-store"), folder.0.join("gone")).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("raddle-store has lost segments/") && said.contains("was it deleted or moved?"), "{said}");
    std::fs::rename(folder.0.join("gone"), folder.0.join("raddle-store")).unwrap();
    let rest = folder.raddle(&["lab", "run", "e.toml"]);
    assert_eq!(rest.code, 0, "{}", rest.err);
    assert!(report(&folder, "raddle-store") == undisturbed(&folder));
}

/// A small file system in memory, where one may make such; it goes away with its owner.
struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    fn new(path: &'a Path, kilobytes: u32) -> Option<Self> {
        std::fs::create_dir_all(path).ok()?;
        let size = format!("size={kilobytes}k");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &size, "none"]).arg(path).stderr(Stdio::null());
        command.status().ok()?.success().then_some(Self(path))
    }

    fn grow(&self, kilobytes: u32) {
        let options = format!("remount,size={kilobytes}k");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.0).status().unwrap().success());
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_damages_nothing() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let path = folder.0.join("small");
    let Some(mount) = Mount::new(&path, 64) else { return missing("the right to mount a file system") };
    let full = folder.raddle(&["lab", "run", "e.toml", "--store", "small/store"]);
    assert!(full.code == 2 && full.err.contains("cannot write"), "{}", full.err);
    let kept = results(&folder, "small/store");
    assert!(kept > 0 && kept < POINTS, "{kept}");
    mount.grow(4096);
    let rest = folder.raddle(&["lab", "run", "e.toml", "--store", "small/store"]);
    assert_eq!(rest.code, 0, "{}", rest.err);
    assert!(rest.err.starts_with(&format!("24 points: {kept} known, {} run", POINTS - kept)), "{}", rest.err);
    assert_eq!(report(&folder, "small/store"), undisturbed(&folder));
}

#[test]
fn a_full_disk_is_not_cleaned_up() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let path = folder.0.join("small");
    let Some(_mount) = Mount::new(&path, 4096) else { return missing("the right to mount a file system") };
    for shard in ["0/2", "1/2"] {
        let ran = folder.raddle(&["lab", "worker", "e.toml", "--shard", shard, "--store", "small/store"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let before: BTreeMap<PathBuf, Vec<u8>> = segments(&folder, "small/store")
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    // All that is left of the disk but a little.
    let filler = path.join("filler");
    let mut size = 4096;
    while size > 0 && std::fs::write(&filler, vec![0; size * 1024]).is_err() {
        size -= 4;
    }
    std::fs::write(&filler, vec![0; (size - 8) * 1024]).unwrap();
    let planned = folder.raddle(&["lab", "gc", "--store", "small/store", "--dry-run"]);
    let (_, room) = planned.err.split_once("it takes ").unwrap();
    let room = room.strip_suffix(" of free space\n").unwrap();
    let full = folder.raddle(&["lab", "gc", "--store", "small/store"]);
    assert!(full.code == 2 && full.err.contains(&format!("that takes {room} of free space")), "{}", full.err);
    let after: Vec<PathBuf> =
        std::fs::read_dir(path.join("store/segments")).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(after.len(), 4, "nothing is left behind: {after:?}");
    assert!(before.iter().all(|(path, bytes)| std::fs::read(path).unwrap() == *bytes));
    std::fs::remove_file(&filler).unwrap();
    let cleaned = folder.raddle(&["lab", "gc", "--store", "small/store"]);
    assert!(cleaned.out.starts_with("24 results kept"), "{}", cleaned.err);
    assert_eq!((segments(&folder, "small/store").len(), results(&folder, "small/store")), (1, POINTS));
    assert!(report(&folder, "small/store") == undisturbed(&folder));
}

/// A store that Raddle 0.1.0 wrote, with the experiment `e.toml`: two workloads at size tiny under `lrr` and `gto`.
const VERSION_0_1_0: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/store/0.1.0");

#[test]
fn a_store_of_an_older_version_is_read() {
    let folder = Folder::new();
    let from = Path::new(VERSION_0_1_0);
    std::fs::create_dir_all(folder.0.join("store/segments")).unwrap();
    for name in ["e.toml", "store/raddle-store.json", "store/segments/results.seg", "store/segments/results.idx"] {
        std::fs::copy(from.join(name), folder.0.join(name)).unwrap();
    }
    let lab = |args: &[&str]| folder.raddle(&[&["lab"], args, &["--store", "store"]].concat());
    let is_current = raddle_lab::record::SCHEMA == 6 && raddle_sim::EPOCH == 4;
    let listed = lab(&["ls", "--json"]);
    let is_left_out = listed.err.contains("written by another version of Raddle (schema 6, epoch 4;");
    assert!(listed.code == 0 && (listed.out.lines().count() == 4 || is_left_out && !is_current), "{}", listed.err);
    let ran = lab(&["run", "e.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // As long as the two workloads are what they were, too.
    assert!(ran.err.contains("4 known, 0 run") || !is_current, "{}", ran.err);
    let cleaned = lab(&["gc"]);
    let stale = if is_current { 0 } else { 4 };
    assert!(cleaned.out.starts_with(&format!("4 results kept, {stale} of older versions dropped")), "{}", cleaned.out);
}
