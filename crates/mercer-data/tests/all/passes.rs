//! Training files in passes: the same scaled rows each time, and detection of changes.

use mercer_data::watch::{Stopped, Unwatched};
use mercer_data::{
    Chunk, Classes, DataError, FilePasses, PassError, Passes, ReadOptions, ScaleMethod, Scaling, Source,
    SurveyOptions, TrainingChunks, read_source,
};

fn text(rows: usize) -> String {
    let row = |i: usize| format!("{},{},7,{}\n", (i * 37 % 101) as f64 / 10.0, i % 13, i * 2);
    "a,b,c,y\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

fn options() -> ReadOptions {
    ReadOptions { target: vec!["y".parse().unwrap()], ..ReadOptions::default() }
}

fn survey(source: Source, per_chunk: usize) -> Result<FilePasses, PassError> {
    survey_within(0, source, per_chunk)
}

fn survey_within(memory: u64, source: Source, per_chunk: usize) -> Result<FilePasses, PassError> {
    let survey = SurveyOptions { scale: ScaleMethod::Standard, sample: 50, seed: 3, held_out: 0.25, memory };
    let chunks = TrainingChunks::open(source, &options(), &Unwatched)?.rows_per_chunk(per_chunk);
    FilePasses::new(chunks, &survey, &Unwatched)
}

fn chunks(passes: &FilePasses) -> Result<Vec<Chunk>, PassError> {
    let mut found = Vec::new();
    passes.pass(&mut |chunk| {
        found.push(chunk.clone());
        Ok(())
    })?;
    Ok(found)
}

#[test]
fn every_pass_has_the_rows_of_the_file_scaled() {
    let source = Source::bytes("d.csv", text(200).into_bytes());
    let passes = survey(source.clone(), 64).unwrap();
    let (whole, schema) = read_source(&source, &options()).unwrap();
    let survey = passes.survey();
    assert_eq!((survey.rows, survey.sample.nrows()), (200, 50));
    assert_eq!((survey.targets.as_slice(), survey.constant.as_slice()), (&["y".to_owned()][..], &[2][..]));
    assert_eq!(passes.schema(), Some(&schema));
    let (scaling, _) = Scaling::of(ScaleMethod::Standard, &whole.features).unwrap();
    let scaled = scaling.apply(whole.features).unwrap();
    let mut theirs = [0.0; 3];
    for _ in 0..2 {
        let found = chunks(&passes).unwrap();
        assert_eq!(found.iter().map(|chunk| chunk.first).collect::<Vec<_>>(), [0, 64, 128, 192]);
        let mut ours = [0.0; 3];
        for (row, chunk) in found.iter().flat_map(|chunk| (0..chunk.samples.nrows()).map(move |i| (i, chunk)))
        {
            let place = chunk.first as usize + row;
            assert_eq!(chunk.targets.row(row), [2.0 * place as f64]);
            chunk.samples.copy_row(row, &mut ours);
            scaled.copy_row(place, &mut theirs);
            ours.iter().zip(theirs).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
        }
    }
    assert_eq!((0..200).filter(|&row| survey.held_out.contains(row)).count(), 50);
    let mut features = [0.0; 3];
    for (place, &row) in survey.sample_rows.iter().enumerate() {
        assert_eq!(survey.sample_targets.row(place), [2.0 * row as f64]);
        survey.sample.copy_row(place, &mut features);
        scaled.copy_row(row as usize, &mut theirs);
        features.iter().zip(theirs).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
    }
}

#[test]
fn standard_input_cannot_be_gone_through_again() {
    assert!(!Source::path(std::path::Path::new("-")).is_restartable());
    assert!(Source::bytes("d.csv", text(3).into_bytes()).is_restartable());
}

#[test]
fn a_file_that_changes_between_passes_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    std::fs::write(&path, text(100)).unwrap();
    let passes = survey(Source::path(&path), 10).unwrap();
    std::fs::write(&path, text(90)).unwrap();
    let error = chunks(&passes).unwrap_err();
    assert!(matches!(error, PassError::Data(DataError::Changed { before: 100, now: 90, .. })), "{error}");
}

#[test]
fn a_visitor_ends_a_pass_with_its_own_error() {
    #[derive(Debug, PartialEq)]
    enum Error {
        Own(u64),
        Pass,
    }
    impl From<PassError> for Error {
        fn from(_: PassError) -> Self {
            Self::Pass
        }
    }
    let passes = survey(Source::bytes("d.csv", text(100).into_bytes()), 10).unwrap();
    let passes: &dyn Passes = &passes;
    let end = |chunk: &Chunk| if chunk.first == 50 { Err(Error::Own(50)) } else { Ok(()) };
    assert_eq!(passes.for_each(end), Err(Error::Own(50)));
    let stopped = passes.pass(&mut |_| Err(Stopped)).unwrap_err();
    assert!(matches!(stopped, PassError::Stopped(_)), "{stopped}");
}

/// 100 rows of three columns and a target in double precision.
const BYTES: u64 = 100 * 4 * 8;

#[test]
fn rows_that_fit_the_memory_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    std::fs::write(&path, text(100)).unwrap();
    let within = |memory: u64| survey_within(memory, Source::path(&path), 10).unwrap();
    let (held, read) = (within(BYTES), within(BYTES - 1));
    assert_eq!((held.bytes_held(), read.bytes_held()), (BYTES, 0));
    assert_eq!((held.survey(), chunks(&held).unwrap()), (read.survey(), chunks(&read).unwrap()));
    std::fs::write(&path, text(90)).unwrap();
    assert_eq!(chunks(&held).unwrap().len(), 10);
    assert!(chunks(&read).is_err());
}

/// The classes of a file in passes, and the kind of its target, are those of the file in memory.
#[test]
fn classes_are_those_of_the_rows_in_memory() {
    for labels in [
        &["3", "1", "3.0", "-0", "0"][..],
        &["oak", "ash", "1", "oak", "elm"],
        &["9007199254740993", "2", "9007199254740992", "2", "2"],
    ] {
        let row = |(i, label): (usize, &&str)| format!("{i},{label}\n");
        let text = "a,y\n".to_owned() + &labels.iter().enumerate().map(row).collect::<String>();
        let source = Source::bytes("d.csv", text.into_bytes());
        let chunks = TrainingChunks::open_classes(source.clone(), &options(), &Unwatched).unwrap();
        let settings =
            SurveyOptions { scale: ScaleMethod::None, sample: 50, seed: 3, held_out: 0.0, memory: 0 };
        let passes = FilePasses::new(chunks.rows_per_chunk(2), &settings, &Unwatched).unwrap();
        let (whole, schema) = read_source(&source, &options()).unwrap();
        let (classes, codes) = Classes::of(&whole.targets[0].values);
        assert_eq!(passes.classes(), Some((&classes, &codes[..])));
        assert_eq!(passes.schema(), Some(&schema));
        assert_eq!(self::chunks(&passes).unwrap().len(), 3);
    }
}
