//! NumPy files: what is read and written, with the `npyz` crate as the other party, and headers that lie.

use std::io::{Cursor, Write};

use mercer_data::{
    AnySamples, DataError, Dataset, Dtype, FileChunks, Layout, Missing, ReadOptions, Schema, Source,
    TargetValues, read, read_source, write_npy,
};
use npyz::WriterBuilder;

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

fn by_npyz<T: npyz::AutoSerialize + Copy>(shape: &[u64], order: npyz::Order, values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
    let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
    writer.extend(values.iter()).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn arrays_of_every_number_type_and_both_orders() {
    let all = ReadOptions::default();
    let expected = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    macro_rules! check {
        ($($type:ty),*) => {$(
            let rows: Vec<$type> = (1..=6).map(|i| i as $type).collect();
            let (data, _) = read_bytes("a.npy", by_npyz(&[3, 2], npyz::Order::C, &rows), &all).unwrap();
            assert_eq!(entries(&data), expected, stringify!($type));
            assert_eq!(data.feature_names, ["x0", "x1"]);
            let columns: Vec<$type> = [1, 3, 5, 2, 4, 6].map(|i| i as $type).to_vec();
            let bytes = by_npyz(&[3, 2], npyz::Order::Fortran, &columns);
            assert_eq!(entries(&read_bytes("a.npy", bytes, &all).unwrap().0), expected, stringify!($type));
        )*};
    }
    check!(f64, f32, i8, i16, i32, i64, u8, u16, u32, u64);
    let big: Vec<u8> = expected.iter().flat_map(|v: &f64| v.to_be_bytes()).collect();
    assert_eq!(entries(&read_bytes("a.npy", npy(">f8", "False", "(3, 2)", &big), &all).unwrap().0), expected);
    let flags = npy("|b1", "False", "(3,)", &[1, 0, 1]);
    assert_eq!(entries(&read_bytes("a.npy", flags, &all).unwrap().0), [1.0, 0.0, 1.0]);
    let negative = npy("<i2", "False", "(1L, 1L)", &(-7i16).to_le_bytes());
    assert_eq!(entries(&read_bytes("a", negative, &all).unwrap().0), [-7.0]);
}

#[test]
fn a_target_is_a_place() {
    let bytes = by_npyz(&[2, 3], npyz::Order::C, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
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
fn what_is_not_a_number_is_missing_and_infinities_are_named() {
    let bytes = by_npyz(&[2, 2], npyz::Order::C, &[1.0, f64::NAN, 3.0, 4.0]);
    let error = read_bytes("a.npy", bytes.clone(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("a.npy, row 0, column 1 (counted from 0): the value is missing"), "{error}");
    let fill = ReadOptions { missing: Missing::Mean, ..ReadOptions::default() };
    assert_eq!(entries(&read_bytes("a.npy", bytes, &fill).unwrap().0), [1.0, 4.0, 3.0, 4.0]);
    let bytes = by_npyz(&[2, 1], npyz::Order::C, &[1.0, f64::INFINITY]);
    let error = read_bytes("a.npy", bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("a.npy, row 1, column 0 (counted from 0): `inf` is not a finite"), "{error}");
    let bytes = by_npyz(&[1], npyz::Order::C, &[1e300]);
    let single = ReadOptions { dtype: Dtype::F32, ..ReadOptions::default() };
    assert!(read_bytes("a.npy", bytes, &single).is_err());
}

#[test]
fn headers_that_lie_are_refused_without_the_memory_they_claim() {
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
        ("(3, 0)", "no column is left to be a feature"),
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
    let mut archive = npyz::npz::NpzWriter::new(Cursor::new(Vec::new()));
    let writer = archive.zip_writer();
    for (name, bytes) in arrays {
        writer.start_file(format!("{name}.npy"), Default::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn archives_hold_features_and_targets() {
    let x = by_npyz(&[2, 2], npyz::Order::C, &[1.0, 2.0, 3.0, 4.0]);
    let y = by_npyz(&[2], npyz::Order::C, &[5i64, 6]);
    let other = by_npyz(&[3], npyz::Order::C, &[1i64, 2, 3]);
    for (features, target) in [("X", "y"), ("X_train", "y_train")] {
        let bytes = npz(&[("z", other.clone()), (features, x.clone()), (target, y.clone())]);
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
    let uneven = error(npz(&[("X", x.clone()), ("y", other)]));
    assert!(uneven.contains("array `y`") && uneven.contains("3 rows, but the features have 2"), "{uneven}");
    let mut cut = npz(&[("X", x)]);
    cut.truncate(60);
    assert!(error(cut).contains("not a readable .npz archive"));
}

#[test]
fn what_is_written_is_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("K.npy");
    for (nrows, ncols) in [(3, 2), (1, 1), (123_456, 1), (0, 5)] {
        let values: Vec<f64> = (0..nrows * ncols).map(|i| i as f64 / 3.0).collect();
        write_npy(&path, nrows, ncols, &values).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes.len() - 8 * values.len()) % 64, 0, "aligned as NumPy asks");
        let array = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(array.shape(), [nrows as u64, ncols as u64]);
        assert_eq!(array.order(), npyz::Order::C);
        assert_eq!(array.into_vec::<f64>().unwrap(), values);
    }
    write_npy(&path, 1, 2, &[0.1f32, 2.0]).unwrap();
    assert_eq!(
        npyz::NpyFile::new(&std::fs::read(&path).unwrap()[..]).unwrap().into_vec::<f32>().unwrap(),
        [0.1, 2.0]
    );
    let (data, _) = read(&path, &ReadOptions { dtype: Dtype::F32, ..ReadOptions::default() }).unwrap();
    let AnySamples::F32(samples) = &data.features else { panic!("f32") };
    assert_eq!(samples.stored_values(), [0.1, 2.0]);
    assert!(write_npy(&path, 2, 2, &[1.0]).is_err());
}
