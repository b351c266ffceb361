//! Predicted against actual values, for data of any number of columns.

use super::axis::Axis;
use super::colour::CATEGORIES;
use super::curve::dots;
use super::error::{PlotError, check, check_length, check_some};
use super::figure::{Dot, Figure, Key, Mark, Panel};
use super::scene::Stroke;
use super::ticks::number;

/// Observed and predicted values.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// The title.
    pub title: String,
    /// The subtitle; may be empty.
    pub subtitle: String,
    /// The name of the predicted quantity.
    pub label: String,
    /// The kind of rows, such as `training rows`.
    pub points_name: String,
    /// The observed values.
    pub actual: Vec<f64>,
    /// The predicted values, one for each.
    pub predicted: Vec<f64>,
}

impl Agreement {
    fn check(&self) -> Result<(), PlotError> {
        check_some("observed values", &self.actual)?;
        check_length("predicted values", &self.predicted, self.actual.len())?;
        check("observed values", self.actual.iter().copied())?;
        check("predicted values", self.predicted.iter().copied())
    }

    fn dot(&self) -> Dot {
        let dot = dots(self.actual.len());
        Dot { fill: dot.fill.map(|(_, opacity)| (CATEGORIES[0], opacity)), ..dot }
    }

    /// Predicted against actual, with the diagonal where they are equal.
    ///
    /// # Errors
    /// If there are no values, their numbers differ, or one cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        self.check()?;
        let both = self.actual.iter().chain(&self.predicted).copied();
        let x = Axis::around(format!("{}, actual", self.label), both, 0.04);
        let y = Axis { label: format!("{}, predicted", self.label), ..x.clone() };
        let diagonal = Stroke::new(CATEGORIES[1], 1.4);
        let dot = self.dot();
        let ends = vec![(x.lo, x.lo), (x.hi, x.hi)];
        let mut panel = Panel::new(x, y);
        panel.square = true;
        panel.marks.push(Mark::Line { points: ends, stroke: diagonal });
        let points = self.actual.iter().copied().zip(self.predicted.iter().copied()).collect();
        panel.marks.push(Mark::Dots { points, dot });
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(500.0, 540.0);
        figure.legend = vec![Key::dot(dot, &self.points_name), Key::line(diagonal, "predicted = actual")];
        Ok(figure)
    }

    /// Residuals, actual − predicted, against predicted.
    ///
    /// # Errors
    /// As for [`figure`](Self::figure).
    pub fn residuals(&self) -> Result<Figure, PlotError> {
        self.check()?;
        let residuals: Vec<f64> = self.actual.iter().zip(&self.predicted).map(|(y, f)| y - f).collect();
        check("residuals", residuals.iter().copied())?;
        // The largest is factored out first: squares of huge residuals overflow.
        let largest = residuals.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        let squares: f64 =
            residuals.iter().map(|r| if largest > 0.0 { (r / largest).powi(2) } else { 0.0 }).sum();
        let spread = largest * (squares / residuals.len() as f64).sqrt();
        let x = Axis::around(format!("{}, predicted", self.label), self.predicted.iter().copied(), 0.03);
        let symmetric = [-largest, largest, -2.0 * spread, 2.0 * spread];
        let y = Axis::around("residual: actual − predicted", symmetric, 0.06);
        let across = |level: f64, stroke| Mark::Line { points: vec![(x.lo, level), (x.hi, level)], stroke };
        let zero = Stroke::new(CATEGORIES[1], 1.4);
        let twice = Stroke::new(CATEGORIES[1], 1.0).dashed(4.0);
        let dot = self.dot();
        let marks = vec![
            across(0.0, zero),
            across(2.0 * spread, twice),
            across(-2.0 * spread, twice),
            Mark::Dots { points: self.predicted.iter().copied().zip(residuals).collect(), dot },
        ];
        let mut panel = Panel::new(x.clone(), y);
        panel.marks = marks;
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle);
        figure.legend = vec![
            Key::dot(dot, &self.points_name),
            Key::line(zero, "0"),
            Key::line(twice, format!("± 2 RMSE, RMSE = {}", number(spread))),
        ];
        Ok(figure)
    }
}
