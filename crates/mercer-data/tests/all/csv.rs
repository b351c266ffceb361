//! Text tables: values that are read, and messages for those that cannot be.

use std::io::Write;

use mercer_data::real::Precision;
use mercer_data::{
    AnySamples, DataError, Dataset, Delimiter, Encoding, Features, Layout, Missing, ReadOptions, Schema,
    Source, TargetValues, read, read_source,
};
use proptest::prelude::*;

fn options(target: &[&str]) -> ReadOptions {
    ReadOptions { target: target.iter().map(|t| t.parse().unwrap()).collect(), ..ReadOptions::default() }
}

fn read_text(text: &str, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    read_source(&Source::bytes("t.csv", text.as_bytes()), options)
}

fn message(text: &str, options: &ReadOptions) -> String {
    read_text(text, options).unwrap_err().to_string()
}

fn entries(dataset: &Dataset) -> Vec<f64> {
    let mut row = vec![0.0; dataset.features.ncols()];
    let mut all = Vec::new();
    for i in 0..dataset.nrows() {
        dataset.features.copy_row(i, &mut row);
        all.extend_from_slice(&row);
    }
    all
}

fn numbers(dataset: &Dataset, target: usize) -> &[f64] {
    match &dataset.targets[target].values {
        TargetValues::Numbers(values) => values,
        TargetValues::Labels(labels) => panic!("{labels:?}"),
    }
}

#[test]
fn columns_split_into_features_and_targets_in_the_order_asked() {
    let (data, schema) = read_text("a,y,b,z\n1,2,3,4\n5,6,7,8\n", &options(&["z", "1"])).unwrap();
    assert_eq!(data.feature_names, ["a", "b"]);
    assert_eq!(entries(&data), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(data.targets[0].name, "z");
    assert_eq!(numbers(&data, 0), [4.0, 8.0]);
    assert_eq!(numbers(&data, 1), [2.0, 6.0]);
    assert_eq!(schema.nfeatures(), 2);
    assert!(data.notes.is_empty());
}

#[test]
fn without_targets_every_column_is_a_feature() {
    let (data, _) = read_text("1,2\n3,4\n", &options(&[])).unwrap();
    assert_eq!(data.feature_names, ["x0", "x1"]);
    assert_eq!(entries(&data), [1.0, 2.0, 3.0, 4.0]);
    assert!(data.targets.is_empty());
}

#[test]
fn the_delimiter_and_header_are_recognised() {
    let expected = [1.0, 2.0, 3.0, 4.0];
    for text in [
        "a,b\n1,2\n3,4\n",
        "a;b\r\n1;2\r\n3;4\r\n",
        "a\tb\n1\t2\n3\t4",
        "a  b\n 1   2\n3 4 \n",
        "\u{feff}a,b\n\n1,2\n   \n3,4\n\n",
        "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
        "\"a\" \"b\"\n1 2\n3 4\n",
        "1,2\n3,4\n",
        "1, 2\n3 ,4\n",
    ] {
        let (data, schema) = read_text(text, &options(&[])).unwrap();
        assert_eq!(entries(&data), expected, "{text:?}");
        assert_eq!(schema.named, text.contains('a'), "{text:?}");
    }
}

#[test]
fn a_first_row_with_a_label_is_not_taken_for_a_header() {
    let (data, _) = read_text("5.1,setosa\n4.9,setosa\n", &options(&["-1"])).unwrap();
    assert_eq!(entries(&data), [5.1, 4.9]);
    assert_eq!(data.targets[0].values, TargetValues::Labels(vec!["setosa".into(), "setosa".into()]));
    // A header whose names are partly numbers stands above numbers.
    let (data, _) = read_text("country,1980\n1,2\n", &options(&["country"])).unwrap();
    assert_eq!(data.feature_names, ["1980"]);
}

#[test]
fn the_layout_can_be_given() {
    let layout = Layout { header: Some(true), delimiter: Some(Delimiter::Byte(b'|')), format: None };
    let (data, _) = read_text("1|2\n3|4\n", &ReadOptions { layout, ..options(&[]) }).unwrap();
    assert_eq!(data.feature_names, ["1", "2"]);
    assert_eq!(entries(&data), [3.0, 4.0]);
    let layout = Layout { header: Some(false), ..Layout::default() };
    let error = message("a,b\n1,2\n", &ReadOptions { layout, ..options(&[]) });
    assert!(error.contains("line 1, column 1 (`x0`): `a` is not a number"), "{error}");
}

#[test]
fn quoted_fields_keep_delimiters_quotes_and_line_ends() {
    let (data, _) = read_text("t,x\n\"a, \"\"b\"\"\nc\",1\nd,2\n", &options(&["t"])).unwrap();
    assert_eq!(data.targets[0].values, TargetValues::Labels(vec!["a, \"b\"\nc".into(), "d".into()]));
    assert_eq!(entries(&data), [1.0, 2.0]);
}

#[test]
fn a_target_with_any_text_keeps_every_text_as_written() {
    let (data, _) = read_text("x,y\n1,1.0\n2,b\n3,01\n", &options(&["y"])).unwrap();
    assert_eq!(data.targets[0].values, TargetValues::Labels(vec!["1.0".into(), "b".into(), "01".into()]));
}

#[test]
fn categories_become_one_hot_features_in_sorted_order() {
    let categorical = vec!["colour".parse().unwrap()];
    let options = ReadOptions { categorical, ..options(&["y"]) };
    let (data, schema) = read_text("a,colour,b,y\n1,red,2,0\n3,blue,4,0\n5,red,6,1\n", &options).unwrap();
    assert_eq!(data.feature_names, ["a", "colour=blue", "colour=red", "b"]);
    assert_eq!(entries(&data), [1.0, 0.0, 1.0, 2.0, 3.0, 1.0, 0.0, 4.0, 5.0, 0.0, 1.0, 6.0]);
    assert_eq!(schema.nfeatures(), 4);
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
}

#[test]
fn too_many_categories_are_refused() {
    let mut text = String::from("id,x\n");
    (0..5000).for_each(|i| text.push_str(&format!("k{i},1\n")));
    let error = message(&text, &ReadOptions { categorical: vec!["id".parse().unwrap()], ..options(&[]) });
    assert!(error.contains("line 4098, column 1 (`id`)") && error.contains("4096"), "{error}");
}

#[test]
fn missing_values_are_refused_dropped_or_filled_in() {
    let text = "a,c,y\n1,u,1\n,u,2\n3,NA,3\n5,v,?\n2,u,5\n";
    let with = |missing| ReadOptions { missing, categorical: vec!["c".parse().unwrap()], ..options(&["y"]) };

    let error = message(text, &with(Missing::Error));
    assert!(error.starts_with("t.csv, line 3, column 1 (`a`): the value is missing"), "{error}");
    assert!(error.contains("--missing drop"), "{error}");

    let (data, _) = read_text(text, &with(Missing::Drop)).unwrap();
    assert_eq!(entries(&data), [1.0, 1.0, 2.0, 1.0]);
    assert_eq!(numbers(&data, 0), [1.0, 5.0]);
    assert_eq!(data.notes, ["3 rows with missing values left out"]);

    // The row without a target goes, and the category v with it; a has mean (1 + 3 + 2)/3 = 2.
    let (data, schema) = read_text(text, &with(Missing::Mean)).unwrap();
    assert_eq!(data.nrows(), 4);
    let Features::Columns(columns) = &schema.features else { panic!("columns") };
    assert_eq!(columns[0].encoding, Encoding::Number { mean: Some(2.0), indicator: false });
    assert_eq!(entries(&data), [1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0]);
    assert_eq!(
        data.notes,
        ["1 row with missing values left out", "2 missing values replaced by the mean of the training rows"]
    );
}

#[test]
fn a_missing_category_takes_the_shares() {
    let text = "c,x\nu,1\nu,1\nv,1\nu,1\n,1\n";
    let options =
        ReadOptions { missing: Missing::Mean, categorical: vec!["c".parse().unwrap()], ..options(&[]) };
    let (data, _) = read_text(text, &options).unwrap();
    assert_eq!(entries(&data)[12..], [0.75, 0.25, 1.0]);
}

#[test]
fn bad_input_is_named_by_file_line_and_column() {
    let none = options(&[]);
    for (text, options, expected) in [
        ("", &none, "t.csv: the file is empty"),
        ("\n \n\n", &none, "t.csv: the file is empty"),
        ("a,b\n", &none, "t.csv: there are no rows of data (only a header naming `a`, `b`)"),
        ("a,b\r\n\r\n1,2\r\n3\r\n", &none, "t.csv, line 4: expected 2 fields, found 1"),
        ("a,b\n1,2,3\n", &none, "t.csv, line 2: expected 2 fields, found 3"),
        ("a,b\n\"1\n\",2\n3\n", &none, "t.csv, line 4: expected 2 fields, found 1"),
        ("a,b\n1,\"2\n3,4\n", &none, "t.csv, line 2: a quote opened in this row is never closed"),
        ("a,b\n1,nan\n", &none, "t.csv, line 2, column 2 (`b`): the value is missing (`nan`)"),
        ("a,b\n1,-inf\n", &none, "t.csv, line 2, column 2 (`b`): `-inf` is not a finite number"),
        ("a,b\n1,1e400\n", &none, "t.csv, line 2, column 2 (`b`): `1e400` is not a finite number"),
        (
            "a,b\n1,2\n3,red\n",
            &none,
            "t.csv, line 3, column 2 (`b`): `red` is not a number; the column has numbers above: correct the field, or leave it empty if the value is missing (`--categorical b` one-hot encodes a column of codes)",
        ),
        ("a,b\n1,2\n", &options(&["c"]), "t.csv: there is no column `c`; the columns are `a`, `b`"),
        (
            "a,b\n1,2\n",
            &options(&["2"]),
            "t.csv: there is no column `2` (columns are numbered from 0 to 1); the columns are `a`, `b`",
        ),
        (
            "a,b\n1,2\n",
            &options(&["a", "0"]),
            "t.csv: the column `a` is listed twice among the targets, features and dropped columns",
        ),
        ("a,b\n1,2\n", &options(&["a", "b"]), "t.csv: no feature columns are left"),
        ("a,a\n1,2\n", &none, "t.csv: two columns are named `a`; give each column a name of its own"),
        ("a,y\n1,inf\n", &options(&["y"]), "t.csv, line 2, column 2 (`y`): `inf` is not a finite number"),
        ("a,y\n1,\n", &options(&["y"]), "t.csv, line 2, column 2 (`y`): the value is missing"),
    ] {
        let error = message(text, options);
        assert!(error.starts_with(expected), "{text:?}\nexpected {expected}\nfound    {error}");
    }
    let long = format!("a\n{}\n", "é".repeat(5000));
    let error = message(&long, &none);
    assert!(error.chars().count() < 200 && error.contains("é…"), "{error}");
    let many: Vec<String> = (0..500).map(|i| format!("c{i}")).collect();
    let row = vec!["1"; 500].join(",");
    let error = message(&format!("{}\n{row}\n", many.join(",")), &options(&["y"]));
    assert!(error.len() < 400 && error.contains("500 in all"), "{error}");
}

#[test]
fn dropping_every_row_says_so() {
    let error = message("a,b\n1,\n2,\n", &ReadOptions { missing: Missing::Drop, ..options(&[]) });
    assert!(error.contains("2 rows with missing values left out"), "{error}");
    let error = message("a,b\n1,\n2,\n", &ReadOptions { missing: Missing::Mean, ..options(&[]) });
    assert!(
        error.starts_with("t.csv, column 2 (`b`)") && error.contains("the whole column is empty"),
        "{error}"
    );
}

#[test]
fn single_precision_refuses_values_out_of_range() {
    let single = ReadOptions { dtype: Precision::Single, ..options(&[]) };
    let (data, _) = read_text("0.1\n2\n", &single).unwrap();
    let AnySamples::F32(samples) = &data.features else { panic!("f32") };
    assert_eq!(samples.stored_values(), [0.1f32, 2.0]);
    let error = message("1\n1e300\n", &single);
    assert!(error.contains("line 2") && error.contains("1e300") && error.contains("f32"), "{error}");
}

#[test]
fn one_row_is_enough() {
    let (data, _) = read_text("a,y\n1,2\n", &options(&["y"])).unwrap();
    assert_eq!(data.nrows(), 1);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_recognised_by_its_bytes_and_may_have_several_members() {
    let mut bytes = gzipped(b"a,b\n1,2\n");
    bytes.extend(gzipped(b"3,4\n"));
    let (data, _) = read_source(&Source::bytes("no-name", bytes), &options(&[])).unwrap();
    assert_eq!(entries(&data), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_truncated_gzip_error_names_the_position() {
    let mut text = String::from("a,b\n");
    (0..100_000).for_each(|i| text.push_str(&format!("{i},{}\n", i * 7919 % 10_007)));
    let bytes = gzipped(text.as_bytes());
    let half = bytes[..bytes.len() / 2].to_vec();
    let error = read_source(&Source::bytes("t.csv.gz", half), &options(&[])).unwrap_err().to_string();
    assert!(error.starts_with("t.csv.gz, line ") && error.contains("cannot be read"), "{error}");
    let stub = bytes[..20].to_vec();
    assert!(read_source(&Source::bytes("t.csv.gz", stub), &options(&[])).is_err());
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent.csv");
    let error = read(&absent, &options(&[])).unwrap_err().to_string();
    assert!(error.contains("absent.csv: cannot be opened"), "{error}");
    let error = read(folder.path(), &options(&[])).unwrap_err().to_string();
    assert!(error.contains("cannot be opened"), "{error}");
    let binary = read_source(&Source::bytes("a.out", *b"\x7fELF\0\0"), &options(&[]));
    assert!(binary.unwrap_err().to_string().contains("format is not recognised"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any table of finite numbers reads back exactly as it was written, through the `csv` crate's writer.
    #[test]
    fn numbers_read_back_exactly(
        rows in (1usize..6).prop_flat_map(|width| prop::collection::vec(
            prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL, width),
            1..8,
        )),
        quote in any::<bool>(),
        delimiter in prop::sample::select(vec![b',', b';', b'\t']),
    ) {
        let style = if quote { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(Vec::new());
        for row in &rows {
            writer.write_record(row.iter().map(|v| format!("{v:e}"))).unwrap();
        }
        let source = Source::bytes("t.csv", writer.into_inner().unwrap());
        let (data, _) = read_source(&source, &options(&[])).unwrap();
        let expected: Vec<f64> = rows.concat();
        prop_assert_eq!(entries(&data), expected);
    }

    /// Text fields with quotes, delimiters and line ends are split as the `csv` crate splits them.
    #[test]
    fn fields_are_split_as_the_csv_crate_splits_them(
        labels in prop::collection::vec("[a-c\",\n;]{1,6}z", 1..6),
        raw in "[a\",1]{0,12}",
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["label", "x"]).unwrap();
        for label in &labels {
            writer.write_record([label.as_str(), "1"]).unwrap();
        }
        let mut text = writer.into_inner().unwrap();
        text.extend_from_slice(format!("r{raw}\n").as_bytes());
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&text[..]);
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let last = records.last().unwrap();
        match read_source(&Source::bytes("t.csv", text.clone()), &options(&["label"])) {
            Ok((data, _)) => {
                let TargetValues::Labels(read) = &data.targets[0].values else { panic!("labels") };
                let expected: Vec<String> =
                    records[1..].iter().map(|record| record[0].trim().to_owned()).collect();
                prop_assert_eq!(read, &expected);
            }
            Err(DataError::Ragged { found, .. }) => prop_assert_eq!(found, last.len()),
            Err(DataError::NotANumber { text, .. }) => prop_assert_eq!(text, last[1].to_owned()),
            Err(DataError::MissingValue { .. }) => prop_assert_eq!(last[1].trim(), ""),
            Err(DataError::UnclosedQuote { .. }) => prop_assert!(raw.contains('"')),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        }
    }
}
