//! How full runs made their machine, and what to do when they did not.

use raddle_lab::fill::Filled;
use raddle_runtime::outcome::Launched;
use raddle_sim::config::MachineConfig;
use raddle_sim::fill::{Fill, Fullness, Part};
use serde_json::{Value, json};

/// Of all launches of a run together; none without a launch on the machine.
pub fn fullness(machine: &MachineConfig, launches: &[Launched]) -> Option<Fullness> {
    let (mut fills, mut empty, mut slots) = (Vec::new(), 0, 0);
    for launch in launches {
        let Some(timed) = &launch.timed else { continue };
        let blocks = launch.grid.iter().map(|n| u64::from(*n)).product();
        fills.push((Fill::new(blocks, &timed.residency, machine.gpu.sms), launch.report.thread_insts));
        let sm = timed.result.total().sm;
        empty += sm.stall_no_warp_resident;
        slots += sm.slots();
    }
    Some(Fullness { fill: Fill::of_most(fills)?, empty_slots: empty as f64 / slots.max(1) as f64 })
}

/// What to say of a run that did not fill its machine, and what to do. `larger` is how its input grows, where it can; where
/// all its blocks must be resident, fewer SMs cannot run it.
pub fn lines(full: &Fullness, machine: &MachineConfig, larger: Option<&str>, all_resident: bool) -> Vec<String> {
    if full.is_full() {
        return Vec::new();
    }
    let fewer = full.better_sms().filter(|_| !all_resident).map(|sms| {
        let sets = Part::new(machine, sms).changes().map(|change| format!("--set {change}"));
        format!("fewer SMs with their part of the memory ({})", sets.join(" "))
    });
    let helps: Vec<String> = fewer.into_iter().chain(larger.map(str::to_owned)).collect();
    let mut lines = vec![format!("the SMs were not full: {full}")];
    if !helps.is_empty() {
        lines.push(format!("  what helps: {}; in an experiment [fill]", helps.join(", or ")));
    }
    lines
}

/// The same for machines.
pub fn json(full: &Fullness) -> Value {
    let Fullness { fill, empty_slots } = full;
    json!({
        "blocks": fill.blocks,
        "places": fill.places(),
        "waves": fill.waves(),
        "blocks_per_sm": fill.per_sm,
        "sms": fill.sms,
        "slots_without_a_warp": empty_slots,
        "is_full": full.is_full(),
        "better_sms": full.better_sms(),
    })
}

/// Runs that are named when several did not fill their SMs.
const NAMED: usize = 3;

/// Two lines on runs that did not fill their SMs; none when all did.
pub fn not_full(machines: &[Filled]) -> Vec<String> {
    let empty: Vec<(&Filled, Fullness)> =
        machines.iter().filter_map(|m| Some((m, m.fullness().filter(|full| !full.is_full())?))).collect();
    if empty.is_empty() {
        return Vec::new();
    }
    let name = |(filled, full): &(&Filled, Fullness)| {
        let (fill, slots) = (&full.fill, 100.0 * full.empty_slots);
        format!("{} {} for {} ({:.2} waves), {slots:.0} %", filled.workload, fill.blocks, fill.places(), fill.waves())
    };
    let mut named: Vec<String> = empty.iter().take(NAMED).map(name).collect();
    if empty.len() > NAMED {
        named.push(format!("and {} more", empty.len() - NAMED));
    }
    let sms = empty.iter().filter(|(filled, _)| !filled.all_resident).filter_map(|(_, full)| full.better_sms()).min();
    let fewer = sms.map(|sms| format!("fewer SMs (--set gpu.sms={sms}), ")).unwrap_or_default();
    let (count, all, named) = (empty.len(), machines.len(), named.join("; "));
    vec![
        format!("{count} of {all} did not fill the SMs (blocks for places, slots without a warp): {named}"),
        format!("  what helps: {fewer}a larger --size, an experiment with [fill]"),
    ]
}

/// How full the machine of a workload was, for machines.
pub fn of_workload(filled: &Filled) -> Value {
    let mut value = json!({"workload": filled.workload, "size": filled.size.name(), "sms": filled.part.sms});
    if let Some(full) = filled.fullness() {
        value["fill"] = json(&full);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    #[test]
    fn what_does_not_fill_the_sms_says_what_helps() {
        let machine = Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config;
        let fill = Fill { blocks: 30, per_sm: 4, sms: 15 };
        let full = Fullness { fill, empty_slots: 0.481 };
        let text = lines(&full, &machine, Some("a larger --size"), false).join("\n");
        assert_eq!(
            text,
            "the SMs were not full: 30 blocks for 60 places, 0.50 waves; 48 % of issue slots without a warp\n  what helps: \
             fewer SMs with their part of the memory (--set gpu.sms=3 --set dram.channels=2 --set clock.dram=554), or a \
             larger --size; in an experiment [fill]"
        );
        assert_eq!(json(&full)["better_sms"], 3);
        assert!(
            lines(&Fullness { fill: Fill { blocks: 60, ..fill }, empty_slots: 0.2 }, &machine, None, false).is_empty()
        );
        let run = |blocks| Filled {
            workload: "bfs",
            size: raddle_workloads::Size::Small,
            part: Part::new(&machine, 15),
            fill: Some(Fill { blocks, ..fill }),
            all_resident: false,
            empty_slots: Some(0.1),
        };
        assert!(not_full(&[run(60)]).is_empty());
        assert_eq!(
            not_full(&[run(30), run(600)]).join("\n"),
            "1 of 2 did not fill the SMs (blocks for places, slots without a warp): bfs 30 for 60 (0.50 waves), 10 %\n  \
             what helps: fewer SMs (--set gpu.sms=3), a larger --size, an experiment with [fill]"
        );
        assert!(not_full(&[30; 5].map(run))[0].ends_with("; and 2 more"));
        assert!(!not_full(&[Filled { all_resident: true, ..run(30) }])[1].contains("fewer"));
        assert_eq!(of_workload(&run(30))["fill"]["waves"], 0.5);
        let alone = Fullness { fill: Fill { blocks: 1, per_sm: 4, sms: 1 }, empty_slots: 0.9 };
        assert_eq!(lines(&alone, &machine, None, false).len(), 1, "nothing helps");
        assert_eq!(lines(&full, &machine, None, true).len(), 1, "fewer SMs could not run it");
    }
}
