//! Experiment files: TOML to an [`Experiment`], with the place of every mistake.

mod figure;
mod fill;
mod timeline;

use super::{Axis, Base, Change, Experiment, Files, Group, Repeats, Variant, Vary, all_of, workloads};
use crate::metric::Metric;
use crate::virtualize::Virtualize;
use figure::{RawFigure, RawHeadline, RawLarge, figure, group_named, headline, large};
use fill::{RawFill, RawKernels, fill, kernels};
use raddle_ptx::diag::closest;
use raddle_runtime::file::toml_problem;
use raddle_runtime::{Problem, input};
use raddle_sim::seam::Registry;
use raddle_workloads::Size;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use timeline::{RawTimeline, timeline};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFile {
    title: String,
    #[serde(default)]
    about: String,
    workloads: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    group: Vec<RawGroup>,
    #[serde(default = "small")]
    size: Size,
    preset: Option<Spanned<String>>,
    machine: Option<Spanned<String>>,
    #[serde(default)]
    set: Vec<Spanned<String>>,
    fill: Option<Spanned<RawFill>>,
    #[serde(default)]
    kernels: RawKernels,
    #[serde(default)]
    axis: Vec<Spanned<RawAxis>>,
    #[serde(default)]
    baseline: RawBaseline,
    #[serde(default)]
    metrics: Vec<Spanned<String>>,
    repeats: Option<Spanned<RawRepeats>>,
    #[serde(default)]
    figure: Vec<RawFigure>,
    #[serde(default)]
    timeline: Vec<RawTimeline>,
    headline: Option<RawHeadline>,
    large: Option<RawLarge>,
}

fn small() -> Size {
    Size::Small
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawGroup {
    name: Spanned<String>,
    workloads: Vec<Spanned<String>>,
    #[serde(default)]
    overlaps: bool,
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
    virtualize: Option<Spanned<String>>,
    #[serde(default)]
    set: Vec<Spanned<String>>,
    #[serde(default)]
    with: RawWith,
    #[serde(default)]
    groups: Vec<Spanned<String>>,
}

/// Choices on axes, by the names of these.
type RawWith = BTreeMap<Spanned<String>, Vec<Spanned<Word>>>;

/// A choice on some axes, by the names of these.
type RawBaseline = BTreeMap<Spanned<String>, Spanned<Word>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawRepeats {
    count: u32,
    vary: Vec<Vary>,
}

/// A word, number or truth value, as text.
pub(crate) struct Word(pub(crate) String);

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
    let text = input::text(&path).map_err(|error| {
        let problem = Problem::new(format!("cannot read {path_text}: {error}")).at(name.at.clone());
        problem.help("machine files are looked for beside the experiment file")
    })?;
    Ok(Base::File { name, path: path_text, text })
}

/// Reads a whole file.
pub(super) fn parse(registry: &Arc<Registry>, mut files: Files, name: &str, text: &str) -> Result<Experiment, Problem> {
    let raw: RawFile = toml::from_str(text).map_err(|e| toml_problem(&e))?;
    let folder = &files.folder().to_owned();
    let chosen = raw.workloads.as_deref().map(|words| meant(words, &mut files)).transpose()?;
    let groups = groups(&raw.group, chosen.as_deref(), &mut files)?;
    let mut in_order: Vec<&'static str> = Vec::new();
    for workload in groups.iter().flat_map(|group| group.workloads.iter().copied()).chain(chosen.into_iter().flatten())
    {
        if !in_order.contains(&workload) {
            in_order.push(workload);
        }
    }
    if in_order.is_empty() {
        return Err(Problem::new("the experiment has no workloads").help("workloads = [\"all\"] means every one"));
    }
    let mut experiment = Experiment::new(name, in_order, registry);
    (experiment.title, experiment.about) = (raw.title, raw.about);
    experiment.groups = groups;
    experiment.files = files;
    experiment.size = raw.size;
    if let Some(base) = base(folder, raw.preset, raw.machine)? {
        experiment.base = base;
    }
    experiment.set = raw.set.into_iter().map(change).collect();
    experiment.fill = raw.fill.map(|raw| fill(raw, &experiment)).transpose()?;
    experiment.kernels = kernels(raw.kernels, &experiment)?;
    let mut limits = Vec::new();
    for axis_of in raw.axis {
        let at = axis_of.span();
        let axis = axis(registry, folder, axis_of.into_inner(), at, &mut limits)?;
        limits.iter_mut().filter(|limit| limit.axis.is_none()).for_each(|l| l.axis = Some(experiment.axes.len()));
        experiment.axes.push(axis);
    }
    limit(&mut experiment, limits)?;
    // Without a baseline, it is the first choice on every axis.
    experiment.baseline = match raw.baseline.is_empty() {
        true => vec![Some(0); experiment.axes.len()],
        false => baseline(&experiment, &raw.baseline)?,
    };
    if !raw.metrics.is_empty() {
        let metrics =
            raw.metrics.iter().map(|m| Metric::parse_with(registry, m.get_ref()).map_err(|p| p.at(Some(m.span()))));
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
    for raw in raw.timeline {
        let timeline = timeline(raw, &experiment)?;
        experiment.timelines.push(timeline);
    }
    experiment.headline = raw.headline.map(|raw| headline(raw, &experiment)).transpose()?;
    experiment.large = raw.large.map(|raw| large(raw, &experiment)).transpose()?;
    Ok(experiment)
}

/// The workloads that words mean.
fn meant(words: &[Spanned<String>], files: &mut Files) -> Result<Vec<&'static str>, Problem> {
    let texts = words.iter().map(|word| word.get_ref().as_str());
    workloads(texts, files).map_err(|(place, problem)| problem.at(Some(words[place].span())))
}

/// Groups of workloads that the experiment runs, each in one group at most, but for groups that say they overlap.
fn groups(raw: &[RawGroup], chosen: Option<&[&'static str]>, files: &mut Files) -> Result<Vec<Group>, Problem> {
    let mut groups: Vec<Group> = Vec::new();
    for RawGroup { name, workloads, overlaps } in raw {
        let text = name.get_ref().trim();
        if text.is_empty() || text == "all" || groups.iter().any(|group| group.name == text) {
            let problem = Problem::new(format!("`{text}` cannot name a group")).at(Some(name.span()));
            return Err(problem.help("a group needs its own name; `all` means every workload"));
        }
        let mut own = Vec::new();
        for word in workloads {
            let at = Some(word.span());
            for workload in meant(std::slice::from_ref(word), files)? {
                let taken = groups.iter().find(|group| !overlaps && group.workloads.contains(&workload));
                if let Some(other) = taken {
                    let message = format!("`{workload}` is in group `{}` already", other.name);
                    let help = "a workload is in one group, unless a later group says `overlaps = true`";
                    return Err(Problem::new(message).help(help).at(at));
                }
                if chosen.is_some_and(|chosen| !chosen.contains(&workload)) {
                    let message = format!("the experiment does not run `{workload}`");
                    let help = "add it to `workloads` of the experiment, or leave that out: then all groups are run";
                    return Err(Problem::new(message).help(help).at(at));
                }
                if !own.contains(&workload) {
                    own.push(workload);
                }
            }
        }
        if own.is_empty() {
            let problem = Problem::new(format!("group `{text}` has no workloads")).at(Some(name.span()));
            return Err(problem.help("workloads = [...] names them"));
        }
        groups.push(Group { name: text.to_owned(), workloads: own });
    }
    Ok(groups)
}

/// What a choice is run with.
struct Limit {
    axis: Option<usize>,
    choice: usize,
    with: RawWith,
    groups: Vec<Spanned<String>>,
}

/// Writes down what choices are run with, once all axes are known.
fn limit(experiment: &mut Experiment, limits: Vec<Limit>) -> Result<(), Problem> {
    for Limit { axis: own, choice, with, groups } in limits {
        let groups = groups.iter().map(|name| group_named(name, experiment)).collect::<Result<Vec<_>, _>>()?;
        if let (Some(own), false) = (own, groups.is_empty()) {
            let workloads = groups.into_iter().flat_map(|group| group.workloads).collect();
            experiment.axes[own].variants[choice].workloads = Some(workloads);
        }
        for (name, labels) in with {
            let axis = axis_named(experiment, &name)?;
            if Some(axis) == own {
                let problem = Problem::new("`with` is about the choices on other axes").at(Some(name.span()));
                return Err(problem.help("to run fewer choices on this axis, leave them out"));
            }
            let among = labels.iter().map(|label| variant_named(&experiment.axes[axis], label));
            let among = among.collect::<Result<_, _>>()?;
            if let Some(own) = own {
                experiment.axes[own].variants[choice].with.push((axis, among));
            }
        }
    }
    Ok(())
}

fn axis(
    registry: &Registry,
    folder: &Path,
    raw: RawAxis,
    at: Range<usize>,
    limits: &mut Vec<Limit>,
) -> Result<Axis, Problem> {
    let mut variants = Vec::new();
    let key = raw.key.as_ref().map(|k| k.get_ref().as_str());
    for value in raw.values {
        let at = Some(value.span());
        let Some(key) = key else {
            let problem = Problem::new("`values` need a `key` that has them").at(at);
            return Err(problem.help("as in key = \"mechanism.issue\" or key = \"sm.l1d.sets\""));
        };
        let word = value.into_inner().0;
        let words = if word == "all" { all_of(registry, key).unwrap_or(vec![word]) } else { vec![word] };
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
                "virtualize" => variant.virtualize = Some(Virtualize::parse(&word).map_err(|p| p.at(at.clone()))?),
                _ => variant.set.push(change(format!("{key}={word}"))),
            }
            variants.push(variant);
        }
    }
    for raw in raw.variant {
        let (base, set) = (base(folder, raw.preset, raw.machine)?, raw.set.into_iter().map(change).collect());
        limits.push(Limit { axis: None, choice: variants.len(), with: raw.with, groups: raw.groups });
        let virtualize =
            raw.virtualize.map(|word| Virtualize::parse(word.get_ref()).map_err(|p| p.at(Some(word.span()))));
        let (label, size, virtualize) = (raw.label.into_inner(), raw.size, virtualize.transpose()?);
        variants.push(Variant { label, base, size, virtualize, set, ..Variant::default() });
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

/// For each axis, the choice that is named.
fn baseline(experiment: &Experiment, raw: &RawBaseline) -> Result<Vec<Option<usize>>, Problem> {
    let mut choices = vec![None; experiment.axes.len()];
    for (name, label) in raw {
        let axis = axis_named(experiment, name)?;
        choices[axis] = Some(variant_named(&experiment.axes[axis], label)?);
    }
    Ok(choices)
}

#[cfg(test)]
mod tests;
