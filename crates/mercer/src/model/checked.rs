//! Checks that the parts of a predictor are consistent.

use crate::data::{AnySamples, Matrix};
use crate::design::{FeatureMap, Features, Fourier};
use crate::kernel::Kernel;

use super::{Expansion, ModelError, Predictor};

impl Predictor {
    /// The predictor, if its parts are consistent: what comes from a file or from a program is checked before it predicts.
    ///
    /// # Errors
    /// If the shapes of the arrays differ, if a number is not finite, or if the kernel is not defined on the columns.
    pub fn checked(self) -> Result<Self, ModelError> {
        match consistent(&self) {
            Ok(()) => Ok(self),
            Err(reason) => Err(ModelError::Inconsistent { reason }),
        }
    }
}

impl Expansion {
    /// Checks the parts of an expansion without copying them, as [`Predictor::checked`].
    ///
    /// # Errors
    /// If they are inconsistent.
    pub fn check(
        kernel: &Kernel,
        centres: &AnySamples<'_>,
        shift: Option<&[f64]>,
        coefficients: &Matrix<f64>,
        intercepts: &[f64],
    ) -> Result<(), ModelError> {
        consistent_expansion(kernel, centres, shift, coefficients, intercepts)
            .map_err(|reason| ModelError::Inconsistent { reason })
    }

    fn consistent(&self) -> Result<(), String> {
        let Self { kernel, centres, shift, coefficients, intercepts, .. } = self;
        consistent_expansion(kernel, centres, shift.as_deref(), coefficients, intercepts)
    }
}

fn consistent_expansion(
    kernel: &Kernel,
    centres: &AnySamples<'_>,
    shift: Option<&[f64]>,
    coefficients: &Matrix<f64>,
    intercepts: &[f64],
) -> Result<(), String> {
    let columns = centres.ncols();
    shape("coefficients", coefficients, centres.nrows(), intercepts.len())?;
    finite("intercepts", intercepts)?;
    shifts(shift, columns)?;
    usable(kernel, columns)
}

fn consistent(predictor: &Predictor) -> Result<(), String> {
    let columns = predictor.ncols();
    match predictor {
        Predictor::Expansion(expansion) => expansion.consistent(),
        Predictor::GaussianProcess(process) => {
            process.mean.consistent()?;
            faultless(process.fault(), predictor)
        }
        Predictor::GaussianClasses(classes) => {
            classes.latent.consistent()?;
            faultless(classes.fault(), predictor)
        }
        Predictor::Linear(linear) => {
            finite("intercepts", &linear.intercepts)?;
            shifts(linear.shift.as_deref(), columns)?;
            let features = match &linear.map {
                Features::Map(map) => count(map, columns)?,
                Features::Landmarks(landmarks) if landmarks.landmarks().ncols() != columns => {
                    let found = landmarks.landmarks().ncols();
                    return Err(format!("its landmarks have {found} columns, not {columns}"));
                }
                Features::Landmarks(landmarks) => landmarks.count(),
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
