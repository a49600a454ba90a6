//! What a run has to say: data, a summary for people, JSON for machines.

use super::figures::Figures;
use super::timing_json;
use crate::out::grouped;
use raddle_exec::Fault;
use raddle_runtime::compare::{Comparison, Difference};
use raddle_runtime::outcome::{Launched, MemoryCheck, Stop};
use raddle_runtime::params::shape_text;
use raddle_runtime::{Outcome, Plan, PtxFile, Session};
use raddle_sim::config::Machine;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Everything a report is made of.
pub struct Report<'a> {
    pub plan: &'a Plan,
    pub ptx: &'a PtxFile,
    pub session: &'a Session<'a>,
    pub outcome: &'a Outcome,
    /// Buffers to print: index, and how many elements.
    pub printed: &'a [(usize, Option<usize>)],
    /// The machine, if there was one.
    pub machine: Option<&'a Machine>,
}

impl Report<'_> {
    fn name(&self, buffer: usize) -> &str {
        &self.plan.buffers[buffer].name
    }

    /// The first elements of a buffer as text.
    fn elements(&self, buffer: usize, first: Option<usize>) -> Vec<String> {
        let ty = self.plan.buffers[buffer].ty;
        ty.iter(self.session.bytes(buffer)).take(first.unwrap_or(usize::MAX)).map(|v| ty.show(v)).collect()
    }

    /// What the kernels printed, then the buffers asked for, one per line.
    pub fn data(&self) -> String {
        let mut text: String = self.outcome.launches.iter().map(|l| l.report.output.as_str()).collect();
        for (buffer, first) in self.printed {
            text += &format!("{}: {}\n", self.name(*buffer), self.elements(*buffer, *first).join(" "));
        }
        text
    }

    /// A few lines for people.
    pub fn summary(&self) -> String {
        let mut lines = Vec::new();
        for launches in self.outcome.launches.chunk_by(is_same) {
            lines.extend(self.launch_lines(launches));
        }
        lines.extend(self.outcome.memory.as_ref().map(memory_line));
        for check in &self.outcome.checks {
            lines.extend(self.check_lines(check.buffer, &check.comparison));
        }
        for (buffer, path) in &self.outcome.written {
            lines.push(format!("  {} written to {path}", self.name(*buffer)));
        }
        lines.join("\n")
    }

    fn check_lines(&self, buffer: usize, c: &Comparison) -> Vec<String> {
        let (name, ty) = (self.name(buffer), self.plan.buffers[buffer].ty);
        if c.wrong == 0 {
            let distance = if c.max_ulp > 0 { format!(", at most {} ulp away", c.max_ulp) } else { String::new() };
            return vec![format!("  {name} is as expected ({} elements{distance})", c.compared)];
        }
        let mut lines = vec![format!("  {name} is not as expected: {} of {} elements differ", c.wrong, c.compared)];
        let show =
            |d: &Difference| format!("    {name}[{}] is {}, expected {}", d.index, ty.show(d.got), ty.show(d.want));
        lines.extend(c.first.iter().map(show));
        if c.wrong > c.first.len() {
            lines.push("    ...".to_owned());
        }
        lines
    }

    /// Everything, for machines.
    pub fn json(&self) -> Value {
        let launches: Vec<Value> = self.outcome.launches.iter().map(|l| self.launch_json(l)).collect();
        let check = |buffer: usize, c: &Comparison| {
            let ty = self.plan.buffers[buffer].ty;
            let first = |d: &Difference| json!({"index": d.index, "got": ty.show(d.got), "want": ty.show(d.want)});
            json!({
                "buffer": self.name(buffer),
                "compared": c.compared,
                "wrong": c.wrong,
                "max_ulp": c.max_ulp,
                "first": c.first.iter().map(first).collect::<Vec<_>>(),
            })
        };
        let printed: Map<String, Value> =
            self.printed.iter().map(|(b, n)| (self.name(*b).to_owned(), self.elements(*b, *n).into())).collect();
        let written: Vec<Value> =
            self.outcome.written.iter().map(|(b, path)| json!({"buffer": self.name(*b), "path": path})).collect();
        json!({
            "ok": self.outcome.is_good(),
            "module": self.ptx.path,
            "machine": self.machine.map(timing_json::machine),
            "memory": self.outcome.memory.as_ref().map(memory_json),
            "launches": launches,
            "checks": self.outcome.checks.iter().map(|c| check(c.buffer, &c.comparison)).collect::<Vec<_>>(),
            "written": written,
            "buffers": printed,
        })
    }

    fn launch_json(&self, launch: &Launched) -> Value {
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
        if let (Some(timed), Some(machine)) = (&launch.timed, self.machine) {
            value["timing"] = timing_json::timed(timed, &machine.config);
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

    /// The lines for one launch, or for the same launch several times.
    fn launch_lines(&self, launches: &[Launched]) -> Vec<String> {
        let Some(first) = launches.first() else { return Vec::new() };
        let times = if launches.len() > 1 { format!("  {} times", launches.len()) } else { String::new() };
        let shape = format!("grid {}  block {}", shape_text(first.grid), shape_text(first.block));
        let mut lines = vec![format!("{}  {shape}{times}", first.kernel)];
        let wall: Duration = launches.iter().map(|l| l.wall).sum();
        if let Some(machine) = self.machine {
            let timed: Vec<_> = launches.iter().filter_map(|l| l.timed.as_deref()).collect();
            lines.extend(Figures::sum(&timed).map(|f| f.text(&machine.config, wall)).unwrap_or_default());
        } else if first.stop.is_none() {
            lines.push(timeless_line(launches, wall));
        }
        if launches.iter().any(|l| l.stop.is_some()) {
            lines.push(String::new());
        }
        lines
    }
}

/// Whether memory is what the reference interpreter makes of it.
fn memory_line(check: &MemoryCheck) -> String {
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

fn memory_json(check: &MemoryCheck) -> Value {
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

fn timeless_line(launches: &[Launched], wall: Duration) -> String {
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
