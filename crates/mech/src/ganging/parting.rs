//! How gangs split, and which of their parts could merge again.

use raddle_sim::seam::{MAX_SLICES, Parts, slices_in};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens when data come from memory at different times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// The warps of a gang wait for each other.
    #[default]
    None,
    /// Warps that got their data in the same cycle continue as a gang.
    Group,
    /// The gang splits into single warps.
    Impatient,
}

/// Warps of each gang that are at the same place stay together. `at` gives the place of the warp in a slice.
pub(super) fn by_place<P: PartialEq>(old: &Parts, at: impl Fn(usize) -> P) -> Parts {
    let mut new = Parts::apart(old.alone());
    for gang in old.gangs() {
        let mut left = *gang;
        while left != 0 {
            let first = at(left.trailing_zeros() as usize);
            let same = slices_in(left).filter(|slice| at(*slice) == first).fold(0, |mask, slice| mask | 1 << slice);
            new.add(same);
            left &= !same;
        }
    }
    new
}

/// A gang of which some warps have what they waited for from memory and others still wait.
pub(super) fn parted_by_memory(parts: &Parts, ready: u8, waiting: u8) -> Option<u8> {
    parts.gangs().iter().copied().find(|gang| gang & ready != 0 && gang & waiting != 0)
}

/// Splits gangs of which some warps are ready and others wait for memory.
pub(super) fn by_memory(old: &Parts, ready: u8, waiting: u8, how: Split) -> Parts {
    let mut parts = *old;
    while how != Split::None
        && let Some(gang) = parted_by_memory(&parts, ready, waiting)
    {
        parts.remove(gang);
        match how {
            Split::Impatient => slices_in(gang).for_each(|slice| parts.add(1 << slice)),
            _ => [gang & ready, gang & !ready].into_iter().for_each(|part| parts.add(part)),
        }
    }
    parts
}

/// Two parts that `at` says are at the same place. It gives none for warps that must not be joined.
pub(super) fn alike<P: PartialEq>(parts: &Parts, at: impl Fn(usize) -> Option<P>) -> Option<[u8; 2]> {
    let mut all = [0; MAX_SLICES];
    all.iter_mut().zip(parts.iter()).for_each(|(to, part)| *to = part);
    let all = &all[..parts.len()];
    let place = |part: u8| at(part.trailing_zeros() as usize);
    for (n, a) in all.iter().enumerate() {
        let Some(here) = place(*a) else { continue };
        if let Some(b) = all[n + 1..].iter().find(|b| place(**b).as_ref() == Some(&here)) {
            return Some([*a, *b]);
        }
    }
    None
}

/// Two parts become one.
pub(super) fn join(old: &Parts, [a, b]: [u8; 2]) -> Parts {
    let mut parts = *old;
    parts.remove(a | b);
    parts.add(a | b);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_flow_splits_by_place() {
        let pcs = ['a', 'a', 'a', 'b', 'b', 'c', 'a', 'd'];
        let parts = by_place(&Parts::whole(0xff), |slice| pcs[slice]);
        assert_eq!(parts.gangs(), [0b0100_0111, 0b0001_1000]);
        assert_eq!(parts.alone(), 0b1010_0000);
    }

    /// A load comes back at cycle 10 for warps 0 to 3, at 12 for 4 and 5, at 15 for 6 and 7.
    fn load(how: Split) -> Vec<(Vec<u8>, u8)> {
        let mut parts = Parts::whole(0xff);
        let after = |ready: u8| {
            parts = by_memory(&parts, ready, !ready, how);
            (parts.gangs().to_vec(), parts.alone())
        };
        [0b1111, 0b11_1111, 0xff].map(after).to_vec()
    }

    #[test]
    fn data_that_come_at_different_times() {
        let none = load(Split::None);
        assert!(none.iter().all(|state| *state == (vec![0xff], 0)), "one gang, which continues at 15: {none:?}");
        let group = load(Split::Group);
        assert_eq!(group[0], (vec![0b1111, 0b1111_0000], 0));
        assert_eq!(group[1], (vec![0b1111, 0b11_0000, 0b1100_0000], 0));
        assert_eq!(group[2], group[1], "gangs of 4, 2 and 2");
        assert!(load(Split::Impatient).iter().all(|state| *state == (vec![], 0xff)), "eight warps from 10 on");
    }

    #[test]
    fn parts_at_one_place_join() {
        let parts = by_place(&Parts::whole(0xff), |slice| slice / 3);
        assert_eq!(parts.gangs(), [0b111, 0b11_1000, 0b1100_0000]);
        assert_eq!(alike(&parts, |slice| Some(slice == 0)), Some([0b11_1000, 0b1100_0000]));
        assert_eq!(alike(&parts, |slice| (slice > 5).then_some(0)), None, "who must not be joined is not");
        assert_eq!(join(&parts, [0b111, 0b1100_0000]).gangs(), [0b11_1000, 0b1100_0111]);
    }

    #[derive(Clone, Debug)]
    enum Change {
        Branch(Vec<u8>),
        Data(u8, bool),
        Join(Vec<u8>),
        End(usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        let places = || proptest::collection::vec(0..4u8, 8);
        prop_oneof![
            4 => places().prop_map(Change::Branch),
            2 => any::<(u8, bool)>().prop_map(|(ready, group)| Change::Data(ready, group)),
            4 => places().prop_map(Change::Join),
            1 => (0..8usize).prop_map(Change::End),
        ]
    }

    proptest! {
        /// Whatever happens: at most four gangs, none of one warp, every warp that has not ended in one place.
        #[test]
        fn every_warp_is_in_one_place(start in 1..=255u8, changes in proptest::collection::vec(change(), 0..60)) {
            let mut parts = Parts::whole(start);
            let mut alive = start;
            for change in changes {
                match change {
                    Change::Branch(places) => parts = by_place(&parts, |slice| places[slice]),
                    Change::Data(ready, group) => {
                        let how = if group { Split::Group } else { Split::Impatient };
                        let splits = parted_by_memory(&parts, ready, !ready).is_some();
                        let new = by_memory(&parts, ready, !ready, how);
                        prop_assert_eq!(splits, new != parts);
                        parts = new;
                    }
                    Change::Join(places) => {
                        if let Some([a, b]) = alike(&parts, |slice| Some(places[slice])) {
                            prop_assert_eq!(places[a.trailing_zeros() as usize], places[b.trailing_zeros() as usize]);
                            parts = join(&parts, [a, b]);
                        }
                    }
                    Change::End(slice) => {
                        parts.remove(1 << slice);
                        alive &= !(1 << slice);
                    }
                }
                prop_assert!(parts.gangs().len() <= MAX_SLICES / 2);
                prop_assert!(parts.gangs().iter().all(|gang| gang.count_ones() >= 2));
                prop_assert_eq!(parts.iter().map(u8::count_ones).sum::<u32>(), alive.count_ones());
                prop_assert_eq!(parts.all(), alive);
            }
        }
    }
}
