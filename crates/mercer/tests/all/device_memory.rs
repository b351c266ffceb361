//! Work on an engine with its own memory, smaller than that of the host.

use std::sync::Arc;

use crate::oracle;
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{CpuEngine, Engine, Gram, GramError, Resident, ValuesRef};
use mercer::kernel::Kernel;
use mercer::learn::cost::{Algorithm, Size, Task};
use mercer::learn::{Gp, GpSolver, LearnError, Learner, Ridge, RidgeSolver, Shape};
use mercer::real::Precision;
use mercer::select::plan::Plan;
use mercer::session::Session;

/// The engine of the host with this many bytes of memory of its own.
struct Small(u64);

impl Engine for Small {
    fn name(&self) -> &'static str {
        "small"
    }

    fn memory(&self) -> Option<u64> {
        Some(self.0)
    }

    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        CpuEngine.load(samples)
    }

    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError> {
        CpuEngine.adopt(order, values)
    }
}

fn with_memory(bytes: u64) -> Session<'static> {
    Session::new(Arc::new(Small(bytes)))
}

/// The fewest rows that are factored in single precision unasked.
const ROWS: usize = 1_500;

fn kernel() -> Kernel {
    "rbf(sigma=1)".parse().unwrap()
}

fn data() -> (AnySamples<'static>, Matrix<f64>) {
    let x = oracle::noise(ROWS * 2, 5);
    let y = x.chunks(2).map(|x| (2.0 * x[0]).sin() + x[1]).collect();
    (AnySamples::F64(Samples::dense(ROWS, 2, x).unwrap()), Matrix::from_entries(ROWS, 1, y))
}

/// Room for a matrix of n² numbers in single precision, not in double.
const ROOM: u64 = 6 * (ROWS * ROWS) as u64;

#[test]
fn a_matrix_that_fits_in_single_precision_is_refined() {
    let ((samples, targets), session) = (data(), with_memory(ROOM));
    let shape = Shape { rows: ROWS, columns: 2, targets: 1 };
    let expected = Ridge::new(kernel()).lambda(10.0).solver(RidgeSolver::Cholesky);
    let expected = oracle::train(&expected, &samples, &targets, None, &Session::default()).unwrap();
    let (expected, _) = oracle::expansion(expected);
    for solver in [RidgeSolver::Auto, RidgeSolver::Dual, RidgeSolver::Mixed] {
        let ridge = Ridge::new(kernel()).lambda(10.0).solver(solver);
        ridge.check(shape, &session).unwrap();
        let fitted = oracle::train(&ridge, &samples, &targets, None, &session).unwrap();
        let (found, report) = oracle::expansion(fitted);
        assert_eq!(report.solver, "cholesky f32, refined in f64", "{solver:?}");
        let pairs = found.coefficients.entries().iter().zip(expected.coefficients.entries());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9), "{solver:?}");
    }
}

#[test]
fn a_matrix_that_needs_double_precision_must_fit_in_it() {
    let ((samples, targets), session) = (data(), with_memory(ROOM));
    let needs =
        |ridge: &Ridge, session: &Session<'_>| match oracle::train(ridge, &samples, &targets, None, session)
            .unwrap_err()
        {
            LearnError::Memory { needed, budget, .. } if session.engine().memory().is_none() => {
                (needed, budget)
            }
            LearnError::DeviceMemory { needed, room, .. } => (needed, room),
            other => panic!("{other}"),
        };
    let double = 8 * (ROWS * ROWS) as u64;
    // Too small a λ for refinement.
    let ridge = Ridge::new(kernel()).lambda(1e-9);
    assert_eq!(needs(&ridge, &session), (double, ROOM));
    let ridge = Ridge::new(kernel()).lambda(10.0).solver(RidgeSolver::Cholesky);
    assert_eq!(needs(&ridge, &session), (double, ROOM));
    let ridge = Ridge::new(kernel()).lambda(10.0);
    assert_eq!(needs(&ridge, &with_memory(double / 2 - 1)), (double / 2, double / 2 - 1));
    // The matrix of the host's own engine is in double precision unless single is asked for.
    let host = Session::default().with_memory(ROOM);
    assert_eq!(needs(&ridge, &host), (double, ROOM));
    let mixed = ridge.solver(RidgeSolver::Mixed);
    assert!(oracle::train(&mixed, &samples, &targets, None, &host).is_ok());
    assert_eq!(needs(&mixed.lambda(1e-9), &host), (double, ROOM));
}

#[test]
fn a_plan_has_the_budget_of_the_learner() {
    // Gaussian processes store their matrices on the host.
    let (session, rows) = (with_memory(1 << 20), 2_000);
    let gp = Gp::new(kernel());
    let resolved = gp.resolved(Shape { rows, columns: 2, targets: 1 }, &session);
    assert_eq!((resolved.solver, resolved.inducing), (GpSolver::Auto, None));
    let shape = Size { rows, columns: 2, targets: 1, dtype: Precision::Double };
    let task = Task::of(&gp.into(), 2, rows).unwrap();
    let plan = Plan::for_shape(task, &kernel(), shape, &session).unwrap();
    assert_eq!(plan.chosen.algorithm, Algorithm::DualDouble);
    assert!(plan.chosen.fits);
}
