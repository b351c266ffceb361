//! Support vector machines as learners: the layout of their results, and predictions at new points.

use crate::machines::{samples, vote};
use mercer::data::{AnySamples, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Machines, Multiclass, Svm};
use mercer::learn::{ClassWeight, Inputs, Learner, Problem, Targets};
use mercer::pool;
use mercer::session::Session;

/// Three clusters of twelve points around (0, 0), (4, 0) and (0, 4), in turns.
fn clusters() -> (Vec<f64>, Vec<usize>) {
    let codes: Vec<usize> = (0..36).map(|i| i % 3).collect();
    let x = (0..36).flat_map(|i| {
        let (a, r) = (i as f64 * 2.4, 0.3 + 0.02 * i as f64);
        [[0.0, 4.0, 0.0][i % 3] + r * a.cos(), [0.0, 0.0, 4.0][i % 3] + r * a.sin()]
    });
    (x.collect(), codes)
}

fn kernel() -> Kernel {
    "rbf(gamma=0.5)".parse().unwrap()
}

fn fit(machine: Machine, x: &[f64], targets: Targets<'_>) -> Machines {
    let problem = Problem::new(samples(x), targets);
    Svm::new(kernel(), machine).machines(&problem, &Session::default()).unwrap()
}

#[test]
fn classes_are_distinguished_by_the_compact_layout() {
    let (x, codes) = clusters();
    for machine in [Machine::Svc { c: 10.0 }, Machine::NuSvc { nu: 0.2 }] {
        let fitted = fit(machine, &x, Targets::codes(&codes, 3));
        assert_eq!(fitted.support.len(), fitted.per_class.as_ref().unwrap().iter().sum::<usize>());
        assert_eq!((fitted.rho.len(), fitted.coefficients.ncols()), (3, 2));
        for (i, point) in x.chunks_exact(2).enumerate() {
            assert_eq!(vote(&fitted, &kernel(), &x, 3, point), codes[i]);
        }
    }
}

#[test]
fn pairs_in_parallel_give_the_same_bits() {
    let (x, codes) = clusters();
    let run =
        |threads| pool::with(Some(threads), || fit(Machine::Svc { c: 1.0 }, &x, Targets::codes(&codes, 3)));
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_weight_counts_as_copies_do() {
    let (x, codes) = clusters();
    let weights: Vec<f64> = (0..36).map(|i| if i % 5 == 0 { 2.0 } else { 1.0 }).collect();
    let copies: Vec<usize> = (0..36).chain((0..36).step_by(5)).collect();
    let twice: Vec<f64> = copies.iter().flat_map(|&i| [x[2 * i], x[2 * i + 1]]).collect();
    let twice_codes: Vec<usize> = copies.iter().map(|&i| codes[i]).collect();
    let mut svm = Svm::new(kernel(), Machine::Svc { c: 0.3 });
    svm.solver.tol = 1e-8;
    let problem = |x: &[f64], codes| Problem::new(samples(x), Targets::codes(codes, 3));
    let weighted = problem(&x, codes).weighted(Some(weights));
    let [weighted, copied] = [weighted, problem(&twice, twice_codes)]
        .map(|problem| svm.machines(&problem, &Session::default()).unwrap());
    for (a, b) in weighted.reports.iter().zip(&copied.reports) {
        assert!((a.objective - b.objective).abs() < 1e-6 * (1.0 + b.objective.abs()), "{a:?} {b:?}");
    }
}

#[test]
fn regression_stays_in_its_tube() {
    let x: Vec<f64> = (0..40).flat_map(|i| [f64::from(i) / 10.0, 0.0]).collect();
    let z: Vec<f64> = x.chunks_exact(2).map(|p| p[0].sin()).collect();
    let at = |fitted: &Machines, point: &[f64]| {
        let terms = fitted.support.iter().zip(fitted.coefficients.entries());
        terms.map(|(&s, a)| a * kernel().eval(&x[2 * s..2 * s + 2], point).unwrap()).sum::<f64>()
            - fitted.rho[0]
    };
    let fitted = fit(Machine::Svr { c: 1e3, epsilon: 0.1 }, &x, (&z).into());
    let tube = fit(Machine::NuSvr { c: 1e3, nu: 0.2 }, &x, (&z).into());
    let epsilon = tube.epsilon.unwrap();
    assert!(epsilon > -1e-3, "ε = {epsilon}");
    for (point, z) in x.chunks_exact(2).zip(&z) {
        let f = at(&fitted, point);
        assert!((f - z).abs() < 0.1 + 2e-3, "{f} at {point:?} is not {z}");
        let f = at(&tube, point);
        assert!((f - z).abs() < epsilon.max(0.0) + 0.1, "{f} at {point:?} is not {z}");
    }
}

#[test]
fn one_class_leaves_a_part_outside() {
    let (x, _) = clusters();
    let fitted = fit(Machine::OneClass { nu: 0.25 }, &x, Targets::None);
    let outside = x.chunks_exact(2).filter(|point| {
        let terms = fitted.support.iter().zip(fitted.coefficients.entries());
        let f: f64 = terms.map(|(&s, a)| a * kernel().eval(&x[2 * s..2 * s + 2], point).unwrap()).sum();
        f - fitted.rho[0] < -1e-3
    });
    let count = outside.count();
    assert!((1..=9).contains(&count), "{count} of 36 outside for ν = ¼");
    assert!(fitted.support.len() >= 9);
}

/// The verdict of the kernel check is stored in the model and reported, for every machine.
#[test]
fn the_verdict_on_the_kernel_is_kept() {
    let (x, codes) = clusters();
    let z: Vec<f64> = x.chunks_exact(2).map(|p| p[0]).collect();
    let machines = [
        (Machine::Svc { c: 1.0 }, Targets::codes(&codes, 3)),
        (Machine::NuSvc { nu: 0.2 }, Targets::codes(&codes, 3)),
        (Machine::Svr { c: 1.0, epsilon: 0.1 }, (&z).into()),
        (Machine::NuSvr { c: 1.0, nu: 0.5 }, (&z).into()),
        (Machine::OneClass { nu: 0.5 }, Targets::None),
    ];
    for (machine, targets) in machines {
        let proven = fit(machine, &x, targets.clone());
        assert!(proven.domain.is_some() && proven.warnings.is_empty(), "{machine:?}");
        let problem = Problem::new(samples(&x), targets);
        let refuted = Svm::new("-1*rbf(gamma=0.5)".parse::<Kernel>().unwrap(), machine);
        let error = refuted.train(&problem, &Session::default()).unwrap_err();
        assert!(error.to_string().contains("not a kernel"), "{machine:?}: {error}");
        let undecided: Kernel = "1/(1+cosh(|x-z|))".parse().unwrap();
        let fitted = Svm::new(undecided, machine).train(&problem, &Session::default()).unwrap();
        let warnings = fitted.report.unwrap().warnings;
        assert!(warnings.iter().any(|w| w.contains("undecided")), "{machine:?}: {warnings:?}");
    }
}

/// Settings are written under the names of model files, and read again.
#[test]
fn settings_have_the_names_of_model_files() {
    let svm = Svm::new(kernel(), Machine::NuSvr { c: 2.0, nu: 0.25 });
    let text = serde_json::to_string(&svm).unwrap();
    assert_eq!(serde_json::from_str::<Svm>(&text).unwrap(), svm);
    let kept = serde_json::to_string(&svm.settings(&Session::default())).unwrap();
    assert_eq!(kept, r#"{"C":2.0,"nu":0.25,"tol":0.001}"#);
    let svm = Svm::new(kernel(), Machine::Svc { c: 1.0 })
        .class_weight(ClassWeight::Each(vec![1.0, 2.5]))
        .multiclass(Multiclass::OneVsRest)
        .probability(true);
    assert_eq!(serde_json::from_str::<Svm>(&serde_json::to_string(&svm).unwrap()).unwrap(), svm);
    let kept = serde_json::to_string(&svm.settings(&Session::default().with_seed(7))).unwrap();
    let expected = r#"{"C":1.0,"class_weight":[1.0,2.5],"multiclass":"one-vs-rest","seed":7,"tol":0.001}"#;
    assert_eq!(kept, expected);
    let balanced = Svm::new(kernel(), Machine::Svc { c: 1.0 }).class_weight(ClassWeight::Balanced);
    assert_eq!(balanced.settings(&Session::default()).text("class_weight"), Some("balanced"));
    assert_eq!(serde_json::from_str::<Svm>(&serde_json::to_string(&balanced).unwrap()).unwrap(), balanced);
}

/// A kernel matrix gives the machines of its kernel, and a model over its columns.
#[test]
fn a_kernel_matrix_stands_for_its_samples() {
    let (x, codes) = clusters();
    let n = codes.len();
    let row = |i: usize| &x[2 * i..2 * i + 2];
    let entries: Vec<f64> = (0..n * n).map(|e| kernel().eval(row(e / n), row(e % n)).unwrap()).collect();
    let gram = DenseGram::new(n, entries.clone());
    let svm = Svm::new(kernel(), Machine::Svc { c: 10.0 });
    let given = Problem::new(Inputs::Gram(&gram), Targets::codes(&codes, 3));
    let given = svm.train(&given, &Session::default()).unwrap();
    assert!(given.model.settings.has("precomputed"));
    let own = svm.train(&Problem::new(samples(&x), Targets::codes(&codes, 3)), &Session::default()).unwrap();
    let rows = AnySamples::F64(Samples::dense(n, n, entries).unwrap());
    let (a, b) = (given.predict(rows).unwrap(), own.predict(samples(&x)).unwrap());
    let apart = a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart}");
}
