//! The density of one coordinate of a kernel's frequencies.
//!
//! Every law of [`Shape`] is a normal law whose variance is random, so a coordinate of a component has the density
//! Σₙ wₙ N(ω; 0, vₙ). The variances of independent frequencies add up.

use std::f64::consts::TAU;

use super::spectrum::{Component, Law, Shape, Spectrum};

/// Nodes of the quadrature over the logarithm of a gamma variable.
const NODES: usize = 160;

/// The most nodes for a sum of independent frequencies.
const MOST: usize = 1_000;

/// A variance and its probability.
type Node = (f64, f64);

/// The law of one coordinate of the frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Marginal {
    /// The density at the requested places.
    pub density: Vec<f64>,
    /// The probability of the frequency 0: constants, and parts of the kernel that do not read the column.
    pub at_zero: f64,
}

impl Spectrum {
    /// The density of the frequencies' coordinate `column` at `places`, by quadrature: relative errors are below 1e-6 where the
    /// density is not negligible. O(places·nodes) time for each component.
    ///
    /// ```
    /// use mercer_kernel::{Kernel, Spectrum};
    /// let kernel: Kernel = "rbf(sigma=2)".parse()?;
    /// let marginal = Spectrum::of(&kernel, 1)?.marginal(0, &[0.0]);
    /// assert!((marginal.density[0] - 2.0 / std::f64::consts::TAU.sqrt()).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn marginal(&self, column: usize, places: &[f64]) -> Marginal {
        let total = self.total();
        let mut marginal = Marginal { density: vec![0.0; places.len()], at_zero: 0.0 };
        for component in self.components() {
            let share = component.weight / total;
            let Some(nodes) = variances(component, column) else {
                marginal.at_zero += share;
                continue;
            };
            for (density, place) in marginal.density.iter_mut().zip(places) {
                let normal = |&(v, w): &Node| w * (-place * place / (2.0 * v)).exp() / (TAU * v).sqrt();
                *density += share * nodes.iter().map(normal).sum::<f64>();
            }
        }
        marginal
    }
}

/// The variances of a component's coordinate; `None` if it is 0.
fn variances(component: &Component, column: usize) -> Option<Vec<Node>> {
    let scale = |law: &Law| {
        law.columns.iter().position(|&c| c == column).map(|place| (law.shape, law.scales[place].powi(2)))
    };
    component.laws.iter().filter_map(scale).map(|(shape, square)| of_law(shape, square)).reduce(|a, b| {
        let sums = a.iter().flat_map(|(u, p)| b.iter().map(move |(v, q)| (u + v, p * q))).collect();
        merged(sums)
    })
}

fn of_law(shape: Shape, square: f64) -> Vec<Node> {
    match shape {
        Shape::Normal => vec![(square, 1.0)],
        // Student's law with one degree of freedom.
        Shape::Cauchy => gamma(0.5).map(|(g, w)| (square * 0.5 / g, w)).collect(),
        Shape::Student { nu } => gamma(nu).map(|(g, w)| (square * nu / g, w)).collect(),
        Shape::GammaMixture { alpha } => gamma(alpha).map(|(g, w)| (square * g / alpha, w)).collect(),
    }
}

/// A gamma variable of this shape: the trapezoidal rule in its logarithm u, whose density is proportional to e^(au − e^u).
fn gamma(shape: f64) -> impl Iterator<Item = Node> {
    // The mode is at ln a. To the left the density falls as e^(au), to the right as e^(−e^u).
    let mode = shape.ln();
    let (low, high) = (mode - 36.0 / shape.min(4.0) - 4.0 / shape.sqrt(), mode + 4.0 / shape.sqrt() + 3.0);
    let log_density = move |u: f64| shape * (u - mode) - (u.exp() - shape);
    let at = move |n: usize| low + (high - low) * n as f64 / (NODES - 1) as f64;
    let total: f64 = (0..NODES).map(|n| log_density(at(n)).exp()).sum();
    (0..NODES).map(move |n| (at(n).exp(), log_density(at(n)).exp() / total)).filter(|(_, w)| *w > 0.0)
}

/// Reduces the number of nodes: neighbours are replaced by their mean.
fn merged(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let together = nodes.len().div_ceil(MOST);
    let mean = |few: &[Node]| {
        let weight: f64 = few.iter().map(|(_, w)| w).sum();
        (few.iter().map(|(v, w)| v * w).sum::<f64>() / weight, weight)
    };
    nodes.chunks(together).map(mean).filter(|(v, w)| v.is_finite() && *w > 0.0).collect()
}
