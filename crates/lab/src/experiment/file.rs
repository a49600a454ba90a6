//! Experiment files: TOML to an [`Experiment`], with the place of every mistake.

use super::{
    Against, Axis, Base, Change, Experiment, Figure, Group, Mean, PaperValue, Part, Repeats, Row, Rows, Variant, Vary,
    all_of, slots, workloads,
};
use crate::metric::Metric;
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_runtime::file::toml_problem;
use raddle_workloads::{Class, Size};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
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
    #[serde(default)]
    axis: Vec<Spanned<RawAxis>>,
    #[serde(default)]
    baseline: RawBaseline,
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
struct RawGroup {
    name: Spanned<String>,
    workloads: Vec<Spanned<String>>,
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
    #[serde(default)]
    with: RawWith,
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
    #[serde(default)]
    baseline: RawBaseline,
    group: Option<Spanned<String>>,
    bars: Spanned<String>,
    #[serde(default)]
    choices: Vec<Spanned<Word>>,
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
    let chosen = raw.workloads.as_deref().map(meant).transpose()?;
    let groups = groups(&raw.group, chosen.as_deref())?;
    let mut in_order: Vec<&'static str> = groups.iter().flat_map(|group| group.workloads.iter().copied()).collect();
    let others: Vec<_> = chosen.into_iter().flatten().filter(|workload| !in_order.contains(workload)).collect();
    in_order.extend(others);
    if in_order.is_empty() {
        return Err(Problem::new("the experiment has no workloads").help("workloads = [\"all\"] means every one"));
    }
    let mut experiment = Experiment { title: raw.title, about: raw.about, ..Experiment::new(name, in_order) };
    experiment.groups = groups;
    experiment.size = raw.size;
    if let Some(base) = base(folder, raw.preset, raw.machine)? {
        experiment.base = base;
    }
    experiment.set = raw.set.into_iter().map(change).collect();
    let mut limits = Vec::new();
    for axis_of in raw.axis {
        let at = axis_of.span();
        let axis = axis(folder, axis_of.into_inner(), at, &mut limits)?;
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

/// The workloads that words mean.
fn meant(words: &[Spanned<String>]) -> Result<Vec<&'static str>, Problem> {
    let texts = words.iter().map(|word| word.get_ref().as_str());
    workloads(texts).map_err(|(place, problem)| problem.at(Some(words[place].span())))
}

/// Groups of workloads that the experiment runs, each in one group at most.
fn groups(raw: &[RawGroup], chosen: Option<&[&'static str]>) -> Result<Vec<Group>, Problem> {
    let mut groups: Vec<Group> = Vec::new();
    for RawGroup { name, workloads } in raw {
        let text = name.get_ref().trim();
        if text.is_empty() || text == "all" || groups.iter().any(|group| group.name == text) {
            let problem = Problem::new(format!("`{text}` cannot name a group")).at(Some(name.span()));
            return Err(problem.help("a group has a name of its own; `all` is every workload"));
        }
        let mut own = Vec::new();
        for word in workloads {
            let at = Some(word.span());
            for workload in meant(std::slice::from_ref(word))? {
                if let Some(other) = groups.iter().find(|group| group.workloads.contains(&workload)) {
                    let message = format!("`{workload}` is in group `{}` already", other.name);
                    return Err(Problem::new(message).help("a workload is in one group at most").at(at));
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
}

/// Writes down what choices are run with, once all axes are known.
fn limit(experiment: &mut Experiment, limits: Vec<Limit>) -> Result<(), Problem> {
    for Limit { axis: own, choice, with } in limits {
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

fn axis(folder: &Path, raw: RawAxis, at: Range<usize>, limits: &mut Vec<Limit>) -> Result<Axis, Problem> {
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
        limits.push(Limit { axis: None, choice: variants.len(), with: raw.with });
        variants.push(Variant { label: raw.label.into_inner(), base, size: raw.size, set, ..Variant::default() });
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

/// The baseline of a figure: its own, or the experiment's.
fn baseline_of_figure(raw: &RawFigure, experiment: &Experiment) -> Result<Vec<Option<usize>>, Problem> {
    let Some((first, _)) = raw.baseline.first_key_value() else { return Ok(experiment.baseline.clone()) };
    if matches!(raw.against, Against::Nothing | Against::Share) {
        let message = format!("figure `{}` sets nothing against its baseline", raw.name.get_ref());
        return Err(Problem::new(message)
            .help("`against` says how: ratio, speedup or difference")
            .at(Some(first.span())));
    }
    baseline(experiment, &raw.baseline)
}

/// The group of this name, or the class where there are no groups, with those of its workloads that are run.
fn group_named(name: &Spanned<String>, experiment: &Experiment) -> Result<Group, Problem> {
    let text = name.get_ref().as_str();
    group_row(text, experiment).map_err(|problem| problem.at(Some(name.span())))?;
    if let Some(group) = experiment.groups.iter().find(|group| group.name == text) {
        return Ok(group.clone());
    }
    let of_class = workloads([format!("class:{text}").as_str()]).map_err(|(_, problem)| problem)?;
    let own: Vec<_> = of_class.into_iter().filter(|workload| experiment.workloads.contains(workload)).collect();
    if own.is_empty() {
        let problem = Problem::new(format!("the experiment has no workloads of class `{text}`")).at(Some(name.span()));
        return Err(problem.help("add them to `workloads`, or leave the figure out"));
    }
    Ok(Group { name: text.to_owned(), workloads: own })
}

fn figure(raw: RawFigure, experiment: &Experiment) -> Result<Figure, Problem> {
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let name = raw.name.get_ref();
    if name.is_empty() || !name.chars().all(is_good) || experiment.figures.iter().any(|f| f.name == *name) {
        let problem = Problem::new(format!("`{name}` cannot name a figure")).at(Some(raw.name.span()));
        return Err(problem.help("small letters, digits and `-`, and no name twice: files are called that"));
    }
    let (metric, stack) = measured(&raw)?;
    let bars = axis_named(experiment, &raw.bars)?;
    let choices = match &raw.choices[..] {
        [] => (0..experiment.axes[bars].variants.len()).collect(),
        some => some.iter().map(|l| variant_named(&experiment.axes[bars], l)).collect::<Result<_, _>>()?,
    };
    let rows = match &raw.rows {
        None => Rows::Workloads,
        Some(rows) if rows.get_ref() == "workloads" => Rows::Workloads,
        Some(rows) if rows.get_ref() == "kernels" => Rows::Kernels,
        Some(rows) => Rows::Axis(axis_named(experiment, rows)?),
    };
    let mean = mean(&raw, &metric, &stack, rows)?;
    let baseline = baseline_of_figure(&raw, experiment)?;
    let group = raw.group.as_ref().map(|name| group_named(name, experiment)).transpose()?;
    let mut fixed: Vec<usize> = baseline.iter().map(|base| base.unwrap_or(0)).collect();
    for (name, label) in &raw.r#where {
        let axis = axis_named(experiment, name)?;
        fixed[axis] = variant_named(&experiment.axes[axis], label)?;
    }
    let mut paper = Vec::new();
    for raw in raw.paper {
        let bar = variant_named(&experiment.axes[bars], &raw.bar)?;
        let part = raw.part.as_ref().map(|part| part_named(&stack, part)).transpose()?;
        let row = row(&raw.row, rows, experiment)?;
        if mean == Mean::None && matches!(row, Row::Mean | Row::GroupMean(_)) {
            let problem = Problem::new("the figure has no means").at(Some(raw.row.span()));
            return Err(problem.help("`mean` says which it should have"));
        }
        if let Some(group) = group.as_ref().filter(|group| !is_in(&row, group)) {
            let message = format!("the figure shows group `{}` alone", group.name);
            let problem = Problem::new(message).at(Some(raw.row.span()));
            return Err(problem.help(format!("its rows are the workloads of it, and `mean:{}`", group.name)));
        }
        paper.push(PaperValue { row, bar, part, value: raw.value });
    }
    let (name, title, against, source) = (raw.name.into_inner(), raw.title, raw.against, raw.source);
    Ok(Figure { name, title, metric, stack, against, baseline, group, bars, choices, rows, fixed, mean, source, paper })
}

/// Whether a figure of one group has a row.
fn is_in(row: &Row, group: &Group) -> bool {
    match row {
        Row::Workload(workload) | Row::Kernel { workload, .. } => group.workloads.contains(&workload.as_str()),
        Row::GroupMean(name) => *name == group.name,
        Row::Variant(_) => true,
        Row::Mean => false,
    }
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
    let stack = parts(&raw.stack)?;
    Ok((Metric::Sum(stack.iter().map(|part| part.metric.clone()).collect()), stack))
}

/// The parts of a stack: `name = metric`, a metric that is its own name, or `slots`, which are all issue slots.
fn parts(words: &[Spanned<String>]) -> Result<Vec<Part>, Problem> {
    let mut stack: Vec<Part> = Vec::new();
    for word in words {
        let at = Some(word.span());
        let (label, text) = word.get_ref().split_once('=').unwrap_or((word.get_ref(), word.get_ref()));
        let (label, text) = (label.trim(), text.trim());
        let new = if label == "slots" && text == "slots" {
            slots()
        } else {
            vec![Part { label: label.to_owned(), metric: Metric::parse(text).map_err(|p| p.at(at.clone()))? }]
        };
        for part in new {
            if stack.iter().any(|other| other.label == part.label) {
                return Err(Problem::new(format!("the stack has `{}` twice", part.label)).at(at));
            }
            stack.push(part);
        }
    }
    Ok(stack)
}

/// The mean over workloads. Only arithmetic means of parts add up to that of the whole; the largest of something has
/// none unless it is asked for.
fn mean(raw: &RawFigure, metric: &Metric, stack: &[Part], rows: Rows) -> Result<Mean, Problem> {
    let is_axis = matches!(rows, Rows::Axis(_));
    match raw.mean.as_ref().map(|mean| (*mean.get_ref(), Some(mean.span()))) {
        None if !stack.is_empty() => Ok(Mean::Arithmetic),
        None if metric.is_most() && raw.against == Against::Nothing && !is_axis => Ok(Mean::None),
        None => Ok(Mean::default()),
        Some((Mean::None, at)) if is_axis => {
            let problem = Problem::new("rows of an axis are means over workloads").at(at);
            Err(problem.help("take `harmonic`, `geometric` or `arithmetic`"))
        }
        Some((mean, at)) if !stack.is_empty() && !matches!(mean, Mean::Arithmetic | Mean::None) => {
            let message = format!("{} means of parts do not add up", mean.name());
            Err(Problem::new(message).help("means of a stack are arithmetic").at(at))
        }
        Some((mean, _)) => Ok(mean),
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

/// The row a paper's value belongs to: `mean`, a mean over a group as in `mean:divergent`, both also as figures write
/// them (`mean, all`), a workload, a kernel as in `bfs/expand`, or a choice on the axis of rows.
fn row(text: &Spanned<String>, rows: Rows, experiment: &Experiment) -> Result<Row, Problem> {
    let word = text.get_ref().as_str();
    let at = Some(text.span());
    if let Rows::Axis(axis) = rows {
        return experiment.axes[axis].find(word).map(Row::Variant).map_err(|p| p.at(at));
    }
    match word.strip_prefix("mean:").or(word.strip_prefix("mean,")).map(str::trim) {
        _ if word == "mean" => Ok(Row::Mean),
        Some("all") => Ok(Row::Mean),
        Some(group) => group_row(group, experiment).map_err(|p| p.at(at)),
        None if rows == Rows::Kernels => kernel_row(word, experiment).map_err(|p| p.at(at)),
        None if experiment.workloads.contains(&word) => Ok(Row::Workload(word.to_owned())),
        None => Err(Problem::new(format!("`{word}` is no row of the figure"))
            .help("a row is a workload of the experiment, `mean`, or the mean over a group as in `mean:divergent`")
            .at(at)),
    }
}

/// The row of the mean over a group, or over a class where there are no groups.
fn group_row(name: &str, experiment: &Experiment) -> Result<Row, Problem> {
    let classes = [Class::Divergent, Class::Coherent, Class::Barrier].map(Class::name);
    let (kind, names): (_, Vec<&str>) = match &experiment.groups[..] {
        [] => ("class", classes.to_vec()),
        groups => ("group", groups.iter().map(|group| group.name.as_str()).collect()),
    };
    if names.contains(&name) {
        return Ok(Row::GroupMean(name.to_owned()));
    }
    let help = match closest(name, names.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    Err(Problem::new(format!("there is no {kind} `{name}`")).help(help))
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
            let help = "a row is WORKLOAD/KERNEL, `mean`, or the mean over a group as in `mean:divergent`";
            Err(Problem::new(format!("`{word}` is no row of the figure")).help(help))
        }
    }
}

#[cfg(test)]
mod tests;
