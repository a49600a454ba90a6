//! What a memory instruction of one warp asks for, as a drawing: lanes above, and below them the sectors of global memory,
//! or the banks of shared memory. Everything in it is what the simulator has told.

mod banks;
mod coalescing;

pub use banks::banks;
pub use coalescing::coalescing;

use crate::drawing::{Anchor, Ink, Shape, Text};
use crate::label::{Label, shortened};

/// Width of a lane's box, and of what is below all lanes.
const BOX: f64 = 24.0;
/// Room beside it.
const LEFT: f64 = 70.0;
/// Room for what is said above the lanes.
const TOP: f64 = 92.0;
/// Room for lines between lanes and memory.
const BETWEEN: f64 = 120.0;

/// The lanes of an access: from the first to the last of the warps it is of.
struct Lanes {
    first: u8,
    count: u8,
}

impl Lanes {
    fn new(lanes: impl Iterator<Item = u8> + Clone, width: u32) -> Self {
        let width = u8::try_from(width.clamp(1, 32)).unwrap_or(32);
        let first = lanes.clone().min().unwrap_or(0) / width * width;
        let end = (lanes.max().unwrap_or(0) / width + 1) * width;
        Self { first, count: end - first }
    }

    fn x(&self, lane: u8) -> f64 {
        LEFT + BOX * f64::from(lane - self.first)
    }

    /// Their boxes, each with its number; `ink` has the colour of those that take part.
    fn draw(&self, ink: impl Fn(u8) -> Option<(Ink, String)>, shapes: &mut Vec<Shape>) {
        shapes.push(small(LEFT - 8.0, TOP + 16.0, "lanes".to_owned(), Anchor::End, Ink::Soft));
        for lane in self.first..self.first + self.count {
            let x = self.x(lane);
            let found = ink(lane);
            let weight = if found.is_some() { Ink::Text } else { Ink::Soft };
            if let Some((ink, hover)) = found {
                shapes.push(Shape::Rect { place: [x, TOP, BOX, BOX], ink, is_pale: true, hover });
            }
            outline([x, TOP, BOX, BOX], shapes);
            let number = (lane - self.first).to_string();
            shapes.push(small(x + BOX / 2.0, TOP + 16.0, number, Anchor::Middle, weight));
        }
    }
}

/// What is said above the lanes: the source line, the instruction, and what it comes to.
fn head(label: &Label, pc: u32, figures: &[String], shapes: &mut Vec<Shape>) {
    let first = label.line.as_ref().map_or_else(|| label.whole(pc), |line| format!("line {line}"));
    let mut y = 20.0;
    let title = Text::small(LEFT, y, shortened(&first, 90), Anchor::Start, Ink::Text);
    shapes.push(Shape::Text(Text { is_bold: true, size: 12.0, ..title }));
    if label.line.is_some() {
        y += 17.0;
        shapes.push(small(LEFT, y, shortened(&label.ptx, 90), Anchor::Start, Ink::Soft));
    }
    for figure in figures {
        y += 17.0;
        shapes.push(small(LEFT, y, figure.clone(), Anchor::Start, Ink::Text));
    }
}

/// The lines around a box.
fn outline([x, y, width, height]: [f64; 4], shapes: &mut Vec<Shape>) {
    let (right, bottom) = (x + width, y + height);
    let sides =
        [([x, y], [right, y]), ([x, bottom], [right, bottom]), ([x, y], [x, bottom]), ([right, y], [right, bottom])];
    for (from, to) in sides {
        shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
    }
}

/// Boxes with their meaning, below all.
fn legend(entries: &[(Option<(Ink, bool)>, &str)], y: f64, shapes: &mut Vec<Shape>) {
    let font = crate::font::Font::new(false);
    let mut x = LEFT;
    for (ink, name) in entries {
        let place = [x, y, 16.0, 12.0];
        if let Some((ink, is_pale)) = *ink {
            shapes.push(Shape::Rect { place, ink, is_pale, hover: String::new() });
        }
        outline(place, shapes);
        shapes.push(small(x + 22.0, y + 10.0, (*name).to_owned(), Anchor::Start, Ink::Text));
        x += 22.0 + font.width(name, Text::SMALL) + 34.0;
    }
}

fn small(x: f64, y: f64, text: String, anchor: Anchor, ink: Ink) -> Shape {
    Shape::Text(Text::small(x, y, text, anchor, ink))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::drawing::{Drawing, Turn};
    use crate::font::Font;

    pub(crate) fn texts(drawing: &Drawing) -> Vec<&str> {
        let texts = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// No two texts are in the same place, and none leaves the picture.
    pub(crate) fn assert_apart(drawing: &Drawing) {
        let font = Font::new(true);
        let place = |shape: &Shape| match shape {
            Shape::Text(text) => {
                assert_eq!(text.turn, Turn::Flat);
                let width = font.width(&text.text, text.size);
                let left = match text.anchor {
                    Anchor::Start => text.x,
                    Anchor::Middle => text.x - width / 2.0,
                    Anchor::End => text.x - width,
                };
                Some((text.text.clone(), left, left + width, text.y))
            }
            _ => None,
        };
        let places: Vec<_> = drawing.shapes.iter().filter_map(place).collect();
        for (n, (text, left, right, y)) in places.iter().enumerate() {
            assert!(*left >= 0.0 && *right <= drawing.width && *y <= drawing.height, "{text} is outside");
            for (other, from, to, at) in &places[n + 1..] {
                assert!((y - at).abs() >= 9.0 || left >= to || from >= right, "{text} is over {other}");
            }
        }
    }
}
