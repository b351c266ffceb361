//! Ridge regression by conjugate gradients against the direct solver.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{Design, DesignError, Held, LandmarkChoice, Landmarks, Parts, Recomputed, RowFeatures};
use mercer::kernel::Kernel;
use mercer::learn::{Bias, IterativeRidge, LearnError, RestrictedRidge, Ridge};
use mercer::linalg::{Intercept, NormalEquations};
use mercer::model::Expansion;
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{CgState, ConjugateGradient, Status};

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

fn iterative(lambda: f64) -> IterativeRidge {
    let solver = ConjugateGradient { tolerance: 1e-10, ..Default::default() };
    IterativeRidge {
        solver,
        rank: Some(60),
        ..IterativeRidge::new("matern(nu=1.5)".parse().unwrap(), lambda)
    }
}

fn predictions(model: &Expansion, samples: &AnySamples<'_>) -> Vec<f64> {
    model.predict(samples, &Session::default()).unwrap().into_entries()
}

#[test]
fn equals_the_direct_solver() {
    let (samples, targets, weights) = data(300);
    for bias in [Bias::None, Bias::Centred] {
        for weights in [None, Some(weights.as_slice())] {
            for lambda in [1.0, 1e-2] {
                let direct = Ridge { bias, ..Ridge::new("matern(nu=1.5)".parse().unwrap(), lambda) };
                let (expected, _) = direct.fit(&samples, &targets, weights, &Session::default()).unwrap();
                // Few columns in the preconditioner, so that many steps are taken.
                let ridge = IterativeRidge { bias, rank: Some(5), ..iterative(lambda) };
                // Memory for the preconditioner alone.
                let little = Session::default().with_memory(ridge.bytes_needed(300, targets.ncols()));
                for (session, how) in
                    [(Session::default(), "stored in 16 bits"), (little, "tiles computed in every step")]
                {
                    let (found, report) = ridge.fit(&samples, &targets, weights, &session).unwrap();
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
        let (expected, _) =
            Ridge::new(kernel.clone(), lambda).fit(&samples, &targets, None, &Session::default()).unwrap();
        for tolerance in [1e-6, 1e-8] {
            let solver = ConjugateGradient { tolerance, ..Default::default() };
            let ridge =
                IterativeRidge { solver, rank: Some(0), ..IterativeRidge::new(kernel.clone(), lambda) };
            let (found, report) = ridge.fit(&samples, &targets, None, &Session::default()).unwrap();
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
    let (found, report) = IterativeRidge { rank: Some(300), ..iterative(1e-4) }
        .fit(&samples, &targets, None, &Session::default())
        .unwrap();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(report.solver.ends_with("tiles computed in every step"), "{report:?}");
    let direct = Ridge::new("matern(nu=1.5)".parse().unwrap(), 1e-4);
    let (expected, _) = direct.fit(&samples, &targets, None, &Session::default()).unwrap();
    for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn one_row_is_fitted() {
    let samples = AnySamples::F64(Samples::dense(1, 3, vec![1.0, 2.0, 3.0]).unwrap());
    let targets = Matrix::from_entries(1, 1, vec![4.0]);
    let ridge = IterativeRidge { bias: Bias::None, ..iterative(1.0) };
    let (found, report) = ridge.fit(&samples, &targets, None, &Session::default()).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!((found.coefficients.row(0)[0] - 2.0).abs() < 1e-9);
}

#[test]
fn has_the_same_bits_for_every_number_of_threads() {
    let (samples, targets, _) = data(600);
    let fit = |threads| {
        pool::with(Some(threads), || {
            iterative(1e-2).fit(&samples, &targets, None, &Session::default()).unwrap()
        })
    };
    let one = fit(1);
    assert!(one == fit(2) && one == fit(3));
}

#[test]
fn memory_is_respected() {
    let (samples, targets, _) = data(300);
    let needed = iterative(1.0).bytes_needed(300, 2);
    let little = Session::default().with_memory(needed - 1);
    let error = iterative(1.0).fit(&samples, &targets, None, &little).unwrap_err();
    assert!(matches!(error, LearnError::Memory { rows: 300, .. }), "{error}");
}

#[test]
fn goes_on_from_a_saved_state() {
    let (samples, targets, _) = data(250);
    let ridge = IterativeRidge { rank: Some(10), ..iterative(1e-2) };
    let mut saved = Vec::new();
    let (whole, report) = ridge
        .resume(&samples, &targets, None, None, &Session::default(), &mut |state| {
            saved.push(state.to_bytes())
        })
        .unwrap();
    let state = CgState::from_bytes(&saved[saved.len() / 2]).unwrap();
    let (again, same) =
        ridge.resume(&samples, &targets, None, Some(state), &Session::default(), &mut |_| {}).unwrap();
    assert!(whole == again && report == same);
}

#[test]
fn bad_input_is_refused() {
    let (samples, targets, _) = data(20);
    let fit = |ridge: IterativeRidge| ridge.fit(&samples, &targets, None, &Session::default()).unwrap_err();
    for lambda in [0.0, -1.0, f64::NAN] {
        assert!(matches!(fit(iterative(lambda)), LearnError::Parameter { parameter: "lambda", .. }));
    }
    assert!(matches!(
        fit(IterativeRidge { bias: Bias::Column, ..iterative(1.0) }),
        LearnError::Unsupported(_)
    ));
    let error = iterative(1.0).fit(&samples, &Matrix::zeros(3, 1), None, &Session::default()).unwrap_err();
    assert!(matches!(error, LearnError::Length { what: "targets", rows: 20, found: 3 }));
    let error = iterative(1.0).fit(&samples, &targets, Some(&[0.0; 20]), &Session::default()).unwrap_err();
    assert!(matches!(error, LearnError::Parameter { parameter: "sample weight", .. }));
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert!(
        iterative(1.0)
            .fit(&samples, &targets, None, &Session::default().with_watch(&stop))
            .unwrap_err()
            .is_stop()
    );
}

/// Ridge regression on Nyström features is the same problem, solved directly.
#[test]
fn landmarks_give_the_answer_of_nystrom_features() {
    let (samples, targets, weights) = data(400);
    let kernel: Kernel = "matern(nu=1.5)".parse().unwrap();
    for (bias, intercept) in [(Bias::None, Intercept::None), (Bias::Centred, Intercept::Unpenalised)] {
        for weights in [None, Some(weights.as_slice())] {
            let solver = ConjugateGradient { tolerance: 1e-11, ..Default::default() };
            let ridge = RestrictedRidge { bias, solver, ..RestrictedRidge::new(kernel.clone(), 0.1, 50) };
            let (found, report) = ridge.fit(&samples, &targets, weights, &Session::default()).unwrap();
            assert_eq!((report.status, found.centres.nrows()), (Status::Converged, 50), "{report:?}");
            assert!(report.iterations < 60, "{report:?}");
            let (choice, session) = (LandmarkChoice::Uniform, Session::default());
            let landmarks = Landmarks::fit(&kernel, &samples, 50, choice, &session).unwrap();
            let design = Recomputed::new(RowFeatures::Landmarks(&landmarks, &session), &samples).unwrap();
            let mut equations = [NormalEquations::new(50, 2)];
            design.normal_equations(&targets, weights, &Parts::All, &mut equations, &session).unwrap();
            let fit = equations[0].ridge(0.1, intercept, &session).unwrap();
            let phi = Held::of(&design, &session).unwrap().values().clone().into_f64();
            for (i, f) in predictions(&found, &samples).chunks_exact(2).enumerate() {
                for o in 0..2 {
                    let expected: f64 =
                        phi.row(i).iter().enumerate().map(|(k, v)| v * fit.weights.row(k)[o]).sum::<f64>()
                            + fit.intercepts[o];
                    assert!((f[o] - expected).abs() < 1e-7, "{bias:?}: {} {expected}", f[o]);
                }
            }
        }
    }
    let error = RestrictedRidge::new(kernel, 0.1, 401)
        .fit(&samples, &targets, None, &Session::default())
        .unwrap_err();
    assert!(matches!(error, LearnError::Design(DesignError::Parameter { .. })));
}

/// Where λ is below the errors of single precision, steps are taken in double precision in the end.
#[test]
fn a_lambda_below_single_precision_is_solved_all_the_same() {
    let (samples, targets, _) = data(300);
    for kernel in ["rbf(sigma=3)", "linear", "poly(degree=3)"] {
        let kernel: Kernel = kernel.parse().unwrap();
        let direct = Ridge { bias: Bias::Centred, ..Ridge::new(kernel.clone(), 1e-6) };
        let (expected, _) = direct.fit(&samples, &targets, None, &Session::default()).unwrap();
        let solver = ConjugateGradient { tolerance: 1e-8, ..Default::default() };
        let ridge =
            IterativeRidge { solver, bias: Bias::Centred, ..IterativeRidge::new(kernel.clone(), 1e-6) };
        let (found, report) = ridge.fit(&samples, &targets, None, &Session::default()).unwrap();
        assert_eq!(report.status, Status::Converged, "{kernel}: {report:?}");
        for (a, b) in predictions(&found, &samples).iter().zip(predictions(&expected, &samples)) {
            assert!((a - b).abs() < 1e-4, "{kernel}: {a} {b}");
        }
    }
}
