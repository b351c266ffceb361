//! The choice of hyper-parameters against refits by the learner itself.

use crate::oracle::{self, noise};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, LearnError, Ridge};
use mercer::pool;
use mercer::select::{Criterion, LambdaSpace, Split, Strategy, Trials, TuneRidge, assign_folds};
use mercer::session::Session;

const ROWS: usize = 36;
const SIGMAS: [f64; 4] = [0.1, 0.4, 1.0, 4.0];
const LAMBDAS: [f64; 4] = [1e-3, 1e-2, 0.3, 10.0];

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

fn rows_of(y: &Matrix<f64>, rows: &[usize]) -> Matrix<f64> {
    Matrix::from_entries(rows.len(), y.ncols(), rows.iter().flat_map(|&i| y.row(i).to_vec()).collect())
}

impl Problem {
    fn counted(&self, weighted: bool) -> Vec<usize> {
        (0..ROWS).filter(|&i| !weighted || self.weights[i] > 0.0).collect()
    }

    /// What the learner predicts at `held` when it is trained on `train`.
    fn predict(
        &self,
        ridge: &Ridge,
        y: &Matrix<f64>,
        weighted: bool,
        train: &[usize],
        held: &[usize],
    ) -> Matrix<f64> {
        let weights: Vec<f64> = train.iter().map(|&i| self.weights[i]).collect();
        let (x, y, session) = (self.x.select(train), rows_of(y, train), Session::default());
        let fitted = oracle::train(ridge, &x, &y, weighted.then_some(&weights), &session).unwrap();
        fitted.model.predict(&self.x.select(held), &Session::default()).unwrap()
    }

    fn score(&self, ridge: &Ridge, weighted: bool, criterion: &Criterion) -> f64 {
        let counted = self.counted(weighted);
        let n = counted.len();
        if *criterion == Criterion::Gcv {
            return self.generalised(ridge, weighted, &counted);
        }
        let groups: Vec<Vec<usize>> = match criterion {
            Criterion::LeaveOneOut => counted.iter().map(|&i| vec![i]).collect(),
            Criterion::KFold { folds, seed } => {
                let fold = assign_folds(n, *folds, *seed).unwrap();
                (0..*folds).map(|f| (0..n).filter(|&p| fold[p] == f).map(|p| counted[p]).collect()).collect()
            }
            Criterion::Folds(fold) => {
                [7, 9].map(|f| counted.iter().copied().filter(|&i| fold[i] == f).collect()).to_vec()
            }
            Criterion::HoldOut { fraction, seed } => {
                let split = Split::hold_out(n, *fraction, *seed).unwrap().unwrap();
                vec![split.held_out.iter().map(|&p| counted[p]).collect()]
            }
            _ => unreachable!(),
        };
        let (mut sum, mut total) = (0.0, 0.0);
        for held in groups {
            let train: Vec<usize> = counted.iter().copied().filter(|i| !held.contains(i)).collect();
            let predicted = self.predict(ridge, &self.y, weighted, &train, &held);
            for (place, &i) in held.iter().enumerate() {
                let weight = if weighted { self.weights[i] } else { 1.0 };
                let pairs = self.y.row(i).iter().zip(predicted.row(place));
                sum += weight * pairs.map(|(y, f)| (y - f).powi(2)).sum::<f64>() / 2.0;
                total += weight;
            }
        }
        sum / total
    }

    fn generalised(&self, ridge: &Ridge, weighted: bool, counted: &[usize]) -> f64 {
        let n = counted.len() as f64;
        let weight = |i: usize| if weighted { self.weights[i] } else { 1.0 };
        let trace: f64 = counted
            .iter()
            .map(|&i| {
                let mut unit = Matrix::zeros(ROWS, 1);
                unit.row_mut(i)[0] = 1.0;
                1.0 - self.predict(ridge, &unit, weighted, counted, &[i]).row(0)[0]
            })
            .sum();
        let fitted = self.predict(ridge, &self.y, weighted, counted, counted);
        let squares: f64 = counted
            .iter()
            .enumerate()
            .map(|(p, &i)| {
                let pairs = self.y.row(i).iter().zip(fitted.row(p));
                weight(i) * pairs.map(|(y, f)| (y - f).powi(2)).sum::<f64>()
            })
            .sum();
        let mean_weight = counted.iter().map(|&i| weight(i)).sum::<f64>() / n;
        n * squares / (trace * trace) / 2.0 / mean_weight
    }
}

fn criteria() -> [Criterion; 5] {
    [
        Criterion::LeaveOneOut,
        Criterion::Gcv,
        Criterion::KFold { folds: 4, seed: 9 },
        Criterion::Folds((0..ROWS).map(|i| if i % 3 == 0 { 7 } else { 9 }).collect()),
        Criterion::HoldOut { fraction: 0.3, seed: 4 },
    ]
}

fn kernel(sigma: f64) -> Kernel {
    format!("rbf(sigma={sigma})").parse().unwrap()
}

fn tune(bias: Intercept, criterion: &Criterion) -> TuneRidge {
    TuneRidge {
        bias,
        criterion: criterion.clone(),
        lambda: LambdaSpace::one_of(LAMBDAS.to_vec()).unwrap(),
        ..TuneRidge::new("rbf(sigma=?{0.1, 0.4, 1, 4})".parse().unwrap())
    }
}

#[test]
fn scores_and_choice_are_those_of_refits() {
    let problem = problem();
    for criterion in criteria() {
        for (bias, weighted) in
            [(Intercept::None, false), (Intercept::Centred, false), (Intercept::Centred, true)]
        {
            let weights = weighted.then_some(problem.weights.as_slice());
            let tune = tune(bias, &criterion);
            let kernels: Vec<Kernel> = SIGMAS.into_iter().map(kernel).collect();
            let grid =
                tune.grid(&kernels, &LAMBDAS, &problem.x, &problem.y, weights, &Session::default()).unwrap();
            let mut best = (f64::INFINITY, (0, 0));
            for (row, &sigma) in SIGMAS.iter().enumerate() {
                for (column, &lambda) in LAMBDAS.iter().enumerate() {
                    let ridge = Ridge::new(kernel(sigma)).lambda(lambda).intercept(bias);
                    let expected = problem.score(&ridge, weighted, &criterion);
                    let found = grid.scores[row][column].unwrap();
                    assert!(
                        (found - expected).abs() <= 1e-8 * expected,
                        "{criterion:?}, {bias:?}, weights {weighted}, σ {sigma}, λ {lambda}: {found}, not {expected}"
                    );
                    if expected < best.0 {
                        best = (expected, (row, column));
                    }
                }
            }
            assert_eq!(grid.best, best.1);
            let mut told = 0;
            let tuned = tune
                .run(
                    &problem.x,
                    &problem.y,
                    weights,
                    None,
                    &mut |trials| told = trials.rows.len(),
                    &Session::default(),
                )
                .unwrap();
            assert_eq!((tuned.kernel, tuned.lambda), (kernel(SIGMAS[best.1.0]), LAMBDAS[best.1.1]));
            assert_eq!(Some(tuned.score), grid.scores[best.1.0][best.1.1]);
            assert_eq!((told, tuned.trials.rows.len()), (16, 16));
        }
    }
}

#[test]
fn a_search_resumes_to_the_same_answer_from_its_written_trials() {
    let problem = problem();
    for strategy in [Strategy::Grid { points: 4, refinements: 2 }, Strategy::Random { trials: 6 }] {
        let tune = TuneRidge {
            strategy: Some(strategy),
            ..TuneRidge::new("rbf(sigma=?) + matern(nu=?{0.5, 2.5}, length=auto)".parse().unwrap())
        };
        let run = |resume: Option<Trials>| {
            let mut points = 0;
            let mut told = |_: &Trials| points += 1;
            let tuned =
                tune.run(&problem.x, &problem.y, None, resume, &mut told, &Session::default()).unwrap();
            (tuned, points)
        };
        let (whole, made) = run(None);
        let mut half = whole.trials.clone();
        half.rows.truncate(whole.trials.rows.len() / 2);
        let written = serde_json::to_string(&half).unwrap();
        let (resumed, rest) = run(Some(serde_json::from_str(&written).unwrap()));
        assert_eq!(resumed, whole);
        assert!(rest < made && rest > 0);
        let other = TuneRidge { criterion: Criterion::Gcv, ..tune.clone() };
        let error = other
            .run(&problem.x, &problem.y, None, Some(half), &mut |_| {}, &Session::default())
            .unwrap_err();
        assert!(error.to_string().contains("resume"), "{error}");
    }
}

#[test]
fn the_choice_does_not_depend_on_the_number_of_threads() {
    let problem = problem();
    for criterion in criteria() {
        let tune = TuneRidge { criterion, ..TuneRidge::new("rbf(sigma=?)".parse().unwrap()) };
        let run = |threads| {
            pool::with(Some(threads), || {
                tune.run(&problem.x, &problem.y, None, None, &mut |_| {}, &Session::default()).unwrap()
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }
}

#[test]
fn refinement_finds_a_better_point_than_the_grid() {
    let problem = problem();
    let score = |refinements| {
        let tune = TuneRidge {
            strategy: Some(Strategy::Grid { points: 5, refinements }),
            ..TuneRidge::new("rbf(sigma=?)".parse().unwrap())
        };
        tune.run(&problem.x, &problem.y, None, None, &mut |_| {}, &Session::default()).unwrap().score
    };
    assert!(score(3) < score(0));
}

#[test]
fn a_choice_at_the_end_of_a_range_warns() {
    let problem = problem();
    let tune = TuneRidge {
        lambda: LambdaSpace::between(50.0, 100.0).unwrap(),
        ..TuneRidge::new("rbf(sigma=1)".parse().unwrap())
    };
    let tuned = tune.run(&problem.x, &problem.y, None, None, &mut |_| {}, &Session::default()).unwrap();
    assert_eq!(tuned.lambda, 50.0);
    assert!(
        tuned.warnings.iter().any(|w| w.contains("lambda") && w.contains("lower")),
        "{:?}",
        tuned.warnings
    );
}

#[test]
fn what_cannot_be_tuned_is_refused_in_words() {
    let problem = problem();
    let plain = TuneRidge::new("rbf(sigma=?)".parse().unwrap());
    let run = |tune: &TuneRidge, rows: &[usize], y: &Matrix<f64>| {
        tune.run(&problem.x.select(rows), y, None, None, &mut |_| {}, &Session::default()).unwrap_err()
    };
    let all: Vec<usize> = (0..ROWS).collect();
    let constant = Matrix::from_entries(ROWS, 1, vec![2.5; ROWS]);
    assert_eq!(run(&plain, &all, &constant), LearnError::ConstantTargets { value: 2.5 });
    let two = rows_of(&problem.y, &[0, 1]);
    assert_eq!(run(&plain, &[0, 1], &two), LearnError::TooFewRows { rows: 2, needed: 3 });
    assert!(matches!(run(&plain, &all, &two), LearnError::Length { rows: ROWS, found: 2, .. }));
    for criterion in [
        Criterion::KFold { folds: 1, seed: 0 },
        Criterion::KFold { folds: 99, seed: 0 },
        Criterion::Folds(vec![3; ROWS]),
        Criterion::HoldOut { fraction: 1.0, seed: 0 },
        Criterion::HoldOut { fraction: 0.001, seed: 0 },
    ] {
        let tune = TuneRidge { criterion, ..plain.clone() };
        assert!(matches!(run(&tune, &all, &problem.y), LearnError::Parameter { .. }));
    }
    let short = TuneRidge { criterion: Criterion::Folds(vec![0, 1]), ..plain.clone() };
    assert!(matches!(run(&short, &all, &problem.y), LearnError::Length { found: 2, .. }));
    let column = TuneRidge { bias: Intercept::Column, ..plain.clone() };
    assert!(matches!(run(&column, &all, &problem.y), LearnError::Unsupported(_)));
    let small = Session::default().with_memory(1_000);
    let error = plain.run(&problem.x, &problem.y, None, None, &mut |_| {}, &small).unwrap_err();
    assert!(matches!(error, LearnError::Memory { budget: 1_000, .. }), "{error}");
    let missing = TuneRidge { kernel: "rbf(sigma=?)[7]".parse().unwrap(), ..plain.clone() };
    assert!(matches!(run(&missing, &all, &problem.y), LearnError::Kernel(_)));
    let refuted = TuneRidge { kernel: "sigmoid(gamma=?)".parse().unwrap(), ..plain.clone() };
    assert!(matches!(run(&refuted, &all, &problem.y), LearnError::NotAKernel { .. }));
    let doubled: Vec<usize> = all.iter().flat_map(|&i| [i, i]).collect();
    let singular = TuneRidge { lambda: LambdaSpace::one_of(vec![0.0]).unwrap(), ..plain };
    let error = run(&singular, &doubled, &rows_of(&problem.y, &doubled));
    assert!(matches!(error, LearnError::NoScore { .. }), "{error}");
}

#[test]
fn a_stop_ends_the_search() {
    let problem = problem();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let session = Session::default();
    let tune = TuneRidge::new("rbf(sigma=?)".parse().unwrap());
    let error = tune
        .run(
            &problem.x,
            &problem.y,
            None,
            None,
            &mut |_| stop.store(true, std::sync::atomic::Ordering::Relaxed),
            &session.with_watch(&stop),
        )
        .unwrap_err();
    assert!(error.is_stop());
}
