//! One streaming multiprocessor, cycle by cycle.
//!
//! In every cycle the stages run once, from the end of the pipeline to its start: replies, write-back, execution,
//! load-store unit, operand collector, issue, decode, fetch, blocks that start. What a stage hands on is
//! therefore seen by the next stage one cycle later.
//!
//! What warps could do next is kept in sets ([`state::Sets`]) that events bring up to date; a cycle in which nothing
//! can move is recognised and skipped, with its slots charged to the causes the sets say.

mod blocks;
pub(crate) mod build;
pub mod cache;
pub mod coalesce;
pub mod collector;
pub mod counters;
mod fetch;
mod front;
pub mod gang_table;
mod gangs;
mod index_map;
mod issue;
mod joint;
pub mod kept;
pub mod lanes;
mod ldst;
mod mail;
mod memory_op;
mod phases;
mod pipeline;
mod port;
mod replies;
mod report;
mod requests;
mod slices;
pub mod state;
mod texture_cache;
pub mod units;
mod virtual_blocks;

use crate::config::MachineConfig;
use crate::event::{Event, EventKind};
use crate::gpu::GpuError;
use crate::kernel::{TimedKernel, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::{
    Cause, Divergence, FetchScheduler, Ganging, Gating, IssueScheduler, MAX_WARPS, SchedulerView, WarpId, WarpSet,
    WarpTable,
};
use blocks::Resident;
use build::Build;
use collector::InstId;
use counters::SmCounters;
use fetch::Fetch;
use front::Idle;
use gangs::Gangs;
use joint::Parts;
use kept::{Kept, Turns};
use ldst::LoadStore;
use phases::{Phases, SeenBlocks};
use pipeline::UnifiedPipeline;
use port::Port;
use raddle_exec::Launch;
use raddle_exec::core::{Arrival, Core, lanes_of};
use raddle_exec::fault::Fault;
use raddle_exec::memory::{DeviceMemory, StoreLog};
use raddle_ptx::num::fit;
use slices::Slices;
use state::{Front, InFlightTable, Place, Scoreboard, Sets};
use std::collections::VecDeque;
use std::marker::PhantomData;
use virtual_blocks::VirtualBlocks;

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

/// How an SM looks from outside, for the dispatcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks resident or about to start.
    pub resident: u32,
    /// Blocks it can hold.
    pub most: u32,
}

/// One streaming multiprocessor.
pub struct Sm<'k, B> {
    build: PhantomData<B>,
    id: u16,
    config: &'k MachineConfig,
    kernel: &'k TimedKernel<'k>,
    core: Core<'k>,
    table: WarpTable,
    mechanisms: SmMechanisms,
    /// Warps of each scheduler that are in use.
    scheduler_used: Vec<WarpSet>,
    fronts: Vec<Front>,
    sets: Sets,
    ages: Vec<u64>,
    next_age: u64,
    issued: Vec<u64>,
    issued_threads: Vec<u64>,
    scoreboard: Scoreboard,
    insts: InFlightTable,
    slices: Slices,
    gangs: Gangs,
    ldst: LoadStore,
    fetch: Fetch,
    port: Port,
    parts: Parts,
    log: StoreLog,
    residents: Vec<Option<Resident>>,
    phases: Phases,
    /// Where warps take logical blocks by themselves.
    virtual_blocks: Option<Box<VirtualBlocks>>,
    most_ctas: u32,
    warps_per_cta: u16,
    /// Slots of a block: its warps begin in the first slice.
    slots_per_cta: u16,
    /// Bytes from a word of local memory to the next word of the same thread: there is room for as many blocks as SMs hold, or
    /// for all of the grid if that is less.
    local_stride: u64,
    /// All lanes of a warp.
    warp_lanes: u32,
    /// Whose turn it is to issue first.
    turns: Turns,
    /// Rows of registers of a block: 32 threads each.
    rows_per_cta: u32,
    starts: VecDeque<(Cycle, u64)>,
    /// Blocks that ended in this window.
    ended_ctas: Vec<(Cycle, u64)>,
    arrivals: Vec<Arrival>,
    /// Blocks of the threads that just ended or came to a barrier, while they are looked at.
    blocks: Vec<u32>,
    scratch: Vec<WarpId>,
    eligible: WarpSet,
    /// Why each scheduler could not issue.
    idle: Vec<Idle>,
    has_warp_ops: bool,
    has_gating: bool,
    /// The version of the sets the gating scheme last saw.
    gating_saw: u64,
    /// Threads change warps.
    regroups: bool,
    /// Warps are made of threads from several blocks, one instruction at a time.
    pooled: bool,
    /// The block of each row of registers.
    row_blocks: Vec<u32>,
    /// Blocks whose threads have all ended, with something of them left in the machine.
    ending: Vec<u32>,
    /// When the divergence model next acts on its own.
    divergence_due: Cycle,
    /// Decoded instructions up to which a warp wants more.
    fetch_below: u32,
    /// Warps at a barrier want instructions too.
    fetch_waiting: bool,
    /// What ended the run here, and when.
    fault: Option<(Cycle, Box<Fault>)>,
    /// What kernels printed, by time.
    printed: Vec<(Cycle, String)>,
    printed_bytes: usize,
    events: Option<Vec<Event>>,
    slot_events: bool,
    /// Counters.
    counters: SmCounters,
    /// Instructions issued at each operation, by warp and by thread.
    pc_counts: Vec<[u64; 2]>,
    skip_idle: bool,
    /// The last cycle in which it issued an instruction.
    last_issue: Cycle,
    /// The one pipeline for all instructions, where the machine has it.
    pipeline: Option<UnifiedPipeline>,
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
        mut mechanisms: SmMechanisms,
        most_ctas: u32,
        mut kept: Kept,
    ) -> Result<Self, GpuError> {
        let sm = &config.sm;
        mechanisms.divergence.start_launch(kernel.program).map_err(|(pc, why)| {
            let place = kernel.program.place(pc, None);
            GpuError::Refused(format!("divergence model `{}`: {why}, {place}", config.mechanism.divergence.name()))
        })?;
        let core = Core::new(kernel.program, launch, sm.warp_width).map_err(|e| GpuError::Launch(e.to_string()))?;
        let core = core.on_sm(u32::from(id), config.gpu.sms);
        kept.start_launch();
        let rows_per_cta = launch.threads_per_cta().div_ceil(32);
        let local_places = u64::from(most_ctas).min(launch.ctas().div_ceil(u64::from(config.gpu.sms)));
        let slots = (sm.threads / sm.warp_width) as usize;
        let pool = mechanisms.divergence.pool(slots);
        let slots = pool.unwrap_or(slots).min(MAX_WARPS);
        let slices = sm.slices.max(1) as usize;
        let schedulers = sm.schedulers() as usize;
        let warps_per_cta = launch.threads_per_cta().div_ceil(sm.warp_width);
        let gangs = Gangs::new(&*mechanisms.ganging, slots, slices);
        // Where threads change warps or warps issue together, a block takes its next logical block as a whole.
        let takes_whole = mechanisms.divergence.regroups() || pool.is_some() || gangs.active;
        let virtual_blocks = if takes_whole { None } else { VirtualBlocks::new(kernel, launch, sm.warp_width, slots) };
        Ok(Self {
            build: PhantomData,
            id,
            config,
            kernel,
            core,
            table: WarpTable::new(slots),
            has_gating: mechanisms.gating.is_active(),
            gating_saw: 0,
            regroups: mechanisms.divergence.regroups(),
            pooled: pool.is_some(),
            row_blocks: Vec::new(),
            ending: Vec::new(),
            divergence_due: mechanisms.divergence.next_event(),
            fetch_below: match &sm.fetch {
                fetch if fetch.ideal => 0,
                fetch if fetch.only_when_empty => 1,
                fetch => (fetch.ibuffer + 1).saturating_sub(fetch.width),
            },
            fetch_waiting: mechanisms.fetch.iter().any(|fetch| fetch.serves_waiting()),
            mechanisms,
            scheduler_used: vec![WarpSet::new(slots); schedulers],
            fronts: vec![Front::default(); slots],
            sets: Sets::new(slots, schedulers),
            ages: vec![0; slots],
            next_age: 0,
            issued: vec![0; slots],
            issued_threads: vec![0; slots],
            scoreboard: Scoreboard::new(kernel.registers),
            insts: InFlightTable::default(),
            slices: Slices::new(sm),
            gangs,
            ldst: LoadStore::new(config, id, kept.l1c, kept.l1t),
            fetch: Fetch::new(config, kept.l1i, slots),
            port: Port::new(&config.interconnect),
            parts: Parts::default(),
            log: StoreLog::default(),
            residents: Vec::new(),
            phases: Phases::new(slots, pool.is_none()),
            virtual_blocks: virtual_blocks.map(Box::new),
            most_ctas,
            warps_per_cta: fit(warps_per_cta),
            local_stride: local_places * u64::from(rows_per_cta) * u64::from(config.gpu.sms) * 128,
            warp_lanes: lanes_of(sm.warp_width),
            turns: kept.turns,
            rows_per_cta,
            slots_per_cta: fit(warps_per_cta.next_multiple_of(sm.slices.max(1))),
            starts: VecDeque::new(),
            ended_ctas: Vec::new(),
            arrivals: Vec::new(),
            blocks: Vec::new(),
            scratch: Vec::new(),
            eligible: WarpSet::new(slots),
            idle: vec![Idle::UNKNOWN; schedulers],
            has_warp_ops: kernel.program.ops.iter().any(|op| op.class == raddle_exec::op::Class::Warp),
            fault: None,
            printed: Vec::new(),
            printed_bytes: 0,
            events: None,
            slot_events: false,
            counters: SmCounters::default(),
            pc_counts: vec![[0; 2]; kernel.ops.len()],
            skip_idle: true,
            last_issue: 0,
            pipeline: sm.units.unified.then(UnifiedPipeline::default),
        })
    }

    /// What the next launch finds.
    #[must_use]
    pub fn into_kept(self) -> Kept {
        let LoadStore { l1c, l1t, .. } = self.ldst;
        Kept { l1i: self.fetch.cache, l1c, l1t, turns: self.turns }
    }

    /// Collects events from now on; those of issue slots and requests only with `slots`.
    pub fn listen(&mut self, slots: bool) {
        self.events = Some(Vec::new());
        self.slot_events = slots;
    }

    /// Runs every cycle instead of skipping those in which nothing moves.
    pub fn never_skip(&mut self) {
        self.skip_idle = false;
    }

    #[inline]
    fn emit(&mut self, at: Cycle, kind: EventKind) {
        if let Some(events) = self.events.as_mut().filter(|_| !B::PLAIN) {
            events.push(Event { at, sm: self.id, kind });
        }
    }

    /// The same for what happens to issue slots, and for requests.
    #[inline]
    fn emit_slot(&mut self, at: Cycle, kind: EventKind) {
        if self.hears_slots() {
            self.emit(at, kind);
        }
    }

    /// Blocks resident or about to start, and how many fit.
    fn occupancy(&self) -> Occupancy {
        let resident = self.residents.iter().flatten().count() + self.starts.len();
        Occupancy { resident: fit(resident), most: self.most_ctas }
    }

    /// Replies it can take: what its port holds less what is there or on its way.
    fn reply_room(&self) -> u32 {
        let held = self.ldst.held() + self.port.inbox.len();
        self.config.sm.ejection_buffer.saturating_sub(fit(held))
    }

    /// Counters.
    #[must_use]
    pub fn counters(&self) -> SmCounters {
        let stack_depth = u64::from(self.mechanisms.divergence.stack_depth());
        let bank_conflicts = self.slices.conflicts();
        self.with_mix(SmCounters { bank_conflicts, stack_depth, ..self.counters.clone() })
    }

    /// The first-level caches' counters: instructions, data, constants, textures.
    #[must_use]
    pub fn caches(&self) -> [&cache::CacheCounters; 4] {
        let l = &self.ldst;
        [&self.fetch.cache.counters, &l.l1d.counters, &l.l1c.counters, &l.l1t.counters]
    }

    /// Its mechanisms.
    #[must_use]
    pub fn mechanisms(&self) -> &SmMechanisms {
        &self.mechanisms
    }

    /// Instructions issued at each operation, by warp and by thread.
    #[must_use]
    pub fn pc_counts(&self) -> &[[u64; 2]] {
        &self.pc_counts
    }

    /// Whether it has no block and nothing in flight, and all its stores have left.
    fn is_idle(&self) -> bool {
        self.residents.iter().all(Option::is_none)
            && self.starts.is_empty()
            && self.port.expected == self.port.received
            && !self.ldst.wants_to_send()
    }

    #[inline]
    fn op(&self, pc: u32) -> &'k TimedOp {
        &self.kernel.ops[pc as usize]
    }

    /// Runs cycles `from` to `to`.
    fn run(&mut self, from: Cycle, to: Cycle, memory: &DeviceMemory) {
        let mut now = from;
        while now < to && self.fault.is_none() {
            let wake = if self.skip_idle && !self.has_just_issued(now) { self.sleeps_until(now) } else { None };
            if let Some(wake) = wake {
                let until = wake.min(to);
                self.charge_idle(now, until - now);
                now = until;
            } else {
                self.cycle(now, memory);
                now += 1;
            }
        }
    }

    /// Whether it issued in the cycle before: something then moves, and it is not worth a look.
    #[inline]
    fn has_just_issued(&self, now: Cycle) -> bool {
        self.last_issue + 1 >= now && self.counters.warp_insts > 0
    }

    fn cycle(&mut self, now: Cycle, memory: &DeviceMemory) {
        self.table.set_now(now);
        self.gating_tick(now);
        if self.divergence_due <= now {
            self.mechanisms.divergence.tick(&mut self.table);
            self.refresh_touched();
        }
        if self.has_virtual_blocks() {
            self.take_logical_blocks(now);
        }
        self.receive(now);
        self.write_back(now);
        self.execute(now);
        self.ldst_cycle(now);
        if self.skip_idle && self.front_is_quiet(now) {
            self.slices.end_cycle();
            self.charge_slots(now, 1);
            self.counters.cycles += 1;
            return;
        }
        self.collect();
        self.issue_stage(now, memory);
        self.decode(now);
        self.fetch_stage(now);
        self.retire(now);
        self.start_blocks(now);
        self.counters.cycles += 1;
    }

    /// Whether something in front of the units moves in this cycle, or a warp leaves; `mem_busy` says that the
    /// load-store unit takes nothing.
    #[inline]
    fn front_moves(&self, mem_busy: bool, now: Cycle) -> bool {
        let is_open = self.pipeline_is_open(now);
        let issues = |unit: UnitKind| is_open && self.slices.any_accepts(unit) && self.has_ready(unit);
        self.fetch.is_busy()
            || !self.sets.wanting.is_empty()
            || self.slices.can_move(mem_busy)
            || issues(UnitKind::Sp)
            || issues(UnitKind::Mem)
            || issues(UnitKind::Sfu)
            || !self.sets.at(Place::Hazard).is_empty()
            || !self.sets.at(Place::Drained).is_empty()
            || self.pooled() && !self.ending.is_empty()
            || self.has_gangs() && (self.gangs_can_issue() || self.gangs_can_join())
    }

    /// Whether a warp can issue to a unit by itself.
    #[inline]
    fn has_ready(&self, unit: UnitKind) -> bool {
        let ready = self.sets.ready(unit);
        if !self.has_gangs() || self.gangs.splits_by_memory() {
            return !ready.is_empty();
        }
        (0..ready.word_count()).any(|n| ready.word(n) & self.gangs.free.word(n) != 0)
    }

    /// Whether everything in front of the units stands still in this cycle, in which they have had their turn.
    #[inline]
    fn front_is_quiet(&self, now: Cycle) -> bool {
        !self.front_moves(true, now)
            && self.fetch.cache.queue.is_empty()
            && self.starts.front().is_none_or(|s| s.0 > now)
            && (B::PLAIN || self.gangs.next_event().is_none_or(|at| at > now))
    }

    /// When something will next move, if nothing moves now; [`Cycle::MAX`] when only a message can wake it.
    fn sleeps_until(&self, now: Cycle) -> Option<Cycle> {
        let ldst = &self.ldst;
        if self.front_moves(ldst.is_occupied(), now) || ldst.is_busy(&self.port, now) || self.fetch.can_send(&self.port)
        {
            return None;
        }
        let mut wake = Cycle::MAX;
        let mut at = |time: Option<Cycle>| wake = wake.min(time.unwrap_or(Cycle::MAX));
        at(self.starts.front().map(|s| s.0));
        at(Some(self.divergence_due));
        at(self.port.inbox.front().map(|r| r.0));
        at(self.slices.next_event(now));
        at(self.ldst.next_event());
        if !B::PLAIN {
            at(self.gangs.next_event());
            at(self.pipeline.as_ref().and_then(|pipeline| pipeline.next_event(now)));
            at(self.gating_event(now));
            at(self.virtual_blocks.as_ref().and_then(|v| v.next_event()));
        }
        for scheduler in &self.mechanisms.issue {
            at(scheduler.next_event(now));
        }
        (wake > now).then_some(wake)
    }

    /// When it will next do something by itself; `None` when it only waits for messages.
    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        match self.sleeps_until(now) {
            None => Some(now),
            Some(Cycle::MAX) => None,
            Some(time) => Some(time),
        }
    }

    /// Charges the empty slots of all schedulers to their causes.
    fn charge_slots(&mut self, now: Cycle, cycles: u64) {
        for scheduler in 0..self.scheduler_used.len() {
            let cause = self.idle_cause(scheduler);
            self.charge_slot(scheduler, cause, now, cycles);
        }
    }

    /// Charges the empty slots of a scheduler to a cause.
    #[inline]
    fn charge_slot(&mut self, scheduler: usize, cause: Cause, now: Cycle, cycles: u64) {
        *self.counters.stall(cause) += cycles;
        if self.hears_slots() {
            self.emit(now, EventKind::Stall { scheduler: fit(scheduler), cause, cycles });
        }
    }

    /// Charges cycles in which nothing moved.
    fn charge_idle(&mut self, now: Cycle, cycles: u64) {
        self.counters.memory_stalls += self.ldst.skip(now, cycles);
        self.charge_slots(now, cycles);
        for scheduler in &mut self.mechanisms.issue {
            scheduler.skip(now, now + cycles);
        }
        self.mechanisms.gating.skip(now, now + cycles);
        self.counters.cycles += cycles;
    }

    /// An instruction is done: its registers are written, its warp may go on.
    fn complete(&mut self, inst: InstId) {
        let entry = self.insts.get(inst);
        let (warp, pc, row) = (WarpId(entry.warp), entry.pc, entry.row);
        let op = &self.kernel.ops[pc as usize];
        self.fronts[warp.index()].in_flight -= 1;
        if self.regroups() {
            entry.for_each_row(|row, lanes| {
                self.scoreboard.release(op, row, lanes);
                self.scoreboard.set_busy(row, lanes, false, false);
            });
            self.insts.release(inst);
            self.finish(warp);
            return;
        }
        let lanes = entry.issued;
        self.insts.release(inst);
        self.scoreboard.release(op, row, lanes);
        self.refresh_waiting(warp);
    }
}

/// What an issue scheduler may look at, from the parts of an SM.
#[allow(clippy::too_many_arguments)] // The parts are borrowed apart from the schedulers.
fn view<'a>(
    n: usize,
    now: Cycle,
    used: &'a [WarpSet],
    sets: &'a Sets,
    table: &'a WarpTable,
    age: &'a [u64],
    issued: &'a [u64],
    blocks: SeenBlocks<'a>,
    kernel: &'a TimedKernel<'_>,
) -> SchedulerView<'a> {
    SchedulerView {
        now,
        warps: &used[n],
        waits_for_memory: sets.at(Place::DataMemory),
        waiting: &sets.waiting,
        table,
        age,
        issued,
        blocks: blocks.states,
        iterations: blocks.iterations,
        ops: &kernel.ops,
    }
}
