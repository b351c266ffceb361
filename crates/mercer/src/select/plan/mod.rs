//! Estimates the cost of each algorithm for a piece of work on this machine, and selects one, before the work starts.
//!
//! Costs are operation counts of the methods at measured rates: the routines that would run are timed with this kernel
//! on these rows, or on rows of the same shape, at sizes that take milliseconds. All measurements take less than a
//! second.

mod calibrate;
mod reasons;
mod show;

use std::time::Instant;

use serde::Serialize;

use crate::data::AnySamples;
use crate::gram::GramError;
use crate::kernel::{Kernel, ResolveError};
use crate::learn::cost::{self, Algorithm, Cost, Size, Task};
use crate::real::Precision;
use crate::session::Session;
use crate::solve::MIXED_LIMIT;
use crate::watch::Watch;

use calibrate::Calibration;

pub use show::{people_count, people_seconds};

/// Seconds of an exact method above which approximate ones are considered.
const PATIENCE: f64 = 600.0;

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stage {
    /// The operation.
    pub name: &'static str,
    /// Its estimated time.
    pub seconds: f64,
}

/// An algorithm and its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The algorithm.
    #[serde(rename = "way")]
    pub algorithm: Algorithm,
    /// The parts of its time.
    pub stages: Vec<Stage>,
    /// Its peak memory in bytes.
    pub memory: u64,
    /// Whether the memory is within the budget.
    pub fits: bool,
    /// Whether it can solve the problem.
    pub possible: bool,
    /// A reason for or against it, in a sentence.
    pub remark: Option<String>,
}

impl Candidate {
    /// An algorithm at the rates of this machine.
    fn new(cost: Cost, budget: u64, calibration: &mut Calibration<'_>) -> Result<Self, GramError> {
        let memory = cost.bytes as u64;
        let mut stages = Vec::with_capacity(cost.stages.len());
        for (name, work) in cost.stages {
            let mut seconds = 0.0;
            for (count, operation) in work {
                seconds += count * calibration.seconds(operation)?;
            }
            stages.push(Stage { name, seconds });
        }
        let (algorithm, remark) = (cost.algorithm, cost.remark);
        Ok(Self { algorithm, stages, memory, fits: memory <= budget, possible: true, remark })
    }

    /// Decides whether a single-precision factor can be refined at this λ.
    fn judge(&mut self, lambda: f64, rows: usize, calibration: &Calibration<'_>) -> Result<(), GramError> {
        let condition = calibration.frobenius(rows)? / lambda;
        self.possible = condition * f64::from(f32::EPSILON) <= MIXED_LIMIT;
        self.remark = Some(format!(
            "at λ = {lambda} the condition number is at most about {condition:.0e}: a single-precision factor can{} be \
             refined to the double-precision answer",
            if self.possible { "" } else { "not" }
        ));
        Ok(())
    }

    /// The estimated time.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}

/// The selected algorithm, its cost and the reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// The work.
    pub task: Task,
    /// The kernel, as it was given.
    pub kernel: Kernel,
    /// The size of the problem.
    pub shape: Size,
    /// Bytes that may be used.
    pub budget: u64,
    /// The selected algorithm.
    pub chosen: Candidate,
    /// The other algorithms, from the fastest to the slowest.
    pub alternatives: Vec<Candidate>,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
    /// The time of the measurements.
    pub calibration_seconds: f64,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The problem is empty.
    #[error(
        "there are {rows} rows, {columns} feature columns and {targets} targets; a plan needs at least one of each"
    )]
    Empty {
        /// The number of rows.
        rows: usize,
        /// The number of feature columns.
        columns: usize,
        /// The number of targets.
        targets: usize,
    },
    /// A hyper-parameter of the kernel cannot become a number.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The kernel does not fit the samples, or the measurements were stopped.
    #[error(transparent)]
    Gram(#[from] GramError),
}

impl PlanError {
    /// Whether the work ended because its session asked for it.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Gram(GramError::Stopped(_)))
    }
}

impl Plan {
    /// The plan for work on `rows` rows with this number of targets, of which `samples` are all or, of a file that is larger than
    /// memory, a part.
    ///
    /// `auto` and `?` in the kernel are measured with typical values. Measures for less than a second, on the
    /// threads of the pool it is called in.
    ///
    /// # Errors
    /// If there are no samples, the kernel does not fit them, or the session asks to stop.
    pub fn for_samples(
        task: Task,
        kernel: &Kernel,
        samples: &AnySamples<'_>,
        (rows, targets): (usize, usize),
        session: &Session<'_>,
    ) -> Result<Self, PlanError> {
        let dtype = if matches!(samples, AnySamples::F32(_)) { Precision::Single } else { Precision::Double };
        let shape = Size { rows, columns: samples.ncols(), targets, dtype };
        Self::new(task, kernel, shape, Some(samples), session)
    }

    /// The plan for work on dense samples of which only the shape is known; the measurements are on normally distributed ones.
    ///
    /// # Errors
    /// As [`for_samples`](Self::for_samples).
    pub fn for_shape(
        task: Task,
        kernel: &Kernel,
        shape: Size,
        session: &Session<'_>,
    ) -> Result<Self, PlanError> {
        Self::new(task, kernel, shape, None, session)
    }

    fn new(
        task: Task,
        kernel: &Kernel,
        shape: Size,
        samples: Option<&AnySamples<'_>>,
        session: &Session<'_>,
    ) -> Result<Self, PlanError> {
        let Size { rows, columns, targets, .. } = shape;
        if rows == 0 || columns == 0 || targets == 0 {
            return Err(PlanError::Empty { rows, columns, targets });
        }
        kernel.check_columns(columns).map_err(GramError::from)?;
        let clock = Instant::now();
        session.begin("measuring this machine", 0);
        let mut calibration = Calibration::new(kernel, shape, samples, session)?;
        // As the learners: only ridge regression stores its matrices where the engine computes them.
        let budget = match task {
            Task::Ridge { .. } => session.matrix_memory(),
            _ => session.memory(),
        };
        let mut candidates = Vec::new();
        for cost in task.costs(shape, calibration.has_random_features(), budget) {
            let mut candidate = Candidate::new(cost, budget, &mut calibration)?;
            if let (Task::Ridge { lambda, .. }, Algorithm::DualMixed) = (task, candidate.algorithm) {
                candidate.judge(lambda, rows, &calibration)?;
            }
            candidates.push(candidate);
        }
        let calibration_seconds = clock.elapsed().as_secs_f64();
        // They come in the order in which the work itself would try them. If nothing fits, the one that needs the least
        // memory.
        let usable = |c: &Candidate| c.fits && c.possible;
        let first = match task {
            // An approximate method is selected only if the exact one would take very long.
            Task::Ridge { .. } => {
                let soon = candidates.iter().position(|c| usable(c) && c.seconds() <= PATIENCE);
                let quickest = (0..candidates.len()).filter(|&i| usable(&candidates[i]));
                soon.or(quickest.min_by(|&i, &j| candidates[i].seconds().total_cmp(&candidates[j].seconds())))
            }
            // The learner's own choice, which counts operations and does not use measured times.
            Task::GaussianProcess { evaluations } => {
                let algorithm = cost::gp_algorithm(shape, evaluations, budget);
                candidates.iter().position(|candidate| candidate.algorithm == algorithm)
            }
            _ => candidates.iter().position(usable),
        };
        let place = first.unwrap_or_else(|| {
            let order = |i: &usize| (!candidates[*i].possible, candidates[*i].memory);
            (0..candidates.len()).min_by_key(order).unwrap_or(0)
        });
        let chosen = candidates.remove(place);
        candidates.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let reasons = reasons::reasons(&task, shape, budget, &chosen, &candidates);
        Ok(Self {
            task,
            kernel: kernel.clone(),
            shape,
            budget,
            chosen,
            alternatives: candidates,
            reasons,
            calibration_seconds,
        })
    }
}
