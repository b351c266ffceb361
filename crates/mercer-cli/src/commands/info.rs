//! `mercer info`.

use mercer::model::{Calibration, Model};
use serde_json::Value;

use super::coefficients;
use crate::args::Info;
use crate::describe;
use crate::failure::Failure;
use crate::output;

/// Describes a model.
pub fn run(arguments: &Info) -> Result<(), Failure> {
    let model = Model::load(&arguments.model)?;
    if arguments.coefficients {
        return coefficients::run(&model, arguments);
    }
    let columns = model.schema.as_ref().map(|schema| schema.feature_names()).unwrap_or_default();
    let ncols = model.predictor.ncols();
    if arguments.json {
        return output::print_json(&model.description());
    }
    let mut lines = vec![("method", model.method.to_string())];
    lines.extend(describe::lines(&model.predictor));
    lines.push(("predicts", model.outputs.join(", ")));
    if let Some(classes) = &model.classes {
        let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
        lines.push(("classes", shortened(&names, names.len(), "classes")));
    }
    match &model.calibration {
        Some(Calibration::Sigmoids(each)) => {
            lines.push(("probabilities", format!("Platt scaling with {} sigmoid(s)", each.len())));
        }
        Some(Calibration::Laplace { scale }) => {
            lines.push(("errors", format!("Laplace distribution, scale {scale:.6}")));
        }
        Some(Calibration::Marks(marks)) => {
            lines.push(("probabilities", format!("{} density marks of the decisions", marks.len())));
        }
        _ => {}
    }
    lines.push(("from", shortened(&columns, ncols, "columns")));
    lines.push(("scaling", model.scaling.name().to_owned()));
    if let Some(rows) = model.predictor.rows() {
        lines.push(("rows kept", rows.nrows().to_string()));
    }
    for (label, entries) in [("settings", &model.settings), ("report", &model.report)] {
        let entries = entries.iter().map(|(key, value)| (key.as_str(), value));
        lines.push((label, listed(entries.filter(|(key, _)| *key != HELD_OUT))));
    }
    if let Some(scores) = model.report.get(HELD_OUT) {
        lines.push(("held out", words(scores)));
    }
    output::print_lines(&lines)
}

/// The entry of a report with the scores on held-out rows.
const HELD_OUT: &str = "held_out";

/// Names with their values, in words.
fn listed<'a>(entries: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let each = entries.filter(|(_, value)| !value.is_null()).map(|(key, value)| {
        let key = match key {
            "rmse" | "mae" | "auc" | "nlpd" => key.to_uppercase(),
            "r2" => "R²".to_owned(),
            "f1" => "F1".to_owned(),
            "baseline_rmse" => "RMSE of the mean".to_owned(),
            "baseline_accuracy" => "accuracy of the most frequent class".to_owned(),
            _ => key.replace('_', " "),
        };
        match value {
            Value::Object(_) => format!("{key} ({})", words(value)),
            _ => format!("{key} {}", words(value)),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// A value as people write it.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), figure),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Object(entries) => listed(entries.iter().map(|(key, value)| (key.as_str(), value))),
    }
}

/// A number to six digits.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return value.to_string();
    }
    let digits = format!("{value:.5e}").parse().unwrap_or(value);
    if (1e-4..1e7).contains(&value.abs()) { digits.to_string() } else { format!("{digits:e}") }
}

fn shortened(names: &[String], count: usize, what: &str) -> String {
    match names.len() {
        0 => format!("{count} {what}"),
        n if n <= 12 => names.join(", "),
        n => format!("{}, … ({n} {what})", names[..12].join(", ")),
    }
}
