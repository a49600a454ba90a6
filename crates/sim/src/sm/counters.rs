//! What an SM counts.

use crate::counters;
use crate::seam::Cause;
use crate::stats::stall_counter;

counters! {
    /// What an SM counts.
    pub struct SmCounters {
        cycles: Cycles, "cycles of the launch";
        warp_insts: WarpInsts, "instructions issued, whatever their guards";
        thread_insts: ThreadInsts, "instructions issued, counted for each thread whose guard was true";
        sp_insts: WarpInsts, "instructions issued to the SPs, and to separate integer pipelines";
        int_insts: WarpInsts, "instructions in `sp_insts` for integer pipelines";
        fp_insts: WarpInsts, "instructions in `sp_insts` for floating-point pipelines";
        sfu_insts: WarpInsts, "instructions issued to the SFUs, and to separate pipelines for double precision and matrices";
        mem_insts: WarpInsts, "instructions issued to the load-store unit";
        int_threads: ThreadInsts, "instructions on the integer pipelines of the SPs, by thread";
        fp_threads: ThreadInsts, "instructions on the floating-point pipelines of the SPs, by thread";
        sfu_threads: ThreadInsts, "instructions on the SFUs, by thread";
        mem_threads: ThreadInsts, "instructions of the load-store unit, by thread";
        register_reads: ThreadInsts, "registers read by issued instructions, by thread; the guard does not count as one";
        register_writes: ThreadInsts, "registers written by issued instructions, by thread";
        branches: WarpInsts, "branches issued";
        divergent_branches: WarpInsts, "branches at which the lanes of a warp diverged";
        issue_cycles: Cycles, "cycles in which an instruction was issued";
        issued_1_4: Slots, "slots with an instruction of 1 to 4 active lanes";
        issued_5_8: Slots, "slots with an instruction of 5 to 8 active lanes";
        issued_9_12: Slots, "slots with an instruction of 9 to 12 active lanes";
        issued_13_16: Slots, "slots with an instruction of 13 to 16 active lanes";
        issued_17_20: Slots, "slots with an instruction of 17 to 20 active lanes";
        issued_21_24: Slots, "slots with an instruction of 21 to 24 active lanes";
        issued_25_28: Slots, "slots with an instruction of 25 to 28 active lanes";
        issued_29_32: Slots, "slots with an instruction of 29 to 32 active lanes";
        stall_wrong_path: Slots, "empty slots: the decoded instructions were from the wrong path";
        stall_memory_dependence: Slots, "empty slots: an operand was pending from memory";
        stall_arithmetic_dependence: Slots, "empty slots: an operand was pending from an arithmetic unit";
        stall_sp_busy: Slots, "empty slots: the SPs, or separate integer pipelines, accepted no instruction";
        stall_sfu_busy: Slots, "empty slots: the SFUs, or separate pipelines for double precision and matrices, accepted no instruction";
        stall_load_store_busy: Slots, "empty slots: the load-store unit accepted no instruction though memory had room";
        stall_memory_back_pressure: Slots, "empty slots: the load-store unit accepted no instruction because the memory system was full";
        stall_not_fetched: Slots, "empty slots: the next instruction had not been fetched";
        stall_barrier: Slots, "empty slots: every warp that could continue waited at a barrier";
        stall_sibling: Slots, "empty slots: warps of virtual blocks waited for their next logical block, or, before using shared memory, for siblings in the previous one";
        stall_fence: Slots, "empty slots: warps waited for fences or atomics";
        stall_draining: Slots, "empty slots: warps had exited and waited for their stores or for the rest of their block";
        stall_gated: Slots, "empty slots: the lanes that an instruction needs were gated or waking";
        stall_mechanism: Slots, "empty slots: a mechanism held the instruction back";
        stall_no_warp_resident: Slots, "empty slots: no warp was resident";
        fetches: Events, "fetches that found their instructions";
        fetches_l0: Events, "fetches in `fetches` that hit the L0 instruction cache of a slice";
        fetch_misses: Events, "fetches that missed in the instruction cache";
        fetch_flushes: Events, "times decoded instructions were dropped because the warp had branched elsewhere";
        gang_issues: Events, "times a gang issued";
        gang_insts: WarpInsts, "instructions issued by warps of a gang";
        gang_time: Cycles, "cycles in which warps were in a gang, summed over warps";
        gang_splits: Events, "times a gang split";
        gang_joins: Events, "times two gangs or warps joined into one gang";
        slice_accesses: Events, "accesses that slices made together as one";
        slice_access_insts: WarpInsts, "instructions in `slice_accesses`";
        register_bank_conflicts: Cycles, "cycles in which operands waited for a register bank";
        shared_accesses: Events, "accesses to shared memory: one of each instruction, one for each register of a fragment, one for each matrix of `ldmatrix`";
        shared_bank_conflicts: Cycles, "cycles that accesses to shared memory took beyond the first";
        global_accesses: WarpInsts, "loads and stores of global memory, including those of matrices";
        global_sectors: Events, "sectors that `global_accesses` requested; the ratio of both shows how well accesses coalesce";
        global_loads: Events, "requests of global loads";
        global_stores: Events, "requests of global stores";
        local_loads: Events, "requests of local loads";
        local_stores: Events, "requests of local stores";
        atomics: Events, "requests of atomics";
        texture_loads: Events, "requests of texture fetches";
        memory_stalls: Cycles, "cycles in which the load-store unit could not send a request";
        reads_done: Events, "replies to loads and atomics that went past the L1";
        read_latency: Cycles, "cycles summed over `lines_done`: for a line, from its request to its last sector; for a sector that bypasses the data cache, from issue to its arrival";
        lines_done: Events, "lines that arrived in the data cache, and sectors that arrived for atomics and for reads that bypass it";
        barriers: Events, "arrivals of warps at barriers";
        barrier_wait: Cycles, "cycles in which warps waited at barriers, summed over warps";
        exit_wait: Cycles, "cycles from the exit of a warp to the end of its block, summed over warps";
        warp_life: Cycles, "cycles from the start to the end of a block, summed over its warps";
        phase_wait: Cycles, "cycles from the end of a warp's phase to that of the slowest warp, summed over warps and phases; a phase ends at a barrier or when the warp ends";
        phase_time: Cycles, "cycles of the slowest warp of a phase, counted for each warp of the phase";
        stack_depth: MostEntries, "most entries of a reconvergence stack: splits, and points where they reconverge";
        ctas: Events, "thread blocks that ended";
        warps: Events, "warps that ended";
    }
}

impl SmCounters {
    /// The counter for issued instructions with this many active lanes.
    #[inline]
    pub fn issued_bucket(&mut self, lanes: u32) -> &mut u64 {
        match lanes {
            0..=4 => &mut self.issued_1_4,
            5..=8 => &mut self.issued_5_8,
            9..=12 => &mut self.issued_9_12,
            13..=16 => &mut self.issued_13_16,
            17..=20 => &mut self.issued_17_20,
            21..=24 => &mut self.issued_21_24,
            25..=28 => &mut self.issued_25_28,
            _ => &mut self.issued_29_32,
        }
    }

    /// The counter for empty slots with this cause.
    #[inline]
    pub fn stall(&mut self, cause: Cause) -> &mut u64 {
        stall_counter!(self, cause, &mut self.stall_no_warp_resident)
    }

    /// All scheduler slots, issued and empty.
    #[must_use]
    pub fn slots(&self) -> u64 {
        let mut copy = self.clone();
        let empty: u64 = Cause::ALL.iter().map(|c| *copy.stall(*c)).sum();
        let issued = [2, 6, 10, 14, 18, 22, 26, 30].map(|lanes| *copy.issued_bucket(lanes));
        empty + issued.iter().sum::<u64>()
    }
}
