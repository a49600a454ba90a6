//! What the host does: a hash of its actions, and what it read of device memory.

use raddle_sim::saved::{self, Pass};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something the host read.
#[derive(Clone)]
struct Read {
    /// The allocation or the address.
    from: u64,
    bytes: Arc<[u8]>,
}

/// The same in a file.
#[derive(Serialize, Deserialize)]
enum Saved {
    New(u64, Arc<[u8]>),
    /// What the read of this number read.
    Again(u64, usize),
}

/// What the host does.
#[derive(Default)]
pub(crate) struct Host {
    actions: blake3::Hasher,
    reads: RefCell<Vec<Read>>,
    /// What it read in the run that goes on here.
    known: Vec<Read>,
    /// How many of them it has read again.
    repeated: Cell<usize>,
    /// It did not read the same.
    is_lost: Cell<bool>,
}

impl Host {
    /// The host changes something.
    pub(crate) fn act(&mut self, what: &str, numbers: &[u64], bytes: &[u8]) {
        self.actions.update(what.as_bytes());
        for number in numbers.iter().copied().chain([bytes.len() as u64]) {
            self.actions.update(&number.to_le_bytes());
        }
        self.actions.update(bytes);
    }

    /// The hash of all actions so far.
    pub(super) fn hash(&self) -> [u8; 32] {
        *self.actions.finalize().as_bytes()
    }

    /// The host reads: what it read before, while it does again what it did, else what is there `now`.
    pub(crate) fn read<'a>(&'a self, from: u64, now: &'a [u8]) -> &'a [u8] {
        let number = self.repeated.get();
        if let Some(read) = self.known.get(number) {
            self.repeated.set(number + 1);
            if (read.from, read.bytes.len()) == (from, now.len()) {
                return &read.bytes;
            }
            self.is_lost.set(true);
            return now;
        }
        let mut reads = self.reads.borrow_mut();
        let before = reads.iter().rfind(|read| read.from == from).filter(|read| *read.bytes == *now);
        let bytes = before.map_or_else(|| now.into(), |read| Arc::clone(&read.bytes));
        reads.push(Read { from, bytes });
        now
    }

    /// Whether it has read what it read before, and nothing else.
    pub(super) fn has_repeated_all(&self) -> bool {
        self.repeated.get() == self.known.len() && !self.is_lost.get()
    }

    /// Writes what it read, or reads that back to be repeated.
    pub(super) fn visit_reads(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        let reads = self.reads.get_mut();
        let mut numbers: BTreeMap<*const u8, usize> = BTreeMap::new();
        let mut list: Vec<Saved> = Vec::new();
        for (number, read) in reads.iter().enumerate() {
            let first = *numbers.entry(read.bytes.as_ptr()).or_insert(number);
            list.push(match first == number {
                true => Saved::New(read.from, Arc::clone(&read.bytes)),
                false => Saved::Again(read.from, first),
            });
        }
        pass.value(&mut list)?;
        if pass.is_reading() {
            reads.clear();
            for saved in list {
                let read = match saved {
                    Saved::New(from, bytes) => Some(Read { from, bytes }),
                    Saved::Again(from, first) => {
                        reads.get(first).map(|read| Read { from, bytes: Arc::clone(&read.bytes) })
                    }
                };
                reads.push(read.ok_or(saved::Error::Damaged("a read is not there"))?);
            }
            self.known.clone_from(reads);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_repeated_and_then_go_on() {
        let mut host = Host::default();
        for bytes in [&[1, 2, 3][..], &[1, 2, 3], &[4]] {
            assert_eq!(host.read(7, bytes), bytes);
        }
        let mut file = Vec::new();
        host.visit_reads(&mut Pass::writing(&mut file)).unwrap();
        assert_eq!(file.len(), 1 + 6 + 3 + 4, "what is the same is there once");
        let mut other = Host::default();
        other.visit_reads(&mut Pass::reading(&file)).unwrap();
        assert_eq!(other.read(7, &[0; 3]), [1, 2, 3]);
        assert_eq!(other.read(7, &[0; 3]), [1, 2, 3]);
        assert!(!other.has_repeated_all());
        assert_eq!(other.read(7, &[0]), [4]);
        assert!(other.has_repeated_all());
        assert_eq!(other.read(8, &[5]), [5]);
        let mut again = Vec::new();
        other.visit_reads(&mut Pass::writing(&mut again)).unwrap();
        assert_eq!(again.len(), file.len() + 4);
    }

    #[test]
    fn a_host_that_reads_something_else_is_found() {
        let mut host = Host::default();
        let _ = host.read(7, &[1]);
        let mut file = Vec::new();
        host.visit_reads(&mut Pass::writing(&mut file)).unwrap();
        let mut other = Host::default();
        other.visit_reads(&mut Pass::reading(&file)).unwrap();
        let _ = other.read(6, &[1]);
        assert!(!other.has_repeated_all());
    }

    #[test]
    fn actions_have_an_order() {
        let mut hosts = [Host::default(), Host::default()];
        hosts[0].act("a", &[1], b"x");
        hosts[0].act("b", &[], b"");
        hosts[1].act("b", &[], b"");
        hosts[1].act("a", &[1], b"x");
        assert_ne!(hosts[0].hash(), hosts[1].hash());
    }
}
