//! Pictures of classifiers.

use mercer::model::{Link, Method};
use mercer::session::Session;

use super::Kind;
use super::pictures::{MAP, about, grid, needs_target};
use super::shown::{Decisions, RowKind, Shown};
use crate::failure::Failure;
use crate::plot::{
    ClassMap, ClassPoint, Confidence, Confusion, Field, Figure, LiftedPoints, LinePlot, NamedLine,
    Reliability, ReliabilityBin, Scale, number,
};

/// Bars of a reliability diagram.
const BINS: usize = 10;

/// The most points in space; more would hide each other.
const IN_SPACE: usize = 400;

fn title(shown: &Shown, [a, b]: [usize; 2]) -> String {
    format!("{} over {} and {}", shown.output_name, shown.names[a], shown.names[b])
}

fn subtitle(shown: &Shown) -> String {
    let rows = match shown.rows {
        RowKind::Training => format!("{} · ", shown.counted(shown.nrows())),
        RowKind::Kept if shown.classes.is_some() => "rows kept in the model · ".into(),
        _ => String::new(),
    };
    format!("{rows}{}{}", shown.others(2), about(shown))
}

/// The classes of the drawn rows: known ones, or for one-class estimation the predicted ones.
fn known_classes(shown: &Shown, session: &Session<'_>) -> Result<Vec<Option<usize>>, Failure> {
    match &shown.classes {
        Some(classes) => Ok(classes.clone()),
        None if shown.model.method == Method::OneClass && shown.rows != RowKind::Range => {
            let (outputs, link) = (shown.predicted(session)?, shown.model.link());
            Ok((0..outputs.nrows()).map(|row| Some(link.class(outputs.row(row)))).collect())
        }
        None => Ok(Vec::new()),
    }
}

/// The predicted class over two columns.
pub fn classes(shown: &Shown, columns: [usize; 2], session: &Session<'_>) -> Result<Figure, Failure> {
    let ([xs, ys], points) = grid(shown, columns, MAP);
    let confidence = match (shown.decisions(&shown.outputs(&columns, &points, session)?), shown.model.method)
    {
        (Decisions::Probabilities(of), _) => Confidence::Probabilities(of),
        (Decisions::Each(of), _) => Confidence::Decisions(of),
        (Decisions::Second(f), Method::Svc | Method::NuSvc) => Confidence::Decision(f),
        (Decisions::Second(f), _) => Confidence::Boundary(f),
    };
    let support = shown.support_vectors()?;
    let [x, y] = columns.map(|column| shown.values(column));
    let known = known_classes(shown, session)?;
    let point = |(row, class): (usize, &Option<usize>)| {
        Some(ClassPoint { at: (x[row], y[row]), class: (*class)?, support: support[row] })
    };
    let figure = ClassMap {
        title: title(shown, columns),
        subtitle: subtitle(shown),
        labels: columns.map(|column| shown.names[column].clone()),
        classes: shown.class_names(),
        points: known.iter().enumerate().filter_map(point).collect(),
        confidence,
        xs,
        ys,
    };
    Ok(figure.figure()?)
}

/// The rows at the height of the decision function: their coordinate along the normal of the separating plane.
pub fn lift(shown: &Shown, columns: [usize; 2], session: &Session<'_>) -> Result<Figure, Failure> {
    let height = |decisions: Decisions| match decisions {
        Decisions::Second(f) => Some(f),
        // log p/(1 − p) is f of a logistic regression.
        Decisions::Probabilities(of) if of.len() == 2 => {
            Some(of[1].iter().map(|p| (p.max(1e-12) / (1.0 - p).max(1e-12)).ln()).collect())
        }
        Decisions::Probabilities(_) | Decisions::Each(_) => None,
    };
    let ([xs, ys], points) = grid(shown, columns, MAP);
    let outputs = shown.outputs(&columns, &points, session)?;
    let Some(values) = height(shown.decisions(&outputs)) else {
        let classes = shown.class_names().len();
        return Err(Failure::usage(format!("--kind lift needs two classes; this model has {classes}"))
            .hint("--kind classes draws a map of all of them"));
    };
    let known = known_classes(shown, session)?;
    if known.iter().flatten().next().is_none() {
        return Err(needs_target(shown, Kind::Lift));
    }
    let heights = height(shown.decisions(&shown.predicted(session)?)).unwrap_or_default();
    let [x, y] = columns.map(|column| shown.values(column));
    let rows: Vec<usize> = (0..known.len()).filter(|&row| known[row].is_some()).collect();
    let stride = rows.len().div_ceil(IN_SPACE).max(1);
    let lifted = |&row: &usize| Some(((x[row], y[row]), heights[row], known[row]?));
    let figure = LiftedPoints {
        title: format!("Lift of {}", title(shown, columns)),
        subtitle: subtitle(shown),
        labels: columns.map(|column| shown.names[column].clone()),
        value_label: "f(x)".into(),
        classes: shown.class_names(),
        points: rows.iter().step_by(stride).filter_map(lifted).collect(),
        field: Field { xs, ys, values },
    };
    Ok(figure.figure()?)
}

/// True against predicted classes.
pub fn confusion(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let known = shown.labelled();
    if known.is_empty() {
        return Err(needs_target(shown, Kind::Confusion));
    }
    let (outputs, link, classes) = (shown.predicted(session)?, shown.model.link(), shown.class_names());
    let mut counts = vec![vec![0; classes.len()]; classes.len()];
    for (row, class) in &known {
        counts[*class][link.class(outputs.row(*row))] += 1;
    }
    let right: u64 = (0..classes.len()).map(|class| counts[class][class]).sum();
    let accuracy = right as f64 / known.len() as f64;
    let figure = Confusion {
        title: format!("Confusion matrix of {}", shown.output_name),
        subtitle: format!("{} · accuracy {accuracy:.3} · {}", shown.counted(known.len()), about(shown)),
        classes,
        counts,
    };
    Ok(figure.figure()?)
}

/// True positive rate against false positive rate: for the second of two classes, otherwise for each class against the
/// others.
pub fn roc(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let known = shown.labelled();
    if known.is_empty() {
        return Err(needs_target(shown, Kind::Roc));
    }
    let names = shown.class_names();
    let scores: Vec<(usize, Vec<f64>)> = match shown.decisions(&shown.predicted(session)?) {
        Decisions::Second(f) => vec![(1, f)],
        Decisions::Probabilities(mut of) if of.len() == 2 => vec![(1, of.remove(1))],
        Decisions::Probabilities(of) | Decisions::Each(of) => of.into_iter().enumerate().collect(),
    };
    let curve = |(class, scores): (usize, Vec<f64>)| {
        let rows: Vec<(f64, bool)> =
            known.iter().map(|(row, truth)| (scores[*row], *truth == class)).collect();
        let (points, area) = roc_curve(rows)?;
        let name = format!("{}: AUC {area:.3}", names[class]);
        Some(NamedLine { name, points, marked: false })
    };
    let lines: Vec<NamedLine> = scores.into_iter().filter_map(curve).collect();
    if lines.is_empty() {
        return Err(Failure::usage("--kind roc needs rows of two classes or more; the data have one"));
    }
    let axes = [
        Scale::linear("false positive rate").between(0.0, 1.0),
        Scale::linear("true positive rate").between(0.0, 1.0),
    ];
    let figure = LinePlot {
        subtitle: format!("{} · {}", shown.counted(known.len()), about(shown)),
        references: vec![("chance".into(), vec![(0.0, 0.0), (1.0, 1.0)])],
        square: true,
        ..LinePlot::new(format!("ROC curve of {}", shown.output_name), axes, lines)
    };
    Ok(figure.figure()?)
}

/// The ROC curve of scores with whether they are of the class, and the area under it; `None` if all are, or none is.
fn roc_curve(mut rows: Vec<(f64, bool)>) -> Option<(Vec<(f64, f64)>, f64)> {
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positive = rows.iter().filter(|(_, is)| *is).count() as f64;
    let negative = rows.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    let (mut points, mut area) = (vec![(0.0, 0.0)], 0.0);
    let (mut hits, mut alarms) = (0.0, 0.0);
    for equal in rows.chunk_by(|a, b| a.0 == b.0) {
        let right = equal.iter().filter(|(_, is)| *is).count() as f64;
        let wrong = equal.len() as f64 - right;
        area += wrong * (hits + 0.5 * right);
        (hits, alarms) = (hits + right, alarms + wrong);
        points.push((alarms / negative, hits / positive));
    }
    Some((points, area / (positive * negative)))
}

/// Observed accuracy against predicted probability.
pub fn reliability(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let known = shown.labelled();
    if known.is_empty() {
        return Err(needs_target(shown, Kind::Reliability));
    }
    let Some(outputs) = shown.model.probabilities(&shown.predicted(session)?) else {
        let remedy = match shown.model.method {
            Method::Svc | Method::NuSvc => "refit with --probability",
            _ => "use `fit logistic`",
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
    let bins: Vec<ReliabilityBin> = bins.into_iter().enumerate().map(bin).collect();
    // The expected calibration error: the mean distance from the diagonal, by rows.
    let distance = |bin: &ReliabilityBin| bin.count as f64 * (bin.predicted - bin.observed).abs();
    let error = bins.iter().map(distance).sum::<f64>() / known.len() as f64;
    let figure = Reliability {
        title: format!("Reliability of {}", shown.output_name),
        subtitle: format!("{} · calibration error {}", shown.counted(known.len()), number(error)),
        bins,
    };
    Ok(figure.figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roc_curve_counts_equal_scores_together() {
        let rows = vec![(0.9, true), (0.5, true), (0.5, false), (0.1, false)];
        let (points, area) = roc_curve(rows).unwrap();
        assert_eq!(points, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        // Of four pairs three are in order and one is equal.
        assert_eq!(area, 3.5 / 4.0);
        assert_eq!(roc_curve(vec![(1.0, true), (2.0, true)]), None);
    }
}
