//! Bars of a chart, plain or stacked.

use super::frame::Chart;
use super::words::short;
use super::{hover, origin, part_hover};
use crate::drawing::{Anchor, Ink, Mark, Shape, Turn};
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
        if cell.high > cell.low {
            self.whisker(middle, [y(cell.high), y(cell.low)]);
        }
        // Marks of neighbours should not cover each other.
        let scale = (self.bar / 12.0).clamp(0.5, 1.0);
        let mut put =
            |mark, value: f64, hover| self.shapes.push(Shape::Mark { mark, scale, middle: [middle, y(value)], hover });
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
