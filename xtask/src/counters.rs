//! The page of all counters.

use std::fmt::Write;

use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::profile::PcCounters;
use raddle_sim::sm::counters::SmCounters;
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::sm::memory::cache::CacheCounters;
use raddle_sim::stats::{CounterInfo, Counters, Unit};

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask codegen` from the declarations in crates/sim; do not edit. -->

# Counters

This page lists all counters of the timing model, by the part that counts. Totals are sums over parts of one kind. The
counters of SMs and their caches start at zero with every launch. Those of L2, DRAM and interconnect start at zero only
once, with the GPU.

Every scheduler slot of every cycle is counted once, either in an `issued_` or in a `stall_` counter of its SM. The page
about [time](../timing-model.md#why-a-slot-stays-empty) explains the causes.

[Mechanisms](#mechanisms) have counters of their own.
";

/// The heading of the counters of mechanisms, and what comes before them.
const OF_MECHANISMS: &str = "
## Mechanisms

These counters belong to single mechanisms. Each SM has its own, except for those of a dispatcher, and they start at zero
with every launch. Their names begin with seam and mechanism, so no two are the same. Outputs have no counters of
mechanisms that a machine does not have; as metrics, these are 0.

| counter | unit | counts |
| --- | --- | --- |
";

/// The groups: heading, what there is one of, declarations.
const GROUPS: &[(&str, &str, &[CounterInfo])] = &[
    ("SM", "One group for each SM.", SmCounters::INFO),
    (
        "Lanes",
        "Two groups for each SM: `int` for the integer and `fp` for the floating-point pipelines of its SPs. They are zero with \
         the gating scheme `none`. The scheme `watch` counts without gating anything.",
        LaneCounters::INFO,
    ),
    (
        "First-level caches",
        "One group for each instruction, data, constant and texture cache of an SM.",
        CacheCounters::INFO,
    ),
    ("Interconnect", "One group for each direction.", CrossbarCounters::INFO),
    ("L2", "One group for each slice.", L2Counters::INFO),
    ("DRAM", "One group for each channel.", DramCounters::INFO),
    (
        "Instructions",
        "One group for each instruction of a kernel, only in [profiles](../guide/profile.md). Added up over all instructions, \
         they give the counters above.",
        PcCounters::INFO,
    ),
];

/// The whole page.
pub fn page() -> String {
    let mut text = INTRODUCTION.to_owned();
    for (name, about, infos) in GROUPS {
        let _ = write!(text, "\n## {name}\n\n{about}\n\n| counter | unit | counts |\n| --- | --- | --- |\n");
        for CounterInfo { name, unit, doc } in *infos {
            let _ = writeln!(text, "| `{name}` | {} | {doc} |", word(*unit));
        }
    }
    text += OF_MECHANISMS;
    for (name, CounterInfo { unit, doc, .. }) in raddle_mech::registry().iter().flat_map(|m| m.info.counter_names()) {
        let _ = writeln!(text, "| `{name}` | {} | {doc} |", word(unit));
    }
    text
}

fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Cycles => "cycles",
        Unit::Slots => "slots",
        Unit::WarpInsts => "warp-instructions",
        Unit::ThreadInsts => "thread-instructions",
        Unit::Events => "events",
        Unit::Bytes => "bytes",
        Unit::MostEntries => "entries at most",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_group_is_there() {
        let page = super::page();
        for counter in [
            "`warp_insts`",
            "`uncompensated`",
            "`pending_hits`",
            "`flits`",
            "`sector_misses`",
            "`row_hits`",
            "`least_sectors`",
            "`issue.two-level.left`",
        ] {
            assert!(page.contains(&format!("\n| {counter} |")), "{counter}");
        }
    }
}
