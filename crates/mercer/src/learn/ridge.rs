//! Kernel ridge regression.
//!
//! Minimises ½ Σᵢ wᵢ(yᵢ − f(xᵢ))² + (λ/2)‖f‖² over f = Σᵢ aᵢ k(xᵢ, ·) (+ b): with S the diagonal of the √wᵢ,
//!
//! ```text
//! bias none      (SKS + λI) u = Sy,  a = Su
//! bias centred   the intercept b is not penalised: (K + λW⁻¹)a + b·1 = y and 1ᵀa = 0. With (SKS + λI)[u v] = S[y 1],
//!                b = (S1)ᵀu / (S1)ᵀv and a = S(u − b·v)
//! bias column    X and y are centred, 1 is added to the kernel, and the constant is penalised like the rest
//! ```
//!
//! λ is added to K as it is, never multiplied by n.

use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix};
use crate::gram::{Gram, TileMut, Wanted};
use crate::kernel::{Expr, Kernel};
use crate::model::{Expansion, subtract};
use crate::session::Session;
use crate::solve::{Factor, Regularised, Report, scale_rows, solve_direct};

use super::admission::Admission;
use super::error::LearnError;
use super::form::Form;
use super::targets::check as check_targets;
use super::weights::check_weights;

/// What is done about a constant in the regression function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bias {
    /// Nothing: the kernel alone.
    None,
    /// An intercept that is not penalised.
    #[default]
    Centred,
    /// X and y centred and a constant feature added: k + 1.
    Column,
}

/// Kernel ridge regression: its hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// λ ≥ 0: one for all targets, or one each.
    pub lambda: Vec<f64>,
    /// What is done about a constant.
    pub bias: Bias,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// The precision of the Cholesky factor.
    pub factor: Factor,
    /// Whether [`primal`](Self::primal) offers the same problem on explicit features; [`fit`](Self::fit) is dual.
    pub form: Form,
}

/// What ridge regression finds: f(xⱼ) = Σᵢ aᵢ k(xᵢ, xⱼ) + b for each target.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// a, one column per target.
    pub dual: Matrix<f64>,
    /// b, one per target.
    pub intercepts: Vec<f64>,
    /// How good the answer is.
    pub report: Report,
}

impl Ridge {
    /// Ridge regression with this kernel and λ, an unpenalised intercept, and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, lambda: f64) -> Self {
        Self {
            kernel,
            lambda: vec![lambda],
            bias: Bias::Centred,
            admission: Admission::Check,
            factor: Factor::Auto,
            form: Form::Auto,
        }
    }

    /// Fits `targets` (one row per sample, one column per target).
    ///
    /// O(n²d + n³/3) time, O(n²) memory.
    ///
    /// # Errors
    /// Where the input does not line up, does not fit the memory budget, or has no answer.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(Expansion, Report), LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        self.kernel.check_columns(columns)?;
        let mut kernel = self.kernel.clone();
        let mut shift = None;
        let mut centres = samples.view();
        if self.bias == Bias::Column {
            check_problem(&self.lambda, rows, targets, weights)?;
            let means = column_means(samples, weights)?;
            centres = subtract(samples, &means);
            shift = Some(means);
            kernel = Kernel::sum(&[kernel, Kernel::from_expr(Expr::Number(1.0))])?;
        }
        let admitted = self.admission.decide(&kernel, &centres)?;
        let resident = session.load(&centres)?;
        let gram = resident.gram(&kernel, Wanted::Exact)?;
        let coefficients = match self.bias {
            Bias::Column => Self { bias: Bias::None, ..self.clone() }
                .fit_centred_targets(&*gram, targets, weights, session)?,
            _ => self.fit_gram(&*gram, targets, weights, session)?,
        };
        let Coefficients { dual, intercepts, mut report } = coefficients;
        report.warnings.extend(admitted.warning);
        let centres = centres.into_owned();
        Ok((
            Expansion { kernel, domain: admitted.domain, centres, shift, coefficients: dual, intercepts },
            report,
        ))
    }

    /// Whether a problem of this many rows fits the memory budget.
    ///
    /// # Errors
    /// [`LearnError::Memory`] where it does not.
    pub fn check_memory(rows: usize, session: &Session<'_>) -> Result<(), LearnError> {
        let needed = (rows as u64).saturating_mul(rows as u64).saturating_mul(8);
        let budget = session.memory();
        if needed > budget { Err(LearnError::Memory { rows, needed, budget }) } else { Ok(()) }
    }

    /// Fits on a kernel matrix, precomputed or not.
    ///
    /// # Errors
    /// As [`fit`](Self::fit); `bias: Column` needs the samples themselves and is refused here.
    pub fn fit_gram(
        &self,
        gram: &dyn Gram,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Coefficients, LearnError> {
        self.validate(gram.nrows(), targets, weights, session)?;
        if self.bias == Bias::Column {
            return Err(LearnError::Unsupported(
                "bias = column centres the samples, which a kernel matrix hides",
            ));
        }
        let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let columns = targets.ncols();
        let mut dual = Matrix::zeros(gram.nrows(), columns);
        let mut intercepts = vec![0.0; columns];
        let mut report: Option<Report> = None;
        for (lambda, group) in targets_by_lambda(&self.lambda, columns) {
            let system = Regularised::new(gram, lambda, roots.as_deref());
            let rhs = self.right_hand_sides(targets, &group, roots.as_deref());
            let (solution, solved) = solve_direct(&system, &rhs, self.factor, session)
                .map_err(|error| explain(gram, error.into()))?;
            for (place, &column) in group.iter().enumerate() {
                intercepts[column] = self.intercept(&solution, place, roots.as_deref());
                for i in 0..gram.nrows() {
                    let row = solution.row(i);
                    let value = row[place]
                        - intercepts[column]
                            * if self.bias == Bias::Centred { row[group.len()] } else { 0.0 };
                    dual.row_mut(i)[column] = value * roots.as_ref().map_or(1.0, |r| r[i]);
                }
            }
            report = Some(match report {
                Some(worst) if worst.residual >= solved.residual => worst,
                _ => solved,
            });
        }
        let report = report.ok_or(LearnError::Length { what: "targets", rows: gram.nrows(), found: 0 })?;
        Ok(Coefficients { dual, intercepts, report })
    }

    /// The recipe of `bias: Column` once the kernel has its constant: centre the targets, fit, put the mean back.
    fn fit_centred_targets(
        &self,
        gram: &dyn Gram,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Coefficients, LearnError> {
        self.validate(gram.nrows(), targets, weights, session)?;
        let means = weighted_means(targets.nrows(), targets.ncols(), weights, |i, row| {
            row.copy_from_slice(targets.row(i))
        });
        let mut centred = targets.clone();
        for i in 0..centred.nrows() {
            centred.row_mut(i).iter_mut().zip(&means).for_each(|(y, mean)| *y -= mean);
        }
        let fitted = self.fit_gram(gram, &centred, weights, session)?;
        Ok(Coefficients { intercepts: means, ..fitted })
    }

    pub(crate) fn validate(
        &self,
        rows: usize,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        check_problem(&self.lambda, rows, targets, weights)?;
        Self::check_memory(rows, session)
    }

    /// S[y] for `bias: None`, S[y 1] for `bias: Centred`.
    fn right_hand_sides(&self, targets: &Matrix<f64>, group: &[usize], roots: Option<&[f64]>) -> Matrix<f64> {
        let width = group.len() + usize::from(self.bias == Bias::Centred);
        let mut rhs = Matrix::zeros(targets.nrows(), width);
        for i in 0..targets.nrows() {
            let row = rhs.row_mut(i);
            group.iter().zip(row.iter_mut()).for_each(|(&column, r)| *r = targets.row(i)[column]);
            if self.bias == Bias::Centred {
                row[group.len()] = 1.0;
            }
        }
        if let Some(roots) = roots {
            scale_rows(&mut rhs, roots);
        }
        rhs
    }

    /// b = (S1)ᵀu / (S1)ᵀv.
    fn intercept(&self, solution: &Matrix<f64>, place: usize, roots: Option<&[f64]>) -> f64 {
        if self.bias != Bias::Centred {
            return 0.0;
        }
        let last = solution.ncols() - 1;
        let sum = |column: usize| {
            (0..solution.nrows()).map(|i| solution.row(i)[column] * roots.map_or(1.0, |r| r[i])).sum::<f64>()
        };
        sum(place) / sum(last)
    }
}

/// Whether the parts of a regression problem line up and are in their ranges.
pub(crate) fn check_problem(
    lambda: &[f64],
    rows: usize,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
) -> Result<(), LearnError> {
    check_targets(rows, targets)?;
    check_weights(rows, weights)?;
    if let Some(lambda) = lambda.iter().find(|l| !l.is_finite() || **l < 0.0) {
        return Err(parameter("lambda", *lambda, "a finite number, 0 or more"));
    }
    if lambda.len() != 1 && lambda.len() != targets.ncols() {
        return Err(LearnError::Length {
            what: "values of lambda for the targets",
            rows,
            found: lambda.len(),
        });
    }
    Ok(())
}

/// The targets that share a λ, in the order of first use: one factorisation serves each group.
pub(super) fn targets_by_lambda(lambda: &[f64], columns: usize) -> Vec<(f64, Vec<usize>)> {
    let mut groups: Vec<(f64, Vec<usize>)> = Vec::new();
    for column in 0..columns {
        let lambda = lambda[if lambda.len() == 1 { 0 } else { column }];
        match groups.iter_mut().find(|(l, _)| *l == lambda) {
            Some((_, group)) => group.push(column),
            None => groups.push((lambda, vec![column])),
        }
    }
    groups
}

/// A failed factorisation is often a kernel value that is not finite: look for one.
pub(super) fn explain(gram: &dyn Gram, error: LearnError) -> LearnError {
    if error.is_stop() {
        return error;
    }
    let n = gram.nrows();
    let all: Vec<usize> = (0..n).collect();
    let mut row = vec![0f64; n];
    for i in 0..n.min(2_000) {
        gram.block(&[i], &all, TileMut::new(&mut row, all.len()));
        if let Some(column) = row.iter().position(|k| !k.is_finite()) {
            return LearnError::KernelValue { row: i, column };
        }
    }
    error
}

fn parameter(parameter: &'static str, received: f64, allowed: &'static str) -> LearnError {
    LearnError::Parameter { parameter, received: received.to_string(), allowed }
}

pub(super) fn column_means(
    samples: &AnySamples<'_>,
    weights: Option<&[f64]>,
) -> Result<Vec<f64>, LearnError> {
    if samples.is_sparse() {
        return Err(LearnError::Unsupported(
            "bias = column centres the samples, which would fill sparse data; use centred or none",
        ));
    }
    Ok(weighted_means(samples.nrows(), samples.ncols(), weights, |i, row| samples.copy_row(i, row)))
}

pub(super) fn weighted_means(
    rows: usize,
    columns: usize,
    weights: Option<&[f64]>,
    row_of: impl Fn(usize, &mut [f64]),
) -> Vec<f64> {
    let (mut means, mut row, mut total) = (vec![0.0; columns], vec![0.0; columns], 0.0);
    for i in 0..rows {
        let weight = weights.map_or(1.0, |w| w[i]);
        if weight == 0.0 {
            continue;
        }
        total += weight;
        row_of(i, &mut row);
        for (mean, value) in means.iter_mut().zip(&row) {
            *mean += (value - *mean) * (weight / total);
        }
    }
    means
}
