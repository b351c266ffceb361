//! Ridge regression by conjugate gradients against the direct solver.

use std::slice;
use std::sync::Mutex;

use crate::oracle;
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{Approximation, DesignError, LandmarkChoice, Landmarks, Parts};
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, LearnError, Ridge, RidgeSolver, add_rows, cost};
use mercer::linalg::NormalEquations;
use mercer::model::Expansion;
use mercer::pool;
use mercer::real::Precision;
use mercer::session::{Checkpoint, Session};
use mercer::solve::{Report, Status};

fn data(n: usize) -> (AnySamples<'static>, Matrix<f64>, Vec<f64>) {
    let noise = |k: usize| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0;
    let entries: Vec<f64> = (0..3 * n).map(noise).collect();
    let targets = entries
        .chunks_exact(3)
        .enumerate()
        .flat_map(|(i, x)| [5.0 + x[0].sin() + 0.1 * noise(i), x[1] * x[2]]);
    let targets = Matrix::from_entries(n, 2, targets.collect());
    (
        AnySamples::F64(Samples::dense(n, 3, entries).unwrap()),
        targets,
        (0..n).map(|i| (i % 3) as f64).collect(),
    )
}

fn matern() -> Kernel {
    "matern(nu=1.5)".parse().unwrap()
}

/// Conjugate gradients to this tolerance.
fn cg(kernel: Kernel, lambda: f64, tolerance: f64) -> Ridge {
    Ridge::new(kernel).lambda(lambda).solver(RidgeSolver::Cg).tol(tolerance)
}

fn iterative(lambda: f64) -> Ridge {
    cg(matern(), lambda, 1e-10).rank(Some(60))
}

fn fit(
    ridge: &Ridge,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
) -> Result<(Expansion, Report), LearnError> {
    oracle::train(ridge, samples, targets, weights, &Session::default()).map(oracle::expansion)
}

fn direct(kernel: Kernel, lambda: f64) -> Ridge {
    Ridge::new(kernel).lambda(lambda).solver(RidgeSolver::Dual)
}

fn predictions(model: &Expansion, samples: &AnySamples<'_>) -> Vec<f64> {
    model.predict(samples, &Session::default()).unwrap().into_entries()
}

#[test]
fn equals_the_direct_solver() {
    let (samples, targets, weights) = data(300);
    for bias in [Intercept::None, Intercept::Centred] {
        for weights in [None, Some(weights.as_slice())] {
            for lambda in [1.0, 1e-2] {
                let direct = direct(matern(), lambda).intercept(bias);
                let (expected, _) = fit(&direct, &samples, &targets, weights).unwrap();
                // Few columns in the preconditioner, so that many steps are taken.
                let ridge = iterative(lambda).intercept(bias).rank(Some(5));
                let all = Session::default();
                // Memory for the preconditioner alone.
                let tight = all.with_memory(cost::cg_bytes(300, 5, 2));
                for (session, how) in [(all, "stored in 16 bits"), (tight, "tiles computed in every step")] {
                    let fitted = oracle::train(&ridge, &samples, &targets, weights, &session).unwrap();
                    let (found, report) = oracle::expansion(fitted);
                    assert_eq!(report.status, Status::Converged, "{report:?}");
                    assert!(report.solver.ends_with(how), "{report:?}");
                    for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
                        assert!((a - b).abs() < 1e-7, "{bias:?} {lambda}: {a} {b}");
                    }
                    for (a, b) in found.intercepts.iter().zip(&expected.intercepts) {
                        assert!((a - b).abs() < 1e-7);
                    }
                }
            }
        }
    }
}

/// Values of both signs, large ones and a few zeros, and a matrix larger than a tile that is no multiple of one.
#[test]
fn kernels_of_every_range_can_be_stored() {
    let (samples, targets, _) = data(520);
    for (kernel, lambda) in
        [("<x,z>*laplacian", 0.02), ("1000*(<x,z>+1)^3*laplacian", 200.0), ("1e-6*laplacian", 1e-7)]
    {
        let kernel: Kernel = kernel.parse().unwrap();
        let (expected, _) = fit(&direct(kernel.clone(), lambda), &samples, &targets, None).unwrap();
        for tolerance in [1e-6, 1e-8] {
            let ridge = cg(kernel.clone(), lambda, tolerance).rank(Some(0));
            let (found, report) = fit(&ridge, &samples, &targets, None).unwrap();
            assert_eq!(report.status, Status::Converged, "{kernel}: {report:?}");
            assert!(report.solver.ends_with("matrix stored in 16 bits"), "{kernel}: {report:?}");
            for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
                // A residual r in A⁻¹'s norm: at most |r|/λ times the largest eigenvalue in the fit.
                assert!((a - b).abs() < 1e3 * tolerance, "{kernel} {tolerance}: {a} {b}");
            }
        }
    }
}

/// With λ below the errors of 16 bits the tiles are used, and the answer is there all the same.
#[test]
fn a_small_lambda_needs_tiles() {
    let (samples, targets, _) = data(300);
    let (found, report) = fit(&iterative(1e-4).rank(Some(300)), &samples, &targets, None).unwrap();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(report.solver.ends_with("tiles computed in every step"), "{report:?}");
    let (expected, _) = fit(&direct(matern(), 1e-4), &samples, &targets, None).unwrap();
    for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn one_row_is_fitted() {
    let samples = AnySamples::F64(Samples::dense(1, 3, vec![1.0, 2.0, 3.0]).unwrap());
    let targets = Matrix::from_entries(1, 1, vec![4.0]);
    let ridge = iterative(1.0).intercept(Intercept::None);
    let (found, report) = fit(&ridge, &samples, &targets, None).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!((found.coefficients.row(0)[0] - 2.0).abs() < 1e-9);
}

#[test]
fn has_the_same_bits_for_every_number_of_threads() {
    let (samples, targets, _) = data(600);
    let on = |threads| pool::with(Some(threads), || fit(&iterative(1e-2), &samples, &targets, None).unwrap());
    let one = on(1);
    assert!(one == on(2) && one == on(3));
}

#[test]
fn memory_is_respected() {
    let (samples, targets, _) = data(300);
    let session = Session::default().with_memory(cost::cg_bytes(300, 60, 2) - 1);
    let error = oracle::train(&iterative(1.0), &samples, &targets, None, &session).unwrap_err();
    assert!(matches!(error, LearnError::Memory { rows: 300, .. }), "{error}");
}

/// Keeps every state, and gives one back.
#[derive(Default)]
struct Kept {
    given: Option<Vec<u8>>,
    saved: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl Checkpoint for Kept {
    fn load(&self, _: u64) -> Option<Vec<u8>> {
        self.given.clone()
    }

    fn due(&self) -> bool {
        true
    }

    fn save(&self, work: u64, state: Vec<u8>) {
        self.saved.lock().unwrap().push((work, state));
    }
}

#[test]
fn goes_on_from_a_saved_state() {
    let (samples, targets, _) = data(250);
    let ridge = iterative(1e-2).rank(Some(10));
    let run = |kept: &Kept, ridge: &Ridge, targets: &Matrix<f64>| {
        let session = Session::default();
        oracle::train(ridge, &samples, targets, None, &session.with_checkpoint(kept)).unwrap()
    };
    let first = Kept::default();
    let whole = run(&first, &ridge, &targets);
    let saved = first.saved.into_inner().unwrap();
    let half = Kept { given: Some(saved[saved.len() / 2].1.clone()), ..Kept::default() };
    assert!(whole == run(&half, &ridge, &targets));
    let rest = half.saved.into_inner().unwrap();
    assert!(!rest.is_empty() && rest.len() < saved.len(), "{} of {}", rest.len(), saved.len());
    assert_eq!(rest.last(), saved.last());
    // What cannot be read is no state, and other settings or data are other work.
    let damaged = Kept { given: Some(b"not a state".to_vec()), ..Kept::default() };
    assert!(whole == run(&damaged, &ridge, &targets));
    for (ridge, targets) in
        [(ridge.clone().rank(Some(11)), targets.clone()), (ridge.clone(), Matrix::zeros(250, 2))]
    {
        let other = Kept::default();
        run(&other, &ridge, &targets);
        assert!(other.saved.into_inner().unwrap().iter().all(|(work, _)| *work != saved[0].0));
    }
}

#[test]
fn bad_input_is_refused() {
    let (samples, targets, _) = data(20);
    let refused = |ridge: &Ridge| fit(ridge, &samples, &targets, None).unwrap_err();
    for lambda in [0.0, -1.0, f64::NAN] {
        assert!(matches!(refused(&iterative(lambda)), LearnError::Parameter { parameter: "lambda", .. }));
    }
    for ridge in [iterative(1.0).intercept(Intercept::Column), iterative(1.0).lambdas(vec![1.0, 2.0])] {
        assert!(matches!(refused(&ridge), LearnError::Unsupported(_)), "{ridge:?}");
    }
    let error = fit(&iterative(1.0), &samples, &Matrix::zeros(3, 1), None).unwrap_err();
    assert!(matches!(error, LearnError::Length { what: "targets", rows: 20, found: 3 }));
    let error = fit(&iterative(1.0), &samples, &targets, Some(&[0.0; 20])).unwrap_err();
    assert!(matches!(error, LearnError::Parameter { parameter: "sample weight", .. }));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let session = Session::default();
    let stopped = oracle::train(&iterative(1.0), &samples, &targets, None, &session.with_watch(&stop));
    assert!(stopped.unwrap_err().is_stop());
}

/// Ridge regression on Nyström features is the same problem, solved directly.
#[test]
fn landmarks_give_the_answer_of_nystrom_features() {
    let (samples, targets, weights) = data(400);
    let session = Session::default();
    let on_landmarks = |landmarks| {
        let approximation = Approximation::Nystrom { landmarks, choice: LandmarkChoice::Uniform };
        let ridge = Ridge::on((matern(), approximation)).lambda(0.1);
        ridge.solver(RidgeSolver::Cg).tol(1e-11)
    };
    for intercept in [Intercept::None, Intercept::Centred] {
        for weights in [None, Some(weights.as_slice())] {
            let ridge = on_landmarks(50).intercept(intercept);
            let (found, report) = fit(&ridge, &samples, &targets, weights).unwrap();
            assert_eq!((report.status, found.centres.nrows()), (Status::Converged, 50), "{report:?}");
            assert!(report.iterations < 60, "{report:?}");
            let landmarks =
                Landmarks::choose(&matern(), &samples, 50, LandmarkChoice::Uniform, &session).unwrap();
            let features = landmarks.into();
            let mut equations = NormalEquations::new(50, 2);
            let into = (&Parts::All, slice::from_mut(&mut equations));
            add_rows(&features, &samples, &targets, weights, into, &session).unwrap();
            let fit = equations.ridge(0.1, intercept, &session).unwrap();
            let ready = features.ready(3, None, &session).unwrap();
            let phi = ready.transform(&samples, Precision::Double, &session).unwrap().into_f64();
            for (i, f) in predictions(&found, &samples).chunks_exact(2).enumerate() {
                for o in 0..2 {
                    let expected: f64 =
                        phi.row(i).iter().enumerate().map(|(k, v)| v * fit.weights.row(k)[o]).sum::<f64>()
                            + fit.intercepts[o];
                    assert!((f[o] - expected).abs() < 1e-7, "{intercept:?}: {} {expected}", f[o]);
                }
            }
        }
    }
    let error = fit(&on_landmarks(401), &samples, &targets, None).unwrap_err();
    assert!(matches!(error, LearnError::Design(DesignError::Parameter { .. })), "{error}");
    let fourier = Ridge::on((matern(), Approximation::fourier(8))).lambda(0.1).solver(RidgeSolver::Cg);
    let error = fit(&fourier, &samples, &targets, None).unwrap_err();
    assert!(matches!(error, LearnError::Unsupported(_)), "{error}");
}

/// The answer on samples in single precision is that of the same numbers in double precision.
#[test]
fn landmarks_on_samples_in_single_precision_are_corrected() {
    let (samples, targets, _) = data(400);
    let mut rows = vec![0.0; 400 * 3];
    (0..400).for_each(|i| samples.copy_row(i, &mut rows[3 * i..3 * i + 3]));
    let narrow: Vec<f32> = rows.iter().map(|v| *v as f32).collect();
    let wide: Vec<f64> = narrow.iter().map(|v| f64::from(*v)).collect();
    let single = AnySamples::F32(Samples::dense(400, 3, narrow).unwrap());
    let double = AnySamples::F64(Samples::dense(400, 3, wide).unwrap());
    let approximation = Approximation::Nystrom { landmarks: 50, choice: LandmarkChoice::Uniform };
    let ridge = Ridge::on((matern(), approximation)).lambda(0.1).solver(RidgeSolver::Cg).tol(1e-11);
    let [(mut found, report), (expected, _)] =
        [single, double].map(|samples| fit(&ridge, &samples, &targets, None).unwrap());
    // Predictions are in the precision of the centres.
    found.centres = expected.centres.clone();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
        assert!((a - b).abs() < 1e-7, "{a} {b}");
    }
}

/// Where λ is below the errors of single precision, steps are taken in double precision in the end.
#[test]
fn a_lambda_below_single_precision_is_solved() {
    let (samples, targets, _) = data(300);
    for kernel in ["rbf(sigma=3)", "linear", "poly(degree=3)"] {
        let kernel: Kernel = kernel.parse().unwrap();
        let (expected, _) = fit(&direct(kernel.clone(), 1e-6), &samples, &targets, None).unwrap();
        let (found, report) = fit(&cg(kernel.clone(), 1e-6, 1e-8), &samples, &targets, None).unwrap();
        assert_eq!(report.status, Status::Converged, "{kernel}: {report:?}");
        for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
            assert!((a - b).abs() < 1e-4, "{kernel}: {a} {b}");
        }
    }
}
