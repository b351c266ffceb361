//! A reliability diagram: observed frequencies against predicted probabilities.

use super::axis::{Axis, Marking};
use super::colour::{CATEGORIES, INK, WHITE};
use super::error::{PlotError, check, check_some};
use super::figure::{Cell, Dot, Figure, Key, Mark, Panel, Point, Symbol};
use super::scene::Stroke;

/// A reliability diagram over a histogram of the predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// The bins of predicted probability, at least one; their ends rise.
    pub bins: Vec<ReliabilityBin>,
}

/// Samples whose predicted probability is in one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityBin {
    /// The interval.
    pub ends: (f64, f64),
    /// The number of samples in it.
    pub count: usize,
    /// The mean of their predicted probabilities; not used without samples.
    pub predicted: f64,
    /// The share of correct predictions; not used without samples.
    pub observed: f64,
}

impl Reliability {
    /// The figure.
    ///
    /// # Errors
    /// If there are no bins, no samples in them, or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        check_some("bins", &self.bins)?;
        check("ends of the bins", self.bins.iter().flat_map(|bin| [bin.ends.0, bin.ends.1]))?;
        let full: Vec<_> = self.bins.iter().filter(|bin| bin.count > 0).collect();
        check_some("samples in the bins", &full)?;
        check("predicted probabilities", full.iter().map(|bin| bin.predicted))?;
        check("observed shares", full.iter().map(|bin| bin.observed))?;
        let x = Axis::linear("predicted probability", 0.0, 1.0);
        let diagonal = Stroke::new(INK, 1.0).dashed(4.0);
        let line = Stroke::new(CATEGORIES[0], 2.0);
        let dot = Dot::disc(3.4, CATEGORIES[0], 1.0);
        let points: Vec<Point> = full.iter().map(|bin| (bin.predicted, bin.observed)).collect();
        let silent = Axis { label: String::new(), ..x.clone() }.marked(Marking::Silent);
        let mut curve = Panel::new(silent, Axis::linear("observed share", 0.0, 1.0));
        curve.share = 3.2;
        curve.marks = vec![
            Mark::Line { points: vec![(0.0, 0.0), (1.0, 1.0)], stroke: diagonal },
            Mark::Line { points: points.clone(), stroke: line },
            Mark::Dots { points, dot },
        ];
        let most = full.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
        let mut counts = Panel::new(x, Axis::linear("samples", 0.0, 1.08 * most));
        let bars = full.iter().map(|bin| {
            let gap = 0.04 * (bin.ends.1 - bin.ends.0);
            let fill = WHITE.mix(CATEGORIES[0], 0.65);
            Cell { x: (bin.ends.0 + gap, bin.ends.1 - gap), y: (0.0, bin.count as f64), fill, tone: 1.0 }
        });
        counts.marks.push(Mark::Cells(bars.collect()));
        let mut figure =
            Figure::new(&self.title, vec![curve, counts]).subtitled(&self.subtitle).sized(500.0, 560.0);
        figure.legend = vec![
            Key { symbol: Symbol::DottedLine(line, dot), label: "model".into() },
            Key::line(diagonal, "perfectly calibrated"),
        ];
        Ok(figure)
    }
}
