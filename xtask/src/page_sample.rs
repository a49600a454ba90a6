//! A sample of the cells of pages of results, run again: another one with each commit.

use std::time::Instant;

use raddle_lab::figure::Values;
use raddle_lab::point::Point;
use raddle_lab::sample::{Spots, compare, cost};
use raddle_lab::table::{Table, TableRow};
use raddle_lab::work::{self, InMemory, Options};

use crate::Result;
use crate::page_checks::{Page, View, part};
use crate::results::page;
use crate::sample::commit;

/// The work for each page, in instructions of warps.
const BUDGET: f64 = 8e6;
/// The most work for one cell; what takes more is run again by `cargo xtask results --verify` alone.
const MOST: f64 = BUDGET / 4.0;

/// How many cells there are, by what can be said of them.
#[derive(Default)]
struct Cells {
    /// Of one workload or kernel, and no baseline.
    all: usize,
    /// Those a sample can take.
    within: usize,
    /// Those that were run again.
    run: usize,
}

/// The workload of a row.
fn workload(row: &TableRow) -> &str {
    row.name.split('/').next().unwrap_or_default()
}

/// Runs some cells of each page again and compares them with the page.
pub fn check(pages: &[Page], word: Option<&str>) -> Result {
    let word = word.map_or_else(commit, |word| Ok(word.to_owned()))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { jobs: cores, cores };
    let start = Instant::now();
    let views: Vec<(&Page, &View)> = pages.iter().flat_map(|page| page.views.iter().map(move |v| (page, v))).collect();
    let spots: Vec<Spots<'_>> = views.iter().map(|(_, v)| Spots::new(&v.experiment, &v.grid, &v.figures)).collect();
    let named = |(_, view): &(&Page, &View)| format!("{word} {} {}", view.experiment.name, view.experiment.size);
    let mut points: Vec<Point> =
        spots.iter().zip(&views).flat_map(|(spots, view)| spots.choose(&named(view), MOST, BUDGET)).collect();
    // The longest first, so that the cores are done at the same time.
    points.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let mut results = InMemory::default();
    let ran = work::run(&points, &mut results, options, &|_| {})?;
    let (mut total, mut wrong) = (Cells::default(), Vec::new());
    for of_page in pages {
        let name = page(&of_page.experiment.name);
        let mut cells = Cells::default();
        for ((_, view), spots) in views.iter().zip(&spots).filter(|((of, _), _)| std::ptr::eq(*of, of_page)) {
            let View { experiment, grid, figures } = view;
            let within = spots.within(MOST);
            let values = Values::read(experiment, grid, &results)?;
            for number in figures {
                let figure = &experiment.figures[*number];
                let table: &Table = &of_page.tables[of_page.experiment.figure_named(&figure.name)?];
                let singles = table.rows.iter().filter(|row| !row.is_mean && table.parts.is_empty());
                for (row, bar) in singles.flat_map(|row| (0..table.bars.len()).map(move |bar| (row, bar))) {
                    let is_value = table.baseline != Some(bar) && row.cells[bar].is_ok();
                    cells.all += usize::from(is_value);
                    let is_within = within.iter().any(|(f, w, b)| (*f, *w, *b) == (*number, workload(row), bar));
                    cells.within += usize::from(is_value && is_within);
                }
                let compared = compare(&values, experiment, *number, part(&of_page.text, &figure.name)?);
                let is_single = |name: &String| table.rows.iter().any(|row| row.name == *name && !row.is_mean);
                cells.run += compared.cells.iter().filter(|(row, _)| is_single(row)).count();
                let say = |what: String| format!("{name}: figure `{}`: {what}", figure.name);
                wrong.extend(compared.wrong.into_iter().map(say));
            }
        }
        let Cells { all, within, run } = cells;
        println!("results: {name}: ran {run} of {within} cells again; {all} with those that take long");
        total.all += all;
        total.within += within;
        total.run += run;
    }
    let Cells { all, within, run } = total;
    let percent = |of: usize| 100.0 * run as f64 / of.max(1) as f64;
    println!(
        "results: the sample of {word}: {} points, {:.0} s; it finds a wrong cell with a probability of {:.1} % \
         ({run} of {within}), {:.1} % of all {all}; `cargo xtask results --check --sample {word}` repeats it",
        ran.done,
        start.elapsed().as_secs_f64(),
        percent(within),
        percent(all)
    );
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\nto repeat it: cargo xtask results --check --sample {word}", wrong.join("\n")).into())
}
