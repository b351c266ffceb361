//! Recognises unsupported kinds of files by their first bytes, for messages.

/// The kind of a file and advice, if its first bytes are those of a well-known kind that is not data.
#[must_use]
pub fn foreign(name: &str, head: &[u8]) -> Option<&'static str> {
    let text = head.trim_ascii_start();
    let lowercase = name.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| lowercase.ends_with(ending));
    let contains = |what: &[u8]| head.windows(what.len()).any(|window| window == what);
    if head.starts_with(b"PK\x03\x04")
        && (ends(&[".xlsx", ".xlsm", ".ods"]) || contains(b"[Content_Types].xml"))
    {
        return Some("this is a spreadsheet; save the sheet as CSV");
    }
    if head.starts_with(b"PK\x03\x04") && !ends(&[".npz"]) && !first_member_is_array(head) {
        return Some("this is a zip archive; unpack it first");
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0") {
        return Some("this is a workbook of an old Excel; save the sheet as CSV");
    }
    if head.len() > 9 && head[8] == b'{' && contains(b"kernel_language") {
        return Some(
            "this is a mercer model, not data; the model comes first and the data second, as in `mercer predict MODEL DATA`",
        );
    }
    if head.starts_with(b"version https://git-lfs") {
        return Some("this is a pointer of Git LFS in place of the file; fetch it with `git lfs pull`");
    }
    if ends(&[".arff"]) || starts_like(text, b"@relation") {
        return Some("this is an ARFF file; write the table as CSV or Parquet");
    }
    if head.starts_with(b"svm_type ") {
        return Some("this is a model of LIBSVM, not data");
    }
    if head.starts_with(b"%PDF") {
        return Some("this is a PDF document");
    }
    let pictures: [&[u8]; 4] = [b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"II*\0"];
    if pictures.iter().any(|start| head.starts_with(start)) {
        return Some("this is a picture, not a table");
    }
    if head.starts_with(b"\x89HDF") {
        return Some("this is an HDF5 file; write the array as .npy or the table as CSV or Parquet");
    }
    if head.starts_with(b"ARROW1") {
        return Some("this is an Arrow or Feather file; write the table as CSV or Parquet");
    }
    if head.starts_with(b"\x80") && (ends(&[".pkl", ".pickle"]) || matches!(head.get(1), Some(2..=5))) {
        return Some("this is a Python pickle; write the table as CSV or Parquet, or the array as .npy");
    }
    if head.starts_with(b"BZh") || head.starts_with(b"\xfd7zXZ") || head.starts_with(b"\x28\xb5\x2f\xfd") {
        return Some("this file is compressed, but not with gzip; decompress it first");
    }
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return Some("this is UTF-32 text; convert it with `iconv -f UTF-32 -t UTF-8`");
    }
    if let Some(utf16) = unmarked_utf16(head) {
        return Some(utf16);
    }
    // The last byte may be the first half of \r\n.
    let ends_in_returns = head.len() > 1 && memchr::memchr(b'\r', &head[..head.len() - 1]).is_some();
    if ends_in_returns && !head.contains(&b'\n') && !head.contains(&0) && head.is_ascii() {
        return Some("its lines end in carriage returns alone; convert it with `tr '\\r' '\\n'`");
    }
    let tag = text.get(..14).unwrap_or(text).to_ascii_lowercase();
    if tag.starts_with(b"<!doctype html") || tag.starts_with(b"<html") {
        return Some(
            "this is a page of HTML, perhaps an error page that was downloaded in place of the data",
        );
    }
    if tag.starts_with(b"<?xml") {
        return Some("this is XML; write the table as CSV or Parquet");
    }
    let json = ends(&[".json", ".jsonl", ".ndjson"]) || text.starts_with(b"{\"") || text.starts_with(b"[{\"");
    json.then_some("this is JSON; write the table as CSV or Parquet")
}

fn starts_like(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

/// Whether a zip archive begins with a NumPy array, by the name in its first header.
fn first_member_is_array(head: &[u8]) -> bool {
    let length = head.get(26..28).map_or(0, |two| usize::from(two[0]) + 256 * usize::from(two[1]));
    head.get(30..30 + length).is_some_and(|name| name.ends_with(b".npy"))
}

/// Names text in UTF-16 without a byte-order mark: every other byte of Latin text is zero.
fn unmarked_utf16(head: &[u8]) -> Option<&'static str> {
    let pairs = head.chunks_exact(2).take(64);
    let count = pairs.len();
    let zeros = |place: usize| pairs.clone().filter(|pair| pair[place] == 0 && pair[1 - place] != 0).count();
    let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    if count < 4 || marked || head.starts_with(b"\x93NUMPY") {
        None
    } else if 10 * zeros(1) >= 9 * count {
        Some("this is UTF-16 text without a byte-order mark; convert it with `iconv -f UTF-16LE -t UTF-8`")
    } else if 10 * zeros(0) >= 9 * count {
        Some("this is UTF-16 text without a byte-order mark; convert it with `iconv -f UTF-16BE -t UTF-8`")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_kinds_are_named_and_data_are_not() {
        for (name, head, word) in [
            ("a.xlsx", &b"PK\x03\x04\x14\x00"[..], "spreadsheet"),
            ("a", b"PK\x03\x04....[Content_Types].xml", "spreadsheet"),
            (
                "a.mercer",
                b"\x10\x00\x00\x00\x00\x00\x00\x00{\"__metadata__\":{\"m\":\"{kernel_language",
                "mercer model",
            ),
            ("page.csv", b"\n<!DOCTYPE HTML><html>", "HTML"),
            ("a.json", b"[1, 2]", "JSON"),
            ("a.csv", b"a,b\r1,2\r3,4", "carriage returns"),
            ("a.csv.zst", b"\x28\xb5\x2f\xfd", "gzip"),
            ("a.pkl", b"\x80\x04\x95", "pickle"),
            ("a.zip", b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.csv", "unpack"),
            ("a.csv", b"\x89PNG\r\n\x1a\n", "picture"),
            ("a.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS"),
            ("a.txt", b"@RELATION x\n@ATTRIBUTE a NUMERIC\n@DATA\n1\n", "ARFF"),
            ("a.arff", b"% a comment\n@relation x\n", "ARFF"),
            ("a.csv", b"<?xml version='1.0'?><rows/>", "XML"),
            ("a.csv", b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
            ("a.csv", b"a\0,\0b\0\n\x001\0,\x002\0\n\0", "UTF-16LE"),
            ("a.csv", b"\0a\0,\0b\0\n\x001\0,\x002\0\n", "UTF-16BE"),
        ] {
            assert!(foreign(name, head).is_some_and(|text| text.contains(word)), "{name}");
        }
        for (name, head) in [
            ("a.csv", &b"a,b\n1,2\n"[..]),
            ("a.npz", b"PK\x03\x04\x14\x00"),
            ("a", b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0X.npy"),
            ("a", b"1 2:3\n"),
            ("a", b"PAR1"),
            ("a.csv", b"\xff\xfea\0,\0b\0\n\x001\0,\x002\0\n\0a\0,\0b\0"),
        ] {
            assert_eq!(foreign(name, head), None, "{name}");
        }
    }
}
