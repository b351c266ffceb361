//! Least mean squares against closed forms: the power of I − αK, ridge regression as λ → 0, and the same steps on features.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::oracle::noise;
use faer::{Mat, Side};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::Held;
use mercer::gram::{CpuEngine, DenseGram, Engine, Values, Wanted};
use mercer::kernel::Kernel;
use mercer::learn::{Admission, Bias, GramStorage, LearnError, Learner, Lms, LmsFeatures, Ridge};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::Status;
use mercer::solve::descent::{DescentError, Mode, Step, largest_eigenvalue};
use mercer::watch::Watch;
use proptest::prelude::*;

const STOCHASTIC: Mode = Mode::Stochastic { seed: 5 };

fn dense(rows: usize, columns: usize, entries: Vec<f64>) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(rows, columns, entries).unwrap())
}

fn targets(rows: usize, columns: usize, seed: u64) -> Matrix<f64> {
    let entries = noise(rows * columns, seed).into_iter().map(|v| 3.0 + v).collect();
    Matrix::from_entries(rows, columns, entries)
}

fn lms(kernel: &str) -> Lms {
    Lms::new(kernel.parse().unwrap())
}

fn assert_close(found: &Matrix<f64>, expected: &Matrix<f64>, tolerance: f64) {
    let scale = expected.entries().iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (f, e) in found.entries().iter().zip(expected.entries()) {
        assert!((f - e).abs() <= tolerance * scale, "{f} against {e}");
    }
}

fn eigen(kernel: &Kernel, samples: &AnySamples<'_>) -> (Vec<f64>, Mat<f64>) {
    let gram =
        DenseGram::<f64>::compute(&*CpuEngine.load(samples).unwrap(), kernel, &Session::default()).unwrap();
    let n = samples.nrows();
    let matrix = Mat::from_fn(n, n, |i, j| gram.entries()[i * n + j]);
    let eigen = matrix.self_adjoint_eigen(Side::Lower).unwrap();
    ((0..n).map(|k| eigen.S().column_vector()[k]).collect(), eigen.U().to_owned())
}

fn largest(kernel: &Kernel, samples: &AnySamples<'_>) -> f64 {
    *eigen(kernel, samples).0.last().unwrap()
}

/// φ with ⟨φ(x),φ(z)⟩ = (⟨x,z⟩+1)² in two dimensions.
fn quadratic(x: &[f64]) -> [f64; 6] {
    let root = 2f64.sqrt();
    [1.0, root * x[0], root * x[1], x[0] * x[0], x[1] * x[1], root * x[0] * x[1]]
}

fn held(features: &Matrix<f64>) -> Held<'static> {
    Held::from(Values::F64(features.clone()))
}

fn features(rows: usize, entries: &[f64]) -> Matrix<f64> {
    Matrix::from_entries(rows, 6, entries.chunks(2).flat_map(quadratic).collect())
}

/// ⟨θ,φ(x)⟩ + b at every row of features.
fn linear(features: &Matrix<f64>, weights: &Matrix<f64>, intercepts: &[f64]) -> Matrix<f64> {
    let mut out = Matrix::zeros(features.nrows(), weights.ncols());
    for i in 0..features.nrows() {
        for (o, b) in intercepts.iter().enumerate() {
            out.row_mut(i)[o] =
                b + features.row(i).iter().enumerate().map(|(j, f)| f * weights.row(j)[o]).sum::<f64>();
        }
    }
    out
}

#[test]
fn weights_and_coefficients_predict_alike_after_every_epoch() {
    let (n, m) = (300, 40);
    let (x, queries) = (noise(2 * n, 1), noise(2 * m, 2));
    let y = targets(n, 2, 3);
    for mode in [Mode::Batch, STOCHASTIC] {
        for bias in [Bias::None, Bias::Centred] {
            for epochs in [1, 2, 3, 7, 30] {
                let dual = Lms { mode, bias, epochs, tol: 0.0, ..lms("(<x,z>+1)^2") };
                let (model, dual_report) =
                    dual.fit(&dense(n, 2, x.clone()), &y, &Session::default()).unwrap();
                let primal =
                    LmsFeatures { step: Step::Value(dual_report.step), epochs, tol: 0.0, mode, bias };
                let found = primal.fit(&held(&features(n, &x)), &y, &Session::default()).unwrap();
                let expected = linear(&features(m, &queries), &found.weights, &found.intercepts);
                let predicted = model.predict(&dense(m, 2, queries.clone()), &Session::default()).unwrap();
                assert_close(&predicted, &expected, 1e-11);
                let last = |curve: &[mercer::solve::descent::CurvePoint]| *curve.last().unwrap();
                let (a, b) = (last(&dual_report.curve), last(&found.report.curve));
                assert!((a.mse - b.mse).abs() <= 1e-11 * b.mse, "{a:?} {b:?}");
                assert!((a.gradient - b.gradient).abs() <= 1e-9 * b.gradient, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn the_first_steps_are_those_of_the_formula() {
    // K = xxᵀ for x = (1, 2); y = (1, 1). Batch: β = αy, then α(2y − αKy) with Ky = (3, 6).
    let samples = dense(2, 1, vec![1.0, 2.0]);
    let y = Matrix::from_entries(2, 1, vec![1.0, 1.0]);
    let two = Lms { step: Step::Value(0.125), epochs: 2, tol: 0.0, bias: Bias::None, ..lms("linear") };
    let (model, report) = two.fit(&samples, &y, &Session::default()).unwrap();
    assert_eq!(model.coefficients.entries(), [0.125 * (2.0 - 0.375), 0.125 * (2.0 - 0.75)]);
    assert_eq!((report.report.status, report.report.iterations), (Status::OutOfIterations, 2));
    // One sample at a time: the second one met sees the first one's step, β₂ = α(1 − 2α) or β₁ = α(1 − 2α).
    let (model, _) =
        Lms { mode: STOCHASTIC, epochs: 1, ..two }.fit(&samples, &y, &Session::default()).unwrap();
    let beta = model.coefficients.entries();
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
                let run = Lms {
                    step: Step::Value(alpha),
                    epochs,
                    tol: 0.0,
                    bias: Bias::None,
                    ..Lms::new(kernel.clone())
                };
                let (model, _) = run.fit(&samples, &y, &Session::default()).unwrap();
                let fitted = model.predict(&samples, &Session::default()).unwrap();
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
    for bias in [Bias::None, Bias::Centred, Bias::Column] {
        let ridge = Ridge::new(kernel.clone(), 0.0).with_bias(bias);
        let exact = ridge.fit(samples.view(), &y).unwrap().predict(queries.view()).unwrap();
        for mode in [Mode::Batch, STOCHASTIC] {
            let run = Lms { mode, bias, epochs: 20_000, tol: 1e-11, ..Lms::new(kernel.clone()) };
            let (model, report) = run.fit(&samples, &y, &Session::default()).unwrap();
            assert_eq!(report.report.status, Status::Converged, "{mode:?} {bias:?}");
            assert!(report.curve.len() <= 200);
            assert!(report.report.residual < 1e-9);
            assert_close(&model.predict(&queries, &Session::default()).unwrap(), &exact, 1e-8);
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
        Lms { step: alpha, epochs: 500, bias: Bias::None, ..Lms::new(kernel.clone()) }.fit(
            &samples,
            &y,
            &Session::default(),
        )
    };
    for share in [2.05, 2.5, 40.0, 1e300] {
        let error = run(share).unwrap_err();
        let LearnError::Descent(DescentError::StepTooLarge { step, largest }) = error else {
            panic!("{error}")
        };
        assert_eq!(step, share / top);
        assert!(largest <= 2.0 / top && largest >= 1.97 / top, "{largest} {}", 2.0 / top);
        assert!(run(0.99 * largest * top).is_ok());
    }
    let per_sample = Lms { step: Step::Value(1.0), mode: STOCHASTIC, bias: Bias::None, ..Lms::new(kernel) };
    let error = per_sample.fit(&samples, &y, &Session::default()).unwrap_err();
    let most = (0..n).map(|i| {
        let mut x = [0.0; 2];
        samples.copy_row(i, &mut x);
        (x[0] * x[0] + x[1] * x[1] + 1.0).powi(2)
    });
    let most = most.fold(0.0, f64::max);
    let LearnError::Descent(DescentError::StepTooLarge { largest, .. }) = error else { panic!("{error}") };
    assert!((largest - 2.0 / most).abs() < 1e-12);
}

#[test]
fn equal_samples_with_different_targets_end() {
    // Two rows twice each: the best fit is the mean of their targets, and y − Kβ never vanishes.
    let samples = dense(4, 1, vec![0.0, 0.0, 1.0, 1.0]);
    let y = Matrix::from_entries(4, 1, vec![1.0, 3.0, -2.0, 4.0]);
    for bias in [Bias::None, Bias::Centred] {
        let run = Lms { epochs: 100_000, tol: 1e-9, bias, ..lms("rbf(sigma=1)") };
        let (model, report) = run.fit(&samples, &y, &Session::default()).unwrap();
        assert_eq!(report.report.status, Status::Converged);
        let fitted = model.predict(&samples, &Session::default()).unwrap();
        assert_close(&fitted, &Matrix::from_entries(4, 1, vec![2.0, 2.0, 1.0, 1.0]), 1e-7);
        assert!((report.curve.last().unwrap().mse - 5.0).abs() < 1e-6, "(1 + 1 + 9 + 9)/4");
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
        for mode in [Mode::Batch, STOCHASTIC] {
            let stored = Lms { epochs: 20, mode, ..lms("rbf(sigma=1)") };
            let little = Session::default().with_memory(1_000);
            let (a, first) = stored.fit(&samples, &y, &Session::default()).unwrap();
            let (b, second) = stored.fit(&samples, &y, &little).unwrap();
            assert_eq!((first.gram, second.gram), (GramStorage::Stored, GramStorage::Tiled));
            let (a, b) = (a.predict(&samples, &Session::default()), b.predict(&samples, &Session::default()));
            assert_close(&a.unwrap(), &b.unwrap(), tolerance);
        }
    }
}

#[test]
fn the_same_bits_for_every_number_of_threads() {
    let n = 2_500;
    let samples = dense(n, 3, noise(3 * n, 41));
    let y = targets(n, 1, 42);
    for mode in [Mode::Batch, STOCHASTIC] {
        for memory in [u64::MAX, 1] {
            let session = Session::default().with_memory(memory);
            let run = Lms { epochs: 2, mode, ..lms("rbf(sigma=1)") };
            let fit = |threads| pool::with(Some(threads), || run.fit(&samples, &y, &session).unwrap());
            let one = fit(1);
            assert!(one == fit(2) && one == fit(3), "{mode:?} {memory}");
        }
        let phi = held(&features(n, &noise(2 * n, 43)));
        let run = LmsFeatures { epochs: 3, mode, ..LmsFeatures::default() };
        let fit = |threads| pool::with(Some(threads), || run.fit(&phi, &y, &Session::default()).unwrap());
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
    for mode in [Mode::Batch, STOCHASTIC] {
        for memory in [u64::MAX, 1] {
            let session = Session::default().with_memory(memory);
            let run = Lms { epochs: usize::MAX, tol: 0.0, mode, ..lms("rbf(sigma=1)") };
            for watch in [&AtomicBool::new(true) as &dyn Watch, &Patience(AtomicUsize::new(500))] {
                assert!(run.fit(&samples, &y, &session.with_watch(watch)).unwrap_err().is_stop());
            }
        }
        let run = LmsFeatures { epochs: usize::MAX, tol: 0.0, mode, ..LmsFeatures::default() };
        let phi = held(&features(300, &noise(600, 51)));
        let patience = Patience(AtomicUsize::new(500));
        let session = Session::default().with_watch(&patience);
        assert!(run.fit(&phi, &y, &session).unwrap_err().is_stop());
    }
}

#[test]
fn bad_settings_and_input_are_named() {
    let samples = dense(3, 1, vec![0.0, 1.0, 2.0]);
    let y = Matrix::from_entries(3, 1, vec![0.0, 1.0, 0.5]);
    let good = lms("rbf(sigma=1)");
    let fails =
        |run: &Lms, y: &Matrix<f64>| run.fit(&samples, y, &Session::default()).unwrap_err().to_string();
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for mode in [Mode::Batch, STOCHASTIC] {
            let text = fails(&Lms { step: Step::Value(step), mode, ..good.clone() }, &y);
            assert!(text.contains("more than 0"), "{text}");
        }
    }
    assert!(fails(&Lms { epochs: 0, ..good.clone() }, &y).contains("epochs"));
    assert!(fails(&Lms { tol: f64::NAN, ..good.clone() }, &y).contains("tol"));
    let nan = Matrix::from_entries(3, 1, vec![0.0, f64::NAN, 0.5]);
    assert!(fails(&good, &nan).contains("row 1"));
    assert!(fails(&good, &Matrix::zeros(2, 1)).contains("3 rows but 2 targets"));
    let overflow = Lms { admission: Admission::Assume, ..lms("exp(1000*<x,z>)") };
    assert!(fails(&overflow, &y).contains("no finite value at rows"), "{}", fails(&overflow, &y));
    let negative = Lms { admission: Admission::Assume, ..lms("-rbf(sigma=1)") };
    assert!(fails(&negative, &y).contains("negative eigenvalue"));
    assert!(fails(&lms("-rbf(sigma=1)"), &y).contains("not a kernel"));
    let phi = held(&Matrix::from_entries(3, 1, vec![1.0, f64::INFINITY, 0.0]));
    let text = LmsFeatures::default().fit(&phi, &y, &Session::default()).unwrap_err().to_string();
    assert!(text.contains("feature of row 1"), "{text}");
    for (text, step) in [("auto", Step::Auto), ("0.5", Step::Value(0.5))] {
        assert_eq!(text.parse::<Step>(), Ok(step));
    }
    for bad in ["", "0", "-1", "nan", "inf", "Auto "] {
        assert!(bad.parse::<Step>().is_err(), "{bad}");
    }
}

#[test]
fn equal_targets_need_no_step() {
    let samples = dense(5, 2, noise(10, 61));
    let y = Matrix::from_entries(5, 1, vec![4.5; 5]);
    for mode in [Mode::Batch, STOCHASTIC] {
        let (model, report) =
            Lms { mode, ..lms("rbf(sigma=1)") }.fit(&samples, &y, &Session::default()).unwrap();
        assert_eq!((report.report.status, report.report.iterations), (Status::Converged, 0));
        assert_close(&model.predict(&samples, &Session::default()).unwrap(), &y, 1e-15);
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
        let bias = if centred { Bias::Centred } else { Bias::None };
        let run = Lms { bias, epochs: 100, ..lms(&kernel) };
        let (_, report) = run.fit(&samples, &targets(rows, 1, seed + 1), &Session::default()).unwrap();
        let falls = |w: &[mercer::solve::descent::CurvePoint]| w[1].mse <= w[0].mse * (1.0 + 1e-12);
        prop_assert!(report.curve.windows(2).all(falls), "{:?}", report.curve);
        if !centred {
            let top = largest(&kernel.parse().unwrap(), &samples);
            prop_assert!(report.step <= 1.0 / top * (1.0 + 1e-12) && report.step >= 0.98 / top);
            let resident = CpuEngine.load(&samples).unwrap();
            let gram = resident.gram(&kernel.parse().unwrap(), Wanted::Exact).unwrap();
            prop_assert!(largest_eigenvalue(&*gram, &Session::default()).unwrap().lower <= top * (1.0 + 1e-12));
        }
    }
}
