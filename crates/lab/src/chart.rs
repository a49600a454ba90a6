//! Charts of tables: groups of bars with their spread, the paper's values as diamonds, those of our other reading as
//! circles. `frame` has what surrounds the values, `bars` has bars and boxes, `points` lines and scattered points.
//!
//! ```text
//!  title, legend
//!  t  ┌ panel: as many rows as fit ┐   values that are set against a baseline start at its line;
//!  i  └────────────────────────────┘   stacked bars are named below, their parts in the legend
//!  t  ┌ panel: the next rows, same scale ┐
//!  le    what rows are
//! ```

mod bars;
mod frame;
mod points;
mod words;

use crate::drawing::{Drawing, Medium};
use crate::experiment::Kind;
use crate::picture::Width;
use crate::table::{Cell, Table};
use frame::Chart;

/// What a chart is made for.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Width that panels do not exceed.
    pub width: f64,
    /// Height of the bars' part of a panel.
    pub height: f64,
    /// Whether the title is part of it.
    pub has_title: bool,
    /// Whether means have wide bars and a scale of their own, and stand above the rows they are over.
    pub has_own_means: bool,
    /// Whether it is for paper: exactly as wide as it says, in small letters.
    pub is_print: bool,
}

impl Layout {
    /// A file of its own.
    pub const FILE: Self =
        Self { width: 1080.0, height: 190.0, has_title: true, has_own_means: false, is_print: false };
    /// On a page.
    pub const PAGE: Self = Self { has_title: false, ..Self::FILE };
    /// At the top of a page, with and without its title.
    pub const OPENINGS: [Self; 2] = [
        Self { width: 930.0, height: 220.0, has_own_means: true, ..Self::FILE },
        Self { width: 930.0, height: 220.0, has_own_means: true, ..Self::PAGE },
    ];
    /// On a page on a small screen.
    pub const PHONE: Self = Self { width: 358.0, height: 150.0, ..Self::PAGE };

    /// For a file: as wide as a column of a paper, or for screens, with where it is shown.
    #[must_use]
    pub fn exported(width: Option<Width>) -> (Self, Medium) {
        width.map_or((Self::FILE, Medium::Screen), |width| (Self::print(width), Medium::Print))
    }

    /// For a paper, without its title, which the caption has.
    #[must_use]
    pub fn print(width: Width) -> Self {
        let width = width.units();
        Self { width, height: (width * 0.34).clamp(110.0, 170.0), is_print: true, ..Self::PAGE }
    }
}

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

/// A spread for people: like [`number`], with one more digit when there would be nothing but zeros.
#[must_use]
pub fn small(spread: f64) -> String {
    if spread > 0.0 && spread < 0.0005 { format!("{spread:.4}") } else { number(spread) }
}

/// What the pointer shows over a cell.
#[must_use]
pub fn hover(table: &Table, row: &str, bar: &str, cell: &Cell) -> String {
    let mut text = format!("{row}, {bar}: {}", with_range(cell, &|value| table.number(value)));
    if let Some(note) = cell.note() {
        text += &format!(", mean over {note}");
    }
    if table.is_within_spread(cell) {
        text += ", not distinguishable from noise";
    }
    if let (Some(paper), Some(class)) = (cell.paper, table.class(cell)) {
        text += &format!("; paper {}: {class}", number(paper));
    }
    if let Some(other) = cell.by_other_reading() {
        text += &format!("; {}: {}", table.reading, table.number(other));
    }
    text
}

/// What the pointer shows over a part of a stacked bar.
#[must_use]
pub fn part_hover(row: &str, bar: &str, part: &str, cell: &Cell, whole: &Cell) -> String {
    let mut text = format!("{row}, {bar}, {part}: {} of {}", with_range(cell, &number), number(whole.value));
    if let Some(paper) = cell.paper {
        text += &format!("; paper {}", number(paper));
    }
    text
}

fn with_range(cell: &Cell, number: &dyn Fn(f64) -> String) -> String {
    let value = number(cell.value);
    if cell.high > cell.low { format!("{value} ({} to {})", number(cell.low), number(cell.high)) } else { value }
}

/// Where bars start: at the baseline's value, or at 0.
fn origin(table: &Table) -> f64 {
    if table.parts.is_empty() { table.neutral.unwrap_or(0.0) } else { 0.0 }
}

/// The scale of a chart: bottom, top, and the step between lines.
fn scale(table: &Table) -> (f64, f64, f64) {
    let cells = || {
        let own = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
        own.flat_map(|cell| {
            let marks = [cell.paper, cell.by_other_reading()].map(|mark| mark.unwrap_or(cell.value));
            let [low, high] = cell.whisker().unwrap_or([cell.low, cell.high]);
            [low.min(cell.value), high.max(cell.value), marks[0], marks[1]]
        })
    };
    let from = origin(table);
    let most = cells().fold(from.max(table.neutral.unwrap_or(from)), f64::max);
    let least = cells().fold(from, f64::min);
    round_scale(least, most)
}

/// A scale between round numbers: bottom, top, and the step between lines.
pub(crate) fn round_scale(least: f64, most: f64) -> (f64, f64, f64) {
    let range = if most > least { most - least } else { 1.0 };
    let rough = range / 5.0;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (bottom, top) = ((least / step + 1e-9).floor() * step, (most / step - 1e-9).ceil() * step);
    (bottom, if top > bottom { top } else { bottom + step }, step)
}

/// A number at a line of the scale.
pub(crate) fn tick(value: f64, step: f64) -> String {
    if value.abs() < step / 1e3 {
        return "0".to_owned();
    }
    if value.abs() >= 1e6 {
        return format!("{value:.1e}");
    }
    let digits = (-(step * 0.999).log10().floor()).clamp(0.0, 6.0) as usize;
    let is_even = (step * 10f64.powi(digits as i32)).fract() < 1e-6;
    format!("{value:.*}", if is_even { digits } else { digits + 1 })
}

/// Panels that the rows of a figure at the top of a page may have.
const MOST_PANELS: usize = 2;

/// What stands at the top of a page: all rows where there is room for them, else the means.
#[must_use]
pub fn opening(table: &Table) -> Table {
    if !has_bars(table) {
        return table.clone();
    }
    let (means, others) = (table.only(|row| row.is_mean), table.only(|row| !row.is_mean));
    let layout = Layout { has_own_means: false, ..Layout::OPENINGS[0] };
    let has_room = Chart::new(&others, layout, table, 0.0).panels <= MOST_PANELS;
    if has_room || means.rows.is_empty() { table.clone() } else { means }
}

/// Whether values are bars: other charts are small, and are drawn as a whole.
fn has_bars(table: &Table) -> bool {
    matches!(table.kind, Kind::Bars | Kind::Stacked)
}

/// The rows that a chart of its kind draws: points are no means, and boxes are over several rows.
fn with_drawn_rows(table: &Table) -> Table {
    match table.kind {
        Kind::Bars | Kind::Stacked | Kind::Line => table.clone(),
        Kind::Scatter => table.only(|row| !row.is_mean),
        Kind::Box => {
            let mut table = table.only(|row| row.cells.iter().flatten().any(|cell| !cell.samples.is_empty()));
            for row in &mut table.rows {
                // A box shows what a mean is over, not the mean.
                row.name = row.name.strip_prefix("mean, ").unwrap_or(&row.name).to_owned();
            }
            table
        }
    }
}

/// A chart of a table.
#[must_use]
pub fn draw(table: &Table, layout: Layout) -> Drawing {
    let plain = Layout { has_own_means: false, ..layout };
    if !layout.has_own_means || !has_bars(table) {
        let table = &with_drawn_rows(table);
        return Chart::new(table, plain, table, 0.0).draw();
    }
    let (means, others) = (table.only(|row| row.is_mean), table.only(|row| !row.is_mean));
    let below = Layout { has_title: false, height: layout.height * 0.6, ..plain };
    match (means.rows.is_empty(), others.rows.is_empty()) {
        (true, _) => Chart::new(table, plain, table, 0.0).draw(),
        (false, true) => Chart::new(&means, layout, table, 0.0).draw(),
        (false, false) => {
            let charts = |left: f64| {
                [Chart::new(&means, layout, table, left), Chart::new(&others, below, table, left).without_legend()]
            };
            // Both begin at the same place.
            let left = charts(0.0).iter().fold(0.0, |left: f64, chart| left.max(chart.left));
            let [means, others] = charts(left).map(Chart::draw);
            means.above(others)
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
