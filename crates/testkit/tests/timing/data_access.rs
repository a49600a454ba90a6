//! What mechanisms are told of the data cache, by one that needs it.

use super::slices::slices;
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{DataAccess, DataOutcome, IssueScheduler, MechanismInfo, Registry, SchedulerView, Seam, WarpId};
use raddle_sim::stats::{CounterInfo, Unit};
use raddle_testkit::reference::{self, Case};
use raddle_testkit::timing::{machine, try_run_with};

/// Prefers warps that miss lines they had before: they get the cache back sooner. What it does not hear of it does not do.
struct LostLines<const LISTENS: bool> {
    /// The lines each warp loaded last, and how often it missed one of them.
    warps: Vec<([u64; 8], usize, u64)>,
    /// By outcome: requests, and lanes that data came for.
    heard: [u64; 5],
    lanes_sent: u64,
    lanes_came: u64,
}

impl<const LISTENS: bool> LostLines<LISTENS> {
    const COUNTERS: &[CounterInfo] = &[
        CounterInfo { name: "hits", unit: Unit::Events, doc: "requests that hit" },
        CounterInfo { name: "pending", unit: Unit::Events, doc: "requests that joined others" },
        CounterInfo { name: "misses", unit: Unit::Events, doc: "requests that missed" },
        CounterInfo { name: "refused", unit: Unit::Events, doc: "requests that were refused" },
        CounterInfo { name: "came", unit: Unit::Events, doc: "loads whose data came" },
        CounterInfo { name: "lanes_sent", unit: Unit::Events, doc: "lanes whose data were sent for" },
        CounterInfo { name: "lanes_came", unit: Unit::Events, doc: "lanes whose data came" },
    ];

    fn new() -> Self {
        Self { warps: vec![([u64::MAX; 8], 0, 0); 512], heard: [0; 5], lanes_sent: 0, lanes_came: 0 }
    }
}

impl<const LISTENS: bool> IssueScheduler for LostLines<LISTENS> {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
        order.sort_by_key(|warp| (u64::MAX - self.warps[warp.index()].2, view.age[warp.index()]));
    }

    fn watches_data(&self) -> bool {
        LISTENS
    }

    fn data_access(&mut self, access: &DataAccess) {
        let kind = match access.outcome {
            DataOutcome::Hit => 0,
            DataOutcome::Pending => 1,
            DataOutcome::Miss => 2,
            DataOutcome::Refused => 3,
            DataOutcome::Came => 4,
        };
        self.heard[kind] += 1;
        assert!(access.lanes != 0, "a request is for somebody: {access:?}");
        if access.is_store {
            return;
        }
        let lanes = u64::from(access.lanes.count_ones());
        let (lines, next, lost) = &mut self.warps[access.warp.index()];
        match access.outcome {
            DataOutcome::Came => self.lanes_came += lanes,
            DataOutcome::Pending | DataOutcome::Miss => {
                self.lanes_sent += lanes;
                *lost += u64::from(lines.contains(&access.line));
                lines[*next] = access.line;
                *next = (*next + 1) % lines.len();
            }
            _ => {}
        }
    }

    fn warp_changed(&mut self, warp: WarpId, _: bool) {
        self.warps[warp.index()] = ([u64::MAX; 8], 0, 0);
    }

    fn counters(&self) -> Vec<u64> {
        self.heard.into_iter().chain([self.lanes_sent, self.lanes_came]).collect()
    }
}

fn run(case: &Case, config: &MachineConfig, name: &str, never_skip: bool) -> LaunchResult {
    let info = |name| MechanismInfo {
        seam: Seam::Issue,
        name,
        summary: "",
        source: "",
        counters: LostLines::<true>::COUNTERS,
        refuses: &[],
    };
    let mut registry: Registry = raddle_mech::registry();
    registry.issue(info("hears"), |_: NoConfig, _: &MachineConfig| LostLines::<true>::new());
    registry.issue(info("deaf"), |_: NoConfig, _: &MachineConfig| LostLines::<false>::new());
    let mut config = config.clone();
    config.mechanism.issue = Choice::Name(name.to_owned());
    let options = RunOptions { never_skip, ..RunOptions::default() };
    try_run_with(&registry, case, &config, options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_scheduler_hears_of_every_request_at_the_data_cache_and_of_its_data() {
    let config = machine("gtx480", &["gpu.sms=2", "sm.l1d.sets=4", "sm.l1d.index=linear"]);
    let mut decided = 0;
    for case in [reference::bfs(512), reference::matmul(48), reference::stencil(64)] {
        let result = run(&case, &config, "hears", false);
        let heard: Vec<u64> = result.own_total().iter().map(|counted| counted.value).collect();
        let cache = result.total().l1d;
        assert_eq!(heard[..3], [cache.hits, cache.pending_hits, cache.misses], "{}", case.name);
        assert!(heard[3] <= cache.reservation_fails && (heard[3] > 0) == (cache.reservation_fails > 0));
        assert!(heard[4] > 0 && heard[4] <= heard[1] + heard[2], "{}: {heard:?}", case.name);
        assert_eq!(heard[5], heard[6], "{}: data come for all who sent for them", case.name);
        let slow = run(&case, &config, "hears", true);
        assert_eq!((slow.cycles, slow.own_total()), (result.cycles, result.own_total()), "every cycle run");
        // What it hears is what it decides by.
        let deaf = run(&case, &config, "deaf", false);
        assert!(deaf.own_total().iter().all(|counted| counted.value == 0));
        decided += u32::from(deaf.cycles != result.cycles);
    }
    assert!(decided >= 2, "it made a difference to {decided} kernels");
}

#[test]
fn requests_of_several_slices_are_told_of_once_for_each_warp() {
    let mut set = slices(4);
    set.push("gpu.sms=2".to_owned());
    let result = run(&reference::matmul(48), &machine("vws-sm", &set), "hears", false);
    let heard: Vec<u64> = result.own_total().iter().map(|counted| counted.value).collect();
    let cache = result.total().l1d;
    assert!(heard[0] > cache.hits && heard[2] > cache.misses, "{heard:?}, {cache:?}");
    assert_eq!(heard[5], heard[6], "data come for all who sent for them");
}
