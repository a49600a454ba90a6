//! `raddle compare`: a grid from the command line, and tables at once.

use crate::exec::host::AllowArgs;
use crate::exit::{Exit, Failure};
use crate::figure_export::{FigureArgs, write_data};
use crate::fill;
use crate::lab::{Jobs, Watching};
use crate::out;
use crate::run::sizes;
use clap::ValueEnum;
use raddle_lab::chart::{Layout, draw};
use raddle_lab::experiment::{
    Against, Axis, Base, Change, ErrorBars, Experiment, Figure, Files, Kind, Mean, Part, Repeats, Rows, Variant, Vary,
    slots, workloads,
};
use raddle_lab::figure::{Trouble, Values};
use raddle_lab::fill::{Filled, machines};
use raddle_lab::grid::Grid;
use raddle_lab::metric::Metric;
use raddle_lab::store::Store;
use raddle_lab::table::{Cell, Table};
use raddle_lab::work::{self, InMemory, Results};
use raddle_lab::{export, markdown, plot_data};
use raddle_runtime::Problem;
use raddle_sim::config::{DEFAULT_PRESET, PRESETS};
use raddle_sim::seam::{Registry, Seam};
use raddle_workloads::Size;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
#[command(after_help = "\
The options of mechanisms and --preset take lists. Every combination is run and compared with the first one.
To vary one parameter, write --vary KEY=V1,V2,... A parameter of a mechanism given with --set applies to those
mechanisms of the list that have it. With --metric cycles (the default), the table has speedups. For other
metrics, it has values relative to the first combination, or with --plain the values themselves. Each metric
makes a table; `slots` shows where issue slots go. Divergence models are compared in five tables unless --metric
says otherwise: IPC, SIMD efficiency, issue slots, memory traffic and the deepest stack. Means are harmonic for
IPC, geometric for other ratios and arithmetic for values.

A number after ± is half the range over repetitions; ≈ marks a difference that is not distinguishable from this
noise. A mean over 8 of 9 rows is over the rows that have a value. A workload that a machine cannot run by
design is shown as `refused`; the exit code is then still 0.

Examples:
  raddle compare bfs spmv --issue lrr,gto
  raddle compare examples/saxpy.toml matmul --issue lrr,gto
  raddle compare program.toml --preset gtx480,v100 --allow-programs
  raddle compare all --issue gto,all --size tiny --repeats 3
  raddle compare bfs mum --divergence pdom,dwf,tbc --kernels --csv models.csv
  raddle compare all --issue lrr,gto --output speedup.pdf --width ieee --data numbers
  raddle compare class:divergent --vary mechanism.issue.active=2,4,8 --issue two-level
  raddle compare bfs --preset gtx480,fx5800 --metric l1d-hit-rate,read-latency --plain")]
pub struct Args {
    /// Names, `all`, a class such as class:divergent, or launch and program files (.toml)
    #[arg(value_name = "WORKLOAD|FILE", required = true)]
    workloads: Vec<String>,
    /// Size of inputs: tiny, small or paper [default: small]
    #[arg(long, value_parser = sizes(), value_name = "SIZE", hide_possible_values = true)]
    size: Option<Size>,
    /// Machines, see `raddle list presets`
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    preset: Vec<String>,
    /// Issue schedulers; `raddle list mechanisms` lists the names, `all` means every one
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
    /// Ganging of narrow warps
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    ganging: Vec<String>,
    /// Power gating
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    gating: Vec<String>,
    /// How warps take logical blocks
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "What is varied")]
    logical_blocks: Vec<String>,
    /// Several values of one parameter; may be given several times
    #[arg(long, value_name = "KEY=V1,V2,...", help_heading = "What is varied")]
    vary: Vec<String>,
    /// Change one value of all machines, such as sm.l1d.ways=8; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What to compare: cycles, thread-ipc, slots, stall-share.barrier, l2.hits ...; may be given several times
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    metric: Vec<String>,
    /// A row for each kernel of a workload
    #[arg(long)]
    kernels: bool,
    /// Print the values themselves, not relative to the first combination
    #[arg(long)]
    plain: bool,
    /// Mean over workloads; by default, the one that suits the metric
    #[arg(long, value_enum, value_name = "MEAN")]
    mean: Option<MeanArg>,
    /// Runs of each point, under harmless changes
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Keep results in this folder, and reuse the results that are there
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    jobs: Jobs,
    /// Print one JSON object with all tables
    #[arg(long)]
    json: bool,
    /// Draw the table; the name of the file ends in .svg, .png or .pdf, and several tables add their own names to it
    #[arg(long, short, value_name = "FILE", help_heading = "Figures")]
    output: Option<PathBuf>,
    #[command(flatten)]
    figures: FigureArgs,
    /// Write all values to a CSV file, one value on each line
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write all values to a Parquet file, one value in each row
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
}

/// Means, as options.
#[derive(Clone, Copy, ValueEnum)]
enum MeanArg {
    Harmonic,
    Geometric,
    Arithmetic,
}

impl From<MeanArg> for Mean {
    fn from(arg: MeanArg) -> Self {
        match arg {
            MeanArg::Harmonic => Self::Harmonic,
            MeanArg::Geometric => Self::Geometric,
            MeanArg::Arithmetic => Self::Arithmetic,
        }
    }
}

/// What a table shows.
struct View {
    name: String,
    title: String,
    metric: Metric,
    stack: Vec<Part>,
    against: Against,
}

impl View {
    fn new(metric: Metric, against: Against) -> Self {
        let (name, title) = (metric.to_string(), markdown::capital(&metric.about()));
        Self { name, title, metric, stack: Vec::new(), against }
    }

    fn titled(self, name: &str, title: &str) -> Self {
        Self { name: name.to_owned(), title: title.to_owned(), ..self }
    }

    /// Where issue slots go.
    fn slots() -> Self {
        let stack = slots();
        let metric = Metric::Sum(stack.iter().map(|part| part.metric.clone()).collect());
        let (name, title) = ("slots".to_owned(), "Where issue slots go".to_owned());
        Self { name, title, metric, stack, against: Against::Share }
    }

    /// The mean that goes with it; `wanted` where that makes sense.
    fn mean(&self, wanted: Option<Mean>) -> Mean {
        let default = match (&self.metric, self.against) {
            (metric, Against::Nothing) if metric.is_most() => return Mean::None,
            _ if !self.stack.is_empty() => return Mean::Arithmetic,
            (Metric::ThreadIpc | Metric::WarpIpc, _) => Mean::Harmonic,
            (_, Against::Nothing) => Mean::Arithmetic,
            _ => Mean::Geometric,
        };
        wanted.unwrap_or(default)
    }
}

impl Args {
    /// What is shown: what was asked for, else what goes with what is varied.
    fn views(&self, registry: &Registry) -> Result<Vec<View>, Problem> {
        let relative = |against| if self.plain { Against::Nothing } else { against };
        let view = |name: &str| match name.trim() {
            "slots" => Ok(View::slots()),
            name => {
                let metric = Metric::parse_with(registry, name)?;
                let against = if metric == Metric::Cycles { Against::Speedup } else { Against::Ratio };
                Ok(View::new(metric, relative(against)))
            }
        };
        if !self.metric.is_empty() {
            let mut views: Vec<View> = Vec::new();
            for name in &self.metric {
                let new = view(name)?;
                if views.iter().all(|known| known.name != new.name) {
                    views.push(new);
                }
            }
            return Ok(views);
        }
        if expanded(&self.divergence, names_of(registry, Seam::Divergence)).len() < 2 {
            return Ok(vec![view("cycles")?]);
        }
        let ipc = if self.plain { "IPC" } else { "Normalised IPC" };
        Ok(vec![
            View::new(Metric::ThreadIpc, relative(Against::Ratio)).titled("ipc", ipc),
            View::new(Metric::SimdEfficiency, Against::Nothing),
            View::slots(),
            View::new(Metric::MemoryTraffic, relative(Against::Ratio)).titled("memory-traffic", "Memory traffic"),
            View::new(Metric::parse("sm.stack_depth")?, Against::Nothing).titled("stack-depth", "Deepest stack"),
        ])
    }

    fn presets(&self) -> Vec<String> {
        expanded(&self.preset, PRESETS.iter().map(|preset| preset.name))
    }

    /// The preset all runs have, if one was given, else the default.
    fn preset(&self) -> String {
        self.presets().into_iter().next().unwrap_or_else(|| DEFAULT_PRESET.to_owned())
    }

    fn size(&self) -> Size {
        self.size.unwrap_or(Size::Small)
    }

    /// What all runs have in common; files of the user have no size to speak of.
    fn common(&self, experiment: &Experiment) -> Vec<String> {
        let has_size = experiment.workloads.iter().any(|name| experiment.files.get(name).is_none());
        let size = has_size.then(|| format!("size {}", self.size()));
        let preset = Some(self.presets()).filter(|presets| presets.len() == 1).and_then(|mut presets| presets.pop());
        size.into_iter().chain(preset).collect()
    }

    /// What is varied: names and changes of each choice.
    fn lists(&self, registry: &Registry) -> Result<Vec<Vec<Variant>>, Problem> {
        let set = |label: String, text: String| {
            let set = vec![Change { text, at: None }];
            Variant { label, set, ..Variant::default() }
        };
        let preset =
            |name: &String| Variant { label: name.clone(), base: Some(Base::preset(name)), ..Variant::default() };
        // One preset for all is the experiment's.
        let presets = Some(self.presets()).filter(|presets| presets.len() > 1).unwrap_or_default();
        let mut lists: Vec<Vec<Variant>> = vec![presets.iter().map(preset).collect()];
        let seams = [
            (&self.issue, Seam::Issue),
            (&self.divergence, Seam::Divergence),
            (&self.fetch, Seam::Fetch),
            (&self.dispatch, Seam::Dispatch),
            (&self.ganging, Seam::Ganging),
            (&self.gating, Seam::Gating),
            (&self.logical_blocks, Seam::LogicalBlocks),
        ];
        for (names, seam) in seams {
            let choice = |name: String| set(name.clone(), format!("mechanism.{}={name}", seam.key()));
            lists.push(expanded(names, names_of(registry, seam)).into_iter().map(choice).collect());
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
    fn experiment(&self, registry: &Arc<Registry>) -> Result<Experiment, Failure> {
        let words = self.workloads.iter().map(String::as_str);
        let mut files = Files::with_loaders(Path::new(""), self.allow.loaders());
        let chosen = workloads(words, &mut files).map_err(|(_, problem)| problem)?;
        let mut experiment = Experiment::new("compare", chosen, registry);
        (experiment.size, experiment.files) = (self.size(), files);
        experiment.base = Base::preset(&self.preset());
        experiment.set = self.set.iter().map(|text| Change { text: text.clone(), at: None }).collect();
        let mut variants = vec![Variant::default()];
        for list in self.lists(registry)? {
            let with = |first: &Variant| list.iter().map(|second| joined(first, second)).collect::<Vec<_>>();
            variants = variants.iter().flat_map(with).collect();
        }
        if variants.len() == 1 && variants[0].label.is_empty() {
            variants[0].label = self.preset();
        }
        experiment.axes = vec![Axis { name: "machine".to_owned(), variants }];
        experiment.baseline = vec![Some(0)];
        if self.repeats > 1 {
            let vary = vec![Vary::Seed, Vary::Dispatch, Vary::Heap];
            experiment.repeats = Repeats { count: self.repeats, vary, at: None };
        }
        let rows = if self.kernels { Rows::Kernels } else { Rows::Workloads };
        for view in self.views(registry)? {
            let mean = view.mean(self.mean.map(Mean::from));
            let View { name, title, metric, stack, against } = view;
            let (source, paper, fixed) = (String::new(), Vec::new(), vec![0]);
            experiment.figures.push(Figure {
                name,
                title,
                kind: if stack.is_empty() { Kind::Bars } else { Kind::Stacked },
                error: ErrorBars::default(),
                x: None,
                metric,
                stack,
                against,
                baseline: experiment.baseline.clone(),
                group: None,
                bars: 0,
                choices: (0..experiment.axes[0].variants.len()).collect(),
                rows,
                fixed,
                mean,
                source,
                paper,
                why: None,
                reading: None,
            });
        }
        Ok(experiment)
    }
}

/// The names of all mechanisms at a seam.
fn names_of(registry: &Registry, seam: Seam) -> impl Iterator<Item = &'static str> {
    registry.iter().filter(move |m| m.info.seam == seam).map(|m| m.info.name)
}

/// A list in which `all` means everything there is, without repetitions.
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
        virtualize: second.virtualize.or(first.virtualize),
        set: [&first.set[..], &second.set].concat(),
        ..Variant::default()
    }
}

/// `raddle compare`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let experiment = args.experiment(registry)?;
    if let (Some(_), Some(note)) = (args.size, experiment.files.size_note()) {
        out::talk(&note);
    }
    if let (Some(_), None) = (args.figures.width, &args.output) {
        return Err(Problem::new("--width is for a picture").help("--output FILE says where it goes").into());
    }
    // Nobody should wait for a picture that cannot be written.
    args.output.as_deref().map(out::Picture::new).transpose()?;
    let grid = Grid::new(&experiment)?;
    for line in &grid.left_out {
        out::talk(&format!("left out: {line}"));
    }
    match &args.store {
        Some(folder) => {
            let exit = tables(args, &experiment, &grid, &mut Store::create(folder)?);
            if matches!(exit, Ok(Exit::Bad)) {
                out::talk(&format!("`raddle lab ls --failures --store {}` says what failed", folder.display()));
            }
            exit
        }
        None => {
            let mut results = InMemory::default();
            let exit = tables(args, &experiment, &grid, &mut results);
            for failure in results.failures.iter().filter(|failure| !failure.is_refusal) {
                out::talk(&format!("failed: {}: {}", failure.title, failure.error));
            }
            exit
        }
    }
}

fn tables(args: &Args, experiment: &Experiment, grid: &Grid, results: &mut impl Results) -> Result<Exit, Failure> {
    let watching = Watching::of_comparison(args.store.is_some());
    let ended = work::run(&grid.points, results, args.jobs.options(), &|progress| watching.show(progress));
    watching.clear();
    let ended = ended?;
    let values = Values::read(experiment, grid, results)?;
    let tables: Vec<Table> = experiment.figures.iter().map(|figure| values.table(experiment, figure)).collect();
    let troubles = values.troubles(experiment);
    let machines = machines(experiment, grid, &values);
    if args.json {
        out::json(&as_json(args, &tables, &troubles, &machines))?;
    } else if let [table] = &tables[..] {
        let about = if table.parts.is_empty() { table.about.clone() } else { heading(table) };
        out::talk(&[vec![about], args.common(experiment)].concat().join(", "));
        out::data(&as_text(table))?;
    } else {
        let baseline = format!("the baseline is {}", tables[0].bars[0]);
        let common = Some(args.common(experiment).join(", ")).filter(|common| !common.is_empty());
        out::talk(&common.into_iter().chain([baseline]).collect::<Vec<_>>().join("; "));
        let texts: Vec<String> = tables.iter().map(|table| format!("{}\n{}", heading(table), as_text(table))).collect();
        out::data(&texts.join("\n"))?;
    }
    for trouble in troubles.iter().filter(|trouble| trouble.is_refusal) {
        out::talk(&format!("refused: {}", trouble.line));
    }
    fill::not_full(&machines).iter().for_each(|line| out::talk(line));
    for table in &tables {
        let Some(path) = &args.output else { break };
        let own = if tables.len() == 1 { path.clone() } else { with_name(path, table) };
        let (layout, medium) = Layout::exported(args.figures.width);
        out::Picture::new(&own)?.write(&draw(table, layout), medium, &table.title)?;
    }
    if let Some(folder) = &args.figures.data {
        write_data(folder, &tables)?;
    }
    if let Some(path) = &args.csv {
        let wrong = |source| raddle_lab::Error::Write { path: path.display().to_string(), source };
        std::fs::write(path, export::figures_csv(&tables)).map_err(wrong)?;
    }
    if let Some(path) = &args.parquet {
        export::figures_parquet(&tables, path)?;
    }
    Ok(Exit::good_if(ended.failed == 0))
}

/// The file of one of several tables: `a.svg` becomes `a-ipc.svg`.
fn with_name(path: &Path, table: &Table) -> PathBuf {
    let [stem, ending] = [path.file_stem(), path.extension()].map(|part| part.unwrap_or_default().to_string_lossy());
    path.with_file_name(format!("{stem}-{}.{ending}", plot_data::file_name(table)))
}

/// Title and what the values are, the latter once.
fn heading(table: &Table) -> String {
    let about = &table.about;
    if !table.parts.is_empty() {
        return format!("{}, in percent: {about}", table.title);
    }
    match about.get(..table.title.len()).filter(|start| start.eq_ignore_ascii_case(&table.title)) {
        Some(start) => format!("{}{}", table.title, &about[start.len()..]),
        None => format!("{}: {about}", table.title),
    }
}

fn as_text(table: &Table) -> String {
    if !table.parts.is_empty() {
        return parts_as_text(table);
    }
    let mut rows = vec![[&[String::new()], &table.bars[..]].concat()];
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| markdown::value(table, cell));
        rows.push([vec![row.name.clone()], cells.collect()].concat());
    }
    out::table(&rows)
}

/// Stacked bars, parts in percent: a line for each row and bar, a column for each part, whose name may take two lines.
fn parts_as_text(table: &Table) -> String {
    let split = |part: &String| match part.rsplit_once(' ') {
        Some((first, last)) => [first.to_owned(), last.to_owned()],
        None => [String::new(), part.clone()],
    };
    let names: Vec<[String; 2]> = table.parts.iter().map(split).collect();
    let line = |n: usize| names.iter().map(move |name| name[n].clone());
    let mut rows: Vec<Vec<String>> = [0, 1].map(|n| [String::new()].into_iter().chain(line(n)).collect()).to_vec();
    for row in &table.rows {
        rows.push(vec![row.name.clone()]);
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            let note = cell.as_ref().ok().and_then(|cell| cell.note()).map(|note| format!(" ({note})"));
            let mut cells = vec![format!("  {bar}{}", note.unwrap_or_default())];
            match cell {
                Ok(cell) => cells.extend(cell.parts.iter().map(|part| format!("{:.2}", 100.0 * part.value))),
                Err(gap) => cells.push(gap.text().to_owned()),
            }
            rows.push(cells);
        }
    }
    out::table(&rows)
}

fn as_json(args: &Args, tables: &[Table], troubles: &[Trouble], machines: &[Filled]) -> serde_json::Value {
    let lines = |is_refusal: bool| {
        troubles.iter().filter(|t| t.is_refusal == is_refusal).map(|t| t.line.as_str()).collect::<Vec<_>>()
    };
    let tables: Vec<_> = tables.iter().map(table_as_json).collect();
    let machines: Vec<_> = machines.iter().map(fill::of_workload).collect();
    json!({
        "size": args.size().name(), "tables": tables, "machines": machines, "refused": lines(true), "failed": lines(false),
    })
}

fn table_as_json(table: &Table) -> serde_json::Value {
    let value = |cell: &Cell| {
        let mut value = json!({"value": cell.value, "low": cell.low, "high": cell.high});
        if let Some(over) = cell.over {
            value["over"] = over.rows.into();
            value["of"] = over.of.into();
        }
        value
    };
    let rows = table.rows.iter().map(|row| {
        let cells = table.bars.iter().zip(&row.cells).map(|(bar, cell)| {
            let json = cell.as_ref().map_or_else(
                |gap| json!({"gap": gap.name()}),
                |cell| {
                    let mut whole = value(cell);
                    if !table.parts.is_empty() {
                        let parts = table.parts.iter().cloned().zip(cell.parts.iter().map(value));
                        whole["parts"] = parts.collect::<serde_json::Map<_, _>>().into();
                    }
                    whole
                },
            );
            (bar.clone(), json)
        });
        json!({"row": row.name, "is_mean": row.is_mean, "cells": cells.collect::<serde_json::Map<_, _>>()})
    });
    let rows: Vec<_> = rows.collect();
    json!({
        "name": table.name, "title": table.title, "about": table.about, "bars": table.bars, "parts": table.parts,
        "rows": rows,
    })
}
