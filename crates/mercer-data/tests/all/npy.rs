//! NumPy files: what NumPy wrote (`data/numpy/write.py`), files written as NumPy writes them, and false headers.

use std::io::{Cursor, Write};
use std::path::Path;

use mercer_data::real::Precision;
use mercer_data::{
    AnySamples, DataError, Dataset, FileChunks, Layout, Missing, ReadOptions, Schema, Source, TargetValues,
    read, read_source, write_npy,
};
use zip::write::SimpleFileOptions;

fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn read_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    read_source(&Source::bytes(name, bytes), options)
}

fn entries(dataset: &Dataset) -> Vec<f64> {
    let AnySamples::F64(samples) = &dataset.features else { panic!("f64") };
    samples.stored_values().to_vec()
}

/// A file that NumPy wrote.
fn by_numpy(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/numpy").join(name)).unwrap()
}

/// An array of doubles in C order.
fn doubles(shape: &str, values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f8", "False", shape, &data)
}

#[test]
fn arrays_of_every_number_type_and_both_orders() {
    let all = ReadOptions::default();
    let expected = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for kind in ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"] {
        for order in ["c", "fortran"] {
            let name = format!("{kind}-{order}.npy");
            let (data, _) = read_bytes(&name, by_numpy(&name), &all).unwrap();
            assert_eq!(entries(&data), expected, "{name}");
            assert_eq!(data.feature_names, ["x0", "x1"]);
        }
    }
    assert_eq!(entries(&read_bytes("a.npy", by_numpy("big-endian.npy"), &all).unwrap().0), expected);
    let flags = npy("|b1", "False", "(3,)", &[1, 0, 1]);
    assert_eq!(entries(&read_bytes("a.npy", flags, &all).unwrap().0), [1.0, 0.0, 1.0]);
    let negative = npy("<i2", "False", "(1L, 1L)", &(-7i16).to_le_bytes());
    assert_eq!(entries(&read_bytes("a", negative, &all).unwrap().0), [-7.0]);
}

#[test]
fn a_target_is_a_column_index() {
    let bytes = doubles("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let options = ReadOptions { target: vec!["-1".parse().unwrap()], ..ReadOptions::default() };
    let (data, schema) = read_bytes("a.npy", bytes.clone(), &options).unwrap();
    assert_eq!(entries(&data), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(data.targets[0].values, TargetValues::Numbers(vec![3.0, 6.0]));
    let source = Source::bytes("a.npy", bytes);
    let chunks: Result<Vec<_>, _> =
        FileChunks::open(source, &schema, 1, Layout::default()).unwrap().collect();
    let chunks = chunks.unwrap();
    assert_eq!(chunks.len(), 2);
    assert_eq!(entries(&chunks[1]), [4.0, 5.0]);
    assert_eq!(chunks[1].targets[0].values, TargetValues::Numbers(vec![6.0]));
}

#[test]
fn nan_is_missing_and_infinities_are_named() {
    let bytes = doubles("(2, 2)", &[1.0, f64::NAN, 3.0, 4.0]);
    let error = read_bytes("a.npy", bytes.clone(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("a.npy, row 0, column 1 (counted from 0): the value is missing"), "{error}");
    let fill = ReadOptions { missing: Missing::Mean, ..ReadOptions::default() };
    assert_eq!(entries(&read_bytes("a.npy", bytes, &fill).unwrap().0), [1.0, 4.0, 3.0, 4.0]);
    let bytes = doubles("(2, 1)", &[1.0, f64::INFINITY]);
    let error = read_bytes("a.npy", bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("a.npy, row 1, column 0 (counted from 0): `inf` is not a finite"), "{error}");
    let bytes = doubles("(1,)", &[1e300]);
    let single = ReadOptions { dtype: Precision::Single, ..ReadOptions::default() };
    assert!(read_bytes("a.npy", bytes, &single).is_err());
}

#[test]
fn false_headers_are_refused_without_allocating_the_claimed_memory() {
    let data = [0; 64];
    for (shape, expected) in [
        ("(1000000000000, 1000)", "the header promises 1000000000000 rows, but the data end"),
        ("(2, 1000000000000)", "the header promises"),
        ("(4294967296, 4294967296)", "beyond what a file can hold"),
        ("(18446744073709551615, 2)", "beyond what a file can hold"),
        ("(99999999999999999999, 2)", "malformed"),
        ("(3, 4)", "the header promises 3 rows, but the data end in row 2"),
        ("(2, 2, 2)", "expected an array of 1 or 2 dimensions, found 3"),
        ("()", "expected an array of 1 or 2 dimensions, found 0"),
        ("(0, 3)", "there are no rows of data (the array has shape (0, 3))"),
        ("(3, 0)", "no feature columns are left"),
        ("(3, -1)", "malformed"),
        ("3", "malformed"),
    ] {
        for order in ["False", "True"] {
            let bytes = npy("<f8", order, shape, &data);
            // An array in Fortran order is short as a whole, one in C order in a row.
            let error = read_bytes("a.npy", bytes, &ReadOptions::default()).unwrap_err().to_string();
            let said = error.contains(expected)
                || (expected.contains("the header promises") && error.contains("the header promises"));
            assert!(error.starts_with("a.npy: ") && said, "{shape} {order}: {error}");
        }
    }
    for (bytes, expected) in [
        (npy("<c16", "False", "(1, 1)", &data), "the element type `<c16` is not read"),
        (npy("|O", "False", "(1, 1)", &data), "the element type `|O` is not read"),
        (b"\x93NUMPY\x01\x00\x10".to_vec(), "ends inside its NumPy header"),
        (b"\x93NUMPY\x09\x00\x10\x00".to_vec(), "version of the NumPy format is not known"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "longer than any array"),
        (b"not numpy at all".to_vec(), "not a NumPy array"),
    ] {
        let error = read_bytes("a.npy", bytes, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "expected {expected}, found {error}");
    }
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn archives_hold_features_and_targets() {
    let x = doubles("(2, 2)", &[1.0, 2.0, 3.0, 4.0]);
    // `X`, `y` and another array; `X_train`, `y_train` and another one, compressed.
    for bytes in ["stored.npz", "deflated.npz"].map(by_numpy) {
        for options in [
            ReadOptions::default(),
            ReadOptions { target: vec!["y".parse().unwrap()], ..ReadOptions::default() },
        ] {
            let (data, schema) = read_bytes("a.npz", bytes.clone(), &options).unwrap();
            assert_eq!(entries(&data), [1.0, 2.0, 3.0, 4.0]);
            assert_eq!(data.targets[0].name, "y");
            assert_eq!(data.targets[0].values, TargetValues::Numbers(vec![5.0, 6.0]));
            let replay = |name: &str, bytes: &[u8]| {
                let source = Source::bytes(name, bytes);
                FileChunks::open(source, &schema, 9, Layout::default()).unwrap().next().unwrap().unwrap()
            };
            assert_eq!(replay("a.npz", &bytes), data);
            let unlabelled = replay("x.npy", &x);
            assert_eq!((entries(&unlabelled), unlabelled.targets.len()), (entries(&data), 0));
            assert_eq!(replay("x.csv", b"1,2,5\n3,4,6\n").targets, data.targets);
        }
    }
    let only = read_bytes("a.npz", npz(&[("data", x.clone())]), &ReadOptions::default()).unwrap().0;
    assert_eq!(entries(&only), [1.0, 2.0, 3.0, 4.0]);
    let several = npz(&[("X", x.clone()), ("y", x.clone())]);
    let several = read_bytes("a.npz", several, &ReadOptions::default()).unwrap().0;
    assert_eq!(several.targets[1].name, "y_1");
    assert_eq!(several.targets[1].values, TargetValues::Numbers(vec![2.0, 4.0]));

    let error = |bytes| read_bytes("a.npz", bytes, &ReadOptions::default()).unwrap_err().to_string();
    let unnamed = error(npz(&[("b", x.clone()), ("a", x.clone())]));
    assert!(unnamed.starts_with("a.npz: ") && unnamed.contains("found `a`, `b`"), "{unnamed}");
    let uneven = error(npz(&[("X", x.clone()), ("y", doubles("(3,)", &[1.0, 2.0, 3.0]))]));
    assert!(uneven.contains("array `y`") && uneven.contains("3 rows, but the features have 2"), "{uneven}");
    let mut cut = npz(&[("X", x)]);
    cut.truncate(60);
    assert!(error(cut).contains("not a readable .npz archive"));
}

#[test]
fn files_are_written_as_numpy_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("K.npy");
    let thirds = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|i| i / 3.0);
    write_npy(&path, 3, 2, &thirds).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), by_numpy("thirds.npy"));
    write_npy::<f64>(&path, 0, 5, &[]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), by_numpy("empty.npy"));
    let long: Vec<f64> = (0..123_456).map(|i| f64::from(i) / 3.0).collect();
    write_npy(&path, long.len(), 1, &long).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!((bytes.len() - 8 * long.len()) % 64, 0, "aligned as NumPy asks");
    assert_eq!(entries(&read_bytes("K.npy", bytes, &ReadOptions::default()).unwrap().0), long);
    write_npy(&path, 1, 2, &[0.1f32, 2.0]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), by_numpy("single.npy"));
    let (data, _) = read(&path, &ReadOptions { dtype: Precision::Single, ..ReadOptions::default() }).unwrap();
    let AnySamples::F32(samples) = &data.features else { panic!("f32") };
    assert_eq!(samples.stored_values(), [0.1, 2.0]);
    assert!(write_npy(&path, 2, 2, &[1.0]).is_err());
}
