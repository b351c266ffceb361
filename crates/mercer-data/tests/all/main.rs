//! Readers and writers of data, tested from outside.

mod chunks;
mod csv;
mod hostile;
mod npy;
mod parquet;
mod passes;
mod svmlight;
mod training;
