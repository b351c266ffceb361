//! A matrix as cells of colour: a Gram matrix, or scores over two hyper-parameters.

use super::axis::{Axis, Marking, extent};
use super::colour::{ColourScale, INK, WHITE};
use super::error::{PlotError, check, check_length, check_some};
use super::figure::{Cell, ColourBar, Dot, Figure, Frame, Key, Mark, Panel, Ramp};
use super::scene::Stroke;
use super::ticks;

/// A heat map. The first row is at the top, as matrices are written.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// What columns are.
    pub columns: Side,
    /// What rows are.
    pub rows: Side,
    /// Name of the value.
    pub value_label: String,
    /// The values, row by row.
    pub values: Vec<f64>,
    /// The row and column to mark, with what the legend says of it.
    pub marked: Option<(usize, usize, String)>,
}

/// One side of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What it counts or measures.
    pub label: String,
    /// What its rows or columns are called; where there are only numbers from 0, their count.
    pub names: Names,
}

/// What the rows or columns of a matrix are called.
#[derive(Debug, Clone, PartialEq)]
pub enum Names {
    /// 0, 1, 2, …, this many.
    Count(usize),
    #[cfg_attr(not(test), allow(dead_code, reason = "for maps over hyper-parameters"))]
    /// These numbers, such as values of σ.
    Values(Vec<f64>),
}

impl Names {
    fn len(&self) -> usize {
        match self {
            Self::Count(count) => *count,
            Self::Values(values) => values.len(),
        }
    }

    /// The axis of this side, cell i from i to i + 1.
    fn axis(&self, label: &str) -> Axis {
        let axis = Axis::linear(label, 0.0, self.len() as f64);
        let named = match self {
            Self::Values(values) => {
                let names = ticks::numbers(values).into_iter().enumerate();
                names.map(|(i, name)| (i as f64 + 0.5, name)).collect()
            }
            Self::Count(count) => {
                let last = count.saturating_sub(1) as f64;
                let round = ticks::linear(0.0, last.max(1.0), 6).labelled.into_iter();
                round
                    .filter(|(place, _)| place.fract() == 0.0 && *place <= last)
                    .map(|(place, name)| (place + 0.5, name))
                    .collect()
            }
        };
        axis.marked(Marking::Named(named))
    }
}

/// Above this many cells along a side, each drawn cell is the mean of several.
const MOST_CELLS: usize = 128;

/// Colours are told apart up to this many.
const SHADES: f64 = 96.0;

impl HeatMap {
    /// The figure.
    ///
    /// # Errors
    /// Where there are no values, their number is not rows × columns, or one cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        let (nrows, ncols) = (self.rows.names.len(), self.columns.names.len());
        check_some("the matrix", &self.values)?;
        check_length("the matrix", &self.values, nrows * ncols)?;
        check("the matrix", self.values.iter().copied())?;
        for side in [&self.rows, &self.columns] {
            if let Names::Values(values) = &side.names {
                check(&side.label, values.iter().copied())?;
            }
        }
        let (lo, hi) = extent(self.values.iter().copied());
        let scale = if lo < 0.0 && hi > 0.0 { ColourScale::Diverging } else { ColourScale::Sequential };
        let (lo, hi) = scale.ends(lo, hi);
        let shown = Axis::linear(&self.value_label, lo, hi);
        let mut panel = Panel::new(
            self.columns.names.axis(&self.columns.label),
            // Rows count downwards.
            flipped(self.rows.names.axis(&self.rows.label), nrows),
        );
        panel.frame = Frame::Box;
        panel.square = nrows == ncols;
        panel.marks.push(Mark::Cells(self.cells(nrows, ncols, scale, &shown)));
        let mut legend = Vec::new();
        if let Some((row, column, name)) = &self.marked {
            let at = (*column as f64 + 0.5, (nrows - row.min(&(nrows - 1))) as f64 - 0.5);
            let halo = Dot::ring(6.0, Stroke::new(WHITE, 4.0));
            let ring = Dot::ring(6.0, Stroke::new(INK, 1.8)).shown_as('◎');
            panel.marks.push(Mark::Dots { points: vec![at], dot: halo });
            panel.marks.push(Mark::Dots { points: vec![at], dot: ring });
            legend.push(Key::dot(ring, name));
        }
        let (width, height) = if panel.square { (580.0, 540.0) } else { (640.0, 440.0) };
        let mut figure = Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(width, height);
        figure.legend = legend;
        figure.bar = Some(ColourBar { axis: shown, colours: Ramp::Smooth(scale) });
        Ok(figure)
    }

    /// Cells of equal colour next to each other in a row are one.
    fn cells(&self, nrows: usize, ncols: usize, scale: ColourScale, shown: &Axis) -> Vec<Cell> {
        let (tall, wide) = (nrows.div_ceil(MOST_CELLS), ncols.div_ceil(MOST_CELLS));
        let mut cells: Vec<Cell> = Vec::new();
        for top in (0..nrows).step_by(tall) {
            let bottom = (top + tall).min(nrows);
            let y = ((nrows - bottom) as f64, (nrows - top) as f64);
            for left in (0..ncols).step_by(wide) {
                let right = (left + wide).min(ncols);
                let count = ((bottom - top) * (right - left)) as f64;
                let rows = (top..bottom).map(|i| &self.values[i * ncols + left..i * ncols + right]);
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

/// The axis with its names counted from the top.
fn flipped(mut axis: Axis, count: usize) -> Axis {
    if let Marking::Named(names) = &mut axis.marking {
        names.iter_mut().for_each(|(place, _)| *place = count as f64 - *place);
    }
    axis
}
