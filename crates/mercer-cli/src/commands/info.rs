//! `mercer info`.

use mercer::data::counted;
use mercer::model::{Calibration, Facts, Model};

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
    lines.extend(describe::lines(&model.predictor, &model.column_names()));
    lines.push(("predicts", model.outputs.join(", ")));
    if let Some(classes) = &model.classes {
        let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
        lines.push(("classes", shortened(&names, names.len(), "classes")));
    }
    match &model.calibration {
        Some(Calibration::Sigmoids(each)) => {
            lines.push(("probabilities", format!("Platt scaling with {}", counted(each.len(), "sigmoid"))));
        }
        Some(Calibration::Laplace { scale }) => {
            lines.push(("errors", format!("Laplace distribution, scale {scale:.6}")));
        }
        Some(Calibration::Marks(marks)) => {
            lines.push((
                "probabilities",
                format!("{} of the decisions", counted(marks.len(), "density mark")),
            ));
        }
        _ => {}
    }
    lines.push(("from", shortened(&columns, ncols, "columns")));
    lines.push(("scaling", model.scaling.name().to_owned()));
    if let Some(rows) = model.predictor.rows() {
        lines.push(("rows kept", rows.nrows().to_string()));
    }
    lines.push(("settings", model.settings.to_string()));
    let mut report = model.report.clone().without(HELD_OUT).without(PARAMETERS);
    // The solver of support vectors repeats the other facts in one line.
    if report.has("support_vectors") {
        report = report.without("solver");
    }
    lines.push(("report", report.to_string()));
    lines.extend(describe::parameters(&model.report, &columns));
    if let Some(scores) = model.report.read::<Facts>(HELD_OUT) {
        lines.push(("held out", scores.to_string()));
    }
    // A converted model has no settings and no report.
    lines.retain(|(_, text)| !text.is_empty());
    output::print_lines(&lines)
}

/// The entry of a report with the hyper-parameters of a Gaussian process.
const PARAMETERS: &str = "parameters";

/// The entry of a report with the scores on held-out rows.
const HELD_OUT: &str = "held_out";

fn shortened(names: &[String], count: usize, what: &str) -> String {
    match names.len() {
        0 => format!("{count} {what}"),
        n if n <= 12 => names.join(", "),
        n => format!("{}, … ({n} {what})", names[..12].join(", ")),
    }
}
