//! One streaming multiprocessor, cycle by cycle.
//!
//! ```text
//!            ┌─────────┐   ┌────────────┐   ┌──────────┐
//!  blocks ──►│  fetch  ├──►│ schedulers ├──►│ datapath ├──► results
//!            └────┬────┘   └─────┬──────┘   └────┬─────┘
//!                 │              │ issue/path    │ memory instructions
//!                 │        ┌─────┴──────┐   ┌────┴─────┐
//!                 └───────►│    port    │◄──┤  memory  │
//!                          └────────────┘   └──────────┘
//! ```
//! In every cycle the stages run once, from the end of the pipeline to its start: replies, write-back, execution,
//! load-store unit, operand collector, issue, decode, fetch, blocks that start. What a stage hands on is
//! therefore seen by the next stage one cycle later. Each stage has its own state; what they work on together is
//! [`shared::Shared`].
//!
//! What warps could do next is kept in sets ([`warps::places::Sets`]) that events bring up to date; a cycle in which
//! nothing can move is recognised and skipped, with its slots charged to the causes the sets say.

mod account;
mod blocks;
pub(crate) mod build;
pub mod collector;
pub mod counters;
mod datapath;
mod facts;
mod fetch;
mod footprint;
mod gangs;
mod in_flight;
mod issue;
pub mod kept;
pub mod lanes;
mod mail;
pub mod memory;
mod port;
mod power;
mod report;
mod shared;
mod sleep;
mod threads;
pub mod units;
pub mod warps;

use crate::config::MachineConfig;
use crate::gpu::GpuError;
use crate::kernel::TimedKernel;
use crate::packet::{Cycle, Purpose, Reply};
use crate::result::SmResult;
use crate::seam::{Divergence, FetchScheduler, Ganging, Gating, IssueScheduler, MAX_WARPS, Seam};
use account::Account;
use blocks::Blocks;
use build::Build;
use counters::SmCounters;
use datapath::Datapath;
use facts::Facts;
use fetch::{Around, Fetch};
use gangs::Gangs;
use in_flight::InFlightTable;
use issue::path::Path;
use issue::{MemoryState, Schedulers};
use kept::Kept;
use memory::LoadStore;
use port::Port;
use power::Power;
use raddle_exec::Launch;
use raddle_exec::core::Core;
use raddle_exec::memory::DeviceMemory;
use raddle_ptx::num::fit;
use shared::Shared;
use sleep::Stages;
use threads::Threads;
use warps::Warps;

pub use blocks::Occupancy;
pub use mail::Mail;
pub use report::BlockedWarp;

/// The mechanisms of one SM.
pub struct SmMechanisms {
    /// Divergence model.
    pub divergence: Box<dyn Divergence>,
    /// One issue scheduler for each of the SM's schedulers.
    pub issue: Vec<Box<dyn IssueScheduler>>,
    /// One fetch scheduler for each slice.
    pub fetch: Vec<Box<dyn FetchScheduler>>,
    /// Ganging unit.
    pub ganging: Box<dyn Ganging>,
    /// Gating scheme.
    pub gating: Box<dyn Gating>,
}

/// One streaming multiprocessor: its stages, and what they work on together.
pub struct Sm<'k, B> {
    shared: Shared<'k, B>,
    blocks: Blocks,
    fetch: Fetch,
    schedulers: Schedulers,
    gangs: Gangs,
    power: Power,
    datapath: Datapath,
    memory: LoadStore,
    port: Port,
}

impl<'k, B: Build> Sm<'k, B> {
    /// An SM for one launch.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, or the divergence model refuses the kernel.
    pub fn new(
        id: u16,
        config: &'k MachineConfig,
        kernel: &'k TimedKernel<'k>,
        launch: &'k Launch,
        mechanisms: SmMechanisms,
        most_ctas: u32,
        mut kept: Kept,
    ) -> Result<Self, GpuError> {
        let sm = &config.sm;
        let SmMechanisms { mut divergence, issue, fetch, ganging, gating } = mechanisms;
        divergence.start_launch(kernel.program).map_err(|(pc, why)| {
            let place = kernel.program.place(pc, None);
            GpuError::Refused(format!("divergence model `{}`: {why}, {place}", config.mechanism.divergence.name()))
        })?;
        let core = Core::new(kernel.program, launch, sm.warp_width).map_err(|e| GpuError::Launch(e.to_string()))?;
        kept.start_launch();
        let slots = (sm.threads / sm.warp_width) as usize;
        let pool = divergence.pool(slots);
        let slots = pool.unwrap_or(slots).min(MAX_WARPS);
        let waiting = fetch.iter().any(|fetch| fetch.serves_waiting());
        let mut warps = Warps::new(kernel, sm, slots, divergence, pool.is_some(), waiting);
        let datapath = Datapath::new(sm);
        let gangs = Gangs::new(ganging, kernel, slots, datapath.slices());
        if gangs.is_active::<B>() {
            warps.news.watch_groups(datapath.slices());
        }
        // Where threads change warps or warps issue together, a block takes its next logical block as a whole.
        let takes_whole = warps.regroups() || warps.pooled() || gangs.is_active::<B>();
        let mut shared = Shared {
            facts: Facts::new(id, config, kernel, launch, most_ctas),
            threads: Threads::new(core.on_sm(u32::from(id), config.gpu.sms)),
            warps,
            insts: InFlightTable::default(),
            account: Account::new(id, kernel.ops.len()),
        };
        Ok(Self {
            blocks: Blocks::new(&mut shared, launch, kept.turns, takes_whole),
            fetch: Fetch::new(config, fetch, kept.l1i, slots),
            schedulers: Schedulers::new(issue, sm, slots),
            gangs,
            power: Power::new(gating),
            datapath,
            memory: LoadStore::new(config, id, kept.l1c, kept.l1t),
            port: Port::new(&config.interconnect),
            shared,
        })
    }

    /// What the next launch finds.
    #[must_use]
    pub fn into_kept(self) -> Kept {
        let (l1c, l1t) = self.memory.into_kept();
        Kept { l1i: self.fetch.into_kept(), l1c, l1t, turns: self.blocks.turns() }
    }

    /// Collects events from now on; those of issue slots and requests only with `slots`.
    pub fn listen(&mut self, slots: bool) {
        self.shared.account.listen(slots);
        if slots {
            self.shared.warps.news.listen();
        }
    }

    /// Runs every cycle instead of skipping those in which nothing moves.
    pub fn never_skip(&mut self) {
        self.shared.facts.never_skips = true;
    }

    /// Whether warps take logical blocks by themselves.
    pub(crate) fn has_virtual_blocks(&self) -> bool {
        self.blocks.are_virtual()
    }

    // A window.

    /// Goes on to `to` from where it stopped, and is told nothing: so it makes up for windows in which it was left alone.
    pub fn run_until(&mut self, mail: &mut Mail, to: Cycle, memory: &DeviceMemory) {
        let mut now = mail.ran_until;
        while now < to && self.shared.threads.fault.is_none() {
            let looks = !self.shared.facts.never_skips && !self.shared.account.has_just_issued(now);
            if let Some(wake) = looks.then(|| self.sleep_until(now)).flatten() {
                let until = wake.min(to);
                self.skip(now, until);
                now = until;
            } else {
                self.cycle(now, memory);
                now += 1;
            }
        }
        mail.ran_until = to;
    }

    /// Runs a window: takes what came, and leaves what it has to tell.
    pub fn window(&mut self, mail: &mut Mail, from: Cycle, to: Cycle, memory: &DeviceMemory) {
        self.run_until(mail, from, memory);
        for (at, reply) in mail.replies.drain(..) {
            self.deliver(at, reply);
        }
        self.port.free_flits = mail.free_flits;
        self.blocks.take_mail(mail);
        self.run_until(mail, to, memory);
        self.blocks.leave_mail(mail);
        std::mem::swap(&mut self.port.outbox, &mut mail.requests);
        let Shared { threads, account, .. } = &mut self.shared;
        std::mem::swap(&mut threads.log, &mut mail.log);
        mail.printed.append(&mut threads.printed);
        account.hand_over(&mut mail.events);
        mail.free_flits = self.port.free_flits;
        mail.waits_for_flits = self.memory.wants_to_send() || self.fetch.wants_to_send();
        self.describe(mail, to);
    }

    fn describe(&self, mail: &mut Mail, now: Cycle) {
        let Shared { threads, account, facts, .. } = &self.shared;
        let held = self.memory.held() + self.port.inbox.len();
        let is_answered = self.port.expected == self.port.received;
        mail.fault.clone_from(&threads.fault);
        mail.reply_room = facts.config.sm.ejection_buffer.saturating_sub(fit(held));
        mail.occupancy = self.blocks.occupancy(facts.most_ctas);
        mail.is_idle = self.blocks.is_empty() && is_answered && !self.memory.wants_to_send();
        mail.thread_insts = account.counters.thread_insts;
        mail.next = match account.has_just_issued(now) {
            true => Some(now),
            false => Some(self.sleep_until(now).unwrap_or(now)).filter(|at| *at != Cycle::MAX),
        };
    }

    /// Flits the interconnect takes.
    fn free_flits(&self) -> u32 {
        self.port.free_flits
    }

    /// A reply will arrive at `at`. All sectors of a line but the last count at once.
    fn deliver(&mut self, at: Cycle, reply: Reply) {
        let is_absorbed = match reply.purpose {
            Purpose::Inst => self.fetch.absorbs(reply.token),
            _ => self.memory.absorbs(&mut self.shared, &reply),
        };
        if is_absorbed {
            self.port.received += 1;
        } else {
            self.port.inbox.push_back((at, reply));
        }
    }

    // A cycle.

    fn cycle(&mut self, now: Cycle, memory: &DeviceMemory) {
        let Self { shared, blocks, fetch, power, datapath, memory: ldst, port, .. } = self;
        power.begin_cycle(shared, now);
        shared.warps.begin_cycle(now);
        blocks.take_logical_blocks(shared, now);
        if ldst.has_replies(port)
            && let Some(line) = ldst.receive(port, now)
        {
            fetch.line_came(line, now);
        }
        datapath.write_back(shared, now);
        datapath.execute(shared, power, now);
        ldst.cycle(shared, datapath, port, now);
        self.shared.account.counters.cycles += 1;
        if !self.shared.facts.never_skips && self.stages().is_quiet(now) {
            self.datapath.end_cycle::<B>();
            self.charge(now, 1);
            return;
        }
        let memory_state = self.memory_state();
        let Self { shared, blocks, fetch, schedulers, gangs, power, datapath, port, .. } = self;
        datapath.collect(shared);
        schedulers.run(&mut Path { on: shared, blocks, datapath, power, memory, now }, gangs, memory_state);
        fetch.decode(shared, now);
        schedulers.hear(shared);
        fetch.run(&mut Around { on: shared, schedulers, blocks, now }, gangs, port);
        blocks.retire(shared, now);
        while let Some(cta) = blocks.take_start(now) {
            let warps = blocks.start(shared, cta, now);
            gangs.start_block(shared, warps, now);
            shared.warps.block_started(warps);
        }
        schedulers.hear(shared);
        shared.tell_threads();
    }

    /// What its stages say about moving.
    #[inline(always)]
    fn stages(&self) -> Stages<'_, 'k, B> {
        let Self { shared, blocks, fetch, schedulers, gangs, power, datapath, memory, port } = self;
        Stages { shared, blocks, fetch, schedulers, gangs, power, datapath, memory, port }
    }

    /// When something will next move, if nothing moves now; [`Cycle::MAX`] when only a message can wake it.
    fn sleep_until(&self, now: Cycle) -> Option<Cycle> {
        self.stages().sleep_until(now)
    }

    /// What schedulers see of the load-store unit.
    #[inline]
    fn memory_state(&self) -> MemoryState {
        MemoryState { is_occupied: self.memory.is_occupied(), is_stalled: self.memory.is_stalled() }
    }

    /// Charges the empty slots of all schedulers to their causes.
    fn charge(&mut self, now: Cycle, cycles: u64) {
        let state = self.memory_state();
        let Self { shared, schedulers, datapath, gangs, .. } = self;
        schedulers.charge_all(shared, datapath, gangs, state, now, cycles);
    }

    /// Charges cycles in which nothing moved.
    fn skip(&mut self, now: Cycle, until: Cycle) {
        self.shared.account.counters.memory_stalls += self.memory.skip(now, until - now);
        self.charge(now, until - now);
        self.schedulers.skip(now, until);
        self.power.skip(now, until);
        self.shared.account.counters.cycles += until - now;
    }

    // What it has counted.

    /// What it counted in a launch that ended `trailing` cycles before it stopped: nothing was there then.
    ///
    /// # Panics
    /// When a slot of a scheduler has no cause or two, or a lane is in no state or two; not behind a fault.
    pub(crate) fn result(&self, trailing: Cycle, has_fault: bool) -> SmResult {
        let Shared { warps, account, facts, .. } = &self.shared;
        let (stack_depth, bank_conflicts) = (u64::from(warps.stack_depth()), self.datapath.conflicts());
        let mut sm = SmCounters { bank_conflicts, stack_depth, ..account.with_mix(&facts.kernel.ops) };
        let schedulers = warps.slots.schedulers() as u64;
        sm.cycles -= trailing;
        sm.stall_no_warp -= trailing * schedulers;
        assert!(has_fault || sm.slots() == sm.cycles * schedulers, "every scheduler slot has one cause");
        let [int, fp] = self.power.lanes(&facts.config.sm.units, sm.cycles, has_fault);
        let [l1d, l1c, l1t] = self.memory.counters().map(Clone::clone);
        SmResult { sm, int, fp, l1i: self.fetch.counters().clone(), l1d, l1c, l1t, own: Vec::new() }
    }

    /// The values of the counters that its mechanisms at a seam declare, object by object.
    #[must_use]
    pub fn counted(&self, seam: Seam) -> Vec<Vec<u64>> {
        match seam {
            Seam::Divergence => vec![self.shared.warps.divergence().counters()],
            Seam::Issue => self.schedulers.policies().iter().map(|policy| policy.counters()).collect(),
            Seam::Fetch => self.fetch.policies().iter().map(|policy| policy.counters()).collect(),
            Seam::Ganging => vec![self.gangs.unit().counters()],
            Seam::Gating => vec![self.power.gating().counters()],
            Seam::Dispatch => Vec::new(),
        }
    }

    /// Instructions issued at each operation, by warp and by thread.
    #[must_use]
    pub fn pc_counts(&self) -> &[[u64; 2]] {
        self.shared.account.pcs()
    }

    /// Every warp that has not ended, and what it waits for. `source` is the PTX text.
    #[must_use]
    pub fn blocked_warps(&self, source: Option<&str>) -> Vec<BlockedWarp> {
        report::blocked_warps(&self.shared, &self.blocks, source)
    }
}
