//! `mercer predict`.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use mercer::data::{self, Dataset, Matrix, TargetValues};
use mercer::model::Model;
use mercer::pool;
use mercer::watch::Watch;
use serde::Serialize;

use crate::args::Predict;
use crate::describe;
use crate::failure::Failure;
use crate::output;
use crate::progress::{self, Progress};
use crate::score::{Errors, Score};

/// Rows read, predicted and written at a time.
const CHUNK: usize = 8_192;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    model: String,
    data: String,
    output: Option<String>,
    rows: usize,
    score: Option<Vec<Errors>>,
    seconds: f64,
}

/// Predicts chunk by chunk.
pub fn run(arguments: &Predict) -> Result<(), Failure> {
    if arguments.common.json && arguments.output.is_none() {
        return Err(Failure::usage(
            "--json prints its document on standard output, so the predictions need -o OUT.csv",
        ));
    }
    progress::listen();
    let began = Instant::now();
    let model = Model::load(&arguments.model)?;
    if arguments.proba && model.classes.is_none() {
        return Err(Failure::usage(format!(
            "--proba is for classifiers, but {} predicts numbers",
            arguments.model.display()
        )));
    }
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let threads = arguments.common.threads();
    let mut run = Run {
        model: &model,
        threads,
        watch: &watch,
        rows: 0,
        proba: arguments.proba,
        score: Score::new(model.classes.as_ref(), model.outputs.len()),
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
    let document = Document {
        model: arguments.model.display().to_string(),
        data: arguments.data.display().to_string(),
        output: arguments.output.as_ref().map(|path| path.display().to_string()),
        rows: run.rows,
        score: run.errors(),
        seconds: began.elapsed().as_secs_f64(),
    };
    tell(arguments, &model, &document)
}

/// Predictions on standard output keep it to themselves: the score then goes to standard error.
fn tell(arguments: &Predict, model: &Model, document: &Document) -> Result<(), Failure> {
    let mut lines = Vec::new();
    if arguments.common.verbose {
        lines.push(("model", model.method.to_string()));
        lines.extend(describe::lines(&model.predictor));
        lines.extend(model.predictor.rows().map(|rows| ("rows kept", rows.nrows().to_string())));
    }
    for errors in document.score.iter().flatten() {
        lines.push(("score", format!("{}: {}", errors.target(), errors.line())));
    }
    match &document.output {
        Some(path) => {
            lines.push(("wrote", format!("{path}: {} rows, {:.2} s", document.rows, document.seconds)));
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
    watch: &'a Progress,
    rows: usize,
    proba: bool,
    score: Score,
}

impl Run<'_> {
    fn write(&mut self, data: &Path, out: &mut dyn Write) -> Result<(), Failure> {
        let written = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::stdout(&error),
            _ => Failure::work(format!("cannot write the predictions: {error}")),
        };
        let schema = self.model.schema_or_positional();
        writeln!(out, "{}", self.header()).map_err(written)?;
        for chunk in data::chunks(data, &schema, CHUNK)? {
            let chunk = chunk?;
            self.watch.check()?;
            let predictions = pool::with(self.threads, || self.model.predict(&chunk.features, self.watch))?;
            self.score(&chunk, &predictions);
            self.rows += chunk.nrows();
            for i in 0..predictions.nrows() {
                writeln!(out, "{}", self.line(predictions.row(i))).map_err(written)?;
            }
        }
        Ok(())
    }

    fn header(&self) -> String {
        let mut names = Vec::new();
        if let (Some(classes), true) = (&self.model.classes, self.proba) {
            names.extend((0..classes.len()).map(|code| format!("p_{}", classes.name(code))));
        }
        match self.model.outputs.as_slice() {
            [_] => names.push("prediction".into()),
            several => names.extend(several.iter().map(|name| format!("prediction_{name}"))),
        }
        names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")
    }

    /// One row of the answer.
    fn line(&self, outputs: &[f64]) -> String {
        let numbers = || outputs.iter().map(f64::to_string);
        let fields: Vec<String> = match &self.model.classes {
            None => numbers().collect(),
            Some(classes) => {
                let class = quoted(&classes.name(Model::class_of(outputs)));
                numbers().filter(|_| self.proba).chain([class]).collect()
            }
        };
        fields.join(",")
    }

    fn score(&mut self, chunk: &Dataset, predictions: &Matrix<f64>) {
        if let (Some(classes), Score::Classes(hits)) = (&self.model.classes, &mut self.score) {
            let target = chunk.targets.iter().find(|target| self.model.outputs.contains(&target.name));
            let Some(target) = target else { return };
            for row in 0..predictions.nrows() {
                match classes.find(&target.values, row) {
                    Ok(Some(code)) => hits.add(code, Model::class_of(predictions.row(row))),
                    Ok(None) => {}
                    Err(_) => hits.add_unseen(),
                }
            }
            return;
        }
        let column = |name: &String| {
            let target = chunk.targets.iter().find(|target| target.name == *name)?;
            match &target.values {
                TargetValues::Numbers(values) => Some(values),
                TargetValues::Labels(_) => None,
            }
        };
        let columns: Vec<_> = self.model.outputs.iter().map(column).collect();
        for row in 0..predictions.nrows() {
            let truth: Vec<f64> = columns.iter().map(|c| c.map_or(f64::NAN, |values| values[row])).collect();
            self.score.add(&truth, predictions.row(row));
        }
    }

    fn errors(&self) -> Option<Vec<Errors>> {
        let errors = self.score.errors(&self.model.outputs);
        (!errors.is_empty()).then_some(errors)
    }
}

/// A CSV field, quoted where it must be.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
