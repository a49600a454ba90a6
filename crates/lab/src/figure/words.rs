//! What figures say of their values in words: below their title, and at their axes.

use crate::experiment::{Against, Experiment, Figure, Kind, Rows};
use crate::metric::Metric;

/// What the values of a figure are, in words.
pub(super) fn about(figure: &Figure) -> String {
    if !figure.stack.is_empty() {
        let text = match figure.against {
            Against::Ratio => "parts relative to the whole bar of the baseline",
            Against::Share => "parts as shares of the whole bar",
            _ => "parts that add up to the whole bar",
        };
        return text.to_owned();
    }
    let own = figure.metric.about();
    match figure.against {
        Against::Nothing | Against::Share => own,
        Against::Ratio => format!("{own}, relative to the baseline"),
        Against::Speedup => format!("speedup: baseline {own} / own {own}"),
        Against::Difference => format!("{own}, minus that of the baseline"),
    }
}

/// What means are over, where rows do not show it.
pub(super) fn over(figure: &Figure) -> String {
    match (&figure.group, figure.rows) {
        (Some(group), Rows::Axis(_)) => format!(" over {}", group.name),
        _ => String::new(),
    }
}

/// The title of the axis of values, with their unit.
pub(super) fn axis(experiment: &Experiment, figure: &Figure) -> String {
    let base = || baseline(experiment, figure);
    let (name, unit) = figure.metric.quantity();
    let is_stack = !figure.stack.is_empty();
    match figure.against {
        Against::Nothing if is_stack && !unit.is_empty() => unit.to_owned(),
        Against::Nothing if is_stack => "sum of the parts".to_owned(),
        Against::Nothing => with_unit(&name, unit),
        Against::Share => "share of the whole bar".to_owned(),
        Against::Ratio if is_stack => format!("parts relative to the bar of {}", base()),
        Against::Ratio => format!("{name} relative to {}", base()),
        Against::Speedup if figure.metric == Metric::Cycles => format!("speedup over {}", base()),
        Against::Speedup => format!("{name} of {} / own", base()),
        Against::Difference => with_unit(&format!("{name}, minus that of {}", base()), unit),
    }
}

/// The title of the axis of rows; nothing where rows are workloads, which need none.
pub(super) fn x_axis(experiment: &Experiment, figure: &Figure) -> String {
    match (&figure.x, figure.rows) {
        (Some(metric), _) => {
            let (name, unit) = metric.quantity();
            with_unit(&name, unit)
        }
        (None, Rows::Axis(axis)) => experiment.axes[axis].name.clone(),
        (None, Rows::Workloads | Rows::Kernels) => String::new(),
    }
}

/// What the lines at values show: the rows of a box, or the spread where runs are repeated.
pub(super) fn whiskers(figure: &Figure, repeats: usize) -> String {
    match (figure.kind, repeats) {
        (Kind::Box, _) => "boxes: quartiles; whiskers: least and most".to_owned(),
        (_, 0 | 1) => String::new(),
        _ => format!("whiskers: {} of {repeats} runs", figure.error.name()),
    }
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

/// The name of the baseline: its choice on the axis of the bars, and those on other axes that tell it from the bars.
fn baseline(experiment: &Experiment, figure: &Figure) -> String {
    let mut names = Vec::new();
    for (axis, base) in figure.baseline.iter().enumerate() {
        let Some(base) = *base else { continue };
        let is_told = axis == figure.bars || figure.rows == Rows::Axis(axis) || figure.fixed[axis] != base;
        if is_told && experiment.axes[axis].variants.len() > 1 {
            names.push(experiment.axes[axis].variants[base].label.as_str());
        }
    }
    if names.is_empty() { "the baseline".to_owned() } else { names.join(", ") }
}
