//! Arbitrary bytes: every reader returns rows or an error, and never panics, hangs or exhausts memory.

use std::io::{Cursor, Write};
use std::sync::LazyLock;

use mercer_data::real::Precision;
use mercer_data::{
    FileChunks, Format, Layout, Missing, ReadOptions, Schema, Source, read_source, write_npy_entries,
    write_npy_header,
};
use proptest::prelude::*;

const FORMATS: [Format; 4] = [Format::Csv, Format::Svmlight, Format::Npy, Format::Npz];

static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    let categorical = ReadOptions {
        target: vec!["-1".parse().unwrap()],
        categorical: vec!["0".parse().unwrap()],
        missing: Missing::Mean,
        ..ReadOptions::default()
    };
    let schema = |name: &str, bytes: &[u8], options: &ReadOptions| {
        read_source(&Source::bytes(name, bytes), options).unwrap().1
    };
    vec![
        schema("a.csv", b"c,x,y\nu,1,2\nv,3,4\n", &categorical),
        schema("a.csv", b"1,2\n", &ReadOptions { dtype: Precision::Single, ..ReadOptions::default() }),
        schema("a.svm", b"1 1:2 9:1\n", &ReadOptions::default()),
    ]
});

static VALID: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut array = Vec::new();
    write_npy_header::<f64>(&mut array, 3, 2).unwrap();
    write_npy_entries(&mut array, &[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["X.npy", "y.npy"] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&array).unwrap();
    }
    let archive = archive.finish().unwrap().into_inner();
    let csv = b"c,x,y\n\"u\",1.5,2\n\"v \"\"w\"\"\",NA,4\nu,-1e3,7\n".to_vec();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&csv).unwrap();
    vec![csv, b"# c\n1,2 qid:3 1:0.5 7:1\n-1,0 2:1e-3\n".to_vec(), array, archive, gzip.finish().unwrap()]
});

/// Reads `bytes` in every way there is.
fn read_all_ways(bytes: &[u8]) {
    let source = Source::bytes("hostile", bytes);
    for format in FORMATS.map(Some).into_iter().chain([None]) {
        let layout = Layout { format, ..Layout::default() };
        for missing in [Missing::Error, Missing::Drop, Missing::Mean] {
            let plain = ReadOptions { missing, layout, ..ReadOptions::default() };
            let last = ReadOptions {
                target: vec!["-1".parse().unwrap()],
                dtype: Precision::Single,
                ..plain.clone()
            };
            let encoded = ReadOptions { categorical: vec!["0".parse().unwrap()], ..last.clone() };
            for options in [plain, last, encoded] {
                if let Ok((data, schema)) = read_source(&source, &options) {
                    assert!(data.nrows() > 0);
                    assert_eq!(data.features.ncols(), schema.nfeatures());
                    assert!(mercer_data::check_features(&data.features).is_ok());
                    assert!(data.targets.iter().all(|target| target.values.len() == data.nrows()));
                }
            }
        }
        for schema in SCHEMAS.iter() {
            if let Ok(chunks) = FileChunks::open(source.clone(), schema, 2, layout) {
                for chunk in chunks.map_while(Result::ok) {
                    assert_eq!(chunk.features.ncols(), schema.nfeatures());
                    assert!(mercer_data::check_features(&chunk.features).is_ok());
                }
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    // Bytes that mean something to a reader, more often than not.
    let byte = || {
        prop_oneof![
            prop::sample::select(b"\",;: \t\r\n#-+.0129einfaNAu?xLTF(){}'\0\xff\x80".to_vec()),
            any::<u8>()
        ]
    };
    prop_oneof![
        4 => (at(), byte()).prop_map(|(i, b)| Damage::Set(i, b)),
        2 => (at(), byte()).prop_map(|(i, b)| Damage::Insert(i, b)),
        1 => at().prop_map(Damage::Remove),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), any::<u8>()).prop_map(|(i, n)| Damage::Repeat(i, n)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match damage {
            Damage::Set(i, byte) => bytes[i.index(length)] = *byte,
            Damage::Insert(i, byte) => bytes.insert(i.index(length), *byte),
            Damage::Remove(i) => {
                bytes.remove(i.index(length));
            }
            Damage::Cut(i) => bytes.truncate(i.index(length)),
            Damage::Repeat(i, times) => {
                let tail = bytes[i.index(length)..].to_vec();
                (0..*times % 8).for_each(|_| bytes.extend_from_slice(&tail));
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn random_text(text in "[-+0-9a-c.e:;,\"#?\t\r\n ]{0,120}") {
        read_all_ways(text.as_bytes());
    }

    #[test]
    fn random_npy_headers(
        text in "[{]?('(descr|shape|fortran_order)' ?: ?('[<>|]?[fiub][1248]'|[(][0-9]{0,20}(, ?[0-9]{0,20})?[)]|True|False),? ?){0,4}[}]?",
        data in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        read_all_ways(&bytes);
    }

    #[test]
    fn damaged_files(which in 0usize..5, damages in prop::collection::vec(damage(), 1..6)) {
        read_all_ways(&damaged(VALID[which].clone(), &damages));
    }
}

#[test]
fn every_prefix_of_a_valid_file() {
    for bytes in VALID.iter() {
        (0..=bytes.len()).for_each(|end| read_all_ways(&bytes[..end]));
    }
}

#[test]
fn every_byte_of_a_valid_file_flipped() {
    for bytes in VALID.iter() {
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                flipped[at] ^= flip;
                read_all_ways(&flipped);
            }
        }
    }
}

#[test]
fn deep_and_long_headers_end_quickly() {
    for text in ["(".repeat(60_000), "{".repeat(60_000), "'".repeat(60_000), "{'descr': [".repeat(5_000)] {
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        read_all_ways(&bytes);
    }
}
