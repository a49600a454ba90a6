//! What there is to say about launches, whoever made them.

use super::figures::Figures;
use super::{sample, sanitize, timing_json};
use crate::out::grouped;
use raddle_exec::{Fault, OutsideRead};
use raddle_runtime::PtxFile;
use raddle_runtime::outcome::{Launched, MemoryCheck, Stop};
use raddle_runtime::params::shape_text;
use raddle_runtime::sample::{Estimates, LaunchSample};
use raddle_sim::config::Machine;
use serde_json::{Value, json};
use std::time::Duration;

/// The launches of a run, with what they ran.
pub struct Launches<'a> {
    pub ptx: &'a PtxFile,
    /// The machine, if there was one.
    pub machine: Option<&'a Machine>,
    pub launches: &'a [Launched],
    /// The estimates of a sampled run.
    pub sampled: Option<&'a Estimates>,
}

impl Launches<'_> {
    /// What the kernels printed.
    pub fn output(&self) -> String {
        self.launches.iter().map(|l| l.report.output.as_str()).collect()
    }

    /// A few lines for each launch, or for the same one several times in a row.
    pub fn lines(&self) -> Vec<String> {
        self.launches.chunk_by(is_same).flat_map(|launches| self.group(&launches.iter().collect::<Vec<_>>())).collect()
    }

    /// A few lines for each kernel, in the order of their first launches.
    pub fn lines_by_kernel(&self) -> Vec<String> {
        let mut groups: Vec<Vec<&Launched>> = Vec::new();
        for launch in self.launches {
            match groups.iter_mut().find(|g| g[0].kernel == launch.kernel) {
                Some(group) => group.push(launch),
                None => groups.push(vec![launch]),
            }
        }
        groups.iter().flat_map(|group| self.group(group)).collect()
    }

    /// Everything, for machines.
    pub fn json(&self) -> Vec<Value> {
        self.launches.iter().enumerate().map(|(number, l)| self.launch_json(number, l)).collect()
    }

    fn launch_json(&self, number: usize, launch: &Launched) -> Value {
        let mut value = json!({
            "kernel": launch.kernel,
            "grid": launch.grid,
            "block": launch.block,
            "seconds": launch.wall.as_secs_f64(),
        });
        value["ending"] = launch.stop.as_ref().map_or("completed", Stop::name).into();
        value["output"] = launch.report.output.as_str().into();
        if launch.stop.is_none() || launch.timed.is_some() {
            value["thread_insts"] = launch.report.thread_insts.into();
            // Without warps there is nothing to count.
            value["warp_insts"] = Some(launch.report.warp_insts).filter(|n| *n > 0).into();
        }
        match &launch.stop {
            Some(Stop::Fault(fault)) => value["fault"] = self.fault_json(fault),
            Some(Stop::Deadlock(stuck) | Stop::InstructionLimit(stuck)) => {
                value["warps"] =
                    stuck.warps.iter().map(|warp| timing_json::warp(warp, stuck)).collect::<Vec<_>>().into();
            }
            Some(Stop::CycleLimit) | None => {}
        }
        if !launch.outside_reads.is_empty() {
            let read = |read: &OutsideRead| json!({"count": read.count, "first": self.fault_json(&read.first)});
            value["outside_reads"] = launch.outside_reads.iter().map(read).collect::<Vec<_>>().into();
        }
        if !launch.report.findings.is_empty() {
            let findings = launch.report.findings.iter().map(|finding| sanitize::json(finding, self.ptx));
            value["findings"] = findings.collect::<Vec<_>>().into();
        }
        if let (Some(timed), Some(machine)) = (&launch.timed, self.machine) {
            // Of a part it must not be taken for the whole.
            let is_part = matches!(launch.sample, Some(LaunchSample::Part(_)));
            let key = if is_part { "timing_of_part" } else { "timing" };
            value[key] = timing_json::timed(timed, &machine.config);
        }
        if let Some(estimates) = self.sampled {
            value["sample"] = sample::launch_json(launch, estimates, number);
        }
        value
    }

    fn fault_json(&self, fault: &Fault) -> Value {
        let thread = fault.thread.map(|t| json!({"cta": t.cta, "thread": t.thread}));
        let at = fault.at.map(|(func, inst)| {
            let function = self.ptx.module.func(func);
            let found = function.insts.get(inst.index());
            let lines = raddle_ptx::source::LineIndex::new(&self.ptx.source);
            let loc = found.and_then(|i| i.loc);
            json!({
                "function": function.name,
                "instruction": inst.0,
                "line": found.map(|i| lines.line(i.span.start)),
                "text": found.map(|i| i.span.text(&self.ptx.source)),
                "source_file": loc.and_then(|l| self.ptx.module.file(l.file)),
                "source_line": loc.map(|l| l.line),
            })
        });
        json!({"message": fault.kind.to_string(), "thread": thread, "at": at})
    }

    /// The lines for launches that are counted together.
    fn group(&self, launches: &[&Launched]) -> Vec<String> {
        let Some(first) = launches.first() else { return Vec::new() };
        let times = if launches.len() > 1 { format!("  {} times", launches.len()) } else { String::new() };
        let shape = format!("grid {}  block {}", shapes(launches, |l| l.grid), shapes(launches, |l| l.block));
        let mut lines = vec![format!("{}  {shape}{times}", first.kernel)];
        let wall: Duration = launches.iter().map(|l| l.wall).sum();
        if let Some(machine) = self.machine {
            let timed: Vec<_> = launches.iter().filter_map(|l| l.timed.as_deref()).collect();
            if let Some(estimates) = self.sampled {
                let total = estimates.total(self.launches, |l| l.kernel == first.kernel);
                match total.is_whole() {
                    true => lines.extend(sample::whole_line(launches)),
                    false => lines.extend(sample::lines(&total, launches, wall)),
                }
            }
            lines.extend(Figures::sum(&timed).map(|f| f.text(&machine.config, wall)).unwrap_or_default());
        } else if first.stop.is_none() {
            lines.push(timeless_line(launches, wall));
        }
        if launches.iter().any(|l| l.stop.is_some()) {
            // Without a figure, what stopped the launch is all there is to say.
            if lines.len() == 1 {
                return Vec::new();
            }
            lines.push(String::new());
        }
        lines
    }
}

/// The shape of all launches, or that they differ.
fn shapes(launches: &[&Launched], shape: fn(&Launched) -> [u32; 3]) -> String {
    let all: Vec<[u32; 3]> = launches.iter().map(|l| shape(l)).collect();
    let size = |s: &[u32; 3]| s.iter().map(|n| u64::from(*n)).product::<u64>();
    match (all.iter().min_by_key(|s| size(s)), all.iter().max_by_key(|s| size(s))) {
        (Some(least), Some(most)) if least == most => shape_text(*least),
        (Some(least), Some(most)) => format!("{} to {}", shape_text(*least), shape_text(*most)),
        _ => String::new(),
    }
}

/// Whether memory is what the reference interpreter makes of it.
pub fn memory_line(check: &MemoryCheck) -> String {
    if let Some(fault) = &check.stopped {
        return format!("  memory cannot be checked: the reference interpreter stopped with: {}", fault.kind);
    }
    match &check.first {
        None => format!("  memory is equal to the reference interpreter's ({} bytes)", grouped(check.bytes)),
        Some(d) => format!(
            "  memory is not equal to the reference interpreter's: {} of {} bytes differ, first byte {} of `{}`: \
             {:#04x}, reference {:#04x}",
            grouped(check.wrong),
            grouped(check.bytes),
            d.offset,
            d.name,
            d.got,
            d.want
        ),
    }
}

/// The same for machines.
pub fn memory_json(check: &MemoryCheck) -> Value {
    let first = check.first.as_ref();
    json!({
        "equal": check.is_equal(),
        "bytes": check.bytes,
        "wrong": check.wrong,
        "first": first.map(|d| json!({"buffer": d.name, "offset": d.offset, "got": d.got, "want": d.want})),
        "stopped": check.stopped.as_ref().map(|f| f.kind.to_string()),
    })
}

fn is_same(a: &Launched, b: &Launched) -> bool {
    (&a.kernel, a.grid, a.block, a.stop.is_none()) == (&b.kernel, b.grid, b.block, b.stop.is_none())
}

fn timeless_line(launches: &[&Launched], wall: Duration) -> String {
    let threads: u64 = launches.iter().map(|l| l.report.thread_insts).sum();
    let warps: u64 = launches.iter().map(|l| l.report.warp_insts).sum();
    let rate = threads as f64 / wall.as_secs_f64().max(1e-9) / 1e6;
    let time = time_text(wall);
    // The reference interpreter has no warps to count; what is not counted is not printed.
    let warps = if warps > 0 { format!(", {} warp-instructions", grouped(warps)) } else { String::new() };
    let threads = grouped(threads);
    format!("  {threads} thread-instructions{warps} in {time}, {rate:.1} million thread-instructions/s")
}

/// A time on this machine.
pub fn time_text(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!(time_text(Duration::from_micros(12)), "12 us");
        assert_eq!(time_text(Duration::from_micros(12_345)), "12.35 ms");
        assert_eq!(time_text(Duration::from_millis(12_345)), "12.35 s");
    }
}
