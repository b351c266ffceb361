//! Numbers of a model for each kind of picture.

use mercer::data::{AnySamples, Matrix};
use mercer::gram::{Part, Wanted};
use mercer::model::{Link, Method, Predictor, one_vs_rest_decisions};
use mercer::session::Session;
use serde_json::Value;

use super::Kind;
use super::shown::Shown;
use crate::failure::Failure;
use crate::plot::{
    Agreement, ClassMap, ClassPoint, ColourScale, Confidence, ContourMap, Field, Figure, FittedCurve,
    HeatMap, MOST_BUMPS, Names, Reliability, ReliabilityBin, Side, Surface, number,
};
use crate::score::Score;

/// Places along a curve, and along each side of a map and of a surface.
const CURVE: usize = 401;
const MAP: usize = 121;
const SURFACE: usize = 51;

/// More rows than this of a kernel matrix are not told apart.
const GRAM: usize = 1_024;

/// Bars of a reliability diagram.
const BINS: usize = 10;

/// More data points than this in space hide the surface.
const IN_SPACE: usize = 400;

/// Draws one kind of picture.
pub fn draw(
    shown: &Shown,
    kind: Kind,
    column: Option<&str>,
    session: &Session<'_>,
) -> Result<Figure, Failure> {
    if column.is_some() && kind != Kind::Slice {
        return Err(Failure::usage("--column is for --kind slice"));
    }
    let for_classes = matches!(kind, Kind::Classes | Kind::Reliability | Kind::Gram);
    if shown.model.classes.is_some() != for_classes && kind != Kind::Gram {
        let what = if for_classes { "classifiers, but this model predicts numbers" } else { "regressions" };
        return Err(Failure::usage(format!("that picture is for {what}"))
            .hint("classifiers are drawn by --kind classes, over two columns, or --kind reliability"));
    }
    match kind {
        Kind::Classes => classes(shown, session),
        Kind::Reliability => reliability(shown, session),
        Kind::Curve => curve(shown, session),
        Kind::Contour => contour(shown, session),
        Kind::Surface => surface(shown, session),
        Kind::Predicted => Ok(agreement(shown, session)?.figure()?),
        Kind::Residuals => Ok(Agreement {
            title: format!("Residuals of {}", shown.output_name),
            ..agreement(shown, session)?
        }
        .residuals()?),
        Kind::Slice => slice(shown, column, session),
        Kind::Gram => gram(shown, session),
    }
}

/// What the model is, in a line.
fn about(shown: &Shown) -> String {
    let model = &shown.model;
    let of_output = |values: &Value| match values {
        Value::Array(each) => each.get(shown.output).or(each.first()).and_then(Value::as_f64),
        value => value.as_f64(),
    };
    let lambda = model.settings.get("lambda").and_then(of_output);
    let lambda = lambda.map(|lambda| format!(", λ = {}", number(lambda))).unwrap_or_default();
    let own = |(key, name): (&str, &str)| {
        let value = model.settings.get(key).and_then(Value::as_f64);
        value.map(|value| format!(", {name} = {}", number(value))).unwrap_or_default()
    };
    let own: String = [("C", "C"), ("nu", "ν"), ("epsilon", "ε")].map(own).concat();
    let what = match &model.predictor {
        Predictor::Expansion(expansion) => expansion.kernel.to_string(),
        Predictor::Linear(linear) => linear.map.to_string(),
        Predictor::Neighbours(neighbours) => neighbours.rule.to_string(),
        Predictor::Voted(voted) => voted.kernel.to_string(),
        Predictor::Pairs(pairs) => pairs.kernel.to_string(),
    };
    format!("{}, {}{lambda}{own}", model.method, rounded(&what))
}

/// A text whose numbers have at most four figures: a picture is no record.
fn rounded(text: &str) -> String {
    let in_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c| !in_number(c)).map_or(rest.len(), |length| start + length);
        let digits = &rest[start..end];
        // What has an exponent or is short stays as it is.
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

fn expect_columns(shown: &Shown, kind: &str, expected: usize) -> Result<(), Failure> {
    let found = shown.names.len();
    if found == expected {
        return Ok(());
    }
    let wrong = format!("--kind {kind} is for models of {expected} feature column(s); this one has {found}");
    Err(Failure::usage(wrong).hint("--kind slice --column NAME draws one column of many"))
}

/// Places that hold values with a margin, evenly.
pub fn places(values: &[f64], margin: f64, count: usize) -> Vec<f64> {
    let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = if hi > lo { margin * (hi - lo) } else { 0.5 * lo.abs().max(1.0) };
    let (lo, hi) = (lo - room, hi + room);
    (0..count).map(|i| lo + (hi - lo) * i as f64 / (count - 1) as f64).collect()
}

fn curve(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    expect_columns(shown, "curve", 1)?;
    let values = shown.values(0);
    let places = places(&values, 0.05, CURVE);
    let points = observed(shown).map(|(row, y)| (values[row], y)).collect();
    let figure = FittedCurve {
        title: format!("{} over {}", shown.output_name, shown.names[0]),
        subtitle: about(shown),
        x_label: shown.names[0].clone(),
        y_label: shown.output_name.clone(),
        points,
        curve: shown.at(places.clone(), session)?,
        bumps: shown.bumps(&places, 4 * MOST_BUMPS, session)?,
        intercept: shown.intercept(),
        all_bumps: shown.nterms(),
        places,
    };
    Ok(figure.figure()?)
}

/// Rows with what was observed there.
fn observed(shown: &Shown) -> impl Iterator<Item = (usize, f64)> + '_ {
    shown.observed.iter().flatten().copied().enumerate().filter(|(_, y)| !y.is_nan())
}

fn field(shown: &Shown, side: usize, session: &Session<'_>) -> Result<Field, Failure> {
    let [xs, ys] = [0, 1].map(|column| places(&shown.values(column), 0.04, side));
    let grid = ys.iter().flat_map(|y| xs.iter().flat_map(|x| [*x, *y]).collect::<Vec<_>>()).collect();
    Ok(Field { values: shown.at(grid, session)?, xs, ys })
}

fn contour(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    expect_columns(shown, "contour", 2)?;
    let (x, y) = (shown.values(0), shown.values(1));
    let known =
        |row: usize| shown.observed.as_ref().map(|values| values[row]).filter(|value| !value.is_nan());
    let points = (0..shown.nrows()).map(|row| ((x[row], y[row]), known(row))).collect();
    let figure = ContourMap {
        title: format!("{} over {} and {}", shown.output_name, shown.names[0], shown.names[1]),
        subtitle: about(shown),
        labels: [shown.names[0].clone(), shown.names[1].clone()],
        value_label: shown.output_name.clone(),
        field: field(shown, MAP, session)?,
        points,
        scale: ColourScale::Sequential,
    };
    Ok(figure.figure()?)
}

fn surface(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    expect_columns(shown, "surface", 2)?;
    let (x, y) = (shown.values(0), shown.values(1));
    let stride = observed(shown).count().div_ceil(IN_SPACE).max(1);
    let points = observed(shown).step_by(stride).map(|(row, z)| ((x[row], y[row]), z)).collect();
    let figure = Surface {
        title: format!("{} over {} and {}", shown.output_name, shown.names[0], shown.names[1]),
        subtitle: about(shown),
        labels: [shown.names[0].clone(), shown.names[1].clone()],
        value_label: shown.output_name.clone(),
        field: field(shown, SURFACE, session)?,
        points,
        scale: ColourScale::Sequential,
    };
    Ok(figure.figure()?)
}

fn agreement(shown: &Shown, session: &Session<'_>) -> Result<Agreement, Failure> {
    if observed(shown).next().is_none() {
        let name = &shown.output_name;
        return Err(Failure::usage(format!(
            "predicted and actual values need DATA with the column `{name}`"
        )));
    }
    let predictions = shown.predicted(session)?;
    let (actual, predicted): (Vec<f64>, Vec<f64>) =
        observed(shown).map(|(row, y)| (y, predictions[row])).unzip();
    let mut score = Score::of_numbers(1);
    let column = |values: &[f64]| Matrix::from_entries(values.len(), 1, values.to_vec());
    score.add_numbers(&column(&actual), &column(&predicted));
    let errors = score.errors(std::slice::from_ref(&shown.output_name));
    let errors = errors.first().map(|errors| errors.line()).unwrap_or_default();
    Ok(Agreement {
        title: format!("Predicted and actual {}", shown.output_name),
        subtitle: errors,
        label: shown.output_name.clone(),
        actual,
        predicted,
    })
}

fn slice(shown: &Shown, column: Option<&str>, session: &Session<'_>) -> Result<Figure, Failure> {
    let column = shown.column(column)?;
    let columns = shown.names.len();
    let values = shown.values(column);
    let places = places(&values, 0.03, CURVE);
    let middle = medians(&shown.samples);
    let mut rows = Vec::with_capacity(places.len() * columns);
    for place in &places {
        let start = rows.len();
        rows.extend_from_slice(&middle);
        rows[start + column] = *place;
    }
    let others = match columns - 1 {
        0 => String::new(),
        1 => "the other column at its median".into(),
        n => format!("the other {n} columns at their medians"),
    };
    let figure = FittedCurve {
        title: format!("{} along {}", shown.output_name, shown.names[column]),
        subtitle: if others.is_empty() { about(shown) } else { format!("{others} · {}", about(shown)) },
        x_label: shown.names[column].clone(),
        y_label: shown.output_name.clone(),
        points: observed(shown).map(|(row, y)| (values[row], y)).collect(),
        curve: shown.at(rows, session)?,
        places,
        ..FittedCurve::default()
    };
    Ok(figure.figure()?)
}

/// The median of each column. What sparse data do not store is 0. O(nd) time and memory.
fn medians(samples: &AnySamples<'_>) -> Vec<f64> {
    let rows = samples.nrows();
    let mut columns = vec![Vec::new(); samples.ncols()];
    (0..rows).for_each(|row| samples.visit_row(row, |column, value| columns[column].push(value)));
    let median = |mut values: Vec<f64>| {
        values.resize(rows, 0.0);
        let (_, middle, _) = values.select_nth_unstable_by(rows / 2, f64::total_cmp);
        *middle
    };
    columns.into_iter().map(median).collect()
}

/// Two columns: which class wins where.
fn classes(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    expect_columns(shown, "classes", 2)?;
    let [xs, ys] = [0, 1].map(|column| places(&shown.values(column), 0.04, MAP));
    let grid = ys.iter().flat_map(|y| xs.iter().flat_map(|x| [*x, *y]).collect::<Vec<_>>()).collect();
    let outputs = shown.outputs(grid, session)?;
    let confidence = confidence(shown, &outputs);
    let support = shown.support_vectors()?;
    let (x, y) = (shown.values(0), shown.values(1));
    let mut told = shown.classes.clone().unwrap_or_default();
    if shown.classes.is_none() && shown.from_data && shown.model.method == Method::OneClass {
        // Rows of which nothing is known are drawn as what they are taken for.
        let outputs = shown.model.predict(&shown.samples, session)?;
        told = (0..outputs.nrows()).map(|row| Some(shown.model.link().class(outputs.row(row)))).collect();
    }
    let known = told.iter().enumerate();
    let point = |(row, class): (usize, &Option<usize>)| {
        Some(ClassPoint { at: (x[row], y[row]), class: (*class)?, support: support[row] })
    };
    let figure = ClassMap {
        title: format!("{} over {} and {}", shown.output_name, shown.names[0], shown.names[1]),
        subtitle: about(shown),
        labels: [shown.names[0].clone(), shown.names[1].clone()],
        classes: class_names(shown),
        points: known.filter_map(point).collect(),
        confidence,
        xs,
        ys,
    };
    Ok(figure.figure()?)
}

/// What decides on the grid: probabilities where the model has them, the decision between two classes, else how the classes
/// stand to each other.
pub fn confidence(shown: &Shown, outputs: &Matrix<f64>) -> Confidence {
    let model = &shown.model;
    let columns = |of: &Matrix<f64>| -> Vec<Vec<f64>> {
        (0..of.ncols()).map(|class| (0..of.nrows()).map(|place| of.row(place)[class]).collect()).collect()
    };
    match (model.probabilities(outputs), model.link(), outputs.ncols()) {
        (Some(shares), ..) => Confidence::Probabilities(columns(&shares)),
        (None, Link::Votes, 1) => Confidence::Decision(outputs.entries().iter().map(|f| 0.0 - f).collect()),
        (None, Link::Votes, _) => Confidence::Decisions(columns(&one_vs_rest_decisions(outputs))),
        (None, _, 1) if model.method == Method::Perceptron => {
            let second = outputs.entries().to_vec();
            Confidence::Decisions(vec![second.iter().map(|f| -f).collect(), second])
        }
        (None, _, 1) => Confidence::Decision(outputs.entries().to_vec()),
        (None, ..) => Confidence::Decisions(columns(outputs)),
    }
}

fn class_names(shown: &Shown) -> Vec<String> {
    shown.model.classes.iter().flat_map(|known| (0..known.len()).map(|code| known.name(code))).collect()
}

/// How often the class that wins is the right one, by how surely it wins.
fn reliability(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let known: Vec<(usize, usize)> = shown
        .classes
        .iter()
        .flatten()
        .enumerate()
        .filter_map(|(row, class)| Some((row, (*class)?)))
        .collect();
    if known.is_empty() {
        let name = &shown.output_name;
        return Err(Failure::usage(format!("a reliability diagram needs DATA with the column `{name}`")));
    }
    let outputs = shown.model.predict(&shown.samples, session)?;
    let Some(outputs) = shown.model.probabilities(&outputs) else {
        let remedy = match shown.model.method {
            Method::Svc | Method::NuSvc => "refit with --probability",
            _ => "fit logistic",
        };
        return Err(Failure::usage(format!("a reliability diagram needs probabilities; {remedy}")));
    };
    let mut bins: Vec<(usize, f64, f64)> = vec![(0, 0.0, 0.0); BINS];
    for (row, class) in &known {
        let row = outputs.row(*row);
        let winner = Link::Shares.class(row);
        let bin = &mut bins[((row[winner] * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + 1, bin.1 + row[winner], bin.2 + f64::from(winner == *class));
    }
    let bin = |(place, (count, sure, right)): (usize, (usize, f64, f64))| ReliabilityBin {
        ends: (place as f64 / BINS as f64, (place + 1) as f64 / BINS as f64),
        count,
        predicted: if count > 0 { sure / count as f64 } else { (place as f64 + 0.5) / BINS as f64 },
        observed: if count > 0 { right / count as f64 } else { 0.0 },
    };
    let figure = Reliability {
        title: format!("Reliability of {}", shown.output_name),
        subtitle: format!("{}, {} rows", about(shown), known.len()),
        bins: bins.into_iter().enumerate().map(bin).collect(),
    };
    Ok(figure.figure()?)
}

fn gram(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let rows = shown.samples.nrows();
    let stride = rows.div_ceil(GRAM);
    let chosen: Vec<usize> = (0..rows).step_by(stride).collect();
    let count = chosen.len();
    let samples = shown.model.scaling.apply(shown.samples.select(&chosen))?;
    let Some(kernel) = shown.kernel() else {
        return Err(Failure::usage("--kind gram is for models with a kernel, which this one does not have"));
    };
    let mut values = vec![0.0; count * count];
    let resident = session.load(&samples)?;
    resident.gram(kernel, Wanted::Exact)?.fill(Part::Full, (&mut values).into(), session)?;
    let of = if shown.from_data { "row" } else { "centre" };
    let each = if stride > 1 { format!(", every {stride}th") } else { String::new() };
    let side = || Side { label: format!("{of}{each}"), names: Names::Count(count) };
    let figure = HeatMap {
        title: "Kernel matrix".into(),
        subtitle: format!("{}, {rows} {of}s", rounded(&kernel.to_string())),
        columns: side(),
        rows: side(),
        value_label: "k(x, z)".into(),
        values,
        marked: None,
    };
    Ok(figure.figure()?)
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
    fn medians_count_what_is_not_stored() {
        let samples =
            mercer::data::Samples::sparse(2, vec![0, 1, 2, 4], vec![0, 0, 0, 1], vec![3.0, 5.0, 4.0, 9.0]);
        assert_eq!(medians(&AnySamples::F64(samples.unwrap())), [4.0, 0.0]);
    }

    #[test]
    fn places_hold_equal_values() {
        let around = places(&[2.0, 2.0], 0.1, 3);
        assert_eq!(around, [1.0, 2.0, 3.0]);
    }
}
