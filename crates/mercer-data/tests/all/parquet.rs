//! Parquet files, as another program writes them, read as the same rows in text are.
#![cfg(feature = "parquet")]

use std::path::{Path, PathBuf};

use mercer_data::watch::Unwatched;
use mercer_data::{
    ColumnRef, DataError, Dataset, Missing, ReadOptions, Source, TargetValues, TrainingChunks, chunks, read,
    read_source,
};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet").join(name)
}

fn options() -> ReadOptions {
    let column = |name: &str| ColumnRef::Name(name.to_owned());
    ReadOptions { target: vec![column("y")], categorical: vec![column("c")], ..ReadOptions::default() }
}

fn rows(dataset: &Dataset) -> Vec<Vec<f64>> {
    let mut row = vec![0.0; dataset.features.ncols()];
    let TargetValues::Numbers(y) = &dataset.targets[0].values else { panic!("numbers") };
    (0..dataset.nrows())
        .map(|i| {
            dataset.features.copy_row(i, &mut row);
            row.iter().copied().chain([y[i]]).collect()
        })
        .collect()
}

#[test]
fn every_codec_gives_the_rows_of_the_text() {
    let (text, schema) = read(&file("parquet.csv"), &options()).unwrap();
    assert_eq!(text.feature_names, ["a", "b", "i", "u", "t", "c=blue", "c=green", "c=red", "d"]);
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"] {
        let path = file(&format!("{codec}.parquet"));
        let (found, found_schema) = read(&path, &options()).unwrap();
        assert_eq!(rows(&found), rows(&text), "{codec}");
        assert_eq!(found_schema, schema, "{codec}");
        let bytes = std::fs::read(&path).unwrap();
        let (piped, _) = read_source(&Source::bytes("standard input", bytes), &options()).unwrap();
        assert_eq!(rows(&piped), rows(&text), "recognised by its first bytes");
    }
}

/// A model trained on text predicts for a Parquet file, whose columns are found by name, and the other way round.
#[test]
fn columns_are_matched_by_name() {
    let (text, schema) = read(&file("parquet.csv"), &options()).unwrap();
    for per_chunk in [1, 3, 100] {
        let mut found = Vec::new();
        for chunk in chunks(&file("zstd.parquet"), &schema, per_chunk).unwrap() {
            found.extend(rows(&chunk.unwrap()));
        }
        assert_eq!(found, rows(&text));
    }
}

#[test]
fn reading_in_chunks_equals_reading_whole() {
    for missing in [Missing::Drop, Missing::Mean] {
        let options = ReadOptions { missing, ..options() };
        let (whole, schema) = read(&file("missing.parquet"), &options).unwrap();
        assert_eq!(whole.nrows(), if missing == Missing::Drop { 7 } else { 10 });
        let source = Source::path(&file("missing.parquet"));
        let mut training = TrainingChunks::open(source, &options, &Unwatched).unwrap().rows_per_chunk(4);
        assert_eq!(training.schema(), &schema);
        let mut found = Vec::new();
        while let Some(chunk) = training.read_chunk().unwrap() {
            found.extend(rows(&chunk));
        }
        assert_eq!(found, rows(&whole));
        assert_eq!(training.notes(), whole.notes);
    }
    let error = read(&file("missing.parquet"), &options()).unwrap_err().to_string();
    assert!(error.contains("row 1") && error.contains("`a`"), "{error}");
}

#[test]
fn unreadable_files_are_named() {
    let error = read(&file("nested.parquet"), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, DataError::WrongKind { .. }) && error.to_string().contains("nested"), "{error}");
    let whole = std::fs::read(file("snappy.parquet")).unwrap();
    for length in (4..whole.len()).step_by(7) {
        let cut = Source::bytes("cut.parquet", whole[..length].to_vec());
        let error = read_source(&cut, &options()).unwrap_err();
        assert!(error.to_string().starts_with("cut.parquet: "), "{error}");
    }
}

/// Damaged bytes give an error or rows, never a panic.
#[test]
fn damaged_bytes_do_not_panic() {
    for name in ["snappy.parquet", "none.parquet", "missing.parquet"] {
        let whole = std::fs::read(file(name)).unwrap();
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            let _ = read_source(&Source::bytes("flipped.parquet", flipped), &options());
        }
    }
}
