//! How full machines are to be, and which kernels count: `[fill]` and `[kernels]` of an experiment file.

use crate::experiment::{Experiment, FillRule};
use raddle_runtime::Problem;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawFill {
    waves: Spanned<f64>,
    #[serde(default)]
    workloads: BTreeMap<Spanned<String>, Spanned<f64>>,
}

/// Names of kernels, by the names of workloads.
pub(super) type RawKernels = BTreeMap<Spanned<String>, Spanned<Vec<Spanned<String>>>>;

pub(super) fn fill(raw: Spanned<RawFill>, experiment: &Experiment) -> Result<FillRule, Problem> {
    let at = Some(raw.span());
    let RawFill { waves, workloads } = raw.into_inner();
    let mut own = BTreeMap::new();
    for (name, waves) in &workloads {
        own.insert(workload(name, experiment)?, number(waves)?);
    }
    Ok(FillRule { waves: number(&waves)?, own, at })
}

/// Blocks for each place.
fn number(waves: &Spanned<f64>) -> Result<f64, Problem> {
    let value = *waves.get_ref();
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    let problem = Problem::new(format!("a machine cannot have {value} blocks for each place")).at(Some(waves.span()));
    Err(problem.help("a number above 0: with 1 every place has a block once, with 2 twice"))
}

pub(super) fn kernels(
    raw: RawKernels,
    experiment: &Experiment,
) -> Result<BTreeMap<&'static str, Vec<String>>, Problem> {
    let mut all = BTreeMap::new();
    for (name, kernels) in raw {
        let workload = workload(&name, experiment)?;
        let known = |kernel: &Spanned<String>| {
            let found = experiment.kernel(workload, kernel.get_ref());
            found.map_err(|problem| problem.at(Some(kernel.span())))
        };
        let counted = kernels.get_ref().iter().map(known).collect::<Result<Vec<_>, _>>()?;
        if counted.is_empty() {
            let problem = Problem::new(format!("no kernel of `{workload}` counts")).at(Some(kernels.span()));
            return Err(problem.help("name those that do, or leave the workload out: then all of them count"));
        }
        all.insert(workload, counted);
    }
    Ok(all)
}

/// A workload of the experiment, by name.
fn workload(name: &Spanned<String>, experiment: &Experiment) -> Result<&'static str, Problem> {
    let at = Some(name.span());
    if let Some(found) = experiment.workloads.iter().find(|workload| *workload == name.get_ref()) {
        return Ok(found);
    }
    let found = raddle_workloads::find(name.get_ref()).map_err(|problem| problem.at(at.clone()))?.name;
    let problem = Problem::new(format!("the experiment does not run `{found}`")).at(at);
    Err(problem.help("add it to `workloads` or to a group"))
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use raddle_ptx::source::LineIndex;

    const HEAD: &str = "title = 'T'\nworkloads = ['bfs', 'page-view-count']\n";

    /// `line:column: message [help]` for a text with a mistake.
    fn wrong(rest: &str) -> String {
        let text = format!("{HEAD}{rest}");
        let p = Experiment::parse("x", &text).unwrap_err();
        let at = p.at.map_or("-".to_owned(), |at| LineIndex::new(&text).line_col(&text, at.start as u32).to_string());
        format!("{at}: {}{}", p.message, p.help.map_or(String::new(), |h| format!(" [{h}]")))
    }

    #[test]
    fn waves_are_of_all_or_of_a_workload() {
        let text = format!("{HEAD}[fill]\nwaves = 2\nworkloads = {{ bfs = 1.5 }}\n");
        let rule = Experiment::parse("x", &text).unwrap().fill.unwrap();
        assert_eq!((rule.waves_of("bfs"), rule.waves_of("page-view-count")), (1.5, 2.0));
        assert_eq!(Experiment::parse("x", HEAD).unwrap().fill, None);
    }

    #[test]
    fn mistakes_in_fill_have_their_place() {
        assert_eq!(
            wrong("[fill]\nwaves = 0\n"),
            "4:9: a machine cannot have 0 blocks for each place [a number above 0: with 1 every place has a block once, \
             with 2 twice]"
        );
        assert!(wrong("[fill]\nwaves = inf\n").starts_with("4:9: a machine cannot have inf blocks"));
        assert!(wrong("[fill]\nwaves = 'paper'\n").starts_with("4:9: "));
        assert!(wrong("[fill]\n").contains("missing field `waves`"));
        assert_eq!(wrong("[fill]\nwave = 2\n"), "4:1: unknown key `wave` [did you mean `waves`?]");
        let of = |name: &str| wrong(&format!("[fill]\nwaves = 2\nworkloads = {{ {name} = 1 }}\n"));
        assert_eq!(of("bfss"), "5:15: there is no workload `bfss` [did you mean `bfs`?]");
        assert_eq!(of("walsh"), "5:15: the experiment does not run `walsh` [add it to `workloads` or to a group]");
        assert!(wrong("[fill]\nwaves = 2\nworkloads = { bfs = -1 }\n").starts_with("5:21: a machine cannot have -1"));
    }

    #[test]
    fn kernels_that_count_have_to_be_there() {
        let text = format!("{HEAD}[kernels]\npage-view-count = ['sort_tiles', 'merge_tiles']\n");
        let experiment = Experiment::parse("x", &text).unwrap();
        let counts = |workload: &str, kernel: &str| experiment.counts(workload, kernel);
        assert!(counts("page-view-count", "merge_tiles") && !counts("page-view-count", "map_lines"));
        assert!(counts("bfs", "expand"), "all of those that are not named");
        let of = |kernels: &str| wrong(&format!("[kernels]\npage-view-count = {kernels}\n"));
        assert_eq!(
            of("['sort_tile']"),
            "4:20: page-view-count.ptx has no kernel `sort_tile` [did you mean `sort_tiles`?]"
        );
        assert!(of("[]").starts_with("4:19: no kernel of `page-view-count` counts [name those that do"));
        assert!(wrong("[kernels]\npage-view-cuont = ['x']\n").contains("did you mean `page-view-count`?"));
        assert!(wrong("[kernels]\nwalsh = ['x']\n").starts_with("4:1: the experiment does not run `walsh`"));
    }

    #[test]
    fn a_paper_has_no_value_of_a_kernel_that_does_not_count() {
        let row = "row = 'page-view-count/map_lines'";
        let text = "[kernels]\npage-view-count = ['sort_tiles']\n[[axis]]\nname = 'i'\nkey = 'mechanism.issue'\n\
            values = ['lrr']\n[[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nbars = 'i'\nrows = 'kernels'\n";
        let problem = wrong(&format!("{text}paper = [{{ {row}, bar = 'lrr', value = 1 }}]\n"));
        assert!(problem.contains("kernel `map_lines` of `page-view-count` does not count"), "{problem}");
    }
}
