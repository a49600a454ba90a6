//! What slows a kernel down: ten problems that are known, looked for in its profile.
//!
//! Each has the line to look at and a bound on what it costs, from counters: no more than that can be saved. Bounds of different
//! problems overlap, as one slot can be lost to several. What a problem really costs is the difference to the same launch on a machine
//! that does not have it ([`Advice::ideal`]), where there is such a machine.

use crate::numbers::ratio;
use crate::profile::{KernelProfile, Line, LineProfile};
use raddle_sim::config::MachineConfig;
use raddle_sim::profile::PcCounters;
use std::cmp::Reverse;

/// The share of a kernel's cycles from which on a problem is told of.
pub const WORTH_TELLING: f64 = 0.05;

/// A problem that is known; `Problem` is what a user got wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// Lanes of an access ask for words in many sectors.
    Coalescing,
    /// Lanes of an access want different words of one bank of shared memory.
    Banks,
    /// Lanes take different ways.
    Divergence,
    /// An SM has room for few warps.
    Residency,
    /// SMs have no work in the end, or never had any.
    Tail,
    /// Warps wait at barriers for others.
    Barriers,
    /// Instructions wait for values.
    Latency,
    /// Lanes have atomics on the same address.
    Atomics,
    /// Values of threads are in local memory.
    Local,
    /// Instructions are not there in time.
    FrontEnd,
}

impl Bottleneck {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Coalescing,
        Self::Banks,
        Self::Divergence,
        Self::Residency,
        Self::Tail,
        Self::Barriers,
        Self::Latency,
        Self::Atomics,
        Self::Local,
        Self::FrontEnd,
    ];

    /// One word for data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Coalescing => "coalescing",
            Self::Banks => "banks",
            Self::Divergence => "divergence",
            Self::Residency => "residency",
            Self::Tail => "tail",
            Self::Barriers => "barriers",
            Self::Latency => "latency",
            Self::Atomics => "atomics",
            Self::Local => "local",
            Self::FrontEnd => "front-end",
        }
    }

    /// A few words for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Coalescing => "uncoalesced access",
            Self::Banks => "bank conflicts",
            Self::Divergence => "divergence",
            Self::Residency => "low residency",
            Self::Tail => "idle SMs",
            Self::Barriers => "waits at barriers",
            Self::Latency => "waits for values",
            Self::Atomics => "atomics on one address",
            Self::Local => "local memory",
            Self::FrontEnd => "instructions not fetched",
        }
    }

    /// What usually helps.
    #[must_use]
    pub fn helps(self) -> &'static str {
        match self {
            Self::Coalescing => {
                "let neighbouring threads use neighbouring words: swap loops or indices, use arrays of each field instead of an \
                 array of structs, or bring a tile into shared memory first"
            }
            Self::Banks => "pad rows by one word (tile[32][33]), or let neighbouring threads use neighbouring words",
            Self::Divergence => {
                "sort or group work so that threads of a warp take the same path, make both sides the same code, or let \
                 a whole warp work on one item; --divergence tbc shows what regrouping threads in hardware would do"
            }
            Self::Residency => "use less of that resource, or smaller blocks; __launch_bounds__ limits registers",
            Self::Tail => "launch more and smaller blocks, or let each block do a part of the work of the longest ones",
            Self::Barriers => {
                "give all warps of a block the same work before a barrier, use smaller blocks, or fewer barriers"
            }
            Self::Latency => {
                "load earlier than the value is needed, work on several independent elements per thread, keep what is used \
                 again in shared memory or registers, or have more warps"
            }
            Self::Atomics => "combine within a warp or block first (shuffles, shared memory) and add once",
            Self::Local => {
                "index arrays by constants (unroll), or keep them in shared memory; allow more registers where the compiler \
                 spills"
            }
            Self::FrontEnd => "unroll less, keep the loop within the instruction cache, or have more warps",
        }
    }

    /// What of a machine makes the problem go away, as `--set` takes it; `None` where no machine does.
    #[must_use]
    pub fn ideal(self, kernel: &KernelProfile, machine: &MachineConfig) -> Option<Vec<String>> {
        let one = |change: &str| Some(vec![change.to_owned()]);
        match self {
            Self::Coalescing => one("sm.ideal.coalescing=true"),
            Self::Banks => one("sm.ideal.banks=true"),
            Self::Latency if waits_for_memory(&kernel.total()) => one("sm.ideal.memory=true"),
            Self::Latency => Some(short_pipelines(machine)),
            Self::Atomics => one("sm.ideal.atomics=true"),
            Self::Local => one("sm.ideal.local=true"),
            Self::FrontEnd => one("sm.fetch.ideal=true"),
            Self::Residency => Some(room_for_all(kernel, machine)),
            Self::Divergence | Self::Tail | Self::Barriers => None,
        }
    }
}

/// Whether instructions wait more for memory than for arithmetic.
fn waits_for_memory(total: &PcCounters) -> bool {
    total.stall_memory_dependence >= total.stall_arithmetic_dependence
}

/// An SM whose instructions take no longer than until the next can follow.
fn short_pipelines(machine: &MachineConfig) -> Vec<String> {
    let all = machine.sm.latency.named().into_iter();
    let long = all.filter(|(_, timing)| timing.latency > timing.interval);
    long.map(|(name, timing)| format!("sm.latency.{name}.latency={}", timing.interval)).collect()
}

/// An SM with registers, shared memory and blocks for as many threads as it may hold.
fn room_for_all(kernel: &KernelProfile, machine: &MachineConfig) -> Vec<String> {
    let (sm, residency) = (&machine.sm, &kernel.longest.residency);
    let blocks = (sm.threads / kernel.longest.threads.max(1)).max(1);
    let needs = [
        ("sm.ctas", sm.ctas, blocks),
        ("sm.registers", sm.registers, sm.threads.saturating_mul(residency.registers)),
        ("sm.shared_bytes", sm.shared_bytes, residency.shared.saturating_mul(blocks)),
    ];
    needs.iter().filter(|(_, has, needs)| needs > has).map(|(key, _, needs)| format!("{key}={needs}")).collect()
}

/// A problem of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Which.
    pub problem: Bottleneck,
    /// Where to look, if it has a place.
    pub line: Option<Line>,
    /// Cycles it can cost at most.
    pub at_most: u64,
    /// What was counted, in a sentence.
    pub because: String,
    /// What of the machine makes it go away.
    pub ideal: Option<Vec<String>>,
}

/// The problems of a kernel that are worth telling, the one that can cost most first.
#[must_use]
pub fn advice(kernel: &KernelProfile, machine: &MachineConfig) -> Vec<Advice> {
    let seen = Seen::new(kernel, machine);
    let least = WORTH_TELLING * kernel.cycles as f64;
    let mut all: Vec<Advice> = Bottleneck::ALL
        .iter()
        .filter_map(|problem| {
            let (cycles, line, because) = seen.look(*problem)?;
            (cycles >= least && cycles > 0.0).then(|| Advice {
                problem: *problem,
                line: line.map(|line| line.line.clone()),
                at_most: cycles.min(kernel.cycles as f64).round() as u64,
                because,
                ideal: problem.ideal(kernel, machine),
            })
        })
        .collect();
    all.sort_by_key(|advice| Reverse(advice.at_most));
    all
}

/// What is found of a problem: cycles, a line, a sentence.
type Found<'k> = (f64, Option<&'k LineProfile>, String);

/// A kernel as it is looked at.
struct Seen<'k> {
    kernel: &'k KernelProfile,
    machine: &'k MachineConfig,
    total: PcCounters,
}

impl<'k> Seen<'k> {
    fn new(kernel: &'k KernelProfile, machine: &'k MachineConfig) -> Self {
        Self { kernel, machine, total: kernel.total() }
    }

    /// Slots as cycles of the kernel.
    fn cycles(&self, slots: f64) -> f64 {
        slots * self.kernel.cycles as f64 / self.kernel.slots.max(1) as f64
    }

    /// Slots that were lost to memory.
    fn memory_slots(&self) -> f64 {
        let PcCounters { stall_memory_dependence, stall_memory_back_pressure, stall_load_store_busy, .. } = &self.total;
        (stall_memory_dependence + stall_memory_back_pressure + stall_load_store_busy) as f64
    }

    /// The line with the most of something, and how much all lines have of it; none of nothing.
    fn most(&self, of: impl Fn(&PcCounters) -> f64) -> Option<(&'k LineProfile, f64)> {
        let sum: f64 = self.kernel.lines.iter().map(|line| of(&line.counters)).sum();
        let first = self.kernel.lines.iter().rev().max_by(|a, b| of(&a.counters).total_cmp(&of(&b.counters)))?;
        (sum > 0.0).then_some((first, sum))
    }

    fn look(&self, problem: Bottleneck) -> Option<Found<'k>> {
        match problem {
            Bottleneck::Coalescing => self.coalescing(),
            Bottleneck::Banks => self.banks(),
            Bottleneck::Divergence => self.divergence(),
            Bottleneck::Residency => self.residency(),
            Bottleneck::Tail => self.tail(),
            Bottleneck::Barriers => self.barriers(),
            Bottleneck::Latency => self.latency(),
            Bottleneck::Atomics => self.atomics(),
            Bottleneck::Local => self.local(),
            Bottleneck::FrontEnd => self.front_end(),
        }
    }

    fn coalescing(&self) -> Option<Found<'k>> {
        // Atomics and local memory are problems of their own.
        let excess = |c: &PcCounters| match c.atomic_requests + c.local_requests {
            0 => c.sectors.saturating_sub(c.least_sectors) as f64,
            _ => 0.0,
        };
        let (line, sum) = self.most(excess)?;
        let c = &line.counters;
        let slots = self.memory_slots() * sum / self.total.sectors.max(1) as f64;
        let text = format!(
            "an access asks for {:.1} sectors, and {:.1} would hold its bytes",
            ratio(c.sectors, c.accesses),
            ratio(c.least_sectors, c.accesses)
        );
        Some((self.cycles(slots), Some(line), text))
    }

    fn banks(&self) -> Option<Found<'k>> {
        let (line, sum) = self.most(|c| c.shared_bank_conflicts as f64)?;
        let c = &line.counters;
        let cycles = 1.0 + ratio(c.shared_bank_conflicts, c.shared_accesses);
        let text = format!("an access to shared memory takes {cycles:.1} cycles instead of 1");
        Some((sum / f64::from(self.machine.gpu.sms.max(1)), Some(line), text))
    }

    fn divergence(&self) -> Option<Found<'k>> {
        let lost = |c: &PcCounters| {
            let lanes = c.lanes_active + c.lanes_guard + c.lanes_diverged + c.lanes_ended;
            c.issued as f64 * ratio(c.lanes_diverged, lanes)
        };
        let (body, slots) = self.most(lost)?;
        let executed = ratio(self.total.lanes_active, self.total.warp_insts);
        let (line, text) = match self.most(|c| c.diverged as f64) {
            Some((branch, _)) => {
                let c = &branch.counters;
                let share = 100.0 * ratio(c.diverged, c.taken + c.not_taken + c.diverged);
                (
                    branch,
                    format!("{share:.0} % of its branches diverge; an instruction has {executed:.1} lanes on average"),
                )
            }
            None => (body, format!("an instruction has {executed:.1} lanes on average")),
        };
        Some((self.cycles(slots), Some(line), text))
    }

    fn residency(&self) -> Option<Found<'k>> {
        let (shape, sm) = (&self.kernel.longest, &self.machine.sm);
        let most = sm.threads / sm.warp_width.max(1);
        let fill = shape.fill(self.machine);
        let has_more = fill.blocks > fill.places();
        if shape.residency.limit == "threads" || shape.residency.warps * 2 > most || !has_more {
            return None;
        }
        let (line, slots) = self.most(|c| (c.stall_memory_dependence + c.stall_arithmetic_dependence) as f64)?;
        let what = match shape.residency.limit {
            "registers" => format!("{} registers per thread", shape.residency.registers),
            "shared memory" => format!("{} bytes of shared memory per block", shape.residency.shared),
            _ => format!("blocks of {} threads, {} of which fit", shape.threads, sm.ctas),
        };
        let text = format!("an SM holds {} of {most} warps, because of {what}", shape.residency.warps);
        Some((self.cycles(slots), Some(line), text))
    }

    fn tail(&self) -> Option<Found<'k>> {
        let fill = self.kernel.longest.fill(self.machine);
        let share = 100.0 * ratio(self.kernel.no_warp, self.kernel.slots);
        let text = format!("{share:.0} % of the slots had no warp resident: {fill}");
        Some((self.cycles(self.kernel.no_warp as f64), None, text))
    }

    fn barriers(&self) -> Option<Found<'k>> {
        let (line, slots) = self.most(|c| c.stall_barrier as f64)?;
        let share = 100.0 * ratio(line.counters.stall_barrier, self.kernel.slots);
        let text = format!("{share:.0} % of the slots were lost because warps waited at this barrier for others");
        Some((self.cycles(slots), Some(line), text))
    }

    fn latency(&self) -> Option<Found<'k>> {
        let is_memory = waits_for_memory(&self.total);
        let waits = |c: &PcCounters| if is_memory { c.stall_memory_dependence } else { c.stall_arithmetic_dependence };
        let (line, slots) = self.most(|c| waits(c) as f64)?;
        let share = 100.0 * ratio(waits(&line.counters), self.kernel.slots);
        let text = match is_memory {
            true => {
                let latency = ratio(self.total.read_latency, self.total.lines_done);
                format!("{share:.0} % of the slots waited here for memory; a line takes {latency:.0} cycles to arrive")
            }
            false => format!("{share:.0} % of the slots waited here for the results of instructions just before"),
        };
        Some((self.cycles(slots), Some(line), text))
    }

    fn atomics(&self) -> Option<Found<'k>> {
        let repeated = |c: &PcCounters| match c.atomic_requests {
            0 => 0.0,
            _ => c.requests.saturating_sub(c.least_sectors) as f64,
        };
        let (line, sum) = self.most(repeated)?;
        let c = &line.counters;
        let slots = (self.total.stall_fence as f64 + self.memory_slots()) * sum / self.total.requests.max(1) as f64;
        let text = format!(
            "an atomic makes {:.1} requests, because its lanes access the same bytes",
            ratio(c.requests, c.accesses)
        );
        Some((self.cycles(slots), Some(line), text))
    }

    fn local(&self) -> Option<Found<'k>> {
        let (line, sum) = self.most(|c| c.local_requests as f64)?;
        let share = sum / self.total.requests.max(1) as f64;
        let text = format!("{:.0} % of all requests are to local memory", 100.0 * share);
        Some((self.cycles(self.memory_slots() * share), Some(line), text))
    }

    fn front_end(&self) -> Option<Found<'k>> {
        let (line, slots) = self.most(|c| (c.stall_not_fetched + c.stall_wrong_path) as f64)?;
        let share = 100.0 * slots / self.kernel.slots.max(1) as f64;
        let text = format!("{share:.0} % of the slots were lost because instructions had not been fetched");
        Some((self.cycles(slots), Some(line), text))
    }
}
