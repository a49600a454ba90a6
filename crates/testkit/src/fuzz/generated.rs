//! Generated kernels on every functional engine: all of them end as the reference interpreter does.

use super::generate::{self, Size};
use super::orders::{Kernel, contents};
use super::{Done, Target};
use crate::engine::Engine;
use crate::kernel_file::{self, Ready, Run, Test};
use crate::rng::Rng;
use raddle_exec::reference::{self, Options, Order};
use raddle_exec::{DeviceMemory, Fault, FaultKind, Level, Program, Report, RunError, RunOptions};
use raddle_ptx::Module;
use std::sync::Arc;

/// Thread-instructions of a launch at most; generated kernels end long before.
pub(super) const LIMIT: u64 = 4_000_000;

/// What an engine executes instead of a kernel, to see that it is noticed.
pub type Change = fn(&str) -> String;

/// The target.
pub struct Generated {
    size: Size,
    change: Option<Change>,
}

impl Default for Generated {
    fn default() -> Self {
        Self { size: Size::Full, change: None }
    }
}

impl Generated {
    /// With engines that misread kernels of a size: they execute what `change` makes of them.
    #[must_use]
    pub fn with_fault(size: Size, change: Change) -> Self {
        Self { size, change: Some(change) }
    }
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With these allocations.
    Completed(Vec<Vec<u8>>),
    Fault(Fault),
    /// Nothing could continue; who waits for what.
    Deadlock(String),
    /// The limit of instructions or cycles was reached.
    Limit,
    /// It was not started.
    Refused(String),
}

impl End {
    pub(super) fn new(result: Result<Report, RunError>, memory: &DeviceMemory) -> Self {
        match result {
            Ok(_) => Self::Completed(contents(memory)),
            Err(RunError::Fault(fault)) => Self::fault(*fault),
            Err(RunError::Load(error)) => Self::Refused(error.to_string()),
        }
    }

    pub(super) fn fault(fault: Fault) -> Self {
        match fault.kind {
            FaultKind::InstructionLimit(_) => Self::Limit,
            FaultKind::Deadlock(text) => Self::Deadlock(text),
            _ => Self::Fault(fault),
        }
    }

    fn describe(&self, module: &Module, source: &str) -> String {
        match self {
            Self::Completed(_) => "completed".to_owned(),
            Self::Fault(fault) => fault.describe(module, Some(source)),
            Self::Deadlock(text) => format!("deadlock: {text}"),
            Self::Limit => "limit".to_owned(),
            Self::Refused(text) => format!("refused: {text}"),
        }
    }

    /// What kind of end it is.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Completed(_) => "completed".to_owned(),
            Self::Fault(fault) => format!("{:?}", fault.kind).split('(').next().unwrap_or_default().to_lowercase(),
            Self::Deadlock(_) => "deadlock".to_owned(),
            Self::Limit => "limit".to_owned(),
            Self::Refused(_) => "refused".to_owned(),
        }
    }
}

/// A generated kernel, or what a finding was reduced to.
pub(super) struct Case<'t> {
    pub(super) source: &'t str,
    pub(super) module: Arc<Module>,
    pub(super) runs: Vec<Run>,
    /// The kernel that engines execute.
    other: Option<(Arc<Module>, Vec<Run>)>,
}

impl<'t> Case<'t> {
    pub(super) fn new(source: &'t str, change: Option<Change>) -> Result<Self, String> {
        let (module, runs) = kernel_file::read(source).map_err(|e| format!("does not load: {e}"))?;
        let other = match change {
            Some(change) => Some(kernel_file::read(&change(source)).map_err(|e| format!("does not load: {e}"))?),
            None => None,
        };
        Ok(Self { source, module, runs, other })
    }

    /// A launch, as the interpreter has it or as engines have it.
    fn test<'a>(&'a self, n: usize, is_engine: bool) -> Option<Test<'a>> {
        let (module, runs) = match &self.other {
            Some((module, runs)) if is_engine => (module, runs),
            _ => (&self.module, &self.runs),
        };
        Some(Test { module, source: self.source, run: runs.get(n)?, width: 32 })
    }

    pub(super) fn ready(&self, n: usize, is_engine: bool) -> Result<Ready<'_>, String> {
        let mut ready = self.test(n, is_engine).ok_or("no such launch")?.prepare()?;
        ready.launch.max_thread_insts = Some(LIMIT);
        Ok(ready)
    }

    /// What the interpreter makes of a launch.
    pub(super) fn interpret(&self, ready: &Ready<'_>, options: &Options) -> End {
        let mut memory = ready.memory.clone();
        let result = reference::run(&ready.image, &ready.layout, &ready.launch, &mut memory, options);
        End::new(result.map_err(RunError::from), &memory)
    }

    /// How the interpreter takes turns for a seed. Faults are found in the order of threads.
    pub(super) fn order(&self, rng: &mut Rng, width: u32) -> Options {
        let plain = Options { warp_width: width, ..Options::default() };
        if self.says("faults") {
            return plain;
        }
        let order = match rng.below(3) {
            0 => Order::Forward,
            1 => Order::Reverse,
            _ => Order::Mixed(rng.next_u64() >> 8),
        };
        Options { quantum: *rng.pick(&[2000, 2000, 17, 1]), order, ..plain }
    }

    /// Whether the file has a comment that begins so.
    fn says(&self, words: &str) -> bool {
        self.source.lines().any(|line| line.strip_prefix("// ").is_some_and(|line| line.starts_with(words)))
    }

    /// What is different, if something is.
    pub(super) fn difference(&self, expected: &End, found: &End) -> Option<String> {
        let is_one = self.says("faults: one");
        let same = match (expected, found) {
            (End::Completed(a), End::Completed(b)) => return memory_difference(a, b),
            (End::Fault(a), End::Fault(b)) if is_one => alike(a, b) && a.thread == b.thread,
            // Lanes that have diverged come one by one: any of those that fault may be the first.
            (End::Fault(a), End::Fault(b)) => alike(a, b) && four(a, self.runs[0].block) == four(b, self.runs[0].block),
            (a, b) => matches!((a, b), (End::Deadlock(_), End::Deadlock(_))) || a == b,
        };
        let show = |end: &End| end.describe(&self.module, self.source);
        (!same).then(|| {
            format!("{} instead of {}\n{}\ninstead of\n{}", found.kind(), expected.kind(), show(found), show(expected))
        })
    }

    /// Whether a difference means something although lines were taken away: nothing depends on the order of threads or
    /// on what was never written.
    pub(super) fn is_sound(&self, n: usize, width: u32) -> bool {
        Kernel::new(self.source, n as u64).and_then(|kernel| kernel.is_sound(width, LIMIT)).unwrap_or(false)
    }
}

fn memory_difference(expected: &[Vec<u8>], found: &[Vec<u8>]) -> Option<String> {
    let pairs = expected.iter().zip(found).enumerate();
    let (number, (a, b)) = pairs.into_iter().find(|(_, (a, b))| a != b)?;
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
    let word = |bytes: &[u8]| format!("{:02x?}", &bytes[at & !3..bytes.len().min((at & !3) + 4)]);
    Some(format!("memory differs\nallocation {number} byte {at}: {} instead of {}", word(b), word(a)))
}

/// Whether two faults are of one kind and of one instruction. What they say may differ.
fn alike(a: &Fault, b: &Fault) -> bool {
    a.at == b.at && std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
}

/// The block of the thread that faults, and which four neighbours it is among.
fn four(fault: &Fault, block: [u32; 3]) -> Option<([u32; 3], u32)> {
    fault.thread.map(|t| (t.cta, ((t.thread[2] * block[1] + t.thread[1]) * block[0] + t.thread[0]) / 4))
}

impl Target for Generated {
    fn name(&self) -> &'static str {
        "generated"
    }

    fn input(&self, seed: u64) -> Option<Vec<u8>> {
        Some(generate::kernel(seed, self.size).into_bytes())
    }

    fn check(&self, seed: u64, input: &[u8]) -> Result<Done, String> {
        let source = String::from_utf8_lossy(input);
        let case = Case::new(&source, self.change)?;
        let mut rng = Rng::new(!seed);
        let mut programs: Vec<(Engine, Program)> = Vec::new();
        let mut done = Done::default();
        for n in 0..case.runs.len() {
            let mut width = || *rng.pick(&case.runs[n].widths);
            let (first, widths) = (width(), [width(), width(), width(), width()]);
            let ready = case.ready(n, false)?;
            let expected = case.interpret(&ready, &case.order(&mut rng, first));
            if let End::Limit | End::Deadlock(_) = &expected {
                return Err(format!("ends in a {}", expected.kind()));
            }
            let ready = if self.change.is_some() { case.ready(n, true)? } else { ready };
            if programs.is_empty() {
                programs = compile(&ready)?;
            }
            done.executions += 1;
            for ((engine, program), width) in programs.iter().zip(widths.iter().cycle()) {
                let found = execute(&ready, *engine, program, &mut rng, *width);
                done.executions += 1;
                done.compared += 1;
                if let Some(what) = case.difference(&expected, &found)
                    && (self.input(seed).as_deref() == Some(input) || case.is_sound(n, *width))
                {
                    return Err(format!("{what}\nlaunch {n} on {engine:?} at warp width {width}, against {first}"));
                }
            }
        }
        Ok(done)
    }
}

/// The program of each engine. Variables have the same addresses in every launch.
fn compile(ready: &Ready<'_>) -> Result<Vec<(Engine, Program)>, String> {
    let engines = Level::available().into_iter().map(Engine::Fast).chain([Engine::Gather]);
    let compiled = engines.map(|engine| {
        let program = match engine {
            Engine::Fast(level) => Program::for_level(&ready.image, &ready.layout, level),
            _ => Program::new(&ready.image, &ready.layout),
        };
        Ok((engine, program.map_err(|e| e.to_string())?))
    });
    compiled.collect()
}

/// Runs a launch on an engine whose warps and blocks take turns of random lengths.
fn execute(ready: &Ready<'_>, engine: Engine, program: &Program, rng: &mut Rng, width: u32) -> End {
    let options = RunOptions {
        warp_width: width,
        gather: engine == Engine::Gather,
        resident_ctas: *rng.pick(&[120, 2, 1]),
        warp_quantum: *rng.pick(&[10_000, 10_000, 13, 1]),
        cta_quantum: *rng.pick(&[64, 1]),
    };
    let mut memory = ready.memory.clone();
    let result = raddle_exec::run(program, &ready.launch, &mut memory, &options);
    End::new(result, &memory)
}
