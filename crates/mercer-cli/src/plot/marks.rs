//! Marks of a panel as items of the page.

use std::collections::{BTreeMap, HashSet};

use super::figure::{Cell, Dot, Mark, Point};
use super::layout::{self, Projection};
use super::scene::{Item, Place, Stroke, Text};

/// The number of points above which they become small dots, with coinciding ones drawn once.
const CROWD: usize = 2_000;
/// The most dots drawn.
const MOST_DOTS: usize = 20_000;

/// The items of a mark.
pub fn draw(mark: &Mark, projection: &Projection<'_>) -> Vec<Item> {
    let places = |points: &[Point]| -> Vec<Place> { points.iter().map(|p| projection.place(*p)).collect() };
    match mark {
        Mark::Line { points, stroke } => vec![Item::line(places(points), *stroke)],
        Mark::Dots { points, dot } if points.len() > CROWD => vec![crowd(places(points), dot)],
        Mark::Dots { points, dot } => vec![Item::Discs {
            centres: places(points),
            radius: dot.radius,
            fill: dot.fill,
            stroke: dot.outline,
        }],
        Mark::Area { rings, fill, outline, .. } => vec![Item::Path {
            parts: rings.iter().map(|ring| places(ring)).collect(),
            closed: true,
            fill: Some((*fill, 1.0)),
            stroke: *outline,
            crisp: false,
        }],
        Mark::Sheet { ring, fill, opacity } => vec![Item::Path {
            parts: vec![places(ring)],
            closed: true,
            fill: Some((*fill, *opacity)),
            stroke: None,
            crisp: false,
        }],
        Mark::Cells(cells) => rectangles(cells, projection),
        Mark::Words { at, anchor, words, size, colour } => {
            let (x, y) = projection.place(*at);
            let text = layout::words((x, y + 0.35 * size), *anchor, words, *size);
            vec![Item::Text(Text { colour: *colour, ..text })]
        }
    }
}

/// Very many points as small dots of one path: one for each half point of the page that has any, and of these an even
/// choice where they are still too many.
fn crowd(places: Vec<Place>, dot: &Dot) -> Item {
    let mut seen = HashSet::new();
    let distinct: Vec<Place> = places
        .into_iter()
        .filter(|(x, y)| seen.insert(((2.0 * x).round() as i64, (2.0 * y).round() as i64)))
        .collect();
    let stride = distinct.len().div_ceil(MOST_DOTS).max(1);
    let parts = distinct.into_iter().step_by(stride).map(|place| vec![place]).collect();
    let (colour, opacity) = match (dot.fill, dot.outline) {
        (Some(fill), _) => fill,
        (None, Some(stroke)) => (stroke.colour, stroke.opacity),
        (None, None) => (super::colour::SLATE, 1.0),
    };
    // Dots of one path do not add up where they overlap, so they are drawn stronger than discs.
    Item::lines(parts, Stroke::new(colour, 2.0_f64.min(1.4 * dot.radius)).faint(opacity.max(0.45)))
}

/// Rectangles, one path for each colour: edges on whole pixels leave no seams.
fn rectangles(cells: &[Cell], projection: &Projection<'_>) -> Vec<Item> {
    let mut by_colour: BTreeMap<_, Vec<Vec<Place>>> = BTreeMap::new();
    for cell in cells {
        let (left, bottom) = projection.place((cell.x.0, cell.y.0));
        let (right, top) = projection.place((cell.x.1, cell.y.1));
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        by_colour.entry(cell.fill).or_default().push(corners);
    }
    by_colour.into_iter().map(|(colour, parts)| Item::seamless(parts, colour)).collect()
}
