//! What a run has to say: data, a summary for people, JSON for machines.

use super::launches::{Launches, memory_json, memory_line};
use super::timing_json;
use raddle_runtime::compare::{Comparison, Difference};
use raddle_runtime::plan::Step;
use raddle_runtime::sample::Estimates;
use raddle_runtime::{Outcome, Plan, PtxFile, Session};
use raddle_sim::config::Machine;
use serde_json::{Map, Value, json};

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
    /// The estimates of a sampled run.
    pub sampled: Option<&'a Estimates>,
}

impl Report<'_> {
    fn launches(&self) -> Launches<'_> {
        Launches { ptx: self.ptx, machine: self.machine, launches: &self.outcome.launches, sampled: self.sampled }
    }

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
        let mut text: String = self.launches().output();
        for (buffer, first) in self.printed {
            text += &format!("{}: {}\n", self.name(*buffer), self.elements(*buffer, *first).join(" "));
        }
        text
    }

    /// A few lines for people.
    pub fn summary(&self) -> Vec<String> {
        let launches = self.launches();
        let is_long = self.plan.steps.iter().any(|step| matches!(step, Step::Loop(_)));
        let mut lines = if is_long || self.sampled.is_some() { launches.lines_by_kernel() } else { launches.lines() };
        lines.extend(self.outcome.memory.as_ref().map(memory_line));
        for check in &self.outcome.checks {
            lines.extend(self.check_lines(check.buffer, &check.comparison));
        }
        for (buffer, path) in &self.outcome.written {
            lines.push(format!("  {} written to {path}", self.name(*buffer)));
        }
        lines
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
            "launches": self.launches().json(),
            "checks": self.outcome.checks.iter().map(|c| check(c.buffer, &c.comparison)).collect::<Vec<_>>(),
            "written": written,
            "buffers": printed,
        })
    }
}
