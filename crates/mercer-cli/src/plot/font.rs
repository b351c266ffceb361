//! The typeface: a subset of Liberation Sans, whose widths are those of Helvetica and Arial. It is part of the program, so
//! pictures need no fonts of the system.

use std::sync::LazyLock;

use ttf_parser::Face;

use super::svg::{RAISED_SIZE, runs};

/// The file of the typeface.
pub const FILE: &[u8] = include_bytes!("../../fonts/MercerSans-Regular.ttf");

/// The typeface; a test makes sure that it is not `None`.
pub static FACE: LazyLock<Option<Face<'static>>> = LazyLock::new(|| Face::parse(FILE, 0).ok());

/// The assumed width of a character that the typeface lacks: a square.
const FULL_WIDTH: f64 = 1.0;

/// Width of a text at a size.
pub fn width(words: &str, size: f64) -> f64 {
    runs(words)
        .iter()
        .map(|(raised, run)| plain_width(run) * if *raised { RAISED_SIZE } else { 1.0 })
        .sum::<f64>()
        * size
}

fn plain_width(words: &str) -> f64 {
    let of = |character| FACE.as_ref().and_then(|face| advance(face, character)).unwrap_or(FULL_WIDTH);
    words.chars().map(of).sum()
}

/// The advance width of a character at size 1; `None` if the face lacks it.
fn advance(face: &Face<'_>, character: char) -> Option<f64> {
    let advance = face.glyph_hor_advance(face.glyph_index(character)?)?;
    Some(f64::from(advance) / f64::from(face.units_per_em()))
}

/// Whether the typeface has a character.
pub fn covers(character: char) -> bool {
    FACE.as_ref().is_some_and(|face| face.glyph_index(character).is_some())
}

/// The text, with its end replaced by an ellipsis if it is wider than `limit`.
pub fn shortened(words: &str, size: f64, limit: f64) -> String {
    if width(words, size) <= limit {
        return words.to_owned();
    }
    let characters: Vec<char> = words.chars().collect();
    let fits = |count: &usize| {
        let kept: String = characters[..*count].iter().collect();
        width(&format!("{}…", kept.trim_end()), size) <= limit
    };
    let (mut low, mut high) = (0, characters.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&middle) { low = middle } else { high = middle - 1 }
    }
    let kept: String = characters[..low].iter().collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_match_helvetica() {
        // From the metrics of Helvetica: a digit is 556, a space 278, `W` 944 thousandths of the size.
        assert!((width("0123456789", 1000.0) - 5560.0).abs() < 5.0);
        assert!((width("W W", 1000.0) - 2166.0).abs() < 5.0);
    }

    #[test]
    fn the_signs_of_our_own_texts_are_there() {
        assert!("σ λ − × · … aᵢk(cᵢ, x) ‖x‖ ≤ ≥ ± √ μ Ω é ß Ж →".chars().all(covers));
        assert!(!covers('漢'));
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        let long = "a_very_long_column_name_that_goes_on_and_on";
        let short = shortened(long, 12.0, 100.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 100.0, "{short}");
        assert!(short.len() > 10);
        assert_eq!(shortened("short", 12.0, 100.0), "short");
        assert_eq!(shortened("x", 12.0, 0.0), "…");
    }
}
