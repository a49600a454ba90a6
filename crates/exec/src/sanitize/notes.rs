//! Notes of what threads did, for a [`Sanitizer`] that gets them later: SMs run independently, and exchange what they
//! did at the edges of windows.

use super::Sanitizer;
use super::clock::Me;
use crate::core::{Core, Lanes, lanes_in};
use crate::lanes::{LANES, ROW_THREADS};
use raddle_ptx::num::fit;

/// Something that threads of one block did. Operations are named by when they were executed and where they are.
#[derive(Debug)]
pub struct Note {
    /// When, in cycles.
    pub at: u64,
    slot: u32,
    pc: u32,
    threads: Vec<ThreadNumber>,
    what: What,
}

/// The number of a thread in its block.
type ThreadNumber = u16;

/// Threads that came to a barrier by the same operation, as splits of one warp.
type Part = (u32, Vec<ThreadNumber>);

#[derive(Debug)]
enum What {
    /// Their block became resident.
    Started { block: u64, shared_bytes: usize },
    /// They executed an operation on memory, or a fence.
    Executed(Vec<u64>),
    /// They got what an atomic found in memory.
    Answered(Vec<u64>),
    /// They came to a barrier.
    Arrived { number: u32, waits: bool },
    /// A barrier opened.
    Opened { number: u32, is_whole: bool, ended: bool, waiting: Vec<Part> },
    /// They executed a warp-wide operation together.
    Together,
}

/// What threads of an SM did, in the order in which they did it.
#[derive(Debug, Default)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Moves all notes to the end of a list.
    pub fn hand_over(&mut self, to: &mut Vec<Note>) {
        to.append(&mut self.0);
    }

    /// A block became resident.
    pub fn started(&mut self, core: &Core<'_>, at: u64, slot: u32, block: u64) {
        let shared_bytes = core.ctas[slot as usize].shared.len();
        self.0.push(Note { at, slot, pc: 0, threads: Vec::new(), what: What::Started { block, shared_bytes } });
    }

    /// Lanes executed an operation on memory, or a fence, which has no addresses.
    pub fn executed(&mut self, core: &Core<'_>, when: (u64, u32), who: (Lanes<'_>, u32), addresses: &[u64; LANES]) {
        self.accessed(core, when, who, addresses, What::Executed);
    }

    /// Lanes got what an atomic found at these addresses.
    pub fn answered(&mut self, core: &Core<'_>, when: (u64, u32), who: (Lanes<'_>, u32), addresses: &[u64; LANES]) {
        self.accessed(core, when, who, addresses, What::Answered);
    }

    fn accessed(
        &mut self,
        core: &Core<'_>,
        (at, pc): (u64, u32),
        (lanes, mask): (Lanes<'_>, u32),
        addresses: &[u64; LANES],
        what: fn(Vec<u64>) -> What,
    ) {
        each_block(core, lanes, mask, |slot, own| {
            let what = what(lanes_in(own).map(|lane| addresses[lane]).collect());
            self.0.push(Note { at, slot, pc, threads: threads(core, slot, lanes, own), what });
        });
    }

    /// Lanes executed a warp-wide operation together.
    pub fn together(&mut self, core: &Core<'_>, (at, pc): (u64, u32), (lanes, mask): (Lanes<'_>, u32)) {
        each_block(core, lanes, mask, |slot, own| {
            self.0.push(Note { at, slot, pc, threads: threads(core, slot, lanes, own), what: What::Together });
        });
    }

    /// Lanes of the block in `slot` came to a barrier, and wait there or do not.
    pub fn arrived(
        &mut self,
        core: &Core<'_>,
        at: u64,
        slot: u32,
        (lanes, mask): (Lanes<'_>, u32),
        (number, waits): (u32, bool),
    ) {
        let threads = threads(core, slot, lanes, mask);
        self.0.push(Note { at, slot, pc: 0, threads, what: What::Arrived { number, waits } });
    }

    /// A barrier of the block in `slot` opened for those who waited at it; `is_whole`: it waited for all threads of the
    /// block.
    pub fn opened(&mut self, core: &Core<'_>, at: u64, slot: u32, (number, is_whole): (u32, bool), waiting: Vec<Part>) {
        let ended = core.live_threads(slot) < core.threads_per_cta();
        let what = What::Opened { number, is_whole, ended, waiting };
        self.0.push(Note { at, slot, pc: 0, threads: Vec::new(), what });
    }
}

/// The numbers of the threads of the block in `slot` that are in these lanes.
#[must_use]
pub fn threads(core: &Core<'_>, slot: u32, lanes: Lanes<'_>, mask: u32) -> Vec<ThreadNumber> {
    let first = core.cta_rows(slot).0;
    let number = |lane| {
        let home = lanes.home(lane);
        fit((home.row - first) * ROW_THREADS + u32::from(home.lane))
    };
    lanes_in(mask).map(number).collect()
}

/// Calls `note` with each block that has threads in these lanes, and their lanes.
fn each_block(core: &Core<'_>, lanes: Lanes<'_>, mask: u32, mut note: impl FnMut(u32, u32)) {
    let mut left = mask;
    while left != 0 {
        let slot = core.slot_of(lanes, left);
        let own =
            lanes_in(left).filter(|lane| core.slot_of(lanes, 1 << lane) == slot).fold(0, |own, lane| own | 1 << lane);
        left &= !own;
        note(slot, own);
    }
}

impl Sanitizer<'_> {
    /// Hears of what threads of an SM did.
    pub fn hear(&mut self, sm: u16, note: &Note) {
        let count = fit(self.slots.len());
        let slot = *self.slots.entry((sm, note.slot)).or_insert(count);
        if let What::Started { block, shared_bytes } = note.what {
            self.start(slot, block, shared_bytes);
            return;
        }
        let threads = self.numbered(slot, &note.threads);
        match &note.what {
            What::Started { .. } => {}
            What::Executed(addresses) => self.executed_by(slot, &threads, note.pc, addresses.iter().copied()),
            What::Answered(addresses) => self.answered_by(slot, &threads, note.pc, addresses),
            What::Arrived { number, waits } => self.clocks[slot as usize].arrive(*number, &threads, *waits),
            What::Together => self.together_by(slot, &threads, note.pc),
            What::Opened { number, is_whole, ended, waiting } => {
                let parts: Vec<(u32, Vec<Me>)> =
                    waiting.iter().map(|(pc, threads)| (*pc, self.numbered(slot, threads))).collect();
                self.opened(slot, (*number, *is_whole), *ended, &parts);
            }
        }
    }

    fn numbered(&self, slot: u32, threads: &[ThreadNumber]) -> Vec<Me> {
        let clocks = &self.clocks[slot as usize];
        let me = |thread: &ThreadNumber| {
            let number = u32::from(*thread);
            clocks.me(number / ROW_THREADS, fit(number % ROW_THREADS))
        };
        threads.iter().map(me).collect()
    }
}
