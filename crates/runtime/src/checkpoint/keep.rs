//! Keeping the state of a device while its launches run, and going on from it.

use super::identity::{self, Identity};
use super::{Checkpoints, Host, file};
use crate::device::RunOptions;
use crate::error::{Error, Problem};
use crate::ptx_file::PtxFile;
use crate::timing::MemoryCounters;
use raddle_exec::Launch;
use raddle_sim::gpu::{Keeper, Progress, Wish, WriteState};
use raddle_sim::saved::{self, Pass, Saved};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A launch as the host asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: Vec<u8>,
    /// The hash of what the host had done before.
    host: [u8; 32],
}

/// A launch that has ended.
#[derive(Clone, Serialize, Deserialize)]
struct Ended {
    /// Its [`LaunchResult`](raddle_sim::result::LaunchResult), saved.
    result: Vec<u8>,
    wall: Duration,
}

/// What a launch begins with.
pub(crate) enum Start<'d> {
    /// It is made.
    Fresh,
    /// It goes on from this state, with these counters before it.
    GoesOn(MemoryCounters, &'d [u8]),
    /// It had ended: what was saved of its result.
    Ended(Vec<u8>),
}

/// What is kept of a device.
pub(crate) struct Keep<'d> {
    checkpoints: &'d Checkpoints,
    run: (&'d RunOptions, &'d PtxFile),
    /// Made when it is needed, as many runs are short.
    identity: Option<Identity>,
    pub(crate) host: Host,
    /// Launches so far, with the one under way.
    marks: Vec<Mark>,
    ended: Vec<Ended>,
    /// Those of the checkpoint.
    known: Vec<Mark>,
    /// The launch that was under way: how long, what had been counted before it, and its state.
    state: Option<(Duration, MemoryCounters, &'d [u8])>,
    next: Instant,
    /// The launch under way: when it began, and how long it had run before.
    begun: (Instant, Duration),
    /// The last checkpoint that was written, or why none was.
    pub(crate) last: Option<Result<PathBuf, String>>,
}

impl<'d> Keep<'d> {
    /// For a device; from the checkpoint, if there is one.
    ///
    /// # Errors
    /// When it is of another run.
    pub(crate) fn new(checkpoints: &'d Checkpoints, options: &'d RunOptions, ptx: &'d PtxFile) -> Result<Self, Error> {
        let now = Instant::now();
        let mut keep = Self {
            checkpoints,
            run: (options, ptx),
            identity: None,
            host: Host::default(),
            marks: Vec::new(),
            ended: Vec::new(),
            known: Vec::new(),
            state: None,
            next: now + checkpoints.every,
            begun: (now, Duration::ZERO),
            last: None,
        };
        if let Some(found) = &checkpoints.resume {
            let refuse = |why: String| {
                let path = found.path.display();
                let problem = Problem::new(format!("{path} belongs to another run: {why}"));
                problem.help("use the command that wrote it, or start again without --resume")
            };
            match keep.read(found.contents()) {
                Ok(None) => {}
                _ if checkpoints.if_possible => keep.forget(),
                Ok(Some(difference)) => return Err(refuse(difference).into()),
                Err(error) => return Err(refuse(error.to_string()).into()),
            }
        }
        Ok(keep)
    }

    fn forget(&mut self) {
        (self.host, self.ended, self.known, self.state) = (Host::default(), Vec::new(), Vec::new(), None);
    }

    fn identity(&mut self) -> &mut Identity {
        let (options, ptx) = self.run;
        self.identity.get_or_insert_with(|| identity::identity(options, ptx))
    }

    /// Reads a checkpoint; says what differs if it is of another run.
    fn read(&mut self, contents: &'d [u8]) -> Result<Option<String>, saved::Error> {
        let mut pass = Pass::reading(contents);
        let (mut reached, mut was) = ((0usize, 0u64), Identity::new());
        pass.value(&mut reached)?;
        pass.value(&mut was)?;
        let difference = identity::difference(&was, self.identity());
        if difference.is_some() {
            return Ok(difference);
        }
        let (mut wall, mut before) = (Duration::ZERO, MemoryCounters::default());
        pass.value(&mut self.known)?;
        pass.value(&mut self.ended)?;
        self.host.visit_reads(&mut pass)?;
        pass.value(&mut wall)?;
        before.visit(&mut pass)?;
        if self.known.len() != self.ended.len() + 1 {
            return Err(saved::Error::Damaged("it has no launch under way"));
        }
        self.state = Some((wall, before, pass.rest()));
        Ok(None)
    }

    /// The host makes a launch.
    ///
    /// # Errors
    /// When it is not the one it made before.
    pub(crate) fn start(&mut self, kernel: &str, launch: &Launch) -> Result<Start<'d>, Error> {
        let Launch { grid, block, dynamic_shared, .. } = *launch;
        let (kernel, params) = (kernel.to_owned(), launch.params.clone());
        let mark = Mark { kernel, grid, block, shared: dynamic_shared, params, host: self.host.hash() };
        let number = self.marks.len();
        self.begun = (Instant::now(), Duration::ZERO);
        let Some(known) = self.known.get(number) else {
            self.marks.push(mark);
            return Ok(Start::Fresh);
        };
        if let Some(what) = differs(known, &mark) {
            return Err(self.refuse(&format!("launch {} {what}", number + 1)));
        }
        self.marks.push(mark);
        if let Some(Ended { result, wall }) = self.ended.get(number) {
            self.begun.1 = *wall;
            return Ok(Start::Ended(result.clone()));
        }
        if !self.host.has_repeated_all() {
            return Err(self.refuse(&format!("before launch {} the host read something else", number + 1)));
        }
        Ok(match self.state.take() {
            Some((wall, before, state)) => {
                self.begun.1 = wall;
                Start::GoesOn(before, state)
            }
            None => Start::Fresh,
        })
    }

    fn refuse(&self, why: &str) -> Error {
        let path = self.checkpoints.resume.as_ref().map(|found| found.path.display().to_string());
        Problem::new(format!("{} belongs to another run: {why}", path.unwrap_or_default()))
            .help("use the command that wrote it, or start again without --resume")
            .into()
    }

    /// How long the launch under way has run, with the time before it went on.
    pub(crate) fn wall(&self) -> Duration {
        self.begun.1 + self.begun.0.elapsed()
    }

    /// A launch has completed.
    pub(crate) fn ended(&mut self, result: &mut impl Saved) {
        let (mut bytes, wall) = (Vec::new(), self.wall());
        // Memory takes everything.
        if result.visit(&mut Pass::writing(&mut bytes)).is_ok() && self.is_under_way() {
            self.ended.push(Ended { result: bytes, wall });
        }
    }

    /// Whether all launches but the last have completed, so that there is something to go on from.
    fn is_under_way(&self) -> bool {
        self.marks.len() == self.ended.len() + 1
    }

    /// The keeper of the launch under way, before which the memory system had counted `before`.
    pub(crate) fn keeper(&mut self, before: &MemoryCounters) -> LaunchKeeper<'_, 'd> {
        LaunchKeeper { before: before.clone(), keep: self }
    }

    fn write(&mut self, before: &mut MemoryCounters, progress: Progress, state: WriteState<'_>) {
        let wall = &mut self.wall();
        self.identity();
        let Self { checkpoints, identity, host, marks, ended, .. } = self;
        let written = file::write(&checkpoints.folder, |pass| {
            pass.value(&mut (marks.len(), progress.cycles))?;
            pass.value(identity.get_or_insert_default())?;
            pass.value(marks)?;
            pass.value(ended)?;
            host.visit_reads(pass)?;
            pass.value(wall)?;
            before.visit(pass)?;
            state(pass)
        });
        let written = written.map_err(|error| format!("no checkpoint in {}: {error}", checkpoints.folder.display()));
        // What goes wrong every time is told once.
        if let Err(error) = &written
            && self.last.as_ref() != Some(&written)
        {
            (checkpoints.tell)(error);
        }
        self.last = Some(written);
        self.next = Instant::now() + self.checkpoints.every;
    }
}

/// What differs between a launch and the one that was made in its place.
fn differs(was: &Mark, is: &Mark) -> Option<String> {
    let Mark { kernel, grid, block, shared, params, host } = is;
    if was.kernel != *kernel {
        Some(format!("was of kernel `{}`, is of `{kernel}`", was.kernel))
    } else if (was.grid, was.block, was.shared) != (*grid, *block, *shared) {
        let shape = |grid: &[u32; 3], block: &[u32; 3], shared: u32| {
            format!("grid {grid:?}, block {block:?}, {shared} bytes of shared memory")
        };
        Some(format!("was {}, is {}", shape(&was.grid, &was.block, was.shared), shape(grid, block, *shared)))
    } else if was.params != *params {
        Some("has other arguments".to_owned())
    } else if was.host != *host {
        Some("has other input: the host wrote something else to memory before it".to_owned())
    } else {
        None
    }
}

/// Keeps the state of one launch.
pub(crate) struct LaunchKeeper<'k, 'd> {
    keep: &'k mut Keep<'d>,
    before: MemoryCounters,
}

impl Keeper for LaunchKeeper<'_, '_> {
    fn wish(&mut self) -> Wish {
        if !self.keep.is_under_way() {
            Wish::None
        } else if self.keep.checkpoints.must_stop() {
            Wish::Stop
        } else if Instant::now() >= self.keep.next {
            Wish::Save
        } else {
            Wish::None
        }
    }

    fn keep(&mut self, progress: Progress, state: WriteState<'_>) {
        self.keep.write(&mut self.before, progress, state);
    }
}
