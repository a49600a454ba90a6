//! The table at the end of a program: what each kernel did.

use crate::out::{self, grouped, percent};
use crate::run::figures::{Figures, slots};
use crate::run::launches::time_text;
use crate::run::timing_json;
use raddle_cuda::names;
use raddle_runtime::outcome::Launched;
use raddle_runtime::sample::LaunchSample;
use raddle_sim::config::{Machine, MachineConfig};
use serde_json::{Value, json};
use std::time::Duration;

/// Causes of lost slots that a row names.
const CAUSES: usize = 3;

/// Everything that ran, by kernel in the order of their first launches.
#[derive(Default)]
pub struct Kernels {
    list: Vec<Kernel>,
}

/// One kernel.
#[derive(Default)]
struct Kernel {
    /// As the program has it.
    name: String,
    launches: u64,
    /// Launches that were simulated in time, and their cycles.
    timed: u64,
    cycles: u64,
    /// Cycles and warp-instructions that others are compared by: of the first launch, and of all behind it. The first
    /// finds caches cold.
    first: [u64; 2],
    later: [u64; 2],
    /// Cycles that were estimated.
    estimated: f64,
    thread_insts: u64,
    warp_insts: u64,
    figures: Option<Figures>,
    wall: Duration,
}

/// Picoseconds that so many cycles of the core clock take.
fn picoseconds(cycles: f64, machine: &MachineConfig) -> u64 {
    (cycles * 1e6 / f64::from(machine.clock.core.max(1))).round() as u64
}

/// Without time a warp-instruction counts as one nanosecond.
const TIMELESS: u64 = 1000;

impl Kernels {
    /// Whether nothing ran.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Launches of a kernel that were simulated in time.
    pub fn timed(&self, name: &str) -> u64 {
        self.list.iter().find(|kernel| kernel.name == name).map_or(0, |kernel| kernel.timed)
    }

    /// Counts a launch; gives the time it took, in picoseconds.
    pub fn add(&mut self, launched: &Launched, machine: Option<&MachineConfig>) -> u64 {
        let at = self.list.iter().position(|kernel| kernel.name == launched.kernel).unwrap_or_else(|| {
            self.list.push(Kernel { name: launched.kernel.clone(), ..Kernel::default() });
            self.list.len() - 1
        });
        let kernel = &mut self.list[at];
        kernel.launches += 1;
        kernel.wall += launched.wall;
        kernel.thread_insts += launched.report.thread_insts;
        kernel.warp_insts += launched.report.warp_insts;
        let Some(machine) = machine else { return launched.report.warp_insts * TIMELESS };
        let cycles = match (&launched.sample, &launched.timed) {
            (Some(LaunchSample::Part(part)), _) => {
                kernel.estimated += part.estimate.cycles;
                part.estimate.cycles
            }
            (_, Some(timed)) => {
                let measured = [timed.result.cycles, launched.report.warp_insts];
                match kernel.timed {
                    0 => kernel.first = measured,
                    _ => kernel.later = std::array::from_fn(|n| kernel.later[n] + measured[n]),
                }
                kernel.timed += 1;
                kernel.cycles += timed.result.cycles;
                timed.result.cycles as f64
            }
            (_, None) => {
                let [cycles, work] = if kernel.later[1] > 0 { kernel.later } else { kernel.first };
                let cycles = launched.report.warp_insts as f64 * cycles as f64 / work.max(1) as f64;
                kernel.estimated += cycles;
                cycles
            }
        };
        if let Some(timed) = &launched.timed {
            match &mut kernel.figures {
                Some(figures) => figures.add(timed),
                none => *none = Figures::sum(&[timed]),
            }
        }
        picoseconds(cycles, machine)
    }

    /// The table for people.
    pub fn text(&self, machine: Option<&Machine>) -> String {
        match machine {
            Some(machine) => self.timed_text(&machine.config),
            None => self.timeless_text(),
        }
    }

    fn timed_text(&self, machine: &MachineConfig) -> String {
        let head = ["kernel", "launches", "cycles", "time", "IPC", "lanes", "issue slots"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut all = 0.0;
        for kernel in &self.list {
            all += kernel.all_cycles();
            rows.push(kernel.row(machine));
        }
        let mut text = out::table_with_text(&rows);
        let (time, wall) = (simulated(picoseconds(all, machine)), self.list.iter().map(|k| k.wall).sum());
        let clock = machine.clock.core;
        text += &format!("{time} of GPU time at {clock} MHz, simulated in {}", time_text(wall));
        let estimated: f64 = self.list.iter().map(|kernel| kernel.estimated).sum();
        if estimated > 0.0 {
            let share = percent(estimated / all.max(1.0));
            text += &format!("\n~ estimated: launches that were not all simulated make {share} of the cycles");
        }
        text
    }

    fn timeless_text(&self) -> String {
        let head = ["kernel", "launches", "thread-instructions", "warp-instructions", "lanes"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for kernel in &self.list {
            let lanes = kernel.thread_insts as f64 / (32 * kernel.warp_insts).max(1) as f64;
            rows.push(vec![
                names::short(&kernel.name),
                grouped(kernel.launches),
                grouped(kernel.thread_insts),
                grouped(kernel.warp_insts),
                if kernel.warp_insts > 0 { percent(lanes) } else { String::new() },
            ]);
        }
        let wall = self.list.iter().map(|k| k.wall).sum();
        let note =
            format!("executed in {} without time; events counted 1 ns for each warp-instruction", time_text(wall));
        out::table(&rows) + &note
    }

    /// Everything, for machines.
    pub fn json(&self, machine: Option<&Machine>) -> Value {
        let kernel = |kernel: &Kernel| {
            let mut value = json!({
                "kernel": names::readable(&kernel.name),
                "symbol": kernel.name,
                "launches": kernel.launches,
                "thread_insts": kernel.thread_insts,
                "warp_insts": kernel.warp_insts,
                "seconds": kernel.wall.as_secs_f64(),
            });
            if let (Some(machine), Some(figures)) = (machine, &kernel.figures) {
                let config = &machine.config;
                value["cycles"] = kernel.all_cycles().round().into();
                value["estimated_cycles"] = kernel.estimated.round().into();
                value["timed_launches"] = kernel.timed.into();
                value["gpu_seconds"] = (picoseconds(kernel.all_cycles(), config) as f64 * 1e-12).into();
                value["figures"] = timing_json::figures(figures, config);
                let slots = slots(&figures.sm.sm).into_iter().map(|(name, count, _)| (name, count.into()));
                value["slots"] = slots.collect::<serde_json::Map<_, _>>().into();
            }
            value
        };
        json!({
            "machine": machine.map(timing_json::machine),
            "kernels": self.list.iter().map(kernel).collect::<Vec<_>>(),
        })
    }
}

impl Kernel {
    fn all_cycles(&self) -> f64 {
        self.cycles as f64 + self.estimated
    }

    fn row(&self, machine: &MachineConfig) -> Vec<String> {
        let cycles = self.all_cycles();
        let mark = if self.estimated > 0.0 { "~" } else { "" };
        let mut row = vec![
            names::short(&self.name),
            grouped(self.launches),
            format!("{mark}{}", grouped(cycles.round() as u64)),
            simulated(picoseconds(cycles, machine)),
        ];
        if let Some(figures) = &self.figures {
            let lost = slots(&figures.sm.sm);
            let issued: u64 = lost.iter().filter(|(name, ..)| name.starts_with("issued")).map(|slot| slot.2).sum();
            let mut causes: Vec<_> = lost.iter().filter(|(name, ..)| !name.starts_with("issued")).collect();
            causes.sort_by_key(|slot| std::cmp::Reverse(slot.1));
            let causes = causes.iter().take(CAUSES).map(|(name, _, share)| format!("{name} {}", thousandths(*share)));
            let parts: Vec<String> = [format!("issued {}", thousandths(issued))].into_iter().chain(causes).collect();
            row.extend([
                format!("{:.2}", figures.ipc().1),
                percent(figures.simd_efficiency(machine)),
                parts.join(", "),
            ]);
        }
        row
    }
}

fn thousandths(share: u64) -> String {
    format!("{}.{} %", share / 10, share % 10)
}

/// A time of the machine that is simulated.
fn simulated(picoseconds: u64) -> String {
    match picoseconds as f64 {
        p if p >= 1e12 => format!("{:.3} s", p / 1e12),
        p if p >= 1e9 => format!("{:.3} ms", p / 1e9),
        p => format!("{:.2} us", p / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_exec::Report;

    fn launched(kernel: &str, warp_insts: u64) -> Launched {
        let report = Report { warp_insts, thread_insts: warp_insts * 16, ..Report::default() };
        Launched {
            kernel: kernel.to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            shared: 0,
            report,
            stop: None,
            outside_reads: Vec::new(),
            timed: None,
            sample: None,
            wall: Duration::from_micros(5),
        }
    }

    #[test]
    fn without_time_warp_instructions_are_counted() {
        let mut kernels = Kernels::default();
        assert_eq!(kernels.add(&launched("_Z5saxpyifPfS_", 100), None), 100_000);
        kernels.add(&launched("other", 10), None);
        kernels.add(&launched("_Z5saxpyifPfS_", 50), None);
        let text = kernels.text(None);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[1].starts_with("saxpy") && rows[1].contains("2,400") && rows[1].contains("50.0 %"), "{text}");
        assert!(rows[2].starts_with("other"), "{text}");
    }

    #[test]
    fn times_are_readable() {
        assert_eq!([1_500_000, 2_500_000_000, 3_000_000_000_000].map(simulated), ["1.50 us", "2.500 ms", "3.000 s"]);
    }
}
