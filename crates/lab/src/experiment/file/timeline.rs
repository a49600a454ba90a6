//! Timelines of an experiment file.

use super::{RawBaseline, axis_named, variant_named};
use crate::experiment::Experiment;
use crate::timeline::{Blocks, Timeline};
use raddle_runtime::Problem;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawTimeline {
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    source: String,
    workload: Spanned<String>,
    kernel: Spanned<String>,
    #[serde(default)]
    r#where: RawBaseline,
    first: Option<usize>,
    #[serde(default)]
    blocks: Vec<u64>,
}

pub(super) fn timeline(raw: RawTimeline, experiment: &Experiment) -> Result<Timeline, Problem> {
    let (name, at) = (raw.name.get_ref().clone(), Some(raw.name.span()));
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_taken = experiment.figures.iter().any(|figure| figure.name == name)
        || experiment.timelines.iter().any(|timeline| timeline.name == name);
    if name.is_empty() || is_taken || !name.chars().all(is_good) {
        let problem = Problem::new(format!("`{name}` cannot name a timeline")).at(at);
        return Err(problem.help("use small letters, digits and `-`, and no name twice: files are named after it"));
    }
    let word = raw.workload.get_ref().as_str();
    let Some(workload) = experiment.workloads.iter().copied().find(|workload| *workload == word) else {
        let problem = Problem::new(format!("the experiment does not run `{word}`")).at(Some(raw.workload.span()));
        return Err(problem.help("a timeline shows one of its workloads"));
    };
    let kernel = experiment.kernel(workload, raw.kernel.get_ref()).map_err(|p| p.at(Some(raw.kernel.span())))?;
    let blocks = match (raw.first, raw.blocks.is_empty()) {
        (Some(count), true) => Blocks::First(count),
        (None, false) => Blocks::Numbers(raw.blocks),
        (first, _) => {
            let text = if first.is_some() { "takes `first` or `blocks`, not both" } else { "shows no blocks" };
            let problem = Problem::new(format!("timeline `{name}` {text}")).at(at);
            return Err(problem.help("`first = 3` are the first on SM 0, `blocks = [0, 1]` those with these numbers"));
        }
    };
    let mut choices: Vec<usize> = experiment.baseline.iter().map(|base| base.unwrap_or(0)).collect();
    for (axis, label) in &raw.r#where {
        let axis = axis_named(experiment, axis)?;
        choices[axis] = variant_named(&experiment.axes[axis], label)?;
    }
    Ok(Timeline { name, title: raw.title, source: raw.source, workload, kernel, choices, blocks })
}
