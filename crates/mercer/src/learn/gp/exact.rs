//! The likelihood of targets under a Gaussian process, from one Cholesky factor of K + σ²/w.

use rayon::prelude::*;

use crate::data::{AnySamples, Matrix, Number};
use crate::gram::{Gram, GramError, Penalty, Resident, TileMut, Wanted};
use crate::kernel::Kernel;
use crate::linalg::dense::mirror_lower;
use crate::linalg::{Cholesky, CholeskyFactor, products, zeroed};
use crate::model::{Facts, GaussianProcess};
use crate::real::Precision;
use crate::session::Session;
use crate::solve::{MinimiseOptions, Report};
use crate::watch::{Stopped, Watch};

use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::problem::Problem;
use super::prepared::Prepared;
use super::{Gp, GpObjective, unknowns};

/// The jitter added to the diagonal if K + σ²/w is not positive definite, relative to the mean of the diagonal, tried
/// in turn.
const JITTERS: [f64; 4] = [0.0, 1e-10, 1e-8, 1e-6];

/// Targets y of zero mean, to be explained by f ~ N(0, K) and noise of variance σ²/w.
pub(super) struct Exact<'a> {
    pub samples: &'a dyn Resident,
    /// The kernel with its unknowns.
    pub kernel: &'a Kernel,
    /// One column for each output.
    pub targets: &'a Matrix<f64>,
    /// One weight > 0 for each row.
    pub weights: Option<&'a [f64]>,
    /// σ² if it is given; otherwise the last unknown.
    pub noise: Option<f64>,
    pub objective: GpObjective,
}

/// The factor of K + σ²/w + jitter and the solution.
pub(super) struct Factored {
    pub kernel: Kernel,
    pub noise: f64,
    /// The jitter added to every entry of the diagonal in addition to the noise.
    pub jitter: f64,
    pub factor: Box<dyn CholeskyFactor>,
    /// (K + σ²/w + jitter)⁻¹y.
    pub alpha: Matrix<f64>,
}

impl Exact<'_> {
    /// The values encoded by `theta`: the unknowns of the kernel, and σ².
    fn split(&self, theta: &[f64]) -> (Vec<f64>, f64) {
        let mut values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        let noise = self.noise.unwrap_or_else(|| values.pop().unwrap_or(0.0));
        (values, noise)
    }

    fn noise_of(&self, noise: f64, row: usize) -> f64 {
        self.weights.map_or(noise, |weights| noise / weights[row])
    }

    /// The factor at `theta`; `None` if no jitter makes the matrix positive definite.
    ///
    /// O(n³) time, n² numbers of memory.
    pub fn factor(&self, theta: &[f64], session: &Session<'_>) -> Result<Option<Factored>, LearnError> {
        let (values, noise) = self.split(theta);
        let kernel = self.kernel.with_values(&values)?;
        let gram = self.samples.gram(&kernel, Wanted::Double)?;
        let n = gram.nrows();
        let mean = gram.diagonal().iter().sum::<f64>() / n as f64;
        let each: Vec<f64> = (0..n).map(|i| self.noise_of(noise, i)).collect();
        for relative in JITTERS {
            let jitter = relative * mean;
            let penalty = Penalty { lambda: jitter, root_weights: None, noise: Some(&each) };
            let matrix = gram.regularised(penalty, Precision::Double, &session.part());
            let factor = matrix.and_then(|matrix| matrix.try_factor(&session.part()));
            if let Ok(factor) = factor.map_err(GramError::from)? {
                let mut alpha = self.targets.clone();
                factor.solve(&mut alpha, &session.part())?;
                return Ok(Some(Factored { kernel, noise, jitter, factor, alpha }));
            }
        }
        check_finite(&*gram)?;
        Ok(None)
    }

    /// The objective at `theta`, to be maximised, and its gradient; `None` if there is no factor.
    ///
    /// n³/3 multiply-adds more than the factor, in its memory; leaving one out takes n³ more and 3n² numbers.
    pub fn evaluate(
        &self,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        let Some(factored) = self.factor(theta, session)? else { return Ok(None) };
        let part = session.part();
        let (value, mut weights) =
            self.objective.with_weights(self.targets, &factored.alpha, factored.factor, &part)?;
        let (values, noise) = self.split(theta);
        let derivatives = self.kernel.gradient(&values, self.samples.ncols())?;
        let of_kernel = self.samples.gradient(&derivatives, None)?;
        if of_kernel.reads_both_triangles() {
            mirror_lower(&mut weights);
        }
        let mut gradient = of_kernel.contract(weights.entries(), &part).map_err(GramError::from)?;
        if self.noise.is_none() {
            let diagonal = (0..weights.nrows()).map(|i| weights.row(i)[i] * self.noise_of(noise, i));
            gradient.push(diagonal.sum());
        }
        Ok(Some((value, gradient)))
    }

    /// The logarithm of the likelihood, for any objective.
    pub fn log_likelihood(&self, factored: &Factored) -> f64 {
        log_likelihood(self.targets, &factored.alpha, &*factored.factor)
    }
}

/// Σₒ −½yₒᵀαₒ − ½log|A| − (n/2)log 2π over the outputs o, with α = A⁻¹y and a factor of A = K + σ²/w.
pub fn log_likelihood(targets: &Matrix<f64>, alpha: &Matrix<f64>, factor: &dyn CholeskyFactor) -> f64 {
    let (n, outputs) = (targets.nrows() as f64, targets.ncols() as f64);
    let fit: f64 = targets.entries().iter().zip(alpha.entries()).map(|(y, a)| y * a).sum();
    -0.5 * fit - 0.5 * outputs * (factor.log_determinant() + n * (2.0 * std::f64::consts::PI).ln())
}

impl GpObjective {
    /// The objective and the lower triangle of W, where Σᵢⱼ Wᵢⱼ ∂Aᵢⱼ is its derivative, for targets with α = A⁻¹y and a factor
    /// of A = K + σ²/w; entries above the diagonal are unspecified.
    ///
    /// n³/3 multiply-adds for the likelihood, in the memory of the factor; n³ more and 3n² numbers for leaving one out.
    ///
    /// # Errors
    /// [`Stopped`] if `watch` requests it.
    pub fn with_weights(
        self,
        targets: &Matrix<f64>,
        alpha: &Matrix<f64>,
        factor: Box<dyn CholeskyFactor>,
        watch: &dyn Watch,
    ) -> Result<(f64, Matrix<f64>), Stopped> {
        let likelihood = log_likelihood(targets, alpha, &*factor);
        let inverse = factor.into_inverse(watch)?;
        Ok(match self {
            Self::Likelihood => (likelihood, likelihood_weights(alpha, inverse)),
            Self::LeaveOneOut => leave_one_out(targets, alpha, inverse),
        })
    }
}

/// ½(Σₒ αₒαₒᵀ − m·A⁻¹) for m outputs in the lower triangle of the buffer of A⁻¹.
fn likelihood_weights(alpha: &Matrix<f64>, mut inverse: Matrix<f64>) -> Matrix<f64> {
    let (n, outputs) = (alpha.nrows(), alpha.ncols() as f64);
    inverse.entries_mut().par_chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| {
        let own = alpha.row(i);
        for (j, entry) in row[..=i].iter_mut().enumerate() {
            let product: f64 = own.iter().zip(alpha.row(j)).map(|(a, b)| a * b).sum();
            *entry = 0.5 * (product - outputs * *entry);
        }
    });
    inverse
}

/// Σᵢₒ log N(yᵢₒ; μᵢₒ, vᵢ), the leave-one-out density of each target given all other rows, and the weights of its
/// gradient (Sundararajan and Keerthi 2001; Rasmussen and Williams 2006, section 5.4.2).
///
/// With Q = A⁻¹: vᵢ = 1/Qᵢᵢ and yᵢ − μᵢ = αᵢ/Qᵢᵢ. The derivative of one output's sum along ∂A is Σᵢⱼ Wᵢⱼ ∂Aᵢⱼ with
/// W = Q·u αᵀ − ½Q·diag(c)·Q, made symmetric, where uᵢ = αᵢ/Qᵢᵢ and cᵢ = (1 + αᵢ²/Qᵢᵢ)/Qᵢᵢ. n³ multiply-adds more than the likelihood.
///
/// `q` holds the lower triangle.
fn leave_one_out(targets: &Matrix<f64>, alpha: &Matrix<f64>, mut q: Matrix<f64>) -> (f64, Matrix<f64>) {
    mirror_lower(&mut q);
    let (n, outputs) = (targets.nrows(), targets.ncols());
    let precision: Vec<f64> = (0..n).map(|i| q.row(i)[i]).collect();
    let residual = |i: usize, o: usize| alpha.row(i)[o] / precision[i];
    let mut value = 0.0;
    for i in 0..n {
        for o in 0..outputs {
            let squared = residual(i, o) * residual(i, o) * precision[i];
            value -= 0.5 * (squared - precision[i].ln() + (2.0 * std::f64::consts::PI).ln());
        }
    }
    let u = Matrix::from_entries(
        n,
        outputs,
        (0..n * outputs).map(|k| residual(k / outputs, k % outputs)).collect(),
    );
    let mut v = Matrix::zeros(n, outputs);
    products::assign(products::view_mut(&mut v), 1.0, products::view(&q), products::view(&u));
    let factors: Vec<f64> = (0..n)
        .map(|i| {
            let each = |a: &f64| (1.0 + a * a / precision[i]) / precision[i];
            alpha.row(i).iter().map(each).sum()
        })
        .collect();
    let mut scaled = q.clone();
    for (i, factor) in factors.iter().enumerate() {
        scaled.row_mut(i).iter_mut().for_each(|entry| *entry *= factor);
    }
    let mut weights: Vec<f64> = zeroed(n * n);
    const BAND: usize = 128;
    weights.par_chunks_mut((BAND * n).max(1)).enumerate().for_each(|(band, rows)| {
        let (first, height) = (band * BAND, rows.len() / n);
        let mut product = Matrix::zeros(height, n);
        let left = products::view(&q).subrows(first, height);
        products::assign(products::view_mut(&mut product), -0.5, left, products::view(&scaled));
        rows.copy_from_slice(product.entries());
        for (r, row) in rows.chunks_exact_mut(n).enumerate() {
            let i = first + r;
            for (j, entry) in row[..=i].iter_mut().enumerate() {
                for o in 0..outputs {
                    let (a, b) = (v.row(i)[o] * alpha.row(j)[o], v.row(j)[o] * alpha.row(i)[o]);
                    *entry += 0.5 * (a + b);
                }
            }
        }
    });
    (value, Matrix::from_entries(n, n, weights))
}

/// Rejects a kernel matrix with a value that is not finite.
fn check_finite(gram: &dyn Gram) -> Result<(), LearnError> {
    let n = gram.nrows();
    let all: Vec<usize> = (0..n).collect();
    let mut values = vec![0f64; n];
    for row in 0..n {
        gram.block(&[row], &all[..=row], TileMut::new(&mut values[..=row], row + 1));
        if let Some(column) = values[..=row].iter().position(|value| !value.is_finite()) {
            return Err(LearnError::KernelValue { row, column });
        }
    }
    Ok(())
}

impl Gp {
    /// Trains on a Cholesky factor of the kernel matrix.
    pub(super) fn train_exact(
        &self,
        mut prepared: Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let resident = session.load(&prepared.samples)?;
        let exact = self.exact(&prepared, &*resident);
        let options = MinimiseOptions { max_steps: self.max_iter, ..MinimiseOptions::default() };
        let unknowns = (&prepared.unknowns[..], prepared.is_learnt(self));
        let learnt = self.optimum(&mut |theta| exact.evaluate(theta, session), unknowns, options, session)?;
        let factored = exact.factor(&learnt.theta, session)?.ok_or(LearnError::Unsupported(
            "the kernel matrix with its noise is not positive definite; give more noise, or check that the kernel is one",
        ))?;
        let log_likelihood = exact.log_likelihood(&factored);
        let residual = residual(&exact, &factored, session)?;
        prepared.checked = prepared.settled(&factored.kernel);
        let mut warnings = prepared.warnings(self, &learnt, &prepared.checked);
        warnings.extend(jitter_warning(&prepared, &factored, &problem.counted()));
        let report = Report {
            status: learnt.status(),
            solver: "cholesky f64".to_owned(),
            iterations: learnt.steps(),
            residual,
            reasons: Vec::new(),
            warnings,
        };
        let facts = facts(&prepared, &learnt.theta, &factored, log_likelihood);
        let Factored { kernel, noise, factor, alpha, .. } = factored;
        let (mean, scales) = prepared.mean(kernel, alpha);
        let factor = if self.variance {
            let lower = factor.to_lower(session).map_err(GramError::from)?;
            Some(Cholesky::from_lower(factor.order(), lower).into_triangle())
        } else {
            None
        };
        let model = GaussianProcess { mean, scales, noise, factor, posterior_factor: None, projection: None };
        Ok(Fitted::new(self, problem, session, Answer { facts, ..Answer::new(model, report) }))
    }
}

/// The warning that jitter was added to the diagonal. `rows` are the numbers of the prepared rows in the data.
fn jitter_warning(prepared: &Prepared, factored: &Factored, rows: &[usize]) -> Option<String> {
    if factored.jitter == 0.0 {
        return None;
    }
    let conflict = conflicting_rows(&prepared.samples, &prepared.targets).map_or(String::new(), |(i, j)| {
        format!("; rows {} and {} (counted from 0) are equal but have different targets", rows[i], rows[j])
    });
    Some(format!(
        "{:.3e} was added to the diagonal of the kernel matrix, which is not positive definite otherwise{conflict}; give more \
         noise to avoid it",
        factored.jitter
    ))
}

fn facts(prepared: &Prepared, theta: &[f64], factored: &Factored, log_likelihood: f64) -> Facts {
    Facts::new()
        .with("log_likelihood", Number(log_likelihood))
        .with("noise", Number(factored.noise))
        .with("jitter", Number(factored.jitter))
        .with("parameters", unknowns::table(&prepared.unknowns, theta))
}

/// ‖y − (K + σ²/w + jitter)α‖/‖y‖, the largest over the outputs.
fn residual(exact: &Exact<'_>, factored: &Factored, session: &Session<'_>) -> Result<f64, LearnError> {
    let gram = exact.samples.gram(&factored.kernel, Wanted::Double)?;
    let alpha = &factored.alpha;
    let mut product = Matrix::zeros(alpha.nrows(), alpha.ncols());
    gram.apply(&mut product, alpha, &session.part()).map_err(GramError::from)?;
    let mut largest = 0.0f64;
    for o in 0..alpha.ncols() {
        let (mut error, mut size) = (0.0, 0.0);
        for i in 0..alpha.nrows() {
            let noise = exact.weights.map_or(factored.noise, |w| factored.noise / w[i]) + factored.jitter;
            let y = exact.targets.row(i)[o];
            error += (y - product.row(i)[o] - noise * alpha.row(i)[o]).powi(2);
            size += y * y;
        }
        largest = largest.max(if size == 0.0 { 0.0 } else { (error / size).sqrt() });
    }
    Ok(largest)
}

/// Two equal rows with different targets.
fn conflicting_rows(samples: &AnySamples<'_>, targets: &Matrix<f64>) -> Option<(usize, usize)> {
    let mut seen = std::collections::HashMap::new();
    let mut row = vec![0.0; samples.ncols()];
    for i in 0..samples.nrows() {
        samples.copy_row(i, &mut row);
        let key: Vec<u64> = row.iter().map(|value| (value + 0.0).to_bits()).collect();
        let first = *seen.entry(key).or_insert(i);
        if targets.row(first) != targets.row(i) {
            return Some((first, i));
        }
    }
    None
}
