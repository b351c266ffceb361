//! Chunks: files read for prediction under the schema of the training file.

use mercer_data::{
    DataError, Dataset, FileChunks, Layout, Missing, ReadOptions, Schema, Source, TargetValues, read_source,
};

fn schema(text: &str, options: &ReadOptions) -> Schema {
    read_source(&Source::bytes("train.csv", text.as_bytes()), options).unwrap().1
}

fn house_options() -> ReadOptions {
    ReadOptions {
        target: vec!["price".parse().unwrap()],
        categorical: vec!["town".parse().unwrap()],
        ..ReadOptions::default()
    }
}

const HOUSES: &str = "area,price,town,age\n50,3,Ulm,10\n80,5,Bonn,20\n65,4,Ulm,30\n";

fn replay(name: &str, text: &str, schema: &Schema, rows: usize) -> Result<Vec<Dataset>, DataError> {
    FileChunks::open(Source::bytes(name, text.as_bytes()), schema, rows, Layout::default())?.collect()
}

fn rows(chunks: &[Dataset]) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for chunk in chunks {
        for i in 0..chunk.nrows() {
            let mut row = vec![0.0; chunk.features.ncols()];
            chunk.features.copy_row(i, &mut row);
            all.push(row);
        }
    }
    all
}

#[test]
fn chunks_of_any_size_put_together_are_the_file() {
    let (whole, schema) =
        read_source(&Source::bytes("train.csv", HOUSES.as_bytes()), &house_options()).unwrap();
    let expected = rows(std::slice::from_ref(&whole));
    for size in [0, 1, 2, 3, 4, usize::MAX] {
        let chunks = replay("p.csv", HOUSES, &schema, size).unwrap();
        assert_eq!(rows(&chunks), expected, "{size}");
        assert!(chunks.iter().all(|chunk| chunk.nrows() <= size.max(1)));
        let targets: Vec<f64> = chunks
            .iter()
            .flat_map(|chunk| match &chunk.targets[0].values {
                TargetValues::Numbers(values) => values.clone(),
                TargetValues::Labels(_) => panic!("numbers"),
            })
            .collect();
        assert_eq!(targets, [3.0, 5.0, 4.0]);
        assert!(chunks.iter().all(|chunk| chunk.feature_names == whole.feature_names));
    }
}

#[test]
fn columns_are_matched_by_name_and_others_ignored() {
    let schema = schema(HOUSES, &house_options());
    let text = "town,id,age,area\nUlm,a7,10,50\nBonn,b8,20,80\n";
    let chunks = replay("p.csv", text, &schema, 10).unwrap();
    assert_eq!(rows(&chunks), [[50.0, 0.0, 1.0, 10.0], [80.0, 1.0, 0.0, 20.0]]);
    assert!(chunks[0].targets.is_empty());
}

#[test]
fn columns_without_names_are_matched_by_place_with_or_without_the_target() {
    let schema = schema(HOUSES, &house_options());
    let expected = [[50.0, 0.0, 1.0, 10.0]];
    let with = replay("p.csv", "50,3,Ulm,10\n", &schema, 10).unwrap();
    assert_eq!(rows(&with), expected);
    assert_eq!(with[0].targets[0].values, TargetValues::Numbers(vec![3.0]));
    let without = replay("p.csv", "50,Ulm,10\n", &schema, 10).unwrap();
    assert_eq!(rows(&without), expected);
    assert!(without[0].targets.is_empty());
}

#[test]
fn mismatched_columns_are_reported() {
    let schema = schema(HOUSES, &house_options());
    for (text, expected) in [
        ("area,town\n50,Ulm\n", "p.csv: the model needs the column `age`; the file has `area`, `town`"),
        ("a,b\n50,Ulm\n", "p.csv: the model needs the columns `area`, `town`, `age`; the file has `a`, `b`"),
        ("50,10\n", "p.csv: found 2 columns; the model needs 3, or 4 with the target"),
        ("50,3,Ulm,10,5\n", "p.csv: found 5 columns; the model needs 3, or 4 with the target"),
        (
            "area,town,age\n50,Ulm,10\n50,Köln,10\n",
            "p.csv, line 3, column 2 (`town`): the category `Köln` was not in the training data, which had `Bonn`, `Ulm`",
        ),
        ("area,town,age\n50,Ulm,\n", "p.csv, line 2, column 3 (`age`): the value is missing"),
        ("area,town,age\n50,,1\n", "p.csv, line 2, column 2 (`town`): the value is missing"),
        ("area,town,age\n50,Ulm,old\n", "p.csv, line 2, column 3 (`age`): `old` is not a number"),
        ("area,town,age\n50,Ulm\n", "p.csv, line 2: expected 3 fields, found 2"),
        ("area,town,age,price\n50,Ulm,1,dear\n", "p.csv, line 2, column 4 (`price`): `dear` is not a number"),
        ("area,town,age\n", "p.csv: there are no rows of data"),
        ("", "p.csv: the file is empty"),
    ] {
        let error = replay("p.csv", text, &schema, 10).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?}\nexpected {expected}\nfound    {error}");
    }
    let error = replay("p.svm", "1 1:2\n", &schema, 10).unwrap_err().to_string();
    assert!(error.contains("LIBSVM"), "{error}");
    let sparse = read_source(&Source::bytes("t.svm", *b"1 1:2\n"), &ReadOptions::default()).unwrap().1;
    let error = replay("p.csv", "1,2\n", &sparse, 10).unwrap_err().to_string();
    assert!(error.contains("LIBSVM"), "{error}");
}

#[test]
fn a_model_that_drops_rows_refuses_missing_values_in_predict() {
    let schema = schema(
        "a,y\n1,2\n,3\n",
        &ReadOptions { target: vec!["y".parse().unwrap()], missing: Missing::Drop, ..ReadOptions::default() },
    );
    let error = replay("p.csv", "a\n1\nNA\n", &schema, 10).unwrap_err().to_string();
    assert!(
        error.starts_with("p.csv, line 3, column 1 (`a`)") && error.contains("--missing mean"),
        "{error}"
    );
}

#[test]
fn a_model_that_fills_in_uses_the_training_values() {
    let options = ReadOptions { missing: Missing::Mean, ..house_options() };
    let text = serde_json::to_string(&schema(HOUSES, &options)).unwrap();
    let schema: Schema = serde_json::from_str(&text).unwrap();
    let chunks = replay("p.csv", "area,town,age\n,?,100\n1,Köln,1\n", &schema, 10).unwrap();
    assert_eq!(rows(&chunks), [[65.0, 1.0 / 3.0, 2.0 / 3.0, 100.0], [1.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]]);
    assert_eq!(
        chunks[0].notes,
        ["2 missing values replaced by the mean of the training rows", "1 unknown category taken as missing"]
    );
}

#[test]
fn unknown_targets_are_left_empty() {
    let numbers = schema(HOUSES, &house_options());
    let chunks = replay("p.csv", "area,price,town,age\n50,?,Ulm,10\n50,7,Ulm,10\n", &numbers, 10).unwrap();
    let TargetValues::Numbers(values) = &chunks[0].targets[0].values else { panic!("numbers") };
    assert!(values[0].is_nan() && values[1] == 7.0);
    let labels =
        schema("a,y\n1,u\n2,v\n", &ReadOptions { target: vec!["y".parse().unwrap()], ..Default::default() });
    let chunks = replay("p.csv", "a,y\n1,\n2,7\n", &labels, 10).unwrap();
    assert_eq!(chunks[0].targets[0].values, TargetValues::Labels(vec![String::new(), "7".into()]));
}

#[test]
fn a_schema_that_names_a_column_twice_is_refused() {
    let categorical = vec!["a".parse().unwrap(), "b".parse().unwrap()];
    let options = ReadOptions { categorical, ..ReadOptions::default() };
    let text = serde_json::to_string(&schema("a,b\nu,v\nw,v\n", &options)).unwrap();
    let damaged: Schema = serde_json::from_str(&text.replacen("\"a\"", "\"b\"", 1)).unwrap();
    let error = replay("p.csv", "a,b\nu,v\n", &damaged, 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "p.csv: the column `b` is listed twice among the targets, features and dropped columns"
    );
}

#[test]
fn a_damaged_schema_is_an_error_or_an_answer_but_never_a_panic() {
    let options = ReadOptions { missing: Missing::Mean, ..house_options() };
    let text = serde_json::to_string(&schema(HOUSES, &options)).unwrap();
    for (from, to) in [
        ("\"position\":0", "\"position\":18446744073709551615"),
        ("\"mean\":65.0", "\"mean\":null"),
        ("[\"Bonn\",\"Ulm\"]", "[]"),
        ("[\"Bonn\",\"Ulm\"]", "[\"Ulm\",\"Ulm\",\"x\"]"),
        ("\"age\"", "\"area\""),
        ("\"price\"", "\"area\""),
        ("\"f64\"", "\"f32\""),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let damaged: Schema = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        for file in [HOUSES, "50,3,Ulm,10\n", "50,Ulm,10\n", ",,\n,,\n", "area,town,age\n,,\n"] {
            if let Ok(chunks) = replay("p.csv", file, &damaged, 1) {
                assert!(rows(&chunks).concat().iter().all(|value| value.is_finite()), "{to} {file}");
            }
        }
    }
}
