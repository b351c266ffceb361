//! Choosing C and the kernel of a support vector machine: every score is that of machines fitted one by one.

use mercer::data::{AnySamples, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Machines, Svm};
use mercer::learn::{ClassWeight, Inputs, LearnError, Problem, Targets};
use mercer::pool;
use mercer::select::{CostSpace, Strategy, TuneSvc, stratify_folds};
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

fn samples(x: &[f64]) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(x.len() / 2, 2, x.to_vec()).unwrap())
}

fn problem<'a>(x: &[f64], codes: &'a [usize]) -> Problem<'a> {
    Problem::new(samples(x), Targets::codes(codes, 3))
}

fn tight() -> SvmSettings {
    SvmSettings { tol: 1e-6, ..SvmSettings::default() }
}

fn tune(kernel: Kernel) -> TuneSvc {
    TuneSvc { svm: Svm::new(kernel, Machine::Svc { c: 1.0 }).solver(tight()), ..TuneSvc::new(rbf(1.0)) }
}

fn rbf(gamma: f64) -> Kernel {
    format!("rbf(gamma={gamma})").parse().unwrap()
}

/// The class with most votes, the first of equals, by evaluating every machine.
fn vote(fitted: &Machines, kernel: &Kernel, x: &[f64], nclasses: usize, point: &[f64]) -> usize {
    let per_class = fitted.per_class.as_ref().unwrap();
    let starts: Vec<usize> = (0..nclasses).map(|c| per_class[..c].iter().sum()).collect();
    let (mut votes, mut pair) = (vec![0; nclasses], 0);
    for i in 0..nclasses {
        for j in i + 1..nclasses {
            let mut f = -fitted.rho[pair];
            for (class, column) in [(i, j - 1), (j, i)] {
                for s in starts[class]..starts[class] + per_class[class] {
                    let row = fitted.support[s];
                    f += fitted.coefficients.row(s)[column]
                        * kernel.eval(&x[2 * row..2 * row + 2], point).unwrap();
                }
            }
            votes[if f > 0.0 { i } else { j }] += 1;
            pair += 1;
        }
    }
    (0..nclasses).rev().max_by_key(|&c| votes[c]).unwrap()
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
fn every_score_is_that_of_machines_fitted_one_by_one() {
    let (x, codes) = arms(180);
    let folds = stratify_folds(&codes, 4, Some(3)).unwrap();
    let kernels = [rbf(0.3), rbf(3.0), "poly(degree=2)".parse().unwrap()];
    // Not ascending on purpose.
    let cs = [4.0, 0.25, 64.0];
    let tune = tune(rbf(1.0));
    let grid =
        |session: Session<'_>| tune.grid(&kernels, &cs, &problem(&x, &codes), &folds, &session).unwrap();
    let found = grid(Session::default());
    let mut best = (0.0, (0, 0));
    for (k, kernel) in kernels.iter().enumerate() {
        for (j, &c) in cs.iter().enumerate() {
            let scores = &found.scores[k].as_ref().unwrap()[j];
            for (fold, score) in scores.iter().enumerate() {
                assert_eq!(*score, one_by_one(kernel, c, &x, &codes, &folds, fold), "{kernel} {c} {fold}");
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
    let tune = tune(kernel.clone());
    let cs = [0.5, 8.0];
    let (gram, session) = (DenseGram::new(n, entries), Session::default());
    let given = Problem::new(Inputs::Gram(&gram), Targets::codes(&codes, 3));
    let given = tune.grid(&[], &cs, &given, &folds, &session).unwrap();
    let computed = tune.grid(&[kernel], &cs, &problem(&x, &codes), &folds, &session).unwrap();
    assert_eq!(given, computed);
}

#[test]
fn a_search_finds_the_width_of_the_arms_and_is_resumed() {
    let (x, codes) = arms(200);
    let folds = stratify_folds(&codes, 5, Some(0)).unwrap();
    let tune = TuneSvc {
        c: CostSpace::between(0.1, 100.0).unwrap(),
        strategy: Some(Strategy::Grid { points: 5, refinements: 1 }),
        ..TuneSvc::new("rbf(gamma=?1e-4..1e3)".parse().unwrap())
    };
    let mut seen = Vec::new();
    let run = |resume, seen: &mut Vec<usize>| {
        let mut on = |t: &mercer::select::Trials| seen.push(t.rows.len());
        tune.run(&problem(&x, &codes), &folds, resume, &mut on, &Session::default()).unwrap()
    };
    let found = run(None, &mut seen);
    assert!(found.accuracy > 0.85, "{}", found.accuracy);
    assert_eq!(found.trials.names, ["gamma", "C"]);
    assert!(found.trials.rows.iter().all(|t| 1.0 - t.score.unwrap() <= found.accuracy));
    let kept = found.trials.clone();
    seen.clear();
    assert_eq!(run(Some(kept), &mut seen), found);
    assert!(seen.is_empty(), "nothing is tried twice");
    let other = mercer::select::Trials { problem: "another".into(), ..found.trials };
    let mut on = |_: &mercer::select::Trials| {};
    let error =
        tune.run(&problem(&x, &codes), &folds, Some(other), &mut on, &Session::default()).unwrap_err();
    assert!(error.to_string().contains("other data"), "{error}");
}

#[test]
fn rows_of_no_weight_count_nowhere() {
    let (x, codes) = arms(150);
    let folds = stratify_folds(&codes, 3, Some(1)).unwrap();
    let kept: Vec<usize> = (0..150).filter(|i| i % 5 != 2).collect();
    let weights: Vec<f64> = (0..150).map(|i| if i % 5 == 2 { 0.0 } else { 1.0 }).collect();
    let (tune, session) = (tune(rbf(1.0)), Session::default());
    let cs = [1.0, 10.0];
    let all = problem(&x, &codes).weighted(Some(weights));
    let weighted = tune.grid(&[rbf(1.0)], &cs, &all, &folds, &session).unwrap();
    let part: Vec<f64> = kept.iter().flat_map(|&i| x[2 * i..2 * i + 2].to_vec()).collect();
    let of = |v: &[usize]| kept.iter().map(|&i| v[i]).collect::<Vec<_>>();
    let without = tune.grid(&[rbf(1.0)], &cs, &problem(&part, &of(&codes)), &of(&folds), &session).unwrap();
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
fn what_cannot_be_judged_is_refused_by_name() {
    let (x, codes) = arms(30);
    let tune = TuneSvc::new(rbf(1.0));
    let grid = |cs: &[f64], codes: &[usize], folds: &[usize]| {
        tune.grid(&[rbf(1.0)], cs, &problem(&x, codes), folds, &Session::default()).unwrap_err()
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
    assert!(error.to_string().contains("two classes"), "{error}");
}
