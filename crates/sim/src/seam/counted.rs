//! What mechanisms count of their own.

use super::{Dispatcher, Mechanisms, Seam};
use crate::saved;
use crate::stats::CounterInfo;

/// A counter of a mechanism, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The seam of the mechanism.
    pub seam: Seam,
    /// Its name.
    pub mechanism: &'static str,
    /// The counter as the mechanism declares it.
    pub info: CounterInfo,
    /// Its value.
    pub value: u64,
}

saved!(Counted { values: value; fixed: seam, mechanism, info });

impl Counted {
    /// The mechanism in outputs: `issue.two-level`.
    #[must_use]
    pub fn group(&self) -> String {
        format!("{}.{}", self.seam.key(), self.mechanism)
    }

    /// The counter in outputs: `issue.two-level.left`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.group(), self.info.name)
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.seam, self.mechanism, self.info.name) == (other.seam, other.mechanism, other.info.name)
    }

    /// Adds the counts of another part or launch.
    pub fn add(sum: &mut Vec<Self>, more: &[Self]) {
        for new in more {
            match sum.iter_mut().find(|known| known.is_same(new)) {
                Some(known) => known.value = known.info.unit.together(known.value, new.value),
                None => sum.push(*new),
            }
        }
    }
}

impl Mechanisms<'_> {
    /// What the mechanisms of an SM counted of their own; `of` has the values of all objects at a seam.
    pub(crate) fn counted_on_sm(&self, of: impl Fn(Seam) -> Vec<Vec<u64>>) -> Vec<Counted> {
        let seams = Seam::ALL.into_iter().filter(|seam| *seam != Seam::Dispatch);
        seams.flat_map(|seam| self.counted(seam, || of(seam))).collect()
    }

    /// What mechanisms that have done nothing counted: those of an SM, and the dispatcher.
    pub(crate) fn nothing_counted(&self) -> [Vec<Counted>; 2] {
        let zeros = |seam| vec![vec![0; self.info(seam).map_or(0, |info| info.counters.len())]];
        [self.counted_on_sm(zeros), self.counted(Seam::Dispatch, || zeros(Seam::Dispatch))]
    }

    /// What the dispatcher has counted of its own since it had counted `before`.
    pub(crate) fn counted_by_dispatcher(&self, dispatcher: &dyn Dispatcher, before: &[u64]) -> Vec<Counted> {
        let mut all = self.counted(Seam::Dispatch, || vec![dispatcher.counters()]);
        for (counted, before) in all.iter_mut().zip(before) {
            counted.value = counted.info.unit.since(counted.value, *before);
        }
        all
    }

    /// The values of all objects at a seam together; zeros if there is none. Objects are not asked if the mechanism
    /// declares no counters.
    fn counted(&self, seam: Seam, objects: impl FnOnce() -> Vec<Vec<u64>>) -> Vec<Counted> {
        let info = self.info(seam).filter(|info| !info.counters.is_empty());
        let Some(info) = info else { return Vec::new() };
        let one = |(counter, value)| Counted { seam, mechanism: info.name, info: counter, value };
        let mut sum = info.counters.iter().map(|counter| one((*counter, 0))).collect();
        for values in objects() {
            assert_eq!(values.len(), info.counters.len(), "the counters that `{}` declares", info.name);
            Counted::add(&mut sum, &info.counters.iter().copied().zip(values).map(one).collect::<Vec<_>>());
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Unit;

    #[test]
    fn the_largest_counts_where_the_unit_says_so() {
        let counted = |name, unit, value| Counted {
            seam: Seam::Issue,
            mechanism: "m",
            info: CounterInfo { name, unit, doc: "" },
            value,
        };
        let mut sum = vec![counted("a", Unit::Events, 2)];
        let more = [counted("a", Unit::Events, 3), counted("b", Unit::MostEntries, 7)];
        Counted::add(&mut sum, &more);
        Counted::add(&mut sum, &more[1..]);
        let found: Vec<_> = sum.iter().map(|c| (c.name(), c.value)).collect();
        assert_eq!(found, [("issue.m.a".to_owned(), 5), ("issue.m.b".to_owned(), 7)]);
    }
}
