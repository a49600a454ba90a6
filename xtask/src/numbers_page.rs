//! The page with every number of a paper that experiments carry, beside ours.
//!
//! It has a part for each experiment of a paper, written when that is run, the rules by which values are compared, and how
//! many agree, counted from the parts on the page. README has a part `counts` too: the counts of means.

use std::fmt::Write as _;
use std::fs;

use raddle_lab::Experiment;
use raddle_lab::agreement::{Class, RULES};
use raddle_lab::experiment::BUILT_IN;
use raddle_lab::markdown::{self, MEANS, SINGLE};
use raddle_lab::numbers::{Counts, Number};
use raddle_lab::printed;

use crate::Result;
use crate::files::root;
use crate::marks::{filled, parts};
use crate::page_checks;
use crate::results::{made_by, without_version};

const PAGE: &str = "docs/src/results/numbers.md";
const README: &str = "README.md";
const COUNTS: &str = "counts";
const RULES_PART: &str = "rules";

/// The title of an experiment's part.
fn title(experiment: &Experiment) -> String {
    format!("## {}\n", experiment.title)
}

/// Where the part of an experiment is, from the page of its results.
pub fn link(experiment: &Experiment) -> String {
    let kept = experiment.title.to_lowercase().replace(' ', "-");
    let kept: String = kept.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect();
    format!("numbers.md#{kept}")
}

/// Whether a figure of an experiment has a number of a paper.
pub fn has_numbers(experiment: &Experiment) -> bool {
    experiment.figures.iter().any(|figure| !figure.paper.is_empty())
}

/// Writes the part of an experiment, and the rules.
pub fn renew(experiment: &Experiment, numbers: &[Number]) -> Result {
    if !has_numbers(experiment) {
        return Ok(());
    }
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path)?;
    fs::write(
        &path,
        replaced(&page, &[(&experiment.name, part(experiment, numbers)), (RULES_PART, format!("{RULES}\n"))])?,
    )?;
    Ok(())
}

/// The part of an experiment.
fn part(experiment: &Experiment, numbers: &[Number]) -> String {
    format!("{}\n{}.\n\n{}", title(experiment), made_by(experiment), markdown::numbers(numbers))
}

/// Where the part of an experiment is not of these numbers.
pub fn differences(experiment: &Experiment, numbers: &[Number]) -> Result<Vec<String>> {
    if !has_numbers(experiment) {
        return Ok(Vec::new());
    }
    let page = fs::read_to_string(root().join(PAGE))?;
    page_checks::differences(PAGE, &page, &[(experiment.name.clone(), part(experiment, numbers))])
}

/// The lines of the tables of an experiment's part.
pub fn lines(experiment: &Experiment) -> Result<Vec<Vec<String>>> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let of_page = parts(&page)?;
    let part = of_page.iter().find(|(name, _)| *name == experiment.name).map_or("", |(_, text)| text);
    let tables = [MEANS, SINGLE].map(|what| part.split_once(&format!("{what}, ")).map_or("", |(_, rest)| rest));
    Ok(tables.into_iter().flat_map(|text| printed::lines(text).into_iter().skip(1)).collect())
}

/// A page with new texts in some of its parts.
fn replaced(page: &str, new: &[(&str, String)]) -> Result<String> {
    let old = parts(page)?;
    if let Some((name, _)) = new.iter().find(|(name, _)| old.iter().all(|(known, _)| known != name)) {
        return Err(format!("{PAGE} has no part `{name}`").into());
    }
    let text = |(name, old): (&str, &str)| {
        let new = new.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone());
        (name.to_owned(), new.unwrap_or_else(|| format!("{}\n", old.trim())))
    };
    filled(page, &old.into_iter().map(text).collect::<Vec<_>>())
}

/// Counts what is on the page, there and in README.
pub fn count() -> Result {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path)?;
    let [all, means] = tables(&page)?;
    fs::write(&path, replaced(&page, &[(COUNTS, all)])?)?;
    let path = root().join(README);
    let readme = fs::read_to_string(&path)?;
    if parts(&readme)?.iter().any(|(name, _)| *name == COUNTS) {
        fs::write(&path, replaced(&readme, &[(COUNTS, means)])?)?;
    }
    println!("results: wrote {PAGE} and the counts in {README}");
    Ok(())
}

/// Checks the part of an experiment.
pub fn check(experiment: &Experiment) -> Result {
    if !has_numbers(experiment) {
        return Ok(());
    }
    let page = fs::read_to_string(root().join(PAGE))?;
    let start = format!("{}\n{}.", title(experiment), made_by(experiment));
    let name = &experiment.name;
    let wanted = without_version(&start);
    let is_good = |text: &str| without_version(text.trim()).starts_with(&wanted);
    let is_good = parts(&page)?.iter().any(|(known, text)| known == name && is_good(text));
    if is_good {
        return Ok(());
    }
    Err(format!("{PAGE}: part `{name}` does not begin with `{start}`; regenerate with `cargo xtask results {name}`")
        .into())
}

/// Checks the counts and the rules.
pub fn check_counts() -> Result {
    let page = fs::read_to_string(root().join(PAGE))?;
    let [all, means] = tables(&page)?;
    let wanted = [(PAGE, COUNTS, all), (PAGE, RULES_PART, RULES.to_owned()), (README, COUNTS, means)];
    for (file, part, text) in wanted {
        let page = fs::read_to_string(root().join(file))?;
        let found = parts(&page)?.into_iter().find(|(name, _)| *name == part);
        if found.is_some_and(|(_, old)| old.trim() != text.trim()) {
            return Err(format!("{file}: part `{part}` is not what {PAGE} has; `cargo xtask results` writes it").into());
        }
    }
    Ok(())
}

/// The counts of all papers: means and others, and means alone.
fn tables(page: &str) -> Result<[String; 2]> {
    let classes = Class::ALL.map(Class::name).join(" | ");
    let mut all = format!(
        "| paper | means | {classes} | at least partly | single programs and kernels | {classes} | at least partly |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
    );
    let mut means =
        format!("| paper | means it prints | {classes} | at least partly |\n| --- | --: | --: | --: | --: | --: |\n");
    for (name, text) in parts(page)? {
        let Some((name, _)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let Some(title) = text.trim().lines().next().and_then(|line| line.strip_prefix("## ")) else { continue };
        let [of_means, of_others] = [MEANS, SINGLE].map(|what| counted(text, what));
        let cells = |counts: Counts| {
            let [agrees, partly, not] = counts.classes;
            let share = counts.share().map_or(String::new(), |share| format!("{:.0} %", share * 100.0));
            format!("{} | {agrees} | {partly} | {not} | {share}", counts.all())
        };
        // Writing to a String cannot fail.
        let _ = writeln!(all, "| [{title}]({name}.md) | {} | {} |", cells(of_means), cells(of_others));
        let _ = writeln!(means, "| [{title}](docs/src/results/{name}.md) | {} |", cells(of_means));
    }
    Ok([all, means])
}

/// The numbers of each class in one of the tables of a part.
fn counted(part: &str, what: &str) -> Counts {
    let start = format!("{what}, ");
    let lines = part.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
    let rows = lines.skip_while(|line| !line.starts_with("| ---")).skip(1).take_while(|line| line.starts_with('|'));
    let mut counts = Counts::default();
    for row in rows {
        // The last cell is the reason, which has no bare `|`.
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let class =
            cells.len().checked_sub(2).and_then(|at| Class::ALL.into_iter().find(|class| class.name() == cells[at]));
        match class {
            Some(class) => counts.classes[class as usize] += 1,
            None => counts.without += 1,
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(is_mean: bool, class: Option<Class>) -> Number {
        let text = str::to_owned;
        Number {
            figure: text("F"),
            place: text("Figure 1"),
            what: text("a | b"),
            is_mean,
            paper: text("1.1"),
            ours: class.map(|_| text("1.0")),
            other: None,
            class,
            why: text("so | it is"),
        }
    }

    #[test]
    fn what_is_on_the_page_is_counted() {
        let classes = [Some(Class::Agrees), Some(Class::Agrees), Some(Class::Partly), Some(Class::DoesNot), None];
        let mut all: Vec<Number> = classes.into_iter().map(|class| number(true, class)).collect();
        all.extend([number(false, Some(Class::DoesNot)), number(false, Some(Class::Partly))]);
        let part = markdown::numbers(&all);
        assert_eq!(counted(&part, MEANS), Counts { classes: [2, 1, 1], without: 1 });
        assert_eq!(counted(&part, SINGLE), Counts { classes: [0, 1, 1], without: 0 });
        let page =
            format!("# N\n\n<!-- results: tbc -->\n\n## Thread blocks\n\nMade.\n\n{part}\n<!-- results: end -->\n");
        let [both, means] = tables(&page).unwrap();
        assert!(
            both.ends_with("| [Thread blocks](tbc.md) | 5 | 2 | 1 | 1 | 60 % | 2 | 0 | 1 | 1 | 50 % |\n"),
            "{both}"
        );
        assert!(means.ends_with("| [Thread blocks](docs/src/results/tbc.md) | 5 | 2 | 1 | 1 | 60 % |\n"), "{means}");
    }

    #[test]
    fn other_parts_stay() {
        let page = "<!-- results: a -->\n\nold\n\n<!-- results: end -->\n<!-- results: b -->\n\nstays\n\n<!-- results: end -->\n";
        let new = replaced(page, &[("a", "new\n".to_owned())]).unwrap();
        assert_eq!(new, page.replace("old", "new"));
        assert!(replaced(page, &[("c", String::new())]).is_err());
    }

    #[test]
    fn links_are_as_books_make_them() {
        let experiment = Experiment::new("x", vec!["bfs"], &std::sync::Arc::new(raddle_mech::registry()));
        let of = |title: &str| link(&Experiment { title: title.to_owned(), ..experiment.clone() });
        assert_eq!(of("Origami, reproduced"), "numbers.md#origami-reproduced");
    }
}
