//! The legend above the panels and the colour bar next to them.

use super::colour::SLATE;
use super::figure::{ColourBar, Dot, Key, Ramp, Symbol};
use super::font;
use super::layout::{LABEL, SMALL, small, words};
use super::scene::{Anchor, Item, Place, Rectangle, Stroke, Text};

/// Length of the piece of a line in the legend.
const SAMPLE: f64 = 22.0;
/// Between two entries.
const APART: f64 = 18.0;
/// Height of a row.
const ROW: f64 = 17.0;

/// Draws the legend in rows from `top`; returns its lower end.
pub fn legend(keys: &[Key], left: f64, top: f64, room: f64, items: &mut Vec<Item>) -> f64 {
    if keys.is_empty() {
        return top;
    }
    let (mut x, mut y) = (left, top + 0.5 * ROW);
    for key in keys {
        let sample = if matches!(key.symbol, Symbol::Dot(_)) { 10.0 } else { SAMPLE };
        let label = font::shortened(&key.label, SMALL, room - sample - 6.0);
        let width = sample + 6.0 + font::width(&label, SMALL);
        if x > left && x + width > left + room {
            (x, y) = (left, y + ROW);
        }
        let (start, middle, end) = ((x, y), (x + 0.5 * sample, y), (x + sample, y));
        match key.symbol {
            Symbol::Line(stroke) => items.push(Item::line(vec![start, end], stroke)),
            Symbol::Dot(dot) => items.push(disc(middle, dot)),
            Symbol::DottedLine(stroke, dot) => {
                items.push(Item::line(vec![start, end], stroke));
                items.push(disc(middle, dot));
            }
        }
        items.push(Item::Text(words((end.0 + 6.0, y + 0.35 * SMALL), Anchor::Start, label, SMALL)));
        x += width + APART;
    }
    y + 0.5 * ROW + 4.0
}

fn disc(at: Place, dot: Dot) -> Item {
    Item::Discs { centres: vec![at], radius: dot.radius, fill: dot.fill, stroke: dot.outline }
}

/// Width of the bar with its ticks and label.
pub fn bar_width(bar: &ColourBar) -> f64 {
    let ticks = bar.axis.ticks(8);
    let widest = ticks.labelled.iter().map(|(_, label)| font::width(label, SMALL)).fold(0.0, f64::max);
    let label = if bar.axis.label.is_empty() { 0.0 } else { LABEL + 6.0 };
    let note = ticks.note.as_ref().map_or(0.0, |note| font::width(note, SMALL) - 14.0);
    16.0 + 14.0 + (8.0 + widest + label).max(note)
}

/// Draws the bar.
pub fn bar(bar: &ColourBar, area: Rectangle, items: &mut Vec<Item>) {
    let up = |value: f64| area.bottom() - bar.axis.fraction(value).clamp(0.0, 1.0) * area.height;
    let band = |from: f64, to: f64, colour| {
        let part = Rectangle { top: to, height: from - to, ..area };
        Item::seamless(vec![part.corners()], colour)
    };
    match &bar.colours {
        Ramp::Smooth(scale) => {
            const STEPS: usize = 64;
            let at = |step: usize| area.bottom() - area.height * step as f64 / STEPS as f64;
            items.extend(
                (0..STEPS)
                    .map(|step| band(at(step), at(step + 1), scale.at(step as f64 / (STEPS - 1) as f64))),
            );
        }
        Ramp::Bands(bands) => {
            for (index, (from, colour)) in bands.iter().enumerate() {
                let to = bands.get(index + 1).map_or(area.top, |(to, _)| up(*to));
                let from = if index == 0 { area.bottom() } else { up(*from) };
                if from > to {
                    items.push(band(from, to, *colour));
                }
            }
        }
    }
    let line = Stroke::new(SLATE, 1.0);
    items.push(Item::line(area.outline(), line));
    let ticks = bar.axis.ticks(8);
    let mut widest = 0.0_f64;
    let mut strokes = Vec::new();
    for (value, label) in &ticks.labelled {
        strokes.push(vec![(area.right(), up(*value)), (area.right() + 3.0, up(*value))]);
        let beside = (area.right() + 7.0, up(*value) + 0.35 * SMALL);
        items.push(small(beside, Anchor::Start, label));
        widest = widest.max(font::width(label, SMALL));
    }
    items.push(Item::lines(strokes, line));
    if let Some(note) = &ticks.note {
        let above = (area.left, area.top - 7.0);
        items.push(small(above, Anchor::Start, note));
    }
    let label = font::shortened(&bar.axis.label, LABEL, area.height);
    let beside = (area.right() + 8.0 + widest + LABEL + 2.0, area.top + 0.5 * area.height);
    items.push(Item::Text(Text { upwards: true, ..words(beside, Anchor::Middle, label, LABEL) }));
}
