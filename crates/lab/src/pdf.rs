//! Drawings as PDF, for papers: one page as large as the drawing, on light ground.

use crate::drawing::{Drawing, Medium};
use crate::svg::outlined;
use svg2pdf::{ConversionOptions, PageOptions, to_pdf, usvg};

/// Pixels of SVG in an inch, as browsers have it; on screens a unit of a drawing is one.
const DOTS_PER_INCH: f32 = 96.0;

/// A drawing as the bytes of a PDF file. Letters are outlines of the font that comes with the program, so that there is
/// none to embed.
///
/// # Panics
/// When the SVG that is made of the drawing is none, which is a mistake of ours.
#[must_use]
pub fn pdf(drawing: &Drawing, medium: Medium) -> Vec<u8> {
    let tree =
        usvg::Tree::from_str(&outlined(drawing, medium), &usvg::Options::default()).expect("a drawing is valid SVG");
    let page = PageOptions { dpi: DOTS_PER_INCH };
    to_pdf(&tree, ConversionOptions::default(), page).expect("shapes and paths can be in a PDF")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Layout, draw, tests};
    use crate::drawing::{Anchor, Ink, Shape, Text};

    fn count(bytes: &[u8], part: &str) -> usize {
        bytes.windows(part.len()).filter(|window| *window == part.as_bytes()).count()
    }

    #[test]
    fn a_drawing_is_one_page_of_its_size() {
        let drawing = draw(&tests::table(), Layout::FILE);
        let mut drawing = drawing;
        let pale = |x| Shape::Rect { place: [x, 0.0, 9.0, 9.0], ink: Ink::Bar(1), is_pale: true, hover: String::new() };
        drawing.shapes.extend([0.0, 10.0, 20.0].map(pale));
        let bytes = pdf(&drawing, Medium::Screen);
        assert!(bytes.starts_with(b"%PDF-1.") && bytes.trim_ascii_end().ends_with(b"%%EOF"));
        assert_eq!((count(&bytes, "/Type /Page\n"), count(&bytes, "/Count 1")), (1, 1));
        // Points are 72 to an inch.
        let [width, height] = [drawing.width, drawing.height].map(|side| side.round() * 0.75);
        let size = format!("/MediaBox [0 0 {width} {height}]");
        assert_eq!(count(&bytes, &size), 1, "{size} is not in {}", String::from_utf8_lossy(&bytes));
        assert_eq!(pdf(&drawing, Medium::Screen), bytes, "the same bytes each time");
    }

    #[test]
    fn text_is_in_it_as_shapes() {
        let text = Text::small(5.0, 15.0, "<odd & \u{1} text>".to_owned(), Anchor::Start, Ink::Text);
        let drawing = |shapes| Drawing { width: 120.0, height: 20.0, title: "<&>".to_owned(), shapes };
        let (with, without) =
            (pdf(&drawing(vec![Shape::Text(text)]), Medium::Screen), pdf(&drawing(Vec::new()), Medium::Screen));
        assert!(with.len() > without.len() + 200, "{} and {} bytes", with.len(), without.len());
        assert_eq!(count(&with, "/Font"), 0);
    }
}
