//! The census of launches, `crates/workloads/launches.csv`: what every workload launches at every size.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use raddle_workloads::launches::{CENSUS, HEAD};
use raddle_workloads::{Size, Workload};

use crate::Result;
use crate::files::root;

const PATH: &str = "crates/workloads/launches.csv";

/// Runs all workloads without time and writes the census or, with `check`, compares it.
pub fn run(check: bool) -> Result {
    let text = count()?;
    // What was compiled in may be older than the file.
    let old = fs::read_to_string(root().join(PATH)).unwrap_or_else(|_| CENSUS.to_owned());
    if text == old {
        println!("launches: {PATH} is up to date");
        return Ok(());
    }
    if check {
        let different = old.lines().zip(text.lines()).find(|(a, b)| a != b);
        let (was, is) = different.unwrap_or(("", "more lines or fewer"));
        return Err(format!("{PATH} is out of date: cargo xtask launches\n  was {was}\n  is  {is}").into());
    }
    fs::write(root().join(PATH), &text)?;
    println!("launches: wrote {} lines to {PATH}", text.lines().count());
    Ok(())
}

/// The whole file. Workloads are run on all cores.
fn count() -> Result<String> {
    let jobs: Vec<(&Workload, Size)> =
        raddle_workloads::all().iter().flat_map(|workload| Size::ALL.map(|size| (workload, size))).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; jobs.len()]);
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((workload, size)) = jobs.get(number) else { return };
            let counted = workload.count_launches(*size).map_err(|e| format!("{} {size}: {e}", workload.name));
            let lines = counted.map(|launches| workload.census_lines(*size, &launches));
            if let Ok(mut done) = done.lock() {
                done[number] = Some(lines);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(worker);
        }
    });
    let done = done.into_inner().map_err(|_| "a workload panicked")?;
    let lines = done.into_iter().flatten().collect::<std::result::Result<Vec<String>, String>>()?;
    Ok(format!("{HEAD}\n{}", lines.concat()))
}
