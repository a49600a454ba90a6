//! Figures of an experiment, computed from its results: rows of values with their spread.

mod words;

use crate::error::Error;
use crate::experiment::{Against, Experiment, Figure, Group, Kind, Mean, Row, Rows};
use crate::fill;
use crate::grid::{self, Grid};
use crate::key::Key;
use crate::metric::Metric;
use crate::record::Failure;
use crate::table::{Cell, Gap, Over, Table, TableRow};
use crate::work::Results;
use raddle_workloads::Class;
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
            metrics.extend(figure.x.clone());
            metrics.extend(figure.stack.iter().map(|part| part.metric.clone()));
        }
        metrics.push(fill::empty_slots());
        let by_kernel = experiment.figures.iter().any(|figure| figure.rows == Rows::Kernels);
        let (mut values, mut failures, mut damaged) = (BTreeMap::new(), BTreeMap::new(), 0);
        for point in &grid.points {
            let result = results.result(&point.key)?;
            damaged += usize::from(result.is_none() && results.is_damaged(&point.key)?);
            let Some(mut record) = result else {
                failures.extend(results.failure(&point.key)?.map(|failure| (point.key, failure)));
                continue;
            };
            let workload = point.program.name;
            record.kernels.retain(|kernel| experiment.counts(workload, &kernel.kernel));
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
            let (what, workload) = (grid::title(experiment, choices), self.grid.programs[program].name);
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
        let cell = Cell::new(&values).ok_or(Gap::Undefined)?;
        Ok(Cell { error: at.figure.error.ends(&values), ..cell })
    }

    /// The value of a metric that is set against nothing.
    fn plain(&self, at: &Place<'_>, metric: &Metric, subjects: &[Subject]) -> Result<f64, Gap> {
        let figure = &Figure { against: Against::Nothing, ..at.figure.clone() };
        Ok(self.cell(&Place { figure, choices: at.choices.clone() }, metric, subjects)?.value)
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
        let parts = parts.collect::<Result<_, Gap>>()?;
        let is_box = is_mean && at.figure.kind == Kind::Box;
        let sample = |subject| Ok(self.cell(at, metric, std::slice::from_ref(subject))?.value);
        let samples = there.iter().filter(|_| is_box).map(sample).collect::<Result<_, Gap>>()?;
        let x = at.figure.x.as_ref().map(|metric| self.plain(at, metric, &there)).transpose()?;
        Ok(Cell { over, parts, samples, x, ..self.cell(at, metric, &there)? })
    }

    /// A figure.
    #[must_use]
    pub fn table(&self, experiment: &Experiment, figure: &Figure) -> Table {
        let bars = &experiment.axes[figure.bars].variants;
        let other = figure.by_other_reading();
        let row = |kind: Row, name: String, subjects: &[Subject], fixed: &[usize]| {
            let cell = |bar: usize| {
                let mut choices = fixed.to_vec();
                choices[figure.bars] = bar;
                let at = Place { figure, choices };
                let add_paper = |cell: &mut Cell, part: Option<usize>| {
                    let printed = figure.paper.iter().find(|p| p.row == kind && p.bar == bar && p.part == part);
                    cell.paper = printed.map(|printed| printed.value);
                    let why = printed.and_then(|printed| printed.why.as_ref().or(figure.why.as_ref()));
                    cell.why = why.cloned().unwrap_or_default();
                };
                let is_mean = !matches!(kind, Row::Workload(_) | Row::Kernel { .. });
                let mut cell = self.bar(&at, subjects, is_mean)?;
                add_paper(&mut cell, None);
                cell.parts.iter_mut().enumerate().for_each(|(n, part)| add_paper(part, Some(n)));
                cell.reading = other.as_ref().map(|figure| {
                    let at = Place { figure, choices: figure.read_as(&at.choices) };
                    self.bar(&at, subjects, is_mean).map(Box::new)
                });
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
            kind: figure.kind,
            about: match figure.mean {
                Mean::None => words::about(figure),
                mean => format!("{}; means are {}{}", words::about(figure), mean.name(), words::over(figure)),
            },
            is_count: figure.against == Against::Nothing && figure.metric.is_count(),
            source: figure.source.clone(),
            bars: figure.choices.iter().map(|bar| bars[*bar].label.clone()).collect(),
            parts: figure.stack.iter().map(|part| part.label.clone()).collect(),
            baseline: figure.baseline[figure.bars]
                .filter(|_| !matches!(figure.against, Against::Nothing | Against::Share))
                .and_then(|base| figure.choices.iter().position(|bar| *bar == base)),
            has_geometric_means: figure.mean == Mean::Geometric,
            neutral: match figure.against {
                Against::Nothing | Against::Share => None,
                Against::Ratio | Against::Speedup => Some(1.0),
                Against::Difference => Some(0.0),
            },
            rules: [false, true].map(|is_part| figure.rule(is_part)),
            reading: figure.reading.as_ref().map(|reading| reading.label.clone()).unwrap_or_default(),
            axis: words::axis(experiment, figure),
            x_axis: words::x_axis(experiment, figure),
            whiskers: words::whiskers(figure, self.grid.repeats()),
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
        programs.filter(|(_, program)| figure.shows(program.name)).map(|(number, _)| number)
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
            let Some(class) = program.class.map(Class::name) else { continue };
            let workload = program.name;
            match groups.iter_mut().find(|group| group.name == class) {
                Some(group) => group.workloads.push(workload),
                None => groups.push(Group { name: class.to_owned(), workloads: vec![workload] }),
            }
        }
        if groups.len() > 1 { groups } else { Vec::new() }
    }

    /// The workloads that the mean of this name is over.
    #[must_use]
    pub fn members(&self, experiment: &Experiment, figure: &Figure, mean: &str) -> Vec<&'static str> {
        let mut groups = self.groups(experiment, figure).into_iter();
        let group = groups.find(|group| mean.strip_prefix("mean, ") == Some(&group.name));
        let of_group = |name: &&str| group.as_ref().is_none_or(|group| group.workloads.contains(name));
        self.programs(figure).map(|n| self.grid.programs[n].name).filter(of_group).collect()
    }

    /// Repetitions of each run.
    #[must_use]
    pub fn repeats(&self) -> usize {
        self.grid.repeats()
    }

    /// Means over groups and over all, then rows of workloads or kernels.
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
            let workload = programs[subject.program].name.to_owned();
            let (kind, name) = match &subject.kernel {
                None => (Row::Workload(workload.clone()), workload),
                Some(kernel) => {
                    let name = format!("{workload}/{kernel}");
                    (Row::Kernel { workload, kernel: kernel.clone() }, name)
                }
            };
            row(kind, name, std::slice::from_ref(subject), &figure.fixed)
        };
        if figure.mean == Mean::None {
            return subjects.iter().map(one).collect();
        }
        let mut rows = Vec::new();
        for Group { name, workloads } in self.groups(experiment, figure) {
            let is_in = |s: &&Subject| workloads.contains(&programs[s.program].name);
            let of: Vec<Subject> = subjects.iter().filter(is_in).cloned().collect();
            let title = format!("mean, {name}");
            rows.push(row(Row::GroupMean(name), title, &of, &figure.fixed));
        }
        if subjects.len() > 1 && figure.group.is_none() {
            rows.push(row(Row::Mean, "mean, all".to_owned(), &subjects, &figure.fixed));
        }
        rows.extend(subjects.iter().map(one));
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

/// Makes a row from what it is, its name, its subjects and the choices on the axes.
type MakeRow<'m> = dyn Fn(Row, String, &[Subject], &[usize]) -> TableRow + 'm;

#[cfg(test)]
mod tests;
