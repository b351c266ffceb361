//! A function of two variables as bands of colour with level lines.

use super::axis::Axis;
use super::colour::{Colour, ColourScale, INK, WHITE};
use super::error::{PlotError, check, check_points};
use super::field::Field;
use super::figure::{ColourBar, Dot, Figure, Frame, Key, Mark, Panel, Point, Ramp};
use super::scene::Stroke;
use super::ticks;

/// A filled contour map.
#[derive(Debug, Clone, PartialEq)]
pub struct ContourMap {
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
    /// The data, coloured by their known values; may be empty.
    pub points: Vec<(Point, Option<f64>)>,
    /// The kind of data, such as `training rows`.
    pub points_name: String,
    /// The data that are support vectors.
    pub support: Vec<Point>,
    /// The colours. Diverging ones are centred on 0.
    pub scale: ColourScale,
}

/// The approximate largest number of bands of colour.
const BANDS: usize = 20;

/// The most points drawn with a rim.
const RIMMED: usize = 500;

impl ContourMap {
    /// The figure.
    ///
    /// # Errors
    /// If the grid is invalid or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        self.field.check("the values on the grid")?;
        check_points(self.points.iter().map(|(point, _)| *point))?;
        check_points(self.support.iter().copied())?;
        check("values of the data", self.points.iter().filter_map(|(_, value)| *value))?;
        let bands = Bands::new(self.scale, &self.field);
        let [x, y] = self.field.axes(&self.labels);
        let mut panel = Panel::new(x, y);
        panel.frame = Frame::Box;
        panel.marks = bands.marks(&self.field);
        let dot = self.dot();
        // On dark bands the outline alone would be invisible: a light rim sets it off.
        let rim = Dot { radius: dot.radius + 0.9, fill: Some((WHITE, 0.8)), outline: None, ..dot };
        if self.points.len() <= RIMMED {
            panel
                .marks
                .push(Mark::Dots { points: self.points.iter().map(|(point, _)| *point).collect(), dot: rim });
        }
        for (band, points) in self.by_band(&bands).into_iter().enumerate() {
            if !points.is_empty() {
                let fill = bands.colours.get(band).map_or(INK, |(_, colour)| *colour);
                panel.marks.push(Mark::Dots { points, dot: Dot { fill: Some((fill, 1.0)), ..dot } });
            }
        }
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(640.0, 500.0);
        if !self.points.is_empty() {
            let known = self.points.iter().any(|(_, value)| value.is_some());
            let name = match known {
                true => format!("{}, coloured by their {}", self.points_name, self.value_label),
                false => self.points_name.clone(),
            };
            let fill = if known { WHITE } else { INK };
            figure.legend.push(Key::dot(Dot { fill: Some((fill, 1.0)), ..dot }, name));
        }
        if !self.support.is_empty() {
            let ring = Dot::ring(dot.radius + 2.2, Stroke::new(INK, 1.1)).shown_as('◎');
            figure.legend.push(Key::dot(ring, format!("support vector ({})", self.support.len())));
            figure.panels[0].marks.push(Mark::Dots { points: self.support.clone(), dot: ring });
        }
        figure.bar = Some(bands.bar(&self.value_label));
        Ok(figure)
    }

    fn dot(&self) -> Dot {
        let (radius, line) = match self.points.len() {
            0..=100 => (3.6, 1.0),
            101..=500 => (2.9, 0.8),
            501..=2_000 => (2.2, 0.6),
            _ => (1.4, 0.4),
        };
        Dot::disc(radius, INK, 1.0).outlined(Stroke::new(INK, line))
    }

    /// The points of each band; those without a value last.
    fn by_band(&self, bands: &Bands) -> Vec<Vec<Point>> {
        let mut groups = vec![Vec::new(); bands.colours.len() + 1];
        for (point, value) in &self.points {
            let band = value.map_or(bands.colours.len(), |value| bands.of(value));
            groups[band].push(*point);
        }
        groups
    }
}

/// Levels and the colours between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Bands {
    axis: Axis,
    /// The lower end of each band with its colour.
    pub colours: Vec<(f64, Colour)>,
}

impl Bands {
    /// Bands between round levels that cover the values of a field.
    pub fn new(scale: ColourScale, field: &Field) -> Self {
        let axis = field.colour_axis("", scale);
        let levels: Vec<f64> = ticks::linear(axis.lo, axis.hi, BANDS)
            .labelled
            .into_iter()
            .map(|(level, _)| level)
            .filter(|level| *level > axis.lo && *level < axis.hi)
            .collect();
        let starts: Vec<f64> = std::iter::once(axis.lo).chain(levels).collect();
        let last = starts.len() - 1;
        let colours = starts.iter().enumerate().map(|(index, start)| {
            let end = starts.get(index + 1).copied().unwrap_or(axis.hi);
            // The data cut off the first and the last band: their colours are those of complete bands.
            let t = match index {
                0 => 0.0,
                i if i == last => 1.0,
                _ => axis.fraction(0.5 * (start + end)),
            };
            (*start, scale.at(t))
        });
        Self { colours: colours.collect(), axis }
    }

    /// The band that a value is in.
    pub fn of(&self, value: f64) -> usize {
        self.colours.iter().rposition(|(start, _)| *start <= value).unwrap_or(0)
    }

    /// The areas above each level, painted on top of each other, and the level lines.
    pub fn marks(&self, field: &Field) -> Vec<Mark> {
        let last = (self.colours.len() - 1).max(1) as f64;
        let [left, right, bottom, top] = field.bounds();
        let page = vec![(left, bottom), (right, bottom), (right, top), (left, top)];
        let mut marks = Vec::new();
        let mut lines = Vec::new();
        for (index, (level, fill)) in self.colours.iter().enumerate() {
            let tone = index as f64 / last;
            let rings = if index == 0 { Vec::new() } else { field.above(*level) };
            let line = if fill.lightness() > 0.6 { INK } else { WHITE };
            for points in rings.iter().flat_map(|ring| ring.level_lines()) {
                lines.push(Mark::Line { points, stroke: Stroke::new(line, 0.6).faint(0.45) });
            }
            let rings: Vec<_> = match index {
                0 => vec![page.clone()],
                _ => rings.into_iter().map(|ring| ring.points).collect(),
            };
            if !rings.is_empty() {
                marks.push(Mark::Area { rings, fill: *fill, outline: None, tone });
            }
        }
        marks.extend(lines);
        marks
    }

    /// The key.
    pub fn bar(&self, label: &str) -> ColourBar {
        let mut axis = self.axis.clone();
        axis.label = label.to_owned();
        ColourBar { axis, colours: Ramp::Bands(self.colours.clone()) }
    }
}
