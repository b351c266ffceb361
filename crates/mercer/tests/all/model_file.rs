//! The model file: written models are read back unchanged, and nothing else is accepted.

use std::path::Path;
use std::sync::OnceLock;

use crate::oracle;
use mercer::data::{AnySamples, Classes, Matrix, Samples, ScaleMethod, Scaling, TargetValues};
use mercer::design::{Approximation, FeatureMap, Features, Form, Fourier, RandomFeatures, Sampling};
use mercer::gram::Metric;
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, Learner, Perceptron, Ridge, Targets};
use mercer::model::{Facts, Linear, Method, Model, ModelError, Neighbours, Predictor, Rule, Weights};
use proptest::prelude::*;

fn model(samples: AnySamples<'static>, bias: Intercept) -> Model {
    let n = samples.nrows();
    let y = Matrix::from_entries(n, 2, (0..2 * n).map(|k| (k as f64).cos()).collect());
    let (scaling, _) = Scaling::of(ScaleMethod::Standard, &samples).unwrap();
    let scaled = scaling.apply(samples).unwrap();
    let kernel: Kernel = "0.5*rbf(sigma=0.3) + matern(nu=2.5, length=2)".parse().unwrap();
    let (expansion, report) =
        oracle::expansion(Ridge::new(kernel).lambda(0.1).intercept(bias).fit(scaled, &y).unwrap());
    Model {
        method: Method::Ridge,
        settings: Facts::new().with("lambda", [0.1]),
        predictor: expansion.into(),
        schema: None,
        outputs: vec!["u".into(), "v".into()],
        classes: None,
        label_type: None,
        calibration: None,
        scaling,
        report: Facts::new().with("residual", report.residual),
    }
}

fn linear() -> Model {
    let y = Matrix::from_entries(7, 2, (0..14).map(|k| (k as f64).cos()).collect());
    let map: FeatureMap = "x, x0^2, log(abs(x1)+1)".parse().unwrap();
    let fitted =
        Ridge::on(map).lambda(0.1).intercept(Intercept::Column).fit(AnySamples::F64(dense()), &y).unwrap();
    Model { predictor: fitted.model.predictor, ..model(AnySamples::F64(dense()), Intercept::None) }
}

/// On random features, as pairs or shifted cosines.
fn random(form: Form) -> Model {
    let y = Matrix::from_entries(7, 2, (0..14).map(|k| (k as f64).cos()).collect());
    let kernel: Kernel = "matern(nu=1.5, length=2)".parse().unwrap();
    let approximation = Approximation::Fourier { features: 6, sampling: Sampling::Orthogonal, form };
    let fitted = Ridge::on((kernel, approximation)).lambda(0.1).fit(AnySamples::F64(dense()), &y).unwrap();
    Model { predictor: fitted.model.predictor, ..model(AnySamples::F64(dense()), Intercept::None) }
}

fn neighbours(rule: Rule) -> Model {
    let labels = TargetValues::Labels(["b", "a", "b", "a", "c", "a", "b"].map(String::from).to_vec());
    let (classes, codes) = Classes::of(&labels);
    let rows = AnySamples::F32(dense());
    let predictor = Neighbours { rows, targets: classes.one_hot(&codes), rule }.into();
    let outputs = vec!["kind".into()];
    Model { predictor, outputs, classes: Some(classes), ..model(AnySamples::F32(dense()), Intercept::None) }
}

fn voted(classes: usize) -> Model {
    let names = TargetValues::Numbers((0..7).map(|i| (i % classes) as f64).collect());
    let (classes, codes) = Classes::of(&names);
    let samples = AnySamples::F64(dense());
    let perceptron = Perceptron::new("rbf(sigma=0.5)".parse::<Kernel>().unwrap()).vote(true);
    let fitted = perceptron.fit(&samples, Targets::codes(codes, classes.len())).unwrap();
    let (predictor, outputs) = (fitted.model.predictor, vec!["kind".into()]);
    let common = model(AnySamples::F64(dense()), Intercept::None);
    Model { method: Method::Perceptron, predictor, outputs, classes: Some(classes), ..common }
}

fn dense<T: mercer::real::Real>() -> Samples<'static, T> {
    Samples::dense(7, 3, (0..21).map(|k| T::from_f64((k as f64 * 0.7).sin())).collect::<Vec<_>>()).unwrap()
}

fn sparse<T: mercer::real::Real>() -> Samples<'static, T> {
    let values = [1.0, 0.5, -2.0, 3.0, 0.1].map(T::from_f64).to_vec();
    Samples::sparse(9, vec![0, 2, 2, 3, 5], vec![0u32, 8, 4, 1, 2], values).unwrap()
}

fn every_model() -> Vec<Model> {
    vec![
        model(AnySamples::F64(dense()), Intercept::Centred),
        model(AnySamples::F32(dense()), Intercept::Column),
        model(AnySamples::F64(sparse()), Intercept::Centred),
        model(AnySamples::F32(sparse()), Intercept::None),
        linear(),
        random(Form::Pairs),
        random(Form::Shifted),
        neighbours(Rule::Nearest { k: 3, weights: Weights::Distance, metric: Metric::Manhattan }),
        voted(2),
        voted(3),
        neighbours(Rule::Smoother { kernel: "rbf(sigma=0.5)".parse().unwrap() }),
    ]
}

#[test]
fn a_saved_model_is_loaded_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for (i, model) in every_model().into_iter().enumerate() {
        let path = folder.path().join(format!("{i}.mercer"));
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), model);
        assert_eq!(
            model.to_bytes().unwrap(),
            std::fs::read(&path).unwrap(),
            "the same model, the same bytes"
        );
    }
}

#[test]
fn labels_come_back_as_they_were() {
    let numbers = |values: &[f64]| TargetValues::Numbers((0..7).map(|i| values[i % values.len()]).collect());
    let texts =
        |texts: &[&str]| TargetValues::Labels((0..7).map(|i| texts[i % texts.len()].to_owned()).collect());
    for (values, label_type) in [
        (numbers(&[0.0, 1.0]), Some("float32")),
        (numbers(&[0.1, -3e300]), None),
        (texts(&["9007199254740992", "9007199254740993"]), Some("int64")),
        (texts(&["True", "False"]), Some("bool")),
        (texts(&["a", "ä\u{0}\"", "c"]), Some("<U3")),
    ] {
        let (classes, codes) = Classes::of(&values);
        let rows = AnySamples::F64(dense());
        let rule = Rule::Nearest { k: 1, weights: Weights::Uniform, metric: Metric::Euclidean };
        let predictor = Neighbours { rows, targets: classes.one_hot(&codes), rule }.into();
        let common = neighbours(Rule::Smoother { kernel: "linear".parse().unwrap() });
        let label_type = label_type.map(str::to_owned);
        let model = Model { predictor, classes: Some(classes), label_type, ..common };
        let loaded = Model::from_bytes(&model.to_bytes().unwrap(), Path::new("m")).unwrap();
        assert_eq!(loaded, model);
        assert_eq!(loaded.classes.unwrap().len(), if codes.contains(&2) { 3 } else { 2 });
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = every_model()[0].to_bytes().unwrap();
    for place in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        assert!(Model::from_bytes(&flipped, Path::new("m")).is_err(), "byte {place} of {}", bytes.len());
    }
}

#[test]
fn every_cut_is_noticed() {
    for model in [&every_model()[1], &random(Form::Shifted)] {
        let bytes = model.to_bytes().unwrap();
        for length in 0..bytes.len() {
            let error = Model::from_bytes(&bytes[..length], Path::new("m.mercer")).unwrap_err();
            assert!(matches!(error, ModelError::Malformed { .. }), "{error}");
            assert!(error.to_string().starts_with("m.mercer: "));
        }
    }
}

/// Parts that do not fit each other are refused with a reason, not found out by a panic at the first prediction.
#[test]
fn parts_that_do_not_fit_are_refused() {
    let refused = |model: Model, reason: &str| {
        let error = Model::from_bytes(&model.to_bytes().unwrap(), Path::new("m")).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    };
    let with = |base: Model, predictor: Predictor| Model { predictor, ..base };
    let Predictor::Linear(line) = linear().predictor else { panic!("a linear model") };
    refused(with(linear(), Linear { columns: 2, ..line.clone() }.into()), "shift");
    refused(with(linear(), Linear { map: "x9".parse().unwrap(), ..line.clone() }.into()), "column 9");
    refused(with(linear(), Linear { weights: Matrix::zeros(2, 2), ..line }.into()), "weights are not");
    let Predictor::Linear(waves) = random(Form::Pairs).predictor else { panic!("a linear model") };
    let base = || random(Form::Pairs);
    let Features::Fourier(fourier) = waves.map.clone() else { panic!("random features") };
    let fourier = *fourier;
    refused(with(base(), Linear { shift: Some(vec![0.0; 3]), ..waves.clone() }.into()), "shifts");
    refused(with(base(), Linear { weights: Matrix::zeros(2, 2), ..waves.clone() }.into()), "weights are not");
    let other = |fourier: Fourier| Linear { map: fourier.into(), ..waves.clone() };
    let mut spec = fourier.spec.clone();
    spec.features = 8;
    refused(with(base(), other(Fourier { spec, ..fourier.clone() }).into()), "6 random features but names 8");
    let features = RandomFeatures::from_matrices(Matrix::zeros(3, 2), None, vec![1.0; 3]).unwrap();
    refused(with(base(), other(Fourier { features, ..fourier.clone() }).into()), "of 2 columns, not of 3");
    let mut spec = fourier.spec.clone();
    spec.kernel = "rbf(sigma=auto)".parse().unwrap();
    refused(with(base(), other(Fourier { spec, ..fourier }).into()), "auto");
    let nearest = |k| neighbours(Rule::Nearest { k, weights: Weights::Uniform, metric: Metric::Euclidean });
    refused(nearest(8), "8 nearest of 7");
    refused(nearest(0), "0 nearest of 7");
    refused(neighbours(Rule::Smoother { kernel: "rbf(sigma=auto)".parse().unwrap() }), "auto");
    refused(neighbours(Rule::Smoother { kernel: "rbf(sigma=1)[5]".parse().unwrap() }), "column");
    refused(Model { classes: None, ..nearest(3) }, "outputs");
    refused(Model { classes: nearest(3).classes, ..linear() }, "classes");
}

/// A header that lies about sizes must not be believed before it is checked.
#[test]
fn a_header_of_a_terabyte_is_refused() {
    let mut bytes = (1u64 << 40).to_le_bytes().to_vec();
    bytes.extend_from_slice(b"{}");
    assert!(Model::from_bytes(&bytes, Path::new("m")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_model(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Model::from_bytes(&bytes, Path::new("m")).is_err());
    }

    #[test]
    fn damaged_models_are_no_model(at in any::<prop::sample::Index>(), patch in prop::collection::vec(any::<u8>(), 1..40)) {
        static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
        let mut bytes = WHOLE.get_or_init(|| every_model()[2].to_bytes().unwrap()).clone();
        let start = at.index(bytes.len());
        let end = (start + patch.len()).min(bytes.len());
        let before = bytes[start..end].to_vec();
        bytes[start..end].copy_from_slice(&patch[..end - start]);
        prop_assume!(bytes[start..end] != before[..]);
        prop_assert!(Model::from_bytes(&bytes, Path::new("m")).is_err());
    }
}
