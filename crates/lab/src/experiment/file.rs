//! Experiment files: TOML to an [`Experiment`], with the place of every mistake.

use super::{
    Against, Axis, Base, Change, Experiment, Figure, Mean, PaperValue, Part, Repeats, Row, Rows, Variant, Vary, all_of,
    workloads,
};
use crate::metric::Metric;
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_runtime::file::toml_problem;
use raddle_workloads::Size;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFile {
    title: String,
    #[serde(default)]
    about: String,
    workloads: Vec<Spanned<String>>,
    #[serde(default = "small")]
    size: Size,
    preset: Option<Spanned<String>>,
    machine: Option<Spanned<String>>,
    #[serde(default)]
    set: Vec<Spanned<String>>,
    #[serde(default)]
    axis: Vec<Spanned<RawAxis>>,
    #[serde(default)]
    baseline: BTreeMap<Spanned<String>, Spanned<Word>>,
    #[serde(default)]
    metrics: Vec<Spanned<String>>,
    repeats: Option<Spanned<RawRepeats>>,
    #[serde(default)]
    figure: Vec<RawFigure>,
}

fn small() -> Size {
    Size::Small
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawAxis {
    name: Spanned<String>,
    key: Option<Spanned<String>>,
    #[serde(default)]
    values: Vec<Spanned<Word>>,
    #[serde(default)]
    variant: Vec<RawVariant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawVariant {
    label: Spanned<String>,
    preset: Option<Spanned<String>>,
    machine: Option<Spanned<String>>,
    size: Option<Size>,
    #[serde(default)]
    set: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawRepeats {
    count: u32,
    vary: Vec<Vary>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFigure {
    name: Spanned<String>,
    title: String,
    metric: Option<Spanned<String>>,
    #[serde(default)]
    stack: Vec<Spanned<String>>,
    #[serde(default)]
    against: Against,
    bars: Spanned<String>,
    rows: Option<Spanned<String>>,
    #[serde(default)]
    r#where: BTreeMap<Spanned<String>, Spanned<Word>>,
    mean: Option<Spanned<Mean>>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    paper: Vec<RawPaper>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawPaper {
    row: Spanned<String>,
    bar: Spanned<Word>,
    part: Option<Spanned<String>>,
    value: f64,
}

/// A word, number or truth value, as text.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(word) => Ok(Self(word)),
            value @ (toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_)) => {
                Ok(Self(value.to_string()))
            }
            other => {
                Err(de::Error::custom(format!("expected a word, a number, true or false, not {}", other.type_str())))
            }
        }
    }
}

fn change(text: Spanned<String>) -> Change {
    let at = Some(text.span());
    Change { text: text.into_inner(), at }
}

/// What a machine starts from: a preset, or a file, which is read.
fn base(
    folder: &Path,
    preset: Option<Spanned<String>>,
    file: Option<Spanned<String>>,
) -> Result<Option<Base>, Problem> {
    match (preset.map(change), file.map(change)) {
        (None, None) => Ok(None),
        (Some(preset), None) => Ok(Some(Base::Preset(preset))),
        (Some(_), Some(name)) => {
            let problem = Problem::new("a machine starts from a `preset` or from a file, not both").at(name.at);
            Err(problem.help("a machine file names its preset: base = \"gtx480\""))
        }
        (None, Some(name)) => machine_file(folder, name).map(Some),
    }
}

fn machine_file(folder: &Path, name: Change) -> Result<Base, Problem> {
    let path = folder.join(&name.text);
    let path_text = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let problem = Problem::new(format!("cannot read {path_text}: {error}")).at(name.at.clone());
        problem.help("machine files are looked for beside the experiment file")
    })?;
    Ok(Base::File { name, path: path_text, text })
}

/// Reads a whole file.
pub(super) fn parse(folder: &Path, name: &str, text: &str) -> Result<Experiment, Problem> {
    let raw: RawFile = toml::from_str(text).map_err(|e| toml_problem(&e))?;
    let words = raw.workloads.iter().map(|w| w.get_ref().as_str());
    let chosen = workloads(words).map_err(|(place, problem)| problem.at(Some(raw.workloads[place].span())))?;
    if chosen.is_empty() {
        return Err(Problem::new("the experiment has no workloads").help("workloads = [\"all\"] means every one"));
    }
    let mut experiment = Experiment { title: raw.title, about: raw.about, ..Experiment::new(name, chosen) };
    experiment.size = raw.size;
    if let Some(base) = base(folder, raw.preset, raw.machine)? {
        experiment.base = base;
    }
    experiment.set = raw.set.into_iter().map(change).collect();
    for axis_of in raw.axis {
        let at = axis_of.span();
        let axis = axis(folder, axis_of.into_inner(), at)?;
        experiment.axes.push(axis);
    }
    baseline(&mut experiment, raw.baseline)?;
    if !raw.metrics.is_empty() {
        let metrics = raw.metrics.iter().map(|m| Metric::parse(m.get_ref()).map_err(|p| p.at(Some(m.span()))));
        experiment.metrics = metrics.collect::<Result<_, _>>()?;
    }
    if let Some(raw) = raw.repeats {
        let at = Some(raw.span());
        let RawRepeats { count, vary } = raw.into_inner();
        if count == 0 || (count > 1 && vary.is_empty()) {
            let problem = Problem::new("repeats need a `count` of at least 1 and something to `vary`").at(at);
            return Err(problem.help("what can vary is seed, dispatch and heap"));
        }
        experiment.repeats = Repeats { count, vary, at };
    }
    for raw in raw.figure {
        let figure = figure(raw, &experiment)?;
        experiment.figures.push(figure);
    }
    Ok(experiment)
}

fn axis(folder: &Path, raw: RawAxis, at: std::ops::Range<usize>) -> Result<Axis, Problem> {
    let mut variants = Vec::new();
    let key = raw.key.as_ref().map(|k| k.get_ref().as_str());
    for value in raw.values {
        let at = Some(value.span());
        let Some(key) = key else {
            let problem = Problem::new("`values` need a `key` that has them").at(at);
            return Err(problem.help("as in key = \"mechanism.issue\" or key = \"sm.l1d.sets\""));
        };
        let word = value.into_inner().0;
        let words = if word == "all" { all_of(key).unwrap_or(vec![word]) } else { vec![word] };
        for word in words {
            let change = |text: String| Change { text, at: at.clone() };
            let mut variant = Variant { label: word.clone(), ..Variant::default() };
            match key {
                "preset" => variant.base = Some(Base::Preset(change(word))),
                "machine" => variant.base = Some(machine_file(folder, change(word))?),
                "size" => {
                    let size = Size::ALL.into_iter().find(|s| s.name() == word);
                    let wrong = || Problem::new(format!("there is no size `{word}`")).help("tiny, small or paper");
                    variant.size = Some(size.ok_or_else(wrong).map_err(|p| p.at(at.clone()))?);
                }
                _ => variant.set.push(change(format!("{key}={word}"))),
            }
            variants.push(variant);
        }
    }
    for raw in raw.variant {
        let (base, set) = (base(folder, raw.preset, raw.machine)?, raw.set.into_iter().map(change).collect());
        variants.push(Variant { label: raw.label.into_inner(), base, size: raw.size, set });
    }
    let name = raw.name.get_ref().clone();
    if variants.is_empty() {
        let problem = Problem::new(format!("axis `{name}` has nothing on it")).at(Some(at));
        return Err(problem.help("give it `key` and `values`, or [[axis.variant]]"));
    }
    let mut labels: Vec<&str> = variants.iter().map(|v| v.label.as_str()).collect();
    labels.sort_unstable();
    match labels.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let message = format!("axis `{name}` has `{}` twice", pair[0]);
            Err(Problem::new(message).at(Some(raw.name.span())))
        }
        None => Ok(Axis { name, variants }),
    }
}

/// The axis of this name.
fn axis_named(experiment: &Experiment, name: &Spanned<String>) -> Result<usize, Problem> {
    let found = experiment.axes.iter().position(|axis| axis.name == *name.get_ref());
    found.ok_or_else(|| {
        let names: Vec<&str> = experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
        let help = match closest(name.get_ref(), names.iter().copied()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("the axes are {}", names.join(", ")),
        };
        Problem::new(format!("there is no axis `{}`", name.get_ref())).help(help).at(Some(name.span()))
    })
}

fn variant_named(axis: &Axis, label: &Spanned<Word>) -> Result<usize, Problem> {
    axis.find(&label.get_ref().0).map_err(|problem| problem.at(Some(label.span())))
}

/// Without a baseline, it is the first choice on every axis.
fn baseline(experiment: &mut Experiment, raw: BTreeMap<Spanned<String>, Spanned<Word>>) -> Result<(), Problem> {
    let default = if raw.is_empty() { Some(0) } else { None };
    experiment.baseline = vec![default; experiment.axes.len()];
    for (name, label) in raw {
        let axis = axis_named(experiment, &name)?;
        experiment.baseline[axis] = Some(variant_named(&experiment.axes[axis], &label)?);
    }
    Ok(())
}

fn figure(raw: RawFigure, experiment: &Experiment) -> Result<Figure, Problem> {
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let name = raw.name.get_ref();
    if name.is_empty() || !name.chars().all(is_good) || experiment.figures.iter().any(|f| f.name == *name) {
        let problem = Problem::new(format!("`{name}` cannot name a figure")).at(Some(raw.name.span()));
        return Err(problem.help("small letters, digits and `-`, and no name twice: files are called that"));
    }
    let (metric, stack) = measured(&raw)?;
    let mean = mean(&raw, &stack)?;
    let bars = axis_named(experiment, &raw.bars)?;
    let rows = match &raw.rows {
        None => Rows::Workloads,
        Some(rows) if rows.get_ref() == "workloads" => Rows::Workloads,
        Some(rows) if rows.get_ref() == "kernels" => Rows::Kernels,
        Some(rows) => Rows::Axis(axis_named(experiment, rows)?),
    };
    let mut fixed: Vec<usize> = experiment.baseline.iter().map(|base| base.unwrap_or(0)).collect();
    for (name, label) in &raw.r#where {
        let axis = axis_named(experiment, name)?;
        fixed[axis] = variant_named(&experiment.axes[axis], label)?;
    }
    let mut paper = Vec::new();
    for raw in raw.paper {
        let bar = variant_named(&experiment.axes[bars], &raw.bar)?;
        let part = raw.part.as_ref().map(|part| part_named(&stack, part)).transpose()?;
        paper.push(PaperValue { row: row(&raw.row, rows, experiment)?, bar, part, value: raw.value });
    }
    let (name, title, against) = (raw.name.into_inner(), raw.title, raw.against);
    Ok(Figure { name, title, metric, stack, against, bars, rows, fixed, mean, source: raw.source, paper })
}

/// What a figure shows: a metric, or a stack with the sum of its parts.
fn measured(raw: &RawFigure) -> Result<(Metric, Vec<Part>), Problem> {
    let name_at = Some(raw.name.span());
    let Some(first) = raw.stack.first() else {
        let Some(metric) = &raw.metric else {
            let problem = Problem::new(format!("figure `{}` shows nothing", raw.name.get_ref())).at(name_at);
            return Err(problem.help("give it a `metric`, or a `stack` of metrics"));
        };
        if raw.against == Against::Share {
            let problem = Problem::new("only parts of a stack have a share of their whole").at(name_at);
            return Err(problem.help("write `stack` with all parts instead of `metric`, or take `ratio`"));
        }
        let parsed = Metric::parse(metric.get_ref()).map_err(|p| p.at(Some(metric.span())))?;
        return Ok((parsed, Vec::new()));
    };
    if let Some(metric) = &raw.metric {
        let problem = Problem::new("a figure has a `metric` or a `stack`, not both").at(Some(metric.span()));
        return Err(problem.help("the whole of a stack is the sum of its parts"));
    }
    if matches!(raw.against, Against::Speedup | Against::Difference) {
        let problem = Problem::new("stacked bars cannot be drawn as speedup or difference").at(Some(first.span()));
        return Err(problem.help("`ratio` sets parts against the baseline's whole, `share` against their own"));
    }
    let mut stack: Vec<Part> = Vec::new();
    for raw in &raw.stack {
        let (label, metric) = match raw.get_ref().split_once('=') {
            Some((label, metric)) => (label.trim(), metric.trim()),
            None => (raw.get_ref().trim(), raw.get_ref().trim()),
        };
        if stack.iter().any(|part| part.label == label) {
            return Err(Problem::new(format!("the stack has `{label}` twice")).at(Some(raw.span())));
        }
        let metric = Metric::parse(metric).map_err(|p| p.at(Some(raw.span())))?;
        stack.push(Part { label: label.to_owned(), metric });
    }
    Ok((Metric::Sum(stack.iter().map(|part| part.metric.clone()).collect()), stack))
}

/// The mean over workloads. Only arithmetic means of parts add up to that of the whole.
fn mean(raw: &RawFigure, stack: &[Part]) -> Result<Mean, Problem> {
    match &raw.mean {
        None if stack.is_empty() => Ok(Mean::default()),
        None => Ok(Mean::Arithmetic),
        Some(mean) if !stack.is_empty() && *mean.get_ref() != Mean::Arithmetic => {
            let message = format!("{} means of parts do not add up", mean.get_ref().name());
            Err(Problem::new(message).help("means of a stack are arithmetic").at(Some(mean.span())))
        }
        Some(mean) => Ok(*mean.get_ref()),
    }
}

fn part_named(stack: &[Part], label: &Spanned<String>) -> Result<usize, Problem> {
    stack.iter().position(|part| part.label == *label.get_ref()).ok_or_else(|| {
        let labels: Vec<&str> = stack.iter().map(|part| part.label.as_str()).collect();
        let problem = Problem::new(format!("the bars have no part `{}`", label.get_ref())).at(Some(label.span()));
        match closest(label.get_ref(), labels.iter().copied()) {
            Some(close) => problem.help(format!("did you mean `{close}`?")),
            None if stack.is_empty() => problem.help("they are not stacked"),
            None => problem.help(format!("the parts are {}", labels.join(", "))),
        }
    })
}

/// The row a paper's value belongs to: `mean`, `mean:divergent`, a workload, a kernel as in `bfs/expand`, or a choice
/// on the axis of rows.
fn row(text: &Spanned<String>, rows: Rows, experiment: &Experiment) -> Result<Row, Problem> {
    use raddle_workloads::Class;
    let word = text.get_ref().as_str();
    let at = Some(text.span());
    if let Rows::Axis(axis) = rows {
        return experiment.axes[axis].find(word).map(Row::Variant).map_err(|p| p.at(at));
    }
    let classes = [Class::Divergent, Class::Coherent, Class::Barrier];
    match word.strip_prefix("mean:") {
        _ if word == "mean" => Ok(Row::Mean),
        Some(class) => {
            let found = classes.into_iter().find(|c| c.name() == class).map(Row::ClassMean);
            found.ok_or_else(|| Problem::new(format!("there is no class `{class}`")).at(at))
        }
        None if rows == Rows::Kernels => kernel_row(word, experiment).map_err(|p| p.at(at)),
        None if experiment.workloads.contains(&word) => Ok(Row::Workload(word.to_owned())),
        None => Err(Problem::new(format!("`{word}` is no row of the figure"))
            .help("a row is a workload of the experiment, `mean`, or the mean over a class as in `mean:divergent`")
            .at(at)),
    }
}

/// The row of a kernel, `workload/kernel`.
fn kernel_row(word: &str, experiment: &Experiment) -> Result<Row, Problem> {
    match word.split_once('/') {
        Some((workload, kernel)) if experiment.workloads.contains(&workload) => {
            let module = raddle_workloads::find(workload)?.module().map_err(|e| Problem::new(e.to_string()))?;
            let kernel = module.kernel(Some(kernel))?.to_owned();
            Ok(Row::Kernel { workload: workload.to_owned(), kernel })
        }
        _ => {
            let help = "a row is WORKLOAD/KERNEL, `mean`, or the mean over a class as in `mean:divergent`";
            Err(Problem::new(format!("`{word}` is no row of the figure")).help(help))
        }
    }
}

#[cfg(test)]
mod tests;
