//! Findings made small.

use super::{Finding, Target, check, kind};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Takes lines away from the input of a finding as long as the same is wrong with it: neighbours first, then all that
/// have a word in common, such as a branch and its label, or a parameter and what is passed for it.
#[must_use]
pub fn reduce(target: &dyn Target, finding: &Finding, time: Duration) -> Finding {
    let Ok(text) = String::from_utf8(finding.input.clone()) else { return finding.clone() };
    let lines = text.lines().map(str::to_owned).collect();
    let mut reduction = Reduction { target, best: finding.clone(), lines, end: Instant::now() + time };
    reduction.launches();
    loop {
        let before = reduction.lines.len();
        reduction.neighbours();
        reduction.words();
        if reduction.lines.len() == before || reduction.is_over() {
            return reduction.best;
        }
    }
}

struct Reduction<'t> {
    target: &'t dyn Target,
    best: Finding,
    lines: Vec<String>,
    end: Instant,
}

impl Reduction<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Does without the other lines if the same is wrong with these.
    fn keep(&mut self, rest: Vec<String>) {
        let input = (rest.join("\n") + "\n").into_bytes();
        if let Err(what) = check(self.target, self.best.seed, &input)
            && kind(&what) == self.best.kind()
        {
            self.best = Finding { seed: self.best.seed, what, input };
            self.lines = rest;
        }
    }

    /// Of a kernel file with several launches, one is enough.
    fn launches(&mut self) {
        let is_launch = |line: &String| line.starts_with("// run:");
        let starts: Vec<usize> = (0..self.lines.len()).filter(|n| is_launch(&self.lines[*n])).collect();
        for start in starts.into_iter().rev() {
            let others = self.lines[start + 1..].iter().position(|line| is_launch(line) || !line.starts_with("//"));
            let end = others.map_or(self.lines.len(), |n| start + 1 + n);
            self.keep([&self.lines[..start], &self.lines[end..]].concat());
        }
    }

    fn neighbours(&mut self) {
        let mut step = (self.lines.len() / 4).max(1);
        loop {
            let before = self.lines.len();
            let mut at = before;
            while at > 0 && !self.is_over() {
                let from = at.saturating_sub(step);
                self.keep([&self.lines[..from], &self.lines[at..]].concat());
                at = from;
            }
            if step == 1 && self.lines.len() == before || self.is_over() {
                return;
            }
            step = (step / 2).max(1);
        }
    }

    fn words(&mut self) {
        let all: BTreeSet<String> = self.lines.iter().flat_map(|line| words(line)).map(str::to_owned).collect();
        for word in all {
            if self.is_over() {
                return;
            }
            let rest: Vec<String> =
                self.lines.iter().filter(|line| words(line).all(|other| other != word)).cloned().collect();
            if (1..self.lines.len()).contains(&rest.len()) {
                self.keep(rest);
            }
        }
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || "%_$".contains(c))).filter(|word| !word.is_empty())
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
            let labels = ["bra L;", "L:"].map(|word| text.lines().filter(|line| *line == word).count());
            let at = text.lines().position(|line| line == "bad").filter(|_| labels[0] == labels[1]);
            at.map_or(Ok(Done::default()), |at| Err(format!("line {at} is bad")))
        }
    }

    #[test]
    fn lines_that_need_each_other_go_together() {
        let input = b"bra L;\na\nbad\nb\nL:\n".to_vec();
        let finding = Finding { seed: 0, what: "line 2 is bad".to_owned(), input };
        assert_eq!(reduce(&Lines, &finding, Duration::from_secs(10)).input, b"bad\n");
    }

    #[test]
    fn what_does_not_matter_goes() {
        let input = b"a\nb\nc\nbad\nd\ne\n".to_vec();
        let finding = Finding { seed: 0, what: "line 3 is bad".to_owned(), input };
        assert_eq!(reduce(&Lines, &finding, Duration::from_secs(10)).input, b"bad\n");
    }
}
