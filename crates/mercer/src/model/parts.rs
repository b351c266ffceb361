//! Converts a predictor to header entries and arrays for the file, and back.

use safetensors::SafeTensors;

use crate::data::Matrix;
use crate::design::{Features, Fourier, RandomFeatures};

use super::header::Words;
use super::tensors::{self, Tensor};
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

/// The predictor's kind, its header entries and its arrays.
pub(super) fn arrays_of(predictor: &Predictor) -> (&'static str, Words, Vec<Tensor>) {
    match predictor {
        Predictor::Expansion(Expansion { kernel, domain, centres, shift, coefficients, intercepts }) => {
            let words = Words::of_kernel(kernel, *domain);
            let mut arrays = Tensor::samples(centres);
            arrays.extend([matrix("coefficients", coefficients), vector("intercepts", intercepts)]);
            arrays.extend(shift.as_ref().map(|shift| vector("shift", shift)));
            ("expansion", words, arrays)
        }
        Predictor::Linear(linear) => arrays_of_linear(linear),
        Predictor::Neighbours(Neighbours { rows, targets, rule }) => {
            let words = Words { rule: Some(rule.clone()), ..Words::default() };
            let mut arrays = Tensor::samples(rows);
            arrays.push(matrix("targets", targets));
            ("neighbours", words, arrays)
        }
        Predictor::Voted(Voted { kernel, domain, centres, classes, steps }) => {
            let words = Words { voted_classes: Some(*classes), ..Words::of_kernel(kernel, *domain) };
            let mut arrays = Tensor::samples(centres);
            arrays.push(matrix("steps", &VotedStep::to_matrix(steps)));
            ("voted", words, arrays)
        }
        Predictor::Pairs(Pairs { kernel, domain, centres, per_class, coefficients, rho }) => {
            let words = Words::of_kernel(kernel, *domain);
            let counts: Vec<u64> = per_class.iter().map(|&count| count as u64).collect();
            let mut arrays = Tensor::samples(centres);
            arrays.extend([
                matrix("coefficients", coefficients),
                Tensor::numbers("per_class", &[counts.len()], &counts),
                vector("rho", rho),
            ]);
            ("pairs", words, arrays)
        }
        Predictor::GaussianProcess(process) => {
            let (_, words, mut arrays) = arrays_of(&Predictor::Expansion(process.mean.clone()));
            arrays.extend([vector("scales", &process.scales), vector("noise", &[process.noise])]);
            arrays.extend(process.factor.as_ref().map(|factor| vector("factor", factor)));
            arrays.extend(process.posterior_factor.as_ref().map(|factor| vector("posterior_factor", factor)));
            arrays.extend(process.projection.as_ref().map(|projection| matrix("projection", projection)));
            ("gaussian-process", words, arrays)
        }
        Predictor::GaussianClasses(classes) => {
            let (_, words, arrays) = arrays_of(&Predictor::Expansion(classes.latent.clone()));
            ("gaussian-classes", words, arrays)
        }
    }
}

fn arrays_of_linear(linear: &Linear) -> (&'static str, Words, Vec<Tensor>) {
    let Linear { map, columns, shift, weights, intercepts } = linear;
    let mut words = Words { feature_columns: Some(*columns), ..Words::default() };
    let mut arrays = vec![matrix("weights", weights), vector("intercepts", intercepts)];
    arrays.extend(shift.as_ref().map(|shift| vector("shift", shift)));
    match map {
        Features::Map(map) => {
            words.features = Some(map.clone());
            ("linear", words, arrays)
        }
        Features::Fourier(fourier) => {
            let Fourier { spec, features } = &**fourier;
            words.random = Some(spec.clone());
            arrays.push(matrix("frequencies", features.frequencies()));
            arrays.push(vector("amplitudes", features.amplitudes()));
            arrays.extend(features.shifts().map(|shifts| vector("phases", shifts)));
            ("random-features", words, arrays)
        }
        // A linear function of these features is an expansion.
        Features::Landmarks(_) => {
            let (map, weights) = (map.clone(), weights.clone());
            arrays_of(&Predictor::on_features(map, *columns, weights, intercepts.clone(), None))
        }
    }
}

/// The predictor that the entries and arrays describe.
pub(super) fn from_arrays(
    requires: &[String],
    words: &Words,
    file: &SafeTensors<'_>,
) -> Result<Predictor, String> {
    let kind = KINDS.into_iter().find(|kind| requires.iter().any(|feature| feature == kind));
    let predictor = match kind {
        Some("expansion") => Predictor::Expansion(expansion(words, file)?),
        Some("gaussian-classes") => {
            Predictor::GaussianClasses(GaussianClasses { latent: expansion(words, file)? })
        }
        Some("gaussian-process") => Predictor::GaussianProcess(gaussian_process(words, file)?),
        Some(kind @ ("linear" | "random-features")) => Predictor::Linear(Linear {
            map: match kind {
                "linear" => words.features.clone().ok_or("it names no features")?.into(),
                _ => random(words, file)?.into(),
            },
            columns: words.feature_columns.ok_or("it does not say how many columns it takes")?,
            shift: optional(file, "shift")?,
            weights: tensors::matrix(file, "weights")?,
            intercepts: tensors::numbers::<f64>(file, "intercepts")?.1,
        }),
        Some("neighbours") => Predictor::Neighbours(Neighbours {
            rows: tensors::samples(file)?,
            targets: tensors::matrix(file, "targets")?,
            rule: words.rule.clone().ok_or("it names no rule")?,
        }),
        Some("voted") => Predictor::Voted(Voted {
            kernel: words.kernel()?,
            domain: words.domain()?,
            centres: tensors::samples(file)?,
            classes: words.voted_classes.ok_or("it does not say how many classes vote")?,
            steps: VotedStep::from_matrix(&tensors::matrix(file, "steps")?).map_err(reason)?,
        }),
        Some("pairs") => Predictor::Pairs(Pairs {
            kernel: words.kernel()?,
            domain: words.domain()?,
            centres: tensors::samples(file)?,
            per_class: tensors::numbers::<u64>(file, "per_class")?
                .1
                .into_iter()
                .map(usize::try_from)
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?,
            coefficients: tensors::matrix(file, "coefficients")?,
            rho: tensors::numbers::<f64>(file, "rho")?.1,
        }),
        _ => return Err(format!("it requires none of {}", KINDS.join(", "))),
    };
    predictor.checked().map_err(reason)
}

fn gaussian_process(words: &Words, file: &SafeTensors<'_>) -> Result<GaussianProcess, String> {
    Ok(GaussianProcess {
        mean: expansion(words, file)?,
        scales: tensors::numbers::<f64>(file, "scales")?.1,
        noise: match tensors::numbers::<f64>(file, "noise")?.1[..] {
            [noise] => noise,
            _ => return Err("its noise is not one number".into()),
        },
        factor: optional(file, "factor")?,
        posterior_factor: optional(file, "posterior_factor")?,
        projection: match file.tensor("projection") {
            Ok(_) => Some(tensors::matrix(file, "projection")?),
            Err(_) => None,
        },
    })
}

fn expansion(words: &Words, file: &SafeTensors<'_>) -> Result<Expansion, String> {
    Ok(Expansion {
        kernel: words.kernel()?,
        domain: words.domain()?,
        centres: tensors::samples(file)?,
        shift: optional(file, "shift")?,
        coefficients: tensors::matrix(file, "coefficients")?,
        intercepts: tensors::numbers::<f64>(file, "intercepts")?.1,
    })
}

fn reason(error: ModelError) -> String {
    match error {
        ModelError::Inconsistent { reason } => reason,
        error => error.to_string(),
    }
}

/// Random features as they were drawn.
fn random(words: &Words, file: &SafeTensors<'_>) -> Result<Fourier, String> {
    let spec = words.random.clone().ok_or("it does not say what its features were drawn from")?;
    let (frequencies, amplitudes) =
        (tensors::matrix(file, "frequencies")?, tensors::numbers::<f64>(file, "amplitudes")?.1);
    let features = RandomFeatures::from_matrices(frequencies, optional(file, "phases")?, amplitudes);
    Ok(Fourier { spec, features: features.map_err(|error| error.to_string())? })
}

fn optional(file: &SafeTensors<'_>, name: &str) -> Result<Option<Vec<f64>>, String> {
    match file.tensor(name) {
        Ok(_) => Ok(Some(tensors::numbers::<f64>(file, name)?.1)),
        Err(_) => Ok(None),
    }
}

fn matrix(name: &'static str, matrix: &Matrix<f64>) -> Tensor {
    Tensor::numbers(name, &[matrix.nrows(), matrix.ncols()], matrix.entries())
}

fn vector(name: &'static str, values: &[f64]) -> Tensor {
    Tensor::numbers(name, &[values.len()], values)
}
