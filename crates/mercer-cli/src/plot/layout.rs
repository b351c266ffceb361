//! The layout of a figure: titles, keys and labels are measured, and the panels fill the remaining space.

use super::axis::{Axis, Marking};
use super::colour::{INK, MIST, SLATE};
use super::figure::{Figure, Frame, Panel};
use super::font;
use super::keys;
use super::marks;
use super::scene::{Anchor, Item, Place, Rectangle, Scene, Stroke, Text};
use super::ticks::Ticks;

/// Sizes of type.
pub const TITLE: f64 = 15.0;
pub const LABEL: f64 = 12.0;
pub const SMALL: f64 = 11.0;

/// Free space along the edges of the page.
const EDGE: f64 = 14.0;
/// Length of a tick.
const TICK: f64 = 4.0;
/// Between two panels.
const BETWEEN: f64 = 18.0;

/// Words on the page.
pub fn words(at: Place, anchor: Anchor, words: impl Into<String>, size: f64) -> Text {
    Text { at, anchor, words: words.into(), size, colour: INK, upwards: false }
}

/// Lays the figure out.
pub fn scene(figure: &Figure) -> Scene {
    let mut items = Vec::new();
    let right = figure.width - EDGE - figure.bar.as_ref().map_or(6.0, keys::bar_width);
    let body = Body::new(figure, right);
    let left = body.left;
    let room = figure.width - EDGE - left;
    let mut top = EDGE;
    let line = |top: &mut f64, text: &str, size: f64, colour, items: &mut Vec<Item>| {
        if !text.is_empty() {
            *top += size;
            let text = words((left, *top), Anchor::Start, font::shortened(text, size, room), size);
            items.push(Item::Text(Text { colour, ..text }));
            *top += 0.42 * size;
        }
    };
    line(&mut top, &figure.title, TITLE, INK, &mut items);
    line(&mut top, &figure.subtitle, SMALL, SLATE, &mut items);
    top += 4.0;
    top = keys::legend(&figure.legend, left, top, room, &mut items);
    let panels = body.place(figure, top);
    for ((panel, area), ticks) in figure.panels.iter().zip(&panels).zip(&body.vertical) {
        draw_panel(panel, *area, ticks, &mut items);
    }
    // The colours belong to the panels in a box, if there are any.
    let boxed = |panel: &&Panel| panel.frame == Frame::Box;
    let any_boxed = figure.panels.iter().any(|panel| boxed(&panel));
    let coloured = figure.panels.iter().zip(&panels).filter(|(panel, _)| !any_boxed || boxed(panel));
    let coloured: Vec<&Rectangle> = coloured.map(|(_, area)| area).collect();
    if let (Some(bar), [first, .., last] | [first @ last]) = (&figure.bar, &coloured[..]) {
        let height = last.bottom() - first.top;
        // A picture without a frame has white space above and below, so its bar is shorter.
        let cut =
            if figure.panels.iter().all(|panel| panel.frame == Frame::Bare) { 0.17 * height } else { 0.0 };
        let (top, height) = (first.top + cut, height - 2.0 * cut);
        let beside = Rectangle { left: first.right() + 16.0, top, width: 14.0, height };
        keys::bar(bar, beside, &mut items);
    }
    let description = if figure.title.is_empty() { "figure".to_owned() } else { figure.title.clone() };
    Scene { width: figure.width, height: figure.height, description, items }
}

/// The common layout of the panels: their left and right edges and the ticks of their vertical axes.
struct Body {
    left: f64,
    right: f64,
    vertical: Vec<Ticks>,
}

impl Body {
    fn new(figure: &Figure, right: f64) -> Self {
        let shares: f64 = figure.panels.iter().map(|panel| panel.share).sum();
        // The remaining height for panels is known only after the legend; two thirds of the page is close enough to
        // choose the number of ticks.
        let height = |panel: &Panel| 0.66 * figure.height * panel.share / shares;
        let vertical: Vec<Ticks> = figure
            .panels
            .iter()
            .map(|panel| match &panel.y.marking {
                Marking::Named(_) => panel.y.ticks((height(panel) / 16.0) as usize),
                _ => panel.y.ticks(((height(panel) / 38.0) as usize).max(4)),
            })
            .collect();
        let bare = figure.panels.iter().all(|panel| panel.frame == Frame::Bare);
        let labels = vertical.iter().flat_map(|ticks| &ticks.labelled);
        let widest = labels.map(|(_, label)| font::width(label, SMALL)).fold(0.0, f64::max);
        let widest = widest.min(0.3 * figure.width);
        let titled = figure.panels.iter().any(|panel| !panel.y.label.is_empty());
        let left =
            EDGE + if titled { LABEL + 8.0 } else { 0.0 } + if bare { 0.0 } else { widest + TICK + 5.0 };
        Self { left, right, vertical }
    }

    /// The rectangles of the panels.
    fn place(&self, figure: &Figure, top: f64) -> Vec<Rectangle> {
        let above = |panel: &Panel, index: usize| {
            let ends = if panel.ends.is_some() { SMALL + 5.0 } else { 0.0 };
            let note = if self.vertical[index].note.is_some() { SMALL + 4.0 } else { 0.0 };
            ends.max(note)
        };
        let below = |panel: &Panel| {
            if panel.frame == Frame::Bare {
                return 0.0;
            }
            let labels = match panel.x.marking {
                Marking::Silent => TICK,
                Marking::Numbers | Marking::Named(_) => TICK + SMALL + 5.0,
            };
            labels + if panel.x.label.is_empty() { 0.0 } else { LABEL + 8.0 }
        };
        let panels = &figure.panels;
        let taken: f64 = panels.iter().enumerate().map(|(i, panel)| above(panel, i) + below(panel)).sum();
        let gaps = BETWEEN * panels.len().saturating_sub(1) as f64;
        let free = (figure.height - EDGE - top - taken - gaps - 4.0).max(20.0);
        let shares: f64 = panels.iter().map(|panel| panel.share).sum();
        let mut at = top + 4.0;
        let mut places = Vec::with_capacity(panels.len());
        for (index, panel) in panels.iter().enumerate() {
            at += above(panel, index);
            let height = free * panel.share / shares;
            let width = (self.right - self.left).max(20.0);
            let side = width.min(height);
            let (width, height) = if panel.square { (side, side) } else { (width, height) };
            places.push(Rectangle { left: self.left, top: at, width, height });
            at += height + below(panel) + BETWEEN;
        }
        places
    }
}

/// Places of the page for points of a panel.
pub struct Projection<'a> {
    panel: &'a Panel,
    area: Rectangle,
}

impl Projection<'_> {
    /// The position of a point, clamped far outside of the page, so that numbers on the page stay small.
    pub fn place(&self, (x, y): (f64, f64)) -> Place {
        let near = |fraction: f64| fraction.clamp(-20.0, 21.0);
        let right = self.area.left + near(self.panel.x.fraction(x)) * self.area.width;
        (right, self.area.bottom() - near(self.panel.y.fraction(y)) * self.area.height)
    }

    fn along(&self, x: f64) -> f64 {
        self.place((x, self.panel.y.lo)).0
    }

    fn up(&self, y: f64) -> f64 {
        self.place((self.panel.x.lo, y)).1
    }
}

fn draw_panel(panel: &Panel, area: Rectangle, vertical: &Ticks, items: &mut Vec<Item>) {
    let horizontal = fitting(&panel.x, area.width);
    let projection = Projection { panel, area };
    let (along, up) = (|x: f64| projection.along(x), |y: f64| projection.up(y));
    if panel.frame == Frame::Grid {
        let fine = Stroke::new(MIST, 1.0);
        let columns =
            horizontal.labelled.iter().map(|(x, _)| vec![(along(*x), area.top), (along(*x), area.bottom())]);
        let rows = vertical.labelled.iter().map(|(y, _)| vec![(area.left, up(*y)), (area.right(), up(*y))]);
        items.push(Item::lines(columns.chain(rows).collect(), fine));
    }
    let drawn = panel.marks.iter().flat_map(|mark| marks::draw(mark, &projection)).collect();
    match panel.frame {
        // Rings of points on the edge may reach over it.
        Frame::Grid | Frame::Box => {
            let to = Rectangle {
                left: area.left - 1.0,
                top: area.top - 1.0,
                width: area.width + 2.0,
                height: area.height + 2.0,
            };
            items.push(Item::Clip { to, items: drawn });
        }
        Frame::Bare => items.extend(drawn),
    }
    let line = Stroke::new(SLATE, 1.0);
    match panel.frame {
        Frame::Bare => return,
        Frame::Grid => {
            items.push(Item::line(
                vec![(area.left, area.top), (area.left, area.bottom()), (area.right(), area.bottom())],
                line,
            ));
        }
        Frame::Box => {
            items.push(Item::line(area.outline(), line));
        }
    }
    draw_ticks(&projection, &horizontal, vertical, items);
    notes(panel, area, &horizontal, vertical, items);
}

/// Draws the ticks of both axes with their labels.
fn draw_ticks(projection: &Projection<'_>, horizontal: &Ticks, vertical: &Ticks, items: &mut Vec<Item>) {
    let area = projection.area;
    let (along, up) = (|x: f64| projection.along(x), |y: f64| projection.up(y));
    let mut strokes = Vec::new();
    for (x, label) in &horizontal.labelled {
        strokes.push(vec![(along(*x), area.bottom()), (along(*x), area.bottom() + TICK)]);
        let below = (along(*x), area.bottom() + TICK + SMALL + 1.0);
        items.push(small(below, Anchor::Middle, label));
    }
    for (y, label) in &vertical.labelled {
        strokes.push(vec![(area.left - TICK, up(*y)), (area.left, up(*y))]);
        let beside = (area.left - TICK - 4.0, up(*y) + 0.35 * SMALL);
        items.push(small(beside, Anchor::End, &font::shortened(label, SMALL, area.left - EDGE)));
    }
    strokes.extend(
        horizontal
            .minor
            .iter()
            .map(|x| vec![(along(*x), area.bottom()), (along(*x), area.bottom() + 0.6 * TICK)]),
    );
    strokes
        .extend(vertical.minor.iter().map(|y| vec![(area.left - 0.6 * TICK, up(*y)), (area.left, up(*y))]));
    items.push(Item::lines(strokes, Stroke::new(SLATE, 1.0)));
}

/// Ticks of a horizontal axis, limited by the room for labels.
fn fitting(axis: &Axis, width: f64) -> Ticks {
    let mut most = (width / 56.0) as usize;
    loop {
        let ticks = axis.ticks(most);
        let ends = ticks.labelled.iter().map(|(value, label)| {
            let (middle, half) = (axis.fraction(*value) * width, 0.5 * font::width(label, SMALL));
            (middle - half, middle + half)
        });
        let ends: Vec<_> = ends.collect();
        if most <= 1 || ends.windows(2).all(|pair| pair[0].1 + 9.0 <= pair[1].0) {
            return ticks;
        }
        most -= 1;
    }
}

/// Draws the names of the axes, the factors of their labels, and the captions above the ends.
fn notes(panel: &Panel, area: Rectangle, horizontal: &Ticks, vertical: &Ticks, items: &mut Vec<Item>) {
    let silent = panel.x.marking == Marking::Silent;
    let below = area.bottom() + if silent { TICK } else { TICK + SMALL + 5.0 } + LABEL + 3.0;
    let mut room = area.width;
    if let Some(note) = &horizontal.note {
        room -= 2.0 * (font::width(note, SMALL) + 10.0);
        items.push(small((area.right(), below), Anchor::End, note));
    }
    let label = font::shortened(&panel.x.label, LABEL, room);
    items.push(Item::Text(words((area.left + 0.5 * area.width, below), Anchor::Middle, label, LABEL)));
    let label = font::shortened(&panel.y.label, LABEL, area.height + 20.0);
    let beside = (EDGE + LABEL - 2.0, area.top + 0.5 * area.height);
    items.push(Item::Text(Text { upwards: true, ..words(beside, Anchor::Middle, label, LABEL) }));
    if let Some(note) = &vertical.note {
        items.push(small((area.left - TICK, area.top - 7.0), Anchor::Start, note));
    }
    if let Some([start, end]) = &panel.ends {
        items.push(small((area.left, area.top - 7.0), Anchor::Start, start));
        items.push(small((area.right(), area.top - 7.0), Anchor::End, end));
    }
}

/// Small secondary text.
pub fn small(at: Place, anchor: Anchor, label: &str) -> Item {
    Item::Text(Text { colour: SLATE, ..words(at, anchor, label, SMALL) })
}
