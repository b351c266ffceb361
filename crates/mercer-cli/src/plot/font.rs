//! The typeface: a subset of Liberation Sans, whose widths are those of Helvetica and Arial. It is part of the program, so
//! pictures need no fonts of the system.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

use super::svg::{RAISED_SIZE, runs};

/// The file.
pub static FACE: &[u8] = include_bytes!("../../fonts/MercerSans-Regular.ttf");

static FONT: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| FontRef::new(FACE).ok());

/// What a character that the typeface lacks is taken to be wide: a square.
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
    let Some(font) = FONT.as_ref() else { return 0.55 * words.chars().count() as f64 };
    let (map, metrics) = (font.charmap(), font.glyph_metrics(Size::new(1.0), LocationRef::default()));
    let of = |character: char| {
        map.map(character).and_then(|glyph| metrics.advance_width(glyph)).map_or(FULL_WIDTH, f64::from)
    };
    words.chars().map(of).sum()
}

/// Whether the typeface has every character of a text.
pub fn covers(words: &str) -> bool {
    FONT.as_ref().is_some_and(|font| words.chars().all(|c| c == '\n' || font.charmap().map(c).is_some()))
}

/// The text, its end replaced by an ellipsis where it is wider than `limit`.
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
    fn widths_are_those_of_helvetica() {
        // From the metrics of Helvetica: a digit is 556, a space 278, `W` 944 thousandths of the size.
        assert!((width("0123456789", 1000.0) - 5560.0).abs() < 5.0);
        assert!((width("W W", 1000.0) - 2166.0).abs() < 5.0);
    }

    #[test]
    fn the_signs_of_our_own_texts_are_there() {
        assert!(covers("σ λ − × · … aᵢk(cᵢ, x) ‖x‖ ≤ ≥ ± √ μ Ω é ß Ж →"));
        assert!(!covers("漢字"));
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
