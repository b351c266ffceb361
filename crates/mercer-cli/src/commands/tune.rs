//! `mercer tune`.

use std::time::Instant;

use mercer::data::{self, Passes};
use mercer::learn::search::{Axis, Criterion, Measure, Trial, Trials, Tunable};
use mercer::learn::{AnyLearner, Fitted, Inputs, Learner, Lift, Problem, Ridge};
use mercer::model::{Errors, Facts, Method, Model};
use mercer::pool;
use mercer::select::{self, Tuned};
use mercer::session::Session;
use serde::Serialize;

use crate::args::Tune;
use crate::checkpoint::Checkpoint;
use crate::commands::{plot, tune_picture};
use crate::describe;
use crate::device;
use crate::failure::Failure;
use crate::input::{self, Rows};
use crate::output;
use crate::plot::Figure;
use crate::progress::{self, Progress};
use crate::score;
use crate::tune_settings::{Settings, check_criterion, settings};

/// The rows of the table shown without `-v`.
const SHOWN: usize = 8;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    method: String,
    rows: usize,
    #[serde(flatten)]
    predictor: Facts,
    #[serde(flatten)]
    settings: &'a Facts,
    criterion: &'static str,
    /// The name of the score.
    measure: &'static str,
    /// The score of the best trial, in the units of the measure: an RMSE, an accuracy.
    score: f64,
    /// The score of the best constant prediction on the same rows, if it is known.
    baseline: Option<f64>,
    /// The errors of the tuned model on rows held out from the search.
    held_out: Option<Vec<Errors>>,
    trials: &'a Trials,
    warnings: &'a [String],
    device: String,
    seconds: f64,
    model: String,
}

/// The result of a search.
struct Outcome {
    model: Model,
    /// The learner with the best hyper-parameters.
    learner: AnyLearner,
    score: f64,
    baseline: Option<f64>,
    trials: Trials,
    warnings: Vec<String>,
    measure: Measure,
    criterion: Criterion,
    /// The errors of the tuned model on rows held out from the search.
    held_out: Option<Vec<Errors>>,
    notes: Vec<String>,
    /// The data's name.
    source: String,
    /// Rows of the data, and rows used in the search.
    rows: (usize, usize),
    figure: Option<Figure>,
    /// Further lines of the report.
    lines: Vec<(&'static str, String)>,
}

/// Reads, searches, fits the best settings on all rows, saves and reports.
pub fn run(arguments: &Tune) -> Result<(), Failure> {
    progress::listen();
    let began = Instant::now();
    let settings = settings(arguments)?;
    output::check_output(&arguments.output, &[&arguments.data])?;
    let format = arguments.plot.as_deref().map(plot::format_of).transpose()?;
    for (flag, path) in [("--plot", &arguments.plot), ("--checkpoint", &arguments.checkpoint)] {
        let Some(path) = path else { continue };
        output::check_output(path, &[&arguments.data])?;
        output::refuse_same_as_output(flag, path, &arguments.output)?;
    }
    let searcher = Searcher { arguments, settings, draw: format.is_some() };
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = &arguments.common.session(arguments.memory, &watch)?;
    let outcome = pool::with(arguments.common.threads(), || {
        let streamed = match arguments.approx {
            Some(approx) if approx.is_asked() => searcher.in_passes(session)?,
            _ => None,
        };
        streamed.map_or_else(|| searcher.in_memory(session), Ok)
    })?;
    watch.finish();
    finish(arguments, outcome, format, began)
}

/// Saves and reports.
fn finish(
    arguments: &Tune,
    outcome: Outcome,
    format: Option<plot::Format>,
    began: Instant,
) -> Result<(), Failure> {
    let Outcome { mut model, score, mut trials, warnings, measure, criterion, held_out, .. } = outcome;
    let Outcome { source, rows: (rows, searched), figure, lines: more, notes, .. } = outcome;
    let score = measure.figure(score);
    let baseline = outcome.baseline.map(|baseline| measure.figure(baseline));
    for trial in &mut trials.rows {
        trial.score = trial.score.map(|score| measure.figure(score));
        trial.error = trial.error.filter(|_| measure != Measure::SquaredError);
    }
    model.report.set("criterion", criterion.name());
    model.report.set("score", score);
    model.report.set("measure", measure.figure_name());
    model.report.set("trials", trials.rows.len());
    if let Some(errors) = &held_out {
        model.report.set_held_out(errors);
    }
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
    progress::check_device()?;
    model.save(&arguments.output)?;
    let mut wrote = None;
    if let (Some(figure), Some(format), Some(path)) = (figure, format, arguments.plot.as_deref()) {
        let bytes = plot::rendered(&figure, format, false, 2.0)?;
        data::write_atomically(path, |file| file.write_all(&bytes))?;
        wrote = Some(path.display().to_string());
    }
    warnings.iter().for_each(|warning| output::warn(warning));
    let document = Document {
        method: model.method.to_string(),
        rows,
        predictor: model.predictor.description(),
        settings: &model.settings,
        criterion: criterion.name(),
        measure: measure.figure_name(),
        score,
        baseline,
        held_out,
        trials: &trials,
        warnings: &warnings,
        device: device::describe(),
        seconds: began.elapsed().as_secs_f64(),
        model: arguments.output.display().to_string(),
    };
    for errors in document.held_out.iter().flatten() {
        let texts = score::warning(errors).into_iter().chain(score::worse_than_mean(errors));
        texts.for_each(|text| output::warn(&text));
    }
    let mut lines = vec![("data", format!("{source}: {rows} rows"))];
    lines.extend(notes.into_iter().map(|note| ("", note)));
    lines.extend(table(&trials, measure, arguments.common.verbose).into_iter().map(|row| ("", row)));
    lines.extend(describe::lines(&model.predictor, &model.column_names()));
    lines.extend(more);
    for name in ["lambda", "C", "nu", "epsilon"] {
        lines.extend(model.settings.number_of(name, 0).map(|value| (name, short(value))));
    }
    let by = match criterion {
        Criterion::Folds(folds) => format!("{folds}-fold cross-validation"),
        other => other.name().to_owned(),
    };
    lines.push(("score", score_line(&document, measure, by, searched)));
    for errors in document.held_out.iter().flatten() {
        let name = if model.outputs.len() > 1 { format!("{}: ", errors.target()) } else { String::new() };
        lines.push(("held out", format!("{name}{}", score::line(errors))));
    }
    if arguments.common.verbose {
        lines.push(("device", document.device.clone()));
    }
    lines.extend(wrote.map(|path| ("plot", path)));
    lines.push(("model", format!("{}, {:.2} s", document.model, document.seconds)));
    output::report(&arguments.common, &document, &lines)
}

/// The requested search.
pub struct Searcher<'a> {
    arguments: &'a Tune,
    settings: Settings,
    /// Whether the search is drawn.
    draw: bool,
}

impl Searcher<'_> {
    /// The search on all rows at once.
    fn in_memory(&self, session: &Session<'_>) -> Result<Outcome, Failure> {
        let arguments = self.arguments;
        let (dataset, schema) =
            input::read(arguments.method, &arguments.data, &arguments.input.read_options())?;
        let mut learner = self.settings.bound(arguments, &dataset.feature_names)?;
        if let AnyLearner::Ridge(Ridge { lift, .. }) = &mut learner
            && let Lift::Auto(kernel) = lift
        {
            *lift = kernel.clone().into();
        }
        let rows = Rows::new((dataset, schema), &learner, arguments.input.scale)?;
        let (all, mut notes) = rows.problem()?;
        let searched = rows.training(arguments.outer, session)?;
        learner = rows.in_units(learner, None);
        if let (AnyLearner::Svm(svm), Method::Svr, None) =
            (&mut learner, arguments.method, &arguments.epsilon)
            && let Some(epsilon) = select::tube(&searched, session)?
        {
            svm.machine = svm.machine.with_second(epsilon);
        }
        let criterion = arguments.criterion(false);
        let mut outcome = self.search(learner, (&searched, &all), criterion, session)?;
        outcome.source = rows.dataset.source.clone();
        match rows.hold_out(&outcome.learner, arguments.outer, session)? {
            Ok(held_out) => {
                notes.extend(held_out.as_ref().and_then(|held_out| held_out.note.clone()));
                outcome.held_out = held_out.map(|held_out| held_out.errors);
            }
            Err(reason) => notes.push(format!("no held-out score: {reason}")),
        }
        if outcome.held_out.is_none() && arguments.outer > 0.0 {
            notes.push("too few rows to hold some out of the search".to_owned());
        }
        outcome.notes = notes;
        Ok(outcome)
    }

    /// The search on a file in passes, one for each kernel tried; `None` if `auto` finds that no approximation is
    /// needed.
    fn in_passes(&self, session: &Session<'_>) -> Result<Option<Outcome>, Failure> {
        let arguments = self.arguments;
        let AnyLearner::Ridge(ridge) = &self.settings.learner else { return Ok(None) };
        let passes =
            input::passes(&arguments.data, &arguments.input, (ridge, &ridge.lift), arguments.outer, session)?;
        let names = passes.schema().map(|schema| schema.feature_names()).unwrap_or_default();
        let AnyLearner::Ridge(ridge) = &self.settings.bound(arguments, &names)? else { return Ok(None) };
        let problem = Problem::stream(&passes);
        let Some(kernel) = ridge.lift.kernel() else { return Ok(None) };
        let (approximation, why) = match ridge.lift {
            Lift::Approximate { approx, .. } => (approx, None),
            _ => {
                let typical = Axis::middle_of(kernel, &session.scales(&passes.survey().sample))?;
                match Lift::Auto(typical).resolved(&problem, session)? {
                    (Lift::Approximate { approx, .. }, why) => (approx, why),
                    _ => return Ok(None),
                }
            }
        };
        check_criterion(arguments)?;
        let ridge = ridge.clone().lift((kernel.clone(), approximation).into());
        let problems = (&problem, &problem);
        let mut outcome = self.search(ridge.into(), problems, arguments.criterion(true), session)?;
        outcome.lines = describe::approximation(&outcome.model.report, approximation, why);
        outcome.notes = input::notes(&passes);
        Ok(Some(outcome))
    }

    /// Searches on the first problem, and trains the best learner on the second if the search has no model of it.
    fn search(
        &self,
        learner: AnyLearner,
        (searched, all): (&Problem<'_>, &Problem<'_>),
        criterion: Criterion,
        session: &Session<'_>,
    ) -> Result<Outcome, Failure> {
        let asked = self.arguments.score;
        let measure = asked.unwrap_or_else(|| Measure::of(&learner, &searched.targets));
        let (by, open) = ((criterion.clone(), measure), learner.clone());
        let Tuned { learner, score, trials, warnings, fitted } = match learner {
            AnyLearner::Smoother(smoother) => self.run(smoother, searched, by, session),
            AnyLearner::Knn(knn) => self.run(knn, searched, by, session),
            AnyLearner::Ridge(ridge) => self.run(ridge, searched, by, session),
            AnyLearner::Perceptron(perceptron) => self.run(perceptron, searched, by, session),
            AnyLearner::Svm(svm) => self.run(svm, searched, by, session),
            AnyLearner::Logistic(logistic) => {
                let tol = logistic.tol;
                let mut tuned = self.run(logistic.for_trials(searched.nrows()), searched, by, session)?;
                if let AnyLearner::Logistic(logistic) = &mut tuned.learner {
                    logistic.tol = tol;
                }
                Ok(tuned)
            }
            _ => Err(Failure::usage("lms has nothing to tune")),
        }?;
        let learner = feasible(learner, &[searched, all])?;
        let fitted = fitted.map_or_else(|| learner.train(all, session), Ok)?;
        let unseen = match &searched.inputs {
            Inputs::Stream(passes) => passes.survey().held_out.count() as usize,
            _ => 0,
        };
        let rows = (all.nrows(), searched.nrows() - unseen);
        let mut training = |trials: &[Option<&Trial>]| match (&open, &searched.inputs) {
            (AnyLearner::Ridge(ridge), Inputs::Samples(_)) => match ridge.lift.kernel() {
                Some(kernel) => tune_picture::training_errors(trials, (ridge, kernel), searched, session),
                None => Ok(Vec::new()),
            },
            // On a stream they would take a fit for each drawn trial.
            _ => Ok(Vec::new()),
        };
        let mut figure = || tune_picture::figure(&trials, measure, criterion.name(), rows.1, &mut training);
        let figure = if self.draw { Some(figure()?) } else { None };
        let source = self.arguments.data.display().to_string();
        let Fitted { model, held_out, .. } = fitted;
        let (notes, lines) = (Vec::new(), Vec::new());
        Ok(Outcome {
            model,
            learner,
            score,
            baseline: select::baseline(measure, searched),
            trials,
            warnings,
            measure,
            criterion,
            held_out,
            notes,
            source,
            rows,
            figure,
            lines,
        })
    }

    /// Runs a search that resumes from the trials in `--checkpoint`, and saves its trials there.
    fn run<L: Tunable + Into<AnyLearner>>(
        &self,
        learner: L,
        problem: &Problem<'_>,
        (criterion, measure): (Criterion, Measure),
        session: &Session<'_>,
    ) -> Result<Tuned<AnyLearner>, Failure> {
        let tune = select::Tune {
            learner,
            criterion,
            measure: Some(measure),
            strategy: self.arguments.strategy(),
            shared: self.settings.shared.clone(),
            second: self.settings.second.clone(),
            one_standard_error: self.arguments.one_se,
        };
        let tuned = match self.arguments.checkpoint.as_deref() {
            None => tune.run(problem, session)?,
            Some(path) => {
                let (checkpoint, trials) = Checkpoint::of_trials(path)?;
                if trials > 0 {
                    output::note(&self.arguments.common, &format!("resuming from {trials} trials"));
                }
                let tuned = tune.run(problem, &session.with_checkpoint(&checkpoint))?;
                checkpoint.failure().map_or(Ok(tuned), Err)?
            }
        };
        let Tuned { learner, score, trials, warnings, fitted } = tuned;
        Ok(Tuned { learner: learner.into(), score, trials, warnings, fitted })
    }
}

/// The learner with ν no larger than what is feasible for each problem, of which the search saw folds only.
fn feasible(learner: AnyLearner, problems: &[&Problem<'_>]) -> Result<AnyLearner, Failure> {
    let AnyLearner::Svm(mut svm) = learner else { return Ok(learner) };
    for problem in problems {
        svm = svm.feasible(problem)?;
    }
    Ok(svm.into())
}

fn score_line(document: &Document<'_>, measure: Measure, criterion: String, searched: usize) -> String {
    let tried = document.trials.rows.len();
    let rows = format!("by {criterion} on {searched} rows, best of {tried} tried");
    let figure = |score: f64| output::number(score, 6);
    let score = document.score;
    if measure == Measure::Consistency {
        return match score > 0.0 {
            true => {
                format!("no width rejects few enough of the rows left out: {} too many {rows}", figure(score))
            }
            false => format!("the narrowest kernel that rejects few enough of the rows left out {rows}"),
        };
    }
    let constant = match (measure, document.baseline) {
        (_, None) => String::new(),
        (Measure::SquaredError, Some(baseline)) => format!("; predicting the mean: {}", figure(baseline)),
        (Measure::LogLoss, Some(baseline)) => {
            format!("; predicting the class frequencies: {}", figure(baseline))
        }
        (_, Some(baseline)) => format!("; predicting the most frequent class: {}", figure(baseline)),
    };
    format!("{} {} {rows}{constant}", document.measure, figure(score))
}

/// The best trials, or all of them in order.
fn table(trials: &Trials, measure: Measure, all: bool) -> Vec<String> {
    let mut rows: Vec<_> = trials.rows.iter().collect();
    if !all {
        rows.sort_by(|a, b| {
            let better = if measure.figure(1.0) < measure.figure(0.0) { -1.0 } else { 1.0 };
            let score = |trial: &&Trial| trial.score.map_or(f64::INFINITY, |score| better * score);
            score(a).total_cmp(&score(b))
        });
        rows.truncate(SHOWN);
    }
    let head = measure.figure_name();
    let mut out = vec![format!(
        "{} {head:>12}",
        trials.names.iter().map(|name| format!("{name:>12}")).collect::<String>()
    )];
    for trial in rows {
        let numbers = trial.values.iter().chain([&trial.setting]).take(trials.names.len());
        let numbers: String = numbers.map(|value| format!("{:>12}", short(*value))).collect();
        let score = trial.score.map_or("none".into(), |score| output::number(score, 6));
        out.push(format!("{numbers} {score:>12}"));
    }
    out
}

/// A number in at most ten characters.
fn short(value: f64) -> String {
    if value == value.round() && value.abs() < 1e6 {
        return format!("{value}");
    }
    if (1e-3..1e5).contains(&value.abs()) { format!("{value:.5}") } else { format!("{value:.3e}") }
}
