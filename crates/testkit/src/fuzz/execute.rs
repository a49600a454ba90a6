//! Changed kernels on every functional engine: none panics, and all leave what the reference interpreter leaves.

use super::kernel::Corpus;
use super::orders::Kernel;
use super::{Done, Target};
use crate::engine::Engine;
use raddle_exec::Level;
use std::path::Path;

/// Thread-instructions of the interpreter.
const LIMIT: u64 = 100_000;
/// Thread-instructions of the other engines, whose threads may wait longer for each other.
const ENGINE_LIMIT: u64 = 1_000_000;

/// The target.
pub struct Execute(Corpus);

impl Execute {
    /// With the kernel files in a folder.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(folder: &Path) -> Result<Self, String> {
        Corpus::of_folder(folder).map(Self)
    }
}

impl Target for Execute {
    fn name(&self) -> &'static str {
        "execute"
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        self.0.mutant(seed).map(String::into_bytes)
    }

    fn check(&self, seed: u64, input: &[u8]) -> Result<Done, String> {
        let source = String::from_utf8_lossy(input);
        // Lines taken away from a finding may leave something that cannot be run.
        let Ok(kernel) = Kernel::new(&source, seed) else { return Ok(Done::default()) };
        let widths = &kernel.run.widths;
        let width = widths[(seed >> 8) as usize % widths.len()];
        let Ok((expected, executions)) = kernel.expected(width, LIMIT) else { return Ok(Done::default()) };
        let mut done = Done { executions, compared: 0 };
        let fast = Level::available().into_iter().map(Engine::Fast);
        for engine in fast.chain([Engine::Gather]) {
            let found = kernel.run_on(engine, width, ENGINE_LIMIT)?;
            done.executions += 1;
            let Some(expected) = &expected else { continue };
            done.compared += 1;
            if let Some(what) = kernel.difference(expected, &found)
                && !kernel.has_race(expected, width, LIMIT)
            {
                return Err(format!("{engine:?} at warp width {width}: {what}"));
            }
        }
        Ok(done)
    }
}
