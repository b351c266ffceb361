//! Readers and writers of data, tested from outside.

mod chunks;
mod csv;
mod everyday;
mod hostile;
mod npy;
mod parquet;
mod passes;
mod svmlight;
mod training;
