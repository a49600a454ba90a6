//! Gang sizes as a drawing: warps of an SM over time, by the size of the gang they are in.

use crate::drawing::{Anchor, Drawing, Ink, Shape, Text, Turn};
use raddle_runtime::gang_record::GangRecord;
use raddle_runtime::numbers::grouped;

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

/// The drawing of a record.
#[must_use]
pub fn drawing(record: &GangRecord) -> Drawing {
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
    let title = "Warps of an SM over time, by the size of the gang they are in".to_owned();
    Drawing { width: LEFT + STEP * STRETCHES as f64 + 40.0, height: bottom + 44.0, title, shapes }
}

/// A round number that is not less.
fn scale_end(most: f64) -> f64 {
    let step = if most > 64.0 { 32.0 } else { 8.0 };
    (most / step).ceil() * step
}
