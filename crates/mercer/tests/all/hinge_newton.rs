//! Support vector machines on held features against other solvers of the same problem.

use mercer::data::Matrix;
use mercer::design::Held;
use mercer::gram::{DenseGram, Values};
use mercer::linalg::Intercept;
use mercer::pool;
use mercer::solve::svm::{BoxQp, SvmSettings};
use mercer::solve::{HingeFit, HingeNewton, Status};
use mercer::watch::Unwatched;

/// Features, sides by a noisy plane, and bounds.
struct Problem {
    phi: Matrix<f64>,
    positive: Vec<bool>,
    bounds: Vec<f64>,
}

impl Problem {
    fn new(rows: usize, width: usize, c: f64) -> Self {
        let noise = |k: usize| ((k as f64 * 12.9898).sin() * 43_758.547).fract();
        let phi: Vec<f64> = (0..rows * width).map(noise).collect();
        let phi = Matrix::from_entries(rows, width, phi);
        let side = |i: usize| phi.row(i)[0] + 0.7 * phi.row(i)[1] + 0.5 * noise(7 * i + 3) > 0.2;
        let positive = (0..rows).map(side).collect();
        let bounds = (0..rows).map(|i| c * [1.0, 0.5, 2.0, 0.0][i % 4]).collect();
        Self { phi, positive, bounds }
    }

    fn fit(&self, intercept: Intercept, tolerance: f64) -> HingeFit {
        let held = Held::from(Values::F64(self.phi.clone()));
        let machine = HingeNewton { rows: &held, positive: &self.positive, bounds: &self.bounds, intercept };
        machine.solve((vec![0.0; self.phi.ncols()], 0.0), tolerance, 500, &Unwatched).unwrap()
    }

    fn sign(&self, i: usize) -> f64 {
        if self.positive[i] { 1.0 } else { -1.0 }
    }

    /// ½‖w‖² + Σ c·max(0, 1 − sf).
    fn objective(&self, w: &[f64], b: f64) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let loss = |i: usize| self.bounds[i] * (1.0 - self.sign(i) * (dot(self.phi.row(i), w) + b)).max(0.0);
        0.5 * dot(w, w) + (0..self.phi.nrows()).map(loss).sum::<f64>()
    }

    /// The minimum, by the dual problem on the matrix of the features' products.
    fn minimum(&self) -> f64 {
        let n = self.phi.nrows();
        let product =
            |e: usize| self.phi.row(e / n).iter().zip(self.phi.row(e % n)).map(|(a, b)| a * b).sum::<f64>();
        let products: Vec<f64> = (0..n * n).map(product).collect();
        let rows: Vec<usize> = (0..n).collect();
        let qp = BoxQp::classify(&rows, &self.positive, &self.bounds).unwrap();
        let settings = SvmSettings { tol: 1e-9, ..SvmSettings::default() };
        -qp.solve(&DenseGram::new(n, &products), None, &settings, &Unwatched).unwrap().report.objective
    }

    /// The minimum without an intercept, one multiplier after the other.
    fn minimum_through_the_origin(&self) -> f64 {
        let (n, d) = (self.phi.nrows(), self.phi.ncols());
        let (mut w, mut alpha) = (vec![0.0; d], vec![0.0f64; n]);
        for _ in 0..20_000 {
            let mut moved = 0.0f64;
            for i in 0..n {
                let phi = self.phi.row(i);
                let f: f64 = phi.iter().zip(&w).map(|(a, b)| a * b).sum();
                let square: f64 = phi.iter().map(|v| v * v).sum();
                let next = (alpha[i] + (1.0 - self.sign(i) * f) / square).clamp(0.0, self.bounds[i]);
                let change = next - alpha[i];
                alpha[i] = next;
                w.iter_mut().zip(phi).for_each(|(w, v)| *w += change * self.sign(i) * v);
                moved = moved.max(change.abs());
            }
            if moved < 1e-10 {
                break;
            }
        }
        alpha.iter().sum::<f64>() - 0.5 * w.iter().map(|w| w * w).sum::<f64>()
    }
}

/// With fewer features than rows and with more, for weak and strong penalties; rows that count nothing among them.
#[test]
fn the_minimum_matches_the_dual_problem() {
    for (rows, width, c) in [(200, 12, 0.1), (200, 12, 30.0), (120, 150, 0.1), (120, 150, 30.0)] {
        let problem = Problem::new(rows, width, c);
        let minimum = problem.minimum();
        let fit = problem.fit(Intercept::Centred, 1e-7);
        assert_eq!(fit.status, Status::Converged, "{rows} x {width}, C = {c}: {fit:?}");
        let objective = problem.objective(&fit.weights, fit.intercept);
        assert!((objective - fit.objective).abs() <= 1e-11 * objective, "{objective} {}", fit.objective);
        assert!(objective >= minimum * (1.0 - 1e-8), "{objective} {minimum}");
        assert!(objective <= minimum * (1.0 + 2e-7), "{objective} {minimum}");
    }
}

#[test]
fn without_an_intercept() {
    for c in [0.2, 5.0] {
        let problem = Problem::new(150, 10, c);
        let (minimum, fit) = (problem.minimum_through_the_origin(), problem.fit(Intercept::None, 1e-7));
        assert_eq!((fit.status, fit.intercept), (Status::Converged, 0.0));
        let objective = problem.objective(&fit.weights, 0.0);
        assert!((objective / minimum - 1.0).abs() < 1e-6, "{objective} {minimum}");
    }
}

/// The reported gap bounds the true one, however early the work ends.
#[test]
fn the_gap_is_a_bound_at_every_step() {
    let problem = Problem::new(160, 20, 3.0);
    let minimum = problem.minimum();
    for steps in 0..15 {
        let held = Held::from(Values::F64(problem.phi.clone()));
        let machine = HingeNewton {
            rows: &held,
            positive: &problem.positive,
            bounds: &problem.bounds,
            intercept: Intercept::Centred,
        };
        let fit = machine.solve((vec![0.0; 20], 0.0), 1e-9, steps, &Unwatched).unwrap();
        assert_eq!(fit.iterations, steps);
        let above = (problem.objective(&fit.weights, fit.intercept) - minimum) / fit.objective;
        assert!(above <= fit.gap + 1e-12, "after {steps} steps: {above} {}", fit.gap);
    }
}

/// Features in single precision are the problem of these features, whose minimum is found to double precision.
#[test]
fn features_in_single_precision() {
    let mut problem = Problem::new(300, 40, 10.0);
    let narrow: Vec<f32> = problem.phi.entries().iter().map(|v| *v as f32).collect();
    problem.phi = Matrix::from_entries(300, 40, narrow.iter().map(|v| f64::from(*v)).collect());
    let narrow = Held::from(Values::F32(Matrix::from_entries(300, 40, narrow)));
    let machine = HingeNewton {
        rows: &narrow,
        positive: &problem.positive,
        bounds: &problem.bounds,
        intercept: Intercept::Centred,
    };
    let fit = machine.solve((vec![0.0; 40], 0.0), 1e-7, 500, &Unwatched).unwrap();
    let objective = problem.objective(&fit.weights, fit.intercept);
    assert!((objective / problem.minimum() - 1.0).abs() < 2e-7, "{fit:?}");
}

/// Rows that are all the same, one side only, and separated sides.
#[test]
fn degenerate_problems_have_answers() {
    let mut same = Problem::new(60, 5, 2.0);
    same.phi = Matrix::from_entries(60, 5, vec![0.5; 300]);
    let fit = same.fit(Intercept::Centred, 1e-6);
    assert!((fit.objective / same.minimum() - 1.0).abs() < 1e-5, "{fit:?}");
    let mut one = Problem::new(60, 5, 2.0);
    one.positive = vec![true; 60];
    let fit = one.fit(Intercept::Centred, 1e-6);
    assert!(fit.objective < 1e-9 && fit.weights.iter().all(|w| w.is_finite()), "{fit:?}");
    let mut apart = Problem::new(80, 4, 1e6);
    apart.positive = (0..80).map(|i| apart.phi.row(i)[0] > 0.0).collect();
    let fit = apart.fit(Intercept::Centred, 1e-6);
    assert!((fit.objective / apart.minimum() - 1.0).abs() < 1e-4, "{} {}", fit.objective, apart.minimum());
}

#[test]
fn the_same_bits_whatever_the_number_of_threads() {
    let problem = Problem::new(900, 300, 2.0);
    let fits = [1, 2, 5].map(|threads| pool::with(Some(threads), || problem.fit(Intercept::Centred, 1e-5)));
    assert_eq!(fits[0], fits[1]);
    assert_eq!(fits[0], fits[2]);
}
