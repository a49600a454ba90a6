//! Gang sizes as a drawing: warps of an SM over time, by the size of the gang they are in.

use crate::drawing::{Anchor, Drawing, Ink, Shape, Text, Turn};
use crate::font::Font;
use crate::label::Label;
use raddle_runtime::gang_record::GangRecord;
use raddle_runtime::numbers::grouped;
use std::collections::BTreeMap;

/// Stretches of time, and the width of each.
const STRETCHES: usize = 180;
const STEP: f64 = 5.0;
/// Room for the scale.
const LEFT: f64 = 62.0;
const TOP: f64 = 60.0;
const HEIGHT: f64 = 260.0;
/// Sizes from the bottom to the top, each with its colour and whether it is pale.
const SIZES: [(usize, usize, bool); 8] = [
    (8, 0, false),
    (7, 0, true),
    (6, 2, false),
    (5, 2, true),
    (4, 1, false),
    (3, 1, true),
    (2, 3, false),
    (1, 3, true),
];

/// The drawing of a record; `labels` has what is known of operations.
#[must_use]
pub fn drawing(record: &GangRecord, labels: &BTreeMap<u32, Label>) -> Drawing {
    let stretches = record.stretches(STRETCHES);
    let most = stretches.iter().map(|sizes| sizes.iter().sum::<f64>()).fold(1.0, f64::max);
    let top = scale_end(most);
    let mut shapes = Vec::new();
    let text = |x: f64, y: f64, text: String, anchor: Anchor, ink: Ink| {
        Shape::Text(Text { x, y, text, size: 11.0, anchor, turn: Turn::Flat, is_bold: false, ink })
    };
    let mut x = LEFT;
    for (size, colour, is_pale) in SIZES {
        let place = [x, 10.0, 14.0, 12.0];
        shapes.push(Shape::Rect { place, ink: Ink::Bar(colour), is_pale, hover: String::new() });
        let name = if size == 1 { "by themselves".to_owned() } else { format!("gangs of {size}") };
        shapes.push(text(x + 20.0, 20.0, name, Anchor::Start, Ink::Text));
        x += 100.0;
    }
    shapes.push(text(LEFT, TOP - 14.0, "warps of an SM".to_owned(), Anchor::Start, Ink::Soft));
    let bottom = TOP + HEIGHT;
    for step in 0..=4 {
        let value = top * f64::from(step) / 4.0;
        let y = bottom - HEIGHT * f64::from(step) / 4.0;
        shapes.push(Shape::Line {
            from: [LEFT, y],
            to: [LEFT + STEP * STRETCHES as f64, y],
            ink: Ink::Soft,
            is_dashed: step > 0,
        });
        shapes.push(text(LEFT - 8.0, y + 4.0, format!("{value:.0}"), Anchor::End, Ink::Soft));
    }
    let [start, end] = [record.sizes.first(), record.sizes.last()].map(|s| s.map_or(0, |s| s.0));
    let time = |part: f64| grouped(((end - start) as f64 * part) as u64);
    for (n, sizes) in stretches.iter().enumerate() {
        let mut y = bottom;
        for (size, colour, is_pale) in SIZES {
            let height = HEIGHT * sizes[size] / top;
            if height > 0.05 {
                y -= height;
                let name = if size == 1 { "by themselves".to_owned() } else { format!("in gangs of {size}") };
                let from = time(n as f64 / STRETCHES as f64);
                let hover = format!("from cycle {from}: {:.1} warps {name}", sizes[size]);
                let place = [LEFT + STEP * n as f64, y, STEP, height];
                shapes.push(Shape::Rect { place, ink: Ink::Bar(colour), is_pale, hover });
            }
        }
    }
    for quarter in 0..=4 {
        let part = f64::from(quarter) / 4.0;
        let x = LEFT + STEP * STRETCHES as f64 * part;
        shapes.push(text(x, bottom + 18.0, time(part), Anchor::Middle, Ink::Soft));
    }
    shapes.push(text(LEFT + STEP * STRETCHES as f64, bottom + 34.0, "cycles".to_owned(), Anchor::End, Ink::Soft));
    let strip = strip(record, labels, bottom + 44.0, &mut shapes);
    let title = "Warps of an SM over time, by the size of the gang they are in".to_owned();
    Drawing { width: LEFT + STEP * STRETCHES as f64 + 40.0, height: bottom + 44.0 + strip, title, shapes }
}

/// Height of the strip of source lines.
const STRIP: f64 = 18.0;

/// The source line that most instructions of each stretch are of, in a strip below `y`; the height that takes.
fn strip(record: &GangRecord, labels: &BTreeMap<u32, Label>, y: f64, shapes: &mut Vec<Shape>) -> f64 {
    let most = |issued: BTreeMap<u32, u64>| {
        let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
        for (pc, count) in issued {
            if let Some(line) = labels.get(&pc).and_then(|label| label.line.as_deref()) {
                *lines.entry(line).or_default() += count;
            }
        }
        lines.into_iter().max_by_key(|(line, count)| (*count, std::cmp::Reverse(*line))).map(|(line, _)| line)
    };
    let lines: Vec<Option<&str>> = record.issued(STRETCHES).into_iter().map(most).collect();
    if lines.iter().all(Option::is_none) {
        return 0.0;
    }
    let font = Font::new(false);
    let mut colours: BTreeMap<&str, usize> = BTreeMap::new();
    shapes.push(Shape::Text(Text::small(LEFT - 8.0, y + 13.0, "line".to_owned(), Anchor::End, Ink::Soft)));
    let mut n = 0;
    while n < lines.len() {
        let same = lines[n..].iter().take_while(|line| **line == lines[n]).count();
        if let Some(line) = lines[n] {
            let next = colours.len();
            let ink = Ink::Bar(*colours.entry(line).or_insert(next));
            let width = STEP * same as f64;
            let place = [LEFT + STEP * n as f64, y, width, STRIP];
            shapes.push(Shape::Rect { place, ink, is_pale: true, hover: format!("mostly line {line}") });
            let number = line.split(": ").next().unwrap_or(line).to_owned();
            if font.width(&number, 11.0) + 4.0 < width {
                let x = place[0] + width / 2.0;
                shapes.push(Shape::Text(Text::small(x, y + 13.0, number, Anchor::Middle, Ink::Text)));
            }
        }
        n += same;
    }
    STRIP + 10.0
}

/// A round number that is not less.
fn scale_end(most: f64) -> f64 {
    let step = if most > 64.0 { 32.0 } else { 8.0 };
    (most / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_runtime::timing::LaunchObserver as _;
    use raddle_sim::event::{Event, EventKind};
    use raddle_sim::gpu::Observer as _;
    use raddle_sim::residency::Residency;

    #[test]
    fn the_strip_has_the_line_of_most_instructions() {
        let mut record = GangRecord::new(0, 0);
        let none = Residency { ctas: 0, warps: 0, registers: 0, capped: None, shared: 0, limit: "" };
        record.launch(0, &none);
        let mut tell = |at, kind| record.event(&Event { at, sm: 0, kind });
        tell(0, EventKind::Gangs { sizes: [0, 0, 0, 0, 0, 0, 0, 0, 8] });
        for at in 0..6400 {
            let pc = if at < 3200 { 1 } else { 2 };
            tell(at, EventKind::Issue { warp: 0, pc, at: 1, lanes: 1 });
        }
        tell(6400, EventKind::Gangs { sizes: [0; 9] });
        let label = |line: &str| Label { ptx: String::new(), line: Some(line.to_owned()) };
        let labels = BTreeMap::from([(1, label("7: a();")), (2, label("8: b();"))]);
        let drawn = drawing(&record, &labels);
        let hovers = |drawing: &Drawing| {
            let hover = |shape: &Shape| match shape {
                Shape::Rect { hover, .. } if hover.starts_with("mostly") => Some(hover.clone()),
                _ => None,
            };
            let mut hovers: Vec<String> = drawing.shapes.iter().filter_map(hover).collect();
            hovers.dedup();
            hovers
        };
        assert_eq!(hovers(&drawn), ["mostly line 7: a();", "mostly line 8: b();"]);
        let without = drawing(&record, &BTreeMap::new());
        assert!(hovers(&without).is_empty() && without.height < drawn.height);
    }
}
