//! The search for ridge regression on features that stand in for a kernel: a file in chunks, once for each kernel tried.

use mercer::data::{Chunks, TrainingChunks, for_each_chunk};
use mercer::design::Approximation;
use mercer::gram::SampleScales;
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, Origin, Ridge};
use mercer::select::{Axis, FoldSums, Stream, TuneApproxRidge, TunedApproxRidge};
use mercer::session::Session;
use mercer::watch::Watch;

use super::measure::Measure;
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
    if arguments.bias == Some(Intercept::Column) {
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
        let tune = self.on_features(approximation, criterion);
        let names: Vec<String> = schema.targets.iter().map(|target| target.name.clone()).collect();
        let stream = Stream {
            sample: &survey.sample,
            rows: survey.rows,
            targets: names.len(),
            name: &format!("{names:?} {:x} {:?}", survey.content, survey.scaling),
        };
        let pass =
            |sums: &mut FoldSums<'_>, session: &Session<'_>| add_all(sums, &mut chunks, &survey, session);
        let TunedApproxRidge { tuned, fit } = self.with_checkpoint(|resume, on_trials| {
            tune.run_in_passes(stream, resume, on_trials, pass, session)
        })?;

        let ridge = Ridge::new((tuned.kernel.clone(), approximation))
            .lambda(tuned.lambda)
            .intercept(tune.bias)
            .admission(tune.admission);
        let mut quality = ridge.quality_of(&fit, &survey.sample, session)?;
        // Without rows held out of the last fit these would be errors on the rows it was trained on.
        quality.sizes.clear();
        let lines = approx::lines(&quality, approximation, &names, why);
        let mut facts = quality.facts(&names);
        facts.remove("sizes");
        let rows = survey.rows as usize;
        let (measure, trials) = (Measure::of(arguments, false), tuned.trials);
        let figure = if draw {
            // Errors on training rows would take a fit for each trial that is drawn.
            Some(picture::figure(&trials, measure, criterion, rows, &mut |_| Ok(Vec::new()))?)
        } else {
            None
        };
        let notes = chunks.notes().into_iter().chain(survey.note(&schema)).map(|note| ("", note));
        let origin = Origin { schema: Some(schema.clone()), outputs: names, scaling: survey.scaling.clone() };
        let origin = (survey.rows, origin);
        let model = ridge.fitted(&fit.prepared, &fit.solution, origin, facts, session)?.model;
        Ok(Some(Outcome {
            model,
            score: tuned.score,
            trials,
            warnings: tuned.warnings,
            criterion,
            source: arguments.data.display().to_string(),
            rows,
            figure,
            lines: lines.into_iter().chain(notes).collect(),
        }))
    }

    fn on_features(&self, approximation: Approximation, criterion: Criterion) -> TuneApproxRidge {
        let exact = self.ridge();
        TuneApproxRidge {
            lambda: exact.lambda,
            bias: exact.bias,
            criterion: self.judged_by(criterion),
            strategy: exact.strategy,
            admission: exact.admission,
            ..TuneApproxRidge::new(exact.kernel, approximation)
        }
    }
}

/// Adds every row of the file.
fn add_all(
    sums: &mut FoldSums<'_>,
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
        let values = Axis { name: String::new(), space }.grid(1);
        values[values.len() / 2]
    };
    let values: Vec<f64> = kernel.tunables()?.iter().map(|t| middle(t.search_space(scales))).collect();
    Ok(kernel.with_values(&values)?)
}
