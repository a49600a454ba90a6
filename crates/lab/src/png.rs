//! Drawings as PNG: the same bytes on every host, whatever fonts and libraries it has.

use crate::drawing::{
    CIRCLE, DASH, DIAMOND, Drawing, Ink, MARK_LINE, Mark, Medium, PALE, POINTS, Rgb, Shape, Text, line_corners,
};
use crate::font::Font;
use crate::outline::{Outline, Segment};
use ab_glyph_rasterizer::{Rasterizer, point};

/// Dots for each unit of a drawing on screens.
const SCALE: f64 = 2.0;

/// Dots of an inch and of a metre on paper.
const DOTS: [f64; 2] = [300.0, 11_811.0];

/// A drawing on light ground, as the bytes of a PNG file.
#[must_use]
pub fn png(drawing: &Drawing, medium: Medium) -> Vec<u8> {
    let mut canvas = Canvas::new(drawing, medium);
    drawing.shapes.iter().for_each(|shape| canvas.shape(shape));
    canvas.encode()
}

struct Canvas {
    width: usize,
    height: usize,
    dots: Vec<Rgb>,
    fonts: [Font; 2],
    medium: Medium,
    /// Dots for each unit.
    scale: f64,
}

impl Canvas {
    fn new(drawing: &Drawing, medium: Medium) -> Self {
        let scale = if medium == Medium::Print { DOTS[0] * POINTS / 72.0 } else { SCALE };
        let dots = |side: f64| (side * scale - 1e-6).ceil().max(1.0) as usize;
        let [width, height] = [drawing.width, drawing.height].map(dots);
        let fonts = [Font::new(false), Font::new(true)];
        Self { width, height, dots: vec![medium.ground(); width * height], fonts, medium, scale }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { place, ink, is_pale, .. } => {
                self.rect(*place, ink.colours().0, if *is_pale { PALE } else { 1.0 });
            }
            Shape::Line { from, to, ink, is_dashed } => {
                let colour = ink.colours().0;
                if matches!(ink, Ink::Bar(_)) {
                    self.polygon(&line_corners(*from, *to, 1.0), colour, 1.0);
                } else if *is_dashed {
                    let mut x = from[0];
                    while x < to[0] {
                        self.line([x, from[1]], [(x + DASH.0).min(to[0]), to[1]], colour);
                        x += DASH.0 + DASH.1;
                    }
                } else {
                    self.line(*from, *to, colour);
                }
            }
            Shape::Mark { mark: Mark::Paper, scale, middle, .. } => {
                self.diamond(*middle, DIAMOND * scale + MARK_LINE, self.medium.ground());
                self.diamond(*middle, DIAMOND * scale - MARK_LINE / 2.0, Ink::Text.colours().0);
            }
            Shape::Mark { mark: Mark::Reading, scale, middle, .. } => {
                self.circle(*middle, CIRCLE * scale + MARK_LINE / 2.0, Ink::Text.colours().0);
                self.circle(*middle, CIRCLE * scale - MARK_LINE / 2.0, self.medium.ground());
            }
            Shape::Area { corners, bar, .. } => self.polygon(corners, Ink::Bar(*bar).colours().0, 1.0),
            Shape::Text(text) => self.text(text),
        }
    }

    /// A line of one unit's width around its middle.
    fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: Rgb) {
        let place = if from[1] == to[1] {
            [from[0], from[1] - 0.5, to[0] - from[0], 1.0]
        } else {
            [from[0] - 0.5, from[1], 1.0, to[1] - from[1]]
        };
        self.rect(place, colour, 1.0);
    }

    fn rect(&mut self, [x, y, width, height]: [f64; 4], colour: Rgb, strength: f64) {
        let corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
        self.polygon(&corners, colour, strength);
    }

    fn diamond(&mut self, [x, y]: [f64; 2], r: f64, colour: Rgb) {
        self.polygon(&[[x, y - r], [x + r, y], [x, y + r], [x - r, y]], colour, 1.0);
    }

    /// A circle, by a polygon that looks like one at this size.
    fn circle(&mut self, [x, y]: [f64; 2], r: f64, colour: Rgb) {
        // Cosines of 0 to 90 degrees in steps of 15, written out like those of slanted text.
        const STEPS: [f64; 7] =
            [1.0, 0.965_925_826_289, 0.866_025_403_784, std::f64::consts::FRAC_1_SQRT_2, 0.5, 0.258_819_045_103, 0.0];
        let quarter = |n: usize| [STEPS[n] * r, STEPS[6 - n] * r];
        let mut corners = Vec::with_capacity(24);
        for turn in 0..4 {
            for [across, down] in (0..6).map(quarter) {
                corners.push(match turn {
                    0 => [x + across, y + down],
                    1 => [x - down, y + across],
                    2 => [x - across, y - down],
                    _ => [x + down, y - across],
                });
            }
        }
        self.polygon(&corners, colour, 1.0);
    }

    fn polygon(&mut self, corners: &[[f64; 2]], colour: Rgb, strength: f64) {
        let mut outline = Outline::default();
        for (n, from) in corners.iter().enumerate() {
            outline.segments.push(Segment::Line(*from, corners[(n + 1) % corners.len()]));
        }
        self.fill(&outline, colour, strength);
    }

    fn text(&mut self, text: &Text) {
        let outline = Outline::of(text, &self.fonts[usize::from(text.is_bold)]);
        self.fill(&outline, text.ink.colours().0, 1.0);
    }

    /// Mixes a colour into the dots an outline covers.
    fn fill(&mut self, outline: &Outline, colour: Rgb, strength: f64) {
        let Some([left, top, right, bottom]) = outline.bounds() else { return };
        let scale = self.scale;
        let side = |low: f64, high: f64, all: usize| {
            ((low * scale).floor().max(0.0) as usize, ((high * scale).ceil().max(0.0) as usize).min(all))
        };
        let ((x0, x1), (y0, y1)) = (side(left, right, self.width), side(top, bottom, self.height));
        if x0 >= x1 || y0 >= y1 {
            return;
        }
        let mut rasterizer = Rasterizer::new(x1 - x0, y1 - y0);
        let to_point = |[x, y]: [f64; 2]| point((x * scale - x0 as f64) as f32, (y * scale - y0 as f64) as f32);
        for segment in &outline.segments {
            match *segment {
                Segment::Line(from, to) => rasterizer.draw_line(to_point(from), to_point(to)),
                Segment::Curve(from, by, to) => rasterizer.draw_quad(to_point(from), to_point(by), to_point(to)),
            }
        }
        let (width, dots) = (self.width, &mut self.dots);
        rasterizer.for_each_pixel_2d(|x, y, coverage| {
            // In steps of 1/256, so that the last bits of the arithmetic do not show.
            let share = (f64::from(coverage).clamp(0.0, 1.0) * strength * 256.0).round() as i32;
            let dot = &mut dots[(y0 + y as usize) * width + x0 + x as usize];
            for (old, new) in dot.iter_mut().zip(colour) {
                let mixed = i32::from(*old) * (256 - share) + i32::from(new) * share;
                *old = ((mixed + 128) / 256).clamp(0, 255) as u8;
            }
        });
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = ::png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(::png::ColorType::Rgb);
        encoder.set_depth(::png::BitDepth::Eight);
        encoder.set_compression(::png::Compression::High);
        if self.medium == Medium::Print {
            let [across, down] = [DOTS[1] as u32; 2];
            let unit = ::png::Unit::Meter;
            encoder.set_pixel_dims(Some(::png::PixelDimensions { xppu: across, yppu: down, unit }));
        }
        // Writing to memory does not fail.
        if let Ok(mut writer) = encoder.write_header() {
            let _ = writer.write_image_data(self.dots.as_flattened());
            let _ = writer.finish();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Anchor, GROUND, Turn};
    use crate::key::Key;

    fn drawing(shapes: Vec<Shape>) -> Drawing {
        Drawing { width: 40.0, height: 20.0, title: String::new(), shapes }
    }

    fn dot(canvas: &Canvas, x: usize, y: usize) -> Rgb {
        canvas.dots[y * canvas.width + x]
    }

    #[test]
    fn shapes_are_where_they_belong() {
        let rect =
            Shape::Rect { place: [5.0, 5.0, 10.0, 4.25], ink: Ink::Bar(0), is_pale: false, hover: String::new() };
        let mut canvas = Canvas::new(&drawing(Vec::new()), Medium::Screen);
        canvas.shape(&rect);
        assert_eq!((canvas.width, canvas.height), (80, 40));
        assert_eq!(dot(&canvas, 10, 10), Ink::Bar(0).colours().0);
        assert_eq!(dot(&canvas, 29, 17), Ink::Bar(0).colours().0);
        assert_eq!((dot(&canvas, 9, 10), dot(&canvas, 30, 10), dot(&canvas, 10, 19)), (GROUND.0, GROUND.0, GROUND.0));
        let half = dot(&canvas, 10, 18);
        assert!(half[0] > 0x42 && half[0] < 0xff, "half a dot: {half:?}");
    }

    fn letters(text: &str, turn: Turn) -> Shape {
        let (text, anchor, ink) = (text.to_owned(), Anchor::Start, Ink::Text);
        Shape::Text(Text { x: 20.0, y: 18.0, text, size: 12.0, anchor, turn, is_bold: false, ink })
    }

    #[test]
    fn letters_turn_around_their_anchor() {
        let inked = |turn: Turn| {
            let mut canvas = Canvas::new(&drawing(Vec::new()), Medium::Screen);
            canvas.shape(&letters("l", turn));
            let dark = (0..canvas.dots.len()).filter(|n| canvas.dots[*n][0] < 0x80);
            dark.map(|n| (n % canvas.width, n / canvas.width)).collect::<Vec<_>>()
        };
        let flat = inked(Turn::Flat);
        assert!(!flat.is_empty() && flat.iter().all(|(x, y)| (40..46).contains(x) && (16..37).contains(y)), "{flat:?}");
        let up = inked(Turn::Up);
        assert!(up.iter().all(|(x, y)| (20..41).contains(x) && (30..37).contains(y)), "{up:?}");
    }

    #[test]
    fn bytes_are_the_same_everywhere() {
        let shapes = vec![
            Shape::Rect { place: [5.1, 5.2, 10.3, 4.4], ink: Ink::Bar(1), is_pale: true, hover: String::new() },
            Shape::Line { from: [0.0, 3.3], to: [40.0, 3.3], ink: Ink::Grid, is_dashed: true },
            Shape::Mark { mark: Mark::Paper, scale: 1.0, middle: [30.3, 6.7], hover: String::new() },
            letters("Raddle", Turn::Slanted),
            letters("0.8", Turn::Flat),
        ];
        let bytes = png(&drawing(shapes), Medium::Screen);
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(Key::of(&bytes).short(), "7777f50246d5", "a new version of the encoder may write others");
    }
}
