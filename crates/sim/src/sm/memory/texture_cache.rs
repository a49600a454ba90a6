//! The texture cache of an SM: it answers in order, and hides the time memory takes behind a long queue.
//!
//! ```text
//!  fetch ─► tags ─┬────────────────► fragments (in order) ─► results ─► write-back
//!                 └─► requests ─► memory ─► reorder buffer ──┘
//! ```
//! A fetch finds its line among the tags or requests it; either way it then waits in the queue of fragments until it is
//! the first and its line has come. The tags are those of the time when the fetch is done, so a line counts as present
//! from the moment it is requested: the next fetch of it is after the one that requested it. So a hit can wait for an
//! earlier miss of another warp.
//!
//! There are no data in it: values come from the functional memory.

use super::cache::{Answer, CacheCounters};
use crate::config::{SetIndex, TextureCacheConfig};
use crate::mem::cache::{Probe, TagArray, set_of};
use crate::packet::{Cycle, NO_ORIGIN, Purpose, Request, Token};
use crate::saved;
use std::collections::VecDeque;

/// Every line has one sector: all of it is requested.
const WHOLE: u8 = 1;

/// A fetch that is not done.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Fragment {
    /// Who waits.
    waiter: Token,
    /// Its place in the reorder buffer, if it requested its line.
    line: Option<u32>,
}

/// The texture cache.
pub struct TextureCache {
    config: TextureCacheConfig,
    sectors: u32,
    sm: u16,
    tags: TagArray,
    fragments: VecDeque<Fragment>,
    /// The reorder buffer: sectors of each line that are still to come.
    left: Vec<u32>,
    /// Free places of it.
    free: Vec<u32>,
    /// Requests waiting for the interconnect.
    pub queue: VecDeque<Request>,
    /// Fetches that are done, in order.
    results: VecDeque<Token>,
    /// Grows with every change that could turn a refusal into something else.
    version: u64,
    /// Counters. An outstanding line counts as there.
    pub counters: CacheCounters,
}

saved!(TextureCache {
    values: fragments, left, free, queue, results, version;
    parts: tags, counters;
    fixed: config, sectors, sm;
});

impl TextureCache {
    /// An empty cache of SM number `sm`; replies come in sectors of `sector` bytes.
    #[must_use]
    pub fn new(config: &TextureCacheConfig, sm: u16, sector: u32) -> Self {
        let TextureCacheConfig { sets, line, ways, fragments, requests, reorder, results } = *config;
        Self {
            config: config.clone(),
            sectors: line.div_ceil(sector),
            sm,
            tags: TagArray::new(sets, ways, line, line),
            fragments: VecDeque::with_capacity(fragments as usize),
            left: vec![0; reorder as usize],
            free: (0..reorder).rev().collect(),
            queue: VecDeque::with_capacity(requests as usize),
            results: VecDeque::with_capacity(results as usize),
            version: 0,
            counters: CacheCounters::default(),
        }
    }

    /// Grows with every change that could turn a refusal into something else.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A launch begins: lines stay, and nobody waits any more.
    pub fn start_launch(&mut self) {
        self.counters = CacheCounters::default();
        self.queue.clear();
        self.fragments.clear();
        self.results.clear();
        self.free = (0..self.config.reorder).rev().collect();
    }

    /// Fetches. `waiter` is handed back by [`Self::next_ready`], unless the answer is a refusal.
    pub fn read(&mut self, address: u64, waiter: Token, now: Cycle) -> Answer {
        let TextureCacheConfig { sets, line: bytes, fragments, requests, .. } = self.config;
        let full =
            self.fragments.len() >= fragments as usize || self.queue.len() >= requests as usize || self.free.is_empty();
        if full {
            self.counters.reservation_fails += 1;
            return Answer::Fail;
        }
        self.counters.accesses += 1;
        let address = address & !u64::from(bytes - 1);
        match self.tags.probe(set_of(SetIndex::Linear, sets, bytes, address), address, WHOLE, false) {
            Probe::Hit(number) => {
                self.counters.hits += 1;
                self.tags.touch(number, now);
                self.fragments.push_back(Fragment { waiter, line: None });
                Answer::Pending
            }
            Probe::Miss(number) => {
                self.counters.misses += 1;
                self.tags.replace(number, address, now);
                self.tags.reserve(number, WHOLE, now);
                self.tags.fill(number, WHOLE);
                let line = self.free.pop();
                let token = Token(line.unwrap_or_default());
                self.left[token.0 as usize] = self.sectors;
                self.fragments.push_back(Fragment { waiter, line });
                self.queue.push_back(Request {
                    sm: self.sm,
                    token,
                    purpose: Purpose::Texture,
                    address,
                    bytes,
                    posted: false,
                    byte_mask: u128::MAX,
                    atomic: None,
                    origin: NO_ORIGIN,
                });
                Answer::Miss
            }
            other => unreachable!("no line of the tags is ever outstanding, but it found {other:?}"),
        }
    }

    /// The request it has just made is of an operation.
    pub(super) fn name_origin(&mut self, origin: u32) {
        self.queue.iter_mut().rev().take_while(|r| r.origin == NO_ORIGIN).for_each(|r| r.origin = origin);
    }

    /// Takes the next request for the interconnect.
    pub fn pop_request(&mut self) -> Option<Request> {
        self.version += 1;
        self.queue.pop_front()
    }

    /// A sector that is not the last of its line is outstanding and counts as come: nobody can tell. False when it is
    /// the last.
    pub fn absorb(&mut self, token: Token) -> bool {
        let left = &mut self.left[token.0 as usize];
        let more = *left > 1;
        *left -= u32::from(more);
        more
    }

    /// The last sector of a line has come.
    pub fn fill(&mut self, token: Token) {
        self.left[token.0 as usize] = 0;
    }

    /// Whether the first fragment can continue.
    #[inline]
    fn can_step(&self) -> bool {
        self.results.len() < self.config.results as usize
            && self.fragments.front().is_some_and(|f| f.line.is_none_or(|line| self.left[line as usize] == 0))
    }

    /// One cycle: the first fragment continues if it has what it waits for.
    #[inline]
    pub fn step(&mut self) {
        if self.can_step()
            && let Some(Fragment { waiter, line }) = self.fragments.pop_front()
        {
            self.version += 1;
            self.free.extend(line);
            self.results.push_back(waiter);
        }
    }

    /// Whether nothing in it moves on its own.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.queue.is_empty() && !self.has_ready()
    }

    /// Whether some fetch is done, or the next moves.
    #[inline]
    #[must_use]
    pub fn has_ready(&self) -> bool {
        !self.results.is_empty() || self.can_step()
    }

    /// Whether some fetch is done.
    #[inline]
    #[must_use]
    pub fn has_results(&self) -> bool {
        !self.results.is_empty()
    }

    /// Takes a fetch that is done.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Token> {
        self.results.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(fragments: u32) -> TextureCache {
        let (requests, reorder, results) = (8, 8, 2);
        let config = TextureCacheConfig { sets: 2, line: 128, ways: 2, fragments, requests, reorder, results };
        TextureCache::new(&config, 0, 32)
    }

    /// The token of the next request.
    fn sent(cache: &mut TextureCache) -> Token {
        cache.pop_request().unwrap().token
    }

    #[test]
    fn a_hit_waits_for_the_miss_before_it() {
        let mut c = cache(8);
        assert_eq!(c.read(0, Token(1), 1), Answer::Miss);
        let first = sent(&mut c);
        (0..3).for_each(|_| assert!(c.absorb(first)));
        assert!(!c.absorb(first));
        c.fill(first);
        c.step();
        assert_eq!((c.next_ready(), c.is_quiet()), (Some(Token(1)), true));
        assert_eq!([c.read(0x80, Token(2), 2), c.read(0x10, Token(3), 3)], [Answer::Miss, Answer::Pending]);
        c.step();
        assert_eq!((c.next_ready(), c.has_ready()), (None, false), "line 0 is there, but its fetch is behind another");
        let second = sent(&mut c);
        c.fill(second);
        c.step();
        c.step();
        assert_eq!([c.next_ready(), c.next_ready()], [Some(Token(2)), Some(Token(3))]);
    }

    #[test]
    fn lines_that_come_out_of_order_leave_in_order() {
        let mut c = cache(8);
        [0, 0x80, 0x100]
            .iter()
            .zip(1..)
            .for_each(|(address, n)| assert_eq!(c.read(*address, Token(n), 1), Answer::Miss));
        let tokens: Vec<Token> = (0..3).map(|_| sent(&mut c)).collect();
        c.fill(tokens[2]);
        c.fill(tokens[1]);
        assert!(!c.has_ready());
        c.fill(tokens[0]);
        (0..3).for_each(|_| c.step());
        assert_eq!(
            [c.next_ready(), c.next_ready(), c.next_ready()],
            [Some(Token(1)), Some(Token(2)), None],
            "two results at most"
        );
        c.step();
        assert_eq!(c.next_ready(), Some(Token(3)));
    }

    /// Ten accesses to two sets of two ways, by hand. Lines of even numbers are in set 0.
    #[test]
    fn least_recently_used_goes_and_a_line_counts_from_when_it_is_sent_for() {
        let mut c = cache(16);
        let trace = [
            (0, Answer::Miss),
            (0, Answer::Pending), // outstanding, counts as there
            (2, Answer::Miss),
            (0, Answer::Pending), // now 2 is the older one
            (4, Answer::Miss),    // in place of 2
            (0, Answer::Pending),
            (2, Answer::Miss), // asked for a second time, in place of 4
            (1, Answer::Miss), // the other set
            (4, Answer::Miss), // in place of 0
            (2, Answer::Pending),
        ];
        for (now, (line, answer)) in trace.iter().enumerate() {
            assert_eq!(c.read(line * 128, Token(0), now as u64), *answer, "access {now}");
        }
        let CacheCounters { accesses, hits, misses, .. } = c.counters;
        assert_eq!([accesses, hits, misses], [10, 4, 6]);
    }

    #[test]
    fn a_full_queue_refuses_hits_too() {
        let mut c = cache(1);
        assert_eq!([c.read(0, Token(1), 1), c.read(0, Token(2), 2)], [Answer::Miss, Answer::Fail]);
        assert_eq!((c.counters.accesses, c.counters.reservation_fails), (1, 1));
        let version = c.version();
        let token = sent(&mut c);
        c.fill(token);
        c.step();
        assert!(c.version() > version);
        assert_eq!(c.read(0, Token(2), 3), Answer::Pending);
    }

    #[test]
    fn a_launch_finds_the_lines_of_the_one_before() {
        let mut c = cache(4);
        assert_eq!(c.read(0, Token(1), 1), Answer::Miss);
        c.start_launch();
        assert!(c.is_quiet() && c.counters == CacheCounters::default());
        assert_eq!(c.read(0, Token(1), 2), Answer::Pending);
        c.step();
        assert_eq!(c.next_ready(), Some(Token(1)));
    }
}
