//! Every number of a paper that an experiment carries, beside ours.

use crate::agreement::Class;
use crate::experiment::{Experiment, Row};
use crate::table::{Cell, Table, TableRow};

/// A number of a paper, beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The title of the figure that shows it.
    pub figure: String,
    /// Where the paper prints it.
    pub place: String,
    /// What it is of: row, bar and, where bars are stacked, the part.
    pub what: String,
    /// Whether it is over several workloads or kernels.
    pub is_mean: bool,
    /// The paper's value, for people.
    pub paper: String,
    /// Ours; nothing where there is none.
    pub ours: Option<String>,
    /// Ours by another reading of the paper, where there is one.
    pub other: Option<String>,
    /// How ours stands beside the paper's, where there is one.
    pub class: Option<Class>,
    /// Why they may differ.
    pub why: String,
}

impl Number {
    /// Why ours differs; nothing where it agrees.
    #[must_use]
    pub fn reason(&self) -> &str {
        if self.class == Some(Class::Agrees) { "" } else { &self.why }
    }

    /// How ours stands beside the paper's, in a word or two.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        self.class.map_or("no value", Class::name)
    }
}

/// The numbers that figures carry, in their order. What several of them carry is in the first.
#[must_use]
pub fn numbers(experiment: &Experiment, tables: &[Table]) -> Vec<Number> {
    let (mut all, mut seen) = (Vec::new(), Vec::new());
    for (figure, table) in experiment.figures.iter().zip(tables) {
        for printed in &figure.paper {
            let Some(bar) = figure.choices.iter().position(|bar| *bar == printed.bar) else { continue };
            let is_known =
                (figure.against, &figure.metric, &printed.row, printed.bar, printed.part, printed.value.to_bits());
            if seen.contains(&is_known) {
                continue;
            }
            seen.push(is_known);
            let row = row_of(table, &printed.row);
            let cell = row.and_then(|row| row.cells[bar].as_ref().ok());
            let of_part = |cell: &Cell| printed.part.map_or_else(|| cell.clone(), |part| cell.parts[part].clone());
            let value = cell.map(of_part);
            let class = value
                .as_ref()
                .map(|cell| table.rules[usize::from(printed.part.is_some())].class(cell.value, printed.value));
            let part = printed.part.map(|part| format!(", {}", table.parts[part])).unwrap_or_default();
            let why = printed.why.as_ref().or(figure.why.as_ref());
            all.push(Number {
                figure: table.title.clone(),
                place: table.source.clone(),
                what: format!("{}, {}{part}", name_of(table, &printed.row), table.bars[bar]),
                is_mean: !matches!(printed.row, Row::Workload(_) | Row::Kernel { .. }),
                paper: table.number(printed.value),
                ours: value.as_ref().map(|cell| table.number(cell.value)),
                other: value.as_ref().and_then(Cell::by_other_reading).map(|value| table.number(value)),
                class,
                why: why.cloned().unwrap_or_default(),
            });
        }
    }
    all
}

/// The name of a row.
fn name_of(table: &Table, row: &Row) -> String {
    match row {
        Row::Mean => "mean, all".to_owned(),
        Row::GroupMean(group) => format!("mean, {group}"),
        Row::Workload(workload) => workload.clone(),
        Row::Kernel { workload, kernel } => format!("{workload}/{kernel}"),
        Row::Variant(number) => table.rows.get(*number).map(|row| row.name.clone()).unwrap_or_default(),
    }
}

/// The row of a table.
pub(crate) fn row_of<'t>(table: &'t Table, row: &Row) -> Option<&'t TableRow> {
    let name = name_of(table, row);
    table.rows.iter().find(|row| row.name == name)
}

/// How many numbers are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that agree, agree partly and do not.
    pub classes: [usize; 3],
    /// Those without a value of ours.
    pub without: usize,
}

impl Counts {
    /// Counts numbers.
    #[must_use]
    pub fn of<'n>(numbers: impl Iterator<Item = &'n Number>) -> Self {
        let mut counts = Self::default();
        for number in numbers {
            match number.class {
                Some(class) => counts.classes[class as usize] += 1,
                None => counts.without += 1,
            }
        }
        counts
    }

    /// Those of means, and those of single workloads and kernels.
    #[must_use]
    pub fn of_means_and_others(numbers: &[Number]) -> [Self; 2] {
        [true, false].map(|is_mean| Self::of(numbers.iter().filter(|number| number.is_mean == is_mean)))
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> usize {
        self.classes.iter().sum::<usize>() + self.without
    }

    /// The share of those that agree at least partly; nothing where there are none.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let [agrees, partly, _] = self.classes;
        (self.all() > 0).then(|| (agrees + partly) as f64 / self.all() as f64)
    }

    /// In a line: `10: 5 agree, 2 partly, 3 do not`.
    #[must_use]
    pub fn text(&self) -> String {
        let [agrees, partly, not] = self.classes;
        let without = if self.without > 0 { format!(", {} have no value", self.without) } else { String::new() };
        format!("{}: {agrees} agree, {partly} partly, {not} do not{without}", self.all())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Values;
    use crate::grid::Grid;
    use crate::record::{KernelCounts, Record};
    use crate::work::{InMemory, Results as _};

    const TEXT: &str = "title = 'T'\nworkloads = ['bfs', 'walsh']\nsize = 'tiny'\nbaseline = { i = 'lrr' }\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[axis]]\nname = 's'\nkey = 'gpu.sms'\nvalues = [2, 4]\n\
        [[figure]]\nname = 'a'\ntitle = 'A'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\nsource = 'Figure 1'\n\
        why = 'all of them'\nreading = { s = 4 }\n\
        paper = [{ row = 'mean', bar = 'gto', value = 2.1, why = 'its own' }, { row = 'bfs', bar = 'gto', value = 4.0 },\n\
        { row = 'walsh', bar = 'gto', value = 3.0 }]\n\
        [[figure]]\nname = 'b'\ntitle = 'B'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\n\
        paper = [{ row = 'mean', bar = 'gto', value = 2.1 }]\n";

    /// `gto` is twice as fast with 2 SMs, three times with 4; `walsh` has no result where `lacks`.
    fn all(lacks: bool) -> (Vec<Number>, usize) {
        let experiment = Experiment::parse("t", TEXT).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        grid.each(|choices, program, _, point| {
            let cycles = if choices[0] == 1 { 600 / (choices[1] as u64 + 2) } else { 600 };
            let kernels = vec![KernelCounts { cycles, ..KernelCounts::default() }];
            if program == 0 || !lacks {
                results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
            }
        });
        let values = Values::read(&experiment, &grid, &results).unwrap();
        let tables: Vec<Table> = experiment.figures.iter().map(|figure| values.table(&experiment, figure)).collect();
        (numbers(&experiment, &tables), tables[0].missing())
    }

    #[test]
    fn every_number_stands_beside_ours_once() {
        let (all, missing) = all(false);
        let lines: Vec<_> = all.iter().map(|n| (n.what.as_str(), n.verdict(), n.reason())).collect();
        let wanted = [
            ("mean, all, gto", "agrees", ""),
            ("bfs, gto", "does not", "all of them"),
            ("walsh, gto", "partly", "all of them"),
        ];
        assert_eq!((lines, missing), (wanted.to_vec(), 0));
        let mean = &all[0];
        assert_eq!(
            (mean.paper.as_str(), mean.ours.as_deref(), mean.other.as_deref()),
            ("2.100", Some("2.000"), Some("3.000"))
        );
        assert_eq!((mean.place.as_str(), mean.is_mean, mean.why.as_str()), ("Figure 1", true, "its own"));
        let [means, others] = Counts::of_means_and_others(&all);
        assert_eq!(
            (means.text(), others.text()),
            ("1: 1 agree, 0 partly, 0 do not".into(), "2: 0 agree, 1 partly, 1 do not".into())
        );
        assert_eq!((means.share(), others.share(), Counts::default().share()), (Some(1.0), Some(0.5), None));
    }

    #[test]
    fn what_has_no_value_is_said() {
        let (all, missing) = all(true);
        assert_eq!((all[2].verdict(), all[2].ours.as_ref(), missing > 0), ("no value", None, true));
        assert_eq!(Counts::of(all.iter()).text(), "3: 1 agree, 0 partly, 1 do not, 1 have no value");
    }

    #[test]
    fn another_reading_is_of_another_axis() {
        let wrong = TEXT.replace("reading = { s = 4 }", "reading = { i = 'gto' }");
        let problem = Experiment::parse("t", &wrong).unwrap_err();
        assert!(problem.to_string().contains("shows axis `i` itself"), "{problem}");
    }
}
