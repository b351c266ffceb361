//! The search for ridge regression on features that stand in for a kernel: a file in chunks, once for each kernel tried.

use mercer::data::{Chunks, TrainingChunks, for_each_chunk};
use mercer::design::Approximation;
use mercer::gram::SampleScales;
use mercer::kernel::Kernel;
use mercer::learn::search::{Axis, Measure};
use mercer::learn::{Bias, FoldSums, Origin, Stream};
use mercer::session::Session;
use mercer::watch::{Stopped, Watch};
use serde_json::Value;

use super::{Outcome, Searcher, picture};
use crate::approx::{self, Approx, Survey};
use crate::args::{Criterion, Tune};
use crate::failure::Failure;

/// Refuses what does not go with an approximation, whatever the data is.
pub fn check_text(arguments: &Tune) -> Result<(), Failure> {
    match arguments.approx {
        Some(Approx::As(_)) => check_criterion(arguments)?,
        Some(Approx::Auto) => {}
        Some(Approx::Exact) | None => return Ok(()),
    }
    if arguments.bias == Some(Bias::Column) {
        return Err(Failure::usage("--approx has --bias centred or none"));
    }
    Ok(())
}

fn check_criterion(arguments: &Tune) -> Result<(), Failure> {
    match arguments.criterion(true) {
        Criterion::Folds | Criterion::Holdout => Ok(()),
        Criterion::Loo | Criterion::Gcv => {
            Err(Failure::usage("--criterion loo and gcv need the kernel matrix, which --approx does without")
                .hint("use --folds 5 or --holdout 0.2"))
        }
    }
}

impl Searcher<'_> {
    /// The search in chunks; none where `auto` finds that no approximation is needed.
    pub(super) fn in_chunks(&self, draw: bool, session: &Session<'_>) -> Result<Option<Outcome>, Failure> {
        let arguments = self.arguments;
        let seed = arguments.common.seed;
        let mut chunks = approx::open(&arguments.data, &arguments.input, session)?;
        let schema = chunks.schema().clone();
        let survey = Survey::of(&mut chunks, arguments.input.scale, arguments.approx, seed, session)?;
        let typical = typical(&self.kernel, &session.scales(&survey.sample))?;
        let chosen = approx::choose(arguments.approx, &typical, &survey, session)?;
        let Some((approximation, why)) = chosen else { return Ok(None) };
        check_criterion(arguments)?;

        let criterion = arguments.criterion(true);
        let ridge = self.ridge().with_lift((self.kernel.clone(), approximation).into());
        let tune = self.tune(ridge, criterion);
        let names: Vec<String> = schema.targets.iter().map(|target| target.name.clone()).collect();
        let name = format!("{names:?} {:x} {:?}", survey.content, survey.scaling);
        let notes: Vec<String> = chunks.notes().into_iter().chain(survey.note(&schema)).collect();
        let origin = Origin { schema: Some(schema), outputs: names, scaling: survey.scaling.clone() };
        let stream = Stream {
            sample: &survey.sample,
            rows: survey.rows,
            targets: origin.outputs.len(),
            origin: &origin,
        };
        let mut failure = None;
        let pass = |sums: &mut FoldSums, session: &Session<'_>| {
            add_all(sums, &mut chunks, &survey, session).map_err(|error| {
                failure = Some(error);
                Stopped.into()
            })
        };
        let found = self.with_checkpoint(session, |session| {
            Ok(tune.run_in_passes(stream, &name, Box::new(pass), session)?)
        });
        let tuned = match (found, failure) {
            (Err(_), Some(failure)) => return Err(failure),
            (found, _) => found?,
        };
        let Some(fitted) = tuned.fitted else { return Err(Failure::work("the search has no model")) };
        let fact = |name: &str| fitted.facts.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let lines = approx::lines(
            (fact("kernel_error"), fact("effective_dimension")),
            &[],
            approximation,
            &origin.outputs,
            why,
        );
        let rows = survey.rows as usize;
        let (measure, trials) = (Measure::SquaredError, tuned.trials);
        let figure = if draw {
            // Errors on training rows would take a fit for each trial that is drawn.
            Some(picture::figure(&trials, measure, criterion, rows, &mut |_| Ok(Vec::new()))?)
        } else {
            None
        };
        Ok(Some(Outcome {
            model: fitted.model,
            score: tuned.score,
            trials,
            warnings: tuned.warnings,
            criterion,
            source: arguments.data.display().to_string(),
            rows,
            figure,
            lines: lines.into_iter().chain(notes.into_iter().map(|note| ("", note))).collect(),
        }))
    }
}

/// Adds every row of the file.
fn add_all(
    sums: &mut FoldSums,
    chunks: &mut TrainingChunks,
    survey: &Survey,
    session: &Session<'_>,
) -> Result<(), Failure> {
    let mut first = 0;
    chunks.rewind()?;
    for_each_chunk::<Failure>(chunks, |chunk| {
        session.check()?;
        let (rows, targets) = (chunk.nrows() as u64, approx::targets(&chunk));
        sums.add(first, &survey.scaling.apply(chunk.features)?, &targets, None, session)?;
        first += rows;
        session.note(&format!("{first} of {} rows", survey.rows));
        Ok(())
    })?;
    if first != survey.rows {
        return Err(Failure::work(format!(
            "the file had {} rows in the first pass and {first} in a later one: it was changed meanwhile",
            survey.rows
        )));
    }
    Ok(())
}

/// The kernel with each `auto` from the sample, and each `?` in the middle of what is searched.
fn typical(kernel: &Kernel, scales: &SampleScales<'_>) -> Result<Kernel, Failure> {
    let kernel = kernel.resolve_auto(scales)?;
    let middle = |space| {
        let values = Axis::new("", space).grid(1);
        values[values.len() / 2]
    };
    let values: Vec<f64> = kernel.tunables()?.iter().map(|t| middle(t.search_space(scales))).collect();
    Ok(kernel.with_values(&values)?)
}
