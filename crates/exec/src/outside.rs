//! Reads outside of memory, where a launch is told to report them and continue.

use crate::fault::{Fault, FaultKind, ThreadId};
use raddle_ptx::ir::{FuncId, InstId};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// An instruction that read outside of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideRead {
    /// The first such read of the first thread that made one, as it would have ended the launch.
    pub first: Fault,
    /// Reads, counted per thread.
    pub count: u64,
}

/// Collects such reads. Which thread is first does not depend on the order in which they come: blocks and threads are
/// numbered with x fastest, and a thread's own reads come in its order.
#[derive(Debug, Default)]
pub struct OutsideReads(Mutex<BTreeMap<(FuncId, InstId), OutsideRead>>);

/// Blocks and threads in the order of their numbers.
fn number(thread: &ThreadId) -> [[u32; 3]; 2] {
    [thread.cta, thread.thread].map(|[x, y, z]| [z, y, x])
}

impl OutsideReads {
    /// Adds one; `text` says what a fault would say.
    pub(crate) fn add(&self, thread: ThreadId, at: (FuncId, InstId), text: impl FnOnce() -> String) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = |text: String| Fault {
            kind: FaultKind::Memory(text),
            thread: Some(thread),
            at: Some(at),
            output: String::new(),
        };
        match list.get_mut(&at) {
            None => drop(list.insert(at, OutsideRead { first: first(text()), count: 1 })),
            Some(read) => {
                read.count += 1;
                if read.first.thread.is_some_and(|other| number(&thread) < number(&other)) {
                    read.first = first(text());
                }
            }
        }
    }

    /// All of them, in the order of the module's text.
    #[must_use]
    pub fn list(&self) -> Vec<OutsideRead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thread_is_kept_whatever_the_order() {
        let thread = |cta: [u32; 3], x: u32| ThreadId { cta, thread: [x, 0, 0] };
        let threads = [thread([0, 1, 0], 0), thread([3, 0, 0], 7), thread([3, 0, 0], 2), thread([3, 0, 0], 9)];
        for turn in 0..threads.len() {
            let reads = OutsideReads::default();
            for n in 0..threads.len() {
                let at = (n + turn) % threads.len();
                reads.add(threads[at], (FuncId(0), InstId(5)), || at.to_string());
                reads.add(threads[at], (FuncId(0), InstId(5)), || "later".to_owned());
            }
            let list = reads.list();
            assert_eq!((list.len(), list[0].count), (1, 8));
            assert_eq!((list[0].first.thread, &list[0].first.kind), (Some(threads[2]), &FaultKind::Memory("2".into())));
        }
    }
}
