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
//! load-store unit, operand collector, issue, decode, fetch, blocks that start. What a stage sends is
//! therefore seen by the next stage one cycle later. Each stage has its own state; what they work on together is
//! `shared.rs`.
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
pub mod in_flight;
mod issue;
pub mod kept;
pub mod lanes;
mod mail;
pub mod memory;
mod port;
mod power;
mod report;
mod shared;
mod stages;
mod threads;
pub mod units;
pub mod warps;

use crate::config::MachineConfig;
use crate::gpu::{GpuError, SmSample};
use crate::kernel::TimedKernel;
use crate::packet::{Cycle, Purpose, Reply};
use crate::profile::SmProfile;
use crate::saved;
use crate::seam::SmMechanisms;
use blocks::Blocks;
use build::Build;
use counters::SmCounters;
use datapath::Datapath;
use facts::Facts;
use fetch::{Around, Fetch};
use gangs::Gangs;
use issue::path::Path;
use issue::{MemoryState, Schedulers};
use kept::Kept;
use memory::LoadStore;
use port::Port;
use power::Power;
use raddle_exec::Launch;
use raddle_exec::memory::DeviceMemory;
use shared::Shared;
use stages::Stages;

pub use account::Wants;
pub use blocks::Occupancy;
pub use mail::Mail;
pub use report::BlockedWarp;

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

saved!(impl['k, B] Sm<'k, B> { parts: shared, blocks, fetch, schedulers, gangs, power, datapath, memory, port });

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
        let SmMechanisms { divergence, issue, fetch, ganging, gating, logical_blocks } = mechanisms;
        let waiting = fetch.iter().any(|fetch| fetch.serves_waiting());
        let facts = Facts::new(id, config, kernel, launch, most_ctas);
        let mut shared = Shared::new(facts, launch, divergence, waiting)?;
        kept.start_launch();
        let (sm, slots) = (&config.sm, shared.warps.table().slots());
        let datapath = Datapath::new(sm);
        let shared_bytes = shared.facts.held_ctas * launch.shared_bytes(&kernel.program.layout);
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        let gangs = Gangs::new(ganging, kernel, slots, datapath.slices());
        if gangs.is_active::<B>() {
            shared.warps.news.watch_groups(datapath.slices());
        }
        if issue.iter().any(|scheduler| scheduler.watches_data()) {
            shared.warps.news.watch_data();
        }
        // Where threads change warps or warps issue together, a block takes its next logical block as a whole.
        let takes_whole = shared.warps.regroups() || shared.warps.pooled() || gangs.is_active::<B>();
        Ok(Self {
            blocks: Blocks::new(&mut shared, launch, kept.turns, (!takes_whole).then_some(logical_blocks)),
            fetch: Fetch::new(config, fetch, kept.l1i, slots),
            schedulers: Schedulers::new(issue, sm, slots),
            gangs,
            power: Power::new(gating),
            datapath,
            memory: LoadStore::new(config, id, shared_bytes, kept.l1c, kept.l1t),
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

    /// Collects events from now on.
    pub fn listen(&mut self, wants: Wants) {
        let slots = wants.slots;
        self.shared.account.listen(wants, self.shared.warps.table().slots());
        if slots {
            self.shared.warps.news.listen();
        }
    }

    /// Whether events are collected.
    pub(crate) fn is_heard(&self) -> bool {
        self.shared.account.is_heard()
    }

    /// Its requests say which operation they are of: number `first` is that of the kernel's first.
    pub fn name_origins(&mut self, first: u32) {
        self.shared.facts.first_origin = first;
    }

    /// Runs every cycle instead of skipping those in which nothing moves.
    pub fn never_skip(&mut self) {
        self.shared.facts.never_skips = true;
    }

    /// Whether warps take logical blocks on their own.
    pub(crate) fn has_virtual_blocks(&self) -> bool {
        self.blocks.are_virtual()
    }

    // A window.

    /// Continues to `to` from where it stopped, without being told anything: this accounts for the windows in which it
    /// was skipped.
    pub fn run_until(&mut self, mail: &mut Mail, to: Cycle, memory: &DeviceMemory) {
        let mut now = mail.ran_until;
        while now < to && self.shared.threads.fault.is_none() {
            let looks = !self.shared.facts.never_skips && !self.shared.account.has_just_issued(now);
            if let Some(wake) = looks.then(|| self.stages().sleep_until(now)).flatten() {
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
        // What was left before has been taken: there is something to hand over only when the SM has something.
        if !self.port.outbox.is_empty() {
            std::mem::swap(&mut self.port.outbox, &mut mail.requests);
        }
        let Shared { threads, account, .. } = &mut self.shared;
        if !threads.log.is_empty() {
            std::mem::swap(&mut threads.log, &mut mail.log);
        }
        if !threads.printed.is_empty() {
            mail.printed.append(&mut threads.printed);
        }
        account.hand_over(&mut mail.events);
        threads.note::<B>(|notes, _| notes.hand_over(&mut mail.notes));
        mail.waits_for_flits = self.memory.wants_to_send() || self.fetch.wants_to_send();
        mail.describe(self, to);
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
            self.port.inbox.push((at, reply));
        }
    }

    // A cycle.

    #[inline(never)]
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
        // In plain builds every stage checks on its own whether it has something to do.
        if !B::PLAIN && !self.shared.facts.never_skips && self.stages().is_quiet(now) {
            self.datapath.end_cycle::<B>();
            return self.pass(now, now + 1);
        }
        let memory_state = self.memory_state();
        let Self { shared, blocks, fetch, schedulers, gangs, power, datapath, port, .. } = self;
        datapath.collect(shared);
        shared.tell_states(now);
        schedulers.run(&mut Path { on: shared, blocks, datapath, power, memory, now }, gangs, memory_state);
        fetch.decode(shared, now);
        schedulers.hear(shared);
        if fetch.has_work(shared) {
            fetch.run(&mut Around { on: shared, schedulers, blocks, now }, gangs, port);
        }
        blocks.retire(shared, now);
        while let Some(cta) = blocks.take_start(now) {
            let warps = blocks.start(shared, cta, now);
            gangs.start_block(shared, warps, now);
            shared.warps.block_started(warps);
        }
        schedulers.hear(shared);
        shared.tell_threads();
    }

    /// Its stages, to be asked.
    #[inline(always)]
    pub(crate) fn stages(&self) -> Stages<'_, 'k, B> {
        let Self { shared, blocks, fetch, schedulers, gangs, power, datapath, memory, port } = self;
        Stages { shared, blocks, fetch, schedulers, gangs, power, datapath, memory, port }
    }

    /// What schedulers see of the load-store unit.
    #[inline]
    fn memory_state(&self) -> MemoryState {
        MemoryState { is_occupied: self.memory.is_occupied(), is_stalled: self.memory.is_stalled() }
    }

    /// Nothing issues up to `to`: slots are charged to the causes that keep warps from it.
    fn pass(&mut self, now: Cycle, to: Cycle) {
        let state = self.memory_state();
        let Self { shared, blocks, schedulers, gangs, datapath, .. } = self;
        shared.tell_states(now);
        schedulers.pass(shared, blocks.seen(), datapath, gangs, state, now..to);
    }

    /// Goes over cycles in which nothing moves.
    fn skip(&mut self, now: Cycle, until: Cycle) {
        self.shared.account.counters.memory_stalls += self.memory.skip::<B>(now, until - now);
        self.pass(now, until);
        self.schedulers.skip(now, until);
        self.power.skip(now, until);
        self.shared.account.counters.cycles += until - now;
    }

    /// Charges all slots of the cycles it has run.
    pub(crate) fn settle(&mut self, now: Cycle) {
        self.schedulers.empty().settle_all(&mut self.shared, now);
    }

    // What it has counted.

    /// Instructions issued at each operation, by warp and by thread.
    pub(crate) fn pc_counts(&self) -> &[[u64; 2]] {
        self.shared.account.pcs()
    }

    /// What is charged to operations, where there is a profile.
    pub(crate) fn profile(&self) -> SmProfile {
        self.shared.account.profile()
    }

    /// What it has counted so far, and what it holds.
    pub(crate) fn sample(&self) -> SmSample {
        let Shared { warps, account, facts, .. } = &self.shared;
        let [l1d, ..] = self.memory.counters().map(Clone::clone);
        let warps =
            (0..warps.slots.schedulers()).map(|scheduler| warps.slots.used(scheduler).iter().count() as u64).sum();
        let SmCounters { warp_insts, thread_insts, .. } = account.counters;
        let blocks = self.blocks.occupancy(facts.most_ctas).resident.into();
        SmSample { warp_insts, thread_insts, l1d, blocks, warps }
    }

    /// Every warp that has not ended, and what it waits for. `source` is the PTX text.
    pub(crate) fn blocked_warps(&self, source: Option<&str>) -> Vec<BlockedWarp> {
        report::blocked_warps(&self.shared, &self.blocks, source)
    }
}
