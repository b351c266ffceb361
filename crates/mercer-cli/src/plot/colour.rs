//! Colours, and perceptually uniform colour scales.
//!
//! Scales are paths in Oklab (B. Ottosson, 2020), whose distances match perception: equal steps of a number look like
//! equal steps of colour, and lightness alone (a grey print) preserves the order.

use std::f64::consts::PI;
use std::fmt;

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Text and strong lines.
pub const INK: Colour = Colour(0x22, 0x26, 0x2b);
/// Axes, tick labels and secondary text.
pub const SLATE: Colour = Colour(0x5b, 0x63, 0x6d);
/// Grid lines.
pub const MIST: Colour = Colour(0xe4, 0xe7, 0xeb);
/// The page.
pub const WHITE: Colour = Colour(0xff, 0xff, 0xff);

/// Colours of categories: the first six are distinguishable with the common forms of colour blindness (Okabe and Ito,
/// 2008).
pub const CATEGORIES: [Colour; 16] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0x7a, 0x5c, 0x3e),
    Colour(0x6b, 0x6b, 0x6b),
    Colour(0x8e, 0x2f, 0x6b),
    Colour(0x1d, 0x3f, 0x66),
    Colour(0x22, 0xee, 0x00),
    Colour(0x88, 0x00, 0xff),
    Colour(0xff, 0x00, 0xff),
    Colour(0x99, 0xdd, 0xaa),
    Colour(0x00, 0x55, 0x00),
    Colour(0xdd, 0xbb, 0xee),
];

/// The colour of a category: beyond the sixteenth, the same ones lighter and darker.
pub fn category(index: usize) -> Colour {
    let colour = CATEGORIES[index % CATEGORIES.len()];
    match index / CATEGORIES.len() % 3 {
        0 => colour,
        1 => colour.mix(WHITE, 0.45),
        _ => colour.mix(INK, 0.5),
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl Colour {
    /// The colour a fraction `t` of the way to `other`, in Oklab.
    pub fn mix(self, other: Self, t: f64) -> Self {
        let (from, to) = (Oklab::from(self), Oklab::from(other));
        from.towards(to, t).colour()
    }

    /// Lightness in Oklab: 0 is black, 1 is white.
    pub fn lightness(self) -> f64 {
        Oklab::from(self).lightness
    }

    /// The nearest of the 6 × 6 × 6 colours that terminals number from 16.
    pub fn terminal(self) -> u8 {
        let step = |c: u8| (f64::from(c) / 51.0).round() as u8;
        16 + 36 * step(self.0) + 6 * step(self.1) + step(self.2)
    }
}

/// Colour scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourScale {
    /// From dark to light, for ordered values.
    Sequential,
    /// Two hues around white, for values around a meaningful centre.
    Diverging,
}

/// Lightness, chroma and hue in degrees, evenly spaced along the sequential scale.
const SEQUENTIAL: [(f64, f64, f64); 6] = [
    (0.290, 0.105, 295.0),
    (0.414, 0.110, 268.0),
    (0.538, 0.095, 232.0),
    (0.662, 0.110, 178.0),
    (0.786, 0.150, 138.0),
    (0.910, 0.165, 106.0),
];

impl ColourScale {
    /// The values at the ends of the scale for values from `lo` to `hi`: those of a diverging scale are centred on 0.
    pub fn ends(self, lo: f64, hi: f64) -> (f64, f64) {
        let far = hi.max(-lo);
        match self {
            Self::Sequential => (lo, hi),
            Self::Diverging => (-far, far),
        }
    }

    /// The colour at `t`, which is clamped to \[0, 1\].
    pub fn at(self, t: f64) -> Colour {
        let t = t.clamp(0.0, 1.0);
        match self {
            Self::Sequential => {
                let place = t * (SEQUENTIAL.len() - 1) as f64;
                let from = (place as usize).min(SEQUENTIAL.len() - 2);
                let [a, b] = [from, from + 1].map(|i| Oklab::polar(SEQUENTIAL[i]));
                a.towards(b, place - from as f64).colour()
            }
            Self::Diverging => {
                let white = Oklab::polar((0.975, 0.0, 0.0));
                let end = if t < 0.5 { (0.42, 0.14, 257.0) } else { (0.47, 0.165, 30.0) };
                white.towards(Oklab::polar(end), (2.0 * t - 1.0).abs()).colour()
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Oklab {
    lightness: f64,
    a: f64,
    b: f64,
}

impl Oklab {
    fn polar((lightness, chroma, degrees): (f64, f64, f64)) -> Self {
        let hue = degrees * PI / 180.0;
        Self { lightness, a: chroma * hue.cos(), b: chroma * hue.sin() }
    }

    fn towards(self, other: Self, t: f64) -> Self {
        let mix = |from: f64, to: f64| from + t * (to - from);
        Self {
            lightness: mix(self.lightness, other.lightness),
            a: mix(self.a, other.a),
            b: mix(self.b, other.b),
        }
    }

    /// Linear sRGB, which is outside of \[0, 1\] for colours that screens do not have.
    fn linear(self) -> [f64; 3] {
        let l = (self.lightness + 0.396_337_777_4 * self.a + 0.215_803_757_3 * self.b).powi(3);
        let m = (self.lightness - 0.105_561_345_8 * self.a - 0.063_854_172_8 * self.b).powi(3);
        let s = (self.lightness - 0.089_484_177_5 * self.a - 1.291_485_548 * self.b).powi(3);
        [
            4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
            -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
            -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
        ]
    }

    /// The colour, desaturated just enough for the sRGB gamut.
    fn colour(self) -> Colour {
        let shown = |c: &f64| (-1e-4..=1.0001).contains(c);
        let mut inside = self.linear();
        if !inside.iter().all(shown) {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..24 {
                let middle = 0.5 * (low + high);
                let trial = Self { a: middle * self.a, b: middle * self.b, ..self }.linear();
                if trial.iter().all(shown) {
                    (low, inside) = (middle, trial);
                } else {
                    high = middle;
                }
            }
        }
        let [r, g, b] = inside.map(|c| {
            let c = c.clamp(0.0, 1.0);
            let encoded = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
            (255.0 * encoded).round() as u8
        });
        Colour(r, g, b)
    }
}

impl From<Colour> for Oklab {
    fn from(Colour(r, g, b): Colour) -> Self {
        let [r, g, b] = [r, g, b].map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        Self {
            lightness: 0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s,
            a: 1.977_998_495_1 * l - 2.428_592_205 * m + 0.450_593_709_9 * s,
            b: 0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766 * s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_there_and_back() {
        for colour in CATEGORIES.into_iter().chain([INK, SLATE, MIST, WHITE, Colour(0, 0, 0)]) {
            assert_eq!(Oklab::from(colour).colour(), colour);
        }
    }

    #[test]
    fn categories_differ() {
        for (i, one) in CATEGORIES.iter().enumerate() {
            for other in &CATEGORIES[..i] {
                let (one, other) = (Oklab::from(*one), Oklab::from(*other));
                let [a, b, c] = [one.lightness - other.lightness, one.a - other.a, one.b - other.b];
                assert!((a * a + b * b + c * c).sqrt() > 0.06, "{i}");
            }
        }
    }

    #[test]
    fn the_sequential_scale_is_even_in_lightness() {
        let lightness: Vec<f64> =
            (0..=40).map(|i| ColourScale::Sequential.at(f64::from(i) / 40.0).lightness()).collect();
        let step = (lightness[40] - lightness[0]) / 40.0;
        for pair in lightness.windows(2) {
            assert!((pair[1] - pair[0] - step).abs() < 0.4 * step, "{pair:?}");
        }
    }

    #[test]
    fn the_diverging_scale_is_lightest_in_the_middle() {
        let at = |t| ColourScale::Diverging.at(t);
        assert!(at(0.5).lightness() > 0.95);
        assert!(at(0.0).2 > at(0.0).0 && at(1.0).0 > at(1.0).2, "blue below, red above");
        assert!((at(0.0).lightness() - at(1.0).lightness()).abs() < 0.08);
    }
}
