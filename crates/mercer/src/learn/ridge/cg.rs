//! Ridge regression by conjugate gradients, without the kernel matrix or with one in 16 bits.

use crate::data::{AnySamples, Samples, Storage};
use crate::gram::{Gram, LinearOperator, StoreAs, Stored, Wanted, low_rank_factor};
use crate::kernel::Kernel;
use crate::model::{Expansion, Facts};
use crate::real::Real;
use crate::session::Session;
use crate::solve::{
    CgProblem, CgState, Coarse, ConjugateGradient, LowRank, Penalised, Regularised,
    bordered_right_hand_sides, bordered_solution,
};
use crate::watch::Stopped;

use super::super::cost::{self, STEPS_ON_TILES};
use super::super::digest::Digest;
use super::super::error::LearnError;
use super::super::fitted::Answer;
use super::super::problem::Problem;
use super::{Intercept, Ridge, roots};

impl Ridge {
    /// The fit of the full problem with a preconditioner of rank k, resuming from the session's checkpoint.
    ///
    /// Each step computes the tiles of the kernel matrix again in single precision: O(n²d) time, O(nk) memory. If many
    /// steps remain after the first ones, n² bytes fit the memory in addition to the preconditioner and λ is not too
    /// small for 16 bits, the matrix is stored once with 16 bits per entry, and each step reads it: O(n²) time, limited
    /// by memory bandwidth. In both cases the solution is corrected by residuals in double precision, so that it is
    /// that of the kernel in double precision.
    pub(super) fn conjugate_gradients(
        &self,
        kernel: &Kernel,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Answer, LearnError> {
        let (samples, targets, weights) = (problem.samples()?, problem.numbers()?, problem.weights());
        let (lambda, solver) = self.stopping_rule()?;
        let (rows, outputs) = (samples.nrows(), targets.ncols());
        let rank = self.rank.unwrap_or_else(|| cost::preconditioner_rank(rows));
        let (needed, budget) = (cost::cg_bytes(rows, rank, outputs), session.matrix_memory());
        LearnError::check_matrix_memory(rows, "a preconditioner and vectors", needed, session)?;
        // An engine with its own memory computes values faster than it reads them.
        let stores = session.engine().memory().is_none() && StoreAs::I16.bytes(rows) <= budget - needed;
        let checked = self.kernel_check.decide(kernel, samples)?;
        let roots = roots(weights);
        let root_weights = roots.as_deref();
        let (single, double) = (in_single(samples), in_double(samples));
        let (fast, exact) = (session.load(&single)?, session.load(&double)?);
        let (fast, exact) = (fast.gram(kernel, Wanted::Exact)?, exact.gram(kernel, Wanted::Exact)?);
        let factor = low_rank_factor(&*fast, rank, SINGLE_NOISE, session.seed(), session)?.factor;
        // The residual of the factor is rounding error below this; a smaller λ would make P⁻¹ amplify it.
        let noise = SINGLE_NOISE * fast.diagonal().iter().copied().fold(0.0, f64::max);
        let preconditioner = LowRank::new(factor, lambda.max(noise), root_weights, session)?;
        let all: Vec<usize> = (0..outputs).collect();
        let rhs =
            bordered_right_hand_sides(targets, &all, self.intercept == Intercept::Centred, root_weights);
        let tiled = CgProblem {
            coarse: None,
            operator: &Regularised::new(&*fast, lambda, root_weights),
            exact: Some(&Regularised::new(&*exact, lambda, root_weights)),
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let steps = Steps { solver, lambda, weight: mean_weight(weights) };
        let checkpoint = session.checkpoint().map(|checkpoint| (checkpoint, self.work(kernel, problem)));
        // A state that cannot be read is ignored, and the work starts again.
        let kept = checkpoint.and_then(|(checkpoint, work)| checkpoint.load(work));
        let kept = kept.and_then(|bytes| CgState::from_bytes(&bytes).ok());
        let mut after = |state: &CgState| {
            if let Some((checkpoint, work)) = checkpoint.filter(|(checkpoint, _)| checkpoint.due()) {
                checkpoint.save(work, state.to_bytes());
            }
        };
        let mut state = kept.unwrap_or_else(|| CgState::start(&rhs));
        let stored =
            if stores { steps.compact(&*fast, &tiled, &mut state, session, &mut after)? } else { None };
        let coarse = stored.as_ref().map(|(matrix, _)| Penalised { matrix: &**matrix, lambda, root_weights });
        let coarse = coarse.as_ref().zip(stored.as_ref());
        let coarse = coarse.map(|(operator, (_, rounding))| Coarse { operator, rounding: *rounding });
        let mut report = solver.run(&CgProblem { coarse, ..tiled }, &mut state, session, &mut after)?;
        report.solver += storage_used(&state, stored.is_some());
        report.warnings.extend(checked.warning);
        let (coefficients, intercepts) = bordered_solution(state.solution(), outputs, root_weights);
        let (kernel, centres) = (kernel.clone(), samples.view().into_owned());
        let facts = Facts::new().with("iterations", report.iterations);
        let expansion =
            Expansion { kernel, domain: checked.domain, centres, shift: None, coefficients, intercepts };
        Ok(Answer { facts, ..Answer::new(expansion, report) })
    }

    /// λ and the stopping rule of conjugate gradients.
    pub(super) fn stopping_rule(&self) -> Result<(f64, ConjugateGradient), LearnError> {
        if self.intercept == Intercept::Column {
            let reason = "bias = column is not for iterative solvers; use centred or none";
            return Err(LearnError::Unsupported(reason));
        }
        let [lambda] = self.lambda[..] else {
            return Err(LearnError::Unsupported("conjugate gradients have one lambda for all targets"));
        };
        for (parameter, received, fine, allowed) in [
            ("lambda", lambda, lambda.is_finite() && lambda > 0.0, "a finite number above 0"),
            ("tolerance", self.tol, self.tol > 0.0, "a number above 0"),
        ] {
            if !fine {
                return Err(LearnError::parameter(parameter, received, allowed));
            }
        }
        let solver =
            ConjugateGradient { tolerance: self.tol, iterations: self.max_iter, ..Default::default() };
        Ok((lambda, solver))
    }

    /// The identity of this work: its settings and data.
    fn work(&self, kernel: &Kernel, problem: &Problem<'_>) -> u64 {
        let mut digest = Digest::new();
        digest.bytes(format!("{self:?} {kernel}").as_bytes());
        digest.problem(problem);
        digest.value()
    }
}

/// The text of a report on the storage of the kernel matrix.
fn storage_used(state: &CgState, stored: bool) -> &'static str {
    match (stored && state.uses_coarse(), state.gave_up_coarse()) {
        (true, _) => ", matrix stored in 16 bits",
        (_, true) => ", matrix stored in 16 bits, then tiles computed in every step",
        _ if state.uses_exact() => ", tiles computed in every step, in double precision at last",
        _ => ", tiles computed in every step",
    }
}

/// When the matrix is stored.
struct Steps {
    solver: ConjugateGradient,
    lambda: f64,
    /// The mean of the sample weights.
    weight: f64,
}

impl Steps {
    /// The matrix in 16 bits if many steps are left after the first ones; `None` if all steps use tiles.
    fn compact(
        &self,
        gram: &dyn Gram,
        tiled: &CgProblem<'_>,
        state: &mut CgState,
        session: &Session<'_>,
        after: &mut dyn FnMut(&CgState),
    ) -> Result<Option<Compact>, LearnError> {
        let stores = self.may_store(gram) && self.many_to_go(tiled, state, session, after)?;
        Ok(if stores { self.stored(gram, session)? } else { None })
    }

    /// Takes steps on tiles, and decides after every [`STEPS_ON_TILES`] of them whether the problem needs many more.
    ///
    /// Storing the matrix takes the time of a few steps on tiles, and with a good preconditioner a few steps suffice.
    /// The errors of the first steps also matter most.
    fn many_to_go(
        &self,
        tiled: &CgProblem<'_>,
        state: &mut CgState,
        session: &Session<'_>,
        after: &mut dyn FnMut(&CgState),
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

    /// Whether the errors of a stored matrix may be small enough for λ, assuming that the values of a tile span a
    /// quarter of the largest value.
    fn may_store(&self, gram: &dyn Gram) -> bool {
        let largest = gram.diagonal().iter().copied().fold(0.0, f64::max);
        self.weight * StoreAs::I16.rounding(gram.nrows(), 0.25 * largest) <= ROUNDING_LIMIT * self.lambda
    }

    /// The kernel matrix in 16 bits, with an estimate of |Ev|/|v| for its weighted errors E; `None` if λ is too small
    /// for it.
    fn stored(&self, gram: &dyn Gram, session: &Session<'_>) -> Result<Option<Compact>, Stopped> {
        let Stored::Products { operator, rounding } = gram.store(StoreAs::I16, session)? else {
            return Ok(None);
        };
        let rounding = self.weight * rounding;
        Ok((rounding <= ROUNDING_LIMIT * self.lambda).then_some((operator, rounding)))
    }
}

/// A stored matrix, and an estimate of |Ev|/|v| for its errors E.
type Compact = (Box<dyn LinearOperator>, f64);

/// The largest error |Ev|/|v| of a stored matrix that is used, relative to λ. Their norm is about twice that, and each
/// round of conjugate gradients leaves about |E|/λ of the residual: half of it at the most.
const ROUNDING_LIMIT: f64 = 0.25;

/// The residual diagonal in single-precision tiles is rounding error below this fraction of the diagonal.
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

pub(super) fn in_double<'a>(samples: &'a AnySamples<'_>) -> AnySamples<'a> {
    match samples {
        AnySamples::F32(s) => AnySamples::F64(converted(s)),
        AnySamples::F64(_) => samples.view(),
    }
}
