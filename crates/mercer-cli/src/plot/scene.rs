//! A scene: what is on the page, in points from its top left corner.

use super::colour::Colour;

/// A place on the page: to the right, and down.
pub type Place = (f64, f64);

/// What is drawn, back to front.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Width of the page.
    pub width: f64,
    /// Height of the page.
    pub height: f64,
    /// A description for readers who cannot see the picture.
    pub description: String,
    /// What is on it.
    pub items: Vec<Item>,
}

/// One thing on the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Lines through points, filled, stroked or both. Where rings lie inside others, even-odd decides what is filled.
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
    /// Discs of one size and look.
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

/// A line's look.
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

/// Words at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Where the baseline starts, has its middle or ends.
    pub at: Place,
    /// What is at that place.
    pub anchor: Anchor,
    /// The words. Superscript digits are set as raised figures.
    pub words: String,
    /// Size of the type.
    pub size: f64,
    /// Its colour.
    pub colour: Colour,
    /// Whether it runs upwards.
    pub upwards: bool,
}

/// The part of a text that is at its place.
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

    /// Separate lines of one look.
    pub fn lines(parts: Vec<Vec<Place>>, stroke: Stroke) -> Self {
        Self::Path { parts, closed: false, fill: None, stroke: Some(stroke), crisp: false }
    }
}
