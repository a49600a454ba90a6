//! Global memory as threads see it: directly, or through a log of stores that others see later.

use super::{AccessError, DeviceMemory};
use raddle_ptx::num::fit;

/// Global memory as the threads of one SM see it.
pub enum Global<'a> {
    /// Stores are seen by everyone at once.
    Direct(&'a mut DeviceMemory),
    /// Memory as it was, and the stores made since.
    Logged(&'a DeviceMemory, &'a mut StoreLog),
}

impl Global<'_> {
    /// Memory without the stores in the log.
    #[inline]
    #[must_use]
    pub fn image(&self) -> &DeviceMemory {
        match self {
            Self::Direct(memory) => memory,
            Self::Logged(memory, _) => memory,
        }
    }

    /// The log, when there is something in it.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> Option<&StoreLog> {
        match self {
            Self::Logged(_, log) if !log.entries.is_empty() => Some(log),
            _ => None,
        }
    }

    /// At most 16 bytes, which need not be aligned: a texel. `near` is the allocation to try first, and then the one they
    /// were in.
    pub(crate) fn piece(&self, near: &mut usize, address: u64, bytes: u32) -> Result<[u8; 16], AccessError> {
        let (image, length) = (self.image(), bytes as usize);
        let last = image.allocations().get(*near).filter(|a| {
            let offset = address.wrapping_sub(a.base);
            offset < a.len() && a.len() - offset >= u64::from(bytes)
        });
        let offset: usize = match last {
            Some(allocation) => fit(address - allocation.base),
            None => {
                let (index, offset) = image.find(address, bytes)?;
                *near = index;
                offset
            }
        };
        let mut out = [0; 16];
        out[..length].copy_from_slice(&image.bytes(*near)[offset..offset + length]);
        let end = address + u64::from(bytes.max(1)) - 1;
        match self.pending().filter(|log| log.may_touch(address) || log.may_touch(end)) {
            Some(log) => log.patch_bytes(address, &mut out[..length]),
            None => {
                if let Some(at) = image.first_unwritten(*near, offset, length) {
                    return Err(AccessError::NeverWritten { address: address + (at - offset) as u64 });
                }
            }
        }
        Ok(out)
    }

    /// Stores `bytes` bytes at an offset of an allocation.
    #[inline]
    pub(crate) fn store(&mut self, index: usize, offset: usize, bytes: u8, value: u64) {
        match self {
            Self::Direct(memory) => {
                put(&mut memory.bytes_mut(index)[offset..], bytes, value);
                memory.mark_written(index, offset, usize::from(bytes));
            }
            Self::Logged(memory, log) => log.push(memory.allocations()[index].base + offset as u64, bytes, value),
        }
    }
}

/// Writes the low bytes of a value; most stores are of four.
#[inline]
fn put(to: &mut [u8], bytes: u8, value: u64) {
    let value = value.to_le_bytes();
    match bytes {
        4 => to[..4].copy_from_slice(&value[..4]),
        8 => to[..8].copy_from_slice(&value),
        _ => to[..usize::from(bytes)].copy_from_slice(&value[..usize::from(bytes)]),
    }
}

/// One store of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Entry {
    address: u64,
    value: u64,
    bytes: u8,
}

/// Stores in the order they were made. Time is whatever the owner counts; it only has to grow.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct StoreLog {
    entries: Vec<Entry>,
    /// A bit for each 128-byte line with a store, by a hash of its address: most loads need not look further.
    filter: [u64; 4],
    /// Groups of entries that were made together: time, and one past the last entry.
    groups: Vec<(u64, usize)>,
}

fn filter_bit(address: u64) -> (usize, u64) {
    let hash = (address >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

impl StoreLog {
    /// Whether there are no stores in it.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, address: u64, bytes: u8, value: u64) {
        let (word, bit) = filter_bit(address);
        self.filter[word] |= bit;
        self.entries.push(Entry { address, value, bytes });
    }

    /// Ends a group: all stores since the last call were made together at `time`.
    pub fn end_group(&mut self, time: u64) {
        let end = self.entries.len();
        if self.groups.last().map_or(0, |g| g.1) != end {
            self.groups.push((time, end));
        }
    }

    /// Whether an aligned access of at most 128 bytes may meet a store in the log.
    #[inline]
    #[must_use]
    pub fn may_touch(&self, address: u64) -> bool {
        let (word, bit) = filter_bit(address);
        self.filter[word] & bit != 0
    }

    /// `value`, as memory holds it at `address`, with the stores of the log on top.
    #[must_use]
    pub fn patch(&self, address: u64, bytes: u8, value: u64) -> u64 {
        let mut word = value.to_le_bytes();
        self.patch_bytes(address, &mut word[..usize::from(bytes)]);
        u64::from_le_bytes(word)
    }

    /// The same for bytes.
    fn patch_bytes(&self, address: u64, bytes: &mut [u8]) {
        let end = address + bytes.len() as u64;
        for e in &self.entries {
            let (from, to) = (e.address.max(address), (e.address + u64::from(e.bytes)).min(end));
            let data = e.value.to_le_bytes();
            for at in from..to {
                bytes[fit::<usize, _>(at - address)] = data[fit::<usize, _>(at - e.address)];
            }
        }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.groups.clear();
        self.filter = [0; 4];
    }
}

/// Makes the stores of several logs visible to everyone, in the order of (time, log, order in the log).
#[derive(Clone, Debug, Default)]
pub struct Merge {
    /// Logs with stores, and empty ones that are kept for their memory.
    logs: Vec<StoreLog>,
    used: usize,
    /// Groups of stores: time, number of the log, its place here, first and one past the last entry.
    order: Vec<(u64, u32, usize, usize, usize)>,
}

impl Merge {
    /// Takes the stores of log `number`, which is empty then.
    pub fn add(&mut self, number: u32, log: &mut StoreLog) {
        if log.is_empty() {
            return;
        }
        if self.used == self.logs.len() {
            self.logs.push(StoreLog::default());
        }
        std::mem::swap(&mut self.logs[self.used], log);
        let mut start = 0;
        for &(time, end) in &self.logs[self.used].groups {
            self.order.push((time, number, self.used, start, end));
            start = end;
        }
        self.used += 1;
    }

    /// Writes what was taken to memory.
    pub fn finish(&mut self, memory: &mut DeviceMemory) {
        if self.used == 0 {
            return;
        }
        self.order.sort_unstable();
        let mut last = 0;
        for &(_, _, place, start, end) in &self.order {
            for e in &self.logs[place].entries[start..end] {
                // Addresses were checked when the stores were made.
                let inside = memory.allocations().get(last).is_some_and(|a| e.address.wrapping_sub(a.base) < a.len());
                if !inside && let Ok((index, _)) = memory.find(e.address, 1) {
                    last = index;
                }
                let offset: usize = fit(e.address - memory.allocations()[last].base);
                put(&mut memory.bytes_mut(last)[offset..], e.bytes, e.value);
                memory.mark_written(last, offset, usize::from(e.bytes));
            }
        }
        self.logs[..self.used].iter_mut().for_each(StoreLog::clear);
        self.order.clear();
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_seen_by_its_owner_and_merged_by_time_then_owner() {
        let mut memory = DeviceMemory::new();
        let a = memory.alloc("a", 256).unwrap();
        let mut logs = [StoreLog::default(), StoreLog::default()];
        logs[0].push(a + 4, 4, 0x1111_1111);
        logs[0].end_group(7);
        logs[0].push(a + 5, 1, 0x22);
        logs[0].end_group(9);
        logs[1].push(a + 4, 4, 0x3333_3333);
        logs[1].end_group(7);
        assert!(logs[0].may_touch(a) && !logs[0].may_touch(a + 128));
        assert_eq!(logs[0].patch(a + 4, 4, 0), 0x1111_2211);
        assert_eq!(logs[0].patch(a, 8, 0), 0x1111_2211_0000_0000);
        let mut merge = Merge::default();
        logs.iter_mut().enumerate().for_each(|(n, log)| merge.add(n as u32, log));
        merge.finish(&mut memory);
        let mut word = [0; 4];
        memory.read(a + 4, &mut word).unwrap();
        assert_eq!(u32::from_le_bytes(word), 0x3333_2233);
        assert!(logs.iter().all(StoreLog::is_empty));
    }
}
