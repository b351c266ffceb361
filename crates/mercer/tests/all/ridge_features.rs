//! Primal ridge regression against the dual and against Gaussian elimination.

use crate::oracle::{self, noise};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{DesignError, FeatureMap};
use mercer::gram::NumericalRank;
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, LearnError, Ridge, RidgeSolver};
use mercer::model::{Linear, ModelError};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{Report, SolveError};

fn samples(rows: usize, columns: usize, seed: u64) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(rows, columns, noise(rows * columns, seed)).unwrap())
}

fn targets(rows: usize, outputs: usize) -> Matrix<f64> {
    Matrix::from_entries(rows, outputs, noise(rows * outputs, 2).into_iter().map(|v| 3.0 + v).collect())
}

fn map(text: &str) -> FeatureMap {
    text.parse().unwrap()
}

fn on(text: &str, lambda: f64) -> Ridge {
    Ridge::on(map(text)).lambda(lambda)
}

fn fit(
    ridge: &Ridge,
    x: &AnySamples<'_>,
    y: &Matrix<f64>,
    weights: Option<&[f64]>,
) -> Result<(Linear, Report), LearnError> {
    oracle::train(ridge, x, y, weights, &Session::default()).map(oracle::linear)
}

const BIASES: [Intercept; 3] = [Intercept::None, Intercept::Centred, Intercept::Column];

/// max over all predictions of the difference, relative to the largest.
fn difference(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let largest = b.entries().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

/// Both forms lose c·n·ε·κ(K + λI) digits at most, with κ at most 1 + n·max kᵢᵢ/λ.
fn tolerance(kernel: &Kernel, x: &AnySamples<'_>, weights: Option<&[f64]>, lambda: f64) -> f64 {
    let mut row = vec![0.0; x.ncols()];
    let norm: f64 = (0..x.nrows())
        .map(|i| {
            x.copy_row(i, &mut row);
            weights.map_or(1.0, |w| w[i]) * kernel.eval(&row, &row).unwrap()
        })
        .sum();
    (10.0 * x.nrows() as f64 * f64::EPSILON * (1.0 + norm / lambda)).max(1e-8)
}

#[test]
fn primal_and_dual_predict_the_same() {
    for columns in [1, 3, 8] {
        for degree in 1..=4 {
            let kernel: Kernel = format!("poly(degree={degree}, gamma=0.5, c=1)").parse().unwrap();
            let (x, y, queries) = (samples(90, columns, 1), targets(90, 3), samples(20, columns, 3));
            let weights: Vec<f64> = (0..90).map(|i| [1.0, 2.5, 0.0, 0.3][i % 4]).collect();
            for bias in BIASES {
                for weights in [None, Some(&weights[..])] {
                    let lambda = vec![0.1, 10.0, 0.1];
                    let ridge = Ridge::new(kernel.clone()).intercept(bias).lambdas(lambda);
                    let primal = ridge.clone().solver(RidgeSolver::Primal);
                    let (model, report) = fit(&primal, &x, &y, weights).unwrap();
                    let wide = model.weights.nrows() > 90;
                    let solver = if wide { "dual of the features, f64" } else { "normal equations f64" };
                    assert_eq!(report.solver, solver);
                    assert!(report.residual < 1e-11, "{}", report.residual);
                    assert_eq!((model.noutputs(), model.ncols()), (3, columns));
                    let found = model.predict(&queries, &Session::default()).unwrap();
                    let dual = ridge.solver(RidgeSolver::Dual);
                    let dual = oracle::train(&dual, &x, &y, weights, &Session::default()).unwrap();
                    let (model, _) = oracle::expansion(dual);
                    let expected = model.predict(&queries, &Session::default()).unwrap();
                    let bound = tolerance(&kernel, &x, weights, 0.1);
                    let off = difference(&found, &expected);
                    assert!(
                        off <= bound,
                        "{columns} columns, degree {degree}, {bias:?}: {off:e} > {bound:e}"
                    );
                }
            }
        }
    }
}

/// The normal equations of features written out, by elimination with partial pivoting.
fn closed_form(phi: &[Vec<f64>], y: &[f64], w: &[f64], lambda: f64, intercept: bool) -> Vec<f64> {
    let order = phi[0].len();
    let mut a = vec![vec![0.0; order + 1]; order];
    for (row, (y, w)) in phi.iter().zip(y.iter().zip(w)) {
        for i in 0..order {
            (0..order).for_each(|j| a[i][j] += w * row[i] * row[j]);
            a[i][order] += w * row[i] * y;
        }
    }
    // With an intercept the last feature is 1 and is not penalised.
    (0..order - usize::from(intercept)).for_each(|i| a[i][i] += lambda);
    for k in 0..order {
        let pivot = (k..order).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        for i in k + 1..order {
            let factor = a[i][k] / a[k][k];
            (k..=order).for_each(|j| a[i][j] -= factor * a[k][j]);
        }
    }
    let mut v = vec![0.0; order];
    for k in (0..order).rev() {
        let known: f64 = (k + 1..order).map(|j| a[k][j] * v[j]).sum();
        v[k] = (a[k][order] - known) / a[k][k];
    }
    v
}

#[test]
fn formulas_fit_the_closed_form_with_and_without_an_intercept() {
    let (x, n) = (samples(70, 2, 5), 70);
    let y = targets(n, 1);
    let w: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    let mut row = vec![0.0; 2];
    let phi = |i: usize, row: &mut Vec<f64>| {
        x.copy_row(i, row);
        let (a, b) = (row[0], row[1]);
        vec![a, b, a * a, b * b, (a.abs() + 1.0).ln(), (b.abs() + 1.0).ln(), a * b]
    };
    for (bias, lambda) in
        [(Intercept::None, 0.3), (Intercept::Centred, 0.3), (Intercept::None, 0.0), (Intercept::Centred, 0.0)]
    {
        let centred = bias == Intercept::Centred;
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut phi = phi(i, &mut row);
                phi.extend(centred.then_some(1.0));
                phi
            })
            .collect();
        let expected = closed_form(&rows, y.entries(), &w, lambda, centred);
        let ridge = on("x, x^2, log(abs(x)+1), x0*x1", lambda).intercept(bias);
        let (model, _) = fit(&ridge, &x, &y, Some(&w)).unwrap();
        let found = model.weights.entries().iter().chain(centred.then_some(&model.intercepts[0]));
        for (f, e) in found.zip(&expected) {
            assert!((f - e).abs() < 1e-9 * e.abs().max(1.0), "{bias:?}, {lambda}: {f} is not {e}");
        }
    }
}

/// The constant of a polynomial map and an unpenalised intercept are the same thing: the intercept does its work, so
/// plain least squares, λ = 0, has its one answer.
#[test]
fn least_squares_on_a_polynomial_is_found_with_an_intercept() {
    let x = samples(60, 2, 7);
    let mut row = vec![0.0; 2];
    let truth = |a: f64, b: f64| 5.0 - a + 2.0 * a * b - 0.5 * b * b;
    let y = (0..60).map(|i| {
        x.copy_row(i, &mut row);
        truth(row[0], row[1])
    });
    let y = Matrix::from_entries(60, 1, y.collect());
    for text in ["poly(degree=2)", "monomials(degree=2)", "1, x, x^2, x0*x1"] {
        let (model, _) = fit(&on(text, 0.0), &x, &y, None).unwrap();
        let at = AnySamples::F64(Samples::dense(1, 2, vec![3.0, -2.0]).unwrap());
        let found = model.predict(&at, &Session::default()).unwrap().entries()[0];
        assert!((found - truth(3.0, -2.0)).abs() < 1e-11, "{text}: {found}");
    }
    let constant = fit(&on("1", 0.0), &x, &y, None).unwrap().0;
    let mean = y.entries().iter().sum::<f64>() / 60.0;
    assert!((constant.predict(&x, &Session::default()).unwrap().row(7)[0] - mean).abs() < 1e-13);
}

#[test]
fn dependent_features_are_reported_when_lambda_is_zero() {
    let (x, y) = (samples(30, 2, 1), targets(30, 1));
    for (text, rank, bias) in [
        ("x0, 2*x0, x1", 2, Intercept::None),
        ("x0, x0, x1, x0+x1", 2, Intercept::Centred),
        ("poly(degree=2)", 6, Intercept::Column),
        ("monomials(degree=7)", 30, Intercept::None),
    ] {
        let ridge = |lambda| on(text, lambda).intercept(bias);
        let error = fit(&ridge(0.0), &x, &y, None).unwrap_err();
        let LearnError::Solve(SolveError::RankDeficient { rank: found, suggestion, .. }) = error else {
            panic!("{text}: {error}");
        };
        assert_eq!(found, Some(NumericalRank::Exactly(rank)), "{text}");
        assert!(fit(&ridge(suggestion), &x, &y, None).is_ok(), "{text}");
    }
}

/// Powers of a column far from zero: κ(ΦᵀΦ) is beyond 1e16, κ(Φ) is not.
#[test]
fn ill_conditioned_features_go_through_qr() {
    let n = 400;
    let x: Vec<f64> = (0..n).map(|i| 1.0 + i as f64 / n as f64).collect();
    let truth = |x: f64| 1.0 + 2.0 * x - x.powi(3) + 0.5 * x.powi(7);
    let y = Matrix::from_entries(n, 1, x.iter().map(|&x| truth(x)).collect());
    let samples = AnySamples::F64(Samples::dense(n, 1, x.clone()).unwrap());
    let ridge = on("monomials(degree=8)", 0.0).intercept(Intercept::None);
    let (model, report) = fit(&ridge, &samples, &y, None).unwrap();
    assert_eq!(report.solver, "qr f64");
    let found = model.predict(&samples, &Session::default()).unwrap();
    assert!(difference(&found, &y) < 1e-12, "{:e}", difference(&found, &y));
    // The weights too: κ(Φ) is about 1e9, so seven digits are left.
    let expected = [1.0, 2.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.5, 0.0];
    for (f, e) in model.weights.entries().iter().zip(expected) {
        assert!((f - e).abs() < 1e-3, "{f} is not {e}");
    }
    let (ridge, tight) = (ridge.lambdas(vec![1e-13]), Session::default().with_memory(60_000));
    let (_, report) = oracle::train(&ridge, &samples, &y, None, &tight).map(oracle::linear).unwrap();
    assert!(report.solver.starts_with("normal") && report.warnings.len() == 1, "{report:?}");
}

/// Features of very different size are not reported as dependent, and need no QR.
#[test]
fn the_size_of_a_feature_does_not_matter() {
    let x = samples(50, 2, 9);
    let y = targets(50, 1);
    let predicted = |text: &str| {
        let (model, report) = fit(&on(text, 0.0), &x, &y, None).unwrap();
        assert_eq!(report.solver, "normal equations f64");
        model.predict(&x, &Session::default()).unwrap()
    };
    assert!(difference(&predicted("1e9*x0, 1e-9*x1"), &predicted("x0, x1")) < 1e-12);
}

#[test]
fn more_rows_than_a_block_and_any_number_of_threads_give_the_same_bits() {
    let (x, y) = (samples(3_000, 4, 1), targets(3_000, 2));
    // Two features that nearly agree have weights of 1e7 that cancel: so many digits are lost in the residual.
    for (text, lambda, solver, residual) in [
        ("poly(degree=4)", 0.1, "normal equations f64", 1e-12),
        ("x, x^2, x^3, x^4, x^5, x+1e-7*x^6", 0.0, "qr f64", 1e-7),
    ] {
        let with = |threads| pool::with(Some(threads), || fit(&on(text, lambda), &x, &y, None).unwrap());
        let one = with(1);
        assert!(one == with(2) && one == with(3), "{text}");
        assert_eq!(one.1.solver, solver);
        assert!(one.1.residual < residual, "{}", one.1.residual);
    }
}

#[test]
fn the_cheaper_form_is_chosen_and_the_reason_reported() {
    let kernel: Kernel = "poly(degree=2)".parse().unwrap();
    let many = RidgeSolver::Auto.choose(&kernel, 10_000, 5, 1 << 40);
    assert_eq!(many.features, Some(21));
    assert!(many.primal.is_some() && many.reason.starts_with("primal"), "{}", many.reason);
    let few = RidgeSolver::Auto.choose(&kernel, 50, 40, 1 << 40);
    assert!(few.primal.is_none() && few.primal_cost.unwrap() > few.dual_cost, "{few:?}");
    // n³/3 is cheaper, but a matrix of 10,000² does not fit.
    let tight = RidgeSolver::Auto.choose(&"poly(degree=3)".parse().unwrap(), 10_000, 20, 100 << 20);
    assert!(tight.primal.is_some(), "{tight:?}");
    let gaussian = RidgeSolver::Primal.choose(&"rbf(sigma=1)".parse().unwrap(), 10_000, 5, 1 << 40);
    assert!(gaussian.primal.is_none() && gaussian.primal_cost.is_none());
    assert!(RidgeSolver::Dual.choose(&kernel, 10_000, 5, 1 << 40).primal.is_none());
    let huge = RidgeSolver::Auto.choose(&"poly(degree=40)".parse().unwrap(), 100, 1_000, 1 << 40);
    assert!(huge.primal.is_none() && huge.features.is_none());
}

#[test]
fn bad_input_is_refused() {
    let (x, y) = (samples(10, 2, 1), targets(10, 1));
    let refused = |ridge: &Ridge, y: &Matrix<f64>, w: Option<&[f64]>| fit(ridge, &x, y, w).unwrap_err();
    let ridge = on("poly", 1.0);
    assert!(matches!(refused(&ridge, &targets(3, 1), None), LearnError::Length { found: 3, .. }));
    assert!(matches!(refused(&ridge, &y, Some(&[1.0])), LearnError::Length { found: 1, .. }));
    let column = ridge.clone().intercept(Intercept::Column);
    assert!(matches!(refused(&column, &y, Some(&[1.0])), LearnError::Length { found: 1, .. }));
    let linear: Kernel = "linear".parse().unwrap();
    let dual = Ridge::new(linear).intercept(Intercept::Column).solver(RidgeSolver::Dual);
    let error = refused(&dual, &y, Some(&[1.0]));
    assert!(matches!(error, LearnError::Length { found: 1, .. }), "{error}");
    assert!(matches!(
        refused(&on("poly", -1.0), &y, None),
        LearnError::Parameter { parameter: "lambda", .. }
    ));
    for method in [RidgeSolver::Dual, RidgeSolver::Cholesky, RidgeSolver::Mixed, RidgeSolver::Cg] {
        let error = refused(&ridge.clone().solver(method), &y, None);
        assert!(matches!(error, LearnError::Unsupported(_)), "{method:?}: {error}");
    }
    let gaussian: Kernel = "rbf(sigma=1)".parse().unwrap();
    let error = refused(&Ridge::new(gaussian).solver(RidgeSolver::Primal), &y, None);
    assert!(matches!(error, LearnError::NoFiniteMap { .. }), "{error}");
    let error = refused(&on("age", 1.0), &y, None);
    assert!(matches!(error, LearnError::Design(DesignError::UnknownColumn { .. })), "{error}");
    let small = Session::default().with_memory(1 << 16);
    let error = oracle::train(&on("poly(degree=40)", 1.0), &x, &y, None, &small).unwrap_err();
    assert!(matches!(error, LearnError::Design(DesignError::TooLarge { count: 861, .. })), "{error}");
    let error = refused(&on("log(x0)", 1.0), &y, None);
    assert!(matches!(error, LearnError::Design(DesignError::NonFinite { .. })), "{error}");
    let error = refused(&on("1e200*x", 1.0), &y, None);
    assert!(matches!(error, LearnError::Solve(SolveError::Overflow)), "{error}");
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = Session::default();
    let stopped = stopped.with_watch(&stop);
    assert!(oracle::train(&ridge, &x, &y, None, &stopped).unwrap_err().is_stop());
}

#[test]
fn a_model_refuses_samples_and_weights_of_the_wrong_size() {
    let (x, y) = (samples(30, 2, 1), targets(30, 1));
    let (mut model, _) = fit(&on("poly", 1.0), &x, &y, None).unwrap();
    let error = model.predict(&samples(3, 5, 1), &Session::default()).unwrap_err();
    assert!(matches!(error, ModelError::Columns { found: 5, expected: 2 }), "{error}");
    model.weights = Matrix::zeros(3, 1);
    let error = model.predict(&x, &Session::default()).unwrap_err();
    assert!(matches!(error, ModelError::Weights { rows: 3, features: 10, .. }), "{error}");
}
