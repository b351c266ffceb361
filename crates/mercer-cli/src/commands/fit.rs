//! `mercer fit`.

use std::time::Instant;

use mercer::data::{Passes, ReadOptions, ScaleMethod};
use mercer::learn::{AnyLearner, Fitted, Learner, Lift, Problem, Shape, Targets};
use mercer::model::{Errors, Facts, Method, Model};
use mercer::pool;
use mercer::select::{Choose, Chosen, default_kernel};
use mercer::session::Session;
use mercer::solve::{Report, Status};
use serde::Serialize;

use crate::args::Fit;
use crate::checkpoint::Checkpoint;
use crate::choice::Choice;
use crate::describe;
use crate::device;
use crate::failure::Failure;
use crate::input::{self, Rows};
use crate::output;
use crate::progress::{self, Progress};
use crate::score;
use crate::settings;

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    method: String,
    data: DataSummary,
    /// What describes the predictor, the settings and the facts of the fit. `kernel` is the kernel that predicts; `kernel_text`
    /// is the one with unknowns, if that is another.
    #[serde(flatten)]
    values: Facts,
    scaling: &'a str,
    /// The choice of settings that the command line leaves open.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<Choice>,
    holdout: Option<Vec<Errors>>,
    report: Option<&'a Report>,
    device: String,
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

/// The times of the parts.
#[derive(Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading, with the first pass of a fit in chunks.
    pub read: f64,
    /// The choice of open settings.
    pub choice: f64,
    /// The fit without the held-out rows.
    pub holdout: f64,
    /// The fit on all rows, with the second pass of a fit in chunks.
    pub fit: f64,
    /// The total.
    pub total: f64,
}

impl Seconds {
    fn line(&self) -> String {
        let Self { read, choice, holdout, fit, total } = self;
        format!(
            "read {read:.2} s, choice {choice:.2} s, held-out fit {holdout:.2} s, fit {fit:.2} s, total {total:.2} s"
        )
    }
}

/// The result of a fit.
pub struct Outcome {
    /// The model to save, and its report.
    pub fitted: Fitted,
    /// The chosen settings.
    pub chosen: Option<Chosen>,
    /// Notes for the user about the data.
    pub notes: Vec<String>,
    /// The errors on held-out rows.
    pub holdout: Option<Vec<Errors>>,
    /// The data's name.
    pub source: String,
    /// Rows of the data.
    pub rows: usize,
    /// Features of the data.
    pub features: usize,
    /// The times of the parts; the total is set later.
    pub seconds: Seconds,
    /// Further lines of the report.
    pub lines: Vec<(&'static str, String)>,
}

/// Reads, holds out, fits, saves and reports.
pub fn run(arguments: &Fit) -> Result<(), Failure> {
    progress::listen();
    let began = Instant::now();
    // Errors in the arguments are reported before a long file is read.
    let learner = settings::learner(arguments)?;
    output::check_output(&arguments.output, &[&arguments.data])?;
    let open = |path| Checkpoint::open(path, &arguments.data, &arguments.output);
    let checkpoint = arguments.checkpoint.as_deref().map(open).transpose()?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let mut session = arguments.common.session(arguments.memory, &watch)?;
    if let Some(checkpoint) = &checkpoint {
        session = session.with_checkpoint(checkpoint);
    }
    // Ridge regression takes any file in passes. Classifiers, which may have weights, take only those that do not fit the memory.
    let in_order = match arguments.method {
        Method::Ridge => true,
        _ => arguments.sample_weight.is_none() && input::is_large(&arguments.data, &session),
    };
    let streamed = match learner.lift_of_stream().filter(|_| in_order) {
        Some(lift) => {
            pool::with(arguments.common.threads(), || in_passes(arguments, (&learner, lift), &session))
        }
        None => Ok(None),
    };
    let outcome = match streamed.transpose() {
        Some(outcome) => outcome,
        None => in_memory(arguments, learner, &session),
    };
    watch.finish();
    finish(arguments, outcome?, checkpoint, began)
}

/// The fit on a file in passes; `None` if `auto` finds that no approximation is needed.
fn in_passes(
    arguments: &Fit,
    (learner, lift): (&AnyLearner, &Lift),
    session: &Session<'_>,
) -> Result<Option<Outcome>, Failure> {
    let (clock, mut seconds) = (Instant::now(), Seconds::default());
    let passes =
        input::passes(&arguments.data, &arguments.input, (learner, lift), arguments.holdout, session)?;
    let problem = Problem::stream(&passes);
    seconds.read = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let names = passes.schema().map(|schema| schema.feature_names()).unwrap_or_default();
    let mut learner = settings::bound(learner.clone(), arguments, &names)?;
    let mut notes = input::notes(&passes);
    let chosen = match settings::open(arguments) {
        Some(open) => Choose { learner: learner.clone(), open }.run(&problem, problem.nrows(), session)?,
        None => None,
    };
    notes.extend(not_chosen(arguments, chosen.as_ref(), &problem));
    if let Some(chosen) = &chosen {
        learner = chosen.learner.clone();
    }
    seconds.choice = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let Some(lift) = learner.lift_mut() else { return Ok(None) };
    let (resolved, reason) = lift.resolved(&problem, session)?;
    let Lift::Approximate { approx, .. } = resolved else { return Ok(None) };
    *lift = resolved;
    let mut fitted = learner.train(&problem, session)?;
    seconds.fit = clock.elapsed().as_secs_f64();
    Ok(Some(Outcome {
        lines: describe::approximation(&fitted.facts, approx, reason),
        holdout: fitted.held_out.take(),
        notes,
        chosen,
        source: arguments.data.display().to_string(),
        rows: problem.nrows(),
        features: passes.survey().sample.ncols(),
        fitted,
        seconds,
    }))
}

/// The fit on all rows at once.
fn in_memory(arguments: &Fit, learner: AnyLearner, session: &Session<'_>) -> Result<Outcome, Failure> {
    let clock = Instant::now();
    let mut seconds = Seconds::default();
    let (mut dataset, schema) = input::read(arguments.method, &arguments.data, &read_options(arguments))?;
    let learner = settings::bound(learner, arguments, &dataset.feature_names)?;
    // The weights were read as the last of the targets.
    let weights = arguments.sample_weight.as_ref().and_then(|_| dataset.targets.pop());
    let mut rows =
        Rows::new((dataset, schema), &learner, arguments.input.scale)?.weighted(weights, arguments.method)?;
    let learner = rows.in_units(learner, arguments.tol);
    seconds.read = clock.elapsed().as_secs_f64();
    let (count, columns) = (rows.dataset.nrows(), rows.dataset.features.ncols());
    learner.check(Shape { rows: count, columns, targets: rows.targets() }, session)?;
    if settings::is_precomputed(arguments) {
        if arguments.input.scale.is_some_and(|scale| scale != ScaleMethod::None) {
            return Err(Failure::usage("--scale does not apply to kernel values"));
        }
        rows = rows.precomputed()?;
    }
    pool::with(arguments.common.threads(), || {
        let clock = Instant::now();
        let chosen = match settings::open(arguments) {
            Some(open) => rows.choose(&learner, open, arguments.holdout, session)?,
            None => None,
        };
        let learner = match &chosen {
            Some(chosen) => chosen.learner.clone(),
            None if settings::open(arguments).is_some() => {
                rows.feasible(learner, arguments.holdout, session)?
            }
            None => learner,
        };
        seconds.choice = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let holdout = rows.hold_out(&learner, arguments.holdout, session)?;
        seconds.holdout = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let (problem, mut notes) = rows.problem()?;
        notes.extend(not_chosen(arguments, chosen.as_ref(), &problem));
        let holdout = holdout.unwrap_or_else(|reason| {
            notes.push(format!("held-out error not available: {reason}"));
            None
        });
        notes.extend(holdout.as_ref().and_then(|held_out| held_out.note.clone()));
        // The values learnt without the held-out rows are close to those for all rows.
        let near = holdout.as_ref().and_then(|held_out| learner.continued(&held_out.facts));
        let mut fitted = near.as_ref().unwrap_or(&learner).train(&problem, session)?;
        if near.is_some() {
            // The requested random starts were tried without the held-out rows.
            if let Some(restarts) = learner.settings(session).read::<usize>("restarts") {
                fitted.model.settings.set("restarts", restarts);
            }
        }
        seconds.fit = clock.elapsed().as_secs_f64();
        let holdout = holdout.map(|held_out| held_out.errors);
        let targets = if fitted.model.classes.is_some() { "classes" } else { "normalised targets" };
        let lines = describe::learnt(&fitted.facts, &rows.dataset.feature_names, targets);
        let source = rows.dataset.source.clone();
        Ok(Outcome { fitted, chosen, notes, holdout, source, rows: count, features: columns, seconds, lines })
    })
}

/// The note that open settings could not be chosen.
fn not_chosen(arguments: &Fit, chosen: Option<&Chosen>, problem: &Problem<'_>) -> Option<String> {
    let missing = settings::open(arguments).is_some() && chosen.is_none();
    let reason = match &problem.targets {
        Targets::Numbers(numbers) if (1..numbers.nrows()).all(|row| numbers.row(row) == numbers.row(0)) => {
            "the target is the same in every row"
        }
        Targets::Classes { .. } if problem.nrows() >= 10 => "there are too few rows of each class",
        _ => "there are too few rows",
    };
    missing.then(|| format!("{reason}, so nothing was chosen; the fixed defaults are used"))
}

/// Saves and reports.
fn finish(
    arguments: &Fit,
    outcome: Outcome,
    checkpoint: Option<Checkpoint>,
    began: Instant,
) -> Result<(), Failure> {
    let Outcome { fitted: Fitted { mut model, mut report, facts, .. }, mut seconds, .. } = outcome;
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
    progress::check_device()?;
    model.report.set_held_out(outcome.holdout.as_deref().unwrap_or_default());
    model.save(&arguments.output)?;
    if let Some(checkpoint) = checkpoint {
        report.iter_mut().for_each(|report| report.warnings.extend(checkpoint.warning()));
        checkpoint.remove();
    }
    seconds.total = began.elapsed().as_secs_f64();
    for warning in report.iter().flat_map(Report::remarks) {
        output::warn(warning);
    }
    if let Some(advice) = report.as_ref().and_then(|report| advice(arguments.method, report)) {
        output::warn(&advice);
    }
    if facts.read::<usize>("support_vectors") == Some(0) {
        output::warn(
            "no row is a support vector, so the model predicts a constant; use a smaller --epsilon or a larger --C",
        );
    }
    let chosen = outcome.chosen.as_ref().map(|chosen| Choice::new(chosen, model.outputs.len()));
    if let Some(warning) = chosen.as_ref().and_then(Choice::warning) {
        output::warn(warning);
    }
    outcome.holdout.iter().flatten().filter_map(score::warning).for_each(|warning| output::warn(&warning));
    let document = Document {
        method: model.method.to_string(),
        data: DataSummary {
            source: outcome.source,
            rows: outcome.rows,
            features: outcome.features,
            targets: model.outputs.clone(),
        },
        values: described(&model, &facts),
        scaling: model.scaling.name(),
        chosen,
        holdout: outcome.holdout,
        report: report.as_ref(),
        device: device::describe(),
        seconds,
        model: arguments.output.display().to_string(),
        notes: &outcome.notes,
    };
    let default = default_kernel(model.method).to_string();
    let written = arguments.kernel.as_deref().unwrap_or(&default);
    let has_target = arguments.method != Method::OneClass || model.outputs != ["inlier"];
    let mut lines = lines(&document, has_target, &model, written, outcome.lines);
    if arguments.common.verbose {
        lines.push(("device", document.device.clone()));
        lines.push(("time", document.seconds.line()));
        lines.extend(report.as_ref().map(|report| ("steps", report.iterations.to_string())));
    }
    output::report(&arguments.common, &document, &lines)
}

/// What to change if the fit did not converge.
fn advice(method: Method, report: &Report) -> Option<String> {
    match report.status {
        Status::OutOfIterations => {
            let (unit, flag) = match method {
                Method::Lms | Method::Perceptron => ("epochs", "--epochs"),
                Method::Logistic => ("steps", "--epochs"),
                Method::Gp => ("steps", "--restarts, or give narrower ranges ?lo..hi"),
                _ => ("steps", "--tol"),
            };
            Some(format!("stopped after {} {unit} without converging; raise {flag}", report.iterations))
        }
        Status::Stagnated => {
            let flags = match method {
                Method::Ridge if !report.solver.contains("conjugate gradients") => "--lambda",
                Method::Ridge | Method::Logistic => "--tol or --lambda",
                _ => "--tol",
            };
            Some(format!("not converged: rounding errors do not allow a smaller residual; raise {flags}"))
        }
        _ => None,
    }
}

/// The description of the predictor, the settings and the facts of the fit, with one value for each name.
fn described(model: &Model, facts: &Facts) -> Facts {
    let predictor = model.predictor.description();
    let mut settings = model.settings.clone();
    if let Some(asked) = settings.text("kernel").map(str::to_owned)
        && predictor.text("kernel").is_some_and(|kernel| kernel != asked)
    {
        settings.set("kernel_text", asked);
    }
    predictor.or(facts).or(&settings)
}

/// The reader's options, with the column of weights as the last target: it is not a feature, and later files may lack
/// it.
fn read_options(arguments: &Fit) -> ReadOptions {
    let mut options = arguments.input.read_options();
    options.target.extend(arguments.sample_weight.clone());
    options
}

fn lines(
    document: &Document<'_>,
    has_target: bool,
    model: &Model,
    written: &str,
    more: Vec<(&'static str, String)>,
) -> Vec<(&'static str, String)> {
    let data = &document.data;
    let mut lines = vec![(
        "data",
        format!(
            "{}: {}, {}, {}",
            data.source,
            output::counted(data.rows, "row"),
            output::counted(data.features, "feature"),
            match (has_target, data.targets.len()) {
                (false, _) => "no target".to_owned(),
                (_, 1) => format!("target {}", data.targets[0]),
                _ => format!("targets {}", data.targets.join(", ")),
            }
        ),
    )];
    lines.extend(document.notes.iter().map(|note| ("", note.clone())));
    lines.push(("scaling", document.scaling.to_owned()));
    for (label, mut text) in describe::lines(&model.predictor, &model.column_names()) {
        let is_chosen = document.chosen.as_ref().is_some_and(Choice::has_kernel);
        if label == "kernel" && written.contains("auto") && !is_chosen {
            text.push_str(&format!("  (from {written})"));
        }
        lines.push((label, text));
    }
    lines.extend(more);
    lines.extend(document.chosen.iter().flat_map(Choice::lines));
    for errors in document.holdout.iter().flatten() {
        let name = if data.targets.len() > 1 { format!("{}: ", errors.target()) } else { String::new() };
        lines.push(("held out", format!("{name}{}", score::line(errors))));
        lines.extend(score::tables(errors));
    }
    if let Some(report) = document.report {
        let seconds = document.seconds.fit;
        // Mistakes are counted, not measured.
        let quality = match (document.values.has("mistakes"), document.values.has("violation")) {
            (true, _) => String::new(),
            (_, true) => format!(", violation {:.1e}", report.residual),
            _ => format!(", residual {:.1e}", report.residual),
        };
        lines.push(("fit", format!("{}{quality}, {seconds:.2} s", report.solver)));
    }
    lines.push(("model", document.model.clone()));
    lines
}
