//! Joules of what was counted of a run.

use crate::record::{KernelCounts, MachineSpec, total};
use raddle_energy::{Activity, Breakdown, Hardware, Table};

/// What some kernels took on a machine, by the table of energies that comes with Raddle.
#[must_use]
pub fn of(machine: &MachineSpec, kernels: &[KernelCounts]) -> Breakdown {
    let number = |path: &[&str]| machine.number(path);
    let channels = number(&["dram", "channels"]);
    let hardware = Hardware {
        core_mhz: number(&["clock", "core"]),
        lanes: number(&["sm", "units", "sp"]) * number(&["sm", "units", "sp_lanes"]),
        sfus: number(&["sm", "units", "sfu"]),
        l2_slices: number(&["l2", "slices"]) * channels,
        channels,
        burst_bytes: number(&["dram", "burst_bytes"]),
    };
    Breakdown::new(&Table::gtx480(), hardware, &activity(kernels))
}

/// The counters that count for energy.
fn activity(kernels: &[KernelCounts]) -> Activity {
    let count = |counter: &str| total(kernels, counter);
    let mut all = Activity { cycles: count("cycles"), ..Activity::default() };
    let sm = &mut all.sm.sm;
    for (counter, name) in [
        (&mut sm.cycles, "cycles"),
        (&mut sm.warp_insts, "warp_insts"),
        (&mut sm.gang_insts, "gang_insts"),
        (&mut sm.gang_issues, "gang_issues"),
        (&mut sm.int_threads, "int_threads"),
        (&mut sm.fp_threads, "fp_threads"),
        (&mut sm.sfu_threads, "sfu_threads"),
        (&mut sm.mem_threads, "mem_threads"),
        (&mut sm.register_reads, "register_reads"),
        (&mut sm.register_writes, "register_writes"),
        (&mut sm.shared_accesses, "shared_accesses"),
        (&mut sm.shared_bank_conflicts, "shared_bank_conflicts"),
    ] {
        *counter = count(&format!("sm.{name}"));
    }
    for (lanes, pipe) in [(&mut all.sm.int, "int"), (&mut all.sm.fp, "fp")] {
        lanes.uncompensated = count(&format!("{pipe}.uncompensated"));
        lanes.compensated = count(&format!("{pipe}.compensated"));
        lanes.overhead = count(&format!("{pipe}.overhead"));
    }
    let caches =
        [(&mut all.sm.l1i, "l1i"), (&mut all.sm.l1d, "l1d"), (&mut all.sm.l1c, "l1c"), (&mut all.sm.l1t, "l1t")];
    caches.into_iter().for_each(|(cache, name)| cache.accesses = count(&format!("{name}.accesses")));
    all.l2.accesses = count("l2.accesses");
    (all.dram.reads, all.dram.writes) = (count("dram.reads"), count("dram.writes"));
    all.dram.activates = count("dram.activates");
    all.network.flits = count("network-up.flits") + count("network-down.flits");
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_energy::Component;
    use raddle_runtime::device::{RunOptions, Setup};
    use raddle_runtime::timing::{TimingOptions, Watch};
    use raddle_runtime::{Engine, EngineOptions};
    use raddle_sim::config::{Machine, Source};
    use raddle_workloads::{Request, Size};

    /// The breakdown of a run, and that of its record.
    fn both(preset: &'static str, set: &[&str]) -> [Breakdown; 2] {
        let machine = Machine::load(Source::Preset(preset), set).unwrap().config;
        let engine = EngineOptions { engine: Engine::Timing, warp_width: machine.sm.warp_width };
        let timing = Some(Box::new(TimingOptions::new(machine.clone())));
        let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
        let workload = raddle_workloads::all().iter().find(|w| w.name == "srad-v2").unwrap();
        let module = workload.module().unwrap();
        let ran = workload.run(&module, &setup, Watch::default(), &Request::new(Size::Tiny)).unwrap();
        let mut activity = Activity::default();
        ran.launches.iter().filter_map(|l| l.timed.as_ref()).for_each(|timed| activity.add(&timed.result));
        let own = Breakdown::new(&Table::gtx480(), &machine, &activity);
        [own, of(&MachineSpec::new(&machine, &raddle_mech::registry()).unwrap(), &KernelCounts::of(&ran.launches))]
    }

    /// A record has all that counts: its joules are those of the run itself.
    #[test]
    fn a_record_takes_what_its_run_took() {
        let [own, recorded] = both("gtx480", &["mechanism.issue=two-level", "mechanism.gating=conventional"]);
        assert!(own.saved > 0.0 && own.parts.iter().all(|part| part.total() > 0.0), "{own:?}");
        assert_eq!(own, recorded);
        let slices = ["sm.warp_width=4", "sm.simd_width=4", "sm.slices=8", "sm.fetch.warps_per_cycle=8"];
        let gangs = [&slices[..], &["mechanism.ganging=vws"]].concat();
        let ([apart, _], [own, recorded]) = (both("vws-sm", &slices), both("vws-sm", &gangs));
        let front_end = |of: &Breakdown| of.part(Component::FrontEnd).map(|part| part.dynamic);
        assert!(front_end(&own) < front_end(&apart));
        assert_eq!(own, recorded);
    }
}
