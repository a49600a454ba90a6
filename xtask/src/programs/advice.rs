//! Advice of `raddle profile`: kernels that have a problem, and kernels that do not.

use std::fs;

use serde_json::Value;

use super::{PASS, Tried, output};
use crate::Result;
use crate::files::root;

/// A kernel for each problem, with a comment at its line, and one of the same kind without it.
const KERNELS: &str = "crates/cli/tests/cli/advice.cu";

/// Problem, kernel with it and its grid and block, kernel without it and its grid and block, and whether a machine without the problem
/// can show what it costs.
type Pair = (&'static str, (&'static str, u32, u32), (&'static str, u32, u32), bool);

const PAIRS: [Pair; 10] = [
    ("coalescing", ("coalescing", 240, 256), ("coalescing_not", 240, 256), true),
    ("banks", ("banks", 120, 256), ("banks_not", 120, 256), true),
    ("divergence", ("divergence", 240, 256), ("divergence_not", 240, 256), false),
    ("residency", ("residency", 120, 256), ("residency_not", 120, 256), true),
    ("tail", ("tail", 5, 256), ("tail", 480, 256), false),
    ("barriers", ("barriers", 120, 256), ("barriers_not", 120, 256), false),
    ("latency", ("latency", 120, 256), ("latency_not", 120, 256), true),
    ("atomics", ("atomics", 120, 256), ("atomics_not", 120, 256), true),
    ("local", ("local", 30, 128), ("local_not", 30, 128), true),
    ("front-end", ("front_end", 15, 64), ("front_end_not", 120, 256), true),
];

/// The exercise: programs, the problem each has, and how many times as fast its solution is at least.
const SLOW: &str = "examples/slow";
const EXERCISE: [(&str, &str, f64); 6] = [
    ("one", "coalescing", 10.0),
    ("two", "banks", 1.4),
    ("three", "divergence", 1.3),
    ("four", "atomics", 5.0),
    ("five", "barriers", 2.0),
    ("six", "residency", 2.0),
];

impl Tried {
    /// Every problem is found where it is, at its line, and not where it is not.
    pub(super) fn advice(&self) -> Result {
        fs::copy(root().join(KERNELS), self.folder.join("advice.cu"))?;
        output(self.raddle(&["cc", "-ptx", "advice.cu"]).args(["-o", "advice.ptx"]))?;
        let source = fs::read_to_string(root().join(KERNELS))?;
        for (problem, with, without, is_measured) in PAIRS {
            let what_if: &[&str] = if is_measured { &["--what-if"] } else { &[] };
            let found = self.problems(with, what_if)?;
            let Some(advice) = found.iter().find(|advice| advice["problem"] == problem) else {
                return Err(format!("{} has {problem}, which is not found: {found:?}", with.0).into());
            };
            let comment = format!("// here: {}", with.0);
            // A grid that is too small has no line.
            let line = source.lines().position(|line| line.ends_with(&comment)).map(|at| at as u64 + 1);
            if advice["line"].as_u64() != line {
                return Err(format!("{problem} of {} is at line {line:?}, not {}", with.0, advice["line"]).into());
            }
            if is_measured && advice["saved_cycles"].as_i64().is_none_or(|saved| saved <= 0) {
                return Err(format!("a machine without {problem} saves nothing: {advice}").into());
            }
            let found = self.problems(without, &[])?;
            if let Some(advice) = found.iter().find(|advice| advice["problem"] == problem) {
                return Err(format!("{} does not have {problem}: {advice}", without.0).into());
            }
        }
        Ok(())
    }

    /// What advice says of a kernel.
    fn problems(&self, (kernel, grid, block): (&str, u32, u32), more: &[&str]) -> Result<Vec<Value>> {
        let [grid, block] = [grid, block].map(|n| n.to_string());
        let mut command = self.raddle(&["profile", "advice.ptx", "--json", "-k", kernel, "-g", &grid, "-b", &block]);
        command.args(["-a", "buf:s32:1048576=iota", "-a", "buf:s32:1048576=zero", "-a", "1048576"]).args(more);
        let (text, _) = output(&mut command)?;
        advice_of(&text)
    }

    /// In each program of the exercise, the first advice names what slows it, and the solution is faster.
    pub(super) fn exercise(&self) -> Result {
        for (name, problem, faster) in EXERCISE {
            let mut cycles = [0.0; 2];
            for (folder, cycles) in ["", "solutions/"].iter().zip(&mut cycles) {
                let source = root().join(SLOW).join(format!("{folder}{name}.cu"));
                output(self.raddle(&["cc"]).arg(source).args(["-o", name]))?;
                let program = format!("./{name}");
                let (text, errors) = output(&mut self.raddle(&["profile", "--json", &program]))?;
                if text.trim_end() != PASS {
                    return Err(format!("{folder}{name} printed\n{text}{errors}").into());
                }
                let value: Value = serde_json::from_str(errors.trim())?;
                *cycles = value["kernels"][0]["cycles"].as_f64().unwrap_or(0.0);
                let first = advice_of(errors.trim())?.first().map_or(Value::Null, |advice| advice["problem"].clone());
                if (first == problem) != folder.is_empty() {
                    return Err(format!("the first advice for {folder}{name} is {first}").into());
                }
            }
            if cycles[0] < faster * cycles[1] {
                return Err(format!("{name}: {} cycles, its solution {}", cycles[0], cycles[1]).into());
            }
        }
        Ok(())
    }
}

/// The advice for the first kernel of a profile.
fn advice_of(text: &str) -> Result<Vec<Value>> {
    let value: Value = serde_json::from_str(text)?;
    Ok(value["kernels"][0]["advice"].as_array().cloned().unwrap_or_default())
}
