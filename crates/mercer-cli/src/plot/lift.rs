//! The lift: samples of two variables at the height of a decision function, which a plane separates.

use super::axis::Axis;
use super::class_map::{ClassMap, Confidence};
use super::colour::{Colour, INK, SLATE, category};
use super::error::{PlotError, check, check_length, check_points};
use super::field::Field;
use super::figure::{Dot, Figure, Frame, Key, Mark, Panel, Point, glyph};
use super::scene::Stroke;
use super::surface::Space;

/// Samples lifted by a function of two variables.
#[derive(Debug, Clone, PartialEq)]
pub struct LiftedPoints {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// Names of the two variables.
    pub labels: [String; 2],
    /// Name of the height.
    pub value_label: String,
    /// Names of the two classes: below and above the plane.
    pub classes: Vec<String>,
    /// The samples: place, height and class.
    pub points: Vec<(Point, f64, usize)>,
    /// The function on a grid, for the map that a terminal shows.
    pub field: Field,
}

/// The plane, over which the points are drawn.
const PLANE: Colour = Colour(0xc9, 0xd3, 0xdf);

impl LiftedPoints {
    /// The figure. In a terminal it is a map of the classes.
    ///
    /// # Errors
    /// If there are no points or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        check_length("names of the two classes", &self.classes, 2)?;
        if self.points.is_empty() {
            return Err(PlotError::Empty { what: "samples to lift".into() });
        }
        check_points(self.points.iter().map(|(point, ..)| *point))?;
        check("heights", self.points.iter().map(|(_, height, _)| *height))?;
        self.field.check("the values on the grid")?;
        let heights = self.points.iter().map(|(_, height, _)| *height).chain([0.0]);
        let [x, y] = self.field.axes(&self.labels);
        let space = Space { x, y, z: Axis::around(&self.value_label, heights, 0.06) };
        let mut panel = Panel::new(Axis::linear("", -1.66, 1.50), Axis::linear("", -0.84, 1.90));
        panel.frame = Frame::Bare;
        panel.marks = space.walls();
        let at = |(point, height, _): &(Point, f64, usize)| space.corner(point.0, point.1, *height);
        // Points below the plane first, then the plane, then those above it; of each side the far ones first.
        let mut order: Vec<&(Point, f64, usize)> = self.points.iter().collect();
        order.sort_by(|a, b| Space::depth(at(b)).total_cmp(&Space::depth(at(a))));
        let (below, above): (Vec<_>, Vec<_>) = order.into_iter().partition(|(_, height, _)| *height < 0.0);
        let stem = Stroke::new(SLATE, 0.7).faint(0.55);
        let draw = |points: &[&(Point, f64, usize)], marks: &mut Vec<Mark>| {
            for point in points {
                let (top, foot) = (at(point), space.corner(point.0.0, point.0.1, 0.0));
                marks.push(Mark::Line { points: vec![Space::flat(foot), Space::flat(top)], stroke: stem });
                marks.push(Mark::Dots { points: vec![Space::flat(top)], dot: dot(point.2) });
            }
        };
        draw(&below, &mut panel.marks);
        let (x, y) = (&space.x, &space.y);
        let corners = [(x.lo, y.lo), (x.hi, y.lo), (x.hi, y.hi), (x.lo, y.hi)];
        let ring = corners.map(|(x, y)| Space::flat(space.corner(x, y, 0.0))).to_vec();
        let mut outline = ring.clone();
        outline.push(ring[0]);
        panel.marks.push(Mark::Sheet { ring, fill: PLANE, opacity: 0.62 });
        let edge = Stroke::new(INK, 1.0);
        panel.marks.push(Mark::Line { points: outline, stroke: edge });
        draw(&above, &mut panel.marks);
        panel.marks.extend(space.labels());
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(640.0, 520.0);
        let keys = self.classes.iter().enumerate().map(|(class, name)| Key::dot(dot(class), name));
        figure.legend = keys.chain([Key::line(edge, format!("plane {} = 0", self.value_label))]).collect();
        figure.in_terminal = Some(Box::new(self.map().figure()?));
        Ok(figure)
    }

    fn map(&self) -> ClassMap {
        ClassMap {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            labels: self.labels.clone(),
            classes: self.classes.clone(),
            xs: self.field.xs.clone(),
            ys: self.field.ys.clone(),
            confidence: Confidence::Boundary(self.field.values.clone()),
            points: Vec::new(),
        }
    }
}

fn dot(class: usize) -> Dot {
    let colour = category(class);
    Dot::disc(3.2, colour, 1.0)
        .outlined(Stroke::new(colour.mix(Colour(255, 255, 255), 0.75), 0.7))
        .shown_as(glyph(class))
}
