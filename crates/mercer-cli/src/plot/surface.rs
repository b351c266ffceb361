//! A function of two variables as a surface in space.

use super::axis::Axis;
use super::colour::{Colour, ColourScale, INK, MIST, SLATE};
use super::contour_map::ContourMap;
use super::error::{PlotError, check, check_points};
use super::field::Field;
use super::figure::{ColourBar, Dot, Figure, Frame, Key, Mark, Panel, Point, Ramp};
use super::scene::{Anchor, Stroke};

/// A surface, with its quadrilaterals painted from back to front.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// Names of the two variables.
    pub labels: [String; 2],
    /// Name of the value.
    pub value_label: String,
    /// The function.
    pub field: Field,
    /// The data with their values; may be empty.
    pub points: Vec<(Point, f64)>,
    /// The kind of data, such as `training rows`.
    pub points_name: String,
    /// The colours. Diverging ones are centred on 0.
    pub scale: ColourScale,
}

/// The rotation of the box and the elevation of the view, in degrees.
const TURN: f64 = 32.0;
const RISE: f64 = 27.0;
/// Height of the box; its ground is 2 × 2.
const HEIGHT: f64 = 1.35;
/// The direction of the light, in the box: left, front, above.
const LIGHT: [f64; 3] = [-0.50, -0.42, 0.76];

const PANE: Colour = Colour(0xf7, 0xf8, 0xfa);

impl Surface {
    /// The figure. In a terminal it is a contour map.
    ///
    /// # Errors
    /// If the grid is invalid or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        self.field.check("the values on the grid")?;
        check_points(self.points.iter().map(|(point, _)| *point))?;
        check("values of the data", self.points.iter().map(|(_, value)| *value))?;
        let heights = self.field.values.iter().copied().chain(self.points.iter().map(|(_, z)| *z));
        let [x, y] = self.field.axes(&self.labels);
        let space = Space { x, y, z: Axis::around(&self.value_label, heights, 0.02) };
        let dot = Dot::disc(2.6, INK, 0.9);
        let mut panel = Panel::new(Axis::linear("", -1.66, 1.50), Axis::linear("", -0.84, 1.90));
        panel.frame = Frame::Bare;
        panel.marks = space.walls();
        let mut pieces = self.faces(&space);
        pieces.extend(self.points.iter().map(|((x, y), z)| {
            let corner = space.corner(*x, *y, *z);
            // A point on the surface is painted after the faces around it.
            let depth = depth(corner) - 0.02;
            (depth, Mark::Dots { points: vec![flat(corner)], dot })
        }));
        pieces.sort_by(|a, b| b.0.total_cmp(&a.0));
        panel.marks.extend(pieces.into_iter().map(|(_, mark)| mark));
        panel.marks.extend(space.labels());
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(640.0, 520.0);
        if !self.points.is_empty() {
            figure.legend.push(Key::dot(dot, &self.points_name));
        }
        // The vertical axis has the name of the value, so the bar has none.
        figure.bar = Some(ColourBar {
            axis: self.field.colour_axis("", self.scale),
            colours: Ramp::Smooth(self.scale),
        });
        figure.in_terminal = Some(Box::new(self.contour_map().figure()?));
        Ok(figure)
    }

    fn contour_map(&self) -> ContourMap {
        ContourMap {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            labels: self.labels.clone(),
            value_label: self.value_label.clone(),
            field: self.field.clone(),
            points: self.points.iter().map(|(point, value)| (*point, Some(*value))).collect(),
            points_name: self.points_name.clone(),
            support: Vec::new(),
            scale: self.scale,
        }
    }

    /// The faces, each with its depth.
    fn faces(&self, space: &Space) -> Vec<(f64, Mark)> {
        let Field { xs, ys, values } = &self.field;
        let colours = self.field.colour_axis("", self.scale);
        let at = |i: usize, j: usize| space.corner(xs[i], ys[j], values[j * xs.len() + i]);
        let mut faces = Vec::with_capacity((xs.len() - 1) * (ys.len() - 1));
        for j in 0..ys.len() - 1 {
            for i in 0..xs.len() - 1 {
                let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let places = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                let mean = places.iter().map(|(i, j)| 0.25 * values[j * xs.len() + i]).sum();
                let fill = lit(self.scale.at(colours.fraction(mean)), light(&corners));
                let mesh = Stroke::new(fill.mix(Colour(0, 0, 0), 0.32), 0.45);
                let depth = corners.iter().map(|corner| 0.25 * depth(*corner)).sum();
                let rings = vec![corners.map(flat).to_vec()];
                faces.push((depth, Mark::Area { rings, fill, outline: Some(mesh), tone: 0.0 }));
            }
        }
        faces
    }
}

/// A place in the box: −1 to 1 along the ground, 0 to [`HEIGHT`] upwards.
pub type Corner = [f64; 3];

/// Distance of a place from the eye along the ground.
fn depth([u, v, _]: Corner) -> f64 {
    let (sin, cos) = TURN.to_radians().sin_cos();
    v * cos - u * sin
}

/// The projection of a place of the box: to the right and up.
fn flat(corner: Corner) -> Point {
    let [u, v, w] = corner;
    let (sin, cos) = TURN.to_radians().sin_cos();
    let (up_sin, up_cos) = RISE.to_radians().sin_cos();
    (u * cos + v * sin, w * up_cos + depth(corner) * up_sin)
}

/// The illumination of a face, from 0 to 1.
fn light(corners: &[Corner; 4]) -> f64 {
    let along = |a: Corner, b: Corner| [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    let (a, b) = (along(corners[0], corners[2]), along(corners[1], corners[3]));
    let normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
    let towards: f64 = normal.iter().zip(LIGHT).map(|(n, l)| n * l).sum();
    if length > 0.0 { (towards / length).max(0.0) } else { 0.0 }
}

/// A colour under that illumination.
fn lit(colour: Colour, light: f64) -> Colour {
    let shade = 0.36 * (1.0 - light);
    colour.mix(Colour(0, 0, 0), shade).mix(Colour(255, 255, 255), 0.14 * light.powi(3))
}

/// The three axes.
pub struct Space {
    /// To the right.
    pub x: Axis,
    /// To the back.
    pub y: Axis,
    /// Upwards.
    pub z: Axis,
}

impl Space {
    /// Distance of a place from the eye along the ground.
    pub fn depth(corner: Corner) -> f64 {
        depth(corner)
    }

    /// The projection of a place of the box: to the right and up.
    pub fn flat(corner: Corner) -> Point {
        flat(corner)
    }

    /// The place of a point in the box.
    pub fn corner(&self, x: f64, y: f64, z: f64) -> Corner {
        let across = |fraction: f64| 2.0 * fraction - 1.0;
        [across(self.x.fraction(x)), across(self.y.fraction(y)), HEIGHT * self.z.fraction(z)]
    }

    /// The ground and the two walls behind, with their grids.
    pub fn walls(&self) -> Vec<Mark> {
        let top = HEIGHT;
        let wall = |corners: [Corner; 4]| Mark::Area {
            rings: vec![corners.map(flat).to_vec()],
            fill: PANE,
            outline: Some(Stroke::new(MIST.mix(SLATE, 0.25), 0.8)),
            tone: 0.0,
        };
        let mut marks = vec![
            wall([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]),
            wall([[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, 1.0, top], [-1.0, -1.0, top]]),
            wall([[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, top], [-1.0, 1.0, top]]),
        ];
        let grid = Stroke::new(MIST, 0.8);
        let mut line = |places: &[Corner]| {
            let points = places.iter().map(|corner| flat(*corner)).collect();
            marks.push(Mark::Line { points, stroke: grid });
        };
        for (x, _) in self.x.ticks(6).labelled {
            let u = self.corner(x, self.y.lo, self.z.lo)[0];
            line(&[[u, -1.0, 0.0], [u, 1.0, 0.0], [u, 1.0, top]]);
        }
        for (y, _) in self.y.ticks(6).labelled {
            let v = self.corner(self.x.lo, y, self.z.lo)[1];
            line(&[[1.0, v, 0.0], [-1.0, v, 0.0], [-1.0, v, top]]);
        }
        for (z, _) in self.z.ticks(6).labelled {
            let w = self.corner(self.x.lo, self.y.lo, z)[2];
            line(&[[-1.0, -1.0, w], [-1.0, 1.0, w], [1.0, 1.0, w]]);
        }
        marks
    }

    /// The edges with ticks, their labels, and the names of the axes.
    pub fn labels(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        let edge = Stroke::new(SLATE, 1.0);
        let mut line = |from: Corner, to: Corner| {
            marks.push(Mark::Line { points: vec![flat(from), flat(to)], stroke: edge });
        };
        let (x, y, z) = (self.x.ticks(6), self.y.ticks(6), self.z.ticks(6));
        let (front, side, foot) = ([-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]);
        line(front, side);
        line(side, foot);
        line(front, [-1.0, -1.0, HEIGHT]);
        let u = |value: f64| self.corner(value, self.y.lo, self.z.lo)[0];
        let v = |value: f64| self.corner(self.x.lo, value, self.z.lo)[1];
        let w = |value: f64| self.corner(self.x.lo, self.y.lo, value)[2];
        x.labelled.iter().for_each(|(x, _)| line([u(*x), -1.0, 0.0], [u(*x), -1.05, 0.0]));
        y.labelled.iter().for_each(|(y, _)| line([1.0, v(*y), 0.0], [1.05, v(*y), 0.0]));
        z.labelled.iter().for_each(|(z, _)| line([-1.0, -1.0, w(*z)], [-1.04, -1.04, w(*z)]));
        let mut say = |at: Corner, anchor, words: &str, size, colour| {
            marks.push(Mark::Words { at: flat(at), anchor, words: words.into(), size, colour });
        };
        for (place, label) in &x.labelled {
            say([u(*place), -1.17, 0.0], Anchor::Middle, label, 11.0, SLATE);
        }
        for (place, label) in &y.labelled {
            say([1.15, v(*place), 0.0], Anchor::Middle, label, 11.0, SLATE);
        }
        for (place, label) in &z.labelled {
            say([-1.06, -1.06, w(*place)], Anchor::End, label, 11.0, SLATE);
        }
        let named = |axis: &Axis, note: &Option<String>| match note {
            Some(note) => format!("{} ({note})", axis.label),
            None => axis.label.clone(),
        };
        let short = |words: String| super::font::shortened(&words, 12.0, 130.0);
        say([0.12, -1.46, 0.0], Anchor::End, &short(named(&self.x, &x.note)), 12.0, INK);
        say([1.42, -0.1, 0.0], Anchor::Start, &short(named(&self.y, &y.note)), 12.0, INK);
        say([-1.06, -1.06, HEIGHT + 0.13], Anchor::Start, &short(named(&self.z, &z.note)), 12.0, INK);
        marks
    }
}
