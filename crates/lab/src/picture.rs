//! Files of pictures: which formats there are, and which one a file's name asks for.

use crate::drawing::Drawing;
use crate::pdf::pdf;
use crate::png::png;
use crate::svg::svg;
use raddle_runtime::Problem;
use std::path::Path;

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

    /// The file of a drawing.
    #[must_use]
    pub fn file(self, drawing: &Drawing) -> Vec<u8> {
        match self {
            Self::Svg => (svg(drawing, true) + "\n").into_bytes(),
            Self::Png => png(drawing),
            Self::Pdf => pdf(drawing),
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
            assert!(format.file(&drawing).starts_with(&bytes), "{start}");
        }
        let wrong = |name: &str| Format::of(Path::new(name)).unwrap_err();
        assert_eq!(wrong("a.jpeg").message, "pictures are not written as .jpeg files: a.jpeg");
        assert_eq!(wrong("svg").message, "the name of a picture says its format, and svg does not");
        let help = wrong("a.PDF").help.unwrap();
        assert!(Format::ALL.iter().all(|format| help.contains(&format!(".{}", format.ending()))), "{help}");
    }
}
