//! Fits to files that are read in passes.

use std::path::PathBuf;

use mercer::data::{
    ColumnRef, DataError, FilePasses, PassError, ReadOptions, ScaleMethod, Source, TrainingChunks,
};
use mercer::learn::{AnyLearner, Fitted, Learner, Lift, Problem, Requires};
use mercer::session::Session;
use mercer::solve::Report;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors::{learn_error, value_error};
use crate::model::NativeModel;
use crate::settings::{named, read};
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
            missing: named(&self.missing)?,
            dtype: named(&self.dtype)?,
            ..ReadOptions::default()
        })
    }

    fn passes(
        &self,
        reading: &ReadOptions,
        scale: ScaleMethod,
        (learner, lift): (&AnyLearner, &Lift),
        session: &Session<'_>,
    ) -> Result<FilePasses, PassError> {
        let has_classes = learner.requires() == Requires::Classes;
        let open = if has_classes { TrainingChunks::open_classes } else { TrainingChunks::open };
        let chunks = open(Source::path(&self.path), reading, session)?;
        FilePasses::new(chunks, &lift.survey(scale, self.holdout, session), session)
    }
}

/// Fits a learner on an approximation to a file in passes; the warnings come with the model.
#[pyfunction]
pub fn fit_file<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyAny>,
    file: FileOptions,
    job: Job<'py>,
) -> PyResult<(NativeModel, Vec<String>)> {
    let learner: AnyLearner = read(settings)?;
    let lift = learner.lift_of_stream();
    let lift = lift.ok_or_else(|| value_error("these settings are not for a file in passes"))?;
    let (reading, scale) = (file.reading()?, named(&file.scale)?);
    job.run(py, |session| {
        let passes = file.passes(&reading, scale, (&learner, lift), session).map_err(pass_error)?;
        let Fitted { mut model, report, held_out, .. } =
            learner.train(&Problem::stream(&passes), session).map_err(learn_error)?;
        model.report.set_held_out(held_out.as_deref().unwrap_or_default());
        let remarks = report.iter().flat_map(Report::remarks);
        let notes = passes.notes().iter().chain(remarks).cloned().collect();
        Ok((NativeModel(model), notes))
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
