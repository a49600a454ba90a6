//! Who is in which warp, and where it continues: the divergence model and the table it fills.

use super::super::build::Build;
use super::news::News;
use crate::event::EventKind;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{DataAccess, Divergence, Leaving, Outcome, WarpId, WarpTable};
use raddle_exec::core::lanes_in;
use raddle_ptx::num::fit;

/// The divergence model, its table, and whose registers are where.
pub(in super::super) struct Flow {
    pub(super) table: WarpTable,
    divergence: Box<dyn Divergence>,
    watches_data: bool,
    /// When the divergence model next acts on its own.
    due: Cycle,
    /// The block of each row of registers, and the row's number in it.
    rows: Vec<(u32, u32)>,
}

saved!(Flow { values: table, due, rows; parts: divergence; fixed: watches_data });

impl Flow {
    /// For a launch, all slots free.
    pub(super) fn new(divergence: Box<dyn Divergence>, slots: usize) -> Self {
        let (due, watches_data) = (divergence.next_event(), divergence.watches_data());
        Self { table: WarpTable::new(slots), due, divergence, watches_data, rows: Vec::new() }
    }

    /// A cycle begins; whether the divergence model has acted on its own.
    #[inline]
    pub(super) fn begin_cycle(&mut self, now: Cycle) -> bool {
        self.table.set_now(now);
        let acts = self.due <= now;
        if acts {
            self.divergence.tick(&mut self.table);
        }
        acts
    }

    /// Asks the divergence model again when it next acts on its own.
    pub(super) fn look_ahead(&mut self) {
        self.due = self.divergence.next_event();
    }

    /// A warp continues as its instruction says.
    #[inline]
    pub(super) fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>) {
        self.divergence.issued(warp, outcome, &mut self.table);
    }

    /// Whether the divergence model is told what requests find at the data cache.
    #[inline]
    pub(in super::super) fn watches_data(&self) -> bool {
        self.watches_data
    }

    /// A request of a warp has found something at the data cache, or nothing.
    pub(in super::super) fn data_access(&mut self, access: &DataAccess) {
        if self.watches_data {
            self.divergence.data_access(access, &mut self.table);
        }
    }

    /// A warp has nothing in flight any more.
    pub(super) fn finished(&mut self, warp: WarpId) {
        self.divergence.finished(warp, &mut self.table);
    }

    /// Rows of registers belong to a block.
    pub(super) fn give_rows(&mut self, slot: u32, first: u32, count: u32) {
        let end = (first + count) as usize;
        if self.rows.len() < end {
            self.rows.resize(end, (0, 0));
        }
        for (number, row) in (0..).zip(&mut self.rows[first as usize..end]) {
            *row = (slot, number);
        }
    }

    /// The block a row of registers belongs to.
    #[inline]
    pub(in super::super) fn block_of_row(&self, row: u32) -> u32 {
        self.rows[row as usize].0
    }

    /// Entries of a reconvergence stack at most.
    pub(in super::super) fn stack_depth(&self) -> u32 {
        self.divergence.stack_depth()
    }

    /// The divergence model, for reports.
    pub(in super::super) fn divergence(&self) -> &dyn Divergence {
        &*self.divergence
    }

    /// Gives the warps of a block that starts to the divergence model: slot, row, first lane and lanes of each.
    pub(in super::super) fn start_block(&mut self, slot: u32, warps: &[(WarpId, u32, u8, u32)]) {
        self.divergence.start_cta(slot, warps, &mut self.table);
    }

    /// A block has ended.
    pub(in super::super) fn end_block(&mut self, slot: u32) {
        self.divergence.end_cta(slot, &mut self.table);
    }

    /// When the divergence model next acts on its own.
    #[inline]
    pub(in super::super) fn next_event(&self) -> Cycle {
        self.due
    }

    /// Lets everyone at a barrier continue; `leave` is called with them.
    pub(in super::super) fn release(&mut self, slot: u32, barrier: u8, leave: &mut dyn FnMut(Leaving<'_>)) {
        self.divergence.release(slot, barrier, &mut self.table, leave);
    }

    /// Lanes of a warp that wait at the same warp-wide operation and whose partners have all come.
    pub(in super::super) fn take_sync(&mut self, warp: WarpId) -> Option<(u32, u32)> {
        self.divergence.take_sync(warp, &mut self.table)
    }

    /// Tells who listens which threads are in a warp.
    pub(super) fn tell_threads<B: Build>(&self, news: &mut News, warp: WarpId) {
        let Some(told) = news.listeners().filter(|_| !B::PLAIN) else { return };
        for lane in lanes_in(self.table.get(warp).mask) {
            let home = self.table.lanes(warp).home(lane);
            let (slot, row) = self.rows[home.row as usize];
            let thread = fit(row * 32 + u32::from(home.lane));
            told.push(EventKind::Thread { warp: warp.0, lane: fit(lane), slot, thread });
        }
    }
}
