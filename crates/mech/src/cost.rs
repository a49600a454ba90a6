//! What mechanisms cost in hardware: bits of storage, from the limits of a machine.

use raddle_sim::config::MachineConfig;

/// A table of equal entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// What it is.
    pub name: &'static str,
    /// What an entry is, and why there are so many and so wide ones.
    pub about: String,
    /// Entries in an SM.
    pub entries: u64,
    /// Bits of each.
    pub bits: u64,
}

impl Storage {
    /// Bits in an SM.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.entries * self.bits
    }
}

/// Mechanisms whose cost is known.
#[derive(Clone, Copy)]
pub struct Scheme {
    /// Name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where the cost is described.
    pub source: &'static str,
    /// The storage of an SM of a machine.
    pub storage: fn(&MachineConfig) -> Vec<Storage>,
}

/// All of them.
pub const SCHEMES: &[Scheme] = &[Scheme {
    name: "baws",
    summary: "barrier-aware warp scheduling: `mwf-lrr` or `mwf-gto` with `cff`",
    source: "BAWS paper (ICS 2016), section 4.1.2",
    storage: baws,
}];

/// Bits of a number from 0 to `most`.
#[must_use]
pub fn bits_for(most: u64) -> u64 {
    u64::from(u64::BITS - most.leading_zeros())
}

fn baws(machine: &MachineConfig) -> Vec<Storage> {
    let warps = u64::from(machine.sm.threads / machine.sm.warp_width.max(1));
    let blocks = u64::from(machine.sm.ctas);
    vec![
        Storage {
            name: "warp priority table",
            about: format!("a counter of 0 to {warps} waiting warps for each of {blocks} blocks"),
            entries: blocks,
            bits: bits_for(warps),
        },
        Storage {
            name: "critical fetch first",
            about: "nothing: it follows the order of the issue scheduler".to_owned(),
            entries: 0,
            bits: 0,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    fn total(set: &[&str]) -> u64 {
        let machine = Machine::load(Source::Preset("gtx480"), set).unwrap().config;
        baws(&machine).iter().map(Storage::total).sum()
    }

    #[test]
    fn the_table_of_the_paper_has_six_bytes() {
        assert_eq!(total(&[]), 48);
        assert_eq!(total(&["sm.ctas=16"]), 96);
        assert_eq!(total(&["sm.threads=1024"]), 8 * 6, "32 warps need 6 bits, too");
        assert_eq!(total(&["sm.threads=992"]), 8 * 5);
    }

    #[test]
    fn numbers_need_bits() {
        assert_eq!([0, 1, 2, 47, 48, 63, 64].map(bits_for), [0, 1, 2, 6, 6, 6, 7]);
    }
}
