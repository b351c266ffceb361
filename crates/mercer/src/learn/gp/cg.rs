//! The exact process without a factor of its matrix: conjugate gradients, and the determinant by stochastic Lanczos quadrature.
//!
//! With A = K + σ²/w, S the diagonal of √w and B = SAS = SKS + σ²I, a preconditioner P = FFᵀ + σ²I of low rank and probes
//! z = √n·P¹ᐟ²v for random unit vectors v,
//!
//! ```text
//! log|B| = log|P| + tr log(P⁻¹ᐟ²BP⁻¹ᐟ²) ≈ log|P| + mean n·e₁ᵀlog(T)e₁,      tr(B⁻¹∂B) ≈ mean zᵀP⁻¹ ∂B B⁻¹z
//! ```
//!
//! with the Lanczos matrix T of each probe from the same conjugate gradients that solve for B⁻¹z (Gardner and others 2018; the
//! determinant by Dong and others 2017). The better P is, the smaller is the estimated part. F is the Nyström factor on
//! landmarks that do not depend on the hyper-parameters, and the random numbers are drawn once, so that the estimate is
//! a smooth function of them.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{Matrix, Number};
use crate::design::LandmarkChoice;
use crate::design::fourier::normal_quantile;
use crate::gram::{Gram, GramError, HostFactor, LinearOperator, Part, Resident, StoreAs, Stored, Wanted};
use crate::kernel::Kernel;
use crate::linalg::dense::multiply;
use crate::linalg::vectors::column_dots;
use crate::linalg::{Cholesky, products};
use crate::model::{Facts, GaussianProcess};
use crate::session::Session;
use crate::solve::{
    CgProblem, CgState, ConjugateGradient, Lanczos, LowRank, MinimiseOptions, Penalised, Preconditioner,
    Report, SolveError, Status, scale_rows,
};
use crate::watch::Watch;

use super::super::cost::{self, GP_PROBES as PROBES};
use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::problem::Problem;
use super::prepared::Prepared;
use super::{Gp, unknowns};

/// The most steps of conjugate gradients.
const STEPS: u64 = 1_000;

/// The relative residual of the targets and the probes while hyper-parameters are learnt, and at the end.
const TOLERANCES: (f64, f64) = (1e-4, 1e-6);

/// Rows and columns of a block of weights for contractions with derivatives.
const BLOCK: usize = 2_048;

/// The jitter on the diagonal of the landmarks' matrix, relative to its mean: eigenvalues below it are rounding errors
/// of F, which is in single precision.
const JITTER: f64 = 1e-6;

/// The jitter on the diagonal of the projected matrix of the variance, relative to its mean, tried in turn. Jitter can
/// only increase variances.
const PROJECTION_JITTERS: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// Targets y of zero mean, to be explained by f ~ N(0, K) and noise of variance σ²/w.
struct Iterative<'a> {
    samples: Box<dyn Resident>,
    blocks: Vec<(Range<usize>, Box<dyn Resident>)>,
    landmarks: Box<dyn Resident>,
    /// The kernel with its unknowns.
    kernel: &'a Kernel,
    targets: &'a Matrix<f64>,
    roots: Option<Vec<f64>>,
    /// Σ log w.
    log_weights: f64,
    /// σ² if it is given; otherwise the last unknown.
    noise: Option<f64>,
    /// Standard normal numbers: a row for each landmark, and one for each sample.
    normal: (Matrix<f64>, Matrix<f64>),
    /// Whether the matrix is stored during conjugate gradients.
    stores: bool,
}

/// The solutions at one θ.
struct Found {
    kernel: Kernel,
    noise: f64,
    preconditioner: LowRank,
    value: f64,
    /// The standard error of `value` from the random probes.
    error: f64,
    /// A⁻¹y.
    alpha: Matrix<f64>,
    /// A⁻¹ and the preconditioner's inverse on the probes, in the coordinates of A.
    solved: Matrix<f64>,
    probed: Matrix<f64>,
    report: Report,
}

impl<'a> Iterative<'a> {
    /// O(nd + np) memory for p probes.
    fn new(prepared: &'a Prepared, session: &Session<'_>) -> Result<Self, LearnError> {
        let Prepared { samples, kernel, targets, weights, noise, .. } = prepared;
        let n = samples.nrows();
        let rank = cost::gp_rank(n);
        let chosen = LandmarkChoice::KMeansPlusPlus.choose(kernel, samples, rank, session)?;
        let wide = samples.widened();
        let block = |first: usize| {
            let range = first..n.min(first + BLOCK);
            let rows: Vec<usize> = range.clone().collect();
            Ok::<_, LearnError>((range, session.load(&wide.select(&rows))?))
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let mut normal = |rows: usize| {
            let draws = (0..rows * PROBES).map(|_| normal_quantile(random.random_range(f64::EPSILON..1.0)));
            Matrix::from_entries(rows, PROBES, draws.collect())
        };
        let beside = cost::gp_cg_bytes(n, targets.ncols()).saturating_add(cost::matrix_bytes(n));
        Ok(Self {
            blocks: (0..n).step_by(BLOCK).map(block).collect::<Result<_, _>>()?,
            landmarks: session.load(&wide.select(&chosen))?,
            samples: session.load(&wide)?,
            kernel,
            targets,
            roots: weights.as_ref().map(|weights| weights.iter().map(|w| w.sqrt()).collect()),
            log_weights: weights.iter().flatten().map(|w| w.ln()).sum(),
            noise: *noise,
            normal: (normal(rank), normal(n)),
            stores: beside <= session.memory(),
        })
    }

    /// The values encoded by `theta`: the unknowns of the kernel, and σ².
    fn split(&self, theta: &[f64]) -> (Vec<f64>, f64) {
        let mut values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        let noise = self.noise.unwrap_or_else(|| values.pop().unwrap_or(0.0));
        (values, noise)
    }

    /// F with FFᵀ ≈ K; `None` if the landmarks' matrix has no factor.
    fn factor(&self, kernel: &Kernel, session: &Session<'_>) -> Result<Option<Matrix<f32>>, LearnError> {
        let (n, k) = (self.samples.nrows(), self.landmarks.nrows());
        let gram = self.landmarks.gram(kernel, Wanted::Double)?;
        let mut inner = Matrix::<f64>::zeros(k, k);
        gram.fill(Part::Lower, inner.entries_mut().into(), session).map_err(GramError::from)?;
        let mean = (0..k).map(|i| inner.row(i)[i]).sum::<f64>() / k as f64;
        (0..k).for_each(|i| inner.row_mut(i)[i] += JITTER * mean);
        let Ok(lower) = Cholesky::try_factor(k, inner.into_entries(), session)? else { return Ok(None) };
        let mut factor = Vec::with_capacity(n * k);
        for (range, block) in &self.blocks {
            let cross = self.landmarks.cross(kernel, &**block)?;
            let mut values = Matrix::zeros(k, range.len());
            cross.fill(Part::Full, values.entries_mut().into(), session).map_err(GramError::from)?;
            lower.solve_lower(&mut values, session).map_err(GramError::from)?;
            (0..range.len()).for_each(|i| factor.extend((0..k).map(|j| values.row(j)[i] as f32)));
        }
        Ok(Some(Matrix::from_entries(n, k, factor)))
    }

    /// √n·P¹ᐟ²v for random unit vectors v, and P⁻¹ of them.
    fn probes(
        &self,
        preconditioner: &LowRank,
        session: &Session<'_>,
    ) -> Result<(Matrix<f64>, Matrix<f64>), LearnError> {
        let probes = preconditioner.drawn(&self.normal.0, &self.normal.1, session);
        let mut probes = probes.map_err(GramError::from)?;
        let mut inverse = Matrix::zeros(probes.nrows(), PROBES);
        preconditioner.apply(&mut inverse, &probes, session).map_err(GramError::from)?;
        let lengths = column_dots(&probes, &inverse);
        let scales: Vec<f64> = lengths.iter().map(|l| (probes.nrows() as f64 / l).sqrt()).collect();
        for i in 0..probes.nrows() {
            probes.row_mut(i).iter_mut().zip(&scales).for_each(|(z, scale)| *z *= scale);
            inverse.row_mut(i).iter_mut().zip(&scales).for_each(|(z, scale)| *z *= scale);
        }
        Ok((probes, inverse))
    }

    /// The solutions and the estimate of the likelihood at `theta`; `None` if a matrix is not positive definite there.
    ///
    /// O(n²(p + m)) time per step for p probes and m outputs.
    fn found(
        &self,
        theta: &[f64],
        tolerance: f64,
        session: &Session<'_>,
    ) -> Result<Option<Found>, LearnError> {
        let (values, noise) = self.split(theta);
        let kernel = self.kernel.with_values(&values)?;
        let Some(factor) = self.factor(&kernel, session)? else { return Ok(None) };
        let gram = self.samples.gram(&kernel, Wanted::Double)?;
        let largest = gram.diagonal().iter().copied().fold(0.0, f64::max);
        let factor = Box::new(HostFactor::from(factor));
        let roots = self.roots.as_deref();
        let preconditioner = match LowRank::new(factor, noise.max(JITTER * largest), roots, session) {
            Ok(preconditioner) => preconditioner,
            Err(error @ SolveError::Stopped(_)) => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        let gram = self.stored(gram, session)?;
        let matrix = Penalised { matrix: &*gram, lambda: noise, root_weights: roots };
        let (probes, mut probed) = self.probes(&preconditioner, session)?;
        let (n, outputs) = (self.targets.nrows(), self.targets.ncols());
        let mut rhs = Matrix::zeros(n, outputs + PROBES);
        for i in 0..n {
            let root = roots.map_or(1.0, |roots| roots[i]);
            let (own, random) = rhs.row_mut(i).split_at_mut(outputs);
            own.iter_mut().zip(self.targets.row(i)).for_each(|(b, y)| *b = root * y);
            random.copy_from_slice(probes.row(i));
        }
        let problem = CgProblem {
            coarse: None,
            operator: &matrix,
            exact: None,
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let solver = ConjugateGradient { tolerance, iterations: STEPS, check_every: u64::MAX };
        let mut lanczos = Lanczos::new((outputs..outputs + PROBES).collect());
        let mut state = CgState::start(&rhs);
        let report =
            match solver.run(&problem, &mut state, session, &mut |state: &CgState| lanczos.record(state)) {
                Ok(report) => report,
                Err(SolveError::NegativeCurvature { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        let fit: f64 = column_dots(&rhs, state.solution())[..outputs].iter().sum();
        let Ok(logarithms) = lanczos.logarithms() else { return Ok(None) };
        let (mean, error) = mean_and_error(&logarithms);
        let determinant = preconditioner.log_determinant() + n as f64 * mean - self.log_weights;
        let m = outputs as f64;
        let value = -0.5 * fit - 0.5 * m * (determinant + n as f64 * (2.0 * std::f64::consts::PI).ln());
        let mut solution = state.solution().clone();
        if let Some(roots) = roots {
            scale_rows(&mut solution, roots);
            scale_rows(&mut probed, roots);
        }
        let (alpha, solved) = parted(&solution, outputs);
        let error = 0.5 * m * n as f64 * error;
        Ok(Some(Found { kernel, noise, preconditioner, value, error, alpha, solved, probed, report }))
    }

    /// The matrix, stored if the memory allows it.
    fn stored<'g>(
        &self,
        gram: Box<dyn Gram + 'g>,
        session: &Session<'_>,
    ) -> Result<Box<dyn LinearOperator + 'g>, LearnError> {
        if !self.stores {
            return Ok(gram);
        }
        match gram.store(StoreAs::F64, session).map_err(GramError::from)? {
            Stored::Gram(stored) => Ok(stored),
            Stored::Products { operator, .. } => Ok(operator),
        }
    }

    /// The estimate of the likelihood at `theta` and of its gradient; `None` if it has no value.
    fn evaluate(&self, theta: &[f64], session: &Session<'_>) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        let session = &session.part();
        let Some(found) = self.found(theta, TOLERANCES.0, session)? else { return Ok(None) };
        let (left, right) = self.weights(&found);
        let (values, noise) = self.split(theta);
        let derivatives = self.kernel.gradient(&values, self.samples.ncols())?;
        let mut gradient = vec![0.0; derivatives.len()];
        for (row, (rows, x)) in self.blocks.iter().enumerate() {
            session.check()?;
            for (columns, z) in &self.blocks[..=row] {
                let is_diagonal = rows == columns;
                let other = (!is_diagonal).then_some(&**z);
                let l = products::view(&left).subrows(rows.start, rows.len());
                let r = products::view(&right).subrows(columns.start, columns.len());
                let weights = multiply(l, r.transpose(), session).map_err(GramError::from)?;
                let part = x.gradient(&derivatives, other)?;
                let part = part.contract(weights.entries(), session).map_err(GramError::from)?;
                let times = if is_diagonal { 1.0 } else { 2.0 };
                gradient.iter_mut().zip(part).for_each(|(sum, part)| *sum += times * part);
            }
        }
        if self.noise.is_none() {
            let own = |i: usize| -> f64 {
                let weight: f64 = left.row(i).iter().zip(right.row(i)).map(|(l, r)| l * r).sum();
                weight * self.roots.as_ref().map_or(noise, |roots| noise / (roots[i] * roots[i]))
            };
            gradient.push((0..left.nrows()).map(own).sum());
        }
        Ok(Some((found.value, gradient)))
    }

    /// L and R with W = LRᵀ, the weights of ∂A in the gradient of the likelihood:
    ///
    /// ```text
    /// W = ½ Σₒ αₒαₒᵀ − (m/4p) Σ (xqᵀ + qxᵀ),      x = A⁻¹z, q = P⁻¹z
    /// ```
    fn weights(&self, found: &Found) -> (Matrix<f64>, Matrix<f64>) {
        let (n, outputs) = (found.alpha.nrows(), found.alpha.ncols());
        let trace = -0.25 * outputs as f64 / PROBES as f64;
        let width = outputs + 2 * PROBES;
        let (mut left, mut right) = (Vec::with_capacity(n * width), Vec::with_capacity(n * width));
        for i in 0..n {
            let (alpha, x, q) = (found.alpha.row(i), found.solved.row(i), found.probed.row(i));
            left.extend(alpha.iter().map(|a| 0.5 * a).chain(x.iter().chain(q).map(|v| trace * v)));
            right.extend(alpha.iter().chain(q).chain(x));
        }
        (Matrix::from_entries(n, width, left), Matrix::from_entries(n, width, right))
    }

    /// R with k(x, x) − |Rᵀk(x)|² the variance of f(x) given Fᵀ(y): never below the variance given all of y, and close
    /// to it if the landmarks carry the information of the targets.
    ///
    /// With B = SAS and the rows SF of the factor, RRᵀ = SF(FᵀSBSF)⁻¹FᵀS. n²k multiply-adds for k landmarks.
    fn projection(&self, found: &Found, session: &Session<'_>) -> Result<Matrix<f64>, LearnError> {
        let factor = found.preconditioner.factor();
        let (n, k) = (factor.nrows(), factor.ncols());
        let all: Vec<usize> = (0..n).collect();
        let mut basis = Matrix::from_entries(n, k, factor.rows(&all).map_err(GramError::from)?);
        let gram = self.stored(self.samples.gram(&found.kernel, Wanted::Double)?, session)?;
        let roots = self.roots.as_deref();
        let matrix = Penalised { matrix: &*gram, lambda: found.noise, root_weights: roots };
        let mut product = Matrix::zeros(n, k);
        matrix.apply(&mut product, &basis, session).map_err(GramError::from)?;
        let inner = multiply(products::view(&basis).transpose(), products::view(&product), session);
        let inner = inner.map_err(GramError::from)?;
        drop(product);
        let mean = (0..k).map(|i| inner.row(i)[i]).sum::<f64>() / k as f64;
        for jitter in PROJECTION_JITTERS {
            let mut entries = inner.entries().to_vec();
            (0..k).for_each(|i| entries[i * k + i] += jitter * mean);
            let Ok(lower) = Cholesky::try_factor(k, entries, session)? else { continue };
            // Rows of the basis times L⁻ᵀ: columns of the transpose times L⁻¹.
            let mut transposed = Matrix::zeros(k, n);
            for i in 0..n {
                let root = roots.map_or(1.0, |roots| roots[i]);
                (0..k).for_each(|j| transposed.row_mut(j)[i] = root * basis.row(i)[j]);
            }
            lower.solve_lower(&mut transposed, session).map_err(GramError::from)?;
            for i in 0..n {
                (0..k).for_each(|j| basis.row_mut(i)[j] = transposed.row(j)[i]);
            }
            return Ok(basis);
        }
        Err(LearnError::Unsupported(
            "the variance has no factor; leave it out (--no-variance) or give more noise",
        ))
    }
}

/// The first columns, and the others.
fn parted(matrix: &Matrix<f64>, first: usize) -> (Matrix<f64>, Matrix<f64>) {
    let (n, all) = (matrix.nrows(), matrix.ncols());
    let part = |columns: Range<usize>| {
        let entries = (0..n).flat_map(|i| matrix.row(i)[columns.clone()].to_vec()).collect();
        Matrix::from_entries(n, columns.len(), entries)
    };
    (part(0..first), part(first..all))
}

/// The mean of numbers and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

impl Gp {
    /// The estimate of the likelihood at `theta`, and of its gradient.
    pub(super) fn estimate(
        &self,
        prepared: &Prepared,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        self.needs_likelihood_and_noise(prepared)?;
        Iterative::new(prepared, session)?.evaluate(theta, session)
    }

    /// Trains by conjugate gradients.
    pub(super) fn train_cg(
        &self,
        mut prepared: Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        self.needs_likelihood_and_noise(&prepared)?;
        let process = Iterative::new(&prepared, session)?;
        // The tolerance matches the accuracy of the estimates.
        let options = MinimiseOptions { max_steps: self.max_iter, gradient: 1e-3, decrease: 1e-6 };
        let unknowns = (&prepared.unknowns[..], prepared.is_learnt(self));
        let learnt =
            self.optimum(&mut |theta| process.evaluate(theta, session), unknowns, options, session)?;
        let part = session.part();
        let Some(found) = process.found(&learnt.theta, TOLERANCES.1, &part)? else {
            return Err(LearnError::Unsupported(
                "conjugate gradients found that the kernel matrix with its noise is not positive definite; give more noise, or \
                 check that the kernel is one",
            ));
        };
        let projection = if self.variance { Some(process.projection(&found, &part)?) } else { None };
        prepared.checked = prepared.settled(&found.kernel);
        let mut warnings = prepared.warnings(self, &learnt, &prepared.checked);
        warnings.extend(found.report.warnings);
        let out_of_steps = learnt.steps() == self.max_iter && learnt.found.is_some();
        let status = if out_of_steps { Status::OutOfIterations } else { found.report.status };
        let Report { solver, residual, reasons, .. } = found.report;
        let report = Report { status, solver, iterations: learnt.steps(), residual, reasons, warnings };
        let facts = Facts::new()
            .with("log_likelihood", Number(found.value))
            .with("log_likelihood_error", Number(found.error))
            .with("probes", PROBES)
            .with("noise", Number(found.noise))
            .with("parameters", unknowns::table(&prepared.unknowns, &learnt.theta));
        let noise = found.noise;
        let (mean, scales) = prepared.mean(found.kernel, found.alpha);
        let model = GaussianProcess { mean, scales, noise, factor: None, posterior_factor: None, projection };
        Ok(Fitted::new(self, problem, session, Answer { facts, ..Answer::new(model, report) }))
    }
}
