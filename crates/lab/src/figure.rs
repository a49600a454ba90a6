//! Figures of an experiment, computed from its results: rows of values with their spread.

use crate::error::Error;
use crate::experiment::{Against, Experiment, Figure, Row, Rows};
use crate::grid::Grid;
use crate::key::Key;
use crate::metric::Metric;
use crate::work::Results;
use std::collections::BTreeMap;

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
    /// The parts of a stacked bar, from the bottom.
    pub parts: Vec<Self>,
}

impl Cell {
    fn new(values: &[f64]) -> Option<Self> {
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
    /// Names of the parts of stacked bars, from the bottom; none when bars are not stacked.
    pub parts: Vec<String>,
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

/// The values of all metrics of an experiment in one result.
struct Measured {
    all: Vec<f64>,
    /// For each kernel, where a figure has rows of kernels.
    kernels: Vec<(String, Vec<f64>)>,
}

/// What a row is about: a workload by its number, or one of its kernels.
#[derive(Clone)]
struct Subject {
    program: usize,
    kernel: Option<String>,
}

/// The values of metrics in the results of a grid, each result read once.
pub struct Values<'g> {
    grid: &'g Grid,
    metrics: Vec<Metric>,
    values: BTreeMap<Key, Measured>,
    damaged: usize,
}

impl<'g> Values<'g> {
    /// Reads the results of all points.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(experiment: &Experiment, grid: &'g Grid, results: &impl Results) -> Result<Self, Error> {
        let mut metrics = experiment.metrics.clone();
        for figure in &experiment.figures {
            metrics.push(figure.metric.clone());
            metrics.extend(figure.stack.iter().map(|part| part.metric.clone()));
        }
        let by_kernel = experiment.figures.iter().any(|figure| figure.rows == Rows::Kernels);
        let (mut values, mut damaged) = (BTreeMap::new(), 0);
        for point in &grid.points {
            let result = results.result(&point.key)?;
            damaged += usize::from(result.is_none() && results.has(&point.key));
            let Some(record) = result else { continue };
            let all = metrics.iter().map(|metric| metric.value(&record)).collect();
            let mut kernels = Vec::new();
            for kernel in record.kernels.iter().filter(|_| by_kernel) {
                let one = std::slice::from_ref(kernel);
                let values = metrics.iter().map(|metric| metric.of(&record.identity.machine, one)).collect();
                kernels.push((kernel.kernel.clone(), values));
            }
            values.insert(point.key, Measured { all, kernels });
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
        self.of_kernel(key, metric, None)
    }

    fn of_kernel(&self, key: &Key, metric: &Metric, kernel: Option<&str>) -> Option<f64> {
        let column = self.metrics.iter().position(|known| known == metric)?;
        let measured = self.values.get(key)?;
        match kernel {
            None => Some(measured.all[column]),
            Some(kernel) => measured.kernels.iter().find(|(name, _)| name == kernel).map(|(_, values)| values[column]),
        }
    }

    /// A metric of a figure, the whole or a part, set against its baseline.
    fn relative(&self, at: &Place<'_>, metric: &Metric, subject: &Subject, repeat: usize) -> Option<f64> {
        let value = |choices: &[usize], metric: &Metric| {
            let key = &self.grid.point(choices, subject.program, repeat)?.key;
            self.of_kernel(key, metric, subject.kernel.as_deref())
        };
        let Place { experiment, figure, choices } = at;
        let own = value(choices, metric)?;
        let base = || value(&experiment.baseline_of(choices), &figure.metric);
        let result = match figure.against {
            Against::Nothing => own,
            Against::Ratio => own / base()?,
            Against::Speedup => base()? / own,
            Against::Difference => own - base()?,
            Against::Share => own / value(choices, &figure.metric)?,
        };
        result.is_finite().then_some(result)
    }

    /// The value of one subject, or the mean over several in each repetition. Where one is missing there is none.
    fn cell(&self, at: &Place<'_>, metric: &Metric, subjects: &[Subject]) -> Option<Cell> {
        let of_repeat = |repeat: usize| {
            let values = subjects.iter().map(|subject| self.relative(at, metric, subject, repeat));
            match values.collect::<Option<Vec<f64>>>()?[..] {
                [one] => Some(one),
                ref several => at.figure.mean.of(several),
            }
        };
        Cell::new(&(0..self.grid.repeats()).map(of_repeat).collect::<Option<Vec<f64>>>()?)
    }

    /// A figure.
    #[must_use]
    pub fn table(&self, experiment: &Experiment, figure: &Figure) -> Table {
        let bars = &experiment.axes[figure.bars].variants;
        let row = |kind: Row, name: String, subjects: &[Subject], fixed: &[usize]| {
            let cell = |bar: usize| {
                let mut choices = fixed.to_vec();
                choices[figure.bars] = bar;
                let at = Place { experiment, figure, choices };
                let paper = |part: Option<usize>| {
                    figure.paper.iter().find(|p| p.row == kind && p.bar == bar && p.part == part).map(|p| p.value)
                };
                let part = |(n, part): (usize, &crate::experiment::Part)| {
                    Some(Cell { paper: paper(Some(n)), ..self.cell(&at, &part.metric, subjects)? })
                };
                let parts = figure.stack.iter().enumerate().map(part).collect::<Option<Vec<Cell>>>()?;
                Some(Cell { paper: paper(None), parts, ..self.cell(&at, &figure.metric, subjects)? })
            };
            let is_mean = matches!(kind, Row::ClassMean(_) | Row::Mean);
            TableRow { name, is_mean, cells: (0..bars.len()).map(cell).collect() }
        };
        let rows = match figure.rows {
            Rows::Axis(axis) => self.rows_by_axis(experiment, figure, axis, &row),
            Rows::Workloads | Rows::Kernels => self.rows_by_subject(figure, &row),
        };
        Table {
            name: figure.name.clone(),
            title: figure.title.clone(),
            about: format!("{}; means are {}", about(figure), figure.mean.name()),
            source: figure.source.clone(),
            bars: bars.iter().map(|variant| variant.label.clone()).collect(),
            parts: figure.stack.iter().map(|part| part.label.clone()).collect(),
            baseline: experiment.baseline[figure.bars]
                .filter(|_| !matches!(figure.against, Against::Nothing | Against::Share)),
            neutral: match figure.against {
                Against::Nothing | Against::Share => None,
                Against::Ratio | Against::Speedup => Some(1.0),
                Against::Difference => Some(0.0),
            },
            rows,
        }
    }

    fn rows_by_axis(&self, e: &Experiment, figure: &Figure, axis: usize, row: &MakeRow<'_>) -> Vec<TableRow> {
        let all: Vec<Subject> =
            (0..self.grid.programs.len()).map(|program| Subject { program, kernel: None }).collect();
        let variants = e.axes[axis].variants.iter().enumerate();
        let rows = variants.map(|(choice, variant)| {
            let mut fixed = figure.fixed.clone();
            fixed[axis] = choice;
            row(Row::Variant(choice), variant.label.clone(), &all, &fixed)
        });
        rows.collect()
    }

    /// Rows of workloads or kernels, then means over classes and over all.
    fn rows_by_subject(&self, figure: &Figure, row: &MakeRow<'_>) -> Vec<TableRow> {
        let programs = &self.grid.programs;
        let mut subjects: Vec<Subject> = Vec::new();
        for program in 0..programs.len() {
            let kernels = if figure.rows == Rows::Kernels { self.kernels(program) } else { Vec::new() };
            match kernels[..] {
                [] => subjects.push(Subject { program, kernel: None }),
                _ => subjects.extend(kernels.into_iter().map(|kernel| Subject { program, kernel: Some(kernel) })),
            }
        }
        let one = |subject: &Subject| {
            let workload = programs[subject.program].workload.name.to_owned();
            let (kind, name) = match &subject.kernel {
                None => (Row::Workload(workload.clone()), workload),
                Some(kernel) => {
                    let name = format!("{workload}/{kernel}");
                    (Row::Kernel { workload, kernel: kernel.clone() }, name)
                }
            };
            row(kind, name, std::slice::from_ref(subject), &figure.fixed)
        };
        let mut rows: Vec<TableRow> = subjects.iter().map(one).collect();
        let mut classes: Vec<_> = programs.iter().map(|p| p.class).collect();
        classes.dedup();
        for class in classes.iter().copied().filter(|_| classes.len() > 1) {
            let of: Vec<Subject> = subjects.iter().filter(|s| programs[s.program].class == class).cloned().collect();
            rows.push(row(Row::ClassMean(class), format!("mean, {class}"), &of, &figure.fixed));
        }
        if subjects.len() > 1 {
            rows.push(row(Row::Mean, "mean, all".to_owned(), &subjects, &figure.fixed));
        }
        rows
    }

    /// Kernels of a workload in any of its results, in the order of their first launches.
    fn kernels(&self, program: usize) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        self.grid.each(|_, of, _, point| {
            let measured = self.values.get(&point.key).filter(|_| of == program);
            for (kernel, _) in measured.iter().flat_map(|m| &m.kernels) {
                if !found.contains(kernel) {
                    found.push(kernel.clone());
                }
            }
        });
        found
    }
}

/// Where a value belongs: a figure, and the choices on all axes.
struct Place<'a> {
    experiment: &'a Experiment,
    figure: &'a Figure,
    choices: Vec<usize>,
}

/// What the values of a figure are, in words.
fn about(figure: &Figure) -> String {
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
        Against::Speedup => format!("speedup: {own} of the baseline over own"),
        Against::Difference => format!("{own}, less that of the baseline"),
    }
}

/// Makes a row from what it is, its name, its subjects and the choices on the axes.
type MakeRow<'m> = dyn Fn(Row, String, &[Subject], &[usize]) -> TableRow + 'm;

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

    fn close(cell: &Option<Cell>, value: f64) -> bool {
        cell.as_ref().is_some_and(|cell| (cell.value - value).abs() < 1e-4 * value)
    }

    #[test]
    fn values_are_set_against_the_baseline_of_their_own() {
        let tables = tables([2.0, 8.0, 1.0], 0);
        let rows = &tables[0].rows;
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["bfs", "spmv", "walsh", "mean, divergent", "mean, barrier", "mean, all"]);
        assert!(rows.iter().all(|row| close(&row.cells[0], 1.0)));
        assert!(close(&rows[0].cells[1], 2.1) && close(&rows[1].cells[1], 8.4) && close(&rows[2].cells[1], 1.05));
        let mean = rows[3].cells[1].clone().unwrap();
        assert!(close(&rows[3].cells[1], 4.2) && mean.paper == Some(3.0), "the geometric mean of 2.1 and 8.4");
        assert!((mean.low - 4.0).abs() < 1e-4 && (mean.high - 4.4).abs() < 1e-4);
        assert_eq!((tables[0].baseline, tables[0].neutral), (Some(0), Some(1.0)));
        assert!(tables[0].is_within_spread(rows[2].cells[1].as_ref().unwrap()), "1.05 from 1.0 and 1.1");
        assert!(!tables[0].is_within_spread(&mean));
    }

    #[test]
    fn rows_can_be_choices_on_an_axis() {
        let table = &tables([1.0; 3], 0)[1];
        assert_eq!(table.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["2", "4"]);
        assert!(close(&table.rows[0].cells[0], 9_900_000.0) && close(&table.rows[1].cells[0], 4_950_000.0));
        assert_eq!((table.neutral, table.missing()), (None, 0));
    }

    #[test]
    fn without_all_results_there_is_no_mean() {
        let tables = tables([1.0; 3], 12);
        assert!(tables[0].rows.iter().all(|row| row.cells.iter().all(Option::is_none)), "there is no baseline");
        assert_eq!(tables[1].missing(), 2);
    }

    const STACKED: &str = "title = 'T'\nworkloads = ['bfs', 'walsh']\nsize = 'tiny'\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[figure]]\nname = 'a'\ntitle = 'A'\nbars = 'i'\nrows = 'kernels'\nagainst = 'ratio'\n\
        stack = ['issued = sm.issued_1_4 + sm.issued_29_32', 'sm.stall_fetch']\n\
        paper = [{ row = 'walsh/batch1', bar = 'gto', part = 'issued', value = 0.5 }]\n\
        [[figure]]\nname = 'b'\ntitle = 'B'\nbars = 'i'\nagainst = 'share'\nstack = ['sm.issued_1_4', 'sm.stall_fetch']\n";

    #[test]
    fn stacks_and_kernels() {
        let name = raddle_workloads::find("walsh").unwrap().module().unwrap();
        let kernel = name.module.kernels().next().unwrap().1.name.clone();
        let experiment = Experiment::parse("t", &STACKED.replace("batch1", &kernel)).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        grid.each(|choices, program, _, point| {
            let counts = |kernel: &str, issued: u64, stall: u64| {
                let counters = [("sm.issued_1_4", issued), ("sm.issued_29_32", issued), ("sm.stall_fetch", stall)];
                let counters = counters.map(|(name, value)| (name.to_owned(), value)).into();
                KernelCounts { kernel: kernel.to_owned(), launches: 1, cycles: 1, counters }
            };
            // With `gto` there are half as many stalls.
            let stall = 80 / (choices[0] as u64 + 1);
            let kernels = match program {
                0 => vec![counts("one", 10, stall), counts("two", 30, stall)],
                _ => vec![counts(&kernel, 10, stall)],
            };
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        });
        let values = Values::read(&experiment, &grid, &results).unwrap();
        let table = values.table(&experiment, &experiment.figures[0]);
        let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
        let third = format!("walsh/{kernel}");
        let means = ["mean, divergent", "mean, barrier", "mean, all"];
        assert_eq!(names, [&["bfs/one", "bfs/two", &third], &means[..]].concat());
        assert_eq!(table.parts, ["issued", "sm.stall_fetch"]);
        let gto = |row: usize| table.rows[row].cells[1].clone().unwrap();
        let parts = |cell: &Cell| cell.parts.iter().map(|part| part.value).collect::<Vec<_>>();
        assert_eq!(parts(&gto(0)), [0.2, 0.4], "of 100 slots of the baseline");
        assert!((gto(0).value - 0.6).abs() < 1e-12);
        assert_eq!(parts(&gto(1)), [60.0 / 140.0, 40.0 / 140.0]);
        assert_eq!((gto(2).parts[0].paper, gto(2).parts[1].paper, gto(2).paper), (Some(0.5), None, None));
        let mean = gto(3);
        assert_eq!(mean.parts[0].value, (0.2 + 60.0 / 140.0) / 2.0, "means of parts are arithmetic");
        assert!((parts(&mean).iter().sum::<f64>() - mean.value).abs() < 1e-12);

        let shares = values.table(&experiment, &experiment.figures[1]);
        let cell = shares.rows[0].cells[0].clone().unwrap();
        assert_eq!((parts(&cell), cell.value), (vec![0.2, 0.8], 1.0), "of both kernels: 40 and 160");
        assert_eq!((shares.neutral, shares.baseline), (None, None));
    }
}
