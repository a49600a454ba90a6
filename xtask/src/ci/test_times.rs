//! What tests cost: their number and seconds by test binary, and the slowest of them.

use std::collections::BTreeMap;

use crate::Result;

/// How many tests there may be. Cases of one function belong into one test with a table.
const MOST_TESTS: usize = 3200;
/// How many of the slowest tests are shown.
const SHOWN: usize = 12;

/// What the lines of the test runner have said.
#[derive(Default)]
pub struct TestTimes {
    /// Number and seconds, by test binary.
    binaries: BTreeMap<String, (usize, f64)>,
    /// Seconds and names.
    tests: Vec<(f64, String)>,
}

impl TestTimes {
    /// Reads a line such as `PASS [   0.016s] (  1/2736) raddle-ptx isa::tests::name`.
    pub fn read(&mut self, line: &str) {
        let line = without_colours(line);
        let Some(rest) = ["PASS [", "FAIL ["].iter().find_map(|word| line.trim_start().strip_prefix(word)) else {
            return;
        };
        let Some((seconds, rest)) = rest.split_once("s]") else { return };
        let Ok(seconds) = seconds.trim().parse::<f64>() else { return };
        let name = rest.split_once(')').map_or(rest, |(_, name)| name).trim();
        let binary = name.split(' ').next().unwrap_or_default();
        let (count, sum) = self.binaries.entry(binary.to_owned()).or_default();
        *count += 1;
        *sum += seconds;
        self.tests.push((seconds, name.to_owned()));
    }

    /// The tests of each binary, and the slowest of all.
    pub fn table(&self) -> String {
        let mut table = format!("{:>6}{:>9}  test binary\n", "tests", "seconds");
        let mut rows: Vec<_> = self.binaries.iter().collect();
        rows.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
        for (name, (count, seconds)) in rows {
            table += &format!("{count:>6}{seconds:>9.1}  {name}\n");
        }
        let sum: f64 = self.tests.iter().map(|(seconds, _)| seconds).sum();
        table += &format!("{:>6}{sum:>9.1}  all\n\n{:>15}  slowest tests\n", self.tests.len(), "seconds");
        let mut slowest: Vec<_> = self.tests.iter().collect();
        slowest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (seconds, name) in slowest.into_iter().take(SHOWN) {
            table += &format!("{seconds:>15.1}  {name}\n");
        }
        table
    }

    /// Fails when there are more tests than the budget has.
    pub fn in_budget(&self) -> Result {
        match self.tests.len() {
            0..=MOST_TESTS => Ok(()),
            many => Err(format!("there are {many} tests, more than {MOST_TESTS}: put cases into tables").into()),
        }
    }
}

/// A line without the escape codes that colour it.
fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_runner_are_added_up() {
        let mut times = TestTimes::default();
        for line in [
            "        PASS [   0.250s] (   1/2736) raddle-ptx isa::tests::first",
            "\u{1b}[32;1m        PASS\u{1b}[0m [   1.500s] (   2/2736) \u{1b}[35;1mraddle-ptx\u{1b}[0m isa::second",
            "        FAIL [   4.000s] (   3/2736) raddle-cli::cli lab::third",
            "        SLOW [> 60.000s] (─────────) raddle-cli::cli lab::third",
            "     Summary [   5.000s] 3 tests run: 2 passed, 1 failed, 0 skipped",
        ] {
            times.read(line);
        }
        let expected = " tests  seconds  test binary
     1      4.0  raddle-cli::cli
     2      1.8  raddle-ptx
     3      5.8  all

        seconds  slowest tests
            4.0  raddle-cli::cli lab::third
            1.5  raddle-ptx isa::second
            0.2  raddle-ptx isa::tests::first
";
        assert_eq!(times.table(), expected);
        assert!(times.in_budget().is_ok());
    }

    #[test]
    fn too_many_tests_are_over_budget() {
        let mut times = TestTimes::default();
        for _ in 0..=MOST_TESTS {
            times.read("PASS [ 0.001s] raddle-ptx one");
        }
        assert!(times.in_budget().unwrap_err().to_string().contains("put cases into tables"));
    }
}
