//! The parts of a sum, one panel above another.

use super::axis::Axis;
use super::colour::{CATEGORIES, SLATE};
use super::error::{PlotError, check, check_length, check_some};
use super::figure::{Figure, Mark, Panel};
use super::scene::Stroke;

/// Curves over one variable each, with a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Components {
    /// The title.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// The curves, from top to bottom.
    pub curves: Vec<Component>,
}

/// One part of a sum over one variable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// The name of the variable.
    pub x_label: String,
    /// The places of its values, rising.
    pub places: Vec<f64>,
    /// Its values there.
    pub values: Vec<f64>,
}

/// The height of a panel on the page.
const PANEL: f64 = 190.0;

impl Components {
    /// The figure.
    ///
    /// # Errors
    /// If there are no curves, lists differ in length, or a value cannot be drawn.
    pub fn figure(&self) -> Result<Figure, PlotError> {
        check_some("the parts", &self.curves.iter().map(|c| c.values.len() as f64).collect::<Vec<_>>())?;
        let mut panels = Vec::new();
        for (index, curve) in self.curves.iter().enumerate() {
            check_some(&curve.name, &curve.places)?;
            check("places of a part", curve.places.iter().copied())?;
            check_length(&curve.name, &curve.values, curve.places.len())?;
            check(&curve.name, curve.values.iter().copied())?;
            let x = Axis::around(&curve.x_label, curve.places.iter().copied(), 0.02);
            let y = Axis::around(format!("part {}", index + 1), curve.values.iter().copied(), 0.08);
            let mut panel = Panel::new(x.clone(), y);
            panel.share = 1.0;
            let ground = vec![(x.lo, 0.0), (x.hi, 0.0)];
            if curve.values.iter().any(|v| *v < 0.0) && curve.values.iter().any(|v| *v > 0.0) {
                panel.marks.push(Mark::Line { points: ground, stroke: Stroke::new(SLATE, 0.8).dashed(3.0) });
            }
            panel.marks.push(Mark::Line {
                points: curve.places.iter().copied().zip(curve.values.iter().copied()).collect(),
                stroke: Stroke::new(CATEGORIES[index % CATEGORIES.len()], 2.0),
            });
            panels.push(panel);
        }
        let height = 90.0 + PANEL * panels.len() as f64;
        Ok(Figure::new(&self.title, panels).subtitled(&self.subtitle).sized(680.0, height))
    }
}
