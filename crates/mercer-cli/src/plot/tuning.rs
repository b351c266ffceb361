//! The error along a hyper-parameter: where a model follows the noise, where it is too smooth, and the best between.

use super::axis::{Axis, Marking, extent};
use super::colour::{CATEGORIES, ColourScale, INK, SLATE};
use super::error::{PlotError, check, check_length, check_positive, check_some};
use super::figure::{ColourBar, Dot, Figure, GLYPHS, Key, Mark, Panel, Point, Ramp, Symbol};
use super::scene::Stroke;

/// Errors over the values of one hyper-parameter, in a line for each value of another.
#[derive(Debug, Clone, PartialEq)]
pub struct TuningCurve {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// Name of the hyper-parameter along the axis.
    pub parameter: String,
    /// Its values, above 0 and rising: the axis is logarithmic.
    pub values: Vec<f64>,
    /// Name of the error.
    pub score: String,
    /// The lines, at least one.
    pub lines: Vec<TuningLine>,
    /// The line and the value that are best, with what the legend says of them.
    pub best: Option<(usize, usize, String)>,
    /// What the left and the right end mean: `["← variance", "bias →"]` for a width.
    pub ends: Option<[String; 2]>,
}

/// One line of errors; none where the fit did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub struct TuningLine {
    /// What the line is: `λ = 0.01`.
    pub name: String,
    /// The error on rows not trained on.
    pub validation: Vec<Option<f64>>,
    /// The error on the training rows; may be empty.
    pub training: Vec<Option<f64>>,
}

/// More lines than this are told apart by a colour scale, and the lowest error over them is drawn thick.
const MOST_NAMED: usize = 5;

/// Errors that differ by more than this factor get a logarithmic axis.
const WIDE: f64 = 30.0;

impl TuningCurve {
    /// The figure.
    ///
    /// # Errors
    /// Where there are no values or lines, their numbers differ, a value is not above 0 or rising, or an error cannot be
    /// drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        self.check()?;
        let errors = || {
            let of = |line: &TuningLine| -> Vec<f64> {
                line.validation.iter().chain(&line.training).flatten().copied().collect()
            };
            self.lines.iter().flat_map(of)
        };
        let (lo, hi) = extent(errors());
        let y = if lo > 0.0 && hi > WIDE * lo {
            Axis::log_around(&self.score, [lo, hi], 0.06)
        } else {
            Axis::around(&self.score, if lo >= 0.0 { [0.0, hi] } else { [lo, hi] }, 0.05)
        };
        let y = if lo >= 0.0 && y.lo < 0.0 { Axis { lo: 0.0, ..y } } else { y };
        let x = Axis::log_around(&self.parameter, self.values.iter().copied(), 0.03);
        let mut panel = Panel::new(x, y);
        panel.ends = self.ends.clone();
        let mut figure = Figure::new(&self.title, Vec::new()).subtitled(&self.subtitle);
        if self.lines.len() <= MOST_NAMED {
            self.named_lines(&mut panel, &mut figure.legend);
        } else {
            self.scaled_lines(&mut panel, &mut figure);
        }
        if let Some((line, value, name)) = &self.best {
            let error = self.lines.get(*line).and_then(|line| line.validation.get(*value).copied().flatten());
            if let Some(error) = error {
                let at = (self.values[*value], error);
                let rule = Stroke::new(INK, 1.0).dashed(3.0);
                let ring = Dot::ring(5.5, Stroke::new(INK, 1.8)).shown_as('◎');
                let bottom = panel.y.lo;
                panel.marks.insert(0, Mark::Line { points: vec![(at.0, bottom), at], stroke: rule });
                panel.marks.push(Mark::Dots { points: vec![at], dot: ring });
                figure.legend.push(Key::dot(ring, name));
            }
        }
        figure.panels.push(panel);
        Ok(figure)
    }

    fn check(&self) -> Result<(), PlotError> {
        check_some("values of the hyper-parameter", &self.values)?;
        check("values of the hyper-parameter", self.values.iter().copied())?;
        check_positive("values of the hyper-parameter", self.values.iter().copied())?;
        if let Some(index) = (1..self.values.len()).find(|&i| self.values[i] <= self.values[i - 1]) {
            let what = "values of the hyper-parameter".into();
            return Err(PlotError::NotRising { what, index, value: self.values[index] });
        }
        check_some("lines of errors", &self.lines)?;
        for line in &self.lines {
            check_length(&line.name, &line.validation, self.values.len())?;
            if !line.training.is_empty() {
                check_length(&line.name, &line.training, self.values.len())?;
            }
            check(&line.name, line.validation.iter().chain(&line.training).flatten().copied())?;
        }
        if self.lines.iter().all(|line| line.validation.iter().flatten().next().is_none()) {
            return Err(PlotError::Empty { what: "errors".into() });
        }
        Ok(())
    }

    /// A colour for each line.
    fn named_lines(&self, panel: &mut Panel, legend: &mut Vec<Key>) {
        let mut trained = false;
        for ((line, colour), glyph) in self.lines.iter().zip(CATEGORIES).zip(GLYPHS) {
            let stroke = Stroke::new(colour, 2.0);
            let dot = Dot::disc(2.8, colour, 1.0).shown_as(glyph);
            if !line.training.is_empty() {
                trained = true;
                self.draw(&line.training, Stroke::new(colour, 1.5).dashed(5.0), panel);
            }
            self.draw(&line.validation, stroke, panel);
            panel.marks.push(Mark::Dots { points: self.points(&line.validation).concat(), dot });
            legend.push(Key { symbol: Symbol::DottedLine(stroke, dot), label: line.name.clone() });
        }
        if trained {
            legend.push(Key::line(Stroke::new(SLATE, 1.5).dashed(5.0), "error on the training rows"));
        }
    }

    /// Thin lines coloured by their place, and the lowest error over them.
    fn scaled_lines(&self, panel: &mut Panel, figure: &mut Figure) {
        let last = (self.lines.len() - 1) as f64;
        for (index, line) in self.lines.iter().enumerate() {
            let colour = ColourScale::Sequential.at(0.94 * index as f64 / last);
            self.draw(&line.validation, Stroke::new(colour, 1.2).faint(0.9), panel);
        }
        let lowest: Vec<Option<(f64, usize)>> = (0..self.values.len())
            .map(|value| {
                let errors = self.lines.iter().enumerate();
                let known = errors.filter_map(|(i, line)| line.validation[value].map(|error| (error, i)));
                known.min_by(|a, b| a.0.total_cmp(&b.0))
            })
            .collect();
        let envelope: Vec<Option<f64>> = lowest.iter().map(|low| low.map(|(error, _)| error)).collect();
        let thick = Stroke::new(INK, 2.4);
        if self.lines.iter().any(|line| !line.training.is_empty()) {
            let training = |(value, low): (usize, &Option<(f64, usize)>)| {
                low.and_then(|(_, line)| self.lines[line].training.get(value).copied().flatten())
            };
            let training: Vec<Option<f64>> = lowest.iter().enumerate().map(training).collect();
            let dashed = Stroke::new(INK, 1.6).dashed(5.0);
            self.draw(&training, dashed, panel);
            figure.legend.push(Key::line(dashed, "the same model on the training rows"));
        }
        self.draw(&envelope, thick, panel);
        figure.legend.insert(0, Key::line(thick, format!("lowest at each {}", self.parameter)));
        let names = self.lines.iter().enumerate().map(|(i, line)| (i as f64, line.name.clone())).collect();
        let axis = Axis::linear("", 0.0, last).marked(Marking::Named(names));
        figure.bar = Some(ColourBar { axis, colours: Ramp::Smooth(ColourScale::Sequential) });
    }

    fn draw(&self, errors: &[Option<f64>], stroke: Stroke, panel: &mut Panel) {
        panel.marks.extend(self.points(errors).into_iter().map(|points| Mark::Line { points, stroke }));
    }

    /// The points of a line, in pieces where errors are missing.
    fn points(&self, errors: &[Option<f64>]) -> Vec<Vec<Point>> {
        let places: Vec<(f64, Option<f64>)> =
            self.values.iter().copied().zip(errors.iter().copied()).collect();
        places
            .split(|(_, error)| error.is_none())
            .filter(|piece| !piece.is_empty())
            .map(|piece| piece.iter().filter_map(|(x, error)| error.map(|y| (*x, y))).collect())
            .collect()
    }
}
