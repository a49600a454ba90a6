//! What lanes did, as a drawing: a column for each instruction a warp issued, a row for each lane.
//!
//! Letters have one size whatever the width of warps: where rows are low, fewer of them have a label.

use crate::drawing::{Anchor, Drawing, Ink, Shape, Text, Turn};
use crate::font::Font;
use crate::label::{Label, shortened};
use raddle_runtime::issue_record::{Issued, Thread};
use std::collections::BTreeMap;

/// Least width of a column.
const COLUMN: f64 = 22.0;
/// Room for lanes beside the boxes.
const LEFT: f64 = 58.0;
/// Letters of an instruction, and of a source line.
const LONGEST: (usize, usize) = (26, 40);

/// The drawing of these instructions on a machine with warps of `width` lanes; `labels` has them by operation.
#[must_use]
pub fn drawing(issued: &[Issued], width: u32, labels: &BTreeMap<u32, Label>) -> Drawing {
    let font = Font::new(false);
    let unknown = Label::default();
    let label = |one: &Issued| labels.get(&one.pc).unwrap_or(&unknown);
    let longest =
        |texts: &mut dyn Iterator<Item = String>| texts.map(|t| font.width(&t, Text::SMALL)).fold(0.0, f64::max);
    let ptx = longest(&mut issued.iter().map(|one| shortened(&label(one).ptx, LONGEST.0))) + 16.0;
    let lines = longest(&mut issued.iter().filter_map(|one| Some(shortened(label(one).line.as_ref()?, LONGEST.1))));
    let numbers = longest(&mut issued.iter().flat_map(|one| one.threads.iter().map(|t| t.number.to_string())));
    let picture = Picture {
        width,
        row: row(width),
        column: COLUMN.max(numbers + 6.0),
        lines: if lines > 0.0 { lines + 22.0 } else { 0.0 },
        top: ptx + if lines > 0.0 { lines + 22.0 } else { 0.0 },
        font,
    };
    picture.draw(issued, label)
}

/// Height of a row: those of wide warps are lower, so that a picture of one can be shown whole.
fn row(width: u32) -> f64 {
    match width {
        ..=8 => 22.0,
        9..=16 => 15.0,
        _ => 10.0,
    }
}

struct Picture {
    width: u32,
    row: f64,
    column: f64,
    /// Room for source lines above all.
    lines: f64,
    /// Room above the boxes.
    top: f64,
    font: Font,
}

impl Picture {
    fn draw<'l>(&self, issued: &[Issued], label: impl Fn(&Issued) -> &'l Label) -> Drawing {
        let mut colours: BTreeMap<u32, usize> = BTreeMap::new();
        for one in issued {
            let next = colours.len();
            colours.entry(one.pc).or_insert(next);
        }
        let (right, bottom) = (self.x(issued.len()), self.top + self.row * f64::from(self.width));
        let mut shapes = Vec::new();
        self.lanes(bottom, &mut shapes);
        let mut free = 0.0;
        for (n, one) in issued.iter().enumerate() {
            let ink = Ink::Bar(colours.get(&one.pc).copied().unwrap_or(0));
            self.boxes(n, one, ink, label(one), &mut shapes);
            // Of equal ones side by side, the first has the name.
            if n == 0 || issued[n - 1].pc != one.pc {
                shapes.push(self.up(n, self.top - 6.0, shortened(&label(one).ptx, LONGEST.0)));
            }
            let (text, x) = (one.at.to_string(), self.x(n) + self.column / 2.0);
            let half = self.font.width(&text, Text::SMALL) / 2.0;
            if x - half > free {
                free = x + half + 10.0;
                shapes.push(small(x, bottom + 18.0, text, Anchor::Middle, Ink::Soft));
            }
        }
        self.source_lines(issued, &label, &mut shapes);
        let mut line =
            |from: [f64; 2], to: [f64; 2]| shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
        (0..=issued.len()).for_each(|n| line([self.x(n), self.top], [self.x(n), bottom]));
        (0..=self.width).map(|lane| self.top + self.row * f64::from(lane)).for_each(|y| line([LEFT, y], [right, y]));
        let title = "What the lanes of an SM did, instruction by instruction".to_owned();
        Drawing { width: right + 20.0, height: bottom + 34.0, title, shapes }
    }

    fn x(&self, column: usize) -> f64 {
        LEFT + self.column * column as f64
    }

    /// Names of lanes: as many as there is room for.
    fn lanes(&self, bottom: f64, shapes: &mut Vec<Shape>) {
        let every = (16.0 / self.row).ceil() as usize;
        let every = if self.width > 16 { 4 } else { every };
        for lane in (0..self.width).step_by(every) {
            let y = self.top + self.row * (f64::from(lane) + 0.5) + 4.0;
            shapes.push(small(LEFT - 8.0, y, format!("lane {lane}"), Anchor::End, Ink::Soft));
        }
        shapes.push(small(LEFT - 8.0, bottom + 18.0, "cycle".to_owned(), Anchor::End, Ink::Soft));
    }

    fn boxes(&self, n: usize, one: &Issued, ink: Ink, label: &Label, shapes: &mut Vec<Shape>) {
        let x = self.x(n);
        let mut last: Option<&Thread> = None;
        let mut free = f64::MIN;
        for thread in &one.threads {
            let y = self.top + self.row * f64::from(u32::from(thread.lane) % self.width);
            if thread.is_active {
                let hover = format!(
                    "block in slot {}, thread {}, warp {}, cycle {}: {}",
                    thread.slot,
                    thread.number,
                    one.warp,
                    one.at,
                    label.whole(one.pc)
                );
                shapes.push(Shape::Rect { place: [x, y, self.column, self.row], ink, is_pale: true, hover });
            }
            // Of wide warps the first of threads that follow one another has its number, if the one above leaves room.
            let follows = last.is_some_and(|last| follows(last, thread));
            if self.width <= 8 || !follows && y >= free {
                let weight = if thread.is_active { Ink::Text } else { Ink::Soft };
                let (x, y) = (x + self.column / 2.0, y + self.row / 2.0 + 4.0);
                shapes.push(small(x, y, thread.number.to_string(), Anchor::Middle, weight));
                free = y + 4.0;
            }
            last = Some(thread);
        }
    }

    /// The source lines above instructions, each over all that were compiled from it.
    fn source_lines<'l>(&self, issued: &[Issued], label: &impl Fn(&Issued) -> &'l Label, shapes: &mut Vec<Shape>) {
        let mut n = 0;
        while n < issued.len() {
            let Some(line) = &label(&issued[n]).line else {
                n += 1;
                continue;
            };
            let same = issued[n..].iter().take_while(|one| label(one).line.as_ref() == Some(line)).count();
            let y = self.lines - 8.0;
            let (from, to) = ([self.x(n) + 3.0, y], [self.x(n + same) - 3.0, y]);
            shapes.push(Shape::Line { from, to, ink: Ink::Soft, is_dashed: false });
            shapes.push(self.up(n, y - 5.0, shortened(line, LONGEST.1)));
            n += same;
        }
    }

    /// A text that rises over a column.
    fn up(&self, column: usize, y: f64, text: String) -> Shape {
        let flat = Text::small(self.x(column) + self.column / 2.0 + 4.0, y, text, Anchor::Start, Ink::Text);
        Shape::Text(Text { turn: Turn::Up, ..flat })
    }
}

/// Whether a thread is the next of its block, in the next lane, and does the same.
fn follows(last: &Thread, next: &Thread) -> bool {
    let of = |thread: &Thread| (thread.slot, thread.is_active);
    of(last) == of(next) && last.number + 1 == next.number && last.lane + 1 == next.lane
}

fn small(x: f64, y: f64, text: String, anchor: Anchor, ink: Ink) -> Shape {
    Shape::Text(Text::small(x, y, text, anchor, ink))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(pc: u32, width: u8, number: impl Fn(u8) -> u16) -> Issued {
        let thread = |lane| Thread { lane, slot: 0, number: number(lane), is_active: lane != 1 };
        Issued { at: 40, warp: 0, pc, threads: (0..width).map(thread).collect() }
    }

    fn texts(drawing: &Drawing) -> Vec<&Text> {
        let texts = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text),
            _ => None,
        });
        texts.collect()
    }

    fn labels(line: Option<&str>) -> BTreeMap<u32, Label> {
        let label = |ptx: &str| Label { ptx: ptx.to_owned(), line: line.map(str::to_owned) };
        BTreeMap::from([(7, label("mul.lo.u32 %r, <t>")), (8, label("ret"))])
    }

    #[test]
    fn a_column_has_the_threads_of_its_instruction() {
        let one = issued(7, 3, |lane| [0, 5, 6][usize::from(lane)]);
        let drawing = drawing(&[one], 4, &labels(None));
        let boxes = drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Rect { .. }));
        assert_eq!(boxes.count(), 2, "the threads whose guard is true");
        let texts: Vec<&str> = texts(&drawing).iter().map(|text| text.text.as_str()).collect();
        let wanted = ["lane 0", "lane 1", "lane 2", "lane 3", "cycle", "0", "5", "6", "mul.lo.u32 %r, <t>", "40"];
        assert_eq!(texts, wanted);
    }

    #[test]
    fn wide_warps_have_fewer_labels_of_the_same_size() {
        for width in [4, 8, 16, 32] {
            let all = [7, 7, 8]
                .map(|pc| issued(pc, width, |lane| if lane < 12 { lane.into() } else { 1200 - u16::from(lane) }));
            let drawing = drawing(&all, width.into(), &labels(None));
            let texts = texts(&drawing);
            assert!(texts.iter().all(|text| text.size == Text::SMALL));
            let named = texts.iter().filter(|text| text.text.starts_with("lane")).count();
            assert_eq!(named, usize::from(width.min(8)), "of 16 and 32 lanes, eight have a name");
            let instructions = texts.iter().filter(|text| text.turn == Turn::Up).count();
            assert_eq!(instructions, 2, "of equal ones side by side, the first");
            // No two flat texts are in the same place.
            let font = Font::new(false);
            let place = |text: &&&Text| {
                let width = font.width(&text.text, text.size);
                let left = match text.anchor {
                    Anchor::Start => text.x,
                    Anchor::Middle => text.x - width / 2.0,
                    Anchor::End => text.x - width,
                };
                (left, left + width)
            };
            let flat: Vec<&&Text> = texts.iter().filter(|text| text.turn == Turn::Flat).collect();
            for (n, one) in flat.iter().enumerate() {
                for other in &flat[n + 1..] {
                    let ((left, right), (from, to)) = (place(one), place(other));
                    let apart = (one.y - other.y).abs() >= 9.0 || left >= to || from >= right;
                    assert!(apart, "{} and {} at width {width}", one.text, other.text);
                }
            }
        }
    }

    #[test]
    fn a_source_line_is_over_all_that_was_compiled_from_it() {
        let all = [7, 8, 7].map(|pc| issued(pc, 4, u16::from));
        let with = drawing(&all, 4, &labels(Some("12: y[i] += x[i];")));
        let lines: Vec<_> = texts(&with).into_iter().filter(|text| text.text.starts_with("12:")).collect();
        assert_eq!(lines.len(), 1);
        let without = drawing(&all, 4, &labels(None));
        assert!(with.height > without.height + 60.0);
        let span = with.shapes.iter().find_map(|shape| match shape {
            Shape::Line { from, to, ink: Ink::Soft, .. } => Some(to[0] - from[0]),
            _ => None,
        });
        assert_eq!(span, Some(3.0 * COLUMN - 6.0));
    }
}
