//! A predictor as words and named arrays, which model files and the Python package store.

use std::borrow::Cow;

use crate::data::{AnySamples, Matrix};
use crate::design::{Features, Fourier, RandomFeatures};

use super::header::Words;
use super::{
    Expansion, GaussianClasses, GaussianProcess, Linear, ModelError, Neighbours, Pairs, Predictor, Voted,
    VotedStep,
};

/// The kinds of predictor, as `requires` names them.
pub(super) const KINDS: [&str; 8] = [
    "expansion",
    "linear",
    "neighbours",
    "pairs",
    "voted",
    "random-features",
    "gaussian-process",
    "gaussian-classes",
];

/// A predictor as its kind, the words that describe it, and its arrays by name.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The kind, as `requires` of a model file names it.
    pub kind: &'static str,
    /// The entries of a model file's document.
    pub words: Words,
    /// The arrays.
    pub arrays: Vec<(&'static str, Array<'a>)>,
}

/// An array of a predictor.
#[derive(Debug)]
pub enum Array<'a> {
    /// Rows, dense or sparse.
    Samples(AnySamples<'a>),
    /// A matrix.
    Matrix(Cow<'a, Matrix<f64>>),
    /// A list of numbers.
    Numbers(Cow<'a, [f64]>),
    /// A list of counts.
    Counts(Cow<'a, [usize]>),
}

/// The arrays from which a predictor is read. Errors say what is wrong with an array.
pub trait Arrays {
    /// Whether there is an array of this name.
    fn has(&self, name: &str) -> bool;

    /// Rows, dense or sparse.
    ///
    /// # Errors
    /// If there are none of this name.
    fn samples(&self, name: &str) -> Result<AnySamples<'static>, String>;

    /// A matrix.
    ///
    /// # Errors
    /// If there is none of this name.
    fn matrix(&self, name: &str) -> Result<Matrix<f64>, String>;

    /// A list of numbers.
    ///
    /// # Errors
    /// If there is none of this name.
    fn numbers(&self, name: &str) -> Result<Vec<f64>, String>;

    /// A list of counts.
    ///
    /// # Errors
    /// If there is none of this name.
    fn counts(&self, name: &str) -> Result<Vec<usize>, String>;
}

macro_rules! array {
    ($owned:ty, $variant:ident) => {
        impl From<$owned> for Array<'_> {
            fn from(values: $owned) -> Self {
                Self::$variant(Cow::Owned(values))
            }
        }

        impl<'a> From<&'a $owned> for Array<'a> {
            fn from(values: &'a $owned) -> Self {
                Self::$variant(Cow::Borrowed(values))
            }
        }
    };
}

array!(Matrix<f64>, Matrix);
array!(Vec<f64>, Numbers);
array!(Vec<usize>, Counts);

impl From<AnySamples<'static>> for Array<'_> {
    fn from(samples: AnySamples<'static>) -> Self {
        Self::Samples(samples)
    }
}

impl<'a> From<&'a AnySamples<'static>> for Array<'a> {
    fn from(samples: &'a AnySamples<'static>) -> Self {
        Self::Samples(samples.view())
    }
}

/// The parts of a predictor: arrays are borrowed from a reference and taken from a value.
macro_rules! parts_of {
    ($predictor:expr) => {
        match $predictor {
            Predictor::Expansion(expansion) => parts_of!("expansion", expansion),
            Predictor::GaussianClasses(GaussianClasses { latent }) => parts_of!("gaussian-classes", latent),
            Predictor::GaussianProcess(process) => {
                let GaussianProcess { mean, scales, noise, factor, posterior_factor, projection } = process;
                let mut parts = parts_of!("gaussian-process", mean);
                parts.arrays.extend([("scales", scales.into()), ("noise", vec![noise.to_owned()].into())]);
                parts.arrays.extend(factor.into_iter().map(|factor| ("factor", factor.into())));
                let posterior = posterior_factor.into_iter();
                parts.arrays.extend(posterior.map(|factor| ("posterior_factor", factor.into())));
                parts.arrays.extend(projection.into_iter().map(|matrix| ("projection", matrix.into())));
                parts
            }
            Predictor::Linear(Linear { map, columns, shift, weights, intercepts }) => {
                let mut words = Words { feature_columns: Some(columns.to_owned()), ..Words::default() };
                let mut arrays: Vec<(&'static str, Array<'_>)> = Vec::new();
                let kind = match &map {
                    Features::Map(map) => {
                        words.features = Some(map.clone());
                        "linear"
                    }
                    Features::Fourier(fourier) => {
                        let Fourier { spec, features } = &**fourier;
                        words.random = Some(spec.clone());
                        arrays.push(("frequencies", features.frequencies().clone().into()));
                        arrays.push(("amplitudes", features.amplitudes().to_vec().into()));
                        arrays.extend(features.shifts().map(|shifts| ("phases", shifts.to_vec().into())));
                        "random-features"
                    }
                    // A linear function of these features is an expansion.
                    Features::Landmarks(_) => {
                        let (weights, intercepts) = (weights.to_owned(), intercepts.to_owned());
                        return Predictor::on_features(
                            map.to_owned(),
                            columns.to_owned(),
                            weights,
                            intercepts,
                            None,
                        )
                        .into_parts();
                    }
                };
                arrays.extend([("weights", weights.into()), ("intercepts", intercepts.into())]);
                arrays.extend(shift.into_iter().map(|shift| ("shift", shift.into())));
                Parts { kind, words, arrays }
            }
            Predictor::Neighbours(Neighbours { rows, targets, rule }) => Parts {
                kind: "neighbours",
                words: Words { rule: Some(rule.clone()), ..Words::default() },
                arrays: vec![("centres", rows.into()), ("targets", targets.into())],
            },
            Predictor::Voted(Voted { kernel, domain, centres, classes, steps }) => Parts {
                kind: "voted",
                words: Words {
                    voted_classes: Some(classes.to_owned()),
                    ..Words::of_kernel(&kernel, domain.to_owned())
                },
                arrays: vec![("centres", centres.into()), ("steps", VotedStep::to_matrix(&steps).into())],
            },
            Predictor::Pairs(Pairs { kernel, domain, centres, per_class, coefficients, rho }) => Parts {
                kind: "pairs",
                words: Words::of_kernel(&kernel, domain.to_owned()),
                arrays: vec![
                    ("centres", centres.into()),
                    ("coefficients", coefficients.into()),
                    ("per_class", per_class.into()),
                    ("rho", rho.into()),
                ],
            },
        }
    };
    ($kind:literal, $expansion:expr) => {{
        let Expansion { kernel, domain, centres, shift, coefficients, intercepts } = $expansion;
        let mut arrays = vec![
            ("centres", centres.into()),
            ("coefficients", coefficients.into()),
            ("intercepts", intercepts.into()),
        ];
        arrays.extend(shift.into_iter().map(|shift| ("shift", shift.into())));
        Parts { kind: $kind, words: Words::of_kernel(&kernel, domain.to_owned()), arrays }
    }};
}

impl Predictor {
    /// The words and arrays, borrowed.
    #[must_use]
    pub fn parts(&self) -> Parts<'_> {
        parts_of!(self)
    }

    /// The words and arrays, without copies of the large ones.
    #[must_use]
    pub fn into_parts(self) -> Parts<'static> {
        parts_of!(self)
    }

    /// The predictor of one of the `kinds` that the words and arrays describe.
    ///
    /// # Errors
    /// If no kind of predictor is among `kinds`, if a word or an array is missing, or if they are inconsistent.
    pub fn from_parts(kinds: &[String], words: &Words, arrays: &impl Arrays) -> Result<Self, String> {
        let optional = |name: &str| arrays.has(name).then(|| arrays.numbers(name)).transpose();
        let kind = KINDS.into_iter().find(|kind| kinds.iter().any(|feature| feature == kind));
        let predictor: Self = match kind {
            Some("expansion") => expansion(words, arrays)?.into(),
            Some("gaussian-classes") => GaussianClasses { latent: expansion(words, arrays)? }.into(),
            Some("gaussian-process") => GaussianProcess {
                mean: expansion(words, arrays)?,
                scales: arrays.numbers("scales")?,
                noise: match arrays.numbers("noise")?[..] {
                    [noise] => noise,
                    _ => return Err("its noise is not one number".into()),
                },
                factor: optional("factor")?,
                posterior_factor: optional("posterior_factor")?,
                projection: arrays.has("projection").then(|| arrays.matrix("projection")).transpose()?,
            }
            .into(),
            Some(kind @ ("linear" | "random-features")) => Linear {
                map: match kind {
                    "linear" => words.features.clone().ok_or("it names no features")?.into(),
                    _ => random(words, optional("phases")?, arrays)?.into(),
                },
                columns: words.feature_columns.ok_or("it does not say how many columns it takes")?,
                shift: optional("shift")?,
                weights: arrays.matrix("weights")?,
                intercepts: arrays.numbers("intercepts")?,
            }
            .into(),
            Some("neighbours") => Neighbours {
                rows: arrays.samples("centres")?,
                targets: arrays.matrix("targets")?,
                rule: words.rule.clone().ok_or("it names no rule")?,
            }
            .into(),
            Some("voted") => Voted {
                kernel: words.kernel()?,
                domain: words.domain()?,
                centres: arrays.samples("centres")?,
                classes: words.voted_classes.ok_or("it does not say how many classes vote")?,
                steps: VotedStep::from_matrix(&arrays.matrix("steps")?).map_err(reason)?,
            }
            .into(),
            Some("pairs") => Pairs {
                kernel: words.kernel()?,
                domain: words.domain()?,
                centres: arrays.samples("centres")?,
                per_class: arrays.counts("per_class")?,
                coefficients: arrays.matrix("coefficients")?,
                rho: arrays.numbers("rho")?,
            }
            .into(),
            _ => return Err(format!("it requires none of {}", KINDS.join(", "))),
        };
        predictor.checked().map_err(reason)
    }
}

fn expansion(words: &Words, arrays: &impl Arrays) -> Result<Expansion, String> {
    Ok(Expansion {
        kernel: words.kernel()?,
        domain: words.domain()?,
        centres: arrays.samples("centres")?,
        shift: arrays.has("shift").then(|| arrays.numbers("shift")).transpose()?,
        coefficients: arrays.matrix("coefficients")?,
        intercepts: arrays.numbers("intercepts")?,
    })
}

/// Random features as they were drawn.
fn random(words: &Words, phases: Option<Vec<f64>>, arrays: &impl Arrays) -> Result<Fourier, String> {
    let spec = words.random.clone().ok_or("it does not say what its features were drawn from")?;
    let (frequencies, amplitudes) = (arrays.matrix("frequencies")?, arrays.numbers("amplitudes")?);
    let features = RandomFeatures::from_matrices(frequencies, phases, amplitudes);
    Ok(Fourier { spec, features: features.map_err(|error| error.to_string())? })
}

fn reason(error: ModelError) -> String {
    match error {
        ModelError::Inconsistent { reason } => reason,
        error => error.to_string(),
    }
}
