//! A square matrix as cells of colour.

use super::axis::{Axis, Marking, extent};
use super::colour::ColourScale;
use super::error::{PlotError, check, check_length, check_some};
use super::figure::{Cell, ColourBar, Figure, Frame, Mark, Panel, Ramp};
use super::ticks;

/// A heat map of a square matrix. The first row is at the top.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// The name of rows and columns.
    pub label: String,
    /// Number of rows, and of columns.
    pub order: usize,
    /// Name of the value.
    pub value_label: String,
    /// The values, row by row.
    pub values: Vec<f64>,
}

/// Above this many cells along a side, each drawn cell is the mean of several.
const MOST_CELLS: usize = 128;

/// The number of distinct colours.
const SHADES: f64 = 96.0;

impl HeatMap {
    /// The figure.
    ///
    /// # Errors
    /// If there are no values, their number is not the square of the order, or one cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        check_some("the matrix", &self.values)?;
        check_length("the matrix", &self.values, self.order * self.order)?;
        check("the matrix", self.values.iter().copied())?;
        let (lo, hi) = extent(self.values.iter().copied());
        let scale = if lo < 0.0 && hi > 0.0 { ColourScale::Diverging } else { ColourScale::Sequential };
        let (lo, hi) = scale.ends(lo, hi);
        let shown = Axis::linear(&self.value_label, lo, hi);
        let mut panel = Panel::new(self.axis(false), self.axis(true));
        (panel.frame, panel.square) = (Frame::Box, true);
        panel.marks.push(Mark::Cells(self.cells(scale, &shown)));
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(580.0, 540.0);
        figure.bar = Some(ColourBar { axis: shown, colours: Ramp::Smooth(scale) });
        Ok(figure)
    }

    /// The axis of one side, row i from i to i + 1, counted from the top where it is `upright`.
    fn axis(&self, upright: bool) -> Axis {
        let (order, last) = (self.order as f64, self.order.saturating_sub(1) as f64);
        let round = ticks::linear(0.0, last.max(1.0), 6).labelled.into_iter();
        let place = |row: f64| if upright { order - row - 0.5 } else { row + 0.5 };
        let named = round
            .filter(|(row, _)| row.fract() == 0.0 && *row <= last)
            .map(|(row, name)| (place(row), name))
            .collect();
        Axis::linear(&self.label, 0.0, order).marked(Marking::Named(named))
    }

    /// Cells of equal colour next to each other in a row are one.
    fn cells(&self, scale: ColourScale, shown: &Axis) -> Vec<Cell> {
        let order = self.order;
        let side = order.div_ceil(MOST_CELLS);
        let mut cells: Vec<Cell> = Vec::new();
        for top in (0..order).step_by(side) {
            let bottom = (top + side).min(order);
            let y = ((order - bottom) as f64, (order - top) as f64);
            for left in (0..order).step_by(side) {
                let right = (left + side).min(order);
                let count = ((bottom - top) * (right - left)) as f64;
                let rows = (top..bottom).map(|i| &self.values[i * order + left..i * order + right]);
                let mean: f64 = rows.map(|row| row.iter().map(|v| v / count).sum::<f64>()).sum();
                let tone = (SHADES * shown.fraction(mean)).round() / SHADES;
                let fill = scale.at(tone);
                match cells.last_mut() {
                    Some(before) if left > 0 && before.fill == fill => before.x.1 = right as f64,
                    _ => cells.push(Cell { x: (left as f64, right as f64), y, fill, tone }),
                }
            }
        }
        cells
    }
}
