//! Detects columns that are probably not features: row numbers, identifiers, dates written as numbers.

use super::error::as_argument;
use super::options::Dates;
use super::schema::{Encoding, FeatureColumn};

/// The fewest rows for a suspicion.
const FEWEST: usize = 20;

/// A note for each column that is probably not a feature; `values` gives the numbers of a column by its slot among
/// numeric columns. If dates are read as days, only numbers from 0 or 1 are row numbers.
pub(super) fn suspects(
    columns: &[FeatureColumn],
    nrows: usize,
    dates: Dates,
    values: impl Fn(usize) -> Vec<f64>,
) -> Vec<String> {
    let mut slots = 0..;
    let suspect = |column: &FeatureColumn| {
        let what = match &column.encoding {
            Encoding::Number { .. } => looks_like(&column.name, &values(slots.next()?), dates)?.to_owned(),
            Encoding::OneHot { categories, .. } if nrows >= FEWEST && 2 * categories.len() > nrows => {
                format!("identifiers ({} different texts in {nrows} rows)", categories.len())
            }
            Encoding::OneHot { .. } => return None,
        };
        let (name, argument) = (&column.name, as_argument(column.position, &column.name));
        Some(format!(
            "the column `{name}` looks like {what}; if it is not a feature, leave it out with --drop {argument}"
        ))
    };
    columns.iter().filter_map(suspect).collect()
}

fn looks_like(name: &str, values: &[f64], dates: Dates) -> Option<&'static str> {
    if values.len() < FEWEST || values.iter().any(|v| v.fract() != 0.0 || v.is_nan()) {
        return None;
    }
    if values.windows(2).all(|pair| pair[1] == pair[0] + 1.0) {
        return (dates == Dates::Refuse || values[0] <= 1.0).then_some("row numbers");
    }
    if values.iter().all(|&v| is_date(v)) {
        return Some("dates");
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let distinct = sorted.windows(2).all(|pair| pair[0] < pair[1]);
    (distinct && names_an_identifier(name)).then_some("identifiers")
}

/// Whether a number is a day of 1800 to 2199 as YYYYMMDD.
fn is_date(value: f64) -> bool {
    let digits = value as i64;
    let (year, month, day) = (digits / 10_000, digits / 100 % 100, digits % 100);
    (1_800..2_200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn names_an_identifier(name: &str) -> bool {
    let lowercase = name.to_ascii_lowercase();
    let last = lowercase.rsplit(['_', '-', '.', ' ']).next().unwrap_or_default();
    matches!(last, "id" | "ids" | "uuid" | "guid" | "index" | "idx" | "key" | "no" | "nr")
        || name.ends_with("Id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_numbers_identifiers_and_dates_are_distinguished_from_features() {
        let rising: Vec<f64> = (7..60).map(f64::from).collect();
        let shuffled: Vec<f64> = (0..50).map(|i| f64::from(1_000 + 7 * i % 350)).collect();
        let dates: Vec<f64> = (0..30).map(|i| f64::from(20_240_101 + i)).collect();
        let halves: Vec<f64> = (0..50).map(|i| f64::from(i) / 2.0).collect();
        for (name, values, expected) in [
            ("x0", &rising, Some("row numbers")),
            ("customer_id", &shuffled, Some("identifiers")),
            ("customerId", &shuffled, Some("identifiers")),
            ("area", &shuffled, None),
            ("day", &dates, Some("row numbers")),
            ("id", &halves, None),
        ] {
            assert_eq!(looks_like(name, values, Dates::Refuse), expected, "{name}");
        }
        assert_eq!(looks_like("x0", &rising[..10], Dates::Refuse), None, "too few rows");
        assert_eq!(looks_like("day", &rising, Dates::Days), None, "consecutive days");
        let apart: Vec<f64> = dates.iter().step_by(2).chain(&dates).copied().collect();
        assert_eq!(looks_like("day", &apart, Dates::Refuse), Some("dates"));
    }
}
