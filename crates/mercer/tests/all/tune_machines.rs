//! Choosing the hyper-parameters of support vector machines other than C-classification: scores against fits made one by one.

use crate::oracle::noise;
use mercer::data::{AnySamples, Samples};
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Criterion, Strategy, Trial, assign_folds, stratify_folds};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Learner, Problem, Targets};
use mercer::select::{Tune, Tuned};
use mercer::session::Session;

const ROWS: usize = 80;
const FOLDS: usize = 4;

fn session() -> Session<'static> {
    Session::default().with_seed(6)
}

fn samples() -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(ROWS, 2, noise(2 * ROWS, 1)).unwrap())
}

fn wave(i: usize) -> f64 {
    let x = noise(2 * ROWS, 1);
    (4.0 * x[2 * i]).sin() + x[2 * i + 1]
}

fn tuned(machine: Machine, values: &[f64], targets: Targets<'static>) -> Tuned<Svm> {
    let kernel: Kernel = "rbf(sigma=?{0.2,0.5})".parse().unwrap();
    let mut svm = Svm::new(kernel, machine);
    svm.solver.tol = 1e-8;
    let tune = Tune {
        criterion: Criterion::Folds(FOLDS),
        strategy: Some(Strategy::Grid { points: 2, refinements: 0 }),
        shared: Some(SearchSpace::OneOf(values.to_vec())),
        ..Tune::new(svm)
    };
    tune.run(&Problem::new(samples(), targets), &session()).unwrap()
}

/// The outputs at rows left out of fits without them, made alone.
fn left_out(machine: Machine, trial: &Trial, folds: &[usize], targets: &Targets<'static>) -> Vec<f64> {
    let kernel: Kernel = format!("rbf(sigma={})", trial.values[0]).parse().unwrap();
    let mut svm = Svm::new(kernel, machine.with_shared(trial.setting));
    svm.solver.tol = 1e-8;
    let mut outputs = vec![0.0; ROWS];
    for fold in 0..FOLDS {
        let (held, train): (Vec<usize>, Vec<usize>) = (0..ROWS).partition(|&row| folds[row] == fold);
        let problem = Problem::new(samples().select(&train), targets.select(&train));
        let fitted = svm.train(&problem, &session()).unwrap();
        let found = fitted.predict(samples().select(&held)).unwrap();
        held.iter().enumerate().for_each(|(place, &row)| outputs[row] = found.row(place)[0]);
    }
    outputs
}

#[test]
fn regressions_are_scored_by_the_squared_error_of_rows_left_out() {
    let y: Vec<f64> = (0..ROWS).map(wave).collect();
    let targets: Targets<'static> = Targets::from(&y);
    let folds = assign_folds(ROWS, FOLDS, session().seed()).unwrap();
    for machine in [Machine::Svr { c: 1.0, epsilon: 0.1 }, Machine::NuSvr { c: 1.0, nu: 0.4 }] {
        let found = tuned(machine, &[0.5, 20.0], targets.clone());
        assert_eq!(found.trials.rows.len(), 4);
        for trial in &found.trials.rows {
            let outputs = left_out(machine, trial, &folds, &targets);
            let squares: f64 = outputs.iter().zip(&y).map(|(f, y)| (f - y).powi(2)).sum();
            let (score, expected) = (trial.score.unwrap(), squares / ROWS as f64);
            assert!((score - expected).abs() < 1e-4 * expected, "{machine:?} {trial:?}: {expected}");
        }
    }
}

#[test]
fn nu_classification_is_scored_by_the_classes_of_rows_left_out() {
    let codes: Vec<usize> = (0..ROWS).map(|i| usize::from(wave(i) > 0.3)).collect();
    let targets = Targets::codes(codes.clone(), 2);
    let folds = stratify_folds(&codes, FOLDS, Some(session().seed())).unwrap();
    let machine = Machine::NuSvc { nu: 0.5 };
    // ν = 1 asks for classes of one size.
    let found = tuned(machine, &[0.2, 0.4, 1.0], targets.clone());
    for trial in &found.trials.rows {
        if trial.setting == 1.0 {
            assert_eq!(trial.score, None);
            continue;
        }
        let outputs = left_out(machine, trial, &folds, &targets);
        let wrong = |fold: usize| {
            let rows: Vec<usize> = (0..ROWS).filter(|&row| folds[row] == fold).collect();
            let missed = rows.iter().filter(|&&row| usize::from(outputs[row] <= 0.0) != codes[row]).count();
            missed as f64 / rows.len() as f64
        };
        let expected = (0..FOLDS).map(wrong).sum::<f64>() / FOLDS as f64;
        assert!((trial.score.unwrap() - expected).abs() < 1e-12, "{trial:?}: {expected}");
    }
    assert_eq!(found.learner.machine, Machine::NuSvc { nu: found.trials.best().unwrap().setting });
}

/// The narrowest width that rejects no more of the rows left out than ν and twice its standard deviation.
#[test]
fn one_class_widths_are_the_smallest_consistent_ones() {
    let machine = Machine::OneClass { nu: 0.2 };
    let kernel: Kernel = "rbf(sigma=?{0.01,0.03,0.1,0.3,1,3})".parse().unwrap();
    let tune = Tune {
        criterion: Criterion::Folds(FOLDS),
        strategy: Some(Strategy::Grid { points: 2, refinements: 0 }),
        ..Tune::new(Svm::new(kernel, machine))
    };
    let found = tune.run(&Problem::new(samples(), Targets::None), &session()).unwrap();
    let folds = assign_folds(ROWS, FOLDS, session().seed()).unwrap();
    let most = 0.2 + 2.0 * (0.2f64 * 0.8 / ROWS as f64).sqrt();
    let consistent = |trial: &&Trial| {
        let outputs = left_out(machine, trial, &folds, &Targets::None);
        outputs.iter().filter(|&&f| f <= 0.0).count() as f64 / ROWS as f64 <= most
    };
    let expected = found.trials.rows.iter().find(consistent).unwrap();
    assert_eq!(found.trials.best().unwrap().values, expected.values);
    assert!(expected.values[0] > 0.01 && expected.values[0] < 3.0, "{expected:?}");
}
