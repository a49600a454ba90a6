//! Bar charts: groups of bars with their spread, the paper's values as diamonds, those of our other reading as circles.
//!
//! ```text
//!  legend
//!  what values are
//!  ┌ panel: as many rows as fit ┐   values that are set against a baseline start at its line;
//!  └────────────────────────────┘   stacked bars are named below, their parts in the legend
//!  ┌ panel: the next rows, same scale ┐
//! ```

use crate::drawing::{Anchor, Drawing, Ink, Mark, SLANT, Shape, Text, Turn};
use crate::font::{Font, WIDER};
use crate::table::{Cell, Table, TableRow};

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
}

impl Layout {
    /// A file of its own.
    pub const FILE: Self = Self { width: 1080.0, height: 190.0, has_title: true, has_own_means: false };
    /// On a page.
    pub const PAGE: Self = Self { has_title: false, ..Self::FILE };
    /// At the top of a page, with and without its title.
    pub const OPENINGS: [Self; 2] = [
        Self { width: 900.0, height: 220.0, has_own_means: true, ..Self::FILE },
        Self { width: 900.0, height: 220.0, has_own_means: true, ..Self::PAGE },
    ];
    /// On a page on a small screen.
    pub const PHONE: Self = Self { width: 358.0, height: 150.0, ..Self::PAGE };
}

const BAR: f64 = 15.0;
const GAP: f64 = 16.0;
/// The widest bars of means that stand alone, and the gap between groups of them.
const WIDE_BAR: f64 = 34.0;
const WIDE_GAP: f64 = 36.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 4.0;
const SIZE: f64 = 12.0;
const SMALL: f64 = 10.0;
const TITLE: f64 = 15.0;
const TICK: f64 = 11.0;
const LINE: f64 = 15.0;
/// The longest name of a row or bar that is written in full.
const LONGEST: usize = 30;

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
        text += ", smaller than its spread";
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

/// The bars that are drawn: not the baseline where it is 1 by definition.
fn shown(table: &Table) -> Vec<usize> {
    let says_nothing = |bar: usize| {
        let cells = table.rows.iter().filter_map(|row| row.cells[bar].as_ref().ok());
        let is_neutral =
            |cell: &Cell| cell.paper.is_none() && Some(cell.low) == table.neutral && Some(cell.high) == table.neutral;
        table.parts.is_empty() && table.baseline == Some(bar) && cells.into_iter().all(is_neutral)
    };
    let bars: Vec<usize> = (0..table.bars.len()).filter(|bar| !says_nothing(*bar)).collect();
    if bars.is_empty() { (0..table.bars.len()).collect() } else { bars }
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
            [cell.low, cell.high, marks[0], marks[1]]
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

/// A name that is not too long to be drawn.
fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// A name in one line or two: `mean` and `divergent`, `bfs/` and `expand`, `page-view-` and `count`.
fn lines(name: &str) -> Vec<String> {
    if let Some((first, rest)) = name.split_once(", ") {
        return vec![first.to_owned(), rest.to_owned()];
    }
    let middle = name.len() / 2;
    let hyphen = name.match_indices('-').map(|(at, _)| at).min_by_key(|at| at.abs_diff(middle));
    match name.find('/').or(hyphen.filter(|_| name.len() > 9)) {
        Some(at) => vec![name[..=at].to_owned(), name[at + 1..].to_owned()],
        None => vec![name.to_owned()],
    }
}

/// Panels that the rows of a figure at the top of a page may have.
const MOST_PANELS: usize = 2;

/// What stands at the top of a page: all rows where there is room for them, else the means.
#[must_use]
pub fn opening(table: &Table) -> Table {
    let (means, others) = (table.only(|row| row.is_mean), table.only(|row| !row.is_mean));
    let layout = Layout { has_own_means: false, ..Layout::OPENINGS[0] };
    let has_room = Chart::new(&others, layout, table).panels() <= MOST_PANELS;
    if has_room || means.rows.is_empty() { table.clone() } else { means }
}

/// A chart of a table.
#[must_use]
pub fn draw(table: &Table, layout: Layout) -> Drawing {
    if !layout.has_own_means {
        return Chart::new(table, layout, table).draw();
    }
    let (means, others) = (table.only(|row| row.is_mean), table.only(|row| !row.is_mean));
    let below = Layout { has_title: false, height: layout.height * 0.6, has_own_means: false, ..layout };
    match (means.rows.is_empty(), others.rows.is_empty()) {
        (true, _) => Chart::new(table, Layout { has_own_means: false, ..layout }, table).draw(),
        (false, true) => Chart::new(&means, layout, table).draw(),
        (false, false) => {
            let others = Chart { has_legend: false, ..Chart::new(&others, below, table) };
            Chart::new(&means, layout, table).draw().above(others.draw())
        }
    }
}

/// What a line of the legend explains.
#[derive(Clone, Copy)]
enum Item {
    /// A bar or a part, by the number of its colour.
    Bar(usize),
    /// The same, pale.
    Pale(usize),
    /// A mark.
    Mark(Mark),
}

struct Chart<'t> {
    table: &'t Table,
    layout: Layout,
    /// What the legend explains, which may be more than the chart shows.
    legend_of: &'t Table,
    has_legend: bool,
    bars: Vec<usize>,
    /// Width of a bar with the gap after it, and of the gap after a group.
    bar: f64,
    gap: f64,
    fonts: [Font; 2],
    shapes: Vec<Shape>,
    /// Width of a group of bars, with the gap after it.
    group: f64,
    left: f64,
    /// Whether names of rows stand straight, in one or two lines.
    is_flat: bool,
    scale: (f64, f64, f64),
}

impl<'t> Chart<'t> {
    fn new(table: &'t Table, layout: Layout, legend_of: &'t Table) -> Self {
        let bars = shown(legend_of);
        let fonts = [Font::new(false), Font::new(true)];
        let width = |row: &TableRow, text: &str| fonts[usize::from(row.is_mean)].width(text, SIZE);
        let widest_line =
            table.rows.iter().flat_map(|row| lines(&row.name).into_iter().map(move |line| width(row, &line)));
        // Other fonts than ours may be wider.
        let widest_line = widest_line.fold(0.0, f64::max) * WIDER + 6.0;
        let (bar, gap) = if layout.has_own_means {
            let room = (layout.width - LEFT - RIGHT) / table.rows.len().max(1) as f64 - WIDE_GAP;
            ((room / bars.len().max(1) as f64).clamp(BAR, WIDE_BAR), WIDE_GAP)
        } else {
            (BAR, GAP)
        };
        let plain = bar * bars.len() as f64 + gap;
        // A little more room between bars is better than names that stand askew.
        let is_flat = widest_line <= plain.max(84.0);
        let group = if is_flat { plain.max(widest_line) } else { plain };
        let longest = table.rows.iter().map(|row| width(row, &short(&row.name))).fold(0.0, f64::max);
        let scale = scale(table);
        let ticks = [scale.0, scale.1].map(|value| fonts[0].width(&tick(value, scale.2), TICK) * WIDER + 10.0);
        let left = ticks.into_iter().fold(LEFT, f64::max);
        let left = if is_flat { left } else { left.max(longest * SLANT.1 - group / 2.0 + 6.0) };
        let left = left.min(layout.width / 2.0);
        let (has_legend, shapes) = (true, Vec::new());
        Self { table, layout, legend_of, has_legend, bars, bar, gap, fonts, shapes, group, left, is_flat, scale }
    }

    fn text(&mut self, x: f64, y: f64, text: &str, look: (f64, Anchor, Turn, bool, Ink)) {
        let (size, anchor, turn, is_bold, ink) = look;
        self.shapes.push(Shape::Text(Text { x, y, text: text.to_owned(), size, anchor, turn, is_bold, ink }));
    }

    /// Names below the bars take this much room.
    fn below(&self) -> (f64, f64) {
        let rows = &self.table.rows;
        let names = rows.iter().map(|row| {
            if self.is_flat {
                return lines(&row.name).len() as f64 * LINE;
            }
            self.fonts[usize::from(row.is_mean)].width(&short(&row.name), SIZE) * SLANT.0 + LINE
        });
        let of_bars = self.bars.iter().map(|bar| self.fonts[0].width(&short(&self.table.bars[*bar]), SMALL) + 8.0);
        let of_bars = if self.table.parts.is_empty() { 0.0 } else { of_bars.fold(0.0, f64::max) };
        (of_bars, names.fold(0.0, f64::max) + 14.0)
    }

    /// How many panels it takes.
    fn panels(&self) -> usize {
        let fit = (((self.layout.width - self.left - RIGHT) / self.group).floor() as usize).max(1);
        self.table.rows.len().max(1).div_ceil(fit)
    }

    fn draw(mut self) -> Drawing {
        let table = self.table;
        let (rows, panels) = (table.rows.len().max(1), self.panels());
        let in_panel = rows.div_ceil(panels);
        let width = self.left + self.group * in_panel as f64 + RIGHT;
        let title = if self.layout.has_title { self.fonts[1].width(&table.title, TITLE) + 12.0 } else { 0.0 };
        let axis = self.left + self.fonts[0].width(&table.axis, TICK) * WIDER;
        let width = width.max(self.layout.width.min(self.legend_width().max(axis))).max(title);
        let mut y = 8.0;
        if self.layout.has_title {
            y += 14.0;
            self.text(4.0, y, &table.title, (TITLE, Anchor::Start, Turn::Flat, true, Ink::Text));
            y += 10.0;
        }
        if self.has_legend {
            y = self.legend(y, width);
        }
        if self.has_legend && !table.axis.is_empty() {
            y += 14.0;
            self.text(4.0, y, &table.axis, (TICK, Anchor::Start, Turn::Flat, false, Ink::Soft));
            y += 6.0;
        }
        let (of_bars, names) = self.below();
        for panel in 0..panels {
            let from = panel * in_panel;
            self.panel(from, (from + in_panel).min(table.rows.len()), y + 8.0, width, of_bars);
            y += 8.0 + self.layout.height + of_bars + names;
        }
        Drawing { width, height: y + 4.0, title: table.title.clone(), shapes: self.shapes }
    }

    /// The legend's items, each with its name.
    fn items(&self) -> Vec<(String, Item)> {
        let table = self.legend_of;
        let mut items: Vec<(String, Item)> = if table.parts.is_empty() {
            self.bars.iter().map(|bar| (table.bars[*bar].clone(), Item::Bar(*bar))).collect()
        } else {
            table.parts.iter().enumerate().map(|(n, part)| (part.clone(), Item::Bar(n))).collect()
        };
        let cells =
            || table.rows.iter().flat_map(|row| self.bars.iter().filter_map(|bar| row.cells[*bar].as_ref().ok()));
        if table.parts.is_empty() && cells().any(|cell| table.is_within_spread(cell)) {
            let first = self.bars.first().copied().unwrap_or_default();
            items.push(("pale: smaller than its spread".to_owned(), Item::Pale(first)));
        }
        let has_paper = |cell: &Cell| cell.paper.is_some() || cell.parts.iter().any(|part| part.paper.is_some());
        if cells().any(has_paper) {
            items.push(("paper".to_owned(), Item::Mark(Mark::Paper)));
        }
        if cells().any(|cell| cell.by_other_reading().is_some()) {
            items.push((format!("our other reading: {}", table.reading), Item::Mark(Mark::Reading)));
        }
        items
    }

    fn item_width(&self, name: &str) -> f64 {
        16.0 + self.fonts[0].width(name, SIZE) * WIDER + 14.0
    }

    fn legend_width(&self) -> f64 {
        LEFT + self.items().iter().map(|(name, ..)| self.item_width(name)).sum::<f64>() + 150.0
    }

    /// The legend, in as many lines as it takes; where it ends.
    fn legend(&mut self, top: f64, width: f64) -> f64 {
        let (mut x, mut y) = (LEFT, top);
        let place = |x: &mut f64, y: &mut f64, item: f64| {
            if *x > LEFT && *x + item > width {
                (*x, *y) = (LEFT, *y + 18.0);
            }
            let at = (*x, *y);
            *x += item;
            at
        };
        for (name, item) in self.items() {
            let wide = self.item_width(&name);
            let (left, top) = place(&mut x, &mut y, wide);
            let (place, hover) = ([left, top + 3.0, 11.0, 11.0], String::new());
            self.shapes.push(match item {
                Item::Bar(n) => Shape::Rect { place, ink: Ink::Bar(n), is_pale: false, hover },
                Item::Pale(n) => Shape::Rect { place, ink: Ink::Bar(n), is_pale: true, hover },
                Item::Mark(mark) => Shape::Mark { mark, middle: [left + 5.5, top + 8.5], hover },
            });
            self.text(left + 16.0, top + 13.0, &name, (SIZE, Anchor::Start, Turn::Flat, false, Ink::Text));
        }
        if let (Some(bar), Some(_)) = (self.table.baseline, self.table.neutral) {
            let name = format!("baseline {}", self.table.bars[bar]);
            let item = self.item_width(&name) + 10.0;
            let (left, top) = place(&mut x, &mut y, item);
            let at = top + 8.5;
            self.shapes.push(Shape::Line { from: [left, at], to: [left + 21.0, at], ink: Ink::Text, is_dashed: true });
            self.text(left + 26.0, top + 13.0, &name, (SIZE, Anchor::Start, Turn::Flat, false, Ink::Text));
        }
        y + 18.0
    }

    fn panel(&mut self, from: usize, to: usize, top: f64, width: f64, of_bars: f64) {
        let (low, high, step) = self.scale;
        let height = self.layout.height;
        let y = move |value: f64| top + height * (high - value) / (high - low);
        for n in 0..=((high - low) / step).round() as i32 {
            let value = low + step * f64::from(n);
            let at = y(value);
            let line = |ink| Shape::Line { from: [self.left, at], to: [width - RIGHT, at], ink, is_dashed: false };
            self.shapes.push(line(Ink::Grid));
            let label = tick(value, step);
            self.text(self.left - 6.0, at + 4.0, &label, (TICK, Anchor::End, Turn::Flat, false, Ink::Soft));
        }
        for row in from..to {
            // A line between the means and what they are over.
            if row > from && self.table.rows[row - 1].is_mean && !self.table.rows[row].is_mean {
                let x = self.left + self.group * (row - from) as f64;
                let (from, to) = ([x, top], [x, top + height]);
                self.shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
            }
            let left = self.left + self.group * (row - from) as f64 + self.gap / 2.0;
            self.row(row, left, &y);
            let middle = left - self.gap / 2.0 + self.group / 2.0;
            self.row_name(row, middle, top + height + of_bars);
        }
        if let Some(neutral) = self.table.neutral {
            let at = y(neutral);
            let (from, to) = ([self.left, at], [width - RIGHT, at]);
            self.shapes.push(Shape::Line { from, to, ink: Ink::Text, is_dashed: true });
        }
    }

    fn row_name(&mut self, row: usize, middle: f64, top: f64) {
        let row = &self.table.rows[row];
        if self.is_flat {
            for (n, line) in lines(&row.name).iter().enumerate() {
                let y = top + LINE * (n as f64 + 1.0);
                self.text(middle, y, line, (SIZE, Anchor::Middle, Turn::Flat, row.is_mean, Ink::Text));
            }
        } else {
            let look = (SIZE, Anchor::End, Turn::Slanted, row.is_mean, Ink::Text);
            self.text(middle + 4.0, top + LINE - 2.0, &short(&row.name), look);
        }
    }

    fn row(&mut self, row: usize, left: f64, y: &dyn Fn(f64) -> f64) {
        let row = &self.table.rows[row];
        let room = self.group - self.gap - self.bar * self.bars.len() as f64;
        for (n, bar) in self.bars.clone().into_iter().enumerate() {
            let x = left + room / 2.0 + self.bar * n as f64;
            let middle = x + (self.bar - 2.0) / 2.0;
            match &row.cells[bar] {
                Ok(cell) => self.bar(&row.name, bar, cell, x, y),
                Err(_) => {
                    let at = y(origin(self.table)) - 2.0;
                    self.text(middle, at, "×", (SIZE, Anchor::Middle, Turn::Flat, false, Ink::Soft));
                }
            }
            if !self.table.parts.is_empty() {
                let name = short(&self.table.bars[bar]);
                let at = y(self.scale.0) + 4.0;
                self.text(middle + 3.5, at, &name, (SMALL, Anchor::End, Turn::Up, false, Ink::Soft));
            }
        }
    }

    fn bar(&mut self, row: &str, bar: usize, cell: &Cell, x: f64, y: &dyn Fn(f64) -> f64) {
        let (table, name) = (self.table, &self.table.bars[bar]);
        let width = self.bar - 2.0;
        let middle = x + width / 2.0;
        let mut block = |from: f64, to: f64, ink, is_pale, hover| {
            let (top, bottom) = (y(from.max(to)), y(from.min(to)));
            let place = [x, top, width, (bottom - top).max(0.6)];
            self.shapes.push(Shape::Rect { place, ink, is_pale, hover });
        };
        let over = hover(table, row, name, cell);
        if table.parts.is_empty() {
            let is_pale = table.is_within_spread(cell);
            block(origin(table), cell.value, Ink::Bar(bar), is_pale, over.clone());
        }
        let mut below = 0.0;
        for (n, part) in cell.parts.iter().enumerate() {
            let over = part_hover(row, name, &table.parts[n], part, cell);
            if part.value != 0.0 {
                block(below, below + part.value, Ink::Bar(n), false, over);
            }
            below += part.value;
        }
        if cell.high > cell.low {
            let (high, low) = (y(cell.high), y(cell.low));
            let mut line = |from, to| self.shapes.push(Shape::Line { from, to, ink: Ink::Text, is_dashed: false });
            line([middle, high], [middle, low]);
            line([middle - 3.0, high], [middle + 3.0, high]);
            line([middle - 3.0, low], [middle + 3.0, low]);
        }
        let mut put =
            |mark, value: f64, hover| self.shapes.push(Shape::Mark { mark, middle: [middle, y(value)], hover });
        if let Some(other) = cell.by_other_reading() {
            put(Mark::Reading, other, over.clone());
        }
        if let Some(paper) = cell.paper {
            put(Mark::Paper, paper, over);
        }
        let mut below = 0.0;
        for (n, part) in cell.parts.iter().enumerate() {
            // A part of the paper's starts where ours starts.
            if let Some(paper) = part.paper {
                put(Mark::Paper, below + paper, part_hover(row, name, &table.parts[n], part, cell));
            }
            below += part.value;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
