//! What a run has to say: data, a summary for people, JSON for machines.

use raddle_runtime::compare::{Comparison, Difference};
use raddle_runtime::params::shape_text;
use raddle_runtime::session::Launched;
use raddle_runtime::{Outcome, Plan, PtxFile, Session};
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
        let printed = |l: &Launched| match &l.result {
            Ok(report) => report.output.clone(),
            Err(fault) => fault.output.clone(),
        };
        let mut text: String = self.outcome.launches.iter().map(printed).collect();
        for (buffer, first) in self.printed {
            text += &format!("{}: {}\n", self.name(*buffer), self.elements(*buffer, *first).join(" "));
        }
        text
    }

    /// A few lines for people.
    pub fn summary(&self) -> String {
        let mut lines = Vec::new();
        for launches in self.outcome.launches.chunk_by(is_same) {
            lines.extend(launch_lines(launches));
        }
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
        match &launch.result {
            Ok(report) => {
                value["thread_insts"] = report.thread_insts.into();
                // Without warps there is nothing to count.
                value["warp_insts"] = Some(report.warp_insts).filter(|n| *n > 0).into();
                value["output"] = report.output.as_str().into();
            }
            Err(fault) => {
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
                value["output"] = fault.output.as_str().into();
                value["fault"] = json!({"message": fault.kind.to_string(), "thread": thread, "at": at});
            }
        }
        value
    }
}

fn is_same(a: &Launched, b: &Launched) -> bool {
    (&a.kernel, a.grid, a.block, a.result.is_ok()) == (&b.kernel, b.grid, b.block, b.result.is_ok())
}

/// The lines for one launch, or for the same launch several times.
fn launch_lines(launches: &[Launched]) -> Vec<String> {
    let Some(first) = launches.first() else { return Vec::new() };
    let times = if launches.len() > 1 { format!("  {} times", launches.len()) } else { String::new() };
    let head = format!("{}  grid {}  block {}{times}", first.kernel, shape_text(first.grid), shape_text(first.block));
    let mut wall = Duration::ZERO;
    let (mut threads, mut warps) = (0u64, 0u64);
    for launch in launches {
        let Ok(report) = &launch.result else { return vec![head, String::new()] };
        wall += launch.wall;
        threads += report.thread_insts;
        warps += report.warp_insts;
    }
    let rate = threads as f64 / wall.as_secs_f64().max(1e-9) / 1e6;
    let time = time_text(wall);
    // The reference interpreter has no warps to count; what is not counted is not printed.
    let warps = if warps > 0 { format!(", {} warp-instructions", grouped(warps)) } else { String::new() };
    let threads = grouped(threads);
    vec![head, format!("  {threads} thread-instructions{warps} in {time}, {rate:.1} million thread-instructions/s")]
}

fn time_text(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// A number with a comma every three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_readable() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(time_text(Duration::from_micros(12)), "12 us");
        assert_eq!(time_text(Duration::from_micros(12_345)), "12.35 ms");
        assert_eq!(time_text(Duration::from_millis(12_345)), "12.35 s");
    }
}
