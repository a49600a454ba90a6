//! Reports: one page that needs nothing else, and a drawing and a table for each figure.
//!
//! The bytes depend on the experiment and its results alone: no dates, hosts or paths.

use crate::error::{Error, writing};
use crate::experiment::Experiment;
use crate::figure::{Table, Values};
use crate::grid::Grid;
use crate::store::replace;
use crate::svg::{self, escape, hover, number};
use crate::work::Results;
use std::fmt::Write as _;
use std::path::Path;

/// A report: files by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Name and contents; the page is `index.html`.
    pub files: Vec<(String, String)>,
    /// Values that are missing from figures.
    pub missing: usize,
    /// Results that are there but cannot be read.
    pub damaged: usize,
}

impl Report {
    /// Makes the report of an experiment; `command` is what a reader can run to get the same.
    ///
    /// # Errors
    /// When results cannot be read.
    pub fn new(experiment: &Experiment, grid: &Grid, results: &impl Results, command: &str) -> Result<Self, Error> {
        let values = Values::read(experiment, grid, results)?;
        let tables: Vec<Table> = experiment.figures.iter().map(|figure| values.table(experiment, figure)).collect();
        let mut files = vec![("index.html".to_owned(), page(experiment, grid, &tables, command))];
        for table in &tables {
            files.push((format!("{}.svg", table.name), svg::chart(table, true) + "\n"));
            files.push((format!("{}.csv", table.name), csv(table)));
        }
        files.push(("points.csv".to_owned(), points(experiment, grid, &values)));
        Ok(Self { files, missing: tables.iter().map(Table::missing).sum(), damaged: values.damaged() })
    }

    /// Writes its files to a folder, which is made if there is none.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        std::fs::create_dir_all(folder).map_err(writing(folder))?;
        for (name, text) in &self.files {
            let path = folder.join(name);
            replace(&path, text.as_bytes()).map_err(writing(&path))?;
        }
        Ok(())
    }
}

/// A table with a line for each row and bar.
fn csv(table: &Table) -> String {
    let mut rows = vec![["row", "bar", "value", "low", "high", "within_spread", "paper"].map(str::to_owned).to_vec()];
    for row in &table.rows {
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            let mut line = vec![row.name.clone(), bar.clone()];
            line.extend(match cell {
                None => vec![String::new(); 5],
                Some(cell) => vec![
                    cell.value.to_string(),
                    cell.low.to_string(),
                    cell.high.to_string(),
                    table.is_within_spread(cell).to_string(),
                    cell.paper.map(|paper| paper.to_string()).unwrap_or_default(),
                ],
            });
            rows.push(line);
        }
    }
    to_csv(&rows)
}

fn to_csv(rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = rows.iter().try_for_each(|row| writer.write_record(row));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Every point with the metrics of the experiment.
fn points(experiment: &Experiment, grid: &Grid, values: &Values<'_>) -> String {
    let mut head = ["key", "workload", "class", "size", "seed", "heap_offset"].map(str::to_owned).to_vec();
    head.extend(experiment.axes.iter().map(|axis| axis.name.clone()));
    head.push("repeat".to_owned());
    head.extend(experiment.metrics.iter().map(ToString::to_string));
    let mut rows = vec![head];
    grid.each(|choices, program, repeat, point| {
        let mut row = vec![
            point.key.to_string(),
            grid.programs[program].workload.name.to_owned(),
            grid.programs[program].class.to_string(),
            point.size.to_string(),
            point.seed.to_string(),
            point.heap_offset.to_string(),
        ];
        row.extend(experiment.axes.iter().zip(choices).map(|(axis, choice)| axis.variants[*choice].label.clone()));
        row.push(repeat.to_string());
        let value = |metric| values.get(&point.key, metric).map(|value| value.to_string()).unwrap_or_default();
        row.extend(experiment.metrics.iter().map(value));
        rows.push(row);
    });
    to_csv(&rows)
}

const STYLE: &str = "\
*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,sans-serif}h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin:2.2rem 0 .2rem}\
p{margin:.4rem 0;max-width:46rem}.soft{color:var(--soft)}.wide{overflow-x:auto;margin:.6rem 0}\
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\
th,td{padding:.2rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}\
tr.mean td{font-weight:600}.weak{color:var(--soft)}small{color:var(--soft);font-weight:400}\
code,pre{font:.85em ui-monospace,monospace}pre{overflow-x:auto;padding:.6rem;border:1px solid var(--line)}\
summary{cursor:pointer;color:var(--soft)}";

fn page(experiment: &Experiment, grid: &Grid, tables: &[Table], command: &str) -> String {
    let mut html = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
    let _ = writeln!(html, "<title>{}</title>", escape(&experiment.title));
    let _ = writeln!(html, "<style>{}{}{STYLE}</style>\n</head>\n<body>", variables(), svg::style());
    let _ = writeln!(html, "<h1>{}</h1>", escape(&experiment.title));
    for paragraph in experiment.about.split("\n\n").filter(|p| !p.trim().is_empty()) {
        let _ = writeln!(html, "<p>{}</p>", escape(paragraph.trim()));
    }
    html += &facts(experiment, grid, command);
    for table in tables {
        html += &section(table);
    }
    if !grid.left_out.is_empty() {
        html += "<h2>Left out</h2>\n<ul>\n";
        html.extend(grid.left_out.iter().map(|line| format!("<li>{}</li>\n", escape(line))));
        html += "</ul>\n";
    }
    html + "</body>\n</html>\n"
}

/// The colours of the page, by name.
fn variables() -> String {
    let set = |pick: fn(&(&'static str, &'static str)) -> &'static str| {
        let [ink, soft, line, ground] = svg::GROUND.map(|pair| pick(&pair));
        format!(":root{{color-scheme:light dark;--ink:{ink};--soft:{soft};--line:{line};--paper:{ground}}}")
    };
    format!("{}@media(prefers-color-scheme:dark){{{}}}", set(|pair| pair.0), set(|pair| pair.1))
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
             the number after ± is half of what they span. A value in grey with ≈ is closer to the baseline than that: \
             no effect was measured"
        );
    }
    let _ = writeln!(
        text,
        ".</p>\n<p class=\"soft\">Raddle {}, epoch {} of the model: <code>{}</code>. Machine {}. All runs: \
         <a href=\"points.csv\">points.csv</a>.</p>",
        env!("CARGO_PKG_VERSION"),
        raddle_sim::EPOCH,
        escape(command),
        escape(&experiment.preset.text),
    );
    text
}

/// The text with a capital letter at its start.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().to_string() + chars.as_str())
}

fn section(table: &Table) -> String {
    let name = escape(&table.name);
    let mut html = format!(
        "<h2 id=\"{name}\">{}</h2>\n<p class=\"soft\">{}.",
        escape(&table.title),
        escape(&capital(&table.about))
    );
    if !table.source.is_empty() {
        let _ = write!(html, " Diamonds and small numbers are the paper's values: {}.", escape(&table.source));
    }
    let _ = writeln!(html, " <a href=\"{name}.svg\">SVG</a>, <a href=\"{name}.csv\">CSV</a></p>");
    if table.missing() > 0 {
        let _ = writeln!(
            html,
            "<p><strong>{} values are missing:</strong> not all runs have a result.</p>",
            table.missing()
        );
    }
    let _ = writeln!(html, "<div class=\"wide\">{}</div>", svg::chart(table, false));
    html += "<details open><summary>Values</summary>\n<div class=\"wide\"><table>\n<tr><th></th>";
    for (n, bar) in table.bars.iter().enumerate() {
        let note = if table.baseline == Some(n) { " <small>baseline</small>" } else { "" };
        let _ = write!(html, "<th>{}{note}</th>", escape(bar));
    }
    html += "</tr>\n";
    for row in &table.rows {
        let class = if row.is_mean { " class=\"mean\"" } else { "" };
        let _ = write!(html, "<tr{class}><td>{}</td>", escape(&row.name));
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            html += &match cell {
                None => "<td class=\"weak\">–</td>".to_owned(),
                Some(cell) => {
                    let is_weak = table.is_within_spread(cell);
                    let (class, mark) = if is_weak { (" class=\"weak\"", "≈ ") } else { ("", "") };
                    let spread = if cell.high > cell.low {
                        format!(" <small>±{}</small>", number(cell.spread()))
                    } else {
                        String::new()
                    };
                    let paper = cell.paper.map(|p| format!(" <small>paper {}</small>", number(p))).unwrap_or_default();
                    let title = escape(&hover(table, &row.name, bar, cell));
                    format!("<td{class} title=\"{title}\">{mark}{}{spread}{paper}</td>", number(cell.value))
                }
            };
        }
        html += "</tr>\n";
    }
    html + "</table></div></details>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::table;
    use crate::work::{InMemory, Options, run};

    #[test]
    fn tables_have_values_spread_and_paper() {
        let html = section(&table());
        assert!(html.contains("1.250 <small>±0.010</small> <small>paper 1.400</small>"), "{html}");
        assert!(html.contains("class=\"weak\" title=\"mean, all, gto: 1.005"), "{html}");
        assert!(html.contains("1 values are missing"));
        let csv = csv(&table());
        assert!(csv.starts_with("row,bar,value,low,high,within_spread,paper\nbfs,lrr,1,0.99,1.01,true,\n"), "{csv}");
        assert!(csv.contains("\nspmv,gto,,,,,\n"));
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
        let before = Report::new(&experiment, &grid, &one, "raddle").unwrap();
        assert!(before.missing > 0);
        run(&grid.points, &mut one, Options { jobs: 2, cores: 2 }, &|_| {}).unwrap();
        let reversed: Vec<_> = grid.points.iter().rev().cloned().collect();
        run(&reversed, &mut two, Options { jobs: 1, cores: 1 }, &|_| {}).unwrap();
        let report = Report::new(&experiment, &grid, &one, "raddle").unwrap();
        assert_eq!(report, Report::new(&experiment, &grid, &two, "raddle").unwrap());
        assert_eq!(report.missing, 0);
        let names: Vec<&str> = report.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["index.html", "f.svg", "f.csv", "points.csv"]);
        assert_eq!(report.files[3].1.lines().count(), 1 + 2 * 2 * 2);
        assert!(!report.files[0].1.contains("http"), "nothing comes from the network");
    }
}
