//! Writes the page that compares the timing model with the reference simulator to standard output: `accuracy`.
#![allow(clippy::print_stdout, reason = "its output is the page")]

use raddle_testkit::accuracy::{Row, measure, page};
use raddle_testkit::timing::{self, Point};

fn main() {
    let measured = |points: Vec<Point>| points.iter().map(measure).collect::<Vec<Row>>();
    print!("{}", page(&measured(timing::kernels()), &measured(timing::small()), &measured(timing::micros())));
}
