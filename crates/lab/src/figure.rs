//! Figures of an experiment, computed from its results: rows of values with their spread.

use crate::error::Error;
use crate::experiment::{Against, Experiment, Figure, Row};
use crate::grid::Grid;
use crate::key::Key;
use crate::metric::Metric;
use crate::work::Results;
use std::collections::BTreeMap;

/// A value over all repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Mean over the repetitions.
    pub value: f64,
    /// The smallest of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
    /// What the paper prints.
    pub paper: Option<f64>,
}

impl Cell {
    fn new(values: &[f64]) -> Option<Self> {
        let value = values.iter().sum::<f64>() / values.len() as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (!values.is_empty() && value.is_finite()).then_some(Self { value, low, high, paper: None })
    }

    /// Half of what lies between the smallest and the largest.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// A row with a cell for each bar; none where a result is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Name.
    pub name: String,
    /// Whether it is a mean over others.
    pub is_mean: bool,
    /// Cells.
    pub cells: Vec<Option<Cell>>,
}

/// A figure with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of files.
    pub name: String,
    /// Title.
    pub title: String,
    /// What the values are.
    pub about: String,
    /// Where the paper's values are printed.
    pub source: String,
    /// Names of the bars.
    pub bars: Vec<String>,
    /// The bar that is the baseline.
    pub baseline: Option<usize>,
    /// The value of no effect, if there is one.
    pub neutral: Option<f64>,
    /// Rows.
    pub rows: Vec<TableRow>,
}

impl Table {
    /// Whether what a cell shows is less than harmless changes make.
    #[must_use]
    pub fn is_within_spread(&self, cell: &Cell) -> bool {
        self.neutral.is_some_and(|neutral| cell.high > cell.low && (cell.value - neutral).abs() <= cell.spread())
    }

    /// Values that are missing.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.is_none()).count()
    }
}

/// The values of metrics in the results of a grid, each result read once.
pub struct Values<'g> {
    grid: &'g Grid,
    metrics: Vec<Metric>,
    values: BTreeMap<Key, Vec<f64>>,
    damaged: usize,
}

impl<'g> Values<'g> {
    /// Reads the results of all points.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(experiment: &Experiment, grid: &'g Grid, results: &impl Results) -> Result<Self, Error> {
        let mut metrics = experiment.metrics.clone();
        metrics.extend(experiment.figures.iter().map(|figure| figure.metric.clone()));
        let (mut values, mut damaged) = (BTreeMap::new(), 0);
        for point in &grid.points {
            let result = results.result(&point.key)?;
            damaged += usize::from(result.is_none() && results.has(&point.key));
            if let Some(record) = result {
                values.insert(point.key, metrics.iter().map(|metric| metric.value(&record)).collect());
            }
        }
        Ok(Self { grid, metrics, values, damaged })
    }

    /// Results that are there but cannot be read.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// The value of a metric of the experiment in a point's result.
    #[must_use]
    pub fn get(&self, key: &Key, metric: &Metric) -> Option<f64> {
        let column = self.metrics.iter().position(|known| known == metric)?;
        self.values.get(key).map(|values| values[column])
    }

    /// A value set against its baseline.
    fn relative(&self, e: &Experiment, f: &Figure, choices: &[usize], program: usize, repeat: usize) -> Option<f64> {
        let value = |choices: &[usize]| self.get(&self.grid.point(choices, program, repeat)?.key, &f.metric);
        let own = value(choices)?;
        let base = || value(&e.baseline_of(choices));
        let result = match f.against {
            Against::Nothing => own,
            Against::Ratio => own / base()?,
            Against::Speedup => base()? / own,
            Against::Difference => own - base()?,
        };
        result.is_finite().then_some(result)
    }

    /// The means over workloads in each repetition, as a cell. Where one is missing there is no mean.
    fn mean(&self, e: &Experiment, f: &Figure, choices: &[usize], programs: &[usize]) -> Option<Cell> {
        let mean = |repeat: usize| {
            let values = programs.iter().map(|program| self.relative(e, f, choices, *program, repeat));
            f.mean.of(&values.collect::<Option<Vec<f64>>>()?)
        };
        Cell::new(&(0..self.grid.repeats()).map(mean).collect::<Option<Vec<f64>>>()?)
    }

    /// A figure.
    #[must_use]
    pub fn table(&self, experiment: &Experiment, figure: &Figure) -> Table {
        let bars = &experiment.axes[figure.bars].variants;
        let row = |kind: Row, name: String, programs: &[usize], fixed: &[usize]| {
            let cell = |bar: usize| {
                let mut choices = fixed.to_vec();
                choices[figure.bars] = bar;
                let cell = match programs {
                    [one] => {
                        let repeats = 0..self.grid.repeats();
                        let values = repeats.map(|r| self.relative(experiment, figure, &choices, *one, r));
                        Cell::new(&values.collect::<Option<Vec<f64>>>()?)
                    }
                    several => self.mean(experiment, figure, &choices, several),
                };
                let paper = figure.paper.iter().find(|p| p.row == kind && p.bar == bar).map(|p| p.value);
                cell.map(|cell| Cell { paper, ..cell })
            };
            let is_mean = matches!(kind, Row::ClassMean(_) | Row::Mean);
            TableRow { name, is_mean, cells: (0..bars.len()).map(cell).collect() }
        };
        let rows = match figure.rows {
            Some(axis) => self.rows_by_axis(experiment, figure, axis, &row),
            None => self.rows_by_workload(figure, &row),
        };
        let own = figure.metric.about();
        let about = match figure.against {
            Against::Nothing => own,
            Against::Ratio => format!("{own}, relative to the baseline"),
            Against::Speedup => format!("speedup: {own} of the baseline over own"),
            Against::Difference => format!("{own}, less that of the baseline"),
        };
        Table {
            name: figure.name.clone(),
            title: figure.title.clone(),
            about: format!("{about}; means are {}", figure.mean.name()),
            source: figure.source.clone(),
            bars: bars.iter().map(|variant| variant.label.clone()).collect(),
            baseline: experiment.baseline[figure.bars].filter(|_| figure.against != Against::Nothing),
            neutral: match figure.against {
                Against::Nothing => None,
                Against::Ratio | Against::Speedup => Some(1.0),
                Against::Difference => Some(0.0),
            },
            rows,
        }
    }

    fn rows_by_axis(&self, e: &Experiment, figure: &Figure, axis: usize, row: &MakeRow<'_>) -> Vec<TableRow> {
        let programs: Vec<usize> = (0..self.grid.programs.len()).collect();
        let variants = e.axes[axis].variants.iter().enumerate();
        let rows = variants.map(|(choice, variant)| {
            let mut fixed = figure.fixed.clone();
            fixed[axis] = choice;
            row(Row::Variant(choice), variant.label.clone(), &programs, &fixed)
        });
        rows.collect()
    }

    fn rows_by_workload(&self, figure: &Figure, row: &MakeRow<'_>) -> Vec<TableRow> {
        let programs = &self.grid.programs;
        let one = |n: usize| {
            let name = programs[n].workload.name.to_owned();
            row(Row::Workload(name.clone()), name, &[n], &figure.fixed)
        };
        let mut rows: Vec<TableRow> = (0..programs.len()).map(one).collect();
        let mut classes: Vec<_> = programs.iter().map(|p| p.class).collect();
        classes.dedup();
        for class in classes.iter().copied().filter(|_| classes.len() > 1) {
            let of: Vec<usize> = (0..programs.len()).filter(|n| programs[*n].class == class).collect();
            rows.push(row(Row::ClassMean(class), format!("mean, {class}"), &of, &figure.fixed));
        }
        if programs.len() > 1 {
            let all: Vec<usize> = (0..programs.len()).collect();
            rows.push(row(Row::Mean, "mean, all".to_owned(), &all, &figure.fixed));
        }
        rows
    }
}

/// Makes a row from what it is, its name, its workloads and the choices on the axes.
type MakeRow<'m> = dyn Fn(Row, String, &[usize], &[usize]) -> TableRow + 'm;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{KernelCounts, Record};
    use crate::work::InMemory;

    const TEXT: &str = "title = 'T'\nworkloads = ['bfs', 'spmv', 'walsh']\nsize = 'tiny'\nbaseline = { i = 'lrr' }\n\
        [repeats]\ncount = 2\nvary = ['heap']\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[axis]]\nname = 's'\nkey = 'gpu.sms'\nvalues = [2, 4]\n\
        [[figure]]\nname = 'a'\ntitle = 'A'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\nwhere = { s = 4 }\n\
        paper = [{ row = 'mean:divergent', bar = 'gto', value = 3.0 }]\n\
        [[figure]]\nname = 'b'\ntitle = 'B'\nmetric = 'cycles'\nbars = 'i'\nrows = 's'\nmean = 'arithmetic'\n";

    /// Results in which `gto` is `times` as fast as `lrr` with 4 SMs; the second repeat is a tenth better.
    fn tables(times: [f64; 3], leave_out: usize) -> Vec<Table> {
        let experiment = Experiment::parse("t", TEXT).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        let mut number = 0;
        grid.each(|choices, program, repeat, point| {
            let faster = if choices == [1, 1] { times[program] * (1.0 + 0.1 * repeat as f64) } else { 1.0 };
            let cycles = (9_900_000.0 / faster) as u64 / (choices[1] as u64 + 1);
            let kernels = vec![KernelCounts { cycles, ..KernelCounts::default() }];
            if number >= leave_out {
                results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
            }
            number += 1;
        });
        let values = Values::read(&experiment, &grid, &results).unwrap();
        experiment.figures.iter().map(|figure| values.table(&experiment, figure)).collect()
    }

    fn close(cell: Option<Cell>, value: f64) -> bool {
        cell.is_some_and(|cell| (cell.value - value).abs() < 1e-4 * value)
    }

    #[test]
    fn values_are_set_against_the_baseline_of_their_own() {
        let tables = tables([2.0, 8.0, 1.0], 0);
        let rows = &tables[0].rows;
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["bfs", "spmv", "walsh", "mean, divergent", "mean, barrier", "mean, all"]);
        assert!(rows.iter().all(|row| close(row.cells[0], 1.0)));
        assert!(close(rows[0].cells[1], 2.1) && close(rows[1].cells[1], 8.4) && close(rows[2].cells[1], 1.05));
        let mean = rows[3].cells[1].unwrap();
        assert!(close(Some(mean), 4.2) && mean.paper == Some(3.0), "the geometric mean of 2.1 and 8.4");
        assert!((mean.low - 4.0).abs() < 1e-4 && (mean.high - 4.4).abs() < 1e-4);
        assert_eq!((tables[0].baseline, tables[0].neutral), (Some(0), Some(1.0)));
        assert!(tables[0].is_within_spread(&rows[2].cells[1].unwrap()), "1.05 from 1.0 and 1.1");
        assert!(!tables[0].is_within_spread(&mean));
    }

    #[test]
    fn rows_can_be_choices_on_an_axis() {
        let table = &tables([1.0; 3], 0)[1];
        assert_eq!(table.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["2", "4"]);
        assert!(close(table.rows[0].cells[0], 9_900_000.0) && close(table.rows[1].cells[0], 4_950_000.0));
        assert_eq!((table.neutral, table.missing()), (None, 0));
    }

    #[test]
    fn without_all_results_there_is_no_mean() {
        let tables = tables([1.0; 3], 12);
        assert!(tables[0].rows.iter().all(|row| row.cells.iter().all(Option::is_none)), "there is no baseline");
        assert_eq!(tables[1].missing(), 2);
    }
}
