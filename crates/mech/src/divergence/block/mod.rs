//! A thread block with one reconvergence stack for all its warps.
//!
//! The top entry of the stack runs: its threads are made into warps, which run independently. A warp stops at a branch
//! that may diverge, at the entry's reconvergence point, or when its threads end. When the last warp has stopped, the
//! stack changes, and the threads of the next entry are made into warps.

mod mask;

pub use mask::{BlockMask, Compactor};

use super::warps;
use raddle_exec::core::{Home, Lanes};
use raddle_exec::decode::Ends;
use raddle_exec::splits::{Group, Meeting, Splits, State, Threads};
use raddle_sim::seam::{Cause, Leaving, StackEntry, WarpId, WarpTable};

/// What a warp waits for while it still belongs to the running entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Wait {
    /// A barrier of the block.
    Barrier(u8),
    /// Lanes of its static warp, and whether these may wait at any operation.
    Sync { wanted: u32, anywhere: bool },
}

/// What a slot of the block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Slot {
    /// Nothing: its warp has stopped for this entry, or there are fewer warps than slots.
    Idle,
    /// A warp that runs, inside this many calls.
    Runs(u32),
    /// A warp that waits.
    Waits(u32, Wait),
}

/// Warps that wait for lanes of their static warp.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct SyncWait {
    row: usize,
    lanes: u32,
    pc: u32,
    wanted: u32,
    anywhere: bool,
}

/// Where threads of the running entry have stopped, and what happens to them next.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Fate {
    /// The operation at which they diverged, reconverge or wait.
    pc: u32,
    depth: u32,
    kind: FateKind,
    threads: BlockMask,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum FateKind {
    /// They diverged at a branch: which threads go where, and where they reconverge.
    Parted(Meeting, Vec<Group<BlockMask>>),
    /// They reconverge with others, or continue alone.
    GoesOn,
    /// They continue when all threads of their static warps have arrived.
    WholeWarps,
    /// They wait.
    Waits(State),
}

/// A resident block.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Block {
    /// Number of the block's slot on the SM.
    pub cta: u32,
    warps: Vec<WarpId>,
    slots: Vec<Slot>,
    first_row: u32,
    width: usize,
    keeps_warps: bool,
    stack: Splits<BlockMask>,
    /// The entry that runs.
    current: Option<usize>,
    /// Its warps that have not stopped, including those still to be made.
    pending: u32,
    /// The threads still to be made into warps, and the number of warps made so far.
    compactor: Option<(Compactor, usize)>,
    fates: Vec<Fate>,
    exited: BlockMask,
    syncs: Vec<SyncWait>,
    deepest: usize,
    /// Where threads of the kernel end.
    ends: Ends,
}

impl Block {
    /// A block of static warps: slot, row, first lane and lanes of each.
    pub fn new(cta: u32, warps: &[(WarpId, u32, u8, u32)], width: usize, keeps_warps: bool, ends: Ends) -> Self {
        let first_row = warps.first().map_or(0, |w| w.1);
        let mut all = BlockMask::default();
        warps.iter().for_each(|(_, row, _, lanes)| all.add((row - first_row) as usize, *lanes));
        Self {
            cta,
            warps: warps.iter().map(|w| w.0).collect(),
            slots: vec![Slot::Runs(0); warps.len()],
            first_row,
            width,
            keeps_warps,
            stack: Splits::new(all),
            current: Some(0),
            pending: warps.len() as u32,
            compactor: None,
            fates: Vec::new(),
            exited: BlockMask::default(),
            syncs: Vec::new(),
            deepest: 1,
            ends,
        }
    }

    /// The most entries its stack has had.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    fn warp_at(&self, warp: WarpId) -> Option<usize> {
        self.warps.iter().position(|w| *w == warp)
    }

    /// The threads of a warp that are in these lanes.
    pub fn threads(&self, warp: WarpId, lanes: u32, table: &WarpTable) -> BlockMask {
        let mut threads = BlockMask::default();
        table.for_each_row(warp, lanes, |row, lanes| threads.add((row - self.first_row) as usize, lanes));
        threads
    }

    fn depth_of(&self, at: usize) -> u32 {
        match self.slots[at] {
            Slot::Idle => 0,
            Slot::Runs(depth) | Slot::Waits(depth, _) => depth,
        }
    }

    /// A warp continues at `pc`, `depth` calls deep: it runs there, or stops because it has reached a reconvergence
    /// point.
    pub fn go_on(&mut self, warp: WarpId, pc: u32, lanes: u32, depth: Option<u32>, table: &mut WarpTable) {
        let (Some(at), Some(current)) = (self.warp_at(warp), self.current) else { return };
        let depth = depth.unwrap_or_else(|| self.depth_of(at));
        if self.stack.meets(current, pc, depth) {
            let threads = self.threads(warp, lanes, table);
            self.add_fate(Fate { pc, depth, kind: FateKind::GoesOn, threads });
            self.leave(at, pc, table);
        } else {
            self.slots[at] = Slot::Runs(depth);
            table.set_until(warp, pc, lanes, self.stack.next_meeting(current, pc));
        }
    }

    /// How deep in calls a warp is.
    pub fn call_depth(&self, warp: WarpId) -> u32 {
        self.warp_at(warp).map_or(0, |at| self.depth_of(at))
    }

    /// A warp has come to a branch at which the block may diverge; `groups` says which of its lanes go where.
    pub fn part(&mut self, warp: WarpId, pc: u32, meeting: Meeting, groups: &[Group], table: &mut WarpTable) {
        let Some(at) = self.warp_at(warp) else { return };
        let depth = self.depth_of(at);
        let mut threads = BlockMask::default();
        let convert = |g: &Group| {
            let mask = self.threads(warp, g.mask, table);
            threads = threads.with(mask);
            Group { pc: g.pc, mask, depth: g.depth }
        };
        let groups = groups.iter().map(convert).collect();
        self.add_fate(Fate { pc, depth, kind: FateKind::Parted(meeting, groups), threads });
        self.leave(at, pc, table);
    }

    /// Lanes of a warp continue or wait separately: each of `parts` with its place, and the barrier it waits at.
    pub fn wait_apart(&mut self, warp: WarpId, parts: &[(Group, Option<u8>)], table: &mut WarpTable) {
        let Some(at) = self.warp_at(warp) else { return };
        for (group, barrier) in parts.iter().filter(|(group, _)| group.mask != 0) {
            let threads = self.threads(warp, group.mask, table);
            let kind = barrier.map_or(FateKind::GoesOn, |number| FateKind::Waits(State::Barrier(number)));
            self.add_fate(Fate { pc: group.pc, depth: group.depth, kind, threads });
        }
        let pc = table.get(warp).pc;
        self.leave(at, pc, table);
    }

    /// Lanes of a warp end.
    pub fn exit(&mut self, warp: WarpId, lanes: u32, table: &mut WarpTable) {
        self.exited = self.exited.with(self.threads(warp, lanes, table));
        let (pc, left) = (table.get(warp).pc, table.get(warp).mask & !lanes);
        if left != 0 {
            self.go_on(warp, pc + 1, left, None, table);
        } else if let Some(at) = self.warp_at(warp) {
            self.leave(at, pc, table);
        }
    }

    /// A warp waits at a barrier.
    pub fn wait_at_barrier(&mut self, warp: WarpId, number: u8, table: &mut WarpTable) {
        self.wait(warp, Wait::Barrier(number), table);
    }

    /// A warp waits for lanes of its static warp.
    pub fn wait_for_lanes(&mut self, warp: WarpId, wanted: u32, anywhere: bool, table: &mut WarpTable) {
        let info = table.get(warp);
        let row = (info.row - self.first_row) as usize;
        self.syncs.push(SyncWait { row, lanes: info.mask, pc: info.pc, wanted, anywhere });
        self.wait(warp, Wait::Sync { wanted, anywhere }, table);
    }

    /// A warp of threads from several static warps waits for all the others of these.
    pub fn wait_for_whole_warps(&mut self, warp: WarpId, table: &mut WarpTable) {
        let Some(at) = self.warp_at(warp) else { return };
        let (pc, lanes) = (table.get(warp).pc, table.get(warp).mask);
        let (depth, threads) = (self.depth_of(at), self.threads(warp, lanes, table));
        self.add_fate(Fate { pc: pc + 1, depth, kind: FateKind::WholeWarps, threads });
        self.leave(at, pc, table);
    }

    /// Whether `threads` has all live threads of every static warp of which it has some.
    fn are_whole(&self, threads: &BlockMask) -> bool {
        let whole = raddle_exec::core::lanes_of(self.width as u32);
        threads.rows().all(|(row, lanes)| {
            (0..32).step_by(self.width).filter(|base| lanes & whole << base != 0).all(|base| {
                let own = whole << base;
                self.stack.live.row(row) & own == lanes & own
            })
        })
    }

    fn wait(&mut self, warp: WarpId, wait: Wait, table: &mut WarpTable) {
        let Some(at) = self.warp_at(warp) else { return };
        self.slots[at] = Slot::Waits(self.depth_of(at), wait);
        table.wait(warp, Cause::Barrier);
    }

    fn add_fate(&mut self, fate: Fate) {
        let alike = |f: &&mut Fate| {
            let kinds = match (&f.kind, &fate.kind) {
                (FateKind::Parted(a, _), FateKind::Parted(b, _)) => a == b,
                (FateKind::GoesOn, FateKind::GoesOn) | (FateKind::WholeWarps, FateKind::WholeWarps) => true,
                (FateKind::Waits(a), FateKind::Waits(b)) => a == b && matches!(a, State::Barrier(_)),
                _ => false,
            };
            kinds && (f.pc, f.depth) == (fate.pc, fate.depth)
        };
        let Some(known) = self.fates.iter_mut().find(alike) else {
            self.fates.push(fate);
            return;
        };
        known.threads = known.threads.with(fate.threads);
        let (FateKind::Parted(_, all), FateKind::Parted(_, more)) = (&mut known.kind, fate.kind) else { return };
        for group in more {
            match all.iter_mut().find(|g| (g.pc, g.depth) == (group.pc, group.depth)) {
                Some(same) => same.mask = same.mask.with(group.mask),
                None => all.push(group),
            }
        }
    }

    /// A warp has nothing more to do for the running entry.
    fn leave(&mut self, at: usize, pc: u32, table: &mut WarpTable) {
        self.slots[at] = Slot::Idle;
        table.block(self.warps[at], pc, Cause::Mechanism);
        self.pending -= 1;
        if self.pending == 0 {
            self.change_stack(table);
        }
    }

    /// Whether all warps of the running entry that have not stopped wait, so that another entry must run first.
    pub fn is_stuck(&self) -> bool {
        self.current.is_some()
            && self.pending > 0
            && self.compactor.is_none()
            && !self.slots.iter().any(|s| matches!(s, Slot::Runs(_)))
    }

    /// Warps that wait become entries of their own, and another entry runs.
    pub fn step_aside(&mut self, table: &mut WarpTable) {
        for at in 0..self.slots.len() {
            let Slot::Waits(depth, wait) = self.slots[at] else { continue };
            let warp = self.warps[at];
            let (pc, lanes) = (table.get(warp).pc, table.get(warp).mask);
            let state = match wait {
                Wait::Barrier(number) => State::Barrier(number),
                Wait::Sync { wanted, .. } => State::Sync(wanted),
            };
            let threads = self.threads(warp, lanes, table);
            self.add_fate(Fate { pc, depth, kind: FateKind::Waits(state), threads });
            self.slots[at] = Slot::Idle;
            self.pending -= 1;
        }
        self.change_stack(table);
    }

    /// Every warp of the entry has stopped: the stack changes, and the next entry is made into warps.
    fn change_stack(&mut self, table: &mut WarpTable) {
        let Some(current) = self.current.take() else { return };
        let fates = std::mem::take(&mut self.fates);
        let exited = std::mem::take(&mut self.exited);
        let parts = fates.iter().map(|fate| {
            let state = if let FateKind::Waits(state) = fate.kind { state } else { State::Ready };
            (Group { pc: fate.pc, mask: fate.threads, depth: fate.depth }, state)
        });
        let gone = (Group { pc: 0, mask: exited, depth: 0 }, State::Ready);
        self.stack.divide(current, parts.chain([gone]));
        let place = |stack: &Splits<BlockMask>, threads: BlockMask| stack.splits.iter().position(|s| s.mask == threads);
        if !exited.is_empty()
            && let Some(split) = place(&self.stack, exited)
        {
            self.stack.exit(split, exited);
        }
        for fate in fates {
            let Some(split) = place(&self.stack, fate.threads) else { continue };
            match fate.kind {
                FateKind::Parted(meeting, groups) => {
                    let unused = groups.iter().filter(|g| g.mask.is_empty() && g.pc != meeting.surely).count();
                    self.stack.diverge(split, &groups, meeting);
                    self.deepest = self.deepest.max(self.stack.depth() + unused);
                }
                FateKind::WholeWarps if !self.are_whole(&fate.threads) => {
                    self.stack.splits[split].state = State::Sync(0);
                }
                FateKind::Waits(_) => {}
                _ if self.stack.meets(split, fate.pc, fate.depth) => self.stack.arrive(split),
                FateKind::GoesOn | FateKind::WholeWarps => {}
            }
        }
        self.next_part(table);
    }

    /// Chooses the entry that runs next.
    fn next_part(&mut self, table: &mut WarpTable) {
        while let Some(next) = self.stack.ready().or_else(|| self.let_on()).or_else(|| self.let_end()) {
            let split = self.stack.splits[next];
            if self.stack.meets(next, split.pc, split.depth) {
                self.stack.arrive(next);
                continue;
            }
            let compactor = Compactor::new(split.mask, self.width, self.keeps_warps);
            self.pending = compactor.count();
            self.compactor = Some((compactor, 0));
            self.current = Some(next);
            return;
        }
        let done = self.stack.splits.is_empty();
        for warp in &self.warps {
            if done {
                table.end(*warp);
            } else {
                table.block(*warp, table.get(*warp).pc, Cause::Barrier);
            }
        }
    }

    /// Entries that waited for the rest of their warps continue when no other can: the rest waits too.
    fn let_on(&mut self) -> Option<usize> {
        let waits = |s: &&mut raddle_exec::splits::Split<BlockMask>| s.state == State::Sync(0);
        self.stack.splits.iter_mut().filter(waits).for_each(|split| split.state = State::Ready);
        self.stack.ready()
    }

    /// Threads that have reached the exit and wait there to reconverge exit, when no entry can run.
    fn let_end(&mut self) -> Option<usize> {
        if self.stack.let_end(&self.ends) { self.stack.ready() } else { None }
    }

    /// Whether threads are to be made into warps.
    pub fn wants_compactor(&self) -> bool {
        self.compactor.is_some()
    }

    /// Makes one warp, and says whether its threads are from several static warps; none when there is nothing to do.
    pub fn compact(&mut self, table: &mut WarpTable) -> Option<bool> {
        let (Some((compactor, made)), Some(current)) = (&mut self.compactor, self.current) else { return None };
        let split = self.stack.splits[current];
        let mut is_mixed = None;
        if let Some(mut warp) = compactor.next() {
            is_mixed = Some(warp.warp.is_none());
            // The threads of one static warp stay where they are in their row; others are counted from lane 0.
            let base = warp.warp.map_or(0, |w| w * self.width % 32);
            warp.homes.rotate_right(base);
            let homes = warp.homes.map(|home| Home { row: home.row + self.first_row, ..home });
            let at = if self.keeps_warps { warp.warp.unwrap_or(*made) } else { *made };
            let until = self.stack.next_meeting(current, split.pc);
            table.form(self.warps[at], self.cta, &homes, warp.mask << base, split.pc, until);
            self.slots[at] = Slot::Runs(split.depth);
            *made += 1;
        }
        if compactor.is_empty() {
            self.compactor = None;
        }
        is_mixed
    }

    /// A barrier is complete: the threads that waited there continue.
    pub fn release(&mut self, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>)) {
        for split in self.stack.splits.iter_mut().filter(|s| s.state == State::Barrier(number)) {
            for (row, mask) in split.mask.rows() {
                let warp = self.warps[(row * 32 / self.width).min(self.warps.len() - 1)];
                leave(Leaving { warp, pc: split.pc, lanes: Lanes::Row(self.first_row + row as u32), mask });
            }
            split.state = State::Ready;
            split.pc += 1;
        }
        for at in 0..self.slots.len() {
            let Slot::Waits(depth, Wait::Barrier(n)) = self.slots[at] else { continue };
            if n == number {
                let warp = self.warps[at];
                let (pc, mask) = (table.get(warp).pc, table.get(warp).mask);
                leave(Leaving { warp, pc, lanes: table.lanes(warp), mask });
                self.go_on(warp, pc + 1, mask, Some(depth), table);
            }
        }
        if self.current.is_none() {
            self.next_part(table);
        }
    }

    /// Lanes of the static warp in this slot that wait for each other and have all arrived.
    pub fn take_sync(&mut self, warp: WarpId, table: &mut WarpTable) -> Option<(u32, u32)> {
        let info = table.get(warp);
        let (row, whole) = ((info.row - self.first_row) as usize, raddle_exec::core::lanes_of(self.width as u32));
        let own = whole << info.base;
        let live = self.stack.live.without(self.exited).row(row);
        let here = |s: &&SyncWait| s.row == row && s.lanes & own != 0;
        let together = |a: &SyncWait, b: &SyncWait| a.pc == b.pc || a.anywhere && b.anywhere;
        let lanes_with = |a: &SyncWait| {
            self.syncs.iter().filter(here).filter(|b| together(a, b)).fold(0, |lanes, b| lanes | b.lanes)
        };
        let complete = self.syncs.iter().filter(here).find(|s| s.wanted & live & !lanes_with(s) == 0).copied()?;
        // Also one that does not name itself: it continues once those it names are gone.
        let named = complete.wanted | complete.lanes;
        let taken: Vec<SyncWait> = self
            .syncs
            .iter()
            .filter(here)
            .filter(|s| together(&complete, s) && s.lanes & named != 0)
            .copied()
            .collect();
        let mut mask = 0;
        for sync in taken {
            mask |= sync.lanes;
            self.syncs.retain(|s| (s.row, s.lanes) != (sync.row, sync.lanes));
            self.end_sync(sync, table);
        }
        Some((complete.pc, mask))
    }

    fn end_sync(&mut self, sync: SyncWait, table: &mut WarpTable) {
        let mut threads = BlockMask::default();
        threads.add(sync.row, sync.lanes);
        for at in 0..self.slots.len() {
            let Slot::Waits(depth, Wait::Sync { .. }) = self.slots[at] else { continue };
            let warp = self.warps[at];
            if self.threads(warp, table.get(warp).mask, table) == threads {
                self.go_on(warp, sync.pc + 1, sync.lanes, Some(depth), table);
                return;
            }
        }
        let waiting =
            |s: &&mut raddle_exec::splits::Split<BlockMask>| matches!(s.state, State::Sync(_)) && s.mask == threads;
        if let Some(split) = self.stack.splits.iter_mut().find(waiting) {
            split.state = State::Ready;
            split.pc += 1;
        }
        if self.current.is_none() {
            self.next_part(table);
        }
    }

    /// The stack as the static warp in a slot sees it.
    pub fn entries(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry> {
        let at = self.warp_at(warp).unwrap_or(0);
        let (row, base) = (at * self.width / 32, at * self.width % 32);
        let own = raddle_exec::core::lanes_of(self.width as u32) << base;
        let entry = |n: usize| {
            let split = &self.stack.splits[n];
            let (join, _) = self.stack.join_of(n);
            let runs = Some(n) == self.current;
            let waits = match (split.state, self.slots[at]) {
                (State::Barrier(number), _) => warps::waits_for_barrier(number),
                (State::Sync(wanted), _) => warps::waits_for_lanes(wanted),
                (State::Gathers(_), _) => Some("the splits above it".to_owned()),
                (State::Ready, Slot::Waits(_, Wait::Barrier(number))) if runs => warps::waits_for_barrier(number),
                (State::Ready, Slot::Waits(_, Wait::Sync { wanted, .. })) if runs => warps::waits_for_lanes(wanted),
                (State::Ready, Slot::Idle) if runs => Some("the other warps of its block".to_owned()),
                (State::Ready, _) => None,
            };
            let pc = if runs { table.get(warp).pc } else { split.pc };
            StackEntry { pc, mask: split.mask.row(row) & own, rejoin: (join != u32::MAX).then_some(join), waits }
        };
        (0..self.stack.splits.len()).map(entry).collect()
    }
}
