//! The picture of all experiments: for each paper, the rows that say most, with the paper's values.
//!
//! ```text
//!  legend                                         Raddle  paper
//!  Name of the mechanism   what its values are
//!    divergent programs        |■■■■■■■  ◆         1.12   1.22
//!    coherent programs         |■ ◆                1.01   1.00
//!               0.9           1.0         1.1
//!                       what the axis is
//! ```

use crate::agreement::Rule;
use crate::chart::{number, round_scale, tick};
use crate::drawing::{Anchor, Drawing, Ink, Mark, Shape, Text, Turn};
use crate::experiment::{Experiment, Kind};
use crate::font::{Font, WIDER};
use crate::numbers::row_of;
use crate::table::{Cell, Gap, Table, TableRow};

/// Width on a page and in a file, and on a small screen.
pub const WIDTHS: [f64; 2] = [860.0, 358.0];

const SIZE: f64 = 13.0;
const SMALL: f64 = 11.0;
const ROW: f64 = 24.0;
const BAR: f64 = 13.0;
const INDENT: f64 = 14.0;
/// Room for a number at the right.
const NUMBER: f64 = 52.0;

/// What the picture shows of one experiment.
struct Chapter {
    name: String,
    /// What its values are.
    about: String,
    is_less_better: bool,
    rows: Vec<(String, Result<Cell, Gap>)>,
}

/// The picture of several experiments.
pub struct Overview {
    chapters: Vec<Chapter>,
}

impl Overview {
    /// From experiments with the tables of their figures. In it are those with a headline whose values are set against a
    /// baseline, where a paper prints one of them.
    #[must_use]
    pub fn new<'e>(all: impl Iterator<Item = (&'e Experiment, &'e [Table])>) -> Self {
        let mut chapters = Vec::new();
        for (experiment, tables) in all {
            let Some(headline) = &experiment.headline else { continue };
            let table = &tables[headline.figure];
            if table.neutral != Some(1.0) {
                continue;
            }
            let row = |(row, words): &(_, String)| {
                let cell = row_of(table, row).map_or(Err(Gap::Undefined), |row| row.cells[headline.bar].clone());
                // What a mean is over is said by the experiment's own page.
                (words.clone(), cell.map(|cell| Cell { over: None, ..cell }))
            };
            let is_less_better = headline.is_less_better;
            let direction = if is_less_better { "less" } else { "more" };
            let about = format!("{}: {direction} is better", headline.axis);
            let rows: Vec<_> = headline.rows.iter().map(row).collect();
            if rows.iter().any(|(_, cell)| cell.as_ref().is_ok_and(|cell| cell.paper.is_some())) {
                let name = headline.name.clone();
                chapters.push(Chapter { name, about, is_less_better, rows });
            }
        }
        Self { chapters }
    }

    /// Its values as a table.
    #[must_use]
    pub fn table(&self) -> Table {
        let rows = self.chapters.iter().flat_map(|chapter| {
            let row = |(words, cell): &(String, Result<Cell, Gap>)| TableRow {
                name: format!("{}, {words}", chapter.name),
                is_mean: false,
                cells: vec![cell.clone()],
            };
            chapter.rows.iter().map(row)
        });
        Table {
            name: "overview".to_owned(),
            title: TITLE.to_owned(),
            kind: Kind::Bars,
            about: self.axis(),
            source: "each paper's own mean".to_owned(),
            bars: vec!["Raddle".to_owned()],
            baseline: None,
            parts: Vec::new(),
            has_geometric_means: false,
            neutral: Some(1.0),
            is_count: false,
            rules: [Rule::Gain(1.0), Rule::Share],
            reading: "other".to_owned(),
            axis: self.axis(),
            x_axis: String::new(),
            whiskers: String::new(),
            rows: rows.collect(),
        }
    }

    /// The picture, this wide.
    #[must_use]
    pub fn drawing(&self, width: f64) -> Drawing {
        Canvas::new(self, width).draw()
    }

    /// What its axis is.
    fn axis(&self) -> String {
        let has_less = self.chapters.iter().any(|chapter| chapter.is_less_better);
        format!("{AXIS}{}", if has_less { LESS } else { "" })
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.chapters.iter().flat_map(|chapter| chapter.rows.iter().filter_map(|(_, cell)| cell.as_ref().ok()))
    }
}

const TITLE: &str = "What the mechanisms of the papers are worth, beside what the papers say";
const AXIS: &str = "speed-up over the paper's baseline: right of 1 is faster";
/// What the axis says more where a value is better when it is less.
const LESS: &str = "; left of 1 is better where it says so";

struct Canvas<'o> {
    overview: &'o Overview,
    fonts: [Font; 2],
    shapes: Vec<Shape>,
    width: f64,
    /// From where to where bars may go.
    plot: [f64; 2],
    scale: (f64, f64, f64),
    has_other: bool,
}

impl<'o> Canvas<'o> {
    fn new(overview: &'o Overview, width: f64) -> Self {
        let fonts = [Font::new(false), Font::new(true)];
        let has_other = overview.cells().any(|cell| cell.by_other_reading().is_some());
        let words = overview.chapters.iter().flat_map(|chapter| chapter.rows.iter().map(|(words, _)| words.as_str()));
        let widest = words.map(|words| fonts[0].width(words, SIZE) * WIDER).fold(0.0, f64::max);
        let left = (INDENT + widest + 14.0).min(width * 0.45);
        let right = width - NUMBER * if has_other { 3.0 } else { 2.0 } - 10.0;
        let ends = |cell: &Cell| {
            let marks = [cell.paper, cell.by_other_reading()].map(|mark| mark.unwrap_or(cell.value));
            [cell.low, cell.high, marks[0], marks[1]]
        };
        let least = overview.cells().flat_map(ends).fold(1.0, f64::min);
        let most = overview.cells().flat_map(ends).fold(1.0, f64::max);
        let scale = round_scale(least, most);
        Self { overview, fonts, shapes: Vec::new(), width, plot: [left, right], scale, has_other }
    }

    fn x(&self, value: f64) -> f64 {
        let ([left, right], (low, high, _)) = (self.plot, self.scale);
        left + (right - left) * (value - low) / (high - low)
    }

    fn text(&mut self, [x, y]: [f64; 2], text: &str, size: f64, anchor: Anchor, (is_bold, ink): (bool, Ink)) {
        let text = Text { x, y, text: text.to_owned(), size, anchor, turn: Turn::Flat, is_bold, ink };
        self.shapes.push(Shape::Text(text));
    }

    fn draw(mut self) -> Drawing {
        let overview = self.overview;
        let mut y = self.legend();
        for chapter in &overview.chapters {
            y = self.chapter(chapter, y);
        }
        for (value, x) in self.lines() {
            self.text([x, y + 16.0], &tick(value, self.scale.2), SMALL, Anchor::Middle, (false, Ink::Soft));
        }
        let axis = overview.axis();
        let middle = (self.plot[0] + self.plot[1]) / 2.0;
        let half = self.fonts[0].width(&axis, SMALL) * WIDER / 2.0;
        let middle = middle.clamp(half.min(self.width / 2.0), (self.width - half).max(self.width / 2.0));
        self.text([middle, y + 34.0], &axis, SMALL, Anchor::Middle, (false, Ink::Soft));
        Drawing { width: self.width, height: y + 44.0, title: TITLE.to_owned(), shapes: self.shapes }
    }

    /// The values that have a line, and where it is.
    fn lines(&self) -> Vec<(f64, f64)> {
        let (low, high, step) = self.scale;
        let count = ((high - low) / step).round() as i32;
        (0..=count).map(|n| low + step * f64::from(n)).map(|value| (value, self.x(value))).collect()
    }

    /// The legend and the heads of the columns of numbers; where they end.
    fn legend(&mut self) -> f64 {
        let hover = String::new;
        let mut x = 4.0;
        let place = [x, 9.0, 11.0, 11.0];
        self.shapes.push(Shape::Rect { place, ink: Ink::Bar(0), is_pale: false, hover: hover() });
        let other = self.has_other.then_some((Mark::Reading, "our other reading"));
        let items = [("Raddle", None), ("paper", Some(Mark::Paper))].into_iter();
        for (name, mark) in items.chain(other.map(|(mark, name)| (name, Some(mark)))) {
            if let Some(mark) = mark {
                self.shapes.push(Shape::Mark { mark, scale: 1.0, middle: [x + 5.5, 14.5], hover: hover() });
            }
            self.text([x + 17.0, 19.0], name, SIZE, Anchor::Start, (false, Ink::Text));
            x += 17.0 + self.fonts[0].width(name, SIZE) * WIDER + 16.0;
        }
        let heads = ["Raddle", "paper", "other"];
        for (n, head) in heads.into_iter().take(if self.has_other { 3 } else { 2 }).enumerate() {
            self.text([self.column(n), 38.0], head, SMALL, Anchor::End, (false, Ink::Soft));
        }
        28.0
    }

    /// Where a column of numbers ends.
    fn column(&self, n: usize) -> f64 {
        self.plot[1] + 6.0 + NUMBER * (n + 1) as f64
    }

    /// A paper with its rows; where they end.
    fn chapter(&mut self, chapter: &Chapter, top: f64) -> f64 {
        let mut y = top + 22.0;
        self.text([4.0, y], &chapter.name, SIZE, Anchor::Start, (true, Ink::Text));
        let named = 4.0 + self.fonts[1].width(&chapter.name, SIZE) * WIDER + 12.0;
        let about = self.fonts[0].width(&chapter.about, SMALL) * WIDER;
        // Beside the name where there is room, else below it.
        let x = if named + about < self.width { named } else { INDENT };
        y += if x == INDENT { 16.0 } else { 0.0 };
        self.text([x, y], &chapter.about, SMALL, Anchor::Start, (false, Ink::Soft));
        y += 8.0;
        let bottom = y + ROW * chapter.rows.len() as f64;
        for (value, x) in self.lines() {
            let ink = if (value - 1.0).abs() < self.scale.2 / 1e3 { Ink::Text } else { Ink::Grid };
            self.shapes.push(Shape::Line { from: [x, y], to: [x, bottom], ink, is_dashed: false });
        }
        for (words, cell) in &chapter.rows {
            self.row(&chapter.name, words, cell, y);
            y += ROW;
        }
        y
    }

    fn row(&mut self, chapter: &str, words: &str, cell: &Result<Cell, Gap>, top: f64) {
        let (middle, base) = (top + ROW / 2.0, top + ROW / 2.0 + 4.5);
        self.text([INDENT, base], words, SIZE, Anchor::Start, (false, Ink::Text));
        let cell = match cell {
            Ok(cell) => cell,
            Err(gap) => {
                self.text([self.column(0), base], gap.text(), SIZE, Anchor::End, (false, Ink::Soft));
                return;
            }
        };
        let paper = cell.paper.map(|paper| format!(", paper {}", number(paper))).unwrap_or_default();
        let hover = format!("{chapter}, {words}: {}{paper}", number(cell.value));
        let [from, to] = [self.x(cell.value.min(1.0)), self.x(cell.value.max(1.0))];
        let place = [from, middle - BAR / 2.0, (to - from).max(0.8), BAR];
        self.shapes.push(Shape::Rect { place, ink: Ink::Bar(0), is_pale: false, hover: hover.clone() });
        let marks = [(Mark::Reading, cell.by_other_reading()), (Mark::Paper, cell.paper)];
        for (mark, value) in marks.into_iter().filter_map(|(mark, value)| Some((mark, value?))) {
            self.shapes.push(Shape::Mark { mark, scale: 1.0, middle: [self.x(value), middle], hover: hover.clone() });
        }
        let numbers = [Some(cell.value), cell.paper, cell.by_other_reading()];
        for (n, value) in numbers.into_iter().enumerate().filter_map(|(n, value)| Some((n, value?))) {
            let ink = if n == 0 { Ink::Text } else { Ink::Soft };
            self.text([self.column(n), base], &format!("{value:.2}"), SIZE, Anchor::End, (n == 0, ink));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overview(other: bool) -> Overview {
        let cell = |value: f64, paper: Option<f64>| {
            let reading = other.then(|| Ok(Box::new(Cell { value: value + 0.1, ..Cell::default() })));
            Ok(Cell { value, low: value, high: value, paper, reading, ..Cell::default() })
        };
        let chapter = |name: &str, rows| Chapter {
            name: name.to_owned(),
            about: "speed: more is better".to_owned(),
            is_less_better: false,
            rows,
        };
        Overview {
            chapters: vec![
                chapter(
                    "One",
                    vec![("divergent".to_owned(), cell(1.13, Some(1.22))), ("coherent".to_owned(), cell(0.98, None))],
                ),
                chapter("Two", vec![("all".to_owned(), Err(Gap::NoResult))]),
            ],
        }
    }

    #[test]
    fn every_row_has_a_bar_its_marks_and_its_numbers() {
        for width in WIDTHS {
            let drawing = overview(true).drawing(width);
            let count = |wanted: &dyn Fn(&Shape) -> bool| drawing.shapes.iter().filter(|shape| wanted(shape)).count();
            let has = |wanted: &str| count(&|s| matches!(s, Shape::Text(text) if text.text == wanted));
            assert_eq!(count(&|s| matches!(s, Shape::Rect { hover, .. } if !hover.is_empty())), 2);
            assert_eq!(count(&|s| matches!(s, Shape::Mark { mark: Mark::Paper, .. })), 2, "one in the legend");
            assert_eq!(count(&|s| matches!(s, Shape::Mark { mark: Mark::Reading, .. })), 3);
            assert_eq!([has("1.13"), has("1.22"), has("0.98"), has("One"), has("-"), has("other")], [1; 6]);
            let is_inside = |shape: &Shape| match shape {
                Shape::Text(text) => (0.0..=width).contains(&text.x) && (0.0..=drawing.height).contains(&text.y),
                Shape::Mark { middle: [x, _], .. } => (0.0..=width).contains(x),
                _ => true,
            };
            assert!(drawing.shapes.iter().all(is_inside));
        }
    }

    #[test]
    fn without_another_reading_there_is_no_column_for_it() {
        let drawing = overview(false).drawing(WIDTHS[0]);
        assert!(!drawing.shapes.iter().any(|shape| matches!(shape, Shape::Text(text) if text.text == "other")));
        assert_eq!(overview(false).table().rows[1].name, "One, coherent");
    }
}
