//! `mercer tune`.

mod approx;
mod checkpoint;
mod picture;

use std::collections::BTreeMap;
use std::time::Instant;

use mercer::data::{self, AnySamples, ScaleMethod, Scaling};
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Criterion, Measure, Shared, Strategy, Trial, Trials, Tunable};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Admission, Intercept, Knn, Logistic, Perceptron, Problem, Ridge, Smoother, Targets};
use mercer::model::Model;
use mercer::pool;
use mercer::select::{self, Tuned};
use mercer::session::Session;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{self, Method, Score, Search, Tune};
use crate::commands::fit::model;
use crate::commands::plot;
use crate::describe;
use crate::failure::Failure;
use crate::learner::svm::SvmLearner;
use crate::learner::{Learner, Library, codes_of};
use crate::output;
use crate::plot::Figure;
use crate::progress::{self, Progress};
use crate::training::{Goal, Trained, read_for_training};

use checkpoint::TrialsFile;

/// ‖λa + p − y‖ of logistic regression in a trial: far below what changes a score.
const TRIAL_TOL: f64 = 1e-4;

/// Rows of the table that are shown without `-v`.
const SHOWN: usize = 8;

/// What a search found: a learner with the best settings, and the table.
struct Found {
    learner: Box<dyn Learner>,
    score: f64,
    trials: Trials,
    warnings: Vec<String>,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    method: String,
    rows: usize,
    #[serde(flatten)]
    predictor: BTreeMap<&'static str, Value>,
    #[serde(flatten)]
    settings: &'a BTreeMap<String, Value>,
    criterion: &'static str,
    /// What the score is.
    measure: &'static str,
    /// Mean squared error, share of wrong classes or log-loss, by the criterion.
    score: f64,
    trials: &'a Trials,
    warnings: &'a [String],
    seconds: f64,
    model: String,
}

/// What a search came to.
struct Outcome {
    model: Model,
    score: f64,
    trials: Trials,
    warnings: Vec<String>,
    criterion: args::Criterion,
    /// The data's name.
    source: String,
    rows: usize,
    figure: Option<Figure>,
    /// Lines for people, beside those that every search has.
    lines: Vec<(&'static str, String)>,
}

/// Reads, searches, fits the best on all rows, saves and reports.
pub fn run(arguments: &Tune) -> Result<(), Failure> {
    progress::listen();
    let began = Instant::now();
    refuse_what_does_not_apply(arguments)?;
    let kernel: Kernel = arguments.kernel.as_deref().unwrap_or("rbf(sigma=?)").parse()?;
    let shared = match arguments.method {
        Method::Knn => Some((Shared::Neighbours, arguments.k.as_deref())),
        Method::Svc => Some((Shared::Cost, arguments.c.as_deref())),
        Method::Ridge | Method::Logistic => Some((Shared::Lambda, arguments.lambda.as_deref())),
        _ => None,
    };
    let shared = shared.and_then(|(shared, text)| Some(shared.read(text?)));
    let shared = shared.transpose().map_err(|error| Failure::usage(format!("{error}")))?;
    output::check_output(&arguments.output)?;
    let format = arguments.plot.as_deref().map(plot::format_of).transpose()?;
    let criterion = arguments.criterion(false);
    let searcher = Searcher { arguments, kernel, shared, criterion };
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(arguments.memory, &watch);
    let streamed = match arguments.approx {
        Some(approx) if approx.is_asked() => {
            pool::with(arguments.common.threads(), || searcher.in_chunks(format.is_some(), &session))?
        }
        _ => None,
    };
    let outcome = match streamed {
        Some(outcome) => outcome,
        None => in_memory(searcher, format.is_some(), &session)?,
    };
    watch.finish();
    finish(arguments, outcome, format, began)
}

/// The search on all rows at once.
fn in_memory(searcher: Searcher<'_>, draw: bool, session: &Session<'_>) -> Result<Outcome, Failure> {
    let arguments = searcher.arguments;
    let (dataset, schema) =
        read_for_training(arguments.method, &arguments.data, &arguments.input.read_options())?;
    let stand_in = stand_in(arguments);
    let goal = Goal::of(&dataset, &*stand_in)?;
    let (scaling, _) =
        Scaling::fit(arguments.input.scale.unwrap_or(ScaleMethod::Standard), &dataset.features)?;
    let scaled = scaling.apply(dataset.features.view())?;
    let criterion = searcher.criterion;
    let measure = measure(arguments, goal.classes.is_some());
    let (found, trained, figure) = pool::with(arguments.common.threads(), || {
        let mut found = searcher.search(&scaled, &goal, session)?;
        if let Some(classes) = &goal.classes {
            found.learner.name_classes(classes)?;
        }
        let scale = arguments.input.scale;
        let trained = Trained::on(&*found.learner, scale, &dataset.features, &goal.targets, session)?;
        let mut training = |trials: &[Option<&Trial>]| match arguments.method {
            Method::Ridge => picture::training_errors(trials, &searcher, &scaled, &goal.targets, session),
            _ => Ok(Vec::new()),
        };
        let mut figure =
            || picture::figure(&found.trials, measure, criterion, dataset.nrows(), &mut training);
        let figure = if draw { Some(figure()?) } else { None };
        Ok::<_, Failure>((found, trained, figure))
    })?;
    let Found { learner, score, trials, warnings } = found;
    Ok(Outcome {
        model: model(&*learner, trained, goal, schema, &dataset),
        score,
        trials,
        warnings,
        criterion,
        source: dataset.source.clone(),
        rows: dataset.nrows(),
        figure,
        lines: Vec::new(),
    })
}

/// Saves and reports.
fn finish(
    arguments: &Tune,
    outcome: Outcome,
    format: Option<plot::Format>,
    began: Instant,
) -> Result<(), Failure> {
    let Outcome { mut model, score, trials, warnings, criterion, source, rows, figure, lines: more } =
        outcome;
    let measure = measure(arguments, model.classes.is_some());
    model.report.insert("criterion".into(), json!(criterion.name()));
    model.report.insert("score".into(), json!(score));
    model.report.insert("trials".into(), json!(trials.rows.len()));
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
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
        measure: measure.name(),
        score,
        trials: &trials,
        warnings: &warnings,
        seconds: began.elapsed().as_secs_f64(),
        model: arguments.output.display().to_string(),
    };
    let mut lines = vec![("data", format!("{source}: {rows} rows"))];
    lines.extend(table(&trials, measure, arguments.common.verbose).into_iter().map(|row| ("", row)));
    lines.extend(describe::lines(&model.predictor));
    lines.extend(more);
    if let Some(lambda) = model.settings.get("lambda").and_then(|l| l.get(0)).and_then(Value::as_f64) {
        lines.push(("lambda", format!("{lambda:.6}")));
    }
    if let Some(c) = model.settings.get("C").and_then(Value::as_f64) {
        lines.push(("C", format!("{c:.6}")));
    }
    lines.push(("score", score_line(&document, measure)));
    lines.extend(wrote.map(|path| ("plot", path)));
    lines.push(("model", format!("{}, {:.2} s", document.model, document.seconds)));
    output::report(&arguments.common, &document, &lines)
}

/// The number that a trial is judged by.
fn measure(arguments: &Tune, classify: bool) -> Measure {
    match (arguments.score, arguments.method) {
        _ if !classify => Measure::SquaredError,
        (Some(Score::LogLoss), _) | (None, Method::Logistic) => Measure::LogLoss,
        _ => Measure::Wrong,
    }
}

/// A search as asked for.
pub struct Searcher<'a> {
    arguments: &'a Tune,
    kernel: Kernel,
    /// The values of λ, C or k; none for their default range.
    shared: Option<SearchSpace>,
    /// Which rows a trial is judged by.
    criterion: args::Criterion,
}

impl Searcher<'_> {
    fn search(&self, samples: &AnySamples<'_>, goal: &Goal, session: &Session<'_>) -> Result<Found, Failure> {
        let (seed, kernel) = (self.arguments.common.seed, self.kernel.clone());
        let targets = match &goal.classes {
            Some(classes) => {
                Targets::Classes { codes: codes_of(&goal.targets).into(), classes: classes.clone() }
            }
            None => (&goal.targets).into(),
        };
        let problem = &Problem::new(samples.view(), targets);
        match self.arguments.method {
            Method::Smoother => self.run(Smoother::new(kernel), problem, session)?.boxed(seed),
            Method::Knn => self.run(Knn::default(), problem, session)?.boxed(seed),
            Method::Ridge | Method::Lms => self.run(self.ridge(), problem, session)?.boxed(seed),
            Method::Perceptron => {
                let perceptron = Perceptron::new(kernel).admission(self.admission());
                self.run(perceptron, problem, session)?.boxed(seed)
            }
            Method::Logistic => {
                let logistic = Logistic::new(kernel).admission(self.admission());
                let tol = logistic.tol;
                let mut tuned = self.run(logistic.tol(TRIAL_TOL), problem, session)?;
                tuned.learner.tol = tol;
                tuned.boxed(seed)
            }
            Method::Svc => {
                let svm = Svm::new(kernel, Machine::Svc { c: 1.0 }).admission(self.admission());
                let Tuned { learner, score, trials, warnings, .. } = self.run(svm, problem, session)?;
                Ok(Found { learner: Box::new(SvmLearner::of(learner, seed)), score, trials, warnings })
            }
            Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => Err(not_tuned(self.arguments)),
        }
    }

    /// The search with what the command line asks for.
    fn tune<L: Tunable>(&self, learner: L, criterion: args::Criterion) -> select::Tune<L> {
        let criterion = match criterion {
            args::Criterion::Loo => Criterion::LeaveOneOut,
            args::Criterion::Gcv => Criterion::Gcv,
            args::Criterion::Folds => Criterion::Folds(self.arguments.folds()),
            args::Criterion::Holdout => Criterion::HoldOut(self.arguments.holdout()),
        };
        let strategy = match self.arguments.search {
            Search::Random => Some(Strategy::Random { trials: self.arguments.trials }),
            Search::Grid => self.arguments.points.map(|points| Strategy::Grid { points, refinements: 3 }),
        };
        select::Tune { learner, criterion, measure: None, strategy, shared: self.shared.clone() }
    }

    fn run<L: Tunable>(
        &self,
        learner: L,
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Tuned<L>, Failure> {
        let measure = measure(self.arguments, problem.classes().is_some());
        let tune = select::Tune { measure: Some(measure), ..self.tune(learner, self.criterion) };
        self.with_checkpoint(session, |session| Ok(tune.run(problem, session)?))
    }

    /// Runs a search that goes on from the trials of `--checkpoint`, and keeps there what it tries.
    fn with_checkpoint<T>(
        &self,
        session: &Session<'_>,
        search: impl FnOnce(&Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(path) = self.arguments.checkpoint.as_deref() else { return search(session) };
        let checkpoint = TrialsFile::open(path)?;
        if checkpoint.trials > 0 {
            output::note(&self.arguments.common, &format!("going on from {} trials", checkpoint.trials));
        }
        let found = search(&session.with_checkpoint(&checkpoint))?;
        checkpoint.failure().map_or(Ok(found), Err)
    }

    /// Ridge regression with hyper-parameters to search.
    fn ridge(&self) -> Ridge {
        Ridge::new(self.kernel.clone())
            .intercept(self.arguments.bias.unwrap_or(Intercept::Centred))
            .admission(self.admission())
    }

    fn admission(&self) -> Admission {
        if self.arguments.assume_psd { Admission::Assume } else { Admission::Check }
    }
}

/// A search for a learner of the library, as the command line trains it.
trait Boxed {
    fn boxed(self, seed: u64) -> Result<Found, Failure>;
}

impl<L: Tunable + 'static> Boxed for Tuned<L> {
    fn boxed(self, seed: u64) -> Result<Found, Failure> {
        let Self { learner, score, trials, warnings, .. } = self;
        Ok(Found { learner: Library::boxed(learner, seed), score, trials, warnings })
    }
}

/// A learner of the method that says whether it works on classes; its settings are still to be found.
fn stand_in(arguments: &Tune) -> Box<dyn Learner> {
    match arguments.method {
        Method::Knn => Library::boxed(Knn::default(), 0),
        Method::Smoother => Library::boxed(Smoother::new(Kernel::linear()), 0),
        Method::Logistic => Library::boxed(Logistic::new(Kernel::linear()), 0),
        Method::Perceptron => Library::boxed(Perceptron::new(Kernel::linear()), 0),
        Method::Svc => Box::new(SvmLearner::of(Svm::new(Kernel::linear(), Machine::Svc { c: 1.0 }), 0)),
        _ => Library::boxed(Ridge::new(Kernel::linear()), 0),
    }
}

fn refuse_what_does_not_apply(arguments: &Tune) -> Result<(), Failure> {
    if arguments.method == Method::Lms {
        return Err(Failure::usage(
            "lms has nothing to tune: more epochs are what a smaller lambda is to ridge",
        )
        .hint("use `mercer tune ridge`"));
    }
    if matches!(arguments.method, Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass) {
        return Err(not_tuned(arguments));
    }
    let ridge = arguments.method == Method::Ridge;
    let classifier = matches!(arguments.method, Method::Logistic | Method::Perceptron);
    let svc = arguments.method == Method::Svc;
    let flags = [
        ("--lambda", arguments.lambda.is_some(), ridge || arguments.method == Method::Logistic),
        ("--bias", arguments.bias.is_some(), ridge),
        ("--approx", arguments.approx.is_some(), ridge),
        ("--C", arguments.c.is_some(), svc),
        ("--checkpoint", arguments.checkpoint.is_some(), ridge || classifier || svc),
        ("--assume-psd", arguments.assume_psd, ridge || classifier || svc),
        ("--criterion", arguments.criterion.is_some(), ridge || classifier),
        ("--holdout", arguments.holdout.is_some(), ridge || classifier),
        ("--score", arguments.score.is_some(), classifier),
        ("--kernel", arguments.kernel.is_some(), arguments.method != Method::Knn),
        ("-k", arguments.k.is_some(), arguments.method == Method::Knn),
    ];
    match flags.iter().find(|(_, given, applies)| *given && !applies) {
        Some((flag, ..)) => {
            Err(Failure::usage(format!("{flag} does not apply to the tuning of this method")))
        }
        None => approx::check_text(arguments),
    }
}

fn not_tuned(arguments: &Tune) -> Failure {
    let what = "tune searches for ridge, smoother, knn, perceptron, logistic and svc";
    match arguments.method {
        Method::NuSvc => Failure::usage(what).hint("use `mercer tune svc`: C and ν give the same machines"),
        _ => Failure::usage(what).hint("fit with a few values and compare the held-out errors"),
    }
}

fn score_line(document: &Document<'_>, measure: Measure) -> String {
    let score = measure.readable(document.score);
    let tried = document.trials.rows.len();
    format!("{} {score:.6} by {}, best of {tried} tried", measure.name(), document.criterion)
}

/// The best trials, or all of them in the order they were made.
fn table(trials: &Trials, measure: Measure, all: bool) -> Vec<String> {
    let mut rows: Vec<_> = trials.rows.iter().collect();
    if !all {
        rows.sort_by(|a, b| {
            let score = |trial: &&Trial| trial.score.unwrap_or(f64::INFINITY);
            score(a).total_cmp(&score(b))
        });
        rows.truncate(SHOWN);
    }
    let head = if measure == Measure::Wrong { "wrong" } else { measure.name() };
    let mut out = vec![format!(
        "{} {head:>12}",
        trials.names.iter().map(|name| format!("{name:>12}")).collect::<String>()
    )];
    for trial in rows {
        let numbers = trial.values.iter().chain([&trial.setting]).take(trials.names.len());
        let numbers: String = numbers.map(|value| format!("{:>12}", short(*value))).collect();
        let score = trial.score.map_or("none".into(), |score| format!("{:.6}", measure.readable(score)));
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
