//! The library's errors as Python exceptions: `ValueError` for invalid input, a separate class if the caller can
//! proceed in another way.

use std::fmt::Display;
use std::io;

use mercer::data::DataError;
use mercer::design::DesignError;
use mercer::gram::GramError;
use mercer::learn::LearnError;
use mercer::model::ModelError;
use mercer::solve::SolveError;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    mercer,
    SingularMatrix,
    PyValueError,
    "The kernel matrix is singular and nothing is added to it."
);
create_exception!(
    mercer,
    IndefiniteMatrix,
    PyValueError,
    "The kernel matrix has a negative eigenvalue that the penalty does not lift."
);

create_exception!(
    mercer,
    NotAKernel,
    PyValueError,
    "The formula is not positive semidefinite where the rows are."
);

/// `ValueError` with the message of the error.
pub fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The exception for a failed fit.
pub fn learn_error(error: LearnError) -> PyErr {
    match &error {
        LearnError::Solve(SolveError::Singular { .. }) => SingularMatrix::new_err(error.to_string()),
        LearnError::Solve(SolveError::Indefinite { .. } | SolveError::NegativePivot { .. }) => {
            IndefiniteMatrix::new_err(error.to_string())
        }
        LearnError::NotAKernel { .. } => NotAKernel::new_err(format!(
            "{error}. To train with it anyway, compute the matrix, mercer.Kernel(...)(X), and use kernel='precomputed'"
        )),
        LearnError::Memory { .. }
        | LearnError::DeviceMemory { .. }
        | LearnError::Design(
            DesignError::Memory { .. } | DesignError::TooLarge { .. } | DesignError::TooMany { .. },
        ) => PyMemoryError::new_err(error.to_string()),
        LearnError::Gram(cause) | LearnError::Design(DesignError::Gram(cause)) => gram_error(cause.clone()),
        _ => value_error(error),
    }
}

/// The exception for features that cannot be computed.
pub fn design_error(error: DesignError) -> PyErr {
    learn_error(error.into())
}

/// The exception for a kernel matrix that cannot be computed.
pub fn gram_error(error: GramError) -> PyErr {
    match &error {
        GramError::EngineMemory(_) => PyMemoryError::new_err(error.to_string()),
        GramError::Engine(_) => PyRuntimeError::new_err(error.to_string()),
        _ => value_error(error),
    }
}

/// The exception for a model that cannot be read, written or used.
pub fn model_error(error: ModelError) -> PyErr {
    match &error {
        ModelError::Io { error: cause, .. } | ModelError::Data(DataError::Write { source: cause, .. }) => {
            io::Error::new(cause.kind(), error.to_string()).into()
        }
        ModelError::Gram(cause) => gram_error(cause.clone()),
        _ => value_error(error),
    }
}
