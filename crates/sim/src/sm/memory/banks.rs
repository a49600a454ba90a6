//! The look-up queues of the data cache, one for each of its banks.

use super::super::build::Build;
use super::outgoing::Lookup;
use crate::config::SmConfig;
use crate::mem::ring::Ring;
use crate::packet::Cycle;
use crate::saved;

/// A bank of the data cache.
pub(super) struct Bank {
    pub(super) lookups: Ring<Lookup>,
    /// The data cache refused the first look-up when it was at this version.
    pub(super) refused: Option<u64>,
}

saved!(Bank { values: lookups, refused });

impl Bank {
    fn new(config: &SmConfig) -> Self {
        Self { lookups: Ring::new(config.l1d.latency.max(1)), refused: None }
    }

    /// Whether a request has reached the tags.
    #[inline]
    pub(super) fn has_lookup(&self, now: Cycle) -> bool {
        self.lookups.front().is_some_and(|lookup| lookup.at <= now)
    }

    /// When the first look-up reaches the tags, unless it is known to be refused at this version.
    #[inline]
    fn next_lookup(&self, version: u64) -> Option<Cycle> {
        self.lookups.front().map(|lookup| lookup.at).filter(|_| self.refused != Some(version))
    }
}

/// All banks: a power of two. Plain machines have one.
pub(super) struct Banks {
    first: Bank,
    others: Vec<Bank>,
}

saved!(Banks { parts: first, others });

impl Banks {
    pub(super) fn new(config: &SmConfig) -> Self {
        Self { first: Bank::new(config), others: (1..config.data.banks).map(|_| Bank::new(config)).collect() }
    }

    /// How many there are.
    #[inline]
    pub(super) fn count<B: Build>(&self) -> usize {
        if B::PLAIN { 1 } else { self.others.len() + 1 }
    }

    /// One of them.
    #[inline]
    pub(super) fn at<B: Build>(&self, bank: usize) -> &Bank {
        if B::PLAIN || bank == 0 { &self.first } else { &self.others[bank - 1] }
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn at_mut<B: Build>(&mut self, bank: usize) -> &mut Bank {
        if B::PLAIN || bank == 0 { &mut self.first } else { &mut self.others[bank - 1] }
    }

    /// Whether no request is in them.
    #[inline]
    pub(super) fn are_empty<B: Build>(&self) -> bool {
        self.first.lookups.is_empty() && (B::PLAIN || self.others.iter().all(|bank| bank.lookups.is_empty()))
    }

    /// Whether a request has reached the tags.
    #[inline]
    pub(super) fn have_lookup<B: Build>(&self, now: Cycle) -> bool {
        self.first.has_lookup(now) || !B::PLAIN && self.others.iter().any(|bank| bank.has_lookup(now))
    }

    /// When the first look-up reaches the tags, unless it is known to be refused at this version.
    #[inline]
    pub(super) fn next_lookup<B: Build>(&self, version: u64) -> Option<Cycle> {
        let first = self.first.next_lookup(version);
        if B::PLAIN {
            return first;
        }
        self.others.iter().filter_map(|bank| bank.next_lookup(version)).chain(first).min()
    }
}
