//! Classifiers on approximate features against the exact ones, which landmarks at every sample give.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::Approximation;
use mercer::kernel::Kernel;
use mercer::learn::svm::Svc;
use mercer::learn::{ApproxClassifier, ClassLoss, LearnError, Logistic, cost};
use mercer::model::{Expansion, Predictor};
use mercer::session::Session;
use mercer::solve::Status;
use mercer::solve::svm::SvmSettings;

/// Points in the square and a class by the angle, some of them wrong.
fn problem(rows: usize, classes: usize) -> (AnySamples<'static>, Vec<usize>) {
    let points: Vec<f64> =
        (0..rows * 2).map(|k| ((k / 2) as f64 * [0.618_034, 0.754_878][k % 2]).fract() * 2.0 - 1.0).collect();
    let class = |(i, p): (usize, &[f64])| {
        let turn = p[1].atan2(p[0]) / std::f64::consts::TAU + 0.5;
        (((turn * classes as f64) as usize).min(classes - 1) + usize::from(i % 17 == 0)) % classes
    };
    let codes = points.chunks_exact(2).enumerate().map(class).collect();
    (AnySamples::F64(Samples::dense(rows, 2, points).unwrap()), codes)
}

fn kernel() -> Kernel {
    "rbf(sigma=0.7)".parse().unwrap()
}

fn largest_difference(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn logistic_regression_on_all_landmarks_is_exact() {
    for classes in [2, 4] {
        let (samples, codes) = problem(150, classes);
        let (exact, _) =
            Logistic::new(kernel(), 0.5).fit(&samples, &codes, classes, None, &Session::default()).unwrap();
        let truth = exact.predict(&samples, &Session::default()).unwrap();
        let machine = ApproxClassifier::new(ClassLoss::Logistic, kernel(), Approximation::nystrom(150), 2.0);
        let (predictor, report) = machine.fit(&samples, &codes, classes, None, &Session::default()).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
        let found = predictor.predict(&samples, &Session::default()).unwrap();
        let difference = largest_difference(&found, &truth);
        assert!(difference < 1e-3, "{classes} classes: {difference}");
    }
}

/// In the precision of the samples, with random features, weights and without an intercept.
#[test]
fn other_settings_come_near_the_exact_machine() {
    let (samples, codes) = problem(300, 2);
    let AnySamples::F64(double) = &samples else { panic!("double") };
    let narrow: Vec<f32> = double.stored_values().iter().map(|v| *v as f32).collect();
    let single = AnySamples::F32(Samples::dense(300, 2, narrow).unwrap());
    let weights: Vec<f64> = (0..300).map(|i| 0.5 + (i % 3) as f64).collect();
    let exact = Logistic { intercept: false, ..Logistic::new(kernel(), 1.0) };
    let (exact, _) = exact.fit(&samples, &codes, 2, Some(&weights), &Session::default()).unwrap();
    let truth = exact.predict(&samples, &Session::default()).unwrap();
    for samples in [&samples, &single] {
        let machine = ApproxClassifier {
            intercept: false,
            ..ApproxClassifier::new(ClassLoss::Logistic, kernel(), Approximation::fourier(2_000), 1.0)
        };
        let (predictor, _) = machine.fit(samples, &codes, 2, Some(&weights), &Session::default()).unwrap();
        let found = predictor.predict(samples, &Session::default()).unwrap();
        let difference = largest_difference(&found, &truth);
        assert!(difference < 0.25, "{difference}");
    }
}

/// With features that are held, and with a budget that the sums fit but the features do not.
#[test]
fn the_support_vector_machine_has_the_objective_of_the_exact_one() {
    let (samples, codes) = problem(200, 2);
    let c = 3.0;
    let held = ApproxClassifier::new(ClassLoss::Hinge, kernel(), Approximation::nystrom(200), c);
    let (predictor, _) = held.fit(&samples, &codes, 2, None, &Session::default()).unwrap();
    let Predictor::Expansion(Expansion { centres, .. }) = &predictor else { panic!("landmarks") };
    let needed = cost::sums_bytes(centres.nrows(), 0);
    let little = Session::default().with_memory(needed + 1);
    for (session, solver, within) in
        [(Session::default(), "semismooth newton on features", 1e-4), (little, "l-bfgs on features", 5e-3)]
    {
        let (predictor, report) = held.fit(&samples, &codes, 2, None, &session).unwrap();
        assert_eq!((report.status, report.solver.as_str()), (Status::Converged, solver));
        let Predictor::Expansion(found) = &predictor else { panic!("landmarks") };
        let values = predictor.predict(&samples, &Session::default()).unwrap();
        let sign = |i: usize| if codes[i] == 1 { 1.0 } else { -1.0 };
        let hinge: f64 = (0..200).map(|i| (1.0 - sign(i) * values.row(i)[0]).max(0.0)).sum();
        // ½‖f‖² = ½aᵀ(f − b) at the landmarks, which are all the samples in another order.
        let at_centres = found.predict(&found.centres, &Session::default()).unwrap();
        let norm: f64 = (0..found.centres.nrows())
            .map(|j| found.coefficients.row(j)[0] * (at_centres.row(j)[0] - found.intercepts[0]))
            .sum();
        let objective = 0.5 * norm + c * hinge;
        let exact = exact_objective(&samples, &codes, c);
        assert!(report.residual <= 1e-3, "{report:?}");
        assert!(objective >= exact * (1.0 - 1e-4), "{solver}: {objective} {exact}");
        assert!(objective <= exact * (1.0 + within), "{solver}: {objective} {exact}");
    }
}

/// The optimal value of the machine, from the dual solution of the exact one.
fn exact_objective(samples: &AnySamples<'_>, codes: &[usize], c: f64) -> f64 {
    let settings = SvmSettings { tol: 1e-6, ..SvmSettings::default() };
    let svc = Svc { settings, ..Svc::new(kernel(), c) };
    let fitted = svc.fit(samples, codes, 2, None, &Session::default()).unwrap();
    let mut x = [0.0; 2];
    let rows: Vec<[f64; 2]> = (0..samples.nrows())
        .map(|i| {
            samples.copy_row(i, &mut x);
            x
        })
        .collect();
    let signed: Vec<(usize, f64)> =
        fitted.support.iter().enumerate().map(|(s, &row)| (row, fitted.coefficients.row(s)[0])).collect();
    let k = kernel();
    let norm: f64 = signed
        .iter()
        .flat_map(|(i, a)| signed.iter().map(move |(j, b)| (i, a, j, b)))
        .map(|(i, a, j, b)| a * b * k.eval(&rows[*i], &rows[*j]).unwrap())
        .sum();
    signed.iter().map(|(_, a)| a.abs()).sum::<f64>() - 0.5 * norm
}

/// One decision per class, each against all others, tells classes apart.
#[test]
fn several_classes_are_told_apart() {
    let (samples, codes) = problem(400, 3);
    for (loss, approximation) in [
        (ClassLoss::Hinge, Approximation::fourier(256)),
        (ClassLoss::Hinge, Approximation::nystrom(60)),
        (ClassLoss::Logistic, Approximation::fourier(256)),
    ] {
        let machine = ApproxClassifier::new(loss, kernel(), approximation, 10.0);
        let (predictor, _) = machine.fit(&samples, &codes, 3, None, &Session::default()).unwrap();
        let found = predictor.predict(&samples, &Session::default()).unwrap();
        let right = |i: &usize| {
            let row = found.row(*i);
            (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])) == Some(codes[*i])
        };
        let share = (0..400).filter(right).count() as f64 / 400.0;
        assert!(share > 0.88, "{loss:?} {approximation}: {share}");
    }
}

#[test]
fn bad_input_is_named() {
    let (samples, codes) = problem(50, 2);
    let base = ApproxClassifier::new(ClassLoss::Hinge, kernel(), Approximation::fourier(16), 1.0);
    for (machine, message) in [
        (ApproxClassifier { c: 0.0, ..base.clone() }, "C is 0"),
        (ApproxClassifier { c: f64::NAN, ..base.clone() }, "C is NaN"),
        (ApproxClassifier { tol: -1.0, ..base.clone() }, "tol is -1"),
        (ApproxClassifier { max_iter: 0, ..base.clone() }, "max_iter is 0"),
        (
            ApproxClassifier { approximation: Approximation::fourier(0), ..base.clone() },
            "number of features is 0",
        ),
        (
            ApproxClassifier { approximation: Approximation::nystrom(51), ..base.clone() },
            "number of landmarks is 51",
        ),
    ] {
        let error = machine.fit(&samples, &codes, 2, None, &Session::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let little = Session::default().with_memory(100);
    let error = base.fit(&samples, &codes, 2, None, &little).unwrap_err().to_string();
    assert!(error.contains("the sums over the features"), "{error}");
    let one = vec![0; 50];
    assert!(matches!(
        base.fit(&samples, &one, 2, None, &Session::default()),
        Err(LearnError::Classes { .. })
    ));
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert!(
        base.fit(&samples, &codes, 2, None, &Session::default().with_watch(&stop)).unwrap_err().is_stop()
    );
}
