//! The common part of the kinds of pictures.

use mercer::model::Predictor;
use mercer::session::Session;

use super::Kind;
use super::shown::Shown;
use super::{classifier, dependence, kernel_matrix, refit, regression};
use crate::failure::Failure;
use crate::plot::{Figure, number};

/// Places along a curve, and along each side of a map and of a surface.
pub const CURVE: usize = 401;
pub const MAP: usize = 121;
pub const SURFACE: usize = 51;

/// Draws one kind of picture along columns.
pub fn draw(shown: &Shown, kind: Kind, columns: &[String], session: &Session<'_>) -> Result<Figure, Failure> {
    let name = kind.name();
    if !columns.is_empty() && columns.len() != kind.columns() {
        let message = match kind.columns() {
            0 => format!("--columns does not apply to --kind {name}"),
            1 => format!("--kind {name} takes one column, but --columns names {}", columns.len()),
            n => format!("--kind {name} takes {n} columns, but --columns names {}", columns.len()),
        };
        return Err(Failure::usage(message).hint(
            "slice and partial-dependence take one column; contour, surface, classes and lift take two",
        ));
    }
    let is_classifier = shown.model.classes.is_some();
    match kind {
        Kind::Curve | Kind::Contour | Kind::Surface | Kind::Predicted | Kind::Residuals if is_classifier => {
            return Err(Failure::usage(format!(
                "--kind {name} is for regressions; this model is a classifier"
            ))
            .hint("draw it with --kind classes, slice, confusion or roc"));
        }
        Kind::Classes | Kind::Lift | Kind::Confusion | Kind::Roc | Kind::Reliability if !is_classifier => {
            return Err(Failure::usage(format!(
                "--kind {name} is for classifiers; this model predicts numbers"
            ))
            .hint("draw it with --kind contour, slice, predicted or residuals"));
        }
        _ => {}
    }
    if shown.names.len() < kind.columns() {
        return Err(Failure::usage(format!("--kind {name} needs two columns, but this model has one"))
            .hint("--kind slice draws a model of one column"));
    }
    let columns = shown.columns(columns, kind.columns())?;
    match kind {
        Kind::Curve => regression::curve(shown, session),
        Kind::Contour => regression::contour(shown, [columns[0], columns[1]], session),
        Kind::Surface => regression::surface(shown, [columns[0], columns[1]], session),
        Kind::Predicted => regression::predicted(shown, session),
        Kind::Residuals => regression::residuals(shown, session),
        Kind::Slice if is_classifier => dependence::class_slice(shown, columns[0], session),
        Kind::Slice => regression::slice(shown, columns[0], session),
        Kind::PartialDependence => dependence::partial(shown, columns[0], session),
        Kind::Gram => kernel_matrix::gram(shown, session),
        Kind::Spectrum => kernel_matrix::spectrum(shown, session),
        Kind::Classes => classifier::classes(shown, [columns[0], columns[1]], session),
        Kind::Lift => classifier::lift(shown, [columns[0], columns[1]], session),
        Kind::Confusion => classifier::confusion(shown, session),
        Kind::Roc => classifier::roc(shown, session),
        Kind::Reliability => classifier::reliability(shown, session),
        Kind::LearningCurve => refit::learning_curve(shown, session),
        Kind::Convergence => refit::convergence(shown, session),
    }
}

/// The model in one line.
pub fn about(shown: &Shown) -> String {
    let model = &shown.model;
    let named = |(key, name): (&str, &str)| {
        let value = model.settings.number_of(key, shown.output);
        value.map(|value| format!(", {name} = {}", number(value))).unwrap_or_default()
    };
    let settings = [("lambda", "λ"), ("C", "C"), ("nu", "ν"), ("epsilon", "ε")].map(named).concat();
    let what = match &model.predictor {
        Predictor::Linear(linear) => linear.map.to_string(),
        Predictor::Neighbours(neighbours) => neighbours.rule.to_string(),
        other => other.kernel().map(ToString::to_string).unwrap_or_default(),
    };
    format!("{}, {}{settings}", model.method, rounded(&what))
}

/// A text whose numbers have at most four digits.
pub fn rounded(text: &str) -> String {
    let in_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c| !in_number(c)).map_or(rest.len(), |length| start + length);
        let digits = &rest[start..end];
        // Short numbers and those with an exponent stay as they are.
        let short = match digits.parse::<f64>() {
            Ok(value) if digits.len() > 6 && !rest[end..].starts_with('e') => number(value),
            _ => digits.to_owned(),
        };
        out.push_str(&rest[..start]);
        out.push_str(&short);
        rest = &rest[end..];
    }
    out + rest
}

/// Evenly spaced places that cover the values, with a margin.
pub fn places(values: &[f64], margin: f64, count: usize) -> Vec<f64> {
    let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = if hi > lo { margin * (hi - lo) } else { 0.5 * lo.abs().max(1.0) };
    let (lo, hi) = (lo - room, hi + room);
    (0..count).map(|i| lo + (hi - lo) * i as f64 / (count - 1) as f64).collect()
}

/// The columns and rows of a grid over two columns, and its points row by row.
pub fn grid(shown: &Shown, columns: [usize; 2], side: usize) -> ([Vec<f64>; 2], Vec<Vec<f64>>) {
    let [xs, ys] = columns.map(|column| places(&shown.values(column), 0.04, side));
    let points = ys.iter().flat_map(|y| xs.iter().map(|x| vec![*x, *y]).collect::<Vec<_>>()).collect();
    ([xs, ys], points)
}

/// The error for a picture that needs targets.
pub fn needs_target(shown: &Shown, kind: Kind) -> Failure {
    let (kind, name) = (kind.name(), &shown.output_name);
    Failure::usage(format!("--kind {kind} needs DATA with the column `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_rounded() {
        assert_eq!(rounded("rbf(sigma=2.7055295586450283)"), "rbf(sigma=2.706)");
        assert_eq!(rounded("0.5*poly(degree=3) + x1"), "0.5*poly(degree=3) + x1");
        assert_eq!(rounded("1.2345678e-9*linear"), "1.2345678e-9*linear");
    }

    #[test]
    fn places_hold_equal_values() {
        let around = places(&[2.0, 2.0], 0.1, 3);
        assert_eq!(around, [1.0, 2.0, 3.0]);
    }
}
