//! A profile as data.

use super::{Kernel, Profiled, advice};
use crate::out::ratio;
use crate::run::timing_json::counters;
use raddle_cuda::names;
use raddle_runtime::profile::{InstProfile, Line, LineProfile, main_cause};
use serde_json::{Value, json};

/// Everything there is of the kernels.
pub fn kernels(profiled: &Profiled) -> Vec<Value> {
    profiled.kernels.iter().map(kernel_json).collect()
}

fn kernel_json(kernel: &Kernel) -> Value {
    let Kernel { profile: kernel, slowdowns, sources } = kernel;
    let line = |line: &LineProfile| {
        let inst = |inst: &InstProfile| {
            json!({
                "pc": inst.pc,
                "function": inst.function,
                "ptx_line": inst.ptx_line,
                "ptx": sources.ptx(inst.ptx_line),
                "counters": counters(&inst.counters),
            })
        };
        let Line { file, line: number, inlined_at } = &line.line;
        json!({
            "file": file,
            "line": number,
            "inlined_at": inlined_at.as_ref().map(|(file, line)| json!({"file": file, "line": line})),
            "text": sources.text(&line.line),
            "slots": line.counters.slots(),
            "share": ratio(line.counters.slots(), kernel.slots),
            "main_cause": main_cause(&line.counters).map(|(cause, _)| cause.name()),
            "counters": counters(&line.counters),
            "instructions": line.insts.iter().map(inst).collect::<Vec<_>>(),
        })
    };
    json!({
        "kernel": kernel.kernel,
        "name": names::short(&kernel.kernel),
        "launches": kernel.launches,
        "cycles": kernel.cycles,
        "slots": kernel.slots,
        "no_warp_resident": kernel.no_warp,
        "other": counters(&kernel.other),
        "total": counters(&kernel.total()),
        "advice": advice::json(slowdowns, kernel),
        "lines": kernel.lines.iter().map(line).collect::<Vec<_>>(),
    })
}
