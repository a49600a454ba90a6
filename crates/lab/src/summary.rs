//! The page about several experiments: what each mechanism does, where it wins and where it loses, ours beside the papers'.
//!
//! What is said of an experiment comes from its `[headline]` and its figures; those without a headline are only linked.

use crate::error::Error;
use crate::experiment::{Experiment, Headline, Row};
use crate::figure::Values;
use crate::grid::Grid;
use crate::report::{Report, drawings, figure_files, head};
use crate::svg::escape;
use crate::table::{Cell, Table, TableRow};
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
        let tables = experiment.figures.iter().map(|figure| values.table(experiment, figure)).collect();
        chapters.push(Chapter { experiment, tables, runs: grid.points.len() });
    }
    let overview = overview(&chapters);
    let mut html = head("Warp divergence and scheduling: five papers on one simulator");
    let _ = writeln!(
        html,
        "<p>Every mechanism of five papers, run on the same workloads by one simulator, beside what its paper says. A bar \
         above 1 is a gain over the baseline of that paper; diamonds are the papers' values. Where a mechanism \
         loses, its page says why.</p>"
    );
    let _ = writeln!(
        html,
        "<p class=\"soft\">{} runs. Raddle {}, epoch {} of the model: <code>{}</code>.</p>",
        chapters.iter().map(|chapter| chapter.runs).sum::<usize>(),
        env!("CARGO_PKG_VERSION"),
        raddle_sim::EPOCH,
        escape(command)
    );
    html += &drawings(&overview);
    chapters.iter().for_each(|chapter| html += &chapter.html());
    html += "</body>\n</html>\n";
    let mut files = vec![("index.html".to_owned(), html.into_bytes())];
    files.extend(figure_files(&overview));
    let missing = chapters.iter().flat_map(|chapter| &chapter.tables).map(Table::missing).sum();
    Ok(Report { files, missing, damaged })
}

/// The headlines of all experiments in one figure.
fn overview(chapters: &[Chapter<'_>]) -> Table {
    let mut rows = Vec::new();
    for chapter in chapters {
        let Some((headline, table)) = chapter.headline() else { continue };
        if table.neutral != Some(1.0) {
            continue;
        }
        for row in headline.rows.iter().filter_map(|row| find(table, row)) {
            let group = row.name.trim_start_matches("mean, ");
            let name = format!("{}, {group}", table.bars[headline.bar]);
            let cell = row.cells[headline.bar].clone().map(|cell| gain(cell, headline.is_less_better));
            rows.push(TableRow { name, is_mean: false, cells: vec![cell] });
        }
    }
    Table {
        name: "overview".to_owned(),
        title: "Gain over the baseline of each paper".to_owned(),
        about: "means over the workloads that stand for the paper's".to_owned(),
        source: "each paper's own mean".to_owned(),
        bars: vec!["Raddle".to_owned()],
        baseline: None,
        parts: Vec::new(),
        neutral: Some(1.0),
        is_count: false,
        rows,
    }
}

/// A value as what is gained, without what it is a mean over.
fn gain(cell: Cell, is_less_better: bool) -> Cell {
    let over = None;
    if !is_less_better {
        return Cell { over, ..cell };
    }
    let (value, low, high) = (1.0 / cell.value, 1.0 / cell.high, 1.0 / cell.low);
    Cell { value, low, high, paper: cell.paper.map(|paper| 1.0 / paper), over, ..cell }
}

/// The row of a table.
fn find<'t>(table: &'t Table, row: &Row) -> Option<&'t TableRow> {
    let name = match row {
        Row::Mean => "mean, all".to_owned(),
        Row::GroupMean(group) => format!("mean, {group}"),
        Row::Workload(workload) => workload.clone(),
        Row::Kernel { workload, kernel } => format!("{workload}/{kernel}"),
        Row::Variant(number) => return table.rows.get(*number),
    };
    table.rows.iter().find(|row| row.name == name)
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
        html += &self.beside_paper();
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

    /// Every value the paper prints, with ours.
    fn beside_paper(&self) -> String {
        let (mut rows, mut seen) = (String::new(), Vec::new());
        for table in &self.tables {
            for (row, bar, cell) in table.rows.iter().flat_map(|row| {
                let cells = table.bars.iter().zip(&row.cells);
                cells.filter_map(move |(bar, cell)| Some((row, bar, cell.as_ref().ok()?)))
            }) {
                let Some(paper) = cell.paper.filter(|_| row.is_mean) else { continue };
                let what = (table.about.clone(), row.name.clone(), bar.clone(), paper.to_bits());
                if seen.contains(&what) {
                    continue;
                }
                seen.push(what);
                let _ = writeln!(
                    rows,
                    "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                    escape(&table.title),
                    escape(row.name.trim_start_matches("mean, ")),
                    escape(bar),
                    table.number(cell.value),
                    table.number(paper)
                );
            }
        }
        if rows.is_empty() {
            return rows;
        }
        let head = "<tr><th>figure</th><th>mean over</th><th></th><th>Raddle</th><th>paper</th></tr>";
        format!("<div class=\"wide\"><table>\n{head}\n{rows}</table></div>\n")
    }
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
        assert!(page.contains("<td>all</td><td>gto</td>") && page.contains("<td>1.500</td></tr>"), "{page}");
        assert!(page.contains("href=\"t/index.html\""));
        let names: Vec<&str> = report.files.iter().map(|file| file.0.as_str()).collect();
        assert_eq!(names, ["index.html", "overview.svg", "overview.png", "overview.csv"]);
        let csv = String::from_utf8(report.files[3].1.clone()).unwrap();
        assert!(csv.contains("gto, all"), "{csv}");
    }

    #[test]
    fn where_less_is_better_gains_are_inverse() {
        let cell = Cell { value: 0.8, low: 0.5, high: 1.0, paper: Some(0.5), ..Cell::default() };
        let gained = gain(cell.clone(), true);
        assert_eq!((gained.value, gained.low, gained.high, gained.paper), (1.25, 1.0, 2.0, Some(2.0)));
        assert_eq!(gain(cell.clone(), false), cell);
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
