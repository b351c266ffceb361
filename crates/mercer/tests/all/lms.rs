//! Least mean squares against closed forms: the power of I − αK, ridge regression as λ → 0, and the same steps on features.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::oracle::noise;
use faer::{Mat, Side};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::FeatureMap;
use mercer::gram::{CpuEngine, DenseGram, Engine, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::{
    Fitted, Inputs, Intercept, KernelCheck, LearnError, Learner, Lms, LmsSolver, Problem, Ridge, Step,
};
use mercer::model::Predictor;
use mercer::pool;
use mercer::session::Session;
use mercer::solve::SolveError;
use mercer::solve::Status;
use mercer::solve::descent::{CurvePoint, largest_eigenvalue};
use mercer::watch::{Unwatched, Watch};
use proptest::prelude::*;

/// The seed of runs that take one sample at a time.
fn session() -> Session<'static> {
    Session::default().with_seed(5)
}

fn fit(lms: &Lms, samples: &AnySamples<'_>, y: &Matrix<f64>) -> Result<Fitted, LearnError> {
    lms.train(&Problem::new(samples, y), &session())
}

fn curve(fitted: &Fitted) -> Vec<CurvePoint> {
    fitted.facts.read("curve").unwrap()
}

fn step(fitted: &Fitted) -> f64 {
    fitted.facts.number("step").unwrap()
}

/// The status and the number of epochs.
fn end(fitted: &Fitted) -> (Status, usize) {
    let report = fitted.report.as_ref().unwrap();
    (report.status, report.iterations)
}

fn coefficients(fitted: &Fitted) -> &[f64] {
    let Predictor::Expansion(expansion) = &fitted.model.predictor else { panic!("an expansion") };
    expansion.coefficients.entries()
}

fn dense(rows: usize, columns: usize, entries: Vec<f64>) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(rows, columns, entries).unwrap())
}

fn targets(rows: usize, columns: usize, seed: u64) -> Matrix<f64> {
    let entries = noise(rows * columns, seed).into_iter().map(|v| 3.0 + v).collect();
    Matrix::from_entries(rows, columns, entries)
}

fn lms(kernel: &str) -> Lms {
    Lms::new(kernel.parse::<Kernel>().unwrap())
}

fn assert_close(found: &Matrix<f64>, expected: &Matrix<f64>, tolerance: f64) {
    let scale = expected.entries().iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (f, e) in found.entries().iter().zip(expected.entries()) {
        assert!((f - e).abs() <= tolerance * scale, "{f} against {e}");
    }
}

fn eigen(kernel: &Kernel, samples: &AnySamples<'_>) -> (Vec<f64>, Mat<f64>) {
    let gram = DenseGram::<f64>::compute(&*CpuEngine.load(samples).unwrap(), kernel, &Unwatched).unwrap();
    let n = samples.nrows();
    let matrix = Mat::from_fn(n, n, |i, j| gram.entries()[i * n + j]);
    let eigen = matrix.self_adjoint_eigen(Side::Lower).unwrap();
    ((0..n).map(|k| eigen.S().column_vector()[k]).collect(), eigen.U().to_owned())
}

fn largest(kernel: &Kernel, samples: &AnySamples<'_>) -> f64 {
    *eigen(kernel, samples).0.last().unwrap()
}

/// Features φ with ⟨φ(x),φ(z)⟩ = (⟨x,z⟩+1)² in two dimensions.
fn quadratic() -> Lms {
    Lms::on("poly(degree=2)".parse::<FeatureMap>().unwrap())
}

#[test]
fn weights_and_coefficients_predict_alike_after_every_epoch() {
    let (n, m) = (300, 40);
    let (x, queries) = (dense(n, 2, noise(2 * n, 1)), dense(m, 2, noise(2 * m, 2)));
    let y = targets(n, 2, 3);
    for method in [LmsSolver::Batch, LmsSolver::Sgd] {
        for bias in [Intercept::None, Intercept::Centred] {
            for epochs in [1, 2, 3, 7, 30] {
                let set = |lms: Lms| lms.solver(method).intercept(bias).epochs(epochs).tol(0.0);
                let dual = fit(&set(lms("(<x,z>+1)^2")), &x, &y).unwrap();
                let primal = set(quadratic()).step(Step::Value(step(&dual)));
                let primal = fit(&primal, &x, &y).unwrap();
                assert!(matches!(primal.model.predictor, Predictor::Linear(_)));
                assert_eq!(primal.facts.text("gram"), Some("unused"));
                assert_close(&dual.predict(&queries).unwrap(), &primal.predict(&queries).unwrap(), 1e-11);
                let (a, b) = (*curve(&dual).last().unwrap(), *curve(&primal).last().unwrap());
                assert!((a.mse - b.mse).abs() <= 1e-11 * b.mse, "{a:?} {b:?}");
                assert!((a.gradient - b.gradient).abs() <= 1e-9 * b.gradient, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn the_first_steps_match_the_formula() {
    // K = xxᵀ for x = (1, 2); y = (1, 1). Batch: β = αy, then α(2y − αKy) with Ky = (3, 6).
    let samples = dense(2, 1, vec![1.0, 2.0]);
    let y = Matrix::from_entries(2, 1, vec![1.0, 1.0]);
    let two = lms("linear").step(Step::Value(0.125)).epochs(2).tol(0.0).intercept(Intercept::None);
    let fitted = fit(&two, &samples, &y).unwrap();
    assert_eq!(coefficients(&fitted), [0.125 * (2.0 - 0.375), 0.125 * (2.0 - 0.75)]);
    assert_eq!(end(&fitted), (Status::OutOfIterations, 2));
    // One sample at a time: the second one met sees the first one's step, β₂ = α(1 − 2α) or β₁ = α(1 − 2α).
    let fitted = fit(&two.solver(LmsSolver::Sgd).epochs(1), &samples, &y).unwrap();
    let beta = coefficients(&fitted);
    assert!(beta == [0.125, 0.125 * 0.75] || beta == [0.125 * 0.75, 0.125], "{beta:?}");
}

#[test]
fn after_t_steps_the_fit_is_the_power_of_the_gram_matrix() {
    let n = 60;
    let samples = dense(n, 2, noise(2 * n, 7));
    let y = targets(n, 1, 8);
    for text in ["rbf(sigma=1)", "(<x,z>+1)^3 + 0.1*laplacian(gamma=1)"] {
        let kernel: Kernel = text.parse().unwrap();
        let (values, vectors) = eigen(&kernel, &samples);
        for epochs in [1, 10, 1_000] {
            for share in [0.3, 1.0, 1.9] {
                let alpha = share / values[n - 1];
                let run = Lms::new(kernel.clone())
                    .step(Step::Value(alpha))
                    .epochs(epochs)
                    .tol(0.0)
                    .intercept(Intercept::None);
                let fitted = fit(&run, &samples, &y).unwrap().predict(&samples).unwrap();
                let along = |k: usize| (0..n).map(|i| vectors[(i, k)] * y.row(i)[0]).sum::<f64>();
                let factor = |k: usize| 1.0 - (1.0 - alpha * values[k]).powi(epochs as i32);
                let expected = Matrix::from_entries(
                    n,
                    1,
                    (0..n).map(|i| (0..n).map(|k| vectors[(i, k)] * factor(k) * along(k)).sum()).collect(),
                );
                assert_close(&fitted, &expected, 1e-10);
            }
        }
    }
}

#[test]
fn a_long_run_is_ridge_without_a_penalty() {
    let n = 40;
    // Apart from each other for this length: κ(K) is small.
    let samples = dense(n, 2, noise(2 * n, 11).into_iter().map(|v| 6.0 * v).collect());
    let queries = dense(25, 2, noise(50, 12).into_iter().map(|v| 6.0 * v).collect());
    let kernel: Kernel = "laplacian(gamma=1)".parse().unwrap();
    let y = targets(n, 2, 13);
    for bias in [Intercept::None, Intercept::Centred, Intercept::Column] {
        let ridge = Ridge::new(kernel.clone()).lambda(0.0).intercept(bias);
        let exact = ridge.fit(samples.view(), &y).unwrap().predict(queries.view()).unwrap();
        for method in [LmsSolver::Batch, LmsSolver::Sgd] {
            let run = Lms::new(kernel.clone()).solver(method).intercept(bias);
            let fitted = fit(&run.epochs(20_000).tol(1e-11), &samples, &y).unwrap();
            assert_eq!(end(&fitted).0, Status::Converged, "{method:?} {bias:?}");
            assert!(curve(&fitted).len() <= 200);
            assert!(fitted.report.as_ref().unwrap().residual < 1e-9);
            assert_close(&fitted.predict(&queries).unwrap(), &exact, 1e-8);
        }
    }
}

#[test]
fn a_step_that_diverges_is_explained() {
    let n = 150;
    let samples = dense(n, 2, noise(2 * n, 21));
    let y = targets(n, 1, 22);
    let kernel: Kernel = "(<x,z>+1)^2".parse().unwrap();
    let top = largest(&kernel, &samples);
    let run = |share: f64| {
        let alpha = Step::Value(share / top);
        let lms = Lms::new(kernel.clone()).step(alpha).epochs(500).intercept(Intercept::None);
        fit(&lms, &samples, &y)
    };
    for share in [2.05, 2.5, 40.0, 1e300] {
        let error = run(share).unwrap_err();
        let LearnError::Solve(SolveError::StepTooLarge { step, largest }) = error else { panic!("{error}") };
        assert_eq!(step, share / top);
        assert!(largest <= 2.0 / top && largest >= 1.97 / top, "{largest} {}", 2.0 / top);
        assert!(run(0.99 * largest * top).is_ok());
    }
    let per_sample =
        Lms::new(kernel).step(Step::Value(1.0)).solver(LmsSolver::Sgd).intercept(Intercept::None);
    let error = fit(&per_sample, &samples, &y).unwrap_err();
    let most = (0..n).map(|i| {
        let mut x = [0.0; 2];
        samples.copy_row(i, &mut x);
        (x[0] * x[0] + x[1] * x[1] + 1.0).powi(2)
    });
    let most = most.fold(0.0, f64::max);
    let LearnError::Solve(SolveError::StepTooLarge { largest, .. }) = error else { panic!("{error}") };
    assert!((largest - 2.0 / most).abs() < 1e-12);
}

#[test]
fn equal_samples_with_different_targets_end() {
    // Two rows twice each: the best fit is the mean of their targets, and y − Kβ never vanishes.
    let samples = dense(4, 1, vec![0.0, 0.0, 1.0, 1.0]);
    let y = Matrix::from_entries(4, 1, vec![1.0, 3.0, -2.0, 4.0]);
    for bias in [Intercept::None, Intercept::Centred] {
        let run = lms("rbf(sigma=1)").epochs(100_000).tol(1e-9).intercept(bias);
        let fitted = fit(&run, &samples, &y).unwrap();
        assert_eq!(end(&fitted).0, Status::Converged);
        let means = Matrix::from_entries(4, 1, vec![2.0, 2.0, 1.0, 1.0]);
        assert_close(&fitted.predict(&samples).unwrap(), &means, 1e-7);
        assert!((curve(&fitted).last().unwrap().mse - 5.0).abs() < 1e-6, "(1 + 1 + 9 + 9)/4");
    }
}

#[test]
fn a_tiled_matrix_gives_the_stored_answer() {
    let n = 700;
    let x = noise(3 * n, 31);
    let y = targets(n, 2, 32);
    for (samples, tolerance) in [
        (dense(n, 3, x.clone()), 1e-11),
        (
            AnySamples::F32(Samples::dense(n, 3, x.iter().map(|v| *v as f32).collect::<Vec<_>>()).unwrap()),
            1e-4,
        ),
    ] {
        for method in [LmsSolver::Batch, LmsSolver::Sgd] {
            let run = lms("rbf(sigma=1)").epochs(20).solver(method);
            let problem = Problem::new(&samples, &y);
            let stored = run.train(&problem, &session()).unwrap();
            let tiled = run.train(&problem, &session().with_memory(1_000)).unwrap();
            assert_eq!(
                (stored.facts.text("gram"), tiled.facts.text("gram")),
                (Some("stored"), Some("tiled"))
            );
            assert_close(&stored.predict(&samples).unwrap(), &tiled.predict(&samples).unwrap(), tolerance);
        }
    }
}

#[test]
fn the_same_bits_for_every_number_of_threads() {
    let n = 2_500;
    let samples = dense(n, 3, noise(3 * n, 41));
    let y = targets(n, 1, 42);
    for method in [LmsSolver::Batch, LmsSolver::Sgd] {
        let problem = Problem::new(&samples, &y);
        for memory in [1 << 30, 1] {
            let (run, session) = (lms("rbf(sigma=1)").epochs(2).solver(method), session());
            let session = session.with_memory(memory);
            let fit = |threads| pool::with(Some(threads), || run.train(&problem, &session).unwrap());
            let one = fit(1);
            assert!(one == fit(2) && one == fit(3), "{method:?} {memory}");
        }
        let run = quadratic().epochs(3).solver(method);
        let fit = |threads| pool::with(Some(threads), || run.train(&problem, &session()).unwrap());
        assert!(fit(1) == fit(3));
    }
}

/// Asks to stop after some questions.
struct Patience(AtomicUsize);

impl Watch for Patience {
    fn stop_requested(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn stops_when_asked() {
    let samples = dense(300, 2, noise(600, 51));
    let y = targets(300, 1, 52);
    for method in [LmsSolver::Batch, LmsSolver::Sgd] {
        let problem = Problem::new(&samples, &y);
        for (lms, memory) in
            [(lms("rbf(sigma=1)"), 1 << 30), (lms("rbf(sigma=1)"), 1), (quadratic(), 1 << 30)]
        {
            let run = lms.epochs(usize::MAX).tol(0.0).solver(method);
            for watch in [&AtomicBool::new(true) as &dyn Watch, &Patience(AtomicUsize::new(500))] {
                let session = Session::default().with_memory(memory).with_watch(watch);
                assert!(run.train(&problem, &session).unwrap_err().is_stop());
            }
        }
    }
}

#[test]
fn bad_settings_and_input_are_named() {
    let samples = dense(3, 1, vec![0.0, 1.0, 2.0]);
    let y = Matrix::from_entries(3, 1, vec![0.0, 1.0, 0.5]);
    let good = lms("rbf(sigma=1)");
    let fails = |run: &Lms, y: &Matrix<f64>| fit(run, &samples, y).unwrap_err().to_string();
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for method in [LmsSolver::Batch, LmsSolver::Sgd] {
            let text = fails(&good.clone().step(Step::Value(step)).solver(method), &y);
            assert!(text.contains("more than 0"), "{text}");
        }
    }
    assert!(fails(&good.clone().epochs(0), &y).contains("epochs"));
    assert!(fails(&good.clone().tol(f64::NAN), &y).contains("tol"));
    let nan = Matrix::from_entries(3, 1, vec![0.0, f64::NAN, 0.5]);
    assert!(fails(&good, &nan).contains("row 1"));
    assert!(fails(&good, &Matrix::zeros(2, 1)).contains("3 rows but 2 targets"));
    let overflow = lms("exp(1000*<x,z>)").kernel_check(KernelCheck::Assume);
    assert!(fails(&overflow, &y).contains("no finite value at rows"), "{}", fails(&overflow, &y));
    let negative = lms("-rbf(sigma=1)").kernel_check(KernelCheck::Assume);
    assert!(fails(&negative, &y).contains("negative eigenvalue"));
    assert!(fails(&lms("-rbf(sigma=1)"), &y).contains("not a kernel"));
    let infinite = Lms::on("1e200*x*exp(200*x)".parse::<FeatureMap>().unwrap());
    assert!(fails(&infinite, &y).contains("row 2"), "{}", fails(&infinite, &y));
    let column = quadratic().intercept(Intercept::Column);
    assert!(fails(&column, &y).contains("bias = column"));
    let weighted = Problem::new(&samples, &y).weighted(Some(vec![1.0; 3]));
    assert!(matches!(good.train(&weighted, &session()), Err(LearnError::Unsupported(_))));
    for (text, step) in [("auto", Step::Auto), ("0.5", Step::Value(0.5))] {
        assert_eq!(text.parse::<Step>(), Ok(step));
    }
    for bad in ["", "0", "-1", "nan", "inf", "Auto "] {
        assert!(bad.parse::<Step>().is_err(), "{bad}");
    }
}

#[test]
fn a_kernel_matrix_gives_the_coefficients_of_its_samples() {
    let samples = dense(30, 2, noise(60, 71));
    let y = targets(30, 1, 72);
    let run = lms("rbf(sigma=auto)").epochs(20);
    let expected = fit(&run, &samples, &y).unwrap();
    let Predictor::Expansion(expansion) = &expected.model.predictor else { panic!("an expansion") };
    assert!(!expansion.kernel.to_string().contains("auto"), "{}", expansion.kernel);
    let resident = CpuEngine.load(&samples).unwrap();
    let gram = DenseGram::<f64>::compute(&*resident, &expansion.kernel, &Unwatched).unwrap();
    let found = run.train(&Problem::new(Inputs::Gram(&gram), &y), &session()).unwrap();
    assert_eq!(coefficients(&found), coefficients(&expected));
    // The samples of a model from a kernel matrix are rows of kernel values.
    let rows = dense(30, 30, gram.entries().to_vec());
    assert_close(&found.predict(&rows).unwrap(), &expected.predict(&samples).unwrap(), 1e-12);
}

#[test]
fn equal_targets_need_no_step() {
    let samples = dense(5, 2, noise(10, 61));
    let y = Matrix::from_entries(5, 1, vec![4.5; 5]);
    for method in [LmsSolver::Batch, LmsSolver::Sgd] {
        let fitted = fit(&lms("rbf(sigma=1)").solver(method), &samples, &y).unwrap();
        assert_eq!(end(&fitted), (Status::Converged, 0));
        assert_close(&fitted.predict(&samples).unwrap(), &y, 1e-15);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    /// With the step it chooses itself, the training error of a batch run never grows.
    #[test]
    fn the_automatic_step_always_descends(
        rows in 2..40usize,
        sigma in 0.05..5.0f64,
        seed in 1..1_000u64,
        centred: bool,
    ) {
        let samples = dense(rows, 2, noise(2 * rows, seed));
        let kernel = format!("rbf(sigma={sigma}) + 0.1*linear");
        let bias = if centred { Intercept::Centred } else { Intercept::None };
        let run = lms(&kernel).intercept(bias).epochs(100);
        let fitted = fit(&run, &samples, &targets(rows, 1, seed + 1)).unwrap();
        let falls = |w: &[CurvePoint]| w[1].mse <= w[0].mse * (1.0 + 1e-12);
        prop_assert!(curve(&fitted).windows(2).all(falls), "{:?}", curve(&fitted));
        if !centred {
            let top = largest(&kernel.parse().unwrap(), &samples);
            let step = step(&fitted);
            prop_assert!(step <= 1.0 / top * (1.0 + 1e-12) && step >= 0.98 / top);
            let resident = CpuEngine.load(&samples).unwrap();
            let gram = resident.gram(&kernel.parse().unwrap(), Wanted::Exact).unwrap();
            prop_assert!(largest_eigenvalue(&*gram, &Unwatched).unwrap().lower <= top * (1.0 + 1e-12));
        }
    }
}
