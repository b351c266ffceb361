//! Training files read in passes: first a survey, then chunks of scaled rows in any number of passes. Rows that fit the
//! memory are read once.

use std::borrow::Cow;
use std::collections::HashMap;

use super::classes::Classes;
use super::content::Content;
use super::dataset::{Dataset, TargetValues};
use super::error::{DataError, Place};
use super::fields::Cell;
use super::held_out::HeldOut;
use super::row_sample::RowSample;
use super::scale::{ScaleMethod, Scaling, ScalingSums};
use super::schema::Schema;
use super::target_rows::TargetRows;
use super::training::{TrainingChunks, TrainingFile};
use super::{AnySamples, Matrix, Samples};
use crate::watch::{Stopped, Watch};

/// Why a pass over rows ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The rows could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The watch or the visitor asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Scaled rows that can be read any number of times, whether or not they fit in memory.
pub trait Passes: Sync {
    /// The survey of the first pass.
    fn survey(&self) -> &Survey;

    /// The schema of the file; `None` for rows that are not from a file.
    fn schema(&self) -> Option<&Schema> {
        None
    }

    /// The classes of the rows and the code of each row; `None` for targets that are numbers.
    fn classes(&self) -> Option<(&Classes, &[usize])> {
        None
    }

    /// The bytes of memory that the rows take; 0 if every pass reads them again.
    fn bytes_held(&self) -> u64 {
        0
    }

    /// Calls `visit` with every chunk, in the order of the rows.
    ///
    /// # Errors
    /// If rows cannot be read or are not those of the survey, and [`PassError::Stopped`] if `visit` ends the pass.
    fn pass(&self, visit: &mut (dyn FnMut(&Chunk) -> Result<(), Stopped> + Send)) -> Result<(), PassError>;
}

impl dyn Passes + '_ {
    /// As [`pass`](Passes::pass), for visitors with errors of their own.
    ///
    /// # Errors
    /// Those of `visit` and of the pass.
    pub fn for_each<E: From<PassError> + Send>(
        &self,
        mut visit: impl FnMut(&Chunk) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let mut failure = None;
        let passed = self.pass(&mut |chunk| {
            visit(chunk).map_err(|error| {
                failure = Some(error);
                Stopped
            })
        });
        failure.map_or(passed.map_err(E::from), Err)
    }
}

/// Consecutive rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The number of the first row, from 0.
    pub first: u64,
    /// The rows, scaled.
    pub samples: AnySamples<'static>,
    /// One row of targets per sample; no columns for classes.
    pub targets: Matrix<f64>,
}

/// The result of one pass over all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Number of rows.
    pub rows: u64,
    /// The names of the targets.
    pub targets: Vec<String>,
    /// The scaling, fitted on all rows.
    pub scaling: Scaling,
    /// The indices of constant columns, which are not scaled.
    pub constant: Vec<usize>,
    /// A uniform sample of the rows, scaled, in random order.
    pub sample: AnySamples<'static>,
    /// The number of each row of the sample.
    pub sample_rows: Vec<u64>,
    /// The targets of the sample; no columns for classes.
    pub sample_targets: Matrix<f64>,
    /// A hash of all features and targets.
    pub content: u64,
    /// The seed of the sample and of the rows held out.
    pub seed: u64,
    /// The held-out rows for measuring an error.
    pub held_out: HeldOut,
}

/// The settings of a survey.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurveyOptions {
    /// The scaling of columns.
    pub scale: ScaleMethod,
    /// The most rows in the sample.
    pub sample: usize,
    /// The seed of the sample and of the rows held out.
    pub seed: u64,
    /// The fraction of the rows to hold out.
    pub held_out: f64,
    /// The most bytes of rows to hold in memory: if all rows take no more, the file is read once.
    pub memory: u64,
}

/// A training file in passes.
#[derive(Debug)]
pub struct FilePasses {
    file: TrainingFile,
    survey: Survey,
    notes: Vec<String>,
    /// All rows, if they fit the memory.
    rows: Option<HeldChunks>,
    /// The classes and the code of each row, if the target is a class.
    classes: Option<(Classes, Vec<usize>)>,
}

/// All chunks of a file, and the bytes of memory that they take.
#[derive(Debug, Default)]
struct HeldChunks {
    chunks: Vec<Chunk>,
    bytes: u64,
}

impl HeldChunks {
    fn scaled(self, scaling: &Scaling) -> Result<Self, DataError> {
        let scale = |chunk: Chunk| Ok(Chunk { samples: scaling.apply(chunk.samples)?, ..chunk });
        let chunks = self.chunks.into_iter().map(scale).collect::<Result<_, DataError>>()?;
        Ok(Self { chunks, bytes: self.bytes })
    }
}

impl FilePasses {
    /// Surveys a file in one pass over its rows.
    ///
    /// # Errors
    /// If the source can be read only once, if rows cannot be read, or if `watch` asks to stop.
    pub fn new(
        mut chunks: TrainingChunks,
        options: &SurveyOptions,
        watch: &dyn Watch,
    ) -> Result<Self, PassError> {
        let mut file = chunks.file().clone();
        file.source.require_restartable()?;
        let mut sample = RowSample::new(options.sample, options.seed);
        let mut sample_targets = RowSample::new(options.sample, options.seed);
        let mut scaling = ScalingSums::new(options.scale);
        let mut content = Content::default();
        let mut rows = Some(HeldChunks::default());
        let mut classes = file.has_classes.then(ClassNames::default);
        watch.begin("first pass", 0);
        chunks.for_each::<PassError>(|chunk| {
            watch.check()?;
            scaling.add(&chunk.features)?;
            let (first, targets) = (sample.seen(), file.targets(&chunk));
            if let (Some(classes), [target]) = (&mut classes, chunk.targets.as_slice()) {
                classes.add(&target.values).for_each(|code| content.add(&[code as f64]));
            }
            sample_targets.add(&numbered(first, &targets)?);
            sample.add(&chunk.features);
            content.add_samples(&chunk.features);
            content.add(targets.entries());
            watch.advance(chunk.nrows() as u64);
            watch.note(&format!("{} rows", sample.seen()));
            if let Some(held) = &mut rows {
                held.bytes += chunk.features.bytes() + 8 * targets.entries().len() as u64;
                held.chunks.push(Chunk { first, samples: chunk.features, targets });
            }
            if rows.as_ref().is_some_and(|held| held.bytes > options.memory) {
                rows = None;
            }
            Ok(())
        })?;
        let (count, (scaling, constant)) = (sample.seen(), scaling.finish());
        let (Some(sample), Some(sample_targets)) = (sample.finish(), sample_targets.finish()) else {
            let (file, what) = (file.source.name().to_owned(), "no rows".to_owned());
            return Err(DataError::NoRows { file, what }.into());
        };
        let (sample_rows, sample_targets) = taken_apart(&sample_targets);
        let rows = rows.map(|held| held.scaled(&scaling)).transpose()?;
        let classes = classes.map(|classes| classes.settle(&mut file)).transpose()?;
        let survey = Survey {
            rows: count,
            targets: file.schema.targets.iter().map(|target| target.name.clone()).collect(),
            sample: scaling.apply(sample)?,
            sample_rows,
            sample_targets,
            scaling,
            constant,
            content: content.finish(),
            seed: options.seed,
            held_out: HeldOut::new(count, options.held_out, options.seed),
        };
        Ok(Self { file, survey, notes: chunks.notes(), rows, classes })
    }

    /// Notes for the user about rows that were left out or filled in.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Passes for FilePasses {
    fn survey(&self) -> &Survey {
        &self.survey
    }

    fn schema(&self) -> Option<&Schema> {
        Some(&self.file.schema)
    }

    fn classes(&self) -> Option<(&Classes, &[usize])> {
        self.classes.as_ref().map(|(classes, codes)| (classes, &codes[..]))
    }

    fn bytes_held(&self) -> u64 {
        self.rows.as_ref().map_or(0, |held| held.bytes)
    }

    fn pass(&self, visit: &mut (dyn FnMut(&Chunk) -> Result<(), Stopped> + Send)) -> Result<(), PassError> {
        if let Some(held) = &self.rows {
            return Ok(held.chunks.iter().try_for_each(visit)?);
        }
        let mut first = 0;
        self.file.chunks()?.for_each::<PassError>(|chunk| {
            let targets = self.file.targets(&chunk);
            let samples = self.survey.scaling.apply(chunk.features)?;
            let rows = samples.nrows() as u64;
            visit(&Chunk { first, samples, targets })?;
            first += rows;
            Ok(())
        })?;
        if first == self.survey.rows {
            return Ok(());
        }
        let file = self.file.source.name().to_owned();
        Err(DataError::Changed { file, before: self.survey.rows, now: first }.into())
    }
}

/// The number of each row, from `first`, and its targets.
fn numbered(first: u64, targets: &Matrix<f64>) -> Result<AnySamples<'static>, DataError> {
    let row =
        |row: usize| std::iter::once((first + row as u64) as f64).chain(targets.row(row).iter().copied());
    let entries: Vec<f64> = (0..targets.nrows()).flat_map(row).collect();
    Ok(AnySamples::F64(Samples::dense(targets.nrows(), targets.ncols() + 1, entries)?))
}

/// The parts combined by [`numbered`].
fn taken_apart(numbered: &AnySamples<'_>) -> (Vec<u64>, Matrix<f64>) {
    let (rows, columns) = (numbered.nrows(), numbered.ncols());
    let (mut numbers, mut targets) = (Vec::with_capacity(rows), Matrix::zeros(rows, columns - 1));
    let mut entries = vec![0.0; columns];
    for row in 0..rows {
        numbered.copy_row(row, &mut entries);
        numbers.push(entries[0] as u64);
        targets.row_mut(row).copy_from_slice(&entries[1..]);
    }
    (numbers, targets)
}

impl TrainingFile {
    /// One column per target, all of them numbers; none for a class.
    fn targets(&self, chunk: &Dataset) -> Matrix<f64> {
        let targets = if self.has_classes { &[] } else { &chunk.targets[..] };
        let mut matrix = Matrix::zeros(chunk.nrows(), targets.len());
        for (column, target) in targets.iter().enumerate() {
            if let Some(values) = target.values.numbers() {
                values.iter().enumerate().for_each(|(row, value)| matrix.row_mut(row)[column] = *value);
            }
        }
        matrix
    }
}

/// The class of each row, by its text.
#[derive(Debug, Default)]
struct ClassNames {
    /// In the order of their first rows.
    names: Vec<String>,
    places: HashMap<String, usize>,
    codes: Vec<usize>,
}

impl ClassNames {
    /// Adds rows, and returns the place of each one's class.
    fn add(&mut self, values: &TargetValues) -> impl Iterator<Item = usize> {
        let first = self.codes.len();
        for row in 0..values.len() {
            let text = match values {
                TargetValues::Numbers(numbers) => Cow::Owned((numbers[row] + 0.0).to_string()),
                TargetValues::Labels(labels) => Cow::Borrowed(labels[row].as_str()),
            };
            let code = match self.places.get(&*text) {
                Some(&code) => code,
                None => {
                    self.places.insert(text.clone().into_owned(), self.names.len());
                    self.names.push(text.into_owned());
                    self.names.len() - 1
                }
            };
            self.codes.push(code);
        }
        self.codes[first..].iter().copied()
    }

    /// The classes, sorted, and the code of each row. The kind of the file's target becomes that of the same rows in memory.
    fn settle(self, file: &mut TrainingFile) -> Result<(Classes, Vec<usize>), DataError> {
        let mut rows = TargetRows::new(None);
        for name in &self.names {
            rows.push(Cell::Text(name.as_bytes())).map_err(|_| DataError::NotFinite {
                place: Place::file(file.source.name()),
                text: name.clone(),
                dtype: "f64",
            })?;
        }
        file.schema.targets.iter_mut().for_each(|target| target.kind = rows.found_kind());
        let (classes, code_of) = Classes::of(&rows.take());
        Ok((classes, self.codes.into_iter().map(|place| code_of[place]).collect()))
    }
}
