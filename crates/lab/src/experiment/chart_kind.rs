//! How figures are drawn: the kind of chart, and what lines at values show.

use raddle_runtime::sample::estimate::student;
use serde::Deserialize;

/// A kind of chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Groups of bars.
    #[default]
    Bars,
    /// Bars of parts on top of each other.
    Stacked,
    /// A line for each choice, over the choices on another axis.
    Line,
    /// A point for each workload or kernel, over another metric.
    Scatter,
    /// For each mean, the quartiles of the rows it is over.
    Box,
}

/// What the lines at values show of repeated runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorBars {
    /// From the least to the most.
    #[default]
    MinMax,
    /// A standard error of the mean to both sides.
    StandardError,
    /// The interval that has the true mean 95 times out of 100, by Student's distribution.
    #[serde(rename = "interval-95")]
    Interval95,
}

impl ErrorBars {
    /// What they are, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MinMax => "least and most",
            Self::StandardError => "standard error",
            Self::Interval95 => "95 % interval",
        }
    }

    /// Where they end; none of one value, and none where the range of values says it.
    #[must_use]
    pub fn ends(self, values: &[f64]) -> Option<[f64; 2]> {
        let n = values.len() as f64;
        if self == Self::MinMax || values.len() < 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        let half = if self == Self::Interval95 { student(n - 1.0) * error } else { error };
        Some([mean - half, mean + half])
    }
}

/// The first quartile, the median and the third quartile, between neighbours where they fall between values.
#[must_use]
pub fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|share| {
        let at = share * last as f64;
        let (low, part) = (at.floor() as usize, at.fract());
        sorted[low] + part * (sorted[(low + 1).min(last)] - sorted[low])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bars_are_what_they_say() {
        let values = [1.0, 2.0, 3.0];
        let half = |error: ErrorBars| error.ends(&values).map(|[low, high]| (high - low) / 2.0);
        assert_eq!(half(ErrorBars::MinMax), None);
        let error = (1.0f64 / 3.0).sqrt();
        assert!((half(ErrorBars::StandardError).unwrap() - error).abs() < 1e-12);
        assert!((half(ErrorBars::Interval95).unwrap() - 4.303 * error).abs() < 1e-9);
        assert_eq!(ErrorBars::Interval95.ends(&[1.0]), None);
    }

    #[test]
    fn quartiles_are_between_neighbours() {
        assert_eq!(quartiles(&[4.0, 1.0, 3.0, 2.0]), Some([1.75, 2.5, 3.25]));
        assert_eq!(quartiles(&[7.0]), Some([7.0; 3]));
        assert_eq!(quartiles(&[]), None);
    }
}
