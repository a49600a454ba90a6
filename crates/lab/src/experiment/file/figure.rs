//! Figures and the headline of an experiment file.

use super::{Files, RawBaseline, Word, axis_named, baseline, variant_named};
use crate::experiment::{
    Against, ErrorBars, Experiment, Figure, Group, Headline, Kind, Large, Mean, PaperValue, Part, Reading, Row, Rows,
    slots, workloads,
};
use crate::metric::Metric;
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_sim::seam::Registry;
use raddle_workloads::{Class, Size};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawFigure {
    name: Spanned<String>,
    title: String,
    kind: Option<Spanned<Kind>>,
    error: Option<Spanned<ErrorBars>>,
    x: Option<Spanned<String>>,
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
    why: Option<String>,
    #[serde(default)]
    reading: BTreeMap<Spanned<String>, Spanned<Word>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawPaper {
    row: Spanned<String>,
    bar: Spanned<Word>,
    part: Option<Spanned<String>>,
    value: f64,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawHeadline {
    name: Option<String>,
    does: String,
    axis: Option<String>,
    figure: Spanned<String>,
    opening: Option<Spanned<String>>,
    bar: Spanned<Word>,
    rows: Vec<Spanned<String>>,
    #[serde(default)]
    words: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    less_is_better: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawLarge {
    size: Size,
    figures: Vec<Spanned<String>>,
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
pub(super) fn group_named(name: &Spanned<String>, experiment: &Experiment) -> Result<Group, Problem> {
    let text = name.get_ref().as_str();
    group_row(text, experiment).map_err(|problem| problem.at(Some(name.span())))?;
    if let Some(group) = experiment.groups.iter().find(|group| group.name == text) {
        return Ok(group.clone());
    }
    let of_class =
        workloads([format!("class:{text}").as_str()], &mut Files::default()).map_err(|(_, problem)| problem)?;
    let own: Vec<_> = of_class.into_iter().filter(|workload| experiment.workloads.contains(workload)).collect();
    if own.is_empty() {
        let problem = Problem::new(format!("the experiment has no workloads of class `{text}`")).at(Some(name.span()));
        return Err(problem.help("add them to `workloads`, or leave the figure out"));
    }
    Ok(Group { name: text.to_owned(), workloads: own })
}

pub(super) fn figure(raw: RawFigure, experiment: &Experiment) -> Result<Figure, Problem> {
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let name = raw.name.get_ref();
    if name.is_empty() || !name.chars().all(is_good) || experiment.figures.iter().any(|f| f.name == *name) {
        let problem = Problem::new(format!("`{name}` cannot name a figure")).at(Some(raw.name.span()));
        return Err(problem.help("use small letters, digits and `-`, and no name twice: files are named after it"));
    }
    let (metric, stack) = measured(&raw, &experiment.registry)?;
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
    let (kind, error, x) = drawn(&raw, experiment, (&stack, rows, mean))?;
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
        paper.push(PaperValue { row, bar, part, value: raw.value, why: raw.why });
    }
    let reading = reading(&raw.reading, experiment, bars, rows)?;
    let (name, title, against, source) = (raw.name.into_inner(), raw.title, raw.against, raw.source);
    let why = raw.why;
    Ok(Figure {
        name,
        title,
        kind,
        error,
        x,
        metric,
        stack,
        against,
        baseline,
        group,
        bars,
        choices,
        rows,
        fixed,
        mean,
        source,
        paper,
        why,
        reading,
    })
}

/// How a figure is drawn: the kind of its chart, its error bars, and what is on the axis of scattered points.
fn drawn(
    raw: &RawFigure,
    experiment: &Experiment,
    (stack, rows, mean): (&[Part], Rows, Mean),
) -> Result<(Kind, ErrorBars, Option<Metric>), Problem> {
    let at = || raw.kind.as_ref().map(Spanned::span);
    let wrong = |message: &str, help: &str| Err(Problem::new(message).help(help).at(at()));
    let default = if stack.is_empty() { Kind::Bars } else { Kind::Stacked };
    let kind = raw.kind.as_ref().map_or(default, |kind| *kind.get_ref());
    let is_axis = matches!(rows, Rows::Axis(_));
    if (kind == Kind::Stacked) == stack.is_empty() {
        let help = "`stack` in place of `metric` names the parts of bars; no other kind of chart has parts";
        return wrong("stacked bars and a stack of parts go together", help);
    }
    match kind {
        Kind::Line if !is_axis => {
            return wrong("lines need an axis to run along", "`rows` names an axis of the experiment");
        }
        Kind::Scatter if is_axis => {
            return wrong("points are workloads or kernels", "leave `rows` out, or take `kernels`");
        }
        Kind::Scatter if raw.x.is_none() => {
            return wrong("points need a second metric", "`x` names it, as in x = \"simd-efficiency\"");
        }
        Kind::Box if mean == Mean::None => {
            return wrong("boxes are over the rows of means", "`mean` says which it should have");
        }
        _ => {}
    }
    if let Some(x) = raw.x.as_ref().filter(|_| kind != Kind::Scatter) {
        let problem = Problem::new("only scattered points have a second metric").at(Some(x.span()));
        return Err(problem.help("kind = \"scatter\" draws them"));
    }
    if let Some(error) = &raw.error {
        let at = Some(error.span());
        if experiment.repeats.count < 2 {
            let help = "[repeats] says how often each run is made, and what changes";
            return Err(Problem::new("error bars need runs that are repeated").help(help).at(at));
        }
        if kind == Kind::Box {
            return Err(Problem::new("boxes have no error bars").help("their whiskers show the rows of a mean").at(at));
        }
    }
    let parse =
        |x: &Spanned<String>| Metric::parse_with(&experiment.registry, x.get_ref()).map_err(|p| p.at(Some(x.span())));
    let error = raw.error.as_ref().map_or(ErrorBars::default(), |error| *error.get_ref());
    Ok((kind, error, raw.x.as_ref().map(parse).transpose()?))
}

/// Our other reading of the paper: choices on axes that are neither bars nor rows.
fn reading(
    raw: &BTreeMap<Spanned<String>, Spanned<Word>>,
    experiment: &Experiment,
    bars: usize,
    rows: Rows,
) -> Result<Option<Reading>, Problem> {
    let mut choices = Vec::new();
    for (name, label) in raw {
        let axis = axis_named(experiment, name)?;
        if axis == bars || rows == Rows::Axis(axis) {
            let message = format!("the figure shows axis `{}` itself", name.get_ref());
            let problem = Problem::new(message).at(Some(name.span()));
            return Err(problem.help("another reading is the same bars and rows with a choice on another axis"));
        }
        choices.push((axis, variant_named(&experiment.axes[axis], label)?));
    }
    let labels = choices.iter().map(|(axis, choice)| experiment.axes[*axis].variants[*choice].label.as_str());
    let label = labels.collect::<Vec<_>>().join(", ");
    Ok((!choices.is_empty()).then_some(Reading { label, choices }))
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
fn measured(raw: &RawFigure, registry: &Registry) -> Result<(Metric, Vec<Part>), Problem> {
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
        let parsed = Metric::parse_with(registry, metric.get_ref()).map_err(|p| p.at(Some(metric.span())))?;
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
    let stack = parts(&raw.stack, registry)?;
    Ok((Metric::Sum(stack.iter().map(|part| part.metric.clone()).collect()), stack))
}

/// The parts of a stack: `name = metric`, a metric that is its own name, or `slots`, which are all issue slots.
fn parts(words: &[Spanned<String>], registry: &Registry) -> Result<Vec<Part>, Problem> {
    let mut stack: Vec<Part> = Vec::new();
    for word in words {
        let at = Some(word.span());
        let (label, text) = word.get_ref().split_once('=').unwrap_or((word.get_ref(), word.get_ref()));
        let (label, text) = (label.trim(), text.trim());
        let new = if label == "slots" && text == "slots" {
            slots()
        } else {
            let metric = Metric::parse_with(registry, text).map_err(|p| p.at(at.clone()))?;
            vec![Part { label: label.to_owned(), metric }]
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
        None => Err(Problem::new(format!("`{word}` is not a row of the figure"))
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
            let kernel = experiment.kernel(workload, kernel)?;
            if !experiment.counts(workload, &kernel) {
                let problem = Problem::new(format!("kernel `{kernel}` of `{workload}` does not count"));
                return Err(problem.help("[kernels] says which kernels of a workload do"));
            }
            Ok(Row::Kernel { workload: workload.to_owned(), kernel })
        }
        _ => {
            let help = "a row is WORKLOAD/KERNEL, `mean`, or the mean over a group as in `mean:divergent`";
            Err(Problem::new(format!("`{word}` is not a row of the figure")).help(help))
        }
    }
}

/// The figure of this name, by its number.
fn figure_named(name: &Spanned<String>, experiment: &Experiment) -> Result<usize, Problem> {
    experiment.figure_named(name.get_ref()).map_err(|problem| problem.at(Some(name.span())))
}

/// The figures that the book shows at a larger size.
pub(super) fn large(raw: RawLarge, experiment: &Experiment) -> Result<Large, Problem> {
    let figures = raw.figures.iter().map(|name| figure_named(name, experiment)).collect::<Result<_, _>>()?;
    Ok(Large { size: raw.size, figures })
}

/// The figure, bar and rows that say most.
pub(super) fn headline(raw: RawHeadline, experiment: &Experiment) -> Result<Headline, Problem> {
    let number = figure_named(&raw.figure, experiment)?;
    let opening = raw.opening.as_ref().map_or(Ok(number), |name| figure_named(name, experiment))?;
    let figure = &experiment.figures[number];
    let choice = variant_named(&experiment.axes[figure.bars], &raw.bar)?;
    let bar = figure.choices.iter().position(|bar| *bar == choice).ok_or_else(|| {
        let problem = Problem::new(format!("the figure has no bar `{}`", raw.bar.get_ref().0)).at(Some(raw.bar.span()));
        problem.help("`choices` of the figure says which it has")
    })?;
    let mut rows = Vec::new();
    for text in &raw.rows {
        let words = raw.words.iter().find(|(of, _)| of.get_ref() == text.get_ref()).map(|(_, words)| words.clone());
        rows.push((row(text, figure.rows, experiment)?, words.unwrap_or_else(|| text.get_ref().clone())));
    }
    if let Some(other) = raw.words.keys().find(|of| raw.rows.iter().all(|row| row.get_ref() != of.get_ref())) {
        let problem = Problem::new(format!("the headline has no row `{}`", other.get_ref())).at(Some(other.span()));
        return Err(problem.help("`words` are for what `rows` has, as it is written there"));
    }
    let name = raw.name.unwrap_or_else(|| experiment.title.clone());
    let axis = raw.axis.unwrap_or_else(|| figure.title.clone());
    let (does, is_less_better) = (raw.does, raw.less_is_better);
    Ok(Headline { name, does, axis, figure: number, opening, bar, rows, is_less_better })
}
