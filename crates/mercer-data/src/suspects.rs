//! Detects columns that are probably not features: row numbers, identifiers, dates written as numbers.

use super::error::as_argument;
use super::options::Dates;
use super::schema::{Encoding, FeatureColumn};

/// The fewest rows for a suspicion.
const FEWEST: usize = 20;

/// A note for each column that is probably not a feature; `values` gives the numbers of a column by its slot among
/// numeric columns. If dates are read as days, only numbers from 0 or 1 are row numbers.
pub(super) fn suspects<V: Iterator<Item = f64> + Clone>(
    columns: &[FeatureColumn],
    nrows: usize,
    dates: Dates,
    values: impl Fn(usize) -> V,
) -> Vec<String> {
    let mut slots = 0..;
    let suspect = |column: &FeatureColumn| {
        let what = match &column.encoding {
            Encoding::Number { .. } => looks_like(&column.name, values(slots.next()?), dates)?.to_owned(),
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

/// What the numbers of a column look like other than a feature. Most columns are ruled out by their first rows.
fn looks_like(name: &str, values: impl Iterator<Item = f64> + Clone, dates: Dates) -> Option<&'static str> {
    let whole = |v: f64| v.fract() == 0.0;
    let first = values.clone().next().filter(|_| values.clone().take(FEWEST).count() == FEWEST)?;
    if whole(first) && values.clone().zip(values.clone().skip(1)).all(|(one, next)| next == one + 1.0) {
        return (dates == Dates::Refuse || first <= 1.0).then_some("row numbers");
    }
    if values.clone().all(|v| whole(v) && is_date(v)) {
        return Some("dates");
    }
    if !names_an_identifier(name) || !values.clone().all(whole) {
        return None;
    }
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.windows(2).all(|pair| pair[0] < pair[1]).then_some("identifiers")
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
            assert_eq!(looks_like(name, values.iter().copied(), Dates::Refuse), expected, "{name}");
        }
        assert_eq!(looks_like("x0", rising[..10].iter().copied(), Dates::Refuse), None, "too few rows");
        assert_eq!(looks_like("day", rising.iter().copied(), Dates::Days), None, "consecutive days");
        let apart: Vec<f64> = dates.iter().step_by(2).chain(&dates).copied().collect();
        assert_eq!(looks_like("day", apart.iter().copied(), Dates::Refuse), Some("dates"));
    }
}
