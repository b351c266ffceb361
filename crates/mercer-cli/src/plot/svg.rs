//! Scenes as SVG, the same text for the same scene: numbers have two decimals, and the output does not depend on the
//! order of hashing.

use std::fmt::Write;

use super::scene::{Anchor, Item, Place, Scene, Stroke, Text};
use super::ticks::RAISED_FIGURES;

/// Typefaces with the widths used in the layout, on different systems; the first is our own subset.
const FACES: &str = "Mercer Sans, Liberation Sans, Arimo, Helvetica, Arial, sans-serif";

/// The size of raised figures, relative to their text.
pub const RAISED_SIZE: f64 = 0.7;
/// Their height above the baseline, relative to their text.
pub const RAISED_BY: f64 = 0.38;

impl Scene {
    /// The scene as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut writer = Writer { out: String::new(), clips: 0 };
        let (width, height) = (number(self.width), number(self.height));
        let out = &mut writer.out;
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FACES}\" role=\"img\">"
        );
        let _ = writeln!(out, "<title>{}</title>", escaped(&self.description));
        let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        self.items.iter().for_each(|item| writer.item(item));
        writer.out.push_str("</svg>\n");
        writer.out
    }
}

struct Writer {
    out: String,
    clips: usize,
}

impl Writer {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Path { parts, closed, fill, stroke, crisp } => {
                let data = path(parts, *closed);
                if data.is_empty() {
                    return;
                }
                let _ = write!(self.out, "<path d=\"{data}\"");
                self.fill(*fill);
                if fill.is_some() && parts.len() > 1 {
                    self.out.push_str(" fill-rule=\"evenodd\"");
                }
                self.stroke(*stroke);
                if *crisp {
                    self.out.push_str(" shape-rendering=\"crispEdges\"");
                }
                self.out.push_str("/>\n");
            }
            Item::Discs { centres, radius, fill, stroke } => {
                self.out.push_str("<g");
                self.fill(*fill);
                self.stroke(*stroke);
                self.out.push_str(">\n");
                for (x, y) in centres {
                    let (x, y, r) = (number(*x), number(*y), number(*radius));
                    let _ = writeln!(self.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
                }
                self.out.push_str("</g>\n");
            }
            Item::Text(text) => self.text(text),
            Item::Clip { to, items } => {
                let id = self.clips;
                self.clips += 1;
                let [x, y, w, h] = [to.left, to.top, to.width, to.height].map(number);
                let _ = writeln!(
                    self.out,
                    "<clipPath id=\"c{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/></clipPath>\n\
                     <g clip-path=\"url(#c{id})\">"
                );
                items.iter().for_each(|item| self.item(item));
                self.out.push_str("</g>\n");
            }
        }
    }

    fn fill(&mut self, fill: Option<(super::colour::Colour, f64)>) {
        match fill {
            None => self.out.push_str(" fill=\"none\""),
            Some((colour, opacity)) => {
                let _ = write!(self.out, " fill=\"{colour}\"");
                if opacity < 1.0 {
                    let _ = write!(self.out, " fill-opacity=\"{}\"", number(opacity));
                }
            }
        }
    }

    fn stroke(&mut self, stroke: Option<Stroke>) {
        let Some(stroke) = stroke else { return };
        let _ = write!(
            self.out,
            " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            stroke.colour,
            number(stroke.width)
        );
        if stroke.opacity < 1.0 {
            let _ = write!(self.out, " stroke-opacity=\"{}\"", number(stroke.opacity));
        }
        if stroke.dash > 0.0 {
            let _ = write!(self.out, " stroke-dasharray=\"{}\"", number(stroke.dash));
        } else {
            self.out.push_str(" stroke-linecap=\"round\"");
        }
    }

    fn text(&mut self, text: &Text) {
        if text.words.is_empty() {
            return;
        }
        let (x, y) = (number(text.at.0), number(text.at.1));
        let _ = write!(self.out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", number(text.size));
        let _ = write!(self.out, " fill=\"{}\"", text.colour);
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.out.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.out.push_str(" text-anchor=\"end\""),
        }
        if text.upwards {
            let _ = write!(self.out, " transform=\"rotate(-90 {x} {y})\"");
        }
        self.out.push('>');
        let mut raised_before = false;
        for (raised, words) in runs(&text.words) {
            let words = escaped(&words);
            match (raised, raised_before) {
                (true, _) => {
                    let (up, size) = (number(-RAISED_BY * text.size), number(RAISED_SIZE * text.size));
                    let _ = write!(self.out, "<tspan dy=\"{up}\" font-size=\"{size}\">{words}</tspan>");
                }
                (false, true) => {
                    let down = number(RAISED_BY * text.size);
                    let _ = write!(self.out, "<tspan dy=\"{down}\">{words}</tspan>");
                }
                (false, false) => self.out.push_str(&words),
            }
            raised_before = raised;
        }
        self.out.push_str("</text>\n");
    }
}

/// A text in runs, each raised or not; raised ones with plain figures in place of superscript ones.
pub fn runs(words: &str) -> Vec<(bool, String)> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    for character in words.chars() {
        let figure = ('0'..='9').zip(RAISED_FIGURES).find(|(_, raised)| *raised == character);
        let plain = figure.map(|(plain, _)| plain).or((character == '⁻').then_some('−'));
        let raised = plain.is_some();
        let character = plain.unwrap_or(character);
        match runs.last_mut() {
            Some((before, run)) if *before == raised => run.push(character),
            _ => runs.push((raised, character.to_string())),
        }
    }
    runs
}

/// A number with at most two decimals, without trailing zeros.
pub fn number(value: f64) -> String {
    let mut text = format!("{value:.2}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".into() } else { text }
}

fn path(parts: &[Vec<Place>], closed: bool) -> String {
    let mut data = String::new();
    for part in parts {
        let Some(first) = part.first() else { continue };
        let _ = write!(data, "M{} {}", number(first.0), number(first.1));
        // Points equal to the one before are left out, unless there are no others.
        let mut last = (number(first.0), number(first.1));
        let mut drawn = 1;
        for place in &part[1..] {
            let next = (number(place.0), number(place.1));
            if next != last {
                let _ = write!(data, "L{} {}", next.0, next.1);
                last = next;
                drawn += 1;
            }
        }
        if drawn == 1 {
            data.push_str("h0.01");
        }
        if closed {
            data.push('Z');
        }
    }
    data
}

/// The character that is drawn for one of a text: a blank for white space, U+FFFD for what XML 1.0 does not have.
pub fn drawn(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => ' ',
        '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    }
}

/// Text as XML character data.
fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for character in words.chars() {
        match drawn(character) {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [1.0, 1.5, 1.004, 1.005_1, -0.001, -2.5, 100.0].map(number);
        assert_eq!(texts, ["1", "1.5", "1", "1.01", "0", "-2.5", "100"]);
    }

    #[test]
    fn superscripts_are_raised() {
        let expected = [(false, "×10".to_owned()), (true, "−3".to_owned()), (false, " m".to_owned())];
        assert_eq!(runs("×10⁻³ m"), expected);
    }

    #[test]
    fn characters_forbidden_in_xml_are_escaped() {
        assert_eq!(escaped("a<b & \"c\"\u{1}\n"), "a&lt;b &amp; &quot;c&quot;\u{fffd} ");
    }
}
