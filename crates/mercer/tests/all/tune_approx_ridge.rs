//! The choice of hyper-parameters on approximate features against fits made one by one.

use std::cell::Cell;
use std::slice;
use std::sync::atomic::AtomicBool;

use crate::oracle::{self, noise};
use mercer::data::{AnySamples, Matrix, Samples, fold_of_row, is_held_out};
use mercer::design::{Approximation, DesignError, Parts};
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, LearnError, Ridge, add_rows, empty_sums};
use mercer::pool;
use mercer::select::{
    Criterion, FoldSums, LambdaSpace, Split, Strategy, Stream, Trials, TuneApproxRidge, TunedApproxRidge,
    assign_folds,
};
use mercer::session::Session;

const ROWS: usize = 90;
const LAMBDAS: [f64; 3] = [1e-2, 0.3, 10.0];

struct Problem {
    x: AnySamples<'static>,
    y: Matrix<f64>,
    /// Three rows do not count.
    weights: Vec<f64>,
}

fn problem() -> Problem {
    let x = noise(2 * ROWS, 1);
    let y = x
        .chunks(2)
        .zip(noise(ROWS, 2))
        .flat_map(|(x, e)| [(4.0 * x[0]).sin() + 0.2 * e, 2.0 + x[0] * x[1]])
        .collect();
    let mut weights: Vec<f64> = noise(ROWS, 3).into_iter().map(|v| 1.2 + v).collect();
    weights[5..8].fill(0.0);
    Problem {
        x: AnySamples::F64(Samples::dense(ROWS, 2, x).unwrap()),
        y: Matrix::from_entries(ROWS, 2, y),
        weights,
    }
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn session() -> Session<'static> {
    Session::default().with_seed(4)
}

fn fixed(approximation: Approximation, criterion: Criterion) -> TuneApproxRidge {
    TuneApproxRidge {
        lambda: LambdaSpace::one_of(LAMBDAS.to_vec()).unwrap(),
        criterion,
        ..TuneApproxRidge::new(kernel("rbf(sigma=0.7)"), approximation)
    }
}

impl Problem {
    fn weights(&self, weighted: bool) -> Option<&[f64]> {
        weighted.then_some(self.weights.as_slice())
    }

    fn tune(&self, tune: &TuneApproxRidge, weighted: bool) -> Result<TunedApproxRidge, LearnError> {
        tune.run(&self.x, &self.y, self.weights(weighted), None, &mut |_| {}, &session())
    }

    /// The mean squared error over the rows of each group, of a fit without them that is made by itself.
    fn score(&self, tune: &TuneApproxRidge, lambda: f64, weighted: bool, groups: &[Vec<usize>]) -> f64 {
        let ridge = Ridge::new((tune.kernel.clone(), tune.approximation)).lambda(lambda).intercept(tune.bias);
        let weight = |row: usize| if weighted { self.weights[row] } else { 1.0 };
        let prepared = ridge.prepare((&self.x, ROWS as u64), &session()).unwrap();
        let (mut sum, mut total) = (0.0, 0.0);
        for held in groups {
            let train: Vec<usize> = (0..ROWS).filter(|row| !held.contains(row)).collect();
            let mut sums = empty_sums(prepared.features.count(2).unwrap(), 2, &session()).unwrap();
            let weights: Vec<f64> = train.iter().map(|&row| weight(row)).collect();
            let (x, y) = (self.x.select(&train), self.y.select(&train));
            let into = (&Parts::All, slice::from_mut(&mut sums));
            add_rows(&prepared.features, &x, &y, Some(&weights), into, &session()).unwrap();
            let predictor = ridge.fit_sums(prepared.clone(), sums, &session()).unwrap().predictor;
            let found = predictor.predict(&self.x.select(held), &session()).unwrap();
            for (place, &row) in held.iter().enumerate() {
                total += 2.0 * weight(row);
                for o in 0..2 {
                    sum += weight(row) * (self.y.row(row)[o] - found.row(place)[o]).powi(2);
                }
            }
        }
        sum / total
    }
}

/// The rows of each fold that have a weight.
fn groups(problem: &Problem, criterion: &Criterion, weighted: bool) -> Vec<Vec<usize>> {
    let counted: Vec<usize> = (0..ROWS).filter(|&i| !weighted || problem.weights[i] > 0.0).collect();
    let of_folds = |folds: Vec<usize>, rows: &[usize]| -> Vec<Vec<usize>> {
        let count = folds.iter().max().unwrap() + 1;
        let rows_of = |fold| (0..rows.len()).filter(|&k| folds[k] == fold).map(|k| rows[k]).collect();
        (0..count).map(rows_of).collect()
    };
    match criterion {
        Criterion::KFold { folds, seed } => {
            of_folds(assign_folds(counted.len(), *folds, *seed).unwrap(), &counted)
        }
        Criterion::Folds(folds) => of_folds(counted.iter().map(|&row| folds[row]).collect(), &counted),
        Criterion::HoldOut { fraction, seed } => {
            let split = Split::hold_out(counted.len(), *fraction, *seed).unwrap().unwrap();
            vec![split.held_out.iter().map(|&place| counted[place]).collect()]
        }
        _ => unreachable!(),
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs()
}

#[test]
fn scores_are_those_of_fits_one_by_one() {
    let problem = problem();
    let criteria = [
        Criterion::KFold { folds: 4, seed: 9 },
        Criterion::Folds((0..ROWS).map(|i| i / 31).collect()),
        Criterion::HoldOut { fraction: 0.3, seed: 2 },
    ];
    for approximation in [Approximation::fourier(32), Approximation::nystrom(20)] {
        for (criterion, weighted, bias) in [
            (&criteria[0], true, Intercept::Centred),
            (&criteria[0], false, Intercept::None),
            (&criteria[1], true, Intercept::None),
            (&criteria[2], true, Intercept::Centred),
            (&criteria[2], false, Intercept::Centred),
        ] {
            let tune = TuneApproxRidge { bias, ..fixed(approximation, criterion.clone()) };
            let found = problem.tune(&tune, weighted).unwrap();
            let groups = groups(&problem, criterion, weighted);
            let rows = &found.tuned.trials.rows;
            assert_eq!(rows.iter().map(|t| t.setting).collect::<Vec<_>>(), LAMBDAS);
            for trial in rows {
                let expected = problem.score(&tune, trial.setting, weighted, &groups);
                let score = trial.score.unwrap();
                assert!(near(score, expected, 1e-8), "{approximation} {criterion:?}: {score} {expected}");
            }
            let least = rows.iter().filter_map(|t| t.score).fold(f64::INFINITY, f64::min);
            assert_eq!(found.tuned.score, least);
        }
    }
}

/// The model of a search is that of a fit with what it chose.
#[test]
fn the_model_is_the_fit_with_the_best() {
    let problem = problem();
    for approximation in [Approximation::fourier(32), Approximation::nystrom(20)] {
        let tune = TuneApproxRidge {
            kernel: kernel("rbf(sigma=?0.2..3)"),
            lambda: "?".parse().unwrap(),
            ..fixed(approximation, Criterion::KFold { folds: 5, seed: 0 })
        };
        let found = problem.tune(&tune, true).unwrap();
        assert!(found.tuned.score < 0.05, "{}", found.tuned.score);
        let ridge = Ridge::new((found.tuned.kernel.clone(), approximation)).lambda(found.tuned.lambda);
        let weights = Some(&problem.weights[..]);
        let fit = oracle::train(&ridge, &problem.x, &problem.y, weights, &session()).unwrap();
        let (a, b) = (found.fit.predictor, fit.model.predictor);
        let (a, b) = (a.predict(&problem.x, &session()).unwrap(), b.predict(&problem.x, &session()).unwrap());
        assert!(a.entries().iter().zip(b.entries()).all(|(a, b)| (a - b).abs() < 1e-8));
        assert_eq!(found.fit.sums.rows(), ROWS as u64 - 3);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let problem = problem();
    let tune = TuneApproxRidge {
        kernel: kernel("rbf(sigma=?0.2..3)"),
        ..fixed(Approximation::fourier(300), Criterion::KFold { folds: 3, seed: 0 })
    };
    let on = |threads| pool::with(threads, || problem.tune(&tune, true)).unwrap();
    assert_eq!(on(Some(1)), on(Some(4)));
}

/// What an interrupted search has tried is not tried again, and the answer is the same; so where nothing is left to try.
#[test]
fn a_search_goes_on_where_it_was() {
    let problem = problem();
    let tune = TuneApproxRidge {
        kernel: kernel("rbf(sigma=?0.2..3)"),
        strategy: Some(Strategy::Grid { points: 3, refinements: 1 }),
        ..fixed(Approximation::nystrom(20), Criterion::KFold { folds: 3, seed: 0 })
    };
    let resumed = |trials: Option<Trials>| {
        let kernels = Cell::new(0);
        let mut count = |_: &Trials| kernels.set(kernels.get() + 1);
        let found = tune.run(&problem.x, &problem.y, None, trials, &mut count, &session()).unwrap();
        (found, kernels.get())
    };
    let (whole, made) = resumed(None);
    let trials = whole.tuned.trials.clone();
    let half = Trials { rows: trials.rows[..trials.rows.len() / 2].to_vec(), ..trials.clone() };
    let (again, fewer) = resumed(Some(half));
    assert_eq!(again, whole);
    assert!(0 < fewer && fewer < made, "{fewer} of {made}");
    assert_eq!(resumed(Some(trials.clone())), (whole, 0));
    let other = TuneApproxRidge { approximation: Approximation::nystrom(21), ..tune.clone() };
    let error = other.run(&problem.x, &problem.y, None, Some(trials), &mut |_| {}, &session()).unwrap_err();
    assert!(error.to_string().contains("other data"), "{error}");
}

/// Adds all rows in chunks of this many.
fn stream(
    problem: &Problem,
    tune: &TuneApproxRidge,
    size: usize,
) -> (Result<TunedApproxRidge, LearnError>, usize) {
    let mut passes = 0;
    let pass = |sums: &mut FoldSums<'_>, session: &Session<'_>| {
        passes += 1;
        for first in (0..ROWS).step_by(size) {
            let rows: Vec<usize> = (first..ROWS.min(first + size)).collect();
            let (x, y) = (problem.x.select(&rows), problem.y.select(&rows));
            let weights = &problem.weights[first..first + rows.len()];
            sums.add(first as u64, &x, &y, Some(weights), session)?;
        }
        Ok(())
    };
    let stream = Stream { sample: &problem.x, rows: ROWS as u64, targets: 2, name: "test" };
    let found = tune.run_in_passes(stream, None, &mut |_| {}, pass, &session());
    (found, passes)
}

#[test]
fn chunks_give_what_rows_in_memory_give() {
    let problem = problem();
    let table = |criterion: &Criterion| match *criterion {
        Criterion::KFold { folds, seed } => {
            Criterion::Folds((0..ROWS).map(|i| fold_of_row(seed, i as u64, folds)).collect())
        }
        _ => unreachable!(),
    };
    for approximation in [Approximation::fourier(32), Approximation::nystrom(20)] {
        let criterion = Criterion::KFold { folds: 4, seed: 3 };
        let wide = |tune| TuneApproxRidge { lambda: LambdaSpace::between(1e-3, 10.0).unwrap(), ..tune };
        let tune = wide(fixed(approximation, criterion.clone()));
        let expected = problem.tune(&wide(fixed(approximation, table(&criterion))), true).unwrap().tuned;
        for size in [7, 30, ROWS] {
            let (found, passes) = stream(&problem, &tune, size);
            let found = found.unwrap().tuned;
            // Refined values of λ are of the same kernel.
            assert_eq!(passes, 1);
            assert_eq!(found.trials.rows.len(), expected.trials.rows.len());
            for (a, b) in found.trials.rows.iter().zip(&expected.trials.rows) {
                assert!(near(a.score.unwrap(), b.score.unwrap(), 1e-8), "{a:?} {b:?}");
            }
            assert!(near(found.lambda, expected.lambda, 1e-12));
        }
        let open = TuneApproxRidge {
            kernel: kernel("rbf(sigma=?{0.3,0.7,2})"),
            ..fixed(approximation, Criterion::KFold { folds: 4, seed: 3 })
        };
        let (found, passes) = stream(&problem, &open, 50);
        // The best is known at the end: no pass for the fit.
        assert!(found.is_ok() && passes == 3, "{passes}");
    }
    // Held-out rows are those that a fit holds out.
    let tune = fixed(Approximation::fourier(32), Criterion::HoldOut { fraction: 0.25, seed: 3 });
    let held = (0..ROWS).filter(|&i| is_held_out(3, i as u64, 0.25) && problem.weights[i] > 0.0).collect();
    let expected = problem.score(&tune, 0.3, true, &[held]);
    let found = stream(&problem, &tune, 40).0.unwrap().tuned.trials.rows[1].score.unwrap();
    assert!(near(found, expected, 1e-8), "{found} {expected}");
}

#[test]
fn a_failed_pass_is_told() {
    #[derive(Debug, PartialEq)]
    enum Failure {
        Learn(LearnError),
        Disk,
    }
    impl From<LearnError> for Failure {
        fn from(error: LearnError) -> Self {
            Self::Learn(error)
        }
    }
    let problem = problem();
    let tune = fixed(Approximation::fourier(8), Criterion::KFold { folds: 3, seed: 0 });
    let stream = Stream { sample: &problem.x, rows: ROWS as u64, targets: 2, name: "" };
    let found = tune.run_in_passes(stream, None, &mut |_| {}, |_, _| Err(Failure::Disk), &session());
    assert_eq!(found.unwrap_err(), Failure::Disk);
    let few = tune.run_in_passes(stream, None, &mut |_| {}, |_, _| Ok::<_, Failure>(()), &session());
    assert_eq!(few.unwrap_err(), Failure::Learn(LearnError::TooFewRows { rows: 0, needed: 3 }));
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = problem();
    let folds = Criterion::KFold { folds: 3, seed: 0 };
    let fails = |tune: TuneApproxRidge| problem.tune(&tune, false).unwrap_err();
    let fourier = |criterion| fixed(Approximation::fourier(16), criterion);
    for criterion in [Criterion::LeaveOneOut, Criterion::Gcv] {
        assert!(fails(fourier(criterion)).to_string().contains("choose by folds or held-out rows"));
    }
    for criterion in [Criterion::KFold { folds: 1, seed: 0 }, Criterion::HoldOut { fraction: 1.0, seed: 0 }] {
        assert!(matches!(fails(fourier(criterion.clone())), LearnError::Parameter { .. }));
        assert!(matches!(stream(&problem, &fourier(criterion), 9).0, Err(LearnError::Parameter { .. })));
    }
    let small = session().with_memory(10_000);
    let error =
        fourier(folds.clone()).run(&problem.x, &problem.y, None, None, &mut |_| {}, &small).unwrap_err();
    assert!(matches!(error, LearnError::Design(DesignError::Memory { .. })), "{error}");
    let error = fails(TuneApproxRidge { bias: Intercept::Column, ..fourier(folds.clone()) });
    assert!(error.to_string().contains("centred or none"), "{error}");
    let error = fails(TuneApproxRidge { kernel: kernel("poly(degree=2)"), ..fourier(folds.clone()) });
    assert!(matches!(error, LearnError::Design(DesignError::Spectrum(_))), "{error}");
    let flat = Matrix::from_entries(ROWS, 1, vec![2.0; ROWS]);
    let run = |y: &Matrix<f64>, weights: Option<&[f64]>, session: &Session<'_>| {
        fourier(folds.clone()).run(&problem.x, y, weights, None, &mut |_| {}, session).unwrap_err()
    };
    assert_eq!(run(&flat, None, &session()), LearnError::ConstantTargets { value: 2.0 });
    let mut two = vec![0.0; ROWS];
    two[..2].fill(1.0);
    assert_eq!(run(&problem.y, Some(&two), &session()), LearnError::TooFewRows { rows: 2, needed: 3 });
    two[0] = f64::NAN;
    assert!(matches!(run(&problem.y, Some(&two), &session()), LearnError::NonFinite { what: "weight", .. }));
    assert!(matches!(run(&Matrix::zeros(3, 1), None, &session()), LearnError::Length { .. }));
    assert!(run(&problem.y, None, &session().with_watch(&AtomicBool::new(true))).is_stop());
}

/// λ = 0 has no fit where features are dependent, and the search goes on without it.
#[test]
fn a_lambda_without_a_fit_has_no_score() {
    let problem = problem();
    let tune = TuneApproxRidge {
        lambda: LambdaSpace::one_of(vec![0.0, 1.0]).unwrap(),
        ..fixed(Approximation::fourier(200), Criterion::KFold { folds: 3, seed: 0 })
    };
    let found = problem.tune(&tune, false).unwrap().tuned;
    assert_eq!(found.lambda, 1.0);
    assert!(found.trials.rows[0].score.is_none() && found.trials.rows[1].score.is_some());
}
