//! The collapsed variational bound of a Gaussian process on inducing points, in passes over blocks of rows.

use crate::data::{AnySamples, Matrix, Number};
use crate::design::LandmarkChoice;
use crate::gram::{GramError, Part, Resident, Wanted};
use crate::kernel::Kernel;
use crate::linalg::dense::mirror_lower;
use crate::linalg::{NormalEquations, zeroed};
use crate::model::{Expansion, Facts, GaussianProcess};
use crate::session::Session;
use crate::solve::{Bound, InducingSums, Report, SolveError, Status};
use crate::watch::Watch;

use super::super::error::LearnError;
use super::super::fitted::{Answer, Fitted};
use super::super::problem::Problem;
use super::{Gp, GpObjective, Prepared, has_noise, unknowns};

/// Rows whose kernel values with the inducing points are held at a time.
const BLOCK: usize = 2_048;

/// Bytes that the matrices of so many inducing points and of a block of rows take.
pub(super) fn bytes(points: usize) -> u64 {
    let m = points as u64;
    m.saturating_mul(8 * (12 * m + 2 * BLOCK as u64))
}

/// Targets y of zero mean, to be explained by f ~ N(0, K) and noise of variance σ²/w, through f at inducing points.
pub(super) struct Inducing<'a> {
    /// The rows, a block at a time.
    blocks: Vec<Block>,
    points: Box<dyn Resident>,
    /// The kernel with its unknowns.
    kernel: &'a Kernel,
    /// σ² where it is given; learnt as the last unknown otherwise.
    noise: Option<f64>,
    outputs: usize,
    rows: usize,
    log_weights: f64,
}

struct Block {
    samples: Box<dyn Resident>,
    targets: Matrix<f64>,
    weights: Option<Vec<f64>>,
}

/// The bound and the kernel that it was computed with.
pub(super) struct Bounded {
    pub kernel: Kernel,
    pub noise: f64,
    pub bound: Bound,
}

impl<'a> Inducing<'a> {
    /// O(nd) time and memory.
    pub fn new(
        prepared: &'a Prepared,
        points: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let Prepared { samples, kernel, targets, noise, .. } = prepared;
        let weights = prepared.weights.as_deref();
        let n = samples.nrows();
        let block = |first: usize| {
            let rows: Vec<usize> = (first..n.min(first + BLOCK)).collect();
            Ok::<_, LearnError>(Block {
                samples: session.load(&samples.select(&rows).widened())?,
                targets: targets.select(&rows),
                weights: weights.map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            })
        };
        Ok(Self {
            blocks: (0..n).step_by(BLOCK).map(block).collect::<Result<_, _>>()?,
            points: session.load(&points.widened())?,
            kernel,
            noise: *noise,
            outputs: targets.ncols(),
            rows: n,
            log_weights: weights.map_or(0.0, |weights| weights.iter().map(|w| w.ln()).sum()),
        })
    }

    /// The values that `theta` stands for: those of the kernel, and σ².
    fn split(&self, theta: &[f64]) -> (Vec<f64>, f64) {
        let mut values: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        let noise = self.noise.unwrap_or_else(|| values.pop().unwrap_or(0.0));
        (values, noise)
    }

    /// The bound at `theta`; none where a matrix is not positive definite there.
    ///
    /// nM² multiply-adds in one pass over the rows, O(M²) memory beside the rows.
    pub fn bound(&self, theta: &[f64], session: &Session<'_>) -> Result<Option<Bounded>, LearnError> {
        let (values, noise) = self.split(theta);
        let kernel = self.kernel.with_values(&values)?;
        let m = self.points.nrows();
        let mut inducing = Matrix::zeros(m, m);
        let gram = self.points.gram(&kernel, Wanted::Double)?;
        gram.fill(Part::Full, inducing.entries_mut().into(), &session.part()).map_err(GramError::from)?;
        let mut sums = NormalEquations::new(m, self.outputs);
        let mut diagonal = 0.0;
        let mut phi = Matrix::zeros(0, m);
        for block in &self.blocks {
            session.check()?;
            if phi.nrows() != block.samples.nrows() {
                phi = Matrix::zeros(block.samples.nrows(), m);
            }
            self.fill(block, &kernel, phi.entries_mut(), session)?;
            sums.add(&phi, &block.targets, block.weights.as_deref(), &session.part())
                .map_err(|_| LearnError::Solve(SolveError::NotFinite))?;
            let own = block.samples.gram(&kernel, Wanted::Double)?;
            let own = own.diagonal();
            diagonal += match &block.weights {
                Some(weights) => own.iter().zip(weights).map(|(k, w)| k * w).sum::<f64>(),
                None => own.iter().sum(),
            };
        }
        let mut products = Matrix::from_entries(m, m, sums.lower());
        mirror_lower(&mut products);
        let sums = InducingSums {
            rows: self.rows,
            products,
            cross: sums.cross().clone(),
            target_squares: sums.target_squares().iter().sum(),
            diagonal,
            log_weights: self.log_weights,
        };
        match Bound::at(&inducing, &sums, noise, &session.part()) {
            Ok(bound) => Ok(Some(Bounded { kernel, noise, bound })),
            Err(SolveError::NegativePivot { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The bound at `theta` and its gradient; none where a matrix is not positive definite there.
    ///
    /// About 2nM² multiply-adds in two passes over the rows.
    pub fn evaluate(
        &self,
        theta: &[f64],
        session: &Session<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, LearnError> {
        let Some(Bounded { kernel, noise, bound }) = self.bound(theta, session)? else { return Ok(None) };
        let (values, _) = self.split(theta);
        let part = session.part();
        let derivatives = self.kernel.gradient(&values, self.points.ncols())?;
        let of_points = self.points.gradient(&derivatives, None)?;
        let mut gradient = of_points.contract(bound.by_inducing.entries(), &part).map_err(GramError::from)?;
        let m = self.points.nrows();
        let most = self.blocks.first().map_or(0, |block| block.samples.nrows());
        let (mut phi, mut weights) = (zeroed::<f64>(most * m), zeroed::<f64>(most * m));
        for block in &self.blocks {
            session.check()?;
            let n = block.samples.nrows();
            let (phi, adjoint) = (&mut phi[..n * m], &mut weights[..n * m]);
            self.fill(block, &kernel, phi, session)?;
            bound.by_rows(phi, block.targets.entries(), block.weights.as_deref(), adjoint);
            let of_rows = block.samples.gradient(&derivatives, Some(&*self.points))?;
            let by_rows = of_rows.contract(adjoint, &part).map_err(GramError::from)?;
            let own: Vec<f64> = match &block.weights {
                Some(weights) => weights.iter().map(|w| w * bound.by_diagonal).collect(),
                None => vec![bound.by_diagonal; n],
            };
            let by_diagonal = block.samples.gradient(&derivatives, None)?.contract_diagonal(&own);
            let parts = by_rows.into_iter().zip(by_diagonal);
            gradient.iter_mut().zip(parts).for_each(|(sum, (a, b))| *sum += a + b);
        }
        if self.noise.is_none() {
            gradient.push(bound.by_noise * noise);
        }
        Ok(Some((bound.value, gradient)))
    }

    /// The kernel values of a block of rows with the inducing points.
    fn fill(
        &self,
        block: &Block,
        kernel: &Kernel,
        out: &mut [f64],
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let cross = block.samples.cross(kernel, &*self.points)?;
        Ok(cross.fill(Part::Full, out.into(), &session.part()).map_err(GramError::from)?)
    }
}

impl Gp {
    /// Chooses inducing points among the rows: their numbers, and the rows.
    pub(super) fn inducing_points(
        &self,
        count: usize,
        prepared: &Prepared,
        session: &Session<'_>,
    ) -> Result<(Vec<usize>, AnySamples<'static>), LearnError> {
        if self.objective != GpObjective::Likelihood {
            return Err(LearnError::Unsupported("a process on inducing points maximises its likelihood"));
        }
        if has_noise(prepared.kernel.expr()) {
            return Err(LearnError::Unsupported(
                "a process on inducing points has its noise beside the kernel: leave noise(…) out of the kernel, or give --noise",
            ));
        }
        if prepared.noise == Some(0.0) {
            return Err(LearnError::Unsupported(
                "a process on inducing points needs noise above 0: give a larger --noise, or leave it to be learnt",
            ));
        }
        let samples = &prepared.samples;
        let chosen = LandmarkChoice::KMeansPlusPlus.choose(&prepared.kernel, samples, count, session)?;
        let points = samples.select(&chosen);
        Ok((chosen, points))
    }

    /// Trains on inducing points among the rows.
    pub(super) fn train_inducing(
        &self,
        count: usize,
        prepared: Prepared,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Fitted, LearnError> {
        let (chosen, points) = self.inducing_points(count, &prepared, session)?;
        let process = Inducing::new(&prepared, &points, session)?;
        let unknowns = &prepared.unknowns;
        let start: Vec<f64> = unknowns.iter().map(|unknown| unknown.start).collect();
        let learns = self.learn && !prepared.is_constant && !start.is_empty();
        let found = if learns {
            self.learnt(&mut |theta| process.evaluate(theta, session), unknowns, session)?
        } else {
            None
        };
        let theta = found.as_ref().map_or(&start, |found| &found.at);
        let Some(Bounded { kernel, noise, bound }) = process.bound(theta, session)? else {
            return Err(LearnError::Unsupported(
                "the kernel matrix of the inducing points is not positive definite; give fewer of them, or check that the kernel \
                 is one",
            ));
        };
        let mut warnings: Vec<String> = prepared.admitted.warning.iter().cloned().collect();
        if learns && found.is_none() {
            warnings
                .push("no start has a likelihood: the hyper-parameters stay where they started".to_owned());
        }
        if found.is_some() {
            warnings.extend(unknowns::bound_warnings(unknowns, theta));
        }
        let unfinished = found.as_ref().is_some_and(|minimum| !minimum.converged);
        let report = Report {
            status: if unfinished { Status::OutOfIterations } else { Status::Converged },
            solver: "inducing points".to_owned(),
            iterations: found.as_ref().map_or(0, |minimum| minimum.steps),
            residual: 0.0,
            reasons: Vec::new(),
            warnings,
        };
        let facts = Facts::new()
            .with("log_likelihood", Number(bound.value))
            .with("noise", Number(noise))
            .with("inducing_points", count)
            .with("parameters", unknowns::table(unknowns, theta));
        let Prepared { means, scales, admitted, .. } = prepared;
        let mut coefficients = bound.coefficients.clone();
        for i in 0..coefficients.nrows() {
            coefficients.row_mut(i).iter_mut().zip(&scales).for_each(|(a, scale)| *a *= scale);
        }
        let factors = if self.variance { Some(bound.into_factors(&session.part())?) } else { None };
        let (factor, posterior_factor) =
            factors.map(|(prior, posterior)| (prior.into_triangle(), posterior.into_triangle())).unzip();
        let model = GaussianProcess {
            mean: Expansion {
                kernel,
                domain: admitted.domain,
                centres: points,
                shift: None,
                coefficients,
                intercepts: means,
            },
            scales,
            noise,
            factor,
            posterior_factor,
            projection: None,
        };
        let answer = Answer { facts, centres: Some(chosen), ..Answer::new(model, report) };
        Ok(Fitted::new(self, problem, session, answer))
    }
}
