//! A confusion matrix: true classes against predicted ones.

use super::axis::{Axis, Marking};
use super::colour::{CATEGORIES, INK, WHITE};
use super::error::{PlotError, check_length};
use super::figure::{Cell, Figure, Frame, Mark, Panel};
use super::scene::Anchor;

/// A confusion matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// Names of the classes, at least one.
    pub classes: Vec<String>,
    /// Rows of the data by their true class, then by the predicted one.
    pub counts: Vec<Vec<u64>>,
}

/// The most classes for which counts are written into the cells.
const WRITTEN: usize = 16;

/// The width of all columns, and that of a letter under them.
const COLUMNS: f64 = 380.0;
const LETTER: f64 = 8.5;

impl Confusion {
    /// The figure: the darker a cell, the larger its share of the rows of its true class. The square root makes rare errors visible.
    ///
    /// # Errors
    /// If there are no classes, no rows, or the matrix does not have one row and one column for each class.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        let classes = self.classes.len();
        check_length("rows of the confusion matrix", &self.counts, classes)?;
        for row in &self.counts {
            check_length("columns of the confusion matrix", row, classes)?;
        }
        if self.counts.iter().flatten().sum::<u64>() == 0 {
            return Err(PlotError::Empty { what: "rows of known class".into() });
        }
        let count = classes as f64;
        // The names under the matrix fit the width of a column; those beside it are complete.
        let room = ((COLUMNS / count / LETTER) as usize).max(2);
        let names = |flip: bool| {
            let place = |i: usize| if flip { count - i as f64 - 0.5 } else { i as f64 + 0.5 };
            let shown = |name: &String| {
                let plain: Vec<char> = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                match flip || plain.len() <= room {
                    true => plain.into_iter().collect(),
                    false => plain[..room - 1].iter().chain(&['…']).collect::<String>(),
                }
            };
            let named = self.classes.iter().enumerate().map(|(i, name)| (place(i), shown(name)));
            Marking::Named(named.collect())
        };
        let x = Axis::linear("predicted class", 0.0, count).marked(names(false));
        let y = Axis::linear("true class", 0.0, count).marked(names(true));
        let mut panel = Panel::new(x, y);
        (panel.frame, panel.square) = (Frame::Box, true);
        let (mut cells, mut words) = (Vec::new(), Vec::new());
        let size = (170.0 / count).clamp(9.0, 15.0);
        for (truth, row) in self.counts.iter().enumerate() {
            let rows = row.iter().sum::<u64>().max(1) as f64;
            let y = (count - truth as f64 - 1.0, count - truth as f64);
            for (predicted, &number) in row.iter().enumerate() {
                let share = (number as f64 / rows).sqrt();
                let hue = if truth == predicted { CATEGORIES[0] } else { CATEGORIES[1] };
                let fill = WHITE.mix(hue, 0.9 * share);
                let x = (predicted as f64, predicted as f64 + 1.0);
                cells.push(Cell { x, y, fill, tone: share });
                if classes <= WRITTEN {
                    let colour = if share > 0.7 { WHITE } else { INK };
                    let at = (x.0 + 0.5, y.0 + 0.5);
                    let words_of = number.to_string();
                    words.push(Mark::Words { at, anchor: Anchor::Middle, words: words_of, size, colour });
                }
            }
        }
        panel.marks.push(Mark::Cells(cells));
        panel.marks.extend(words);
        Ok(Figure::new(&self.title, vec![panel]).subtitled(&self.subtitle).sized(560.0, 560.0))
    }
}
