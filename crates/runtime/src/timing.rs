//! Launches on the timing model: one GPU for all launches of a plan, so that its L2 stays warm.

use crate::checkpoint::{Keep, Start};
use crate::error::{Error, Problem};
use crate::origin::{Origin, Origins};
use crate::outcome::{Stop, Stuck, timeless};
use crate::ptx_file::PtxFile;
use crate::sample::blocks::{self, Work};
use crate::sample::{LaunchSample, Profiled, Sampling};
use raddle_exec::{DeviceMemory, Launch, Program, Report};
use raddle_sim::config::MachineConfig;
use raddle_sim::event::Event;
use raddle_sim::gpu::{Gpu, GpuError, Keeper, Observer, Progress, RunOptions, Sample};
use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::packet::Cycle;
use raddle_sim::profile::PcCounters;
use raddle_sim::residency::Residency;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_sim::saved;
use raddle_sim::saved::{Pass, Saved};
use raddle_sim::seam::{Mechanisms, Registry, Seam};
use raddle_sim::sm::BlockedWarp;
use raddle_sim::stats::Counters;
use std::ops::Range;

/// How the timing model runs launches.
#[derive(Clone, Debug)]
pub struct TimingOptions {
    /// The machine.
    pub machine: MachineConfig,
    /// Registers per thread, when they are known better than from the PTX.
    pub registers: Option<u32>,
    /// Ends a launch after this many cycles.
    pub max_cycles: Option<u64>,
    /// Runs every cycle, also those in which nothing moves.
    pub never_skip: bool,
    /// Host threads; results do not depend on it.
    pub threads: usize,
    /// Simulate a part only.
    pub sample: Option<Sampling>,
    /// Charge what happens to operations ([`LaunchResult::profile`]).
    pub profile: bool,
}

impl TimingOptions {
    /// A machine with nothing else said.
    #[must_use]
    pub fn new(machine: MachineConfig) -> Self {
        Self { machine, registers: None, max_cycles: None, never_skip: false, threads: 1, sample: None, profile: false }
    }

    /// Blocks of a launch that an SM holds at once.
    ///
    /// # Errors
    /// When not even one fits.
    pub fn residency(&self, program: &Program, launch: &Launch) -> Result<Residency, Error> {
        Residency::new(&self.machine, program, launch, self.registers).map_err(refused)
    }
}

/// Listens to the events of all launches.
pub trait LaunchObserver: Observer + Send {
    /// A launch starts; it is told of at most once per launch, before its first event.
    fn launch(&mut self, number: usize, residency: &Residency);

    /// What the launch is that starts.
    fn starts(&mut self, _launch: &Starting<'_>) {}

    /// The launch has ended; counters of the memory system are those of this launch.
    fn ends(&mut self, _result: &LaunchResult) {}
}

/// A launch that starts.
pub struct Starting<'a> {
    /// Kernel.
    pub kernel: &'a str,
    /// Shape and arguments.
    pub launch: &'a Launch,
    /// Its operations.
    pub program: &'a Program,
    /// The file the kernel is of.
    pub ptx: &'a PtxFile,
    /// The cycle it starts at, counted from the start of the first launch.
    pub at: Cycle,
}

/// Who wants to be told what while launches run.
#[derive(Default)]
pub struct Watch<'w> {
    /// Listens to events.
    pub observer: Option<&'w mut dyn LaunchObserver>,
    /// Told now and then how far a launch has come; its number comes first.
    pub progress: Option<&'w mut (dyn FnMut(usize, Progress) + Send)>,
}

/// What the timing model measured of a launch.
#[derive(Clone, Debug)]
pub struct Timed {
    /// Every counter; those of the memory system since the start of this launch.
    pub result: LaunchResult,
    /// Blocks an SM held at once.
    pub residency: Residency,
    /// Operations that were issued, or to which a profile has charged something, in the order of the program.
    pub pcs: Vec<PcCount>,
}

/// How often an operation was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcCount {
    /// Number of the operation in the program.
    pub pc: u32,
    /// Function it is in.
    pub function: String,
    /// Line of the PTX file.
    pub ptx_line: u32,
    /// File and line it was compiled from.
    pub source: Option<(String, u32)>,
    /// File and line of the call, where that is in a function that was inlined.
    pub inlined_at: Option<(String, u32)>,
    /// Instructions by warp.
    pub warp_insts: u64,
    /// Instructions by thread.
    pub thread_insts: u64,
}

/// Counters of the memory system, which outlives launches.
#[derive(Clone, Default)]
pub(crate) struct MemoryCounters {
    l2: Vec<L2Counters>,
    dram: Vec<DramCounters>,
    networks: [CrossbarCounters; 2],
}

saved!(MemoryCounters { parts: networks; lists: l2, dram });

/// A GPU that makes launches.
pub(crate) struct Timer<'m> {
    gpu: Gpu<'m>,
    mechanisms: Mechanisms<'m>,
    options: &'m TimingOptions,
    before: MemoryCounters,
    /// A sampled run has taken another way than its profile: all that follows is simulated.
    is_off_profile: bool,
}

/// One launch as the timer is asked for it.
pub(crate) struct Asked<'a> {
    pub(crate) number: usize,
    pub(crate) kernel: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) launch: &'a Launch,
    pub(crate) ptx: &'a PtxFile,
}

impl Asked<'_> {
    fn profiled(&self) -> Profiled {
        let &Launch { grid, block, dynamic_shared: shared, .. } = self.launch;
        let kernel = self.program.image.module.func(self.program.layout.kernel).name.clone();
        Profiled { kernel, grid, block, shared, work: 0 }
    }
}

/// A launch as it was made.
pub(crate) struct Made {
    pub(crate) report: Report,
    pub(crate) stop: Option<Stop>,
    pub(crate) timed: Option<Box<Timed>>,
    pub(crate) sample: Option<LaunchSample>,
}

impl Made {
    fn new((stop, timed): (Option<Stop>, Timed), sample: Option<LaunchSample>) -> Self {
        Self { report: timed.report(), stop, timed: Some(Box::new(timed)), sample }
    }
}

/// Why a grid was not sampled.
fn too_few(blocks: u64, places: u64) -> String {
    let waves = blocks as f64 / places.max(1) as f64;
    format!("its {blocks} blocks are {waves:.1} times what the machine holds, too few to leave some out")
}

impl<'m> Timer<'m> {
    pub(crate) fn new(options: &'m TimingOptions, registry: &'m Registry) -> Result<Self, Error> {
        let wrong = |list: Vec<(String, String)>| {
            let list: Vec<String> = list.into_iter().map(|(key, text)| format!("{key}: {text}")).collect();
            Error::Machine(list.join("; "))
        };
        let mechanisms = registry.check(&options.machine).map_err(wrong)?;
        let gpu = Gpu::new(&options.machine).map_err(|e| Error::Machine(e.to_string()))?;
        Ok(Self { gpu, mechanisms, options, before: MemoryCounters::default(), is_off_profile: false })
    }

    /// Whether its state can be saved.
    pub(crate) fn can_be_saved(&self) -> Result<(), Error> {
        self.mechanisms.can_be_saved().map_err(|why| Problem::new(format!("no checkpoints: {why}")).into())
    }

    /// Makes a launch, all of it or a part in time, as the options say.
    pub(crate) fn make(
        &mut self,
        asked: &Asked<'_>,
        memory: &mut DeviceMemory,
        watch: &mut Watch<'_>,
        keep: Option<&mut Keep<'_>>,
    ) -> Result<Made, Error> {
        let options = self.options;
        if keep.is_some() && options.sample.is_some() {
            return Err(Problem::new("a sampled run cannot have checkpoints").into());
        }
        match &options.sample {
            None => Ok(Made::new(self.launch(asked, &[], memory, watch, keep)?, None)),
            Some(Sampling::Blocks(share)) => {
                let places = u64::from(options.residency(asked.program, asked.launch)?.ctas)
                    * u64::from(options.machine.gpu.sms);
                let gaps = match asked.launch.logical {
                    None => blocks::gaps(asked.launch.ctas(), places, *share),
                    Some(_) => Vec::new(),
                };
                let (stop, timed) = self.launch(asked, &gaps, memory, watch, None)?;
                let sample = match timed.result.skipped.as_ref().filter(|_| stop.is_none()) {
                    Some(skipped) => LaunchSample::Part(blocks::estimate(skipped, self.work())),
                    None => {
                        let why = (*share < 1.0 && stop.is_none()).then(|| too_few(asked.launch.ctas(), places));
                        LaunchSample::Whole { work: timed.report().warp_insts, why }
                    }
                };
                Ok(Made::new((stop, timed), Some(sample)))
            }
            Some(Sampling::Launches(choice)) => {
                let found = choice.look_up(asked.number, &asked.profiled()).filter(|_| !self.is_off_profile);
                self.is_off_profile |= found.is_none();
                match found {
                    Some((work, false)) => {
                        let made = self.execute(asked, memory)?;
                        Ok(Made { sample: Some(LaunchSample::Executed { work }), ..made })
                    }
                    _ => {
                        let (stop, timed) = self.launch(asked, &[], memory, watch, None)?;
                        let work = found.map_or_else(|| timed.report().warp_insts, |found| found.0);
                        let why = found.is_none().then(|| "it was not so in the profile".to_owned());
                        Ok(Made::new((stop, timed), Some(LaunchSample::Whole { work, why })))
                    }
                }
            }
        }
    }

    /// What blocks are compared by: the functional engine counts the warp-instructions of static warps that reconverge as
    /// PTX says.
    fn work(&self) -> Work {
        match Seam::Divergence.choice(&self.options.machine.mechanism).name() {
            "pdom" => Work::WarpInsts,
            _ => Work::ThreadInsts,
        }
    }

    /// Executes a launch without time.
    pub(crate) fn execute(&mut self, asked: &Asked<'_>, memory: &mut DeviceMemory) -> Result<Made, Error> {
        let done = self.gpu.execute(asked.program, asked.launch, memory).map_err(refused)?;
        let (report, stop) = timeless(done.map_err(|fault| *fault));
        Ok(Made { report, stop, timed: None, sample: None })
    }

    /// Makes a launch but for some blocks, which have no time: how it ended, if it did not complete, and what was measured.
    fn launch(
        &mut self,
        asked: &Asked<'_>,
        gaps: &[Range<u64>],
        memory: &mut DeviceMemory,
        watch: &mut Watch<'_>,
        mut keep: Option<&mut Keep<'_>>,
    ) -> Result<(Option<Stop>, Timed), Error> {
        let Asked { number, program, launch, ptx, .. } = *asked;
        let options = self.options;
        let mut resume = None;
        match keep.as_mut().map(|keep| keep.start(asked.kernel, launch)).transpose()? {
            None | Some(Start::Fresh) => {}
            Some(Start::Ended(result)) => return self.recall(asked, &result).map(|timed| (None, timed)),
            Some(Start::GoesOn(before, state)) => (self.before, resume) = (before, Some(state)),
        }
        let residency = options.residency(program, launch)?;
        if let Some(observer) = &mut watch.observer {
            observer.launch(number, &residency);
            observer.starts(&Starting { kernel: asked.kernel, launch, program, ptx, at: self.gpu.now() });
        }
        let mut tell = watch.progress.as_mut().map(|tell| move |progress: Progress| tell(number, progress));
        let mut observer = watch.observer.as_mut().map(|o| Forward(*o));
        let mut keeper = keep.as_mut().map(|keep| keep.keeper(&self.before));
        let run = RunOptions {
            max_cycles: options.max_cycles,
            max_thread_insts: launch.max_thread_insts,
            interrupt: launch.interrupt.as_ref(),
            registers: options.registers,
            never_skip: options.never_skip,
            threads: options.threads,
            gaps,
            observer: observer.as_mut().map(|o| o as &mut dyn Observer),
            progress: tell.as_mut().map(|t| t as &mut dyn FnMut(Progress)),
            keeper: keeper.as_mut().map(|k| k as &mut dyn Keeper),
            resume,
            profile: options.profile,
            source: Some(&ptx.source),
            ..RunOptions::default()
        };
        // The model has a limit of its own, which lists warps instead of threads.
        let launch = Launch { max_thread_insts: None, ..launch.clone() };
        let launched = self.gpu.launch(&self.mechanisms, program, &launch, memory, run);
        let last = || keep.as_ref().and_then(|keep| keep.last.clone());
        let mut result = launched.map_err(|error| match error {
            GpuError::Stopped => {
                Error::Interrupted { checkpoint: last().unwrap_or(Err("nobody keeps any".to_owned())) }
            }
            other => refused(other),
        })?;
        self.take_before(&mut result);
        watch.observer.iter_mut().for_each(|observer| observer.ends(&result));
        if let (Some(keep), Ending::Completed) = (keep, &result.ending) {
            keep.ended(&mut result);
        }
        let pcs = pc_counts(program, ptx, &result);
        let stuck = |warps: &[BlockedWarp]| Box::new(Stuck::new(warps, program, &ptx.source));
        let stop = match &result.ending {
            Ending::Completed => None,
            Ending::Fault(_, fault) => Some(Stop::Fault(fault.clone())),
            Ending::Deadlock(warps) => Some(Stop::Deadlock(stuck(warps))),
            Ending::InstructionLimit(warps) => Some(Stop::InstructionLimit(stuck(warps))),
            Ending::CycleLimit => Some(Stop::CycleLimit),
        };
        Ok((stop, Timed { result, residency, pcs }))
    }

    /// A launch that had ended before the run went on.
    fn recall(&self, asked: &Asked<'_>, saved: &[u8]) -> Result<Timed, Error> {
        let mut result = LaunchResult::blank(&self.mechanisms, self.options.machine.gpu.sms as usize);
        let mut pass = Pass::reading(saved);
        result.visit(&mut pass).map_err(|e| Problem::new(format!("a result in the checkpoint is damaged: {e}")))?;
        let residency = self.options.residency(asked.program, asked.launch)?;
        let pcs = pc_counts(asked.program, asked.ptx, &result);
        Ok(Timed { result, residency, pcs })
    }

    /// Takes away what the memory system had counted before the launch.
    fn take_before(&mut self, result: &mut LaunchResult) {
        let now = MemoryCounters {
            l2: result.l2.clone(),
            dram: result.dram.clone(),
            networks: [result.up.clone(), result.down.clone()],
        };
        result.l2.iter_mut().zip(&self.before.l2).for_each(|(now, before)| now.subtract(before));
        result.dram.iter_mut().zip(&self.before.dram).for_each(|(now, before)| now.subtract(before));
        result.up.subtract(&self.before.networks[0]);
        result.down.subtract(&self.before.networks[1]);
        self.before = now;
    }
}

fn refused(error: GpuError) -> Error {
    match error {
        GpuError::Refused(why) => Error::Refused(why),
        GpuError::State(why) => Problem::new(format!("the checkpoint cannot be used: {why}")).into(),
        other => Error::Machine(other.to_string()),
    }
}

/// An observer of all launches as one of a single launch.
struct Forward<'a>(&'a mut dyn LaunchObserver);

impl Observer for Forward<'_> {
    fn event(&mut self, event: &Event) {
        self.0.event(event);
    }

    fn wants_slots(&self) -> bool {
        self.0.wants_slots()
    }

    fn wants_states(&self) -> bool {
        self.0.wants_states()
    }

    fn hears(&self, sm: u16) -> bool {
        self.0.hears(sm)
    }

    fn interval(&self) -> Option<Cycle> {
        self.0.interval()
    }

    fn sample(&mut self, sample: &Sample) {
        self.0.sample(sample);
    }

    fn wants_accesses(&self) -> bool {
        self.0.wants_accesses()
    }
}

fn pc_counts(program: &Program, ptx: &PtxFile, result: &LaunchResult) -> Vec<PcCount> {
    let origins = Origins::new(program, ptx);
    let count = |(pc, [warp_insts, thread_insts]): (usize, &[u64; 2])| {
        let Origin { function, ptx_line, source, inlined_at } = origins.of(pc)?;
        let (warp_insts, thread_insts) = (*warp_insts, *thread_insts);
        Some(PcCount { pc: pc as u32, function, ptx_line, source, inlined_at, warp_insts, thread_insts })
    };
    let is_charged = |pc: usize| {
        let row = result.profile.as_ref().and_then(|profile| profile.pcs.get(pc));
        row.is_some_and(|row| *row != PcCounters::default())
    };
    result.pcs.iter().enumerate().filter(|(pc, c)| c[0] > 0 || is_charged(*pc)).filter_map(count).collect()
}
