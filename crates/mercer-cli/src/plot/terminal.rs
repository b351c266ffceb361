//! Figures in the cells of a terminal: lines in braille, fills in shades, axes around them.

use super::axis::Axis;
use super::colour::Colour;
use super::figure::{ColourBar, Dot, Figure, Frame, Key, Mark, Panel, Point, Ramp, Symbol};
use super::scene::Stroke;

/// The terminal for a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Characters in a line, at least 20 are used.
    pub width: usize,
    /// Lines. Every panel has at least three, plus the text around it, so that the output may exceed a height below 20.
    pub height: usize,
    /// Whether it shows colours.
    pub colour: bool,
}

/// From empty to full.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// The number of points above which a cell shows dots instead of signs.
const CROWD: usize = 150;

impl Figure {
    /// The figure as lines of text, without trailing blanks.
    pub fn to_text(&self, terminal: Terminal) -> String {
        if let Some(instead) = &self.in_terminal {
            return instead.to_text(terminal);
        }
        let terminal = Terminal { width: terminal.width.max(20), ..terminal };
        let mut lines: Vec<String> = Vec::new();
        let heads = [&self.title, &self.subtitle].into_iter().filter(|text| !text.is_empty());
        lines.extend(heads.map(|text| shortened(text, terminal.width)));
        lines.extend(legend(&self.legend, terminal));
        let last = self.bar.as_ref().map(|bar| shades(bar, terminal));
        let around: usize = self.panels.iter().map(lines_around).sum();
        let taken = lines.len() + around + usize::from(last.is_some());
        let shares: f64 = self.panels.iter().map(|panel| panel.share).sum();
        let free = terminal.height.saturating_sub(taken) as f64;
        let rows = |panel: &Panel| ((free * panel.share / shares) as usize).max(3);
        let gutter = self
            .panels
            .iter()
            .flat_map(|panel| vertical_ticks(panel, rows(panel)))
            .map(|(_, label)| label.chars().count())
            .max()
            .unwrap_or(0)
            .min(terminal.width / 3);
        for panel in &self.panels {
            lines.extend(panel_lines(panel, rows(panel), gutter, terminal));
        }
        lines.extend(last);
        let mut text = String::new();
        for line in lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Lines of a panel besides its rows: the name of the vertical axis, the line below, its labels, its name.
fn lines_around(panel: &Panel) -> usize {
    1 + usize::from(!panel.y.label.is_empty())
        + usize::from(written(&panel.x))
        + usize::from(!panel.x.label.is_empty())
}

fn written(axis: &Axis) -> bool {
    axis.ticks(4).labelled.iter().any(|(_, label)| !label.is_empty())
}

/// Rows with ticks, from the top, and their labels.
fn vertical_ticks(panel: &Panel, rows: usize) -> Vec<(usize, String)> {
    let ticks = panel.y.ticks((rows / 3).max(2)).labelled.into_iter();
    let row = |value: f64| ((1.0 - panel.y.fraction(value)) * rows as f64 - 0.5).round();
    ticks
        .filter(|(value, _)| (0.0..rows as f64).contains(&row(*value)))
        .map(|(value, label)| (row(value) as usize, label))
        .collect()
}

fn panel_lines(panel: &Panel, rows: usize, gutter: usize, terminal: Terminal) -> Vec<String> {
    let columns = terminal.width.saturating_sub(gutter + 2).max(8);
    let mut canvas = Canvas::new(columns, rows);
    panel.marks.iter().for_each(|mark| canvas.draw(mark, panel));
    let vertical = vertical_ticks(panel, rows);
    let mut lines = Vec::new();
    let note = |note: Option<String>| note.map(|note| format!("  ({note})")).unwrap_or_default();
    if !panel.y.label.is_empty() {
        let ends = panel.ends.as_ref().map(|[start, end]| format!("   {start} … {end}")).unwrap_or_default();
        let above = format!("{}{}{ends}", panel.y.label, note(panel.y.ticks((rows / 3).max(2)).note));
        lines.push(shortened(&above, terminal.width));
    }
    for row in 0..rows {
        let tick = vertical.iter().find(|(place, _)| *place == row);
        let label = shortened(tick.map_or("", |(_, label)| label), gutter);
        let line = if tick.is_some() { '┤' } else { '│' };
        lines.push(format!("{label:>gutter$} {line}{}", canvas.row(row, terminal.colour)));
    }
    let mut below: Vec<char> = vec!['─'; columns];
    let mut labels: Vec<char> = vec![' '; columns];
    let mut free = 0;
    let horizontal = panel.x.ticks((columns / 10).max(2));
    for (value, label) in &horizontal.labelled {
        let place = (panel.x.fraction(*value) * columns as f64 - 0.5).round();
        if !(0.0..columns as f64).contains(&place) {
            continue;
        }
        let place = place as usize;
        below[place] = '┬';
        let label: Vec<char> = label.chars().collect();
        let start = place.saturating_sub(label.len() / 2).min(columns.saturating_sub(label.len()));
        if start >= free && start + label.len() <= columns {
            labels[start..start + label.len()].copy_from_slice(&label);
            free = start + label.len() + 1;
        }
    }
    lines.push(format!("{:>gutter$} └{}", "", below.iter().collect::<String>()));
    if written(&panel.x) {
        lines.push(format!("{:>gutter$}  {}", "", labels.iter().collect::<String>()));
    }
    if !panel.x.label.is_empty() {
        let label = shortened(&format!("{}{}", panel.x.label, note(horizontal.note)), columns);
        lines.push(format!("{:>gutter$}  {label:^columns$}", ""));
    }
    lines
}

/// The keys, as many to a line as fit.
fn legend(keys: &[Key], terminal: Terminal) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = usize::MAX;
    let shown = keys.iter().filter(|key| !matches!(key.symbol, Symbol::Line(stroke) if is_faint(&stroke)));
    for key in shown {
        let (sign, colour) = match key.symbol {
            Symbol::Line(stroke) if stroke.dash > 0.0 => ("⠒ ⠒".to_owned(), Some(stroke.colour)),
            Symbol::Line(stroke) => ("⠒⠒⠒".to_owned(), Some(stroke.colour)),
            Symbol::Dot(dot) => (dot.glyph.to_string(), dot_colour(&dot)),
            Symbol::DottedLine(stroke, dot) => (format!("⠒{}⠒", dot.glyph), Some(stroke.colour)),
        };
        let label = shortened(&key.label, terminal.width - 6);
        let width = sign.chars().count() + 1 + label.chars().count();
        let entry = format!("{} {label}", painted(&sign, colour.filter(|_| terminal.colour)));
        match lines.last_mut() {
            Some(line) if used + 3 + width <= terminal.width => {
                line.push_str("   ");
                line.push_str(&entry);
                used += 3 + width;
            }
            _ => {
                lines.push(entry);
                used = width;
            }
        }
    }
    lines
}

/// Whether a line is faint on the page: a terminal has no faint dots, and many such lines would hide the others.
fn is_faint(stroke: &Stroke) -> bool {
    stroke.opacity < 0.5
}

/// The meaning of shades, in one line.
fn shades(bar: &ColourBar, terminal: Terminal) -> String {
    let ends = [&bar.axis.lo, &bar.axis.hi].map(|value| super::ticks::number(*value));
    let ramp: String = match (&bar.colours, terminal.colour) {
        (_, false) => SHADES.iter().flat_map(|shade| [*shade; 2]).collect(),
        (Ramp::Smooth(scale), true) => {
            (0..20).map(|i| painted("█", Some(scale.at(f64::from(i) / 19.0)))).collect()
        }
        (Ramp::Bands(bands), true) => bands.iter().map(|(_, colour)| painted("██", Some(*colour))).collect(),
    };
    format!("{} {}[{ramp}] {}", bar.axis.label, ends[0], ends[1])
}

fn dot_colour(dot: &Dot) -> Option<Colour> {
    dot.fill.map(|(colour, _)| colour).or(dot.outline.map(|stroke| stroke.colour))
}

fn painted(text: &str, colour: Option<Colour>) -> String {
    match colour {
        Some(colour) => format!("\u{1b}[38;5;{}m{text}\u{1b}[0m", colour.terminal()),
        None => text.to_owned(),
    }
}

fn shortened(text: &str, width: usize) -> String {
    // Control characters would move the cursor.
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.chars().count() <= width {
        return clean;
    }
    let kept: String = clean.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The dots of a braille character.
    dots: u8,
    /// The colour in front of the dots.
    sign: Option<char>,
    /// The colour behind them.
    fill: Option<char>,
    colour: Option<Colour>,
}

/// Rows of cells, each of two by four dots.
struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    fn row(&self, row: usize, colour: bool) -> String {
        let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
        let mut line = String::new();
        for cell in cells {
            let (sign, plain) = match cell {
                Cell { sign: Some(sign), .. } => (*sign, false),
                Cell { dots: 0, fill: Some(_), .. } if colour => ('█', false),
                Cell { dots: 0, fill: Some(shade), .. } => (*shade, false),
                Cell { dots: 0, fill: None, .. } => (' ', true),
                Cell { dots, .. } => (char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '), false),
            };
            line.push_str(&painted(&sign.to_string(), cell.colour.filter(|_| colour && !plain)));
        }
        line
    }

    fn draw(&mut self, mark: &Mark, panel: &Panel) {
        let at = |(x, y): &Point| (panel.x.fraction(*x), panel.y.fraction(*y));
        match mark {
            // Level lines are finer than a cell: the shades show them.
            Mark::Line { stroke, .. } if panel.frame == Frame::Box && stroke.width < 0.7 => {}
            Mark::Line { stroke, .. } if is_faint(stroke) => {}
            Mark::Line { points, stroke } => {
                let places: Vec<Point> = points.iter().map(at).collect();
                let gap = if stroke.dash > 0.0 { 4 } else { 0 };
                let mut drawn = 0;
                for pair in places.windows(2) {
                    self.line(pair[0], pair[1], stroke.colour, gap, &mut drawn);
                }
            }
            Mark::Dots { points, dot } => {
                for (x, y) in points.iter().map(at) {
                    if points.len() > CROWD {
                        self.dot((x, y), dot_colour(dot));
                    } else if let Some(cell) = self.cell((x, y)) {
                        cell.sign = Some(dot.glyph);
                        cell.colour = dot_colour(dot);
                    }
                }
            }
            Mark::Area { rings, fill, tone, .. } => {
                let rings: Vec<Vec<Point>> = rings.iter().map(|ring| ring.iter().map(at).collect()).collect();
                self.fill(*fill, shade(*tone), |place| inside(&rings, place));
            }
            Mark::Cells(cells) => {
                for cell in cells {
                    let (left, bottom) = at(&(cell.x.0, cell.y.0));
                    let (right, top) = at(&(cell.x.1, cell.y.1));
                    let shade = if panel.frame == Frame::Grid { '█' } else { shade(cell.tone) };
                    self.fill(cell.fill, shade, |(x, y)| {
                        (left..right).contains(&x) && (bottom..top).contains(&y)
                    });
                }
            }
            // Panels without a frame are drawn differently in a terminal.
            Mark::Words { at: place, words, .. } if panel.frame != Frame::Bare => {
                self.words(at(place), &format!(" {words} "));
            }
            Mark::Words { .. } | Mark::Sheet { .. } => {}
        }
    }

    fn fill(&mut self, colour: Colour, shade: char, holds: impl Fn(Point) -> bool) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                let x = (column as f64 + 0.5) / self.columns as f64;
                let y = 1.0 - (row as f64 + 0.5) / self.rows as f64;
                if holds((x, y)) {
                    let cell = &mut self.cells[row * self.columns + column];
                    *cell = Cell { fill: Some(shade), colour: Some(colour), ..Cell::default() };
                }
            }
        }
    }

    /// Writes words around a place at fractions of the canvas.
    fn words(&mut self, (x, y): Point, words: &str) {
        let length = words.chars().count() as f64;
        for (index, character) in words.chars().enumerate() {
            let shift = (index as f64 + 0.5 - 0.5 * length) / self.columns as f64;
            if let Some(cell) = self.cell((x + shift, y)) {
                *cell = Cell { sign: Some(character), ..Cell::default() };
            }
        }
    }

    /// The cell at fractions of the canvas.
    fn cell(&mut self, (x, y): Point) -> Option<&mut Cell> {
        if !((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)) {
            return None;
        }
        let column = ((x * self.columns as f64) as usize).min(self.columns - 1);
        let row = (((1.0 - y) * self.rows as f64) as usize).min(self.rows - 1);
        self.cells.get_mut(row * self.columns + column)
    }

    fn dot(&mut self, (x, y): Point, colour: Option<Colour>) {
        // The numbering of braille: seven and eight were added below the first six.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (wide, high) = (2 * self.columns, 4 * self.rows);
        let right = ((x * wide as f64) as usize).min(wide - 1);
        let down = (((1.0 - y) * high as f64) as usize).min(high - 1);
        if let Some(cell) = self.cell((x, y)) {
            cell.dots |= BITS[down % 4][right % 2];
            cell.colour = colour;
        }
    }

    /// A line between two places; with `gap`, every other `gap` dots.
    fn line(&mut self, from: Point, to: Point, colour: Colour, gap: usize, drawn: &mut usize) {
        let near = |(x, y): Point| (x.clamp(-2.0, 3.0), y.clamp(-2.0, 3.0));
        let (from, to) = (near(from), near(to));
        let across = (to.0 - from.0).abs() * 2.0 * self.columns as f64;
        let along = (to.1 - from.1).abs() * 4.0 * self.rows as f64;
        let steps = across.max(along).ceil().max(1.0) as usize;
        for step in 0..steps {
            let t = step as f64 / steps as f64;
            if gap == 0 || (*drawn / gap).is_multiple_of(2) {
                let place = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
                self.dot(place, Some(colour));
            }
            *drawn += 1;
        }
    }
}

fn shade(tone: f64) -> char {
    SHADES[((tone * (SHADES.len() - 1) as f64).round() as usize).min(SHADES.len() - 1)]
}

/// Whether rings contain a position, by the even-odd rule.
fn inside(rings: &[Vec<Point>], (x, y): Point) -> bool {
    let mut odd = false;
    for ring in rings {
        let mut before = match ring.last() {
            Some(last) => *last,
            None => continue,
        };
        for &point in ring {
            if (point.1 > y) != (before.1 > y) {
                let crossing = point.0 + (y - point.1) / (before.1 - point.1) * (before.0 - point.0);
                odd ^= x < crossing;
            }
            before = point;
        }
    }
    odd
}
