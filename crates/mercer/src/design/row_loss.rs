//! The loss of one row of a linear classifier, its gradient and its curvature.
//!
//! For row i with outputs fᵢ, class yᵢ and weight wᵢ,
//!
//! ```text
//! logistic, two classes    p = 1/(1 + e^(−f))          loss  w·log(1 + e^(∓f))          g = w(p − y)
//! logistic, K classes      pₖ = e^(fₖ)/Σⱼ e^(fⱼ)        loss  w(log Σⱼ e^(fⱼ) − f_y)     g = w(p − e_y)
//! smooth hinge             max(0, 1 − t) with a parabola in place of its corner, t = ±f
//! ```
//!
//! Every exponent is ≤ 0, so that no output overflows.

use std::ops::Range;

/// A loss as a function of a row's outputs, its class and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// The logistic loss: one output for two classes, else one per class (multinomial).
    Logistic,
    /// (1 − t)²/(2δ) where 0 ≤ 1 − t ≤ δ, and 1 − t − δ/2 beyond, for each output: one for two classes, else one for each class
    /// against all others.
    SmoothHinge {
        /// δ > 0.
        width: f64,
        /// The expected share of rows in the rounded part, more than 0 and at most 1.
        share: f64,
    },
}

/// The loss of each row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLoss<'a> {
    /// The loss.
    pub loss: Loss,
    /// The classes and weights of the rows.
    pub labels: Labelled<'a>,
}

/// Rows with their classes and weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled<'a> {
    /// The class of each row, from 0.
    pub codes: &'a [usize],
    /// Outputs: 1 for two classes, else one per class.
    pub outputs: usize,
    /// The weight of each row.
    pub weights: &'a [f64],
}

impl Labelled<'_> {
    /// Whether row i is on the positive side of this output: with two classes the single output is that of class 1,
    /// otherwise each output is that of its class against all others.
    #[must_use]
    pub fn positive(&self, i: usize, output: usize) -> bool {
        self.codes[i] == if self.outputs == 1 { 1 } else { output }
    }

    /// 1 on the positive side of this output, −1 on the other.
    #[must_use]
    pub fn sign(&self, i: usize, output: usize) -> f64 {
        if self.positive(i, output) { 1.0 } else { -1.0 }
    }
}

/// Sums over the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct LossSums {
    /// Σℓᵢ.
    pub value: f64,
    /// Its derivative in each intercept.
    pub pull: Vec<f64>,
    /// Σ of the curvatures of the rows; `None` if the loss has no estimate of them.
    pub curvature: Option<f64>,
}

impl LossSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &Self) {
        self.value += other.value;
        self.curvature = self.curvature.zip(other.curvature).map(|(a, b)| a + b);
        self.pull.iter_mut().zip(&other.pull).for_each(|(to, from)| *to += from);
    }
}

impl Loss {
    /// c: a bound on the norm of every row's second derivative as a part of its weight, or an estimate of it, more than 0. It decides
    /// how good the first direction of a solver is, not the answer.
    #[must_use]
    pub fn curvature(self, outputs: usize) -> f64 {
        match self {
            Self::Logistic => {
                if outputs == 1 {
                    0.25
                } else {
                    0.5
                }
            }
            Self::SmoothHinge { width, share } => share / width,
        }
    }
}

impl RowLoss<'_> {
    /// The same loss of some of the rows alone.
    #[must_use]
    pub fn of_rows(&self, rows: Range<usize>) -> Self {
        let Labelled { codes, outputs, weights } = self.labels;
        let labels = Labelled { codes: &codes[rows.clone()], outputs, weights: &weights[rows] };
        Self { labels, ..*self }
    }

    /// The value c would have if all rows were like this one, whose gradient is `g`, times the weight of the row;
    /// `None` if there is no estimate.
    #[must_use]
    pub fn curvature_at(&self, i: usize, g: &[f64]) -> Option<f64> {
        if self.loss != Loss::Logistic {
            return None;
        }
        // The mean of w·p(1 − p) over the outputs, which is |g|(1 − |g|/w); twice that for several, whose curvatures differ.
        let w = self.labels.weights[i];
        let sum: f64 = g.iter().filter(|g| **g != 0.0).map(|g| g.abs() * (1.0 - g.abs() / w)).sum();
        Some(sum * if g.len() == 1 { 1.0 } else { 2.0 / g.len() as f64 })
    }

    /// ℓᵢ(f); its gradient goes into `g`.
    pub fn row(&self, i: usize, f: &[f64], g: &mut [f64]) -> f64 {
        let labels = self.labels;
        match self.loss {
            Loss::Logistic => {
                let mut p = vec![0.0; f.len()];
                logistic_row(f, labels.codes[i], labels.weights[i], &mut p, g)
            }
            Loss::SmoothHinge { width, .. } => {
                let weight = labels.weights[i];
                let mut loss = 0.0;
                for (k, (f, g)) in f.iter().zip(g).enumerate() {
                    let sign = labels.sign(i, k);
                    let short = 1.0 - sign * f;
                    let slope = (short / width).clamp(0.0, 1.0);
                    loss += weight * slope * (short - 0.5 * width * slope);
                    *g = -sign * weight * slope;
                }
                loss
            }
        }
    }
}

/// 1/(1 + e^(−z)), exact to rounding at both ends.
pub(crate) fn sigmoid(z: f64) -> f64 {
    let e = (-z.abs()).exp();
    if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// e^(fₖ)/Σⱼ e^(fⱼ) in place of f; returns log Σⱼ e^(fⱼ).
pub(crate) fn softmax(row: &mut [f64]) -> f64 {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for v in row.iter_mut() {
        *v = (*v - largest).exp();
        sum += *v;
    }
    row.iter_mut().for_each(|v| *v /= sum);
    largest + sum.ln()
}

/// The logistic loss of one row of class `own`; its probabilities and gradient go into `p` and `g`.
pub(crate) fn logistic_row(f: &[f64], own: usize, weight: f64, p: &mut [f64], g: &mut [f64]) -> f64 {
    let loss = if f.len() == 1 {
        let towards = if own == 1 { f[0] } else { -f[0] };
        p[0] = sigmoid(f[0]);
        // 1 − p is computed as the sigmoid of −f, to avoid cancellation.
        g[0] = if own == 1 { -sigmoid(-f[0]) } else { p[0] };
        (-towards).max(0.0) + (-towards.abs()).exp().ln_1p()
    } else {
        p.copy_from_slice(f);
        let total = softmax(p);
        g.copy_from_slice(p);
        g[own] -= 1.0;
        total - f[own]
    };
    g.iter_mut().for_each(|g| *g *= weight);
    weight * loss
}
