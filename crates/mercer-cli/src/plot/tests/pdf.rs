//! PDF documents: the table has the offsets of their objects, and their words and shapes are those of the scene.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::ZlibDecoder;

use super::samples;
use crate::plot::Figure;
use crate::plot::scene::Item;

/// The objects of a document by their number, found through its table.
fn objects(bytes: &[u8]) -> Vec<&[u8]> {
    let text = String::from_utf8_lossy(bytes);
    let start: usize = text.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
    let table = std::str::from_utf8(&bytes[start..]).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let count: usize = lines.next().unwrap().strip_prefix("0 ").unwrap().parse().unwrap();
    let places: Vec<usize> = lines.skip(1).take(count - 1).map(|line| line[..10].parse().unwrap()).collect();
    let end = |place: usize| places.iter().copied().filter(|p| *p > place).min().unwrap_or(start);
    for (index, place) in places.iter().enumerate() {
        assert!(bytes[*place..].starts_with(format!("{} 0 obj\n", index + 1).as_bytes()), "object {index}");
    }
    places.iter().map(|place| &bytes[*place..end(*place)]).collect()
}

/// The content of a stream, whose length must be the one it declares.
fn stream(object: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(object);
    let length: usize = text.split("/Length ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let marker = b"stream\n";
    let start = object.windows(marker.len()).position(|part| part == marker).unwrap() + marker.len();
    assert!(object[start + length..].starts_with(b"\nendstream"), "the length of the stream");
    let mut content = Vec::new();
    ZlibDecoder::new(&object[start..start + length]).read_to_end(&mut content).unwrap();
    content
}

/// The characters of glyphs, from the map that viewers copy text by.
fn characters(map: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| {
        let (glyph, text) = line.strip_prefix('<')?.strip_suffix('>')?.split_once("> <")?;
        let units: Vec<u16> =
            (0..text.len() / 4).map(|i| u16::from_str_radix(&text[4 * i..4 * i + 4], 16).unwrap()).collect();
        Some((glyph.to_owned(), String::from_utf16(&units).unwrap()))
    };
    map.lines().filter_map(pair).collect()
}

fn words(figure: &Figure) -> String {
    fn gather(items: &[Item], out: &mut String) {
        for item in items {
            match item {
                Item::Text(text) => {
                    crate::plot::svg::runs(&text.words).iter().for_each(|(_, run)| out.push_str(run));
                }
                Item::Clip { items, .. } => gather(items, out),
                _ => {}
            }
        }
    }
    let mut out = String::new();
    gather(&figure.scene().items, &mut out);
    out
}

#[test]
fn words_can_be_read_back() {
    for (name, figure) in samples::all() {
        let bytes = figure.to_pdf();
        assert_eq!(bytes, figure.to_pdf(), "{name}: the same bytes");
        let objects = objects(&bytes);
        let page = String::from_utf8(stream(objects[3])).unwrap();
        let known = characters(&String::from_utf8(stream(objects[8])).unwrap());
        let shown = page.lines().filter(|line| line.ends_with("Tj ET"));
        let codes = shown.map(|line| line.split('<').nth(1).unwrap().split('>').next().unwrap());
        let text: String = codes
            .flat_map(|codes| (0..codes.len() / 4).map(move |i| &codes[4 * i..4 * i + 4]))
            .map(|code| known[code].as_str())
            .collect();
        assert_eq!(text, words(&figure), "{name}");
        assert!(!page.contains("NaN") && !page.contains("inf"), "{name}");
    }
}

#[test]
fn graphics_states_are_closed_and_known() {
    for (name, figure) in samples::all() {
        let bytes = figure.to_pdf();
        let objects = objects(&bytes);
        let page = String::from_utf8(stream(objects[3])).unwrap();
        let operators: Vec<&str> = page.split_ascii_whitespace().collect();
        let count = |operator: &str| operators.iter().filter(|word| **word == operator).count();
        assert_eq!(count("q"), count("Q"), "{name}");
        assert_eq!(count("BT"), count("ET"), "{name}");
        let resources = String::from_utf8_lossy(objects[2]);
        for state in operators.windows(2).filter(|pair| pair[1] == "gs").map(|pair| pair[0]) {
            assert!(resources.contains(&format!("{state} <<")), "{name}: {state}");
        }
    }
}

#[test]
fn discs_are_circles_of_four_curves() {
    let figure = samples::agreement().figure().unwrap();
    let bytes = figure.to_pdf();
    let page = String::from_utf8(stream(objects(&bytes)[3])).unwrap();
    let curves = page.split_ascii_whitespace().filter(|word| *word == "c").count();
    // One for each of 200 rows, and one in the legend.
    assert_eq!(curves, 4 * 201);
}

#[test]
fn characters_that_the_typeface_lacks_do_not_break_the_file() {
    let mut curve = samples::curve();
    curve.title = "温度 of x".into();
    let bytes = curve.figure().unwrap().to_pdf();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("/Title <FEFF6E295EA6"), "the title is in the document's information");
    objects(&bytes);
}
