//! Ticks of axes and their labels.

/// The ticks of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ticks {
    /// Their positions and labels.
    pub labelled: Vec<(f64, String)>,
    /// The positions of minor ticks without labels.
    pub minor: Vec<f64>,
    /// The common factor or offset of all labels, for the end of the axis: `×10⁻⁵`.
    pub note: Option<String>,
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, at most `most` + 1 of them, `most` ≥ 1.
///
/// Labels are computed from whole numbers, so that 0.1 + 0.2 is 0.3. If the largest is 10⁵ or more, or below 10⁻³, a
/// power of ten is factored out; if the axis is narrow and far from 0, a common offset is.
pub fn linear(lo: f64, hi: f64, most: usize) -> Ticks {
    let span = hi - lo;
    let raw = span / most.max(1) as f64;
    let mut exponent = raw.log10().floor() as i32;
    let mut multiple = [1, 2, 5].into_iter().find(|m| f64::from(*m) * power(exponent) >= raw * (1.0 - 1e-9));
    if multiple.is_none() {
        exponent += 1;
        multiple = Some(1);
    }
    let multiple = i64::from(multiple.unwrap_or(1));
    let step = multiple as f64 * power(exponent);
    let largest = lo.abs().max(hi.abs());
    // Digits before the step: more than six of them become a common offset.
    let base = if largest / step > 1e6 { far_base(lo, hi, span) } else { 0.0 };
    let (from, to) = ((lo - base) / step, (hi - base) / step);
    let (first, last) = ((from - 1e-6).ceil() as i64, (to + 1e-6).floor() as i64);
    let counts: Vec<i64> = (first..=last).collect();
    let top = counts.iter().map(|k| (k * multiple).unsigned_abs()).max().unwrap_or(0);
    let leading = if top == 0 { exponent } else { exponent + top.ilog10() as i32 };
    let factor = if (-3..5).contains(&leading) { 0 } else { leading };
    let label = |k: i64| decimal(k * multiple, exponent - factor);
    let labelled = counts.iter().map(|&k| (base + k as f64 * step, label(k))).collect();
    let mut notes = Vec::new();
    if factor != 0 {
        notes.push(format!("×10{}", raised(factor)));
    }
    if base != 0.0 {
        let sign = if base < 0.0 { "−" } else { "+" };
        notes.push(format!("{sign} {}", common(base.abs())));
    }
    Ticks { labelled, minor: Vec::new(), note: (!notes.is_empty()).then(|| notes.join("  ")) }
}

/// A round number near a narrow interval, to count from.
fn far_base(lo: f64, hi: f64, span: f64) -> f64 {
    let unit = power(span.log10().ceil() as i32);
    let base = (lo / unit).floor() * unit;
    if (lo..=hi).contains(&(base + unit)) { base + unit } else { base }
}

/// Ticks at powers of ten, or at 1, 2 and 5 times them on an axis of little more than one decade; `lo` > 0.
pub fn log(lo: f64, hi: f64, most: usize) -> Ticks {
    let (low, high) = (lo * (1.0 - 1e-9), hi * (1.0 + 1e-9));
    let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
    let decades = (last - first + 1).max(0) as usize;
    let seen = |v: &f64| (low..=high).contains(v);
    let times = |multiples: &[i64]| -> Vec<(i64, i32)> {
        let all = (first - 1..=last).flat_map(|e| multiples.iter().map(move |m| (*m, e)));
        all.filter(|(m, e)| seen(&(*m as f64 * power(*e)))).collect()
    };
    if decades < 2 || (decades == 2 && high < 30.0 * low) {
        let chosen = times(&[1, 2, 5]);
        if chosen.len() < 2 {
            return linear(lo, hi, most);
        }
        let labelled =
            chosen.into_iter().map(|(m, e)| (m as f64 * power(e), scientific(m, e))).collect::<Vec<_>>();
        let minor = times(&[3, 4, 6, 7, 8, 9]).into_iter().map(|(m, e)| m as f64 * power(e)).collect();
        return Ticks { labelled, minor, note: None };
    }
    let stride = decades.div_ceil(most.max(1)) as i32;
    let plain = first >= -3 && last <= 4;
    let label = |e: i32| if plain { decimal(1, e) } else { format!("10{}", raised(e)) };
    let chosen = (first..=last).filter(|e| e.rem_euclid(stride) == 0);
    let labelled: Vec<_> = chosen.map(|e| (power(e), label(e))).collect();
    let minor = match stride {
        1 => times(&[2, 3, 4, 5, 6, 7, 8, 9]).into_iter().map(|(m, e)| m as f64 * power(e)).collect(),
        _ => (first..=last).filter(|e| e.rem_euclid(stride) != 0).map(power).collect(),
    };
    Ticks { labelled, minor, note: None }
}

/// A number for a legend: up to four digits, with a power of ten if it is far from 1.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}").replace('-', "−");
    }
    let (figures, last, exponent) = rounded(value, 4);
    if (-4..=5).contains(&exponent) {
        decimal(figures, last)
    } else {
        scientific_figures(figures, last, exponent)
    }
}

/// A finite number rounded to some figures: these without zeros at their end, the power of ten of the last of them, and
/// that of the first.
fn rounded(value: f64, figures: usize) -> (i64, i32, i32) {
    let text = format!("{value:.*e}", figures - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or(("0", "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: i64 = digits.replace('.', "").parse().unwrap_or(0);
    if digits == 0 {
        return (0, 0, 0);
    }
    let mut last = exponent - figures as i32 + 1;
    while digits % 10 == 0 {
        digits /= 10;
        last += 1;
    }
    (digits, last, exponent)
}

fn scientific(multiple: i64, exponent: i32) -> String {
    if (-3..=4).contains(&exponent) {
        decimal(multiple, exponent)
    } else {
        scientific_figures(multiple, exponent, exponent)
    }
}

/// `figures`·10^`last`, as a number from 1 to 10 times 10^`exponent`.
fn scientific_figures(figures: i64, last: i32, exponent: i32) -> String {
    let mantissa = decimal(figures, last - exponent);
    match mantissa.as_str() {
        "1" => format!("10{}", raised(exponent)),
        "−1" => format!("−10{}", raised(exponent)),
        _ => format!("{mantissa}×10{}", raised(exponent)),
    }
}

/// The common offset of ticks, with all of its digits.
fn common(value: f64) -> String {
    if (1e-3..1e9).contains(&value) { format!("{value}") } else { format!("{value:e}").replace('-', "−") }
}

/// `figures`·10^`exponent`, written out with a true minus sign.
fn decimal(figures: i64, exponent: i32) -> String {
    let sign = if figures < 0 { "−" } else { "" };
    let mut digits = figures.unsigned_abs().to_string();
    if figures == 0 {
        let places = (-exponent).max(0) as usize;
        return if places == 0 { "0".into() } else { format!("0.{}", "0".repeat(places)) };
    }
    if exponent >= 0 {
        digits.push_str(&"0".repeat(exponent as usize));
        return format!("{sign}{digits}");
    }
    let places = exponent.unsigned_abs() as usize;
    if digits.len() <= places {
        digits.insert_str(0, &"0".repeat(places + 1 - digits.len()));
    }
    digits.insert(digits.len() - places, '.');
    format!("{sign}{digits}")
}

/// The figures 0 to 9, raised.
pub const RAISED_FIGURES: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// An exponent in raised figures.
pub fn raised(exponent: i32) -> String {
    exponent
        .to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |digit| RAISED_FIGURES[digit as usize]))
        .collect()
}

/// The double nearest to 10ᵉ.
fn power(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.labelled.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn multiples_of_one_two_and_five() {
        assert_eq!(labels(&linear(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&linear(-3.2, 7.9, 6)), ["−2", "0", "2", "4", "6"]);
        assert_eq!(labels(&linear(0.0, 100.0, 4)), ["0", "50", "100"]);
        assert_eq!(labels(&linear(-0.25, 0.31, 6)), ["−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]);
    }

    #[test]
    fn far_scales_take_out_a_power_of_ten() {
        let small = linear(0.0, 6.1e-7, 4);
        assert_eq!(labels(&small), ["0", "2", "4", "6"]);
        assert_eq!(small.note.as_deref(), Some("×10⁻⁷"));
        let large = linear(0.0, 2.5e12, 5);
        assert_eq!(labels(&large), ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]);
        assert_eq!(large.note.as_deref(), Some("×10¹²"));
    }

    #[test]
    fn narrow_and_far_takes_out_what_is_common() {
        let ticks = linear(1_000_000.001, 1_000_000.009, 4);
        assert_eq!(ticks.note.as_deref(), Some("+ 1000000"));
        assert_eq!(labels(&ticks), ["0.002", "0.004", "0.006", "0.008"]);
    }

    #[test]
    fn powers_of_ten() {
        assert_eq!(labels(&log(0.01, 100.0, 8)), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(&log(1e-8, 1.0, 5)), ["10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(labels(&log(0.9, 6.0, 5)), ["1", "2", "5"]);
        assert_eq!(log(0.95, 6.0, 5).minor, [3.0, 4.0, 6.0]);
        assert_eq!(labels(&log(10.0, 110.0, 5)), ["10", "20", "50", "100"]);
        assert_eq!(log(1.0, 50.0, 5).minor[..4], [2.0, 3.0, 4.0, 5.0]);
        assert!(labels(&log(1.01, 1.02, 5)).len() >= 3);
    }

    #[test]
    fn numbers_for_legends() {
        let found = [0.0, 1.0, 0.1, -2.5, 1234.56, 1e-9, 2.5e12, 0.000_123_4, 1e5].map(number);
        assert_eq!(found, ["0", "1", "0.1", "−2.5", "1235", "10⁻⁹", "2.5×10¹²", "0.0001234", "100000"]);
    }

    proptest! {
        #[test]
        fn ticks_are_inside_even_and_few(lo in -1e6f64..1e6, width in 1e-3f64..1e7, most in 2usize..12) {
            let hi = lo + width;
            let ticks = linear(lo, hi, most);
            prop_assert!(ticks.labelled.len() <= most + 1);
            prop_assert!(!ticks.labelled.is_empty() || most < 3);
            for (value, _) in &ticks.labelled {
                prop_assert!(*value >= lo - 1e-5 * width && *value <= hi + 1e-5 * width);
            }
            let mut seen: Vec<_> = labels(&ticks);
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), ticks.labelled.len());
        }
    }
}
