//! Some cells of a page, chosen by a word, and the runs that show whether they are true.

use crate::experiment::{Experiment, Rows};
use crate::figure::Values;
use crate::grid::Grid;
use crate::key::Key;
use crate::markdown;
use crate::point::Point;
use crate::printed;
use crate::table::{Table, is_missing};
use std::collections::{BTreeMap, BTreeSet};

/// Cells of one figure, bar and workload: one, or one for each kernel.
struct Spot {
    figure: usize,
    workload: &'static str,
    bar: usize,
    points: Vec<usize>,
}

/// The cells of an experiment's figures that are of one workload, and the points they take.
pub struct Spots<'g> {
    grid: &'g Grid,
    spots: Vec<Spot>,
}

/// How much work a point is, roughly: instructions of warps of its machine.
#[must_use]
pub fn cost(point: &Point) -> f64 {
    let launches = point.program.launches(point.size);
    let threads: u64 = launches.iter().map(|launch| launch.thread_insts).sum();
    threads as f64 / f64::from(point.target.config.sm.warp_width)
}

impl<'g> Spots<'g> {
    /// All there are in these figures, by number, but for baselines, which are known.
    #[must_use]
    pub fn new(experiment: &Experiment, grid: &'g Grid, figures: &[usize]) -> Self {
        let at: BTreeMap<Key, usize> = grid.points.iter().enumerate().map(|(n, point)| (point.key, n)).collect();
        let mut spots = Vec::new();
        for (number, figure) in figures.iter().map(|number| (*number, &experiment.figures[*number])) {
            let is_of_one = !matches!(figure.rows, Rows::Axis(_)) && figure.stack.is_empty();
            let workloads = experiment.workloads.iter().enumerate().filter(|(_, name)| is_of_one && figure.shows(name));
            for (n, workload) in workloads {
                for (bar, choice) in figure.choices.iter().enumerate() {
                    let mut choices = figure.fixed.clone();
                    choices[figure.bars] = *choice;
                    let taken = figure.taken(&choices);
                    if taken.len() > 1 && taken[0] == taken[1] {
                        continue;
                    }
                    let repeats = (0..grid.repeats()).flat_map(|repeat| taken.iter().map(move |c| (c, repeat)));
                    let points: BTreeSet<usize> =
                        repeats.filter_map(|(c, repeat)| at.get(&grid.point(c, n, repeat)?.key).copied()).collect();
                    if !points.is_empty() {
                        spots.push(Spot { figure: number, workload, bar, points: points.into_iter().collect() });
                    }
                }
            }
        }
        Self { grid, spots }
    }

    fn cost(&self, points: impl IntoIterator<Item = usize>) -> f64 {
        points.into_iter().map(|n| cost(&self.grid.points[n])).sum()
    }

    /// Figures by number, workloads and places of bars whose cells take at most so much work.
    #[must_use]
    pub fn within(&self, most: f64) -> BTreeSet<(usize, &'static str, usize)> {
        let cheap = self.spots.iter().filter(|spot| self.cost(spot.points.iter().copied()) <= most);
        cheap.map(|spot| (spot.figure, spot.workload, spot.bar)).collect()
    }

    /// The points of some cells. The order of all is a hash of `word`; each is taken that fits into what is left of the
    /// work, `most` for one and `budget` for all.
    #[must_use]
    pub fn choose(&self, word: &str, most: f64, budget: f64) -> Vec<Point> {
        let hash =
            |Spot { figure, workload, bar, .. }: &Spot| Key::of(format!("{word} {figure} {workload} {bar}").as_bytes());
        let mut order: Vec<&Spot> = self.spots.iter().collect();
        order.sort_by_cached_key(|spot| hash(spot));
        let (mut chosen, mut left) = (BTreeSet::new(), budget);
        for spot in order.into_iter().filter(|spot| self.cost(spot.points.iter().copied()) <= most) {
            let new: Vec<usize> = spot.points.iter().copied().filter(|n| !chosen.contains(n)).collect();
            let cost = self.cost(new.iter().copied());
            if cost <= left {
                left -= cost;
                chosen.extend(new);
            }
        }
        chosen.into_iter().map(|n| self.grid.points[n].clone()).collect()
    }
}

/// What came of comparing cells.
#[derive(Debug, Default)]
pub struct Compared {
    /// Cells that were compared: row and bar.
    pub cells: Vec<(String, usize)>,
    /// What differs.
    pub wrong: Vec<String>,
}

/// Compares every cell of a figure that the runs there are give with the one on a page, digit by digit. Baselines are
/// not counted.
#[must_use]
pub fn compare(values: &Values<'_>, experiment: &Experiment, number: usize, section: &str) -> Compared {
    let table: Table = values.table(experiment, &experiment.figures[number]);
    let lines = printed::lines(section);
    let mut compared = Compared::default();
    if !table.parts.is_empty() {
        return compared;
    }
    for row in &table.rows {
        let line = lines.iter().skip(1).find(|line| printed::name(&line[0]) == row.name);
        for (bar, cell) in row.cells.iter().enumerate().filter(|(_, cell)| !is_missing(cell)) {
            let is_new = cell.is_ok() && table.baseline != Some(bar);
            compared.cells.extend(is_new.then(|| (row.name.clone(), bar)));
            let new = markdown::cell(&table, row, cell);
            let old = line.and_then(|line| line.get(bar + 1)).map_or("nothing", String::as_str);
            if *old != new {
                compared.wrong.push(format!(
                    "row `{}`, column `{}`: the page has `{old}`, a run gives `{new}`",
                    row.name, table.bars[bar]
                ));
            }
        }
    }
    compared
}
