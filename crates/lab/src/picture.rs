//! Files of pictures: which formats there are, and which one a file's name asks for.

use crate::drawing::{Drawing, Medium, POINTS};
use crate::pdf::pdf;
use crate::png::png;
use crate::svg::{outlined, svg};
use raddle_runtime::Problem;
use std::path::Path;
use std::str::FromStr;

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Shapes, on light and on dark ground.
    Svg,
    /// Dots.
    Png,
    /// A page, for papers.
    Pdf,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// What files of it end in.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format that a file's name asks for.
    ///
    /// # Errors
    /// When its ending is none that is written.
    pub fn of(path: &Path) -> Result<Self, Problem> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        Self::ALL.into_iter().find(|format| ending == Some(format.ending())).ok_or_else(|| {
            let message = match ending {
                Some(ending) => format!("pictures are not written as .{ending} files: {}", path.display()),
                None => format!("the name of a picture says its format, and {} does not", path.display()),
            };
            Problem::new(message).help("end its name in .svg, .png or .pdf")
        })
    }

    /// The file of a drawing. On paper, letters in an SVG are outlines, too.
    #[must_use]
    pub fn file(self, drawing: &Drawing, medium: Medium) -> Vec<u8> {
        match (self, medium) {
            (Self::Svg, Medium::Screen) => (svg(drawing, true) + "\n").into_bytes(),
            (Self::Svg, Medium::Print) => (outlined(drawing, medium) + "\n").into_bytes(),
            (Self::Png, _) => png(drawing, medium),
            (Self::Pdf, _) => pdf(drawing, medium),
        }
    }
}

/// How wide a picture is on paper, in millimetres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width(f64);

impl Width {
    /// Columns of papers: one and both, of IEEE and of ACM.
    pub const NAMED: [(&str, f64); 4] = [("ieee", 88.9), ("ieee-two", 181.9), ("acm", 84.7), ("acm-two", 177.8)];

    /// The narrowest and the widest, in millimetres.
    const LIMITS: [f64; 2] = [40.0, 400.0];

    /// The same in units of drawings.
    #[must_use]
    pub fn units(self) -> f64 {
        self.0 / 25.4 * 72.0 / POINTS
    }
}

impl FromStr for Width {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, millimetres)) = Self::NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(Self(*millimetres));
        }
        let [least, most] = Self::LIMITS;
        match text.parse::<f64>() {
            Ok(millimetres) if (least..=most).contains(&millimetres) => Ok(Self(millimetres)),
            Ok(_) => Err(format!("a picture is {least} to {most} millimetres wide")),
            Err(_) => {
                let names = Self::NAMED.map(|(name, _)| name).join(", ");
                Err(format!("write {names}, or a number of millimetres"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        let drawing = Drawing { width: 4.0, height: 4.0, title: String::new(), shapes: Vec::new() };
        for (format, start) in Format::ALL.into_iter().zip(["<svg", "\u{89}PNG", "%PDF"]) {
            assert_eq!(Format::of(Path::new(&format!("a.b/c.{}", format.ending()))).unwrap(), format);
            let bytes: Vec<u8> = start.chars().map(|c| c as u8).collect();
            assert!(format.file(&drawing, Medium::Screen).starts_with(&bytes), "{start}");
        }
        let wrong = |name: &str| Format::of(Path::new(name)).unwrap_err();
        assert_eq!(wrong("a.jpeg").message, "pictures are not written as .jpeg files: a.jpeg");
        assert_eq!(wrong("svg").message, "the name of a picture says its format, and svg does not");
        let help = wrong("a.PDF").help.unwrap();
        assert!(Format::ALL.iter().all(|format| help.contains(&format!(".{}", format.ending()))), "{help}");
    }
    #[test]
    fn widths_are_names_or_millimetres() {
        let units = |text: &str| text.parse::<Width>().map(Width::units);
        assert!((units("ieee").unwrap() - 360.0).abs() < 1e-9, "three and a half inches");
        assert_eq!(units("88.9"), units("ieee"));
        assert!(units("acm-two").unwrap() > units("acm").unwrap());
        assert!(
            ["5", "nan", "-80", "inf", "1e9"].into_iter().all(|text| units(text).unwrap_err().contains("40 to 400"))
        );
        assert!(units("column").unwrap_err().contains("ieee-two, acm"));
    }

    #[test]
    fn a_picture_for_paper_has_its_size_and_a_white_ground() {
        use crate::chart::{Layout, draw, tests};
        let drawing = draw(&tests::table(), Layout::print("ieee".parse().unwrap()));
        assert!((drawing.width - 360.0).abs() < 1e-9);
        let file = |format: Format| format.file(&drawing, Medium::Print);
        let svg = String::from_utf8(file(Format::Svg)).unwrap();
        assert!(svg.contains(" width=\"88.900mm\"") && svg.contains("<rect fill=\"#ffffff\" width=\"100%\""), "{svg}");
        assert!(!svg.contains("prefers-color-scheme") && !svg.contains("<text"), "{svg}");
        let png = file(Format::Png);
        assert_eq!(png[16..20], 1050u32.to_be_bytes(), "three and a half inches at 300 dots");
        let dots = [&11_811u32.to_be_bytes()[..], &11_811u32.to_be_bytes(), &[1]].concat();
        assert!(png.windows(9).any(|bytes| bytes == dots), "as many in a metre");
        let pdf = file(Format::Pdf);
        assert!(String::from_utf8_lossy(&pdf).contains("/MediaBox [0 0 252"), "points");
    }
}
