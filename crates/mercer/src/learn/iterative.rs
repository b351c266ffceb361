//! Kernel ridge regression by conjugate gradients: on tiles that are never stored, and on a matrix in 16 bits where it fits and
//! many steps are to go.

use crate::data::{AnySamples, Matrix, Samples, Storage};
use crate::gram::{Gram, LinearOperator, StoreAs, Stored, Wanted, randomly_pivoted};
use crate::kernel::Kernel;
use crate::model::Expansion;
use crate::real::Real;
use crate::session::Session;
use crate::solve::{
    CgProblem, CgState, Coarse, ConjugateGradient, LowRank, Penalised, Regularised, Report, scale_rows,
};
use crate::watch::Stopped;

use super::admission::Admission;
use super::error::LearnError;
use super::ridge::Bias;
use super::targets::check as check_targets;
use super::weights::check_weights;

/// The full problem of [`Ridge`](super::Ridge), solved iteratively with a preconditioner of rank k.
///
/// Each step computes the tiles of the kernel matrix again in single precision: O(n²d) time, O(nk) memory. Where many steps are
/// still to go after the first ones, n² bytes fit the memory beside the preconditioner and λ is not too small for 16 bits, the matrix is
/// stored once in 16 bits an entry ([`StoreAs::I16`]), and a step reads it: O(n²) time, bound by memory. Either way the answer is corrected by residuals in double
/// precision, so it is that of the kernel in double precision.
#[derive(Debug, Clone, PartialEq)]
pub struct IterativeRidge {
    /// The kernel, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// λ > 0.
    pub lambda: f64,
    /// What is done about a constant; [`Bias::Column`] is for [`Ridge`](super::Ridge).
    pub bias: Bias,
    /// Whether the kernel must be proven to be one.
    pub admission: Admission,
    /// The stopping rule.
    pub solver: ConjugateGradient,
    /// k, the rank of the preconditioner; `None` for [`default_rank`](Self::default_rank).
    pub rank: Option<usize>,
}

/// What is seen after each step: the state, which can be saved and gone on from.
pub type AfterStep<'a> = &'a mut dyn FnMut(&CgState);

impl IterativeRidge {
    /// With this kernel and λ, an unpenalised intercept, a relative residual of 10⁻³ and everything else by itself.
    #[must_use]
    pub fn new(kernel: Kernel, lambda: f64) -> Self {
        Self {
            kernel,
            lambda,
            bias: Bias::Centred,
            admission: Admission::Check,
            solver: ConjugateGradient { tolerance: 1e-3, ..Default::default() },
            rank: None,
        }
    }

    /// The rank that balances its own cost, nk², with the steps it saves at n² each: 3√n.
    #[must_use]
    pub fn default_rank(rows: usize) -> usize {
        ((3.0 * (rows as f64).sqrt()).ceil() as usize).min(rows)
    }

    /// Fits `targets` (one row per sample, one column per target).
    ///
    /// # Errors
    /// Where the input does not line up, where λ is not positive, where the preconditioner does not fit the memory, and
    /// where the session is stopped.
    pub fn fit(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<(Expansion, Report), LearnError> {
        self.resume(samples, targets, weights, None, session, &mut |_| {})
    }

    /// Fits, going on from a saved state where there is one; `after` sees the state after each step. The state is the
    /// only thing to save: all else follows from the samples and the settings.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and where the state is of another problem.
    pub fn resume(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        state: Option<CgState>,
        session: &Session<'_>,
        after: AfterStep<'_>,
    ) -> Result<(Expansion, Report), LearnError> {
        let (kernel, lambda, bias, solver) = (&self.kernel, self.lambda, self.bias, self.solver);
        validate(Given { kernel, lambda, bias, solver }, samples, targets, weights)?;
        let stores = self.check_memory(samples.nrows(), targets.ncols(), session)?;
        let admitted = self.admission.decide(&self.kernel, samples)?;
        let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let (single, double) = (in_single(samples), in_double(samples));
        let (fast, exact) = (session.load(&single)?, session.load(&double)?);
        let (fast, exact) =
            (fast.gram(&self.kernel, Wanted::Exact)?, exact.gram(&self.kernel, Wanted::Exact)?);
        let rank = self.rank.unwrap_or_else(|| Self::default_rank(samples.nrows()));
        let factor = randomly_pivoted::<f32>(&*fast, rank, SINGLE_NOISE, session.seed(), session)?;
        // What the factor leaves out is noise down to this; a smaller λ would make P⁻¹ amplify it.
        let noise = SINGLE_NOISE * fast.diagonal().iter().copied().fold(0.0, f64::max);
        let preconditioner = LowRank::new(factor, self.lambda.max(noise), roots.as_deref(), session)?;
        let rhs = self.right_hand_sides(targets, roots.as_deref());
        let (lambda, root_weights) = (self.lambda, roots.as_deref());
        let tiled = CgProblem {
            coarse: None,
            operator: &Regularised::new(&*fast, lambda, root_weights),
            exact: Some(&Regularised::new(&*exact, lambda, root_weights)),
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let mut state = state.unwrap_or_else(|| CgState::start(&rhs));
        let worthwhile = stores && self.may_store(&*fast, mean_weight(weights));
        let stored = if worthwhile && self.many_steps_to_go(&tiled, &mut state, session, after)? {
            self.stored(&*fast, mean_weight(weights), session)?
        } else {
            None
        };
        let coarse = stored.as_ref().map(|(matrix, _)| Penalised { matrix: &**matrix, lambda, root_weights });
        let coarse = coarse.as_ref().zip(stored.as_ref());
        let coarse = coarse.map(|(operator, (_, rounding))| Coarse { operator, rounding: *rounding });
        let mut report = self.solver.run(&CgProblem { coarse, ..tiled }, &mut state, session, after)?;
        report.solver += match (stored.is_some() && state.uses_coarse(), state.gave_up_coarse()) {
            (true, _) => ", matrix stored in 16 bits",
            (_, true) => ", matrix stored in 16 bits, then tiles computed in every step",
            _ if state.uses_exact() => ", tiles computed in every step, in double precision at last",
            _ => ", tiles computed in every step",
        };
        report.warnings.extend(admitted.warning);
        let (coefficients, intercepts) = self.unravel(state.solution(), targets.ncols(), roots.as_deref());
        let centres = samples.view().into_owned();
        let kernel = self.kernel.clone();
        Ok((
            Expansion { kernel, domain: admitted.domain, centres, shift: None, coefficients, intercepts },
            report,
        ))
    }

    /// Takes steps on tiles, and tells after every so many whether the problem needs many more of them.
    ///
    /// Storing the matrix takes the time of a few steps on tiles, and with a good preconditioner a few steps are all it takes.
    /// The first ones are also the ones whose errors count most.
    fn many_steps_to_go(
        &self,
        tiled: &CgProblem<'_>,
        state: &mut CgState,
        session: &Session<'_>,
        after: AfterStep<'_>,
    ) -> Result<bool, LearnError> {
        while !state.uses_coarse() {
            let steps = state.iterations();
            if state.gave_up_coarse()
                || state.uses_exact()
                || state.is_done()
                || steps >= self.solver.iterations
            {
                return Ok(false);
            }
            let decides = steps > 0 && steps.is_multiple_of(STEPS_ON_TILES);
            if decides && self.solver.steps_to_go(tiled.rhs, state) > STEPS_ON_TILES as f64 {
                break;
            }
            let until = (steps / STEPS_ON_TILES + 1) * STEPS_ON_TILES;
            self.solver.advance(tiled, state, until, session, &mut *after)?;
        }
        Ok(true)
    }

    /// Whether the errors of a stored matrix may be small enough for λ: the values of most tiles are further apart than a
    /// quarter of the largest value.
    fn may_store(&self, gram: &dyn Gram, weight: f64) -> bool {
        let largest = gram.diagonal().iter().copied().fold(0.0, f64::max);
        weight * StoreAs::I16.rounding(gram.nrows(), 0.25 * largest) <= ROUNDING_LIMIT * self.lambda
    }

    /// The kernel matrix in 16 bits, with what |Ev|/|v| is about for its errors E as weighted; none where λ is too small for it.
    fn stored(
        &self,
        gram: &dyn Gram,
        weight: f64,
        session: &Session<'_>,
    ) -> Result<Option<(Box<dyn LinearOperator>, f64)>, Stopped> {
        let Stored::Products { operator, rounding } = gram.store(StoreAs::I16, session)? else {
            return Ok(None);
        };
        let rounding = weight * rounding;
        Ok((rounding <= ROUNDING_LIMIT * self.lambda).then_some((operator, rounding)))
    }

    /// Bytes that it takes without a stored matrix: the factor, its small matrix twice, and the partial sums of a product.
    #[must_use]
    pub fn bytes_needed(&self, rows: usize, targets: usize) -> u64 {
        let (n, k) = (rows as u64, self.rank.unwrap_or_else(|| Self::default_rank(rows)).min(rows) as u64);
        4 * n * k + 16 * k * k + 40 * 8 * n * (targets as u64 + 1)
    }

    /// Whether the matrix may be stored.
    fn check_memory(&self, rows: usize, targets: usize, session: &Session<'_>) -> Result<bool, LearnError> {
        let needed = self.bytes_needed(rows, targets);
        let budget = session.memory();
        if needed > budget {
            return Err(LearnError::Memory { rows, needed, budget });
        }
        Ok(StoreAs::I16.bytes(rows) <= budget - needed)
    }

    /// S[y] for `bias: None`, S[y 1] for `bias: Centred`.
    fn right_hand_sides(&self, targets: &Matrix<f64>, roots: Option<&[f64]>) -> Matrix<f64> {
        let width = targets.ncols() + usize::from(self.bias == Bias::Centred);
        let mut rhs = Matrix::zeros(targets.nrows(), width);
        for i in 0..targets.nrows() {
            let row = rhs.row_mut(i);
            row.fill(1.0);
            row[..targets.ncols()].copy_from_slice(targets.row(i));
        }
        if let Some(roots) = roots {
            scale_rows(&mut rhs, roots);
        }
        rhs
    }

    /// From [u v] to a = S(u − b·v) and b = (S1)ᵀu / (S1)ᵀv.
    fn unravel(
        &self,
        solution: &Matrix<f64>,
        targets: usize,
        roots: Option<&[f64]>,
    ) -> (Matrix<f64>, Vec<f64>) {
        let root = |i: usize| roots.map_or(1.0, |r| r[i]);
        let sum = |o: usize| (0..solution.nrows()).map(|i| solution.row(i)[o] * root(i)).sum::<f64>();
        let centred = self.bias == Bias::Centred;
        let intercepts: Vec<f64> =
            (0..targets).map(|o| if centred { sum(o) / sum(targets) } else { 0.0 }).collect();
        let mut dual = Matrix::zeros(solution.nrows(), targets);
        for i in 0..solution.nrows() {
            let row = solution.row(i);
            let constant = if centred { row[targets] } else { 0.0 };
            for (o, a) in dual.row_mut(i).iter_mut().enumerate() {
                *a = root(i) * (row[o] - intercepts[o] * constant);
            }
        }
        (dual, intercepts)
    }
}

/// Steps on tiles before the matrix is stored, and steps that must then be left: as many as storing takes the time of.
pub(crate) const STEPS_ON_TILES: u64 = 6;

/// Errors of the stored matrix, |Ev|/|v|, up to which it is used, as a share of λ. Their norm is about twice that, and each
/// round of conjugate gradients leaves about |E|/λ of the residual: half of it at the most.
const ROUNDING_LIMIT: f64 = 0.25;

/// What is left of the diagonal in single-precision tiles is noise below this share of it.
const SINGLE_NOISE: f64 = 1e-6;

fn mean_weight(weights: Option<&[f64]>) -> f64 {
    weights.map_or(1.0, |w| w.iter().sum::<f64>() / w.len() as f64)
}

fn converted<A: Real, B: Real>(samples: &Samples<'_, A>) -> Samples<'static, B> {
    let convert = |values: &[A]| values.iter().map(|v| B::from_f64(v.to_f64())).collect::<Vec<B>>();
    let converted = match samples.storage() {
        Storage::Dense(entries) => Samples::dense(samples.nrows(), samples.ncols(), convert(entries)),
        Storage::Sparse { indptr, indices, values } => {
            Samples::sparse(samples.ncols(), indptr.to_vec(), indices.to_vec(), convert(values))
        }
    };
    converted.expect("the shape of samples that exist")
}

fn in_single<'a>(samples: &'a AnySamples<'_>) -> AnySamples<'a> {
    match samples {
        AnySamples::F32(_) => samples.view(),
        AnySamples::F64(s) => AnySamples::F32(converted(s)),
    }
}

fn in_double<'a>(samples: &'a AnySamples<'_>) -> AnySamples<'a> {
    match samples {
        AnySamples::F32(s) => AnySamples::F64(converted(s)),
        AnySamples::F64(_) => samples.view(),
    }
}

/// What the iterative learners have in common.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub kernel: &'a Kernel,
    pub lambda: f64,
    pub bias: Bias,
    pub solver: ConjugateGradient,
}

/// Whether the problem lines up and its parameters are in their ranges.
pub(super) fn validate(
    given: Given<'_>,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
) -> Result<(), LearnError> {
    let (rows, columns) = (samples.nrows(), samples.ncols());
    if rows == 0 || columns == 0 {
        return Err(LearnError::Empty { rows, columns });
    }
    given.kernel.check_columns(columns)?;
    if given.bias == Bias::Column {
        let reason = "bias = column is not for iterative solvers; use centred or none";
        return Err(LearnError::Unsupported(reason));
    }
    check_targets(rows, targets)?;
    check_weights(rows, weights)?;
    let (lambda, tolerance) = (given.lambda, given.solver.tolerance);
    for (parameter, received, fine, allowed) in [
        ("lambda", lambda, lambda.is_finite() && lambda > 0.0, "a finite number above 0"),
        ("tolerance", tolerance, tolerance > 0.0, "a number above 0"),
    ] {
        if !fine {
            return Err(LearnError::Parameter { parameter, received: received.to_string(), allowed });
        }
    }
    Ok(())
}
