//! Formats numbers like C's `%g`.

/// `value` with at most `digits` significant digits, as `printf("%.{digits}g")` of C: without an exponent from 10⁻⁴ up to
/// 10^digits, and without zeros at the end.
///
/// ```
/// use mercer::model::libsvm::general;
///
/// assert_eq!(general(0.1, 17), "0.10000000000000001");
/// assert_eq!(general(86.66666666, 6), "86.6667");
/// assert_eq!(general(1.5e-7, 6), "1.5e-07");
/// assert_eq!(general(123456789.0, 6), "1.23457e+08");
/// assert_eq!(general(-0.0, 6), "-0");
/// ```
#[must_use]
pub fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { if value > 0.0 { "inf" } else { "-inf" }.into() };
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    let places = (digits as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{value:.places$}")).to_owned()
}

/// Without zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `value` in eight digits, as LIBSVM writes features, if these are exact; otherwise in as many as needed.
pub(super) fn exact(value: f64) -> String {
    let short = general(value, 8);
    if short.parse() == Ok(value) { short } else { general(value, 17) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_printf_has_it() {
        for (value, digits, expected) in [
            (0.0, 6, "0"),
            (1.0, 17, "1"),
            (100.0, 6, "100"),
            (1e5, 6, "100000"),
            (1e6, 6, "1e+06"),
            (999999.5, 6, "1e+06"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (-0.42446236, 6, "-0.424462"),
            (1.0 / 3.0, 17, "0.33333333333333331"),
            (1e300, 17, "1.0000000000000001e+300"),
            (5e-324, 17, "4.9406564584124654e-324"),
        ] {
            assert_eq!(general(value, digits), expected);
        }
    }

    #[test]
    fn features_are_short_where_that_is_exact() {
        assert_eq!(exact(0.708333), "0.708333");
        assert_eq!(exact(0.1 + 0.2), "0.30000000000000004");
        for value in [1.0 / 3.0, 1e-300, -7.25, 12_345_678.123_456_7] {
            assert_eq!(exact(value).parse(), Ok(value));
        }
    }
}
