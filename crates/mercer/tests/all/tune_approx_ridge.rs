//! The choice of hyper-parameters on approximate features against fits made one by one.

use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::oracle;
use crate::tuning::{Regression, resumes, tune_rows};
use mercer::data::{Chunk, DataError, HeldOut, Matrix, PassError, Passes, Scaling, Survey, fold_of_row};
use mercer::design::{Approximation, DesignError, Parts};
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Criterion, Strategy};
use mercer::learn::{Intercept, LearnError, Origin, Problem, Ridge, add_rows, empty_sums};
use mercer::model::Facts;
use mercer::pool;
use mercer::select::{Tune, Tuned};
use mercer::session::Session;
use mercer::watch::Stopped;

const ROWS: usize = 90;
const LAMBDAS: [f64; 3] = [1e-2, 0.3, 10.0];

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn session() -> Session<'static> {
    Session::default().with_seed(4)
}

fn tune(kernel: &str, approximation: Approximation, criterion: Criterion) -> Tune<Ridge> {
    Tune {
        shared: Some(SearchSpace::OneOf(LAMBDAS.to_vec())),
        criterion,
        ..Tune::new(Ridge::on((self::kernel(kernel), approximation)))
    }
}

fn fixed(approximation: Approximation, criterion: Criterion) -> Tune<Ridge> {
    tune("rbf(sigma=0.7)", approximation, criterion)
}

fn run(problem: &Regression, tune: &Tune<Ridge>, weighted: bool) -> Result<Tuned<Ridge>, LearnError> {
    tune.run(&problem.problem(weighted), &session())
}

/// The mean squared error over the rows of each group, of a fit without them that is made alone.
fn score(
    problem: &Regression,
    tune: &Tune<Ridge>,
    lambda: f64,
    weighted: bool,
    groups: &[Vec<usize>],
) -> f64 {
    let mut ridge = tune.learner.clone();
    ridge.lambda = vec![lambda];
    let prepared = ridge.prepare((&problem.x, ROWS as u64), &session()).unwrap();
    problem.score(weighted, groups, |train, held| {
        let mut sums = empty_sums(prepared.features.count(2).unwrap(), 2, &session()).unwrap();
        let weights: Vec<f64> = train.iter().map(|&row| problem.weight(row, weighted)).collect();
        let (x, y) = (problem.x.select(train), problem.y.select(train));
        let into = (&Parts::All, slice::from_mut(&mut sums));
        add_rows(&prepared.features, &x, &y, Some(&weights), into, &session()).unwrap();
        let solution = ridge.solve(&sums, &session()).unwrap();
        let rows = (sums.rows(), Origin::default());
        let fitted = ridge.fitted(&prepared, &solution, rows, Facts::new(), &session()).unwrap();
        fitted.predict(problem.x.select(held)).unwrap()
    })
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs()
}

#[test]
fn scores_match_fits_one_by_one() {
    let problem = Regression::new(ROWS);
    let criteria = [
        Criterion::Folds(4),
        Criterion::Given((0..ROWS).map(|i| Some(i / 31)).collect()),
        Criterion::HoldOut(0.3),
    ];
    for approximation in [Approximation::fourier(32), Approximation::nystrom(20)] {
        for (criterion, weighted, bias) in [
            (&criteria[0], true, Intercept::Centred),
            (&criteria[0], false, Intercept::None),
            (&criteria[1], true, Intercept::None),
            (&criteria[2], true, Intercept::Centred),
            (&criteria[2], false, Intercept::Centred),
        ] {
            let mut tune = fixed(approximation, criterion.clone());
            tune.learner.intercept = bias;
            let found = run(&problem, &tune, weighted).unwrap();
            let groups = problem.groups(criterion, weighted, session().seed());
            let rows = &found.trials.rows;
            assert_eq!(rows.iter().map(|t| t.setting).collect::<Vec<_>>(), LAMBDAS);
            for trial in rows {
                let expected = score(&problem, &tune, trial.setting, weighted, &groups);
                let score = trial.score.unwrap();
                assert!(near(score, expected, 1e-8), "{approximation} {criterion:?}: {score} {expected}");
            }
            let least = rows.iter().filter_map(|t| t.score).fold(f64::INFINITY, f64::min);
            assert_eq!(found.score, least);
        }
    }
}

/// The model of a search is that of a fit with the chosen settings.
#[test]
fn the_model_is_the_fit_with_the_best() {
    let problem = Regression::new(ROWS);
    for approximation in [Approximation::fourier(32), Approximation::nystrom(20)] {
        let tune = Tune { shared: None, ..tune("rbf(sigma=?0.2..3)", approximation, Criterion::Folds(5)) };
        let found = run(&problem, &tune, true).unwrap();
        assert!(found.score < 0.05, "{}", found.score);
        let weights = Some(&problem.weights[..]);
        let fit = oracle::train(&found.learner, &problem.x, &problem.y, weights, &session()).unwrap();
        let model = found.fitted.unwrap().model;
        assert_eq!(model.settings, fit.model.settings);
        let predict = |model: &mercer::model::Model| model.predict(&problem.x, &session()).unwrap();
        let (a, b) = (predict(&model), predict(&fit.model));
        assert!(a.entries().iter().zip(b.entries()).all(|(a, b)| (a - b).abs() < 1e-8));
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let problem = Regression::new(ROWS);
    let tune = tune("rbf(sigma=?0.2..3)", Approximation::fourier(300), Criterion::Folds(3));
    let on = |threads| pool::with(threads, || run(&problem, &tune, true)).unwrap();
    assert_eq!(on(Some(1)), on(Some(4)));
}

/// A resumed search does not repeat its trials and gives the same result, also if no trials are left.
#[test]
fn an_interrupted_search_resumes() {
    let problem = Regression::new(ROWS);
    let tune = Tune {
        strategy: Some(Strategy::Grid { points: 3, refinements: 1 }),
        ..tune("rbf(sigma=?0.2..3)", Approximation::nystrom(20), Criterion::Folds(3))
    };
    let run = |session: &Session<'_>| {
        let tuned = tune.run(&problem.problem(false), session)?;
        let trials = tuned.trials.clone();
        Ok((tuned, trials))
    };
    resumes(run, &session());
}

/// The rows in chunks of `size`; `passes` are counted.
struct Chunks<'a> {
    problem: &'a Regression,
    survey: Survey,
    size: usize,
    passes: AtomicUsize,
}

impl<'a> Chunks<'a> {
    fn new(problem: &'a Regression, size: usize) -> Self {
        let survey = Survey {
            rows: ROWS as u64,
            targets: vec!["a".into(), "b".into()],
            scaling: Scaling::None,
            constant: Vec::new(),
            sample: problem.x.clone(),
            sample_rows: (0..ROWS as u64).collect(),
            sample_targets: problem.y.clone(),
            content: 0,
            seed: 0,
            held_out: HeldOut::new(ROWS as u64, 0.0, 0),
        };
        Self { problem, survey, size, passes: AtomicUsize::new(0) }
    }
}

impl Passes for Chunks<'_> {
    fn survey(&self) -> &Survey {
        &self.survey
    }

    fn pass(&self, visit: &mut (dyn FnMut(&Chunk) -> Result<(), Stopped> + Send)) -> Result<(), PassError> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        for first in (0..ROWS).step_by(self.size) {
            let rows: Vec<usize> = (first..ROWS.min(first + self.size)).collect();
            let (samples, targets) = (self.problem.x.select(&rows), self.problem.y.select(&rows));
            visit(&Chunk { first: first as u64, samples, targets })?;
        }
        Ok(())
    }
}

/// Searches on all rows in chunks of this many; and the passes that it took.
fn stream(
    problem: &Regression,
    tune: &Tune<Ridge>,
    size: usize,
) -> (Result<Tuned<Ridge>, LearnError>, usize) {
    let chunks = Chunks::new(problem, size);
    let found = tune.run(&Problem::stream(&chunks), &session());
    (found, chunks.passes.into_inner())
}

#[test]
fn chunks_give_what_rows_in_memory_give() {
    let problem = Regression::new(ROWS);
    let seed = session().seed();
    let table = Criterion::Given((0..ROWS).map(|i| Some(fold_of_row(seed, i as u64, 4))).collect());
    for approximation in [Approximation::fourier(32), Approximation::nystrom(20)] {
        let wide = |criterion| Tune {
            shared: Some(SearchSpace::Between(1e-3, 10.0)),
            ..fixed(approximation, criterion)
        };
        let expected = run(&problem, &wide(table.clone()), false).unwrap();
        for size in [7, 30, ROWS] {
            let (found, passes) = stream(&problem, &wide(Criterion::Folds(4)), size);
            let found = found.unwrap();
            // Refined values of λ are of the same kernel.
            assert_eq!(passes, 1);
            assert_eq!(found.trials.rows.len(), expected.trials.rows.len());
            for (a, b) in found.trials.rows.iter().zip(&expected.trials.rows) {
                assert!(near(a.score.unwrap(), b.score.unwrap(), 1e-8), "{a:?} {b:?}");
            }
            assert!(near(found.learner.lambda[0], expected.learner.lambda[0], 1e-12));
        }
        let open = tune("rbf(sigma=?{0.3,0.7,2})", approximation, Criterion::Folds(4));
        let (found, passes) = stream(&problem, &open, 50);
        // The best is known at the end: no pass for the fit.
        assert!(found.is_ok() && passes == 3, "{passes}");
    }
    // Held-out rows are those that a fit holds out.
    let tune = fixed(Approximation::fourier(32), Criterion::HoldOut(0.25));
    let held_out = HeldOut::new(ROWS as u64, 0.25, seed);
    let held = (0..ROWS).filter(|&i| held_out.contains(i as u64)).collect();
    let expected = score(&problem, &tune, 0.3, false, &[held]);
    let found = stream(&problem, &tune, 40).0.unwrap().trials.rows[1].score.unwrap();
    assert!(near(found, expected, 1e-8), "{found} {expected}");
}

#[test]
fn a_failed_pass_is_reported() {
    struct Broken<'a>(Chunks<'a>);
    impl Passes for Broken<'_> {
        fn survey(&self) -> &Survey {
            self.0.survey()
        }

        fn pass(&self, _: &mut (dyn FnMut(&Chunk) -> Result<(), Stopped> + Send)) -> Result<(), PassError> {
            let (file, what) = ("d.csv".to_owned(), "the disk is gone".to_owned());
            Err(DataError::NoRows { file, what }.into())
        }
    }
    let problem = Regression::new(ROWS);
    let tune = fixed(Approximation::fourier(8), Criterion::Folds(3));
    let broken = Broken(Chunks::new(&problem, ROWS));
    let error = tune.run(&Problem::stream(&broken), &session()).unwrap_err();
    assert!(error.to_string().contains("the disk is gone"), "{error}");
}

#[test]
fn unsupported_searches_are_refused() {
    let problem = Regression::new(ROWS);
    let fails = |tune: Tune<Ridge>| run(&problem, &tune, false).unwrap_err();
    let fourier = |criterion| fixed(Approximation::fourier(16), criterion);
    for criterion in [Criterion::LeaveOneOut, Criterion::Gcv] {
        assert!(fails(fourier(criterion)).to_string().contains("choose by folds or held-out rows"));
    }
    for criterion in [Criterion::Folds(1), Criterion::HoldOut(1.0)] {
        assert!(matches!(fails(fourier(criterion.clone())), LearnError::Parameter { .. }));
        assert!(matches!(stream(&problem, &fourier(criterion), 9).0, Err(LearnError::Parameter { .. })));
    }
    let folds = fourier(Criterion::Folds(3));
    let small = session().with_memory(10_000);
    let error = folds.run(&problem.problem(false), &small).unwrap_err();
    assert!(matches!(error, LearnError::Design(DesignError::Memory { .. })), "{error}");
    let mut column = folds.clone();
    column.learner.intercept = Intercept::Column;
    let error = fails(column);
    assert!(error.to_string().contains("centred or none"), "{error}");
    let mut poly = folds.clone();
    poly.learner.lift = (kernel("poly(degree=2)"), Approximation::fourier(16)).into();
    let error = fails(poly);
    assert!(matches!(error, LearnError::Design(DesignError::Spectrum(_))), "{error}");
    let on = |y: &Matrix<f64>| tune_rows(&folds, &problem.x, y, &session()).unwrap_err();
    let flat = Matrix::from_entries(ROWS, 1, vec![2.0; ROWS]);
    assert_eq!(on(&flat), LearnError::ConstantTargets { value: 2.0 });
    assert!(matches!(on(&Matrix::zeros(3, 1)), LearnError::Length { .. }));
    let weighted = |weights: &[f64]| {
        let problem = Problem::new(problem.x.view(), &problem.y).weighted(Some(weights));
        folds.run(&problem, &session()).unwrap_err()
    };
    let mut two = vec![0.0; ROWS];
    two[..2].fill(1.0);
    assert_eq!(weighted(&two), LearnError::TooFewRows { rows: 2, needed: 3 });
    two[0] = f64::NAN;
    assert!(matches!(weighted(&two), LearnError::NonFinite { what: "weight", .. }));
    let stop = AtomicBool::new(true);
    assert!(folds.run(&problem.problem(false), &session().with_watch(&stop)).unwrap_err().is_stop());
}

/// With dependent features λ = 0 has no fit, and the search continues without it.
#[test]
fn a_lambda_without_a_fit_has_no_score() {
    let problem = Regression::new(ROWS);
    let tune = Tune {
        shared: Some(SearchSpace::OneOf(vec![0.0, 1.0])),
        ..fixed(Approximation::fourier(200), Criterion::Folds(3))
    };
    let found = run(&problem, &tune, false).unwrap();
    assert_eq!(found.learner.lambda, [1.0]);
    assert!(found.trials.rows[0].score.is_none() && found.trials.rows[1].score.is_some());
}
