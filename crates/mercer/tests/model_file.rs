//! The model file: what is written is what is read, and nothing else is accepted.

use std::collections::BTreeMap;
use std::path::Path;

use mercer::data::{AnySamples, Matrix, Samples, ScaleMethod, Scaling};
use mercer::learn::{Bias, Ridge};
use mercer::model::{Method, Model, ModelError};
use mercer::watch::Unwatched;
use proptest::prelude::*;
use serde_json::json;

fn model(samples: AnySamples<'static>, bias: Bias) -> Model {
    let n = samples.nrows();
    let y = Matrix::from_entries(n, 2, (0..2 * n).map(|k| (k as f64).cos()).collect());
    let (scaling, _) = Scaling::fit(ScaleMethod::Standard, &samples).unwrap();
    let scaled = scaling.apply(samples).unwrap();
    let ridge =
        Ridge { bias, ..Ridge::new("0.5*rbf(sigma=0.3) + matern(nu=2.5, length=2)".parse().unwrap(), 0.1) };
    let (expansion, report) = ridge.fit(&scaled, &y, None, &Unwatched).unwrap();
    Model {
        method: Method::Ridge,
        settings: BTreeMap::from([("lambda".to_owned(), json!([0.1]))]),
        expansion,
        schema: None,
        outputs: vec!["u".into(), "v".into()],
        scaling,
        report: BTreeMap::from([("residual".to_owned(), json!(report.residual))]),
    }
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
        model(AnySamples::F64(dense()), Bias::Centred),
        model(AnySamples::F32(dense()), Bias::Column),
        model(AnySamples::F64(sparse()), Bias::Centred),
        model(AnySamples::F32(sparse()), Bias::None),
    ]
}

#[test]
fn what_is_saved_is_what_is_loaded() {
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
    let bytes = every_model()[1].to_bytes().unwrap();
    for length in 0..bytes.len() {
        let error = Model::from_bytes(&bytes[..length], Path::new("m.mercer")).unwrap_err();
        assert!(matches!(error, ModelError::Malformed { .. }), "{error}");
        assert!(error.to_string().starts_with("m.mercer: "));
    }
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
        let mut bytes = every_model()[2].to_bytes().unwrap();
        let start = at.index(bytes.len());
        let end = (start + patch.len()).min(bytes.len());
        let before = bytes[start..end].to_vec();
        bytes[start..end].copy_from_slice(&patch[..end - start]);
        prop_assume!(bytes[start..end] != before[..]);
        prop_assert!(Model::from_bytes(&bytes, Path::new("m")).is_err());
    }
}
