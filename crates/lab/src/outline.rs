//! Letters as outlines at their place: what [`crate::png`] fills, and [`crate::pdf`] writes as paths.

use crate::drawing::{Anchor, SLANT, Text, Turn};
use crate::font::{Font, Pen};
use std::fmt::Write as _;

/// A part of an outline.
#[derive(Clone, Copy)]
pub(crate) enum Segment {
    /// From here to there.
    Line([f64; 2], [f64; 2]),
    /// The same, by a point between them.
    Curve([f64; 2], [f64; 2], [f64; 2]),
}

/// An outline; places are from the left and the top.
#[derive(Default)]
pub(crate) struct Outline {
    pub(crate) segments: Vec<Segment>,
}

impl Outline {
    /// The letters of a text, at its place and turned as it is.
    pub(crate) fn of(text: &Text, font: &Font) -> Self {
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => font.width(&text.text, text.size) / 2.0,
            Anchor::End => font.width(&text.text, text.size),
        };
        let (sin, cos) = match text.turn {
            Turn::Flat => (0.0, 1.0),
            Turn::Slanted => SLANT,
            Turn::Up => (1.0, 0.0),
        };
        let mut outline = Self::default();
        font.outline(&text.text, text.size, &mut outline);
        // Letters begin at the origin, with up positive.
        let moved = |[x, y]: [f64; 2]| {
            let x = x - before;
            [text.x + x * cos - y * sin, text.y - x * sin - y * cos]
        };
        for segment in &mut outline.segments {
            *segment = match *segment {
                Segment::Line(from, to) => Segment::Line(moved(from), moved(to)),
                Segment::Curve(from, by, to) => Segment::Curve(moved(from), moved(by), moved(to)),
            };
        }
        outline
    }

    /// Left, top, right and bottom.
    pub(crate) fn bounds(&self) -> Option<[f64; 4]> {
        let points = self.segments.iter().flat_map(|segment| match *segment {
            Segment::Line(from, to) => [from, to, to],
            Segment::Curve(from, by, to) => [from, by, to],
        });
        points.fold(None, |bounds: Option<[f64; 4]>, [x, y]| {
            let [left, top, right, bottom] = bounds.unwrap_or([x, y, x, y]);
            Some([left.min(x), top.min(y), right.max(x), bottom.max(y)])
        })
    }

    /// As the data of an SVG path.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        let mut last = None;
        for segment in &self.segments {
            let (Segment::Line(from, to) | Segment::Curve(from, _, to)) = segment;
            if last != Some(*from) {
                let _ = write!(path, "M{:.2} {:.2}", from[0], from[1]);
            }
            let _ = match segment {
                Segment::Line(_, [x, y]) => write!(path, "L{x:.2} {y:.2}"),
                Segment::Curve(_, [x1, y1], [x, y]) => write!(path, "Q{x1:.2} {y1:.2} {x:.2} {y:.2}"),
            };
            last = Some(*to);
        }
        path
    }
}

impl Pen for Outline {
    fn line(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.segments.push(Segment::Line(from, to));
    }

    fn curve(&mut self, from: [f64; 2], control: [f64; 2], to: [f64; 2]) {
        self.segments.push(Segment::Curve(from, control, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::Ink;

    #[test]
    fn a_path_begins_anew_with_every_contour() {
        let text = Text::small(20.0, 18.0, "io".to_owned(), Anchor::Start, Ink::Text);
        let outline = Outline::of(&text, &Font::new(false));
        let path = outline.path();
        assert_eq!(path.matches('M').count(), 4, "a stroke, a dot and the two of a ring: {path}");
        assert!(path.contains('Q') && !path.contains("NaN"));
        let [left, top, right, bottom] = outline.bounds().unwrap();
        assert!(left >= 20.0 && right < 32.0 && top > 8.0 && bottom < 19.0, "{left} {top} {right} {bottom}");
    }
}
