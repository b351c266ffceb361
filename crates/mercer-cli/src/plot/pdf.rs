//! Scenes as PDF 1.7, the same bytes for the same scene: one page, with text in the program's own, embedded typeface.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::colour::Colour;
use super::scene::{Anchor, Item, Place, Scene, Stroke, Text};
use super::svg::{RAISED_BY, RAISED_SIZE, drawn, number, runs};
use super::{font, system_font};

/// The distance of the control points of a quarter circle from its ends, in radii.
const QUARTER: f64 = 0.552_284_75;

impl Scene {
    /// The scene as a PDF document.
    pub fn to_pdf(&self) -> Vec<u8> {
        let lacking = self.lacking();
        let file = if lacking.is_empty() { None } else { system_font::with_most_of(&lacking) };
        let other = file.as_deref().and_then(|bytes| Face::parse(bytes, 0).ok());
        let mut page = Page { other, ..Page::default() };
        // Upwards is positive in PDF, downwards in a scene.
        let _ = writeln!(page.out, "1 0 0 -1 0 {} cm\n1 j", number(self.height));
        self.items.iter().for_each(|item| page.item(item));
        let mut document = Document::default();
        page.write(self, &mut document);
        document.finish()
    }
}

/// The operators of the page, and the resources they use.
#[derive(Default)]
struct Page<'a> {
    out: String,
    /// Opacities in hundredths.
    opacities: BTreeSet<u32>,
    /// The glyphs of our typeface that are used, with their characters.
    glyphs: BTreeMap<u16, char>,
    /// A typeface for characters missing in ours, which are drawn as outlines.
    other: Option<Face<'a>>,
}

impl Page<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Path { parts, closed, fill, stroke, crisp } => {
                let mut path = String::new();
                parts.iter().for_each(|part| lines(part, *closed, &mut path));
                // Without the outline, viewers show thin gaps between neighbours.
                let seam = || fill.map(|(colour, opacity)| Stroke::new(colour, 0.4).faint(opacity));
                let stroke = if *crisp { stroke.or_else(seam) } else { *stroke };
                self.paint(&path, *fill, stroke, parts.len() > 1);
            }
            Item::Discs { centres, radius, fill, stroke } => {
                for centre in centres {
                    self.paint(&circle(*centre, *radius), *fill, *stroke, false);
                }
            }
            Item::Text(text) => self.text(text),
            Item::Clip { to, items } => {
                let [x, y, w, h] = [to.left, to.top, to.width, to.height].map(number);
                let _ = writeln!(self.out, "q {x} {y} {w} {h} re W n");
                items.iter().for_each(|item| self.item(item));
                self.out.push_str("Q\n");
            }
        }
    }

    fn paint(&mut self, path: &str, fill: Option<(Colour, f64)>, stroke: Option<Stroke>, even_odd: bool) {
        if path.is_empty() || (fill.is_none() && stroke.is_none()) {
            return;
        }
        self.out.push_str("q ");
        if let Some((colour, opacity)) = fill {
            let _ = write!(self.out, "{} rg ", components(colour));
            self.opacity('f', opacity);
        }
        if let Some(stroke) = stroke {
            let _ = write!(self.out, "{} RG {} w ", components(stroke.colour), number(stroke.width));
            match stroke.dash {
                dash if dash > 0.0 => {
                    let _ = write!(self.out, "[{}] 0 d ", number(dash));
                }
                _ => self.out.push_str("1 J "),
            }
            self.opacity('s', stroke.opacity);
        }
        let operator = match (fill.is_some(), stroke.is_some(), even_odd) {
            (true, true, true) => "B*",
            (true, true, false) => "B",
            (true, false, true) => "f*",
            (true, false, false) => "f",
            (false, ..) => "S",
        };
        let _ = writeln!(self.out, "\n{path}{operator} Q");
    }

    /// Chooses the opacity of fills or strokes.
    fn opacity(&mut self, of: char, opacity: f64) {
        let hundredths = (100.0 * opacity).round() as u32;
        if hundredths < 100 {
            self.opacities.insert(hundredths);
            let _ = write!(self.out, "/{of}{hundredths} gs ");
        }
    }

    fn text(&mut self, text: &Text) {
        let length = font::width(&text.words, text.size);
        let mut along = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * length,
            Anchor::End => -length,
        };
        for (raised, run) in runs(&text.words) {
            let size = text.size * if raised { RAISED_SIZE } else { 1.0 };
            let up = if raised { RAISED_BY * text.size } else { 0.0 };
            let characters: Vec<char> = run.chars().map(drawn).collect();
            for same in characters.chunk_by(|a, b| font::covers(*a) == font::covers(*b)) {
                let words: String = same.iter().collect();
                let (x, y) = text.at;
                let (at, turn) = if text.upwards {
                    ((x - up, y - along), "0 -1 -1 0")
                } else {
                    ((x + along, y - up), "1 0 0 -1")
                };
                let place = format!("{turn} {} {}", number(at.0), number(at.1));
                if font::covers(same[0]) {
                    self.words(same, size, text.colour, &place);
                } else {
                    self.outlines(same, size, text.colour, &place);
                }
                along += font::width(&words, size);
            }
        }
    }

    /// Words in our own typeface.
    fn words(&mut self, characters: &[char], size: f64, colour: Colour, place: &str) {
        let glyph = |c: &char| Some((font::FACE.as_ref()?.glyph_index(*c)?.0, *c));
        let glyphs: Vec<(u16, char)> = characters.iter().filter_map(glyph).collect();
        let codes: String = glyphs.iter().map(|(glyph, _)| format!("{glyph:04X}")).collect();
        self.glyphs.extend(glyphs);
        let (colour, size) = (components(colour), number(size));
        let _ = writeln!(self.out, "BT {colour} rg /F {size} Tf {place} Tm <{codes}> Tj ET");
    }

    /// Characters that our typeface lacks, each in a square.
    fn outlines(&mut self, characters: &[char], size: f64, colour: Colour, place: &str) {
        let face = self.other.as_ref().or(font::FACE.as_ref());
        let mut outline = Outline { out: String::new(), scale: 1.0, along: 0.0, last: (0.0, 0.0) };
        for (index, character) in characters.iter().enumerate() {
            let Some(face) = face else { return };
            outline.scale = size / f64::from(face.units_per_em());
            outline.along = index as f64 * size;
            face.outline_glyph(face.glyph_index(*character).unwrap_or(GlyphId(0)), &mut outline);
        }
        if !outline.out.is_empty() {
            let colour = components(colour);
            let _ = writeln!(self.out, "q {place} cm {colour} rg\n{}f Q", outline.out);
        }
    }

    /// Writes the objects of the page.
    fn write(&self, scene: &Scene, document: &mut Document) {
        let states: String = self
            .opacities
            .iter()
            .map(|o| format!("/f{o} << /ca {0} >> /s{o} << /CA {0} >> ", number(f64::from(*o) / 100.0)))
            .collect();
        let (width, height) = (number(scene.width), number(scene.height));
        document.object("<< /Type /Catalog /Pages 2 0 R >>");
        document.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
        document.object(&format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R \
             /Resources << /Font << /F 5 0 R >> /ExtGState << {states}>> >> >>"
        ));
        document.stream("", self.out.as_bytes());
        document.object(
            "<< /Type /Font /Subtype /Type0 /BaseFont /MercerSans /Encoding /Identity-H \
             /DescendantFonts [6 0 R] /ToUnicode 9 0 R >>",
        );
        document.object(&format!(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /MercerSans /CIDToGIDMap /Identity /DW 1000 \
             /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
             /FontDescriptor 7 0 R /W [{}] >>",
            self.widths()
        ));
        document.object(
            "<< /Type /FontDescriptor /FontName /MercerSans /Flags 4 /FontBBox [-200 -250 1200 950] \
             /ItalicAngle 0 /Ascent 905 /Descent -212 /CapHeight 729 /StemV 80 /FontFile2 8 0 R >>",
        );
        document.stream(&format!("/Length1 {} ", font::FILE.len()), font::FILE);
        document.stream("", self.to_unicode().as_bytes());
        document.object(&format!("<< /Title <{}> /Producer (mercer) >>", utf16(&scene.description)));
    }

    /// Widths of the glyphs that are used, in thousandths of the size.
    fn widths(&self) -> String {
        let width = |(glyph, character): (&u16, &char)| {
            format!("{glyph} [{}] ", number(font::width(&character.to_string(), 1000.0)))
        };
        self.glyphs.iter().map(width).collect()
    }

    /// The characters of the glyphs, so that words can be searched and copied.
    fn to_unicode(&self) -> String {
        let glyphs: Vec<_> = self.glyphs.iter().collect();
        let mut map = String::from(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Mercer def /CMapType 2 def\n\
             1 begincodespacerange <0000> <FFFF> endcodespacerange\n",
        );
        for some in glyphs.chunks(100) {
            let _ = writeln!(map, "{} beginbfchar", some.len());
            for (glyph, character) in some {
                let mut units = [0; 2];
                let codes = character.encode_utf16(&mut units).iter().map(|unit| format!("{unit:04X}"));
                let _ = writeln!(map, "<{glyph:04X}> <{}>", codes.collect::<String>());
            }
            map.push_str("endbfchar\n");
        }
        map + "endcmap CMapName currentdict /CMap defineresource pop end end"
    }
}

/// The objects of a document, numbered from 1.
#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Document {
    fn object(&mut self, text: &str) {
        self.begin();
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    fn begin(&mut self) {
        if self.bytes.is_empty() {
            // Four bytes above 127 mark the file as binary.
            self.bytes.extend_from_slice(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
        }
        self.starts.push(self.bytes.len());
        let number = self.starts.len();
        self.bytes.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
    }

    /// A compressed stream.
    fn stream(&mut self, entries: &str, content: &[u8]) {
        self.begin();
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        // Neither writing to memory nor its end can fail.
        let packed = encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default();
        let head = format!("<< {entries}/Filter /FlateDecode /Length {} >>\nstream\n", packed.len());
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(&packed);
        self.bytes.extend_from_slice(b"\nendstream\nendobj\n");
    }

    fn finish(mut self) -> Vec<u8> {
        let (table, count) = (self.bytes.len(), self.starts.len() + 1);
        let mut end = format!("xref\n0 {count}\n0000000000 65535 f \n");
        self.starts.iter().for_each(|start| {
            let _ = writeln!(end, "{start:010} 00000 n ");
        });
        let last = count - 1;
        let _ = write!(
            end,
            "trailer\n<< /Size {count} /Root 1 0 R /Info {last} 0 R >>\nstartxref\n{table}\n%%EOF\n"
        );
        self.bytes.extend_from_slice(end.as_bytes());
        self.bytes
    }
}

fn components(Colour(r, g, b): Colour) -> String {
    let part = |c: u8| format!("{:.3}", f64::from(c) / 255.0);
    format!("{} {} {}", part(r), part(g), part(b))
}

/// UTF-16 with its mark, in hexadecimal digits.
fn utf16(words: &str) -> String {
    words.encode_utf16().fold(String::from("FEFF"), |text, unit| format!("{text}{unit:04X}"))
}

fn lines(part: &[Place], closed: bool, path: &mut String) {
    let Some((first, rest)) = part.split_first() else { return };
    let _ = write!(path, "{} {} m", number(first.0), number(first.1));
    let mut last = (number(first.0), number(first.1));
    let mut moved = false;
    for place in rest {
        let next = (number(place.0), number(place.1));
        if next != last {
            let _ = write!(path, " {} {} l", next.0, next.1);
            (last, moved) = (next, true);
        }
    }
    if !moved {
        // A point is drawn as the dot of a line of length zero.
        let _ = write!(path, " {} {} l", number(first.0), number(first.1));
    }
    path.push_str(if closed { " h\n" } else { "\n" });
}

fn circle((x, y): Place, r: f64) -> String {
    let k = QUARTER * r;
    let quarter = |[a, b, c, d, e, f]: [f64; 6]| [a, b, c, d, e, f].map(|v| number(v) + " ").concat() + "c ";
    format!("{} {} m ", number(x + r), number(y))
        + &quarter([x + r, y + k, x + k, y + r, x, y + r])
        + &quarter([x - k, y + r, x - r, y + k, x - r, y])
        + &quarter([x - r, y - k, x - k, y - r, x, y - r])
        + &quarter([x + k, y - r, x + r, y - k, x + r, y])
        + "h\n"
}

/// Outlines of glyphs as operators; upwards is up.
struct Outline {
    out: String,
    scale: f64,
    along: f64,
    last: Place,
}

impl Outline {
    fn place(&mut self, x: f32, y: f32) -> String {
        self.last = (f64::from(x), f64::from(y));
        format!("{} {} ", number(self.along + self.scale * f64::from(x)), number(self.scale * f64::from(y)))
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let place = self.place(x, y);
        let _ = write!(self.out, "{place}m ");
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let place = self.place(x, y);
        let _ = write!(self.out, "{place}l ");
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        // The cubic with the same curve: its control points are two thirds of the way to that of the quadratic.
        let (x0, y0) = (self.last.0 as f32, self.last.1 as f32);
        let part = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
        self.curve_to(part(x0, x1), part(y0, y1), part(x, x1), part(y, y1), x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let places = [self.place(x1, y1), self.place(x2, y2), self.place(x, y)].concat();
        let _ = write!(self.out, "{places}c ");
    }

    fn close(&mut self) {
        self.out.push_str("h\n");
    }
}
