//! Predicted classes over two variables, with confidence and samples.

use super::axis::Axis;
use super::colour::{Colour, INK, WHITE, category};
use super::error::{PlotError, check, check_length};
use super::field::Field;
use super::figure::{ColourBar, Dot, Figure, Frame, Key, Mark, Panel, Point, Ramp, glyph};
use super::scene::Stroke;

/// A decision map.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassMap {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// Names of the two variables.
    pub labels: [String; 2],
    /// Names of the classes, at least two.
    pub classes: Vec<String>,
    /// The columns of the grid, rising.
    pub xs: Vec<f64>,
    /// The rows of the grid, rising.
    pub ys: Vec<f64>,
    /// The decision values on the grid.
    pub confidence: Confidence,
    /// The samples; may be empty.
    pub points: Vec<ClassPoint>,
}

/// The values that decide between classes, row by row on a grid as in [`Field`].
#[derive(Debug, Clone, PartialEq)]
pub enum Confidence {
    /// The probability of each class.
    Probabilities(Vec<Vec<f64>>),
    /// f of each class; the largest decides, and its unit has no meaning.
    Decisions(Vec<Vec<f64>>),
    /// f of two classes, measured in margins: above 0 is the second. The lines f = ±1 are drawn too.
    Decision(Vec<f64>),
    /// f of two classes without a margin: above 0 is the second. Only the line f = 0 is drawn.
    Boundary(Vec<f64>),
}

/// A sample and its class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassPoint {
    /// Its position.
    pub at: Point,
    /// Its class.
    pub class: usize,
    /// Whether it is a support vector.
    pub support: bool,
}

/// The most classes that colours distinguish.
pub const MOST_CLASSES: usize = 30;

/// Shades from the boundary to certainty.
const SHADES: usize = 8;

impl ClassMap {
    /// The figure.
    ///
    /// # Errors
    /// If there are fewer than two classes, more than [`MOST_CLASSES`], lists differ in length, or a value cannot be
    /// drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        let sides = self.sides()?;
        let field = &sides[0].lead;
        let [x, y] = field.axes(&self.labels);
        let mut panel = Panel::new(x, y);
        panel.frame = Frame::Box;
        for (class, side) in sides.iter().enumerate() {
            panel.marks.extend(self.shades(class, side));
        }
        let mut legend = Vec::new();
        let border = Stroke::new(INK, 1.4);
        let drawn = if sides.len() == 2 { &sides[1..] } else { &sides[..] };
        for side in drawn {
            panel.marks.extend(level(&side.lead, 0.0, border));
        }
        match self.confidence {
            Confidence::Decision(_) => {
                let margin = Stroke::new(INK, 1.0).dashed(4.0);
                [-1.0, 1.0].iter().for_each(|f| panel.marks.extend(level(&sides[1].lead, *f, margin)));
                legend.push(Key::line(border, "boundary f = 0"));
                legend.push(Key::line(margin, "margin f = ±1"));
            }
            Confidence::Boundary(_) => legend.push(Key::line(border, "boundary f = 0")),
            Confidence::Probabilities(_) | Confidence::Decisions(_) => {}
        }
        self.draw_points(&mut panel, &mut legend)?;
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(640.0, 500.0);
        figure.legend = legend;
        figure.bar = self.bar();
        Ok(figure)
    }

    /// For each class, its lead and the confidence.
    fn sides(&self) -> Result<Vec<Side>, PlotError> {
        let grid = |values: Vec<f64>| Field { xs: self.xs.clone(), ys: self.ys.clone(), values };
        let classes = self.classes.len();
        if !(2..=MOST_CLASSES).contains(&classes) {
            return Err(PlotError::Classes { found: classes, most: MOST_CLASSES });
        }
        match &self.confidence {
            Confidence::Decision(values) | Confidence::Boundary(values) => {
                check_length("names of the two classes", &self.classes, 2)?;
                grid(values.clone()).check("decision values")?;
                // A decision of 2 margins is certain; a function without a margin is measured by its largest value.
                let largest = values.iter().fold(f64::MIN_POSITIVE, |most, f| most.max(f.abs()));
                let unit = if matches!(self.confidence, Confidence::Decision(_)) { 2.0 } else { largest };
                let sure = grid(values.iter().map(|f| (f.abs() / unit).min(1.0)).collect());
                let first = Side { lead: grid(values.iter().map(|f| -f).collect()), sure: sure.clone() };
                Ok(vec![first, Side { lead: grid(values.clone()), sure }])
            }
            Confidence::Probabilities(of) | Confidence::Decisions(of) => {
                check_length("maps of classes", of, classes)?;
                for (class, values) in of.iter().enumerate() {
                    grid(values.clone()).check(&format!("values of {}", self.classes[class]))?;
                }
                // Where three classes meet, the largest of the others has a kink inside of a cell: small cells make the gap
                // that this leaves between the three borders smaller than a point.
                let times = if classes > 2 { 3 } else { 1 };
                let fine: Vec<Field> = of.iter().map(|values| grid(values.clone()).refined(times)).collect();
                let of = |class: usize| &fine[class].values;
                let even = 1.0 / classes as f64;
                let lead = |class: usize| -> Vec<f64> {
                    let rival = |i: usize| {
                        let others = (0..classes).filter(|k| *k != class);
                        others.map(|k| of(k)[i]).fold(f64::NEG_INFINITY, f64::max)
                    };
                    (0..of(class).len()).map(|i| of(class)[i] - rival(i)).collect()
                };
                let leads: Vec<Vec<f64>> = (0..classes).map(lead).collect();
                let largest = leads.iter().flatten().fold(f64::MIN_POSITIVE, |most, lead| lead.max(most));
                let side = |(class, lead): (usize, Vec<f64>)| {
                    let sure = match self.confidence {
                        Confidence::Probabilities(_) => {
                            of(class).iter().map(|p| ((p - even) / (1.0 - even)).clamp(0.0, 1.0)).collect()
                        }
                        _ => lead.iter().map(|lead| (lead / largest).clamp(0.0, 1.0)).collect(),
                    };
                    Side { lead: fine[class].with(lead), sure: fine[class].with(sure) }
                };
                Ok(leads.into_iter().enumerate().map(side).collect())
            }
        }
    }

    /// The region where a class leads, in stronger colours for higher confidence.
    fn shades(&self, class: usize, side: &Side) -> Vec<Mark> {
        let last = (self.classes.len() - 1) as f64;
        let mut marks = Vec::new();
        for step in 0..SHADES {
            let least = step as f64 / SHADES as f64;
            let both = side.lead.values.iter().zip(&side.sure.values);
            // Step 0 shades the whole area in which the class leads. The other steps also require a minimum certainty: the
            // contour of the smaller value at 0 bounds the area where both hold.
            let inside = match step {
                0 => side.lead.clone(),
                _ => side.lead.with(both.map(|(lead, sure)| lead.min(sure - least)).collect()),
            };
            let rings: Vec<_> = inside.above(0.0).into_iter().map(|ring| ring.points).collect();
            if !rings.is_empty() {
                let fill = shade(class, step);
                // Neighbours share their border only up to rounding: a thin outline closes the gap.
                let outline = (step == 0).then_some(Stroke::new(fill, 0.6));
                marks.push(Mark::Area { rings, fill, outline, tone: 0.55 * class as f64 / last });
            }
        }
        marks
    }

    fn draw_points(&self, panel: &mut Panel, legend: &mut Vec<Key>) -> Result<(), PlotError> {
        check("x of the samples", self.points.iter().map(|p| p.at.0))?;
        check("y of the samples", self.points.iter().map(|p| p.at.1))?;
        if let Some(index) = self.points.iter().position(|p| p.class >= self.classes.len()) {
            let (found, classes) = (self.points[index].class, self.classes.len());
            return Err(PlotError::Class { index, found, classes });
        }
        let radius = match self.points.len() {
            0..=150 => 3.8,
            151..=600 => 3.0,
            _ => 2.2,
        };
        for (class, name) in self.classes.iter().enumerate() {
            let dot = Dot::disc(radius, category(class), 1.0)
                .outlined(Stroke::new(WHITE, 0.8))
                .shown_as(glyph(class));
            let of_class = self.points.iter().filter(|point| point.class == class);
            panel.marks.push(Mark::Dots { points: of_class.map(|point| point.at).collect(), dot });
            legend.push(Key::dot(dot, name));
        }
        let support: Vec<Point> = self.points.iter().filter(|p| p.support).map(|p| p.at).collect();
        if !support.is_empty() {
            let ring = Dot::ring(radius + 2.2, Stroke::new(INK, 1.1)).shown_as('◎');
            legend.push(Key::dot(ring, format!("support vector ({})", support.len())));
            panel.marks.push(Mark::Dots { points: support, dot: ring });
        }
        Ok(())
    }

    /// The key of the shades, for two classes with probabilities.
    fn bar(&self) -> Option<ColourBar> {
        let Confidence::Probabilities(_) = self.confidence else { return None };
        let [_, second] = self.classes.as_slice() else { return None };
        let at = |step: usize| step as f64 / SHADES as f64;
        let below = (0..SHADES).rev().map(|step| (0.5 - 0.5 * at(step + 1), shade(0, step)));
        let above = (0..SHADES).map(|step| (0.5 + 0.5 * at(step), shade(1, step)));
        let axis = Axis::linear(format!("P({second})"), 0.0, 1.0);
        Some(ColourBar { axis, colours: Ramp::Bands(below.chain(above).collect()) })
    }
}

struct Side {
    lead: Field,
    sure: Field,
}

fn shade(class: usize, step: usize) -> Colour {
    WHITE.mix(category(class), 0.10 + 0.45 * step as f64 / (SHADES - 1) as f64)
}

/// The lines along a level.
fn level(field: &Field, level: f64, stroke: Stroke) -> Vec<Mark> {
    let rings = field.above(level);
    let lines = rings.iter().flat_map(|ring| ring.level_lines());
    lines.map(|points| Mark::Line { points, stroke }).collect()
}
