//! What every warp could do next, or why it cannot, as sets.

use super::super::build::Build;
use crate::kernel::UnitKind;
use crate::saved;
use crate::seam::{MAX_WARPS, Place, WarpId, WarpSet};
use raddle_ptx::num::fit;
use std::marker::PhantomData;

/// Schedulers of an SM at most, in all its slices.
pub const MAX_SCHEDULERS: usize = 64;

/// Room for every place, a power of two.
const PLACES: usize = 32;

/// Words of a set of all warps there can be.
const WORDS: usize = MAX_WARPS / 64;

/// Warps by place: each is in exactly one.
pub struct Sets<B> {
    build: PhantomData<B>,
    places: Vec<Place>,
    /// For 64 warps after another, those at each place.
    words: [[u64; PLACES]; WORDS],
    used: usize,
    /// Wants instructions.
    pub wanting: WarpSet,
    /// Schedulers of which a warp has moved since they last looked, as bits.
    moved: u64,
    /// The scheduler of each warp.
    schedulers: Vec<u8>,
    /// How many warps of each scheduler are at each place; not counted in plain builds, which look at the words.
    counts: Vec<[u16; PLACES]>,
    /// The slots of each scheduler, in plain builds.
    of_scheduler: Vec<u64>,
    /// How often a warp has moved; not counted in plain builds.
    moves: u64,
}

saved!(impl[B] Sets<B> {
    values: places, wanting, counts, moves, moved;
    parts: words;
    fixed: build, used, schedulers, of_scheduler
});

/// The warps at a place.
#[derive(Clone, Copy)]
pub struct At<'a> {
    words: &'a [[u64; PLACES]; WORDS],
    used: usize,
    place: Place,
}

impl At<'_> {
    /// Word number `n`.
    #[inline]
    #[must_use]
    pub fn word(self, n: usize) -> u64 {
        self.words[n % WORDS][self.place as usize]
    }

    /// The warps, lowest first.
    pub fn iter(self) -> impl Iterator<Item = WarpId> {
        (0..self.used).flat_map(move |n| WarpId::in_word(self.word(n), fit(n * 64)))
    }
}

impl<B: Build> Sets<B> {
    /// All warps free; warp `w` is of scheduler `w` modulo their number.
    #[must_use]
    pub fn new(slots: usize, schedulers: usize) -> Self {
        let wanting = WarpSet::new(slots);
        let mut counts = vec![[0; PLACES]; schedulers];
        let mut of_scheduler = vec![0; schedulers];
        for warp in 0..slots {
            counts[warp % schedulers][Place::Free as usize] += 1;
            of_scheduler[warp % schedulers] |= if warp < 64 { 1 << warp } else { 0 };
        }
        Self {
            build: PhantomData,
            places: vec![Place::Free; slots],
            words: [[0; PLACES]; WORDS],
            used: wanting.word_count(),
            wanting,
            moved: 0,
            schedulers: (0..slots).map(|warp| fit(warp % schedulers)).collect(),
            counts,
            of_scheduler,
            moves: 0,
        }
    }

    /// Words of a set.
    #[inline]
    #[must_use]
    pub fn word_count(&self) -> usize {
        if B::PLAIN { 1 } else { self.used }
    }

    /// Where every warp is.
    #[inline]
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Where a warp is.
    #[inline]
    #[must_use]
    pub fn place(&self, warp: WarpId) -> Place {
        self.places[warp.index()]
    }

    /// The warps at a place.
    #[inline]
    #[must_use]
    pub fn at(&self, place: Place) -> At<'_> {
        At { words: &self.words, used: self.word_count(), place }
    }

    /// The warps that can issue to a unit.
    #[inline]
    #[must_use]
    pub fn ready(&self, unit: UnitKind) -> At<'_> {
        self.at(Place::ready(unit))
    }

    /// The first warp from this one on that the end of an instruction may move.
    #[must_use]
    pub fn next_waiting_for_results(&self, from: usize) -> Option<WarpId> {
        let mut ahead = u64::MAX << (from % 64);
        for n in from / 64..self.word_count() {
            let waiting =
                Place::WAITS_FOR_RESULTS.into_iter().fold(0, |all, place| all | self.at(place).word(n)) & ahead;
            if waiting != 0 {
                return Some(WarpId::at(n * 64 + waiting.trailing_zeros() as usize));
            }
            ahead = u64::MAX;
        }
        None
    }

    /// The lowest warp at a place.
    #[inline]
    #[must_use]
    pub fn first(&self, place: Place) -> Option<WarpId> {
        let at = self.at(place);
        let n = (0..self.word_count()).find(|n| at.word(*n) != 0)?;
        Some(WarpId::at(n * 64 + at.word(n).trailing_zeros() as usize))
    }

    /// Whether nobody is at a place.
    #[inline]
    #[must_use]
    pub fn is_empty(&self, place: Place) -> bool {
        let at = self.at(place);
        (0..self.word_count()).all(|n| at.word(n) == 0)
    }

    /// Whether some warps of a set are at a place.
    #[inline]
    #[must_use]
    pub fn meets(&self, place: Place, warps: &WarpSet) -> bool {
        let at = self.at(place);
        (0..self.word_count()).any(|n| at.word(n) & warps.word(n) != 0)
    }

    /// Whether a warp of a scheduler is at a place; asked of warps in use only.
    #[inline]
    #[must_use]
    pub fn has(&self, scheduler: usize, place: Place) -> bool {
        match B::PLAIN {
            true => self.words[0][place as usize] & self.of_scheduler[scheduler] != 0,
            false => self.counts[scheduler][place as usize] > 0,
        }
    }

    /// The schedulers of which a warp has moved since they last looked, as bits.
    #[inline]
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// A scheduler has looked where its warps are.
    #[inline]
    pub fn looked(&mut self, scheduler: usize) {
        self.moved &= !(1 << scheduler);
    }

    /// How often any warp has moved; not counted in plain builds.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// A warp is at another operation, if not at another place: profiles ask what its scheduler waits for.
    #[inline]
    pub fn mark(&mut self, warp: WarpId) {
        if B::PROFILED {
            self.moved |= 1 << (self.schedulers[warp.index()] % 64);
        }
    }

    /// Something else about the warps of all schedulers has changed.
    pub fn touch(&mut self) {
        self.moved = u64::MAX;
        self.moves += 1;
    }

    /// Moves a warp.
    #[inline]
    pub fn put(&mut self, warp: WarpId, place: Place) {
        let old = std::mem::replace(&mut self.places[warp.index()], place);
        if old != place {
            let (n, bit) = (if B::PLAIN { 0 } else { warp.index() / 64 }, 1 << (warp.0 % 64));
            let word = &mut self.words[n % WORDS];
            word[old as usize] &= !bit;
            word[place as usize] |= bit;
            let scheduler = self.schedulers[warp.index()];
            self.moved |= 1 << (scheduler % 64);
            if !B::PLAIN {
                let counts = &mut self.counts[usize::from(scheduler)];
                counts[old as usize] -= 1;
                counts[place as usize] += 1;
                self.moves += 1;
            }
        }
    }
}
