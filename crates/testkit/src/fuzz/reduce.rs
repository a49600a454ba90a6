//! Findings made small.

use super::{Finding, Target, check, kind};
use std::time::{Duration, Instant};

/// Takes lines away from the input of a finding as long as the same is wrong with it.
#[must_use]
pub fn reduce(target: &dyn Target, finding: &Finding, time: Duration) -> Finding {
    let end = Instant::now() + time;
    let mut best = finding.clone();
    let wanted = finding.kind();
    let Ok(text) = String::from_utf8(finding.input.clone()) else { return best };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut step = (lines.len() / 4).max(1);
    loop {
        let before = lines.len();
        let mut at = lines.len();
        while at > 0 && Instant::now() < end {
            let from = at.saturating_sub(step);
            let rest: Vec<String> = [&lines[..from], &lines[at..]].concat();
            let input = (rest.join("\n") + "\n").into_bytes();
            if let Err(what) = check(target, finding.seed, &input)
                && kind(&what) == wanted
            {
                best = Finding { seed: finding.seed, what, input };
                lines = rest;
            }
            at = from;
        }
        if step == 1 && lines.len() == before || Instant::now() >= end {
            return best;
        }
        step = (step / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::Done;

    /// Finds a line that is `bad`.
    struct Lines;

    impl Target for Lines {
        fn name(&self) -> &'static str {
            "lines"
        }

        fn input(&self, _: u64) -> Option<Vec<u8>> {
            None
        }

        fn check(&self, _: u64, input: &[u8]) -> Result<Done, String> {
            let text = String::from_utf8_lossy(input);
            let at = text.lines().position(|line| line == "bad");
            at.map_or(Ok(Done::default()), |at| Err(format!("line {at} is bad")))
        }
    }

    #[test]
    fn what_does_not_matter_goes() {
        let input = b"a\nb\nc\nbad\nd\ne\n".to_vec();
        let finding = Finding { seed: 0, what: "line 3 is bad".to_owned(), input };
        assert_eq!(reduce(&Lines, &finding, Duration::from_secs(10)).input, b"bad\n");
    }
}
