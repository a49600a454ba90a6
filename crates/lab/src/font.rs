//! The font of drawings: Noto Sans, part of the program, so that pictures are the same on every host.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// How much wider the letters of other fonts than ours may be, where an SVG is shown.
pub const WIDER: f64 = 1.1;

/// A font, regular or bold.
pub struct Font {
    face: Option<Face<'static>>,
}

impl Font {
    /// The font that comes with the program.
    #[must_use]
    pub fn new(is_bold: bool) -> Self {
        let bytes = if is_bold { notosans::BOLD_TTF } else { notosans::REGULAR_TTF };
        Self { face: Face::parse(bytes, 0).ok() }
    }

    /// The glyph of a character; an unknown one gets the font's box.
    fn glyph(face: &Face<'_>, c: char) -> GlyphId {
        face.glyph_index(c).unwrap_or(GlyphId(0))
    }

    /// The width of a text in letters of a size.
    #[must_use]
    pub fn width(&self, text: &str, size: f64) -> f64 {
        let Some(face) = &self.face else { return 0.0 };
        let advance = |c: char| f64::from(face.glyph_hor_advance(Self::glyph(face, c)).unwrap_or(0));
        text.chars().map(advance).sum::<f64>() * size / f64::from(face.units_per_em())
    }

    /// Draws the outline of every letter of a text that begins at the origin; up is positive.
    pub fn outline(&self, text: &str, size: f64, pen: &mut dyn Pen) {
        let Some(face) = &self.face else { return };
        let scale = size / f64::from(face.units_per_em());
        let mut x = 0.0;
        for c in text.chars() {
            let glyph = Self::glyph(face, c);
            face.outline_glyph(glyph, &mut Scaled { pen: &mut *pen, scale, x, start: [0.0; 2], last: [0.0; 2] });
            x += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
        }
    }
}

/// Takes outlines.
pub trait Pen {
    /// A straight line.
    fn line(&mut self, from: [f64; 2], to: [f64; 2]);
    /// A curve with one control point.
    fn curve(&mut self, from: [f64; 2], control: [f64; 2], to: [f64; 2]);
}

/// Moves and scales what a font draws.
struct Scaled<'p> {
    pen: &'p mut dyn Pen,
    scale: f64,
    x: f64,
    start: [f64; 2],
    last: [f64; 2],
}

impl Scaled<'_> {
    fn at(&self, x: f32, y: f32) -> [f64; 2] {
        [self.x + f64::from(x) * self.scale, f64::from(y) * self.scale]
    }
}

impl OutlineBuilder for Scaled<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.start = self.at(x, y);
        self.last = self.start;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.pen.line(self.last, to);
        self.last = to;
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let to = self.at(x, y);
        self.pen.curve(self.last, self.at(x1, y1), to);
        self.last = to;
    }

    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        // TrueType fonts have no such curves.
        self.line_to(x, y);
    }

    fn close(&mut self) {
        self.pen.line(self.last, self.start);
        self.last = self.start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_width_of_their_letters() {
        let (plain, bold) = (Font::new(false), Font::new(true));
        let width = plain.width("mean, all", 12.0);
        assert!(width > 45.0 && width < 60.0, "{width}");
        assert!((plain.width("mean, all", 24.0) - 2.0 * width).abs() < 1e-9);
        assert!(bold.width("mean, all", 12.0) > width);
        assert!(plain.width("iii", 12.0) < plain.width("mmm", 12.0));
        assert_eq!(plain.width("", 12.0), 0.0);
    }

    #[test]
    fn what_reports_write_is_in_the_font() {
        let font = Font::new(false);
        let face = font.face.as_ref().unwrap();
        assert!("±≈×–…/%µ".chars().all(|c| face.glyph_index(c).is_some()));
    }
}
