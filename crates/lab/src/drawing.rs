//! Drawings as plain shapes, which [`crate::svg`], [`crate::png`] and [`crate::pdf`] write.

/// What a shape is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Text and lines one should see.
    Text,
    /// Text of less weight.
    Soft,
    /// Lines in the background.
    Grid,
    /// A bar or a part of bars, by its number.
    Bar(usize),
}

/// How a text is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Not at all.
    Flat,
    /// By 35 degrees, so that it rises to its end.
    Slanted,
    /// By 90 degrees, so that it rises to its end.
    Up,
}

/// Sine and cosine of 35 degrees; written out, because those of a host's library may differ in the last digit.
pub const SLANT: (f64, f64) = (0.573_576_436_351_046, 0.819_152_044_288_991_8);

/// Which point of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A text and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Place of the anchor, from the left.
    pub x: f64,
    /// Place of the line the letters stand on, from the top.
    pub y: f64,
    /// What it says.
    pub text: String,
    /// Size of letters.
    pub size: f64,
    /// Which point of it is at the place.
    pub anchor: Anchor,
    /// How it is turned around its anchor.
    pub turn: Turn,
    /// Whether it is bold.
    pub is_bold: bool,
    /// Colour.
    pub ink: Ink,
}

impl Text {
    /// Size of small letters.
    pub const SMALL: f64 = 11.0;

    /// A flat text in small letters, as most of a picture's are.
    #[must_use]
    pub fn small(x: f64, y: f64, text: String, anchor: Anchor, ink: Ink) -> Self {
        Self { x, y, text, size: Self::SMALL, anchor, turn: Turn::Flat, is_bold: false, ink }
    }
}

/// A shape. Places are from the left and the top.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Left, top, width and height.
        place: [f64; 4],
        /// Colour.
        ink: Ink,
        /// Whether it is drawn pale.
        is_pale: bool,
        /// What the pointer shows over it; nothing when empty.
        hover: String,
    },
    /// A line. One in the colour of a bar may go anywhere, the others to the right or down.
    Line {
        /// Start.
        from: [f64; 2],
        /// End.
        to: [f64; 2],
        /// Colour.
        ink: Ink,
        /// Whether it is dashed.
        is_dashed: bool,
    },
    /// A mark at a value.
    Mark {
        /// What it stands for.
        mark: Mark,
        /// Its size, of one where there is room.
        scale: f64,
        /// Its middle.
        middle: [f64; 2],
        /// What the pointer shows over it; nothing when empty.
        hover: String,
    },
    /// A filled shape with corners.
    Area {
        /// The corners, in order.
        corners: Vec<[f64; 2]>,
        /// The number of its colour, as of bars.
        bar: usize,
        /// What the pointer shows over it; nothing when empty.
        hover: String,
    },
    /// A text.
    Text(Text),
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A value of the paper: a full diamond.
    Paper,
    /// A value of ours by another reading of the paper: an open circle.
    Reading,
}

/// Where a drawing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// On screens, light or dark.
    Screen,
    /// On paper, which is white: a unit is [`POINTS`].
    Print,
}

/// Points that a unit of a drawing has on paper; 72 are an inch.
pub const POINTS: f64 = 0.7;

impl Medium {
    /// The ground where it is light.
    #[must_use]
    pub fn ground(self) -> Rgb {
        match self {
            Self::Screen => GROUND.0,
            Self::Print => [0xff; 3],
        }
    }
}

/// Half the width of a diamond, without the line around it.
pub const DIAMOND: f64 = 5.2;

/// Half the width of a circle, to the middle of its line.
pub const CIRCLE: f64 = 3.8;

/// Width of the lines of marks.
pub const MARK_LINE: f64 = 1.4;

/// Length of a dash and of the gap after it.
pub const DASH: (f64, f64) = (4.0, 3.0);

/// Shapes on a ground of some size.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// From the back to the front.
    pub shapes: Vec<Shape>,
}

impl Drawing {
    /// Both in one, the other below; what they show is what this one says.
    #[must_use]
    pub fn above(mut self, other: Self) -> Self {
        let down = self.height;
        for mut shape in other.shapes {
            match &mut shape {
                Shape::Rect { place, .. } => place[1] += down,
                Shape::Line { from, to, .. } => {
                    from[1] += down;
                    to[1] += down;
                }
                Shape::Mark { middle, .. } => middle[1] += down,
                Shape::Area { corners, .. } => corners.iter_mut().for_each(|corner| corner[1] += down),
                Shape::Text(text) => text.y += down,
            }
            self.shapes.push(shape);
        }
        Self { width: self.width.max(other.width), height: down + other.height, ..self }
    }
}

/// The corners of a line of some width, as a shape to fill.
#[must_use]
pub fn line_corners(from: [f64; 2], to: [f64; 2], width: f64) -> [[f64; 2]; 4] {
    let (along, down) = (to[0] - from[0], to[1] - from[1]);
    // Square roots are exact on every host.
    let length = (along * along + down * down).sqrt().max(1e-6);
    let (x, y) = (down / length * width / 2.0, along / length * width / 2.0);
    [[from[0] + x, from[1] - y], [to[0] + x, to[1] - y], [to[0] - x, to[1] + y], [from[0] - x, from[1] + y]]
}

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// A colour on light and on dark ground.
pub type Colours = (Rgb, Rgb);

/// Colours of bars, in their order; they begin again when there are more.
const BARS: [Colours; 12] = [
    ([0x42, 0x69, 0xa5], [0x7b, 0xa2, 0xdd]),
    ([0xd1, 0x70, 0x2f], [0xf0, 0xa0, 0x66]),
    ([0x3f, 0x8f, 0x5b], [0x71, 0xc4, 0x8d]),
    ([0xa8, 0x45, 0x7a], [0xdd, 0x83, 0xb2]),
    ([0xc2, 0xa2, 0x1c], [0xe0, 0xcb, 0x5c]),
    ([0x5b, 0x5b, 0x9f], [0xa3, 0xa3, 0xe6]),
    ([0x2f, 0x9f, 0xa6], [0x6c, 0xc9, 0xd0]),
    ([0x7a, 0x55, 0x40], [0xc0, 0x9a, 0x84]),
    ([0x9d, 0xb8, 0x4a], [0xc3, 0xdb, 0x7c]),
    ([0xd9, 0x8c, 0xa5], [0xf2, 0xb3, 0xc8]),
    ([0x8c, 0x8c, 0x88], [0xb0, 0xae, 0xa8]),
    ([0xbf, 0xbd, 0xb6], [0x6e, 0x6c, 0x67]),
];

/// The ground, light and dark.
pub const GROUND: Colours = ([0xff, 0xfe, 0xfa], [0x1b, 0x1b, 0x1a]);

/// How much of a pale shape's own colour is left.
pub const PALE: f64 = 0.4;

impl Ink {
    /// How many colours of bars there are.
    pub const BARS: usize = BARS.len();
    /// Those of them that are no grey.
    pub const COLOURS: usize = BARS.len() - 2;

    /// The colour on light and on dark ground.
    #[must_use]
    pub fn colours(self) -> Colours {
        match self {
            Self::Text => ([0x1c, 0x1c, 0x1a], [0xe9, 0xe7, 0xe0]),
            Self::Soft => ([0x62, 0x62, 0x5d], [0xa9, 0xa7, 0xa0]),
            Self::Grid => ([0xdd, 0xdc, 0xd6], [0x3b, 0x3a, 0x37]),
            Self::Bar(n) => BARS[n % BARS.len()],
        }
    }
}
