//! Checks of what threads do to each other: races, barriers that some threads miss, memory read before it is written.
//!
//! A race is two accesses of the same bytes, at least one a write, not both atomic or volatile, that nothing orders.
//! What orders them: barriers of the block, `bar.warp.sync`, and a fence followed by an atomic or volatile write whose
//! value the other thread reads by an atomic or volatile access. Votes and shuffles order nothing. It is decided from
//! what happened in this run, whatever the order in which blocks and warps were executed: accesses that were far apart
//! in time race all the same.

mod clock;
mod facts;
mod finding;
mod init;
mod notes;
mod shadow;

use crate::core::{Lanes, Moved, lanes_in};
use crate::decode::Program;
use crate::fault::ThreadId;
use crate::lanes::LANES;
use crate::launch::Launch;
use crate::memory::{DeviceMemory, Region, region};
use crate::op::{Class, MemSpace, Op, Origin};
use clock::{Clocks, Known, Me, Stamp, join};
use facts::Fact;
pub use finding::{By, Finding, Kind, Space};
use init::Init;
pub use notes::{Note, Notes, threads};
use shadow::{Access, BYTES, Cell, Pages, Touch, WORD};
use std::collections::BTreeMap;

/// What to look for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Races in shared and global memory.
    pub races: bool,
    /// Barriers that some threads miss.
    pub sync: bool,
    /// Shared and global memory that is read before it is written.
    pub init: bool,
}

impl Checks {
    /// Whether there is anything to look for.
    #[must_use]
    pub fn any(self) -> bool {
        self.races || self.sync || self.init
    }
}

/// The lanes of a warp that do something.
#[derive(Clone, Copy)]
pub(crate) struct Who<'a> {
    pub(crate) lanes: Lanes<'a>,
    pub(crate) mask: u32,
    /// Of the block.
    pub(crate) slot: u32,
    pub(crate) first_row: u32,
}

/// A value in memory that tells whoever reads it what came before: for the grid, or for one block.
#[derive(Debug, Default)]
struct Told {
    grid: Vec<Known>,
    blocks: BTreeMap<u32, Vec<Known>>,
}

/// How an operation touches a state space.
fn touch(class: Class, fact: Fact, space: Space) -> Touch {
    match class {
        Class::Atomic if fact.ignores_old => Touch::Write,
        Class::Atomic => Touch::Update,
        // From global to shared memory.
        Class::Copy if space == Space::Shared => Touch::Write,
        _ if fact.is_store => Touch::Write,
        _ => Touch::Read,
    }
}

/// What finding is the same as another: what, and by which operations.
type Key = (Kind, Option<u32>, u32);

/// Watches a launch: told at once, or by [`Notes`].
#[derive(Debug)]
pub struct Sanitizer<'p> {
    checks: Checks,
    launch: &'p Launch,
    ops: &'p [Op],
    origins: &'p [Origin],
    facts: Vec<Fact>,
    /// Whether reads of shared memory that was never written are reported.
    checks_shared_init: bool,
    /// Whether it is shown what matrix instructions, textures and surfaces access: [`Notes`] leave that out.
    sees_all: bool,
    rows: u32,
    /// Where blocks are that notes are of, by SM and slot.
    slots: BTreeMap<(u16, u32), u32>,
    /// By slot.
    clocks: Vec<Clocks>,
    shared: Vec<Vec<Cell>>,
    global: Pages,
    /// What is known of global memory that was written before and since.
    init: Init,
    told: BTreeMap<(Option<u32>, u64), Told>,
    found: BTreeMap<Key, Finding>,
    /// Kept for its memory.
    threads: Vec<Me>,
}

impl<'p> Sanitizer<'p> {
    /// For one launch, which has done nothing yet.
    #[must_use]
    pub fn new(program: &'p Program, launch: &'p Launch) -> Self {
        Self {
            checks: launch.checks,
            launch,
            ops: &program.ops,
            origins: &program.origins,
            facts: facts::facts(program),
            checks_shared_init: false,
            sees_all: false,
            rows: launch.threads_per_cta().div_ceil(32).max(1),
            slots: BTreeMap::new(),
            clocks: Vec::new(),
            shared: Vec::new(),
            global: Pages::default(),
            init: Init::default(),
            told: BTreeMap::new(),
            found: BTreeMap::new(),
            threads: Vec::new(),
        }
    }

    /// As [`Self::new`], where [`Self::executed`] and [`Self::moved`] tell it of every access.
    pub(crate) fn seeing_all(program: &'p Program, launch: &'p Launch) -> Self {
        Self { sees_all: true, ..Self::new(program, launch) }
    }

    /// Whether the program stores matrices or to surfaces in a state space, of which this is not told.
    fn has_unseen_stores(&self, space: Space) -> bool {
        let other = if space == Space::Global { MemSpace::Shared } else { MemSpace::Global };
        let is_unseen = |(op, fact): (&Op, &Fact)| {
            matches!(op.class, Class::Matrix | Class::Surface) && fact.is_store && op.access.space != other
        };
        !self.sees_all && self.ops.iter().zip(&self.facts).any(is_unseen)
    }

    /// Takes over what memory knows of bytes that were written, until [`Self::give_back`].
    pub fn take_over(&mut self, memory: &mut DeviceMemory) {
        if self.checks.init {
            self.init = Init::new(memory, self.has_unseen_stores(Space::Global));
        }
        self.checks_shared_init = self.checks.init && !self.has_unseen_stores(Space::Shared);
    }

    /// Gives it back, with what was written since.
    pub fn give_back(&mut self, memory: &mut DeviceMemory) {
        std::mem::take(&mut self.init).give_back(memory);
    }

    /// What was found, in the order of the program.
    pub fn take_findings(&mut self, memory: &DeviceMemory) -> Vec<Finding> {
        let mut list: Vec<(Key, Finding)> = std::mem::take(&mut self.found).into_iter().collect();
        list.sort_by_key(|((kind, earlier, later), _)| (*later, *earlier, *kind));
        let named = |(_, mut finding): (Key, Finding)| {
            let holder = memory.holder(finding.address).filter(|_| finding.is_global());
            finding.allocation = holder.map(|a| (a.name.clone(), finding.address - a.base));
            finding
        };
        list.into_iter().map(named).collect()
    }

    /// A block becomes resident.
    pub(crate) fn start(&mut self, slot: u32, block: u64, shared_bytes: usize) {
        let index = slot as usize;
        if self.clocks.len() <= index {
            self.clocks.resize_with(index + 1, Clocks::default);
            self.shared.resize_with(index + 1, Vec::new);
        }
        let number = u32::try_from(block).unwrap_or(u32::MAX);
        self.clocks[index] = Clocks::new(number, self.launch.threads_per_cta());
        self.shared[index].clear();
        self.shared[index].resize_with(shared_bytes.div_ceil(BYTES), Cell::default);
    }

    /// The threads of some lanes.
    fn threads(&mut self, who: &Who<'_>) -> Vec<Me> {
        let mut list = std::mem::take(&mut self.threads);
        list.clear();
        let clocks = &self.clocks[who.slot as usize];
        list.extend(lanes_in(who.mask).map(|lane| {
            let home = who.lanes.home(lane);
            clocks.me(home.row - who.first_row, home.lane)
        }));
        list
    }

    /// An operation that is not a barrier or a warp-wide one was executed.
    pub(crate) fn executed(&mut self, who: &Who<'_>, pc: u32, addresses: &[u64; LANES]) {
        let threads = self.threads(who);
        self.executed_by(who.slot, &threads, pc, lanes_in(who.mask).map(|lane| addresses[lane]));
        self.threads = threads;
    }

    fn executed_by(&mut self, slot: u32, threads: &[Me], pc: u32, addresses: impl Iterator<Item = u64>) {
        let (op, fact) = (&self.ops[pc as usize], self.facts[pc as usize]);
        match op.class {
            _ if fact.is_fence => self.clocks[slot as usize].fence(threads, fact.is_wide),
            Class::Load | Class::Store | Class::Atomic | Class::Copy | Class::Surface => {
                let named = if op.class == Class::Copy { MemSpace::Generic } else { op.access.space };
                let bytes = u64::from(op.access.bytes) * u64::from(op.access.count);
                for (me, address) in threads.iter().zip(addresses) {
                    self.access(slot, *me, pc, named, (address, bytes));
                }
            }
            _ => {}
        }
    }

    /// Lanes have moved parts of matrices between registers and memory, or have read texels.
    pub(crate) fn moved(&mut self, who: &Who<'_>, pc: u32, parts: &[Moved]) {
        let op = &self.ops[pc as usize];
        let named = if op.class == Class::Texture { MemSpace::Global } else { op.access.space };
        for part in parts {
            let home = who.lanes.home(part.lane);
            let me = self.clocks[who.slot as usize].me(home.row - who.first_row, home.lane);
            self.access(who.slot, me, pc, named, (part.address, part.bytes.into()));
        }
    }

    /// Threads got what an atomic found in memory: what was told there until then.
    fn answered_by(&mut self, slot: u32, threads: &[Me], pc: u32, addresses: &[u64]) {
        if self.facts[pc as usize].is_strong {
            threads.iter().zip(addresses).for_each(|(me, address)| self.acquire(slot, me, (None, *address)));
        }
    }

    /// A thread accesses bytes at an address of a state space.
    fn access(&mut self, slot: u32, me: Me, pc: u32, named: MemSpace, (address, bytes): (u64, u64)) {
        let (space, at) = match (named, region(address)) {
            (MemSpace::Shared, _) | (MemSpace::Generic, Region::Shared(_)) => {
                (Space::Shared, if let Region::Shared(at) = region(address) { at } else { address })
            }
            (MemSpace::Global, _) | (MemSpace::Generic, Region::Global(_)) => (Space::Global, address),
            _ => return,
        };
        let (class, fact) = (self.ops[pc as usize].class, self.facts[pc as usize]);
        let key = (matches!(space, Space::Shared).then(|| self.clocks[slot as usize].block), at);
        if fact.is_strong && !fact.is_store {
            self.acquire(slot, &me, key);
        }
        let touch = touch(class, fact, space);
        if space == Space::Global && self.checks.init {
            self.note_global(me, pc, touch, (at, bytes));
        }
        let mut word = at / WORD;
        while word * WORD < at + bytes {
            let start = word * WORD;
            let (low, high) = (at.max(start) - start, (at + bytes).min(start + WORD) - start);
            let mask = (1u8 << high) - (1u8 << low);
            self.word(slot, me, pc, touch, space, start, mask);
            word += 1;
        }
        if fact.is_strong && touch.writes() {
            self.release(slot, &me, key, fact);
        }
    }

    /// Bytes of global memory are read, written, or both.
    fn note_global(&mut self, me: Me, pc: u32, touch: Touch, (at, bytes): (u64, u64)) {
        let missing = if touch.reads() { self.init.first_missing(at, bytes) } else { None };
        if let Some(address) = missing {
            self.report(Kind::NeverWritten { space: Space::Global }, address, None, (me, pc));
        }
        if touch.writes() {
            self.init.written(at, bytes);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one access of one word has as many sides")]
    fn word(&mut self, slot: u32, me: Me, pc: u32, touch: Touch, space: Space, address: u64, mask: u8) {
        let clocks = &self.clocks[slot as usize];
        let cell = match space {
            Space::Shared => match self.shared[slot as usize].get_mut((address / WORD) as usize) {
                Some(cell) => cell,
                None => return,
            },
            Space::Global => self.global.cell(address),
        };
        let is_fresh = self.checks_shared_init && space == Space::Shared && touch.reads() && !cell.is_written(mask);
        let clash = cell.visit(&Access { me, clocks, pc, touch, facts: &self.facts }, mask);
        if is_fresh {
            self.report(Kind::NeverWritten { space }, address, None, (me, pc));
        }
        if let Some(clash) = clash.filter(|_| self.checks.races) {
            let later_writes = touch.writes();
            let kind = Kind::Race { space, earlier_writes: clash.earlier_writes, later_writes };
            self.report(kind, address, Some(clash.earlier), (me, pc));
        }
    }

    fn acquire(&mut self, slot: u32, me: &Me, key: (Option<u32>, u64)) {
        let Some(told) = self.told.get(&key) else { return };
        let clocks = &mut self.clocks[slot as usize];
        clocks.acquire(me, &told.grid);
        if let Some(list) = told.blocks.get(&clocks.block) {
            clocks.acquire(me, list);
        }
    }

    fn release(&mut self, slot: u32, me: &Me, key: (Option<u32>, u64), fact: Fact) {
        let clocks = &mut self.clocks[slot as usize];
        if fact.releases {
            clocks.fence(&[*me], fact.is_wide);
        }
        let Some((is_wide, list)) = clocks.release(me) else { return };
        let told = self.told.entry(key).or_default();
        join(if is_wide { &mut told.grid } else { told.blocks.entry(clocks.block).or_default() }, &list);
    }

    /// Lanes come to a barrier, and wait there or do not.
    pub(crate) fn arrive(&mut self, who: &Who<'_>, number: u32, waits: bool) {
        let threads = self.threads(who);
        self.clocks[who.slot as usize].arrive(number, &threads, waits);
        self.threads = threads;
    }

    /// A barrier is complete and these leave it, having come by the operation at `pc`. It is one of the whole block
    /// when all its threads that have not ended have come; `ended` says whether some have.
    pub(crate) fn complete(&mut self, slot: u32, number: u32, is_whole: bool, waiting: &[(Who<'_>, u32)], ended: bool) {
        let mut parts = Vec::new();
        for (who, pc) in waiting {
            parts.push((*pc, self.threads(who)));
        }
        self.opened(slot, (number, is_whole), ended, &parts);
    }

    /// The same for threads of splits, with the operations they came by.
    fn opened(&mut self, slot: u32, (number, is_whole): (u32, bool), ended: bool, parts: &[(u32, Vec<Me>)]) {
        let threads: Vec<Me> = parts.iter().flat_map(|(_, threads)| threads).copied().collect();
        self.clocks[slot as usize].complete(number, is_whole, &threads);
        // The first thread of each split, and the operation it came by.
        let firsts: Vec<(Me, u32)> =
            parts.iter().filter_map(|(pc, threads)| threads.first().map(|me| (*me, *pc))).collect();
        let Some(&(first, pc)) = firsts.first().filter(|_| self.checks.sync) else { return };
        if is_whole && ended {
            self.report(Kind::EndedBeforeBarrier, 0, None, (first, pc));
        }
        for (index, (me, pc)) in firsts.iter().enumerate() {
            let earlier = &firsts[..index];
            let is_other = |(_, other): &&(Me, u32)| other != pc;
            let same_warp = earlier.iter().filter(is_other).find(|(other, _)| other.row == me.row);
            let kind = if same_warp.is_some() { Kind::DivergentBarrier } else { Kind::DifferentBarriers };
            let other = same_warp.or_else(|| earlier.iter().find(is_other).filter(|_| is_whole));
            if let (true, Some((other, at))) = (self.facts[*pc as usize].is_aligned, other) {
                let stamp = Stamp { row: other.row, lanes: other.bit, epoch: 0, pc: *at };
                self.report(kind, 0, Some(stamp), (*me, *pc));
            }
        }
    }

    /// Lanes of a warp have executed a warp-wide operation together.
    pub(crate) fn together(&mut self, who: &Who<'_>, pc: u32) {
        let threads = self.threads(who);
        self.together_by(who.slot, &threads, pc);
        self.threads = threads;
    }

    fn together_by(&mut self, slot: u32, threads: &[Me], pc: u32) {
        if self.facts[pc as usize].is_meeting {
            self.clocks[slot as usize].meet(threads);
        }
    }

    fn thread_id(&self, row: u32, lane: u32) -> ThreadId {
        let (block, row) = (row / self.rows, row % self.rows);
        ThreadId { cta: self.launch.cta_coords(u64::from(block)), thread: self.launch.thread_coords(row * 32 + lane) }
    }

    fn report(&mut self, kind: Kind, address: u64, earlier: Option<Stamp>, (me, pc): (Me, u32)) {
        let key = (kind, earlier.map(|earlier| earlier.pc), pc);
        if let Some(finding) = self.found.get_mut(&key) {
            finding.count += 1;
            return;
        }
        let by = |row: u32, lanes: u32, pc: u32| {
            let Origin { func, inst } = self.origins[pc as usize];
            (self.thread_id(row, lanes.trailing_zeros() & 31), (func, inst))
        };
        let later = by(me.row, me.bit, pc);
        let earlier = earlier.map(|earlier| by(earlier.row, earlier.lanes, earlier.pc));
        self.found.insert(key, Finding { kind, address, allocation: None, earlier, later, count: 1 });
    }
}
