//! Files as people have them: columns that are not features, dates, decimal commas, comments, encodings, and files of other kinds.

use mercer_data::{
    ColumnRef, DataError, Dataset, Dates, FileChunks, Layout, Missing, ReadOptions, Schema, Source,
    TargetValues, read_source,
};

fn columns(names: &[&str]) -> Vec<ColumnRef> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn options() -> ReadOptions {
    ReadOptions { target: columns(&["y"]), ..ReadOptions::default() }
}

fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<(Dataset, Schema), DataError> {
    read_source(&Source::bytes("t.csv", bytes), options)
}

fn message(bytes: &[u8], options: &ReadOptions) -> String {
    read_bytes(bytes, options).unwrap_err().to_string()
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

/// The rows of a later file under the schema of an earlier one.
fn replay(text: &str, schema: &Schema) -> Vec<f64> {
    let chunks =
        FileChunks::open(Source::bytes("later.csv", text.as_bytes()), schema, 100, Layout::default());
    chunks.unwrap().flat_map(|chunk| entries(&chunk.unwrap())).collect()
}

#[test]
fn columns_are_chosen_and_left_out() {
    let table = b"id,a,name,b,y\n1,2,Ann,3,4\n2,5,Bob,6,7\n";
    for options in [
        ReadOptions { drop: columns(&["id", "name"]), ..options() },
        ReadOptions { columns: columns(&["b", "a"]), ..options() },
        ReadOptions { columns: columns(&["a", "b", "id"]), drop: columns(&["0"]), ..options() },
    ] {
        let (data, schema) = read_bytes(table, &options).unwrap();
        assert_eq!(data.feature_names, ["a", "b"]);
        assert_eq!(entries(&data), [2.0, 3.0, 5.0, 6.0]);
        // A later file needs the features alone, wherever they stand.
        assert_eq!(replay("b,a\n9,8\n", &schema), [8.0, 9.0]);
        assert_eq!(replay("id,a,name,b,y\n7,8,Eve,9,1\n", &schema), [8.0, 9.0]);
    }
}

#[test]
fn columns_without_names_are_left_out_by_their_place() {
    let options = ReadOptions { target: columns(&["-1"]), drop: columns(&["0"]), ..ReadOptions::default() };
    let (data, schema) = read_bytes(b"11,2,3,4\n12,5,6,7\n", &options).unwrap();
    assert_eq!(entries(&data), [2.0, 3.0, 5.0, 6.0]);
    assert_eq!(replay("13,8,9,1\n", &schema), [8.0, 9.0], "laid out as the training file");
    assert_eq!(replay("8,9\n", &schema), [8.0, 9.0], "the features alone");
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
}

#[test]
fn a_column_cannot_be_both_chosen_and_dropped() {
    let table = b"a,b,y\n1,2,3\n";
    for options in [
        ReadOptions { drop: columns(&["y"]), ..options() },
        ReadOptions { columns: columns(&["y"]), ..options() },
        ReadOptions { drop: columns(&["a"]), categorical: columns(&["a"]), ..options() },
    ] {
        assert!(message(table, &options).contains("listed twice"), "{options:?}");
    }
    let absent = ReadOptions { drop: columns(&["c"]), ..options() };
    assert_eq!(message(table, &absent), "t.csv: there is no column `c`; the columns are `a`, `b`, `y`");
    let all = ReadOptions { drop: columns(&["a", "b"]), ..options() };
    assert_eq!(message(table, &all), "t.csv: no feature columns are left");
}

#[test]
fn columns_that_look_like_identifiers_are_named() {
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i % 7, i % 5)).collect();
    let (data, _) = read_bytes(format!(",a,y\n{rows}").as_bytes(), &options()).unwrap();
    assert_eq!(
        data.notes,
        ["the column `x0` looks like row numbers; if it is not a feature, leave it out with --drop x0"]
    );
    let dropped = ReadOptions { drop: columns(&["x0"]), ..options() };
    assert!(read_bytes(format!(",a,y\n{rows}").as_bytes(), &dropped).unwrap().0.notes.is_empty());
}

#[test]
fn dates_are_read_as_days_on_request() {
    let table = b"when,y\n1970-01-02,1\n1970-01-03T12:00,2\n";
    let error = message(table, &options());
    assert!(error.contains("line 2, column 1 (`when`)") && error.contains("--dates days"), "{error}");
    assert!(error.contains("--drop when"), "{error}");
    let dated = ReadOptions { dates: Dates::Days, ..options() };
    let (data, schema) = read_bytes(table, &dated).unwrap();
    assert_eq!(entries(&data), [1.0, 2.5]);
    assert_eq!(replay("when\n1970-02-01\n", &schema), [31.0]);
}

#[test]
fn semicolons_go_with_decimal_commas() {
    let (data, _) = read_bytes(b"a;b;y\n1,5;-2;3,25\n2;4,0;1\n", &options()).unwrap();
    assert_eq!(entries(&data), [1.5, -2.0, 2.0, 4.0]);
    assert_eq!(data.targets[0].values, TargetValues::Numbers(vec![3.25, 1.0]));
    let (data, _) = read_bytes(b"1,5;2\n0,5;4\n", &ReadOptions::default()).unwrap();
    assert_eq!(entries(&data), [1.5, 2.0, 0.5, 4.0], "without a header");
    // Points and commas together are not guessed at.
    let error = message(b"a;y\n1,5;2.5\n", &options());
    assert!(error.contains("`1,5` is not a number: it has a decimal comma"), "{error}");
}

#[test]
fn a_text_among_numbers_is_advised_on_as_what_it_is() {
    for (field, word) in [
        ("#DIV/0!", "an error of a spreadsheet"),
        ("Total", "a line of totals"),
        ("abc", "the column has numbers above: correct the field"),
        ("6.8 kg", "a unit"),
        ("6.8kg", "a unit"),
        ("EUR 6", "a unit"),
        ("−6.8", "the sign `−`; write -6.8"),
        ("0x1F", "hexadecimal digits; write 31"),
        ("(6.849)", "parentheses; if they stand for a minus sign, write -6.849"),
        // Shown as typed.
        ("6'849.00", "`6'849.00` is not a number: it has separators"),
        ("6\u{202f}849.00", "`6\u{202f}849.00` is not a number: it has separators"),
        ("a\u{1b}b", "`a\\u{1b}b`"),
    ] {
        let error = message(format!("a,y\n1,2\n{field},3\n").as_bytes(), &options());
        assert!(error.contains(word), "{error}");
        assert_eq!(error.contains("--categorical"), word.contains("above") || field.starts_with("a\u{1b}"));
    }
    let names = message(b"a,y\nred,2\nblue,3\n", &options());
    assert!(names.contains("`--categorical a` one-hot encodes a column of text"), "{names}");
    let header = message(b"a,b,y\nkg,cm,s\n1,2,3\n", &options());
    assert!(header.contains("line 2") && header.contains("second header"), "{header}");
    assert!(!header.contains("--categorical"), "{header}");
}

#[test]
fn a_column_without_values_can_only_be_dropped() {
    let error = message(b"a,b,y\n1,,2\n2,NA,3\n", &options());
    assert!(error.ends_with("the whole column is empty; `--drop b` leaves it out"), "{error}");
    let error = message(b"a,b,y\n1,,2\n2,5,3\n", &options());
    assert!(error.contains("`--missing mean` fills in"), "{error}");
}

#[test]
fn names_of_single_rows_are_hardly_categories() {
    let rows: String = (0..30).map(|i| format!("house-{i},{}\n", i % 7)).collect();
    let options = ReadOptions { categorical: columns(&["a"]), ..options() };
    let (data, _) = read_bytes(format!("a,y\n{rows}").as_bytes(), &options).unwrap();
    assert_eq!(
        data.notes,
        [
            "the column `a` looks like identifiers (30 different texts in 30 rows); if it is not a feature, leave it out with --drop a"
        ]
    );
    let rows: String = (0..30).map(|i| format!("{},{i}\n", ["x", "y", "z"][i % 3])).collect();
    assert!(read_bytes(format!("a,y\n{rows}").as_bytes(), &options).unwrap().0.notes.is_empty());
}

#[test]
fn signs_beside_the_digits_are_named() {
    for (field, word) in [
        ("\"1,234.5\"", "separators"),
        ("\"1,234\"", "write 1.234 for a decimal comma, 1234 for a separator of thousands"),
        ("\"12,34\"", "a decimal comma"),
        ("12%", "percent"),
        ("$5", "currency"),
        ("€ 5.00", "currency"),
        ("red", "--categorical a"),
        ("1/31/2024", "looks like a date"),
        ("31.12.24", "looks like a date"),
        ("1 Jan 2024", "looks like a date"),
        ("31-December-2024", "looks like a date"),
        ("-", "leave the field empty"),
        ("N/A", "leave the field empty"),
        ("None", "leave the field empty"),
    ] {
        let error = message(format!("a,y\n1,2\n{field},3\n").as_bytes(), &options());
        assert!(error.contains(word) && error.contains("line 3, column 1 (`a`)"), "{error}");
    }
}

#[test]
fn columns_are_separated_by_bars_too() {
    let (data, _) = read_bytes(b"a|b|y\n1|2|3\n", &options()).unwrap();
    assert_eq!(entries(&data), [1.0, 2.0]);
}

#[test]
fn comments_at_the_beginning_are_skipped() {
    for text in
        ["# made by hand\n#\na,y\n1,2\n", "# made by hand, on a Monday, in haste\na,y\n1,2\n", "# a,y\n1,2\n"]
    {
        let (data, _) = read_bytes(text.as_bytes(), &options()).unwrap();
        assert_eq!(data.feature_names, ["a"], "{text}");
        assert_eq!(entries(&data), [1.0], "{text}");
    }
    let (data, _) = read_bytes(b"# a comment\n1,2\n3,4\n", &ReadOptions::default()).unwrap();
    assert_eq!(entries(&data), [1.0, 2.0, 3.0, 4.0]);
    let error = message(b"a,y\n1,2\n# the end\n", &options());
    assert!(
        error.contains("line 3") && error.contains("comments are read before the first row only"),
        "{error}"
    );
}

#[test]
fn text_in_utf_16_is_read_and_other_encodings_are_refused() {
    let text = "é,y\n1,2\n";
    let little: Vec<u8> =
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        let (data, _) = read_bytes(&bytes, &options()).unwrap();
        assert_eq!((data.feature_names, data.features.nrows()), (vec!["é".to_owned()], 1));
    }
    // Long enough that the zeros of Latin text stand out.
    let text = format!("a,y\n{}", "1,2\n".repeat(200));
    let little: Vec<u8> =
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_bytes(&little, &options()).unwrap().0.nrows(), 200);
    let cut = message(&little[..little.len() - 1], &options());
    assert!(cut.contains("ends in the middle of a character"), "{cut}");
    let wide: Vec<u8> =
        ['\u{feff}'].into_iter().chain(text.chars()).flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert!(message(&wide, &options()).contains("UTF-32"));
    let error = message(b"caf\xe9,y\n1,2\n", &options());
    assert!(error.starts_with("t.csv, line 1, column 1") && error.contains("not UTF-8"), "{error}");
    let error = message(b"a,y\ncaf\xe9,2\n", &ReadOptions { categorical: columns(&["a"]), ..options() });
    assert!(error.starts_with("t.csv, line 2, column 1 (`a`)") && error.contains("iconv"), "{error}");
}

#[test]
fn missing_values_can_be_marked() {
    let marked = ReadOptions { missing: Missing::Indicator, categorical: columns(&["c"]), ..options() };
    let (data, schema) = read_bytes(b"a,b,c,y\n1,1,u,1\n,2,,2\n3,3,v,3\n", &marked).unwrap();
    assert_eq!(data.feature_names, ["a", "a=missing", "b", "c=missing", "c=u", "c=v"]);
    let rows =
        [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [2.0, 1.0, 2.0, 1.0, 0.0, 0.0], [3.0, 0.0, 3.0, 0.0, 0.0, 1.0]];
    assert_eq!(entries(&data), rows.concat());
    // A column without missing values in training is filled in without a mark.
    assert_eq!(replay("a,b,c\n,,\n", &schema), [2.0, 1.0, 2.0, 1.0, 0.0, 0.0]);
    let plain = ReadOptions { missing: Missing::Indicator, ..options() };
    assert_eq!(entries(&read_bytes(b"a,y\n1,1\nNA,2\n", &plain).unwrap().0), [1.0, 0.0, 1.0, 1.0]);
}

#[test]
fn files_of_other_kinds_are_named() {
    for (name, bytes, word) in [
        ("t.xlsx", &b"PK\x03\x04\x14\x00\x06\x00"[..], "spreadsheet"),
        ("t.csv", b"<html><body>404</body></html>", "HTML"),
        ("t.json", b"{\"a\": 1}", "JSON"),
        ("t.zip", b"PK\x03\x04\x14\0", "zip archive"),
        ("t.csv", b"\x89PNG\r\n", "picture"),
        ("t.csv", b"svm_type c_svc\nkernel_type rbf\n", "LIBSVM"),
    ] {
        let error = read_source(&Source::bytes(name, bytes), &options()).unwrap_err().to_string();
        assert!(error.contains(word) && error.starts_with(name), "{error}");
    }
}

#[test]
fn a_line_that_declares_the_separator_is_followed() {
    for text in ["sep=;\na;y\n1,5;2\n", "\u{feff}sep=;\r\na;y\r\n1,5;2\r\n", "sep=|\na|y\n1.5|2\n"] {
        let (data, _) = read_bytes(text.as_bytes(), &options()).unwrap();
        assert_eq!((data.feature_names.clone(), entries(&data)), (vec!["a".to_owned()], vec![1.5]), "{text}");
    }
    let error = message(b"sep=,\na,y\n1,2,3\n", &options());
    assert!(error.contains("line 3"), "lines are counted as an editor counts them: {error}");
}

#[test]
fn a_name_that_contradicts_the_content_is_an_error() {
    let array = b"\x93NUMPY\x01\0";
    let parquet = b"PAR1\x15\x04";
    for (name, bytes, word) in [
        ("t.npy", &b"a,y\n1,2\n"[..], "but text"),
        ("t.npz", b"a,y\n1,2\n", "but text"),
        ("t.parquet", b"a,y\n1,2\n", "but text"),
        ("t.csv", array, ".npy"),
        ("t.csv", parquet, ".parquet"),
        ("t.csv", b"1 1:2 3:4\n-1 2:5\n", "LIBSVM"),
        ("t.csv", b"a,y\n1,\x002\n", "zero bytes"),
    ] {
        let error = read_source(&Source::bytes(name, bytes), &options()).unwrap_err().to_string();
        assert!(error.contains(word) && error.starts_with(name), "{error}");
    }
    // A clock time is not a sparse entry if other lines have none.
    let (data, _) =
        read_bytes(b"n when y\n1 2:30 5\n", &ReadOptions { drop: columns(&["when"]), ..options() }).unwrap();
    assert_eq!(entries(&data), [1.0]);
}

#[test]
fn advice_names_the_flag_as_a_shell_reads_it() {
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i % 7, i % 5)).collect();
    for (name, flag) in
        [("Unnamed: 0", "--drop \"Unnamed: 0\""), ("\"a,b\"", "--drop 0"), ("id", "--drop id")]
    {
        let (data, _) = read_bytes(format!("{name},a,y\n{rows}").as_bytes(), &options()).unwrap();
        assert!(data.notes[0].ends_with(flag), "{:?}", data.notes);
    }
    let error = message(b"first name,y\nAnn,1\n", &options());
    assert!(error.contains("`--drop \"first name\"`"), "{error}");
}

#[test]
fn a_separator_at_the_end_of_each_line_is_named() {
    let error = message(b"a,y\n1,2,\n3,4,\n", &options());
    assert!(error.contains("expected 2 fields, found 3; the line ends with a separator"), "{error}");
}
