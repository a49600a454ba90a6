//! Estimates and how sure they are.

/// The share of intervals that should hold the true value.
pub const CONFIDENCE: f64 = 0.95;

/// A number of cycles that was not all measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Cycles.
    pub cycles: f64,
    /// How far the true value may be from it on either side for the spread of what was measured, with [`CONFIDENCE`].
    pub spread: f64,
    /// How far it may be for the state of the machine, which errs the same way every time.
    pub state: f64,
}

/// What was not simulated is never taken to be known better than to this share: caches, queues and rows of DRAM are not
/// exactly as they would have been, which no spread shows. On the workloads it moved estimates by up to about this much.
const STATE: f64 = 0.02;

impl Estimate {
    /// What was measured.
    #[must_use]
    pub fn exact(cycles: u64) -> Self {
        Self { cycles: cycles as f64, ..Self::default() }
    }

    /// An estimate of which some cycles were not measured.
    #[must_use]
    pub fn new(cycles: f64, spread: f64, not_measured: f64) -> Self {
        Self { cycles, spread, state: STATE * not_measured.max(0.0) }
    }

    /// The sum of estimates whose spreads know nothing of each other.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        let (mut sum, mut squares) = (Self::default(), 0.0);
        for part in parts {
            sum.cycles += part.cycles;
            sum.state += part.state;
            squares += part.spread * part.spread;
        }
        Self { spread: squares.sqrt(), ..sum }
    }

    /// How far the true value may be from it on either side, with [`CONFIDENCE`]; zero for what was measured.
    #[must_use]
    pub fn half(&self) -> f64 {
        self.spread.hypot(self.state)
    }

    /// The interval, in whole cycles.
    #[must_use]
    pub fn interval(&self) -> [u64; 2] {
        [(self.cycles - self.half()).max(0.0).floor() as u64, (self.cycles + self.half()).ceil() as u64]
    }

    /// Half the interval as a share of the estimate.
    #[must_use]
    pub fn relative(&self) -> f64 {
        self.half() / self.cycles.max(1.0)
    }

    /// Whether a value is inside the interval.
    #[must_use]
    pub fn holds(&self, cycles: u64) -> bool {
        let [low, high] = self.interval();
        (low..=high).contains(&cycles)
    }
}

/// 97.5 % quantiles of Student's distribution, for 1, 2, 3 ... degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// How many standard errors an interval of [`CONFIDENCE`] reaches, when the spread was estimated with so many degrees of
/// freedom, at least one.
#[must_use]
pub fn student(freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    let (whole, part) = (freedom.floor() as usize, freedom.fract());
    match STUDENT.get(whole - 1..=whole) {
        Some([low, high]) => low + part * (high - low),
        _ => 1.960 + 2.46 / freedom,
    }
}

/// The variance of one of a row of measurements, from the differences of neighbours, and its degrees of freedom. A slow
/// drift along the row, which neighbours share, does not count.
///
/// The mean of half the squared differences estimates the variance; for `n` independent values it is as good as
/// `2(n-1)^2/(3n-4)` degrees of freedom (von Neumann and others, 1941).
#[must_use]
pub fn spread(row: &[f64]) -> Option<(f64, f64)> {
    let n = row.len() as f64;
    let squares: f64 = row.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    (row.len() >= 2).then(|| (squares / (2.0 * (n - 1.0)), 2.0 * (n - 1.0).powi(2) / (3.0 * n - 4.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_what_is_independent() {
        let sum = Estimate::sum([Estimate::new(100.0, 3.0, 0.0), Estimate::new(50.0, 4.0, 0.0), Estimate::exact(10)]);
        assert_eq!((sum.cycles, sum.half()), (160.0, 5.0));
        assert_eq!(sum.interval(), [155, 165]);
        assert!(sum.holds(155) && sum.holds(165) && !sum.holds(166));
        assert_eq!(Estimate::new(1.0, 2.0, 0.0).interval(), [0, 3]);
        // 2 % of 300 and of 300 err the same way: 12 in all, where independent ones would be 8.5.
        let sum = Estimate::sum([Estimate::new(400.0, 3.0, 300.0), Estimate::new(400.0, 4.0, 300.0)]);
        assert_eq!((sum.spread, sum.state, sum.half()), (5.0, 12.0, 13.0));
    }

    #[test]
    fn spread_of_neighbours() {
        // Differences 2, -2, 2: half the mean square is 2. Freedom 2 * 9 / 8.
        assert_eq!(spread(&[1.0, 3.0, 1.0, 3.0]), Some((2.0, 2.25)));
        // A drift counts a quarter of what it would against the mean, which is 1.25.
        assert_eq!(spread(&[1.0, 2.0, 3.0, 4.0]).map(|s| s.0), Some(0.5));
        assert_eq!(spread(&[7.0]), None);
    }

    #[test]
    fn quantiles() {
        assert_eq!([0.5, 1.0, 4.0].map(student), [12.706, 12.706, 2.776]);
        assert!((student(2.5) - (4.303 + 3.182) / 2.0).abs() < 1e-9);
        assert!((student(30.0) - 2.042).abs() < 0.001 && (student(40.0) - 2.021).abs() < 0.001);
        assert!((student(1e9) - 1.96).abs() < 0.001);
    }
}
