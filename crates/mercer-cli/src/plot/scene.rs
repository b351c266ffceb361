//! A scene: the items of a page, in points from its top left corner.

use super::colour::Colour;

/// A position on the page: to the right, and down.
pub type Place = (f64, f64);

/// A page of items, back to front.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Width of the page.
    pub width: f64,
    /// Height of the page.
    pub height: f64,
    /// A description for readers who cannot see the picture.
    pub description: String,
    /// The items.
    pub items: Vec<Item>,
}

/// An item of the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Lines through points, filled, stroked or both. If rings lie inside others, the even-odd rule decides which areas
    /// are filled.
    Path {
        /// The points of each part.
        parts: Vec<Vec<Place>>,
        /// Whether each part returns to its start.
        closed: bool,
        /// The fill and its opacity.
        fill: Option<(Colour, f64)>,
        /// The outline.
        stroke: Option<Stroke>,
        /// Whether edges fall on whole pixels, so that neighbours leave no seam.
        crisp: bool,
    },
    /// Discs of one size and style.
    Discs {
        /// Their centres.
        centres: Vec<Place>,
        /// The radius.
        radius: f64,
        /// The fill and its opacity; none leaves them open.
        fill: Option<(Colour, f64)>,
        /// The outline.
        stroke: Option<Stroke>,
    },
    /// Words.
    Text(Text),
    /// Items clipped to a rectangle.
    Clip {
        /// The rectangle.
        to: Rectangle,
        /// The items.
        items: Vec<Item>,
    },
}

/// The style of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// Its opacity.
    pub opacity: f64,
    /// Length of dashes and of the gaps between them; 0 is a whole line.
    pub dash: f64,
}

impl Stroke {
    /// A whole, opaque line.
    pub const fn new(colour: Colour, width: f64) -> Self {
        Self { colour, width, opacity: 1.0, dash: 0.0 }
    }

    /// The same line in dashes.
    pub const fn dashed(mut self, dash: f64) -> Self {
        self.dash = dash;
        self
    }

    /// The same line, fainter.
    pub const fn faint(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }
}

/// Text at a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The position of the start, middle or end of the baseline.
    pub at: Place,
    /// The part of the text at that position.
    pub anchor: Anchor,
    /// The text. Superscript digits are set as raised figures.
    pub words: String,
    /// Size of the type.
    pub size: f64,
    /// Its colour.
    pub colour: Colour,
    /// Whether it runs upwards.
    pub upwards: bool,
}

/// The part of a text at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A rectangle on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rectangle {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Bottom edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Its edge as a closed line.
    pub fn outline(&self) -> Vec<Place> {
        let mut around = self.corners();
        around.push((self.left, self.top));
        around
    }

    /// Its corners, around.
    pub fn corners(&self) -> Vec<Place> {
        let (l, t, r, b) = (self.left, self.top, self.right(), self.bottom());
        vec![(l, t), (r, t), (r, b), (l, b)]
    }
}

impl Item {
    /// A line through points.
    pub fn line(points: Vec<Place>, stroke: Stroke) -> Self {
        Self::Path { parts: vec![points], closed: false, fill: None, stroke: Some(stroke), crisp: false }
    }

    /// Filled polygons whose edges fall on whole pixels, so that neighbours leave no seam.
    pub fn seamless(parts: Vec<Vec<Place>>, colour: Colour) -> Self {
        Self::Path { parts, closed: true, fill: Some((colour, 1.0)), stroke: None, crisp: true }
    }

    /// Separate lines of one style.
    pub fn lines(parts: Vec<Vec<Place>>, stroke: Stroke) -> Self {
        Self::Path { parts, closed: false, fill: None, stroke: Some(stroke), crisp: false }
    }
}
