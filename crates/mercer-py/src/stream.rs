//! Fits to files that are read in passes and never stored in memory.

use std::path::PathBuf;

use mercer::data::{
    ColumnRef, DataError, FilePasses, PassError, ReadOptions, ScaleMethod, Source, TrainingChunks,
};
use mercer::learn::{Learner, Lift, Problem};
use mercer::session::Session;
use mercer::solve::Report;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::model::NativeModel;
use crate::sums::ridge;
use crate::work::Job;

/// A file and the options for reading it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FileOptions {
    path: PathBuf,
    target: Vec<String>,
    categorical: Vec<String>,
    missing: String,
    dtype: String,
    scale: String,
    holdout: f64,
}

impl FileOptions {
    fn reading(&self) -> PyResult<ReadOptions> {
        let columns = |names: &[String]| -> Vec<ColumnRef> {
            names.iter().map(|name| name.parse().unwrap_or_else(|never| match never {})).collect()
        };
        Ok(ReadOptions {
            target: columns(&self.target),
            categorical: columns(&self.categorical),
            missing: self.missing.parse().map_err(value_error)?,
            dtype: self.dtype.parse().map_err(value_error)?,
            ..ReadOptions::default()
        })
    }

    fn passes(
        &self,
        reading: &ReadOptions,
        scale: ScaleMethod,
        lift: &Lift,
        session: &Session<'_>,
    ) -> Result<FilePasses, PassError> {
        let chunks = TrainingChunks::open(Source::path(&self.path), reading, session)?;
        FilePasses::new(chunks, &lift.survey(scale, self.holdout, session), session)
    }
}

/// Fits ridge regression to a file in passes; the warnings come with the model.
#[pyfunction]
pub fn fit_ridge_file<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    file: FileOptions,
    job: Job<'py>,
) -> PyResult<(NativeModel, Vec<String>)> {
    let learner = ridge(settings)?;
    let (reading, scale) = (file.reading()?, file.scale.parse().map_err(value_error)?);
    job.run(py, |session| {
        let passes = file.passes(&reading, scale, &learner.lift, session).map_err(pass_error)?;
        let fitted = learner.train(&Problem::stream(&passes), session).map_err(learn_error)?;
        let remarks = fitted.report.iter().flat_map(Report::remarks);
        let notes = passes.notes().iter().chain(remarks).cloned().collect();
        Ok((NativeModel(fitted.model), notes))
    })?
}

/// `OSError` for a file that cannot be opened, `ValueError` for one that cannot be trained on.
fn pass_error(error: PassError) -> PyErr {
    match error {
        PassError::Data(DataError::Open { .. } | DataError::Read { .. }) => {
            PyOSError::new_err(error.to_string())
        }
        error => value_error(error),
    }
}
