//! LIBSVM's model files: those in `data/libsvm` were written by LIBSVM 3.37, with its predictions for twelve points.

use std::fs;
use std::path::{Path, PathBuf};

use mercer::data::{AnySamples, Classes, Matrix, Samples, ScaleMethod, Scaling};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Machines, Multiclass, Svm};
use mercer::learn::{KernelCheck, Problem, Targets};
use mercer::model::{Facts, Link, Method, Model, ModelError, Predictor};
use mercer::session::Session;
use serde_json::Value;

const MODELS: [&str; 6] =
    ["c_svc_rbf", "nu_svc_poly", "one_class_sigmoid", "epsilon_svr_linear", "nu_svr_rbf", "precomputed"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/libsvm")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.model"))).unwrap()
}

fn model(name: &str) -> Model {
    Model::load(&folder().join(format!("{name}.model"))).unwrap()
}

fn table(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn samples(rows: &[Vec<f64>]) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(rows.len(), rows[0].len(), rows.concat()).unwrap())
}

fn sparse(rows: &[Vec<f64>]) -> AnySamples<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(column as u32);
            values.push(*value);
        }
        indptr.push(indices.len());
    }
    AnySamples::F64(Samples::sparse(rows[0].len(), indptr, indices, values).unwrap())
}

#[test]
fn decisions_labels_and_probabilities_are_libsvms() {
    let answers: Value =
        serde_json::from_str(&fs::read_to_string(folder().join("answers.json")).unwrap()).unwrap();
    for name in MODELS {
        let rows = table(&answers[if name == "precomputed" { "kernel_rows" } else { "queries" }]);
        let model = model(name).widened(rows[0].len());
        let expected = &answers["models"][name];
        for queries in [samples(&rows), sparse(&rows)] {
            let outputs = model.predict(&queries, &Session::default()).unwrap();
            let decisions = table(&expected["decisions"]);
            let labels: Vec<f64> = serde_json::from_value(expected["labels"].clone()).unwrap();
            for (i, decisions) in decisions.iter().enumerate() {
                for (found, expected) in outputs.row(i).iter().zip(decisions) {
                    assert!((found - expected).abs() < 1e-9, "{name}, row {i}: {found} is not {expected}");
                }
                let label = match &model.classes {
                    Some(classes) => classes.name(model.link().class(outputs.row(i))).parse().unwrap(),
                    None => outputs.row(i)[0],
                };
                assert!((label - labels[i]).abs() < 1e-9, "{name}, row {i}: {label} is not {}", labels[i]);
            }
            if model.classes.is_none() {
                continue;
            }
            let Some(shares) = model.probabilities(&outputs) else { continue };
            for (i, expected) in table(&expected["probabilities"]).iter().enumerate() {
                let mut found = shares.row(i).to_vec();
                // LIBSVM puts inliers first.
                if model.method == Method::OneClass {
                    found.reverse();
                }
                found
                    .iter()
                    .zip(expected)
                    .for_each(|(p, e)| assert!((p - e).abs() < 1e-9, "{name}: {p} {e}"));
            }
        }
    }
    assert!(
        ["c_svc_rbf", "one_class_sigmoid", "epsilon_svr_linear"]
            .iter()
            .all(|n| model(n).calibration.is_some())
    );
}

#[test]
fn models_are_written_back_byte_for_byte() {
    for name in MODELS {
        let read = model(name);
        assert_eq!(read.to_libsvm().unwrap(), text(name), "{name}");
        let own = Model::from_bytes(&read.to_bytes().unwrap(), Path::new("m")).unwrap();
        assert_eq!(own, read, "{name}");
        assert_eq!(own.to_libsvm().unwrap(), text(name), "{name}");
    }
}

#[test]
fn every_cut_is_noticed() {
    for name in MODELS {
        let text = text(name);
        // The last line may lose its last features and still be one.
        let last_line = text.trim_end().rfind('\n').unwrap();
        for length in 0..text.len() {
            let outcome = Model::from_libsvm(&text.as_bytes()[..length], Path::new("m.model"));
            if length <= last_line {
                let error = outcome.unwrap_err();
                assert!(matches!(error, ModelError::Libsvm { line: 1.., .. }), "{error}");
                assert!(error.to_string().starts_with("m.model:"), "{error}");
            }
        }
    }
}

#[test]
fn errors_name_the_line() {
    let whole = text("c_svc_rbf");
    let refused = |from: &str, to: &str, line: usize, reason: &str| {
        assert!(whole.contains(from), "{from}");
        let error = Model::from_libsvm(whole.replacen(from, to, 1).as_bytes(), Path::new("m")).unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with(&format!("m:{line}: ")) && told.contains(reason), "{told}");
    };
    refused("c_svc", "d_svc", 1, "d_svc");
    refused("rbf", "matern", 2, "matern");
    refused("gamma 0.5", "gamma half", 3, "half");
    refused("gamma 0.5", "gamma -1", 2, "no kernel");
    refused("gamma 0.5", "gama 0.5", 3, "gama");
    refused("gamma 0.5\n", "", 10, "does not say `gamma`");
    refused("gamma 0.5\n", "gamma 0.5\ngamma 0.5\n", 4, "twice");
    refused("nr_class 3", "nr_class 0", 4, "nothing to decide");
    refused("nr_class 3", "nr_class 1", 6, "`rho` has 3 values");
    refused("nr_class 3", "nr_class -3", 4, "nr_class");
    refused("nr_class 3", "nr_class 4", 6, "6");
    refused("total_sv 44", "total_sv 45", 55, "45");
    refused("total_sv 44", "total_sv 43", 55, "43");
    refused("label -2 7 3", "label -2 7 7", 7, "twice");
    refused("label -2 7 3", "label -2 7.5 3", 7, "7.5");
    refused("nr_sv 11", "nr_sv 12", 10, "nr_sv");
    refused("SV\n2 ", "SV\ntwo ", 12, "two");
    refused(" 2:-0.466", " 2:-0.466x", 12, "-0.466x");
    refused(" 2:-0.466", " 0:-0.466", 12, "index 0");
    refused(" 2:-0.466 3", " 4:-0.466 3", 12, "not above");
    refused(" 2:-0.466", " 2:inf", 12, "inf");
    assert!(
        Model::from_libsvm(b"svm_type \xff", Path::new("m")).unwrap_err().to_string().contains("not text")
    );
}

/// The file that LIBSVM 3.37 writes, with `-b 1`, for rows of class 2 alone.
const ONE_CLASS: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 1\ntotal_sv 0\nrho\nlabel 2\nprobA\nprobB\nnr_sv 0\nSV\n";

#[test]
fn a_model_of_one_class_predicts_it() {
    let read = Model::from_libsvm(ONE_CLASS.as_bytes(), Path::new("m")).unwrap();
    assert_eq!(read.to_libsvm().unwrap(), ONE_CLASS);
    assert_eq!(Model::from_bytes(&read.to_bytes().unwrap(), Path::new("m")).unwrap(), read);
    let read = read.widened(2);
    let rows = samples(&[vec![1.0, 2.0], vec![0.0, -3.0]]);
    let outputs = read.predict(&rows, &Session::default()).unwrap();
    assert_eq!((outputs.nrows(), outputs.ncols()), (2, 0));
    assert!((0..2).all(|row| read.link().class(outputs.row(row)) == 0));
    assert_eq!(read.probabilities(&outputs).unwrap().entries(), [1.0, 1.0]);
}

#[test]
fn a_gaussian_with_gamma_0_is_1_everywhere() {
    let text = text("c_svc_rbf").replacen("gamma 0.5", "gamma 0", 1);
    let model = Model::from_libsvm(text.as_bytes(), Path::new("m")).unwrap();
    assert_eq!(model.to_libsvm().unwrap(), text);
    let Predictor::Pairs(pairs) = &model.predictor else { panic!("a machine for each pair") };
    let rows = samples(&[vec![0.0; pairs.centres.ncols()], vec![1e3; pairs.centres.ncols()]]);
    let outputs = model.predict(&rows, &Session::default()).unwrap();
    // The coefficients of a pair add up to 0, so its decision is −ρ.
    for row in 0..2 {
        outputs.row(row).iter().zip(&pairs.rho).for_each(|(f, rho)| assert!((f + rho).abs() < 1e-9));
    }
}

/// Two interleaved spirals, a few rows with every entry away from zero.
fn spirals(classes: usize) -> (AnySamples<'static>, Vec<usize>) {
    let codes: Vec<usize> = (0..45).map(|i| i % classes).collect();
    let row = |(i, &code): (usize, &usize)| {
        let (a, r) = (i as f64 * 0.3 + code as f64 * 2.1, 1.0 + 0.1 * i as f64);
        vec![1.0 + 0.2 * r * a.cos(), 0.6 * r * a.sin() - 4.0]
    };
    (samples(&codes.iter().enumerate().map(row).collect::<Vec<_>>()), codes)
}

fn machines(svm: &Svm, samples: &AnySamples<'_>, codes: &[usize], classes: usize) -> Machines {
    let problem = Problem::new(samples.view(), Targets::codes(codes, classes));
    svm.machines(&problem, &Session::default()).unwrap()
}

fn fitted(kernel: &str, scale: ScaleMethod, classes: usize) -> (AnySamples<'static>, Model) {
    let (raw, codes) = spirals(classes);
    let (scaling, _) = Scaling::of(scale, &raw).unwrap();
    let scaled = scaling.apply(raw.view()).unwrap();
    let svm = Svm::new(kernel.parse::<Kernel>().unwrap(), Machine::Svc { c: 2.0 });
    let found = machines(&svm, &scaled, &codes, classes);
    let model = Model {
        method: Method::Svc,
        settings: Facts::new(),
        predictor: found.predictor(&scaled),
        schema: None,
        outputs: vec!["label".into()],
        classes: Some(Classes::Numbers((0..classes).map(|c| c as f64).collect())),
        label_type: None,
        calibration: None,
        scaling,
        report: Facts::new(),
    };
    (raw, model)
}

fn largest_difference(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_scaling_is_folded_into_the_support_vectors_if_that_is_exact() {
    let same_width = Scaling::Standard { means: vec![1.0, -4.0], scales: vec![1.5, 1.5] };
    let unshifted = Scaling::Standard { means: vec![0.0, 0.0], scales: vec![0.5, 2.0] };
    let mut cases =
        vec![fitted("linear", ScaleMethod::Standard, 3), fitted("linear", ScaleMethod::MinMax, 2)];
    for (kernel, scaling) in [
        ("rbf(gamma=0.3)", same_width),
        ("poly(degree=2, gamma=0.1)", unshifted.clone()),
        ("sigmoid(gamma=0.01)", unshifted),
    ] {
        let (raw, codes) = spirals(3);
        let scaled = scaling.apply(raw.view()).unwrap();
        let svm = Svm::new(kernel.parse::<Kernel>().unwrap(), Machine::Svc { c: 2.0 })
            .kernel_check(KernelCheck::Assume);
        let found = machines(&svm, &scaled, &codes, 3);
        let (_, base) = fitted("linear", ScaleMethod::None, 3);
        cases.push((raw, Model { predictor: found.predictor(&scaled), scaling, ..base }));
    }
    for (raw, model) in cases {
        let text = model.to_libsvm().unwrap();
        let read = Model::from_libsvm(text.as_bytes(), Path::new("m")).unwrap().widened(2);
        assert_eq!(read.scaling, Scaling::None);
        let [own, theirs] = [&model, &read].map(|model| model.predict(&raw, &Session::default()).unwrap());
        let kernel = model.predictor.kernel().unwrap();
        assert!(largest_difference(&own, &theirs) < 1e-9, "{kernel}: {}", largest_difference(&own, &theirs));
    }
}

#[test]
fn models_that_libsvm_cannot_express_are_refused() {
    let refused = |model: &Model, reason: &str| {
        let error = model.to_libsvm().unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    };
    refused(&fitted("rbf(sigma=1)", ScaleMethod::Standard, 2).1, "--scale none");
    refused(&fitted("poly(degree=2)", ScaleMethod::Standard, 2).1, "--scale none");
    refused(&fitted("rbf(sigma=[1,2])", ScaleMethod::None, 2).1, "widths");
    refused(&fitted("laplacian(gamma=1)", ScaleMethod::None, 2).1, "laplacian");
    refused(&fitted("poly(degree=2.5, gamma=1e-4, c=3)", ScaleMethod::None, 2).1, "2.5");
    let (_, plain) = fitted("linear", ScaleMethod::None, 2);
    let texts = Classes::Labels(vec!["no".into(), "yes".into()]);
    refused(&Model { classes: Some(texts), ..plain.clone() }, "`no`");
    refused(&Model { method: Method::Ridge, ..plain.clone() }, "ridge");
    let (raw, codes) = spirals(3);
    let svm = Svm::new(Kernel::linear(), Machine::Svc { c: 1.0 }).multiclass(Multiclass::OneVsRest);
    let rest = machines(&svm, &raw, &codes, 3).predictor(&raw);
    refused(&Model { predictor: rest, ..fitted("linear", ScaleMethod::None, 3).1 }, "pairs");
}

/// Other ways to write a kernel that LIBSVM has are recognised.
#[test]
fn formulas_are_recognised() {
    for (formula, line) in
        [("<x,z>", "linear"), ("exp(-0.25*|x-z|^2)", "rbf"), ("(0.1*<x,z> + 1)^2", "polynomial")]
    {
        let text = fitted(formula, ScaleMethod::None, 2).1.to_libsvm().unwrap();
        assert!(text.contains(&format!("kernel_type {line}\n")), "{formula}: {text}");
    }
}

/// One class against the rest of two is LIBSVM's pair with the labels exchanged.
#[test]
fn two_classes_against_each_other_can_be_written() {
    let (raw, codes) = spirals(2);
    let svm = Svm::new("rbf(gamma=0.05)".parse::<Kernel>().unwrap(), Machine::Svc { c: 1.0 });
    let rest = machines(&svm.multiclass(Multiclass::OneVsRest), &raw, &codes, 2);
    let (_, base) = fitted("linear", ScaleMethod::None, 2);
    let model = Model { predictor: rest.predictor(&raw), ..base };
    let read = Model::from_libsvm(model.to_libsvm().unwrap().as_bytes(), Path::new("m")).unwrap();
    let [own, theirs] = [&model, &read].map(|model| model.predict(&raw, &Session::default()).unwrap());
    assert!(largest_difference(&own, &theirs) < 1e-12);
    let Some(Classes::Numbers(labels)) = &read.classes else { panic!("labels") };
    for i in 0..raw.nrows() {
        assert_eq!(labels[Link::Votes.class(theirs.row(i))], Link::Decisions.class(own.row(i)) as f64);
    }
}

/// A regression without support vectors is a constant, and still a model.
#[test]
fn no_support_vectors() {
    let (raw, _) = spirals(2);
    let targets = vec![4.0; raw.nrows()];
    let svm = Svm::new("rbf(gamma=0.05)".parse::<Kernel>().unwrap(), Machine::Svr { c: 1.0, epsilon: 0.5 });
    let found = svm.machines(&Problem::new(raw.view(), &targets), &Session::default()).unwrap();
    assert!(found.support.is_empty());
    let (_, base) = fitted("linear", ScaleMethod::None, 2);
    let predictor = found.predictor(&raw);
    let model = Model { method: Method::Svr, classes: None, predictor, ..base };
    let read = Model::from_libsvm(model.to_libsvm().unwrap().as_bytes(), Path::new("m")).unwrap().widened(2);
    let outputs = read.predict(&raw, &Session::default()).unwrap();
    assert!(outputs.entries().iter().all(|f| (f - 4.0).abs() <= 0.5));
}
