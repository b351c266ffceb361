//! The width of a smoother and the k of nearest neighbours, chosen by leaving out each row in turn.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::Measure;
use mercer::learn::{Knn, LearnError, Problem, Smoother};
use mercer::select::Tune;
use mercer::session::Session;

fn wave() -> (AnySamples<'static>, Matrix<f64>) {
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.1).collect();
    let noise = |i: usize| 0.3 * ((i * 7919 % 101) as f64 / 50.0 - 1.0);
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x.sin() + noise(i)).collect();
    (AnySamples::F64(Samples::dense(60, 1, x).unwrap()), Matrix::from_entries(60, 1, y))
}

#[test]
fn the_width_found_is_the_best_of_those_tried_and_neither_end() {
    let (samples, targets) = wave();
    let kernel: Kernel = "rbf(sigma=?0.01..100)".parse().unwrap();
    let tune = Tune::new(Smoother::new(kernel.clone()));
    let tuned = tune.run(&Problem::new(samples.view(), &targets), &Session::default()).unwrap();
    assert!(tuned.warnings.is_empty(), "{:?}", tuned.warnings);
    for trial in &tuned.trials.rows {
        let smoother = Smoother::new(kernel.with_values(&trial.values).unwrap());
        let direct = smoother.leave_one_out(&samples, &targets, Measure::SquaredError, &Session::default());
        assert_eq!(trial.score, Some(direct.unwrap()));
        assert!(trial.score.unwrap() >= tuned.score);
    }
}

#[test]
fn k_is_the_best_of_the_range() {
    let (samples, targets) = wave();
    let run = |low: f64, high: f64| {
        let tune = Tune { shared: Some(SearchSpace::Between(low, high)), ..Tune::new(Knn::default()) };
        tune.run(&Problem::new(samples.view(), &targets), &Session::default())
    };
    let tuned = run(1.0, 200.0).unwrap();
    assert_eq!(tuned.trials.rows.len(), 59, "no more neighbours than other rows");
    assert_eq!(tuned.trials.names, ["k"]);
    let losses =
        Knn::new(1).leave_one_out(&samples, &targets, 59, Measure::SquaredError, &Session::default());
    let scores: Vec<f64> = tuned.trials.rows.iter().filter_map(|trial| trial.score).collect();
    assert_eq!(scores, losses.unwrap());
    assert!(tuned.learner.k > 1 && tuned.learner.k < 30, "{}", tuned.learner.k);
    let end = run(1.0, 2.0).unwrap();
    assert!(end.warnings[0].contains("upper end") && end.warnings[0].contains("?1..8"), "{:?}", end.warnings);
    for (low, high) in [(0.0, 3.0), (5.0, 4.0), (70.0, 80.0)] {
        assert!(run(low, high).is_err(), "{low} {high}");
    }
}

#[test]
fn equal_targets_leave_nothing_to_choose_by() {
    let (samples, _) = wave();
    let flat = Matrix::from_entries(60, 1, vec![2.0; 60]);
    let tune = Tune::new(Smoother::new("rbf(sigma=?)".parse().unwrap()));
    let error = tune.run(&Problem::new(samples.view(), &flat), &Session::default()).unwrap_err();
    assert_eq!(error, LearnError::ConstantTargets { value: 2.0 });
}
