//! The warp pool of dynamic warp formation: which threads form which warp, and warp barriers.

use raddle_exec::core::{Home, lanes_in};
use raddle_exec::decode::Ends;
use raddle_exec::op::NO_PC;
use raddle_exec::splits::Group;
use raddle_sim::config::MachineConfig;
use raddle_sim::counters;
use raddle_sim::saved;
use raddle_sim::seam::{Cause, MAX_WARPS, StackEntry, WarpId, WarpSet, WarpTable};
use std::collections::VecDeque;

counters! {
    /// How threads form warps.
    pub struct PoolCounters {
        formed: Events, "warps formed in the pool; each issues one instruction";
        joined: Events, "threads that joined a warp begun by others";
    }
}

/// Threads in different lanes.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Bundle {
    /// By lane.
    pub homes: [Home; 32],
    /// Lanes that have one.
    pub mask: u32,
}

impl Bundle {
    /// Adds a thread.
    pub fn add(&mut self, lane: usize, home: Home) {
        self.homes[lane] = home;
        self.mask |= 1 << lane;
    }

    /// Lanes of a row that have a thread here.
    pub fn in_row(&self, row: u32) -> u32 {
        let homes = lanes_in(self.mask).map(|lane| self.homes[lane]).filter(|home| home.row == row);
        homes.fold(0, |lanes, home| lanes | 1 << home.lane)
    }

    /// Those of these lanes.
    fn only(&self, lanes: u32) -> Self {
        Self { homes: self.homes, mask: self.mask & lanes }
    }
}

/// A warp of the pool, or one that has issued.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Dynamic {
    threads: Bundle,
    pc: u32,
    /// It is a whole static warp.
    whole: bool,
    /// Where its threads go when the instruction in flight is done.
    next: Option<Vec<Group>>,
}

/// A static warp.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Static {
    /// Lanes of the row that have not ended.
    live: u32,
    /// Its warp barrier, where it becomes whole again: operation, call depth, and the lanes that have arrived.
    barrier: Option<(u32, u16, u32)>,
    /// Operations at which its lanes wait for each other, and the lanes that have arrived there.
    syncs: Vec<(u32, u32)>,
    /// Lanes that wait at barriers of their block.
    held: u32,
}

/// The pool of an SM.
pub struct Pool {
    /// Static warps become whole again where they reconverge.
    pub has_barriers: bool,
    /// Lanes of a warp.
    pub width: usize,
    slots: Vec<Option<Dynamic>>,
    free: WarpSet,
    /// The warp that threads at an operation join.
    forming: Vec<(u32, WarpId)>,
    /// Threads that found no slot.
    parked: VecDeque<(Bundle, u32, bool)>,
    /// By row and place in it.
    statics: Vec<Static>,
    /// Call depth of each thread, by row.
    depths: Vec<[u16; 32]>,
    /// The block of each row.
    row_blocks: Vec<u32>,
    /// Where threads of the kernel end.
    pub ends: Ends,
    /// What it counts.
    pub counters: PoolCounters,
}

saved!(Pool {
    values: slots, free, forming, parked, statics, depths, row_blocks;
    parts: counters;
    fixed: has_barriers, width, ends;
});

impl Pool {
    /// For an SM of a machine.
    pub fn new(machine: &MachineConfig, has_barriers: bool) -> Self {
        let slots = (machine.sm.threads as usize).min(MAX_WARPS);
        let mut free = WarpSet::new(slots);
        (0..slots).for_each(|n| free.set(WarpId(n as u16), true));
        Self {
            has_barriers,
            width: machine.sm.warp_width.max(1) as usize,
            slots: vec![None; slots],
            free,
            forming: Vec::new(),
            parked: VecDeque::new(),
            statics: Vec::new(),
            depths: Vec::new(),
            row_blocks: Vec::new(),
            ends: Ends::default(),
            counters: PoolCounters::default(),
        }
    }

    /// Slots for warps.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    fn static_of(&self, home: Home) -> usize {
        home.row as usize * (32 / self.width) + usize::from(home.lane) / self.width
    }

    /// The block of a thread.
    pub fn block_of(&self, home: Home) -> u32 {
        self.row_blocks[home.row as usize]
    }

    /// The threads of a warp.
    pub fn bundle(&self, warp: WarpId) -> Bundle {
        self.slots[warp.index()].as_ref().map_or_else(Bundle::default, |w| w.threads.clone())
    }

    /// Whether a warp is a whole static warp.
    pub fn is_whole(&self, warp: WarpId) -> bool {
        self.slots[warp.index()].as_ref().is_some_and(|w| w.whole)
    }

    /// A static warp of a block starts: these lanes of a row, at the first operation.
    pub fn start_warp(&mut self, row: u32, lanes: u32, cta: u32, table: &mut WarpTable) {
        let first = Home { row, lane: lanes.trailing_zeros() as u8 };
        let number = self.static_of(first);
        if self.statics.len() <= number {
            self.statics.resize(number + 1, Static::default());
            self.depths.resize(row as usize + 1, [0; 32]);
            self.row_blocks.resize(row as usize + 1, 0);
        }
        self.row_blocks[row as usize] = cta;
        self.statics[number] = Static { live: lanes, ..Static::default() };
        let threads = self.static_warp(row, lanes);
        lanes_in(lanes).for_each(|lane| self.depths[row as usize][lane] = 0);
        self.insert(threads, 0, self.has_barriers, None, table);
    }

    fn static_warp(&self, row: u32, lanes: u32) -> Bundle {
        let mut threads = Bundle::default();
        lanes_in(lanes).for_each(|lane| threads.add(lane % self.width, Home { row, lane: lane as u8 }));
        threads
    }

    /// Threads of a warp call or return.
    pub fn change_depth(&mut self, warp: WarpId, lanes: u32, by: i32) {
        let threads = self.bundle(warp);
        for lane in lanes_in(lanes & threads.mask) {
            let Home { row, lane } = threads.homes[lane];
            let depth = &mut self.depths[row as usize][usize::from(lane)];
            *depth = depth.wrapping_add_signed(by as i16);
        }
    }

    /// Threads of a warp have ended: nobody waits for them.
    pub fn exit(&mut self, warp: WarpId, lanes: u32, table: &mut WarpTable) {
        let threads = self.bundle(warp);
        for lane in lanes_in(lanes & threads.mask) {
            let home = threads.homes[lane];
            let number = self.static_of(home);
            self.statics[number].live &= !(1 << home.lane);
            self.look_at_barrier(number, home.row, table);
            self.look_at_sync(number, home.row, table);
        }
    }

    /// Threads of a warp wait for those of their static warps.
    pub fn wait_for_warp(&mut self, warp: WarpId, pc: u32, table: &mut WarpTable) {
        let threads = self.bundle(warp);
        for lane in lanes_in(threads.mask) {
            let home = threads.homes[lane];
            let number = self.static_of(home);
            let syncs = &mut self.statics[number].syncs;
            match syncs.iter_mut().find(|(at, _)| *at == pc) {
                Some((_, here)) => *here |= 1 << home.lane,
                None => syncs.push((pc, 1 << home.lane)),
            }
        }
        for lane in lanes_in(threads.mask) {
            let home = threads.homes[lane];
            self.look_at_sync(self.static_of(home), home.row, table);
        }
    }

    /// A warp has issued. When that is done, its threads go where `groups` says. They reconverge at `meet`.
    pub fn leave(&mut self, warp: WarpId, groups: &[Group], meet: u32, table: &mut WarpTable) {
        self.forming.retain(|(_, w)| *w != warp);
        let Some(dynamic) = &mut self.slots[warp.index()] else { return };
        dynamic.next = Some(groups.to_vec());
        if dynamic.whole && groups.len() > 1 {
            dynamic.whole = false;
            let home = dynamic.threads.homes[dynamic.threads.mask.trailing_zeros() as usize];
            let number = self.static_of(home);
            let depth = self.depths[home.row as usize][usize::from(home.lane)];
            self.statics[number].barrier = (meet != NO_PC).then_some((meet, depth, 0));
        }
        table.block(warp, table.get(warp).pc, Cause::ArithmeticDependence);
    }

    /// A warp's instruction is done: its threads go to the pool.
    pub fn finished(&mut self, warp: WarpId, table: &mut WarpTable) {
        let Some(dynamic) = &mut self.slots[warp.index()] else { return };
        let Some(groups) = dynamic.next.take() else { return };
        let (threads, whole) = (dynamic.threads.clone(), dynamic.whole);
        let mut slot = Some(warp);
        for group in groups {
            self.insert(threads.only(group.mask), group.pc, whole, slot.take(), table);
        }
        if let Some(slot) = slot {
            self.give_back(slot, table);
        }
    }

    fn give_back(&mut self, slot: WarpId, table: &mut WarpTable) {
        self.slots[slot.index()] = None;
        self.free.set(slot, true);
        table.free(slot);
        while !self.free.is_empty()
            && let Some((threads, pc, whole)) = self.parked.pop_front()
        {
            self.insert(threads, pc, whole, None, table);
        }
    }

    /// Threads at an operation join the warp that is forming there, or start one; `slot` is theirs if they need it.
    pub fn insert(&mut self, threads: Bundle, pc: u32, whole: bool, slot: Option<WarpId>, table: &mut WarpTable) {
        let threads = if whole { threads } else { self.stop_at_barriers(threads, pc, table) };
        let mut left = threads.mask;
        let forming = if whole { None } else { self.forming.iter().position(|(at, _)| *at == pc) };
        if let Some(n) = forming {
            let warp = self.forming[n].1;
            if let Some(dynamic) = &mut self.slots[warp.index()] {
                let fits = left & !dynamic.threads.mask;
                lanes_in(fits).for_each(|lane| dynamic.threads.add(lane, threads.homes[lane]));
                left &= !fits;
                self.counters.joined += u64::from(fits.count_ones());
                if fits != 0 {
                    let Dynamic { threads, pc, .. } = dynamic;
                    table.form(warp, table.get(warp).cta, &threads.homes, threads.mask, *pc, *pc + 1);
                }
            }
            if left != 0 {
                self.forming.remove(n);
            }
        }
        if left == 0 {
            if let Some(slot) = slot {
                self.give_back(slot, table);
            }
            return;
        }
        let Some(slot) = slot.or_else(|| self.free.next_from(WarpId(0))) else {
            self.parked.push_back((threads.only(left), pc, whole));
            return;
        };
        self.free.set(slot, false);
        self.counters.formed += 1;
        let threads = threads.only(left);
        let first = threads.homes[threads.mask.trailing_zeros() as usize & 31];
        table.form(slot, self.block_of(first), &threads.homes, threads.mask, pc, pc + 1);
        self.slots[slot.index()] = Some(Dynamic { threads, pc, whole, next: None });
        if !whole {
            self.forming.push((pc, slot));
        }
    }

    /// Threads that have come to the barrier of their static warp wait there; the others are returned.
    fn stop_at_barriers(&mut self, threads: Bundle, pc: u32, table: &mut WarpTable) -> Bundle {
        if !self.has_barriers {
            return threads;
        }
        let mut left = threads.clone();
        let mut stopped = 0;
        for lane in lanes_in(threads.mask) {
            let home = threads.homes[lane];
            let number = self.static_of(home);
            let depth = self.depths[home.row as usize][usize::from(home.lane)];
            if let Some((at, inside, here)) = &mut self.statics[number].barrier
                && (*at, *inside) == (pc, depth)
            {
                *here |= 1 << home.lane;
                left.mask &= !(1 << lane);
                stopped |= 1 << lane;
            }
        }
        for lane in lanes_in(stopped) {
            let home = threads.homes[lane];
            self.look_at_barrier(self.static_of(home), home.row, table);
        }
        left
    }

    /// Lets a static warp continue that is whole again.
    fn look_at_barrier(&mut self, number: usize, row: u32, table: &mut WarpTable) {
        let Static { live, barrier: Some((pc, _, here)), held, .. } = self.statics[number] else { return };
        let (whole, here) = (here & live == live, here & live);
        // Threads at the exit do not wait to reconverge with those that wait at a barrier of the block, perhaps for
        // them.
        let may_end = || (here | held) & live == live && self.ends.contains(pc);
        if here != 0 && (whole || may_end()) {
            self.statics[number].barrier = None;
            let threads = self.static_warp(row, here);
            self.insert(threads, pc, whole, None, table);
        }
    }

    /// Threads come to a barrier of their block, or leave it.
    pub fn hold(&mut self, threads: &Bundle, lanes: u32, at_barrier: bool, table: &mut WarpTable) {
        if !self.has_barriers {
            return;
        }
        for lane in lanes_in(lanes & threads.mask) {
            let home = threads.homes[lane];
            let number = self.static_of(home);
            let held = &mut self.statics[number].held;
            *held = if at_barrier { *held | 1 << home.lane } else { *held & !(1 << home.lane) };
            if at_barrier {
                self.look_at_barrier(number, home.row, table);
            }
        }
    }

    /// Lets lanes of a static warp continue that have all come to where they wait for each other.
    fn look_at_sync(&mut self, number: usize, row: u32, table: &mut WarpTable) {
        let Static { live, barrier, syncs, .. } = &mut self.statics[number];
        let here = syncs.iter().fold(0, |all, (_, here)| all | here);
        if syncs.is_empty() || here & *live != *live {
            return;
        }
        let (whole, live, syncs) = (barrier.is_none() && syncs.len() == 1, *live, std::mem::take(syncs));
        for (pc, lanes) in syncs {
            let threads = self.static_warp(row, lanes & live);
            self.insert(threads, pc + 1, whole, None, table);
        }
    }

    /// Where threads of a static warp are, those that can run last.
    pub fn parts(&self, row: u32, mask: u32) -> Vec<StackEntry> {
        let own = self.statics.get(self.static_of(Home { row, lane: mask.trailing_zeros() as u8 }));
        let waits = |text: &str| Some(text.to_owned());
        let mut parts = Vec::new();
        if let Some((pc, _, here)) = own.and_then(|s| s.barrier) {
            parts.push(StackEntry { pc, mask: here, rejoin: None, waits: waits("the other threads of its warp") });
        }
        for &(pc, here) in own.iter().flat_map(|s| &s.syncs) {
            parts.push(StackEntry { pc, mask: here, rejoin: None, waits: waits("the other threads of its warp") });
        }
        let parked = self.parked.iter().map(|(threads, pc, _)| (*pc, threads.in_row(row), waits("a free slot")));
        let running = self.slots.iter().flatten().map(|w| (w.pc, w.threads.in_row(row), None));
        let all = parked.chain(running).filter(|(_, lanes, _)| lanes & mask != 0);
        parts.extend(all.map(|(pc, lanes, waits)| StackEntry { pc, mask: lanes & mask, rejoin: None, waits }));
        parts.retain(|part| part.mask != 0);
        parts
    }
}
