//! Findings that are printed once, however many launches have them.

use raddle_runtime::PtxFile;
use std::collections::BTreeSet;

/// Findings that are printed at most.
const MOST: usize = 50;

/// Which findings there were, each by what tells it from others of the same text.
pub struct Once<K>(BTreeSet<(usize, K)>);

impl<K> Default for Once<K> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<K: Ord> Once<K> {
    /// What is printed of a finding in `file`: its text if it is new, and `more` instead when there are too many.
    pub fn say(&mut self, file: &PtxFile, key: K, more: &str, text: impl FnOnce() -> String) -> Option<String> {
        // Texts stay where they are for as long as the program runs.
        let is_new = self.0.insert((std::ptr::from_ref(file).addr(), key));
        match self.0.len() {
            _ if !is_new => None,
            ..=MOST => Some(text()),
            n if n == MOST + 1 => Some(more.to_owned()),
            _ => None,
        }
    }

    /// How many different ones there were.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
