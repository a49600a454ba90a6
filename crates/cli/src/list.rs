//! `raddle list`: what can be chosen by name.

use crate::exit::{Exit, Failure};
use crate::out;
use clap::Subcommand;
use raddle_sim::config::PRESETS;
use raddle_sim::mem::crossbar::CrossbarCounters;
use raddle_sim::mem::dram::DramCounters;
use raddle_sim::mem::l2::L2Counters;
use raddle_sim::profile::PcCounters;
use raddle_sim::seam::{Mechanism, Registry, Seam};
use raddle_sim::sm::counters::SmCounters;
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::sm::memory::cache::CacheCounters;
use raddle_sim::stats::{CounterInfo, Counters};
use raddle_workloads::manifest::StandsFor;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// The commands under `raddle list`.
#[derive(Subcommand)]
pub enum Command {
    /// List the machines that come with Raddle
    #[command(after_help = "Example:\n  raddle list presets")]
    Presets {
        /// Print one JSON object per preset
        #[arg(long)]
        json: bool,
    },
    /// List the mechanisms a machine can have, with their parameters
    #[command(after_help = "\
Parameters are set in a machine file or with --set.

Examples:
  raddle list mechanisms
  raddle run examples/saxpy.toml --issue two-level --set mechanism.issue.active=4")]
    Mechanisms {
        /// Print one JSON object per mechanism
        #[arg(long)]
        json: bool,
    },
    /// List the workloads, with the benchmarks they are modelled on
    #[command(after_help = "\
Run a workload by its name. Its class is the kind of program as papers classify it: divergent, coherent or
barrier. --wide adds the suites of the benchmarks and the kernels.

Examples:
  raddle list workloads
  raddle run bfs --size tiny")]
    Workloads {
        /// Print one JSON object per workload
        #[arg(long)]
        json: bool,
        /// Print all columns, however long the lines
        #[arg(long)]
        wide: bool,
    },
    /// List the experiments that come with Raddle
    #[command(after_help = "\
Run an experiment that comes with Raddle by its name, and your own by the path of its file.

Examples:
  raddle list experiments
  raddle reproduce matrix --size tiny")]
    Experiments {
        /// Print one JSON object per experiment
        #[arg(long)]
        json: bool,
    },
    /// List all counters, and the parts that count them
    #[command(after_help = "Example:\n  raddle list counters")]
    Counters {
        /// Print one JSON object per counter
        #[arg(long)]
        json: bool,
    },
}

/// Something with a name.
#[derive(Serialize)]
struct Record {
    name: &'static str,
    about: &'static str,
}

/// Runs one of them, or all when none is named.
pub fn run(command: Option<&Command>, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    match command {
        None => {
            mechanisms(registry, false)?;
            presets(false)?;
            workloads(false, false)?;
            experiments(registry, false)?;
            counters(registry, false)?;
        }
        Some(Command::Presets { json }) => presets(*json)?,
        Some(Command::Mechanisms { json }) => mechanisms(registry, *json)?,
        Some(Command::Workloads { json, wide }) => workloads(*json, *wide)?,
        Some(Command::Experiments { json }) => experiments(registry, *json)?,
        Some(Command::Counters { json }) => counters(registry, *json)?,
    }
    Ok(Exit::Good)
}

fn presets(json: bool) -> Result<(), Failure> {
    let records = PRESETS.iter().map(|preset| Record { name: preset.name, about: preset.about });
    let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    for record in records {
        if json {
            out::json(&record)?;
        } else {
            out::data(&format!("{:<width$}  {}\n", record.name, record.about))?;
        }
    }
    Ok(())
}

/// All mechanisms, those of a seam together.
fn by_seam(registry: &Registry) -> impl Iterator<Item = &Mechanism> {
    Seam::ALL.into_iter().flat_map(|seam| registry.iter().filter(move |m| m.info.seam == seam))
}

fn mechanisms(registry: &Registry, json: bool) -> Result<(), Failure> {
    let mut text = String::new();
    let mut last = None;
    for mechanism in by_seam(registry) {
        let (info, parameters) = (mechanism.info, &mechanism.parameters);
        if json {
            let parameters = parameters
                .iter()
                .map(|p| json!({"name": p.name, "about": one_line(&p.doc), "default": p.default, "range": p.range}));
            let refuses =
                info.refuses.iter().map(|r| json!({"seam": r.seam.key(), "name": r.name, "reason": r.reason}));
            let mut value = json!({
                "name": info.name,
                "seam": info.seam.key(),
                "about": info.summary,
                "source": info.source,
                "parameters": parameters.collect::<Vec<_>>(),
                "refuses": refuses.collect::<Vec<_>>(),
            });
            if !info.counters.is_empty() {
                let counter = |c: &CounterInfo| json!({"name": c.name, "unit": c.unit.name(), "about": c.doc});
                value["counters"] = info.counters.iter().map(counter).collect();
            }
            if let Some(origin) = &mechanism.origin {
                value["origin"] = origin.as_str().into();
            }
            out::json(&value)?;
            continue;
        }
        if last.replace(info.seam) != Some(info.seam) {
            text += &format!("{}{}\n", if text.is_empty() { "" } else { "\n" }, info.seam.key());
        }
        text += &format!("  {:<12}  {}\n", info.name, info.summary);
        if !info.source.is_empty() {
            text += &format!("  {:<12}  from {}\n", "", info.source);
        }
        if let Some(origin) = &mechanism.origin {
            text += &format!("  {:<12}  added by {origin}\n", "");
        }
        for p in parameters {
            let about = one_line(&p.doc);
            let range = if p.range.is_empty() { String::new() } else { format!(" ({})", p.range) };
            text += &wrapped(&format!("{} = {}{range}: {about}", p.name, p.default));
        }
        for c in info.counters {
            text += &wrapped(&format!("counts {} ({}): {}", c.name, c.unit.name(), c.doc));
        }
        for r in info.refuses {
            text += &wrapped(&format!("not with {} {}: {}", r.seam.key(), r.name, r.reason));
        }
    }
    Ok(out::data(&text)?)
}

fn workloads(json: bool, wide: bool) -> Result<(), Failure> {
    let heads = ["name", "class", "modelled on", "kernels"];
    let mut rows = vec![heads[..if wide { 4 } else { 3 }].iter().copied().map(str::to_owned).collect()];
    for workload in raddle_workloads::all() {
        let module = workload.module()?;
        let manifest = workload.manifest(&module)?;
        let kernels: Vec<&str> = module.module.kernels().map(|(_, f)| f.name.as_str()).collect();
        if json {
            let kernels = kernels.iter().map(|k| json!({"name": k, "class": manifest.class_of(k).name()}));
            let stands_for = manifest
                .stands_for
                .iter()
                .map(|s| json!({"paper": s.paper.name(), "benchmark": s.benchmark, "suite": s.suite}));
            let sizes: serde_json::Map<_, _> =
                manifest.sizes.iter().map(|(size, keys)| (size.name().to_owned(), json!(keys))).collect();
            out::json(&json!({
                "name": workload.name,
                "title": manifest.title,
                "class": manifest.class.name(),
                "stands_for": stands_for.collect::<Vec<_>>(),
                "differs": one_line(&manifest.differs),
                "check": manifest.check.to_string(),
                "warp_width": manifest.warp_width,
                "sizes": sizes,
                "kernels": kernels.collect::<Vec<_>>(),
            }))?;
        }
        let benchmark =
            |s: &StandsFor| if wide { format!("{} ({})", s.benchmark, s.suite) } else { s.benchmark.clone() };
        let mut benchmarks: Vec<String> = manifest.stands_for.iter().map(benchmark).collect();
        benchmarks.dedup();
        if benchmarks.is_empty() {
            benchmarks.push("-".to_owned());
        }
        let mut row = vec![workload.name.to_owned(), manifest.class.name().to_owned(), benchmarks.join(", ")];
        row.extend(wide.then(|| kernels.join(", ")));
        rows.push(row);
    }
    if !json {
        out::data(&out::columns(&rows))?;
    }
    Ok(())
}

fn experiments(registry: &Arc<Registry>, json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (name, text) in raddle_lab::experiment::BUILT_IN {
        let experiment =
            raddle_lab::Experiment::parse_with(registry, raddle_lab::experiment::Files::default(), name, text)?;
        if json {
            let figures: Vec<&str> = experiment.figures.iter().map(|f| f.name.as_str()).collect();
            let (title, about) = (&experiment.title, one_line(&experiment.about));
            out::json(&json!({"name": name, "title": title, "about": about, "figures": figures}))?;
        }
        rows.push(vec![(*name).to_owned(), experiment.title]);
    }
    if !json {
        out::data(&out::columns(&rows))?;
    }
    Ok(())
}

/// Lines of at most 100 columns, below the summary of a mechanism; all but the first are indented further.
fn wrapped(text: &str) -> String {
    const WIDTH: usize = 100;
    let (mut lines, mut line) = (String::new(), format!("{:16}", ""));
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &(line + "\n");
            line = format!("{:18}{word}", "");
        } else {
            line += if number > 0 { " " } else { "" };
            line += word;
        }
    }
    lines + &line + "\n"
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn counters(registry: &Registry, json: bool) -> Result<(), Failure> {
    let mut groups: Vec<(String, &str, &[CounterInfo])> = [
        ("sm", "an SM", SmCounters::INFO),
        ("int, fp", "the integer or floating-point pipelines of an SM's SPs", LaneCounters::INFO),
        ("l1i, l1d, l1c, l1t", "a first-level cache", CacheCounters::INFO),
        ("l2", "an L2 slice", L2Counters::INFO),
        ("dram", "a DRAM channel", DramCounters::INFO),
        ("network-up, network-down", "a direction of the interconnect", CrossbarCounters::INFO),
        ("profile", "an instruction of a kernel, in `raddle profile`", PcCounters::INFO),
    ]
    .map(|(kinds, about, infos)| (kinds.to_owned(), about, infos))
    .to_vec();
    for info in by_seam(registry).map(|m| m.info).filter(|info| !info.counters.is_empty()) {
        groups.push((format!("{}.{}", info.seam.key(), info.name), info.summary, info.counters));
    }
    let all = || groups.iter().flat_map(|g| g.2);
    let name = all().map(|c| c.name.len()).max().unwrap_or(0);
    let unit = all().map(|c| c.unit.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (kinds, about, infos) in groups {
        text += &format!("{}{kinds}: {about}\n", if text.is_empty() { "" } else { "\n" });
        for info in infos {
            if json {
                let kinds: Vec<&str> = kinds.split(", ").collect();
                out::json(&json!({
                    "name": info.name, "unit": info.unit.name(), "about": info.doc, "kinds": kinds,
                }))?;
            } else {
                text += &format!("  {:<name$}  {:<unit$}  {}\n", info.name, info.unit.name(), info.doc);
            }
        }
    }
    if !json {
        out::data(&text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped() {
        assert_eq!(wrapped("a = 1: short"), "                a = 1: short\n");
        let long = wrapped(&"word ".repeat(40));
        assert!(long.lines().count() == 3 && long.lines().all(|line| line.len() <= 100), "{long}");
        assert_eq!(long.split_whitespace().count(), 40);
    }
}
