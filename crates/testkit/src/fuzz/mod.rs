//! Fuzzing on a stable compiler: valid inputs with small random changes, always the same ones for a seed.
//!
//! ```text
//!  seed ──► Target::input: a changed input ──► Target::check ──► Done: what was executed and compared
//!                                                   └──► Finding: a panic, or a result that differs, with its seed
//! ```
//!
//! * [`kernel`]: kernel files, changed so that they still load.
//! * [`execute`]: such a kernel on every functional engine; [`timed`]: on the timing model.
//! * [`generate`]: kernels made of what compilers do not write.
//! * [`generated`]: such a kernel on every functional engine; [`timed::Generated`]: on the timing model.
//! * [`timed::Contents`]: one whose time must not depend on what is in memory, with several contents.
//! * [`damage`]: files of any kind, changed so that they may be wrong.
//! * `orders`: the reference interpreter in several orders of threads, which says what can be compared.
//! * `panics`, `reduce`: panics as results, and findings made small.
//!
//! The case with seed `s` is the same whatever runs before it: a run of one case from `s` on repeats it.

pub mod damage;
pub mod execute;
pub mod generate;
pub mod generated;
pub mod kernel;
mod orders;
mod panics;
mod reduce;
pub mod timed;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use panics::caught;
pub use reduce::reduce;

/// Something that takes inputs.
pub trait Target {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The input of a seed; none when no change leads to one.
    fn input(&self, seed: u64) -> Option<Vec<u8>>;

    /// Gives an input to what is tested.
    ///
    /// # Errors
    /// What is wrong with what came out.
    fn check(&self, seed: u64, input: &[u8]) -> Result<Done, String>;
}

/// What was done with an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Launches, or files read.
    pub executions: u64,
    /// Those whose result was compared with another.
    pub compared: u64,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Seeds.
    pub cases: u64,
    /// Seeds that had no input.
    pub empty: u64,
    /// What was done with their inputs.
    pub done: Done,
    /// Inputs that showed something wrong.
    pub findings: u64,
}

/// An input that shows something wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The seed that makes it.
    pub seed: u64,
    /// What is wrong.
    pub what: String,
    /// The input.
    pub input: Vec<u8>,
}

impl Finding {
    /// What kind of finding it is: its first line without numbers.
    #[must_use]
    pub fn kind(&self) -> String {
        kind(&self.what)
    }
}

fn kind(what: &str) -> String {
    what.lines().next().unwrap_or_default().replace(|c: char| c.is_ascii_digit(), "")
}

/// How far to go: so many cases, or until then.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The first seed.
    pub seed: u64,
    /// Cases at most.
    pub count: u64,
    /// When to stop at the latest.
    pub end: Option<Instant>,
}

/// The case under way, for someone who looks after a run that hangs.
#[derive(Debug, Default)]
pub struct Watch(Mutex<Option<(u64, Instant)>>);

impl Watch {
    /// Nothing is under way.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The seed of the case under way, and for how long it has been.
    pub fn case(&self) -> Option<(u64, Duration)> {
        let case = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        case.map(|(seed, start)| (seed, start.elapsed()))
    }

    fn set(&self, case: Option<(u64, Instant)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = case;
    }
}

/// Gives the inputs of neighbouring seeds to a target; calls `found` with everything that is wrong.
pub fn run(target: &dyn Target, limits: Limits, watch: &Watch, mut found: impl FnMut(&Finding)) -> Tally {
    let mut tally = Tally::default();
    for seed in (0..limits.count).map(|n| limits.seed.wrapping_add(n)) {
        if limits.end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        watch.set(Some((seed, Instant::now())));
        tally.cases += 1;
        let input = match caught(|| target.input(seed)) {
            Ok(Some(input)) => input,
            Ok(None) => {
                tally.empty += 1;
                continue;
            }
            Err(what) => {
                tally.findings += 1;
                found(&Finding { seed, what: format!("no input: {what}"), input: Vec::new() });
                continue;
            }
        };
        match check(target, seed, &input) {
            Ok(done) => {
                tally.done.executions += done.executions;
                tally.done.compared += done.compared;
            }
            Err(what) => {
                tally.findings += 1;
                found(&Finding { seed, what, input });
            }
        }
    }
    watch.set(None);
    tally
}

/// [`Target::check`], with a panic as an error.
fn check(target: &dyn Target, seed: u64, input: &[u8]) -> Result<Done, String> {
    caught(|| target.check(seed, input))?
}
