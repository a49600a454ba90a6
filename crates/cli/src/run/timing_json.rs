//! What the timing model measured, for machines.

use super::figures::Figures;
use crate::out::ratio;
use raddle_runtime::outcome::Stuck;
use raddle_runtime::timing::Timed;
use raddle_sim::config::{Machine, MachineConfig};
use raddle_sim::result::SmResult;
use raddle_sim::seam::{Counted, Seam};
use raddle_sim::sm::BlockedWarp;
use raddle_sim::stats::Counters;
use serde_json::{Map, Value, json};

/// A machine: every value, and the mechanism in each seam.
pub fn machine(machine: &Machine) -> Value {
    let config = &machine.config;
    let name = |seam: Seam| (seam.key().to_owned(), Value::from(seam.choice(&config.mechanism).name()));
    json!({"config": config, "mechanisms": Seam::ALL.into_iter().map(name).collect::<Map<_, _>>()})
}

/// Every counter of a group by its name.
pub fn counters<C: Counters>(group: &C) -> Value {
    let values = group.values();
    C::INFO.iter().zip(values).map(|(info, value)| (info.name.to_owned(), value.into())).collect::<Map<_, _>>().into()
}

/// What mechanisms counted of their own, by mechanism.
fn own(counted: &[Counted]) -> Value {
    let mut groups = Map::new();
    for counted in counted {
        let group = groups.entry(counted.group()).or_insert_with(|| json!({}));
        group[counted.info.name] = counted.value.into();
    }
    groups.into()
}

fn sm(result: &SmResult) -> Value {
    let mut value = json!({
        "sm": counters(&result.sm),
        "int": counters(&result.int),
        "fp": counters(&result.fp),
        "l1i": counters(&result.l1i),
        "l1d": counters(&result.l1d),
        "l1c": counters(&result.l1c),
        "l1t": counters(&result.l1t),
    });
    if !result.own.is_empty() {
        value["mechanisms"] = own(&result.own);
    }
    value
}

/// Shares and rates.
pub fn figures(f: &Figures, machine: &MachineConfig) -> Value {
    let (warp_ipc, thread_ipc) = f.ipc();
    json!({
        "warp_ipc": warp_ipc,
        "thread_ipc": thread_ipc,
        "simd_efficiency": f.simd_efficiency(machine),
        "l1d_hit_rate": ratio(f.sm.l1d.hits, f.sm.l1d.accesses),
        "l2_hit_rate": ratio(f.l2.hits, f.l2.accesses),
        "dram_bytes": f.dram_bytes(machine),
        "dram_use": f.dram_use(machine),
        "mean_read_latency": f.read_latency(),
    })
}

/// Everything about a launch.
pub fn timed(timed: &Timed, machine: &MachineConfig) -> Value {
    let Timed { result, residency, pcs } = timed;
    let mut total = sm(&result.total());
    total["l2"] = counters(&result.l2_total());
    total["dram"] = counters(&result.dram_total());
    let mechanisms = result.own_total();
    if !mechanisms.is_empty() {
        total["mechanisms"] = own(&mechanisms);
    }
    let figures = Figures::sum(&[timed]).map(|sum| figures(&sum, machine));
    let pcs = pcs.iter().map(|c| {
        json!({
            "pc": c.pc,
            "function": c.function,
            "ptx_line": c.ptx_line,
            "source_file": c.source.as_ref().map(|s| &s.0),
            "source_line": c.source.as_ref().map(|s| s.1),
            "warp_insts": c.warp_insts,
            "thread_insts": c.thread_insts,
        })
    });
    json!({
        "cycles": result.cycles,
        "ctas": result.ctas,
        "residency": {
            "ctas": residency.ctas,
            "warps": residency.warps,
            "registers": residency.registers,
            "capped": residency.capped.map(|c| json!({"needs": c.needs, "by": c.by})),
            "shared_bytes": residency.shared,
            "limit": residency.limit,
        },
        "figures": figures,
        "total": total,
        "sms": result.sms.iter().map(sm).collect::<Vec<_>>(),
        "l2": result.l2.iter().map(counters).collect::<Vec<_>>(),
        "dram": result.dram.iter().map(counters).collect::<Vec<_>>(),
        "networks": {"up": counters(&result.up), "down": counters(&result.down)},
        "pcs": pcs.collect::<Vec<_>>(),
    })
}

/// A warp that was somewhere when the launch ended.
pub fn warp(warp: &BlockedWarp, stuck: &Stuck) -> Value {
    let parts = warp
        .stack
        .iter()
        .map(|part| json!({"pc": part.pc, "mask": part.mask, "rejoin": part.rejoin, "waits": part.waits, "place": stuck.place(part.pc)}));
    json!({
        "sm": warp.sm,
        "cta": warp.cta,
        "warp": warp.warp,
        "pc": warp.pc,
        "place": warp.place,
        "waits": warp.waits,
        "stack": parts.collect::<Vec<_>>(),
    })
}
