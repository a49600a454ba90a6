//! Tables of results in the book: run from experiments, written between marks, never by hand.
//!
//! The page of experiment NAME is `docs/src/results/NAME.md`. What stands between `<!-- results: PART -->` and
//! `<!-- results: end -->` is written here: part `headline` is the figure a page begins with, `NAME.svg`, and the paper's
//! means beside ours; part `run` says what was run, the others are the figures of the experiment by their names. Where a
//! page has a part `benchmarks PAPER`, it is the table of the paper's benchmarks with what it prints of them. All the rest
//! of a page is text by people about these numbers.
//!
//! [`crate::numbers_page`] writes every number of a paper to one page. The picture of all experiments, `overview.svg`, is
//! drawn from all of them, of those that are not run from their pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_lab::chart::{Layout, draw};
use raddle_lab::experiment::{BUILT_IN, Figure, Large};
use raddle_lab::figure::Values;
use raddle_lab::fill::{self, Filled};
use raddle_lab::numbers::{Number, numbers};
use raddle_lab::overview::{Overview, WIDTHS};
use raddle_lab::report::headline_table;
use raddle_lab::svg::svg;
use raddle_lab::table::Table;
use raddle_lab::work::Results;
use raddle_lab::{Experiment, Grid, Store, machines, markdown};
use raddle_workloads::manifest::Paper;

use crate::Result;
use crate::files::{root, run_cargo, target};
use crate::marks::{filled, parts, with_marks};
use crate::page_checks::{self, Page};
use crate::{divergence_table, numbers_page, page_sample, workload_table};

/// The options of `cargo xtask results`.
#[derive(clap::Args)]
pub struct Args {
    /// Only the pages of these experiments
    names: Vec<String>,
    /// Write nothing; fail if a page is not of this experiment and this version of the model, or its numbers do not
    /// go together, or a sample of them is run again and gives others
    #[arg(long)]
    check: bool,
    /// Write nothing; run the experiments again, and say where the pages differ from what they give
    #[arg(long, conflicts_with = "check")]
    verify: bool,
    /// Run nothing; draw the pictures again from the tables of the pages, as when only charts have changed
    #[arg(long, conflicts_with_all = ["check", "verify"])]
    redraw: bool,
    /// The word that chooses the sample of `--check` [default: the hash of the commit]
    #[arg(long, value_name = "HASH", requires = "check")]
    sample: Option<String>,
    /// Folder of results, which are not run again [default: target/results, with `--verify` an empty one]
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["check", "redraw"])]
    store: Option<PathBuf>,
}

/// Runs experiments and writes their tables or, with `--check` or `--verify`, looks whether those there are true.
pub fn run(args: &Args) -> Result {
    let known: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.0).collect();
    if let Some(name) = args.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("there is no experiment `{name}`; there are {}", known.join(", ")).into());
    }
    let is_wanted = |name: &&str| args.names.is_empty() || args.names.iter().any(|wanted| wanted == name);
    let pages: Vec<&str> = known.into_iter().filter(is_wanted).collect();
    if args.check {
        return check(&pages, args.sample.as_deref());
    }
    if args.verify {
        return verify(&pages, args.store.as_deref());
    }
    if args.redraw {
        return redraw(&pages);
    }
    let store = args.store.clone().unwrap_or_else(|| target().join("results"));
    let mut shown = pages.iter().map(|name| renew(name, &store)).collect::<Result<Vec<_>>>()?;
    numbers_page::count()?;
    // The others have not changed: their pages say what they are.
    for (name, _) in BUILT_IN.iter().filter(|(name, _)| !pages.contains(name)) {
        let of_page = read(name)?;
        shown.push((of_page.experiment, of_page.tables));
    }
    let place = |name: &str| BUILT_IN.iter().position(|(known, _)| *known == name);
    shown.sort_by_key(|(experiment, _)| place(&experiment.name));
    if let Some(overview) = overview(&shown)? {
        fs::write(root().join(OVERVIEW), overview)?;
        println!("results: wrote {OVERVIEW}");
    }
    Ok(())
}

/// Draws the pictures that pages begin with from their tables; their values are then as exact as the pages print them.
fn redraw(names: &[&str]) -> Result {
    for name in names {
        let of_page = read(name)?;
        let Some((picture, text)) = page_checks::opening(&of_page)? else { continue };
        let path = root().join(page(name));
        let keep = |(part, old): (&str, &str)| (part.to_owned(), format!("{}\n", old.trim()));
        let mut parts: Vec<(String, String)> = parts(&of_page.text)?.into_iter().map(keep).collect();
        parts.iter_mut().filter(|(part, _)| part == HEADLINE).for_each(|(_, old)| old.clone_from(&text));
        fs::write(&path, filled(&of_page.text, &parts)?)?;
        fs::write(path.with_extension("svg"), picture)?;
        println!("results: drew {}", page(name).replace(".md", ".svg"));
    }
    Ok(())
}

/// The page of an experiment, with the numbers it prints.
fn read(name: &str) -> Result<Page> {
    Page::read(experiment(name)?, fs::read_to_string(root().join(page(name)))?)
}

/// The picture of all experiments, when all that have numbers of a paper are there.
pub fn overview(shown: &[(Experiment, Vec<Table>)]) -> Result<Option<String>> {
    let of_papers = BUILT_IN.iter().map(|(name, _)| experiment(name)).collect::<Result<Vec<_>>>()?;
    let mut of_papers = of_papers.iter().filter(|experiment| numbers_page::has_numbers(experiment));
    let is_shown = |of_paper: &Experiment| shown.iter().any(|(experiment, _)| experiment.name == of_paper.name);
    if !of_papers.all(is_shown) {
        return Ok(None);
    }
    let overview = Overview::new(shown.iter().map(|(experiment, tables)| (experiment, &tables[..])));
    Ok(Some(svg(&overview.drawing(WIDTHS[0]), true) + "\n"))
}

/// The picture of all experiments.
pub const OVERVIEW: &str = "docs/src/results/overview.svg";

/// Checks every page of results: as texts, its numbers beside each other, and a sample of them by running it again.
pub fn check_all() -> Result {
    check(&BUILT_IN.iter().map(|(name, _)| *name).collect::<Vec<_>>(), None)
}

fn check(names: &[&str], sample: Option<&str>) -> Result {
    let (mut older, mut pages) = (Vec::new(), Vec::new());
    for name in names {
        let page = page(name);
        let text = fs::read_to_string(root().join(&page)).map_err(|e| format!("{page}: {e}"))?;
        let experiment = experiment(name)?;
        if text.contains(OLDER) {
            older.push(*name);
            continue;
        }
        check_text(&experiment, &text)
            .and_then(|()| check_benchmarks(&experiment, &text).map_err(|e| e.to_string()))
            .map_err(|what| format!("{page}: {what}; regenerate with `cargo xtask results {name}`"))?;
        numbers_page::check(&experiment)?;
        pages.push(Page::read(experiment, text)?);
    }
    numbers_page::check_counts()?;
    println!("results: {} pages are of this version of the model", pages.len());
    if !older.is_empty() {
        println!("results: older, and say so: {}", older.join(", "));
    }
    page_checks::check(&pages)?;
    page_sample::check(&pages, sample)
}

/// Runs experiments again and compares all that is written of them with what is there.
fn verify(names: &[&str], store: Option<&Path>) -> Result {
    let own = target().join("verify");
    if store.is_none() && own.exists() {
        fs::remove_dir_all(&own)?;
    }
    let store = store.unwrap_or(&own);
    let (mut wrong, mut shown) = (Vec::new(), Vec::new());
    for name in names {
        let path = root().join(page(name));
        let text = fs::read_to_string(&path)?;
        let found = parts(&text)?;
        let date = found.iter().find(|(part, _)| *part == RUN).and_then(|(_, text)| date_of(text)).unwrap_or_default();
        let made = made(name, store, date)?;
        let mut new = made.parts;
        new.extend(benchmarks(&made.experiment, &text)?);
        let mut of_page = page_checks::differences(&page(name), &text, &new)?;
        if let Some(picture) = made.picture {
            of_page.extend(page_checks::different_file(&path.with_extension("svg"), &picture)?);
        }
        of_page.extend(numbers_page::differences(&made.experiment, &made.numbers)?);
        println!("results: {}: {} differences", page(name), of_page.len());
        wrong.extend(of_page);
        shown.push((made.experiment, made.tables));
    }
    if let Some(overview) = overview(&shown)? {
        wrong.extend(page_checks::different_file(&root().join(OVERVIEW), &overview)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The date in the part about the run.
fn date_of(run: &str) -> Option<&str> {
    let (before, _) = run.split_once(".\n")?;
    before.rsplit_once(", on ").map(|(_, date)| date)
}

/// What a page says whose numbers come from an earlier version of the model or of its experiment. It stands at the beginning of a
/// paragraph with the reason, which goes when the page is written again.
const OLDER: &str = "**These numbers are older than the model.**";

/// A page without the paragraph that says that its numbers are old.
fn without_older(page: &str) -> String {
    let Some((before, behind)) = page.split_once(OLDER) else { return page.to_owned() };
    let behind = behind.split_once("\n\n").map_or("", |(_, behind)| behind);
    format!("{before}{behind}")
}

pub fn page(name: &str) -> String {
    format!("docs/src/results/{name}.md")
}

fn experiment(name: &str) -> Result<Experiment> {
    let (name, _, text) = Experiment::text(Path::new(name))?;
    Ok(Experiment::parse(&name, &text)?)
}

/// What is written of an experiment.
struct Made {
    experiment: Experiment,
    tables: Vec<Table>,
    /// The parts of its page, but for those of benchmarks.
    parts: Vec<(String, String)>,
    /// The figure its page begins with.
    picture: Option<String>,
    numbers: Vec<Number>,
}

/// Runs what is missing of an experiment and makes what is written of it.
fn made(name: &str, store: &Path, date: &str) -> Result<Made> {
    let experiment = experiment(name)?;
    let (mut figures, mut on) = measured(&experiment, store)?;
    if let Some((large, numbers)) = large(&experiment)? {
        let (of_large, on_large) = measured(&large, store)?;
        numbers.into_iter().zip(of_large).for_each(|(number, figure)| figures[number] = figure);
        on.extend(on_large);
    }
    written(experiment, figures, &on, date)
}

/// What is written of an experiment with these figures on these machines.
fn written(experiment: Experiment, figures: Vec<Shown>, on: &[Filled], date: &str) -> Result<Made> {
    let (tables, sections): (Vec<Table>, Vec<String>) = figures.into_iter().unzip();
    let machines = machines::markdown(&experiment, on);
    let mut parts = vec![(RUN.to_owned(), format!("{}, on {date}.\n{machines}", made_by(&experiment)))];
    for (table, section) in tables.iter().zip(sections) {
        if table.missing() > 0 {
            return Err(format!("{} values of figure `{}` are missing", table.missing(), table.name).into());
        }
        parts.push((table.name.clone(), section));
    }
    let numbers = numbers(&experiment, &tables);
    let opening = opening(&experiment, &tables, &numbers);
    let picture = opening.map(|(picture, text)| {
        parts.push((HEADLINE.to_owned(), text));
        picture
    });
    Ok(Made { experiment, tables, parts, picture, numbers })
}

/// The figure a page begins with, and the part that shows it.
pub fn opening(experiment: &Experiment, tables: &[Table], numbers: &[Number]) -> Option<(String, String)> {
    let table = headline_table(experiment, tables)?;
    let (picture, all) = (format!("{}.svg", experiment.name), numbers_page::link(experiment));
    let text = markdown::opening(&table, numbers, &picture, &all);
    Some((svg(&draw(&table, Layout::OPENINGS[0]), true) + "\n", text))
}

/// Runs what is missing of an experiment and writes its tables, which come back.
fn renew(name: &str, store: &Path) -> Result<(Experiment, Vec<Table>)> {
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output()?;
    let date = String::from_utf8(date.stdout)?;
    let Made { experiment, tables, mut parts, picture, numbers } = made(name, store, date.trim())?;
    let path = root().join(page(name));
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    if let Some(picture) = picture {
        fs::write(path.with_extension("svg"), picture)?;
    }
    numbers_page::renew(&experiment, &numbers)?;
    let old = fs::read_to_string(&path).unwrap_or_else(|_| format!("# {}\n", experiment.title));
    let old = with_marks(&without_older(&old), &wanted(&experiment))?;
    parts.extend(benchmarks(&experiment, &old)?);
    fs::write(&path, filled(&old, &parts)?)?;
    println!("results: wrote {}; read again what its text says about the numbers", page(name));
    Ok((experiment, tables))
}

/// What an experiment shows at a larger size, as an experiment of its own, with the numbers its figures have in the whole.
pub fn large(experiment: &Experiment) -> Result<Option<(Experiment, Vec<usize>)>> {
    let Some(Large { size, figures }) = experiment.large.clone() else { return Ok(None) };
    let mut large = Experiment { size, ..experiment.clone() };
    large.keep_figures(figures.iter().map(|number| experiment.figures[*number].name.as_str()))?;
    let number = |figure: &Figure| experiment.figure_named(&figure.name);
    let numbers = large.figures.iter().map(number).collect::<std::result::Result<_, _>>()?;
    Ok(Some((large, numbers)))
}

/// The table of a figure, and its section of a page.
type Shown = (Table, String);

/// The figures of an experiment, and how full machines were. What is missing for them is run.
fn measured(experiment: &Experiment, store: &Path) -> Result<(Vec<Shown>, Vec<Filled>)> {
    let grid = Grid::new(experiment)?;
    let results = Store::create(store)?;
    let mut missing = 0;
    for point in &grid.points {
        // What was refused would be refused again.
        let is_refused = || results.failure(&point.key).map(|f| f.is_some_and(|failure| failure.is_refusal));
        missing += usize::from(!results.has(&point.key)? && !is_refused()?);
    }
    let Experiment { name, size, .. } = experiment;
    println!("results: {missing} of {} points of {name} at size {size} have no result yet", grid.points.len());
    drop(results);
    if missing > 0 {
        let folder = store.to_str().ok_or("the path of the store is no text")?;
        let options = experiment.options();
        let raddle = ["run", "--locked", "--release", "-p", "raddle-cli", "--", "lab", "run", name];
        let options: Vec<&str> = options.iter().map(String::as_str).chain(["--store", folder]).collect();
        run_cargo(&[&raddle[..], &options].concat())?;
    }
    shown(experiment, &grid, &Store::open(store)?)
}

/// The same from results.
fn shown(experiment: &Experiment, grid: &Grid, results: &impl Results) -> Result<(Vec<Shown>, Vec<Filled>)> {
    let values = Values::read(experiment, grid, results)?;
    let on = fill::machines(experiment, grid, &values);
    let shown = |figure: &Figure| {
        let table = table(experiment, figure, &values);
        let section = markdown::section(&machines::marked(&table, &on));
        (table, section)
    };
    Ok((experiment.figures.iter().map(shown).collect(), on))
}

/// The table of a figure, which says for which size it is.
pub fn table(experiment: &Experiment, figure: &Figure, values: &Values<'_>) -> Table {
    let mut table = values.table(experiment, figure);
    table.about += &format!("; size {}", experiment.size);
    table
}

/// The part a page begins with.
pub const HEADLINE: &str = "headline";

/// The part that says what was run.
pub const RUN: &str = "run";

/// The parts of an experiment's page, in their order, without those of benchmarks.
fn wanted(experiment: &Experiment) -> Vec<&str> {
    let headline = experiment.headline.iter().map(|_| HEADLINE);
    headline.chain([RUN]).chain(experiment.figures.iter().map(|figure| figure.name.as_str())).collect()
}

/// What a page says about its run, but for the date.
pub fn made_by(experiment: &Experiment) -> String {
    let command =
        |experiment: &Experiment| format!("`raddle reproduce {} {}`", experiment.name, experiment.options().join(" "));
    let of_large = large(experiment).ok().flatten().map(|(large, _)| format!(" and {}", command(&large)));
    let (version, epoch) = (env!("CARGO_PKG_VERSION"), raddle_sim::EPOCH);
    format!(
        "Made by `cargo xtask results {}` from {}{} with Raddle {version}, epoch {epoch} of the model",
        experiment.name,
        command(experiment),
        of_large.unwrap_or_default()
    )
}

/// The epoch since which workloads have kept their cycles and counters: epoch 5 changed loads and stores of matrices,
/// which no workload has.
const SAME_SINCE: u32 = 4;

/// A text that begins with what [`made_by`] says, without the version of the program, and of the epochs that give the
/// workloads the same numbers with the last.
pub fn without_version(text: &str) -> String {
    let parts = text.split_once(" with Raddle ").and_then(|(how, rest)| Some((how, rest.split_once(", epoch ")?.1)));
    let Some((how, rest)) = parts else { return text.to_owned() };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (epoch, rest) = rest.split_at(digits);
    let is_same = epoch.parse().is_ok_and(|epoch: u32| (SAME_SINCE..=raddle_sim::EPOCH).contains(&epoch));
    let epoch = if is_same { raddle_sim::EPOCH.to_string() } else { epoch.to_owned() };
    format!("{how}, epoch {epoch}{rest}")
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
fn check_text(experiment: &Experiment, page: &str) -> std::result::Result<(), String> {
    let parts = parts(page)?;
    same_parts(&parts, wanted(experiment).into_iter())?;
    let made_by = made_by(experiment);
    for (name, text) in parts.into_iter().filter(|(name, _)| paper(name).is_none()) {
        let text = text.trim();
        let figure = experiment.figures.iter().find(|figure| figure.name == name);
        match figure {
            None if name == HEADLINE && !text.starts_with("![") => {
                return Err("it does not begin with a figure".to_owned());
            }
            None if name == HEADLINE => {}
            None if !without_version(text).starts_with(&without_version(&made_by)) => {
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
    use raddle_lab::Record;
    use raddle_lab::record::KernelCounts;
    use raddle_lab::work::InMemory;

    const TEXT: &str = "title = 'T'\nworkloads = ['bfs']\nsize = 'tiny'\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[figure]]\nname = 'a'\ntitle = 'A'\nmetric = 'cycles'\nbars = 'i'\n\
        [[figure]]\nname = 'b'\ntitle = 'B'\nmetric = 'cycles'\nbars = 'i'\n";

    fn page_of(made_by: &str, b: &str) -> String {
        let part = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let table = |title: &str| format!("### {title}\n\n| | x |\n| --- | --: |\n");
        let parts = [part("run", made_by), part("a", &table("A")), part("b", &table(b))];
        let page = with_marks("# T\n\nWords stay.\n", &["run", "a", "b"]).unwrap();
        filled(&page, &parts).unwrap()
    }

    #[test]
    fn a_page_that_is_written_again_is_not_old() {
        let page = format!("# T\n\n{OLDER} For a reason,\nwhich is long.\n\nWords stay.\n");
        assert_eq!(without_older(&page), "# T\n\nWords stay.\n");
        assert_eq!(without_older("# T\n"), "# T\n");
    }

    #[test]
    fn a_page_is_good_until_the_experiment_or_the_model_changes() {
        let experiment = Experiment::parse("t", TEXT).unwrap();
        let good = page_of(&format!("{}, on 2000-01-01.", made_by(&experiment)), "B");
        assert!(good.contains("Words stay.\n"), "{good}");
        assert_eq!(check_text(&experiment, &good), Ok(()));
        let epoch = format!("epoch {}", raddle_sim::EPOCH);
        let of_epoch = |other: u32| good.replace(&epoch, &format!("epoch {other}"));
        assert!(check_text(&experiment, &of_epoch(SAME_SINCE - 1)).unwrap_err().contains("may be old"));
        assert!(check_text(&experiment, &of_epoch(raddle_sim::EPOCH + 1)).unwrap_err().contains("may be old"));
        assert_eq!(check_text(&experiment, &of_epoch(SAME_SINCE)), Ok(()), "workloads are the same");
        let version = concat!("Raddle ", env!("CARGO_PKG_VERSION"));
        assert_eq!(check_text(&experiment, &good.replace(version, "Raddle 0.1.0")), Ok(()), "the model is the same");
        assert!(check_text(&experiment, &good.replace("--size tiny", "--size small")).is_err());
        assert!(check_text(&experiment, &good.replace("### B", "### C")).unwrap_err().contains("title `B`"));
        assert!(check_text(&experiment, &good.replace("results: b", "results: c")).unwrap_err().contains("run, a, c"));
        assert!(check_text(&experiment, &good.replacen("| --- |", "", 1)).unwrap_err().contains("no table"));
    }

    #[test]
    fn epochs_are_the_same_for_workloads_because_none_moves_matrices() {
        let mut folders = vec![root().join("crates/workloads/suite")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "ptx") {
                    let text = fs::read_to_string(&path).unwrap();
                    let moves = ["wmma.", "ldmatrix", "stmatrix"].iter().any(|word| text.contains(word));
                    assert!(!moves, "{}: its results are of another epoch", path.display());
                    files += 1;
                }
            }
        }
        assert!(files > 40, "{files} files");
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
    fn a_page_with_a_headline_begins_with_its_figure() {
        let text = format!("{TEXT}[headline]\ndoes = 'D'\nfigure = 'a'\nbar = 'gto'\nrows = ['mean']\n");
        let experiment = Experiment::parse("t", &text).unwrap();
        let old = page_of(&format!("{}, on 2000-01-01.", made_by(&experiment)), "B");
        assert!(check_text(&experiment, &old).unwrap_err().contains("those of the experiment are headline, run, a, b"));
        let new = with_marks(&old, &wanted(&experiment)).unwrap();
        assert!(new.starts_with("# T\n\n<!-- results: headline -->\n<!-- results: end -->\n"), "{new}");
        assert!(check_text(&experiment, &new).unwrap_err().contains("begin with a figure"));
        let good = new.replacen(" -->\n", " -->\n\n![A](t.svg)\n\n", 1);
        assert_eq!(check_text(&experiment, &good), Ok(()));
        assert_eq!(with_marks(&new, &wanted(&experiment)).unwrap(), new, "nothing comes twice");
    }

    /// What is written of an experiment in which every run takes other cycles.
    fn made_of(text: &str) -> Made {
        let experiment = Experiment::parse("t", text).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        for (n, point) in grid.points.iter().enumerate() {
            let kernels = vec![KernelCounts { cycles: 1000 + 37 * n as u64, ..KernelCounts::default() }];
            results.keep(Record { identity: point.identity(), checked: 1, kernels }).unwrap();
        }
        let (figures, on) = shown(&experiment, &grid, &results).unwrap();
        written(experiment, figures, &on, "2000-01-01").unwrap()
    }

    #[test]
    fn every_digit_of_a_page_that_is_forged_is_named_with_its_part() {
        let text = TEXT.replace("'bfs'", "'bfs', 'spmv'").replace("title = 'A'", "title = 'A'\nagainst = 'speedup'");
        let text = text.replace(
            "[[figure]]\nname = 'b'",
            "paper = [{ row = 'mean', bar = 'gto', value = 1.5 }]\n[[figure]]\nname = 'b'",
        );
        let text =
            format!("{text}[fill]\nwaves = 2\n[headline]\ndoes = 'D'\nfigure = 'a'\nbar = 'gto'\nrows = ['mean']\n");
        let made = made_of(&text);
        let page = with_marks("# T\n", &wanted(&made.experiment)).unwrap();
        let page = filled(&page, &made.parts).unwrap();
        assert_eq!(page_checks::differences("t.md", &page, &made.parts).unwrap(), [""; 0]);
        // All versions of an epoch give the same numbers.
        let version = concat!("Raddle ", env!("CARGO_PKG_VERSION"));
        let is_version =
            |at: &usize| page.match_indices(version).any(|(start, text)| (start..start + text.len()).contains(at));
        for (name, text) in parts(&page).unwrap() {
            let start = text.as_ptr() as usize - page.as_ptr() as usize;
            let digits = text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| start + at);
            let digits = digits.filter(|at| !is_version(at));
            let mut count = 0;
            for at in digits {
                let other = (page.as_bytes()[at] - b'0' + 1) % 10;
                let forged = format!("{}{other}{}", &page[..at], &page[at + 1..]);
                let found = page_checks::differences("t.md", &forged, &made.parts).unwrap();
                assert!(found.len() == 1 && found[0].starts_with(&format!("t.md: part `{name}`: ")), "{found:?}");
                count += 1;
            }
            assert!(count > 5, "{name}: {text}");
        }
        assert_eq!(date_of(&made.parts[0].1), Some("2000-01-01"));
    }
}
