//! The prediction as one column changes: classes along a column, and partial dependence.

use mercer::model::Method;
use mercer::session::Session;

use super::pictures::{CURVE, about, places};
use super::shown::{Decisions, RowKind, Shown};
use crate::failure::Failure;
use crate::plot::{Figure, LinePlot, NamedLine, Scale};

/// Places along the column of a partial dependence, the most rows averaged, and the most rows drawn.
const PLACES: usize = 61;
const AVERAGED: usize = 1_000;
const DRAWN: usize = 40;

/// The probability or decision of each class along one column.
pub fn class_slice(shown: &Shown, column: usize, session: &Session<'_>) -> Result<Figure, Failure> {
    let values = shown.values(column);
    let places = places(&values, 0.04, CURVE);
    let at: Vec<Vec<f64>> = places.iter().map(|place| vec![*place]).collect();
    let decisions = shown.decisions(&shown.outputs(&[column], &at, session)?);
    let names = shown.class_names();
    let line = |name: String, values: &[f64]| NamedLine {
        name,
        points: places.iter().copied().zip(values.iter().copied()).collect(),
        marked: false,
    };
    let (lines, label, boundary): (Vec<_>, _, _) = match &decisions {
        Decisions::Probabilities(of) if of.len() == 2 => {
            (vec![line(format!("P({})", names[1]), &of[1])], "probability", Some(0.5))
        }
        Decisions::Probabilities(of) => {
            let named = of.iter().zip(&names).map(|(values, name)| line(format!("P({name})"), values));
            (named.collect(), "probability", None)
        }
        Decisions::Each(of) => {
            let named = of.iter().zip(&names).map(|(values, name)| line(name.clone(), values));
            (named.collect(), "decision function", None)
        }
        Decisions::Second(f) => {
            (vec![line(format!("f(x): {} above 0", names[1]), f)], "decision function", Some(0.0))
        }
    };
    let is_probability = matches!(decisions, Decisions::Probabilities(_));
    let y = Scale::linear(label);
    let y = if is_probability { y.between(-0.05, 1.05) } else { y };
    let ends = (places[0], places[places.len() - 1]);
    let reference = boundary.map(|level| ("boundary".to_owned(), vec![(ends.0, level), (ends.1, level)]));
    let levels = match &decisions {
        Decisions::Probabilities(of) if of.len() == 2 => Some(([0.0, 1.0], "at 0 or 1")),
        // The margins of two classes, the boundary of one.
        Decisions::Second(_) if shown.model.method == Method::OneClass => Some(([0.0, 0.0], "at 0")),
        Decisions::Second(_) => Some(([-1.0, 1.0], "at −1 or 1")),
        _ => None,
    };
    let dots = levels.and_then(|levels| observed_classes(shown, &values, levels));
    let figure = LinePlot {
        subtitle: format!("{}{}", shown.others(1), about(shown)),
        references: reference.into_iter().collect(),
        dots: dots.into_iter().collect(),
        ..LinePlot::new(
            format!("{} against {}", shown.output_name, shown.names[column]),
            [Scale::linear(&shown.names[column]), y],
            lines,
        )
    };
    Ok(figure.figure()?)
}

/// Points of one colour with their name.
type Dots = (usize, String, Vec<(f64, f64)>);

/// The rows of two classes at the height of each; those of one-class estimation, whose class is unknown, at the second.
fn observed_classes(shown: &Shown, values: &[f64], (levels, heights): ([f64; 2], &str)) -> Option<Dots> {
    let points: Vec<(f64, f64)> = match shown.model.method {
        Method::OneClass if shown.rows == RowKind::Range => Vec::new(),
        Method::OneClass => values.iter().map(|value| (*value, levels[1])).collect(),
        _ => shown.labelled().into_iter().map(|(row, class)| (values[row], levels[class])).collect(),
    };
    (!points.is_empty()).then(|| (1, format!("{} {heights}", shown.rows.name()), points))
}

/// The mean prediction over the rows as one column changes (Friedman, 2001), with single rows behind it.
pub fn partial(shown: &Shown, column: usize, session: &Session<'_>) -> Result<Figure, Failure> {
    if shown.rows == RowKind::Range {
        return Err(Failure::usage("--kind partial-dependence needs DATA, because this model keeps no rows"));
    }
    let all = shown.samples.nrows();
    let stride = all.div_ceil(AVERAGED);
    let rows: Vec<usize> = (0..all).step_by(stride).collect();
    let places = places(&shown.values(column), 0.0, PLACES);
    let fill = |place: usize, out: &mut [f64]| {
        shown.samples.copy_row(rows[place % rows.len()], out);
        out[column] = places[place / rows.len()];
    };
    let outputs = shown.outputs_of(rows.len() * places.len(), fill, session)?;
    let names = shown.class_names();
    // One list of values for each line: place by place, row by row.
    let (lines, label): (Vec<(String, Vec<f64>)>, String) = if shown.model.classes.is_none() {
        let name = format!("mean prediction of {}", shown.output_name);
        (vec![(name, shown.chosen(&outputs))], shown.output_name.clone())
    } else {
        match shown.decisions(&outputs) {
            Decisions::Probabilities(mut of) if of.len() == 2 => {
                let label = format!("P({})", names[1]);
                (vec![(format!("mean of {label}"), of.remove(1))], label)
            }
            Decisions::Second(f) => {
                let label = match shown.model.method {
                    Method::OneClass => "decision function: inlier above 0".to_owned(),
                    _ => format!("decision function: {} above 0", names[1]),
                };
                (vec![("mean of f(x)".into(), f)], label)
            }
            Decisions::Probabilities(of) => {
                let named = names.iter().map(|name| format!("mean of P({name})"));
                (named.zip(of).collect(), "probability".into())
            }
            Decisions::Each(of) => {
                let named = names.iter().map(|name| format!("mean of f for {name}"));
                (named.zip(of).collect(), "decision function".into())
            }
        }
    };
    let count = rows.len();
    let mean = |values: &[f64]| -> Vec<(f64, f64)> {
        let means = values.chunks(count).map(|of_place| of_place.iter().sum::<f64>() / count as f64);
        places.iter().copied().zip(means).collect()
    };
    let of_row = |values: &[f64], row: usize| -> Vec<(f64, f64)> {
        places.iter().enumerate().map(|(place, x)| (*x, values[place * count + row])).collect()
    };
    let background = match lines.as_slice() {
        [(_, values)] => {
            let step = count.div_ceil(DRAWN).max(1);
            (0..count).step_by(step).map(|row| of_row(values, row)).collect()
        }
        _ => Vec::new(),
    };
    let lines = lines
        .iter()
        .map(|(name, values)| NamedLine { name: name.clone(), points: mean(values), marked: false })
        .collect();
    let title = format!("Partial dependence of {} on {}", shown.output_name, shown.names[column]);
    let averaged = match shown.rows {
        RowKind::Kept => format!("{count} rows kept in the model"),
        _ => shown.counted(count),
    };
    let figure = LinePlot {
        subtitle: format!("averaged over {averaged} · {}", about(shown)),
        background: ("single rows".into(), background),
        ..LinePlot::new(title, [Scale::linear(&shown.names[column]), Scale::linear(label)], lines)
    };
    Ok(figure.figure()?)
}
