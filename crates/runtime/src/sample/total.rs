//! What a sampled run as a whole takes.

use super::LaunchSample;
use super::estimate::Estimate;
use super::launches::{self, Member};
use crate::outcome::Launched;
use std::collections::BTreeMap;

/// Launches of one kernel and block size, which are compared with each other.
struct Group {
    members: Vec<usize>,
    estimate: Estimate,
}

/// The estimates of a sampled run.
pub struct Estimates {
    launches: Vec<Estimate>,
    groups: Vec<Group>,
}

/// Launches together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Their cycles.
    pub estimate: Estimate,
    /// How many there are, and how many have blocks that were simulated.
    pub launches: [u64; 2],
    /// Their blocks, and how many of these were simulated.
    pub blocks: [u64; 2],
    /// Their warp-instructions, and how many of these were simulated.
    pub warp_insts: [u64; 2],
    /// Their thread-instructions, and how many of these were simulated.
    pub thread_insts: [u64; 2],
}

impl Total {
    /// The share of the warp-instructions that were simulated.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.warp_insts[1] as f64 / self.warp_insts[0].max(1) as f64
    }

    /// Whether all of it was simulated.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.blocks[0] == self.blocks[1]
    }

    /// Warp-instructions and thread-instructions per cycle.
    #[must_use]
    pub fn ipc(&self) -> [f64; 2] {
        [self.warp_insts[0], self.thread_insts[0]].map(|insts| insts as f64 / self.estimate.cycles.max(1.0))
    }
}

/// What one launch took, or an estimate from its own blocks; none if it was executed.
fn measured(launched: &Launched) -> Option<Estimate> {
    match (&launched.sample, &launched.timed) {
        (Some(LaunchSample::Part(part)), _) => Some(part.estimate),
        (Some(LaunchSample::Executed { .. }), _) | (_, None) => None,
        (_, Some(timed)) => Some(Estimate::exact(timed.result.cycles)),
    }
}

fn work(launched: &Launched) -> u64 {
    match launched.sample {
        Some(LaunchSample::Whole { work, .. } | LaunchSample::Executed { work }) => work,
        _ => launched.report.warp_insts,
    }
}

impl Estimates {
    /// Of all launches of a run; none when it was not sampled.
    #[must_use]
    pub fn new(all: &[Launched]) -> Option<Self> {
        if all.iter().all(|launched| launched.sample.is_none()) {
            return None;
        }
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, launched) in all.iter().enumerate() {
            groups.entry((&launched.kernel, launched.block, launched.shared)).or_default().push(number);
        }
        let mut launches = vec![Estimate::default(); all.len()];
        let group = |members: Vec<usize>| {
            let estimate = group(all, &members, &mut launches);
            Group { members, estimate }
        };
        let groups = groups.into_values().map(group).collect();
        Some(Self { launches, groups })
    }

    /// Of a launch.
    #[must_use]
    pub fn launch(&self, number: usize) -> Estimate {
        self.launches[number]
    }

    /// Of all launches of the same run that `which` is true for: all or none of a kernel.
    #[must_use]
    pub fn total(&self, all: &[Launched], which: impl Fn(&Launched) -> bool) -> Total {
        let mut total = Total::default();
        let in_it = |group: &&Group| group.members.iter().any(|number| which(&all[*number]));
        total.estimate = Estimate::sum(self.groups.iter().filter(in_it).map(|group| group.estimate));
        for launched in all.iter().filter(|launched| which(launched)) {
            let blocks: u64 = launched.grid.iter().map(|n| u64::from(*n)).product();
            let timed = launched.timed.as_ref().map(|timed| &timed.result);
            let sm = timed.map(|result| result.total().sm);
            let add = |sums: &mut [u64; 2], whole: u64, part: Option<u64>| {
                sums[0] += whole;
                sums[1] += part.unwrap_or(0);
            };
            add(&mut total.launches, 1, timed.map(|_| 1));
            add(&mut total.blocks, blocks, timed.map(|result| result.ctas));
            add(&mut total.warp_insts, launched.report.warp_insts, sm.as_ref().map(|sm| sm.warp_insts));
            add(&mut total.thread_insts, launched.report.thread_insts, sm.as_ref().map(|sm| sm.thread_insts));
        }
        total
    }
}

/// The sum of a group; the estimates of its launches go to where they belong.
fn group(all: &[Launched], members: &[usize], launches: &mut [Estimate]) -> Estimate {
    let own: Vec<Option<Estimate>> = members.iter().map(|number| measured(&all[*number])).collect();
    if own.iter().all(Option::is_some) {
        members.iter().zip(&own).for_each(|(number, own)| launches[*number] = own.unwrap_or_default());
        return Estimate::sum(own.into_iter().flatten());
    }
    let member = |(number, own): (&usize, &Option<Estimate>)| Member {
        work: work(&all[*number]),
        cycles: own.map(|own| own.cycles.round() as u64),
    };
    let mut group: Vec<Member> = members.iter().zip(&own).map(member).collect();
    if own.iter().all(Option::is_none) {
        // The run took another way than its profile before any of them was simulated: as all others.
        group.push(everything(all));
    }
    let (each, mut sum) = launches::estimate(&group);
    members.iter().zip(&each).for_each(|(number, each)| launches[*number] = *each);
    if group.len() > members.len() {
        sum.cycles -= group[members.len()].cycles.unwrap_or(0) as f64;
    }
    sum
}

/// All launches that were simulated as one.
fn everything(all: &[Launched]) -> Member {
    let known = || all.iter().filter_map(|launched| Some((work(launched), measured(launched)?.cycles)));
    Member { work: known().map(|k| k.0).sum(), cycles: Some(known().map(|k| k.1).sum::<f64>().round() as u64) }
}
