//! What surrounds the values of a chart: title, legend, panels with their scale, names of rows and titles of axes.

use super::points::point;
use super::words::{lines, short, wrapped};
use super::{Layout, scale, tick};
use crate::drawing::{Anchor, Drawing, Ink, Mark, SLANT, Shape, Text, Turn};
use crate::experiment::Kind;
use crate::font::{Font, WIDER};
use crate::table::{Cell, Table, TableRow};

const BAR: f64 = 15.0;
const GAP: f64 = 16.0;
/// The widest bars of means that stand alone, and the gap between groups of them.
const WIDE_BAR: f64 = 34.0;
const WIDE_GAP: f64 = 36.0;
/// Room for the names of ticks, at least, and at the right.
const TICKS: f64 = 34.0;
const RIGHT: f64 = 4.0;
/// The narrowest picture, where there is room for it: legends wrap below that.
const NARROW: f64 = 340.0;
/// The widest picture of lines or points on screens.
const POINTS_WIDTH: f64 = 560.0;
/// Lines that the title of an axis may have.
const MOST_LINES: usize = 3;

/// Sizes of letters, and the distance between lines.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) name: f64,
    pub(super) small: f64,
    pub(super) tick: f64,
    pub(super) title: f64,
    pub(super) line: f64,
}

const SCREEN: Sizes = Sizes { name: 12.0, small: 10.0, tick: 11.0, title: 15.0, line: 15.0 };
/// On paper these are 7 to 8 points.
const PRINT: Sizes = Sizes { name: 11.0, small: 10.0, tick: 10.5, title: 11.0, line: 13.0 };
/// The narrowest bars and groups on paper. Stacked bars have names below, which need more.
const NARROW_BARS: [f64; 2] = [3.2, 11.0];
const NARROW_GROUP: f64 = 13.0;
/// The widest bars on paper.
const PRINT_BAR: f64 = 20.0;

/// How a text looks: size, anchor, turn, whether it is bold, and colour.
pub(super) type Look = (f64, Anchor, Turn, bool, Ink);

/// What a line of the legend explains.
#[derive(Clone, Copy)]
enum Item {
    /// A bar or a part, by the number of its colour.
    Bar(usize),
    /// The same, pale.
    Pale(usize),
    /// A point, by the number of its colour.
    Point(usize),
    /// A mark.
    Mark(Mark),
    /// The lines that show how far values spread.
    Whisker,
    /// The line of the baseline.
    Baseline,
}

impl Item {
    /// Room for what is drawn before its name.
    fn width(self) -> f64 {
        if matches!(self, Self::Baseline) { 26.0 } else { 16.0 }
    }
}

pub(super) struct Chart<'t> {
    pub(super) table: &'t Table,
    layout: Layout,
    /// What the legend explains, which may be more than the chart shows.
    legend_of: &'t Table,
    has_legend: bool,
    pub(super) bars: Vec<usize>,
    /// Width of a bar with the gap after it, and of the gap after a group.
    pub(super) bar: f64,
    pub(super) gap: f64,
    fonts: [Font; 2],
    /// How much wider letters may be than those of our font.
    wider: f64,
    pub(super) sizes: Sizes,
    pub(super) shapes: Vec<Shape>,
    /// Width of a group of bars, with the gap after it.
    pub(super) group: f64,
    /// Where panels begin: the title of the axis and the names of ticks are before that.
    pub(super) left: f64,
    /// How many panels it takes.
    pub(super) panels: usize,
    /// Rows in each of them.
    in_panel: usize,
    /// How names of rows are turned; flat ones have one or two lines.
    turn: Turn,
    pub(super) scale: (f64, f64, f64),
    /// The title of the axis of values.
    title: Vec<String>,
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

impl<'t> Chart<'t> {
    /// A chart whose panels begin at `left` or where there is room.
    pub(super) fn new(table: &'t Table, layout: Layout, legend_of: &'t Table, left: f64) -> Self {
        let fonts = [Font::new(false), Font::new(true)];
        let (bars, scale) = (shown(legend_of), scale(table));
        let (sizes, wider) = if layout.is_print { (PRINT, 1.0) } else { (SCREEN, WIDER) };
        let title = axis_title(&table.axis, layout.height / wider, sizes.tick, &fonts[0]);
        let ticks = [scale.0, scale.1].map(|value| fonts[0].width(&tick(value, scale.2), sizes.tick) * wider + 10.0);
        let of_title = title.len() as f64 * (sizes.tick + 3.0) + 4.0;
        let left = (ticks.into_iter().fold(TICKS, f64::max) + of_title).max(left).min(layout.width / 2.0);
        let (has_legend, shapes) = (true, Vec::new());
        let (bar, gap, group, panels, turn) = (BAR, GAP, 0.0, 1, Turn::Flat);
        let mut chart = Self {
            table,
            layout,
            legend_of,
            has_legend,
            bars,
            bar,
            gap,
            fonts,
            wider,
            sizes,
            shapes,
            group,
            left,
            panels,
            in_panel: 1,
            turn,
            scale,
            title,
        };
        chart.arrange();
        chart
    }

    /// Chooses how wide bars and groups are, how names stand, and how many panels that takes.
    fn arrange(&mut self) {
        let (table, layout, count) = (self.table, self.layout, self.bars.len().max(1) as f64);
        let rows = table.rows.len().max(1);
        self.in_panel = rows;
        let width = |row: &TableRow, text: &str| self.fonts[usize::from(row.is_mean)].width(text, self.sizes.name);
        let widest_line =
            table.rows.iter().flat_map(|row| lines(&row.name).into_iter().map(move |line| width(row, &line)));
        // Other fonts than ours may be wider.
        let widest_line = widest_line.fold(0.0, f64::max) * self.wider + 6.0;
        let longest = table.rows.iter().map(|row| width(row, &short(&row.name))).fold(0.0, f64::max);
        if matches!(table.kind, Kind::Line | Kind::Scatter) {
            let width = if layout.is_print { layout.width } else { layout.width.min(POINTS_WIDTH) };
            self.in_panel = if table.kind == Kind::Line { rows } else { 1 };
            self.group = (width - self.left - RIGHT) / self.in_panel as f64;
            self.turn = if widest_line <= self.group { Turn::Flat } else { Turn::Up };
            return;
        }
        if layout.is_print {
            return self.arrange_print(widest_line);
        }
        if layout.has_own_means {
            let room = (layout.width - self.left - RIGHT) / rows as f64 - WIDE_GAP;
            (self.bar, self.gap) = ((room / count).clamp(BAR, WIDE_BAR), WIDE_GAP);
        }
        let plain = self.bar * count + self.gap;
        // A little more room between bars is better than names that stand askew.
        self.turn = if widest_line <= plain.max(84.0) { Turn::Flat } else { Turn::Slanted };
        self.group = plain;
        if self.turn == Turn::Flat {
            self.group = plain.max(widest_line);
        } else {
            self.left = self.left.max(longest * SLANT.1 - plain / 2.0 + 6.0).min(layout.width / 2.0);
        }
        let fit = (((layout.width - self.left - RIGHT) / self.group).floor() as usize).max(1);
        self.panels = rows.div_ceil(fit);
        self.in_panel = rows.div_ceil(self.panels);
        let least = (NARROW.min(layout.width) - self.left - RIGHT) / self.in_panel as f64;
        self.group = self.group.max(least);
    }

    /// The same for a picture of a given width, which panels fill: bars become narrow before there is another panel.
    fn arrange_print(&mut self, widest_line: f64) {
        let (rows, bars) = (self.table.rows.len().max(1), self.bars.len().max(1) as f64);
        let narrow = NARROW_BARS[usize::from(!self.table.parts.is_empty())];
        for panels in 1..=rows {
            let group = (self.layout.width - self.left - RIGHT) / rows.div_ceil(panels) as f64;
            let gap = (group * 0.22).clamp(3.0, GAP);
            (self.panels, self.group, self.gap) = (panels, group, gap);
            self.in_panel = rows.div_ceil(panels);
            self.bar = ((group - gap) / bars).clamp(narrow / 2.0, PRINT_BAR);
            if group >= NARROW_GROUP && self.bar >= narrow {
                break;
            }
        }
        self.turn = if widest_line <= self.group { Turn::Flat } else { Turn::Up };
    }

    /// The same below a chart that has the legend of both.
    pub(super) fn without_legend(self) -> Self {
        Self { has_legend: false, ..self }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, look: Look) {
        let (size, anchor, turn, is_bold, ink) = look;
        self.shapes.push(Shape::Text(Text { x, y, text: text.to_owned(), size, anchor, turn, is_bold, ink }));
    }

    /// Names below the bars take this much room.
    fn below(&self) -> (f64, f64) {
        if self.table.kind == Kind::Scatter {
            return (0.0, self.sizes.line + 14.0);
        }
        let rows = &self.table.rows;
        let names = rows.iter().map(|row| {
            let width = || self.fonts[usize::from(row.is_mean)].width(&short(&row.name), self.sizes.name);
            match self.turn {
                Turn::Flat => lines(&row.name).len() as f64 * self.sizes.line,
                Turn::Slanted => width() * SLANT.0 + self.sizes.line,
                Turn::Up => width(),
            }
        });
        let width = |bar: &usize| self.fonts[0].width(&short(&self.table.bars[*bar]), self.sizes.small) + 8.0;
        let of_bars = if self.table.parts.is_empty() { 0.0 } else { self.bars.iter().map(width).fold(0.0, f64::max) };
        (of_bars, names.fold(0.0, f64::max) + 14.0)
    }

    pub(super) fn draw(mut self) -> Drawing {
        let (table, sizes) = (self.table, self.sizes);
        let in_panel = self.in_panel;
        let width = self.left + self.group * in_panel as f64 + RIGHT;
        let mut y = 8.0;
        if self.layout.has_title {
            for line in wrapped(&table.title, width - 8.0, sizes.title, &self.fonts[1]) {
                y += 14.0;
                self.text(4.0, y, &line, (sizes.title, Anchor::Start, Turn::Flat, true, Ink::Text));
                y += 4.0;
            }
            y += 6.0;
        }
        if self.has_legend {
            y = self.legend(y, width);
        }
        let (of_bars, names) = self.below();
        for panel in 0..self.panels {
            let from = panel * in_panel;
            self.panel(from, (from + in_panel).min(table.rows.len()), y + 8.0, width, of_bars);
            y += 8.0 + self.layout.height + of_bars + names;
        }
        if !table.x_axis.is_empty() {
            let middle = f64::midpoint(self.left, width - RIGHT);
            self.text(middle, y, &table.x_axis, (sizes.tick, Anchor::Middle, Turn::Flat, false, Ink::Text));
            y += 6.0;
        }
        Drawing { width, height: y + 4.0, title: table.title.clone(), shapes: self.shapes }
    }

    /// The legend's items, each with its name.
    fn items(&self) -> Vec<(String, Item)> {
        let table = self.legend_of;
        let mut items: Vec<(String, Item)> = if table.parts.is_empty() {
            let is_point = matches!(table.kind, Kind::Line | Kind::Scatter);
            let item = |bar: usize| if is_point { Item::Point(bar) } else { Item::Bar(bar) };
            self.bars.iter().map(|bar| (table.bars[*bar].clone(), item(*bar))).collect()
        } else {
            table.parts.iter().enumerate().map(|(n, part)| (part.clone(), Item::Bar(n))).collect()
        };
        let cells =
            || table.rows.iter().flat_map(|row| self.bars.iter().filter_map(|bar| row.cells[*bar].as_ref().ok()));
        if table.kind == Kind::Bars && cells().any(|cell| table.is_within_spread(cell)) {
            let first = self.bars.first().copied().unwrap_or_default();
            items.push(("pale: not distinguishable from noise".to_owned(), Item::Pale(first)));
        }
        if !table.whiskers.is_empty() && cells().any(|cell| cell.whisker().is_some()) {
            items.push((table.whiskers.clone(), Item::Whisker));
        }
        let has_paper = |cell: &Cell| cell.paper.is_some() || cell.parts.iter().any(|part| part.paper.is_some());
        if cells().any(has_paper) {
            items.push(("paper".to_owned(), Item::Mark(Mark::Paper)));
        }
        if cells().any(|cell| cell.by_other_reading().is_some()) {
            items.push((format!("our other reading: {}", table.reading), Item::Mark(Mark::Reading)));
        }
        if let (Some(bar), Some(_)) = (table.baseline, table.neutral) {
            items.push((format!("baseline {}", table.bars[bar]), Item::Baseline));
        }
        items
    }

    /// The legend, in as many lines as it takes; where it ends.
    fn legend(&mut self, top: f64, width: f64) -> f64 {
        let (size, line) = (self.sizes.name, self.sizes.line);
        let (mut x, mut y, mut deep) = (self.left, top, 1);
        for (name, item) in self.items() {
            let room = (width - self.left - item.width()) / self.wider;
            let names = wrapped(&name, room, size, &self.fonts[0]);
            let widest = names.iter().map(|name| self.fonts[0].width(name, size) * self.wider).fold(0.0, f64::max);
            if x > self.left && x + item.width() + widest > width {
                (x, y, deep) = (self.left, y + line * f64::from(deep) + 3.0, 1);
            }
            self.sample(item, x, y);
            for (n, name) in (0..).zip(&names) {
                let base = y + 13.0 + line * f64::from(n);
                self.text(x + item.width(), base, name, (size, Anchor::Start, Turn::Flat, false, Ink::Text));
            }
            deep = deep.max(names.len() as i32);
            x += item.width() + widest + 14.0;
        }
        y + line * f64::from(deep) + 3.0
    }

    /// What stands before a name in the legend.
    fn sample(&mut self, item: Item, x: f64, y: f64) {
        let (place, hover) = ([x, y + 3.0, 11.0, 11.0], String::new());
        let middle = [x + 5.5, y + 8.5];
        let line = |from, to, is_dashed| Shape::Line { from, to, ink: Ink::Text, is_dashed };
        match item {
            Item::Bar(n) => self.shapes.push(Shape::Rect { place, ink: Ink::Bar(n), is_pale: false, hover }),
            Item::Pale(n) => self.shapes.push(Shape::Rect { place, ink: Ink::Bar(n), is_pale: true, hover }),
            Item::Point(bar) => self.shapes.push(Shape::Area { corners: point(bar, middle), bar, hover }),
            Item::Mark(mark) => self.shapes.push(Shape::Mark { mark, scale: 1.0, middle, hover }),
            Item::Whisker => self.whisker(middle[0], [y + 3.0, y + 14.0]),
            Item::Baseline => self.shapes.push(line([x, middle[1]], [x + 21.0, middle[1]], true)),
        }
    }

    /// A line from top to bottom with short ends.
    pub(super) fn whisker(&mut self, x: f64, [top, bottom]: [f64; 2]) {
        let half = (self.bar / 4.0).min(3.0);
        for (from, to) in
            [([x, top], [x, bottom]), ([x - half, top], [x + half, top]), ([x - half, bottom], [x + half, bottom])]
        {
            self.shapes.push(Shape::Line { from, to, ink: Ink::Text, is_dashed: false });
        }
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
            self.text(self.left - 6.0, at + 4.0, &label, (self.sizes.tick, Anchor::End, Turn::Flat, false, Ink::Soft));
        }
        for (n, line) in (0..).zip(self.title.clone()) {
            let x = 4.0 + self.sizes.tick + (self.sizes.tick + 3.0) * f64::from(n);
            self.text(x, top + height / 2.0, &line, (self.sizes.tick, Anchor::Middle, Turn::Up, false, Ink::Text));
        }
        if self.table.kind == Kind::Scatter {
            self.scattered([top, width - RIGHT], height, &y);
        }
        let rows = if self.table.kind == Kind::Scatter { 0..0 } else { from..to };
        for row in rows {
            // A line between the means and what they are over.
            if row > from && self.table.rows[row - 1].is_mean && !self.table.rows[row].is_mean {
                let x = self.left + self.group * (row - from) as f64;
                let (from, to) = ([x, top], [x, top + height]);
                self.shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
            }
            let left = self.left + self.group * (row - from) as f64;
            match self.table.kind {
                Kind::Line => self.points(row, left + self.group / 2.0, &y),
                _ => self.row(row, left, &y),
            }
            self.row_name(row, left + self.group / 2.0, top + height + of_bars);
        }
        if let Some(neutral) = self.table.neutral {
            let at = y(neutral);
            let (from, to) = ([self.left, at], [width - RIGHT, at]);
            self.shapes.push(Shape::Line { from, to, ink: Ink::Text, is_dashed: true });
        }
    }

    fn row_name(&mut self, row: usize, middle: f64, top: f64) {
        let (row, size, line) = (&self.table.rows[row], self.sizes.name, self.sizes.line);
        match self.turn {
            Turn::Flat => {
                for (n, name) in (1..).zip(lines(&row.name)) {
                    let look = (size, Anchor::Middle, Turn::Flat, row.is_mean, Ink::Text);
                    self.text(middle, top + line * f64::from(n), &name, look);
                }
            }
            Turn::Slanted => {
                let look = (size, Anchor::End, Turn::Slanted, row.is_mean, Ink::Text);
                self.text(middle + 4.0, top + line - 2.0, &short(&row.name), look);
            }
            Turn::Up => {
                let look = (size, Anchor::End, Turn::Up, row.is_mean, Ink::Text);
                self.text(middle + size / 3.0, top + 4.0, &short(&row.name), look);
            }
        }
    }
}

/// The title of the axis of values, in lines no longer than a panel is high.
fn axis_title(title: &str, height: f64, size: f64, font: &Font) -> Vec<String> {
    let mut lines = wrapped(title, height, size, font);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines[MOST_LINES - 1].push('…');
    }
    lines
}
