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
    assert_eq!(names, ["mean, divergent", "mean, barrier", "mean, all", "bfs", "spmv", "walsh"], "means first");
    assert!(rows.iter().all(|row| close(&row.cells[0], 1.0)));
    assert!(close(&rows[3].cells[1], 2.1) && close(&rows[4].cells[1], 8.4) && close(&rows[5].cells[1], 1.05));
    let mean = rows[0].cells[1].clone().unwrap();
    assert!(close(&rows[0].cells[1], 4.2) && mean.paper == Some(3.0), "the geometric mean of 2.1 and 8.4");
    assert!((mean.low - 4.0).abs() < 1e-4 && (mean.high - 4.4).abs() < 1e-4);
    assert_eq!((tables[0].baseline, tables[0].neutral), (Some(0), Some(1.0)));
    assert!(tables[0].is_within_spread(rows[5].cells[1].as_ref().unwrap()), "1.05 from 1.0 and 1.1");
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
    assert_eq!(names, ["mean, FEW", "mean, ONE", "mean, all", "walsh", "bfs", "spmv"]);
    assert!(close(&rows[0].cells[1], 2.0) && close(&rows[1].cells[1], 2.0) && close(&rows[2].cells[1], 2.0));
    assert_eq!(rows[0].cells[1].as_ref().unwrap().paper, Some(3.0));
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
    assert_eq!((names, own.baseline), (vec!["mean, divergent", "bfs", "spmv"], Some(1)));
    assert!(
        close(&own.rows[1].cells[0], 0.5) && close(&own.rows[2].cells[0], 2.0) && close(&own.rows[0].cells[0], 1.0)
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
    assert_eq!(gto[3], Err(Gap::NoResult));
    let note = |row: usize| gto[row].as_ref().unwrap().note();
    assert!(close(&gto[0], 8.4) && note(0).as_deref() == Some("1 of 2"), "{gto:?}");
    assert!(close(&gto[1], 1.05) && note(1).is_none() && note(4).is_none());
    assert!(note(2).as_deref() == Some("2 of 3"));
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
    assert_eq!((gto[3].clone(), gto[4].clone()), (Err("refused"), Err("failed")));
    assert_eq!(gto[0], Err("-"), "a mean over nothing");
    assert_eq!(gto[2].as_ref().unwrap().over, Some(Over { rows: 1, of: 3, lacking: 1 }));
    assert_eq!(table.missing(), 3, "the failure, and the two means it is part of");
    let lines: Vec<_> = values.troubles(&experiment).into_iter().map(|t| (t.is_refusal, t.line)).collect();
    assert_eq!(lines.len(), 4, "repetitions count once: {lines:?}");
    assert_eq!(lines[0], (true, "i gto, s 2, bfs: it is too large".to_owned()));
    assert_eq!(lines[3], (false, "i gto, s 4, spmv: it is too large".to_owned()));
}

const STACKED: &str = "title = 'T'\nworkloads = ['bfs', 'walsh']\nsize = 'tiny'\n\
    [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
    [[figure]]\nname = 'a'\ntitle = 'A'\nbars = 'i'\nrows = 'kernels'\nagainst = 'ratio'\n\
    stack = ['issued = sm.issued_1_4 + sm.issued_29_32', 'sm.stall_not_fetched']\n\
    paper = [{ row = 'walsh/batch1', bar = 'gto', part = 'issued', value = 0.5 }]\n\
    [[figure]]\nname = 'b'\ntitle = 'B'\nbars = 'i'\nagainst = 'share'\nstack = ['sm.issued_1_4', 'sm.stall_not_fetched']\n";

#[test]
fn stacks_and_kernels() {
    let name = raddle_workloads::find("walsh").unwrap().module().unwrap();
    let kernel = name.module.kernels().next().unwrap().1.name.clone();
    let experiment = Experiment::parse("t", &STACKED.replace("batch1", &kernel)).unwrap();
    let grid = Grid::new(&experiment).unwrap();
    let mut results = InMemory::default();
    grid.each(|choices, program, _, point| {
        let counts = |kernel: &str, issued: u64, stall: u64| {
            let counters = [("sm.issued_1_4", issued), ("sm.issued_29_32", issued), ("sm.stall_not_fetched", stall)];
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
    assert_eq!(names, [&means[..], &["bfs/one", "bfs/two", &third]].concat());
    assert_eq!(table.parts, ["issued", "sm.stall_not_fetched"]);
    let gto = |row: usize| table.rows[row].cells[1].clone().unwrap();
    let parts = |cell: &Cell| cell.parts.iter().map(|part| part.value).collect::<Vec<_>>();
    assert_eq!(parts(&gto(3)), [0.2, 0.4], "of 100 slots of the baseline");
    assert!((gto(3).value - 0.6).abs() < 1e-12);
    assert_eq!(parts(&gto(4)), [60.0 / 140.0, 40.0 / 140.0]);
    assert_eq!((gto(5).parts[0].paper, gto(5).parts[1].paper, gto(5).paper), (Some(0.5), None, None));
    let mean = gto(0);
    assert_eq!(mean.parts[0].value, (0.2 + 60.0 / 140.0) / 2.0, "means of parts are arithmetic");
    assert!((parts(&mean).iter().sum::<f64>() - mean.value).abs() < 1e-12);

    let shares = values.table(&experiment, &experiment.figures[1]);
    let cell = shares.rows[3].cells[0].clone().unwrap();
    assert_eq!((parts(&cell), cell.value), (vec![0.2, 0.8], 1.0), "of both kernels: 40 and 160");
    assert_eq!((shares.neutral, shares.baseline), (None, None));
}
