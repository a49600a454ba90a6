//! Tables of values with their spread, as charts, reports and exports show them.

use crate::agreement::{Class, Rule};
use crate::chart::number;
use crate::experiment::Kind;

/// A value over all repetitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Mean over the repetitions.
    pub value: f64,
    /// The smallest of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
    /// What the paper prints.
    pub paper: Option<f64>,
    /// Why ours may differ from it; empty where nothing is said.
    pub why: String,
    /// The same by our other reading of the paper; none where the figure has no other.
    pub reading: Option<Result<Box<Self>, Gap>>,
    /// The parts of a stacked bar, from the bottom.
    pub parts: Vec<Self>,
    /// What it is the mean of; nothing where it is no mean.
    pub over: Option<Over>,
    /// Where its error bar ends, if that is not the range.
    pub error: Option<[f64; 2]>,
    /// Its place, where points are scattered.
    pub x: Option<f64>,
    /// The values it is the mean of, where boxes are drawn.
    pub samples: Vec<f64>,
}

/// The workloads or kernels a mean is over: those that have a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Over {
    /// How many.
    pub rows: usize,
    /// Of how many.
    pub of: usize,
    /// Those of the others that have not been run, or failed.
    pub lacking: usize,
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It has not been run.
    NoResult,
    /// It failed.
    Failed,
    /// The machine refuses the workload.
    Refused,
    /// There is nothing to measure or to compare with: it was left out, or its baseline has no value.
    Undefined,
}

impl Gap {
    /// Its name in tables of data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoResult => "no result",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Undefined => "undefined",
        }
    }

    /// What stands in the place of the value.
    #[must_use]
    pub fn text(self) -> &'static str {
        if matches!(self, Self::Failed | Self::Refused) { self.name() } else { "-" }
    }

    /// Whether there should be a value.
    #[must_use]
    pub fn is_lacking(self) -> bool {
        matches!(self, Self::NoResult | Self::Failed)
    }
}

impl Cell {
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        let value = values.iter().sum::<f64>() / values.len() as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (!values.is_empty() && value.is_finite()).then_some(Self { value, low, high, ..Self::default() })
    }

    /// Half of what lies between the smallest and the largest.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Where the line at the value ends; of a box, the least and the most. Nothing where there is none.
    #[must_use]
    pub fn whisker(&self) -> Option<[f64; 2]> {
        let range = || (self.high > self.low).then_some([self.low, self.high]);
        match Self::new(&self.samples) {
            Some(Self { low, high, .. }) => Some([low, high]),
            None => self.error.or_else(range),
        }
    }

    /// The value by our other reading of the paper.
    #[must_use]
    pub fn by_other_reading(&self) -> Option<f64> {
        self.reading.as_ref()?.as_ref().ok().map(|cell| cell.value)
    }

    /// What a mean is over, where it is not all there is: `8 of 9`.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let Over { rows, of, .. } = self.over.filter(|over| over.rows < over.of)?;
        Some(format!("{rows} of {of}"))
    }
}

/// Whether a value is missing, or is a mean that is not over all it should be.
#[must_use]
pub fn is_missing(cell: &Result<Cell, Gap>) -> bool {
    match cell {
        Ok(cell) => {
            let of_reading = cell.reading.as_ref().is_some_and(|reading| match reading {
                Ok(other) => other.over.is_some_and(|over| over.lacking > 0),
                Err(gap) => gap.is_lacking(),
            });
            of_reading || cell.over.is_some_and(|over| over.lacking > 0)
        }
        Err(gap) => gap.is_lacking(),
    }
}

/// A row with a cell for each bar.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Name.
    pub name: String,
    /// Whether it is a mean over others.
    pub is_mean: bool,
    /// Cells.
    pub cells: Vec<Result<Cell, Gap>>,
}

/// A figure with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of files.
    pub name: String,
    /// Title.
    pub title: String,
    /// The kind of its chart.
    pub kind: Kind,
    /// What the values are.
    pub about: String,
    /// Where the paper's values are printed.
    pub source: String,
    /// Names of the bars.
    pub bars: Vec<String>,
    /// The bar that is the baseline.
    pub baseline: Option<usize>,
    /// Names of the parts of stacked bars, from the bottom; none when bars are not stacked.
    pub parts: Vec<String>,
    /// The value of no effect, if there is one.
    pub neutral: Option<f64>,
    /// Whether its means are geometric ones.
    pub has_geometric_means: bool,
    /// Whether values are whole numbers; means of them need not be.
    pub is_count: bool,
    /// How its values are compared with the paper's: whole bars, and parts of stacked ones.
    pub rules: [Rule; 2],
    /// The name of our other reading of the paper; empty where there is none.
    pub reading: String,
    /// The title of the axis of values.
    pub axis: String,
    /// The title of the axis of rows; empty where their names need none.
    pub x_axis: String,
    /// What the lines at values show; empty where there are none.
    pub whiskers: String,
    /// Rows, means first.
    pub rows: Vec<TableRow>,
}

impl Table {
    /// One of its values for people.
    #[must_use]
    pub fn number(&self, value: f64) -> String {
        let is_whole = self.is_count && value.fract() == 0.0 && value.abs() < 1e6;
        if is_whole { format!("{value:.0}") } else { number(value) }
    }

    /// How a value stands beside the paper's; nothing where the paper prints none.
    #[must_use]
    pub fn class(&self, cell: &Cell) -> Option<Class> {
        cell.paper.map(|paper| self.rules[0].class(cell.value, paper))
    }

    /// The same for a part of a stacked bar.
    #[must_use]
    pub fn class_of_part(&self, part: &Cell) -> Option<Class> {
        part.paper.map(|paper| self.rules[1].class(part.value, paper))
    }

    /// The same with these rows alone.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&TableRow) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| keep(row)).cloned().collect();
        Self { rows, ..self.clone() }
    }

    /// Whether what a cell shows is less than harmless changes make.
    #[must_use]
    pub fn is_within_spread(&self, cell: &Cell) -> bool {
        self.neutral.is_some_and(|neutral| cell.high > cell.low && (cell.value - neutral).abs() <= cell.spread())
    }

    /// Values that are missing, and means that are not over all they should be. What is refused or left out is not
    /// missing.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| is_missing(cell)).count()
    }
}
