//! `raddle compare`: a grid from the command line, and a table at once.

use crate::exit::{Exit, Failure};
use crate::lab::{Jobs, Watching};
use crate::out;
use crate::run::sizes;
use clap::ValueEnum;
use raddle_lab::experiment::{
    Against, Axis, Base, Change, Experiment, Figure, Mean, Repeats, Rows, Variant, Vary, workloads,
};
use raddle_lab::figure::{Table, Values};
use raddle_lab::grid::Grid;
use raddle_lab::markdown;
use raddle_lab::metric::Metric;
use raddle_lab::store::Store;
use raddle_lab::work::{self, InMemory, Results};
use raddle_runtime::Problem;
use raddle_sim::config::{DEFAULT_PRESET, PRESETS};
use raddle_workloads::Size;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Options of mechanisms and --preset take lists: every combination is run, and compared with the first.
Several values of one parameter are --vary KEY=V1,V2,... With --metric cycles (the default) the table has
speedups; of other metrics it has values relative to the first, or the values themselves with --plain.
A number after ± is half the range over repetitions; ≈ marks what is smaller than that.

Examples:
  raddle compare bfs spmv --issue lrr,gto
  raddle compare all --issue gto,all --size tiny --repeats 3
  raddle compare class:divergent --vary mechanism.issue.active=2,4,8 --issue two-level
  raddle compare bfs --preset gtx480,fx5800 --metric l1d-hit-rate --plain")]
pub struct Args {
    /// Workloads: names, `all`, or a class as in class:divergent
    #[arg(value_name = "WORKLOAD", required = true)]
    workloads: Vec<String>,
    /// Size of inputs: tiny, small or paper
    #[arg(long, default_value = "small", value_parser = sizes(), value_name = "SIZE", hide_possible_values = true)]
    size: Size,
    /// Machines, see `raddle list presets`
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    preset: Vec<String>,
    /// Issue schedulers, see `raddle list mechanisms` for this and the next; `all` is every one
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    issue: Vec<String>,
    /// Divergence models
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    divergence: Vec<String>,
    /// Fetch schedulers
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    fetch: Vec<String>,
    /// Dispatchers of thread blocks
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    dispatch: Vec<String>,
    /// Power gating
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    gating: Vec<String>,
    /// Several values of one parameter; may be given several times
    #[arg(long, value_name = "KEY=V1,V2,...", help_heading = "What is varied")]
    vary: Vec<String>,
    /// Change one value of all machines, as in sm.l1d.ways=8; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What to compare: cycles, thread-ipc, simd-efficiency, stall-share.barrier, l2.hits ...
    #[arg(long, default_value = "cycles", value_name = "NAME")]
    metric: String,
    /// Print values themselves, not relative to the first
    #[arg(long)]
    plain: bool,
    /// Mean over workloads
    #[arg(long, value_enum, default_value_t = MeanArg::Geometric, value_name = "MEAN")]
    mean: MeanArg,
    /// Runs of each point, under harmless changes
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Keep results in this folder, and do not run what is there
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
    #[command(flatten)]
    jobs: Jobs,
    /// Print one JSON object with the table
    #[arg(long)]
    json: bool,
}

/// Means, as options.
#[derive(Clone, Copy, ValueEnum)]
enum MeanArg {
    Harmonic,
    Geometric,
    Arithmetic,
}

impl Args {
    /// What is varied: names and changes of each choice.
    fn lists(&self) -> Result<Vec<Vec<Variant>>, Problem> {
        let set = |label: String, text: String| {
            let set = vec![Change { text, at: None }];
            Variant { label, set, ..Variant::default() }
        };
        let preset =
            |name: &String| Variant { label: name.clone(), base: Some(Base::preset(name)), ..Variant::default() };
        let presets = expanded(&self.preset, PRESETS.iter().map(|preset| preset.name));
        let mut lists: Vec<Vec<Variant>> = vec![presets.iter().map(preset).collect()];
        let registry = raddle_mech::registry();
        let seams = [&self.issue, &self.divergence, &self.fetch, &self.dispatch, &self.gating];
        for (names, seam) in seams.into_iter().zip(["issue", "divergence", "fetch", "dispatch", "gating"]) {
            let all = registry.iter().filter(|m| m.info.seam.key() == seam).map(|m| m.info.name);
            let choice = |name: String| set(name.clone(), format!("mechanism.{seam}={name}"));
            lists.push(expanded(names, all).into_iter().map(choice).collect());
        }
        for text in &self.vary {
            let Some((key, values)) = text.split_once('=') else {
                let problem = Problem::new(format!("--vary {text}: it should read KEY=V1,V2,..."));
                return Err(problem.help("as in mechanism.issue.active=2,4,8"));
            };
            let short = key.rsplit('.').next().unwrap_or(key);
            let choice = |value: &str| set(format!("{short}={value}"), format!("{key}={value}"));
            lists.push(values.split(',').map(choice).collect());
        }
        lists.retain(|list| !list.is_empty());
        Ok(lists)
    }

    /// The experiment they describe: one axis with every combination.
    fn experiment(&self) -> Result<Experiment, Failure> {
        let words = self.workloads.iter().map(String::as_str);
        let chosen = workloads(words).map_err(|(_, problem)| problem)?;
        let mut experiment = Experiment { size: self.size, ..Experiment::new("compare", chosen) };
        experiment.set = self.set.iter().map(|text| Change { text: text.clone(), at: None }).collect();
        let mut variants = vec![Variant::default()];
        for list in self.lists()? {
            let with = |first: &Variant| list.iter().map(|second| joined(first, second)).collect::<Vec<_>>();
            variants = variants.iter().flat_map(with).collect();
        }
        if variants.len() == 1 && variants[0].label.is_empty() {
            variants[0].label = DEFAULT_PRESET.to_owned();
        }
        experiment.axes = vec![Axis { name: "machine".to_owned(), variants }];
        experiment.baseline = vec![Some(0)];
        if self.repeats > 1 {
            let vary = vec![Vary::Seed, Vary::Dispatch, Vary::Heap];
            experiment.repeats = Repeats { count: self.repeats, vary, at: None };
        }
        let metric = Metric::parse(&self.metric)?;
        experiment.metrics = vec![metric.clone()];
        let against = match (self.plain, &metric) {
            (true, _) => Against::Nothing,
            (false, Metric::Cycles) => Against::Speedup,
            (false, _) => Against::Ratio,
        };
        let mean = match self.mean {
            MeanArg::Harmonic => Mean::Harmonic,
            MeanArg::Geometric => Mean::Geometric,
            MeanArg::Arithmetic => Mean::Arithmetic,
        };
        let (name, title) = ("compare".to_owned(), "compare".to_owned());
        let (stack, source, paper, fixed) = (Vec::new(), String::new(), Vec::new(), vec![0]);
        let (bars, rows) = (0, Rows::Workloads);
        experiment.figures =
            vec![Figure { name, title, metric, stack, against, bars, rows, fixed, mean, source, paper }];
        Ok(experiment)
    }
}

/// A list in which `all` stands for everything there is; nothing comes twice.
fn expanded<'a>(names: &[String], all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let all: Vec<String> = all.map(str::to_owned).collect();
    let mut list: Vec<String> = Vec::new();
    for name in names {
        let means = if name == "all" { &all[..] } else { std::slice::from_ref(name) };
        let new: Vec<String> = means.iter().filter(|one| !list.contains(one)).cloned().collect();
        list.extend(new);
    }
    list
}

fn joined(first: &Variant, second: &Variant) -> Variant {
    let space = if first.label.is_empty() { "" } else { " " };
    Variant {
        label: format!("{}{space}{}", first.label, second.label),
        base: second.base.clone().or(first.base.clone()),
        size: None,
        set: [&first.set[..], &second.set].concat(),
    }
}

/// `raddle compare`.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let experiment = args.experiment()?;
    let grid = Grid::new(&experiment)?;
    for line in &grid.left_out {
        out::talk(&format!("left out: {line}"));
    }
    match &args.store {
        Some(folder) => {
            let exit = table(args, &experiment, &grid, &mut Store::create(folder)?);
            if matches!(exit, Ok(Exit::Bad)) {
                out::talk(&format!("`raddle lab ls --failures --store {}` says what failed", folder.display()));
            }
            exit
        }
        None => {
            let mut results = InMemory::default();
            let exit = table(args, &experiment, &grid, &mut results);
            for failure in &results.failures {
                out::talk(&format!("failed: {}: {}", failure.title, failure.error));
            }
            exit
        }
    }
}

fn table(args: &Args, experiment: &Experiment, grid: &Grid, results: &mut impl Results) -> Result<Exit, Failure> {
    let watching = Watching::default();
    let ended = work::run(&grid.points, results, args.jobs.options(), &|progress| watching.show(progress));
    watching.clear();
    let ended = ended?;
    let table = Values::read(experiment, grid, results)?.table(experiment, &experiment.figures[0]);
    if args.json {
        out::json(&as_json(&table))?;
    } else {
        out::talk(&format!("{}, size {}", table.about, args.size));
        out::data(&as_text(&table))?;
    }
    Ok(Exit::good_if(ended.failed == 0))
}

fn as_text(table: &Table) -> String {
    let mut rows = vec![[&[String::new()], &table.bars[..]].concat()];
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| markdown::value(table, cell.as_ref()));
        rows.push([vec![row.name.clone()], cells.collect()].concat());
    }
    out::table(&rows)
}

fn as_json(table: &Table) -> serde_json::Value {
    let rows = table.rows.iter().map(|row| {
        let cells = table.bars.iter().zip(&row.cells).map(|(bar, cell)| {
            let value = cell.as_ref().map(|c| json!({"value": c.value, "low": c.low, "high": c.high}));
            (bar.clone(), value.unwrap_or_default())
        });
        json!({"row": row.name, "is_mean": row.is_mean, "cells": cells.collect::<serde_json::Map<_, _>>()})
    });
    json!({"about": table.about, "bars": table.bars, "rows": rows.collect::<Vec<_>>()})
}
