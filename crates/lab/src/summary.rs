//! The page about several experiments: what each mechanism does, where it wins and where it loses, ours beside the papers'.
//!
//! What is said of an experiment comes from its `[headline]` and its figures; those without a headline are only linked.

use crate::agreement::Class;
use crate::drawing::Medium;
use crate::error::Error;
use crate::experiment::{Experiment, Headline};
use crate::export::figures_csv;
use crate::figure::Values;
use crate::grid::Grid;
use crate::numbers::{Counts, Number, numbers};
use crate::overview::{Overview, WIDTHS};
use crate::report::{Report, beside_paper, head, picture_files, rules};
use crate::svg::{escape, svg};
use crate::table::{Table, TableRow};
use crate::work::Results;
use std::fmt::Write as _;

/// A difference of less than this is none.
const EVEN: f64 = 0.01;

/// Workloads that are named where a mechanism wins or loses.
const NAMED: usize = 4;

/// An experiment with its values.
struct Chapter<'e> {
    experiment: &'e Experiment,
    tables: Vec<Table>,
    numbers: Vec<Number>,
    runs: usize,
}

/// Makes the page; `command` is what a reader can run to get the same. The report of an experiment is expected in the
/// folder of its name.
///
/// # Errors
/// When results cannot be read.
pub fn summary(parts: &[(Experiment, Grid)], results: &impl Results, command: &str) -> Result<Report, Error> {
    let (mut chapters, mut damaged) = (Vec::new(), 0);
    for (experiment, grid) in parts {
        let values = Values::read(experiment, grid, results)?;
        damaged += values.damaged();
        let tables: Vec<Table> = experiment.figures.iter().map(|figure| values.table(experiment, figure)).collect();
        let numbers = numbers(experiment, &tables);
        chapters.push(Chapter { experiment, tables, numbers, runs: grid.points.len() });
    }
    let overview = Overview::new(chapters.iter().map(|chapter| (chapter.experiment, &chapter.tables[..])));
    let mut html = head("Warp divergence and scheduling: five papers on one simulator");
    let _ = writeln!(
        html,
        "<p>Every mechanism of five papers, run on the same workloads by one simulator, beside what its paper says. Bars \
         are ours, diamonds are the papers' values. Where a mechanism loses, its page says why.</p>"
    );
    let _ = writeln!(
        html,
        "<p class=\"soft\">{} runs. Raddle {}, epoch {} of the model: <code>{}</code>.</p>",
        chapters.iter().map(|chapter| chapter.runs).sum::<usize>(),
        env!("CARGO_PKG_VERSION"),
        raddle_sim::EPOCH,
        escape(command)
    );
    for (class, width) in ["desk", "phone"].into_iter().zip(WIDTHS) {
        let _ = writeln!(html, "<div class=\"wide {class}\">{}</div>", svg(&overview.drawing(width), false));
    }
    html += &counts(&chapters);
    chapters.iter().for_each(|chapter| html += &chapter.html());
    html += "</body>\n</html>\n";
    let mut files = vec![("index.html".to_owned(), html.into_bytes())];
    let (picture, table) = (overview.drawing(WIDTHS[0]), overview.table());
    files.extend(picture_files("overview", &picture, Medium::Screen));
    files.push(("overview.csv".to_owned(), figures_csv(&[table]).into_bytes()));
    let missing = chapters.iter().flat_map(|chapter| &chapter.tables).map(Table::missing).sum();
    let numbers = chapters.into_iter().flat_map(|chapter| chapter.numbers).collect();
    Ok(Report { files, missing, damaged, numbers, tables: Vec::new() })
}

impl Chapter<'_> {
    fn headline(&self) -> Option<(&Headline, &Table)> {
        let headline = self.experiment.headline.as_ref()?;
        Some((headline, &self.tables[headline.figure]))
    }

    fn html(&self) -> String {
        let Experiment { name, title, .. } = self.experiment;
        let name = escape(name);
        let mut html = format!("<h2 id=\"{name}\">{}</h2>\n", escape(title));
        if let Some((headline, table)) = self.headline() {
            let _ = writeln!(html, "<p>{}</p>", escape(headline.does.trim()));
            html += &wins(headline, table);
        }
        html += &beside_paper(&self.numbers);
        let missing: usize = self.tables.iter().map(Table::missing).sum();
        if missing > 0 {
            let _ = writeln!(html, "<p><strong>{missing} values are missing:</strong> not all runs have a result.</p>");
        }
        let _ = writeln!(
            html,
            "<p class=\"soft\">{} runs: <a href=\"{name}/index.html\">all figures and values</a>.</p>",
            self.runs
        );
        html
    }
}

/// How many numbers of each paper agree.
fn counts(chapters: &[Chapter<'_>]) -> String {
    let mut rows = String::new();
    for chapter in chapters.iter().filter(|chapter| !chapter.numbers.is_empty()) {
        let [means, others] = Counts::of_means_and_others(&chapter.numbers);
        let cells = |counts: Counts| counts.classes.map(|n| format!("<td>{n}</td>")).concat();
        let _ = writeln!(
            rows,
            "<tr><td><a href=\"#{}\">{}</a></td>{}{}</tr>",
            escape(&chapter.experiment.name),
            escape(&chapter.experiment.title),
            cells(means),
            cells(others)
        );
    }
    let classes = Class::ALL.map(|class| format!("<th>{class}</th>")).concat();
    format!(
        "<p>How many numbers of each paper agree with ours: means, then rows of single programs. {}</p>\n\
         <div class=\"wide\"><table>\n<tr><th></th><th colspan=\"3\">means</th><th colspan=\"3\">single programs</th></tr>\n\
         <tr><th></th>{classes}{classes}</tr>\n{rows}</table></div>\n",
        rules()
    )
}

/// Where a mechanism wins and where it loses, in words.
fn wins(headline: &Headline, table: &Table) -> String {
    let Some(neutral) = table.neutral else { return String::new() };
    let value = |row: &TableRow| row.cells[headline.bar].as_ref().ok().map(|cell| (cell.value, row.name.clone()));
    let mut all: Vec<(f64, String)> = table.rows.iter().filter(|row| !row.is_mean).filter_map(value).collect();
    // The best first.
    let is_less_better = headline.is_less_better;
    all.sort_by(|a, b| if is_less_better { a.0.total_cmp(&b.0) } else { b.0.total_cmp(&a.0) });
    let named = |count: usize, some: &mut dyn Iterator<Item = &(f64, String)>| {
        let named = count.min(NAMED);
        let texts = some.take(named).map(|(value, name)| format!("{} {}", escape(name), table.number(*value)));
        format!("{}{}", if count > named { "most on " } else { "" }, texts.collect::<Vec<_>>().join(", "))
    };
    let above = all.iter().filter(|(value, _)| *value > neutral + EVEN).count();
    let below = all.iter().filter(|(value, _)| *value < neutral - EVEN).count();
    let (won, lost) = if is_less_better { (below, above) } else { (above, below) };
    let mut html = format!("<p><strong>{}</strong>", escape(&table.bars[headline.bar]));
    let _ = write!(html, " gains over 1 % on {won} of {}", all.len());
    if won > 0 {
        let _ = write!(html, " ({})", named(won, &mut all.iter()));
    }
    let _ = write!(html, " and loses over 1 % on {lost}");
    if lost > 0 {
        let _ = write!(html, " ({})", named(lost, &mut all.iter().rev()));
    }
    html + ".</p>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{InMemory, Options, run};

    const TEXT: &str = "title = 'T <1>'\nworkloads = ['spmv', 'walsh']\nsize = 'tiny'\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\n\
        paper = [{ row = 'mean', bar = 'gto', value = 1.5 }]\n\
        [headline]\ndoes = 'Greedy.'\nfigure = 'f'\nbar = 'gto'\nrows = ['mean']\n";

    fn page(text: &str, has_results: bool) -> (Report, String) {
        let experiment = Experiment::parse("t", text).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        if has_results {
            run(&grid.points, &mut results, Options { jobs: 2, cores: 2 }, &|_| {}).unwrap();
        }
        let report = summary(&[(experiment, grid)], &results, "raddle reproduce all").unwrap();
        let page = String::from_utf8(report.files[0].1.clone()).unwrap();
        (report, page)
    }

    #[test]
    fn a_chapter_says_what_it_does_where_it_wins_and_what_the_paper_has() {
        let (report, page) = page(TEXT, true);
        assert_eq!(report.missing, 0);
        assert!(page.contains("T &lt;1&gt;") && page.contains("<p>Greedy.</p>"), "{page}");
        assert!(
            page.contains("<strong>gto</strong> gains over 1 % on") && page.contains("and loses over 1 % on"),
            "{page}"
        );
        assert!(page.contains("<td>F: mean, all, gto</td><td>1.500</td>"), "{page}");
        assert!(page.contains("href=\"t/index.html\""));
        let names: Vec<&str> = report.files.iter().map(|file| file.0.as_str()).collect();
        assert_eq!(names, ["index.html", "overview.svg", "overview.png", "overview.pdf", "overview.csv"]);
        let csv = String::from_utf8(report.files[4].1.clone()).unwrap();
        assert!(csv.contains("T <1>, mean"), "{csv}");
    }

    #[test]
    fn where_less_is_better_those_below_win() {
        let text = TEXT.replace("against = 'speedup'", "against = 'ratio'") + "less-is-better = true\n";
        let ((_, plain), (_, less)) = (page(TEXT, true), page(&text, true));
        let counts = |page: &str| page.split("gains over 1 % on ").nth(1).and_then(|t| t.chars().next());
        assert_eq!(counts(&plain), counts(&less), "as many win");
    }

    #[test]
    fn what_is_missing_is_said() {
        let (report, page) = page(TEXT, false);
        assert!(report.missing > 0 && page.contains("values are missing"));
    }

    #[test]
    fn mistakes_in_a_headline_have_their_place() {
        for (good, wrong, at) in
            [("figure = 'f'\nbar", "figure = 'g'\nbar", "'g'"), ("rows = ['mean']", "rows = ['mene']", "'mene'")]
        {
            let text = TEXT.replace(good, wrong);
            let problem = Experiment::parse("t", &text).unwrap_err();
            assert_eq!(problem.at.map(|at| text[at].to_owned()).as_deref(), Some(at));
        }
    }
}
