//! Lines over one variable: ROC curves, learning curves, convergence, eigenvalues, partial dependence.

use super::axis::{Axis, Spacing};
use super::colour::{INK, SLATE, category};
use super::error::{PlotError, check, check_positive, check_some};
use super::figure::{Dot, Figure, Key, Mark, Panel, Point, Symbol, glyph};
use super::scene::Stroke;

/// Lines over one variable.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis.
    pub y: Scale,
    /// The lines, each in a different colour; at least one.
    pub lines: Vec<NamedLine>,
    /// Thin grey lines behind the others, with their name; may be empty.
    pub background: (String, Vec<Vec<Point>>),
    /// Dashed lines for comparison, each with its name.
    pub references: Vec<(String, Vec<Point>)>,
    /// Points with the line whose colour they have, and their name.
    pub dots: Vec<(usize, String, Vec<Point>)>,
    /// Whether the panel is square.
    pub square: bool,
}

/// An axis whose range may depend on the values.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// The name of the quantity.
    pub label: String,
    /// The scale.
    pub spacing: Spacing,
    /// Its ends; `None` for an axis around its values.
    pub ends: Option<(f64, f64)>,
}

/// A line with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLine {
    /// The name.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
    /// Whether each point is marked.
    pub marked: bool,
}

impl Scale {
    /// A linear axis around its values.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), spacing: Spacing::Linear, ends: None }
    }

    /// A logarithmic axis around its values.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), spacing: Spacing::Log, ends: None }
    }

    /// The same axis from `lo` to `hi`.
    pub fn between(mut self, lo: f64, hi: f64) -> Self {
        self.ends = Some((lo, hi));
        self
    }

    fn axis(&self, values: impl Iterator<Item = f64> + Clone) -> Result<Axis, PlotError> {
        check(&self.label, values.clone())?;
        if self.spacing == Spacing::Log {
            check_positive(&self.label, values.clone())?;
            return Ok(Axis::log_around(&self.label, values, 0.04));
        }
        Ok(match self.ends {
            Some((lo, hi)) => Axis::linear(&self.label, lo, hi),
            None => Axis::around(&self.label, values, 0.05),
        })
    }
}

impl LinePlot {
    /// A plot of lines and nothing else.
    pub fn new(title: impl Into<String>, [x, y]: [Scale; 2], lines: Vec<NamedLine>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            x,
            y,
            lines,
            background: (String::new(), Vec::new()),
            references: Vec::new(),
            dots: Vec::new(),
            square: false,
        }
    }

    /// The figure.
    ///
    /// # Errors
    /// If there is no line, a line has no points, or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        check_some("lines", &self.lines)?;
        for line in &self.lines {
            check_some(&line.name, &line.points)?;
        }
        let all = || {
            let lines = self.lines.iter().flat_map(|line| &line.points);
            let behind = self.background.1.iter().flatten();
            let references = self.references.iter().flat_map(|(_, points)| points);
            lines.chain(behind).chain(references).chain(self.dots.iter().flat_map(|(_, _, points)| points))
        };
        let mut panel =
            Panel::new(self.x.axis(all().map(|point| point.0))?, self.y.axis(all().map(|point| point.1))?);
        panel.square = self.square;
        let mut figure = Figure::new(&self.title, Vec::new()).subtitled(&self.subtitle);
        if self.square {
            figure = figure.sized(520.0, 560.0);
        }
        let thin = Stroke::new(SLATE, 0.8).faint(0.3);
        for points in &self.background.1 {
            panel.marks.push(Mark::Line { points: points.clone(), stroke: thin });
        }
        let dashed = Stroke::new(INK, 1.0).dashed(4.0);
        for (name, points) in &self.references {
            panel.marks.push(Mark::Line { points: points.clone(), stroke: dashed });
            figure.legend.extend((!name.is_empty()).then(|| Key::line(dashed, name)));
        }
        for (line, name, points) in &self.dots {
            let dot = Dot::disc(2.6, category(*line), 0.6).shown_as(glyph(*line));
            figure.legend.extend((!name.is_empty()).then(|| Key::dot(dot, name)));
            panel.marks.push(Mark::Dots { points: points.clone(), dot });
        }
        let keys: Vec<Key> =
            self.lines.iter().enumerate().map(|(i, line)| draw(i, line, &mut panel)).collect();
        figure.legend.splice(0..0, keys);
        if !self.background.1.is_empty() {
            figure.legend.push(Key::line(Stroke::new(SLATE, 0.8).faint(0.45), &self.background.0));
        }
        figure.panels.push(panel);
        Ok(figure)
    }
}

/// Draws a line and returns its key.
fn draw(index: usize, line: &NamedLine, panel: &mut Panel) -> Key {
    let colour = category(index);
    let stroke = Stroke::new(colour, 2.0);
    let dot = Dot::disc(2.8, colour, 1.0).shown_as(glyph(index));
    panel.marks.push(Mark::Line { points: line.points.clone(), stroke });
    if !line.marked {
        return Key::line(stroke, &line.name);
    }
    panel.marks.push(Mark::Dots { points: line.points.clone(), dot });
    Key { symbol: Symbol::DottedLine(stroke, dot), label: line.name.clone() }
}
