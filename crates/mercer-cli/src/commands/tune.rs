//! `mercer tune`.

use std::collections::BTreeMap;
use std::time::Instant;

use mercer::data::{self, Passes};
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Axis, Criterion, Measure, Shared, Strategy, Trial, Trials, Tunable};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{
    Admission, AnyLearner, Inputs, Intercept, Knn, Learner, Lift, Logistic, Perceptron, Problem, Ridge,
    Smoother,
};
use mercer::model::{Method, Model};
use mercer::pool;
use mercer::select::{self, Tuned};
use mercer::session::Session;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{self, Approx, Score, Search, Tune};
use crate::checkpoint::Checkpoint;
use crate::commands::{plot, tune_picture};
use crate::describe;
use crate::failure::Failure;
use crate::input::{self, Rows};
use crate::output;
use crate::plot::Figure;
use crate::progress::{self, Progress};

/// ‖λa + p − y‖ of logistic regression in a trial: far below what changes a score.
const TRIAL_TOL: f64 = 1e-4;

/// Rows of the table that are shown without `-v`.
const SHOWN: usize = 8;

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

/// The result of a search.
struct Outcome {
    model: Model,
    score: f64,
    trials: Trials,
    warnings: Vec<String>,
    measure: Measure,
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
        Method::Svc | Method::Svr | Method::NuSvr => Some((Shared::Cost, arguments.c.as_deref())),
        Method::NuSvc => Some((Shared::Nu, arguments.nu.as_deref())),
        Method::Ridge | Method::Logistic => Some((Shared::Lambda, arguments.lambda.as_deref())),
        _ => None,
    };
    let shared = shared.and_then(|(shared, text)| Some(shared.read(text?)));
    let shared = shared.transpose().map_err(|error| Failure::usage(format!("{error}")))?;
    output::check_output(&arguments.output, &[&arguments.data])?;
    let format = arguments.plot.as_deref().map(plot::format_of).transpose()?;
    let searcher = Searcher { arguments, kernel, shared, draw: format.is_some() };
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = &arguments.common.session(arguments.memory, &watch)?;
    let outcome = pool::with(arguments.common.threads(), || {
        let streamed = match arguments.approx {
            Some(approx) if approx.is_asked() => searcher.in_passes(approx, session)?,
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
    let Outcome { mut model, score, trials, warnings, measure, criterion, .. } = outcome;
    let Outcome { source, rows, figure, lines: more, .. } = outcome;
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

/// A search as asked for.
pub struct Searcher<'a> {
    arguments: &'a Tune,
    pub kernel: Kernel,
    /// The values of λ, C or k; none for their default range.
    shared: Option<SearchSpace>,
    /// Whether the search is drawn.
    draw: bool,
}

impl Searcher<'_> {
    /// The search on all rows at once.
    fn in_memory(&self, session: &Session<'_>) -> Result<Outcome, Failure> {
        let (arguments, learner) = (self.arguments, self.learner());
        let read = input::read(arguments.method, &arguments.data, &arguments.input.read_options())?;
        let rows = Rows::new(read, &learner, arguments.input.scale)?;
        let (problem, _) = rows.problem()?;
        let outcome = self.search(learner, &problem, arguments.criterion(false), session)?;
        Ok(Outcome { source: rows.dataset.source.clone(), ..outcome })
    }

    /// The search on a file in passes, one for each kernel tried; none where `auto` finds that no approximation is needed.
    fn in_passes(&self, approx: Approx, session: &Session<'_>) -> Result<Option<Outcome>, Failure> {
        let arguments = self.arguments;
        let lift = match approx {
            Approx::As(approximation) => (self.kernel.clone(), approximation).into(),
            _ => Lift::Auto(self.kernel.clone()),
        };
        let passes = input::passes(&arguments.data, &arguments.input, &lift, 0.0, session)?;
        let problem = Problem::stream(&passes);
        let (approximation, why) = match lift {
            Lift::Approximate { approx, .. } => (approx, None),
            _ => {
                let typical = Axis::middle_of(&self.kernel, &session.scales(&passes.survey().sample))?;
                match Lift::Auto(typical).resolved(&problem, session)? {
                    (Lift::Approximate { approx, .. }, why) => (approx, why),
                    _ => return Ok(None),
                }
            }
        };
        check_criterion(arguments)?;
        let ridge = self.ridge().lift((self.kernel.clone(), approximation).into());
        let mut outcome = self.search(ridge.into(), &problem, arguments.criterion(true), session)?;
        outcome.lines = describe::approximation(&outcome.model.report, approximation, why);
        outcome.lines.extend(input::notes(&passes).into_iter().map(|note| ("", note)));
        Ok(Some(outcome))
    }

    /// The learner whose hyper-parameters are searched for.
    fn learner(&self) -> AnyLearner {
        let kernel = self.kernel.clone();
        match self.arguments.method {
            Method::Smoother => Smoother::new(kernel).into(),
            Method::Knn => Knn::default().into(),
            Method::Perceptron => Perceptron::new(kernel).admission(self.admission()).into(),
            Method::Logistic => Logistic::new(kernel).admission(self.admission()).into(),
            Method::Ridge | Method::Lms => self.ridge().into(),
            machine => Svm::new(kernel, self.machine(machine)).admission(self.admission()).into(),
        }
    }

    /// The machine whose C or ν is searched for, where it has one.
    fn machine(&self, method: Method) -> Machine {
        let nu = self.arguments.nu.as_deref().and_then(|nu| nu.parse().ok()).unwrap_or(0.5);
        match method {
            Method::Svr => Machine::Svr { c: 1.0, epsilon: self.arguments.epsilon.unwrap_or(0.1) },
            Method::NuSvr => Machine::NuSvr { c: 1.0, nu },
            Method::NuSvc => Machine::NuSvc { nu },
            Method::OneClass => Machine::OneClass { nu },
            _ => Machine::Svc { c: 1.0 },
        }
    }

    /// Searches, and trains the best learner where the search has no model of it.
    fn search(
        &self,
        learner: AnyLearner,
        problem: &Problem<'_>,
        criterion: args::Criterion,
        session: &Session<'_>,
    ) -> Result<Outcome, Failure> {
        let measure = match self.arguments.score {
            Some(Score::LogLoss) => Measure::LogLoss,
            Some(Score::Accuracy) => Measure::Wrong,
            None => Measure::of(&learner, &problem.targets),
        };
        let by = (criterion, measure);
        let Tuned { learner, score, trials, warnings, fitted } = match learner {
            AnyLearner::Smoother(smoother) => self.run(smoother, problem, by, session),
            AnyLearner::Knn(knn) => self.run(knn, problem, by, session),
            AnyLearner::Ridge(ridge) => self.run(ridge, problem, by, session),
            AnyLearner::Perceptron(perceptron) => self.run(perceptron, problem, by, session),
            AnyLearner::Svm(svm) => self.run(svm, problem, by, session),
            AnyLearner::Logistic(logistic) => {
                let tol = logistic.tol;
                let mut tuned = self.run(logistic.tol(TRIAL_TOL), problem, by, session)?;
                if let AnyLearner::Logistic(logistic) = &mut tuned.learner {
                    logistic.tol = tol;
                }
                Ok(tuned)
            }
            _ => Err(Failure::usage("lms has nothing to tune")),
        }?;
        let model = match fitted {
            Some(fitted) => fitted.model,
            None => learner.train(problem, session)?.model,
        };
        let rows = problem.nrows();
        let mut training = |trials: &[Option<&Trial>]| match (&learner, &problem.inputs) {
            (AnyLearner::Ridge(_), Inputs::Samples(_)) => {
                tune_picture::training_errors(trials, self, problem, session)
            }
            // On a stream they would take a fit for each trial that is drawn.
            _ => Ok(Vec::new()),
        };
        let mut figure = || tune_picture::figure(&trials, measure, criterion, rows, &mut training);
        let figure = if self.draw { Some(figure()?) } else { None };
        let (source, lines) = (self.arguments.data.display().to_string(), Vec::new());
        Ok(Outcome { model, score, trials, warnings, measure, criterion, source, rows, figure, lines })
    }

    /// Runs a search that resumes from the trials of `--checkpoint`, and keeps there what it tries.
    fn run<L: Tunable + Into<AnyLearner>>(
        &self,
        learner: L,
        problem: &Problem<'_>,
        (criterion, measure): (args::Criterion, Measure),
        session: &Session<'_>,
    ) -> Result<Tuned<AnyLearner>, Failure> {
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
        let (measure, shared) = (Some(measure), self.shared.clone());
        let tune = select::Tune { learner, criterion, measure, strategy, shared };
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

    /// Ridge regression with hyper-parameters to search.
    pub fn ridge(&self) -> Ridge {
        Ridge::new(self.kernel.clone())
            .intercept(self.arguments.bias.unwrap_or(Intercept::Centred))
            .admission(self.admission())
    }

    fn admission(&self) -> Admission {
        if self.arguments.assume_psd { Admission::Assume } else { Admission::Check }
    }
}

fn refuse_what_does_not_apply(arguments: &Tune) -> Result<(), Failure> {
    if let (Method::NuSvr | Method::OneClass, Some(nu)) = (arguments.method, &arguments.nu)
        && nu.parse::<f64>().is_err()
    {
        return Err(Failure::usage(format!("--nu is `{nu}`; of {} it must be a number", arguments.method)));
    }
    let ridge = arguments.method == Method::Ridge;
    let classifier = matches!(arguments.method, Method::Logistic | Method::Perceptron);
    let svc = matches!(
        arguments.method,
        Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass
    );
    let has_c = matches!(arguments.method, Method::Svc | Method::Svr | Method::NuSvr);
    let has_nu = matches!(arguments.method, Method::NuSvc | Method::NuSvr | Method::OneClass);
    if classifier && matches!(arguments.criterion, Some(args::Criterion::Loo | args::Criterion::Gcv)) {
        return Err(Failure::usage(
            "--criterion loo and gcv are for methods whose left-out errors follow from one fit; a classifier is judged by \
             folds or holdout",
        ));
    }
    let flags = [
        ("--lambda", arguments.lambda.is_some(), ridge || arguments.method == Method::Logistic),
        ("--bias", arguments.bias.is_some(), ridge),
        ("--approx", arguments.approx.is_some(), ridge),
        ("--C", arguments.c.is_some(), has_c),
        ("--nu", arguments.nu.is_some(), has_nu),
        ("--epsilon", arguments.epsilon.is_some(), arguments.method == Method::Svr),
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
        None => check_approximation(arguments),
    }
}

/// Refuses what does not go with an approximation, whatever the data is.
fn check_approximation(arguments: &Tune) -> Result<(), Failure> {
    match arguments.approx {
        Some(Approx::As(_)) => check_criterion(arguments)?,
        Some(Approx::Auto) => {}
        Some(Approx::Exact) | None => return Ok(()),
    }
    if arguments.bias == Some(Intercept::Column) {
        return Err(Failure::usage("--approx supports --bias centred and none only"));
    }
    Ok(())
}

fn check_criterion(arguments: &Tune) -> Result<(), Failure> {
    match arguments.criterion(true) {
        args::Criterion::Folds | args::Criterion::Holdout => Ok(()),
        args::Criterion::Loo | args::Criterion::Gcv => {
            Err(Failure::usage("--criterion loo and gcv need the kernel matrix, which --approx does without")
                .hint("use --folds 5 or --holdout 0.2"))
        }
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
