//! Bars of a chart, plain or stacked.

use super::frame::Chart;
use super::words::short;
use super::{hover, number, origin, part_hover};
use crate::drawing::{Anchor, Ink, Mark, Shape, Turn};
use crate::experiment::{Kind, quartiles};
use crate::table::Cell;

impl Chart<'_> {
    /// The values of a row, whose group begins at `left`.
    pub(super) fn row(&mut self, row: usize, left: f64, y: &dyn Fn(f64) -> f64) {
        let row = &self.table.rows[row];
        let room = self.group - self.bar * self.bars.len() as f64;
        for (n, bar) in self.bars.clone().into_iter().enumerate() {
            let x = left + room / 2.0 + self.bar * n as f64;
            let middle = x + self.bar / 2.0;
            match &row.cells[bar] {
                Ok(cell) if self.table.kind == Kind::Box => self.boxed(&row.name, bar, cell, middle, y),
                Ok(cell) => self.bar(&row.name, bar, cell, middle, y),
                Err(_) => {
                    let at = y(origin(self.table)) - 2.0;
                    self.text(middle, at, "×", (self.sizes.name, Anchor::Middle, Turn::Flat, false, Ink::Soft));
                }
            }
            if !self.table.parts.is_empty() {
                let name = short(&self.table.bars[bar]);
                let at = y(self.scale.0) + 4.0;
                self.text(middle + 3.5, at, &name, (self.sizes.small, Anchor::End, Turn::Up, false, Ink::Soft));
            }
        }
    }

    fn bar(&mut self, row: &str, bar: usize, cell: &Cell, middle: f64, y: &dyn Fn(f64) -> f64) {
        let (table, name) = (self.table, &self.table.bars[bar]);
        let width = self.bar - (self.bar * 0.15).min(2.0);
        let mut block = |from: f64, to: f64, ink, is_pale, hover| {
            let (top, bottom) = (y(from.max(to)), y(from.min(to)));
            let place = [middle - width / 2.0, top, width, (bottom - top).max(0.6)];
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
        if let Some([low, high]) = cell.whisker() {
            self.whisker(middle, [y(high), y(low)]);
        }
        self.marks(cell, middle, y, &over);
        let scale = self.mark_scale();
        let mut put =
            |mark, value: f64, hover| self.shapes.push(Shape::Mark { mark, scale, middle: [middle, y(value)], hover });
        let mut below = 0.0;
        for (n, part) in cell.parts.iter().enumerate() {
            // A part of the paper's starts where ours starts.
            if let Some(paper) = part.paper {
                put(Mark::Paper, below + paper, part_hover(row, name, &table.parts[n], part, cell));
            }
            below += part.value;
        }
    }

    /// A box over the rows of a mean, with a line at their median.
    fn boxed(&mut self, row: &str, bar: usize, cell: &Cell, middle: f64, y: &dyn Fn(f64) -> f64) {
        let (Some([low, high]), Some([first, median, third])) = (cell.whisker(), quartiles(&cell.samples)) else {
            return;
        };
        let over = hover(self.table, row, &self.table.bars[bar], cell);
        self.whisker(middle, [y(high), y(low)]);
        let width = self.bar * 0.8;
        let left = middle - width / 2.0;
        let place = [left, y(third), width, (y(first) - y(third)).max(0.6)];
        let [high, low] = [y(third), y(first)];
        self.shapes.push(Shape::Rect {
            place,
            ink: Ink::Bar(bar),
            is_pale: false,
            hover: format!("{over}; median {}", number(median)),
        });
        for (from, to) in [
            ([left, y(median)], [left + width, y(median)]),
            ([left, high], [left + width, high]),
            ([left, low], [left + width, low]),
            ([left, high], [left, low]),
            ([left + width, high], [left + width, low]),
        ] {
            self.shapes.push(Shape::Line { from, to, ink: Ink::Text, is_dashed: false });
        }
    }

    /// Marks of neighbours should not cover each other.
    fn mark_scale(&self) -> f64 {
        (self.bar / 12.0).clamp(0.5, 1.0)
    }

    /// The marks of a value: the paper's, and that of our other reading.
    pub(super) fn marks(&mut self, cell: &Cell, middle: f64, y: &dyn Fn(f64) -> f64, over: &str) {
        let scale = self.mark_scale();
        let marks = [(Mark::Reading, cell.by_other_reading()), (Mark::Paper, cell.paper)];
        for (mark, value) in marks.into_iter().filter_map(|(mark, value)| Some((mark, value?))) {
            let middle = [middle, y(value)];
            self.shapes.push(Shape::Mark { mark, scale, middle, hover: over.to_owned() });
        }
    }
}
