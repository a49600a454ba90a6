//! A profile of a launch: everything that is counted charged to the operations of the kernel.
//!
//! * A slot with an instruction belongs to that operation. An empty slot belongs to the operation that the scheduler
//!   waited for: among the warps that are held up by the slot's cause, it takes the first in the scheduler's order, and
//!   the operation at which that warp is. This is found when the scheduler looks for the cause, and holds as long as the
//!   cause does. Slots without any warp belong to no operation.
//! * A request belongs to the operation of the instruction that made it, and so does what it finds in caches. If
//!   instructions of several slices make one access, it belongs to the first of them. A line that is requested belongs
//!   to the operation that missed first, and a line that is written back to the one whose miss replaced it.
//! * Traffic of instruction fetches, and of earlier launches, belongs to no operation of this one.
//!
//! Sums over operations equal the counters of the launch. That is checked at the end of every launch with a profile.

use crate::counters;
use crate::mem::dram::DramCounters;
use crate::mem::l2::L2Counters;
use crate::mem::profile::{Charges, MemoryProfile};
use crate::result::SmResult;
use crate::seam::Cause;
use crate::sm::counters::SmCounters;
use crate::stats::{Counters, stall_counter};

counters! {
    /// What is charged to one operation of a kernel.
    pub struct PcCounters {
        issued: Slots, "slots in which it was issued";
        stall_wrong_path: Slots, "empty slots: the decoded instructions were from the wrong path";
        stall_memory_dependence: Slots, "empty slots: an operand was pending from memory";
        stall_arithmetic_dependence: Slots, "empty slots: an operand was pending from an arithmetic unit";
        stall_sp_busy: Slots, "empty slots: the SPs accepted no instruction";
        stall_sfu_busy: Slots, "empty slots: the SFUs accepted no instruction";
        stall_load_store_busy: Slots, "empty slots: the load-store unit accepted no instruction though memory had room";
        stall_memory_back_pressure: Slots, "empty slots: the load-store unit accepted no instruction because the memory system was full";
        stall_not_fetched: Slots, "empty slots: it had not been fetched";
        stall_barrier: Slots, "empty slots: warps waited at this barrier";
        stall_sibling: Slots, "empty slots: warps of virtual blocks waited for their next logical block, or, before using shared memory, for siblings in the previous one";
        stall_fence: Slots, "empty slots: warps waited for fences or atomics before it";
        stall_draining: Slots, "empty slots: warps had exited here and waited for their stores or for the rest of their block";
        stall_gated: Slots, "empty slots: the lanes that it needs were gated or waking";
        stall_mechanism: Slots, "empty slots: a mechanism held it back";
        warp_insts: WarpInsts, "times it was issued, whatever its guard";
        lanes_active: ThreadInsts, "lanes that executed it";
        lanes_guard: ThreadInsts, "lanes that came to it with a false guard";
        lanes_diverged: ThreadInsts, "lanes without a thread at it: their threads were elsewhere, or the warp was formed without a thread there";
        lanes_ended: ThreadInsts, "lanes whose threads had ended or never existed; none if threads change warps";
        taken: WarpInsts, "branches that all lanes took";
        not_taken: WarpInsts, "branches that no lane took";
        diverged: WarpInsts, "branches that some lanes took and others did not";
        accesses: WarpInsts, "times it made requests to global, local or texture memory";
        requests: Events, "requests that it made there";
        local_requests: Events, "requests in `requests` to local memory";
        atomic_requests: Events, "requests in `requests` that atomics made";
        sectors: Events, "sectors that `requests` asked for";
        least_sectors: Events, "fewest sectors that could hold the bytes its lanes asked for, each byte counted once";
        shared_accesses: Events, "accesses to shared memory: one of each instruction, one for each register of a fragment, one for each matrix of `ldmatrix`";
        shared_bank_conflicts: Cycles, "cycles that these accesses took beyond the first";
        l1d_hits: Events, "its accesses to the data cache that found their line";
        l1d_pending_hits: Events, "its accesses to the data cache whose line was outstanding";
        l1d_misses: Events, "its reads of the data cache that requested their line, and writes that did not find theirs";
        l1c_hits: Events, "its accesses to the constant cache that found their line";
        l1c_pending_hits: Events, "its accesses to the constant cache whose line was outstanding";
        l1c_misses: Events, "its accesses to the constant cache that requested their line";
        l1t_hits: Events, "its accesses to the texture cache that found their line, present or outstanding";
        l1t_misses: Events, "its accesses to the texture cache that requested their line";
        lines_done: Events, "lines that arrived in the data cache for it, and sectors that arrived for atomics and for reads that bypass it";
        read_latency: Cycles, "cycles summed over `lines_done`";
        l2_accesses: Events, "sectors that the L2 served for it";
        l2_hits: Events, "sectors in `l2_accesses` that were present";
        l2_pending_hits: Events, "sectors in `l2_accesses` that were outstanding for an earlier miss";
        l2_misses: Events, "sectors in `l2_accesses` that were not present, whether or not their line was";
        dram_read: Bytes, "bytes read from DRAM because of it";
        dram_written: Bytes, "bytes written to DRAM because of it, when lines were replaced";
    }
}

impl PcCounters {
    /// The counter for empty slots with this cause; none for slots without a warp, which belong to no operation.
    #[inline]
    pub fn stall(&mut self, cause: Cause) -> Option<&mut u64> {
        Some(stall_counter!(self, cause, return None))
    }

    /// Empty slots by cause, those without any left out.
    #[must_use]
    pub fn stalls(&self) -> Vec<(Cause, u64)> {
        let mut copy = self.clone();
        let all = Cause::ALL.iter().filter_map(|cause| copy.stall(*cause).map(|slots| (*cause, *slots)));
        all.filter(|(_, slots)| *slots > 0).collect()
    }

    /// All slots charged to it, issued and empty.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.issued + self.stalls().iter().map(|(_, slots)| slots).sum::<u64>()
    }

    fn add_memory(&mut self, charges: &Charges, burst_bytes: u64) {
        self.l2_accesses += charges.accesses;
        self.l2_hits += charges.hits;
        self.l2_pending_hits += charges.pending_hits;
        self.l2_misses += charges.misses;
        self.dram_read += charges.reads * burst_bytes;
        self.dram_written += charges.writes * burst_bytes;
    }
}

/// What one SM charged to operations.
#[derive(Clone, Debug, Default)]
pub struct SmProfile {
    /// By operation.
    pub pcs: Vec<PcCounters>,
    /// Slots without any warp.
    pub no_warp: u64,
}

impl SmProfile {
    /// Nothing is charged to so many operations.
    #[must_use]
    pub fn new(operations: usize) -> Self {
        Self { pcs: vec![PcCounters::default(); operations], no_warp: 0 }
    }

    /// Charges the empty slots of a scheduler that waited for an operation, if there was a warp.
    #[inline]
    pub(crate) fn charge(&mut self, pc: u32, cause: Cause, cycles: u64) {
        match self.pcs.get_mut(pc as usize).and_then(|row| row.stall(cause)) {
            Some(slots) => *slots += cycles,
            None if cause == Cause::NoWarpResident => self.no_warp += cycles,
            None => {}
        }
    }
}

/// The profile of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchProfile {
    /// By operation of the program.
    pub pcs: Vec<PcCounters>,
    /// Slots without any warp.
    pub no_warp: u64,
    /// Traffic that no operation of the launch caused: instruction fetches, and what earlier launches left behind.
    pub other: PcCounters,
}

/// What a launch counted, which the sums over operations must equal.
pub(crate) struct Totals<'a> {
    pub(crate) sms: &'a SmResult,
    pub(crate) l2: L2Counters,
    pub(crate) dram: DramCounters,
    pub(crate) warp_width: u64,
    pub(crate) burst_bytes: u64,
}

impl LaunchProfile {
    /// Adds what an SM charged.
    pub(crate) fn add_sm(&mut self, own: &SmProfile) {
        self.pcs.resize(own.pcs.len(), PcCounters::default());
        self.pcs.iter_mut().zip(&own.pcs).for_each(|(sum, own)| sum.add(own));
        self.no_warp += own.no_warp;
    }

    /// Adds what a part of the memory side charged.
    pub(crate) fn add_memory(&mut self, own: &MemoryProfile, burst_bytes: u64) {
        self.pcs.iter_mut().zip(own.rows()).for_each(|(sum, own)| sum.add_memory(own, burst_bytes));
        self.other.add_memory(own.other(), burst_bytes);
    }

    /// Adds another launch of the same program.
    pub fn add(&mut self, other: &Self) {
        self.pcs.resize(other.pcs.len().max(self.pcs.len()), PcCounters::default());
        self.pcs.iter_mut().zip(&other.pcs).for_each(|(sum, own)| sum.add(own));
        self.no_warp += other.no_warp;
        self.other.add(&other.other);
    }

    /// All operations together, and what belongs to none.
    #[must_use]
    pub fn total(&self) -> PcCounters {
        let mut sum = self.other.clone();
        self.pcs.iter().for_each(|row| sum.add(row));
        sum
    }

    /// All slots of the launch.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.total().slots() + self.no_warp
    }

    /// The sums over operations are what the launch counted.
    ///
    /// # Panics
    /// When one is not, with its name.
    pub(crate) fn check(&self, totals: &Totals<'_>) {
        let sum = self.total();
        let SmResult { sm, l1d, l1c, l1t, .. } = totals.sms;
        let requests =
            [sm.global_loads, sm.global_stores, sm.local_loads, sm.local_stores, sm.atomics, sm.texture_loads];
        let branches = [sum.taken, sum.not_taken, sum.diverged];
        let lanes = [sum.lanes_active, sum.lanes_guard, sum.lanes_diverged, sum.lanes_ended];
        let mut own: SmCounters = sm.clone();
        let issued = sm.slots() - Cause::ALL.iter().map(|cause| *own.stall(*cause)).sum::<u64>();
        let (l2, dram) = (&totals.l2, &totals.dram);
        let same = [
            ("issued", sum.issued, issued),
            ("stall_no_warp_resident", self.no_warp, sm.stall_no_warp_resident),
            ("thread_insts", sum.lanes_active, sm.thread_insts),
            ("lanes of all warps", lanes.iter().sum(), sm.warp_insts * totals.warp_width),
            ("branches", branches.iter().sum(), sm.branches),
            ("divergent_branches", sum.diverged, sm.divergent_branches),
            ("requests of all kinds", sum.requests, requests.iter().sum()),
            ("requests to local memory", sum.local_requests, sm.local_loads + sm.local_stores),
            ("atomics", sum.atomic_requests, sm.atomics),
            ("l1d.hits", sum.l1d_hits, l1d.hits),
            ("l1d.pending_hits", sum.l1d_pending_hits, l1d.pending_hits),
            ("l1d.misses", sum.l1d_misses, l1d.misses),
            ("l1c.hits", sum.l1c_hits, l1c.hits),
            ("l1c.pending_hits", sum.l1c_pending_hits, l1c.pending_hits),
            ("l1c.misses", sum.l1c_misses, l1c.misses),
            ("l1t.hits", sum.l1t_hits, l1t.hits),
            ("l1t.misses", sum.l1t_misses, l1t.misses),
            ("l2.accesses", sum.l2_accesses, l2.accesses),
            ("l2.hits", sum.l2_hits, l2.hits),
            ("l2.pending_hits", sum.l2_pending_hits, l2.pending_hits),
            ("l2.misses and l2.sector_misses", sum.l2_misses, l2.misses + l2.sector_misses),
            ("dram.reads", sum.dram_read, dram.reads * totals.burst_bytes),
            ("dram.writes", sum.dram_written, dram.writes * totals.burst_bytes),
        ];
        // Those of the same name: empty slots by cause and others.
        let counted: Vec<_> = SmCounters::INFO.iter().map(|info| info.name).zip(sm.values()).collect();
        let named = PcCounters::INFO.iter().map(|info| info.name).zip(sum.values());
        let named = named.filter_map(|(name, sum)| {
            counted.iter().find(|(other, _)| *other == name).map(|(_, counted)| (name, sum, *counted))
        });
        for (name, sum, counted) in same.into_iter().chain(named) {
            assert_eq!(sum, counted, "the profile's sum of `{name}` is not what the launch counted");
        }
    }
}
