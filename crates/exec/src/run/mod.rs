//! The functional machine: runs a launch to its end, without time.
//!
//! Thread blocks run one after another while nobody waits for anybody else. A block that has used
//! up its quantum without finishing lets the next one start, up to the number that may be resident;
//! so spin locks, work queues and barriers across the grid finish.

mod stretch;
mod wait;
mod warp;

use crate::core::{Arrival, Core, Effect, Home, Lanes};
use crate::decode::Program;
use crate::fault::{Fault, FaultKind};
use crate::interrupt::Interrupt;
use crate::lanes::ROW_THREADS;
use crate::launch::{Launch, Report};
use crate::memory::DeviceMemory;
use crate::op::{Class, NO_PC, NONE, Op};
use crate::reference;
use crate::sanitize::Sanitizer;
use crate::splits::{Group, Meeting, State, add_by_target};
use raddle_ptx::num::fit;
use std::ops::Range;
use std::sync::Arc;
use warp::Warp;

pub use stretch::{Stretches, Touch};

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Lanes per warp: 4, 8, 16 or 32.
    pub warp_width: u32,
    /// Form warps of threads from different rows, so that every access to thread state takes the
    /// path regrouped warps take. Kernels with warp-wide operations keep their static warps.
    pub gather: bool,
    /// Thread blocks that may be resident at once.
    pub resident_ctas: u32,
    /// Operations a warp runs before the next one of its block gets a turn.
    pub warp_quantum: u32,
    /// Turns of a block before the next one gets a turn.
    pub cta_quantum: u32,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { warp_width: 32, gather: false, resident_ctas: 120, warp_quantum: 10_000, cta_quantum: 64 }
    }
}

/// Operations of a turn while a warp has splits that wait for each other.
const SPIN_QUANTUM: u32 = 200;

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The launch cannot be started.
    #[error(transparent)]
    Load(#[from] crate::image::LoadError),
    /// The kernel cannot continue.
    #[error("{}", .0.kind)]
    Fault(Box<Fault>),
}

impl From<Fault> for RunError {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Runs a launch.
///
/// # Errors
/// When the launch does not fit the kernel, or the kernel faults.
pub fn run(
    program: &Program,
    launch: &Launch,
    memory: &mut DeviceMemory,
    options: &RunOptions,
) -> Result<Report, RunError> {
    let mut all = Stretches::new(program, launch, *options)?;
    if launch.report_uninitialised {
        // Only the interpreter keeps every register apart and knows which were written.
        let options = reference::Options { warp_width: options.warp_width, ..reference::Options::default() };
        return Ok(reference::run(&program.image, &program.layout, launch, memory, &options)?);
    }
    let finished = all.run(&mut (0..launch.ctas()), memory, u64::MAX, None);
    let report = all.take_report(memory);
    match finished {
        Ok(_) => Ok(report),
        Err(fault) => Err(Fault { output: report.output, ..*fault }.into()),
    }
}

/// A resident thread block.
struct Block {
    slot: u32,
    warps: Vec<Warp>,
    /// Warp-instructions it has executed.
    warp_insts: u64,
}

impl Block {
    /// Has threads continue that wait to reconverge, as nobody else can: others may wait for them, or for their end.
    /// False when there are none.
    fn let_go(&mut self) -> bool {
        let mut waiting = self.warps.iter_mut().filter(|w| w.parts.waiting() != 0).peekable();
        let any = waiting.peek().is_some();
        waiting.for_each(|w| w.parts.let_go());
        any
    }
}

/// How a warp's turn ended.
enum Turn {
    /// It did something.
    Progress,
    /// Everything in it waits, or it has ended.
    Stuck,
}

/// What executes blocks for a while: the state of [`Stretches`], and memory.
struct Runner<'r, 'p> {
    core: &'r mut Core<'p>,
    program: &'p Program,
    launch: &'p Launch,
    memory: &'r mut DeviceMemory,
    options: RunOptions,
    report: &'r mut Report,
    /// Blocks that have ended, for their warps to be used again.
    finished: &'r mut Vec<Block>,
    /// Kept for its memory.
    arrivals: &'r mut Vec<Arrival>,
    sanitizer: Option<&'r mut Sanitizer<'p>>,
    touch: Option<&'r mut dyn Touch>,
}

type Ran<T> = Result<T, Box<Fault>>;

impl Runner<'_, '_> {
    /// Executes blocks from `next` on. False when none has ended for `patience` warp-instructions: they may be waiting
    /// for others.
    fn grid(&mut self, resident: &mut Vec<Block>, next: &mut Range<u64>, patience: u64) -> Ran<bool> {
        let mut turn = 0;
        let mut last_end = self.report.warp_insts;
        loop {
            if turn >= resident.len() {
                let room = resident.len() < self.options.resident_ctas.max(1) as usize;
                if room && let Some(index) = next.next() {
                    resident.push(self.start(index));
                } else if resident.is_empty() {
                    return Ok(true);
                } else {
                    turn = 0;
                }
            }
            let before = self.report.warp_insts;
            let is_over = self.block(&mut resident[turn])?;
            resident[turn].warp_insts += self.report.warp_insts - before;
            if is_over {
                let done = resident.remove(turn);
                self.report.most_of_a_cta = self.report.most_of_a_cta.max(done.warp_insts);
                self.core.end_cta(done.slot);
                self.finished.push(done);
                last_end = self.report.warp_insts;
            } else {
                turn += 1;
            }
            if self.report.warp_insts - last_end > patience {
                return Ok(false);
            }
        }
    }

    fn start(&mut self, index: u64) -> Block {
        let slot = self.core.start_cta(index);
        if let Some(sanitizer) = &mut self.sanitizer {
            sanitizer.start(slot, index, self.core.ctas[slot as usize].shared.len());
        }
        // A finished block that used the same slot has warps over the same rows.
        if let Some(i) = self.finished.iter().position(|b| b.slot == slot) {
            let mut block = self.finished.swap_remove(i);
            block.warps.iter_mut().for_each(Warp::restart);
            block.warp_insts = 0;
            return block;
        }
        let cta = &self.core.ctas[slot as usize];
        let (first, rows) = (cta.first_row, cta.rows);
        let threads = self.launch.threads_per_cta();
        let width = self.options.warp_width;
        let exists = |row: u32, lane: u32| (row - first) * ROW_THREADS + lane < threads;
        let regroup = self.options.gather && !self.program.ops.iter().any(Op::is_warp_wide);
        let mut warps = Vec::new();
        for row in first..first + rows {
            // A regrouped warp takes the thread of each lane from another row.
            let home_row = |lane: u32| if regroup { first + (row - first + lane) % rows } else { row };
            for base in (0..ROW_THREADS).step_by(width as usize) {
                let lanes = base..base + width;
                let mask = lanes.filter(|l| exists(home_row(*l), *l)).fold(0, |m, l| m | 1u32 << l);
                let home = |lane: usize| Home { row: home_row(fit(lane)), lane: fit(lane) };
                let homes = self.options.gather.then(|| Arc::new(std::array::from_fn(home)));
                if mask != 0 {
                    warps.push(Warp::new(row, base, mask, homes));
                }
            }
        }
        Block { slot, warps, warp_insts: 0 }
    }

    /// Gives a block its turns; true when it is done.
    fn block(&mut self, block: &mut Block) -> Ran<bool> {
        for _ in 0..self.options.cta_quantum {
            let mut moved = 0;
            for index in 0..block.warps.len() {
                moved += usize::from(matches!(self.warp(block, index)?, Turn::Progress));
            }
            if self.launch.max_thread_insts.is_some_and(|most| self.report.thread_insts >= most) {
                return Err(Box::new(self.limit(block)));
            }
            if self.launch.interrupt.as_ref().is_some_and(Interrupt::is_wanted) {
                return Err(Box::new(self.stopped(block, FaultKind::Interrupted)));
            }
            if block.warps.iter().all(|w| w.parts.is_done()) {
                return Ok(true);
            }
            if moved == 0 && !block.let_go() {
                return Err(Box::new(self.deadlock(block)));
            }
            // All wait for one warp that continues forever: it may be waiting for another block.
            let live = block.warps.iter().filter(|w| !w.parts.is_done()).count();
            if moved == 1 && live > 1 && block.warps.iter().filter(|w| w.parts.can_run()).count() == 1 {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn warp(&mut self, block: &mut Block, index: usize) -> Ran<Turn> {
        let mut budget = match block.warps[index].patience.is_spinning {
            true => self.options.warp_quantum.min(SPIN_QUANTUM),
            false => self.options.warp_quantum,
        };
        let Some(mut split) = block.warps[index].parts.ready() else { return Ok(Turn::Stuck) };
        loop {
            let before = budget;
            let is_over = self.run_split(block, index, split, &mut budget)?;
            self.core.clock += u64::from(before - budget);
            if is_over || budget == 0 {
                block.warps[index].end_turn();
                return Ok(Turn::Progress);
            }
            match block.warps[index].parts.ready() {
                Some(next) => split = next,
                None => return Ok(Turn::Progress),
            }
        }
    }

    /// Runs one split of a warp until it waits, diverges, joins, ends or has used up the budget. Whether its turn is
    /// over before that.
    fn run_split(&mut self, block: &mut Block, index: usize, split: usize, budget: &mut u32) -> Ran<bool> {
        let warp = &mut block.warps[index];
        let s = warp.parts.splits[split];
        let (join_pc, join_depth) = warp.parts.join_of(split);
        let join_pc = if join_depth == s.depth { join_pc } else { NO_PC };
        let mask = s.mask;
        let mut pc = s.pc;
        let homes = warp.homes.clone();
        let lanes = Warp::lanes(warp.row, homes.as_ref());
        loop {
            if let Lanes::Row(row) = lanes {
                pc = self.straight(row, pc, join_pc, mask, budget);
            }
            warp.parts.splits[split].pc = pc;
            if pc == join_pc {
                warp.parts.arrive(split);
                return Ok(false);
            }
            if *budget == 0 {
                return Ok(false);
            }
            *budget -= 1;
            let op = &self.program.ops[pc as usize];
            let active = self.core.guarded(op, lanes, mask);
            self.count(op, active);
            match op.class {
                Class::Branch if active == mask => pc = op.target,
                Class::Branch if active == 0 => pc += 1,
                Class::Branch => {
                    let stay = Group { pc: pc + 1, mask: mask & !active, depth: s.depth };
                    let go = Group { pc: op.target, mask: active, depth: s.depth };
                    warp.parts.diverge(split, &[stay, go], Meeting::at(op.reconverge));
                    return Ok(false);
                }
                Class::Exit => {
                    warp.parts.splits[split].pc = pc + 1;
                    warp.parts.exit(split, active);
                    self.release_syncs(warp)?;
                    self.core.end_threads(block.slot, lanes, active);
                    self.release_barriers(block);
                    return Ok(false);
                }
                Class::Barrier if active != 0 => {
                    self.barrier(block, index, split, active)?;
                    return Ok(false);
                }
                Class::Warp | Class::Matrix => {
                    self.collective(warp, split, active)?;
                    return Ok(false);
                }
                class => match self.execute(pc, lanes, active) {
                    Ok(Effect::Next) => {
                        pc += 1;
                        if class == Class::Atomic && warp.patience.count_atomic() {
                            warp.parts.splits[split].pc = pc;
                            return Ok(true);
                        }
                    }
                    Ok(effect) => {
                        let depth = match effect {
                            Effect::Depth(by) => s.depth.wrapping_add_signed(by),
                            _ => s.depth,
                        };
                        self.scatter(warp, split, active, depth);
                        return Ok(false);
                    }
                    Err(fault) => return Err(Box::new(self.core.fault(pc, lanes, fault))),
                },
            }
        }
    }

    /// The hot loop: operations on registers only, and branches at which the lanes do not diverge.
    /// Returns where it stopped.
    #[inline]
    fn straight(&mut self, row: u32, mut pc: u32, join_pc: u32, mask: u32, budget: &mut u32) -> u32 {
        let ops = &self.program.ops[..];
        let mut regs = self.core.regs(row);
        let (mut threads, mut warps) = (0, 0);
        while *budget > 0 && pc != join_pc {
            let op = &ops[pc as usize];
            let active = if op.guard == NONE { mask } else { mask & (regs.preds[op.guard as usize] ^ op.guard_flip) };
            match op.class {
                Class::Alu => {
                    crate::lanes::call(&mut regs, op, active);
                    pc += 1;
                }
                Class::Branch if active == mask => pc = op.target,
                Class::Branch if active == 0 => pc += 1,
                _ => break,
            }
            threads += u64::from(active.count_ones());
            warps += 1;
            *budget -= 1;
        }
        self.report.thread_insts += threads;
        self.report.warp_insts += warps;
        pc
    }

    fn count(&mut self, op: &Op, active: u32) {
        if !op.hidden {
            self.report.thread_insts += u64::from(active.count_ones());
            self.report.warp_insts += 1;
        }
    }

    /// Sends the lanes of `active` to their targets at call depth `depth`, and the others on.
    fn scatter(&mut self, warp: &mut Warp, split: usize, active: u32, depth: u32) {
        let s = warp.parts.splits[split];
        let mut groups: Vec<Group> = Vec::new();
        add_by_target(&mut groups, active, &self.core.targets, depth);
        if let [only] = groups[..]
            && only.mask == s.mask
        {
            warp.parts.splits[split].pc = only.pc;
            warp.parts.splits[split].depth = depth;
            return;
        }
        groups.push(Group { pc: s.pc + 1, mask: s.mask & !active, depth: s.depth });
        let meeting = Meeting::at(self.program.ops[s.pc as usize].reconverge);
        warp.parts.diverge(split, &groups, meeting);
    }

    fn list(&self, block: &Block) -> String {
        let [x, y, z] = self.core.ctas[block.slot as usize].coords;
        let mut lines = vec![format!("block ({x},{y},{z}):")];
        for (number, warp) in block.warps.iter().enumerate() {
            for s in &warp.parts.splits {
                let waits = match s.state {
                    State::Ready | State::Gathers(_) => "runs".to_owned(),
                    State::Barrier(n) => {
                        let (arrived, wanted) = self.core.barrier_state(block.slot, n);
                        format!("waits at barrier {n}: {arrived} of {wanted} threads have arrived")
                    }
                    State::Sync(wanted) => {
                        format!("waits for lanes {:#x} of its warp", wanted & warp.parts.live & !s.mask)
                    }
                };
                let place = self.program.place(s.pc, None);
                lines.push(format!("  warp {number}, lanes {:#010x}: {waits}; {place}", s.mask));
            }
        }
        lines.join("\n")
    }

    fn deadlock(&self, block: &Block) -> Fault {
        self.stopped(block, FaultKind::Deadlock(self.list(block)))
    }

    fn limit(&self, block: &Block) -> Fault {
        let text = format!("after {} thread-instructions:\n{}", self.report.thread_insts, self.list(block));
        self.stopped(block, FaultKind::InstructionLimit(text))
    }

    /// A fault of a whole block, shown at the first split of a warp that has not ended.
    fn stopped(&self, block: &Block, kind: FaultKind) -> Fault {
        let found = block.warps.iter().find_map(|warp| warp.parts.splits.first().map(|split| (warp, split)));
        let thread = found.map(|(warp, split)| {
            let lanes = Warp::lanes(warp.row, warp.homes.as_ref());
            self.core.thread_id(lanes.home(split.mask.trailing_zeros() as usize & 31))
        });
        let origin = found.and_then(|(_, split)| self.program.origins.get(split.pc as usize));
        Fault { kind, thread, at: origin.map(|o| (o.func, o.inst)), output: String::new() }
    }
}
