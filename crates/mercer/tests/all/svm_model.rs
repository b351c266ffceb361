//! Support vector machines as models: decisions at points, votes, and the model file.

use std::path::Path;

use mercer::data::{AnySamples, Classes, Matrix, Samples, Scaling};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Machines, Multiclass, Svm};
use mercer::learn::{Learner, Problem, Targets};
use mercer::model::{
    Calibration, Facts, Link, Method, Model, Pairs, Predictor, Sigmoid, one_vs_rest_decisions, pairs_of, vote,
};
use mercer::session::Session;
use mercer::solve::svm::SvmSettings;

const CLASSES: usize = 4;

/// Four clusters of ten points on the corners of a square, near enough to overlap, in turns.
fn clusters() -> (Samples<'static, f64>, Vec<usize>) {
    let codes: Vec<usize> = (0..40).map(|i| (i * 7) % CLASSES).collect();
    let x = codes.iter().enumerate().flat_map(|(i, &code)| {
        let (a, r) = (i as f64 * 2.4, 0.25 + 0.03 * i as f64);
        [(code % 2) as f64 * 2.0 + r * a.cos(), (code / 2) as f64 * 2.0 + r * a.sin()]
    });
    (Samples::dense(40, 2, x.collect::<Vec<_>>()).unwrap(), codes)
}

fn kernel() -> Kernel {
    "rbf(gamma=0.5)".parse().unwrap()
}

fn machines(svm: &Svm, samples: &AnySamples<'_>, codes: &[usize], classes: usize) -> Machines {
    let problem = Problem::new(samples.view(), Targets::codes(codes, classes));
    svm.machines(&problem, &Session::default()).unwrap()
}

fn fitted() -> (AnySamples<'static>, Vec<usize>, Machines) {
    let (samples, codes) = clusters();
    let samples = AnySamples::F64(samples);
    let found = machines(&Svm::new(kernel(), Machine::Svc { c: 3.0 }), &samples, &codes, CLASSES);
    (samples, codes, found)
}

fn row(samples: &AnySamples<'_>, row: usize) -> Vec<f64> {
    let mut out = vec![0.0; samples.ncols()];
    samples.visit_row(row, |column, value| out[column] = value);
    out
}

/// f of every pair by the definition of the layout, one kernel value at a time.
fn by_definition(pairs: &Pairs, point: &[f64]) -> Vec<f64> {
    let starts: Vec<usize> = (0..CLASSES).map(|c| pairs.per_class[..c].iter().sum()).collect();
    let of = |(pair, (i, j)): (usize, (usize, usize))| {
        let mut f = -pairs.rho[pair];
        for (class, column) in [(i, j - 1), (j, i)] {
            for s in starts[class]..starts[class] + pairs.per_class[class] {
                let value = pairs.kernel.eval(&row(&pairs.centres, s), point).unwrap();
                f += pairs.coefficients.row(s)[column] * value;
            }
        }
        f
    };
    pairs_of(CLASSES).enumerate().map(of).collect()
}

#[test]
fn pairs_agree_with_their_layout() {
    let (samples, codes, found) = fitted();
    let Predictor::Pairs(pairs) = found.predictor(&samples) else { panic!("pairs of classes") };
    assert_eq!(pairs.fault(), None);
    let decisions = pairs.predict(&samples, &Session::default()).unwrap();
    assert_eq!((decisions.nrows(), decisions.ncols()), (40, 6));
    let mut right = 0;
    for i in 0..40 {
        let expected = by_definition(&pairs, &row(&samples, i));
        for (found, expected) in decisions.row(i).iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        right += usize::from(vote(decisions.row(i)) == codes[i]);
    }
    assert!(right >= 36, "{right} of 40 training rows are right");
}

#[test]
fn a_class_without_support_vectors_still_has_its_pairs() {
    let (samples, whole) = (fitted().0, pairs());
    let keep: Vec<usize> = (whole.per_class[0]..whole.centres.nrows()).collect();
    let mut per_class = whole.per_class.clone();
    per_class[0] = 0;
    let without = Pairs {
        centres: whole.centres.select(&keep),
        coefficients: whole.coefficients.select(&keep),
        per_class,
        ..whole
    };
    let decisions = without.predict(&samples, &Session::default()).unwrap();
    let expected = by_definition(&without, &row(&samples, 5));
    decisions
        .row(5)
        .iter()
        .zip(expected)
        .for_each(|(found, expected)| assert!((found - expected).abs() < 1e-12));
}

/// One machine per pair and one per class are the same machine for two classes.
#[test]
fn one_against_the_rest_of_two_is_the_pair_with_its_sign_turned() {
    let (samples, codes) = clusters();
    let samples = AnySamples::F64(samples);
    let codes: Vec<usize> = codes.iter().map(|code| code % 2).collect();
    for machine in [Machine::Svc { c: 1.0 }, Machine::NuSvc { nu: 0.4 }] {
        let [pair, rest] = [Multiclass::OneVsOne, Multiclass::OneVsRest].map(|multiclass| {
            let solver = SvmSettings { tol: 1e-9, ..SvmSettings::default() };
            let svm = Svm::new(kernel(), machine).solver(solver).multiclass(multiclass);
            let found = machines(&svm, &samples, &codes, 2).predictor(&samples);
            found.predict(&samples, &Session::default()).unwrap()
        });
        for i in 0..40 {
            assert!((pair.row(i)[0] + rest.row(i)[0]).abs() < 1e-6, "{} {}", pair.row(i)[0], rest.row(i)[0]);
            assert_eq!(Link::Votes.class(pair.row(i)), Link::Decisions.class(rest.row(i)));
        }
    }
}

#[test]
fn every_class_against_the_rest_finds_its_rows() {
    let (samples, codes) = clusters();
    let samples = AnySamples::F64(samples);
    let svm = Svm::new(kernel(), Machine::Svc { c: 3.0 }).multiclass(Multiclass::OneVsRest);
    let rest = machines(&svm, &samples, &codes, CLASSES);
    assert_eq!((rest.coefficients.ncols(), rest.rho.len(), rest.reports.len()), (4, 4, 4));
    let decisions = rest.predictor(&samples).predict(&samples, &Session::default()).unwrap();
    let right = (0..40).filter(|&i| Link::Decisions.class(decisions.row(i)) == codes[i]).count();
    assert!(right >= 36, "{right} of 40");
}

fn model(predictor: impl Into<Predictor>, calibration: Option<Calibration>) -> Model {
    Model {
        method: Method::Svc,
        settings: Facts::new(),
        predictor: predictor.into(),
        schema: None,
        outputs: vec!["kind".into()],
        classes: Some(Classes::Labels(["a", "b", "c", "d"].map(String::from).to_vec())),
        label_type: None,
        calibration,
        scaling: Scaling::None,
        report: Facts::new(),
    }
}

fn pairs() -> Pairs {
    let (samples, _, found) = fitted();
    let Predictor::Pairs(pairs) = found.predictor(&samples) else { panic!("pairs of classes") };
    pairs
}

fn sigmoids(count: usize) -> Calibration {
    Calibration::Sigmoids((0..count).map(|k| Sigmoid { a: -1.0 - k as f64 / 3.0, b: 0.1 }).collect())
}

#[test]
fn a_saved_model_is_loaded_unchanged() {
    for model in [model(pairs(), None), model(pairs(), Some(sigmoids(6)))] {
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes, Path::new("m")).unwrap();
        assert_eq!(read, model);
        assert_eq!(read.link(), Link::Votes);
        for length in 0..bytes.len() {
            assert!(Model::from_bytes(&bytes[..length], Path::new("m")).is_err(), "cut to {length}");
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let refused = |model: Model, reason: &str| {
        let error = Model::from_bytes(&model.to_bytes().unwrap(), Path::new("m")).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    };
    let good = pairs();
    refused(model(Pairs { rho: vec![0.0; 5], ..good.clone() }, None), "5 offsets for 6 pairs");
    refused(model(Pairs { per_class: vec![1; 4], ..good.clone() }, None), "another number in its classes");
    refused(
        model(Pairs { per_class: vec![usize::MAX; 4], ..good.clone() }, None),
        "another number in its classes",
    );
    let rows = good.centres.nrows();
    refused(model(Pairs { coefficients: Matrix::zeros(rows, 4), ..good.clone() }, None), "coefficients");
    refused(model(Pairs { rho: vec![f64::NAN; 6], ..good.clone() }, None), "finite");
    refused(model(Pairs { kernel: "rbf(sigma=auto)".parse().unwrap(), ..good.clone() }, None), "auto");
    refused(model(good.clone(), Some(sigmoids(4))), "4 sigmoids for 6 outputs");
    let classes = Some(Classes::Numbers(vec![1.0, 2.0, 3.0]));
    refused(Model { classes, ..model(good, None) }, "3 classes");
}

#[test]
fn probabilities_add_up_and_follow_the_decisions() {
    let model = model(pairs(), Some(sigmoids(6)));
    let (samples, codes, _) = fitted();
    let outputs = model.predict(&samples, &Session::default()).unwrap();
    let shares = model.probabilities(&outputs).unwrap();
    let mut right = 0;
    for i in 0..40 {
        assert!((shares.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(shares.row(i).iter().all(|p| (0.0..=1.0).contains(p)));
        right += usize::from(Link::Shares.class(shares.row(i)) == codes[i]);
    }
    assert!(right >= 35, "{right} of 40");
    let per_class = one_vs_rest_decisions(&outputs);
    let agree = (0..40).filter(|&i| Link::Decisions.class(per_class.row(i)) == vote(outputs.row(i))).count();
    assert!(agree >= 39, "votes come before how clear they are: {agree} of 40");
}

/// A one-class model is a classifier of −1 and 1 with one decision.
#[test]
fn inliers_are_the_second_of_two_classes() {
    let (samples, _) = clusters();
    let samples = AnySamples::F64(samples);
    let problem = Problem::new(samples.view(), Targets::None);
    let svm = Svm::new(kernel(), Machine::OneClass { nu: 0.3 });
    let model = svm.train(&problem, &Session::default()).unwrap().model;
    assert_eq!(model.method, Method::OneClass);
    let read = Model::from_bytes(&model.to_bytes().unwrap(), Path::new("m")).unwrap();
    let outputs = read.predict(&samples, &Session::default()).unwrap();
    let outside = (0..40).filter(|&i| read.link().class(outputs.row(i)) == 0).count();
    assert!((6..=14).contains(&outside), "{outside} of 40 are outside of ν = 0.3");
    let far = AnySamples::F64(Samples::dense(1, 2, vec![40.0, -40.0]).unwrap());
    assert_eq!(read.link().class(read.predict(&far, &Session::default()).unwrap().row(0)), 0);
}
