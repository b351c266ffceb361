//! LIBSVM text: reading, writing, and messages for text that cannot be read.

use mercer_data::real::Precision;
use mercer_data::{
    AnySamples, DataError, Dataset, FileChunks, Layout, Missing, ReadOptions, Samples, Schema, Source,
    Storage, TargetValues, read_source, write_svmlight,
};
use proptest::prelude::*;

fn read_text(text: &str, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    read_source(&Source::bytes("t.svm", text.as_bytes()), options)
}

fn compressed(dataset: &Dataset) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let AnySamples::F64(samples) = &dataset.features else { panic!("f64") };
    let Storage::Sparse { indptr, indices, values } = samples.storage() else { panic!("sparse") };
    (indptr.to_vec(), indices.to_vec(), values.to_vec())
}

#[test]
fn rows_comments_gaps_and_query_ids() {
    let text = "# made by hand\n+1 qid:3 1:0.5 4:-2 # first\n\n-1\r\n1 2:1e-3\n";
    let (data, schema) = read_text(text, &ReadOptions::default()).unwrap();
    assert_eq!(data.features.ncols(), 4);
    assert_eq!(compressed(&data), (vec![0, 2, 2, 3], vec![0, 3, 1], vec![0.5, -2.0, 1e-3]));
    assert_eq!(data.targets[0].name, "label");
    assert_eq!(data.targets[0].values, TargetValues::Numbers(vec![1.0, -1.0, 1.0]));
    assert_eq!(schema.nfeatures(), 4);
}

#[test]
fn several_labels_are_several_targets() {
    let (data, _) = read_text("1,2 1:1\n3,4.5 2:1\n", &ReadOptions::default()).unwrap();
    let names: Vec<&str> = data.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["label_1", "label_2"]);
    assert_eq!(data.targets[1].values, TargetValues::Numbers(vec![2.0, 4.5]));
}

#[test]
fn rows_without_labels_have_no_target() {
    let (data, schema) = read_text("1:1 2:1\n2:5\n", &ReadOptions::default()).unwrap();
    assert!(data.targets.is_empty() && schema.targets.is_empty());
    assert_eq!(data.nrows(), 2);
}

#[test]
fn bad_rows_are_named_by_their_line() {
    let options = ReadOptions::default();
    for (text, expected) in [
        ("1 1:1\n1 0:1\n", "t.svm, line 2: found the index 0, but indices start at 1"),
        ("1 3:1 2:1\n", "t.svm, line 1: found the index 2 after 3, but indices must ascend"),
        ("1 3:1 3:1\n", "t.svm, line 1: found the index 3 after 3, but indices must ascend"),
        ("1 4294967296:1\n", "t.svm, line 1: the index 4294967296 is too large"),
        ("1 99999999999999999999999:1\n", "t.svm, line 1: the index 99999999999999999999999 is too large"),
        ("1 -1:1\n", "t.svm, line 1: expected an index from 1, found `-1`"),
        ("1 :1\n", "t.svm, line 1: expected an index from 1, found ``"),
        ("1 2\n", "t.svm, line 1: expected index:value, found `2`"),
        ("1 2:x\n", "t.svm, line 1: the value of index 2, `x`, is not a number"),
        ("1 2:inf\n", "t.svm, line 1, column 2 (`2`): `inf` is not a finite number"),
        ("1 2:nan\n", "t.svm, line 1, column 2 (`2`): the value is missing"),
        ("a 2:1\n", "t.svm, line 1: the label `a` is not a finite number"),
        ("nan 2:1\n", "t.svm, line 1: the label `nan` is not a finite number"),
        ("1 1:1\n1,2 1:1\n", "t.svm, line 2: found 2 labels, but the first row has 1"),
        ("1 1:1\n2:1\n", "t.svm, line 2: found 0 labels, but the first row has 1"),
        ("# nothing\n", "t.svm: there are no rows of data"),
        ("1\n2\n", "t.svm: no feature columns are left"),
        ("", "t.svm: the file is empty"),
    ] {
        let error = read_text(text, &options).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?}\nexpected {expected}\nfound    {error}");
    }
    let target = vec!["y".parse().unwrap()];
    let error = read_text("1 1:1\n", &ReadOptions { target, ..options.clone() }).unwrap_err().to_string();
    assert!(error.contains("no column `y`") && error.contains("`label`"), "{error}");
    let single = ReadOptions { dtype: Precision::Single, ..options };
    assert!(read_text("1 1:1e300\n", &single).unwrap_err().to_string().contains("f32"));
}

#[test]
fn incomplete_rows_can_be_dropped() {
    let options = ReadOptions { missing: Missing::Drop, ..ReadOptions::default() };
    let (data, _) = read_text("1 1:1\n2 1:nan 5:2\n? 1:1\n3 2:1\n", &options).unwrap();
    assert_eq!(data.targets[0].values, TargetValues::Numbers(vec![1.0, 3.0]));
    assert_eq!(compressed(&data), (vec![0, 1, 2], vec![0, 1], vec![1.0, 1.0]));
    assert_eq!(data.features.ncols(), 2);
    assert_eq!(data.notes, ["2 rows with missing values left out"]);
}

#[test]
fn a_narrower_file_fits_a_wider_model_and_not_the_other_way() {
    let (_, schema) = read_text("1 1:1 7:1\n", &ReadOptions::default()).unwrap();
    let chunks = |text: &str| {
        FileChunks::open(Source::bytes("p.svm", text.as_bytes()), &schema, 10, Layout::default()).unwrap()
    };
    let chunk = chunks("1 3:1\n").next().unwrap().unwrap();
    assert_eq!(chunk.features.ncols(), 7);
    assert!(chunks("3:1\n").next().unwrap().unwrap().targets.is_empty());
    let error = chunks("1 3:1\n1 8:1\n").next().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("p.svm, line 2: found the index 8, but there are 7 features"), "{error}");
    let widened = ReadOptions { ncols: Some(9), ..ReadOptions::default() };
    assert_eq!(read_text("1 1:1\n", &widened).unwrap().0.features.ncols(), 9);
    assert!(read_text("1 10:1\n", &widened).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back_exactly(
        rows in prop::collection::vec(
            (prop::num::f64::NORMAL, prop::collection::btree_map(0u32..1000, prop::num::f64::NORMAL, 0..6)),
            1..8,
        ),
    ) {
        let (mut indptr, mut indices, mut values) = (vec![0], vec![0], vec![1.0]);
        // The first row has the first column, so that there always is a feature.
        indptr.push(1);
        let mut labels = vec![0.5];
        for (label, row) in &rows {
            labels.push(*label);
            indices.extend(row.keys());
            values.extend(row.values());
            indptr.push(values.len());
        }
        let ncols = *indices.iter().max().unwrap() as usize + 1;
        let samples = Samples::sparse(ncols, indptr.clone(), indices.clone(), values.clone()).unwrap();
        let mut text = Vec::new();
        write_svmlight(&mut text, &AnySamples::F64(samples), &labels).unwrap();
        let (data, _) = read_source(&Source::bytes("t.svm", text), &ReadOptions::default()).unwrap();
        prop_assert_eq!(data.features.ncols(), ncols);
        prop_assert_eq!(compressed(&data), (indptr, indices, values));
        prop_assert_eq!(&data.targets[0].values, &TargetValues::Numbers(labels));
    }
}

#[test]
fn too_many_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.svm");
    std::fs::write(&path, "1 1:1 4000000000:1\n").unwrap();
    let error = mercer_data::read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("4000000000"), "{error}");
}
