use super::*;
use crate::linalg::InvalidSaved;
use crate::pool;
use crate::watch::Unwatched;

/// A chunk of n samples of fixed pseudo-random features, two targets and weights.
fn chunk(n: usize, d: usize, seed: usize) -> (Matrix<f64>, Matrix<f64>, Vec<f64>) {
    let noise = |k: usize| (((k + seed * 977) * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0;
    let features = Matrix::from_entries(n, d, (0..n * d).map(noise).collect());
    let mut targets = Matrix::zeros(n, 2);
    for i in 0..n {
        let row = features.row(i);
        targets.row_mut(i).copy_from_slice(&[3.0 + row[0] - row[d - 1] + 0.1 * noise(i), 7.0 * row[d / 2]]);
    }
    (features, targets, (0..n).map(|i| ((i + seed) % 4) as f64).collect())
}

fn close(a: &LinearFit, b: &LinearFit, tolerance: f64) -> bool {
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance);
    near(a.weights.entries(), b.weights.entries()) && near(&a.intercepts, &b.intercepts)
}

fn sums(d: usize, parts: &[(Matrix<f64>, Matrix<f64>, Vec<f64>)]) -> NormalEquations {
    let mut equations = NormalEquations::new(d, 2);
    for (x, y, w) in parts {
        equations.add(x, y, Some(w), &Unwatched).unwrap();
    }
    equations
}

/// Gradient of Σw(y − ⟨φ,β⟩ − b)² + λ|β|² is zero at the answer.
fn gradient(fit: &LinearFit, parts: &[(Matrix<f64>, Matrix<f64>, Vec<f64>)], lambda: f64) -> f64 {
    let (d, t) = (fit.weights.nrows(), fit.intercepts.len());
    let mut worst = 0.0f64;
    for o in 0..t {
        let mut slope: Vec<f64> = (0..d).map(|k| lambda * fit.weights.row(k)[o]).collect();
        let mut constant = 0.0;
        for (x, y, w) in parts {
            for i in 0..x.nrows() {
                let f: f64 = x.row(i).iter().enumerate().map(|(k, v)| v * fit.weights.row(k)[o]).sum();
                let r = w[i] * (f + fit.intercepts[o] - y.row(i)[o]);
                constant += r;
                slope.iter_mut().zip(x.row(i)).for_each(|(s, v)| *s += r * v);
            }
        }
        worst = slope.iter().fold(worst.max(constant.abs()), |m, s| m.max(s.abs()));
    }
    worst
}

#[test]
fn the_fit_is_where_the_gradient_vanishes() {
    for d in [3, BLOCK, BLOCK + 5] {
        let parts = [chunk(SLICE + 90, d, 1), chunk(40, d, 2)];
        let equations = sums(d, &parts);
        let path = equations.ridge_path(Intercept::Centred).unwrap();
        for lambda in [0.5, 30.0] {
            let fit = equations.ridge(lambda, Intercept::Centred, &Unwatched).unwrap();
            assert!(gradient(&fit, &parts, lambda) < 1e-9, "{d} {lambda}");
            assert!(close(&fit, &path.solution(lambda).unwrap(), 1e-10));
        }
    }
}

#[test]
fn merging_is_associative_and_equals_one_pass() {
    let d = BLOCK + 3;
    let parts = [chunk(100, d, 1), chunk(33, d, 2), chunk(SLICE + 1, d, 3)];
    let one_pass = sums(d, &parts);
    let [a, b, c] = [0, 1, 2].map(|i| sums(d, &parts[i..=i]));
    let (mut left, mut right) = (a.clone(), b.clone());
    left.merge(&b).unwrap();
    left.merge(&c).unwrap();
    right.merge(&c).unwrap();
    let mut other = a.clone();
    other.merge(&right).unwrap();
    let fit = |m: &NormalEquations| m.ridge(1.0, Intercept::Centred, &Unwatched).unwrap();
    assert_eq!((left.rows(), left.weight()), (one_pass.rows(), one_pass.weight()));
    assert!(close(&fit(&left), &fit(&one_pass), 1e-11) && close(&fit(&left), &fit(&other), 1e-11));
    left.subtract(&c).unwrap();
    left.subtract(&b).unwrap();
    assert!(close(&fit(&left), &fit(&a), 1e-10));
}

#[test]
fn single_precision_is_added_up_in_double() {
    let d = 20;
    let (x, y, _) = chunk(20 * SLICE, d, 1);
    let narrow = Matrix::from_entries(x.nrows(), d, x.entries().iter().map(|v| *v as f32).collect());
    let (mut double, mut single) = (NormalEquations::new(d, 2), NormalEquations::new(d, 2));
    let widened =
        Matrix::from_entries(x.nrows(), d, narrow.entries().iter().map(|v| f64::from(*v)).collect());
    double.add(&widened, &y, None, &Unwatched).unwrap();
    single.add(&narrow, &y, None, &Unwatched).unwrap();
    // The diagonal is about 20·512/3; 512 terms in single precision lose at most a few units of it.
    let (a, b) = (double.lower(), single.lower());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6 * 3_400.0));
    assert_eq!(double.cross, single.cross);
}

#[test]
fn errors_come_from_sums() {
    let d = 7;
    let parts = [chunk(60, d, 1), chunk(50, d, 2), chunk(70, d, 3)];
    let folds: Vec<NormalEquations> = parts.iter().map(|p| sums(d, std::slice::from_ref(p))).collect();
    let lambdas = [0.1, 10.0];
    let found = cross_validate(&folds, &lambdas, Intercept::Centred, &Unwatched).unwrap();
    for (found, lambda) in found.iter().zip(lambdas) {
        let found = found.as_ref().unwrap();
        let (mut error, mut total) = ([0.0; 2], 0.0);
        for held in 0..3 {
            let mut training = NormalEquations::new(d, 2);
            (0..3).filter(|f| *f != held).for_each(|f| training.merge(&folds[f]).unwrap());
            let fit = training.ridge(lambda, Intercept::Centred, &Unwatched).unwrap();
            let (x, y, w) = &parts[held];
            for i in 0..x.nrows() {
                total += w[i];
                for o in 0..2 {
                    let f: f64 = x.row(i).iter().enumerate().map(|(k, v)| v * fit.weights.row(k)[o]).sum();
                    error[o] += w[i] * (f + fit.intercepts[o] - y.row(i)[o]).powi(2);
                }
            }
        }
        (0..2).for_each(|o| assert!((found[o] - error[o] / total).abs() < 1e-9 * error[o].max(1.0)));
    }
    assert!(cross_validate(&folds[..1], &lambdas, Intercept::None, &Unwatched).is_err());
    // A fold that holds every sample leaves none to train on.
    let with_empty = [folds[0].clone(), NormalEquations::new(d, 2)];
    let error = cross_validate(&with_empty, &lambdas, Intercept::None, &Unwatched).unwrap_err();
    assert_eq!(error, NormalEquationsError::Empty);
}

/// A feature twice: only λ = 0 is without a fit, and the others keep their errors.
#[test]
fn a_lambda_without_a_fit_has_no_error() {
    let d = 4;
    let folds = [1, 2].map(|seed| {
        let (mut x, y, w) = chunk(40, d, seed);
        (0..40).for_each(|i| x.row_mut(i)[3] = x.row(i)[0]);
        sums(d, &[(x, y, w)])
    });
    let found = cross_validate(&folds, &[0.0, 1.0], Intercept::Centred, &Unwatched).unwrap();
    assert!(found[0].is_none() && found[1].as_ref().is_some_and(|e| e.iter().all(|e| *e > 0.0)));
}

#[test]
fn has_the_same_bits_for_every_number_of_threads() {
    let d = 2 * BLOCK + 9;
    let part = chunk(SLICE + 7, d, 5);
    let run = |threads| {
        pool::with(Some(threads), || {
            let equations = sums(d, std::slice::from_ref(&part));
            let fit = equations.ridge(2.0, Intercept::Centred, &Unwatched).unwrap();
            (equations, fit)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn bytes_give_back_the_sums_and_damage_is_noticed() {
    for d in [1, 9, BLOCK, BLOCK + 4] {
        let equations = sums(d, &[chunk(30, d, 1)]);
        let bytes = equations.to_bytes();
        assert_eq!(NormalEquations::from_bytes(&bytes).unwrap(), equations);
        assert!(matches!(
            NormalEquations::from_bytes(&bytes[..bytes.len() - 1]),
            Err(InvalidSaved::Length { .. } | InvalidSaved::Checksum)
        ));
        let mut damaged = bytes.clone();
        damaged[60] ^= 1;
        assert_eq!(NormalEquations::from_bytes(&damaged).unwrap_err(), InvalidSaved::Checksum);
    }
    assert!(matches!(NormalEquations::from_bytes(b"something else"), Err(InvalidSaved::Mark { .. })));
    let huge: Vec<u8> = b"mercer moments 1".iter().copied().chain([0xff; 32]).collect();
    assert!(matches!(NormalEquations::from_bytes(&huge), Err(InvalidSaved::Length { .. })));
}

#[test]
fn bad_input_is_named() {
    let (x, y, w) = chunk(10, 4, 1);
    let mut equations = NormalEquations::new(4, 2);
    assert_eq!(
        equations.ridge(1.0, Intercept::Centred, &Unwatched).unwrap_err(),
        NormalEquationsError::Empty
    );
    let mut bad = y.clone();
    bad.row_mut(3)[1] = f64::NAN;
    let error = equations.add(&x, &bad, None, &Unwatched).unwrap_err();
    assert!(matches!(error, NormalEquationsError::Value { what: "target", row: 3, .. }));
    let mut bad = x.clone();
    bad.row_mut(2)[0] = f64::INFINITY;
    let error = equations.add(&bad, &y, None, &Unwatched).unwrap_err();
    assert!(matches!(error, NormalEquationsError::Value { what: "feature", row: 2, .. }));
    let error = equations.add(&x, &y, Some(&[-1.0; 10]), &Unwatched).unwrap_err();
    assert!(matches!(error, NormalEquationsError::Value { what: "weight", row: 0, .. }));
    let error = equations.add(&x, &y, Some(&w[1..]), &Unwatched).unwrap_err();
    assert!(matches!(error, NormalEquationsError::Shape { what: "weights", found: 9, expected: 10 }));
    assert_eq!(equations.rows(), 0);
    // A feature twice: no unique answer without a penalty.
    let mut twice = x.clone();
    (0..10).for_each(|i| twice.row_mut(i)[3] = x.row(i)[0]);
    equations.add(&twice, &y, None, &Unwatched).unwrap();
    let error = equations.ridge(0.0, Intercept::Centred, &Unwatched).unwrap_err();
    assert!(matches!(error, NormalEquationsError::RankDeficient { rank: 3, features: 4, .. }), "{error}");
    let path = equations.ridge_path(Intercept::Centred).unwrap();
    assert!(path.solution(0.0).is_err() && path.solution(-1.0).is_err() && path.solution(f64::NAN).is_err());
    assert!(path.solution(1e-3).is_ok() && (path.effective_dimension(1e-9) - 3.0).abs() < 1e-6);
}
