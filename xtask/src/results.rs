//! Tables of results in the book: run from experiments, written between marks, never by hand.
//!
//! The page of experiment NAME is `docs/src/results/NAME.md`. What stands between `<!-- results: PART -->` and
//! `<!-- results: end -->` is written here: part `run` says what was run, the others are the figures of the experiment by
//! their names. Where a page has a part `benchmarks PAPER`, it is the table of the paper's benchmarks with what it prints
//! of them. All the rest of a page is text by people about these numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_lab::experiment::BUILT_IN;
use raddle_lab::figure::Values;
use raddle_lab::work::Results as _;
use raddle_lab::{Experiment, Grid, Store, markdown};
use raddle_workloads::manifest::Paper;

use crate::Result;
use crate::files::{root, run_cargo, target};
use crate::{divergence_table, workload_table};

/// The options of `cargo xtask results`.
#[derive(clap::Args)]
pub struct Args {
    /// Only the page of this experiment
    name: Option<String>,
    /// Run nothing; fail if a page is not of this experiment and this version of the model
    #[arg(long)]
    check: bool,
    /// Folder of results, which are not run again [default: target/results]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

/// Runs experiments and writes their tables or, with `--check`, looks whether they can still be true.
pub fn run(args: &Args) -> Result {
    if args.check {
        return check_all();
    }
    let name = args.name.as_deref();
    let pages: Vec<&str> =
        BUILT_IN.iter().map(|built_in| built_in.0).filter(|n| name.is_none_or(|name| name == *n)).collect();
    if pages.is_empty() {
        return Err(format!("there is no experiment `{}`", name.unwrap_or_default()).into());
    }
    let store = args.store.clone().unwrap_or_else(|| target().join("results"));
    pages.into_iter().try_for_each(|name| renew(name, &store))
}

/// Checks every page of results without running anything.
pub fn check_all() -> Result {
    for (name, _) in BUILT_IN {
        let page = page(name);
        let text = fs::read_to_string(root().join(&page)).map_err(|e| format!("{page}: {e}"))?;
        let experiment = experiment(name)?;
        check(&experiment, &text)
            .and_then(|()| check_benchmarks(&experiment, &text).map_err(|e| e.to_string()))
            .map_err(|what| format!("{page}: {what}; regenerate with `cargo xtask results {name}`"))?;
    }
    println!("results: {} pages are of this version of the model", BUILT_IN.len());
    Ok(())
}

fn page(name: &str) -> String {
    format!("docs/src/results/{name}.md")
}

fn experiment(name: &str) -> Result<Experiment> {
    let (name, _, text) = Experiment::text(Path::new(name))?;
    Ok(Experiment::parse(&name, &text)?)
}

/// Runs what is missing of an experiment and writes its tables.
fn renew(name: &str, store: &Path) -> Result {
    let experiment = experiment(name)?;
    let grid = Grid::new(&experiment)?;
    let results = Store::create(store)?;
    let mut missing = 0;
    for point in grid.points.iter().filter(|point| !results.has(&point.key)) {
        // What was refused would be refused again.
        missing += usize::from(!results.failure(&point.key)?.is_some_and(|failure| failure.is_refusal));
    }
    println!("results: {missing} of {} points of {name} have no result yet", grid.points.len());
    drop(results);
    if missing > 0 {
        let folder = store.to_str().ok_or("the path of the store is no text")?;
        let raddle = ["run", "--locked", "--release", "-p", "raddle-cli", "--", "lab", "run"];
        run_cargo(&[&raddle[..], &[name, "--store", folder]].concat())?;
    }
    let values = Values::read(&experiment, &grid, &Store::open(store)?)?;
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output()?;
    let date = String::from_utf8(date.stdout)?;
    let mut parts = vec![("run".to_owned(), format!("{}, on {}.\n", made_by(&experiment), date.trim()))];
    for figure in &experiment.figures {
        let table = values.table(&experiment, figure);
        if table.missing() > 0 {
            return Err(format!("{} values of figure `{}` are missing", table.missing(), figure.name).into());
        }
        parts.push((figure.name.clone(), markdown::section(&table)));
    }
    let path = root().join(page(name));
    let old = fs::read_to_string(&path).unwrap_or_else(|_| empty(&experiment));
    parts.extend(benchmarks(&experiment, &old)?);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&path, filled(&old, &parts)?)?;
    println!("results: wrote {}; read again what its text says about the numbers", page(name));
    Ok(())
}

/// What a page says about its run, but for the date.
fn made_by(experiment: &Experiment) -> String {
    let Experiment { name, size, .. } = experiment;
    let (version, epoch) = (env!("CARGO_PKG_VERSION"), raddle_sim::EPOCH);
    format!(
        "Made by `cargo xtask results {name}` from `raddle reproduce {name} --size {size}` with Raddle {version}, epoch {epoch} \
         of the model"
    )
}

/// A page without tables and text.
fn empty(experiment: &Experiment) -> String {
    let mut text = format!("# {}\n", experiment.title);
    for name in std::iter::once("run").chain(experiment.figures.iter().map(|figure| figure.name.as_str())) {
        text += &format!("\n{START}{name} -->\n{END}\n");
    }
    text
}

const START: &str = "<!-- results: ";
const END: &str = "<!-- results: end -->";

/// The parts of a page: name and text.
fn parts(page: &str) -> std::result::Result<Vec<(&str, &str)>, String> {
    let mut parts = Vec::new();
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once(START) {
        let (name, behind) = behind.split_once(" -->\n").ok_or("a mark has no end")?;
        let (text, behind) = behind.split_once(END).ok_or_else(|| format!("part `{name}` has no end"))?;
        if text.contains(START) {
            return Err(format!("part `{name}` has no end"));
        }
        parts.push((name, text));
        rest = behind;
    }
    Ok(parts)
}

/// A page with new texts in its parts, which must be these.
fn filled(page: &str, new: &[(String, String)]) -> Result<String> {
    let old = parts(page)?;
    same_parts(&old, new.iter().map(|(name, _)| name.as_str()))?;
    let mut text = String::new();
    let mut rest = page;
    for (name, _) in old {
        let new = new.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        let (before, behind) = rest.split_once(START).ok_or("a mark is missing")?;
        let (_, behind) = behind.split_once(" -->\n").ok_or("a mark has no end")?;
        let (_, behind) = behind.split_once(END).ok_or("a part has no end")?;
        text += &format!("{before}{START}{name} -->\n\n{new}\n{END}");
        rest = behind;
    }
    Ok(text + rest)
}

/// The paper whose benchmarks a part of this name shows.
fn paper(part: &str) -> Option<Paper> {
    let name = part.strip_prefix("benchmarks ")?;
    Paper::ALL.into_iter().find(|paper| paper.name() == name)
}

/// The parts of a page with benchmarks of papers, by name.
fn benchmarks(experiment: &Experiment, page: &str) -> Result<Vec<(String, String)>> {
    let parts = parts(page)?.into_iter().filter_map(|(name, _)| Some((name, paper(name)?)));
    let table = |paper: Paper| match paper {
        Paper::Vtw => divergence_table::text(&experiment.workloads),
        _ => workload_table::benchmarks(paper, &experiment.workloads),
    };
    parts.map(|(name, paper)| Ok((name.to_owned(), table(paper)?))).collect()
}

/// Whether the benchmarks on a page are those of the workloads as they are.
fn check_benchmarks(experiment: &Experiment, page: &str) -> Result {
    let found = parts(page)?;
    for (name, text) in benchmarks(experiment, page)? {
        if !found.iter().any(|(known, old)| *known == name && old.trim() == text.trim()) {
            return Err(format!("part `{name}` is not what the workloads say").into());
        }
    }
    Ok(())
}

/// Whether the parts that belong to an experiment are these, in this order.
fn same_parts<'a>(found: &[(&str, &str)], wanted: impl Iterator<Item = &'a str>) -> std::result::Result<(), String> {
    let found: Vec<&str> = found.iter().map(|(name, _)| *name).filter(|name| paper(name).is_none()).collect();
    let wanted: Vec<&str> = wanted.filter(|name| paper(name).is_none()).collect();
    if found == wanted {
        return Ok(());
    }
    Err(format!("its parts are {}, those of the experiment are {}", found.join(", "), wanted.join(", ")))
}

/// Whether a page can be what the experiment gives with this version of the model.
fn check(experiment: &Experiment, page: &str) -> std::result::Result<(), String> {
    let parts = parts(page)?;
    same_parts(&parts, std::iter::once("run").chain(experiment.figures.iter().map(|figure| figure.name.as_str())))?;
    let made_by = made_by(experiment);
    for (name, text) in parts.into_iter().filter(|(name, _)| paper(name).is_none()) {
        let text = text.trim();
        let figure = experiment.figures.iter().find(|figure| figure.name == name);
        match figure {
            None if !text.starts_with(&made_by) => {
                return Err(format!("it does not say `{made_by}`, so its numbers may be old"));
            }
            Some(figure) if !text.starts_with(&format!("### {}\n", figure.title)) => {
                return Err(format!("figure `{name}` does not have the title `{}`", figure.title));
            }
            Some(_) if !text.contains("\n| --- |") => return Err(format!("figure `{name}` has no table")),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title = 'T'\nworkloads = ['bfs']\nsize = 'tiny'\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[figure]]\nname = 'a'\ntitle = 'A'\nmetric = 'cycles'\nbars = 'i'\n\
        [[figure]]\nname = 'b'\ntitle = 'B'\nmetric = 'cycles'\nbars = 'i'\n";

    fn page_of(made_by: &str, b: &str) -> String {
        let part = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let table = |title: &str| format!("### {title}\n\n| | x |\n| --- | --: |\n");
        let parts = [part("run", made_by), part("a", &table("A")), part("b", &table(b))];
        let page = empty(&Experiment::parse("t", TEXT).unwrap()).replace("# T\n", "# T\n\nWords stay.\n");
        filled(&page, &parts).unwrap()
    }

    #[test]
    fn a_page_is_good_until_the_experiment_or_the_model_changes() {
        let experiment = Experiment::parse("t", TEXT).unwrap();
        let good = page_of(&format!("{}, on 2000-01-01.", made_by(&experiment)), "B");
        assert!(good.contains("Words stay.\n"), "{good}");
        assert_eq!(check(&experiment, &good), Ok(()));
        let epoch = format!("epoch {}", raddle_sim::EPOCH);
        let old = good.replace(&epoch, &format!("epoch {}", raddle_sim::EPOCH - 1));
        assert!(check(&experiment, &old).unwrap_err().contains("may be old"));
        assert!(check(&experiment, &good.replace("--size tiny", "--size small")).is_err());
        assert!(check(&experiment, &good.replace("### B", "### C")).unwrap_err().contains("title `B`"));
        assert!(check(&experiment, &good.replace("results: b", "results: c")).unwrap_err().contains("run, a, c"));
        assert!(check(&experiment, &good.replacen("| --- |", "", 1)).unwrap_err().contains("no table"));
        assert!(check(&experiment, &good.replacen(END, "", 1)).unwrap_err().contains("no end"));
    }

    #[test]
    fn a_page_can_have_the_benchmarks_of_a_paper() {
        let experiment = Experiment::parse("t", &TEXT.replace("'bfs'", "'walsh', 'bfs'")).unwrap();
        let page = page_of("new", "B") + "\n<!-- results: benchmarks baws -->\nold\n<!-- results: end -->\n";
        assert!(check_benchmarks(&experiment, &page).unwrap_err().to_string().contains("not what the workloads say"));
        let mut new =
            vec![("run".to_owned(), "x\n".to_owned()), ("a".into(), "y\n".into()), ("b".into(), "z\n".into())];
        new.extend(benchmarks(&experiment, &page).unwrap());
        let page = filled(&page, &new).unwrap();
        assert!(page.contains("| Fast Walsh Transform (FWT) | `walsh` | 3 | 3 | 16 | 16 |"), "{page}");
        assert!(!page.contains("`bfs`") && !page.contains("old\n"), "{page}");
        check_benchmarks(&experiment, &page).unwrap();
        assert!(filled(&page.replace("benchmarks baws", "benchmarks odd"), &new).is_err(), "no such paper");
    }

    #[test]
    fn what_is_between_the_marks_is_replaced() {
        let page = page_of("new", "B");
        let again =
            filled(&page, &[("run".into(), "x\n".into()), ("a".into(), "y\n".into()), ("b".into(), "z\n".into())]);
        assert_eq!(parts(&again.unwrap()).unwrap(), [("run", "\nx\n\n"), ("a", "\ny\n\n"), ("b", "\nz\n\n")]);
        assert!(filled(&page, &[("run".into(), String::new())]).is_err());
    }
}
