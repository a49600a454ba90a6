//! Dynamic warp formation.
//!
//! # What it models
//! Threads at the same operation form warps, whatever block or static warp they belong to. After every instruction, the
//! threads of a warp return to a pool. If a warp is already forming at a thread's next operation and the thread's lane
//! is free there, the thread joins it. Otherwise the thread starts a new warp. A thread never changes its lane. No
//! thread waits for another one to reconverge, so `dwf` keeps no static warp together.
//!
//! # Source
//! Fung et al., MICRO 2007; TBC paper (HPCA 2011), section 2.3. The paper combines it with the issue scheduler
//! `majority`.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! Threads return to the pool when their instruction is done. A warp therefore never has two instructions in flight, on
//! any machine. The pool has one slot for each thread of the SM, but at most 1024; further threads wait for a free
//! slot. A block can end before its stores are acknowledged. Kernels with warp-wide operations are refused, because
//! there are no static warps.
//!
//! # Counters
//! Its own counters say how many warps are formed, and how many threads join a warp that other threads started. The
//! `issued_*` counters show how many lanes are active.

use super::pool::{Bundle, Pool, PoolCounters};
use crate::NoConfig;
use raddle_exec::Program;
use raddle_exec::core::{Arrival, Lanes, lanes_in, lanes_of};
use raddle_exec::op::{NO_PC, Op};
use raddle_exec::splits::{Group, add_by_target};
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Divergence, Leaving, MechanismInfo, Outcome, Seam, StackEntry, WarpId, WarpTable};
use raddle_sim::stats::Counters;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Divergence,
    name: "dwf",
    summary: "dynamic warp formation: threads at the same operation form warps, from anywhere on the SM",
    source: "Fung et al., MICRO 2007; TBC paper (HPCA 2011), section 2.3",
    counters: PoolCounters::INFO,
    refuses: &[],
};

/// Threads that wait at a barrier.
#[derive(serde::Serialize, serde::Deserialize)]
struct Waiting {
    cta: u32,
    number: u8,
    pc: u32,
    threads: Bundle,
    whole: bool,
}

/// The model, with or without warp barriers.
pub struct Dwf {
    pool: Pool,
    waiting: Vec<Waiting>,
    groups: Vec<Group>,
}

saved!(Dwf { values: waiting, groups; parts: pool });

impl Dwf {
    /// For a machine.
    #[must_use]
    pub fn new(_: NoConfig, machine: &MachineConfig) -> Self {
        Self { pool: Pool::new(machine, false), waiting: Vec::new(), groups: Vec::new() }
    }

    /// The same with warp barriers.
    #[must_use]
    pub fn with_warp_barriers(config: NoConfig, machine: &MachineConfig) -> Self {
        Self { pool: Pool::new(machine, true), ..Self::new(config, machine) }
    }

    /// Threads of a warp wait at a barrier. Each one joins waiting threads of its block whose lanes leave room for it.
    fn wait_apart(&mut self, threads: &Bundle, arrival: &Arrival, pc: u32) {
        let number = arrival.number as u8;
        for lane in lanes_in(arrival.mask) {
            let home = threads.homes[lane];
            let cta = self.pool.block_of(home);
            let has_room = |w: &&mut Waiting| {
                !w.whole && (w.cta, w.number, w.pc) == (cta, number, pc) && w.threads.mask >> lane & 1 == 0
            };
            if let Some(known) = self.waiting.iter_mut().find(has_room) {
                known.threads.add(lane, home);
            } else {
                let mut alone = Bundle::default();
                alone.add(lane, home);
                self.waiting.push(Waiting { cta, number, pc, threads: alone, whole: false });
            }
        }
    }

    /// Why a warp-wide operation cannot be done, if it cannot.
    fn refuses(&self, program: &Program, op: &Op) -> Option<&'static str> {
        let whole = lanes_of(self.pool.width as u32);
        if !self.pool.has_barriers || op.exchanges() {
            Some("a warp-wide operation needs a whole static warp, and this model keeps no static warps")
        } else if program.members(op).is_none_or(|members| members & whole != whole) {
            Some("`bar.warp.sync` is supported only for all threads of a warp, with a constant mask")
        } else {
            None
        }
    }
}

impl Divergence for Dwf {
    fn start_launch(&mut self, program: &Program) -> Result<(), (u32, String)> {
        self.pool.ends = program.ends();
        let ops = program.ops.iter().enumerate().filter(|(_, op)| op.is_warp_wide());
        let mut refused = ops.filter_map(|(pc, op)| self.refuses(program, op).map(|why| (pc as u32, why.to_owned())));
        refused.next().map_or(Ok(()), Err)
    }

    fn regroups(&self) -> bool {
        true
    }

    fn pool(&self, _: usize) -> Option<usize> {
        Some(self.pool.slots())
    }

    fn start_cta(&mut self, cta: u32, warps: &[(WarpId, u32, u8, u32)], table: &mut WarpTable) {
        for &(_, row, _, lanes) in warps {
            self.pool.start_warp(row, lanes, cta, table);
        }
    }

    fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>, table: &mut WarpTable) {
        let (pc, mask) = (table.get(warp).pc, table.get(warp).mask);
        let depth = 0;
        let mut groups = std::mem::take(&mut self.groups);
        groups.clear();
        let mut meet = NO_PC;
        let mut calls = None;
        match outcome {
            Outcome::Next | Outcome::Barrier { wait: false, .. } => groups.push(Group { pc: pc + 1, mask, depth }),
            Outcome::Branch { taken, op } => {
                groups.push(Group { pc: pc + 1, mask: mask & !taken, depth });
                groups.push(Group { pc: op.target, mask: taken, depth });
                meet = op.reconverge;
            }
            Outcome::Scatter { active, targets, depth: by, op } => {
                groups.push(Group { pc: pc + 1, mask: mask & !active, depth });
                add_by_target(&mut groups, active, targets, depth);
                calls = Some((active, by));
                meet = op.reconverge;
            }
            Outcome::Exit { mask: ended } => {
                groups.push(Group { pc: pc + 1, mask: mask & !ended, depth });
                self.pool.exit(warp, ended, table);
            }
            Outcome::Barrier { arrivals, active, .. } => {
                groups.push(Group { pc: pc + 1, mask: mask & !active, depth });
                let threads = self.pool.bundle(warp);
                self.pool.hold(&threads, active, true, table);
                match arrivals {
                    [only] if only.mask == mask && self.pool.is_whole(warp) => {
                        let cta = self.pool.block_of(threads.homes[mask.trailing_zeros() as usize]);
                        self.waiting.push(Waiting { cta, number: only.number as u8, pc, threads, whole: true });
                    }
                    _ => arrivals.iter().for_each(|arrival| self.wait_apart(&threads, arrival, pc)),
                }
            }
            Outcome::Sync { .. } => self.pool.wait_for_warp(warp, pc, table),
        }
        groups.retain(|g| g.mask != 0);
        self.pool.leave(warp, &groups, meet, table);
        // Only now: threads that diverge at a call reconverge outside of it.
        if let Some((lanes, by)) = calls {
            self.pool.change_depth(warp, lanes, by);
        }
        self.groups = groups;
    }

    fn finished(&mut self, warp: WarpId, table: &mut WarpTable) {
        self.pool.finished(warp, table);
    }

    fn release(&mut self, cta: u32, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>)) {
        let mut n = 0;
        while n < self.waiting.len() {
            if (self.waiting[n].cta, self.waiting[n].number) != (cta, number) {
                n += 1;
                continue;
            }
            let Waiting { pc, threads, whole, .. } = self.waiting.remove(n);
            self.pool.hold(&threads, threads.mask, false, table);
            let lanes = Lanes::Gathered(&threads.homes);
            leave(Leaving { warp: WarpId(0), pc, lanes, mask: threads.mask });
            self.pool.insert(threads, pc + 1, whole, None, table);
        }
    }

    fn take_sync(&mut self, _: WarpId, _: &mut WarpTable) -> Option<(u32, u32)> {
        None
    }

    fn end_cta(&mut self, _: u32, _: &mut WarpTable) {}

    fn stack(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry> {
        let info = table.get(warp);
        vec![StackEntry { pc: info.pc, mask: info.mask, rejoin: None, waits: None }]
    }

    fn parts(&self, row: u32, mask: u32) -> Vec<StackEntry> {
        let mut parts = self.pool.parts(row, mask);
        for waiting in &self.waiting {
            let lanes = waiting.threads.in_row(row) & mask;
            if lanes != 0 {
                let waits = Some(format!("barrier {}", waiting.number));
                parts.insert(0, StackEntry { pc: waiting.pc, mask: lanes, rejoin: None, waits });
            }
        }
        parts
    }

    fn counters(&self) -> Vec<u64> {
        self.pool.counters.values()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
