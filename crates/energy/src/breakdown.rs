//! Joules by component.

use crate::Table;
use raddle_sim::config::MachineConfig;
use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::result::{LaunchResult, SmResult};
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::stats::Counters;

/// Components of a GPU whose energy is listed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// SPs and SFUs.
    Execution,
    /// Register file.
    Registers,
    /// Shared memory.
    Shared,
    /// First-level caches.
    L1,
    /// L2.
    L2,
    /// Interconnect.
    Interconnect,
    /// DRAM.
    Dram,
    /// Fetch, decode, scheduling.
    FrontEnd,
    /// Everything else.
    Rest,
}

impl Component {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Execution,
        Self::Registers,
        Self::Shared,
        Self::L1,
        Self::L2,
        Self::Interconnect,
        Self::Dram,
        Self::FrontEnd,
        Self::Rest,
    ];

    /// Its name in outputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Registers => "registers",
            Self::Shared => "shared",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Interconnect => "interconnect",
            Self::Dram => "dram",
            Self::FrontEnd => "front_end",
            Self::Rest => "rest",
        }
    }

    /// What it is, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Execution => "execution units",
            Self::Registers => "register file",
            Self::Shared => "shared memory",
            Self::L1 => "first-level caches",
            Self::L2 => "L2",
            Self::Interconnect => "interconnect",
            Self::Dram => "DRAM",
            Self::FrontEnd => "fetch and issue",
            Self::Rest => "clocks and the rest",
        }
    }
}

/// The properties of a machine that its energy depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hardware {
    /// The core clock, in MHz.
    pub core_mhz: f64,
    /// Lanes of all SPs of an SM.
    pub lanes: f64,
    /// SFU pipelines of an SM.
    pub sfus: f64,
    /// L2 slices of all channels.
    pub l2_slices: f64,
    /// DRAM channels.
    pub channels: f64,
    /// Bytes of a DRAM burst.
    pub burst_bytes: f64,
}

impl From<&MachineConfig> for Hardware {
    fn from(machine: &MachineConfig) -> Self {
        let (units, dram) = (&machine.sm.units, &machine.dram);
        Self {
            core_mhz: f64::from(machine.clock.core),
            lanes: f64::from(machine.sm.sps() * units.sp_lanes),
            sfus: f64::from(units.sfu * machine.sm.subcores.max(1)),
            l2_slices: f64::from(machine.l2.slices * dram.channels),
            channels: f64::from(dram.channels),
            burst_bytes: f64::from(dram.burst_bytes),
        }
    }
}

/// What a machine did: the counters of one launch, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Cycles of the core clock.
    pub cycles: u64,
    /// All SMs.
    pub sm: SmResult,
    /// All L2 slices.
    pub l2: L2Counters,
    /// All DRAM channels.
    pub dram: DramCounters,
    /// Both directions of the interconnect.
    pub network: CrossbarCounters,
}

impl Activity {
    /// Adds a launch.
    pub fn add(&mut self, result: &LaunchResult) {
        let total = result.total();
        self.cycles += result.cycles;
        self.sm.sm.add(&total.sm);
        for (sum, own) in [(&mut self.sm.int, &total.int), (&mut self.sm.fp, &total.fp)] {
            sum.add(own);
        }
        let caches = [
            (&mut self.sm.l1i, &total.l1i),
            (&mut self.sm.l1d, &total.l1d),
            (&mut self.sm.l1c, &total.l1c),
            (&mut self.sm.l1t, &total.l1t),
        ];
        caches.into_iter().for_each(|(sum, own)| sum.add(own));
        self.l2.add(&result.l2_total());
        self.dram.add(&result.dram_total());
        self.network.add(&result.up);
        self.network.add(&result.down);
    }
}

/// The energy that a component used, in joules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The component.
    pub component: Component,
    /// For its activity.
    pub dynamic: f64,
    /// For being powered.
    pub leakage: f64,
}

impl Part {
    /// Both.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.dynamic + self.leakage
    }
}

/// Joules by component.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// Seconds that the run took on the modelled machine.
    pub seconds: f64,
    /// One for each of [`Component::ALL`], in that order.
    pub parts: Vec<Part>,
    /// Leakage of the SPs' lanes that gating saved, less the cost of switching; negative when that cost more.
    pub saved: f64,
}

const PICO: f64 = 1e-12;
const MILLI: f64 = 1e-3;

impl Breakdown {
    /// The energy that a machine used for its activity.
    #[must_use]
    pub fn new(table: &Table, machine: impl Into<Hardware>, activity: &Activity) -> Self {
        let machine = machine.into();
        let Activity { cycles, sm, l2, dram, network } = activity;
        let count = |n: u64| n as f64;
        let cycle = 1e-6 / machine.core_mhz.max(1.0);
        let seconds = count(*cycles) * cycle;
        // Of all SMs together.
        let sm_seconds = count(sm.sm.cycles) * cycle;
        let caches = [&sm.l1i, &sm.l1d, &sm.l1c, &sm.l1t];
        let accesses: u64 = caches.iter().map(|c| c.accesses).sum();
        // A gang is fetched for and issued as one.
        let handled = sm.sm.warp_insts - sm.sm.gang_insts + sm.sm.gang_issues;
        let shared_cycles = sm.sm.shared_accesses + sm.sm.shared_bank_conflicts;
        let bits = count(dram.reads + dram.writes) * machine.burst_bytes * 8.0;

        let x = &table.execution;
        let all_lanes = 2.0 * machine.lanes * sm_seconds;
        let saved = cycle * (saved(&sm.int) + saved(&sm.fp));
        let execution = [
            count(sm.sm.int_threads) * x.int
                + count(sm.sm.fp_threads) * x.fp
                + count(sm.sm.sfu_threads) * x.sfu
                + count(sm.sm.mem_threads) * x.address,
            (all_lanes - saved) * x.lane_leakage + machine.sfus * sm_seconds * x.sfu_leakage,
        ];
        let r = &table.registers;
        let registers =
            [count(sm.sm.register_reads) * r.read + count(sm.sm.register_writes) * r.write, sm_seconds * r.leakage];
        let of = |component: Component| match component {
            Component::Execution => execution,
            Component::Registers => registers,
            Component::Shared => [count(shared_cycles) * table.shared.access, sm_seconds * table.shared.leakage],
            Component::L1 => [count(accesses) * table.l1.access, sm_seconds * table.l1.leakage],
            Component::L2 => [count(l2.accesses) * table.l2.access, machine.l2_slices * seconds * table.l2.leakage],
            Component::Interconnect => {
                [count(network.flits) * table.interconnect.flit, sm_seconds * table.interconnect.leakage]
            }
            Component::Dram => [
                bits * table.dram.bit + count(dram.activates) * table.dram.activate,
                machine.channels * seconds * table.dram.background,
            ],
            Component::FrontEnd => [count(handled) * table.front_end.instruction, 0.0],
            Component::Rest => [0.0, sm_seconds * (table.rest.sm + table.rest.gpu)],
        };
        let part = |component| {
            let [dynamic, leakage] = of(component);
            Part { component, dynamic: dynamic * PICO, leakage: leakage * MILLI }
        };
        let parts = Component::ALL.into_iter().map(part).collect();
        Self { seconds, parts, saved: saved * x.lane_leakage * MILLI }
    }

    /// All components together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.parts.iter().map(Part::total).sum()
    }

    /// Watts of all components together: joules divided by the seconds of the run.
    #[must_use]
    pub fn power(&self) -> f64 {
        self.watts(self.total())
    }

    /// Watts of a component.
    #[must_use]
    pub fn power_of(&self, component: Component) -> f64 {
        self.watts(self.part(component).map_or(0.0, Part::total))
    }

    fn watts(&self, joules: f64) -> f64 {
        if self.seconds == 0.0 { 0.0 } else { joules / self.seconds }
    }

    /// The share of a component.
    #[must_use]
    pub fn share(&self, component: Component) -> f64 {
        let own: f64 = self.parts.iter().filter(|p| p.component == component).map(Part::total).sum();
        own / self.total().max(f64::MIN_POSITIVE)
    }

    /// A component.
    #[must_use]
    pub fn part(&self, component: Component) -> Option<&Part> {
        self.parts.iter().find(|p| p.component == component)
    }
}

/// Cycles of lanes that did not leak, less what switching costs.
fn saved(lanes: &LaneCounters) -> f64 {
    lanes.saved() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    fn machine() -> MachineConfig {
        Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config
    }

    /// A second of 700 million cycles on one of the machine's SMs.
    fn activity() -> Activity {
        let mut activity = Activity { cycles: 700_000_000, ..Activity::default() };
        activity.sm.sm.cycles = 700_000_000;
        activity
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    #[test]
    fn every_value_of_the_table_counts() {
        let machine = machine();
        let mut activity = activity();
        let sm = &mut activity.sm.sm;
        (sm.int_threads, sm.fp_threads, sm.sfu_threads, sm.mem_threads) = (1_000, 2_000, 3_000, 4_000);
        (sm.register_reads, sm.register_writes, sm.warp_insts) = (5_000, 6_000, 7_000);
        (sm.shared_accesses, sm.shared_bank_conflicts) = (800, 200);
        (activity.sm.l1i.accesses, activity.sm.l1t.accesses, activity.l2.accesses) = (10, 20, 40);
        (activity.network.flits, activity.dram.reads, activity.dram.activates) = (50, 60, 70);
        let plain = Breakdown::new(&Table::gtx480(), &machine, &activity);
        let text = toml::to_string(&Table::gtx480()).unwrap();
        let mut group = String::new();
        let mut values = 0;
        for line in text.lines() {
            if line.starts_with('[') {
                group = line.to_owned();
            } else if let Some((name, value)) = line.split_once(" = ") {
                let doubled = value.parse::<f64>().unwrap() * 2.0 + 1.0;
                let table = Table::with(&format!("{group}\n{name} = {doubled:?}")).unwrap();
                let changed = Breakdown::new(&table, &machine, &activity);
                assert!(changed.total() > plain.total(), "{group} {name} does not count");
                let others = plain.parts.iter().zip(&changed.parts).filter(|(a, b)| a != b).count();
                assert_eq!(others, 1, "{group} {name} counts for one component");
                values += 1;
            }
        }
        assert_eq!(values, 23);
        let shares: f64 = Component::ALL.iter().map(|c| plain.share(*c)).sum();
        assert!(close(shares, 1.0) && close(plain.seconds, 1.0));
    }

    #[test]
    fn a_milliwatt_for_a_second_is_a_millijoule() {
        let machine = machine();
        let (plain, table) = (activity(), Table::with("[execution]\nlane_leakage = 1.0\nsfu_leakage = 0.0").unwrap());
        let breakdown = Breakdown::new(&table, &machine, &plain);
        // Two SPs of 16 lanes, each with two pipelines.
        let execution = breakdown.part(Component::Execution).unwrap();
        assert!(close(execution.leakage, 64e-3) && execution.dynamic == 0.0, "{execution:?}");
        let table = Table::with("[dram]\nbit = 1.0\nactivate = 0.0\nbackground = 0.0").unwrap();
        let mut busy = plain.clone();
        busy.dram.reads = 1_000_000;
        let breakdown = Breakdown::new(&table, &machine, &busy);
        assert!(close(breakdown.part(Component::Dram).unwrap().total(), 64.0 * 8.0 * 1e6 * 1e-12));
    }

    #[test]
    fn power_is_energy_over_time() {
        let (mut short, table) = (activity(), Table::gtx480());
        (short.cycles, short.sm.sm.cycles) = (350_000_000, 350_000_000);
        let [long, short] = [&activity(), &short].map(|of| Breakdown::new(&table, &machine(), of));
        assert!(close(long.power(), long.total()), "it took a second");
        assert!(close(short.total(), long.total() / 2.0) && close(short.power(), long.power()), "what leaks, leaks on");
        let parts: f64 = Component::ALL.iter().map(|c| short.power_of(*c)).sum();
        assert!(close(parts, short.power()));
        let nothing = Breakdown::new(&table, &machine(), &Activity::default());
        assert_eq!((nothing.power(), nothing.power_of(Component::Dram)), (0.0, 0.0));
    }

    #[test]
    fn a_gang_is_fetched_for_and_issued_once() {
        let (mut apart, mut together) = (activity(), activity());
        (apart.sm.sm.warp_insts, together.sm.sm.warp_insts) = (300, 800);
        (together.sm.sm.gang_insts, together.sm.sm.gang_issues) = (600, 100);
        let front_end = |activity: &Activity| {
            let breakdown = Breakdown::new(&Table::gtx480(), &machine(), activity);
            breakdown.part(Component::FrontEnd).unwrap().total()
        };
        assert!(close(front_end(&together), front_end(&apart)));
    }

    #[test]
    fn gating_saves_what_its_account_says() {
        let (machine, table) = (machine(), Table::with("[execution]\nlane_leakage = 1.0\nsfu_leakage = 0.0").unwrap());
        let mut gated = activity();
        // Half of the floating-point lanes' time without power, a tenth of that spent on switching.
        let cycles = 700_000_000 * 32;
        gated.sm.fp = LaneCounters { compensated: cycles / 2, overhead: cycles / 20, ..LaneCounters::default() };
        let breakdown = Breakdown::new(&table, &machine, &gated);
        assert!(close(breakdown.saved, 0.45 * 32e-3), "{}", breakdown.saved);
        assert!(close(breakdown.part(Component::Execution).unwrap().leakage, 64e-3 - 0.45 * 32e-3));
        // Switching that costs more than it saves.
        gated.sm.int = LaneCounters { uncompensated: 10, overhead: cycles, ..LaneCounters::default() };
        assert!(Breakdown::new(&table, &machine, &gated).saved < 0.0);
    }
}
