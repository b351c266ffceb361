//! Scenes as PNG: the SVG, drawn with the program's own typeface.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::error::PlotError;
use super::font;
use super::scene::{Item, Scene};

/// More pixels than this along one edge are refused.
const MOST_PIXELS: f64 = 20_000.0;

impl Scene {
    /// The scene as a PNG file, `scale` pixels to a point.
    ///
    /// # Errors
    /// Where the scale is not positive or the picture would be more than 20,000 pixels wide or high.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        let (width, height) = ((self.width * scale).round(), (self.height * scale).round());
        let allowed = 1.0..=MOST_PIXELS;
        if !(allowed.contains(&width) && allowed.contains(&height)) {
            return Err(PlotError::Scale { scale, width, height });
        }
        let drawing = |error: &dyn std::fmt::Display| PlotError::Drawing { reason: error.to_string() };
        let mut fonts = Database::new();
        fonts.load_font_data(font::FACE.to_vec());
        if !self.items.iter().all(covered) {
            // Names in a script that the typeface lacks: what the system has is better than empty boxes.
            fonts.load_system_fonts();
        }
        let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
        let tree = Tree::from_str(&self.to_svg(), &options).map_err(|error| drawing(&error))?;
        let mut pixels =
            Pixmap::new(width as u32, height as u32).ok_or_else(|| drawing(&"no room for the pixels"))?;
        let fit = Transform::from_scale((width / self.width) as f32, (height / self.height) as f32);
        resvg::render(&tree, fit, &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| drawing(&error))
    }
}

/// Whether the typeface has every character of an item.
fn covered(item: &Item) -> bool {
    match item {
        Item::Text(text) => font::covers(&text.words.replace(|c| "⁻⁰".contains(c), "")),
        Item::Clip { items, .. } => items.iter().all(covered),
        Item::Path { .. } | Item::Discs { .. } => true,
    }
}
