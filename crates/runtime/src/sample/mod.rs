//! Sampling: part of a run is simulated in time, the rest is executed, and the cycles of the whole are an estimate.
//!
//! * [`blocks`](mod@blocks): of a grid, units of blocks spread over it are simulated.
//! * [`launches`](mod@launches): of many launches, some of each kernel are simulated.
//! * [`estimate`]: what both make of the part, and how sure that is.
//!
//! What is executed leaves memory as it should be and its lines in the L2. The book's page on sampling says how the
//! estimates are made and how far off they were.

pub mod blocks;
pub mod estimate;
pub mod launches;
mod total;

pub use estimate::Estimate;
pub use launches::{Choice, Profiled};
pub use total::{Estimates, Total};

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// This share of every grid, from above 0 to 1.
    Blocks(f64),
    /// So many launches of each kernel and block size.
    Launches(usize),
}

/// Launches of a group that are simulated at least: fewer say nothing of their spread.
pub const LEAST_LAUNCHES: usize = 3;

const HELP: &str = "write blocks=5% for a part of every grid, or launches=5 for some launches of every kernel";

impl FromStr for Sample {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some(("blocks", share)) => {
                let number = share.strip_suffix('%').and_then(|share| share.trim().parse::<f64>().ok());
                let wrong = || format!("`{share}` is not a share of blocks; write a percentage, as blocks=5%");
                let share = number.ok_or_else(wrong)?;
                let is_one = share > 0.0 && share <= 100.0;
                is_one
                    .then_some(Self::Blocks(share / 100.0))
                    .ok_or("a share of blocks is above 0 % and at most 100 %".into())
            }
            Some(("launches", count)) => {
                let wrong = || format!("`{count}` is not a number of launches; write launches=5");
                let count = count.parse::<usize>().map_err(|_| wrong())?;
                let least = format!(
                    "the spread of fewer than {LEAST_LAUNCHES} launches is not known; write launches={LEAST_LAUNCHES} or more"
                );
                (count >= LEAST_LAUNCHES).then_some(Self::Launches(count)).ok_or(least)
            }
            _ => Err(format!("`{text}` is not a way to sample; {HELP}")),
        }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(share) => write!(f, "blocks={}%", (share * 1e6).round() / 1e4),
            Self::Launches(count) => write!(f, "launches={count}"),
        }
    }
}

/// How the timing model samples.
#[derive(Clone, Debug)]
pub enum Sampling {
    /// A share of the blocks of every grid.
    Blocks(f64),
    /// The launches that were chosen.
    Launches(Arc<Choice>),
}

/// How a launch of a sampled run was made.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchSample {
    /// All of it was simulated.
    Whole {
        /// Its work, in what the others of its kernel are compared by.
        work: u64,
        /// Why, when a part was asked for.
        why: Option<String>,
    },
    /// Part of its blocks were simulated.
    Part(blocks::PartEstimate),
    /// It was executed without time.
    Executed {
        /// Its work.
        work: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_asked_for() {
        assert_eq!("blocks=5%".parse(), Ok(Sample::Blocks(0.05)));
        assert_eq!("blocks=0.5%".parse::<Sample>().map(|s| s.to_string()), Ok("blocks=0.5%".to_owned()));
        assert_eq!("launches=3".parse(), Ok(Sample::Launches(3)));
        assert_eq!(Sample::Launches(7).to_string(), "launches=7");
        let wrong = |text: &str| text.parse::<Sample>().unwrap_err();
        assert_eq!(wrong("blocks=5"), "`5` is not a share of blocks; write a percentage, as blocks=5%");
        assert_eq!(wrong("blocks=0%"), "a share of blocks is above 0 % and at most 100 %");
        assert_eq!(wrong("blocks=101%"), "a share of blocks is above 0 % and at most 100 %");
        assert_eq!(wrong("blocks=NaN%"), "a share of blocks is above 0 % and at most 100 %");
        assert_eq!(wrong("launches=x"), "`x` is not a number of launches; write launches=5");
        assert!(wrong("launches=2").ends_with("write launches=3 or more"));
        assert!(wrong("5%").starts_with("`5%` is not a way to sample; write blocks=5%"));
    }
}
