//! Some of an experiment's figures, and the runs that they take.

use super::{Against, Experiment, Figure, Rows};
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_workloads::Size;
use std::collections::BTreeSet;

/// Figures that the book shows at a larger size than the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// The size of their inputs.
    pub size: Size,
    /// Their numbers.
    pub figures: Vec<usize>,
}

impl Experiment {
    /// The number of the figure of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn figure_named(&self, name: &str) -> Result<usize, Problem> {
        self.figures.iter().position(|figure| figure.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.figures.iter().map(|figure| figure.name.as_str()).collect();
            let help = match closest(name, names.iter().copied()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("the figures are {}", names.join(", ")),
            };
            Problem::new(format!("there is no figure `{name}`")).help(help)
        })
    }

    /// Leaves out all figures but these, and every run that none of them shows.
    ///
    /// # Errors
    /// When there is no figure of a name.
    pub fn keep_figures<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<(), Problem> {
        let kept = names.into_iter().map(|name| self.figure_named(name)).collect::<Result<BTreeSet<usize>, _>>()?;
        let place = |number: usize| kept.iter().position(|kept| *kept == number);
        self.headline = self.headline.take().and_then(|mut headline| {
            headline.figure = place(headline.figure)?;
            headline.opening = place(headline.opening).unwrap_or(headline.figure);
            Some(headline)
        });
        self.large = None;
        self.timelines.clear();
        self.figures = kept.iter().map(|number| self.figures[*number].clone()).collect();
        self.only_shown = true;
        Ok(())
    }

    /// The options of `raddle lab run` and `raddle reproduce` that choose the size, and the figures where others were
    /// left out.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let figures = self.figures.iter().filter(|_| self.only_shown);
        let figures = figures.flat_map(|figure| ["--figure".to_owned(), figure.name.clone()]);
        ["--size".to_owned(), self.size.to_string()].into_iter().chain(figures).collect()
    }

    /// Choices and workloads by number that figures show, or set something against.
    #[must_use]
    pub fn shown(&self) -> BTreeSet<(Vec<usize>, usize)> {
        let mut shown = BTreeSet::new();
        for figure in &self.figures {
            let rows = match figure.rows {
                Rows::Axis(axis) => (0..self.axes[axis].variants.len()).map(|row| Some((axis, row))).collect(),
                Rows::Workloads | Rows::Kernels => vec![None],
            };
            for (row, bar) in rows.iter().flat_map(|row| figure.choices.iter().map(move |bar| (row, bar))) {
                let mut choices = figure.fixed.clone();
                row.iter().for_each(|(axis, choice)| choices[*axis] = *choice);
                choices[figure.bars] = *bar;
                let all = figure.taken(&choices);
                let workloads = self.workloads.iter().enumerate().filter(|(_, name)| figure.shows(name));
                let of = |n: usize| all.iter().map(move |choices| (choices.clone(), n)).collect::<Vec<_>>();
                shown.extend(workloads.flat_map(|(n, _)| of(n)));
            }
        }
        shown
    }
}

impl Figure {
    /// The choices whose runs a value at these choices takes: its own, its baseline, and both by our other reading.
    #[must_use]
    pub fn taken(&self, choices: &[usize]) -> Vec<Vec<usize>> {
        let mut all = with_baseline(self, choices.to_vec());
        if let Some(other) = self.by_other_reading() {
            all.extend(with_baseline(&other, other.read_as(choices)));
        }
        all
    }
}

/// Choices, and those that a figure sets them against.
fn with_baseline(figure: &Figure, choices: Vec<usize>) -> Vec<Vec<usize>> {
    match figure.against {
        Against::Nothing | Against::Share => vec![choices],
        Against::Ratio | Against::Speedup | Against::Difference => vec![figure.baseline_of(&choices), choices],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    const TEXT: &str = "title = 'T'\nworkloads = ['bfs', 'spmv']\nsize = 'tiny'\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto', 'pro']\n\
        [[figure]]\nname = 'a'\ntitle = 'A'\nmetric = 'cycles'\nbars = 'i'\nchoices = ['pro']\n\
        [[figure]]\nname = 'b'\ntitle = 'B'\nmetric = 'cycles'\nbars = 'i'\nagainst = 'speedup'\nchoices = ['gto']\n\
        [headline]\ndoes = 'D'\nfigure = 'b'\nopening = 'a'\nbar = 'gto'\nrows = ['mean']\n\
        [large]\nsize = 'small'\nfigures = ['b']\n";

    #[test]
    fn what_is_kept_runs_what_it_shows_and_its_baseline() {
        let mut experiment = Experiment::parse("t", TEXT).unwrap();
        assert_eq!(experiment.large, Some(Large { size: Size::Small, figures: vec![1] }));
        assert_eq!(Grid::new(&experiment).unwrap().points.len(), 6);
        let mut first = experiment.clone();
        first.keep_figures(["a"]).unwrap();
        assert_eq!((Grid::new(&first).unwrap().points.len(), &first.headline), (2, &None));
        assert_eq!(
            (experiment.options().join(" "), first.options().join(" ")),
            ("--size tiny".into(), "--size tiny --figure a".into())
        );
        experiment.keep_figures(["b", "b"]).unwrap();
        assert_eq!(Grid::new(&experiment).unwrap().points.len(), 4, "gto, and lrr as the baseline");
        let headline = experiment.headline.unwrap();
        assert_eq!((headline.figure, headline.opening), (0, 0));
        let names: Vec<&str> = experiment.figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!((names, experiment.large), (vec!["b"], None));
    }

    #[test]
    fn a_figure_that_is_not_there_has_a_close_one() {
        let mut experiment = Experiment::parse("t", TEXT).unwrap();
        let wrong = experiment.keep_figures(["c"]).unwrap_err();
        assert!(wrong.to_string().contains("there is no figure `c`"), "{wrong}");
        let wrong = Experiment::parse("t", &TEXT.replace("figures = ['b']", "figures = ['bb']")).unwrap_err();
        assert!(wrong.at.is_some() && wrong.to_string().contains("`bb`"), "{wrong}");
    }
}
