//! Parameters of mechanisms that an experiment sets for all its runs.
//!
//! A choice of an axis that names a mechanism replaces the one before with all its parameters. What the experiment sets for
//! all runs is meant for the mechanism that runs, so it is applied after the choice, to every mechanism that has the
//! parameter. A parameter that none of them has is a mistake.

use crate::experiment::Change;
use raddle_ptx::diag::closest;
use raddle_runtime::Problem;
use raddle_sim::seam::{Registry, Seam};

/// The seam and what follows it in the path of a change under `mechanism`, and the value.
fn split(text: &str) -> Option<(Seam, &str, &str)> {
    let (path, value) = text.split_once('=')?;
    let rest = path.trim().strip_prefix("mechanism.")?;
    let (key, parameter) = rest.split_once('.').unwrap_or((rest, ""));
    let seam = Seam::ALL.into_iter().find(|seam| seam.key() == key)?;
    Some((seam, parameter, value.trim()))
}

/// The parameter a change sets, and the seam of its mechanism.
fn parameter(change: &Change) -> Option<(Seam, &str)> {
    split(&change.text).filter(|(_, parameter, _)| !parameter.is_empty()).map(|(seam, parameter, _)| (seam, parameter))
}

/// The mechanism a change chooses.
fn choice(change: &Change) -> Option<(Seam, String)> {
    let (seam, _, value) = split(&change.text).filter(|(_, parameter, _)| parameter.is_empty())?;
    if value.starts_with('{') {
        let table: toml::Table = toml::from_str(&format!("it = {value}")).ok()?;
        return Some((seam, table.get("it")?.get("name")?.as_str()?.to_owned()));
    }
    Some((seam, value.trim_matches(['"', '\'']).to_owned()))
}

fn has(registry: &Registry, seam: Seam, mechanism: &str, parameter: &str) -> bool {
    // What is wrong with an unknown name is said where it is looked up.
    registry.get(seam, mechanism).is_none_or(|m| m.parameters.iter().any(|p| p.name == parameter))
}

/// What was `chosen` for a run, after what is set for `all`: where a mechanism is chosen, its parameters of the latter follow.
pub fn placed<'e>(registry: &Registry, all: &'e [Change], chosen: &[&'e Change]) -> Vec<&'e Change> {
    let mut set = Vec::new();
    for change in chosen {
        set.push(*change);
        if let Some((seam, mechanism)) = choice(change) {
            let fits = |(of, name): (Seam, &str)| of == seam && has(registry, of, &mechanism, name);
            set.extend(all.iter().filter(|change| parameter(change).is_some_and(fits)));
        }
    }
    set
}

/// What is wrong when a parameter is set for `all` runs, of which these were chosen, and no mechanism has it. Where nothing
/// was chosen, that of the machine is looked at when the machine is made.
pub fn unused(registry: &Registry, all: &[Change], runs: &[Vec<&Change>]) -> Option<Problem> {
    let last = |run: &[&Change], seam: Seam| run.iter().rev().filter_map(|c| choice(c)).find(|(of, _)| *of == seam);
    let is_used = |(seam, name): (Seam, &str)| {
        runs.iter().any(|run| last(run, seam).is_none_or(|(_, mechanism)| has(registry, seam, &mechanism, name)))
    };
    let change = all.iter().find(|change| parameter(change).is_some_and(|parameter| !is_used(parameter)))?;
    let (seam, name) = parameter(change)?;
    let mut known = Vec::new();
    for (_, mechanism) in runs.iter().filter_map(|run| last(run, seam)) {
        known.extend(
            registry.get(seam, &mechanism).into_iter().flat_map(|m| m.parameters.iter().map(|p| p.name.as_str())),
        );
    }
    let key = format!("mechanism.{}", seam.key());
    let message = format!("`{key}.{name}`: no mechanism that is run has a parameter `{name}`");
    let help = match closest(name, known.iter().copied()) {
        Some(close) => format!("did you mean `{key}.{close}`?"),
        None => "`raddle list mechanisms` has the parameters of each".to_owned(),
    };
    Some(Problem::new(message).help(help).at(change.at.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(texts: &[&str]) -> Vec<Change> {
        texts.iter().map(|text| Change { text: (*text).to_owned(), at: None }).collect()
    }

    /// The changes in their order, and what is wrong.
    fn check(all: &[&str], chosen: &[&str]) -> (Vec<String>, Option<String>) {
        let (registry, all, chosen) = (raddle_mech::registry(), changes(all), changes(chosen));
        let chosen: Vec<&Change> = chosen.iter().collect();
        let texts = placed(&registry, &all, &chosen).iter().map(|change| change.text.clone()).collect();
        let wrong = unused(&registry, &all, &[chosen]);
        (texts, wrong.map(|problem| format!("{} ({})", problem.message, problem.help.unwrap_or_default())))
    }

    #[test]
    fn parameters_follow_the_choice_of_their_mechanism() {
        let all = ["gpu.sms=2", "mechanism.gating.stages=9", "mechanism.issue.active=4"];
        let (set, wrong) = check(&all, &["mechanism.gating=folding", "mechanism.gating.stages=1"]);
        let want = ["mechanism.gating=folding", all[1], "mechanism.gating.stages=1"];
        assert_eq!((set, wrong), (want.map(str::to_owned).to_vec(), None), "what is chosen overrides what all have");
        let table = "mechanism.gating={ name = \"folding\", shift = true }";
        assert_eq!(check(&all[1..2], &[table]).0, [table, all[1]]);
        assert_eq!(check(&all[1..2], &["gpu.sms=1"]), (vec!["gpu.sms=1".to_owned()], None), "nothing is replaced");
    }

    #[test]
    fn a_parameter_that_no_mechanism_has_is_named() {
        let (set, wrong) = check(&["mechanism.gating.stages=9"], &["mechanism.gating=blackout"]);
        assert_eq!(set, ["mechanism.gating=blackout"]);
        let want = "`mechanism.gating.stages`: no mechanism that is run has a parameter `stages` (`raddle list mechanisms` \
                    has the parameters of each)";
        assert_eq!(wrong.as_deref(), Some(want));
        let (_, wrong) = check(&["mechanism.gating.stage=9"], &["mechanism.gating=folding"]);
        assert!(
            wrong.as_deref().is_some_and(|w| w.ends_with("(did you mean `mechanism.gating.stages`?)")),
            "{wrong:?}"
        );
    }
}
