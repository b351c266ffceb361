//! Cross-validation on a path of λ against refits without the rows, by Gaussian elimination.

use crate::oracle::{eliminate, noise};
use mercer::data::Matrix;
use mercer::kernel::Kernel;
use mercer::pool;
use mercer::solve::{PathProblem, RidgePath};
use mercer::watch::{Stopped, Unwatched};

struct Case {
    gram: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
    intercept: bool,
}

impl Case {
    /// Points in the plane, the first ten of them twice.
    fn new(n: usize, sigma: f64, weighted: bool, intercept: bool) -> Self {
        let kernel: Kernel = format!("rbf(sigma={sigma})").parse().unwrap();
        let mut x: Vec<Vec<f64>> = noise(2 * n, 1).chunks(2).map(<[f64]>::to_vec).collect();
        for i in 0..10.min(n / 2) {
            x[n - 1 - i] = x[i].clone();
        }
        let gram = x.iter().map(|a| x.iter().map(|b| kernel.eval(a, b).unwrap()).collect()).collect();
        let y =
            x.iter().zip(noise(n, 2)).map(|(x, e)| vec![(3.0 * x[0]).sin() + 0.3 * e, 5.0 + x[1]]).collect();
        let weights = weighted.then(|| noise(n, 3).into_iter().map(|v| 1.5 + v).collect());
        Self { gram, y, weights, intercept }
    }

    fn n(&self) -> usize {
        self.y.len()
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// a and b of the fit on these rows: (K + λW⁻¹)a + b·1 = y and 1ᵀa = 0.
    fn fit(&self, rows: &[usize], lambda: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut system: Vec<Vec<f64>> =
            rows.iter().map(|&i| rows.iter().map(|&j| self.gram[i][j]).collect()).collect();
        let mut rhs: Vec<Vec<f64>> = rows.iter().map(|&i| self.y[i].clone()).collect();
        for (place, &i) in rows.iter().enumerate() {
            system[place][place] += lambda / self.weight(i);
            if self.intercept {
                system[place].push(1.0);
            }
        }
        if self.intercept {
            system.push([vec![1.0; rows.len()], vec![0.0]].concat());
            rhs.push(vec![0.0; 2]);
        }
        let mut a = eliminate(system, rhs);
        let b = if self.intercept { a.pop().unwrap() } else { vec![0.0; 2] };
        (a, b)
    }

    /// The residuals on `held` of the fit without those rows.
    fn refit(&self, held: &[usize], lambda: f64) -> Vec<Vec<f64>> {
        let rows: Vec<usize> = (0..self.n()).filter(|i| !held.contains(i)).collect();
        let (a, b) = self.fit(&rows, lambda);
        let value = |i: usize, c: usize| {
            rows.iter().zip(&a).map(|(&j, a)| a[c] * self.gram[i][j]).sum::<f64>() + b[c]
        };
        held.iter().map(|&i| (0..2).map(|c| self.y[i][c] - value(i, c)).collect()).collect()
    }

    fn path(&self, lambdas: &[f64]) -> RidgePath {
        let n = self.n();
        let targets = Matrix::from_entries(n, 2, self.y.concat());
        let roots: Option<Vec<f64>> = self.weights.as_ref().map(|w| w.iter().map(|w| w.sqrt()).collect());
        let problem = PathProblem {
            targets: &targets,
            root_weights: roots.as_deref(),
            intercept: self.intercept,
            lambdas,
        };
        RidgePath::factor(Matrix::from_entries(n, n, self.gram.concat()), problem, &Unwatched).unwrap()
    }
}

/// Narrow, where K is almost the identity; between; and wide, where the numerical rank is a tenth of n.
const SIGMAS: [f64; 3] = [0.02, 0.3, 2.0];

/// Every combination of weights and intercept.
const WAYS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1.0), "{what}: {found} is not {expected}");
}

#[test]
fn leave_one_out_is_a_refit_without_each_row() {
    let lambdas = [1e-3, 0.1, 10.0];
    for sigma in SIGMAS {
        for (weighted, intercept) in WAYS {
            let case = Case::new(200, sigma, weighted, intercept);
            let mut path = case.path(&lambdas);
            assert_eq!(path.rank() < 100, sigma > 1.0, "σ = {sigma} has rank {}", path.rank());
            let found = path.leave_one_out(&Unwatched).unwrap();
            for (lambda, found) in lambdas.iter().zip(found) {
                let found = found.expect("positive definite");
                for i in (0..200).step_by(13).chain([0, 199]) {
                    let expected = &case.refit(&[i], *lambda)[0];
                    for c in 0..2 {
                        let what =
                            format!("σ {sigma}, λ {lambda}, weights {weighted}, b {intercept}, row {i}");
                        assert_close(found.row(i)[c], expected[c], &what);
                    }
                }
            }
        }
    }
}

#[test]
fn every_row_of_a_small_problem_is_left_out_exactly() {
    for n in [3, 4, 40] {
        for (weighted, intercept) in WAYS {
            let case = Case::new(n, 0.5, weighted, intercept);
            let found = case.path(&[0.05]).leave_one_out(&Unwatched).unwrap()[0].clone().unwrap();
            for i in 0..n {
                let expected = &case.refit(&[i], 0.05)[0];
                (0..2).for_each(|c| assert_close(found.row(i)[c], expected[c], &format!("n {n}, row {i}")));
            }
        }
    }
}

#[test]
fn k_fold_is_a_refit_without_each_fold() {
    let lambdas = [1e-2, 1.0];
    for sigma in SIGMAS {
        for (weighted, intercept) in WAYS {
            let case = Case::new(200, sigma, weighted, intercept);
            let folds: Vec<usize> = (0..200).map(|i| (i * 7 + i / 50) % 5).collect();
            let found = case.path(&lambdas).k_fold(&folds, &Unwatched).unwrap();
            for (lambda, found) in lambdas.iter().zip(found) {
                let found = found.expect("positive definite");
                for fold in 0..5 {
                    let held: Vec<usize> = (0..200).filter(|&i| folds[i] == fold).collect();
                    for (place, expected) in case.refit(&held, *lambda).iter().enumerate() {
                        let what = format!("σ {sigma}, λ {lambda}, weights {weighted}, b {intercept}");
                        (0..2).for_each(|c| assert_close(found.row(held[place])[c], expected[c], &what));
                    }
                }
            }
        }
    }
}

/// n‖√W(y − f)‖²/trace(I − H)², with the smoother matrix H a column at a time: what the fit makes of each unit vector.
#[test]
fn generalised_cross_validation_has_the_trace_of_the_smoother() {
    let n = 80;
    for sigma in SIGMAS {
        for (weighted, intercept) in WAYS {
            let case = Case::new(n, sigma, weighted, intercept);
            let found = case.path(&[0.02, 2.0]).generalised(&Unwatched).unwrap();
            for (lambda, found) in [0.02, 2.0].into_iter().zip(found) {
                let found = found.expect("positive definite");
                let all: Vec<usize> = (0..n).collect();
                let fitted = |y: Vec<Vec<f64>>| {
                    let case = Case { y, gram: case.gram.clone(), weights: case.weights.clone(), ..case };
                    let (a, b) = case.fit(&all, lambda);
                    move |i: usize, c: usize| (0..n).map(|j| a[j][c] * case.gram[i][j]).sum::<f64>() + b[c]
                };
                let trace: f64 = (0..n)
                    .map(|k| {
                        let unit = (0..n).map(|i| vec![f64::from(u8::from(i == k)), 0.0]).collect();
                        1.0 - fitted(unit)(k, 0)
                    })
                    .sum();
                let f = fitted(case.y.clone());
                for c in 0..2 {
                    let squares: f64 =
                        (0..n).map(|i| case.weight(i) * (case.y[i][c] - f(i, c)).powi(2)).sum();
                    let expected = n as f64 * squares / (trace * trace);
                    assert_close(found[c] / expected, 1.0, &format!("σ {sigma}, λ {lambda}, target {c}"));
                }
            }
        }
    }
}

#[test]
fn coefficients_are_the_closed_form() {
    for sigma in SIGMAS {
        for (weighted, intercept) in WAYS {
            let case = Case::new(100, sigma, weighted, intercept);
            let found = case.path(&[0.1]).coefficients(&Unwatched).unwrap()[0].clone().unwrap();
            let (a, b) = case.fit(&(0..100).collect::<Vec<_>>(), 0.1);
            for c in 0..2 {
                assert_close(found.intercepts[c], b[c], "intercept");
                (0..100).for_each(|i| assert_close(found.dual.row(i)[c], a[i][c], "coefficient"));
            }
        }
    }
}

#[test]
fn an_indefinite_system_is_an_error() {
    let mut case = Case::new(50, 0.3, false, true);
    let mut path = case.path(&[0.0, 1.0]);
    let found = path.leave_one_out(&Unwatched).unwrap();
    assert!(found[0].is_none(), "the first ten points stand twice");
    assert!(found[1].is_some());
    case.gram.iter_mut().flatten().for_each(|k| *k = -*k);
    assert!(case.path(&[0.1]).generalised(&Unwatched).unwrap()[0].is_none());
    case.gram[3][3] = f64::NAN;
    assert!(case.path(&[0.1]).k_fold(&[0; 50], &Unwatched).unwrap()[0].is_none());
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    for sigma in [0.05, 2.0] {
        let case = Case::new(400, sigma, true, true);
        let folds: Vec<usize> = (0..400).map(|i| i % 4).collect();
        let answer = |threads| {
            pool::with(Some(threads), || {
                let mut path = case.path(&[0.01, 1.0]);
                let generalised = path.generalised(&Unwatched).unwrap();
                (
                    path.coefficients(&Unwatched).unwrap(),
                    generalised,
                    path.leave_one_out(&Unwatched).unwrap(),
                    path.k_fold(&folds, &Unwatched).unwrap(),
                )
            })
        };
        let one = answer(1);
        assert!(one == answer(2) && one == answer(3));
    }
}

#[test]
fn stops_when_asked() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let targets = Matrix::zeros(100, 1);
    let problem = PathProblem { targets: &targets, root_weights: None, intercept: true, lambdas: &[1.0] };
    let stopped = RidgePath::factor(Matrix::zeros(100, 100), problem, &stop).map(|_| ());
    assert_eq!(stopped, Err(Stopped));
}
