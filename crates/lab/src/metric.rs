//! What is measured: counters, and quantities derived from them.

use crate::energy;
use crate::record::{KernelCounts, MachineSpec, Record, total, total_of};
use raddle_energy::{Component, Part};
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_sim::kernel::Pipe;
use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::seam::Registry;
use raddle_sim::sm::counters::SmCounters;
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::sm::memory::cache::CacheCounters;
use raddle_sim::stats::{CounterInfo, Counters, Unit};
use std::fmt;

/// What a launch takes of an SM.
pub const LAUNCH: &[CounterInfo] = &[
    CounterInfo { name: "registers", unit: Unit::MostEntries, doc: "registers of a thread, as an SM allots them" },
    CounterInfo { name: "resident_blocks", unit: Unit::MostEntries, doc: "blocks that an SM holds at once" },
];

/// Kinds of parts with their counters, as records name them; of a launch, what it takes of an SM.
pub const GROUPS: [(&str, &[CounterInfo]); 12] = [
    ("launch", LAUNCH),
    ("sm", SmCounters::INFO),
    ("int", LaneCounters::INFO),
    ("fp", LaneCounters::INFO),
    ("l1i", CacheCounters::INFO),
    ("l1d", CacheCounters::INFO),
    ("l1c", CacheCounters::INFO),
    ("l1t", CacheCounters::INFO),
    ("l2", L2Counters::INFO),
    ("dram", DramCounters::INFO),
    ("network-up", CrossbarCounters::INFO),
    ("network-down", CrossbarCounters::INFO),
];

/// The names of all counters, `sm.warp_insts` and so on.
pub fn counters() -> impl Iterator<Item = String> {
    GROUPS.into_iter().flat_map(|(kind, infos)| infos.iter().map(move |info| format!("{kind}.{}", info.name)))
}

/// What a counter of [`LAUNCH`] counts, in words.
fn launch_counter(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("launch.")?;
    LAUNCH.iter().find(|info| info.name == name).map(|info| info.doc)
}

/// The unit of a counter; what is no counter of a part is counted in cycles or launches, which add up.
pub(crate) fn unit(counter: &str) -> Unit {
    let (kind, name) = counter.split_once('.').unwrap_or(("", counter));
    let infos = GROUPS.into_iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, infos)| infos);
    infos.iter().find(|info| info.name == name).map_or(Unit::Events, |info| info.unit)
}

/// Something to measure, of all kernels of a workload together or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Cycles of all launches.
    Cycles,
    /// Instructions by warp in a cycle, on all SMs together.
    WarpIpc,
    /// Instructions by thread in a cycle, on all SMs together.
    ThreadIpc,
    /// Active lanes of those a warp has.
    SimdEfficiency,
    /// Share of issue slots with an instruction.
    IssueShare,
    /// Share of issue slots that were empty for this cause.
    StallShare(String),
    /// Issue slots that were empty for a cause of this kind, one of [`STALLS`].
    Stalls(&'static str),
    /// Share of warps' lives spent at barriers.
    BarrierShare,
    /// Share of warps' lives in which they had ended and waited for their block.
    ExitShare,
    /// Share of the time of phases in which warps wait for the slowest of their block: equation 1 of the BAWS paper.
    Rtru,
    /// Threads issued per cycle with at least one issue, on all SMs together.
    LanesPerCycle,
    /// Fetches in a cycle, found or not, on all SMs together.
    FetchesPerCycle,
    /// Share of warps' lives spent in a gang.
    GangShare,
    /// What became of accesses to the data caches, one of [`PER_THOUSAND`], in a thousand instructions by thread.
    PerThousand(&'static str),
    /// Share of accesses to the data caches that hit.
    L1dHitRate,
    /// Share of accesses to the L2 that hit.
    L2HitRate,
    /// Cycles from the request of a line to its last reply.
    ReadLatency,
    /// One of the metrics of lanes, of the pipelines of this kind.
    Lanes(&'static str, &'static str),
    /// Joules, by the table of energies that comes with Raddle.
    Energy,
    /// Joules of a part of the GPU.
    EnergyOf(Component),
    /// Joules times seconds.
    EnergyDelay,
    /// Watts: joules for each second.
    Power,
    /// Watts of a part of the GPU.
    PowerOf(Component),
    /// Bytes DRAM moved.
    DramBytes,
    /// Bytes that went between SMs and memory, both ways.
    MemoryTraffic,
    /// A counter, as `sm.register_bank_conflicts`, with its unit.
    Counter(String, Unit),
    /// Several together.
    Sum(Vec<Metric>),
}

/// Kinds of stalls, as in Figure 10 of the BAWS paper, and the causes each has. Every cause is in one kind, so that they
/// sum up to all empty slots. The paper has no slots without a warp, no fences, which wait for data, and no mechanisms
/// that forbid an instruction.
pub const STALLS: [(&str, &[&str]); 7] = [
    ("control", &["wrong_path"]),
    ("data", &["memory_dependence", "arithmetic_dependence", "fence"]),
    (
        "structural",
        &["sp_busy", "sfu_busy", "load_store_busy", "memory_back_pressure", "gated", "mechanism", "sibling"],
    ),
    ("barrier", &["barrier"]),
    ("exit", &["draining"]),
    ("fetch", &["not_fetched"]),
    ("no-warp", &["no_warp_resident"]),
];

/// What is measured of the integer and floating-point pipelines, `leakage-saved.int` and so on; counts come from a gating
/// scheme other than `none`.
const LANES: [(&str, &str); 3] = [
    ("leakage-saved", "share of leakage that gating saved, switching taken off"),
    ("short-bubbles", "share of time in gaps shorter than ten cycles"),
    ("folded-share", "share of instructions that were folded"),
];

/// What may become of an access to a data cache: names of metrics, and counters.
pub const PER_THOUSAND: [(&str, &str); 3] = [
    ("l1d-hits-per-thousand", "l1d.hits"),
    ("l1d-misses-per-thousand", "l1d.misses"),
    ("l1d-merges-per-thousand", "l1d.pending_hits"),
];

const NAMED: [(&str, Metric, &str); 22] = [
    ("cycles", Metric::Cycles, "cycles"),
    ("warp-ipc", Metric::WarpIpc, "warp-instructions per cycle"),
    ("thread-ipc", Metric::ThreadIpc, "thread-instructions per cycle"),
    ("simd-efficiency", Metric::SimdEfficiency, "SIMD efficiency"),
    ("lanes-per-cycle", Metric::LanesPerCycle, "threads issued per cycle with at least one issue"),
    ("fetches-per-cycle", Metric::FetchesPerCycle, "fetches per cycle"),
    ("gang-share", Metric::GangShare, "share of warps' lives spent in a gang"),
    (PER_THOUSAND[0].0, Metric::PerThousand(PER_THOUSAND[0].0), "hits in the L1D per thousand thread-instructions"),
    (PER_THOUSAND[1].0, Metric::PerThousand(PER_THOUSAND[1].0), "misses in the L1D per thousand thread-instructions"),
    (PER_THOUSAND[2].0, Metric::PerThousand(PER_THOUSAND[2].0), "merged misses per thousand thread-instructions"),
    ("issue-share", Metric::IssueShare, "share of issue slots with an instruction"),
    ("l1d-hit-rate", Metric::L1dHitRate, "share of L1D accesses that hit"),
    ("l2-hit-rate", Metric::L2HitRate, "share of L2 accesses that hit"),
    ("read-latency", Metric::ReadLatency, "mean read latency in cycles"),
    ("dram-bytes", Metric::DramBytes, "bytes DRAM moved"),
    ("memory-traffic", Metric::MemoryTraffic, "bytes between SMs and memory"),
    ("barrier-share", Metric::BarrierShare, "share of warps' lives spent at barriers"),
    ("exit-share", Metric::ExitShare, "share of warps' lives spent waiting for their block to end"),
    ("rtru", Metric::Rtru, "share of phases spent waiting for the slowest warp"),
    ("energy", Metric::Energy, "joules"),
    ("energy-delay", Metric::EnergyDelay, "joules times seconds"),
    ("power", Metric::Power, "watts"),
];

/// Where issue slots go: parts that are every slot together, each with a name. Experiments have them as `slots`.
pub const SLOTS: [(&str, &str); 11] = [
    ("1 to 8 lanes", "sm.issued_1_4 + sm.issued_5_8"),
    ("9 to 16 lanes", "sm.issued_9_12 + sm.issued_13_16"),
    ("17 to 24 lanes", "sm.issued_17_20 + sm.issued_21_24"),
    ("25 to 32 lanes", "sm.issued_25_28 + sm.issued_29_32"),
    (
        "memory",
        "sm.stall_memory_dependence + sm.stall_load_store_busy + sm.stall_memory_back_pressure + sm.stall_fence",
    ),
    ("arithmetic", "sm.stall_arithmetic_dependence + sm.stall_sp_busy + sm.stall_sfu_busy"),
    ("front end", "sm.stall_not_fetched + sm.stall_wrong_path"),
    ("barrier", "sm.stall_barrier"),
    ("draining", "sm.stall_draining"),
    ("mechanism", "sm.stall_gated + sm.stall_mechanism + sm.stall_sibling"),
    ("no warp resident", "sm.stall_no_warp_resident"),
];

fn causes() -> impl Iterator<Item = &'static str> {
    SmCounters::INFO.iter().filter_map(|info| info.name.strip_prefix("stall_"))
}

impl Metric {
    /// The metric of this name, or several as in `sm.stall_not_fetched + sm.stall_wrong_path`. What mechanisms count of their own
    /// is none of these.
    ///
    /// # Errors
    /// When there is none; the help names a close one, or all.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        Self::parse_with(&Registry::new(), text)
    }

    /// The same with the counters of mechanisms, as `issue.two-level.left`. On a machine without the mechanism they are 0.
    ///
    /// # Errors
    /// When there is none; the help names a close one, or all.
    pub fn parse_with(registry: &Registry, text: &str) -> Result<Self, Problem> {
        let parts: Vec<&str> = text.split('+').map(str::trim).collect();
        match parts[..] {
            [name] => Self::named(registry, name),
            _ => Ok(Self::Sum(parts.into_iter().map(|name| Self::named(registry, name)).collect::<Result<_, _>>()?)),
        }
    }

    fn named(registry: &Registry, name: &str) -> Result<Self, Problem> {
        if let Some((_, metric, _)) = NAMED.iter().find(|(known, ..)| *known == name) {
            return Ok(metric.clone());
        }
        if let Some(cause) = name.strip_prefix("stall-share.").filter(|cause| causes().any(|known| known == *cause)) {
            return Ok(Self::StallShare(cause.to_owned()));
        }
        let kind = name.strip_prefix("stalls.").and_then(|name| STALLS.iter().find(|(kind, _)| *kind == name));
        if let Some((kind, _)) = kind {
            return Ok(Self::Stalls(kind));
        }
        if let Some(metric) = lane_metrics().chain(part_metrics()).find(|metric| metric.to_string() == name) {
            return Ok(metric);
        }
        if counters().any(|known| known == name) {
            return Ok(Self::Counter(name.to_owned(), unit(name)));
        }
        let own: Vec<(String, CounterInfo)> = registry.iter().flat_map(|m| m.info.counter_names()).collect();
        if let Some((_, info)) = own.iter().find(|(known, _)| known == name) {
            return Ok(Self::Counter(name.to_owned(), info.unit));
        }
        let kinds = STALLS.iter().map(|(kind, _)| format!("stalls.{kind}"));
        let lanes = lane_metrics().chain(part_metrics()).map(|metric| metric.to_string());
        let shares = causes().map(|cause| format!("stall-share.{cause}")).chain(kinds).chain(lanes);
        let all: Vec<String> = NAMED.iter().map(|(known, ..)| (*known).to_owned()).chain(shares).collect();
        let own = own.into_iter().map(|(name, _)| name);
        let known = [&all[..], &counters().chain(own).collect::<Vec<_>>()].concat();
        let help = match closest(name, known.iter().map(String::as_str)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("metrics are {}, and counters such as sm.barriers", all.join(", ")),
        };
        Err(Problem::new(format!("there is no metric `{name}`")).help(help))
    }

    /// Whether it is the largest of something: a mean of such says nothing.
    #[must_use]
    pub fn is_most(&self) -> bool {
        matches!(self, Self::Counter(_, Unit::MostEntries))
    }

    /// Whether its values are shares, from 0 to 1.
    #[must_use]
    pub fn is_share(&self) -> bool {
        match self {
            Self::SimdEfficiency | Self::IssueShare | Self::StallShare(_) | Self::BarrierShare | Self::ExitShare => {
                true
            }
            Self::Rtru | Self::GangShare | Self::L1dHitRate | Self::L2HitRate | Self::Lanes(..) => true,
            Self::Sum(parts) => parts.iter().all(Self::is_share),
            _ => false,
        }
    }

    /// Whether its values are whole numbers.
    #[must_use]
    pub fn is_count(&self) -> bool {
        match self {
            Self::Cycles | Self::DramBytes | Self::MemoryTraffic | Self::Counter(..) => true,
            Self::Sum(parts) => parts.iter().all(Self::is_count),
            _ => false,
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn about(&self) -> String {
        match self {
            Self::StallShare(cause) => format!("share of issue slots empty for {}", cause.replace('_', " ")),
            Self::Stalls(kind) => format!("empty issue slots: {kind}"),
            Self::Lanes(what, pipe) => {
                let about = LANES.iter().find(|(known, _)| known == what).map_or("", |(_, about)| about);
                format!("{about}, {pipe}")
            }
            Self::EnergyOf(part) => format!("joules, {}", part.title()),
            Self::PowerOf(part) => format!("watts, {}", part.title()),
            Self::Counter(name, _) => launch_counter(name).unwrap_or(name).to_owned(),
            Self::Sum(parts) => {
                let kind = |part: &Self| if let Self::Stalls(kind) = part { Some(*kind) } else { None };
                match parts.iter().map(kind).collect::<Option<Vec<&str>>>() {
                    Some(kinds) => format!("empty issue slots: {}", kinds.join(", ")),
                    None => parts.iter().map(Self::about).collect::<Vec<_>>().join(" + "),
                }
            }
            other => NAMED.iter().find(|(_, metric, _)| metric == other).map_or("", |(.., about)| about).to_owned(),
        }
    }

    /// Its name and its unit, as axes have them; where the name says the unit, the latter is empty.
    #[must_use]
    pub fn quantity(&self) -> (String, &'static str) {
        let named = |name: &str, unit| (name.to_owned(), unit);
        match self {
            Self::WarpIpc => named("IPC", "warp-instructions per cycle"),
            Self::ThreadIpc => named("IPC", "thread-instructions per cycle"),
            Self::SimdEfficiency => named("SIMD efficiency", "share of lanes"),
            Self::ReadLatency => named("mean read latency", "cycles"),
            Self::DramBytes => named("DRAM traffic", "bytes"),
            Self::MemoryTraffic => named("traffic between SMs and memory", "bytes"),
            Self::Energy => named("energy", "J"),
            Self::EnergyOf(part) => (format!("energy of {}", part.title()), "J"),
            Self::EnergyDelay => named("energy-delay product", "J s"),
            Self::Power => named("power", "W"),
            Self::PowerOf(part) => (format!("power of {}", part.title()), "W"),
            Self::Stalls(_) => (self.about(), "slots"),
            Self::Counter(_, unit) => (self.about(), unit.name()),
            Self::Sum(parts) => {
                let mut units = parts.iter().map(|part| part.quantity().1);
                let unit = units.next().unwrap_or_default();
                (self.about(), if units.all(|other| other == unit) { unit } else { "" })
            }
            _ => (self.about(), ""),
        }
    }

    /// Its value in a record, of all kernels together.
    #[must_use]
    pub fn value(&self, record: &Record) -> f64 {
        self.of(&record.identity.machine, &record.kernels)
    }

    /// Its value in what was counted of some kernels on a machine.
    #[must_use]
    pub fn of(&self, machine: &MachineSpec, kernels: &[KernelCounts]) -> f64 {
        let total = |counter: &str| total(kernels, counter) as f64;
        let ratio = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
        match self {
            Self::Cycles => total("cycles"),
            Self::WarpIpc => ratio(total("sm.warp_insts"), total("cycles")),
            Self::ThreadIpc => ratio(total("sm.thread_insts"), total("cycles")),
            Self::SimdEfficiency => {
                let lanes = machine.number(&["sm", "warp_width"]);
                ratio(total("sm.thread_insts"), total("sm.warp_insts") * lanes)
            }
            Self::IssueShare => ratio(slots(kernels, &["issued_"]), slots(kernels, &["issued_", "stall_"])),
            Self::StallShare(cause) => {
                ratio(total(&format!("sm.stall_{cause}")), slots(kernels, &["issued_", "stall_"]))
            }
            Self::Stalls(kind) => {
                let causes = STALLS.iter().filter(|(known, _)| known == kind).flat_map(|(_, causes)| *causes);
                causes.map(|cause| total(&format!("sm.stall_{cause}"))).sum()
            }
            Self::BarrierShare => ratio(total("sm.barrier_wait"), total("sm.warp_life")),
            Self::ExitShare => ratio(total("sm.exit_wait"), total("sm.warp_life")),
            Self::Rtru => ratio(total("sm.phase_wait"), total("sm.phase_time")),
            Self::LanesPerCycle => ratio(total("sm.thread_insts"), total("sm.issue_cycles")),
            Self::FetchesPerCycle => ratio(total("sm.fetches") + total("sm.fetch_misses"), total("cycles")),
            Self::GangShare => ratio(total("sm.gang_time"), total("sm.warp_life")),
            Self::PerThousand(name) => {
                let counter = PER_THOUSAND.iter().find(|(known, _)| known == name).map_or("", |(_, counter)| counter);
                1000.0 * ratio(total(counter), total("sm.thread_insts"))
            }
            Self::L1dHitRate => ratio(total("l1d.hits"), total("l1d.accesses")),
            Self::L2HitRate => ratio(total("l2.hits"), total("l2.accesses")),
            Self::ReadLatency => ratio(total("sm.read_latency"), total("sm.lines_done")),
            Self::DramBytes => (total("dram.reads") + total("dram.writes")) * machine.number(&["dram", "burst_bytes"]),
            Self::Energy => energy::of(machine, kernels).total(),
            Self::EnergyDelay => {
                let energy = energy::of(machine, kernels);
                energy.total() * energy.seconds
            }
            Self::EnergyOf(part) => energy::of(machine, kernels).part(*part).map_or(0.0, Part::total),
            Self::Power => energy::of(machine, kernels).power(),
            Self::PowerOf(part) => energy::of(machine, kernels).power_of(*part),
            Self::MemoryTraffic => total("network-up.bytes") + total("network-down.bytes"),
            Self::Lanes(what, pipe) => {
                let of = |name: &str| total(&format!("{pipe}.{name}"));
                match *what {
                    "leakage-saved" => {
                        ratio(of("uncompensated") + of("compensated") - of("overhead"), of("lane_cycles"))
                    }
                    "short-bubbles" => ratio(of("bubble_1") + of("bubble_2_4") + of("bubble_5_9"), of("pipe_cycles")),
                    _ => ratio(of("folded"), of("entries")),
                }
            }
            Self::Counter(name, unit) => total_of(kernels, name, *unit) as f64,
            Self::Sum(parts) => parts.iter().map(|part| part.of(machine, kernels)).sum(),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StallShare(cause) => write!(f, "stall-share.{cause}"),
            Self::Stalls(kind) => write!(f, "stalls.{kind}"),
            Self::Lanes(what, pipe) => write!(f, "{what}.{pipe}"),
            Self::EnergyOf(part) => write!(f, "energy.{}", part.name()),
            Self::PowerOf(part) => write!(f, "power.{}", part.name()),
            Self::Counter(name, _) => f.write_str(name),
            Self::Sum(parts) => {
                let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
                f.write_str(&names.join(" + "))
            }
            other => f.write_str(NAMED.iter().find(|(_, metric, _)| metric == other).map_or("", |(name, ..)| name)),
        }
    }
}

/// [`LANES`] of both kinds of pipelines.
fn lane_metrics() -> impl Iterator<Item = Metric> {
    LANES.iter().flat_map(|(what, _)| Pipe::ALL.map(|pipe| Metric::Lanes(what, pipe.name())))
}

/// Energy and power of every part of the GPU.
fn part_metrics() -> impl Iterator<Item = Metric> {
    Component::ALL.into_iter().flat_map(|part| [Metric::EnergyOf(part), Metric::PowerOf(part)])
}

/// Issue slots with one of these beginnings.
fn slots(kernels: &[KernelCounts], starts: &[&str]) -> f64 {
    let is_one = |name: &str| starts.iter().any(|start| name.starts_with(start));
    let names = SmCounters::INFO.iter().filter(|info| is_one(info.name));
    names.map(|info| total(kernels, &format!("sm.{}", info.name)) as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    #[test]
    fn names_are_found_and_come_back() {
        let names = ["cycles", "memory-traffic", "stall-share.barrier", "network-up.packets", "l2.hits + l2.misses"];
        let names =
            names.into_iter().chain(["stalls.data", "stalls.no-warp", "rtru", "gang-share", "l1d-misses-per-thousand"]);
        for name in names {
            let metric = Metric::parse(name).unwrap();
            assert_eq!(metric.to_string(), name);
            assert!(!metric.about().is_empty());
        }
        let help = |name: &str| Metric::parse(name).unwrap_err().help.unwrap();
        assert_eq!(help("cycle"), "did you mean `cycles`?");
        assert_eq!(help("l2.hits + l2.mises"), "did you mean `l2.misses`?");
        assert_eq!(help("stall-share.barier"), "did you mean `stall-share.barrier`?");
        assert!(help("zzzzzzzz").starts_with("metrics are cycles, warp-ipc"));
    }

    #[test]
    fn slots_are_all_there_are() {
        let mut counted: Vec<String> = Vec::new();
        for (_, metric) in SLOTS {
            Metric::parse(metric).unwrap();
            counted.extend(metric.split(" + ").map(str::to_owned));
        }
        counted.sort();
        let is_slot = |name: &&str| name.starts_with("issued_") || name.starts_with("stall_");
        let mut all: Vec<String> =
            SmCounters::INFO.iter().map(|info| info.name).filter(is_slot).map(|name| format!("sm.{name}")).collect();
        all.sort();
        assert_eq!(counted, all, "each once");
    }

    #[test]
    fn some_are_counts_and_some_of_these_are_the_largest() {
        let is = |name: &str| Metric::parse(name).map(|m| (m.is_count(), m.is_most())).unwrap();
        assert_eq!(
            [is("sm.stack_depth"), is("sm.barriers"), is("cycles")],
            [(true, true), (true, false), (true, false)]
        );
        assert_eq!((is("thread-ipc"), is("l2.hits + l2.misses")), ((false, false), (true, false)));
    }

    #[test]
    fn kinds_of_stalls_sum_up_to_all_empty_slots() {
        let mut record = record(2);
        // Every cause has a digit of its own.
        for (n, cause) in causes().enumerate() {
            record.kernels[0].counters.insert(format!("sm.stall_{cause}"), 10_u64.pow(n as u32));
        }
        let value = |name: &str| Metric::parse(name).unwrap().value(&record);
        let sum: f64 = STALLS.iter().map(|(kind, _)| value(&format!("stalls.{kind}"))).sum();
        assert_eq!(sum, (10_u64.pow(causes().count() as u32) / 9) as f64, "each cause once");
        let parts = "sm.stall_memory_dependence + sm.stall_arithmetic_dependence + sm.stall_fence";
        assert_eq!(value("stalls.data"), value(parts));
        assert_eq!(value("stalls.exit"), value("sm.stall_draining"));
        assert!(Metric::parse("stalls.nothing").is_err());
    }

    #[test]
    fn waiting_is_a_share() {
        let mut record = record(2);
        let counts =
            [("phase_wait", 60), ("phase_time", 160), ("barrier_wait", 50), ("exit_wait", 30), ("warp_life", 200)];
        let counts = counts.map(|(name, value)| (format!("sm.{name}"), value));
        record.kernels[0].counters.extend(counts);
        let value = |name: &str| Metric::parse(name).unwrap().value(&record);
        assert_eq!((value("rtru"), value("barrier-share"), value("exit-share")), (0.375, 0.25, 0.15));
    }

    #[test]
    fn power_is_energy_over_time() {
        let mut record = record(2);
        let counts = [("sm.cycles", 500), ("sm.fp_threads", 64), ("sm.register_reads", 128), ("l2.accesses", 4)];
        record.kernels[0].counters.extend(counts.map(|(name, value)| (name.to_owned(), value)));
        let value = |name: &str| Metric::parse(name).unwrap().value(&record);
        let seconds = value("energy-delay") / value("energy");
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b && b > 0.0;
        assert!(close(value("power") * seconds, value("energy")));
        assert!(close(value("power.execution") * seconds, value("energy.execution")));
        let sum: f64 = Component::ALL.iter().map(|part| value(&format!("power.{}", part.name()))).sum();
        assert!(close(sum, value("power")), "of all parts together");
        assert_eq!(Metric::parse("power.execution").unwrap().about(), "watts, execution units");
        assert_eq!(Metric::parse("power.executoin").unwrap_err().help.unwrap(), "did you mean `power.execution`?");
    }

    #[test]
    fn lanes_have_shares() {
        let mut record = record(2);
        let counts = [("lane_cycles", 1000), ("uncompensated", 140), ("compensated", 200), ("overhead", 140)];
        let gaps = [("pipe_cycles", 100), ("bubble_1", 5), ("bubble_2_4", 6), ("bubble_5_9", 9), ("bubble_10_18", 30)];
        let entries = [("entries", 20), ("folded", 7)];
        let all = counts.into_iter().chain(gaps).chain(entries);
        record.kernels[0].counters.extend(all.map(|(name, value)| (format!("fp.{name}"), value)));
        let value = |name: &str| Metric::parse(name).unwrap().value(&record);
        assert_eq!((value("leakage-saved.fp"), value("short-bubbles.fp"), value("folded-share.fp")), (0.2, 0.2, 0.35));
        assert_eq!(value("leakage-saved.int"), 0.0);
        let metric = Metric::parse("short-bubbles.int").unwrap();
        assert_eq!(metric.to_string(), "short-bubbles.int");
        assert_eq!(metric.about(), "share of time in gaps shorter than ten cycles, int");
        assert!(Metric::parse("short-bubbles.sfu").is_err());
    }

    #[test]
    fn counters_of_mechanisms_are_metrics() {
        let registry = raddle_mech::registry();
        let name = "issue.two-level.left";
        let metric = Metric::parse_with(&registry, name).unwrap();
        assert_eq!((metric.to_string(), metric.is_count(), metric.is_most()), (name.to_owned(), true, false));
        let mut record = record(2);
        assert_eq!(metric.value(&record), 0.0, "the machine has another scheduler");
        record.kernels[0].counters.insert(name.to_owned(), 5);
        record.kernels.push(record.kernels[0].clone());
        assert_eq!(metric.value(&record), 10.0);
        let most = Metric::Counter(name.to_owned(), Unit::MostEntries);
        assert_eq!((most.value(&record), most.is_most()), (5.0, true));
        let close = Metric::parse_with(&registry, "issue.two-level.lef").unwrap_err();
        assert_eq!(close.help.unwrap(), format!("did you mean `{name}`?"));
        assert!(Metric::parse(name).is_err(), "nobody counts it");
    }

    #[test]
    fn values_are_of_all_kernels() {
        let mut record = record(2);
        let counts = [("sm.thread_insts", 192), ("sm.issued_1_4", 3), ("sm.stall_barrier", 9), ("dram.reads", 2)];
        let bytes = [("network-up.bytes", 50), ("network-down.bytes", 70)];
        record.kernels[0]
            .counters
            .extend(counts.into_iter().chain(bytes).map(|(name, value)| (name.to_owned(), value)));
        record.kernels.push(record.kernels[0].clone());
        let value = |name: &str| Metric::parse(name).unwrap().value(&record);
        assert_eq!((value("cycles"), value("warp-ipc"), value("simd-efficiency")), (400.0, 0.06, 0.5));
        assert_eq!((value("issue-share"), value("stall-share.barrier")), (0.25, 0.75));
        assert_eq!(value("l2-hit-rate"), 0.0);
        assert!(value("dram-bytes") > 0.0);
        assert_eq!(value("sm.stall_barrier + sm.issued_1_4"), 24.0);
        assert_eq!(value("memory-traffic"), 2.0 * (50.0 + 70.0));
        let one = Metric::Cycles.of(&record.identity.machine, &record.kernels[..1]);
        assert_eq!(one, 200.0);
    }
}
