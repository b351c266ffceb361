//! Properties of every picture: it is valid XML, its texts are on the page and do not overlap, its points are in their panel.

use super::samples;
use crate::plot::Figure;
use crate::plot::font;
use crate::plot::scene::{Anchor, Item, Rectangle, Scene, Text};

/// The texts of a scene.
fn texts(scene: &Scene) -> Vec<&Text> {
    fn gather<'a>(items: &'a [Item], into: &mut Vec<&'a Text>) {
        for item in items {
            match item {
                Item::Text(text) if !text.words.is_empty() => into.push(text),
                Item::Clip { items, .. } => gather(items, into),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    gather(&scene.items, &mut found);
    found
}

/// The box of a text: capitals and digits rise 0.72 of the size, tails fall 0.2.
fn extent(text: &Text) -> Rectangle {
    let length = font::width(&text.words, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * length,
        Anchor::End => length,
    };
    let (rise, height) = (0.72 * text.size, 0.92 * text.size);
    let (x, y) = text.at;
    if text.upwards {
        Rectangle { left: x - rise, top: y + before - length, width: height, height: length }
    } else {
        Rectangle { left: x - before, top: y - rise, width: length, height }
    }
}

fn overlap(a: &Rectangle, b: &Rectangle) -> bool {
    a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom()
}

/// Refuses a figure whose page is not as it should be.
pub fn check(name: &str, figure: &Figure) {
    let scene = figure.scene();
    let texts = texts(&scene);
    let boxes: Vec<Rectangle> = texts.iter().map(|text| extent(text)).collect();
    for (text, place) in texts.iter().zip(&boxes) {
        let inside = place.left >= 0.0
            && place.top >= 0.0
            && place.right() <= scene.width
            && place.bottom() <= scene.height;
        assert!(inside, "{name}: `{}` leaves the page: {place:?}", text.words);
    }
    for i in 0..boxes.len() {
        for j in 0..i {
            let (a, b) = (&texts[i].words, &texts[j].words);
            assert!(!overlap(&boxes[i], &boxes[j]), "{name}: `{a}` and `{b}` overlap");
        }
    }
    let svg = figure.to_svg();
    let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    for node in document.descendants().filter(|node| node.is_element()) {
        for attribute in
            node.attributes().filter(|attribute| ["d", "x", "y", "cx", "cy"].contains(&attribute.name()))
        {
            let lower = attribute.value().to_ascii_lowercase();
            assert!(!lower.contains("nan") && !lower.contains("inf"), "{name}: {}", attribute.value());
        }
        if node.has_tag_name("circle") {
            let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let (x, y) = (number("cx"), number("cy"));
            assert!((0.0..=scene.width).contains(&x) && (0.0..=scene.height).contains(&y), "{name}: {x} {y}");
        }
    }
}

#[test]
fn every_kind_keeps_to_its_page() {
    samples::all().iter().for_each(|(name, figure)| check(name, figure));
}

#[test]
fn axes_say_round_numbers() {
    let figure = samples::curve().figure().unwrap();
    let scene = figure.scene();
    let words: Vec<&str> = texts(&scene).iter().map(|text| text.words.as_str()).collect();
    for expected in ["−3", "−2", "−1", "0", "1", "2", "3", "0.0", "0.5", "1.0", "1.5", "x", "y"] {
        assert!(words.contains(&expected), "{expected} in {words:?}");
    }
}

#[test]
fn a_figure_for_a_terminal_fits_it() {
    use crate::plot::Terminal;
    for (name, figure) in samples::all() {
        for (width, height) in [(80, 24), (50, 20), (120, 40)] {
            let text = figure.to_text(Terminal { width, height, colour: false });
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines.len() <= height, "{name}: {} lines of {height}", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{name}:\n{text}");
        }
        let coloured = figure.to_text(Terminal { width: 80, height: 24, colour: true });
        let plain: String =
            coloured.split("\u{1b}[").map(|part| part.split_once('m').map_or(part, |p| p.1)).collect();
        assert!(plain.lines().all(|line| line.chars().count() <= 80), "{name}");
    }
}

#[test]
fn a_png_has_the_asked_size_and_ink() {
    let figure = samples::reliability().figure().unwrap();
    let png = figure.to_png(1.5).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let edge = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((edge(16), edge(20)), (750, 840));
    assert!(png.len() > 10_000, "words and lines are there");
    for scale in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(figure.to_png(scale).is_err(), "{scale}");
    }
}
