//! What lanes did, as a drawing: a column for each instruction a warp issued, a row for each lane.

use crate::drawing::{Anchor, Drawing, Ink, Shape, Text, Turn};
use raddle_runtime::issue_record::Issued;
use std::collections::BTreeMap;

/// Width and height of a box.
const BOX: f64 = 22.0;
/// Room for instructions above the boxes.
const TOP: f64 = 168.0;
/// Room for lanes beside them.
const LEFT: f64 = 58.0;

/// The drawing of these instructions on a machine with warps of `width` lanes; `texts` has them by operation.
#[must_use]
pub fn drawing(issued: &[Issued], width: u32, texts: &BTreeMap<u32, String>) -> Drawing {
    let mut colours: BTreeMap<u32, usize> = BTreeMap::new();
    for one in issued {
        let next = colours.len();
        colours.entry(one.pc).or_insert(next);
    }
    let (right, bottom) = (LEFT + BOX * issued.len() as f64, TOP + BOX * f64::from(width));
    let mut shapes = Vec::new();
    for lane in 0..width {
        let y = TOP + BOX * f64::from(lane) + 15.0;
        shapes.push(text(LEFT - 8.0, y, format!("lane {lane}"), Anchor::End, Ink::Soft));
    }
    shapes.push(text(LEFT - 8.0, bottom + 18.0, "cycle".to_owned(), Anchor::End, Ink::Soft));
    for (n, one) in issued.iter().enumerate() {
        let x = LEFT + BOX * n as f64;
        let what = texts.get(&one.pc).cloned().unwrap_or_else(|| format!("operation {}", one.pc));
        let ink = Ink::Bar(colours.get(&one.pc).copied().unwrap_or(0));
        for thread in &one.threads {
            let y = TOP + BOX * f64::from(u32::from(thread.lane) % width);
            if thread.is_active {
                let hover = format!(
                    "block in slot {}, thread {}, warp {}, cycle {}: {what}",
                    thread.slot, thread.number, one.warp, one.at
                );
                shapes.push(Shape::Rect { place: [x, y, BOX, BOX], ink, is_pale: true, hover });
            }
            let weight = if thread.is_active { Ink::Text } else { Ink::Soft };
            shapes.push(text(x + BOX / 2.0, y + 15.0, thread.number.to_string(), Anchor::Middle, weight));
        }
        let Shape::Text(label) = text(x + BOX / 2.0 + 4.0, TOP - 6.0, what, Anchor::Start, Ink::Text) else { continue };
        shapes.push(Shape::Text(Text { turn: Turn::Up, ..label }));
        // Cycles would overlap under every column: the first, and then now and then.
        if n % 3 == 0 {
            shapes.push(text(x + BOX / 2.0, bottom + 18.0, one.at.to_string(), Anchor::Middle, Ink::Soft));
        }
    }
    let mut line =
        |from: [f64; 2], to: [f64; 2]| shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
    (0..=issued.len()).map(|n| LEFT + BOX * n as f64).for_each(|x| line([x, TOP], [x, bottom]));
    (0..=width).map(|lane| TOP + BOX * f64::from(lane)).for_each(|y| line([LEFT, y], [right, y]));
    let title = "What the lanes of an SM did, instruction by instruction".to_owned();
    Drawing { width: right + 12.0, height: bottom + 34.0, title, shapes }
}

fn text(x: f64, y: f64, text: String, anchor: Anchor, ink: Ink) -> Shape {
    Shape::Text(Text { x, y, text, size: 11.0, anchor, turn: Turn::Flat, is_bold: false, ink })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_runtime::issue_record::Thread;

    #[test]
    fn a_column_has_the_threads_of_its_instruction() {
        let thread = |lane, number| Thread { lane, slot: 0, number, is_active: lane != 1 };
        let issued = [Issued { at: 40, warp: 0, pc: 7, threads: vec![thread(0, 0), thread(1, 5), thread(2, 6)] }];
        let drawing = drawing(&issued, 4, &BTreeMap::from([(7, "mul.lo.u32 %r, <t>".to_owned())]));
        let boxes = drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Rect { .. }));
        assert_eq!(boxes.count(), 2, "the threads whose guard is true");
        let texts: Vec<&str> = drawing
            .shapes
            .iter()
            .filter_map(|shape| if let Shape::Text(text) = shape { Some(text.text.as_str()) } else { None })
            .collect();
        let wanted = ["lane 0", "lane 1", "lane 2", "lane 3", "cycle", "0", "5", "6", "mul.lo.u32 %r, <t>", "40"];
        assert_eq!(texts, wanted);
    }
}
