//! Every operation of every design against the matrix it stands for.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{
    Access, Approximation, Design, DesignError, Features, Held, Labelled, LandmarkFactor, Landmarks, Loss,
    Parts, Recomputed, RowFeatures, RowLoss,
};
use mercer::gram::{LinearOperator, Values, ValuesMut};
use mercer::linalg::{Intercept, NormalEquations};
use mercer::real::Precision;
use mercer::session::Session;
use mercer::solve::{LandmarkSystem, NormalCg};
use mercer::watch::{Unwatched, Watch};

const ROWS: usize = 700;

fn number(k: usize) -> f64 {
    (k as f64 * 0.7311).sin()
}

fn matrix(rows: usize, columns: usize, shift: usize) -> Matrix<f64> {
    Matrix::from_entries(rows, columns, (0..rows * columns).map(|k| number(k + shift)).collect())
}

fn samples() -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(ROWS, 3, matrix(ROWS, 3, 0).into_entries()).unwrap())
}

fn product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let entry = |i: usize, j: usize| (0..a.ncols()).map(|k| a.row(i)[k] * b.row(k)[j]).sum();
    let entries = (0..a.nrows()).flat_map(|i| (0..b.ncols()).map(move |j| entry(i, j))).collect();
    Matrix::from_entries(a.nrows(), b.ncols(), entries)
}

fn transposed(a: &Matrix<f64>) -> Matrix<f64> {
    let entries = (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a.row(i)[j])).collect();
    Matrix::from_entries(a.ncols(), a.nrows(), entries)
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance * (1.0 + e.abs()), "{what}: {f} is not {e}");
    }
}

/// All operations against `phi`, whose rows the design has to `tolerance`.
fn check(what: &str, design: &dyn Design, phi: &Matrix<f64>, tolerance: f64) {
    let (n, d) = (phi.nrows(), phi.ncols());
    assert_eq!((design.nrows(), design.ncols()), (n, d), "{what}");
    let close = |of: &str, found: &[f64], expected: &[f64]| {
        assert_close(&format!("{what}: {of}"), found, expected, n as f64 * tolerance);
    };
    let mut rows = vec![0.0; 5 * d];
    design.fill(11..16, (&mut rows).into(), &Unwatched).unwrap();
    close("fill", &rows, &phi.entries()[11 * d..16 * d]);
    let chosen = [600, 3, 3, 41, 699];
    design.fill_at(&chosen, (&mut rows).into(), &Unwatched).unwrap();
    close("fill_at", &rows, phi.select(&chosen).entries());

    let (v, u) = (matrix(d, 2, 5), matrix(n, 3, 9));
    let mut out = Matrix::zeros(n, 2);
    design.apply(&v, &mut out, &Unwatched).unwrap();
    close("apply", out.entries(), product(phi, &v).entries());
    let mut out = Matrix::zeros(d, 3);
    design.apply_transposed(&u, &mut out, &Unwatched).unwrap();
    close("apply_transposed", out.entries(), product(&transposed(phi), &u).entries());

    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
    let mut weighted = product(phi, &v);
    (0..n).for_each(|i| weighted.row_mut(i).iter_mut().for_each(|value| *value *= weights[i]));
    let mut out = Matrix::zeros(d, 2);
    design.normal(&v, Some(&weights), &mut out, &Unwatched).unwrap();
    close("normal", out.entries(), product(&transposed(phi), &weighted).entries());

    let (mut dots, direction) = (vec![0.0; chosen.len()], matrix(d, 1, 2));
    design.dots_at(&chosen, direction.entries(), &mut dots, &Unwatched).unwrap();
    close("dots_at", &dots, product(&phi.select(&chosen), &direction).entries());
    let mut sum = vec![0.0; d];
    design.combine_at(&chosen, &[1.0, -2.0, 0.5, 3.0, 1.0], &mut sum, &Unwatched).unwrap();
    let factors = Matrix::from_entries(1, 5, vec![1.0, -2.0, 0.5, 3.0, 1.0]);
    close("combine_at", &sum, product(&factors, &phi.select(&chosen)).entries());

    check_sums(what, design, phi, &weights, n as f64 * tolerance);
    check_loss(what, design, phi, &weights, n as f64 * tolerance);
}

fn check_sums(what: &str, design: &dyn Design, phi: &Matrix<f64>, weights: &[f64], tolerance: f64) {
    let (n, d) = (phi.nrows(), phi.ncols());
    let table: Vec<Option<usize>> = (0..n).map(|i| [Some(0), Some(1), None, Some(1)][i % 4]).collect();
    let targets = matrix(n, 1, 31);
    let mut sums = vec![NormalEquations::new(d, 1); 2];
    design.normal_equations(&targets, Some(weights), &Parts::Table(&table), &mut sums, &Unwatched).unwrap();
    for (part, sums) in sums.iter().enumerate() {
        let rows: Vec<usize> = (0..n).filter(|&i| table[i] == Some(part)).collect();
        assert_eq!(sums.rows(), rows.len() as u64, "{what}");
        let mut expected = NormalEquations::new(d, 1);
        let of_rows: Vec<f64> = rows.iter().map(|&i| weights[i]).collect();
        expected.add(&phi.select(&rows), &targets.select(&rows), Some(&of_rows), &Unwatched).unwrap();
        assert_close(&format!("{what}: sums"), &sums.lower(), &expected.lower(), tolerance);
    }
}

fn check_loss(what: &str, design: &dyn Design, phi: &Matrix<f64>, weights: &[f64], tolerance: f64) {
    let (n, d) = (phi.nrows(), phi.ncols());
    let codes: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let labels = Labelled { codes: &codes, outputs: 3, weights };
    let smooth = Loss::SmoothHinge { width: 0.5, share: 1.0 };
    for loss in [Loss::Logistic, smooth].map(|loss| RowLoss { loss, labels }) {
        let (w, b) = (matrix(d, 3, 77), [0.1, -0.2, 0.3]);
        let (mut value, mut gradient, f) = (0.0, Matrix::zeros(n, 3), product(phi, &w));
        for i in 0..n {
            let row: Vec<f64> = f.row(i).iter().zip(b).map(|(f, b)| f + b).collect();
            value += loss.row(i, &row, gradient.row_mut(i));
        }
        let mut found = Matrix::zeros(d, 3);
        let sums = design.loss(&loss, &w, &b, &mut found, &Unwatched).unwrap();
        assert_close(&format!("{what}: loss"), &[sums.value], &[value], tolerance);
        let expected = product(&transposed(phi), &gradient);
        assert_close(&format!("{what}: gradient"), found.entries(), expected.entries(), tolerance);
    }
}

#[test]
fn designs_are_the_matrices_of_their_features() {
    let (samples, session) = (samples(), Session::default());
    let kernel = "rbf(sigma=1.5)".parse().unwrap();
    let features = [
        "poly(degree=2)".parse::<Features>().unwrap(),
        Approximation::fourier(34).of(&kernel, &samples, &session).unwrap(),
        Approximation::nystrom(21).of(&kernel, &samples, &session).unwrap(),
    ];
    for features in &features {
        let ready = || features.ready(3, None, &session).unwrap();
        let phi = ready().transform(&samples, Precision::Double, &session).unwrap().into_f64();
        let recomputed = Recomputed::new(ready(), &samples).unwrap();
        check(&format!("{features} recomputed"), &recomputed, &phi, 1e-11);
        let held = Held::of(&recomputed, &session).unwrap();
        check(&format!("{features} held"), &held, &phi, 1e-12);
        // Landmarks are then held as kernel values, and the factor L is applied in each pass: L⁻¹ is applied
        // twice in `normal` and multiplies the rounding of the sums by its condition number, up to 10⁴, each time.
        let for_passes = Held::for_passes(&ready(), &samples, &session).unwrap();
        check(&format!("{features} for passes"), &for_passes, &phi, 1e-7);
        let narrow: Vec<f32> = phi.entries().iter().map(|v| *v as f32).collect();
        let narrow = Held::from(Values::F32(Matrix::from_entries(ROWS, phi.ncols(), narrow)));
        check(&format!("{features} in single precision"), &narrow, &phi, 1e-6);
    }
}

#[test]
fn crossed_kernel_values_are_the_features_of_landmarks() {
    let (samples, session) = (samples(), Session::default());
    let kernel = "matern(nu=1.5)".parse().unwrap();
    let landmarks = Landmarks::choose(&kernel, &samples, 25, Default::default(), &session).unwrap();
    let rows = Recomputed::new(RowFeatures::Landmarks(&landmarks, &session), &samples).unwrap();
    let phi = Held::of(&rows, &session).unwrap().values().clone().into_f64();
    let (queries, centres) = (session.load(&samples).unwrap(), session.load(landmarks.landmarks()).unwrap());
    let forward = queries.cross(&kernel, &*centres).unwrap();
    let backward = centres.cross(&kernel, &*queries).unwrap();
    let factor = LandmarkFactor::new(&kernel, landmarks.landmarks(), &session).unwrap();
    assert_eq!(factor.jitter, 0.0);
    let weights: Vec<f64> = (0..ROWS).map(|i| 0.5 + (i % 3) as f64).collect();
    for centred in [false, true] {
        let system = LandmarkSystem {
            forward: &*forward,
            backward: &*backward,
            factor: &*factor.factor,
            weights: Some(&weights),
            centred,
            lambda: 0.3,
        };
        let v = Matrix::from_entries(25, 2, (0..50).map(|k| (k as f64).sin()).collect());
        let mut out = Matrix::zeros(25, 2);
        system.apply(&mut out, &v, &Unwatched).unwrap();
        let total: f64 = weights.iter().sum();
        for o in 0..2 {
            let f: Vec<f64> = (0..ROWS).map(|i| (0..25).map(|k| phi.row(i)[k] * v.row(k)[o]).sum()).collect();
            let mean: f64 = f.iter().zip(&weights).map(|(f, w)| f * w / total).sum();
            let mean = if centred { mean } else { 0.0 };
            for k in 0..25 {
                let sum: f64 = (0..ROWS).map(|i| phi.row(i)[k] * weights[i] * (f[i] - mean)).sum();
                let expected = sum + 0.3 * v.row(k)[o];
                assert!((out.row(k)[o] - expected).abs() < 1e-8 * ROWS as f64, "{centred} {k}");
            }
        }
    }
}

#[test]
fn the_memory_of_the_session_decides_what_is_held() {
    let (samples, session) = (samples(), Session::default());
    let kernel = "rbf".parse().unwrap();
    let features = Approximation::fourier(32).of(&kernel, &samples, &session).unwrap();
    assert_eq!(features.design(&samples, &session).unwrap().access(), Access::Held);
    let little = session.with_memory(ROWS as u64 * 32 * 8 - 1);
    assert_eq!(features.design(&samples, &little).unwrap().access(), Access::Computed);
    let error = features.ready(2, None, &session).map(|_| ()).unwrap_err();
    assert_eq!(error, DesignError::Columns { found: 2, expected: 3 });
    assert_eq!(features.ready(3, Some(&[0.0; 3]), &session).map(|_| ()).unwrap_err(), DesignError::Shifted);
}

/// Counts passes over the rows of another design.
struct Counting<'a> {
    design: Held<'a>,
    passes: AtomicUsize,
}

impl Design for Counting<'_> {
    fn nrows(&self) -> usize {
        self.design.nrows()
    }

    fn ncols(&self) -> usize {
        self.design.ncols()
    }

    fn precision(&self) -> Precision {
        self.design.precision()
    }

    fn fill(&self, rows: Range<usize>, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), DesignError> {
        if rows.start == 0 {
            self.passes.fetch_add(1, Ordering::Relaxed);
        }
        self.design.fill(rows, out, watch)
    }
}

/// Conjugate gradients read the rows once for the right-hand side and once for each step, and once to measure the residual.
#[test]
fn a_step_of_conjugate_gradients_reads_the_rows_once() {
    let (samples, session) = (samples(), Session::default());
    let kernel = "rbf".parse().unwrap();
    let features = Approximation::fourier(16).of(&kernel, &samples, &session).unwrap();
    let rows = Recomputed::new(features.ready(3, None, &session).unwrap(), &samples).unwrap();
    let design = Counting { design: Held::of(&rows, &session).unwrap(), passes: AtomicUsize::new(0) };
    let targets = matrix(ROWS, 2, 3);
    let mut sums = [NormalEquations::new(16, 2)];
    rows.normal_equations(&targets, None, &Parts::All, &mut sums, &session).unwrap();
    let problem = NormalCg {
        design: &design,
        targets: &targets,
        weights: None,
        intercept: Intercept::Centred,
        passes: 60,
    };
    let fit = problem.solve(0.1, &sums[0], &session).unwrap().unwrap();
    let expected = sums[0].ridge(0.1, Intercept::Centred, &session).unwrap();
    assert_close("weights", fit.fit.weights.entries(), expected.weights.entries(), 1e-6);
    let passes = design.passes.into_inner();
    assert!(passes <= fit.report.iterations + 2, "{passes} passes for {} steps", fit.report.iterations);
}
