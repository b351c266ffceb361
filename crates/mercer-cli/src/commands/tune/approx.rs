//! The search for ridge regression on features that stand in for a kernel: a file in chunks, once for each kernel tried.

use mercer::data::Passes;
use mercer::design::Approximation;
use mercer::gram::SampleScales;
use mercer::kernel::Kernel;
use mercer::learn::{Intercept, LearnError, Lift, Problem, Ridge};
use mercer::select::{Axis, FoldSums, Stream, TuneApproxRidge, TunedApproxRidge};
use mercer::session::Session;
use mercer::watch::Watch;

use super::measure::Measure;
use super::{Outcome, Searcher, picture};
use crate::approx::{self, Approx};
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
        let lift = match arguments.approx {
            Some(Approx::As(approximation)) => (self.kernel.clone(), approximation).into(),
            _ => Lift::Auto(self.kernel.clone()),
        };
        let passes = approx::passes(&arguments.data, &arguments.input, &lift, 0.0, session)?;
        let (survey, problem) = (passes.survey(), Problem::stream(&passes));
        let (approximation, why) = match lift {
            Lift::Approximate { approx, .. } => (approx, None),
            _ => {
                let typical = typical(&self.kernel, &session.scales(&survey.sample))?;
                match Lift::Auto(typical).resolved(&problem, session)? {
                    (Lift::Approximate { approx, .. }, why) => (approx, why),
                    _ => return Ok(None),
                }
            }
        };
        check_criterion(arguments)?;

        let criterion = arguments.criterion(true);
        let tune = self.on_features(approximation, criterion);
        let names = &survey.targets;
        let stream = Stream {
            sample: &survey.sample,
            rows: survey.rows,
            targets: names.len(),
            name: &format!("{names:?} {:x} {:?}", survey.content, survey.scaling),
        };
        let pass = |sums: &mut FoldSums<'_>, session: &Session<'_>| add_all(sums, &passes, session);
        let TunedApproxRidge { tuned, fit } = self.with_checkpoint(|resume, on_trials| {
            Ok(tune.run_in_passes(stream, resume, on_trials, pass, session)?)
        })?;

        let ridge = Ridge::new((tuned.kernel.clone(), approximation))
            .lambda(tuned.lambda)
            .intercept(tune.bias)
            .admission(tune.admission);
        let mut quality = ridge.quality_of(&fit, &survey.sample, session)?;
        // Without rows held out of the last fit these would be errors on the rows it was trained on.
        quality.sizes.clear();
        let mut facts = quality.facts(names);
        facts.remove("sizes");
        let lines = approx::lines(&facts, approximation, why);
        let rows = survey.rows as usize;
        let (measure, trials) = (Measure::of(arguments, false), tuned.trials);
        let figure = if draw {
            // Errors on training rows would take a fit for each trial that is drawn.
            Some(picture::figure(&trials, measure, criterion, rows, &mut |_| Ok(Vec::new()))?)
        } else {
            None
        };
        let notes = approx::notes(&passes).into_iter().map(|note| ("", note));
        let model = ridge.fitted(&fit.prepared, &fit.solution, &problem, facts, session)?.model;
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
fn add_all(sums: &mut FoldSums<'_>, passes: &dyn Passes, session: &Session<'_>) -> Result<(), LearnError> {
    let rows = passes.survey().rows;
    passes.for_each(|chunk| {
        session.check()?;
        sums.add(chunk.first, &chunk.samples, &chunk.targets, None, session)?;
        session.note(&format!("{} of {rows} rows", chunk.first + chunk.samples.nrows() as u64));
        Ok(())
    })
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
