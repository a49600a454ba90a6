//! The timing model against the reference simulator, and against the page of the book that says how close it is.

use raddle_testkit::accuracy::{
    Held, PAGE, Row, V100_PAGE, differences, goldens, held, mean_and_max, measure, textures,
};
use raddle_testkit::timing::{self, Point};
use std::path::Path;

/// Most the mean of the absolute errors of the six kernels may be, in percent.
const MEAN: f64 = 10.0;
/// Most one of them may be.
const EACH: f64 = 20.0;
/// Most a micro run may be.
const MICRO: f64 = 10.0;
/// Most the mean of runs the model was not calibrated with may be, and one of them.
const HELD: [f64; 2] = [2.0, 10.0];
/// Most the mean of runs that read textures may be.
const TEXTURES: f64 = 3.0;
/// Runs whose error is chance or the reference's own: see the README of the set.
const ODD: [(&str, &str); 3] = [("const_table", "lrr"), ("page-view-count", "gto"), ("page-view-count", "lrr")];
/// Of so many runs of that set, a test makes one.
const SAMPLE: usize = 5;

fn page() -> String {
    read(PAGE)
}

fn read(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What is wrong with runs: cycles that are not the page's, errors larger than `most`.
fn wrong(rows: &[Row], most: f64) -> String {
    wrong_on(PAGE, rows, most)
}

fn wrong_on(page: &str, rows: &[Row], most: f64) -> String {
    let goldens = goldens(&read(page));
    let mut wrong = String::new();
    for row in rows {
        let key = (row.name.clone(), row.scheduler.clone());
        let (cycles, golden) = (row.ours.cycles, goldens.get(&key));
        if golden != Some(&cycles) {
            wrong += &format!("{} {}: {cycles} cycles, {page} says {golden:?}\n", row.name, row.scheduler);
        }
        if row.error().abs() > most && !ODD.contains(&(&row.name, &row.scheduler)) {
            wrong += &format!("{} {}: {:.1} % off the reference\n", row.name, row.scheduler, row.error());
        }
    }
    wrong
}

/// Runs points; every cycle count must be the page's, and no error larger than `most`.
fn check(points: &[Point], most: f64) -> Vec<Row> {
    let rows: Vec<Row> = points.iter().map(measure).collect();
    let wrong = wrong(&rows, most);
    assert!(wrong.is_empty(), "{wrong}if this is meant, run `cargo xtask accuracy` and commit the page");
    rows
}

#[test]
fn small_sizes_take_the_cycles_of_the_page() {
    check(&timing::small(), EACH);
}

#[test]
fn micro_runs_take_the_cycles_of_the_page() {
    let rows = check(&timing::micros(), MICRO);
    assert!(rows.iter().all(Row::same_instructions), "instruction counts");
}

#[test]
fn runs_the_model_was_not_calibrated_with_take_the_cycles_of_the_page() {
    let rows: Vec<Row> = held().iter().step_by(SAMPLE).map(Held::measure).collect();
    let wrong = wrong(&rows, HELD[1]);
    assert!(wrong.is_empty(), "{wrong}if this is meant, run `cargo xtask accuracy` and commit the page");
}

/// Textures of one row; the reference lays others out in another way.
#[test]
fn runs_that_read_textures_take_the_cycles_of_the_page() {
    let rows: Vec<Row> = textures().iter().map(Held::measure).collect();
    let (blocks, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.name.starts_with("tex_2d"));
    let wrong = wrong(&rows, HELD[1]) + &wrong(&blocks, f64::INFINITY);
    assert!(wrong.is_empty(), "{wrong}if this is meant, run `cargo xtask accuracy` and commit the page");
    assert!(rows.iter().chain(&blocks).all(Row::same_instructions), "instruction counts");
    assert!(mean_and_max(&rows).0 <= TEXTURES, "mean {:.1} %", mean_and_max(&rows).0);
}

/// The page's own figures of all those runs keep the bounds.
#[test]
fn the_page_keeps_the_bounds_of_runs_the_model_was_not_calibrated_with() {
    let goldens = goldens(&page());
    let error = |run: &&Held| {
        let ours = goldens[&(run.kernel.clone(), run.scheduler.clone())] as f64;
        100.0 * (ours / run.cycles() as f64 - 1.0).abs()
    };
    let all = held();
    let each: Vec<f64> =
        all.iter().filter(|run| !ODD.contains(&(&run.kernel, &run.scheduler))).map(|run| error(&run)).collect();
    let counted: Vec<f64> = all.iter().filter(|run| run.counts()).map(|run| error(&run)).collect();
    assert_eq!((each.len(), counted.len()), (83, 66));
    assert!(each.iter().all(|error| *error <= HELD[1]), "{each:?}");
    assert!(counted.iter().sum::<f64>() / 66.0 <= HELD[0], "{counted:?}");
}

/// The page's own figures for the six kernels keep the bounds; that they are true is the next test.
#[test]
fn the_page_keeps_the_bounds() {
    let goldens = goldens(&page());
    let errors: Vec<f64> = timing::kernels()
        .iter()
        .map(|p| {
            let ours = goldens[&(p.case.name.clone(), p.scheduler.clone())] as f64;
            100.0 * (ours / p.cycles() as f64 - 1.0).abs()
        })
        .collect();
    assert_eq!(errors.len(), 12);
    assert!(errors.iter().sum::<f64>() / 12.0 <= MEAN && errors.iter().all(|e| *e <= EACH), "{errors:?}");
}

/// Most the mean of the kernels on the V100 may be, one of them, and the mean of the micro runs.
const V100: [f64; 3] = [8.0, 15.0, 5.0];

#[test]
fn small_runs_on_the_v100_take_the_cycles_of_the_page() {
    let small = timing::v100_kernels().into_iter().filter(|point| point.case.name.contains(' '));
    // Long ones take a minute.
    let micro = timing::v100_micros().into_iter().filter(|point| point.cycles() < 20_000);
    let rows: Vec<Row> = small.chain(micro).map(|point| measure(&point)).collect();
    let wrong = wrong_on(V100_PAGE, &rows, V100[1]);
    assert!(wrong.is_empty(), "{wrong}if this is meant, run `cargo xtask accuracy` and commit the page");
    assert!(rows.len() > 40, "{} runs", rows.len());
}

/// The page's own figures of the V100 keep the bounds, and the direction of the schedulers.
#[test]
fn the_page_of_the_v100_keeps_the_bounds() {
    let goldens = goldens(&read(V100_PAGE));
    let ours = |point: &Point| goldens[&(point.case.name.clone(), point.scheduler.clone())];
    let error = |point: &Point| 100.0 * (ours(point) as f64 / point.cycles() as f64 - 1.0).abs();
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
    let kernels = timing::v100_kernels();
    let errors: Vec<f64> = kernels.iter().map(error).collect();
    assert!(mean(&errors) <= V100[0] && errors.iter().all(|e| *e <= V100[1]), "{errors:?}");
    let micro: Vec<f64> = timing::v100_micros().iter().map(error).collect();
    assert!(mean(&micro) <= V100[2], "{micro:?}");
    let of = |name: &str, scheduler: &str| {
        let found = kernels.iter().find(|p| p.case.name == name && p.scheduler == scheduler).expect("a run");
        [ours(found) as f64, found.cycles() as f64]
    };
    for name in raddle_testkit::reference::KERNELS {
        let (gto, lrr) = (of(name, "gto"), of(name, "lrr"));
        let [ours, theirs] = [0, 1].map(|n| 100.0 * (lrr[n] / gto[n] - 1.0));
        assert!(theirs.abs() <= 3.0 || (ours > 0.0) == (theirs > 0.0), "{name}: {ours:.1} % and {theirs:.1} %");
    }
}

#[test]
#[ignore = "large; `cargo xtask long` runs the same kernels"]
fn full_sizes_take_the_cycles_of_the_page() {
    let rows = check(&timing::kernels(), EACH);
    assert!(mean_and_max(&rows).0 <= MEAN, "mean {:.1} %", mean_and_max(&rows).0);
    assert!(rows.iter().all(Row::same_instructions), "instruction counts");
    let opposite: Vec<_> = differences(&rows).into_iter().filter(|d| d.is_relevant() && !d.agrees()).collect();
    assert!(opposite.is_empty(), "{opposite:?}");
}
