use super::*;
use crate::grid::Grid;
use crate::record::{KernelCounts, Record};
use crate::sample::{Spots, compare};
use crate::work::{InMemory, Results as _};

const TEXT: &str = "title = 'T'\nworkloads = ['bfs', 'spmv', 'walsh', 'matmul']\nsize = 'tiny'\nbaseline = { i = 'lrr' }\n\
    [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto', 'pro']\n\
    [[axis]]\nname = 's'\nkey = 'gpu.sms'\nvalues = [2, 4]\n\
    [[figure]]\nname = 'a'\ntitle = 'A'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\nreading = { s = 4 }\n\
    paper = [{ row = 'mean', bar = 'gto', value = 2.1 }, { row = 'bfs', bar = 'pro', value = 4.0 }]\n\
    [[figure]]\nname = 'b'\ntitle = 'B'\nmetric = 'cycles'\nbars = 'i'\nmean = 'arithmetic'\n\
    [[figure]]\nname = 'c'\ntitle = 'C'\nagainst = 'share'\nbars = 'i'\nstack = ['one = cycles', 'two = sm.warp_insts']\n";

/// An experiment with results of every point; `of` chooses those that are kept.
fn with_values<T>(of: impl Fn(&[usize], usize) -> bool, then: impl FnOnce(&Experiment, &Grid, &Values<'_>) -> T) -> T {
    let experiment = Experiment::parse("t", TEXT).unwrap();
    let grid = Grid::new(&experiment).unwrap();
    let mut results = InMemory::default();
    grid.each(|choices, program, _, point| {
        let cycles = 1000 + 137 * program as u64 - 211 * choices[0] as u64 + 53 * (choices[1] * program) as u64;
        let kernels = vec![KernelCounts { cycles, ..KernelCounts::default() }];
        if of(choices, program) {
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        }
    });
    let values = Values::read(&experiment, &grid, &results).unwrap();
    then(&experiment, &grid, &values)
}

/// The sections of all figures, with the tables without results that they are read by.
fn sections() -> Vec<(Table, Figure, String)> {
    let all = |e: &Experiment, v: &Values<'_>| e.figures.iter().map(|f| v.table(e, f)).collect::<Vec<_>>();
    let full = with_values(|_, _| true, |experiment, _, values| all(experiment, values));
    with_values(
        |_, _| false,
        |experiment, _, values| {
            let shapes = all(experiment, values).into_iter().zip(experiment.figures.clone()).zip(full);
            shapes.map(|((shape, figure), table)| (shape, figure, markdown::section(&table))).collect()
        },
    )
}

/// A text with the digit at this place changed.
fn forged(text: &str, at: usize) -> String {
    let digit = text.as_bytes()[at] - b'0';
    format!("{}{}{}", &text[..at], (digit + 5) % 10, &text[at + 1..])
}

#[test]
fn a_section_is_read_as_it_was_written() {
    for (shape, figure, section) in sections() {
        let table = read(&shape, &figure, &section).unwrap();
        assert_eq!(markdown::section(&table), section);
        assert_eq!(differences(&section, &section), [""; 0]);
        let wrong = with_values(|_, _| false, |e, _, values| contradictions(values, e, &figure, &table));
        assert_eq!(wrong, [""; 0], "{section}");
    }
}

#[test]
fn every_digit_that_is_forged_is_named() {
    for (.., section) in sections() {
        let digits = section.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at);
        let mut count = 0;
        for at in digits {
            let forged = forged(&section, at);
            let found = differences(&forged, &section);
            let number = section[..at].matches('\n').count();
            let line = section.lines().nth(number).unwrap();
            let place = match line.starts_with('|') {
                true => format!("row `{}`, column `", name(&cells(line)[0])),
                false => format!("line {}:", number + 1),
            };
            assert!(found.len() == 1 && found[0].starts_with(&place), "{found:?}\n{forged}");
            count += 1;
        }
        assert!(count > 20, "{section}");
    }
}

#[test]
fn what_is_forged_but_for_the_least_is_found_without_a_run() {
    let (mut all, mut unnoticed) = (0, Vec::new());
    with_values(
        |_, _| false,
        |experiment, _, values| {
            for (shape, figure, section) in sections().into_iter().filter(|(shape, ..)| shape.parts.is_empty()) {
                for (at, _) in section.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
                    let forged = forged(&section, at);
                    let found = match read(&shape, &figure, &forged) {
                        Ok(table) => contradictions(values, experiment, &figure, &table),
                        Err(what) => vec![what],
                    };
                    all += 1;
                    if found.is_empty() {
                        unnoticed
                            .push(forged.lines().find(|line| !section.contains(line)).unwrap_or_default().to_owned());
                    }
                }
            }
        },
    );
    assert!(all > 100 && unnoticed.len() * 20 < all, "{} of {all}:\n{}", unnoticed.len(), unnoticed.join("\n"));
    assert!(unnoticed.iter().all(|line| !line.contains("mean")), "{unnoticed:?}");
}

#[test]
fn other_titles_rows_and_values_of_papers_are_found() {
    let (shape, figure, section) = sections().swap_remove(0);
    let wrong = |from: &str, to: &str| {
        assert!(section.contains(from), "{section}");
        read(&shape, &figure, &section.replacen(from, to, 1)).unwrap_err()
    };
    assert!(wrong("### A", "### B").contains("### A"));
    assert!(wrong("paper 2.100", "paper 2.200").contains("row `mean, all`, column `gto`"));
    assert!(wrong("| spmv |", "| smpv |").contains("row `smpv`"));
    assert!(wrong("| lrr | gto |", "| gto | lrr |").contains("column"));
    assert!(wrong("| spmv | 1.000 ", "| spmv | 1,000 ").contains("1,000"));
}

#[test]
fn cells_that_were_run_are_compared_with_the_page() {
    let (.., section) = sections().swap_remove(0);
    // `spmv` by lrr and gto, and `bfs` by lrr alone.
    let of = |choices: &[usize], program: usize| choices[0] < [1, 2, 0, 0][program];
    with_values(of, |experiment, grid, values| {
        let first = grid.programs[1].name;
        let good = compare(values, experiment, 0, &section);
        assert_eq!((&good.cells[..], good.wrong.len()), (&[(first.to_owned(), 1)][..], 0), "{good:?}");
        let line = section.lines().find(|line| line.starts_with(&format!("| {first} |"))).unwrap();
        for (at, _) in line.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
            let wrong = compare(values, experiment, 0, &section.replace(line, &forged(line, at))).wrong;
            let cell = line[..at].matches('|').count();
            assert_eq!(wrong.len(), usize::from(cell < 4), "{wrong:?}");
        }
    });
}

#[test]
fn another_word_chooses_other_points() {
    with_values(
        |_, _| false,
        |experiment, grid, _| {
            let spots = Spots::new(experiment, grid, &[0, 1, 2]);
            let cost = |points: &[crate::point::Point]| points.iter().map(|point| point.key).collect::<Vec<_>>();
            let all = spots.choose("a", f64::INFINITY, f64::INFINITY);
            assert_eq!(all.len(), grid.points.len());
            let chosen: Vec<_> = ["a", "a", "b", "c"].map(|word| cost(&spots.choose(word, 3e4, 3e4))).to_vec();
            assert_eq!(chosen[0], chosen[1]);
            assert!(chosen[0] != chosen[2] || chosen[0] != chosen[3], "{}", chosen[0].len());
            assert!(chosen.iter().all(|points| points.len() < all.len()));
            assert!(spots.within(0.0).is_empty() && spots.within(f64::INFINITY).len() == 4 * (2 + 3));
        },
    );
}

#[test]
fn a_mark_of_digits_that_are_not_printed_is_believed() {
    let cell = |value: f64| Cell { value, low: value - 0.004, high: value + 0.004, ..Cell::default() };
    let is_weak = |cell: &Cell| (cell.value - 1.0).abs() <= cell.spread();
    for (value, weak, becomes) in [
        (0.996, false, false),
        (0.996, true, true),
        (1.004, false, false),
        (1.004, true, true),
        // No rounding makes that of it.
        (0.990, true, false),
        (1.001, false, true),
    ] {
        let mut settled = cell(value);
        settle(&mut settled, Some(1.0), weak);
        assert_eq!((is_weak(&settled), format!("{:.3}", settled.value)), (becomes, format!("{value:.3}")), "{weak}");
    }
}
