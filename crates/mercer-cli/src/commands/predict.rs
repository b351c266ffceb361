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
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let threads = arguments.common.threads();
    let mut run = Run {
        model: &model,
        threads,
        watch: &watch,
        rows: 0,
        scores: vec![Score::default(); model.outputs.len()],
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
        let (method, expansion) = (model.method, &model.expansion);
        lines.push((
            "model",
            format!("{method}, {}, {} centres", expansion.kernel, expansion.centres.nrows()),
        ));
    }
    for errors in document.score.iter().flatten() {
        lines.push(("score", format!("{}: {}", errors.target, errors.line())));
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
    scores: Vec<Score>,
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
                let row = predictions.row(i);
                for (place, value) in row.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(out, "{comma}{value}").map_err(written)?;
                }
                writeln!(out).map_err(written)?;
            }
        }
        Ok(())
    }

    fn header(&self) -> String {
        match self.model.outputs.as_slice() {
            [_] => "prediction".into(),
            several => {
                several.iter().map(|name| quoted(&format!("prediction_{name}"))).collect::<Vec<_>>().join(",")
            }
        }
    }

    fn score(&mut self, chunk: &Dataset, predictions: &Matrix<f64>) {
        for (column, name) in self.model.outputs.iter().enumerate() {
            let target = chunk.targets.iter().find(|target| target.name == *name);
            if let Some(TargetValues::Numbers(values)) = target.map(|target| &target.values) {
                values
                    .iter()
                    .enumerate()
                    .for_each(|(i, y)| self.scores[column].add(*y, predictions.row(i)[column]));
            }
        }
    }

    fn errors(&self) -> Option<Vec<Errors>> {
        let errors: Vec<_> = self
            .scores
            .iter()
            .zip(&self.model.outputs)
            .filter_map(|(score, name)| score.errors(name))
            .collect();
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
