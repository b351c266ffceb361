//! Pictures of regressions.

use mercer::model::{GaussianProcess, Method, NumberSums};
use mercer::session::Session;

use super::Kind;
use super::pictures::{CURVE, MAP, SURFACE, about, grid, needs_target, places};
use super::shown::{RowKind, Shown};
use crate::failure::Failure;
use crate::plot::{
    Agreement, ColourScale, ContourMap, Field, Figure, FittedCurve, MOST_BUMPS, Surface, number,
};

/// The fraction of new data in the band of a Gaussian process, and the number of functions drawn from its posterior.
const BAND: f64 = 0.95;
const DRAWS: usize = 4;

/// The most points on a surface; more would hide it.
const IN_SPACE: usize = 400;

/// The curve of a model of one column.
pub fn curve(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    if shown.names.len() != 1 {
        let message = format!("--kind curve needs a model of one column; this one has {}", shown.names.len());
        return Err(Failure::usage(message).hint("--kind slice --columns NAME draws along one of them"));
    }
    let mut figure = along(shown, 0, session)?;
    if !figure.band.is_empty() {
        return Ok(figure.figure()?);
    }
    if figure.tube.is_none() {
        figure.bumps = shown.bumps(&figure.places, 4 * MOST_BUMPS, session)?;
        figure.intercept = shown.intercept();
        figure.all_bumps = shown.nterms();
    } else {
        let support = shown.support_vectors()?;
        let values = shown.values(0);
        let of_row = |(row, y): (usize, f64)| support[row].then_some((values[row], y));
        figure.support = shown.observed().filter_map(of_row).collect();
    }
    Ok(figure.figure()?)
}

/// The curve along one column of many.
pub fn slice(shown: &Shown, column: usize, session: &Session<'_>) -> Result<Figure, Failure> {
    Ok(along(shown, column, session)?.figure()?)
}

fn along(shown: &Shown, column: usize, session: &Session<'_>) -> Result<FittedCurve, Failure> {
    let values = shown.values(column);
    let places = places(&values, 0.04, CURVE);
    let at: Vec<Vec<f64>> = places.iter().map(|place| vec![*place]).collect();
    let mut figure = FittedCurve {
        title: format!("{} against {}", shown.output_name, shown.names[column]),
        subtitle: format!("{}{}", shown.others(1), about(shown)),
        x_label: shown.names[column].clone(),
        y_label: shown.output_name.clone(),
        points: shown.observed().map(|(row, y)| (values[row], y)).collect(),
        points_name: shown.rows.name().into(),
        curve: shown.chosen(&shown.outputs(&[column], &at, session)?),
        tube: tube(shown),
        places,
        ..FittedCurve::default()
    };
    if let Some((deviations, draws)) = shown.spread(column, &figure.places, DRAWS, session)? {
        let half_width = GaussianProcess::half_width(BAND);
        let around = figure.curve.iter().zip(deviations);
        figure.band = around.map(|(mean, s)| (mean - half_width * s, mean + half_width * s)).collect();
        figure.band_name = format!("{:.0}% of new data", 100.0 * BAND);
        figure.draws = draws;
    }
    Ok(figure)
}

/// ε of a support vector regression: a setting, or what ν-regression found.
fn tube(shown: &Shown) -> Option<f64> {
    let model = &shown.model;
    match model.method {
        Method::Svr => model.settings.number("epsilon"),
        Method::NuSvr => model.report.number("epsilon"),
        _ => None,
    }
}

fn field(shown: &Shown, columns: [usize; 2], side: usize, session: &Session<'_>) -> Result<Field, Failure> {
    let ([xs, ys], points) = grid(shown, columns, side);
    Ok(Field { values: shown.chosen(&shown.outputs(&columns, &points, session)?), xs, ys })
}

fn title(shown: &Shown, [a, b]: [usize; 2]) -> String {
    format!("{} over {} and {}", shown.output_name, shown.names[a], shown.names[b])
}

/// A contour map over two columns.
pub fn contour(shown: &Shown, columns: [usize; 2], session: &Session<'_>) -> Result<Figure, Failure> {
    let [x, y] = columns.map(|column| shown.values(column));
    let known =
        |row: usize| shown.observed.as_ref().map(|values| values[row]).filter(|value| !value.is_nan());
    let points = (0..shown.samples.nrows()).map(|row| ((x[row], y[row]), known(row)));
    let drawn = shown.rows != RowKind::Range;
    let support = match tube(shown) {
        Some(_) if drawn => shown.support_vectors()?,
        _ => Vec::new(),
    };
    let support = support.iter().enumerate().filter_map(|(row, is)| is.then_some((x[row], y[row])));
    let figure = ContourMap {
        title: title(shown, columns),
        subtitle: format!("{}{}", shown.others(2), about(shown)),
        labels: columns.map(|column| shown.names[column].clone()),
        value_label: shown.output_name.clone(),
        field: field(shown, columns, MAP, session)?,
        points: points.filter(|_| drawn).collect(),
        points_name: shown.rows.name().into(),
        support: support.collect(),
        scale: ColourScale::Sequential,
    };
    Ok(figure.figure()?)
}

/// A surface over two columns.
pub fn surface(shown: &Shown, columns: [usize; 2], session: &Session<'_>) -> Result<Figure, Failure> {
    let [x, y] = columns.map(|column| shown.values(column));
    let stride = shown.observed().count().div_ceil(IN_SPACE).max(1);
    let points = shown.observed().step_by(stride).map(|(row, z)| ((x[row], y[row]), z)).collect();
    let figure = Surface {
        title: title(shown, columns),
        subtitle: format!("{}{}", shown.others(2), about(shown)),
        labels: columns.map(|column| shown.names[column].clone()),
        value_label: shown.output_name.clone(),
        field: field(shown, columns, SURFACE, session)?,
        points,
        points_name: shown.rows.name().into(),
        scale: ColourScale::Sequential,
    };
    Ok(figure.figure()?)
}

/// Predicted against actual values.
pub fn predicted(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    Ok(agreement(shown, Kind::Predicted, session)?.figure()?)
}

/// Residuals against predicted values.
pub fn residuals(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let agreement = agreement(shown, Kind::Residuals, session)?;
    Ok(Agreement { title: format!("Residuals of {}", shown.output_name), ..agreement }.residuals()?)
}

fn agreement(shown: &Shown, kind: Kind, session: &Session<'_>) -> Result<Agreement, Failure> {
    if shown.observed().next().is_none() {
        return Err(needs_target(shown, kind));
    }
    let predictions = shown.chosen(&shown.predicted(session)?);
    let (actual, predicted): (Vec<f64>, Vec<f64>) =
        shown.observed().map(|(row, y)| (y, predictions[row])).unzip();
    let mut sums = NumberSums::default();
    actual.iter().zip(&predicted).for_each(|(y, f)| sums.add(*y, *f));
    let errors = sums.errors(&shown.output_name).map_or_else(String::new, |errors| {
        let r2 = errors.r2.map(|r2| format!(" · R² {r2:.3}")).unwrap_or_default();
        format!(" · RMSE {}{r2}", number(errors.rmse))
    });
    Ok(Agreement {
        title: format!("Predicted and actual {}", shown.output_name),
        subtitle: format!("{}{errors} · {}", shown.counted(actual.len()), about(shown)),
        label: shown.output_name.clone(),
        points_name: shown.rows.name().into(),
        actual,
        predicted,
    })
}
