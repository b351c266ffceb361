//! Training files in chunks: the same rows, schema and errors as read at once, and plain text by the fast way.

use std::fmt::Write;

use mercer_data::real::Precision;
use mercer_data::watch::Unwatched;
use mercer_data::{
    AnySamples, DataError, Dataset, Missing, PassError, ReadOptions, Source, TargetValues, TrainingChunks,
    read_source,
};
use proptest::prelude::*;

fn options(target: &str) -> ReadOptions {
    ReadOptions { target: vec![target.parse().unwrap()], ..ReadOptions::default() }
}

fn source(text: &str) -> Source {
    Source::bytes("train.csv", text.as_bytes().to_vec())
}

fn rows(dataset: &Dataset) -> Vec<Vec<f64>> {
    let TargetValues::Numbers(y) = &dataset.targets[0].values else { panic!("numbers") };
    let row = |i: usize| {
        let mut row = vec![0.0; dataset.features.ncols()];
        dataset.features.copy_row(i, &mut row);
        row.push(y[i]);
        row
    };
    (0..dataset.nrows()).map(row).collect()
}

fn in_chunks(source: Source, options: &ReadOptions, per_chunk: usize) -> (TrainingChunks, Vec<Vec<f64>>) {
    let mut chunks = TrainingChunks::open(source, options, &Unwatched).unwrap().rows_per_chunk(per_chunk);
    let mut found = Vec::new();
    chunks
        .for_each::<DataError>(|chunk| {
            assert!(chunk.nrows() <= per_chunk);
            found.extend(rows(&chunk));
            Ok(())
        })
        .unwrap();
    (chunks, found)
}

#[test]
fn chunks_are_the_file() {
    let text = "a,colour,b,y\n1,red,2,3\n,blue,5,6\n7,red,,9\n10,green,11,\n13,blue,14,15\n";
    for missing in [Missing::Drop, Missing::Mean] {
        let options = ReadOptions { missing, categorical: vec!["colour".parse().unwrap()], ..options("y") };
        let (whole, schema) = read_source(&source(text), &options).unwrap();
        for per_chunk in [1, 2, 100] {
            let (mut chunks, found) = in_chunks(source(text), &options, per_chunk);
            assert_eq!(found, rows(&whole), "{missing:?}");
            assert_eq!(chunks.schema(), &schema);
            assert_eq!(chunks.notes(), whole.notes);
        }
    }
}

#[test]
fn sparse_text_is_read_in_chunks() {
    let text = "1 2:0.5 7:1\n-1 1:3\n\n2.5 4:1 # the end\n";
    let sparse = Source::bytes("train.libsvm", text.as_bytes().to_vec());
    let (whole, schema) = read_source(&sparse, &ReadOptions::default()).unwrap();
    let (chunks, found) = in_chunks(sparse, &ReadOptions::default(), 2);
    assert_eq!(found, rows(&whole));
    assert_eq!(chunks.schema(), &schema);
}

/// A ragged row at the end of a long file is reported at its line, also by the fast parser.
#[test]
fn a_ragged_row_at_the_end_is_named_by_its_line() {
    let mut text = String::from("a,b,y\n");
    (0..200_000).for_each(|i| writeln!(text, "{i},{}.5,-{i}e-3", i % 7).unwrap());
    text.push_str("1,2\n");
    let error = read_source(&source(&text), &options("y")).unwrap_err().to_string();
    assert!(error.contains("line 200002") && error.contains("3"), "{error}");
    let mut chunks =
        TrainingChunks::open(source(&text), &options("y"), &Unwatched).unwrap().rows_per_chunk(4096);
    let mut seen = 0;
    let error = chunks
        .for_each::<DataError>(|chunk| {
            seen += chunk.nrows();
            Ok(())
        })
        .unwrap_err();
    assert!(error.to_string().contains("line 200002"), "{error}");
    assert!(seen > 190_000, "rows before it came through: {seen}");
}

#[test]
fn text_in_a_target_is_an_error_with_its_place() {
    let mut chunks = TrainingChunks::open(source("a,y\n1,2\n3,spam\n"), &options("y"), &Unwatched)
        .unwrap()
        .rows_per_chunk(10);
    let error = chunks.read_chunk().unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("spam"), "{error}");
}

#[test]
fn nothing_to_learn_from_is_an_error() {
    let mut empty =
        TrainingChunks::open(source("a,y\n"), &options("y"), &Unwatched).unwrap().rows_per_chunk(10);
    assert!(matches!(empty.read_chunk(), Err(DataError::NoRows { .. })));
    let absent = TrainingChunks::open(source("a,y\n1,2\n"), &options("z"), &Unwatched);
    assert!(matches!(absent, Err(PassError::Data(DataError::NoSuchColumn { .. }))));
}

/// The first error in the order of the rows is reported.
#[test]
fn a_visitor_that_fails_ends_the_reading() {
    let text: String = "x,y\n".to_owned() + &"1,2\n".repeat(100);
    let mut chunks =
        TrainingChunks::open(source(&text), &options("y"), &Unwatched).unwrap().rows_per_chunk(10);
    let mut visited = 0;
    let error = chunks.for_each::<DataError>(|_| {
        visited += 1;
        Err(DataError::Empty { file: "mine".to_owned() })
    });
    assert!(matches!(error, Err(DataError::Empty { file }) if file == "mine"));
    assert_eq!(visited, 1);
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any::<f64>().prop_filter("finite", |v| v.is_finite()).prop_map(|v| format!("{v}")),
        4 => (-1000i32..1000).prop_map(|v| v.to_string()),
        2 => (-1000i32..1000).prop_map(|v| format!("{v}.250")),
        1 => (-1000i32..1000).prop_map(|v| format!("{v}e-3")),
        1 => (0i32..10).prop_map(|v| format!(" {v} ")),
        1 => (0i32..10).prop_map(|v| format!("+{v}.")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Quotes make a file go the slow way: the numbers are the same.
    #[test]
    fn the_fast_way_reads_what_the_slow_way_reads(
        lines in prop::collection::vec((field(), field(), field()), 1..60),
        end in prop_oneof![Just("\n"), Just("\r\n")],
        last in any::<bool>(),
    ) {
        let plain: Vec<String> = lines.iter().map(|(a, b, y)| format!("{a},{b},{y}")).collect();
        let quoted: Vec<String> = lines.iter().map(|(a, b, y)| format!("\"{a}\",{b},{y}")).collect();
        let text = |lines: &[String]| {
            let tail = if last { end } else { "" };
            format!("a,b,y{end}{}{tail}", lines.join(end))
        };
        for dtype in [Precision::Single, Precision::Double] {
            let options = ReadOptions { dtype, ..options("y") };
            let (fast, slow) =
                (read_source(&source(&text(&plain)), &options), read_source(&source(&text(&quoted)), &options));
            match (fast, slow) {
                (Ok((fast, _)), Ok((slow, _))) => {
                    prop_assert_eq!(&fast.features, &slow.features);
                    prop_assert_eq!(rows(&fast), rows(&slow));
                    prop_assert!(matches!(fast.features, AnySamples::F32(_)) == (dtype == Precision::Single));
                }
                (Err(fast), Err(slow)) => prop_assert_eq!(fast.to_string(), slow.to_string()),
                (fast, slow) => prop_assert!(false, "{:?} {:?}", fast.is_ok(), slow.is_ok()),
            }
        }
    }
}
