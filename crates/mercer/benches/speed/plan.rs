//! Compares what a plan says with what the work takes: `plan [THREADS] [NAME]`.
//!
//! Each line is a case, the estimate, the time it took, and the quotient of the two. Estimates and work take turns, so that
//! other work on the machine disturbs both.

use std::time::Instant;

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::cost::{Algorithm, Task};
use mercer::learn::{Learner, Lms, LmsSolver, Problem, Ridge, RidgeSolver};
use mercer::model::Expansion;
use mercer::pool;
use mercer::select::plan::Plan;
use mercer::session::Session;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn normal(rows: usize, columns: usize, single: bool) -> AnySamples<'static> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let entries: Vec<f64> =
        (0..rows * columns).map(|_| random.sample::<f64, _>(rand_distr::StandardNormal)).collect();
    if single {
        let entries: Vec<f32> = entries.iter().map(|v| *v as f32).collect();
        AnySamples::F32(Samples::dense(rows, columns, entries).expect("rows × columns entries"))
    } else {
        AnySamples::F64(Samples::dense(rows, columns, entries).expect("rows × columns entries"))
    }
}

struct Case {
    name: &'static str,
    rows: usize,
    columns: usize,
    single: bool,
    task: Task,
    algorithm: Algorithm,
}

impl Case {
    /// The time the plan gives for this algorithm, and what measuring took.
    fn estimate(&self, kernel: &Kernel, samples: &AnySamples<'_>) -> (f64, f64) {
        let plan = Plan::for_samples(self.task, kernel, samples, (samples.nrows(), 1), &Session::default())
            .expect("a plan");
        let mut algorithms = std::iter::once(&plan.chosen).chain(&plan.alternatives);
        let algorithm = algorithms
            .find(|candidate| candidate.algorithm == self.algorithm)
            .expect("the algorithm is one of the task's");
        (algorithm.seconds(), plan.calibration_seconds)
    }

    fn work(&self, kernel: &Kernel, samples: &AnySamples<'_>) -> f64 {
        let y: Vec<f64> = (0..self.rows).map(|i| (i as f64).sin()).collect();
        let targets = Matrix::from_entries(self.rows, 1, y);
        let clock = Instant::now();
        match self.task {
            Task::Ridge { lambda, .. } => {
                let mixed = self.algorithm == Algorithm::DualMixed;
                let method = if mixed { RidgeSolver::Mixed } else { RidgeSolver::Cholesky };
                let ridge = Ridge::new(kernel.clone()).lambda(lambda).solver(method);
                ridge.fit(samples.view(), &targets).expect("a fit");
            }
            Task::Lms { epochs, stochastic, .. } => {
                let method = if stochastic { LmsSolver::Sgd } else { LmsSolver::Batch };
                let session = Session::default();
                let session =
                    if self.algorithm == Algorithm::Tiled { session.with_memory(1) } else { session };
                let lms = Lms::new(kernel.clone()).epochs(epochs).solver(method).tol(0.0);
                lms.train(&Problem::new(samples, &targets), &session).expect("a fit");
            }
            Task::Predict { .. } => {
                let model = Expansion {
                    kernel: kernel.clone(),
                    domain: None,
                    centres: samples.view().into_owned(),
                    shift: None,
                    coefficients: targets,
                    intercepts: vec![0.0],
                };
                model.predict(samples, &Session::default()).expect("predictions");
            }
            _ => {
                let resident = Session::default().load(samples).expect("room");
                if self.single {
                    DenseGram::<f32>::compute(&*resident, kernel, &Session::default()).expect("a matrix");
                } else {
                    DenseGram::<f64>::compute(&*resident, kernel, &Session::default()).expect("a matrix");
                }
            }
        }
        clock.elapsed().as_secs_f64()
    }
}

pub fn run(arguments: &[String]) {
    let threads = arguments.first().and_then(|a| a.parse().ok()).unwrap_or_else(pool::available);
    let wanted = arguments.get(1).cloned().unwrap_or_default();
    let ridge = Task::Ridge { lambda: 1.0, features: None };
    let lms = |stochastic| Task::Lms { epochs: 50, stochastic, features: None };
    let case =
        |name, rows, columns, single, task, algorithm| Case { name, rows, columns, single, task, algorithm };
    let cases = [
        case("gram f64 n=8000 d=16", 8_000, 16, false, Task::Gram, Algorithm::Stored),
        case("gram f32 n=8000 d=128", 8_000, 128, true, Task::Gram, Algorithm::Stored),
        case("predict 10000 x 10000", 10_000, 10, false, Task::Predict { queries: 10_000 }, Algorithm::Tiled),
        case("ridge double n=2000", 2_000, 10, false, ridge, Algorithm::DualDouble),
        case("ridge mixed n=2000", 2_000, 10, false, ridge, Algorithm::DualMixed),
        case("ridge double n=10000", 10_000, 10, false, ridge, Algorithm::DualDouble),
        case("ridge mixed n=10000", 10_000, 10, false, ridge, Algorithm::DualMixed),
        case("lms stored n=5000", 5_000, 10, false, lms(false), Algorithm::Stored),
        case("lms tiled n=5000", 5_000, 10, false, lms(false), Algorithm::Tiled),
        case("lms stored n=5000, sgd", 5_000, 10, false, lms(true), Algorithm::Stored),
        case("lms tiled n=5000, sgd", 5_000, 10, false, lms(true), Algorithm::Tiled),
    ];
    println!("{:<24} {:>9} {:>9} {:>9} {:>12}", "", "estimate", "real", "quotient", "calibration");
    pool::with(Some(threads), || {
        for case in cases.iter().filter(|case| case.name.contains(&wanted)) {
            let samples = normal(case.rows, case.columns, case.single);
            let kernel: Kernel =
                format!("rbf(gamma={})", 1.0 / case.columns as f64).parse().expect("a kernel");
            let mut runs: Vec<(f64, f64, f64)> = (0..3)
                .map(|_| {
                    let (estimate, calibration) = case.estimate(&kernel, &samples);
                    (estimate, case.work(&kernel, &samples), calibration)
                })
                .collect();
            runs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
            let (estimate, real, calibration) = runs[runs.len() / 2];
            println!(
                "{:<24} {estimate:>8.3}s {real:>8.3}s {:>9.2} {calibration:>11.2}s",
                case.name,
                estimate / real
            );
        }
    });
}
