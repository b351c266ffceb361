//! `mercer tune`.

mod approx;
mod checkpoint;
mod classifiers;
mod measure;
mod picture;
mod svc;

use std::collections::BTreeMap;
use std::time::Instant;

use mercer::data::{self, AnySamples, Matrix, ScaleMethod, Scaling};
use mercer::gram::Metric;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Admission, Intercept, Knn, Logistic, Loss, Perceptron, Ridge, Smoother};
use mercer::model::{Model, Weights};
use mercer::pool;
use mercer::select::{
    Criterion, LambdaSpace, Strategy, Trial, Trials, TuneKnn, TuneRidge, TuneSmoother, Tuned, TunedKnn,
    TunedSmoother,
};
use mercer::session::Session;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{self, Method, Search, Tune};
use crate::commands::fit::model;
use crate::commands::plot;
use crate::describe;
use crate::failure::Failure;
use crate::learner::svm::SvmLearner;
use crate::learner::{Learner, Library};
use crate::output;
use crate::plot::Figure;
use crate::progress::{self, Progress};
use crate::training::{Goal, Trained, read_for_training};

use checkpoint::Checkpoint;
use measure::Measure;

/// The largest k that a bare `?` tries.
const MOST_NEIGHBOURS: usize = 50;

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
    let lambda: LambdaSpace =
        arguments.lambda.as_deref().unwrap_or("?").parse().map_err(|e| Failure::usage(format!("{e}")))?;
    let range = neighbours_range(arguments.k.as_deref())?;
    output::check_output(&arguments.output)?;
    let format = arguments.plot.as_deref().map(plot::format_of).transpose()?;
    let criterion = arguments.criterion(false);
    let searcher = Searcher { arguments, kernel, lambda, range, loss: Loss::Squared, criterion };
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
fn in_memory(mut searcher: Searcher<'_>, draw: bool, session: &Session<'_>) -> Result<Outcome, Failure> {
    let arguments = searcher.arguments;
    let (dataset, schema) =
        read_for_training(arguments.method, &arguments.data, &arguments.input.read_options())?;
    let stand_in = stand_in(arguments);
    let goal = Goal::of(&dataset, &*stand_in)?;
    let (scaling, _) =
        Scaling::fit(arguments.input.scale.unwrap_or(ScaleMethod::Standard), &dataset.features)?;
    let scaled = scaling.apply(dataset.features.view())?;
    if goal.classes.is_some() {
        searcher.loss = Loss::Misclassified;
    }
    let criterion = searcher.criterion;
    let measure = Measure::of(arguments, goal.classes.is_some());
    let (found, trained, figure) = pool::with(arguments.common.threads(), || {
        let mut found = searcher.search(&scaled, &goal.targets, session)?;
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
    let measure = Measure::of(arguments, model.classes.is_some());
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
    kernel: Kernel,
    lambda: LambdaSpace,
    range: (usize, usize),
    loss: Loss,
    /// Which rows a trial is judged by.
    criterion: args::Criterion,
}

impl Searcher<'_> {
    fn search(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<Found, Failure> {
        let seed = self.arguments.common.seed;
        match self.arguments.method {
            Method::Smoother => {
                let tune =
                    TuneSmoother { kernel: self.kernel.clone(), loss: self.loss, strategy: self.strategy() };
                let TunedSmoother { kernel, score, trials, warnings } =
                    tune.run(samples, targets, session)?;
                let learner = Library::boxed(Smoother::new(kernel), seed);
                Ok(Found { learner, score, trials, warnings })
            }
            Method::Knn => {
                let (weights, metric) = (Weights::Uniform, Metric::Euclidean);
                let tune = TuneKnn { range: self.range, weights, metric, loss: self.loss };
                let TunedKnn { k, score, trials, warnings } = tune.run(samples, targets, session)?;
                Ok(Found { learner: Library::boxed(Knn::new(k), seed), score, trials, warnings })
            }
            Method::Ridge | Method::Lms => self.search_ridge(samples, targets, session),
            Method::Perceptron | Method::Logistic => self.search_classifier(samples, targets, session),
            Method::Svc => svc::search(self, samples, targets, session),
            Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => Err(not_tuned(self.arguments)),
        }
    }

    fn search_ridge(
        &self,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<Found, Failure> {
        let tune = self.ridge();
        let tuned = self.with_checkpoint(|resume, on_trials| {
            Ok(tune.run(samples, targets, None, resume, on_trials, session)?)
        })?;
        let Tuned { kernel, lambda, score, trials, warnings } = tuned;
        let ridge = Ridge::new(kernel).lambda(lambda).intercept(tune.bias).admission(tune.admission);
        let learner = Library::boxed(ridge, self.arguments.common.seed);
        Ok(Found { learner, score, trials, warnings })
    }

    /// Runs a search that goes on from the trials of `--checkpoint`, and keeps there what it tries.
    fn with_checkpoint<T>(
        &self,
        search: impl FnOnce(Option<Trials>, &mut dyn FnMut(&Trials)) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut checkpoint = self.arguments.checkpoint.as_deref().map(Checkpoint::open).transpose()?;
        let resume = checkpoint.as_mut().and_then(Checkpoint::take);
        if let Some(trials) = &resume {
            output::note(&self.arguments.common, &format!("going on from {} trials", trials.rows.len()));
        }
        let mut failure = None;
        let mut on_trials = |trials: &Trials| {
            if let Some(checkpoint) = &checkpoint {
                failure = failure.take().or(checkpoint.keep(trials).err());
            }
        };
        let found = search(resume, &mut on_trials)?;
        failure.map_or(Ok(found), Err)
    }

    /// The search for ridge regression.
    fn ridge(&self) -> TuneRidge {
        TuneRidge {
            kernel: self.kernel.clone(),
            lambda: self.lambda.clone(),
            bias: self.arguments.bias.unwrap_or(Intercept::Centred),
            criterion: self.judged_by(self.criterion),
            strategy: self.strategy(),
            admission: if self.arguments.assume_psd { Admission::Assume } else { Admission::Check },
        }
    }

    fn judged_by(&self, criterion: args::Criterion) -> Criterion {
        let seed = self.arguments.common.seed;
        match criterion {
            args::Criterion::Loo => Criterion::LeaveOneOut,
            args::Criterion::Gcv => Criterion::Gcv,
            args::Criterion::Folds => Criterion::KFold { folds: self.arguments.folds(), seed },
            args::Criterion::Holdout => Criterion::HoldOut { fraction: self.arguments.holdout(), seed },
        }
    }

    fn strategy(&self) -> Option<Strategy> {
        match self.arguments.search {
            Search::Random => Some(Strategy::Random { trials: self.arguments.trials }),
            Search::Grid => self.arguments.points.map(|points| Strategy::Grid { points, refinements: 3 }),
        }
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

/// `N`, `?` or `?lo..hi` as the smallest and the largest k.
fn neighbours_range(text: Option<&str>) -> Result<(usize, usize), Failure> {
    let text = text.unwrap_or("?").trim();
    let wrong = || Failure::usage(format!("-k {text}: it is a whole number above 0, `?` or `?lo..hi`"));
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|k| *k > 0).ok_or_else(wrong);
    let Some(search) = text.strip_prefix('?') else {
        return number(text).map(|k| (k, k));
    };
    match search.split_once("..") {
        Some((low, high)) => Ok((number(low)?, number(high)?))
            .and_then(|(low, high)| if low <= high { Ok((low, high)) } else { Err(wrong()) }),
        None if search.trim().is_empty() => Ok((1, MOST_NEIGHBOURS)),
        None => Err(wrong()),
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
    let head = measure.head();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_k() {
        assert_eq!(neighbours_range(None).unwrap(), (1, MOST_NEIGHBOURS));
        assert_eq!(neighbours_range(Some("7")).unwrap(), (7, 7));
        assert_eq!(neighbours_range(Some("?2..9")).unwrap(), (2, 9));
        for bad in ["0", "?3..2", "?x", "1.5", "?0..3", ""] {
            assert!(neighbours_range(Some(bad)).is_err(), "{bad}");
        }
    }
}
