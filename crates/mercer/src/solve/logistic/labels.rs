//! The labels of logistic regression: the class and the weight of each row.

use crate::data::Matrix;

/// The class of each row, from 0, and its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels<'a> {
    codes: &'a [usize],
    classes: usize,
    weights: Vec<f64>,
}

impl<'a> Labels<'a> {
    /// Weighted rows of `classes` classes.
    ///
    /// # Panics
    /// If a code is not below `classes`, there are fewer than two of those, or there is not a weight for every row.
    #[must_use]
    pub fn new(codes: &'a [usize], classes: usize, weights: Vec<f64>) -> Self {
        assert!(classes >= 2 && codes.iter().all(|&code| code < classes), "codes of at least two classes");
        assert_eq!(codes.len(), weights.len(), "one weight a row");
        Self { codes, classes, weights }
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.codes.len()
    }

    /// The class of row `i`.
    #[must_use]
    pub fn code(&self, i: usize) -> usize {
        self.codes[i]
    }

    /// The weight of each row.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Columns of f: one logit for two classes, else one per class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        if self.classes == 2 { 1 } else { self.classes }
    }

    /// A bound on the norm of Dᵢ, the second derivative of row i's loss: wᵢ/4 for two classes, wᵢ/2 for more.
    #[must_use]
    pub fn curvature_bound(&self, i: usize) -> f64 {
        self.weights[i] * if self.classes == 2 { 0.25 } else { 0.5 }
    }

    /// The largest of these bounds.
    #[must_use]
    pub fn largest_curvature(&self) -> f64 {
        (0..self.nrows()).map(|i| self.curvature_bound(i)).fold(0.0, f64::max)
    }

    /// √(Σᵢ wᵢ²/n): the scale of residuals, so that weights and λ may share any factor.
    #[must_use]
    pub fn scale(&self) -> f64 {
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        (squares / self.nrows() as f64).sqrt()
    }

    /// Whether every row of positive weight is classified correctly, with its own class strictly ahead of all others.
    #[must_use]
    pub fn separated_by(&self, f: &Matrix<f64>) -> bool {
        (0..self.nrows()).filter(|&i| self.weights[i] > 0.0).all(|i| {
            let (row, own) = (f.row(i), self.codes[i]);
            if self.classes == 2 {
                if own == 1 { row[0] > 0.0 } else { row[0] < 0.0 }
            } else {
                row.iter().enumerate().all(|(k, v)| k == own || *v < row[own])
            }
        })
    }
}
