//! What an SM keeps from launch to launch: lines of instructions, constants and textures, and whose turn it is.
//!
//! The data cache is not among it: a launch finds it empty.

use super::memory::cache::Cache;
use super::memory::texture_cache::TextureCache;
use crate::config::MachineConfig;
use crate::packet::Cycle;

/// What an SM keeps.
pub struct Kept {
    /// Instructions.
    pub l1i: Cache,
    /// Constants and parameters.
    pub l1c: Cache,
    /// Textures.
    pub l1t: TextureCache,
    /// Whose turn it is to issue first.
    pub turns: Turns,
}

impl Kept {
    /// What SM number `sm` has before its first launch: empty caches.
    #[must_use]
    pub fn new(config: &MachineConfig, sm: u16) -> Self {
        let cache = |own| Cache::new(own, sm, config.l2.sector);
        let l1t = TextureCache::new(&config.sm.l1t, sm, config.l2.sector);
        Self { l1i: cache(&config.sm.l1i), l1c: cache(&config.sm.l1c), l1t, turns: Turns::default() }
    }

    /// A launch begins.
    pub fn start_launch(&mut self) {
        [&mut self.l1i, &mut self.l1c].into_iter().for_each(Cache::start_launch);
        self.l1t.start_launch();
    }
}

/// Cycles in which an SM had a block: schedulers take turns in these.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Turns {
    /// Cycles before it got its first block last.
    before: u64,
    /// The first cycle since.
    since: Cycle,
}

impl Turns {
    /// Cycles with a block before this one.
    #[inline]
    #[must_use]
    pub fn at(&self, now: Cycle) -> u64 {
        self.before + now.saturating_sub(self.since)
    }

    /// An SM without a block has one from this cycle on.
    pub fn begin(&mut self, from: Cycle) {
        self.since = from;
    }

    /// It has none from this cycle on.
    pub fn end(&mut self, from: Cycle) {
        self.before = self.at(from);
        self.since = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cycles_with_a_block_count() {
        let mut turns = Turns::default();
        turns.begin(1);
        assert_eq!([turns.at(1), turns.at(2), turns.at(9)], [0, 1, 8]);
        turns.end(10);
        turns.begin(100);
        assert_eq!([turns.at(100), turns.at(101)], [9, 10]);
    }
}
