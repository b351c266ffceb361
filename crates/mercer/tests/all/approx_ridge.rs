//! Ridge regression on approximate features against the exact one, and refused settings.

use std::slice;

use crate::oracle;
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{Approximation, DesignError, Features, LandmarkChoice, Landmarks, Parts};
use mercer::kernel::Kernel;
use mercer::learn::{
    Fitted, Intercept, LearnError, Learner, Lift, Origin, Problem, Ridge, RidgeSolver, TargetSizes, add_rows,
    cost, empty_sums,
};
use mercer::linalg::{NormalEquations, NormalEquationsError};
use mercer::model::{Facts, Predictor};
use mercer::session::Session;

/// Points of a grid-like sequence in the cube, and a smooth function of them with a constant.
fn problem(rows: usize) -> (Vec<f64>, Matrix<f64>) {
    let points: Vec<f64> = (0..rows * 3)
        .map(|k| ((k / 3) as f64 * [0.618_034, 0.754_878, 0.569_84][k % 3]).fract() * 2.0 - 1.0)
        .collect();
    let f = |p: &[f64]| [3.0 + (2.0 * p[0]).sin() + p[1] * p[2], p[0] - p[1]];
    let targets = points.chunks_exact(3).flat_map(f).collect();
    (points, Matrix::from_entries(rows, 2, targets))
}

fn double(points: &[f64]) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(points.len() / 3, 3, points.to_vec()).unwrap())
}

fn single(points: &[f64]) -> AnySamples<'static> {
    let points: Vec<f32> = points.iter().map(|v| *v as f32).collect();
    AnySamples::F32(Samples::dense(points.len() / 3, 3, points).unwrap())
}

fn kernel() -> Kernel {
    "rbf(sigma=1)".parse().unwrap()
}

fn approx(approximation: Approximation, lambda: f64) -> Ridge {
    Ridge::on((kernel(), approximation)).lambda(lambda)
}

/// The fit in a session, with names for the targets.
fn fit_in(
    ridge: &Ridge,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    weights: Option<&[f64]>,
    session: &Session<'_>,
) -> Result<Fitted, LearnError> {
    let outputs = (0..targets.ncols()).map(|place| place.to_string()).collect();
    let origin = Origin { outputs, ..Origin::default() };
    let problem = Problem::new(samples.view(), targets).weighted(weights).with_origin(origin);
    ridge.train(&problem, session)
}

fn fit(ridge: &Ridge, samples: &AnySamples<'_>, targets: &Matrix<f64>) -> Result<Fitted, LearnError> {
    fit_in(ridge, samples, targets, None, &Session::default())
}

/// A number among the facts of a fit.
fn fact(fitted: &Fitted, name: &str) -> f64 {
    fitted.facts.number(name).unwrap()
}

/// The root mean squared errors of a target with half of the features, all and about twice as many.
fn sizes(fitted: &Fitted, target: usize) -> [f64; 3] {
    let of_targets: Vec<TargetSizes> = fitted.facts.read("sizes").unwrap();
    let TargetSizes { rmse_half, rmse, rmse_doubled_about, .. } = &of_targets[target];
    [rmse_half, rmse, rmse_doubled_about].map(|error| error.0)
}

/// Adds all rows to sums.
fn add(sums: &mut NormalEquations, features: &Features, samples: &AnySamples<'_>, targets: &Matrix<f64>) {
    let into = (&Parts::All, slice::from_mut(sums));
    add_rows(features, samples, targets, None, into, &Session::default()).unwrap();
}

fn largest_difference(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn comes_near_the_exact_fit_in_either_precision() {
    let (points, targets) = problem(400);
    for bias in [Intercept::Centred, Intercept::None] {
        let exact = Ridge::new(kernel()).lambda(0.1).intercept(bias);
        let exact = exact.fit(double(&points), &targets).unwrap();
        let truth = exact.model.predict(&double(&points), &Session::default()).unwrap();
        for samples in [double(&points), single(&points)] {
            // 1/√2048 of targets that reach 5.
            for (approximation, near) in
                [(Approximation::fourier(2048), 0.11), (Approximation::nystrom(100), 0.03)]
            {
                let ridge = approx(approximation, 0.1).intercept(bias);
                let fit = fit(&ridge, &samples, &targets).unwrap();
                let found = fit.predict(&samples).unwrap();
                let difference = largest_difference(&found, &truth);
                assert!(difference < near, "{approximation}, {bias:?}: {difference}");
                let residual = fit.report.unwrap().residual;
                assert!(residual < 1e-10, "{residual}");
            }
        }
    }
}

/// With every sample a landmark nothing is approximated.
#[test]
fn all_landmarks_give_the_exact_fit() {
    let (points, targets) = problem(60);
    let samples = double(&points);
    let exact = Ridge::new(kernel()).lambda(0.5).fit(samples.view(), &targets).unwrap();
    let fit = fit(&approx(Approximation::nystrom(60), 0.5), &samples, &targets).unwrap();
    let (found, truth) = (fit.predict(&samples).unwrap(), exact.predict(&samples).unwrap());
    assert!(largest_difference(&found, &truth) < 1e-6);
    assert!(matches!(fit.model.predictor, Predictor::Expansion(_)), "landmarks need no map in the model");
}

/// Chunks in any split, merged, give the result of one call.
#[test]
fn streaming_is_the_same_fit() {
    let (points, targets) = problem(300);
    let session = Session::default();
    let ridge = approx(Approximation::fourier(128), 0.01);
    let whole = fit(&ridge, &double(&points), &targets).unwrap();
    let prepared = ridge.prepare((&double(&points[..30]), 300), &session).unwrap();
    let Predictor::Linear(linear) = &whole.model.predictor else { panic!("random features") };
    assert_eq!(prepared.features, linear.map, "random features do not see the samples");
    let mut sums = empty_sums(128, 2, &session).unwrap();
    for rows in [0..17, 17..250, 250..300] {
        let mut part = empty_sums(128, 2, &session).unwrap();
        let samples = double(&points[rows.start * 3..rows.end * 3]);
        let chosen = targets.select(&rows.collect::<Vec<_>>());
        add(&mut part, &prepared.features, &samples, &chosen);
        sums.merge(&part).unwrap();
    }
    let solution = ridge.solve(&sums, &session).unwrap();
    let rows = (300, Origin::default());
    let fitted = ridge.fitted(&prepared, &solution, rows, Facts::new(), &session).unwrap();
    let there = double(&points[..60]);
    let difference = largest_difference(&fitted.predict(&there).unwrap(), &whole.predict(&there).unwrap());
    assert!(difference < 1e-9, "{difference}");
}

#[test]
fn one_lambda_for_each_target() {
    let (points, targets) = problem(120);
    let samples = double(&points);
    let with = |lambda: Vec<f64>| {
        let ridge = approx(Approximation::fourier(64), 1.0).lambdas(lambda);
        fit(&ridge, &samples, &targets).unwrap().predict(&samples).unwrap()
    };
    let (both, first, second) = (with(vec![0.1, 5.0]), with(vec![0.1]), with(vec![5.0]));
    for i in 0..120 {
        assert!((both.row(i)[0] - first.row(i)[0]).abs() < 1e-9);
        assert!((both.row(i)[1] - second.row(i)[1]).abs() < 1e-9);
    }
}

/// Errors of held-out rows from sums equal those of their predictions.
#[test]
fn held_out_errors_match_predictions() {
    let (points, targets) = problem(200);
    let session = Session::default();
    let ridge = approx(Approximation::nystrom(30), 0.1);
    let prepared = ridge.prepare((&double(&points), 200), &session).unwrap();
    let sums = |rows: std::ops::Range<usize>| -> NormalEquations {
        let mut sums = NormalEquations::new(prepared.features.count(3).unwrap(), 2);
        let chosen = targets.select(&rows.clone().collect::<Vec<_>>());
        let samples = double(&points[rows.start * 3..rows.end * 3]);
        add(&mut sums, &prepared.features, &samples, &chosen);
        sums
    };
    let (rest, held) = (sums(0..150), sums(150..200));
    let solution = ridge.solve(&rest, &session).unwrap();
    let rows = (150, Origin::default());
    let fitted = ridge.fitted(&prepared, &solution, rows, Facts::new(), &session).unwrap();
    let found = fitted.predict(double(&points[450..])).unwrap();
    for (o, told) in held.squared_errors(&solution.fit).unwrap().into_iter().enumerate() {
        let squares: f64 = (0..50).map(|i| (found.row(i)[o] - targets.row(150 + i)[o]).powi(2)).sum();
        assert!((told.sqrt() - squares.sqrt()).abs() < 1e-5, "{told} {squares}");
    }
}

/// The quality lines: more features, a smaller kernel error; the effective dimension is the trace; half the features is
/// what a fit with half the landmarks gives.
#[test]
fn quality_agrees_with_refits() {
    let (points, targets) = problem(300);
    let samples = double(&points);
    let session = Session::default();
    let random = |features: usize| approx(Approximation::fourier(features), 0.1);
    let [few, many] = [64, 1024].map(|features| fit(&random(features), &samples, &targets).unwrap());
    assert!(fact(&many, "kernel_error") < 0.5 * fact(&few, "kernel_error"));
    let prepared = random(1024).prepare((&samples, 300), &session).unwrap();
    let mut sums = NormalEquations::new(1024, 2);
    add(&mut sums, &prepared.features, &samples, &targets);
    let exact = sums.ridge_path(Intercept::Centred).unwrap().effective_dimension(0.1);
    let found = fact(&many, "effective_dimension");
    assert!((found - exact).abs() < 0.15 * exact, "{found} {exact}");

    let ridge = approx(Approximation::nystrom(16), 0.1);
    let fitted = fit(&ridge, &samples, &targets).unwrap();
    let Predictor::Expansion(expansion) = &fitted.model.predictor else { panic!("landmarks") };
    let half = expansion.centres.select(&(0..8).collect::<Vec<_>>());
    let features = Landmarks::with_landmarks(&kernel(), &half, None, &session).unwrap().into();
    let mut sums = NormalEquations::new(8, 2);
    add(&mut sums, &features, &samples, &targets);
    let fit = sums.ridge(0.1, Intercept::Centred, &session).unwrap();
    for (target, squares) in sums.squared_errors(&fit).unwrap().into_iter().enumerate() {
        let [half, all, doubled] = sizes(&fitted, target);
        let expected = (squares / 300.0).sqrt();
        assert!((half - expected).abs() < 1e-9 * half, "{half} {expected}");
        assert!(half > all && all > doubled);
    }
}

#[test]
fn bad_input_is_named() {
    let (points, targets) = problem(50);
    let samples = double(&points);
    let refused =
        |ridge: &Ridge| oracle::train(ridge, &samples, &targets, None, &Session::default()).unwrap_err();
    let with = |approximation| approx(approximation, 1.0);
    let of = |text: &str, approximation: Approximation| {
        Ridge::on((text.parse::<Kernel>().unwrap(), approximation))
    };
    for (ridge, message) in [
        (with(Approximation::fourier(0)), "the number of features is 0; it must be a positive even number"),
        (with(Approximation::fourier(7)), "the number of features is 7"),
        (with(Approximation::nystrom(0)), "the number of landmarks is 0"),
        (with(Approximation::nystrom(51)), "from 1 to the number of samples, 50"),
        (with(Approximation::fourier(8)).intercept(Intercept::Column), "bias = column"),
        (with(Approximation::fourier(8)).lambdas(vec![-1.0]), "lambda is -1"),
        (with(Approximation::fourier(8)).solver(RidgeSolver::Cholesky), "methods auto and primal"),
        (of("poly(degree=2)", Approximation::fourier(8)), "spectral density"),
    ] {
        let error = refused(&ridge).to_string();
        assert!(error.contains(message), "{error}");
    }
    let small = Session::default().with_memory(1000);
    let large = with(Approximation::fourier(512));
    let error = oracle::train(&large, &samples, &targets, None, &small).unwrap_err().to_string();
    assert!(error.contains("the sums over the features"), "{error}");
    let refuted = refused(&of("sigmoid", Approximation::nystrom(5)));
    assert!(matches!(refuted, LearnError::NotAKernel { .. }), "{refuted}");
    let short = Matrix::zeros(3, 1);
    let error = with(Approximation::fourier(8)).fit(samples.view(), &short).unwrap_err();
    assert!(matches!(error, LearnError::Length { .. }));
}

/// A fitted model has its settings and the quality of the features.
#[test]
fn training_gives_the_fit_and_its_quality() {
    let (points, targets) = problem(120);
    let samples = double(&points);
    let fitted = approx(Approximation::fourier(64), 0.1).fit(samples.view(), &targets).unwrap();
    assert_eq!(fitted.model.settings.text("approx"), Some("fourier:64"));
    assert!(fitted.facts.number("kernel_error").unwrap() < 1.0);
    // Few rows need no approximation.
    let auto = Ridge::on(Lift::Auto(kernel())).lambda(0.1).fit(samples.view(), &targets).unwrap();
    let exact = Ridge::new(kernel()).lambda(0.1).fit(samples.view(), &targets).unwrap();
    assert!(auto == exact && !auto.model.settings.has("approx"));
}

/// More features than rows and λ = 0: there is no unique answer, and a λ is named that gives one.
#[test]
fn rank_deficient_features_without_lambda_are_refused_with_a_lambda() {
    let (points, targets) = problem(20);
    let samples = double(&points);
    let ridge = |lambda| approx(Approximation::fourier(64), lambda);
    let error = fit(&ridge(0.0), &samples, &targets).unwrap_err();
    let LearnError::NormalEquations(NormalEquationsError::RankDeficient { rank, features, suggestion }) =
        error
    else {
        panic!("{error}")
    };
    assert!(rank < 20 && features == 64, "centred, so one less than there are rows: {rank}");
    fit(&ridge(suggestion), &samples, &targets).unwrap();
}

/// The same row twice as a landmark counts once.
#[test]
fn duplicate_landmarks_are_left_out() {
    let (points, targets) = problem(20);
    let doubled: Vec<f64> = points.iter().chain(&points).copied().collect();
    let twice = targets.select(&(0..40).map(|i| i % 20).collect::<Vec<_>>());
    for choice in [LandmarkChoice::Uniform, LandmarkChoice::KMeansPlusPlus, LandmarkChoice::RandomlyPivoted] {
        let approximation = Approximation::Nystrom { landmarks: 40, choice };
        let kernel: Kernel = "rbf(sigma=0.3)".parse().unwrap();
        let fit = fit(&Ridge::on((kernel, approximation)).lambda(0.1), &double(&doubled), &twice).unwrap();
        let Predictor::Expansion(expansion) = &fit.model.predictor else { panic!("landmarks") };
        assert_eq!(expansion.centres.nrows(), 20, "{choice:?}");
    }
}

#[test]
fn a_stop_ends_the_fit() {
    struct Impatient;
    impl mercer::watch::Watch for Impatient {
        fn begin(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn stop_requested(&self) -> bool {
            true
        }
    }
    let (points, targets) = problem(50);
    for approximation in [Approximation::fourier(8), Approximation::nystrom(8)] {
        let (ridge, session) = (approx(approximation, 1.0), Session::default());
        let session = session.with_watch(&Impatient);
        let error = fit_in(&ridge, &double(&points), &targets, None, &session).unwrap_err();
        assert!(error.is_stop(), "{error}");
        assert!(!matches!(error, LearnError::Design(DesignError::NoRank)));
    }
}

/// The fewest rows and features for which passes over the features in memory cost less than sums: 48 features pay for one of
/// twenty passes, and there are eight rows for each.
const HELD: (usize, usize) = (7_680, 960);

/// Room for the sums over these features and for the features of a few rows, but not for those of all.
fn little_memory(features: usize) -> Session<'static> {
    Session::default().with_memory(cost::sums_bytes(features, 2) + (8 << 20))
}

/// Where the features of all rows fit the memory they are passed over; where they do not, their products are summed. Both solve the
/// same problem.
#[test]
fn passes_over_held_features_give_the_fit_of_the_sums() {
    let rows = HELD.0;
    let (points, targets) = problem(rows);
    let weights: Vec<f64> = (0..rows).map(|i| (i % 4) as f64 * 0.5).collect();
    for (approximation, bias, lambda) in [
        (Approximation::fourier(HELD.1), Intercept::None, vec![1e-3, 2.0]),
        (Approximation::nystrom(HELD.1), Intercept::Centred, vec![0.1]),
    ] {
        // Not so smooth that landmarks are left out.
        let kernel: Kernel = "matern(nu=1.5, length=0.5)".parse().unwrap();
        let ridge = Ridge::on((kernel, approximation)).intercept(bias).lambdas(lambda);
        let sessions = [Session::default(), little_memory(HELD.1)];
        let (samples, weights) = (single(&points), Some(&weights[..]));
        let fits =
            sessions.each_ref().map(|session| fit_in(&ridge, &samples, &targets, weights, session).unwrap());
        let [by_passes, by_sums] = &fits;
        for (fit, solver) in [(by_passes, "conjugate gradients"), (by_sums, "cholesky")] {
            let report = fit.report.as_ref().unwrap();
            assert!(report.solver.contains(solver), "{report:?}");
        }
        let [a, b] = [by_passes, by_sums].map(|fit| fit.predict(&samples).unwrap());
        assert!(largest_difference(&a, &b) < 1e-3, "{approximation}: {}", largest_difference(&a, &b));
        // The quality from a sample is near the one from all rows.
        assert_eq!(fact(by_passes, "kernel_error"), fact(by_sums, "kernel_error"));
        let ratio = fact(by_passes, "effective_dimension") / fact(by_sums, "effective_dimension");
        assert!((0.8..1.25).contains(&ratio), "{approximation}: {ratio}");
    }
}

#[test]
fn passes_do_not_depend_on_the_number_of_threads() {
    let (points, targets) = problem(HELD.0);
    let ridge = approx(Approximation::fourier(HELD.1), 0.1);
    let found = || fit(&ridge, &single(&points), &targets).unwrap().model.predictor;
    let [one, three] = [1, 3]
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(found));
    assert_eq!(one, three);
}

/// Rows of one kind at the beginning and another at the end: a sample by chance still tells of both; one that does not must not
/// lead to a wrong answer.
#[test]
fn an_uninformative_sample_does_no_harm() {
    let (mut points, targets) = problem(HELD.0);
    // All but a few rows are one point.
    points[150..].fill(0.25);
    let ridge = approx(Approximation::fourier(HELD.1), 0.1);
    let samples = single(&points);
    let sessions = [Session::default(), little_memory(HELD.1)];
    let [a, b] = sessions.map(|session| {
        let fit = fit_in(&ridge, &samples, &targets, None, &session).unwrap();
        fit.predict(samples.select(&(0..60).collect::<Vec<_>>())).unwrap()
    });
    assert!(largest_difference(&a, &b) < 1e-3, "{}", largest_difference(&a, &b));
}
