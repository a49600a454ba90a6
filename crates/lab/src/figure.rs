//! Figures of an experiment, computed from its results: rows of values with their spread.

use crate::error::Error;
use crate::experiment::{Against, Experiment, Figure, Group, Mean, Row, Rows};
use crate::grid::{self, Grid};
use crate::key::Key;
use crate::metric::Metric;
use crate::record::Failure;
use crate::table::{Cell, Gap, Over, Table, TableRow};
use crate::work::Results;
use std::collections::BTreeMap;

/// A run that left no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Whether the machine refuses the workload.
    pub is_refusal: bool,
    /// What was to be run, and the first line of why it was not.
    pub line: String,
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
    failures: BTreeMap<Key, Failure>,
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
        let (mut values, mut failures, mut damaged) = (BTreeMap::new(), BTreeMap::new(), 0);
        for point in &grid.points {
            let result = results.result(&point.key)?;
            damaged += usize::from(result.is_none() && results.has(&point.key));
            let Some(record) = result else {
                failures.extend(results.failure(&point.key)?.map(|failure| (point.key, failure)));
                continue;
            };
            let all = metrics.iter().map(|metric| metric.value(&record)).collect();
            let mut kernels = Vec::new();
            for kernel in record.kernels.iter().filter(|_| by_kernel) {
                let one = std::slice::from_ref(kernel);
                let values = metrics.iter().map(|metric| metric.of(&record.identity.machine, one)).collect();
                kernels.push((kernel.kernel.clone(), values));
            }
            values.insert(point.key, Measured { all, kernels });
        }
        Ok(Self { grid, metrics, values, failures, damaged })
    }

    /// Results that are there but cannot be read.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// Runs that failed or were refused, in the order of the grid; repetitions with the same reason count once.
    #[must_use]
    pub fn troubles(&self, experiment: &Experiment) -> Vec<Trouble> {
        let mut troubles: Vec<Trouble> = Vec::new();
        self.grid.each(|choices, program, _, point| {
            let Some(failure) = self.failures.get(&point.key) else { return };
            let (what, workload) = (grid::title(experiment, choices), self.grid.programs[program].workload.name);
            let what = if what.is_empty() { workload.to_owned() } else { format!("{what}, {workload}") };
            let line = format!("{what}: {}", failure.reason());
            let trouble = Trouble { is_refusal: failure.is_refusal, line };
            if troubles.last() != Some(&trouble) {
                troubles.push(trouble);
            }
        });
        troubles
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
    fn relative(&self, at: &Place<'_>, metric: &Metric, subject: &Subject, repeat: usize) -> Result<f64, Gap> {
        let value = |choices: &[usize], metric: &Metric| {
            let key = &self.grid.point(choices, subject.program, repeat).ok_or(Gap::Undefined)?.key;
            if !self.values.contains_key(key) {
                let gap = |failure: &Failure| if failure.is_refusal { Gap::Refused } else { Gap::Failed };
                return Err(self.failures.get(key).map_or(Gap::NoResult, gap));
            }
            self.of_kernel(key, metric, subject.kernel.as_deref()).ok_or(Gap::Undefined)
        };
        let Place { figure, choices } = at;
        let own = value(choices, metric)?;
        let base = || {
            let of_base = |gap: Gap| if gap.is_lacking() { Gap::NoResult } else { Gap::Undefined };
            value(&figure.baseline_of(choices), &figure.metric).map_err(of_base)
        };
        let result = match figure.against {
            Against::Nothing => own,
            Against::Ratio => own / base()?,
            Against::Speedup => base()? / own,
            Against::Difference => own - base()?,
            Against::Share => own / value(choices, &figure.metric)?,
        };
        if result.is_finite() { Ok(result) } else { Err(Gap::Undefined) }
    }

    /// The value of one subject, or the mean over several in each repetition.
    fn cell(&self, at: &Place<'_>, metric: &Metric, subjects: &[Subject]) -> Result<Cell, Gap> {
        let of_repeat = |repeat: usize| {
            let values = subjects.iter().map(|subject| self.relative(at, metric, subject, repeat));
            match values.collect::<Result<Vec<f64>, Gap>>()?[..] {
                [one] => Ok(one),
                ref several => at.figure.mean.of(several).ok_or(Gap::Undefined),
            }
        };
        let values = (0..self.grid.repeats()).map(of_repeat).collect::<Result<Vec<f64>, Gap>>()?;
        Cell::new(&values).ok_or(Gap::Undefined)
    }

    /// A bar without what the paper prints: of one subject, or the mean over those of several that have all their parts.
    fn bar(&self, at: &Place<'_>, subjects: &[Subject], is_mean: bool) -> Result<Cell, Gap> {
        let Figure { metric, stack, .. } = at.figure;
        let gap = |subject: &Subject| {
            let metrics = std::iter::once(metric).chain(stack.iter().map(|part| &part.metric));
            metrics.into_iter().find_map(|metric| self.cell(at, metric, std::slice::from_ref(subject)).err())
        };
        let gaps: Vec<Option<Gap>> = subjects.iter().map(gap).collect();
        let there: Vec<Subject> =
            subjects.iter().zip(&gaps).filter(|(_, gap)| gap.is_none()).map(|(subject, _)| subject.clone()).collect();
        let lacking = gaps.iter().flatten().filter(|gap| gap.is_lacking()).count();
        match gaps.first() {
            Some(Some(gap)) if !is_mean => return Err(*gap),
            _ if there.is_empty() => return Err(if lacking > 0 { Gap::NoResult } else { Gap::Undefined }),
            _ => {}
        }
        let over = is_mean.then_some(Over { rows: there.len(), of: subjects.len(), lacking });
        let parts = stack.iter().map(|part| Ok(Cell { over, ..self.cell(at, &part.metric, &there)? }));
        Ok(Cell { over, parts: parts.collect::<Result<_, Gap>>()?, ..self.cell(at, metric, &there)? })
    }

    /// A figure.
    #[must_use]
    pub fn table(&self, experiment: &Experiment, figure: &Figure) -> Table {
        let bars = &experiment.axes[figure.bars].variants;
        let row = |kind: Row, name: String, subjects: &[Subject], fixed: &[usize]| {
            let cell = |bar: usize| {
                let mut choices = fixed.to_vec();
                choices[figure.bars] = bar;
                let at = Place { figure, choices };
                let paper = |part: Option<usize>| {
                    figure.paper.iter().find(|p| p.row == kind && p.bar == bar && p.part == part).map(|p| p.value)
                };
                let is_mean = !matches!(kind, Row::Workload(_) | Row::Kernel { .. });
                let mut cell = self.bar(&at, subjects, is_mean)?;
                cell.paper = paper(None);
                cell.parts.iter_mut().enumerate().for_each(|(n, part)| part.paper = paper(Some(n)));
                Ok(cell)
            };
            let is_mean = matches!(kind, Row::GroupMean(_) | Row::Mean);
            TableRow { name, is_mean, cells: figure.choices.iter().copied().map(cell).collect() }
        };
        let rows = match figure.rows {
            Rows::Axis(axis) => self.rows_by_axis(experiment, figure, axis, &row),
            Rows::Workloads | Rows::Kernels => self.rows_by_subject(experiment, figure, &row),
        };
        Table {
            name: figure.name.clone(),
            title: figure.title.clone(),
            about: match figure.mean {
                Mean::None => about(figure),
                mean => format!("{}; means are {}{}", about(figure), mean.name(), over(figure)),
            },
            is_count: figure.against == Against::Nothing && figure.metric.is_count(),
            source: figure.source.clone(),
            bars: figure.choices.iter().map(|bar| bars[*bar].label.clone()).collect(),
            parts: figure.stack.iter().map(|part| part.label.clone()).collect(),
            baseline: figure.baseline[figure.bars]
                .filter(|_| !matches!(figure.against, Against::Nothing | Against::Share))
                .and_then(|base| figure.choices.iter().position(|bar| *bar == base)),
            neutral: match figure.against {
                Against::Nothing | Against::Share => None,
                Against::Ratio | Against::Speedup => Some(1.0),
                Against::Difference => Some(0.0),
            },
            rows,
        }
    }

    fn rows_by_axis(&self, e: &Experiment, figure: &Figure, axis: usize, row: &MakeRow<'_>) -> Vec<TableRow> {
        let all: Vec<Subject> = self.programs(figure).map(|program| Subject { program, kernel: None }).collect();
        let variants = e.axes[axis].variants.iter().enumerate();
        let rows = variants.map(|(choice, variant)| {
            let mut fixed = figure.fixed.clone();
            fixed[axis] = choice;
            row(Row::Variant(choice), variant.label.clone(), &all, &fixed)
        });
        rows.collect()
    }

    /// The workloads a figure shows, by number.
    fn programs<'f>(&'f self, figure: &'f Figure) -> impl Iterator<Item = usize> + 'f {
        let programs = self.grid.programs.iter().enumerate();
        programs.filter(|(_, program)| figure.shows(program.workload.name)).map(|(number, _)| number)
    }

    /// The groups that a figure has means over: the one it shows, those of the experiment, or classes when there are
    /// several.
    fn groups(&self, experiment: &Experiment, figure: &Figure) -> Vec<Group> {
        if let Some(group) = &figure.group {
            return vec![group.clone()];
        }
        if !experiment.groups.is_empty() {
            return experiment.groups.clone();
        }
        let mut groups: Vec<Group> = Vec::new();
        for program in &self.grid.programs {
            let (class, workload) = (program.class.name(), program.workload.name);
            match groups.iter_mut().find(|group| group.name == class) {
                Some(group) => group.workloads.push(workload),
                None => groups.push(Group { name: class.to_owned(), workloads: vec![workload] }),
            }
        }
        if groups.len() > 1 { groups } else { Vec::new() }
    }

    /// Rows of workloads or kernels, then means over groups and over all.
    fn rows_by_subject(&self, experiment: &Experiment, figure: &Figure, row: &MakeRow<'_>) -> Vec<TableRow> {
        let programs = &self.grid.programs;
        let mut subjects: Vec<Subject> = Vec::new();
        for program in self.programs(figure) {
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
        if figure.mean == Mean::None {
            return rows;
        }
        for Group { name, workloads } in self.groups(experiment, figure) {
            let is_in = |s: &&Subject| workloads.contains(&programs[s.program].workload.name);
            let of: Vec<Subject> = subjects.iter().filter(is_in).cloned().collect();
            let title = format!("mean, {name}");
            rows.push(row(Row::GroupMean(name), title, &of, &figure.fixed));
        }
        if subjects.len() > 1 && figure.group.is_none() {
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

/// What means are over, where rows do not show it.
fn over(figure: &Figure) -> String {
    match (&figure.group, figure.rows) {
        (Some(group), Rows::Axis(_)) => format!(" over {}", group.name),
        _ => String::new(),
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

    fn close(cell: &Result<Cell, Gap>, value: f64) -> bool {
        cell.as_ref().is_ok_and(|cell| (cell.value - value).abs() < 1e-4 * value)
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
    fn groups_have_means() {
        let groups =
            "[[group]]\nname = 'FEW'\nworkloads = ['walsh', 'bfs']\n[[group]]\nname = 'ONE'\nworkloads = ['spmv']\n";
        let text = TEXT.replace("workloads = ['bfs', 'spmv', 'walsh']\n", "") + groups;
        let text = text.replace("mean:divergent", "mean, FEW");
        let experiment = Experiment::parse("t", &text).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        grid.each(|choices, program, _, point| {
            let cycles = if choices[0] == 1 { [25, 100, 50][program] } else { 100 };
            let kernels = vec![KernelCounts { cycles, ..KernelCounts::default() }];
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        });
        let values = Values::read(&experiment, &grid, &results).unwrap();
        let rows = values.table(&experiment, &experiment.figures[0]).rows;
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["walsh", "bfs", "spmv", "mean, FEW", "mean, ONE", "mean, all"]);
        assert!(close(&rows[3].cells[1], 2.0) && close(&rows[4].cells[1], 2.0) && close(&rows[5].cells[1], 2.0));
        assert_eq!(rows[3].cells[1].as_ref().unwrap().paper, Some(3.0));
    }

    #[test]
    fn figures_can_have_a_group_and_a_baseline_of_their_own() {
        let more = "[[figure]]\nname = 'c'\ntitle = 'C'\nmetric = 'cycles'\nbars = 'i'\nagainst = 'speedup'\n\
            baseline = { i = 'gto' }\ngroup = 'divergent'\n\
            [[figure]]\nname = 'd'\ntitle = 'D'\nmetric = 'cycles'\nbars = 'i'\nrows = 's'\nagainst = 'speedup'\n\
            baseline = { s = 2 }\ngroup = 'barrier'\n";
        let experiment = Experiment::parse("t", &format!("{TEXT}{more}")).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        // bfs and spmv are divergent; only walsh waits at barriers, and gains from SMs with `gto` alone.
        grid.each(|choices, program, _, point| {
            let cycles = match (choices, program) {
                ([1, _], 0 | 1) => [50, 200][program],
                ([1, 1], _) => 25,
                _ => 100,
            };
            let kernels = vec![KernelCounts { cycles, ..KernelCounts::default() }];
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        });
        let values = Values::read(&experiment, &grid, &results).unwrap();
        let own = values.table(&experiment, &experiment.figures[2]);
        let names: Vec<&str> = own.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!((names, own.baseline), (vec!["bfs", "spmv", "mean, divergent"], Some(1)));
        assert!(
            close(&own.rows[0].cells[0], 0.5) && close(&own.rows[1].cells[0], 2.0) && close(&own.rows[2].cells[0], 1.0)
        );
        assert!(own.rows.iter().all(|row| close(&row.cells[1], 1.0)));
        let by_axis = values.table(&experiment, &experiment.figures[3]);
        assert_eq!(by_axis.baseline, None, "no bar is the baseline");
        assert!(by_axis.about.ends_with("means are geometric over barrier"), "{}", by_axis.about);
        assert!(close(&by_axis.rows[0].cells[1], 1.0) && close(&by_axis.rows[1].cells[1], 4.0));
        assert!(close(&by_axis.rows[1].cells[0], 1.0));
    }

    #[test]
    fn rows_can_be_choices_on_an_axis() {
        let table = &tables([1.0; 3], 0)[1];
        assert_eq!(table.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["2", "4"]);
        assert!(close(&table.rows[0].cells[0], 9_900_000.0) && close(&table.rows[1].cells[0], 4_950_000.0));
        assert_eq!((table.neutral, table.missing()), (None, 0));
    }

    #[test]
    fn means_are_over_what_is_there() {
        let all_of_lrr = tables([1.0; 3], 12);
        let is_lacking = |cell: &Result<Cell, Gap>| *cell == Err(Gap::NoResult);
        assert!(all_of_lrr[0].rows.iter().all(|row| row.cells.iter().all(is_lacking)), "there is no baseline");
        assert_eq!(all_of_lrr[1].missing(), 2);
        // `lrr` with 4 SMs has no result of `bfs`.
        let tables = tables([2.0, 8.0, 1.0], 8);
        let gto: Vec<_> = tables[0].rows.iter().map(|row| row.cells[1].clone()).collect();
        assert_eq!(gto[0], Err(Gap::NoResult));
        let note = |row: usize| gto[row].as_ref().unwrap().note();
        assert!(close(&gto[3], 8.4) && note(3).as_deref() == Some("1 of 2"), "{gto:?}");
        assert!(close(&gto[4], 1.05) && note(4).is_none() && note(1).is_none());
        assert!(note(5).as_deref() == Some("2 of 3"));
        assert_eq!(tables[0].missing(), 3 * 2, "bfs, and the two means it is part of");
        let with_two = tables[1].rows[1].cells[0].clone().unwrap();
        assert_eq!(with_two.over, Some(Over { rows: 2, of: 3, lacking: 1 }));
    }

    #[test]
    fn counts_are_whole_and_the_largest_has_no_mean() {
        let text = TEXT.replace("'cycles'\nagainst = 'speedup'", "'sm.stack_depth'");
        let text = text.replace("paper = [{ row = 'mean:divergent', bar = 'gto', value = 3.0 }]\n", "");
        let experiment = Experiment::parse("t", &text).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        for point in &grid.points {
            let counters = [("sm.stack_depth".to_owned(), 5)].into();
            let kernels = vec![KernelCounts { counters, ..KernelCounts::default() }];
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        }
        let values = Values::read(&experiment, &grid, &results).unwrap();
        let table = values.table(&experiment, &experiment.figures[0]);
        assert_eq!((table.about.as_str(), table.rows.len()), ("sm.stack_depth", 3));
        assert_eq!(crate::markdown::value(&table, &table.rows[0].cells[0]), "5");
        assert_eq!((table.number(2.5), table.number(2e6)), ("2.500".to_owned(), "2.000e6".to_owned()));
    }

    #[test]
    fn what_is_refused_is_not_missing() {
        let experiment = Experiment::parse("t", TEXT).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        grid.each(|choices, program, _, point| {
            let (title, error) = (String::new(), "it is too large\nby far".to_owned());
            if choices[0] == 1 && program < 2 {
                let is_refusal = program == 0 || choices[1] == 0;
                results.fail(Failure { key: point.key, title, error, is_refusal }).unwrap();
                return;
            }
            let kernels = vec![KernelCounts { cycles: 1, ..KernelCounts::default() }];
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        });
        let values = Values::read(&experiment, &grid, &results).unwrap();
        let table = values.table(&experiment, &experiment.figures[0]);
        let gto: Vec<_> = table.rows.iter().map(|row| row.cells[1].clone().map_err(Gap::text)).collect();
        assert_eq!((gto[0].clone(), gto[1].clone()), (Err("refused"), Err("failed")));
        assert_eq!(gto[3], Err("-"), "a mean over nothing");
        assert_eq!(gto[5].as_ref().unwrap().over, Some(Over { rows: 1, of: 3, lacking: 1 }));
        assert_eq!(table.missing(), 3, "the failure, and the two means it is part of");
        let lines: Vec<_> = values.troubles(&experiment).into_iter().map(|t| (t.is_refusal, t.line)).collect();
        assert_eq!(lines.len(), 4, "repetitions count once: {lines:?}");
        assert_eq!(lines[0], (true, "i gto, s 2, bfs: it is too large".to_owned()));
        assert_eq!(lines[3], (false, "i gto, s 4, spmv: it is too large".to_owned()));
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
