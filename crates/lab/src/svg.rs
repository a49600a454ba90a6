//! Drawings as SVG, on light and on dark ground.

use crate::drawing::{
    Anchor, CIRCLE, Colours, DASH, DIAMOND, Drawing, GROUND, Ink, MARK_LINE, Mark, Medium, PALE, POINTS, Rgb, Shape,
    Text, Turn, line_corners,
};
use crate::font::Font;
use crate::outline::Outline;
use std::fmt::Write as _;

/// Text with what XML gives a meaning replaced, and what XML 1.0 does not allow (section 2.2): one such character, and a
/// file cannot be opened.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// JSON that can be in an element of a page: no character of it has a meaning in HTML, where `<!--` in a script would hide
/// the end of the element.
#[must_use]
pub fn script_json(value: &serde_json::Value) -> String {
    // They can only be in texts, where JSON allows this form of any character.
    let hidden = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")];
    hidden.into_iter().fold(value.to_string(), |text, (c, escaped)| text.replace(c, escaped))
}

/// A colour as style sheets write it.
#[must_use]
pub fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The style of drawings, which pages need too. Colours are written out: many programs that draw know no variables.
#[must_use]
pub fn style() -> String {
    format!("{}@media(prefers-color-scheme:dark){{{}}}", light_style(GROUND.0), colours(|(_, dark)| dark, GROUND.1))
}

/// The style on light ground.
fn light_style(ground: Rgb) -> String {
    format!(
        ".chart{{font:12px system-ui,sans-serif}}.chart .dash{{stroke-dasharray:{} {}}}.chart .theirs,.chart .other{{stroke-width:{MARK_LINE}}}\
         .chart .pale{{opacity:{PALE}}}.chart .bar:hover{{opacity:.7}}{}",
        DASH.0,
        DASH.1,
        colours(|(light, _)| light, ground),
    )
}

/// The colours of the style.
fn colours(pick: fn(Colours) -> Rgb, ground: Rgb) -> String {
    let [ink, soft, line] = [Ink::Text, Ink::Soft, Ink::Grid].map(|ink| hex(pick(ink.colours())));
    let ground = hex(ground);
    let bar = |n| format!(".chart .b{n}{{fill:{}}}", hex(pick(Ink::Bar(n).colours())));
    format!(
        ".chart{{background:{ground}}}.chart text{{fill:{ink}}}.chart .soft{{fill:{soft}}}.chart .grid{{stroke:{line}}}\
         .chart .ink{{stroke:{ink}}}.chart .theirs{{fill:{ink};stroke:{ground}}}.chart .other{{fill:{ground};stroke:{ink}}}{}",
        (0..Ink::BARS).map(bar).collect::<String>()
    )
}

/// A drawing as an `svg` element. With `alone` it is a whole file with its own style.
#[must_use]
pub fn svg(drawing: &Drawing, alone: bool) -> String {
    let mut svg = start(drawing, alone.then(style), Medium::Screen);
    drawing.shapes.iter().for_each(|one| shape(&mut svg, one));
    svg + "</svg>"
}

/// A drawing as a file on light ground that says everything by filled shapes: letters are outlines, whatever fonts there
/// are, and pale colours are mixed, as what is transparent is written in another order each time (`svg2pdf`).
#[must_use]
pub(crate) fn outlined(drawing: &Drawing, medium: Medium) -> String {
    let fonts = [Font::new(false), Font::new(true)];
    let ground = medium.ground();
    let mut svg = start(drawing, Some(light_style(ground)), medium);
    if medium == Medium::Print {
        // Not every program draws the ground of a style.
        let _ = write!(svg, "<rect fill=\"{}\" width=\"100%\" height=\"100%\"/>", hex(ground));
    }
    for one in &drawing.shapes {
        let _ = match one {
            Shape::Text(text) => {
                let outline = Outline::of(text, &fonts[usize::from(text.is_bold)]);
                write!(svg, "<path fill=\"{}\" d=\"{}\"/>", hex(text.ink.colours().0), outline.path())
            }
            Shape::Rect { place: [x, y, width, height], ink, is_pale: true, .. } => write!(
                svg,
                "<rect fill=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
                hex(pale(ink.colours().0, ground))
            ),
            _ => {
                shape(&mut svg, one);
                Ok(())
            }
        };
    }
    svg + "</svg>"
}

/// A pale colour on light ground.
fn pale(colour: Rgb, ground: Rgb) -> Rgb {
    std::array::from_fn(|n| (f64::from(colour[n]) * PALE + f64::from(ground[n]) * (1.0 - PALE)).round() as u8)
}

/// The opening of an `svg` element; one with a style is a whole file.
fn start(drawing: &Drawing, style: Option<String>, medium: Medium) -> String {
    let Drawing { width, height, title, .. } = drawing;
    let name = if style.is_some() { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
    let style = style.map_or(String::new(), |style| format!("<style>{style}</style>"));
    let size = match medium {
        Medium::Screen => format!("viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\""),
        Medium::Print => {
            let [across, down] = [width, height].map(|side| side * POINTS / 72.0 * 25.4);
            format!("viewBox=\"0 0 {width:.3} {height:.3}\" width=\"{across:.3}mm\" height=\"{down:.3}mm\"")
        }
    };
    format!("<svg{name} class=\"chart\" {size} role=\"img\" aria-label=\"{}\">{style}", escape(title))
}

/// What the pointer shows.
fn tip(hover: &str) -> String {
    if hover.is_empty() { String::new() } else { format!("<title>{}</title>", escape(hover)) }
}

fn shape(svg: &mut String, shape: &Shape) {
    let _ = match shape {
        Shape::Rect { place: [x, y, width, height], ink, is_pale, hover } => {
            let class = match ink {
                Ink::Bar(n) => format!("b{}", n % Ink::BARS),
                _ => String::new(),
            };
            let bar = if hover.is_empty() { "" } else { "bar " };
            let pale = if *is_pale { " pale" } else { "" };
            write!(
                svg,
                "<rect class=\"{bar}{class}{pale}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
                 height=\"{height:.1}\">{}</rect>",
                tip(hover)
            )
        }
        // The style has colours of bars to fill shapes with, not for lines.
        Shape::Line { from, to, ink: Ink::Bar(n), .. } => {
            let [[x1, y1], [x2, y2], [x3, y3], [x4, y4]] = line_corners(*from, *to, 1.0);
            let n = n % Ink::BARS;
            write!(
                svg,
                "<path class=\"b{n}\" d=\"M{x1:.2} {y1:.2}L{x2:.2} {y2:.2}L{x3:.2} {y3:.2}L{x4:.2} {y4:.2}z\"/>"
            )
        }
        Shape::Line { from: [x1, y1], to: [x2, y2], ink, is_dashed } => {
            let class = if *ink == Ink::Grid { "grid" } else { "ink" };
            let dash = if *is_dashed { " dash" } else { "" };
            write!(svg, "<line class=\"{class}{dash}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
        }
        Shape::Mark { mark: Mark::Paper, scale, middle: [x, y], hover } => {
            let d = (DIAMOND * scale * 100.0).round() / 100.0;
            let top = y - d;
            write!(
                svg,
                "<path class=\"theirs\" d=\"M{x:.1} {top:.1}l{d} {d}l-{d} {d}l-{d} -{d}z\">{}</path>",
                tip(hover)
            )
        }
        Shape::Mark { mark: Mark::Reading, scale, middle: [x, y], hover } => {
            let r = (CIRCLE * scale * 100.0).round() / 100.0;
            write!(svg, "<circle class=\"other\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\">{}</circle>", tip(hover))
        }
        Shape::Area { corners, bar, hover } => {
            let is_first = |n: usize| if n == 0 { 'M' } else { 'L' };
            let path: String =
                corners.iter().enumerate().map(|(n, [x, y])| format!("{}{x:.2} {y:.2}", is_first(n))).collect();
            write!(svg, "<path class=\"b{}\" d=\"{path}z\">{}</path>", bar % Ink::BARS, tip(hover))
        }
        Shape::Text(one) => {
            text(svg, one);
            Ok(())
        }
    };
}

fn text(svg: &mut String, text: &Text) {
    let Text { x, y, size, .. } = text;
    let mut more = String::new();
    if text.ink == Ink::Soft {
        more += " class=\"soft\"";
    }
    if *size != 12.0 {
        let _ = write!(more, " font-size=\"{size}\"");
    }
    if text.is_bold {
        more += " font-weight=\"600\"";
    }
    more += match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let degrees = match text.turn {
        Turn::Flat => 0,
        Turn::Slanted => -35,
        Turn::Up => -90,
    };
    if degrees != 0 {
        let _ = write!(more, " transform=\"rotate({degrees} {x:.1} {y:.1})\"");
    }
    let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\"{more}>{}</text>", escape(&text.text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Layout, draw, tests};

    #[test]
    fn any_text_can_be_in_a_drawing() {
        assert_eq!(escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
        let odd = "a\0\x07\x1b[31m\x0b\u{fffe}\u{ffff}b";
        assert_eq!(escape(odd), "a\u{fffd}\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(escape("\t\r\n\x7f\u{85}ä😀"), "\t\r\n\x7f\u{85}ä😀", "allowed");
    }

    #[test]
    fn any_text_can_be_in_a_script() {
        let texts = ["<!--<script>", "</script>", "<\\!--", "]]>", "&lt;\\u003c", "\"\\\n\u{2028}"];
        let value = serde_json::json!({"texts": texts, "</script>": 1});
        let json = script_json(&value);
        assert!(!json.contains(['<', '>', '&']), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }

    #[test]
    fn a_drawing_has_every_shape_and_what_it_stands_for() {
        let drawing = draw(&tests::table(), Layout::FILE);
        let text = svg(&drawing, true);
        assert_eq!(text.matches("class=\"bar ").count(), 2);
        assert_eq!(text.matches("class=\"theirs\"").count(), 2, "one in the legend");
        assert_eq!(text.matches("class=\"other\"").count(), 2, "the same");
        assert!(
            text.contains(
                "<title>bfs, gto: 1.250 (1.240 to 1.260); paper 1.400: partly; deeper pipeline: 1.300</title>"
            ),
            "{text}"
        );
        assert!(text.contains("Speedup &lt;of all&gt;"));
        assert_eq!(text.matches('<').count(), text.matches('>').count());
        assert_eq!(svg(&drawing, true), text);
        assert!(!svg(&drawing, false).contains("http"));
    }
}
