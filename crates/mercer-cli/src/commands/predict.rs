//! `mercer predict`.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use mercer::data::{self, Dataset, Matrix};
use mercer::model::{Errors, GaussianProcess, Link, Method, Model, Predictor, Score, pairs_of};
use mercer::pool;
use mercer::session::Session;
use mercer::watch::Watch;
use serde::Serialize;

use crate::args::Predict;
use crate::describe;
use crate::device;
use crate::failure::Failure;
use crate::input;
use crate::output;
use crate::progress::{self, Progress};
use crate::score;

/// Rows read, predicted and written at a time.
const CHUNK: usize = 8_192;

/// The most of them on a device with its own memory, which is idle with few rows, and the most numbers.
const ON_DEVICE: (usize, usize) = (1 << 18, 1 << 26);

/// The rows of a chunk with this many columns.
fn chunk(columns: usize, on_device: bool) -> usize {
    let (rows, numbers) = ON_DEVICE;
    if on_device { (numbers / columns.max(1)).clamp(CHUNK, rows) } else { CHUNK }
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    model: String,
    data: String,
    output: Option<String>,
    device: String,
    rows: usize,
    score: Option<Vec<Errors>>,
    seconds: f64,
}

/// Predicts chunk by chunk.
pub fn run(arguments: &Predict) -> Result<(), Failure> {
    if arguments.common.json && arguments.output.is_none() {
        return Err(Failure::usage(
            "--json prints to standard output; write the predictions to a file with -o OUT.csv",
        ));
    }
    if let Some(path) = &arguments.output {
        output::check_output(path, &[&arguments.model, &arguments.data])?;
    }
    progress::listen();
    let began = Instant::now();
    let model = Model::load(&arguments.model)?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(None, &watch)?;
    let threads = arguments.common.threads();
    let mut run = Run {
        model: &model,
        threads,
        session: &session,
        rows: 0,
        clipped: 0,
        extra: Extra::of(arguments, &model)?,
        spread: Spread::of(arguments, &model)?,
        score: Score::of(&model),
    };
    match &arguments.output {
        Some(path) => {
            let mut failure = None;
            let written = data::write_atomically(path, |file| {
                run.write(&arguments.data, file).map_err(|error| {
                    failure = Some(error);
                    io::Error::other("not finished")
                })
            });
            match (failure, written) {
                (Some(failure), _) => return Err(failure),
                (None, Err(error)) => return Err(error.into()),
                (None, Ok(())) => {}
            }
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            run.write(&arguments.data, &mut out)?;
            out.flush().map_err(|error| Failure::stdout(&error))?;
        }
    }
    watch.finish();
    if let Some(note) = input::clipped(run.clipped, "row") {
        output::note(&arguments.common, &note);
    }
    let document = Document {
        model: arguments.model.display().to_string(),
        data: arguments.data.display().to_string(),
        output: arguments.output.as_ref().map(|path| path.display().to_string()),
        device: device::describe(),
        rows: run.rows,
        score: run.errors(),
        seconds: began.elapsed().as_secs_f64(),
    };
    tell(arguments, &model, &document)
}

/// If predictions go to standard output, the score goes to standard error.
fn tell(arguments: &Predict, model: &Model, document: &Document) -> Result<(), Failure> {
    let mut lines = Vec::new();
    if arguments.common.verbose {
        lines.push(("device", document.device.clone()));
        lines.push(("model", model.method.to_string()));
        lines.extend(describe::lines(&model.predictor, &model.column_names()));
        lines.extend(model.predictor.rows().map(|rows| ("rows kept", rows.nrows().to_string())));
    }
    document.score.iter().flatten().filter_map(score::warning).for_each(|warning| output::warn(&warning));
    for errors in document.score.iter().flatten() {
        lines.push(("score", format!("{}: {}", errors.target(), score::line(errors))));
        // Tables are not printed together with predictions on standard output.
        if document.output.is_some() {
            lines.extend(score::tables(errors));
        }
    }
    match &document.output {
        Some(path) => {
            lines.push((
                "wrote",
                format!("{path}: {}, {:.2} s", data::counted(document.rows, "row"), document.seconds),
            ));
            output::report(&arguments.common, document, &lines)
        }
        None => {
            lines
                .iter()
                .for_each(|(label, text)| output::note(&arguments.common, &format!("{label}: {text}")));
            Ok(())
        }
    }
}

struct Run<'a> {
    model: &'a Model,
    threads: Option<usize>,
    session: &'a Session<'a>,
    rows: usize,
    /// Rows that were clipped.
    clipped: usize,
    extra: Extra,
    spread: Spread,
    score: Score<'a>,
}

/// The columns written for the distribution of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    /// The standard deviation.
    deviation: bool,
    /// The ends of an interval, in standard deviations from the mean.
    half_width: Option<f64>,
}

impl Spread {
    fn of(arguments: &Predict, model: &Model) -> Result<Self, Failure> {
        let spread = Self {
            deviation: arguments.std,
            half_width: arguments.interval.map(GaussianProcess::half_width),
        };
        let path = arguments.model.display();
        match &model.predictor {
            Predictor::GaussianProcess(process) if process.has_variance() && model.classes.is_none() => {
                Ok(spread)
            }
            _ if !spread.is_asked() => Ok(spread),
            Predictor::GaussianProcess(_) if model.classes.is_none() => Err(Failure::usage(format!(
                "{path} was fitted with --no-variance, so it has no standard deviations"
            ))
            .hint("fit it again without --no-variance")),
            Predictor::GaussianClasses(_) => Err(Failure::usage(format!(
                "{path} predicts classes: --std and --interval are for predicted numbers"
            ))
            .hint("--proba writes the probability of each class")),
            _ => {
                let wrong = format!("{path} is a {} model, which has no standard deviations", model.method);
                Err(Failure::usage(wrong).hint("fit numbers with `mercer fit gp` for --std and --interval"))
            }
        }
    }

    fn is_asked(self) -> bool {
        self.deviation || self.half_width.is_some()
    }

    /// The names of the columns of one output.
    fn names(self, output: &str) -> Vec<String> {
        let mut names = Vec::new();
        if self.deviation {
            names.push(format!("std{output}"));
        }
        if self.half_width.is_some() {
            names.extend([format!("lower{output}"), format!("upper{output}")]);
        }
        names
    }

    /// The columns of one output.
    fn numbers(self, mean: f64, deviation: f64) -> Vec<f64> {
        let mut numbers = Vec::new();
        if self.deviation {
            numbers.push(deviation);
        }
        if let Some(half_width) = self.half_width {
            numbers.extend([mean - half_width * deviation, mean + half_width * deviation]);
        }
        numbers
    }
}

/// The columns written before the prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extra {
    Nothing,
    Probabilities,
    Decisions,
}

impl Extra {
    fn of(arguments: &Predict, model: &Model) -> Result<Self, Failure> {
        let path = arguments.model.display();
        let asked = match (arguments.proba, arguments.decision) {
            (true, _) => Self::Probabilities,
            (_, true) => Self::Decisions,
            _ => return Ok(Self::Nothing),
        };
        if model.classes.is_none() {
            let flag = if asked == Self::Probabilities { "--proba" } else { "--decision" };
            return Err(Failure::usage(format!("{flag} is for classifiers, but {path} predicts numbers")));
        }
        let silent = matches!(model.link(), Link::Decisions | Link::Votes) && model.calibration.is_none();
        if asked == Self::Probabilities && silent {
            let wrong = format!("{path} is a {} model, which has no probabilities", model.method);
            return Err(Failure::usage(wrong).hint(match model.method {
                Method::Svc | Method::NuSvc | Method::OneClass => {
                    format!("use --decision, or `fit {} --probability`", model.method)
                }
                _ => "use --decision, or fit logistic".to_owned(),
            }));
        }
        Ok(asked)
    }
}

impl Run<'_> {
    fn write(&mut self, data: &Path, out: &mut dyn Write) -> Result<(), Failure> {
        let written = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::stdout(&error),
            _ => Failure::work(format!("cannot write the predictions: {error}")),
        };
        let schema = self.model.schema_or_positional();
        let mut header = Some(self.header());
        let rows = chunk(schema.nfeatures(), self.session.engine().memory().is_some());
        for chunk in data::chunks(data, &schema, rows)? {
            let chunk = chunk?;
            self.session.check()?;
            let predictions = pool::with(self.threads, || self.model.predict(&chunk.features, self.session))?;
            let has_spread = matches!(&self.model.predictor, Predictor::GaussianProcess(process)
                if process.has_variance() && self.model.classes.is_none());
            // The score includes the quality of the distributions, if the data has the target.
            let wanted = has_spread && (self.spread.is_asked() || !chunk.targets.is_empty());
            let deviations = match wanted {
                true => {
                    Some(pool::with(self.threads, || self.model.deviations(&chunk.features, self.session))?)
                }
                false => None,
            };
            progress::check_device()?;
            self.score(&chunk, &predictions, deviations.as_ref());
            self.rows += chunk.nrows();
            self.clipped += self.model.clipped_rows(&chunk.features)?;
            let shares = match self.extra {
                Extra::Probabilities => self.model.probabilities(&predictions),
                Extra::Nothing | Extra::Decisions => None,
            };
            if let Some(header) = header.take() {
                writeln!(out, "{header}").map_err(written)?;
            }
            for i in 0..predictions.nrows() {
                let shares = shares.as_ref().map(|shares| shares.row(i));
                let deviations = deviations.as_ref().map(|deviations| deviations.row(i));
                writeln!(out, "{}", self.line(predictions.row(i), shares, deviations)).map_err(written)?;
            }
        }
        Ok(())
    }

    fn header(&self) -> String {
        let mut names = Vec::new();
        if let Some(classes) = &self.model.classes {
            let each = (0..classes.len()).map(|code| classes.name(code));
            match (self.extra, self.model.predictor.noutputs()) {
                (Extra::Nothing, _) => {}
                (Extra::Probabilities, _) => names.extend(each.map(|name| format!("p_{name}"))),
                (Extra::Decisions, 1) => names.push("decision".into()),
                (Extra::Decisions, _) if self.model.link() == Link::Votes => {
                    let each: Vec<String> = each.collect();
                    let pair = |(i, j): (usize, usize)| format!("decision_{}_vs_{}", each[i], each[j]);
                    names.extend(pairs_of(each.len()).map(pair));
                }
                (Extra::Decisions, _) => names.extend(each.map(|name| format!("decision_{name}"))),
            }
        }
        match self.model.outputs.as_slice() {
            [_] => {
                names.extend(self.spread.names(""));
                names.push("prediction".into());
            }
            several => {
                names.extend(several.iter().flat_map(|name| self.spread.names(&format!("_{name}"))));
                names.extend(several.iter().map(|name| format!("prediction_{name}")));
            }
        }
        names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")
    }

    /// One row of the answer.
    fn line(&self, outputs: &[f64], shares: Option<&[f64]>, deviations: Option<&[f64]>) -> String {
        let texts = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<String>>();
        let fields = match &self.model.classes {
            None => {
                let each = outputs.iter().zip(deviations.unwrap_or_default());
                let spread: Vec<f64> =
                    each.flat_map(|(mean, deviation)| self.spread.numbers(*mean, *deviation)).collect();
                texts(&spread).into_iter().chain(texts(outputs)).collect()
            }
            Some(classes) => {
                let mut fields = match self.extra {
                    Extra::Nothing => Vec::new(),
                    Extra::Probabilities => texts(shares.unwrap_or_default()),
                    // A pair's decision is positive for the first of two classes; a single decision is written for the
                    // second.
                    Extra::Decisions if outputs.len() == 1 && self.model.link() == Link::Votes => {
                        texts(&[0.0 - outputs[0]])
                    }
                    Extra::Decisions => texts(outputs),
                };
                fields.push(quoted(&classes.name(self.model.link().class(outputs))));
                fields
            }
        };
        fields.join(",")
    }

    fn score(&mut self, chunk: &Dataset, predictions: &Matrix<f64>, deviations: Option<&Matrix<f64>>) {
        if let Some(classes) = &self.model.classes {
            let target = chunk.targets.iter().find(|target| self.model.outputs.contains(&target.name));
            if let Some(target) = target {
                let rows = 0..predictions.nrows();
                self.score.add_classes(rows.map(|row| classes.find(&target.values, row)), predictions);
            }
            return;
        }
        let mut truth = Matrix::from_entries(
            predictions.nrows(),
            predictions.ncols(),
            vec![f64::NAN; predictions.nrows() * predictions.ncols()],
        );
        for (column, name) in self.model.outputs.iter().enumerate() {
            let target = chunk.targets.iter().find(|target| target.name == *name);
            if let Some(values) = target.and_then(|target| target.values.numbers()) {
                values.iter().enumerate().for_each(|(row, value)| truth.row_mut(row)[column] = *value);
            }
        }
        self.score.add_numbers(&truth, predictions);
        if let Some(deviations) = deviations {
            self.score.add_deviations(&truth, predictions, deviations);
        }
    }

    fn errors(&self) -> Option<Vec<Errors>> {
        let errors = self.score.errors(&self.model.outputs);
        (!errors.is_empty()).then_some(errors)
    }
}

/// A CSV field, quoted if necessary.
pub(super) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_for_a_device_are_large_and_bounded() {
        assert_eq!(chunk(10, false), CHUNK);
        assert_eq!(chunk(10, true), 1 << 18);
        assert_eq!(chunk(1_000, true), (1 << 26) / 1_000);
        assert_eq!(chunk(1 << 20, true), CHUNK);
        assert_eq!(chunk(0, true), 1 << 18);
    }
}
