//! Reports: one page that needs nothing else, and for each figure drawings and a table.
//!
//! The bytes depend on the experiment and its results alone: no dates, hosts or paths.

mod beside;

use crate::agreement::Class;
use crate::chart::{Layout, draw, hover, number, opening, part_hover, small};
use crate::drawing::{Colours, Drawing, GROUND, Ink, Medium, Rgb};
use crate::error::{Error, writing};
use crate::experiment::Experiment;
use crate::export::{figures_csv, to_csv};
use crate::figure::{Trouble, Values};
use crate::fill::{self, Filled};
use crate::grid::Grid;
use crate::machines;
use crate::markdown::capital;
use crate::numbers::{Number, numbers};
use crate::picture::{Format, Width};
use crate::store::replace;
use crate::svg::{escape, hex, style, svg};
use crate::table::{Cell, Gap, Table, TableRow};
use crate::timeline::Timeline;
use crate::work::Results;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) use beside::{beside_paper, rules};

/// A report: files by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Name and contents; the page is `index.html`.
    pub files: Vec<(String, Vec<u8>)>,
    /// Values that are missing from figures.
    pub missing: usize,
    /// Results that are there but cannot be read.
    pub damaged: usize,
    /// The numbers of papers it has, beside ours.
    pub numbers: Vec<Number>,
    /// The figures of the experiment.
    pub tables: Vec<Table>,
}

impl Report {
    /// Makes the report of an experiment; `command` is what a reader can run to get the same. With a width, the files of
    /// figures are for a paper.
    ///
    /// # Errors
    /// When results cannot be read.
    pub fn new(
        experiment: &Experiment,
        grid: &Grid,
        results: &impl Results,
        command: &str,
        width: Option<Width>,
    ) -> Result<Self, Error> {
        let values = Values::read(experiment, grid, results)?;
        let tables: Vec<Table> = experiment.figures.iter().map(|figure| values.table(experiment, figure)).collect();
        let troubles = values.troubles(experiment);
        let machines = fill::machines(experiment, grid, &values);
        let numbers = numbers(experiment, &tables);
        let timelines = timelines(experiment, grid, results)?;
        let mut page = page(experiment, grid, (&tables, &machines), &numbers, command);
        page += &timeline_sections(experiment, &timelines);
        page += &machines::html(experiment, &machines);
        page += &end(grid, &troubles);
        let mut files = vec![("index.html".to_owned(), page.into_bytes())];
        for table in &tables {
            files.extend(figure_files(table, width));
        }
        for (timeline, drawn) in &timelines {
            files.extend(drawn.iter().flat_map(|drawing| picture_files(&timeline.name, drawing, Medium::Screen)));
        }
        files.push(("points.csv".to_owned(), points(experiment, grid, &values).into_bytes()));
        let missing = tables.iter().map(Table::missing).sum();
        Ok(Self { files, missing, damaged: values.damaged(), numbers, tables })
    }

    /// Writes its files to a folder, which is made if there is none.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        std::fs::create_dir_all(folder).map_err(writing(folder))?;
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            replace(&path, bytes).map_err(writing(&path))?;
        }
        Ok(())
    }
}

/// Every point with the metrics of the experiment.
fn points(experiment: &Experiment, grid: &Grid, values: &Values<'_>) -> String {
    let mut head = ["key", "workload", "class", "size", "seed", "heap_offset", "sms", "channels", "dram_mhz"]
        .map(str::to_owned)
        .to_vec();
    head.extend(experiment.axes.iter().map(|axis| axis.name.clone()));
    head.push("repeat".to_owned());
    head.extend(experiment.metrics.iter().map(ToString::to_string));
    let mut rows = vec![head];
    grid.each(|choices, program, repeat, point| {
        let mut row = vec![
            point.key.to_string(),
            grid.programs[program].name.to_owned(),
            grid.programs[program].class.map_or_else(|| "-".to_owned(), |class| class.to_string()),
            point.size.to_string(),
            point.seed.to_string(),
            point.heap_offset.to_string(),
        ];
        let config = &point.target.config;
        row.extend([config.gpu.sms, config.dram.channels, config.clock.dram].map(|n| n.to_string()));
        row.extend(experiment.axes.iter().zip(choices).map(|(axis, choice)| axis.variants[*choice].label.clone()));
        row.push(repeat.to_string());
        let value = |metric| values.get(&point.key, metric).map(|value| value.to_string()).unwrap_or_default();
        row.extend(experiment.metrics.iter().map(value));
        rows.push(row);
    });
    to_csv(&rows)
}

/// What sorts and filters tables, and changes their baseline.
const TOOLS: &str = include_str!("report/tools.js");

const STYLE: &str = "\
*{box-sizing:border-box}body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}h1{font-size:1.6rem;line-height:1.2}\
h2{font-size:1.2rem;line-height:1.3;margin:2.4rem 0 .2rem}p{margin:.4rem 0;max-width:46rem}a{color:var(--link)}\
.soft,.note{color:var(--soft)}.note{font-size:.9rem}.wide{overflow-x:auto;margin:.6rem 0}\
.chart{display:block;max-width:100%;height:auto}.phone{display:none}\
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}\
th,td{padding:.2rem .7rem;text-align:right;white-space:nowrap;vertical-align:top;border-bottom:1px solid var(--line)}\
th:first-child,td:first-child{text-align:left;padding-left:0;position:sticky;left:0;background:var(--paper)}\
th{white-space:normal;vertical-align:bottom}\
.many{font-size:.8rem}.many th,.many td{padding:.2rem .35rem}.many small{display:block}\
.numbers th,.numbers td{text-align:right}.numbers td:first-child,.numbers td.why,.numbers th:first-child,.numbers th.why{text-align:left;white-space:normal}\
tr.mean td,tr.head td{font-weight:600}tr.head td{padding-top:.7rem}tr td.weak{color:var(--soft);font-weight:400}\
small{color:var(--soft);font-weight:400}small.paper{display:block}\
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--link)}\
th[aria-sort=descending] button::after{content:' ▼'}th[aria-sort=ascending] button::after{content:' ▲'}\
.tools{display:block;position:relative;font-size:.9rem;margin:.6rem 0}div.tools{position:sticky;top:0;z-index:1;\
padding:.3rem 0;background:var(--paper)}.tools input,.tools select{font:inherit;max-width:100%;color:inherit;\
background:var(--paper);border:1px solid var(--line);border-radius:4px;padding:.15rem .4rem}\
code{font:.85em ui-monospace,monospace}summary{cursor:pointer;color:var(--link);padding:.3rem 0}\
@media(max-width:40rem){.desk{display:none}.phone{display:block}table{font-size:.8rem}th,td{padding:.2rem .3rem}h1{font-size:1.35rem}small{display:block}}";

fn page(
    experiment: &Experiment,
    grid: &Grid,
    (tables, machines): (&[Table], &[Filled]),
    numbers: &[Number],
    command: &str,
) -> String {
    let mut html = head(&experiment.title);
    for paragraph in experiment.about.split("\n\n").filter(|p| !p.trim().is_empty()) {
        let _ = writeln!(html, "<p>{}</p>", escape(paragraph.trim()));
    }
    html += &facts(experiment, grid, command);
    html += &machines::paragraphs(experiment, machines);
    if let Some(table) = headline_table(experiment, tables) {
        let _ = writeln!(html, "<h2>{}</h2>", escape(&table.title));
        html += &drawings(&table, Layout::OPENINGS[1]);
    }
    if !numbers.is_empty() {
        let _ = writeln!(html, "<h2>Beside the paper</h2>\n<p class=\"soft\">{}</p>", rules());
        html += &beside_paper(numbers);
    }
    if tables.len() > 1 {
        html += "<ul>\n";
        for table in tables {
            let _ = writeln!(html, "<li><a href=\"#{}\">{}</a></li>", escape(&table.name), escape(&table.title));
        }
        html += "</ul>\n";
    }
    for table in tables {
        html += &section(&machines::marked(table, machines));
    }
    html
}

/// What a page ends with: what has no result, and why.
fn end(grid: &Grid, troubles: &[Trouble]) -> String {
    let mut html = String::new();
    let of = |is_refusal: bool| troubles.iter().filter(move |t| t.is_refusal == is_refusal).map(|t| t.line.as_str());
    html += &list("Failed", of(false));
    html += &list("Refused", of(true));
    html += &list("Left out", grid.left_out.iter().map(String::as_str));
    html + "<script>\n" + TOOLS + "</script>\n</body>\n</html>\n"
}

/// Timelines of points that have a result, drawn, or why they cannot be.
fn timelines<'e>(
    experiment: &'e Experiment,
    grid: &Grid,
    results: &impl Results,
) -> Result<Vec<(&'e Timeline, Drawn)>, Error> {
    let mut all = Vec::new();
    for timeline in &experiment.timelines {
        let Some(point) = timeline.point(grid) else { continue };
        if results.has(&point.key)? {
            all.push((timeline, timeline.draw(point)));
        }
    }
    Ok(all)
}

/// A drawing, or why there is none.
type Drawn = Result<Drawing, String>;

fn timeline_sections(experiment: &Experiment, timelines: &[(&Timeline, Drawn)]) -> String {
    let mut html = String::new();
    for (timeline, drawn) in timelines {
        let Timeline { name, title, source, .. } = timeline;
        let source = if source.is_empty() { String::new() } else { format!("; in the paper: {}", escape(source)) };
        let (name, about) = (escape(name), escape(&timeline.about(experiment)));
        let _ = writeln!(html, "<h2 id=\"{name}\">{}</h2>\n<p class=\"soft\">{about}{source}.</p>", escape(title));
        let _ = match drawn {
            Ok(drawing) => writeln!(html, "<div class=\"wide\">{}</div>", svg(drawing, false)),
            Err(why) => writeln!(html, "<p>{}</p>", escape(why)),
        };
    }
    html
}

/// The figure a page begins with, with the title of its axis; none where the experiment has no headline.
#[must_use]
pub fn headline_table(experiment: &Experiment, tables: &[Table]) -> Option<Table> {
    let headline = experiment.headline.as_ref()?;
    let mut table = opening(&tables[headline.opening]);
    if headline.opening == headline.figure {
        let direction = if headline.is_less_better { "less" } else { "more" };
        table.axis = format!("{}: {direction} is better", headline.axis);
    }
    Some(table)
}

/// The beginning of a page, with its title.
pub(crate) fn head(title: &str) -> String {
    let mut html = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
    let _ = writeln!(html, "<title>{}</title>", escape(title));
    let _ = writeln!(html, "<style>{}{}{STYLE}</style>\n</head>\n<body>", variables(), style());
    let _ = writeln!(html, "<h1>{}</h1>", escape(title));
    html
}

/// The drawing of a table, for wide and for narrow screens.
fn drawings(table: &Table, wide: Layout) -> String {
    let mut html = String::new();
    for (class, layout) in [("desk", wide), ("phone", Layout::PHONE)] {
        let _ = writeln!(html, "<div class=\"wide {class}\">{}</div>", svg(&draw(table, layout), false));
    }
    html
}

/// The files of a figure.
fn figure_files(table: &Table, width: Option<Width>) -> Vec<(String, Vec<u8>)> {
    let (layout, medium) = Layout::exported(width);
    let mut files = picture_files(&table.name, &draw(table, layout), medium).to_vec();
    files.push((format!("{}.csv", table.name), figures_csv(std::slice::from_ref(table)).into_bytes()));
    files
}

/// The files of a picture.
pub(crate) fn picture_files(name: &str, drawing: &Drawing, medium: Medium) -> [(String, Vec<u8>); 3] {
    Format::ALL.map(|format| (format!("{name}.{}", format.ending()), format.file(drawing, medium)))
}

/// Lines under a heading; nothing when there are none.
fn list<'l>(heading: &str, lines: impl Iterator<Item = &'l str>) -> String {
    let items: String = lines.map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    if items.is_empty() { items } else { format!("<h2>{heading}</h2>\n<ul>\n{items}</ul>\n") }
}

/// The colours of the page, by name.
fn variables() -> String {
    let set = |pick: fn(Colours) -> Rgb| {
        let inks = [("ink", Ink::Text), ("soft", Ink::Soft), ("line", Ink::Grid), ("link", Ink::Bar(0))];
        let inks = inks.map(|(name, ink)| format!("--{name}:{};", hex(pick(ink.colours()))));
        format!(":root{{color-scheme:light dark;{}--paper:{}}}", inks.concat(), hex(pick(GROUND)))
    };
    format!("{}@media(prefers-color-scheme:dark){{{}}}", set(|(light, _)| light), set(|(_, dark)| dark))
}

fn facts(experiment: &Experiment, grid: &Grid, command: &str) -> String {
    let mut sizes: Vec<&str> = grid.points.iter().map(|point| point.size.name()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (runs, repeats, workloads) = (grid.points.len(), grid.repeats(), grid.programs.len());
    let mut text = format!("<p class=\"soft\">{runs} runs: {workloads} workloads at size {}", sizes.join(", "));
    if repeats > 1 {
        let _ = write!(
            text,
            ", everything {repeats} times under harmless changes. Values are means over these, whiskers span them, and \
             the number after ± is half of what they span. Pale bars and values in grey with ≈ are closer to the \
             baseline than that: they are not distinguishable from noise"
        );
    }
    let _ = writeln!(
        text,
        ".</p>\n<p class=\"soft\">Raddle {}, epoch {} of the model: <code>{}</code>. Machine {}. All runs: \
         <a href=\"points.csv\">points.csv</a>.</p>",
        env!("CARGO_PKG_VERSION"),
        raddle_sim::EPOCH,
        escape(command),
        escape(&experiment.base.name().text),
    );
    text
}

fn section(table: &Table) -> String {
    let name = escape(&table.name);
    let mut html = format!(
        "<section class=\"figure\">\n<h2 id=\"{name}\">{}</h2>\n<p class=\"soft\">{}.",
        escape(&table.title),
        escape(&capital(&table.about))
    );
    if !table.source.is_empty() {
        let _ = write!(html, " Diamonds and small numbers are the paper's values: {}.", escape(&table.source));
    }
    if !table.reading.is_empty() {
        let _ =
            write!(html, " Circles and numbers with ○ are our other reading of the paper: {}.", escape(&table.reading));
    }
    if !table.whiskers.is_empty() {
        let _ = write!(html, " {}.", escape(&capital(&table.whiskers)));
    }
    let links = ["svg", "png", "pdf", "csv"].map(|end| format!("<a href=\"{name}.{end}\">{}</a>", end.to_uppercase()));
    let _ = writeln!(html, " {}</p>", links.join(", "));
    if table.missing() > 0 {
        let _ = writeln!(
            html,
            "<p><strong>{} values are missing or not of all:</strong> not all runs have a result.</p>",
            table.missing()
        );
    }
    let (means, others): (Vec<&TableRow>, Vec<&TableRow>) = table.rows.iter().partition(|row| row.is_mean);
    if !means.is_empty() {
        html += &values(table, &means);
    }
    html += &drawings(table, Layout::PAGE);
    if means.is_empty() {
        return html + &values(table, &others) + "</section>\n";
    }
    html += "<details><summary>Values of each row</summary>\n";
    html + &values(table, &others) + "</details>\n</section>\n"
}

/// More columns than these are set close, so that all are seen on a screen of 1280 dots.
const FEW_COLUMNS: usize = 8;

/// The start of a table of a class, with another attribute and so many columns of values, to the end of its first head.
fn start_of_table(class: &str, attribute: &str, columns: usize) -> String {
    let many = if columns > FEW_COLUMNS { " many" } else { "" };
    format!("<div class=\"wide\"><table class=\"{class}{many}\"{attribute}>\n<tr><th></th>")
}

/// Some rows of a table.
fn values(table: &Table, rows: &[&TableRow]) -> String {
    if !table.parts.is_empty() {
        return values_of_parts(table, rows);
    }
    let geometric = if table.has_geometric_means { " data-geometric" } else { "" };
    let mut html = start_of_table("values", geometric, table.bars.len());
    for (n, bar) in table.bars.iter().enumerate() {
        let note = if table.baseline == Some(n) { " <small>baseline</small>" } else { "" };
        let _ = write!(html, "<th>{}{note}</th>", escape(bar));
    }
    html += "</tr>\n";
    for row in rows {
        let class = if row.is_mean { " class=\"mean\"" } else { "" };
        let _ = write!(html, "<tr{class}><td>{}</td>", escape(&row.name));
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            html += &match cell {
                Err(gap) => no_value(*gap, 1),
                Ok(cell) => one_value(
                    table,
                    cell,
                    &hover(table, &row.name, bar, cell),
                    table.is_within_spread(cell),
                    table.class(cell),
                ),
            };
        }
        html += "</tr>\n";
    }
    html += "</table></div>\n";
    let mut shown = rows.iter().flat_map(|row| row.cells.iter().flatten());
    if shown.any(|cell| table.is_within_spread(cell)) {
        html += "<p class=\"note\">≈ not distinguishable from noise</p>\n";
    }
    html
}

/// Some rows of stacked bars: a line for each bar, a column for each part.
fn values_of_parts(table: &Table, rows: &[&TableRow]) -> String {
    let mut html = start_of_table("parts", "", table.parts.len() + 1);
    html.extend(table.parts.iter().map(|part| format!("<th>{}</th>", escape(part))));
    html += "<th>whole</th></tr>\n";
    for row in rows {
        let _ = writeln!(
            html,
            "<tr class=\"head\"><td>{}</td><td colspan=\"{}\"></td></tr>",
            escape(&row.name),
            table.parts.len() + 1
        );
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            let note = cell.as_ref().ok().and_then(Cell::note).map(|note| format!(" <small>{note}</small>"));
            let _ = write!(html, "<tr><td>{}{}</td>", escape(bar), note.unwrap_or_default());
            match cell {
                Err(gap) => html += &no_value(*gap, table.parts.len() + 1),
                Ok(cell) => {
                    // It has been said what they are over.
                    let bare = |cell: &Cell| Cell { over: None, ..cell.clone() };
                    for (part, of) in table.parts.iter().zip(&cell.parts) {
                        let hover = part_hover(&row.name, bar, part, of, cell);
                        html += &one_value(table, &bare(of), &hover, false, table.class_of_part(of));
                    }
                    html += &one_value(
                        table,
                        &bare(cell),
                        &hover(table, &row.name, bar, cell),
                        table.is_within_spread(cell),
                        table.class(cell),
                    );
                }
            }
            html += "</tr>\n";
        }
    }
    html + "</table></div>\n"
}

/// What stands in the place of so many values.
fn no_value(gap: Gap, columns: usize) -> String {
    let text = if gap.text() == "-" { "–" } else { gap.text() };
    format!("<td class=\"weak\">{text}</td>") + &"<td class=\"weak\">–</td>".repeat(columns - 1)
}

/// A value with its spread, what it is over, the paper's with its class, and that of our other reading.
fn one_value(table: &Table, cell: &Cell, title: &str, is_weak: bool, class: Option<Class>) -> String {
    let (td, mark) = if is_weak { (" class=\"weak\"", "≈ ") } else { ("", "") };
    let is_seen = cell.spread() >= 0.000_05;
    let spread = if is_seen { format!(" <small>±{}</small>", small(cell.spread())) } else { String::new() };
    let class = class.map(|class| format!(" <small class=\"paper\">{class}</small>")).unwrap_or_default();
    let paper = |p| format!(" <small class=\"paper\">paper {}</small>{class}", number(p));
    let other = |value| format!(" <small class=\"paper\">○ {}</small>", table.number(value));
    let (paper, other) = (cell.paper.map(paper), cell.by_other_reading().map(other));
    let note = cell.note().map(|note| format!(" <small>{note}</small>"));
    let more = [note, paper, other].map(Option::unwrap_or_default).concat();
    format!(
        "<td{td} data-v=\"{}\" title=\"{}\">{mark}{}{spread}{more}</td>",
        cell.value,
        escape(title),
        table.number(cell.value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::{stacked, table};
    use crate::work::{InMemory, Options, run};

    #[test]
    fn tables_have_values_spread_and_paper() {
        let html = section(&table());
        assert!(
            html.contains("1.250 <small>±0.010</small> <small class=\"paper\">paper 1.400</small> <small class=\"paper\">partly</small>"),
            "{html}"
        );
        assert!(html.contains("<small class=\"paper\">○ 1.300</small>"), "{html}");
        assert!(html.contains("class=\"weak\" data-v=\"1.005\" title=\"mean, all, gto: 1.005"), "{html}");
        assert!(html.contains("1.005 <small>±0.010</small> <small>1 of 2</small></td>"), "{html}");
        assert!(html.contains("<td class=\"weak\">refused</td>") && !html.contains("are missing"), "{html}");
        let mut lacking = table();
        lacking.rows[1].cells[1] = Err(Gap::NoResult);
        let html = section(&lacking);
        assert!(html.contains("<td class=\"weak\">–</td>") && html.contains("1 values are missing"), "{html}");
    }

    #[test]
    fn scripts_find_what_they_change() {
        let html = section(&table());
        assert!(html.starts_with("<section class=\"figure\">") && html.ends_with("</section>\n"), "{html}");
        assert!(html.contains("<table class=\"values\" data-geometric>"), "{html}");
        assert!(html.contains("<td data-v=\"1.25\" title="), "{html}");
        let arithmetic = section(&Table { has_geometric_means: false, ..table() });
        assert!(arithmetic.contains("<table class=\"values\">"), "{arithmetic}");
        assert!(section(&stacked()).contains("<table class=\"parts\">"));
        // A page must not end its script early.
        assert!(!TOOLS.contains("</"));
    }

    #[test]
    fn stacked_bars_have_a_column_for_each_part() {
        let html = section(&stacked());
        assert!(html.contains("<th>issued</th><th>empty</th><th>whole</th>"));
        assert_eq!(html.matches("1 of 2</small>").count(), 1, "beside the bar, not with each part");
        assert!(html.contains("title=\"bfs, gto, issued: 0.250 of 1.250; paper 0.500\">0.250"), "{html}");
    }

    #[test]
    fn a_report_is_the_same_however_results_came_in() {
        let text = "title = 'T'\nworkloads = ['spmv', 'walsh']\nsize = 'tiny'\n\
            [repeats]\ncount = 2\nvary = ['heap', 'dispatch']\n\
            [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
            [[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\n";
        let experiment = Experiment::parse("t", text).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let (mut one, mut two) = (InMemory::default(), InMemory::default());
        let before = Report::new(&experiment, &grid, &one, "raddle", None).unwrap();
        assert!(before.missing > 0);
        run(&grid.points, &mut one, Options { jobs: 2, cores: 2 }, &|_| {}).unwrap();
        let reversed: Vec<_> = grid.points.iter().rev().cloned().collect();
        run(&reversed, &mut two, Options { jobs: 1, cores: 1 }, &|_| {}).unwrap();
        let report = Report::new(&experiment, &grid, &one, "raddle", None).unwrap();
        assert_eq!(report, Report::new(&experiment, &grid, &two, "raddle", None).unwrap());
        assert_eq!(report.missing, 0);
        let names: Vec<&str> = report.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["index.html", "f.svg", "f.png", "f.pdf", "f.csv", "points.csv"]);
        let text = |n: usize| String::from_utf8(report.files[n].1.clone()).unwrap();
        assert_eq!(text(5).lines().count(), 1 + 2 * 2 * 2);
        assert!(!text(0).contains("http"), "nothing comes from the network");
        assert!(!text(0).contains("Refused"));
    }

    #[test]
    fn what_is_refused_is_listed() {
        let text = "title = 'T'\nworkloads = ['spmv']\nsize = 'tiny'\n\
            [[axis]]\nname = 'registers'\nkey = 'sm.registers'\nvalues = [32768, 64]\n\
            [[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'registers'\n";
        let experiment = Experiment::parse("t", text).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        let mut results = InMemory::default();
        run(&grid.points, &mut results, Options { jobs: 1, cores: 1 }, &|_| {}).unwrap();
        let report = Report::new(&experiment, &grid, &results, "raddle", None).unwrap();
        assert_eq!(report.missing, 0);
        let page = String::from_utf8(report.files[0].1.clone()).unwrap();
        assert!(page.contains("<h2>Refused</h2>\n<ul>\n<li>registers 64, spmv: a block needs "), "{page}");
        assert!(page.contains("<td class=\"weak\">refused</td>") && !page.contains("<h2>Failed"), "{page}");
    }
}
