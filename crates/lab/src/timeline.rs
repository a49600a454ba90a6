//! Timelines: how the warps of a few blocks run and wait in one point of an experiment, as [`crate::phases`] draws it.
//!
//! The store keeps counts and no events, so a timeline is run again when a report is made. It is the same point, so it
//! is the same run.

use crate::drawing::Drawing;
use crate::experiment::Experiment;
use crate::grid::Grid;
use crate::phases;
use crate::point::Point;
use raddle_runtime::measure::{BlockRecord, Recorder};
use std::collections::BTreeMap;

/// Which blocks of a launch are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Those with these numbers in the grid.
    Numbers(Vec<u64>),
    /// The first that become resident on the SM that gets the first block.
    First(usize),
}

/// A timeline of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Name of its files.
    pub name: String,
    /// Title.
    pub title: String,
    /// Where the paper has the like.
    pub source: String,
    /// The workload.
    pub workload: &'static str,
    /// Its kernel, whose first launch is drawn.
    pub kernel: String,
    /// The choice on every axis.
    pub choices: Vec<usize>,
    /// Which blocks.
    pub blocks: Blocks,
}

impl Timeline {
    /// The point it shows; none where the experiment does not run it.
    #[must_use]
    pub fn point<'g>(&self, grid: &'g Grid) -> Option<&'g Point> {
        let program = grid.programs.iter().position(|program| program.name == self.workload)?;
        grid.point(&self.choices, program, 0)
    }

    /// Runs its point and draws it.
    ///
    /// # Errors
    /// When it does not run, or has no such blocks.
    pub fn draw(&self, point: &Point) -> Result<Drawing, String> {
        let mut recorder = Recorder::without_stalls();
        let ran = point.launched(1, Some(&mut recorder), None, None).map_err(|error| error.to_string())?;
        let launch = ran.launches.iter().position(|launched| launched.kernel == self.kernel);
        let blocks = launch.and_then(|launch| recorder.launches.get(launch)).map_or(&[][..], |launch| &launch.blocks);
        let shown: Vec<&BlockRecord> = match &self.blocks {
            Blocks::Numbers(numbers) => {
                numbers.iter().filter_map(|number| blocks.iter().find(|block| block.cta == *number)).collect()
            }
            Blocks::First(count) => {
                // Blocks of a later launch begin on whichever SM is next.
                let sm = blocks.first().map(|block| block.sm);
                blocks.iter().filter(|block| Some(block.sm) == sm).take(*count).collect()
            }
        };
        if shown.is_empty() {
            return Err(format!("no such block of `{}` has run at size {}", self.kernel, point.size));
        }
        Ok(Drawing { title: self.title.clone(), ..phases::drawing(&shown, &BTreeMap::new()) })
    }

    /// What is chosen on the axes, in words.
    #[must_use]
    pub fn about(&self, experiment: &Experiment) -> String {
        format!("{}/{}, {}", self.workload, self.kernel, crate::grid::title(experiment, &self.choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::Shape;
    use crate::experiment::BUILT_IN;

    const TEXT: &str = "title = 'T'\nworkloads = ['walsh']\nsize = 'tiny'\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nbars = 'i'\n\
        [[timeline]]\nname = 't'\ntitle = 'Time'\nworkload = 'walsh'\nkernel = 'transform_shared'\nwhere = { i = 'gto' }\nfirst = 2\n";

    fn problem(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from));
        Experiment::parse("t", &TEXT.replace(from, to)).unwrap_err().to_string()
    }

    #[test]
    fn a_timeline_has_a_line_for_each_warp_of_its_blocks() {
        let experiment = Experiment::parse("t", TEXT).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let timeline = &experiment.timelines[0];
        assert_eq!(timeline.about(&experiment), "walsh/transform_shared, i gto");
        let drawing = timeline.draw(timeline.point(&grid).unwrap()).unwrap();
        let warps = drawing.shapes.iter().filter(|s| matches!(s, Shape::Text(text) if text.text == "warp 0")).count();
        assert!(warps > 0 && drawing.title == "Time");
        let none = Timeline { blocks: Blocks::Numbers(vec![1_000_000]), ..timeline.clone() };
        assert!(none.draw(timeline.point(&grid).unwrap()).unwrap_err().contains("no such block"));
    }

    #[test]
    fn mistakes_are_found() {
        assert!(problem("'walsh'\nkernel", "'bfs'\nkernel").contains("does not run `bfs`"));
        assert!(problem("transform_shared", "transform_sharde").contains("transform_sharde"));
        assert!(problem("first = 2", "first = 2\nblocks = [1]").contains("not both"));
        assert!(problem("first = 2", "").contains("no blocks"));
        assert!(problem("name = 't'", "name = 'f'").contains("cannot name"));
    }

    #[test]
    fn those_that_come_with_raddle_show_points_that_run() {
        for (name, text) in BUILT_IN {
            let experiment = Experiment::parse(name, text).unwrap();
            let grid = Grid::new(&experiment).unwrap();
            for timeline in &experiment.timelines {
                assert!(timeline.point(&grid).is_some(), "{name}: {}", timeline.name);
            }
        }
    }
}
