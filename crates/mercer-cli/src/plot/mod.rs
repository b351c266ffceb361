//! Drawing of pictures from numbers.
//!
//! A kind of picture is a plain struct of numbers and names whose `figure()` checks them and gives a [`Figure`]; that is
//! written as SVG, PNG or PDF, or as text for a terminal. This module does not depend on models or files.

mod agreement;
mod axis;
mod class_map;
mod colour;
mod components;
mod confusion;
mod contour_map;
mod curve;
mod error;
mod field;
mod figure;
mod font;
mod heat_map;
mod keys;
mod layout;
mod lift;
mod lines;
mod marks;
mod pdf;
mod png;
mod reliability;
mod scene;
mod surface;
mod svg;
mod system_font;
mod terminal;
#[cfg(test)]
mod tests;
mod ticks;
mod tuning;

pub use agreement::Agreement;
pub use class_map::{ClassMap, ClassPoint, Confidence, MOST_CLASSES};
pub use colour::ColourScale;
pub use components::{Component, Components};
pub use confusion::Confusion;
pub use contour_map::ContourMap;
pub use curve::{FittedCurve, MOST_BUMPS};
pub use error::PlotError;
pub use field::Field;
pub use figure::Figure;
pub use heat_map::HeatMap;
pub use lift::LiftedPoints;
pub use lines::{LinePlot, NamedLine, Scale};
pub use reliability::{Reliability, ReliabilityBin};
pub use surface::Surface;
pub use terminal::Terminal;
pub use ticks::number;
pub use tuning::{Tuning, TuningMap};
