//! Writes a page that compares the timing model with the reference simulator to standard output: `accuracy [v100]`.
#![allow(clippy::print_stdout, reason = "its output is the page")]

use raddle_testkit::accuracy::{Measured, Row, held, measure, page, textures, v100_page};
use raddle_testkit::timing::{self, Point};

fn main() {
    let measured = |points: Vec<Point>| points.iter().map(measure).collect::<Vec<Row>>();
    if std::env::args().nth(1).is_some_and(|word| word == "v100") {
        let (kernels, small) = timing::v100_kernels().into_iter().partition(|point| !point.case.name.contains(' '));
        print!("{}", v100_page(&measured(kernels), &measured(small), &measured(timing::v100_micros())));
        return;
    }
    let held = held();
    let (counted, apart): (Vec<_>, Vec<_>) = held.iter().partition(|run| run.counts());
    let runs = |runs: &[&raddle_testkit::accuracy::Held]| runs.iter().map(|run| run.measure()).collect::<Vec<Row>>();
    let textures = textures();
    let (blocks, rows): (Vec<_>, Vec<_>) = textures.iter().partition(|run| run.kernel.starts_with("tex_2d"));
    let all = Measured {
        held: runs(&counted),
        apart: runs(&apart),
        several: counted.iter().filter(|run| run.launches() > 1).map(|run| run.kernel.clone()).collect(),
        rows_of_texels: runs(&rows),
        blocks_of_texels: runs(&blocks),
        kernels: measured(timing::kernels()),
        small: measured(timing::small()),
        micro: measured(timing::micros()),
    };
    print!("{}", page(&all));
}
