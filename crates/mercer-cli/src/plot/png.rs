//! Scenes as PNG, drawn with the program's own typeface.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::colour::Colour;
use super::error::PlotError;
use super::scene::{Anchor, Item, Place, Scene, Stroke, Text};
use super::svg::{RAISED_BY, RAISED_SIZE, drawn, runs};
use super::{font, system_font};

/// The most pixels along one edge.
const MOST_PIXELS: f64 = 20_000.0;

impl Scene {
    /// The scene as a PNG file, `scale` pixels to a point.
    ///
    /// # Errors
    /// If the scale is not positive or the picture would be more than 20,000 pixels wide or high.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        let (width, height) = ((self.width * scale).round(), (self.height * scale).round());
        let allowed = 1.0..=MOST_PIXELS;
        if !(allowed.contains(&width) && allowed.contains(&height)) {
            return Err(PlotError::Scale { scale, width, height });
        }
        let drawing = |error: &dyn std::fmt::Display| PlotError::Drawing { reason: error.to_string() };
        let mut pixels =
            Pixmap::new(width as u32, height as u32).ok_or_else(|| drawing(&"no room for the pixels"))?;
        pixels.fill(Color::WHITE);
        let lacking = self.lacking();
        let file = if lacking.is_empty() { None } else { system_font::with_most_of(&lacking) };
        let other = file.as_deref().and_then(|bytes| Face::parse(bytes, 0).ok());
        let fit = Transform::from_scale((width / self.width) as f32, (height / self.height) as f32);
        let faces: Vec<&Face<'_>> = font::FACE.iter().chain(&other).collect();
        let mut canvas = Canvas { pixels, fit, faces };
        self.items.iter().for_each(|item| canvas.item(item, None));
        canvas.pixels.encode_png().map_err(|error| drawing(&error))
    }

    /// The characters that the typeface lacks.
    pub fn lacking(&self) -> Vec<char> {
        let mut lacking = Vec::new();
        self.items.iter().for_each(|item| add_lacking(item, &mut lacking));
        lacking
    }
}

/// Adds the characters of an item that the typeface lacks.
fn add_lacking(item: &Item, lacking: &mut Vec<char>) {
    match item {
        Item::Text(text) => {
            let characters =
                runs(&text.words).into_iter().flat_map(|(_, run)| run.chars().collect::<Vec<_>>());
            let new: Vec<char> = characters.map(drawn).filter(|c| !font::covers(*c)).collect();
            lacking.extend(new);
        }
        Item::Clip { items, .. } => items.iter().for_each(|item| add_lacking(item, lacking)),
        Item::Path { .. } | Item::Discs { .. } => {}
    }
}

/// The paint of a shape.
#[derive(Clone, Copy)]
struct Look {
    fill: Option<(Colour, f64)>,
    rule: FillRule,
    stroke: Option<Stroke>,
    smooth: bool,
}

struct Canvas<'a> {
    pixels: Pixmap,
    /// From points to pixels.
    fit: Transform,
    /// Our own typeface, then one for missing characters.
    faces: Vec<&'a Face<'a>>,
}

impl Canvas<'_> {
    fn item(&mut self, item: &Item, clip: Option<&Mask>) {
        match item {
            Item::Path { parts, closed, fill, stroke, crisp } => {
                let rule = if parts.len() > 1 { FillRule::EvenOdd } else { FillRule::Winding };
                if let Some(path) = lines(parts, *closed) {
                    self.shape(
                        &path,
                        self.fit,
                        Look { fill: *fill, rule, stroke: *stroke, smooth: !crisp },
                        clip,
                    );
                }
            }
            Item::Discs { centres, radius, fill, stroke } => {
                let Some(disc) = PathBuilder::from_circle(0.0, 0.0, *radius as f32) else { return };
                let look = Look { fill: *fill, rule: FillRule::Winding, stroke: *stroke, smooth: true };
                for (x, y) in centres {
                    self.shape(&disc, self.fit.pre_translate(*x as f32, *y as f32), look, clip);
                }
            }
            Item::Text(text) => self.text(text, clip),
            Item::Clip { to, items } => {
                let [x, y, w, h] = [to.left, to.top, to.width, to.height].map(|v| v as f32);
                let mask = clip.cloned().or_else(|| {
                    let mut whole = Mask::new(self.pixels.width(), self.pixels.height())?;
                    whole.invert();
                    Some(whole)
                });
                let (Some(inside), Some(mut mask)) = (Rect::from_xywh(x, y, w, h), mask) else { return };
                mask.intersect_path(&PathBuilder::from_rect(inside), FillRule::Winding, true, self.fit);
                items.iter().for_each(|item| self.item(item, Some(&mask)));
            }
        }
    }

    fn shape(&mut self, path: &Path, place: Transform, look: Look, clip: Option<&Mask>) {
        if let Some((colour, opacity)) = look.fill {
            self.pixels.fill_path(path, &paint(colour, opacity, look.smooth), look.rule, place, clip);
        }
        if let Some(stroke) = look.stroke {
            let dash = stroke.dash as f32;
            let line = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_join: LineJoin::Round,
                line_cap: if dash > 0.0 { LineCap::Butt } else { LineCap::Round },
                dash: if dash > 0.0 { StrokeDash::new(vec![dash, dash], 0.0) } else { None },
                ..tiny_skia::Stroke::default()
            };
            self.pixels.stroke_path(
                path,
                &paint(stroke.colour, stroke.opacity, look.smooth),
                &line,
                place,
                clip,
            );
        }
    }

    fn text(&mut self, text: &Text, clip: Option<&Mask>) {
        let mut outline = Outline { path: PathBuilder::new(), scale: 0.0, at: (0.0, 0.0) };
        for (raised, run) in runs(&text.words) {
            let size = text.size * if raised { RAISED_SIZE } else { 1.0 };
            outline.at.1 = if raised { -(RAISED_BY * text.size) as f32 } else { 0.0 };
            for character in run.chars().map(drawn) {
                let Some((face, glyph)) = self.glyph(character) else { continue };
                outline.scale = size as f32 / f32::from(face.units_per_em());
                face.outline_glyph(glyph, &mut outline);
                outline.at.0 += outline.scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
            }
        }
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * outline.at.0,
            Anchor::End => -outline.at.0,
        };
        let Some(path) = outline.path.finish() else { return };
        let place = self.fit.pre_translate(text.at.0 as f32, text.at.1 as f32);
        let turned = if text.upwards { place.pre_rotate(-90.0) } else { place };
        let look =
            Look { fill: Some((text.colour, 1.0)), rule: FillRule::Winding, stroke: None, smooth: true };
        self.shape(&path, turned.pre_translate(before, 0.0), look, clip);
    }

    /// The glyph of a character in the first face that has it; the box of our own where none has.
    fn glyph(&self, character: char) -> Option<(&Face<'_>, GlyphId)> {
        let found = self.faces.iter().find_map(|face| Some((*face, face.glyph_index(character)?)));
        found.or_else(|| self.faces.first().map(|face| (*face, GlyphId(0))))
    }
}

fn paint(Colour(r, g, b): Colour, opacity: f64, smooth: bool) -> Paint<'static> {
    let mut paint = Paint { anti_alias: smooth, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, (255.0 * opacity).round() as u8);
    paint
}

/// Lines through the points of each part; `None` if there are no points.
fn lines(parts: &[Vec<Place>], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for part in parts {
        let Some(first) = part.first() else { continue };
        path.move_to(first.0 as f32, first.1 as f32);
        part[1..].iter().for_each(|place| path.line_to(place.0 as f32, place.1 as f32));
        if part.iter().all(|place| place == first) {
            // A point is drawn as the dot of a line of length zero.
            path.line_to(first.0 as f32 + 0.01, first.1 as f32);
        }
        if closed {
            path.close();
        }
    }
    path.finish()
}

/// Outlines of glyphs as parts of one path: upwards is up, units are those of the face.
struct Outline {
    path: PathBuilder,
    scale: f32,
    at: (f32, f32),
}

impl Outline {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.at.0 + self.scale * x, self.at.1 - self.scale * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
