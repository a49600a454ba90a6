//! Where an address lives: channel, slice, bank, row, column.

use super::cache::{hashed_bits, remainder};
use crate::config::{AddressConfig, DramConfig, L2Config, SliceHash};
use raddle_ptx::num::fit;

/// Why an address map cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// A letter that is no field.
    #[error("unknown address field `{0}`; fields are S, C, B, R")]
    Letter(char),
    /// Slices cannot be told apart by bank bits.
    #[error("{0} slices per channel cannot be selected by the lowest bank bits")]
    Slices(u32),
    /// The bank field cannot name every bank, or names more.
    #[error("the address has {bits} bank bits for {banks} banks")]
    Banks {
        /// Bank bits in the address.
        bits: u32,
        /// Banks configured.
        banks: u32,
    },
    /// Channels whose numbers cannot be hashed.
    #[error("{0} channels cannot be hashed: their number must be a power of two")]
    Hash(u32),
    /// No channel.
    #[error("there must be a DRAM channel")]
    Channels,
}

/// Where an address lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// DRAM channel.
    pub channel: u32,
    /// L2 slice, numbered over the whole GPU: channel times slices per channel, plus the lowest bank bits.
    pub slice: u32,
    /// Bank of the channel.
    pub bank: u32,
    /// Row of the bank.
    pub row: u32,
    /// Column of the row, in bursts.
    pub column: u32,
}

/// A run of neighbouring bits that belong to one field.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u32,
    to: u32,
    mask: u64,
}

fn gather(runs: &[Run], value: u64) -> u64 {
    runs.iter().fold(0, |sum, run| sum | (value >> run.from & run.mask) << run.to)
}

/// A field: none has more than 32 bits.
fn field(runs: &[Run], value: u64) -> u32 {
    fit(gather(runs, value))
}

/// Cuts bits `keep` selects out of 64-bit values, lowest first.
fn runs(keep: impl Fn(u32) -> bool) -> Vec<Run> {
    let mut result: Vec<Run> = Vec::new();
    for (to, bit) in (0..).zip((0..u64::BITS).filter(|&bit| keep(bit))) {
        match result.last_mut() {
            Some(last) if last.from + last.mask.count_ones() == bit => last.mask = last.mask << 1 | 1,
            _ => result.push(Run { from: bit, to, mask: 1 }),
        }
    }
    result
}

/// Maps addresses to places.
#[derive(Clone, Debug)]
pub struct AddressMap {
    channels: u64,
    slices: u32,
    shift: u32,
    /// Bits of the number of a slice, where they are hashed.
    hashed: Option<u32>,
    bank: Vec<Run>,
    /// The lowest bits of the bank, which select the slice.
    slice: Vec<Run>,
    row: Vec<Run>,
    column: Vec<Run>,
    local: Vec<Run>,
}

impl AddressMap {
    /// The map of a machine.
    ///
    /// # Errors
    /// When the description does not fit the number of banks or slices.
    pub fn new(dram: &DramConfig, l2: &L2Config) -> Result<Self, AddressError> {
        let letters = letters(&dram.address)?;
        let field = |letter| runs(|bit| letters.get(bit as usize) == Some(&letter));
        let bank = field('B');
        let bank_bits: u32 = bank.iter().map(|run| run.mask.count_ones()).sum();
        if bank_bits >= u32::BITS || 1 << bank_bits != dram.banks {
            return Err(AddressError::Banks { bits: bank_bits, banks: dram.banks });
        }
        if !l2.slices.is_power_of_two() || l2.slices > dram.banks {
            return Err(AddressError::Slices(l2.slices));
        }
        if dram.channels == 0 {
            return Err(AddressError::Channels);
        }
        let mut bank_positions = (0..u64::BITS).filter(|&bit| letters.get(bit as usize) == Some(&'B'));
        let slice_bits: u64 =
            bank_positions.by_ref().take(l2.slices.ilog2() as usize).fold(0, |mask, bit| mask | 1 << bit);
        Ok(Self {
            channels: u64::from(dram.channels),
            slices: l2.slices,
            shift: dram.address.channel_shift,
            hashed: match dram.address.slice_hash {
                SliceHash::None => None,
                SliceHash::Polynomial if dram.channels.is_power_of_two() => Some((dram.channels * l2.slices).ilog2()),
                SliceHash::Polynomial => return Err(AddressError::Hash(dram.channels)),
            },
            bank,
            slice: runs(|bit| slice_bits >> bit & 1 != 0),
            row: field('R'),
            column: field('C'),
            local: runs(|bit| slice_bits >> bit & 1 == 0),
        })
    }

    /// The number of a slice over the whole GPU, from its channel and its number there as the address says.
    fn hash(&self, address: u64, slice: u32) -> u32 {
        let Some(bits) = self.hashed.filter(|bits| *bits > 0) else { return slice };
        let above = address >> (self.shift + bits) & ((1 << hashed_bits(bits)) - 1);
        fit(remainder(above << bits | u64::from(slice), bits))
    }

    /// The channel as the address says, and the address inside it.
    fn split(&self, address: u64) -> (u32, u64) {
        let unit = address >> self.shift;
        let quotient = unit / self.channels;
        let low = address & ((1 << self.shift) - 1);
        (fit(unit - quotient * self.channels), quotient << self.shift | low)
    }

    /// Where an address lives.
    #[must_use]
    pub fn place(&self, address: u64) -> Place {
        let (channel, rest) = self.split(address);
        let bank = field(&self.bank, rest);
        let slice = self.hash(address, channel * self.slices + (bank & (self.slices - 1)));
        Place {
            channel: slice / self.slices,
            slice,
            bank,
            row: field(&self.row, rest),
            column: field(&self.column, rest),
        }
    }

    /// The slice of an address, numbered over the whole GPU.
    #[must_use]
    pub fn slice(&self, address: u64) -> u32 {
        let (channel, rest) = self.split(address);
        self.hash(address, channel * self.slices + field(&self.slice, rest))
    }

    /// Bank and row of an address.
    #[must_use]
    pub fn bank_and_row(&self, address: u64) -> (u32, u32) {
        let (_, rest) = self.split(address);
        (field(&self.bank, rest), field(&self.row, rest))
    }

    /// The address as its slice sees it: without the channel and without the bits that select the slice, so that
    /// neighbouring lines of a slice have neighbouring addresses. The L2 takes its set from it.
    #[must_use]
    pub fn local(&self, address: u64) -> u64 {
        gather(&self.local, self.split(address).1)
    }
}

/// The letters, lowest bit first.
fn letters(config: &AddressConfig) -> Result<Vec<char>, AddressError> {
    let letters: Vec<char> = config.fields.chars().rev().filter(|&letter| letter != '.').collect();
    match letters.iter().find(|letter| !matches!(letter, 'S' | 'C' | 'B' | 'R')) {
        Some(&letter) => Err(AddressError::Letter(letter)),
        None => Ok(letters),
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressError, AddressMap, Place};
    use crate::mem::test_machine::gtx480;

    #[test]
    fn fields_of_the_reference_machine() {
        let machine = gtx480();
        let map = AddressMap::new(&machine.dram, &machine.l2).unwrap();
        let place = map.place(0xC000_0000);
        // 0xC00000 mod 6 = 0; the quotient 0x200000 << 8 = 0x2000_0000, cut to 28 bits of fields.
        assert_eq!(place, Place { channel: 0, slice: 0, bank: 0, row: 0, column: 0 });
        // The next 256 bytes are in the next channel, after six the slice changes with the lowest bank bit.
        assert_eq!(map.place(0xC000_0100).channel, 1);
        let second = map.place(0xC000_0000 + 6 * 256);
        assert_eq!(second, Place { channel: 0, slice: 1, bank: 1, row: 0, column: 0 });
        let third = map.place(0xC000_0000 + 12 * 256 + 64);
        assert_eq!(third, Place { channel: 0, slice: 0, bank: 0, row: 0, column: 5 });
        assert_eq!(map.place(6 * 0x2000).bank, 2);
        assert_eq!(map.place(6 * 0x1_0000 + 5 * 256).row, 1);
    }

    #[test]
    fn a_slice_sees_its_lines_next_to_each_other() {
        let machine = gtx480();
        let map = AddressMap::new(&machine.dram, &machine.l2).unwrap();
        assert_eq!(map.local(128), 128);
        // Channel 0, slice 0: its third and fourth lines are twelve steps of 256 bytes away.
        assert_eq!(map.local(12 * 256), 256);
        assert_eq!(map.local(12 * 256 + 160), 256 + 160);
        for address in (0..1 << 20).step_by(32) {
            let place = map.place(address);
            assert_eq!((map.slice(address), map.bank_and_row(address)), (place.slice, (place.bank, place.row)));
        }
    }

    #[test]
    fn hashed_slices_are_as_many_and_as_large() {
        let mut machine = gtx480();
        (machine.dram.channels, machine.l2.slices) = (32, 2);
        machine.dram.address.slice_hash = crate::config::SliceHash::Polynomial;
        let map = AddressMap::new(&machine.dram, &machine.l2).unwrap();
        // 64 pieces of 256 bytes each have a slice of their own, wherever they are.
        for base in [0u64, 0xC000_0000, 0xC123_4000] {
            let slices: std::collections::BTreeSet<u32> = (0..64).map(|n| map.slice(base & !0x3fff | n << 8)).collect();
            assert_eq!(slices.len(), 64);
        }
        // x^6 = x + 1.
        assert_eq!(map.slice(1 << 14), 3);
        let place = map.place(1 << 14);
        assert_eq!((place.channel, place.slice), (1, 3));
        machine.dram.channels = 6;
        assert_eq!(AddressMap::new(&machine.dram, &machine.l2).unwrap_err(), AddressError::Hash(6));
    }

    #[test]
    fn nonsense_is_refused() {
        let machine = gtx480();
        let mut dram = machine.dram.clone();
        dram.address.fields = "RRX".into();
        assert_eq!(AddressMap::new(&dram, &machine.l2).unwrap_err(), AddressError::Letter('X'));
        dram.address.fields = "RRBB".into();
        assert_eq!(AddressMap::new(&dram, &machine.l2).unwrap_err(), AddressError::Banks { bits: 2, banks: 16 });
        let mut l2 = machine.l2.clone();
        l2.slices = 3;
        assert_eq!(AddressMap::new(&machine.dram, &l2).unwrap_err(), AddressError::Slices(3));
    }
}
