//! The algorithms for a task, with the operations and bytes of each.

use serde::Serialize;

use crate::gram::StoreAs;
use crate::real::Precision;
use crate::solve::{MIXED_FROM, normal_equations_bytes};

use super::{STEPS_ON_TILES, Size, Task};

/// An algorithm for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
#[non_exhaustive]
pub enum Algorithm {
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
    /// On random features that approximate the kernel, in chunks.
    RandomFeatures {
        /// D.
        features: u64,
    },
    /// On landmarks that approximate the kernel, in chunks.
    Landmarks {
        /// M.
        landmarks: u64,
    },
    /// With a kernel matrix that is computed once and stored.
    Stored,
    /// With a kernel matrix that is computed in every pass, tile by tile.
    Tiled,
    /// One reduction of the kernel matrix for all values of λ.
    Path,
    /// One Cholesky factor for every value of λ.
    Grid,
    /// Distances in tiles, of which only the smallest are stored.
    Search,
}

/// An operation with a measurable rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    /// An entry below the diagonal of the kernel matrix, computed and stored in this precision.
    Fill(Precision),
    /// An entry below the diagonal, computed and applied to this many columns without being stored.
    Apply(usize),
    /// An entry of the kernel matrix of two sets of samples, computed and applied to this many columns.
    Cross(usize),
    /// A Cholesky factor in this precision of a matrix of this order.
    Factor(Precision, f64),
    /// A multiply-add of a symmetric product, which computes a triangle, or of a triangular solve.
    Product(Precision),
    /// The reduction of a kernel matrix of this order for all values of λ.
    Reduce(f64),
    /// One λ on the reduction of a matrix of this order.
    Reduced(f64),
    /// A byte of a stored matrix that is applied.
    Read,
    /// A byte of fresh memory.
    Touch,
    /// One of this many random features of one row.
    Wave(usize),
    /// A pair of a query and a row while this many nearest rows are looked for.
    Nearest(usize),
    /// A pair of a query and a row while weighted means of this many targets are computed.
    Smooth(usize),
}

use Operation::{Apply, Cross, Factor, Fill, Nearest, Product, Read, Reduce, Reduced, Smooth, Touch, Wave};

/// A part of the work: its name and how often it does each operation.
pub type Stage = (&'static str, Vec<(f64, Operation)>);

/// An algorithm with its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The parts of the work.
    pub stages: Vec<Stage>,
    /// Peak memory in bytes.
    pub bytes: f64,
    /// A reason for or against it, in a sentence.
    pub remark: Option<String>,
}

impl Cost {
    fn new(algorithm: Algorithm, bytes: f64, stages: Vec<Stage>) -> Self {
        Self { algorithm, stages, bytes, remark: None }
    }

    fn remark(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }
}

/// Refinement steps of a well-posed problem.
const REFINEMENTS: f64 = 4.0;

/// Applications of the kernel matrix that choose the step of least mean squares and check its answer.
const BESIDE_EPOCHS: f64 = 14.0;

/// Copies of the samples in memory: the caller's, the engine's, and the packed one.
const COPIES: f64 = 3.0;

/// Newton steps of logistic regression, from zero to a small gradient.
const NEWTON_STEPS: f64 = 8.0;

/// Products with the kernel matrix in a Newton step, most of them in conjugate gradients.
const PRODUCTS: f64 = 8.0;

/// Times that a kernel row of a support vector machine is computed if too few are cached.
const AGAIN: f64 = 3.0;

/// Steps of a support vector machine for each row, each of which reads a kernel row.
const SVM_STEPS: f64 = 2.0;

/// The number of rows from which algorithms without a kernel matrix are considered.
const LARGE: usize = 5_000;

/// Steps of conjugate gradients at λ = 1, and for every tenth of it, with the default preconditioner and residual.
const CG_STEPS: (f64, f64) = (25.0, 25.0);

impl Task {
    /// Every algorithm for the task, in order of preference. `random_features` says whether the kernel has random
    /// features, `budget` how many bytes may be used.
    #[must_use]
    pub fn costs(&self, size: Size, random_features: bool, budget: u64) -> Vec<Cost> {
        let work = Work { size, n: size.rows as f64, samples: samples_bytes(size) };
        match *self {
            Self::Gram => vec![work.gram()],
            Self::Ridge { lambda, features } => work.ridge(lambda, features, random_features, budget as f64),
            Self::RidgeFeatures { features } => vec![work.primal(features)],
            Self::Lms { epochs, features: Some(features), .. } => vec![work.lms_features(epochs, features)],
            Self::Lms { epochs, stochastic, .. } => work.lms(epochs as f64, stochastic),
            Self::TuneRidge { kernels, lambdas } => work.tune_ridge(kernels as f64, lambdas as f64),
            Self::Logistic => work.logistic(),
            Self::Perceptron { epochs } => work.perceptron(epochs as f64),
            Self::GaussianProcess { evaluations } => {
                work.gaussian_processes(evaluations as f64, budget as f64)
            }
            Self::SupportVectors => work.support_vectors(),
            Self::Predict { queries } => {
                vec![work.for_queries(queries, Algorithm::Tiled, ("kernel values", Cross(size.targets)))]
            }
            Self::Smoother { queries } => {
                vec![work.for_queries(queries, Algorithm::Tiled, ("weights", Smooth(size.targets)))]
            }
            Self::Neighbours { queries, k } => {
                vec![work.for_queries(queries, Algorithm::Search, ("distances", Nearest(k)))]
            }
        }
    }
}

fn samples_bytes(size: Size) -> f64 {
    COPIES * size.rows as f64 * size.columns as f64 * size.dtype.bytes() as f64
}

/// A problem of n rows.
#[derive(Clone, Copy)]
struct Work {
    size: Size,
    n: f64,
    /// Bytes of the samples.
    samples: f64,
}

impl Work {
    /// Entries of a triangle of the kernel matrix.
    fn triangle(self) -> f64 {
        self.n * (self.n + 1.0) / 2.0
    }

    /// The kernel matrix, computed and stored in this precision.
    fn filling(self, dtype: Precision) -> Vec<(f64, Operation)> {
        vec![(self.triangle(), Fill(dtype)), (self.n * self.n * dtype.bytes() as f64 / 2.0, Touch)]
    }

    fn gram(self) -> Cost {
        let Size { dtype, .. } = self.size;
        let bytes = self.n * self.n * dtype.bytes() as f64;
        Cost::new(Algorithm::Stored, bytes + self.samples, vec![("kernel matrix", self.filling(dtype))])
    }

    /// n²/2 kernel values, n³/3 multiply-adds, and a few products with the matrix to solve or refine.
    fn dual(self, algorithm: Algorithm, dtype: Precision, (last, products): (&'static str, f64)) -> Cost {
        let (n, bytes) = (self.n, self.n * self.n * dtype.bytes() as f64);
        // An intercept is one more right-hand side.
        let product =
            vec![(products * bytes, Read), (products * self.triangle(), Apply(self.size.targets + 1))];
        let stages = vec![
            ("kernel matrix", vec![(self.triangle(), Fill(dtype))]),
            ("Cholesky factor", vec![(1.0, Factor(dtype, n))]),
            (last, product),
        ];
        Cost::new(algorithm, bytes + self.samples, stages)
    }

    /// In the order of exactness.
    fn gaussian_processes(self, evaluations: f64, budget: f64) -> Vec<Cost> {
        vec![
            self.gaussian_process(evaluations),
            self.iterative_process(evaluations, budget),
            self.inducing_process(evaluations, budget),
        ]
    }

    /// The derivatives of n²/2 kernel values, about one per column, counted as kernel values.
    fn derivatives(self, evaluations: f64, pairs: f64) -> Stage {
        let values = pairs * (1.0 + self.size.columns as f64 / 8.0);
        ("derivatives", vec![(evaluations * values, Fill(Precision::Double))])
    }

    /// For each evaluation of the likelihood and its gradient n²/2 kernel values, n³/3 multiply-adds for the factor, 2n³/3 for the
    /// inverse, and n²/2 values of each derivative.
    fn gaussian_process(self, evaluations: f64) -> Cost {
        let (n, each) = (self.n, self.filling(Precision::Double));
        let stages = vec![
            ("kernel matrices", each.into_iter().map(|(count, of)| (evaluations * count, of)).collect()),
            ("Cholesky factors", vec![(evaluations, Factor(Precision::Double, n))]),
            ("inverses", vec![(evaluations * 2.0 * n * n * n / 3.0, Product(Precision::Double))]),
            self.derivatives(evaluations, self.triangle()),
        ];
        Cost::new(Algorithm::DualDouble, super::gp_exact_bytes(self.size.rows) as f64 + self.samples, stages)
    }

    /// For each evaluation a preconditioner, and products with the matrix for the targets and the probes in every step.
    fn iterative_process(self, evaluations: f64, budget: f64) -> Cost {
        let Size { rows, targets, .. } = self.size;
        let (n, k) = (self.n, super::gp_rank(rows) as f64);
        let columns = targets + super::GP_PROBES;
        let products = evaluations * super::GP_STEPS;
        let (bytes, matrix) = (super::gp_cg_bytes(rows, targets) as f64 + self.samples, 8.0 * n * n);
        let stores = bytes + matrix <= budget;
        let steps = if stores {
            vec![
                (evaluations * self.triangle(), Fill(Precision::Double)),
                (products * matrix, Read),
                (products * self.triangle() * columns as f64, Product(Precision::Double)),
            ]
        } else {
            vec![(products * self.triangle(), Apply(columns))]
        };
        let stages = vec![
            (
                "preconditioners",
                vec![(evaluations * n * k, Cross(1)), (evaluations * n * k * k, Product(Precision::Double))],
            ),
            ("estimated number of steps", steps),
            self.derivatives(evaluations, self.triangle()),
        ];
        let bytes = if stores { bytes + matrix } else { bytes };
        Cost::new(Algorithm::ConjugateGradients, bytes, stages).remark(format!(
            "conjugate gradients (--solver cg) are the same process {} its matrix; the determinant in its likelihood is estimated from {} \
             random probes, and its variance is from {k} sums of the targets",
            if stores { "without a factor of" } else { "without" },
            super::GP_PROBES
        ))
    }

    /// For each evaluation two passes over the rows, each with nM kernel values and nM² multiply-adds.
    fn inducing_process(self, evaluations: f64, budget: f64) -> Cost {
        let points = super::gp_points(self.size.rows, budget as u64);
        let (n, m) = (self.n, points as f64);
        let stages = vec![
            ("kernel values", vec![(2.0 * evaluations * n * m, Cross(1))]),
            ("sums", vec![(2.0 * evaluations * n * m * m, Product(Precision::Double))]),
            self.derivatives(evaluations, n * m),
        ];
        let bytes = super::gp_inducing_bytes(points) as f64 + self.samples;
        Cost::new(Algorithm::Landmarks { landmarks: points as u64 }, bytes, stages).remark(format!(
            "{points} inducing points (--approx nystrom:{points}) maximise a lower bound of the likelihood, and approximate the \
             exact process well if the function is smooth at their distance"
        ))
    }

    /// n·D to compute the features, nD² + D³/3 for the normal equations.
    fn primal(self, features: u64) -> Cost {
        let (n, d) = (self.n, features as f64);
        let stages = vec![
            ("features", vec![(n * d * 8.0, Touch), (n * d * 8.0, Read)]),
            ("normal equations", vec![(n * d * d, Product(Precision::Double))]),
            ("Cholesky factor", vec![(1.0, Factor(Precision::Double, d))]),
        ];
        let bytes = normal_equations_bytes(self.size.rows, features, 1) as f64 + self.samples;
        Cost::new(Algorithm::Primal { features }, bytes, stages)
    }

    fn ridge(self, lambda: f64, features: Option<u64>, random_features: bool, budget: f64) -> Vec<Cost> {
        let Size { rows, columns, .. } = self.size;
        let mut costs = Vec::new();
        if rows >= MIXED_FROM && lambda > 0.0 {
            costs.push(self.dual(Algorithm::DualMixed, Precision::Single, ("refining", REFINEMENTS)));
        }
        costs.push(self.dual(Algorithm::DualDouble, Precision::Double, ("solving", 2.0)));
        if let Some(features) = features {
            let cheaper = super::primal_ridge(rows, features) < super::dual_ridge(rows, columns);
            costs.insert(if cheaper { 0 } else { costs.len() }, self.primal(features));
        }
        if rows >= LARGE {
            if lambda > 0.0 {
                costs.push(self.conjugate_gradients(lambda, budget));
            }
            if random_features {
                costs.push(self.random_features());
            }
            costs.push(self.landmarks());
        }
        costs
    }

    fn conjugate_gradients(self, lambda: f64, budget: f64) -> Cost {
        let Size { rows, targets, dtype, .. } = self.size;
        let rank = super::preconditioner_rank(rows);
        let (n, k, apply) = (self.n, rank as f64, Apply(targets + 1));
        let steps = CG_STEPS.0 + CG_STEPS.1 * (-lambda.log10()).max(0.0);
        let bytes = super::cg_bytes(rows, rank, targets) as f64 + self.samples;
        let matrix = StoreAs::I16.bytes(rows) as f64;
        let stores = bytes + matrix <= budget;
        let on_tiles = if stores { steps.min(STEPS_ON_TILES as f64) } else { steps };
        let mut stages = vec![("preconditioner", vec![(n * k, Cross(1)), (n * k * k, Product(dtype))])];
        if stores {
            stages.push(("kernel matrix in 16 bits", vec![(self.triangle(), apply), (matrix, Touch)]));
        }
        let products = vec![(on_tiles * self.triangle(), apply), ((steps - on_tiles) * matrix, Read)];
        stages.push(("estimated number of steps", products));
        let bytes = if stores { bytes + matrix } else { bytes };
        Cost::new(Algorithm::ConjugateGradients, bytes, stages).remark(format!(
            "conjugate gradients (--solver cg) solve the same problem {}, in about {steps:.0} steps",
            if stores { "with its matrix in 16 bits" } else { "without its matrix" }
        ))
    }

    /// The number of approximate features, and the bytes of the sums over them.
    fn approximation(self) -> (usize, f64) {
        let features = super::suggested_features(self.size.rows as u64);
        (features, 3.0 * super::sums_bytes(features, self.size.targets) as f64)
    }

    fn random_features(self) -> Cost {
        let (features, bytes) = self.approximation();
        let (n, d, dtype) = (self.n, features as f64, self.size.dtype);
        let stages = vec![
            ("features", vec![(n * d, Wave(features))]),
            ("sums", vec![(n * d * d, Product(dtype))]),
            ("Cholesky factor", vec![(1.0, Factor(dtype, d))]),
        ];
        Cost::new(Algorithm::RandomFeatures { features: features as u64 }, bytes, stages).remark(format!(
            "{features} random features (--approx fourier:{features}) hold no rows: the file may be larger than memory"
        ))
    }

    fn landmarks(self) -> Cost {
        let (landmarks, bytes) = self.approximation();
        let (n, m, dtype) = (self.n, landmarks as f64, self.size.dtype);
        let stages = vec![
            ("kernel values with landmarks", vec![(n * m, Cross(1))]),
            // A triangular solve of nM² multiply-adds in all, and as many in the sums.
            ("whitening", vec![(n * m * m, Product(dtype))]),
            ("sums", vec![(n * m * m, Product(dtype))]),
            ("Cholesky factor", vec![(1.0, Factor(dtype, m))]),
        ];
        Cost::new(Algorithm::Landmarks { landmarks: landmarks as u64 }, bytes, stages).remark(format!(
            "{landmarks} landmarks (--approx nystrom:{landmarks}) suit every kernel, smooth ones and few columns best"
        ))
    }

    fn lms_features(self, epochs: usize, features: u64) -> Cost {
        let bytes = 8.0 * self.n * features as f64;
        // Every product with Φ reads it once, and every epoch makes two of them.
        let passes = 2.0 * (epochs as f64 + BESIDE_EPOCHS);
        let stages =
            vec![("features", vec![(bytes, Touch), (bytes, Read)]), ("epochs", vec![(passes * bytes, Read)])];
        Cost::new(Algorithm::Primal { features }, bytes + self.samples, stages)
    }

    fn lms(self, epochs: f64, stochastic: bool) -> Vec<Cost> {
        let Size { targets, dtype, .. } = self.size;
        let (n, matrix) = (self.n, self.n * self.n * dtype.bytes() as f64);
        let beside = if stochastic { 3.0 } else { BESIDE_EPOCHS };
        let (stored, tiled) = if stochastic {
            // A block of rows is copied and read, and its steps are applied to all residuals.
            let visit = (epochs * 3.0 * n * n * 8.0, Read);
            (vec![visit], vec![visit, (epochs * n * n, Cross(targets))])
        } else {
            let stored = (epochs * matrix * targets as f64, Read);
            (vec![stored], vec![(epochs * self.triangle(), Apply(targets))])
        };
        let on_matrix = vec![
            ("kernel matrix", self.filling(dtype)),
            ("step and check", vec![(beside * matrix, Read)]),
            ("epochs", stored),
        ];
        let on_tiles =
            vec![("step and check", vec![(beside * self.triangle(), Apply(targets))]), ("epochs", tiled)];
        let sums = 33.0 * 8.0 * n * targets as f64;
        vec![
            Cost::new(Algorithm::Stored, matrix + self.samples, on_matrix),
            Cost::new(Algorithm::Tiled, self.samples + sums, on_tiles),
        ]
    }

    /// Newton's method with conjugate gradients inside: products with a kernel matrix that is stored or computed each time.
    fn logistic(self) -> Vec<Cost> {
        let outputs = self.size.targets;
        // Rounded to single precision: Newton's steps correct the rounding errors.
        let bytes = 4.0 * self.n * self.n;
        let products = NEWTON_STEPS * PRODUCTS;
        let stored = vec![
            ("kernel matrix", self.filling(Precision::Single)),
            ("Newton steps", vec![(products * bytes * outputs as f64, Read)]),
        ];
        let tiled = vec![("Newton steps", vec![(products * self.triangle(), Apply(outputs))])];
        vec![
            Cost::new(Algorithm::Stored, bytes + self.samples, stored),
            Cost::new(Algorithm::Tiled, self.samples, tiled),
        ]
    }

    /// At most one row of the kernel matrix for each sample, if all are cached; a mistake adds one to all decisions.
    /// The estimate assumes mistakes on half of the rows of a pass, as for random predictions.
    fn perceptron(self, epochs: f64) -> Vec<Cost> {
        let n = self.n;
        let mistakes = 0.5 * n * epochs;
        let updates = vec![(mistakes * 8.0 * n * self.size.targets as f64, Read)];
        let cost = |algorithm, bytes, rows: f64| {
            let rows = ("rows of the kernel matrix", vec![(rows * n, Cross(1))]);
            Cost::new(algorithm, bytes + self.samples, vec![rows, ("mistakes", updates.clone())])
        };
        vec![cost(Algorithm::Stored, 8.0 * n * n, n), cost(Algorithm::Tiled, 0.0, mistakes)]
    }

    fn tune_ridge(self, kernels: f64, lambdas: f64) -> Vec<Cost> {
        let (n, fits) = (self.n, kernels * lambdas);
        let bytes = 8.0 * n * n + self.samples;
        let fill = |times: f64| ("kernel matrices", vec![(times * self.triangle(), Fill(Precision::Double))]);
        let path = vec![
            fill(kernels),
            ("reductions", vec![(kernels, Reduce(n))]),
            ("values of λ", vec![(fits, Reduced(n))]),
        ];
        let grid = vec![
            fill(fits),
            ("Cholesky factors", vec![(fits, Factor(Precision::Double, n))]),
            // The diagonal of the inverse takes twice the work of the factor.
            ("leave-one-out", vec![(2.0 * fits, Factor(Precision::Double, n))]),
        ];
        vec![Cost::new(Algorithm::Path, bytes, path), Cost::new(Algorithm::Grid, bytes, grid)]
    }

    /// n² kernel values in single precision if every row becomes a support vector, and a read of a row for each step of
    /// two variables.
    fn support_vectors(self) -> Vec<Cost> {
        let (n, values) = (self.n, self.n * self.n);
        let cost = |algorithm, bytes, times: f64| {
            let rows = ("kernel rows", vec![(times * values, Fill(Precision::Single))]);
            let steps = ("steps", vec![(SVM_STEPS * values * 4.0, Read)]);
            Cost::new(algorithm, bytes + self.samples, vec![rows, steps])
        };
        let kept = cost(Algorithm::Stored, 4.0 * values, 1.0).remark(
            "the number of support vectors is not known in advance: these times assume that every row becomes one. Data with \
             little noise give few; a large C on noisy data takes several times as many steps",
        );
        // The gradient, the variables and their bounds, and a block of rows.
        vec![kept, cost(Algorithm::Tiled, 64.0 * n + 4.0 * 512.0 * n, AGAIN)]
    }

    /// One operation for every pair of a query and a sample, in tiles.
    fn for_queries(
        self,
        queries: usize,
        algorithm: Algorithm,
        (name, pair): (&'static str, Operation),
    ) -> Cost {
        let m = queries as f64;
        let bytes = self.samples * (1.0 + m / self.n) + 8.0 * m * self.size.targets as f64;
        Cost::new(algorithm, bytes, vec![(name, vec![(m * self.n, pair)])])
    }
}
