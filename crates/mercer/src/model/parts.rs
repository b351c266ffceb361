//! Converts a predictor to header entries and arrays for the file, and back.

use safetensors::SafeTensors;

use crate::data::Matrix;
use crate::design::{FeatureMap, Features, Fourier, RandomFeatures};
use crate::kernel::Kernel;

use super::header::Words;
use super::tensors::{self, Tensor};
use super::{
    Expansion, GaussianClasses, GaussianProcess, Linear, Neighbours, Pairs, Predictor, Voted, VotedStep,
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
            let numbers = |step: &VotedStep| {
                [f64::from(step.centre), f64::from(step.output), step.amount, step.votes as f64]
            };
            let mut arrays = Tensor::samples(centres);
            let entries: Vec<f64> = steps.iter().flat_map(numbers).collect();
            arrays.push(matrix("steps", &Matrix::from_entries(steps.len(), 4, entries)));
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
            steps: voted_steps(&tensors::matrix(file, "steps")?)?,
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
    consistent(&predictor)?;
    Ok(predictor)
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

fn voted_steps(numbers: &Matrix<f64>) -> Result<Vec<VotedStep>, String> {
    // The cast changes numbers that are not whole or too large.
    let place = |number: f64| match number as u32 {
        whole if f64::from(whole) == number => Ok(whole),
        _ => Err(format!("a step is at {number}, which is no place")),
    };
    let votes = |number: f64| match number as u64 {
        whole if whole as f64 == number => Ok(whole),
        _ => Err(format!("a step has {number} votes")),
    };
    let step = |row: usize| match numbers.row(row) {
        &[centre, output, amount, cast] => {
            Ok(VotedStep { centre: place(centre)?, output: place(output)?, amount, votes: votes(cast)? })
        }
        _ => Err("its steps do not have four numbers each".to_owned()),
    };
    (0..numbers.nrows()).map(step).collect()
}

/// Checks that the parts are consistent.
fn consistent(predictor: &Predictor) -> Result<(), String> {
    let columns = predictor.ncols();
    match predictor {
        Predictor::Expansion(expansion) => consistent_expansion(expansion),
        Predictor::GaussianProcess(process) => {
            consistent_expansion(&process.mean)?;
            faultless(process.fault(), predictor)
        }
        Predictor::GaussianClasses(classes) => {
            consistent_expansion(&classes.latent)?;
            faultless(classes.fault(), predictor)
        }
        Predictor::Linear(linear) => {
            finite("intercepts", &linear.intercepts)?;
            shifts(linear.shift.as_deref(), columns)?;
            let features = match &linear.map {
                Features::Map(map) => count(map, columns)?,
                Features::Landmarks(_) => {
                    return Err("its features are of landmarks, as only an expansion's are".into());
                }
                Features::Fourier(fourier) => {
                    if linear.shift.is_some() {
                        return Err("it shifts the samples of random features".into());
                    }
                    random_count(fourier, columns)?
                }
            };
            shape("weights", &linear.weights, features, linear.noutputs())
        }
        Predictor::Neighbours(neighbours) => faultless(neighbours.fault(), predictor),
        Predictor::Voted(voted) => faultless(voted.fault().map(str::to_owned), predictor),
        Predictor::Pairs(pairs) => faultless(pairs.fault(), predictor),
    }
}

fn consistent_expansion(expansion: &Expansion) -> Result<(), String> {
    let (centres, outputs, columns) =
        (expansion.centres.nrows(), expansion.noutputs(), expansion.centres.ncols());
    shape("coefficients", &expansion.coefficients, centres, outputs)?;
    finite("intercepts", &expansion.intercepts)?;
    shifts(expansion.shift.as_deref(), columns)?;
    usable(&expansion.kernel, columns)
}

fn faultless(fault: Option<String>, predictor: &Predictor) -> Result<(), String> {
    match fault {
        Some(fault) => Err(format!("it has {fault}")),
        None => predictor.kernel().map_or(Ok(()), |kernel| usable(kernel, predictor.ncols())),
    }
}

fn shifts(shift: Option<&[f64]>, columns: usize) -> Result<(), String> {
    match shift {
        Some(shift) if shift.len() != columns => Err("its shift does not match its columns".into()),
        Some(shift) => finite("shift", shift),
        None => Ok(()),
    }
}

fn count(map: &FeatureMap, columns: usize) -> Result<usize, String> {
    map.check_columns(columns).map_err(|error| error.to_string())?;
    let count = map.count(columns).map_err(|error| error.to_string())?;
    usize::try_from(count).map_err(|error| error.to_string())
}

/// Random features as they were drawn.
fn random(words: &Words, file: &SafeTensors<'_>) -> Result<Fourier, String> {
    let spec = words.random.clone().ok_or("it does not say what its features were drawn from")?;
    let (frequencies, amplitudes) =
        (tensors::matrix(file, "frequencies")?, tensors::numbers::<f64>(file, "amplitudes")?.1);
    let features = RandomFeatures::from_matrices(frequencies, optional(file, "phases")?, amplitudes);
    Ok(Fourier { spec, features: features.map_err(|error| error.to_string())? })
}

fn random_count(fourier: &Fourier, columns: usize) -> Result<usize, String> {
    usable(&fourier.spec.kernel, columns)?;
    let (count, found) = (fourier.features.count(), fourier.features.columns());
    if found != columns {
        return Err(format!("its frequencies are of {found} columns, not of {columns}"));
    }
    if count != fourier.spec.features {
        return Err(format!("it has {count} random features but names {}", fourier.spec.features));
    }
    Ok(count)
}

fn usable(kernel: &Kernel, columns: usize) -> Result<(), String> {
    kernel.check_columns(columns).map_err(|error| error.to_string())?;
    if kernel.is_resolved() { Ok(()) } else { Err("its kernel still has `auto` or `?`".into()) }
}

fn shape(name: &str, matrix: &Matrix<f64>, nrows: usize, ncols: usize) -> Result<(), String> {
    if (matrix.nrows(), matrix.ncols()) == (nrows, ncols) {
        Ok(())
    } else {
        Err(format!("its {name} are not {nrows} × {ncols}"))
    }
}

fn finite(name: &str, values: &[f64]) -> Result<(), String> {
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(format!("its {name} are not all finite numbers"))
    }
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
