use super::*;
use crate::design::{sigmoid, softmax};
use crate::watch::Unwatched;

/// A Gaussian kernel matrix of fixed points in two dimensions, times `factor`, with the derivative in each of two parameters:
/// the logarithms of `factor` and of the width.
fn kernel(n: usize, factor: f64, width: f64) -> (Matrix<f64>, [Matrix<f64>; 2]) {
    let point = |i: usize| {
        let t = i as f64;
        [(1.3 * t).sin() * 2.0 + 0.1 * (7.7 * t).cos(), (0.7 * t + 1.0).cos() * 2.0]
    };
    let mut k = Matrix::zeros(n, n);
    let mut by_width = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            let (a, b) = (point(i), point(j));
            let square = (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
            let value = factor * (-0.5 * square / (width * width)).exp();
            k.row_mut(i)[j] = value;
            by_width.row_mut(i)[j] = value * square / (width * width);
        }
    }
    let by_factor = k.clone();
    (k, [by_factor, by_width])
}

fn codes(n: usize, classes: usize) -> Vec<usize> {
    (0..n).map(|i| ((1.3 * i as f64).sin() * 2.0 + 2.2).floor() as usize % classes.max(2)).collect()
}

fn contracted(weights: &Matrix<f64>, derivative: &Matrix<f64>) -> f64 {
    dot(weights.entries(), derivative.entries())
}

#[test]
fn gradients_match_finite_differences() {
    let n = 23;
    for classes in [2, 3, 4] {
        let codes = codes(n, classes);
        for (factor, width) in [(1.0f64, 1.0f64), (20.0, 0.7), (3.0, 2.5)] {
            let value = |log_factor: f64, log_width: f64| {
                let (k, _) = kernel(n, log_factor.exp(), log_width.exp());
                Laplace::at_mode(&k, &codes, classes, None, 100, &Unwatched).unwrap().log_likelihood()
            };
            let (k, derivatives) = kernel(n, factor, width);
            let fit = Laplace::at_mode(&k, &codes, classes, None, 100, &Unwatched).unwrap();
            assert!(fit.converged() && fit.iterations() < 30, "{classes} classes: {}", fit.iterations());
            let weights = fit.gradient_weights(&k, &Unwatched).unwrap();
            let (t, h) = ([factor.ln(), width.ln()], 1e-4);
            for (p, derivative) in derivatives.iter().enumerate() {
                let moved = |by: f64| if p == 0 { value(t[0] + by, t[1]) } else { value(t[0], t[1] + by) };
                // Richardson: the error of the differences is of the order h⁴.
                let near = (moved(h) - moved(-h)) / (2.0 * h);
                let far = (moved(2.0 * h) - moved(-2.0 * h)) / (4.0 * h);
                let expected = (4.0 * near - far) / 3.0;
                let found = contracted(&weights, derivative);
                assert!(
                    (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                    "{classes} classes, {factor}, {width}, {p}: {found} against {expected}"
                );
            }
        }
    }
}

/// The mode satisfies K⁻¹f̂ = ∇ log p(y | f̂).
#[test]
fn the_mode_is_stationary() {
    let n = 40;
    for classes in [2, 5] {
        let codes = codes(n, classes);
        let (k, _) = kernel(n, 30.0, 1.5);
        let fit = Laplace::at_mode(&k, &codes, classes, None, 100, &Unwatched).unwrap();
        let at = Point::at(&k, &codes, fit.coefficients().clone());
        let pairs = at.gradient.entries().iter().zip(fit.coefficients().entries());
        let worst = pairs.map(|(g, a)| (g - a).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-10, "{classes} classes: {worst}");
        // From the answer of another kernel, the same mode.
        let (other, _) = kernel(n, 10.0, 1.0);
        let start = Laplace::at_mode(&other, &codes, classes, None, 100, &Unwatched).unwrap();
        let again =
            Laplace::at_mode(&k, &codes, classes, Some(start.coefficients()), 100, &Unwatched).unwrap();
        assert!((again.log_likelihood() - fit.log_likelihood()).abs() < 1e-9);
    }
}

/// log|I + KW| and the latent covariances, from dense matrices without any of the identities.
#[test]
fn determinants_and_covariances_match_the_definition() {
    let n = 9;
    for classes in [2, 3] {
        let outputs = if classes == 2 { 1 } else { classes };
        let codes = codes(n, classes);
        let (all, _) = kernel(n + 1, 4.0, 1.2);
        let mut k = Matrix::zeros(n, n);
        (0..n).for_each(|i| k.row_mut(i).copy_from_slice(&all.row(i)[..n]));
        let fit = Laplace::at_mode(&k, &codes, classes, None, 100, &Unwatched).unwrap();
        let at = Point::at(&k, &codes, fit.coefficients().clone());
        // W and K over all functions: index c·n + i.
        let size = n * outputs;
        let w = |r: usize, s: usize| {
            let (c, i, d, j) = (r / n, r % n, s / n, s % n);
            if i != j {
                return 0.0;
            }
            let p = at.probabilities.row(i);
            if outputs == 1 { p[0] * (1.0 - p[0]) } else { f64::from(u8::from(c == d)) * p[c] - p[c] * p[d] }
        };
        let big = |r: usize, s: usize| if r / n == s / n { k.row(r % n)[s % n] } else { 0.0 };
        let a: Vec<Vec<f64>> = (0..size)
            .map(|r| {
                (0..size)
                    .map(|s| {
                        f64::from(u8::from(r == s)) + (0..size).map(|t| big(r, t) * w(t, s)).sum::<f64>()
                    })
                    .collect()
            })
            .collect();
        // (I + KW) x = K-cross, and the determinant, by elimination.
        let own = all.row(n)[n];
        let places = |c: usize| (0..size).map(move |r| (r, c));
        let rhs: Vec<Vec<f64>> = (0..outputs)
            .map(|c| places(c).map(|(r, c)| if r / n == c { all.row(n)[r % n] } else { 0.0 }).collect())
            .collect();
        let (determinant, solved) = eliminate(a, &rhs);
        let direct = at.objective - 0.5 * determinant.ln();
        assert!((direct - fit.log_likelihood()).abs() < 1e-9, "{direct} {}", fit.log_likelihood());
        // cov_cd = δ k** − k_cᵀ W (I + KW)⁻¹ k_d.
        let again = Latent::at_mode(&k, fit.coefficients(), &Unwatched).unwrap();
        let latent = fit.into_latent();
        let cross = Matrix::from_entries(1, n, all.row(n)[..n].to_vec());
        let covariance = latent.covariances(&cross, &[own], &Unwatched).unwrap().into_entries();
        let again = again.covariances(&cross, &[own], &Unwatched).unwrap().into_entries();
        assert!(covariance.iter().zip(again).all(|(a, b)| (a - b).abs() < 1e-9));
        for c in 0..outputs {
            for d in 0..outputs {
                let mut expected = if c == d { own } else { 0.0 };
                for r in 0..size {
                    for s in 0..size {
                        expected -= rhs[c][r] * w(r, s) * solved[d][s];
                    }
                }
                let found = covariance[c * outputs + d];
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{classes} classes, {c}, {d}: {found} against {expected}"
                );
            }
        }
    }
}

/// The determinant of A and the solutions of Ax = b, by elimination with row exchanges.
fn eliminate(mut a: Vec<Vec<f64>>, rhs: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
    let n = a.len();
    let mut x: Vec<Vec<f64>> = rhs.to_vec();
    let mut determinant = 1.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        a.swap(k, pivot);
        x.iter_mut().for_each(|x| x.swap(k, pivot));
        determinant *= if pivot == k { a[k][k] } else { -a[k][k] };
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(&row).for_each(|(to, from)| *to -= factor * from);
            x.iter_mut().for_each(|x| x[i] -= factor * x[k]);
        }
    }
    x.iter_mut().for_each(|x| (0..n).for_each(|i| x[i] /= a[i][i]));
    (determinant, x)
}

#[test]
fn probabilities_are_averages_over_the_latent_functions() {
    // Against sums over a fine grid.
    let grid = |mu: f64, s: f64| {
        let (mut sum, mut weight) = (0.0, 0.0);
        for k in -200_000i32..=200_000 {
            let z = f64::from(k) * 5e-5;
            let w = (-0.5 * z * z).exp();
            sum += w * sigmoid(mu + s * z);
            weight += w;
        }
        sum / weight
    };
    let rule = ClassRule::new(2);
    for (mu, s) in [(0.0, 1.0), (2.0, 0.1), (-3.0, 4.0), (10.0, 20.0), (0.5, 300.0), (-30.0, 1.0)] {
        let p = rule.probabilities(&[mu], &[s * s]);
        assert!((p[1] - grid(mu, s)).abs() < 1e-11 && (p[0] + p[1] - 1.0).abs() < 1e-12, "{mu}, {s}: {p:?}");
    }
    assert_eq!(rule.probabilities(&[0.3], &[0.0]), [sigmoid(-0.3), sigmoid(0.3)]);

    // Three functions of which two never change: the third alone is averaged, by the same grid.
    let rule = ClassRule::new(3);
    for (mean, s) in [([0.0, 0.5, -0.5], 1.0f64), ([2.0, -1.0, 0.0], 3.0)] {
        let covariance = [0.0, 0.0, 0.0, 0.0, s * s, 0.0, 0.0, 0.0, 0.0];
        let found = rule.probabilities(&mean, &covariance);
        let others = (mean[0].exp() + mean[2].exp()).ln();
        let expected = grid(mean[1] - others, s);
        assert!((found[1] - expected).abs() < 1e-3, "{found:?} against {expected}");
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mut certain = mean.to_vec();
        softmax(&mut certain);
        assert_eq!(rule.probabilities(&mean, &[0.0; 9]).len(), 3);
        let same =
            rule.probabilities(&mean, &[0.0; 9]).iter().zip(&certain).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(same);
    }
}

#[test]
fn bad_matrices_are_refused() {
    let codes = [0, 1, 0];
    let indefinite = Matrix::from_entries(3, 3, vec![1.0, 90.0, 0.0, 90.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let error = Laplace::at_mode(&indefinite, &codes, 2, None, 100, &Unwatched).err();
    assert!(matches!(error, Some(SolveError::NegativePivot { .. })), "{error:?}");
    let nan = Matrix::from_entries(3, 3, vec![f64::NAN; 9]);
    assert_eq!(Laplace::at_mode(&nan, &codes, 2, None, 100, &Unwatched).err(), Some(SolveError::NotFinite));
    let error = Laplace::at_mode(&nan, &[0, 1], 2, None, 100, &Unwatched).err();
    assert!(matches!(error, Some(SolveError::Shape { .. })), "{error:?}");
}
