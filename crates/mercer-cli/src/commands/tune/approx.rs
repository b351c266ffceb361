//! The search for ridge regression on features that stand in for a kernel: a file in chunks, once for each kernel tried.

use mercer::data::Passes;
use mercer::gram::SampleScales;
use mercer::kernel::Kernel;
use mercer::learn::search::{Axis, Measure};
use mercer::learn::{Intercept, Lift, Problem};
use mercer::session::Session;

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
        let ridge = self.ridge().lift((self.kernel.clone(), approximation).into());
        let tune = self.tune(ridge, criterion);
        let tuned = self.with_checkpoint(session, |session| Ok(tune.run(&problem, session)?))?;
        let Some(fitted) = tuned.fitted else { return Err(Failure::work("the search has no model")) };
        let lines = approx::lines(&fitted.facts, approximation, why);
        let rows = survey.rows as usize;
        let (measure, trials) = (Measure::SquaredError, tuned.trials);
        let figure = if draw {
            // Errors on training rows would take a fit for each trial that is drawn.
            Some(picture::figure(&trials, measure, criterion, rows, &mut |_| Ok(Vec::new()))?)
        } else {
            None
        };
        let notes = approx::notes(&passes).into_iter().map(|note| ("", note));
        Ok(Some(Outcome {
            model: fitted.model,
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
