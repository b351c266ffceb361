//! A figure: panels of marks in the units of the data, with titles and keys. It is laid out on a page as a
//! [`Scene`](super::scene::Scene), or in the cells of a terminal.

use super::axis::Axis;
use super::colour::{Colour, ColourScale};
use super::error::PlotError;
use super::scene::{Anchor, Scene, Stroke};

/// A point of the data: x and y.
pub type Point = (f64, f64);

/// A picture with its title, panels and keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// The subtitle; may be empty.
    pub subtitle: String,
    /// Width of the page in points.
    pub width: f64,
    /// Height of the page in points.
    pub height: f64,
    /// The panels, from top to bottom, at least one.
    pub panels: Vec<Panel>,
    /// The legend.
    pub legend: Vec<Key>,
    /// The colour key.
    pub bar: Option<ColourBar>,
    /// The figure shown in a terminal instead, if the cells of a terminal are not enough.
    pub in_terminal: Option<Box<Figure>>,
}

/// Marks on two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The marks, back to front.
    pub marks: Vec<Mark>,
    /// How the axes are drawn.
    pub frame: Frame,
    /// Its part of the height, relative to those of other panels.
    pub share: f64,
    /// Whether width and height are equal.
    pub square: bool,
    /// Captions above its left and its right end.
    pub ends: Option<[String; 2]>,
}

/// How the axes of a panel are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// A line below and a grid.
    Grid,
    /// A box around the contents.
    Box,
    /// Nothing: the marks draw their own.
    Bare,
}

/// Something drawn in a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        /// The points.
        points: Vec<Point>,
        /// Its style.
        stroke: Stroke,
    },
    /// A point for each sample.
    Dots {
        /// The points.
        points: Vec<Point>,
        /// Their style.
        dot: Dot,
    },
    /// The area enclosed by rings; a ring inside another cuts a hole.
    Area {
        /// The rings.
        rings: Vec<Vec<Point>>,
        /// The fill.
        fill: Colour,
        /// The outline.
        outline: Option<Stroke>,
        /// The fraction of a cell that is filled in a terminal without colours, from 0 to 1.
        tone: f64,
    },
    /// A translucent sheet in space.
    Sheet {
        /// Its outline.
        ring: Vec<Point>,
        /// The fill.
        fill: Colour,
        /// From 0 to 1.
        opacity: f64,
    },
    /// Rectangles without seams between them.
    Cells(Vec<Cell>),
    /// Text at a position in the units of the data.
    Words {
        /// The position.
        at: Point,
        /// The part of the text at that position.
        anchor: Anchor,
        /// The text.
        words: String,
        /// Their size.
        size: f64,
        /// Their colour.
        colour: Colour,
    },
}

/// A filled rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Left and right.
    pub x: (f64, f64),
    /// Bottom and top.
    pub y: (f64, f64),
    /// The fill.
    pub fill: Colour,
    /// As for [`Mark::Area`].
    pub tone: f64,
}

/// Signs of categories in a terminal.
const GLYPHS: [char; 10] = ['•', '○', '×', '+', '▲', '□', '◆', '*', '▽', '#'];

/// The sign of a category in a terminal.
pub fn glyph(index: usize) -> char {
    GLYPHS[index % GLYPHS.len()]
}

/// The style of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    /// The radius on the page.
    pub radius: f64,
    /// The fill and its opacity; none leaves rings.
    pub fill: Option<(Colour, f64)>,
    /// The outline.
    pub outline: Option<Stroke>,
    /// The sign in a terminal.
    pub glyph: char,
}

impl Dot {
    /// A disc.
    pub const fn disc(radius: f64, colour: Colour, opacity: f64) -> Self {
        Self { radius, fill: Some((colour, opacity)), outline: None, glyph: '•' }
    }

    /// A ring.
    pub const fn ring(radius: f64, stroke: Stroke) -> Self {
        Self { radius, fill: None, outline: Some(stroke), glyph: '○' }
    }

    /// The same with an outline.
    pub const fn outlined(mut self, stroke: Stroke) -> Self {
        self.outline = Some(stroke);
        self
    }

    /// The same with another sign in a terminal.
    pub const fn shown_as(mut self, glyph: char) -> Self {
        self.glyph = glyph;
        self
    }
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The key.
    pub symbol: Symbol,
    /// The text.
    pub label: String,
}

/// The key of a mark in a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Symbol {
    /// A piece of a line.
    Line(Stroke),
    /// A point.
    Dot(Dot),
    /// A piece of a line with a point on it.
    DottedLine(Stroke, Dot),
}

impl Key {
    /// The key of a line.
    pub fn line(stroke: Stroke, label: impl Into<String>) -> Self {
        Self { symbol: Symbol::Line(stroke), label: label.into() }
    }

    /// The key of points.
    pub fn dot(dot: Dot, label: impl Into<String>) -> Self {
        Self { symbol: Symbol::Dot(dot), label: label.into() }
    }
}

/// The key of a colour scale.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourBar {
    /// The values, from the bottom to the top.
    pub axis: Axis,
    /// The colours at the ends of the axis and between.
    pub colours: Ramp,
}

/// The colours along a bar.
#[derive(Debug, Clone, PartialEq)]
pub enum Ramp {
    /// All of a scale.
    Smooth(ColourScale),
    /// Bands, each from its value to the next one's or the end.
    Bands(Vec<(f64, Colour)>),
}

impl Panel {
    /// A panel with a grid.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, marks: Vec::new(), frame: Frame::Grid, share: 1.0, square: false, ends: None }
    }
}

impl Figure {
    /// A figure of the usual size.
    pub fn new(title: impl Into<String>, panels: Vec<Panel>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            width: 640.0,
            height: 440.0,
            panels,
            legend: Vec::new(),
            bar: None,
            in_terminal: None,
        }
    }

    /// The figure with a second line under its title.
    pub fn subtitled(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The figure on a page of another size.
    pub fn sized(mut self, width: f64, height: f64) -> Self {
        (self.width, self.height) = (width, height);
        self
    }

    /// The figure laid out on its page.
    pub fn scene(&self) -> Scene {
        super::layout::scene(self)
    }

    /// The figure as an SVG document: the same text for the same figure.
    pub fn to_svg(&self) -> String {
        self.scene().to_svg()
    }

    /// The figure as a PDF document: the same bytes for the same figure.
    pub fn to_pdf(&self) -> Vec<u8> {
        self.scene().to_pdf()
    }

    /// The figure as a PNG file, `scale` pixels to a point.
    ///
    /// # Errors
    /// If the scale gives no picture, or one of more than 20,000 pixels along an edge.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        self.scene().to_png(scale)
    }
}
