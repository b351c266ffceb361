//! The ways to do a task, with their operation counts.

use std::fmt;

use serde::Serialize;

use crate::data::Dtype;
use crate::gram::GramError;
use crate::solve::{MIXED_FROM, MIXED_LIMIT, normal_equations_bytes};

use super::calibrate::{Calibration, Growth, Streams};
use super::show::people_count;
use super::{Shape, Task, large};

/// A way to do a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
#[non_exhaustive]
pub enum Way {
    /// On the kernel matrix, with a Cholesky factor in double precision.
    DualDouble,
    /// On the kernel matrix, with a Cholesky factor in single precision, refined to the double-precision answer.
    DualMixed,
    /// On explicit features.
    Primal {
        /// D.
        features: u64,
    },
    /// On the kernel matrix in 16 bits or on tiles of it, by preconditioned conjugate gradients.
    ConjugateGradients,
    /// On random features that stand in for the kernel, in chunks.
    RandomFeatures {
        /// D.
        features: u64,
    },
    /// On landmarks that stand in for the kernel, in chunks.
    Landmarks {
        /// M.
        landmarks: u64,
    },
    /// With a kernel matrix that is computed once and kept.
    Stored,
    /// With a kernel matrix that is computed in every pass, tile by tile.
    Tiled,
    /// One reduction of the kernel matrix for all values of λ.
    Path,
    /// One Cholesky factor for every value of λ.
    Grid,
    /// Distances in tiles, of which only the smallest are kept.
    Search,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DualDouble => f.write_str("dual, double-precision factor"),
            Self::DualMixed => f.write_str("dual, single-precision factor, refined"),
            Self::Primal { features } => write!(f, "primal, {} features", people_count(*features)),
            Self::ConjugateGradients => f.write_str("conjugate gradients"),
            Self::RandomFeatures { features } => {
                write!(f, "approximate, {} random features", people_count(*features))
            }
            Self::Landmarks { landmarks } => write!(f, "approximate, {} landmarks", people_count(*landmarks)),
            Self::Stored => f.write_str("kernel matrix stored"),
            Self::Tiled => f.write_str("kernel values tile by tile, never stored"),
            Self::Path => f.write_str("one reduction for all values of λ"),
            Self::Grid => f.write_str("a Cholesky factor for every λ"),
            Self::Search => f.write_str("distances tile by tile, the smallest kept"),
        }
    }
}

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stage {
    /// What it is.
    pub name: &'static str,
    /// Its estimated time.
    pub seconds: f64,
}

/// A way and what it would cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The way.
    pub way: Way,
    /// Where its time goes.
    pub stages: Vec<Stage>,
    /// Bytes it takes at its peak.
    pub memory: u64,
    /// Whether that is within the budget.
    pub fits: bool,
    /// Whether it can give the answer at all.
    pub possible: bool,
    /// What speaks for or against it, in a sentence.
    pub remark: Option<String>,
}

impl Candidate {
    pub(super) fn new(way: Way, memory: f64, stages: &[(&'static str, f64)]) -> Self {
        let stages = stages.iter().map(|&(name, seconds)| Stage { name, seconds }).collect();
        Self { way, stages, memory: memory as u64, fits: true, possible: true, remark: None }
    }

    /// The estimated time.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}

/// Refinement steps of a well-posed problem.
const REFINEMENTS: f64 = 4.0;

/// Applications of the kernel matrix that choose the step of least mean squares and look at its answer.
const BESIDE_EPOCHS: f64 = 14.0;

/// Copies of the samples that are held: the caller's, the engine's, and the packed one.
const COPIES: f64 = 3.0;

/// Every way to do `task`, in the order in which they would be tried, at the rates of this machine.
pub(super) fn candidates(
    task: &Task,
    shape: Shape,
    budget: u64,
    calibration: &Calibration<'_>,
) -> Result<Vec<Candidate>, GramError> {
    match *task {
        Task::Gram => gram(shape, calibration),
        Task::Ridge { lambda, features } => ridge(shape, lambda, features, budget, calibration),
        Task::RidgeFeatures { features } => {
            let (factor, streams) = (calibration.cholesky::<f64>()?, calibration.memory()?);
            Ok(vec![primal(features, shape, factor, streams)])
        }
        Task::Lms { epochs, stochastic, features } => lms(shape, epochs, stochastic, features, calibration),
        Task::TuneRidge { kernels, lambdas } => tune_ridge(shape, kernels, lambdas, calibration),
        Task::Logistic => logistic(shape, calibration),
        Task::Perceptron { epochs } => perceptron(shape, epochs, calibration),
        Task::SupportVectors => support_vectors(shape, calibration),
        Task::Predict { queries } => {
            let pair = calibration.cross(shape.targets)?;
            Ok(vec![for_queries(shape, queries, Way::Tiled, ("kernel values", pair))])
        }
        Task::Smoother { queries } => {
            let pair = calibration.smooth(shape.targets)?;
            Ok(vec![for_queries(shape, queries, Way::Tiled, ("weights", pair))])
        }
        Task::Neighbours { queries, k } => {
            let pair = calibration.nearest(k)?;
            Ok(vec![for_queries(shape, queries, Way::Search, ("distances", pair))])
        }
    }
}

fn rows(shape: Shape) -> f64 {
    shape.rows as f64
}

fn size(shape: Shape) -> f64 {
    match shape.dtype {
        Dtype::F32 => 4.0,
        Dtype::F64 => 8.0,
    }
}

fn samples_bytes(shape: Shape) -> f64 {
    COPIES * rows(shape) * shape.columns as f64 * size(shape)
}

/// Entries of a triangle.
fn triangle(n: f64) -> f64 {
    n * (n + 1.0) / 2.0
}

fn gram(shape: Shape, calibration: &Calibration<'_>) -> Result<Vec<Candidate>, GramError> {
    let n = rows(shape);
    let fill = match shape.dtype {
        Dtype::F32 => calibration.fill::<f32>()?,
        Dtype::F64 => calibration.fill::<f64>()?,
    };
    let streams = calibration.memory()?;
    let bytes = n * n * size(shape);
    let stages = [("kernel matrix", triangle(n) * fill + bytes / 2.0 * streams.touch)];
    Ok(vec![Candidate::new(Way::Stored, bytes + samples_bytes(shape), &stages)])
}

/// n²/2 kernel values, n³/3 flops, a few products with the matrix to refine.
fn dual_double(
    n: f64,
    factor: Growth,
    [fill, apply]: [f64; 2],
    streams: Streams,
    samples_bytes: f64,
) -> Candidate {
    let refine = 2.0 * (8.0 * n * n * streams.read + triangle(n) * apply);
    let stages =
        [("kernel matrix", triangle(n) * fill), ("Cholesky factor", factor.at(n)), ("solving", refine)];
    Candidate::new(Way::DualDouble, 8.0 * n * n + samples_bytes, &stages)
}

fn dual_mixed(
    n: f64,
    factor: Growth,
    [fill, apply]: [f64; 2],
    streams: Streams,
    samples_bytes: f64,
) -> Candidate {
    let refine = REFINEMENTS * (4.0 * n * n * streams.read + triangle(n) * apply);
    let stages =
        [("kernel matrix", triangle(n) * fill), ("Cholesky factor", factor.at(n)), ("refining", refine)];
    Candidate::new(Way::DualMixed, 4.0 * n * n + samples_bytes, &stages)
}

fn ridge(
    shape: Shape,
    lambda: f64,
    features: Option<u64>,
    budget: u64,
    calibration: &Calibration<'_>,
) -> Result<Vec<Candidate>, GramError> {
    let n = rows(shape);
    // An intercept is one more right-hand side.
    let apply = calibration.apply(shape.targets + 1)?;
    let streams = calibration.memory()?;
    let double = calibration.cholesky::<f64>()?;
    let fill = calibration.fill::<f64>()?;
    let mut ways = Vec::new();
    if shape.rows >= MIXED_FROM && lambda > 0.0 {
        let single = calibration.cholesky::<f32>()?;
        let fill = calibration.fill::<f32>()?;
        let mut mixed = dual_mixed(n, single, [fill, apply], streams, samples_bytes(shape));
        let condition = calibration.frobenius(shape.rows)? / lambda;
        mixed.possible = condition * f64::from(f32::EPSILON) <= MIXED_LIMIT;
        mixed.remark = Some(format!(
            "at λ = {lambda} the condition number is at most about {condition:.0e}: a single-precision factor can{} be \
             refined to the double-precision answer",
            if mixed.possible { "" } else { "not" }
        ));
        ways.push(mixed);
    }
    ways.push(dual_double(n, double, [fill, apply], streams, samples_bytes(shape)));
    if let Some(features) = features {
        let (d, columns) = (features as f64, shape.columns as f64);
        let cheaper = n * d * d + d * d * d / 3.0 < n * n * columns + n * n * n / 3.0;
        let place = if cheaper { 0 } else { ways.len() };
        ways.insert(place, primal(features, shape, double, streams));
    }
    if shape.rows >= large::FROM {
        let rates = large::Rates { apply, streams };
        ways.extend(large::ways(shape, lambda, [samples_bytes(shape), budget as f64], rates, calibration)?);
    }
    Ok(ways)
}

/// n·D to compute the features, nD² + D³/3 for the normal equations.
fn primal(features: u64, shape: Shape, factor: Growth, streams: Streams) -> Candidate {
    let (n, d) = (rows(shape), features as f64);
    let stages = [
        ("features", n * d * 8.0 * (streams.touch + streams.read)),
        // A triangular half of nD² multiply-adds, at the rate of the n³/6 of a factor.
        ("normal equations", 3.0 * factor.cubic * n * d * d),
        ("Cholesky factor", factor.at(d)),
    ];
    let memory = normal_equations_bytes(shape.rows, features, 1) as f64 + samples_bytes(shape);
    Candidate::new(Way::Primal { features }, memory, &stages)
}

fn lms(
    shape: Shape,
    epochs: usize,
    stochastic: bool,
    features: Option<u64>,
    calibration: &Calibration<'_>,
) -> Result<Vec<Candidate>, GramError> {
    let n = rows(shape);
    let streams = calibration.memory()?;
    if let Some(features) = features {
        let bytes = 8.0 * n * features as f64;
        // Every product with Φ reads it once, and every epoch makes two of them.
        let passes = 2.0 * (epochs as f64 + BESIDE_EPOCHS);
        let stages =
            [("features", bytes * (streams.touch + streams.read)), ("epochs", passes * bytes * streams.read)];
        return Ok(vec![Candidate::new(Way::Primal { features }, bytes + samples_bytes(shape), &stages)]);
    }
    let matrix = n * n * size(shape);
    let fill = match shape.dtype {
        Dtype::F32 => calibration.fill::<f32>()?,
        Dtype::F64 => calibration.fill::<f64>()?,
    };
    let filling = triangle(n) * fill + matrix / 2.0 * streams.touch;
    let (epochs, beside) = (epochs as f64, if stochastic { 3.0 } else { BESIDE_EPOCHS });
    let apply = triangle(n) * calibration.apply(shape.targets)?;
    let (stored_epoch, tiled_epoch) = if stochastic {
        // A block of rows is copied, read, and its steps are brought to all residuals.
        let visit = 3.0 * n * n * 8.0 * streams.read;
        (visit, visit + n * n * calibration.cross(shape.targets)?)
    } else {
        (matrix * streams.read * shape.targets as f64, apply)
    };
    let beside_stored = beside * matrix * streams.read;
    Ok(vec![
        Candidate::new(
            Way::Stored,
            matrix + samples_bytes(shape),
            &[
                ("kernel matrix", filling),
                ("step and check", beside_stored),
                ("epochs", epochs * stored_epoch),
            ],
        ),
        Candidate::new(
            Way::Tiled,
            samples_bytes(shape) + 33.0 * 8.0 * n * shape.targets as f64,
            &[("step and check", beside * apply), ("epochs", epochs * tiled_epoch)],
        ),
    ])
}

/// Newton steps from zero to a small gradient.
const NEWTON_STEPS: f64 = 8.0;

/// Products with the kernel matrix in a Newton step, most of them in conjugate gradients.
const PRODUCTS: f64 = 8.0;

/// Newton's method with conjugate gradients inside: products with a kernel matrix that is stored or computed each time.
fn logistic(shape: Shape, calibration: &Calibration<'_>) -> Result<Vec<Candidate>, GramError> {
    let n = rows(shape);
    let streams = calibration.memory()?;
    // Rounded to single precision: Newton's steps correct for it.
    let bytes = 4.0 * n * n;
    let filling = triangle(n) * calibration.fill::<f32>()? + bytes / 2.0 * streams.touch;
    let outputs = shape.targets as f64;
    let products = NEWTON_STEPS * PRODUCTS;
    let stored = products * bytes * streams.read * outputs;
    let tiled = products * triangle(n) * calibration.apply(shape.targets)?;
    Ok(vec![
        Candidate::new(
            Way::Stored,
            bytes + samples_bytes(shape),
            &[("kernel matrix", filling), ("Newton steps", stored)],
        ),
        Candidate::new(Way::Tiled, samples_bytes(shape), &[("Newton steps", tiled)]),
    ])
}

/// At most one row of the kernel matrix a sample, where all are kept; a mistake adds one to all decisions. Half of the rows of
/// a pass are taken to be mistaken, which is what guessing does.
fn perceptron(
    shape: Shape,
    epochs: usize,
    calibration: &Calibration<'_>,
) -> Result<Vec<Candidate>, GramError> {
    let n = rows(shape);
    let streams = calibration.memory()?;
    let row = n * calibration.cross(1)?;
    let mistakes = 0.5 * n * epochs as f64;
    let update = 8.0 * n * streams.read * shape.targets as f64;
    Ok(vec![
        Candidate::new(
            Way::Stored,
            8.0 * n * n + samples_bytes(shape),
            &[("rows of the kernel matrix", n * row), ("mistakes", mistakes * update)],
        ),
        Candidate::new(
            Way::Tiled,
            samples_bytes(shape),
            &[("rows of the kernel matrix", mistakes * row), ("mistakes", mistakes * update)],
        ),
    ])
}

fn tune_ridge(
    shape: Shape,
    kernels: usize,
    lambdas: usize,
    calibration: &Calibration<'_>,
) -> Result<Vec<Candidate>, GramError> {
    let (n, kernels, lambdas) = (rows(shape), kernels as f64, lambdas as f64);
    let factor = calibration.cholesky::<f64>()?;
    let [reduce, one] = calibration.path()?;
    let fill = triangle(n) * calibration.fill::<f64>()?;
    let memory = 8.0 * n * n + samples_bytes(shape);
    let path = [
        ("kernel matrices", kernels * fill),
        ("reductions", kernels * reduce.at(n)),
        ("values of λ", kernels * lambdas * one.at(n)),
    ];
    let grid = [
        ("kernel matrices", kernels * lambdas * fill),
        ("Cholesky factors", kernels * lambdas * factor.at(n)),
        // The diagonal of the inverse is twice the work of the factor again.
        ("leave-one-out", kernels * lambdas * 2.0 * factor.at(n)),
    ];
    Ok(vec![Candidate::new(Way::Path, memory, &path), Candidate::new(Way::Grid, memory, &grid)])
}

/// Times that a kernel row is computed where too few are kept.
const AGAIN: f64 = 3.0;

/// Steps for each row, each of which reads a kernel row.
const STEPS: f64 = 2.0;

/// n² kernel values in single precision where every row becomes a support vector, and as many reads for each step of two
/// variables.
fn support_vectors(shape: Shape, calibration: &Calibration<'_>) -> Result<Vec<Candidate>, GramError> {
    let n = rows(shape);
    let (fill, streams) = (calibration.fill::<f32>()?, calibration.memory()?);
    let (values, steps) = (n * n * fill, STEPS * n * n * 4.0 * streams.read);
    let remark = "how many rows become support vectors is not known before: these are the times where all do. Few do where \
                  the classes are apart and C is small; a large C on classes that overlap takes several times as many steps";
    let mut kept = Candidate::new(
        Way::Stored,
        4.0 * n * n + samples_bytes(shape),
        &[("kernel rows", values), ("steps", steps)],
    );
    kept.remark = Some(remark.into());
    // The gradient, the variables and their bounds, and a block of rows.
    let least = 64.0 * n + 4.0 * 512.0 * n + samples_bytes(shape);
    let again = Candidate::new(Way::Tiled, least, &[("kernel rows", AGAIN * values), ("steps", steps)]);
    Ok(vec![kept, again])
}

/// Something done for every pair of a query and a sample, in tiles.
fn for_queries(shape: Shape, queries: usize, way: Way, (name, pair): (&'static str, f64)) -> Candidate {
    let (n, m) = (rows(shape), queries as f64);
    let memory = samples_bytes(shape) * (1.0 + m / n) + 8.0 * m * shape.targets as f64;
    Candidate::new(way, memory, &[(name, m * n * pair)])
}
