//! The choice of hyper-parameters against refits by the learner itself.

use crate::oracle;
use crate::tuning::{Kept, Regression, resumes, tune_rows};
use mercer::data::Matrix;
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Criterion, Strategy};
use mercer::learn::{Intercept, LearnError, Ridge};
use mercer::pool;
use mercer::select::Tune;
use mercer::session::{Checkpoint, Session};

const ROWS: usize = 36;
const SIGMAS: [f64; 4] = [0.1, 0.4, 1.0, 4.0];
const LAMBDAS: [f64; 4] = [1e-3, 1e-2, 0.3, 10.0];

fn session() -> Session<'static> {
    Session::default().with_seed(9)
}

/// The predictions at `held` of the learner trained on `train`.
fn predict(
    problem: &Regression,
    ridge: &Ridge,
    y: &Matrix<f64>,
    weighted: bool,
    [train, held]: [&[usize]; 2],
) -> Matrix<f64> {
    let weights: Vec<f64> = train.iter().map(|&i| problem.weights[i]).collect();
    let (x, y, session) = (problem.x.select(train), y.select(train), Session::default());
    let fitted = oracle::train(ridge, &x, &y, weighted.then_some(&weights), &session).unwrap();
    fitted.model.predict(&problem.x.select(held), &session).unwrap()
}

fn score(problem: &Regression, ridge: &Ridge, weighted: bool, criterion: &Criterion) -> f64 {
    if *criterion == Criterion::Gcv {
        return generalised(problem, ridge, weighted);
    }
    let groups = problem.groups(criterion, weighted, session().seed());
    problem
        .score(weighted, &groups, |train, held| predict(problem, ridge, &problem.y, weighted, [train, held]))
}

fn generalised(problem: &Regression, ridge: &Ridge, weighted: bool) -> f64 {
    let counted = problem.counted(weighted);
    let n = counted.len() as f64;
    let weight = |i: usize| problem.weight(i, weighted);
    let trace: f64 = counted
        .iter()
        .map(|&i| {
            let mut unit = Matrix::zeros(ROWS, 1);
            unit.row_mut(i)[0] = 1.0;
            1.0 - predict(problem, ridge, &unit, weighted, [&counted, &[i]]).row(0)[0]
        })
        .sum();
    let fitted = predict(problem, ridge, &problem.y, weighted, [&counted, &counted]);
    let squares: f64 = counted
        .iter()
        .enumerate()
        .map(|(p, &i)| {
            let pairs = problem.y.row(i).iter().zip(fitted.row(p));
            weight(i) * pairs.map(|(y, f)| (y - f).powi(2)).sum::<f64>()
        })
        .sum();
    let mean_weight = counted.iter().map(|&i| weight(i)).sum::<f64>() / n;
    n * squares / (trace * trace) / 2.0 / mean_weight
}

fn criteria() -> [Criterion; 6] {
    let given = |i: usize| Some(if i.is_multiple_of(3) { 7 } else { 9 });
    [
        Criterion::LeaveOneOut,
        Criterion::Gcv,
        Criterion::Folds(4),
        Criterion::Given((0..ROWS).map(given).collect()),
        Criterion::Given((0..ROWS).map(|i| given(i).filter(|_| i > 9)).collect()),
        Criterion::HoldOut(0.3),
    ]
}

fn kernel(sigma: f64) -> Kernel {
    format!("rbf(sigma={sigma})").parse().unwrap()
}

fn ridge(kernel: &str) -> Tune<Ridge> {
    Tune::new(Ridge::new(kernel.parse::<Kernel>().unwrap()))
}

#[test]
fn scores_and_choice_match_refits() {
    let problem = Regression::new(ROWS);
    for criterion in criteria() {
        for (bias, weighted) in
            [(Intercept::None, false), (Intercept::Centred, false), (Intercept::Centred, true)]
        {
            let mut tune = Tune {
                criterion: criterion.clone(),
                shared: Some(SearchSpace::OneOf(LAMBDAS.to_vec())),
                ..ridge("rbf(sigma=?{0.1, 0.4, 1, 4})")
            };
            tune.learner.intercept = bias;
            let kernels: Vec<Kernel> = SIGMAS.into_iter().map(kernel).collect();
            let grid = tune.grid(&kernels, &LAMBDAS, &problem.problem(weighted), &session()).unwrap();
            let mut best = (f64::INFINITY, (0, 0));
            for (row, &sigma) in SIGMAS.iter().enumerate() {
                for (column, &lambda) in LAMBDAS.iter().enumerate() {
                    let mut ridge = Ridge::new(kernel(sigma)).lambda(lambda);
                    ridge.intercept = bias;
                    let expected = score(&problem, &ridge, weighted, &criterion);
                    let found = grid.scores[row][column].as_ref().unwrap().loss;
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
            let tuned = tune.run(&problem.problem(weighted), &session()).unwrap();
            assert_eq!(tuned.learner.lift, kernel(SIGMAS[best.1.0]).into());
            assert_eq!(tuned.learner.lambda, [LAMBDAS[best.1.1]]);
            assert_eq!(tuned.score, grid.scores[best.1.0][best.1.1].as_ref().unwrap().loss);
            assert_eq!(tuned.trials.rows.len(), 16);
        }
    }
}

#[test]
fn a_search_resumes_to_the_same_answer_from_its_written_trials() {
    let problem = Regression::new(ROWS);
    for strategy in [Strategy::Grid { points: 4, refinements: 2 }, Strategy::Random { trials: 6 }] {
        let tune =
            Tune { strategy: Some(strategy), ..ridge("rbf(sigma=?) + matern(nu=?{0.5, 2.5}, length=auto)") };
        let run = |session: &Session<'_>| {
            let tuned = tune.run(&problem.problem(false), session)?;
            let trials = tuned.trials.clone();
            Ok((tuned, trials))
        };
        resumes(run, &Session::default());
        let trials = run(&Session::default()).unwrap().1;
        let other = Tune { criterion: Criterion::Gcv, ..tune.clone() };
        let kept = Kept::from(&trials);
        let session = Session::default();
        let error = other.run(&problem.problem(false), &session.with_checkpoint(&kept)).unwrap_err();
        assert!(error.to_string().contains("resume"), "{error}");
        kept.save(0, b"{".to_vec());
        let error = tune.run(&problem.problem(false), &session.with_checkpoint(&kept)).unwrap_err();
        assert!(error.to_string().contains("checkpoint"), "{error}");
    }
}

#[test]
fn the_choice_does_not_depend_on_the_number_of_threads() {
    let problem = Regression::new(ROWS);
    for criterion in criteria() {
        let tune = Tune { criterion, ..ridge("rbf(sigma=?)") };
        let run =
            |threads| pool::with(Some(threads), || tune.run(&problem.problem(false), &session()).unwrap());
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }
}

#[test]
fn refinement_finds_a_better_point_than_the_grid() {
    let problem = Regression::new(ROWS);
    let score = |refinements| {
        let tune =
            Tune { strategy: Some(Strategy::Grid { points: 5, refinements }), ..ridge("rbf(sigma=?)") };
        tune.run(&problem.problem(false), &Session::default()).unwrap().score
    };
    assert!(score(3) < score(0));
}

#[test]
fn a_choice_at_the_end_of_a_range_warns() {
    let problem = Regression::new(ROWS);
    let tune = Tune { shared: Some(SearchSpace::Between(50.0, 100.0)), ..ridge("rbf(sigma=1)") };
    let tuned = tune.run(&problem.problem(false), &Session::default()).unwrap();
    assert_eq!(tuned.learner.lambda, [50.0]);
    assert!(
        tuned.warnings.iter().any(|w| w.contains("lambda") && w.contains("lower")),
        "{:?}",
        tuned.warnings
    );
}

#[test]
fn unsupported_searches_are_refused_with_a_reason() {
    let problem = Regression::new(ROWS);
    let plain = ridge("rbf(sigma=?)");
    let run = |tune: &Tune<Ridge>, rows: &[usize], y: &Matrix<f64>| {
        tune_rows(tune, &problem.x.select(rows), y, &Session::default()).unwrap_err()
    };
    let all: Vec<usize> = (0..ROWS).collect();
    let constant = Matrix::from_entries(ROWS, 1, vec![2.5; ROWS]);
    assert_eq!(run(&plain, &all, &constant), LearnError::ConstantTargets { value: 2.5 });
    let two = problem.y.select(&[0, 1]);
    assert_eq!(run(&plain, &[0, 1], &two), LearnError::TooFewRows { rows: 2, needed: 3 });
    assert!(matches!(run(&plain, &all, &two), LearnError::Length { rows: ROWS, found: 2, .. }));
    for criterion in [
        Criterion::Folds(1),
        Criterion::Folds(99),
        Criterion::Given(vec![Some(3); ROWS]),
        Criterion::Given(vec![None; ROWS]),
        Criterion::HoldOut(1.0),
        Criterion::HoldOut(0.001),
    ] {
        let tune = Tune { criterion, ..plain.clone() };
        assert!(matches!(run(&tune, &all, &problem.y), LearnError::Parameter { .. }));
    }
    let short = Tune { criterion: Criterion::Given(vec![Some(0), Some(1)]), ..plain.clone() };
    assert!(matches!(run(&short, &all, &problem.y), LearnError::Length { found: 2, .. }));
    let mut column = plain.clone();
    column.learner.intercept = Intercept::Column;
    assert!(matches!(run(&column, &all, &problem.y), LearnError::Unsupported(_)));
    let small = Session::default().with_memory(1_000);
    let error = plain.run(&problem.problem(false), &small).unwrap_err();
    assert!(matches!(error, LearnError::Memory { budget: 1_000, .. }), "{error}");
    assert!(matches!(run(&ridge("rbf(sigma=?)[7]"), &all, &problem.y), LearnError::Kernel(_)));
    assert!(matches!(run(&ridge("sigmoid(gamma=?)"), &all, &problem.y), LearnError::NotAKernel { .. }));
    let doubled: Vec<usize> = all.iter().flat_map(|&i| [i, i]).collect();
    let singular = Tune { shared: Some(SearchSpace::OneOf(vec![0.0])), ..plain };
    let error = run(&singular, &doubled, &problem.y.select(&doubled));
    assert!(matches!(error, LearnError::NoScore { .. }), "{error}");
}

/// Asks for a stop once a first point is kept.
#[derive(Default)]
struct StopAtFirst(std::sync::atomic::AtomicBool);

impl Checkpoint for StopAtFirst {
    fn load(&self, _: u64) -> Option<Vec<u8>> {
        None
    }

    fn due(&self) -> bool {
        true
    }

    fn save(&self, _: u64, _: Vec<u8>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_stop_ends_the_search() {
    let problem = Regression::new(ROWS);
    let stop = StopAtFirst::default();
    let session = Session::default();
    let session = session.with_checkpoint(&stop);
    let error = ridge("rbf(sigma=?)").run(&problem.problem(false), &session.with_watch(&stop.0)).unwrap_err();
    assert!(error.is_stop());
}
