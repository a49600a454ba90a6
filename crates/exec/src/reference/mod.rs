//! The reference interpreter: one thread at a time.
//!
//! Written for being right, not fast, and apart from the fast path: it shares the containers
//! (memory, image, launch) with it and nothing that computes. Integers go through 128-bit
//! arithmetic, floating point through a software implementation.
//!
//! **Schedule.** A block runs until it is done. Its threads run in order, each until it exits, waits
//! or has used its quantum; when only threads without quantum are left, the other resident blocks
//! get their turn and further blocks become resident, up to [`Options::resident`]. So threads that
//! wait in a loop for what another thread or block does come to an end.
//!
//! **Warps** exist only for instructions that speak of them: the threads of a block with consecutive
//! linear indices, [`Options::warp_width`] of them.
//!
//! **Invariants.** The result of a race-free kernel does not depend on the options. Nothing here
//! panics on a module that was checked without errors.

mod approx;
mod barrier;
mod compare;
mod control;
mod convert;
mod float;
mod fragment;
mod integer;
mod logic;
mod matrix;
mod memory;
mod order;
mod sample;
mod special;
mod step;
mod surface;
mod texture;
mod thread;
mod warp;

#[cfg(test)]
mod tests;

use crate::fault::place;
use crate::image::{Image, KernelLayout};
use crate::memory::DeviceMemory;
use crate::{Fault, FaultKind, Interrupt, Launch, Report, ThreadId};
use barrier::Barrier;
pub use order::Order;
use raddle_ptx::ir::{InstId, Module};
use raddle_ptx::num::fit;
use step::{Step, Stop};
use thread::{Bytes, Cta, Registers, State, Thread};

/// How to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads per warp, 1 to 32.
    pub warp_width: u32,
    /// Thread-instructions before switching to the next thread.
    pub quantum: u64,
    /// Blocks that may be under way at the same time, 1 or more.
    pub resident: usize,
    /// In which order blocks and threads take turns.
    pub order: Order,
}

impl Default for Options {
    fn default() -> Self {
        Self { warp_width: 32, quantum: 2000, resident: 120, order: Order::Forward }
    }
}

/// Runs one launch to its end.
///
/// # Errors
/// The first fault, in the order in which this interpreter runs the threads.
pub fn run(
    image: &Image,
    layout: &KernelLayout,
    launch: &Launch,
    memory: &mut DeviceMemory,
    options: &Options,
) -> Result<Report, Fault> {
    let options = Options {
        warp_width: options.warp_width.clamp(1, 32),
        quantum: options.quantum.max(1),
        resident: options.resident.max(1),
        order: options.order,
    };
    let env = Env { module: &image.module, image, layout, launch, options };
    let mut machine = Machine { env, memory, report: Report::default(), turns: 0 };
    match machine.grid() {
        Ok(()) => Ok(machine.report),
        Err(fault) => Err(Fault { output: machine.report.output, ..fault }),
    }
}

/// What does not change during a launch.
struct Env<'a> {
    module: &'a Module,
    image: &'a Image,
    layout: &'a KernelLayout,
    launch: &'a Launch,
    options: Options,
}

struct Machine<'a> {
    env: Env<'a>,
    memory: &'a mut DeviceMemory,
    report: Report,
    /// Turns of blocks so far.
    turns: u64,
}

impl Machine<'_> {
    fn grid(&mut self) -> Result<(), Fault> {
        let total = self.env.launch.ctas();
        let mut next = 0;
        let mut resident: Vec<Cta> = Vec::new();
        loop {
            // Everyone here has used a whole turn: as many again may help them on.
            let wanted = (2 * resident.len()).clamp(1, self.env.options.resident);
            while next < total && resident.len() < wanted {
                let mut cta = self.start(self.env.options.order.place(next, total))?;
                next += 1;
                self.turn(&mut cta).map_err(|f| self.explain(f, &resident, &cta))?;
                if !cta.is_finished() {
                    resident.push(cta);
                }
            }
            if resident.is_empty() {
                return Ok(());
            }
            for i in 0..resident.len() {
                let mut cta = resident.remove(i);
                let result = self.turn(&mut cta);
                result.map_err(|f| self.explain(f, &resident, &cta))?;
                resident.insert(i, cta);
            }
            resident.retain(|c| !c.is_finished());
        }
    }

    fn start(&self, index: u64) -> Result<Cta, Fault> {
        let Env { module, layout, launch, .. } = &self.env;
        let track = launch.report_uninitialised;
        let coords = launch.cta_coords(index);
        let kernel = module.func(layout.kernel);
        let frame = layout.frame(layout.kernel).size;
        let thread = |index: u32| Thread {
            index,
            coords: launch.thread_coords(index),
            func: layout.kernel,
            pc: 0,
            frame_base: 0,
            stack: 0,
            registers: Registers::new(kernel.regs.len(), track),
            callers: Vec::new(),
            carry: false,
            local: Bytes::new(frame as usize, track),
            state: State::Ready,
            budget: 0,
            clock: 0,
        };
        let shared = fit(launch.shared_bytes(layout));
        Ok(Cta {
            coords,
            shared: Bytes::new(shared, track),
            threads: (0..launch.threads_per_cta()).map(thread).collect(),
            barriers: (0..barrier::BARRIERS).map(|_| Barrier::default()).collect(),
            next_block: index,
            exited: 0,
        })
    }

    /// Runs a block until it is finished or every thread that could continue has used its quantum.
    fn turn(&mut self, cta: &mut Cta) -> Result<(), Fault> {
        let Options { quantum, order, .. } = self.env.options;
        self.turns += 1;
        if self.env.launch.interrupt.as_ref().is_some_and(Interrupt::is_wanted) {
            return Err(Fault { kind: FaultKind::Interrupted, thread: None, at: None, output: String::new() });
        }
        for thread in &mut cta.threads {
            thread.budget = order.budget(quantum, self.turns, thread.index);
        }
        let width = self.env.options.warp_width as usize;
        let warps = cta.threads.len().div_ceil(width);
        loop {
            let mut moved = false;
            for first in (0..warps).map(|n| order.index(n, warps) * width) {
                let warp = first..(first + width).min(cta.threads.len());
                loop {
                    for t in (0..warp.len()).map(|n| first + order.index(n, warp.len())) {
                        moved |= self.run_thread(cta, t)?;
                    }
                    if !self.collectives(cta, warp.clone())? {
                        break;
                    }
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let stuck = !cta.is_finished() && !cta.threads.iter().any(|t| t.state == State::Ready);
        if stuck { Err(self.deadlock(cta)) } else { Ok(()) }
    }

    /// Runs one thread as far as it goes; says whether it could do anything.
    fn run_thread(&mut self, cta: &mut Cta, t: usize) -> Result<bool, Fault> {
        let thread = &cta.threads[t];
        if thread.state != State::Ready || thread.budget == 0 {
            return Ok(false);
        }
        let mut step = self.step(cta, t);
        let stop = match step.run() {
            Ok(stop) => stop,
            Err(kind) => return Err(step.fault(kind)),
        };
        match stop {
            Stop::Budget => {}
            Stop::Exited => {
                cta.threads[t].state = State::Exited;
                cta.exited += 1;
                self.release_barriers(cta)?;
            }
            Stop::Barrier => self.arrive(cta, t)?,
            Stop::Collective => self.wait_for_warp(cta, t)?,
        }
        Ok(true)
    }

    /// The view of one thread that executes instructions.
    fn step<'s>(&'s mut self, cta: &'s mut Cta, t: usize) -> Step<'s> {
        Step::new(&self.env, self.memory, &mut self.report, cta, t)
    }

    fn place(&self, thread: &Thread) -> String {
        place(self.env.module, None, thread.func, InstId(thread.pc))
    }

    /// Completes a fault whose text lists where all threads are.
    fn explain(&self, mut fault: Fault, resident: &[Cta], cta: &Cta) -> Fault {
        if let FaultKind::InstructionLimit(text) = &mut fault.kind {
            let threads = resident.iter().chain([cta]).flat_map(|c| &c.threads);
            let alive: Vec<&Thread> = threads.filter(|t| t.state != State::Exited).collect();
            let mut groups = count_by(alive.iter().map(|t| (t.func, t.pc)));
            groups.sort_by_key(|(at, n)| (std::cmp::Reverse(*n), *at));
            for ((func, pc), n) in groups.into_iter().take(8) {
                *text += &format!("  {n} threads at {}\n", place(self.env.module, None, func, InstId(pc)));
            }
            text.truncate(text.trim_end().len());
        }
        fault
    }

    /// Says who waits for what in a block where nobody can continue.
    fn deadlock(&self, cta: &Cta) -> Fault {
        let waiting: Vec<&Thread> = cta.threads.iter().filter(|t| t.state != State::Exited).collect();
        let reason = |t: &Thread| format!("at {} wait for {}", self.place(t), self.awaited(cta, t));
        let id = |t: &Thread| ThreadId { cta: cta.coords, thread: t.coords };
        let lines: Vec<String> = count_by(waiting.iter().map(|t| reason(t)))
            .into_iter()
            .map(|(text, n)| {
                let first = waiting.iter().find(|t| reason(t) == text).map(|t| id(t).to_string());
                format!("  {n} threads {text}; the first is {}", first.unwrap_or_default())
            })
            .collect();
        let first = waiting.first();
        Fault {
            kind: FaultKind::Deadlock(lines.join("\n")),
            thread: first.map(|t| id(t)),
            at: first.map(|t| (t.func, InstId(t.pc))),
            output: String::new(),
        }
    }

    fn awaited(&self, cta: &Cta, thread: &Thread) -> String {
        match &thread.state {
            State::Barrier(index) => self.barrier_wait(cta, *index),
            State::Collective(c) => self.collective_wait(cta, thread, c),
            State::Ready | State::Exited => "nothing".to_owned(),
        }
    }
}

/// Equal items and how many there are of each, in the order in which they first appear.
fn count_by<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut groups: Vec<(T, usize)> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|(key, _)| *key == item) {
            Some((_, n)) => *n += 1,
            None => groups.push((item, 1)),
        }
    }
    groups
}
