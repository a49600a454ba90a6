//! What workloads launch: how many blocks of how many threads, how often, and how much they execute.
//!
//! A machine is full when launches have blocks enough for it, and how many they have is known before anything is simulated.
//! So it is counted once, by the executor without time, and kept in `launches.csv`. `cargo xtask launches` writes that file;
//! a test counts sizes `tiny` and `small` again.

use crate::error::Error;
use crate::manifest::Size;
use crate::run::{Ran, Request};
use crate::suite::Workload;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::outcome::Launched;
use raddle_runtime::timing::Watch;
use raddle_runtime::{Engine, EngineOptions};

/// The file, whose first line is [`HEAD`].
pub static CENSUS: &str = include_str!("../launches.csv");

/// The names of its columns.
pub const HEAD: &str = "workload,size,kernel,blocks,threads,shared,launches,thread_insts";

/// Launches of one kernel with the same shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launches {
    /// Kernel.
    pub kernel: String,
    /// Thread blocks of a launch.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// How many such launches.
    pub count: u64,
    /// Instructions by thread of all of them.
    pub thread_insts: u64,
}

impl Launches {
    fn new(launched: &Launched) -> Self {
        Self {
            kernel: launched.kernel.clone(),
            blocks: launched.grid.iter().map(|n| u64::from(*n)).product(),
            threads: launched.block.iter().product(),
            shared: launched.shared,
            count: 1,
            thread_insts: launched.report.thread_insts,
        }
    }

    fn has_shape_of(&self, other: &Self) -> bool {
        (&self.kernel, self.blocks, self.threads, self.shared)
            == (&other.kernel, other.blocks, other.threads, other.shared)
    }

    /// A line of the census after workload and size.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(',');
        let kernel = fields.next()?.to_owned();
        let mut number = || fields.next()?.parse::<u64>().ok();
        let (blocks, threads, shared) = (number()?, number()?, number()?);
        let (threads, shared) = (threads.try_into().ok()?, shared.try_into().ok()?);
        Some(Self { kernel, blocks, threads, shared, count: number()?, thread_insts: number()? })
    }
}

impl Workload {
    /// What it launches at a size, by the census, in the order of the first launches of each shape. Nothing where the
    /// census does not have it.
    #[must_use]
    pub fn launches(&self, size: Size) -> Vec<Launches> {
        let own = format!("{},{size},", self.name);
        CENSUS.lines().filter_map(|line| Launches::parse(line.strip_prefix(&own)?)).collect()
    }

    /// Counts the same by running it without time.
    ///
    /// # Errors
    /// When it cannot be run, or its results are wrong.
    pub fn count_launches(&self, size: Size) -> Result<Vec<Launches>, Error> {
        let module = self.module()?;
        let warp_width = self.manifest(&module)?.warp_width.unwrap_or(32);
        let engine = EngineOptions { engine: Engine::Fast, warp_width };
        let setup = Setup::new(RunOptions { engine, ..RunOptions::default() });
        let Ran { launches, wrong, .. } = self.run(&module, &setup, Watch::default(), &Request::new(size))?;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let mut counted: Vec<Launches> = Vec::new();
        for new in launches.iter().map(Launches::new) {
            match counted.iter_mut().find(|known| known.has_shape_of(&new)) {
                Some(known) => {
                    known.count += 1;
                    known.thread_insts += new.thread_insts;
                }
                None => counted.push(new),
            }
        }
        Ok(counted)
    }

    /// The lines of the census that say this, each with its end.
    #[must_use]
    pub fn census_lines(&self, size: Size, launches: &[Launches]) -> String {
        let line = |l: &Launches| {
            let Launches { kernel, blocks, threads, shared, count, thread_insts } = l;
            format!("{},{size},{kernel},{blocks},{threads},{shared},{count},{thread_insts}\n", self.name)
        };
        launches.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_of_a_workload_and_is_read() {
        let mut lines = CENSUS.lines();
        assert_eq!(lines.next(), Some(HEAD));
        let sizes = |workload: &Workload| Size::ALL.map(|size| workload.census_lines(size, &workload.launches(size)));
        let again: String = crate::all().iter().flat_map(sizes).collect();
        assert_eq!(again.lines().collect::<Vec<_>>(), lines.collect::<Vec<_>>());
        let all = crate::all().iter().flat_map(|workload| Size::ALL.map(|size| (workload, size)));
        for (workload, size) in all {
            assert!(!workload.launches(size).is_empty(), "{} at size {size}: `cargo xtask launches`", workload.name);
        }
    }

    #[test]
    fn launches_of_one_shape_are_one_line() {
        let bfs = crate::find("bfs").unwrap();
        let launches = bfs.launches(Size::Tiny);
        assert!(launches.iter().any(|l| l.count > 1));
        assert!(launches.iter().enumerate().all(|(n, l)| launches[..n].iter().all(|other| !other.has_shape_of(l))));
        assert_eq!(Launches::parse("k,1,2,3,4"), None);
    }
}
