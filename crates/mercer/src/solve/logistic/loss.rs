//! The logistic loss, its gradient and its curvature.
//!
//! For row i with logits fᵢ, class yᵢ and weight wᵢ,
//!
//! ```text
//! two classes    p = 1/(1 + e^(−f))            loss  w·log(1 + e^(∓f))            g = w(p − y)      D = w·p(1 − p)
//! K classes      pₖ = e^(fₖ)/Σⱼ e^(fⱼ)          loss  w(log Σⱼ e^(fⱼ) − f_y)       g = w(p − e_y)    D = w(diag p − ppᵀ)
//! ```
//!
//! Every exponent is ≤ 0, so that no logit overflows.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::design::logistic_row;

use super::labels::Labels;

/// Rows per task; constant, so that the order of summation is fixed.
const CHUNK: usize = 512;

/// Loss and first derivative at some logits.
#[derive(Debug, Clone)]
pub(super) struct Loss {
    /// Σᵢ wᵢ·loss.
    pub total: f64,
    /// p, one column per output.
    pub probabilities: Matrix<f64>,
    /// g, one column per output.
    pub gradient: Matrix<f64>,
}

impl Loss {
    /// The loss and gradient at the logits `f`.
    pub fn at(labels: &Labels<'_>, f: &Matrix<f64>) -> Self {
        let (n, m) = (f.nrows(), f.ncols());
        let (mut probabilities, mut gradient) = (Matrix::zeros(n, m), Matrix::zeros(n, m));
        let totals: Vec<f64> = f
            .entries()
            .par_chunks(CHUNK * m)
            .zip(probabilities.entries_mut().par_chunks_mut(CHUNK * m))
            .zip(gradient.entries_mut().par_chunks_mut(CHUNK * m))
            .enumerate()
            .map(|(chunk, ((f, p), g))| {
                let rows = f.chunks_exact(m).zip(p.chunks_exact_mut(m)).zip(g.chunks_exact_mut(m));
                let values = rows.enumerate().map(|(at, ((f, p), g))| {
                    let i = chunk * CHUNK + at;
                    logistic_row(f, labels.code(i), labels.weights()[i], p, g)
                });
                values.sum()
            })
            .collect();
        Self { total: totals.iter().sum(), probabilities, gradient }
    }
}

impl Loss {
    /// Σᵢ gᵢ.
    pub fn pull(&self) -> Vec<f64> {
        let mut pull = vec![0.0; self.gradient.ncols()];
        for i in 0..self.gradient.nrows() {
            pull.iter_mut().zip(self.gradient.row(i)).for_each(|(p, g)| *p += g);
        }
        pull
    }
}

/// gᵢ at the logits `f` of row `i`, into `g`.
pub(super) fn row_gradient(labels: &Labels<'_>, i: usize, f: &[f64], g: &mut [f64]) {
    let mut p = vec![0.0; f.len()];
    logistic_row(f, labels.code(i), labels.weights()[i], &mut p, g);
}

/// D, centred if there is an intercept.
pub(super) struct Curvature<'a> {
    weights: &'a [f64],
    probabilities: &'a Matrix<f64>,
    /// (Σᵢ Dᵢ)⁺; none without an intercept.
    pooled: Option<Matrix<f64>>,
}

impl<'a> Curvature<'a> {
    /// The curvature at these probabilities.
    pub fn new(labels: &'a Labels<'_>, probabilities: &'a Matrix<f64>, intercept: bool) -> Self {
        let mut curvature = Self { weights: labels.weights(), probabilities, pooled: None };
        curvature.pooled = intercept.then(|| pseudo_inverse(curvature.sum()));
        curvature
    }

    /// Dᵢ·v into `out`.
    pub fn times(&self, i: usize, v: &[f64], out: &mut [f64]) {
        let (p, w) = (self.probabilities.row(i), self.weights[i]);
        if let ([p], [v], [out]) = (p, v, &mut *out) {
            *out = w * p * (1.0 - p) * v;
            return;
        }
        let mean: f64 = p.iter().zip(v).map(|(p, v)| p * v).sum();
        for ((out, p), v) in out.iter_mut().zip(p).zip(v) {
            *out = w * p * (v - mean);
        }
    }

    /// Dᵢ for two classes, a number.
    pub fn scalar(&self, i: usize) -> f64 {
        let p = self.probabilities.row(i)[0];
        self.weights[i] * p * (1.0 - p)
    }

    /// Σᵢ Dᵢ.
    fn sum(&self) -> Matrix<f64> {
        let m = self.probabilities.ncols();
        let mut sum = Matrix::zeros(m, m);
        for (i, w) in self.weights.iter().enumerate() {
            let p = self.probabilities.row(i);
            for k in 0..m {
                sum.row_mut(k)[k] += w * p[k] * (1.0 - p[k]);
                for l in 0..k {
                    sum.row_mut(k)[l] -= w * p[k] * p[l];
                    sum.row_mut(l)[k] -= w * p[k] * p[l];
                }
            }
        }
        sum
    }

    /// (Σᵢ Dᵢ)⁺·v: the Newton step of the intercepts for a gradient v. Zero without an intercept.
    pub fn pooled(&self, v: &[f64]) -> Vec<f64> {
        match &self.pooled {
            Some(inverse) => {
                (0..v.len()).map(|k| inverse.row(k).iter().zip(v).map(|(a, v)| a * v).sum()).collect()
            }
            None => vec![0.0; v.len()],
        }
    }

    /// D·v for every row of `v`, into `out`, with the intercepts eliminated: Dᵢ(vᵢ − c), c = (ΣD)⁺ ΣDᵢvᵢ. Returns c.
    pub fn apply(&self, v: &Matrix<f64>, out: &mut Matrix<f64>) -> Vec<f64> {
        let m = v.ncols();
        let mut sums = vec![0.0; m];
        for i in 0..v.nrows() {
            self.times(i, v.row(i), out.row_mut(i));
            sums.iter_mut().zip(out.row(i)).for_each(|(s, o)| *s += o);
        }
        let mean = self.pooled(&sums);
        if self.pooled.is_some() {
            let mut shift = vec![0.0; m];
            for i in 0..v.nrows() {
                self.times(i, &mean, &mut shift);
                out.row_mut(i).iter_mut().zip(&shift).for_each(|(o, s)| *o -= s);
            }
        }
        mean
    }
}

/// The pseudo-inverse of ΣD: for several classes the vector of ones is in its null space.
fn pseudo_inverse(mut sum: Matrix<f64>) -> Matrix<f64> {
    let m = sum.nrows();
    let trace: f64 = (0..m).map(|k| sum.row(k)[k]).sum();
    if trace <= 0.0 {
        return Matrix::zeros(m, m);
    }
    if m > 1 {
        // The vector of ones gets an artificial curvature, and directions without curvature get a small one.
        for k in 0..m {
            sum.row_mut(k).iter_mut().for_each(|entry| *entry += trace / (m * m) as f64);
            sum.row_mut(k)[k] += 1e-13 * trace;
        }
    }
    invert(sum)
}

/// The inverse of a small symmetric positive definite matrix, by Gauss and Jordan.
fn invert(mut a: Matrix<f64>) -> Matrix<f64> {
    let m = a.nrows();
    for k in 0..m {
        let pivot = a.row(k)[k];
        let mut scaled: Vec<f64> = a.row(k).iter().map(|v| v / pivot).collect();
        scaled[k] = 1.0 / pivot;
        for i in (0..m).filter(|&i| i != k) {
            let factor = a.row(i)[k];
            for (j, (entry, s)) in a.row_mut(i).iter_mut().zip(&scaled).enumerate() {
                *entry = if j == k { 0.0 } else { *entry } - factor * s;
            }
        }
        a.row_mut(k).copy_from_slice(&scaled);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [usize; 6] = [0, 1, 1, 0, 1, 0];

    fn logits(outputs: usize, seed: f64) -> Matrix<f64> {
        let entries = (0..6 * outputs).map(|k| 3.0 * (1.7 * k as f64 + seed).sin()).collect();
        Matrix::from_entries(6, outputs, entries)
    }

    fn labels(outputs: usize) -> Labels<'static> {
        let classes = if outputs == 1 { 2 } else { outputs };
        Labels::new(&CODES, classes, vec![1.0, 0.5, 2.0, 0.0, 1.5, 3.0])
    }

    fn moved(f: &Matrix<f64>, by: f64, v: &Matrix<f64>) -> Matrix<f64> {
        let entries = f.entries().iter().zip(v.entries()).map(|(f, v)| f + by * v).collect();
        Matrix::from_entries(f.nrows(), f.ncols(), entries)
    }

    #[test]
    fn derivatives_match_finite_differences() {
        let h = 1e-5;
        for outputs in [1, 3, 4] {
            let (labels, f, v) = (labels(outputs), logits(outputs, 0.3), logits(outputs, 2.9));
            let (ahead, behind) =
                (Loss::at(&labels, &moved(&f, h, &v)), Loss::at(&labels, &moved(&f, -h, &v)));
            let at = Loss::at(&labels, &f);
            let slope: f64 = at.gradient.entries().iter().zip(v.entries()).map(|(g, v)| g * v).sum();
            assert!((slope - (ahead.total - behind.total) / (2.0 * h)).abs() < 1e-7, "{outputs} outputs");
            let curvature = Curvature::new(&labels, &at.probabilities, false);
            let mut bent = Matrix::zeros(6, outputs);
            curvature.apply(&v, &mut bent);
            for (k, bent) in bent.entries().iter().enumerate() {
                let expected = (ahead.gradient.entries()[k] - behind.gradient.entries()[k]) / (2.0 * h);
                assert!((bent - expected).abs() < 1e-7, "{outputs} outputs");
            }
        }
    }

    #[test]
    fn intercepts_are_at_their_optimum() {
        for outputs in [1, 3] {
            let (labels, f, v) = (labels(outputs), logits(outputs, 0.3), logits(outputs, 2.9));
            let at = Loss::at(&labels, &f);
            let mut bent = Matrix::zeros(6, outputs);
            Curvature::new(&labels, &at.probabilities, true).apply(&v, &mut bent);
            for k in 0..outputs {
                assert!((0..6).map(|i| bent.row(i)[k]).sum::<f64>().abs() < 1e-12);
            }
        }
    }

    #[test]
    fn no_logit_overflows() {
        let labels = Labels::new(&[0, 1], 2, vec![1.0; 2]);
        let at = Loss::at(&labels, &Matrix::from_entries(2, 1, vec![1e4, -1e4]));
        assert_eq!(at.total, 2e4);
        assert_eq!(at.gradient.entries(), [1.0, -1.0]);
    }
}
