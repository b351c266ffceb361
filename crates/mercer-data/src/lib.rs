//! Rows of numbers: reading and storage.
//!
//! A file becomes features and targets in steps: its bytes are opened and recognised ([`Source`], [`Format`]), split into
//! rows of fields, and encoded as numbers. The encoding learnt from the training file is the [`Schema`]: [`read`] fits
//! it, [`chunks`] applies it.

mod advice;
mod atomic_file;
mod categories;
mod chunks;
mod classes;
mod content;
mod csv;
mod dataset;
mod dates;
mod error;
mod fields;
mod finite;
mod foreign;
mod held_out;
mod lines;
mod npy;
mod npy_header;
pub mod number;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod passes;
mod plain;
mod read;
pub mod real;
mod records;
mod row_sample;
mod rows;
mod samples;
mod scale;
mod schema;
mod source;
mod suspects;
mod svmlight;
mod table;
mod target_rows;
mod training;
mod views;
pub mod watch;

pub use atomic_file::write_atomically;
pub use chunks::{FileChunks, chunks};
pub use classes::Classes;
pub use dataset::{Dataset, Target, TargetValues};
pub use error::{DataError, Place, RowNumber, counted, listed, reason};
pub use finite::{check_features, check_target};
pub use foreign::foreign;
pub use held_out::HeldOut;
pub use npy::{write_npy, write_npy_entries, write_npy_header};
pub use number::Number;
pub use options::{ColumnRef, Dates, Delimiter, Layout, Missing, ReadOptions};
pub use passes::{Chunk, FilePasses, PassError, Passes, Survey, SurveyOptions};
pub use read::{column_names, read, read_source};
pub use row_sample::{RowSample, fold_of_row, row_hash};
pub use samples::{AnySamples, InvalidSamples, MAX_COLUMNS, Matrix, Samples, Storage};
pub use scale::{ScaleMethod, Scaling, ScalingSums};
pub use schema::{Encoding, FeatureColumn, Features, Reading, Schema, TargetColumn, TargetKind};
pub use source::{Format, Source};
pub use svmlight::write_svmlight;
pub use training::TrainingChunks;
