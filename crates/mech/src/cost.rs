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

/// Logic that is added, as a paper has synthesised it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logic {
    /// What is added, in mm².
    pub added: f64,
    /// What it is added to, in mm².
    pub to: f64,
    /// What that is.
    pub what: &'static str,
    /// The share in percent that the paper prints.
    pub printed: f64,
}

impl Logic {
    /// What is added in percent of what is there.
    #[must_use]
    pub fn percent(&self) -> f64 {
        100.0 * self.added / self.to
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
    /// Logic, of the whole GPU.
    pub logic: Option<Logic>,
}

/// All of them.
pub const SCHEMES: &[Scheme] = &[
    Scheme {
        name: "baws",
        summary: "barrier-aware warp scheduling: `mwf-lrr` or `mwf-gto` with `cff`",
        source: "BAWS paper (ICS 2016), section 4.1.2",
        storage: baws,
        logic: None,
    },
    Scheme {
        name: "origami",
        summary: "warp folding and the Origami scheduler: `folding` with `shift`, and `origami`",
        source: "Origami paper (ICS 2016), sections 3.4 and 4.5",
        storage: origami,
        logic: Some(Logic { added: 0.055, to: 32.7, what: "the execution units", printed: 0.15 }),
    },
    Scheme {
        name: "vtw",
        summary: "virtual thread blocks and warps, threads stay in their lanes",
        source: VTW_SOURCE,
        storage: vtw,
        logic: None,
    },
    Scheme {
        name: "vtw-slowest-lane",
        summary: "virtual thread blocks and warps, the slowest warp of a block comes first in the next",
        source: VTW_SOURCE,
        storage: vtw_slowest_lane,
        logic: None,
    },
    Scheme {
        name: "vtw-lowest-lane",
        summary: "virtual thread blocks and warps, the lowest unassigned warp comes next",
        source: VTW_SOURCE,
        storage: vtw_lowest_lane,
        logic: None,
    },
];

const VTW_SOURCE: &str = "VTW paper (CGO 2017), section 4.5";

/// Bits of an integer of the VTW paper.
const INTEGER: u64 = 32;

/// Bits of a number from 0 to `most`.
#[must_use]
pub fn bits_for(most: u64) -> u64 {
    u64::from(u64::BITS - most.leading_zeros())
}

/// Bits of the bytes that hold a number from 0 to `most`.
fn whole_bytes_for(most: u64) -> u64 {
    bits_for(most).next_multiple_of(8)
}

/// Warps and blocks an SM holds at most.
fn limits(machine: &MachineConfig) -> [u64; 2] {
    [u64::from(machine.sm.threads / machine.sm.warp_width.max(1)), u64::from(machine.sm.ctas)]
}

fn vtw(machine: &MachineConfig) -> Vec<Storage> {
    let [warps, blocks] = limits(machine);
    let part = |name, about: &str, entries, bits| Storage { name, about: about.to_owned(), entries, bits };
    vec![
        part("logical blocks", "the logical block each virtual block works on", blocks, INTEGER),
        part(
            "warps to come",
            "warps of each block that have yet to take the next index",
            blocks,
            whole_bytes_for(warps),
        ),
        part("next logical block", "one for the whole GPU, counted with each SM", 1, INTEGER),
        part("warps ahead", "warps of each block in the next iteration", blocks, whole_bytes_for(warps)),
        part("progress of warps", "instructions each warp has executed", warps, INTEGER),
        part("progress of blocks", "the sum over the warps of each block", blocks, INTEGER),
        part("iterations of warps", "the iteration each warp is in", warps, INTEGER),
        part("iterations of blocks", "the lowest iteration of each block's warps", blocks, INTEGER),
    ]
}

fn vtw_slowest_lane(machine: &MachineConfig) -> Vec<Storage> {
    let [warps, _] = limits(machine);
    let about = "the warps of each block by their progress when the first of them finished".to_owned();
    let sorted = Storage { name: "warps in order", about, entries: warps, bits: whole_bytes_for(warps) };
    [vtw(machine), vec![sorted]].concat()
}

fn vtw_lowest_lane(machine: &MachineConfig) -> Vec<Storage> {
    let [warps, blocks] = limits(machine);
    let about = "the lowest unassigned warp of each block; the paper counts only one in all".to_owned();
    let lowest = Storage { name: "lowest warps", about, entries: blocks, bits: whole_bytes_for(warps) };
    [vtw(machine), vec![lowest]].concat()
}

fn baws(machine: &MachineConfig) -> Vec<Storage> {
    let [warps, blocks] = limits(machine);
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

fn origami(machine: &MachineConfig) -> Vec<Storage> {
    let sm = &machine.sm;
    let warps = u64::from(sm.threads / sm.warp_width.max(1));
    let schedulers = u64::from(sm.schedulers().max(1));
    let (lanes, decoded) = (u64::from(sm.sps() * sm.units.sp_lanes), warps * u64::from(sm.fetch.ibuffer));
    let storage = |name, about: String, entries, bits| Storage { name, about, entries, bits };
    vec![
        storage("idle counters", "idle-detect of up to 7 cycles for each lane".to_owned(), lanes, 3),
        storage(
            "type counters",
            format!("warps, 0 to {warps}, with an integer and a floating-point instruction"),
            2,
            bits_for(warps),
        ),
        storage(
            "group counters",
            format!("warps, 0 to {}, with all lanes and with fewer, for each scheduler", warps / schedulers),
            2 * schedulers,
            bits_for(warps / schedulers),
        ),
        storage("types", "one of four for each decoded instruction".to_owned(), decoded, 2),
        storage("groups", "one of two for each decoded instruction".to_owned(), decoded, 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    fn total(set: &[&str]) -> u64 {
        total_of("baws", set)
    }

    fn total_of(name: &str, set: &[&str]) -> u64 {
        let machine = Machine::load(Source::Preset("gtx480"), set).unwrap().config;
        let scheme = SCHEMES.iter().find(|s| s.name == name).unwrap();
        (scheme.storage)(&machine).iter().map(Storage::total).sum()
    }

    #[test]
    fn virtual_blocks_take_what_their_paper_says() {
        assert_eq!(total_of("vtw", &[]), 500 * 8);
        assert_eq!(total_of("vtw-slowest-lane", &[]), 548 * 8);
        assert_eq!(total_of("vtw-lowest-lane", &[]), 508 * 8);
        let [more_blocks, fewer_warps] = ["sm.ctas=16", "sm.threads=1024"].map(|set| total_of("vtw", &[set]));
        assert_eq!(more_blocks, (500 + 8 * (4 + 1 + 1 + 4 + 4)) * 8);
        assert_eq!(fewer_warps, (500 - 16 * 2 * 4) * 8);
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

    #[test]
    fn origami_takes_what_its_paper_says() {
        let machine = Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config;
        let parts = origami(&machine);
        let bits =
            |name: &str| parts.iter().filter(|p| p.name == name).map(|p| (p.entries, p.bits)).collect::<Vec<_>>();
        // Three bits a lane; counters of five bits; two bits and one for each of 48 warps with two decoded instructions.
        assert_eq!(bits("idle counters"), [(32, 3)]);
        assert_eq!((bits("group counters"), bits("type counters")), (vec![(4, 5)], vec![(2, 6)]));
        assert_eq!((bits("types"), bits("groups")), (vec![(96, 2)], vec![(96, 1)]));
        let logic = SCHEMES.iter().find_map(|scheme| scheme.logic).unwrap();
        assert!(
            (logic.percent() - 0.168).abs() < 0.0005,
            "{}: the paper's own numbers give more than it prints",
            logic.percent()
        );
    }
}
