//! Local memory: words interleaved by lane, so that lanes at the same offset are a plane.

use crate::lanes::LANES;
use raddle_ptx::num::{low8, low32};

/// The local memory of a row of threads.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct LocalRow {
    words: Vec<[u32; LANES]>,
}

impl LocalRow {
    /// Clears it for a new thread block.
    pub(super) fn start(&mut self, bytes: u32) {
        self.words.clear();
        self.words.resize(bytes.div_ceil(4) as usize, [0; LANES]);
    }

    /// Makes room for a deeper frame.
    pub(super) fn grow(&mut self, bytes: u32) {
        let words = bytes.div_ceil(4) as usize;
        if words > self.words.len() {
            self.words.resize(words, [0; LANES]);
        }
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.words.len() as u64 * 4
    }

    /// Reads up to 8 bytes; the range must be inside and not cross a word unless aligned.
    pub(super) fn read(&self, offset: u64, bytes: u8, lane: usize) -> u64 {
        let word = (offset / 4) as usize;
        let shift = (offset % 4) * 8;
        match bytes {
            8 => u64::from(self.words[word][lane]) | u64::from(self.words[word + 1][lane]) << 32,
            4 => u64::from(self.words[word][lane]),
            2 => u64::from(self.words[word][lane] >> shift & 0xffff),
            _ => u64::from(self.words[word][lane] >> shift & 0xff),
        }
    }

    /// Writes up to 8 bytes, as [`Self::read`].
    pub(super) fn write(&mut self, offset: u64, bytes: u8, lane: usize, value: u64) {
        let word = (offset / 4) as usize;
        let shift = (offset % 4) * 8;
        let merge = |old: u32, mask: u32| old & !(mask << shift) | (low32(value) & mask) << shift;
        let old = self.words[word][lane];
        self.words[word][lane] = match bytes {
            8 => {
                self.words[word + 1][lane] = (value >> 32) as u32;
                low32(value)
            }
            4 => low32(value),
            2 => merge(old, 0xffff),
            _ => merge(old, 0xff),
        };
    }

    /// One byte.
    pub(super) fn read_byte(&self, offset: u64, lane: usize) -> Option<u8> {
        (offset < self.bytes()).then(|| low8(self.read(offset, 1, lane)))
    }
}
