//! What an experiment draws: figures with their rows, bars and parts, and what a paper prints of them.

use super::{ErrorBars, Group, Kind};
use crate::agreement::Rule;
use crate::metric::{self, Metric};
use serde::Deserialize;

/// How a value is set against the baseline's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Not at all.
    #[default]
    Nothing,
    /// Own over baseline's.
    Ratio,
    /// Baseline value / own value: how many times as fast, for times.
    Speedup,
    /// Own less baseline's.
    Difference,
    /// A part over the whole it is part of, in a stack.
    Share,
}

/// Means over workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// Harmonic.
    Harmonic,
    /// Geometric.
    #[default]
    Geometric,
    /// Arithmetic.
    Arithmetic,
    /// There are no means.
    None,
}

impl Mean {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Harmonic => "harmonic",
            Self::Geometric => "geometric",
            Self::Arithmetic => "arithmetic",
            Self::None => "none",
        }
    }

    /// The mean of these; none of none, and none where it does not exist.
    #[must_use]
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let n = values.len() as f64;
        let mean = match self {
            Self::Harmonic => n / values.iter().map(|x| 1.0 / x).sum::<f64>(),
            Self::Geometric if values.iter().any(|x| *x < 0.0) => return None,
            Self::Geometric => (values.iter().map(|x| x.ln()).sum::<f64>() / n).exp(),
            Self::Arithmetic => values.iter().sum::<f64>() / n,
            Self::None => return None,
        };
        (!values.is_empty() && mean.is_finite()).then_some(mean)
    }
}

/// A row of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A workload.
    Workload(String),
    /// A kernel of a workload.
    Kernel {
        /// The workload.
        workload: String,
        /// Its kernel.
        kernel: String,
    },
    /// A choice on the axis that makes the rows.
    Variant(usize),
    /// The mean over a group, or over a class where there are no groups, by name.
    GroupMean(String),
    /// The mean over all.
    Mean,
}

/// A value a paper prints.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperValue {
    /// Row.
    pub row: Row,
    /// Choice on the axis of the bars.
    pub bar: usize,
    /// The part of the bar; none where it is the whole.
    pub part: Option<usize>,
    /// Value.
    pub value: f64,
    /// Why ours may differ from it; shown where it does.
    pub why: Option<String>,
}

/// Our other reading of a paper: the same bars with other choices on axes that are neither bars nor rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its name in figures.
    pub label: String,
    /// Axes and choices, by number. The baseline has them too.
    pub choices: Vec<(usize, usize)>,
}

/// What a figure has rows for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// Each workload, and means over groups and over all.
    #[default]
    Workloads,
    /// Each kernel of each workload, and means over groups and over all.
    Kernels,
    /// Each choice on this axis, with the mean over workloads.
    Axis(usize),
}

/// A part of stacked bars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name in the figure.
    pub label: String,
    /// What is measured.
    pub metric: Metric,
}

/// The parts of all issue slots, [`metric::SLOTS`].
#[must_use]
pub fn slots() -> Vec<Part> {
    let part = |(label, text): (&str, &str)| Some(Part { label: label.to_owned(), metric: Metric::parse(text).ok()? });
    metric::SLOTS.into_iter().filter_map(part).collect()
}

/// A figure: rows of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of its files.
    pub name: String,
    /// Title.
    pub title: String,
    /// The kind of its chart.
    pub kind: Kind,
    /// What lines at values show.
    pub error: ErrorBars,
    /// What the places of points show, where they are scattered.
    pub x: Option<Metric>,
    /// What is measured; of stacked bars, the sum of their parts.
    pub metric: Metric,
    /// Parts of stacked bars, from the bottom; none when bars are not stacked.
    pub stack: Vec<Part>,
    /// How it is set against the baseline.
    pub against: Against,
    /// Its baseline, as [`super::Experiment::baseline`], which it is unless the figure has one of its own.
    pub baseline: Vec<Option<usize>>,
    /// The group whose workloads it shows; none where it is all.
    pub group: Option<Group>,
    /// The axis of the bars.
    pub bars: usize,
    /// The choices on it that have a bar.
    pub choices: Vec<usize>,
    /// What the rows are.
    pub rows: Rows,
    /// The choice on every axis that is neither.
    pub fixed: Vec<usize>,
    /// Means over workloads.
    pub mean: Mean,
    /// Where the paper's values are printed.
    pub source: String,
    /// What the paper prints.
    pub paper: Vec<PaperValue>,
    /// Why values of ours may differ from those that say nothing of their own.
    pub why: Option<String>,
    /// Our other reading of the paper.
    pub reading: Option<Reading>,
}

impl Figure {
    /// The baseline of a combination of choices.
    #[must_use]
    pub fn baseline_of(&self, choices: &[usize]) -> Vec<usize> {
        self.baseline.iter().zip(choices).map(|(base, own)| base.unwrap_or(*own)).collect()
    }

    /// The figure by our other reading of the paper, in which the baseline is read like that too.
    #[must_use]
    pub fn by_other_reading(&self) -> Option<Self> {
        let reading = self.reading.as_ref()?;
        let mut other = self.clone();
        reading.choices.iter().for_each(|(axis, _)| other.baseline[*axis] = None);
        Some(other)
    }

    /// Choices with those of our other reading in their places.
    #[must_use]
    pub fn read_as(&self, choices: &[usize]) -> Vec<usize> {
        let mut choices = choices.to_vec();
        let reading = self.reading.iter().flat_map(|reading| &reading.choices);
        reading.for_each(|(axis, choice)| choices[*axis] = *choice);
        choices
    }

    /// How its values are compared with a paper's: those of whole bars, or of their parts.
    #[must_use]
    pub fn rule(&self, is_part: bool) -> Rule {
        match self.against {
            Against::Ratio | Against::Speedup if !is_part => Rule::Gain(1.0),
            Against::Ratio | Against::Speedup | Against::Share => Rule::Share,
            Against::Difference => Rule::Gain(0.0),
            Against::Nothing if self.metric.is_share() => Rule::Share,
            Against::Nothing if self.metric.is_count() => Rule::Count,
            Against::Nothing => Rule::Amount,
        }
    }

    /// Whether it has to do with a workload.
    #[must_use]
    pub fn shows(&self, workload: &str) -> bool {
        self.group.as_ref().is_none_or(|group| group.workloads.contains(&workload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_what_they_say() {
        let mean = |mean: Mean| mean.of(&[1.0, 4.0]).unwrap();
        assert!((mean(Mean::Harmonic) - 1.6).abs() < 1e-12);
        assert!((mean(Mean::Geometric) - 2.0).abs() < 1e-12);
        assert!((mean(Mean::Arithmetic) - 2.5).abs() < 1e-12);
        assert_eq!(Mean::Geometric.of(&[]), None);
        assert_eq!(Mean::Geometric.of(&[-1.0, 1.0]), None);
        assert_eq!(Mean::Harmonic.of(&[0.0, 1.0]), Some(0.0));
    }
}
