//! Choosing C and the kernel of a support vector machine: every score is that of machines fitted one by one.

use crate::machines::{samples, vote};
use crate::tuning::resumes;
use mercer::gram::DenseGram;
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Criterion, Strategy, stratify_folds};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{ClassWeight, Inputs, LearnError, Problem, Targets};
use mercer::pool;
use mercer::select::Tune;
use mercer::session::Session;
use mercer::solve::svm::SvmSettings;

/// Three noisy arms around the origin, in turns; the last class is rare.
fn arms(n: usize) -> (Vec<f64>, Vec<usize>) {
    let codes: Vec<usize> = (0..n).map(|i| if i % 11 == 0 { 2 } else { i % 2 }).collect();
    let noise = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1009) as f64 / 1009.0 - 0.5;
    let x = (0..n).flat_map(|i| {
        let r = 0.3 + 2.0 * (i as f64 / n as f64);
        let angle = 2.1 * codes[i] as f64 + r + 1.3 * noise(i, 1);
        [r * angle.cos() + 0.2 * noise(i, 2), r * angle.sin() + 0.2 * noise(i, 3)]
    });
    (x.collect(), codes)
}

fn problem<'a>(x: &[f64], codes: &'a [usize]) -> Problem<'a> {
    Problem::new(samples(x), Targets::codes(codes, 3))
}

fn tight() -> SvmSettings {
    SvmSettings { tol: 1e-6, ..SvmSettings::default() }
}

fn tune(kernel: Kernel, folds: &[usize]) -> Tune<Svm> {
    let svm = Svm::new(kernel, Machine::Svc { c: 1.0 }).solver(tight());
    Tune { criterion: Criterion::Given(folds.iter().copied().map(Some).collect()), ..Tune::new(svm) }
}

fn rbf(gamma: f64) -> Kernel {
    format!("rbf(gamma={gamma})").parse().unwrap()
}

/// The accuracy on one fold of a machine fitted to the rows outside of it.
fn one_by_one(kernel: &Kernel, c: f64, x: &[f64], codes: &[usize], folds: &[usize], fold: usize) -> f64 {
    let inside: Vec<usize> = (0..codes.len()).filter(|&i| folds[i] != fold).collect();
    let part: Vec<f64> = inside.iter().flat_map(|&i| x[2 * i..2 * i + 2].to_vec()).collect();
    let labels: Vec<usize> = inside.iter().map(|&i| codes[i]).collect();
    let svm = Svm::new(kernel.clone(), Machine::Svc { c }).solver(tight());
    let fitted = svm.machines(&problem(&part, &labels), &Session::default()).unwrap();
    let held: Vec<usize> = (0..codes.len()).filter(|&i| folds[i] == fold).collect();
    let right = |&&i: &&usize| vote(&fitted, kernel, &part, 3, &x[2 * i..2 * i + 2]) == codes[i];
    held.iter().filter(right).count() as f64 / held.len() as f64
}

#[test]
fn every_score_matches_machines_fitted_one_by_one() {
    let (x, codes) = arms(180);
    let folds = stratify_folds(&codes, 4, Some(3)).unwrap();
    let kernels = [rbf(0.3), rbf(3.0), "poly(degree=2)".parse().unwrap()];
    // Not ascending on purpose.
    let cs = [4.0, 0.25, 64.0];
    let tune = tune(rbf(1.0), &folds);
    let grid = |session: Session<'_>| tune.grid(&kernels, &cs, &problem(&x, &codes), &session).unwrap();
    let found = grid(Session::default());
    let mut best = (0.0, (0, 0));
    for (k, kernel) in kernels.iter().enumerate() {
        for (j, &c) in cs.iter().enumerate() {
            let wrong = &found.scores[k][j].as_ref().unwrap().folds;
            let scores: Vec<f64> = wrong.iter().map(|wrong| 1.0 - wrong).collect();
            for (fold, score) in scores.iter().enumerate() {
                let expected = one_by_one(kernel, c, &x, &codes, &folds, fold);
                assert!((score - expected).abs() < 1e-15, "{kernel} {c} {fold}: {score} is not {expected}");
            }
            let mean = scores.iter().sum::<f64>() / 4.0;
            if mean > best.0 {
                best = (mean, (k, j));
            }
        }
    }
    assert_eq!(found.best, best.1);
    assert_eq!(grid(Session::default().with_memory(0)), found, "kernel values stored or not");
    assert_eq!(
        pool::with(Some(1), || grid(Session::default())),
        pool::with(Some(3), || grid(Session::default()))
    );
}

#[test]
fn a_given_matrix_scores_as_its_kernel_does() {
    let (x, codes) = arms(120);
    let folds = stratify_folds(&codes, 3, None).unwrap();
    let kernel = rbf(1.0);
    let n = codes.len();
    let row = |i: usize| &x[2 * i..2 * i + 2];
    let entries: Vec<f64> = (0..n * n).map(|e| kernel.eval(row(e / n), row(e % n)).unwrap()).collect();
    let tune = tune(kernel.clone(), &folds);
    let cs = [0.5, 8.0];
    let (gram, session) = (DenseGram::new(n, entries), Session::default());
    let given = Problem::new(Inputs::Gram(&gram), Targets::codes(&codes, 3));
    let given = tune.grid(&[], &cs, &given, &session).unwrap();
    let computed = tune.grid(&[kernel], &cs, &problem(&x, &codes), &session).unwrap();
    assert_eq!(given, computed);
}

#[test]
fn a_search_finds_the_width_of_the_arms_and_is_resumed() {
    let (x, codes) = arms(200);
    let folds = stratify_folds(&codes, 5, Some(0)).unwrap();
    let gamma: Kernel = "rbf(gamma=?1e-4..1e3)".parse().unwrap();
    let tune = Tune {
        criterion: Criterion::Given(folds.into_iter().map(Some).collect()),
        shared: Some(SearchSpace::Between(0.1, 100.0)),
        strategy: Some(Strategy::Grid { points: 5, refinements: 1 }),
        ..Tune::new(Svm::new(gamma, Machine::Svc { c: 1.0 }))
    };
    let run = |session: &Session<'_>| {
        let found = tune.run(&problem(&x, &codes), session)?;
        let trials = found.trials.clone();
        Ok((found, trials))
    };
    let (found, trials) = run(&Session::default()).unwrap();
    assert!(found.score < 0.15, "{}", found.score);
    assert_eq!(trials.names, ["gamma", "C"]);
    assert!(trials.rows.iter().all(|t| t.score.unwrap() >= found.score));
    resumes(run, &Session::default());
    // Folds by number are stratified by the seed of the session.
    let by_number = Tune { criterion: Criterion::Folds(5), ..tune.clone() };
    assert_eq!(by_number.run(&problem(&x, &codes), &Session::default()).unwrap().trials.rows, trials.rows);
}

#[test]
fn rows_of_weight_zero_have_no_effect() {
    let (x, codes) = arms(150);
    let folds = stratify_folds(&codes, 3, Some(1)).unwrap();
    let kept: Vec<usize> = (0..150).filter(|i| i % 5 != 2).collect();
    let weights: Vec<f64> = (0..150).map(|i| if i % 5 == 2 { 0.0 } else { 1.0 }).collect();
    let session = Session::default();
    let cs = [1.0, 10.0];
    let all = problem(&x, &codes).weighted(Some(weights));
    let weighted = tune(rbf(1.0), &folds).grid(&[rbf(1.0)], &cs, &all, &session).unwrap();
    let part: Vec<f64> = kept.iter().flat_map(|&i| x[2 * i..2 * i + 2].to_vec()).collect();
    let of = |v: &[usize]| kept.iter().map(|&i| v[i]).collect::<Vec<_>>();
    let (codes, tune) = (of(&codes), tune(rbf(1.0), &of(&folds)));
    let without = tune.grid(&[rbf(1.0)], &cs, &problem(&part, &codes), &session).unwrap();
    assert_eq!(weighted, without);
}

#[test]
fn a_path_has_the_answers_of_single_fits() {
    let (x, codes) = arms(160);
    let cs = [0.1, 1.0, 3.0, 50.0, 1000.0, 2.0];
    let svm = Svm::new(rbf(1.0), Machine::Svc { c: 1.0 })
        .solver(tight())
        .class_weight(ClassWeight::Each(vec![1.0, 2.0, 0.5]));
    let session = Session::default();
    let path = svm.path(&cs, &problem(&x, &codes), &session).unwrap();
    for (&c, along) in cs.iter().zip(&path) {
        let single = svm.clone().with(rbf(1.0), Machine::Svc { c });
        let single = single.machines(&problem(&x, &codes), &session).unwrap();
        for (a, b) in along.reports.iter().zip(&single.reports) {
            assert!(a.violation <= 1e-6 && b.violation <= 1e-6);
            assert!((a.objective - b.objective).abs() <= 1e-6 * (1.0 + b.objective.abs()), "C = {c}");
        }
        for (a, b) in along.rho.iter().zip(&single.rho) {
            assert!((a - b).abs() <= 1e-4, "C = {c}: {a} and {b}");
        }
    }
}

#[test]
fn invalid_searches_are_refused_by_name() {
    let (x, codes) = arms(30);
    let grid = |cs: &[f64], codes: &[usize], folds: &[usize]| {
        let tune = tune(rbf(1.0), folds);
        tune.grid(&[rbf(1.0)], cs, &problem(&x, codes), &Session::default()).unwrap_err()
    };
    let folds = stratify_folds(&codes, 3, None).unwrap();
    let bad_c = grid(&[0.0], &codes, &folds);
    assert!(matches!(bad_c, LearnError::Parameter { parameter: "C", .. }), "{bad_c}");
    assert!(matches!(grid(&[1.0], &codes, &[0; 30]), LearnError::Parameter { parameter: "folds", .. }));
    assert!(matches!(grid(&[1.0], &codes, &folds[1..]), LearnError::Length { .. }));
    assert!(matches!(grid(&[1.0], &[0; 30], &folds), LearnError::Classes { found: 1 }));
    // Everything but one class is in the first fold.
    let lopsided: Vec<usize> = codes.iter().map(|&c| usize::from(c == 0)).collect();
    let error = grid(&[1.0], &codes, &lopsided);
    assert!(error.to_string().contains("only rows of one class"), "{error}");
}
