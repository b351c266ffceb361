//! Reads ISO 8601 dates as numbers of days.

/// Days since 1970-01-01 of `2024-03-01`, with the time of day as a fraction for `2024-03-01T12:30:00` and the like: a blank in
/// place of the `T`, fractions of a second, and `Z` or an offset such as `+02:00` are understood. `None` for other texts and for days that
/// are not in the calendar.
pub(super) fn days(text: &[u8]) -> Option<f64> {
    let text = str::from_utf8(text).ok()?.trim();
    let (date, time) = text.split_at_checked(10)?;
    let day = days_of_date(date)?;
    if time.is_empty() {
        return Some(day);
    }
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (time, offset) = split_offset(time)?;
    Some(day + (seconds(time)? - offset) / 86_400.0)
}

/// Days since 1970-01-01 of `YYYY-MM-DD`.
fn days_of_date(date: &str) -> Option<f64> {
    let mut parts = date.split(['-', '/']);
    let (year, month, day) =
        (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if parts.next().is_some() || day == 0 || day > length {
        return None;
    }
    // Months are counted from March, so that the leap day is the last day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_months = (153 * month + 2) / 5;
    let of_years = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some((of_years + of_months + day - 1 - 719_468) as f64)
}

/// A time and its offset from UTC in seconds.
fn split_offset(time: &str) -> Option<(&str, f64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0.0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0.0)) };
    let (time, offset) = time.split_at(at);
    let sign = if offset.starts_with('-') { -1.0 } else { 1.0 };
    let (hours, minutes) = match offset[1..].split_once(':') {
        Some((hours, minutes)) => (digits(hours, 2)?, digits(minutes, 2)?),
        None => (digits(&offset[1..], 2)?, 0),
    };
    Some((time, sign * (3_600 * hours + 60 * minutes) as f64))
}

/// Seconds of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`.
fn seconds(time: &str) -> Option<f64> {
    let mut parts = time.split(':');
    let (hours, minutes) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let seconds = match parts.next() {
        Some(seconds) => {
            digits(seconds.split('.').next()?, 2)?;
            seconds.parse::<f64>().ok()?
        }
        None => 0.0,
    };
    let fits = hours < 24 && minutes < 60 && seconds < 61.0 && parts.next().is_none();
    fits.then(|| (3_600 * hours + 60 * minutes) as f64 + seconds)
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_become_days() {
        for (text, expected) in [
            ("1970-01-01", Some(0.0)),
            ("1969-12-31", Some(-1.0)),
            ("2000-02-29", Some(11_016.0)),
            ("2024-03-01", Some(19_783.0)),
            ("0001-01-01", Some(-719_162.0)),
            ("2024/03/01", Some(19_783.0)),
            ("2024-03-01T12:00", Some(19_783.5)),
            ("2024-03-01 06:00:00.000", Some(19_783.25)),
            ("2024-03-01T12:00:00Z", Some(19_783.5)),
            ("2024-03-01T12:00:00+06:00", Some(19_783.25)),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-00-10", None),
            ("2024-03-00", None),
            ("2024-03-01T25:00", None),
            ("2024-03-01x", None),
            ("20240301", None),
            ("12.5", None),
            ("2024-03", None),
            ("été 2024-0", None),
        ] {
            assert_eq!(days(text.as_bytes()), expected, "{text}");
        }
    }
}
