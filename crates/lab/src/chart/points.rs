//! Points of a chart: on lines along an axis, or scattered over another metric.

use super::frame::Chart;
use super::{hover, number, round_scale, tick};
use crate::drawing::{Anchor, Ink, Shape, Turn, line_corners};
use crate::table::Cell;

/// Half the width of a point.
const POINT: f64 = 3.2;
/// Width of lines.
const LINE: f64 = 1.6;

impl Chart<'_> {
    /// The points of a row, with lines to those of the row before.
    pub(super) fn points(&mut self, row: usize, middle: f64, y: &dyn Fn(f64) -> f64) {
        let table = self.table;
        for bar in self.bars.clone() {
            let Ok(cell) = &table.rows[row].cells[bar] else { continue };
            let at = [middle, y(cell.value)];
            if let Some(Ok(before)) = row.checked_sub(1).map(|row| &table.rows[row].cells[bar]) {
                let corners = line_corners([middle - self.group, y(before.value)], at, LINE).to_vec();
                self.shapes.push(Shape::Area { corners, bar, hover: String::new() });
            }
            let over = hover(table, &table.rows[row].name, &table.bars[bar], cell);
            self.value(cell, bar, at, y, over);
        }
    }

    /// The points of all rows over their other metric, and its scale below.
    pub(super) fn scattered(&mut self, [top, right]: [f64; 2], height: f64, y: &dyn Fn(f64) -> f64) {
        let (table, left, size) = (self.table, self.left, self.sizes.tick);
        let all = || table.rows.iter().flat_map(|row| row.cells.iter().flatten()).filter_map(|cell| cell.x);
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let (low, high, step) = if least <= most { round_scale(least, most) } else { (0.0, 1.0, 0.2) };
        // No point is cut at the sides.
        let x = |value: f64| left + 8.0 + (right - left - 16.0) * (value - low) / (high - low);
        for n in 0..=((high - low) / step).round() as i32 {
            let value = low + step * f64::from(n);
            let (from, to) = ([x(value), top], [x(value), top + height]);
            self.shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
            let look = (size, Anchor::Middle, Turn::Flat, false, Ink::Soft);
            self.text(x(value), top + height + self.sizes.line, &tick(value, step), look);
        }
        for row in &table.rows {
            for bar in self.bars.clone() {
                let Ok(Some((cell, place))) = row.cells[bar].as_ref().map(|cell| Some((cell, cell.x?))) else {
                    continue;
                };
                let over = hover(table, &row.name, &table.bars[bar], cell);
                let over = format!("{over}; {}: {}", table.x_axis, number(place));
                self.value(cell, bar, [x(place), y(cell.value)], y, over);
            }
        }
    }

    /// A value as a point, with what shows its spread and its marks.
    fn value(&mut self, cell: &Cell, bar: usize, at: [f64; 2], y: &dyn Fn(f64) -> f64, over: String) {
        if let Some([low, high]) = cell.whisker() {
            self.whisker(at[0], [y(high), y(low)]);
        }
        self.marks(cell, at[0], y, &over);
        self.shapes.push(Shape::Area { corners: point(bar, at), bar, hover: over });
    }
}

/// The corners of a point: a circle, a square, a triangle or a diamond, by the number of its colour.
pub(super) fn point(bar: usize, [x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    // Cosines of 0 to 90 degrees in steps of 30.
    const STEPS: [f64; 4] = [1.0, 0.866_025_403_784, 0.5, 0.0];
    let r = POINT;
    match bar % 4 {
        0 => {
            let quarter = |n: usize| [STEPS[n] * r, STEPS[3 - n] * r];
            let turned = |turn: usize, [a, b]: [f64; 2]| match turn {
                0 => [x + a, y + b],
                1 => [x - b, y + a],
                2 => [x - a, y - b],
                _ => [x + b, y - a],
            };
            (0..12).map(|n| turned(n / 3, quarter(n % 3))).collect()
        }
        1 => {
            let r = r * 0.9;
            vec![[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]]
        }
        2 => vec![[x, y - r * 1.2], [x + r * 1.15, y + r * 0.9], [x - r * 1.15, y + r * 0.9]],
        _ => vec![[x, y - r * 1.3], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y]],
    }
}
