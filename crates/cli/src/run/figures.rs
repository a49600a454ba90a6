//! What the timing model measured, in a few lines for people.

use super::launches::time_text;
use crate::out::{grouped, percent, rate, ratio, table};
use raddle_runtime::timing::Timed;
use raddle_sim::config::MachineConfig;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::residency::Residency;
use raddle_sim::result::SmResult;
use raddle_sim::seam::{Cause, Counted};
use raddle_sim::sm::counters::SmCounters;
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::stats::Counters;
use std::time::Duration;

/// The figures of one launch, or of the same launch several times.
pub struct Figures {
    /// Cycles.
    pub cycles: u64,
    /// All SMs.
    pub sm: SmResult,
    /// All L2 slices.
    pub l2: L2Counters,
    /// All DRAM channels.
    pub dram: DramCounters,
    /// What mechanisms count of their own, by seam.
    own: Vec<Counted>,
    residency: Residency,
}

impl Figures {
    /// The sum over launches of the same shape; none without a launch.
    pub fn sum(launches: &[&Timed]) -> Option<Self> {
        let (first, rest) = launches.split_first()?;
        let result = &first.result;
        let (sm, l2, dram, own) = (result.total(), result.l2_total(), result.dram_total(), result.own_total());
        let mut sum = Self { cycles: result.cycles, sm, l2, dram, own, residency: first.residency.clone() };
        rest.iter().for_each(|timed| sum.add(timed));
        Some(sum)
    }

    /// Adds one more launch.
    pub fn add(&mut self, timed: &Timed) {
        let result = &timed.result;
        let sm = result.total();
        self.cycles += result.cycles;
        self.sm.sm.add(&sm.sm);
        self.sm.int.add(&sm.int);
        self.sm.fp.add(&sm.fp);
        self.sm.l1d.add(&sm.l1d);
        self.l2.add(&result.l2_total());
        self.dram.add(&result.dram_total());
        Counted::add(&mut self.own, &result.own_total());
    }

    /// Warp and thread instructions per cycle.
    pub fn ipc(&self) -> (f64, f64) {
        let cycles = self.cycles.max(1) as f64;
        (self.sm.sm.warp_insts as f64 / cycles, self.sm.sm.thread_insts as f64 / cycles)
    }

    /// Active lanes per issued instruction, of the lanes a warp has.
    pub fn simd_efficiency(&self, machine: &MachineConfig) -> f64 {
        ratio(self.sm.sm.thread_insts, self.sm.sm.warp_insts * u64::from(machine.sm.warp_width))
    }

    /// Bytes DRAM moved.
    pub fn dram_bytes(&self, machine: &MachineConfig) -> u64 {
        (self.dram.reads + self.dram.writes) * u64::from(machine.dram.burst_bytes)
    }

    /// The share of column commands DRAM could have carried out in the time.
    pub fn dram_use(&self, machine: &MachineConfig) -> f64 {
        let clock = f64::from(machine.clock.dram) / f64::from(machine.clock.core.max(1));
        let commands = self.cycles as f64 * clock / f64::from(machine.dram.timing.ccd.max(1));
        (self.dram.reads + self.dram.writes) as f64 / (commands * f64::from(machine.dram.channels)).max(1.0)
    }

    /// Core cycles from a request to the last reply of its line.
    pub fn read_latency(&self) -> f64 {
        self.sm.sm.read_latency as f64 / self.sm.sm.lines_done.max(1) as f64
    }

    /// A few lines.
    pub fn text(&self, machine: &MachineConfig, wall: Duration) -> Vec<String> {
        let (sm, l1d, l2) = (&self.sm.sm, &self.sm.l1d, &self.l2);
        let rate = rate(self.cycles as f64 / wall.as_secs_f64().max(1e-9));
        let (warp_ipc, thread_ipc) = self.ipc();
        let Residency { ctas, warps, registers, capped, shared, limit } = &self.residency;
        let capped = capped.map(|c| format!(" (needs {}, {} allows no more)", c.needs, c.by)).unwrap_or_default();
        let mut rows = vec![
            ("cycles", format!("{}  (simulated in {}, {rate})", grouped(self.cycles), time_text(wall))),
            ("warp-instructions", format!("{}  (IPC {warp_ipc:.3})", grouped(sm.warp_insts))),
            ("thread-instructions", format!("{}  (IPC {thread_ipc:.2})", grouped(sm.thread_insts))),
            ("SIMD efficiency", percent(self.simd_efficiency(machine))),
            ("residency", format!("{ctas} blocks ({warps} warps) per SM, limited by {limit}")),
            ("a block takes", format!("{registers} registers per thread{capped}, {shared} bytes of shared memory")),
        ];
        if l1d.accesses > 0 {
            let hits = percent(ratio(l1d.hits, l1d.accesses));
            let pending = percent(ratio(l1d.pending_hits, l1d.accesses));
            rows.push(("L1D hits", format!("{hits} of {}, {pending} pending hits", accesses(l1d.accesses))));
        }
        if l2.accesses > 0 {
            let hits = percent(ratio(l2.hits, l2.accesses));
            let pending = percent(ratio(l2.pending_hits, l2.accesses));
            rows.push(("L2 hits", format!("{hits} of {}, {pending} pending hits", accesses(l2.accesses))));
        }
        if sm.global_accesses > 0 {
            let sectors = ratio(sm.global_sectors, sm.global_accesses);
            rows.push((
                "coalescing",
                format!("{sectors:.1} sectors per global access, {}", accesses(sm.global_accesses)),
            ));
        }
        if sm.shared_accesses > 0 {
            let (all, lost) = (accesses(sm.shared_accesses), grouped(sm.shared_bank_conflicts));
            rows.push(("shared memory", format!("{all}, {lost} cycles of bank conflicts")));
        }
        let bytes = self.dram_bytes(machine);
        rows.push(("DRAM", format!("{} bytes, {} of its bandwidth", grouped(bytes), percent(self.dram_use(machine)))));
        if sm.lines_done > 0 {
            let lines = grouped(sm.lines_done);
            rows.push(("mean read latency", format!("{:.0} cycles over {lines} lines", self.read_latency())));
        }
        for (name, lanes) in [("integer lanes", &self.sm.int), ("floating-point lanes", &self.sm.fp)] {
            if lanes.lane_cycles > 0 {
                rows.push((name, lanes_text(lanes)));
            }
        }
        let mut rows: Vec<(String, String)> = rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        rows.extend(own_rows(&self.own));
        let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
        let mut lines: Vec<String> = rows.iter().map(|(name, value)| format!("  {name:<width$}  {value}")).collect();
        lines.push(format!("  issue slots: {}", grouped(sm.slots())));
        let slots = slots(sm).into_iter().map(|(name, count, share)| {
            vec![format!("    {name}"), grouped(count), format!("{}.{} %", share / 10, share % 10)]
        });
        lines.extend(table(&slots.collect::<Vec<_>>()).lines().map(str::to_owned));
        lines
    }
}

/// What mechanisms counted of their own, a row for each.
fn own_rows(own: &[Counted]) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for counted in own {
        let (name, value) = (counted.group(), format!("{} {}", counted.info.name, grouped(counted.value)));
        match rows.last_mut().filter(|row| row.0 == name) {
            Some(row) => row.1 += &format!(", {value}"),
            None => rows.push((name, value)),
        }
    }
    rows
}

/// How long lanes were busy and gated.
fn lanes_text(lanes: &LaneCounters) -> String {
    let share = |cycles: u64| percent(ratio(cycles, lanes.lane_cycles));
    let mut text = format!("{} busy", share(lanes.active));
    if lanes.gatings > 0 {
        let saved = lanes.saved() as f64 / lanes.lane_cycles as f64;
        let gated = share(lanes.uncompensated + lanes.compensated);
        text += &format!(", {gated} gated, {} of leakage saved", percent(saved));
    }
    if lanes.folded > 0 {
        text += &format!(", {} of instructions folded", percent(ratio(lanes.folded, lanes.entries)));
    }
    text
}

fn accesses(n: u64) -> String {
    format!("{} access{}", grouped(n), if n == 1 { "" } else { "es" })
}

/// Every use of issue slots that occurred: name, slots, and its share in thousandths, which add up to 1000.
pub fn slots(sm: &SmCounters) -> Vec<(String, u64, u64)> {
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    for (info, value) in SmCounters::INFO.iter().zip(sm.values()).filter(|(_, value)| *value > 0) {
        let name = match (info.name.strip_prefix("issued_"), info.name.strip_prefix("stall_")) {
            (Some(lanes), _) => format!("issued, {} lanes", lanes.replace('_', " to ")),
            (None, Some(cause)) => cause_text(cause).to_owned(),
            (None, None) => continue,
        };
        rows.push((name, value, 0));
    }
    share_out(&mut rows);
    rows
}

/// The text of a cause that is named as in counters.
fn cause_text(name: &str) -> &str {
    Cause::ALL.iter().find(|cause| cause.name() == name).map_or(name, |cause| cause.text())
}

/// Shares in thousandths by largest remainder, so that they add up to 1000.
fn share_out(rows: &mut [(String, u64, u64)]) {
    let total: u128 = rows.iter().map(|r| u128::from(r.1)).sum();
    if total == 0 {
        return;
    }
    let exact = |count: u64| (u128::from(count) * 1000 / total, u128::from(count) * 1000 % total);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(exact(rows[*n].1).1));
    rows.iter_mut().for_each(|r| r.2 = exact(r.1).0 as u64);
    let missing = 1000 - rows.iter().map(|r| r.2).sum::<u64>();
    order.iter().take(missing as usize).for_each(|n| rows[*n].2 += 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let sm =
            SmCounters { issued_29_32: 1, stall_not_fetched: 1, stall_no_warp_resident: 1, ..SmCounters::default() };
        let rows = slots(&sm);
        let shares: Vec<u64> = rows.iter().map(|r| r.2).collect();
        assert_eq!(shares, [334, 333, 333]);
        assert_eq!(rows[0].0, "issued, 29 to 32 lanes");
        assert!(slots(&SmCounters::default()).is_empty());
    }
}
