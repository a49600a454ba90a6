//! Experiment files: TOML to an [`Experiment`], with the place of every mistake.

use super::{
    Against, Axis, Change, Experiment, Figure, Mean, PaperValue, Repeats, Row, Variant, Vary, all_of, workloads,
};
use crate::metric::Metric;
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_runtime::file::toml_problem;
use raddle_workloads::Size;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
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
    metric: Spanned<String>,
    #[serde(default)]
    against: Against,
    bars: Spanned<String>,
    rows: Option<Spanned<String>>,
    #[serde(default)]
    r#where: BTreeMap<Spanned<String>, Spanned<Word>>,
    #[serde(default)]
    mean: Mean,
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

/// Reads a whole file.
pub(super) fn parse(name: &str, text: &str) -> Result<Experiment, Problem> {
    let raw: RawFile = toml::from_str(text).map_err(|e| toml_problem(&e))?;
    let words = raw.workloads.iter().map(|w| w.get_ref().as_str());
    let chosen = workloads(words).map_err(|(place, problem)| problem.at(Some(raw.workloads[place].span())))?;
    if chosen.is_empty() {
        return Err(Problem::new("the experiment has no workloads").help("workloads = [\"all\"] means every one"));
    }
    let mut experiment = Experiment { title: raw.title, about: raw.about, ..Experiment::new(name, chosen) };
    experiment.size = raw.size;
    if let Some(preset) = raw.preset {
        experiment.preset = change(preset);
    }
    experiment.set = raw.set.into_iter().map(change).collect();
    for axis_of in raw.axis {
        let at = axis_of.span();
        let axis = axis(axis_of.into_inner(), at)?;
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

fn axis(raw: RawAxis, at: std::ops::Range<usize>) -> Result<Axis, Problem> {
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
            let mut variant = Variant { label: word.clone(), preset: None, size: None, set: Vec::new() };
            match key {
                "preset" => variant.preset = Some(change(word)),
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
        let (preset, set) = (raw.preset.map(change), raw.set.into_iter().map(change).collect());
        variants.push(Variant { label: raw.label.into_inner(), preset, size: raw.size, set });
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
    let metric = Metric::parse(raw.metric.get_ref()).map_err(|p| p.at(Some(raw.metric.span())))?;
    let bars = axis_named(experiment, &raw.bars)?;
    let rows = raw.rows.as_ref().filter(|rows| rows.get_ref() != "workloads");
    let rows = rows.map(|rows| axis_named(experiment, rows)).transpose()?;
    let mut fixed: Vec<usize> = experiment.baseline.iter().map(|base| base.unwrap_or(0)).collect();
    for (name, label) in &raw.r#where {
        let axis = axis_named(experiment, name)?;
        fixed[axis] = variant_named(&experiment.axes[axis], label)?;
    }
    let mut paper = Vec::new();
    for raw in raw.paper {
        let bar = variant_named(&experiment.axes[bars], &raw.bar)?;
        paper.push(PaperValue { row: row(&raw.row, rows, experiment)?, bar, value: raw.value });
    }
    let (name, title, against) = (raw.name.into_inner(), raw.title, raw.against);
    Ok(Figure { name, title, metric, against, bars, rows, fixed, mean: raw.mean, source: raw.source, paper })
}

/// The row a paper's value belongs to: `mean`, `mean:divergent`, a workload, or a choice on the axis of rows.
fn row(text: &Spanned<String>, rows: Option<usize>, experiment: &Experiment) -> Result<Row, Problem> {
    use raddle_workloads::Class;
    let word = text.get_ref().as_str();
    let at = Some(text.span());
    if let Some(axis) = rows {
        return experiment.axes[axis].find(word).map(Row::Variant).map_err(|p| p.at(at));
    }
    let classes = [Class::Divergent, Class::Coherent, Class::Barrier];
    match word.strip_prefix("mean:") {
        _ if word == "mean" => Ok(Row::Mean),
        Some(class) => {
            let found = classes.into_iter().find(|c| c.name() == class).map(Row::ClassMean);
            found.ok_or_else(|| Problem::new(format!("there is no class `{class}`")).at(at))
        }
        None if experiment.workloads.contains(&word) => Ok(Row::Workload(word.to_owned())),
        None => Err(Problem::new(format!("`{word}` is no row of the figure"))
            .help("a row is a workload of the experiment, `mean`, or the mean over a class as in `mean:divergent`")
            .at(at)),
    }
}

#[cfg(test)]
mod tests;
