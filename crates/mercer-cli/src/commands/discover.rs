//! `mercer discover`.

use std::time::Instant;

use mercer::data::{self, Matrix, Samples, Scaling};
use mercer::learn::{AnyLearner, Fitted, Gp, Problem, Targets};
use mercer::model::{Errors, Expansion, Method, Predictor, Score};
use mercer::pool;
use mercer::select::discover::{Base, Discover as Search, Discovered, Formula, Units};
use mercer::session::Session;
use mercer::solve::Report;
use mercer::watch::Unwatched;
use serde::Serialize;

use crate::args::Discover;
use crate::commands::plot::{format_of, rendered};
use crate::describe;
use crate::failure::Failure;
use crate::input::{self, Rows};
use crate::output;
use crate::plot::{Component, Components};
use crate::progress::{self, Progress};
use crate::score;

/// Places along the curve of a part.
const CURVE: usize = 301;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    data: String,
    rows: usize,
    features: usize,
    /// The number of formulas tried, and of rows on which they were compared.
    tried: usize,
    compared_on: usize,
    ended_early: bool,
    ladder: Vec<Step>,
    kernel: String,
    words: Vec<String>,
    holdout: Option<Vec<Errors>>,
    log_likelihood: f64,
    seconds: f64,
    model: String,
}

/// A formula on the way to the best one.
#[derive(Debug, Serialize)]
struct Step {
    formula: String,
    score: f64,
    log_likelihood: f64,
}

/// The result.
struct Outcome {
    rows: Rows,
    found: Discovered,
    fitted: Fitted,
    words: Vec<String>,
    holdout: Option<Vec<Errors>>,
}

/// Searches, fits, saves and explains.
pub fn run(arguments: &Discover) -> Result<(), Failure> {
    progress::listen();
    let began = Instant::now();
    output::check_output(&arguments.output, &[&arguments.data])?;
    let format = arguments.plot.as_deref().map(format_of).transpose()?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(arguments.memory, &watch)?;
    let outcome = pool::with(arguments.common.threads(), || search(arguments, &session));
    watch.finish();
    let Outcome { rows, found, fitted, words, holdout } = outcome?;
    progress::check_device()?;
    fitted.model.save(&arguments.output)?;
    if let (Some(path), Some(format)) = (&arguments.plot, format) {
        let session = session.with_watch(&Unwatched);
        let figure = components(&fitted, &found.winner().formula, &rows, &words, &session)?;
        match figure {
            Some(figure) => {
                let bytes = rendered(&figure, format, false, 1.0)?;
                data::write_atomically(path, |file| file.write_all(&bytes))?;
            }
            None => output::warn("no term of the formula uses a single column, so nothing is drawn"),
        }
    }
    let columns = rows.dataset.features.ncols();
    let report = fitted.report.as_ref();
    report.into_iter().flat_map(Report::remarks).for_each(|warning| output::warn(warning));
    let document = Document {
        data: rows.dataset.source.clone(),
        rows: rows.dataset.nrows(),
        features: columns,
        tried: found.tried,
        compared_on: found.rows,
        ended_early: found.ended_early,
        ladder: found
            .ladder
            .iter()
            .map(|rung| Step {
                formula: rung.formula.text(columns),
                score: rung.score,
                log_likelihood: rung.log_likelihood,
            })
            .collect(),
        kernel: fitted.model.predictor.kernel().map(ToString::to_string).unwrap_or_default(),
        words,
        holdout,
        log_likelihood: fitted.facts.number("log_likelihood").unwrap_or(f64::NAN),
        seconds: began.elapsed().as_secs_f64(),
        model: arguments.output.display().to_string(),
    };
    output::report(&arguments.common, &document, &lines(&document, &fitted, &rows))
}

fn search(arguments: &Discover, session: &Session<'_>) -> Result<Outcome, Failure> {
    let gp = Gp::default().variance(!arguments.no_variance);
    let read = input::read(Method::Gp, &arguments.data, &arguments.input.read_options())?;
    let learner = AnyLearner::from(gp.clone());
    let rows = Rows::new(read, &learner, arguments.input.scale)?;
    if rows.outputs().len() > 1 {
        return Err(Failure::usage("discover explains one target; give one --target"));
    }
    let search = Search::default().candidates(arguments.candidates).seconds(arguments.seconds).gp(gp);
    let split = rows.split(arguments.holdout, session)?;
    let (problem, _) = rows.part(split.as_ref().map(|split| &split.train[..]))?;
    let found = search.run(&problem, session)?;
    let words = in_words(&found, &problem, &rows)?;
    drop(problem);
    let Some(split) = split else {
        let fitted = found.fitted.clone();
        return Ok(Outcome { rows, found, fitted, words, holdout: None });
    };
    let model = &found.fitted.model;
    let held_out = rows.dataset.features.select(&split.held_out);
    // Ctrl-C ends the search but keeps its result.
    let unwatched = session.with_watch(&Unwatched);
    let outputs = model.predict(&held_out, &unwatched)?;
    let mut score = Score::of(model);
    if let Targets::Numbers(numbers) = rows.targets_of() {
        let truth = numbers.select(&split.held_out);
        score.add_numbers(&truth, &outputs);
        if matches!(&model.predictor, Predictor::GaussianProcess(process) if process.has_variance()) {
            score.add_deviations(&truth, &outputs, &model.deviations(&held_out, &unwatched)?);
        }
    }
    let holdout = Some(score.errors(rows.outputs()));
    // The formula was found without the held-out rows; its numbers are learnt again with them.
    let (problem, _) = rows.part(None)?;
    let fitted = search.refit(&found, &problem, session)?;
    drop(problem);
    Ok(Outcome { rows, found, fitted, words, holdout })
}

/// The unit of each scaled column in units of the column.
fn unit_sizes(scaling: &Scaling, columns: usize) -> Vec<f64> {
    match scaling {
        Scaling::Standard { scales, .. } => scales.clone(),
        Scaling::MinMax { ranges, .. } => ranges.clone(),
        Scaling::None => vec![1.0; columns],
    }
}

fn in_words(found: &Discovered, problem: &Problem<'_>, rows: &Rows) -> Result<Vec<String>, Failure> {
    let samples = problem.samples()?;
    let columns = samples.ncols();
    let mut row = vec![0.0; columns];
    let mut values = vec![Vec::with_capacity(samples.nrows()); columns];
    for i in 0..samples.nrows() {
        samples.copy_row(i, &mut row);
        values.iter_mut().zip(&row).for_each(|(values, value)| values.push(*value));
    }
    let (mut spans, mut gaps) = (Vec::new(), Vec::new());
    for mut values in values {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let span = values.last().zip(values.first()).map_or(0.0, |(high, low)| high - low);
        spans.push(span);
        gaps.push(span / values.len().saturating_sub(1).max(1) as f64);
    }
    let scaling = &problem.origin.scaling;
    let units = Units {
        names: rows.dataset.feature_names.clone(),
        sizes: unit_sizes(scaling, columns),
        spans,
        gaps,
        zero: match scaling {
            Scaling::Standard { .. } => "its mean",
            Scaling::MinMax { .. } => "its least value",
            Scaling::None => "0",
        },
    };
    let mut words = found.winner().formula.words(&found.values, &units)?;
    words.push("noise".to_owned());
    Ok(words)
}

/// The parts of the formula that use one column, as curves over it.
fn components(
    fitted: &Fitted,
    formula: &Formula,
    rows: &Rows,
    words: &[String],
    session: &Session<'_>,
) -> Result<Option<crate::plot::Figure>, Failure> {
    let Predictor::GaussianProcess(process) = &fitted.model.predictor else { return Ok(None) };
    let (names, samples) = (&rows.dataset.feature_names, &rows.dataset.features);
    let columns = samples.ncols();
    let mut curves = Vec::new();
    let parts = formula.components(&process.mean.kernel);
    for ((term, kernel), name) in formula.terms.iter().zip(parts).zip(words) {
        let Some(column) = only_column(term, columns) else { continue };
        let mut values = vec![0.0; samples.nrows()];
        let mut row = vec![0.0; columns];
        for (i, value) in values.iter_mut().enumerate() {
            samples.copy_row(i, &mut row);
            *value = row[column];
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let places: Vec<f64> =
            (0..CURVE).map(|k| low + (high - low) * k as f64 / (CURVE - 1) as f64).collect();
        // The other columns do not matter to this part.
        let mut entries = vec![0.0; CURVE * columns];
        places.iter().enumerate().for_each(|(k, place)| entries[k * columns + column] = *place);
        let points = Samples::dense(CURVE, columns, entries).map_err(Failure::work)?;
        let scaled = fitted.model.scaling.apply(points.into())?;
        let part = Expansion { kernel, domain: None, intercepts: vec![0.0], ..process.mean.clone() };
        let at: Matrix<f64> = part.predict(&scaled, session)?;
        curves.push(Component {
            name: name.clone(),
            x_label: format!("{}: {name}", names[column]),
            places,
            values: at.into_entries(),
        });
    }
    if curves.is_empty() {
        return Ok(None);
    }
    let title = format!("The parts of {}", rows.outputs().join(", "));
    let figure = Components { title, subtitle: words.join(" + "), curves };
    Ok(Some(figure.figure()?))
}

/// The column of a term, if it uses only one.
fn only_column(term: &[Base], columns: usize) -> Option<usize> {
    let of = |base: &Base| if columns == 1 { Some(0) } else { base.column };
    let first = of(term.first()?)?;
    term.iter().all(|base| of(base) == Some(first)).then_some(first)
}

fn lines(document: &Document, fitted: &Fitted, rows: &Rows) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        (
            "data",
            format!(
                "{}: {}, {}",
                document.data,
                output::counted(document.rows, "row"),
                output::counted(document.features, "feature")
            ),
        ),
        (
            "search",
            format!(
                "{} compared on {}{}",
                output::counted(document.tried, "formula"),
                output::counted(document.compared_on, "row"),
                if document.ended_early { "; ended early, the best so far is kept" } else { "" }
            ),
        ),
    ];
    let labels = std::iter::once("ladder").chain(std::iter::repeat(""));
    for (label, step) in labels.zip(&document.ladder) {
        lines.push((label, format!("{:>10.2}  {}", step.score, step.formula)));
    }
    lines.push(("kernel", document.kernel.clone()));
    lines.push((
        "in words",
        format!("{}, plus {}", head(&document.words), document.words.last().map_or("", String::as_str)),
    ));
    lines.extend(describe::learnt(&fitted.facts, &rows.dataset.feature_names, "normalised targets"));
    for errors in document.holdout.iter().flatten() {
        lines.push(("held out", score::line(errors)));
    }
    lines.push(("model", format!("{}, {:.1} s", document.model, document.seconds)));
    lines
}

/// All parts except the noise.
fn head(words: &[String]) -> String {
    words[..words.len().saturating_sub(1)].join(", plus ")
}
