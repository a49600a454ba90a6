//! Bar charts as SVG: groups of bars with their spread, and the paper's values as diamonds.

use crate::figure::{Cell, Table};
use std::fmt::Write as _;

/// Colours of bars on light and on dark ground, in their order; they begin again when there are more bars.
const COLOURS: [(&str, &str); 8] = [
    ("#4269a5", "#7ba2dd"),
    ("#d1702f", "#f0a066"),
    ("#3f8f5b", "#71c48d"),
    ("#a8457a", "#dd83b2"),
    ("#8a7a1f", "#cfbf5c"),
    ("#5b5b9f", "#a3a3e6"),
    ("#2f8f96", "#6cc9d0"),
    ("#7a5540", "#c09a84"),
];

/// Colours of everything else on light and on dark ground: text, quiet text, lines, ground.
pub(crate) const GROUND: [(&str, &str); 4] =
    [("#1c1c1a", "#e9e7e0"), ("#6b6b66", "#a3a19a"), ("#d9d8d2", "#3b3a37"), ("#fffefa", "#1b1b1a")];

/// The style of drawings, which pages need too. Colours are written out: many programs that draw know no variables.
#[must_use]
pub fn style() -> String {
    let rules = |pick: fn(&(&'static str, &'static str)) -> &'static str| {
        let [ink, soft, line, ground] = GROUND.map(|pair| pick(&pair));
        let bars = COLOURS.iter().enumerate().map(|(n, pair)| format!(".chart .b{n}{{fill:{}}}", pick(pair)));
        format!(
            ".chart{{background:{ground}}}.chart text{{fill:{ink}}}.chart .soft{{fill:{soft}}}.chart .grid{{stroke:{line}}}\
             .chart .one,.chart .spread{{stroke:{ink}}}.chart .theirs{{fill:{ground};stroke:{ink}}}{}",
            bars.collect::<String>()
        )
    };
    format!(
        ".chart{{font:12px system-ui,sans-serif}}.chart .grid{{stroke-width:1}}\
         .chart .one{{stroke-width:1;stroke-dasharray:4 3}}.chart .spread{{stroke-width:1.2;fill:none}}\
         .chart .theirs{{stroke-width:1.4}}.chart .bar:hover{{opacity:.7}}{}\
         @media(prefers-color-scheme:dark){{{}}}",
        rules(|pair| pair.0),
        rules(|pair| pair.1),
    )
}

const BAR: f64 = 15.0;
const GAP: f64 = 18.0;
const LEFT: f64 = 52.0;
const HEIGHT: f64 = 220.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 78.0;

/// A number for people: about four digits.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        format!("{value:.3e}")
    } else if size >= 1000.0 {
        format!("{value:.0}")
    } else if size >= 100.0 {
        format!("{value:.1}")
    } else if size >= 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// Text with what XML gives a meaning replaced.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What the pointer shows over a cell.
#[must_use]
pub fn hover(table: &Table, row: &str, bar: &str, cell: &Cell) -> String {
    let mut text = format!("{row}, {bar}: {}", number(cell.value));
    if cell.high > cell.low {
        text += &format!(" ({} to {})", number(cell.low), number(cell.high));
    }
    if table.is_within_spread(cell) {
        text += ", smaller than its spread";
    }
    if let Some(paper) = cell.paper {
        text += &format!("; paper {}", number(paper));
    }
    text
}

/// The scale of a chart: bottom, top, and the step between lines.
fn scale(table: &Table) -> (f64, f64, f64) {
    let cells = || table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let most = cells().map(|c| c.high.max(c.paper.unwrap_or(c.high))).fold(table.neutral.unwrap_or(0.0), f64::max);
    let least = cells().map(|c| c.low.min(c.paper.unwrap_or(c.low))).fold(0.0, f64::min);
    let range = if most > least { most - least } else { 1.0 };
    let rough = range / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    ((least / step).floor() * step, (most / step).ceil().max(1.0) * step, step)
}

/// A chart as an `svg` element. With `alone` it is a whole file with its own style.
#[must_use]
pub fn chart(table: &Table, alone: bool) -> String {
    let group = BAR * table.bars.len() as f64 + GAP;
    let legend = LEFT + table.bars.iter().map(|bar| 26.0 + 7.5 * bar.chars().count() as f64).sum::<f64>() + 110.0;
    let width = (LEFT + group * table.rows.len() as f64 + GAP).max(legend);
    let (bottom, top, step) = scale(table);
    let y = |value: f64| TOP + HEIGHT * (top - value) / (top - bottom);
    let mut svg = String::new();
    let name = if alone { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
    let height = TOP + HEIGHT + BOTTOM;
    let _ = write!(
        svg,
        "<svg{name} class=\"chart\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\" aria-label=\"{}\">",
        escape(&table.title)
    );
    if alone {
        let _ = write!(svg, "<style>{}</style>", style());
    }
    legend_line(&mut svg, table);
    let lines = ((top - bottom) / step).round() as i32;
    for n in 0..=lines {
        let value = bottom + step * f64::from(n);
        let at = y(value);
        let _ = write!(svg, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{width:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
        let label = if value.abs() < step / 1e3 { "0".to_owned() } else { tick(value, step) };
        let _ = write!(
            svg,
            "<text class=\"soft\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for (n, row) in table.rows.iter().enumerate() {
        let left = LEFT + GAP / 2.0 + group * n as f64;
        for (bar, cell) in row.cells.iter().enumerate() {
            let x = left + BAR * bar as f64;
            match cell {
                Some(cell) => column(&mut svg, table, (&row.name, bar), cell, x, &y),
                None => {
                    let _ = write!(svg, "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">×</text>", x + 3.0, y(0.0) - 2.0);
                }
            }
        }
        let middle = left + BAR * table.bars.len() as f64 / 2.0;
        let under = TOP + HEIGHT + 14.0;
        let weight = if row.is_mean { " font-weight=\"600\"" } else { "" };
        let _ = write!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{under}\"{weight} text-anchor=\"end\" \
             transform=\"rotate(-35 {middle:.1} {under})\">{}</text>",
            escape(&row.name)
        );
    }
    if let Some(neutral) = table.neutral {
        let at = y(neutral);
        let _ = write!(svg, "<line class=\"one\" x1=\"{LEFT}\" x2=\"{width:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
    }
    svg += "</svg>";
    svg
}

fn tick(value: f64, step: f64) -> String {
    if value.abs() >= 1e6 {
        return format!("{value:.1e}");
    }
    let digits = (-(step * 0.999).log10().floor()).clamp(0.0, 6.0) as usize;
    let is_even = (step * 10f64.powi(digits as i32)).fract() < 1e-6;
    format!("{value:.*}", if is_even { digits } else { digits + 1 })
}

fn legend_line(svg: &mut String, table: &Table) {
    let mut x = LEFT;
    for (n, bar) in table.bars.iter().enumerate() {
        let colour = n % COLOURS.len();
        let _ = write!(svg, "<rect class=\"b{colour}\" x=\"{x:.1}\" y=\"10\" width=\"11\" height=\"11\"/>");
        let _ = write!(svg, "<text x=\"{:.1}\" y=\"20\">{}</text>", x + 16.0, escape(bar));
        x += 26.0 + 7.5 * bar.chars().count() as f64;
    }
    if table.rows.iter().flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.paper.is_some()) {
        diamond(svg, x + 6.0, 15.5, "");
        let _ = write!(svg, "<text x=\"{:.1}\" y=\"20\">paper</text>", x + 16.0);
    }
}

fn diamond(svg: &mut String, x: f64, y: f64, title: &str) {
    let _ =
        write!(svg, "<path class=\"theirs\" d=\"M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\">{title}</path>", y - 4.5);
}

fn column(svg: &mut String, table: &Table, place: (&str, usize), cell: &Cell, x: f64, y: &dyn Fn(f64) -> f64) {
    let (row, bar) = place;
    let (from, to) = (y(cell.value.max(0.0)), y(cell.value.min(0.0)));
    let title = format!("<title>{}</title>", escape(&hover(table, row, &table.bars[bar], cell)));
    let colour = bar % COLOURS.len();
    let _ = write!(
        svg,
        "<rect class=\"bar b{colour}\" x=\"{x:.1}\" y=\"{from:.1}\" width=\"{:.1}\" height=\"{:.1}\">{title}</rect>",
        BAR - 2.0,
        (to - from).max(0.5)
    );
    let middle = x + (BAR - 2.0) / 2.0;
    if cell.high > cell.low {
        let (high, low) = (y(cell.high), y(cell.low));
        let _ = write!(
            svg,
            "<path class=\"spread\" d=\"M{middle:.1} {high:.1}V{low:.1}M{:.1} {high:.1}h6M{:.1} {low:.1}h6\"/>",
            middle - 3.0,
            middle - 3.0
        );
    }
    if let Some(paper) = cell.paper {
        diamond(svg, middle, y(paper), &title);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::figure::TableRow;

    pub(crate) fn table() -> Table {
        let cell = |value, paper| Some(Cell { value, low: value - 0.01, high: value + 0.01, paper });
        let row = |name: &str, is_mean, cells| TableRow { name: name.to_owned(), is_mean, cells };
        Table {
            name: "speedup".to_owned(),
            title: "Speedup <of all>".to_owned(),
            about: "speedup".to_owned(),
            source: String::new(),
            bars: vec!["lrr".to_owned(), "gto".to_owned()],
            baseline: Some(0),
            neutral: Some(1.0),
            rows: vec![
                row("bfs", false, vec![cell(1.0, None), cell(1.25, Some(1.4))]),
                row("spmv", false, vec![cell(1.0, None), None]),
                row("mean, all", true, vec![cell(1.0, None), cell(1.005, None)]),
            ],
        }
    }

    #[test]
    fn a_chart_has_every_bar_and_what_it_stands_for() {
        let svg = chart(&table(), true);
        assert_eq!(svg.matches("class=\"bar ").count(), 5);
        assert_eq!(svg.matches("class=\"theirs\"").count(), 2, "one in the legend");
        assert!(svg.contains("<title>bfs, gto: 1.250 (1.240 to 1.260); paper 1.400</title>"), "{svg}");
        assert!(svg.contains("smaller than its spread"));
        assert!(svg.contains("Speedup &lt;of all&gt;"));
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert_eq!(chart(&table(), true), svg);
    }

    #[test]
    fn scales_are_round() {
        assert_eq!(scale(&table()), (0.0, 1.5, 0.5));
        assert_eq!(tick(0.25, 0.25), "0.25");
        assert_eq!(tick(0.5, 0.5), "0.5");
        assert_eq!(tick(200.0, 100.0), "200");
        let numbers = [0.12345, 12.345, 123.45, 12345.6, 1.5e7].map(number);
        assert_eq!(numbers, ["0.123", "12.35", "123.5", "12346", "1.500e7"]);
    }
}
