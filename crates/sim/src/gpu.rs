//! A GPU: SMs and memory system, window by window.
//!
//! Inside a window every SM and every memory partition runs on its own against memory as it was at the window's start,
//! what it writes in a log of its own. At the edge the logs are merged, and the networks hand over messages with the time
//! they arrive. The order in which the parts are run inside a window therefore does not matter, nor does the number of
//! host threads.
//!
//! An SM that only waits is left alone: it is not run again before the window in which it moves or is told something, and
//! makes up for the cycles between them then.

use crate::config::MachineConfig;
use crate::event::Event;
use crate::kernel::{self, TimedKernel};
use crate::logical_blocks::LogicalBlocks;
use crate::mem::system::{Berth, MemorySystem};
use crate::packet::Cycle;
use crate::parallel::{Apart, Crew, Sleep, Work, lock};
use crate::residency::Residency;
use crate::result::{Ending, LaunchResult};
use crate::seam::{Assignment, DispatchView, Dispatcher, Mechanisms};
use crate::sm::build::{Build, General, Plain, is_plain};
use crate::sm::kept::Kept;
use crate::sm::{Mail, Sm};
use raddle_exec::memory::{DeviceMemory, Merge};
use raddle_exec::printf::{self, MAX_KEPT};
use raddle_exec::{Launch, Program};
use raddle_ptx::num::fit;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

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
}

/// Listens to what happens. Called at the edge of every window, events in the order of (time, SM).
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Whether it wants every issue slot and request, or only blocks, warps and barriers, which are far fewer.
    fn wants_slots(&self) -> bool {
        true
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
    /// Registers per thread, when they are known better than from the PTX.
    pub registers: Option<u32>,
    /// Runs every cycle instead of skipping those in which nothing moves.
    pub never_skip: bool,
    /// Host threads that run SMs and memory partitions; 0 and 1 are the calling one alone. Results do not depend on it.
    pub threads: usize,
    /// Order of SMs and partitions, when one thread runs them.
    pub order: SmOrder,
    /// Listens to events.
    pub observer: Option<&'o mut dyn Observer>,
    /// Told how far it has come, now and then.
    pub progress: Option<&'o mut dyn FnMut(Progress)>,
    /// PTX text, for reports.
    pub source: Option<&'o str>,
}

/// A GPU. Its memory system, what its SMs keep and whose turn it is to get a block outlive launches.
pub struct Gpu<'m> {
    config: &'m MachineConfig,
    memory: MemorySystem,
    /// By SM; none before the first launch.
    kept: Vec<Kept>,
    /// Goes on where the launch before ended.
    dispatcher: Option<Box<dyn Dispatcher>>,
    now: Cycle,
}

impl<'m> Gpu<'m> {
    /// A cold GPU.
    ///
    /// # Errors
    /// When the machine makes no sense.
    pub fn new(config: &'m MachineConfig) -> Result<Self, GpuError> {
        let memory = MemorySystem::new(config).map_err(|e| GpuError::Machine(e.to_string()))?;
        Ok(Self { config, memory, kept: Vec::new(), dispatcher: None, now: 0 })
    }

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// When it cannot be started. How it ended is in the result.
    pub fn launch(
        &mut self,
        mechanisms: &Mechanisms<'_>,
        program: &Program,
        launch: &Launch,
        memory: &mut DeviceMemory,
        options: RunOptions<'_>,
    ) -> Result<LaunchResult, GpuError> {
        kernel::check_registers(program).map_err(GpuError::Refused)?;
        let kernel = TimedKernel::new(program, self.config);
        let some = mechanisms.for_sm().map_err(GpuError::Machine)?;
        if options.observer.is_none() && is_plain(self.config, &some, &kernel, launch) {
            self.launch_on::<Plain>(mechanisms, &kernel, launch, memory, options)
        } else {
            self.launch_on::<General>(mechanisms, &kernel, launch, memory, options)
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
        let most = Residency::new(self.config, kernel.program, launch, options.registers)?.ctas;
        let mut sms = Vec::new();
        let dispatcher = match self.dispatcher.take() {
            Some(dispatcher) => dispatcher,
            None => mechanisms.dispatcher().map_err(GpuError::Machine)?,
        };
        let dispatched_before = dispatcher.counters();
        for (id, kept) in (0..).zip(self.take_kept()) {
            let own = mechanisms.for_sm().map_err(GpuError::Machine)?;
            sms.push(Sm::<B>::new(id, self.config, kernel, launch, own, most, kept)?);
        }
        if options.never_skip {
            sms.iter_mut().for_each(Sm::never_skip);
            self.memory.never_skip();
        }
        if let Some(observer) = &options.observer {
            sms.iter_mut().for_each(|sm| sm.listen(observer.wants_slots()));
        }
        let is_virtual = sms.first().is_some_and(Sm::has_virtual_blocks);
        let sms: Vec<Seat<'_, B>> = sms.into_iter().map(|sm| Seat::new(sm, self.now)).collect();
        let partitions = self.memory.partitions();
        let threads = options.threads.clamp(1, sms.len() + partitions.len());
        // The calling thread, which carries messages between them, begins with the partitions.
        let owners = (0..sms.len()).map(|n| threads - 1 - n % threads).chain(partitions.iter().map(|_| 0));
        let crew = Crew::new(owners, threads);
        let memory = RwLock::new(memory);
        let work = Parts { sms: &sms, partitions: &partitions, memory: &memory };
        let mut run = Run {
            dispatcher,
            window: Cycle::from(self.config.gpu.window.max(1)),
            start: self.now,
            gpu: self,
            sms: &sms,
            memory: &memory,
            crew: &crew,
            work: &work,
            total: launch.ctas(),
            logical: LogicalBlocks::new(launch.ctas(), is_virtual),
            next: 0,
            done: 0,
            last_end: 0,
            printed: Vec::new(),
            printed_bytes: 0,
            has_fault: false,
            options,
            scratch: Scratch::default(),
            residency: most,
        };
        let ending = std::thread::scope(|scope| {
            for me in 1..=crew.helpers() {
                let (crew, work) = (&crew, &work);
                scope.spawn(move || crew.help(me, work));
            }
            let _over = crew.ends_with();
            run.until_done()
        });
        let (mut result, dispatcher) = run.finish(ending, kernel);
        for (sm, seat) in result.sms.iter_mut().zip(&sms) {
            sm.own = mechanisms.counted_on_sm(|seam| lock(&seat.sm).counted(seam));
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

/// An SM, and what it and the rest of the GPU tell each other.
struct Seat<'k, B> {
    sm: Mutex<Sm<'k, B>>,
    mail: Apart<Mutex<Mail>>,
    sleep: Sleep,
}

impl<'k, B: Build> Seat<'k, B> {
    /// It has slept, and has been told something.
    const CALLED: Cycle = 1;

    fn new(sm: Sm<'k, B>, now: Cycle) -> Self {
        let mail = Apart(Mutex::new(Mail::new(&sm, now)));
        Self { sm: Mutex::new(sm), mail, sleep: Sleep::new() }
    }

    /// Wakes it in the next window when it sleeps.
    fn call(&self) {
        if self.sleep.until() != Sleep::AWAKE {
            self.sleep.set(Self::CALLED);
        }
    }

    /// When it next moves.
    fn next_event(&self) -> Option<Cycle> {
        match self.sleep.until() {
            Sleep::AWAKE | Self::CALLED => self.mail().next_event(),
            Cycle::MAX => None,
            until => Some(until),
        }
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        lock(&self.mail.0)
    }

    /// Runs it for a window. Not inline, so that those that sleep cost little.
    #[inline(never)]
    fn window(&self, from: Cycle, to: Cycle, memory: &DeviceMemory) {
        lock(&self.sm).window(&mut self.mail(), from, to, memory);
    }
}

/// The parts of a GPU: its SMs, then its memory partitions.
struct Parts<'r, 'k, B> {
    sms: &'r [Seat<'k, B>],
    partitions: &'r [Berth],
    memory: &'r RwLock<&'r mut DeviceMemory>,
}

impl<'r, B: Build> Work for Parts<'r, '_, B> {
    type Hold<'w>
        = RwLockReadGuard<'w, &'r mut DeviceMemory>
    where
        Self: 'w;

    fn hold(&self) -> Self::Hold<'_> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn run(&self, memory: &Self::Hold<'_>, part: usize, from: Cycle, to: Cycle) {
        match self.sms.get(part) {
            Some(seat) if seat.sleep.lasts(to) => {}
            Some(seat) => seat.window(from, to, memory),
            None => {
                let berth = &self.partitions[part - self.sms.len()];
                if !berth.sleeps_through(to) {
                    berth.window(from, to, memory);
                }
            }
        }
    }
}

#[derive(Default)]
struct Scratch {
    room: Vec<u32>,
    resident: Vec<u32>,
    assignments: Vec<Assignment>,
    merge: Merge,
    order: Vec<usize>,
    events: Vec<Event>,
}

struct Run<'r, 'm, 'k, 'o, B> {
    gpu: &'r mut Gpu<'m>,
    sms: &'r [Seat<'k, B>],
    memory: &'r RwLock<&'r mut DeviceMemory>,
    crew: &'r Crew,
    work: &'r Parts<'r, 'k, B>,
    dispatcher: Box<dyn Dispatcher>,
    window: Cycle,
    start: Cycle,
    total: u64,
    logical: LogicalBlocks,
    next: u64,
    done: u64,
    last_end: Cycle,
    printed: Vec<(Cycle, u16, String)>,
    printed_bytes: usize,
    /// An SM came to a fault.
    has_fault: bool,
    options: RunOptions<'o>,
    scratch: Scratch,
    residency: u32,
}

/// Windows between calls of the progress function.
const PROGRESS_WINDOWS: u64 = 4096;

impl<B: Build> Run<'_, '_, '_, '_, B> {
    fn until_done(&mut self) -> Ending {
        let mut windows = 0u64;
        loop {
            let from = self.gpu.now;
            let mut to = from + self.window;
            if let Some(most) = self.options.max_cycles {
                to = to.min(self.start + most.max(1));
            }
            self.dispatch(from, to);
            self.run_parts(from, to);
            self.exchange(from, to);
            self.gpu.now = to;
            windows += 1;
            if let Some(ending) = self.fault() {
                return ending;
            }
            if self.done == self.total && self.is_drained() {
                return Ending::Completed;
            }
            if self.options.max_cycles.is_some_and(|most| to - self.start >= most) {
                return Ending::CycleLimit;
            }
            let insts = || self.sms.iter().map(|s| s.mail().thread_insts).sum::<u64>();
            if self.options.max_thread_insts.is_some_and(|most| insts() >= most) {
                return Ending::InstructionLimit(self.blocked());
            }
            if windows.is_multiple_of(PROGRESS_WINDOWS)
                && let Some(progress) = &mut self.options.progress
            {
                progress(Progress { cycles: to - self.start, ctas_done: self.done, ctas: self.total });
            }
            match self.next_move() {
                None => return Ending::Deadlock(self.blocked()),
                Some(next) if !self.options.never_skip => self.jump(next),
                Some(_) => {}
            }
        }
    }

    /// Everything that was sent for has come back.
    fn is_drained(&self) -> bool {
        self.sms.iter().all(|sm| sm.mail().is_idle)
    }

    /// Gives blocks to SMs for the cycles of a window.
    fn dispatch(&mut self, from: Cycle, to: Cycle) {
        if self.next >= self.total {
            if self.logical.are_just_given() {
                for sm in self.sms {
                    sm.mail().is_last = true;
                    sm.call();
                }
            }
            return;
        }
        let Scratch { room, resident, assignments, .. } = &mut self.scratch;
        room.clear();
        resident.clear();
        for sm in self.sms {
            let occupancy = sm.mail().occupancy;
            room.push(occupancy.most - occupancy.resident);
            resident.push(occupancy.resident);
        }
        for now in from..to {
            if self.next >= self.total || room.iter().all(|r| *r == 0) {
                break;
            }
            assignments.clear();
            let view = DispatchView { now, room, resident, next: self.next, total: self.total };
            self.dispatcher.dispatch(&view, assignments);
            for &Assignment { sm, cta } in assignments.iter() {
                room[sm as usize] -= 1;
                resident[sm as usize] += 1;
                self.next += 1;
                self.sms[sm as usize].mail().starts.push((now, cta));
                self.sms[sm as usize].call();
            }
        }
    }

    /// Every part on its own.
    fn run_parts(&mut self, from: Cycle, to: Cycle) {
        self.wake(from, to);
        if self.crew.helpers() > 0 {
            self.crew.window(from, to, self.work);
        } else {
            self.arrange(from);
            let hold = self.work.hold();
            self.scratch.order.iter().for_each(|part| self.work.run(&hold, *part, from, to));
        }
    }

    /// Wakes SMs and partitions that have slept and move in a window, and tells them how far the network is.
    fn wake(&mut self, from: Cycle, to: Cycle) {
        self.gpu.memory.wake(to);
        for (number, sm) in (0..).zip(self.sms) {
            let until = sm.sleep.until();
            if until != Sleep::AWAKE && until < to {
                sm.mail().set_free_flits(self.gpu.memory.room(number), from);
                sm.sleep.set(Sleep::AWAKE);
            }
        }
    }

    /// What the parts tell each other after a window: the only thing one thread does while the others wait, and a
    /// function of its own so that a profile shows its share.
    #[inline(never)]
    fn exchange(&mut self, from: Cycle, to: Cycle) {
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        // Observers are told of empty slots in the order of time, so nothing is put off for them.
        let may_sleep = !self.options.never_skip && self.options.observer.is_none();
        let system = &mut self.gpu.memory;
        // Atomics first: a store of the same window is then seen to come after them, and is not lost.
        system.collect(to, &mut memory);
        let has_run = |sm: &Seat<'_, B>| sm.sleep.until() == Sleep::AWAKE;
        // What is printed in later windows comes behind all there is.
        let is_printing = self.printed_bytes <= MAX_KEPT;
        for (id, sm) in (0u16..).zip(self.sms).filter(|(_, sm)| has_run(sm)) {
            let number = u32::from(id);
            let mail = &mut *sm.mail();
            self.has_fault |= mail.fault.is_some();
            self.scratch.merge.add(number, &mut mail.log);
            system.set_credit(number, mail.reply_room);
            for (at, request) in mail.requests.drain(..) {
                system.send(number, at, request);
            }
            for (at, _) in mail.ended.drain(..) {
                self.done += 1;
                self.last_end = self.last_end.max(at);
            }
            self.logical.ask(id, mail);
            let printed = mail.printed.drain(..).map(|(at, text)| (at, id, text));
            if is_printing {
                self.printed.extend(printed.inspect(|(.., text)| self.printed_bytes += text.len()));
            }
        }
        self.scratch.merge.finish(&mut memory);
        self.logical.give(self.window, |sm, block| self.sms[usize::from(sm)].mail().logical_blocks.push(block));
        system.exchange(from, to);
        for (number, sm) in (0..).zip(self.sms) {
            let first = system.receive(number);
            if first.is_none() && !has_run(sm) {
                continue;
            }
            let mail = &mut *sm.mail();
            mail.replies.extend(first);
            while let Some(reply) = system.receive(number) {
                mail.replies.push(reply);
            }
            mail.set_free_flits(system.room(number), to);
            sm.sleep.set(mail.sleeps_until().filter(|_| may_sleep).unwrap_or(Sleep::AWAKE));
        }
        drop(memory);
        self.observe();
    }

    fn arrange(&mut self, from: Cycle) {
        let order = &mut self.scratch.order;
        if order.is_empty() {
            order.extend(0..self.crew.parts());
            if self.options.order == SmOrder::Reverse {
                order.reverse();
            }
        }
        if let SmOrder::Shuffled(seed) = self.options.order {
            let mut state = seed ^ from.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for n in (1..order.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(n, (state >> 33) as usize % (n + 1));
            }
        }
    }

    fn observe(&mut self) {
        let Some(observer) = &mut self.options.observer else { return };
        let events = &mut self.scratch.events;
        events.clear();
        self.sms.iter().for_each(|sm| events.append(&mut sm.mail().events));
        events.sort_by_key(|e| (e.at, e.sm));
        events.iter().for_each(|e| observer.event(e));
    }

    /// What ended the run on an SM: the first in the order of (time, SM).
    fn fault(&self) -> Option<Ending> {
        if !self.has_fault {
            return None;
        }
        let faults = self.sms.iter().filter_map(|sm| sm.mail().fault.clone());
        let (at, fault) = faults.min_by_key(|(at, _)| *at)?;
        Some(Ending::Fault(at - self.start, fault))
    }

    /// When something next moves, at the latest; `None` when nothing will ever move again.
    fn next_move(&mut self) -> Option<Cycle> {
        let now = self.gpu.now;
        let can_dispatch = self.next < self.total
            && self.sms.iter().any(|sm| {
                let occupancy = sm.mail().occupancy;
                occupancy.resident < occupancy.most
            });
        if can_dispatch {
            return Some(now);
        }
        let mut earliest = self.gpu.memory.next_event(now);
        for sm in self.sms {
            earliest = earliest.into_iter().chain(sm.next_event()).min();
            if earliest.is_some_and(|e| e < now + self.window) {
                break;
            }
        }
        earliest
    }

    /// Skips the windows before the one in which something moves.
    fn jump(&mut self, next: Cycle) {
        let now = self.gpu.now;
        let mut to = now + (next - now) / self.window * self.window;
        if let Some(most) = self.options.max_cycles {
            to = to.min((self.start + most).max(now));
        }
        if to > now {
            self.run_parts(now, to);
            self.gpu.now = to;
        }
    }

    fn blocked(&self) -> Vec<crate::sm::BlockedWarp> {
        self.sms.iter().flat_map(|sm| lock(&sm.sm).blocked_warps(self.options.source)).collect()
    }

    fn finish(mut self, ending: Ending, kernel: &TimedKernel<'_>) -> (LaunchResult, Box<dyn Dispatcher>) {
        let memory = self.work.hold();
        self.sms.iter().for_each(|s| lock(&s.sm).run_until(&mut s.mail(), self.gpu.now, &memory));
        self.gpu.memory.make_up(self.gpu.now);
        self.observe();
        let end = match &ending {
            Ending::Completed => self.last_end + 1,
            Ending::Fault(at, _) => self.start + at + 1,
            _ => self.gpu.now,
        };
        self.printed.sort_by_key(|(at, sm, _)| (*at, *sm));
        let mut output = String::new();
        self.printed.iter().filter(|p| p.0 < end).for_each(|p| printf::keep(&mut output, &p.2));
        let trailing = self.gpu.now.saturating_sub(end);
        let completed = matches!(ending, Ending::Completed);
        let trailing = if completed { trailing } else { 0 };
        let sms: Vec<_> = self.sms.iter().map(|seat| lock(&seat.sm)).collect();
        let result = LaunchResult::collect(
            &sms,
            &self.gpu.memory,
            crate::result::Summary {
                ending,
                cycles: end - self.start,
                trailing,
                ctas: self.done,
                residency: self.residency,
                output,
            },
            kernel,
        );
        (result, self.dispatcher)
    }
}
