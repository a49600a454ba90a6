//! Whether a value of ours agrees with the one a paper prints.
//!
//! | what the value is | agrees | partly |
//! | --- | --- | --- |
//! | set against a baseline | the gain within 2 points, or within a quarter of the paper's gain | a gain of the same sign, at least half of the paper's |
//! | a share, from 0 to 1 | within 2 points, or within a quarter of the paper's value | from half of the paper's value to twice it |
//! | a whole number | within 1, or within a quarter of the paper's value | from half of the paper's value to twice it |
//! | any other amount | within a quarter of the paper's value | from half of the paper's value to twice it |
//!
//! The gain is the value less that of no effect: 1 for ratios and speedups, 0 for differences. So 1.05 beside a paper's
//! 1.22 is a quarter of the effect and does not agree, although the numbers are close. What is neither does not agree.

use std::fmt;

/// Two points: a gain or a share of 0.02.
const POINTS: f64 = 0.02;

/// What arithmetic may add to a difference.
const NOISE: f64 = 1e-9;

/// How a value of ours stands beside a paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It agrees.
    Agrees,
    /// The direction is the paper's, the size is not.
    Partly,
    /// It does not agree.
    DoesNot,
}

impl Class {
    /// All, the best first.
    pub const ALL: [Self; 3] = [Self::Agrees, Self::Partly, Self::DoesNot];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Partly => "partly",
            Self::DoesNot => "does not",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How values of a figure are compared with a paper's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rule {
    /// By what is gained over this value of no effect.
    Gain(f64),
    /// As shares, from 0 to 1.
    Share,
    /// As whole numbers.
    Count,
    /// As amounts of any unit.
    #[default]
    Amount,
}

/// The rules, as pages state them.
pub const RULES: &str = "\
A value relative to a baseline is compared by its gain: the value minus 1. It *agrees* when the gain is within 2 points or within a quarter \
of the paper's gain. It agrees *partly* when it has the same sign and is at least half of the paper's gain. Otherwise it *does not* agree. \
A share agrees within 2 points or a quarter of the paper's value, a whole number within 1 or a quarter, and any other amount within a \
quarter. Each of these agrees partly from half of the paper's value to twice that value.";

impl Rule {
    /// How our value stands beside the paper's. Gains and shares count as they are printed, so that a page says what its digits do.
    #[must_use]
    pub fn class(self, ours: f64, paper: f64) -> Class {
        let ours = match self {
            Self::Gain(_) | Self::Share => (ours * 1000.0).round() / 1000.0,
            Self::Count | Self::Amount => ours,
        };
        let (ours, paper, near) = match self {
            Self::Gain(neutral) => (ours - neutral, paper - neutral, POINTS),
            Self::Share => (ours, paper, POINTS),
            Self::Count => (ours, paper, 1.0),
            Self::Amount => (ours, paper, 0.0),
        };
        let is_within = |most: f64| (ours - paper).abs() <= most + NOISE;
        let share = ours / paper;
        let most = if matches!(self, Self::Gain(_)) { f64::INFINITY } else { 2.0 + NOISE };
        if is_within(near) || is_within(paper.abs() / 4.0) {
            Class::Agrees
        } else if (0.5 - NOISE..=most).contains(&share) && paper.abs() > NOISE {
            Class::Partly
        } else {
            Class::DoesNot
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Class::{Agrees, DoesNot, Partly};
    use super::*;

    #[test]
    fn gains_are_compared_and_not_values() {
        let class = |ours, paper| Rule::Gain(1.0).class(ours, paper);
        assert_eq!([class(1.20, 1.22), class(1.17, 1.22), class(1.275, 1.22)], [Agrees; 3], "2 points, or a quarter");
        assert_eq!([class(1.16, 1.22), class(1.11, 1.22), class(1.9, 1.22)], [Partly; 3], "half of it, or more");
        assert_eq!([class(1.10, 1.22), class(1.05, 1.22), class(0.86, 1.22)], [DoesNot; 3]);
        assert_eq!([class(0.75, 0.8), class(0.88, 0.8), class(0.95, 0.8)], [Agrees, Partly, DoesNot], "losses too");
        assert_eq!([class(1.02, 1.0), class(0.97, 1.0), class(1.5, 1.0)], [Agrees, DoesNot, DoesNot], "no gain at all");
        assert_eq!([class(0.99, 1.01), class(0.985, 1.01)], [Agrees, DoesNot], "another sign");
        assert_eq!(Rule::Gain(0.0).class(0.05, 0.06), Agrees, "differences");
        assert_eq!([class(1.0204, 1.0), class(1.0206, 1.0)], [Agrees, DoesNot], "as printed");
    }

    #[test]
    fn shares_counts_and_amounts_are_compared_themselves() {
        let class = |rule: Rule, ours: f64, paper: f64| rule.class(ours, paper);
        assert_eq!(
            [0.31, 0.23, 0.16, 0.14, 0.61].map(|o| class(Rule::Share, o, 0.3)),
            [Agrees, Agrees, Partly, DoesNot, DoesNot]
        );
        assert_eq!(class(Rule::Share, 0.015, 0.0), Agrees);
        assert_eq!(
            [2.0, 4.0, 5.0, 6.0, 7.0].map(|o| class(Rule::Count, o, 3.0)),
            [Agrees, Agrees, Partly, Partly, DoesNot]
        );
        assert_eq!([30.0, 20.0, 14.0, 90.0].map(|o| class(Rule::Count, o, 38.0)), [Agrees, Partly, DoesNot, DoesNot]);
        assert_eq!([2.4, 1.4, 0.9].map(|o| class(Rule::Amount, o, 2.0)), [Agrees, Partly, DoesNot]);
        assert_eq!(class(Rule::Amount, 0.1, 0.0), DoesNot);
    }

    #[test]
    fn classes_have_names() {
        assert_eq!(Class::ALL.map(|class| class.to_string()), ["agrees", "partly", "does not"]);
    }
}
