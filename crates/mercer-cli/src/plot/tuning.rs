//! A search over hyper-parameters: the error along one of them and, if there are several, a map over two.

use super::axis::{Axis, Marking, Spacing, extent};
use super::colour::{CATEGORIES, ColourScale, INK, WHITE};
use super::error::{PlotError, check, check_length, check_positive, check_some};
use super::figure::{Cell, ColourBar, Dot, Figure, Frame, Key, Mark, Panel, Point, Ramp, Symbol};
use super::scene::Stroke;

/// The trials of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
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
    /// The lowest error on held-out rows at each value; `None` if no fit succeeded.
    pub validation: Vec<Option<f64>>,
    /// The name of the validation line.
    pub validation_name: String,
    /// The error of the same models on the training rows; may be empty.
    pub training: Vec<Option<f64>>,
    /// The chosen value, with the legend text for all chosen values.
    pub best: Option<(usize, String)>,
    /// The captions of the left and the right end: `["← variance", "bias →"]` for a width.
    pub ends: Option<[String; 2]>,
    /// The map over this and a second hyper-parameter.
    pub map: Option<TuningMap>,
}

/// Trials over two hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct TuningMap {
    /// Name of the second hyper-parameter.
    pub parameter: String,
    /// The values of both, above 0, and the error, of each trial that succeeded.
    pub trials: Vec<(Point, f64)>,
    /// The chosen values of both.
    pub best: Option<Point>,
}

/// Cells of the map along its sides.
const CELLS: [usize; 2] = [96, 48];

/// The number of distinct colours.
const SHADES: f64 = 64.0;

impl Tuning {
    /// The figure.
    ///
    /// # Errors
    /// If there are no values, their numbers differ, a value is not above 0 or rising, or an error cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        self.check()?;
        let known: Vec<f64> = self.validation.iter().flatten().copied().collect();
        let (y, mut cut) = self.error_axis(&known);
        let x = Axis::log_around(&self.parameter, self.values.iter().copied(), 0.03);
        let mut curve = Panel::new(x.clone(), y);
        curve.ends = self.ends.clone();
        let mut figure = Figure::new(&self.title, Vec::new());
        self.draw_curve(&mut curve, &mut figure.legend);
        figure.panels.push(curve);
        if let Some(map) = &self.map {
            let (panel, bar, clipped) = map.panel(x, &self.score)?;
            cut |= clipped;
            figure.panels[0].x.label.clear();
            figure.panels[0].x.marking = Marking::Silent;
            figure.panels.push(panel);
            figure.bar = Some(bar);
            figure = figure.sized(640.0, 600.0);
        }
        let note = if cut { " · errors above the scale are cut off" } else { "" };
        Ok(figure.subtitled(format!("{}{note}", self.subtitle)))
    }

    fn check(&self) -> Result<(), PlotError> {
        let what = "values of the hyper-parameter";
        check_some(what, &self.values)?;
        check(what, self.values.iter().copied())?;
        check_positive(what, self.values.iter().copied())?;
        if let Some(index) = (1..self.values.len()).find(|&i| self.values[i] <= self.values[i - 1]) {
            return Err(PlotError::NotRising { what: what.into(), index, value: self.values[index] });
        }
        check_length("validation errors", &self.validation, self.values.len())?;
        if !self.training.is_empty() {
            check_length("training errors", &self.training, self.values.len())?;
        }
        check("errors", self.validation.iter().chain(&self.training).flatten().copied())?;
        if self.validation.iter().flatten().next().is_none() {
            return Err(PlotError::Empty { what: "errors".into() });
        }
        Ok(())
    }

    /// A linear axis whose top cuts off errors far above the minimum, and whether there are such errors.
    fn error_axis(&self, known: &[f64]) -> (Axis, bool) {
        let (low, high) = extent(known.iter().copied());
        let top = ceiling(known);
        // Only training errors below the top matter.
        let shown = self.training.iter().flatten().copied().filter(|error| *error <= top);
        let (lo, hi) = extent(shown.chain([low, top.min(high)]));
        let axis = Axis::around(&self.score, [lo, hi], 0.06);
        let lowest = if lo >= 0.0 { axis.lo.max(0.0) } else { axis.lo };
        (Axis { lo: lowest, ..axis }, high > top)
    }

    fn draw_curve(&self, panel: &mut Panel, legend: &mut Vec<Key>) {
        let line = Stroke::new(CATEGORIES[0], 2.0);
        let dot = Dot::disc(2.8, CATEGORIES[0], 1.0);
        if !self.training.is_empty() {
            let dashed = Stroke::new(CATEGORIES[1], 1.5).dashed(5.0);
            for points in self.pieces(&self.training) {
                panel.marks.push(Mark::Line { points, stroke: dashed });
            }
            legend.push(Key::line(dashed, "error of the same models on the training rows"));
        }
        let pieces = self.pieces(&self.validation);
        for points in &pieces {
            panel.marks.push(Mark::Line { points: points.clone(), stroke: line });
        }
        let top = panel.y.hi;
        let points = pieces.concat().into_iter().filter(|(_, error)| *error <= top).collect();
        panel.marks.push(Mark::Dots { points, dot });
        legend.insert(0, Key { symbol: Symbol::DottedLine(line, dot), label: self.validation_name.clone() });
        let Some((place, name)) = &self.best else { return };
        if let Some(Some(error)) = self.validation.get(*place) {
            let at = (self.values[*place], *error);
            let rule = Stroke::new(INK, 1.0).dashed(3.0);
            let bottom = panel.y.lo;
            panel.marks.insert(0, Mark::Line { points: vec![(at.0, bottom), at], stroke: rule });
            panel.marks.push(Mark::Dots { points: vec![at], dot: chosen() });
            legend.push(Key::dot(chosen(), name));
        }
    }

    /// The points of a line, in pieces where errors are missing.
    fn pieces(&self, errors: &[Option<f64>]) -> Vec<Vec<Point>> {
        let places: Vec<(f64, Option<f64>)> =
            self.values.iter().copied().zip(errors.iter().copied()).collect();
        places
            .split(|(_, error)| error.is_none())
            .filter(|piece| !piece.is_empty())
            .map(|piece| piece.iter().filter_map(|(x, error)| error.map(|y| (*x, y))).collect())
            .collect()
    }
}

impl TuningMap {
    /// The panel under the curve, its colours, and whether errors are cut off.
    fn panel(&self, x: Axis, score: &str) -> Result<(Panel, ColourBar, bool), PlotError> {
        let what = "values of the hyper-parameters";
        check_some("trials", &self.trials)?;
        check(what, self.trials.iter().flat_map(|((a, b), _)| [*a, *b]))?;
        check_positive(what, self.trials.iter().flat_map(|((a, b), _)| [*a, *b]))?;
        check("errors", self.trials.iter().map(|(_, error)| *error))?;
        let errors: Vec<f64> = self.trials.iter().map(|(_, error)| *error).collect();
        let (low, high) = extent(errors.iter().copied());
        let top = ceiling(&errors).min(high);
        let y = Axis::log_around(&self.parameter, self.trials.iter().map(|((_, b), _)| *b), 0.05);
        let shown = Axis::linear(score, low, top);
        let mut panel = Panel::new(x, y);
        panel.frame = Frame::Box;
        panel.share = 1.35;
        panel.marks.push(Mark::Cells(self.cells(&panel.x, &panel.y, &shown)));
        let points = self.trials.iter().map(|(point, _)| *point).collect();
        let speck = Dot::disc(1.1, WHITE, 0.8).shown_as('·');
        panel.marks.push(Mark::Dots { points, dot: speck });
        if let Some(best) = self.best {
            let halo = Dot::ring(5.5, Stroke::new(WHITE, 4.0));
            panel.marks.push(Mark::Dots { points: vec![best], dot: halo });
            panel.marks.push(Mark::Dots { points: vec![best], dot: chosen() });
        }
        let bar = ColourBar { axis: shown, colours: Ramp::Smooth(ColourScale::Sequential) };
        Ok((panel, bar, high > top))
    }

    /// Each place has the colour of the nearest trial; neighbours of one colour are one cell.
    fn cells(&self, x: &Axis, y: &Axis, shown: &Axis) -> Vec<Cell> {
        let trials: Vec<(Point, f64)> =
            self.trials.iter().map(|((a, b), error)| ((x.fraction(*a), y.fraction(*b)), *error)).collect();
        let value = |axis: &Axis, t: f64| match axis.spacing {
            Spacing::Linear => axis.lo + t * (axis.hi - axis.lo),
            Spacing::Log => axis.lo * (axis.hi / axis.lo).powf(t),
        };
        let [wide, high] = CELLS.map(|count| count as f64);
        let mut cells: Vec<Cell> = Vec::new();
        for row in 0..CELLS[1] {
            let up = (row as f64 + 0.5) / high;
            let ends = (value(y, row as f64 / high), value(y, (row + 1) as f64 / high));
            for column in 0..CELLS[0] {
                let along = (column as f64 + 0.5) / wide;
                let distance = |((a, b), _): &(Point, f64)| (a - along).powi(2) + (b - up).powi(2);
                let nearest = trials.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                let error = nearest.map_or(shown.hi, |(_, error)| *error);
                let tone = (SHADES * shown.fraction(error).clamp(0.0, 1.0)).round() / SHADES;
                let fill = ColourScale::Sequential.at(tone);
                let right = value(x, (column + 1) as f64 / wide);
                match cells.last_mut() {
                    Some(before) if column > 0 && before.fill == fill => before.x.1 = right,
                    _ => {
                        let left = value(x, column as f64 / wide);
                        cells.push(Cell { x: (left, right), y: ends, fill, tone });
                    }
                }
            }
        }
        cells
    }
}

/// The mark of the chosen values.
fn chosen() -> Dot {
    Dot::ring(5.5, Stroke::new(INK, 1.8)).shown_as('◎')
}

/// The highest error shown: the upper quartile is at two thirds of the way to it from the lowest, for a few errors at one
/// third.
fn ceiling(errors: &[f64]) -> f64 {
    let mut sorted = errors.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return 0.0 };
    let (place, factor) = match sorted.len() {
        few @ 3..=7 => ((few - 1) * 3 / 4, 3.0),
        many => (many * 3 / 4, 1.5),
    };
    let top = low + factor * (sorted[place] - low).max(0.1 * low.abs());
    if *high <= low + 1.3 * (top - low) { *high } else { top }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_errors_do_not_flatten_the_valley() {
        let valley = [1.0, 0.8, 0.5, 0.4, 0.5, 0.9, 1.2, 1e9, 1e12];
        let top = ceiling(&valley);
        assert!(top > 0.9 && top < 5.0, "{top}");
        assert_eq!(ceiling(&[0.4, 0.5, 0.6]), 0.6, "nothing is cut where nothing is far away");
        assert_eq!(ceiling(&[2.0]), 2.0);
        assert_eq!(ceiling(&[2.0, 1.0, 1e6]), 4.0, "also among a few");
    }
}
