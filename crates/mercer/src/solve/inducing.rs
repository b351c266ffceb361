//! Gaussian process regression with inducing points: the collapsed variational bound of Titsias (2009).
//!
//! With M inducing points, K_MM their kernel matrix and kᵢ the kernel values of row i with them, the log marginal likelihood is
//! at least
//!
//! ```text
//! F = log N(y | 0, Q + σ²I) − Σᵢ wᵢ(kᵢᵢ − qᵢᵢ)/(2σ²),     qᵢⱼ = kᵢᵀ K_MM⁻¹ kⱼ,
//! ```
//!
//! where row i has the noise variance σ²/wᵢ. F and its derivatives depend on the rows through Φ = Σ wᵢkᵢkᵢᵀ, b = Σ wᵢkᵢyᵢᵀ, Σ wᵢyᵢ²
//! and Σ wᵢkᵢᵢ alone, so that one pass over the rows gives F and a second one its gradient, with O(M²) numbers in memory.
//!
//! With S = K_MM + Φ/σ² and v = S⁻¹b/σ², and O outputs,
//!
//! ```text
//! F = O(½ log|K_MM| − ½ log|S| + tr(K_MM⁻¹Φ)/(2σ²) − Σ wᵢkᵢᵢ/(2σ²) − (n/2) log(2πσ²) + ½ Σ log wᵢ) − Σ wᵢyᵢ²/(2σ²) + ⟨b, v⟩/(2σ²)
//! ∂F/∂Φ    = (½O(K_MM⁻¹ − S⁻¹) − ½vvᵀ)/σ²          ∂F/∂b = v/σ²
//! ∂F/∂K_MM = ½O(K_MM⁻¹ − S⁻¹ − K_MM⁻¹ΦK_MM⁻¹/σ²) − ½vvᵀ.
//! ```
//!
//! With LLᵀ = K_MM, the sums are those of the whitened values aᵢ = L⁻¹kᵢ: Σ wᵢaᵢaᵢᵀ = L⁻¹ΦL⁻ᵀ and Σ wᵢaᵢyᵢᵀ = L⁻¹b. Sums of kᵢkᵢᵀ
//! itself would lose as many digits again as K_MM⁻¹ does. The rest follows from B = I + L⁻¹ΦL⁻ᵀ/σ², whose eigenvalues are at
//! least 1.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::dense::{mirror_lower, multiply};
use crate::linalg::vectors::dot;
use crate::linalg::{Cholesky, CholeskyError, products};
use crate::watch::{Stopped, Watch};

use super::SolveError;

/// The jitter added to the diagonal of K_MM before it is factored, relative to the mean of the diagonal.
const JITTER: f64 = 1e-8;

/// Rows that are whitened at a time.
const WHITENED: usize = 128;

/// The factor LLᵀ of the kernel matrix `k` of the inducing points, with its jitter.
///
/// # Errors
/// If `k` is not finite or not positive definite, or if `watch` asks to stop.
pub(crate) fn factor_of_points(mut k: Matrix<f64>, watch: &dyn Watch) -> Result<Cholesky<f64>, SolveError> {
    if !k.entries().iter().all(|v| v.is_finite()) {
        return Err(SolveError::NotFinite);
    }
    let m = k.nrows();
    let mean: f64 = (0..m).map(|i| k.row(i)[i]).sum::<f64>() / m as f64;
    (0..m).for_each(|i| k.row_mut(i)[i] += JITTER * mean);
    Cholesky::factor(m, k.into_entries(), watch).map_err(not_positive)
}

/// Replaces each row k, the kernel values of one row with the inducing points, by L⁻¹k. M²/2 multiply-adds per row.
pub(crate) fn whiten(factor: &Cholesky<f64>, rows: &mut Matrix<f64>) {
    let m = factor.order();
    let lower = MatRef::from_row_major_slice(factor.lower(), m, m);
    rows.entries_mut().par_chunks_mut((WHITENED * m).max(1)).for_each(|rows| {
        let count = rows.len() / m;
        products::solve_lower(lower, MatMut::from_column_major_slice_mut(rows, m, count));
    });
}

/// Sums over the rows, with weights w (1 by default), that determine the bound. a = L⁻¹k are the whitened kernel values of a row
/// with the inducing points.
#[derive(Debug, Clone, PartialEq)]
pub struct InducingSums {
    /// Number of rows.
    pub rows: usize,
    /// Σ waaᵀ, both triangles.
    pub products: Matrix<f64>,
    /// Σ wayᵀ, one column per output.
    pub cross: Matrix<f64>,
    /// Σ wy² over all outputs.
    pub target_squares: f64,
    /// Σ w·k(x, x).
    pub diagonal: f64,
    /// Σ log w.
    pub log_weights: f64,
}

impl InducingSums {
    /// The number of numbers in the sums for these inducing points and outputs.
    #[must_use]
    pub fn count(points: usize, outputs: usize) -> usize {
        4 + points * outputs + points * (points + 1) / 2
    }

    /// The sums as numbers, which are additive over parts of the rows.
    #[must_use]
    pub fn to_numbers(&self) -> Vec<f64> {
        let (points, outputs) = (self.cross.nrows(), self.cross.ncols());
        let mut numbers = Vec::with_capacity(Self::count(points, outputs));
        numbers.extend([self.rows as f64, self.target_squares, self.diagonal, self.log_weights]);
        numbers.extend_from_slice(self.cross.entries());
        (0..points).for_each(|i| numbers.extend_from_slice(&self.products.row(i)[..=i]));
        numbers
    }

    /// The sums that [`to_numbers`](Self::to_numbers) wrote; `None` if there are not [`count`](Self::count) numbers.
    #[must_use]
    pub fn from_numbers(numbers: &[f64], points: usize, outputs: usize) -> Option<Self> {
        if numbers.len() != Self::count(points, outputs) {
            return None;
        }
        let (head, rest) = numbers.split_at(4);
        let (cross, mut triangle) = rest.split_at(points * outputs);
        let mut products = Matrix::zeros(points, points);
        for i in 0..points {
            let (row, others) = triangle.split_at(i + 1);
            products.row_mut(i)[..=i].copy_from_slice(row);
            triangle = others;
        }
        mirror_lower(&mut products);
        Some(Self {
            rows: head[0] as usize,
            products,
            cross: Matrix::from_entries(points, outputs, cross.to_vec()),
            target_squares: head[1],
            diagonal: head[2],
            log_weights: head[3],
        })
    }
}

impl InducingSums {
    fn check(&self, points: usize, noise: f64) -> Result<(), SolveError> {
        for (what, found) in
            [("rows of sums", self.products.nrows()), ("rows of sums with targets", self.cross.nrows())]
        {
            if found != points {
                return Err(SolveError::Shape { what, found, expected: points });
            }
        }
        if !(noise.is_finite() && noise > 0.0) {
            let (name, allowed) = ("noise", "a finite number above 0");
            return Err(SolveError::Parameter { name, value: noise, allowed });
        }
        if !self.products.entries().iter().all(|v| v.is_finite()) {
            return Err(SolveError::NotFinite);
        }
        Ok(())
    }
}

/// F at one setting of the hyper-parameters, with the quantities for its gradient and for predictions.
pub(crate) struct Bound {
    /// F.
    pub value: f64,
    /// ∂F/∂K_MM, symmetric.
    pub by_inducing: Matrix<f64>,
    /// The derivatives of F in the kernel values of the rows.
    pub slopes: RowSlopes,
    /// ∂F/∂σ².
    pub by_noise: f64,
    /// v: the mean at x is Σⱼ k(x, zⱼ)·vⱼ.
    pub coefficients: Matrix<f64>,
    /// LLᵀ = K_MM with its jitter.
    factor: Cholesky<f64>,
    /// The factor of B.
    inner: Cholesky<f64>,
}

/// The derivatives of F in the kernel values of every row: those with the inducing points, and that with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSlopes {
    /// 2·∂F/∂Φ.
    pub twice_by_products: Matrix<f64>,
    /// ∂F/∂b, transposed: one row per output.
    pub by_cross: Matrix<f64>,
    /// ∂F/∂(k(x, x)) of every row, before its weight.
    pub by_diagonal: f64,
}

impl RowSlopes {
    /// ∂F/∂k for the kernel values `k` of some rows with the inducing points, into `out`, both row-major. `targets` and `weights` are
    /// those of the rows.
    pub fn by_rows(&self, k: &[f64], targets: &[f64], weights: Option<&[f64]>, out: &mut [f64]) {
        let (outputs, m) = (self.by_cross.nrows(), self.by_cross.ncols());
        out.fill(0.0);
        crate::design::add_product(out, k, &self.twice_by_products, 1.0);
        crate::design::add_product(out, targets, &self.by_cross, 1.0);
        debug_assert_eq!(targets.len() * m, out.len() * outputs);
        if let Some(weights) = weights {
            out.par_chunks_mut(m.max(1))
                .zip(weights)
                .for_each(|(row, w)| row.iter_mut().for_each(|g| *g *= w));
        }
    }
}

impl Bound {
    /// F and its derivatives at σ² = `noise`, with the factor of the inducing points ([`factor_of_points`]).
    ///
    /// About 5M³ multiply-adds and ten M × M matrices.
    ///
    /// # Errors
    /// If shapes do not fit, if σ² is not positive, if the sums are not finite, or if `watch` asks to stop.
    pub fn at(
        factor: Cholesky<f64>,
        sums: &InducingSums,
        noise: f64,
        watch: &dyn Watch,
    ) -> Result<Self, SolveError> {
        let (m, outputs) = (factor.order(), sums.cross.ncols());
        sums.check(m, noise)?;
        let o = outputs as f64;
        let x = factor.inverse_lower(watch)?;
        let x = products::view(&x);
        let mut a = sums.products.clone();
        a.entries_mut().iter_mut().for_each(|v| *v /= noise);
        let mut b = a.clone();
        (0..m).for_each(|i| b.row_mut(i)[i] += 1.0);
        let b = Cholesky::factor(m, b.into_entries(), watch).map_err(not_positive)?;
        let b_inverse = b.inverse(watch)?;
        // K_MM⁻¹ − S⁻¹ = L⁻ᵀ(I − B⁻¹)L⁻¹ and S⁻¹ = L⁻ᵀB⁻¹L⁻¹.
        let mut inner = b_inverse.clone();
        for i in 0..m {
            inner.row_mut(i).iter_mut().for_each(|v| *v = -*v);
            inner.row_mut(i)[i] += 1.0;
        }
        let reduction = congruent(x.transpose(), products::view(&inner), x, watch)?;
        // ⟨∂F/∂Φ, Φ⟩ and F's fit in whitened values.
        let half = multiply(products::view(&b_inverse), products::view(&sums.cross), watch)?;
        let whitened = |i: usize, j: usize| dot(half.row(i), half.row(j)) / (noise * noise);
        let by_products: f64 = (0..m)
            .map(|i| {
                let (inner, a) = (inner.row(i), a.row(i));
                (0..m).map(|j| 0.5 * (o * inner[j] - whitened(i, j)) * a[j]).sum::<f64>()
            })
            .sum();
        let fit = dot(sums.cross.entries(), half.entries()) / noise;
        inner.entries_mut().iter_mut().zip(a.entries()).for_each(|(inner, a)| *inner -= a);
        let mut by_inducing = congruent(x.transpose(), products::view(&inner), x, watch)?;
        let mut coefficients = multiply(x.transpose(), products::view(&half), watch)?;
        coefficients.entries_mut().iter_mut().for_each(|v| *v /= noise);

        let trace: f64 = (0..m).map(|i| a.row(i)[i]).sum();
        let n = sums.rows as f64;
        let of_output = -0.5 * b.log_determinant() + 0.5 * trace
            - 0.5 * sums.diagonal / noise
            - 0.5 * n * (2.0 * std::f64::consts::PI * noise).ln()
            + 0.5 * sums.log_weights;
        let value = o * of_output - 0.5 * sums.target_squares / noise + 0.5 * fit / noise;

        let outer = |i: usize, j: usize| dot(coefficients.row(i), coefficients.row(j));
        by_inducing.entries_mut().par_chunks_mut(m.max(1)).enumerate().for_each(|(i, row)| {
            row.iter_mut().enumerate().for_each(|(j, g)| *g = 0.5 * (o * *g - outer(i, j)));
        });
        let trace_of_adjoint: f64 = (0..m).map(|i| by_inducing.row(i)[i]).sum();
        (0..m).for_each(|i| by_inducing.row_mut(i)[i] += JITTER / m as f64 * trace_of_adjoint);
        let mut twice_by_products = reduction;
        twice_by_products.entries_mut().par_chunks_mut(m.max(1)).enumerate().for_each(|(i, row)| {
            row.iter_mut().enumerate().for_each(|(j, g)| *g = (o * *g - outer(i, j)) / noise);
        });
        // S = K_MM + Φ/σ² and tr(K_MM⁻¹Φ) together: −⟨∂F/∂Φ, Φ⟩/σ².
        let by_noise = -by_products / noise
            + 0.5 * (o * sums.diagonal + sums.target_squares) / (noise * noise)
            - 0.5 * o * n / noise
            - fit / (noise * noise);
        let by_cross = Matrix::from_entries(
            outputs,
            m,
            (0..outputs * m).map(|e| coefficients.row(e % m)[e / m] / noise).collect(),
        );
        Ok(Self {
            value,
            by_inducing,
            slopes: RowSlopes { twice_by_products, by_cross, by_diagonal: -0.5 * o / noise },
            by_noise,
            coefficients,
            factor,
            inner: b,
        })
    }

    /// L and P with LLᵀ = K_MM and PPᵀ = S: the variance at x is k(x, x) − |L⁻¹k|² + |P⁻¹k|², without the noise.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn into_factors(self, watch: &dyn Watch) -> Result<(Cholesky<f64>, Cholesky<f64>), Stopped> {
        let m = self.factor.order();
        let [l, inner] = [&self.factor, &self.inner].map(|factor| {
            let mut entries = factor.lower().to_vec();
            entries.chunks_exact_mut(m.max(1)).enumerate().for_each(|(i, row)| row[i + 1..].fill(0.0));
            Matrix::from_entries(m, m, entries)
        });
        let posterior = multiply(products::view(&l), products::view(&inner), watch)?;
        Ok((self.factor, Cholesky::from_lower(m, posterior.into_entries())))
    }
}

/// LMR for a symmetric M and R = Lᵀ.
fn congruent(
    left: MatRef<'_, f64>,
    middle: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    watch: &dyn Watch,
) -> Result<Matrix<f64>, Stopped> {
    let half = multiply(left, middle, watch)?;
    let mut whole = multiply(products::view(&half), right, watch)?;
    let m = whole.nrows();
    // Rounding leaves the two triangles slightly different.
    for i in 0..m {
        for j in 0..=i {
            let value = 0.5 * (whole.row(i)[j] + whole.row(j)[i]);
            whole.row_mut(i)[j] = value;
            whole.row_mut(j)[i] = value;
        }
    }
    Ok(whole)
}

fn not_positive(error: CholeskyError) -> SolveError {
    match error {
        CholeskyError::NotPositiveDefinite { pivot, order } => SolveError::NegativePivot { pivot, order },
        CholeskyError::Stopped(stopped) => stopped.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    const ROWS: usize = 30;

    fn row(i: usize) -> f64 {
        (1.37 * i as f64).sin() * 3.0
    }

    fn inducing(j: usize) -> f64 {
        j as f64 * 0.8 - 2.5
    }

    fn kernel(a: f64, b: f64, t: &[f64; 3]) -> f64 {
        t[0].exp() * (-0.5 * ((a - b) / t[1].exp()).powi(2)).exp()
    }

    fn target(i: usize, output: usize) -> f64 {
        (row(i) * (1.0 + 0.3 * output as f64)).cos() + 0.1 * (9.1 * i as f64).sin()
    }

    fn weight(i: usize, weighted: bool) -> f64 {
        if weighted { 0.5 + (i % 4) as f64 } else { 1.0 }
    }

    fn rows_with_inducing(t: &[f64; 3], m: usize) -> Matrix<f64> {
        let entries = (0..ROWS * m).map(|e| kernel(row(e / m), inducing(e % m), t)).collect();
        Matrix::from_entries(ROWS, m, entries)
    }

    fn sums(t: &[f64; 3], m: usize, outputs: usize, weighted: bool) -> InducingSums {
        let mut k = rows_with_inducing(t, m);
        whiten(&factor(t, m), &mut k);
        let mut sums = InducingSums {
            rows: ROWS,
            products: Matrix::zeros(m, m),
            cross: Matrix::zeros(m, outputs),
            target_squares: 0.0,
            diagonal: 0.0,
            log_weights: 0.0,
        };
        for i in 0..ROWS {
            let w = weight(i, weighted);
            for a in 0..m {
                (0..m).for_each(|b| sums.products.row_mut(a)[b] += w * k.row(i)[a] * k.row(i)[b]);
                (0..outputs).for_each(|o| sums.cross.row_mut(a)[o] += w * k.row(i)[a] * target(i, o));
            }
            (0..outputs).for_each(|o| sums.target_squares += w * target(i, o).powi(2));
            sums.diagonal += w * kernel(row(i), row(i), t);
            sums.log_weights += w.ln();
        }
        sums
    }

    fn of_inducing(t: &[f64; 3], m: usize) -> Matrix<f64> {
        let entries = (0..m * m).map(|e| kernel(inducing(e / m), inducing(e % m), t)).collect();
        Matrix::from_entries(m, m, entries)
    }

    fn factor(t: &[f64; 3], m: usize) -> Cholesky<f64> {
        factor_of_points(of_inducing(t, m), &Unwatched).unwrap()
    }

    /// F from its definition with n × n matrices.
    fn dense(t: &[f64; 3], m: usize, outputs: usize, weighted: bool) -> f64 {
        let noise = t[2].exp();
        let factor = factor(t, m);
        let k = rows_with_inducing(t, m);
        let mut solved = Matrix::zeros(m, ROWS);
        (0..m).for_each(|j| (0..ROWS).for_each(|i| solved.row_mut(j)[i] = k.row(i)[j]));
        factor.solve(&mut solved, &Unwatched).unwrap();
        let q = multiply(products::view(&k), products::view(&solved), &Unwatched).unwrap();
        let mut covariance = q.clone();
        let mut value = 0.0;
        for i in 0..ROWS {
            let w = weight(i, weighted);
            covariance.row_mut(i)[i] += noise / w;
            value -= 0.5 * w * (kernel(row(i), row(i), t) - q.row(i)[i]) / noise * outputs as f64;
        }
        let factor = Cholesky::factor(ROWS, covariance.into_entries(), &Unwatched).unwrap();
        let y = Matrix::from_entries(
            ROWS,
            outputs,
            (0..ROWS * outputs).map(|e| target(e / outputs, e % outputs)).collect(),
        );
        let mut alpha = y.clone();
        factor.solve(&mut alpha, &Unwatched).unwrap();
        value
            - 0.5 * dot(y.entries(), alpha.entries())
            - 0.5
                * outputs as f64
                * (factor.log_determinant() + ROWS as f64 * (2.0 * std::f64::consts::PI).ln())
    }

    const THETA: [f64; 3] = [0.7, -0.2, -1.5];

    #[test]
    fn the_bound_matches_the_definition() {
        for (m, outputs, weighted) in [(8, 1, false), (8, 2, true), (5, 1, true), (1, 3, false)] {
            let bound =
                Bound::at(factor(&THETA, m), &sums(&THETA, m, outputs, weighted), THETA[2].exp(), &Unwatched)
                    .unwrap();
            let expected = dense(&THETA, m, outputs, weighted);
            assert!(
                (bound.value - expected).abs() < 1e-8 * expected.abs(),
                "{m}: {} against {expected}",
                bound.value
            );
        }
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        for (m, outputs, weighted) in [(8, 1, false), (6, 2, true)] {
            let bound =
                Bound::at(factor(&THETA, m), &sums(&THETA, m, outputs, weighted), THETA[2].exp(), &Unwatched)
                    .unwrap();
            let k = rows_with_inducing(&THETA, m);
            let targets: Vec<f64> = (0..ROWS * outputs).map(|e| target(e / outputs, e % outputs)).collect();
            let weights: Vec<f64> = (0..ROWS).map(|i| weight(i, weighted)).collect();
            let mut by_rows = vec![0.0; ROWS * m];
            bound.slopes.by_rows(k.entries(), &targets, weighted.then_some(&weights[..]), &mut by_rows);
            for p in 0..3 {
                let derivative = |a: f64, b: f64| match p {
                    0 => kernel(a, b, &THETA),
                    1 => kernel(a, b, &THETA) * ((a - b) / THETA[1].exp()).powi(2),
                    _ => 0.0,
                };
                let mut found = if p == 2 { bound.by_noise * THETA[2].exp() } else { 0.0 };
                for i in 0..ROWS {
                    found += bound.slopes.by_diagonal * weights[i] * derivative(row(i), row(i));
                    found +=
                        (0..m).map(|j| by_rows[i * m + j] * derivative(row(i), inducing(j))).sum::<f64>();
                }
                for i in 0..m {
                    found += (0..m)
                        .map(|j| bound.by_inducing.row(i)[j] * derivative(inducing(i), inducing(j)))
                        .sum::<f64>();
                }
                let moved = |by: f64| {
                    let mut t = THETA;
                    t[p] += by;
                    dense(&t, m, outputs, weighted)
                };
                let h = 1e-4;
                let expected = (4.0 * (moved(h) - moved(-h)) / (2.0 * h)
                    - (moved(2.0 * h) - moved(-2.0 * h)) / (4.0 * h))
                    / 3.0;
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                    "parameter {p}: {found} against {expected}"
                );
            }
        }
    }

    /// With every row an inducing point the bound is the exact likelihood, and so are mean and variance.
    #[test]
    fn all_rows_as_inducing_points_give_the_exact_answer() {
        let t = [0.3, -1.5, -1.0];
        let n = 12;
        let point = |i: usize| 0.9 * i as f64;
        let k =
            Matrix::from_entries(n, n, (0..n * n).map(|e| kernel(point(e / n), point(e % n), &t)).collect());
        let y = Matrix::from_entries(n, 1, (0..n).map(|i| (1.1 * i as f64).sin()).collect());
        let points = factor_of_points(k.clone(), &Unwatched).unwrap();
        let mut a = k.clone();
        whiten(&points, &mut a);
        let transposed = products::view(&a).transpose();
        let sums = InducingSums {
            rows: n,
            products: multiply(transposed, products::view(&a), &Unwatched).unwrap(),
            cross: multiply(transposed, products::view(&y), &Unwatched).unwrap(),
            target_squares: dot(y.entries(), y.entries()),
            diagonal: n as f64 * t[0].exp(),
            log_weights: 0.0,
        };
        let bound = Bound::at(points, &sums, t[2].exp(), &Unwatched).unwrap();
        let mut noisy = k.clone();
        (0..n).for_each(|i| noisy.row_mut(i)[i] += t[2].exp());
        let factor = Cholesky::factor(n, noisy.into_entries(), &Unwatched).unwrap();
        let mut alpha = y.clone();
        factor.solve(&mut alpha, &Unwatched).unwrap();
        let exact = -0.5
            * (dot(y.entries(), alpha.entries())
                + factor.log_determinant()
                + n as f64 * (2.0 * std::f64::consts::PI).ln());
        // The jitter changes the bound by about 1e-8 times its derivative.
        assert!(
            (bound.value - exact).abs() < 1e-5 && bound.value <= exact + 1e-9,
            "{} against {exact}",
            bound.value
        );
        let at: Vec<f64> = (0..n).map(|i| kernel(point(i), 3.3, &t)).collect();
        let mean = (dot(&at, bound.coefficients.entries()), dot(&at, alpha.entries()));
        assert!((mean.0 - mean.1).abs() < 1e-6, "{mean:?}");
        let squared = |factor: &Cholesky<f64>| {
            let mut solved = Matrix::from_entries(n, 1, at.clone());
            factor.solve_lower(&mut solved, &Unwatched).unwrap();
            dot(solved.entries(), solved.entries())
        };
        let (prior, posterior) = bound.into_factors(&Unwatched).unwrap();
        assert!((squared(&prior) - squared(&posterior) - squared(&factor)).abs() < 1e-6);
    }

    #[test]
    fn bad_input_is_refused() {
        let sums = sums(&THETA, 4, 1, false);
        let error = |m, noise| Bound::at(factor(&THETA, m), &sums, noise, &Unwatched).err().unwrap();
        assert!(matches!(error(4, 0.0), SolveError::Parameter { .. }));
        assert!(matches!(error(5, 0.1), SolveError::Shape { .. }));
        let mut bad = of_inducing(&THETA, 4);
        bad.row_mut(1)[1] = f64::NAN;
        assert_eq!(factor_of_points(bad.clone(), &Unwatched).err(), Some(SolveError::NotFinite));
        bad.row_mut(1)[1] = -1.0;
        assert!(matches!(factor_of_points(bad, &Unwatched), Err(SolveError::NegativePivot { .. })));
    }

    /// Wide kernels make K_MM nearly singular; the bound must stay smooth enough to be maximised.
    #[test]
    fn the_bound_is_precise_where_the_points_are_nearly_dependent() {
        let m = 8;
        let t = [8.0, 3.0, -2.5];
        let bound = |by: f64| {
            let t = [t[0], t[1] + by, t[2]];
            Bound::at(factor(&t, m), &sums(&t, m, 1, false), t[2].exp(), &Unwatched).unwrap().value
        };
        // Third differences of a smooth function at this distance are far below 1e-6 of it; those of rounding errors are not.
        let h = 1e-4;
        let values: Vec<f64> = (0..20).map(|i| bound(h * f64::from(i))).collect();
        let rough =
            values.windows(4).map(|v| (v[3] - 3.0 * v[2] + 3.0 * v[1] - v[0]).abs()).fold(0.0, f64::max);
        assert!(rough < 1e-6 * values[0].abs(), "{rough:e} of {}", values[0]);
    }
}
