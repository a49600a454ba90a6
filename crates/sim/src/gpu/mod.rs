//! A GPU: SMs and memory system, window by window.
//!
//! Inside a window, every SM and every memory partition runs on its own, against memory as it was at the start of the
//! window. What it writes goes to its own log. At the edge of the window the logs are merged, and the networks deliver
//! messages with the time of their arrival. Neither the order in which the parts are run inside a window nor the number
//! of host threads therefore matters.
//!
//! An SM that only waits is skipped: it is not run again before the window in which it moves or is told something. Then
//! it accounts for the cycles between.

mod checkpoint;
pub mod gaps;
mod profiling;
mod run;
mod sampling;
mod sanitizing;
mod seat;

use crate::config::MachineConfig;
use crate::event::Event;
use crate::kernel::{self, TimedKernel};
use crate::logical_blocks::BlockCounter;
use crate::mem::system::MemorySystem;
use crate::packet::Cycle;
use crate::parallel::{Crew, lock};
use crate::residency::Residency;
use crate::result::LaunchResult;
use crate::seam::{Dispatcher, Mechanisms};
use crate::sm::build::{Build, General, Plain, Profiled, is_plain};
use crate::sm::kept::Kept;
use crate::sm::{Sm, Wants};
pub use checkpoint::{Keeper, Wish, WriteState};
use gaps::Gaps;
use profiling::Profiling;
use raddle_exec::memory::DeviceMemory;
use raddle_exec::{Interrupt, Launch, Program};
use raddle_ptx::num::fit;
use run::{Run, Scratch};
pub use sampling::{PartitionSample, Sample, SmSample};
use sanitizing::Sanitizing;
use seat::{Parts, Seat};
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

/// Why a launch could not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// The machine makes no sense.
    #[error("{0}")]
    Machine(String),
    /// The launch does not fit the kernel.
    #[error("{0}")]
    Launch(String),
    /// The launch is sound, but this machine does not run it: no SM holds a block, or a mechanism cannot do what the
    /// kernel needs.
    #[error("{0}")]
    Refused(String),
    /// The state to continue from is of another launch, or makes no sense.
    #[error("{0}")]
    State(String),
    /// A [`Keeper`] wished it; the GPU is not used again.
    #[error("the run was stopped")]
    Stopped,
}

/// Listens to what happens. Called at the edge of every window, events in the order of (time, SM).
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Whether it wants every issue slot and request, or only blocks, warps and barriers, which are far fewer.
    fn wants_slots(&self) -> bool {
        true
    }

    /// Whether it wants what every warp could do in every cycle too; those who do want slots.
    fn wants_states(&self) -> bool {
        false
    }

    /// Whether it listens to this SM. Launches of which no SM is listened to run as if there were no observer.
    fn hears(&self, _sm: u16) -> bool {
        true
    }

    /// Cycles between two samples, if it wants any.
    fn interval(&self) -> Option<Cycle> {
        None
    }

    /// What has been counted up to now: at the first edge of a window after every interval, and at the end of the
    /// launch.
    fn sample(&mut self, _sample: &Sample) {}

    /// Whether it wants to know what every memory instruction asks for, lane by lane.
    fn wants_accesses(&self) -> bool {
        false
    }
}

/// How far a launch has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cycles so far.
    pub cycles: Cycle,
    /// Blocks that have ended.
    pub ctas_done: u64,
    /// Blocks of the grid.
    pub ctas: u64,
}

/// In which order SMs and partitions are run inside a window: it makes no difference, and a test says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmOrder {
    /// From the first to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Reverse,
    /// Different in every window, from this seed.
    Shuffled(u64),
}

/// How to run a launch.
#[derive(Default)]
pub struct RunOptions<'o> {
    /// Ends the run after this many cycles.
    pub max_cycles: Option<Cycle>,
    /// Ends the run after this many thread-instructions.
    pub max_thread_insts: Option<u64>,
    /// Asked now and then whether the run is to end; it then ends with [`GpuError::Stopped`].
    pub interrupt: Option<&'o Interrupt>,
    /// Registers per thread, when they are known better than from the PTX.
    pub registers: Option<u32>,
    /// Runs every cycle instead of skipping those in which nothing moves.
    pub never_skip: bool,
    /// Host threads that run SMs and memory partitions; 0 and 1 are the calling one alone. Results do not depend on it.
    pub threads: usize,
    /// Order of SMs and partitions, when one thread runs them.
    pub order: SmOrder,
    /// Blocks that are executed at once, without time, when their turn comes: in ascending order, and not touching each
    /// other. An empty one leaves a mark only. Not for launches of virtual blocks.
    pub gaps: &'o [Range<u64>],
    /// Listens to events.
    pub observer: Option<&'o mut dyn Observer>,
    /// Told how far it has come, now and then.
    pub progress: Option<&'o mut dyn FnMut(Progress)>,
    /// Keeps the state now and then, to continue from later.
    pub keeper: Option<&'o mut dyn Keeper>,
    /// What a [`Keeper`] kept of the same launch of the same kernel on the same machine: the launch continues from
    /// there.
    pub resume: Option<&'o [u8]>,
    /// Charges what happens to the operations of the kernel too ([`LaunchResult::profile`]). Not with a keeper or a
    /// state to resume from: profiles are not kept.
    pub profile: bool,
    /// PTX text, for reports.
    pub source: Option<&'o str>,
}

/// A GPU. Its memory system, what its SMs keep and whose turn it is to get a block outlive launches.
pub struct Gpu<'m> {
    config: &'m MachineConfig,
    memory: MemorySystem,
    /// By SM; none before the first launch.
    kept: Vec<Kept>,
    /// Continues where the last launch ended.
    dispatcher: Option<Box<dyn Dispatcher>>,
    now: Cycle,
    /// The number of the next launch's first operation in requests.
    next_origin: u32,
}

impl<'m> Gpu<'m> {
    /// A cold GPU.
    ///
    /// # Errors
    /// When the machine makes no sense.
    pub fn new(config: &'m MachineConfig) -> Result<Self, GpuError> {
        let memory = MemorySystem::new(config).map_err(|e| GpuError::Machine(e.to_string()))?;
        Ok(Self { config, memory, kept: Vec::new(), dispatcher: None, now: 0, next_origin: 0 })
    }

    /// The cycle the next launch starts at, counted from the first.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// When it cannot be started, or a [`Keeper`] stopped it. How it ended is in the result.
    pub fn launch(
        &mut self,
        mechanisms: &Mechanisms<'_>,
        program: &Program,
        launch: &Launch,
        memory: &mut DeviceMemory,
        options: RunOptions<'_>,
    ) -> Result<LaunchResult, GpuError> {
        kernel::check_registers(program).map_err(GpuError::Refused)?;
        kernel::check_instructions(program, &self.config.sm).map_err(GpuError::Refused)?;
        program.reserve_heap(launch, memory);
        let kernel = TimedKernel::new(program, self.config);
        let some = mechanisms.for_sm().map_err(GpuError::Machine)?;
        let is_heard = options.observer.as_ref().is_some_and(|o| (0..fit(self.config.gpu.sms)).any(|sm| o.hears(sm)));
        let plain = !is_heard && !launch.checks.any() && is_plain(self.config, &some, &kernel, launch);
        match (plain, options.profile) {
            (true, false) => self.launch_on::<Plain>(mechanisms, &kernel, launch, memory, options),
            (false, false) => self.launch_on::<General>(mechanisms, &kernel, launch, memory, options),
            (true, true) => self.launch_on::<Profiled<Plain>>(mechanisms, &kernel, launch, memory, options),
            (false, true) => self.launch_on::<Profiled<General>>(mechanisms, &kernel, launch, memory, options),
        }
    }

    /// The same on SMs of one build.
    fn launch_on<B: Build>(
        &mut self,
        mechanisms: &Mechanisms<'_>,
        kernel: &TimedKernel<'_>,
        launch: &Launch,
        memory: &mut DeviceMemory,
        options: RunOptions<'_>,
    ) -> Result<LaunchResult, GpuError> {
        let profiling = if B::PROFILED { Some(Profiling::start(self, kernel, &options)?) } else { None };
        let most = Residency::new(self.config, kernel.program, launch, options.registers)?.ctas;
        let mut sms = Vec::new();
        let dispatcher = match self.dispatcher.take() {
            Some(dispatcher) => dispatcher,
            None => mechanisms.dispatcher().map_err(GpuError::Machine)?,
        };
        for (id, kept) in (0..).zip(self.take_kept()) {
            let own = mechanisms.for_sm().map_err(GpuError::Machine)?;
            sms.push(Sm::<B>::new(id, self.config, kernel, launch, own, most, kept)?);
        }
        if options.never_skip {
            sms.iter_mut().for_each(Sm::never_skip);
            self.memory.never_skip();
        }
        if let Some(profiling) = &profiling {
            sms.iter_mut().for_each(|sm| sm.name_origins(profiling.first()));
        }
        if let Some(observer) = &options.observer {
            let wants = Wants {
                slots: observer.wants_slots(),
                states: observer.wants_states(),
                accesses: observer.wants_accesses(),
            };
            let heard = (0..).zip(&mut sms).filter(|(id, _)| observer.hears(*id));
            heard.for_each(|(_, sm)| sm.listen(wants));
        }
        let is_virtual = sms.first().is_some_and(Sm::has_virtual_blocks);
        let sanitizing = Sanitizing::new(kernel.program, launch, &options, is_virtual, memory)?;
        let sms: Vec<Seat<'_, B>> = sms.into_iter().map(|sm| Seat::new(sm, self.now)).collect();
        let partitions = self.memory.partitions();
        let threads = options.threads.clamp(1, sms.len() + partitions.len());
        // The calling thread, which carries messages between them, begins with the partitions.
        let owners = (0..sms.len()).map(|n| threads - 1 - n % threads).chain(partitions.iter().map(|_| 0));
        let crew = Crew::new(owners, threads);
        let memory = RwLock::new(memory);
        let work = Parts { sms: &sms, partitions: &partitions, memory: &memory };
        let mut run = Run {
            dispatched_before: dispatcher.counters(),
            dispatcher,
            window: Cycle::from(self.config.gpu.window.max(1)),
            start: self.now,
            gpu: self,
            sms: &sms,
            memory: &memory,
            crew: &crew,
            work: &work,
            total: launch.ctas(),
            logical: BlockCounter::new(launch.ctas(), is_virtual),
            next: 0,
            done: 0,
            last_end: 0,
            printed: Vec::new(),
            printed_bytes: 0,
            has_fault: false,
            gaps: Gaps::new(options.gaps, kernel, launch),
            sampled: None,
            sanitizing,
            options,
            scratch: Scratch::default(),
            residency: most,
        };
        run.resume()?;
        let ending = std::thread::scope(|scope| {
            for me in 1..=crew.helpers() {
                let (crew, work) = (&crew, &work);
                scope.spawn(move || crew.help(me, work));
            }
            let _over = crew.ends_with();
            run.until_done()
        });
        let Some(ending) = ending else { return Err(GpuError::Stopped) };
        let dispatched_before = std::mem::take(&mut run.dispatched_before);
        let (mut result, dispatcher) = run.finish(ending, kernel);
        for (sm, seat) in result.sms.iter_mut().zip(&sms) {
            sm.own = mechanisms.counted_on_sm(|seam| lock(&seat.sm).stages().counted(seam));
        }
        if let Some(profiling) = profiling {
            result.profile = Some(profiling.finish(self, &sms, &result));
        }
        result.dispatch = mechanisms.counted_by_dispatcher(&*dispatcher, &dispatched_before);
        self.dispatcher = Some(dispatcher);
        let kept = sms.into_iter().map(|seat| seat.sm.into_inner().unwrap_or_else(PoisonError::into_inner).into_kept());
        self.kept = kept.collect();
        Ok(result)
    }

    /// What the launch before has left of each SM; cold ones after a launch that could not start.
    fn take_kept(&mut self) -> Vec<Kept> {
        let config = self.config;
        let kept = std::mem::take(&mut self.kept);
        if kept.is_empty() { (0..fit(config.gpu.sms)).map(|sm| Kept::new(config, sm)).collect() } else { kept }
    }
}
