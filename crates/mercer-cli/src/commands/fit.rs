//! `mercer fit`.

use std::collections::BTreeMap;
use std::time::Instant;

use mercer::data::{Dataset, ReadOptions, ScaleMethod, Schema};
use mercer::model::{Model, Predictor};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{Report, Status};
use serde::Serialize;
use serde_json::{Value, json};

use crate::approx;
use crate::args::{Fit, Method};
use crate::checkpoint::Checkpoint;
use crate::describe;
use crate::failure::Failure;
use crate::learner::{self, Learner};
use crate::output;
use crate::progress::{self, Progress};
use crate::score::Errors;
use crate::training::{Goal, Trained, hold_out, read_for_training};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    method: String,
    data: DataSummary,
    /// What the predictor is: kernel and domain, features, or rule.
    #[serde(flatten)]
    predictor: BTreeMap<&'static str, Value>,
    #[serde(flatten)]
    settings: &'a BTreeMap<String, Value>,
    scaling: &'a str,
    holdout: Option<Vec<Errors>>,
    report: Option<&'a Report>,
    #[serde(flatten)]
    facts: &'a BTreeMap<String, Value>,
    seconds: Seconds,
    model: String,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct DataSummary {
    source: String,
    rows: usize,
    features: usize,
    targets: Vec<String>,
}

/// Where the time went.
#[derive(Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading, with the first pass of a fit in chunks.
    pub read: f64,
    /// The fit without the held-out rows.
    pub holdout: f64,
    /// The fit on all rows, with the second pass of a fit in chunks.
    pub fit: f64,
    /// All of it.
    pub total: f64,
}

impl Seconds {
    fn line(&self) -> String {
        let Self { read, holdout, fit, total } = self;
        format!("read {read:.2} s, held-out fit {holdout:.2} s, fit {fit:.2} s, {total:.2} s in all")
    }
}

/// What a fit came to.
pub struct Outcome {
    /// The model to save.
    pub model: Model,
    /// How the work ended.
    pub report: Option<Report>,
    /// More about it.
    pub facts: BTreeMap<String, Value>,
    /// What a user should know about the data.
    pub notes: Vec<String>,
    /// The errors on held-out rows.
    pub holdout: Option<Vec<Errors>>,
    /// Rows of the data.
    pub rows: usize,
    /// Features of the data.
    pub features: usize,
    /// The data's name.
    pub source: String,
    /// Where the time went; the total is taken later.
    pub seconds: Seconds,
    /// Lines for people, beside those that every fit has.
    pub lines: Vec<(&'static str, String)>,
}

/// Reads, holds out, fits, saves and reports.
pub fn run(arguments: &Fit) -> Result<(), Failure> {
    progress::listen();
    let began = Instant::now();
    // What the text alone decides is refused before a long file is read.
    learner::check_text(arguments)?;
    output::check_output(&arguments.output)?;
    let checkpoint = arguments.checkpoint.as_deref().map(Checkpoint::open).transpose()?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let mut session = arguments.common.session(arguments.memory, &watch);
    if let Some(checkpoint) = &checkpoint {
        session = session.with_checkpoint(checkpoint);
    }
    let streamed = match (arguments.method, arguments.approx) {
        (Method::Ridge, Some(approx)) if approx.is_asked() => approx::fit(arguments, &session),
        _ => Ok(None),
    };
    let outcome = match streamed.transpose() {
        Some(outcome) => outcome,
        None => in_memory(arguments, &session),
    };
    watch.finish();
    finish(arguments, outcome?, checkpoint, began)
}

/// The fit on all rows at once.
fn in_memory(arguments: &Fit, session: &Session<'_>) -> Result<Outcome, Failure> {
    let clock = Instant::now();
    let mut seconds = Seconds::default();
    let (mut dataset, schema) =
        read_for_training(arguments.method, &arguments.data, &read_options(arguments))?;
    let mut learner = learner::of(arguments, &dataset.feature_names)?;
    // The weights were read as the last of the targets.
    let weights = arguments.sample_weight.as_ref().and_then(|_| dataset.targets.pop());
    let goal = Goal::of(&dataset, &*learner)?.weighted(weights, &dataset.source)?;
    if let Some(classes) = &goal.classes {
        learner.name_classes(classes)?;
    }
    seconds.read = clock.elapsed().as_secs_f64();
    learner.check(dataset.nrows(), dataset.features.ncols(), session)?;

    let mut scale = arguments.input.scale;
    let mut part = (arguments.holdout, arguments.common.seed);
    if learner::is_precomputed(arguments) {
        if scale.is_some_and(|scale| scale != ScaleMethod::None) {
            return Err(Failure::usage("--scale does not apply to kernel values"));
        }
        // A row that is held out takes its column with it, which the model would have to do without.
        scale = Some(ScaleMethod::None);
        part.0 = 0.0;
    }
    let (holdout, trained) = pool::with(arguments.common.threads(), || {
        let clock = Instant::now();
        let holdout = hold_out(&*learner, scale, part, &dataset, &goal, session)?;
        seconds.holdout = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let rows = (&goal.targets, goal.weights.as_deref());
        let trained = Trained::weighted(&*learner, scale, &dataset.features, rows, session)?;
        seconds.fit = clock.elapsed().as_secs_f64();
        Ok::<_, Failure>((holdout, trained))
    })?;

    let mut notes: Vec<String> = dataset.notes.iter().cloned().chain(trained.notes(&dataset)).collect();
    let holdout = holdout.unwrap_or_else(|reason| {
        notes.push(format!("no error on rows held out, because of the others alone: {reason}"));
        None
    });
    Ok(Outcome {
        report: trained.learnt.report.clone(),
        facts: trained.learnt.facts.clone(),
        notes,
        holdout,
        rows: dataset.nrows(),
        features: dataset.features.ncols(),
        source: dataset.source.clone(),
        seconds,
        lines: Vec::new(),
        model: model(&*learner, trained, goal, schema, &dataset),
    })
}

/// Saves and reports.
fn finish(
    arguments: &Fit,
    outcome: Outcome,
    checkpoint: Option<Checkpoint>,
    began: Instant,
) -> Result<(), Failure> {
    let Outcome { model, mut report, mut seconds, .. } = outcome;
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
    model.save(&arguments.output)?;
    if let Some(checkpoint) = checkpoint {
        report.iter_mut().for_each(|report| report.warnings.extend(checkpoint.warning()));
        checkpoint.remove();
    }
    seconds.total = began.elapsed().as_secs_f64();
    for warning in report.iter().flat_map(|report| &report.warnings) {
        output::warn(warning);
    }
    match report.as_ref().map(|report| report.status) {
        Some(Status::OutOfIterations) => {
            output::warn(
                "not converged: the limit on the steps came first; the model is that of the last step",
            );
        }
        Some(Status::Stagnated) => {
            output::warn(
                "not converged: rounding does not allow a smaller residual; the model is the best one found",
            );
        }
        _ => {}
    }
    let document = Document {
        method: model.method.to_string(),
        data: DataSummary {
            source: outcome.source,
            rows: outcome.rows,
            features: outcome.features,
            targets: model.outputs.clone(),
        },
        predictor: model.predictor.description(),
        settings: &model.settings,
        scaling: model.scaling.name(),
        holdout: outcome.holdout,
        report: report.as_ref(),
        facts: &outcome.facts,
        seconds,
        model: arguments.output.display().to_string(),
        notes: &outcome.notes,
    };
    let mut lines = lines(&document, &model.predictor, arguments.kernel.as_deref(), outcome.lines);
    if arguments.common.verbose {
        lines.push(("time", document.seconds.line()));
        lines.extend(report.as_ref().map(|report| ("steps", report.iterations.to_string())));
    }
    output::report(&arguments.common, &document, &lines)
}

/// The reader's options, with the column of weights as the last target: it is no feature, and later files may lack it.
fn read_options(arguments: &Fit) -> ReadOptions {
    let mut options = arguments.input.read_options();
    options.target.extend(arguments.sample_weight.clone());
    options
}

fn lines(
    document: &Document<'_>,
    predictor: &Predictor,
    kernel_text: Option<&str>,
    more: Vec<(&'static str, String)>,
) -> Vec<(&'static str, String)> {
    let data = &document.data;
    let mut lines = vec![(
        "data",
        format!(
            "{}: {} rows, {} features, target {}",
            data.source,
            data.rows,
            data.features,
            data.targets.join(", ")
        ),
    )];
    lines.extend(document.notes.iter().map(|note| ("", note.clone())));
    lines.push(("scaling", document.scaling.to_owned()));
    for (label, mut text) in describe::lines(predictor) {
        let written = kernel_text.unwrap_or("rbf(sigma=auto)");
        if label == "kernel" && written.contains("auto") {
            text.push_str(&format!("  (from {written})"));
        }
        lines.push((label, text));
    }
    lines.extend(more);
    for errors in document.holdout.iter().flatten() {
        let name = if data.targets.len() > 1 { format!("{}: ", errors.target()) } else { String::new() };
        lines.push(("held out", format!("{name}{}", errors.line())));
        lines.extend(errors.tables());
    }
    if let Some(report) = document.report {
        let seconds = document.seconds.fit;
        // Mistakes are counted, not measured.
        let quality =
            match (document.facts.contains_key("mistakes"), document.facts.contains_key("violation")) {
                (true, _) => String::new(),
                (_, true) => format!(", violation {:.1e}", report.residual),
                _ => format!(", residual {:.1e}", report.residual),
            };
        lines.push(("fit", format!("{}{quality}, {seconds:.2} s", report.solver)));
    }
    lines.push(("model", document.model.clone()));
    lines
}

/// The model to save.
pub fn model(
    learner: &dyn Learner,
    trained: Trained,
    goal: Goal,
    schema: Schema,
    dataset: &Dataset,
) -> Model {
    let learnt = trained.learnt;
    let mut report = learnt.facts;
    report.insert("rows".to_owned(), json!(dataset.nrows()));
    if let Some(solved) = learnt.report {
        report.extend([
            ("solver".to_owned(), json!(solved.solver)),
            ("status".to_owned(), json!(solved.status)),
            ("residual".to_owned(), json!(solved.residual)),
        ]);
    }
    Model {
        method: learner.method(),
        settings: learner.settings(),
        predictor: learnt.predictor,
        schema: Some(schema),
        outputs: goal.names,
        classes: goal.classes,
        calibration: learnt.calibration,
        scaling: trained.scaling,
        report,
    }
}
