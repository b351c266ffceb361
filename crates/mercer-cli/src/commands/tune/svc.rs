//! The search for support vector classification.

use mercer::data::{AnySamples, Matrix};
use mercer::learn::Admission;
use mercer::select::{TuneSvc, TunedSvc, stratify_folds};
use mercer::session::Session;

use super::{Found, Searcher};
use crate::failure::Failure;
use crate::learner::codes_of;
use crate::learner::svm::{Machine, SvmLearner};

/// Searches over C and the kernel, judged on stratified folds of one-hot targets.
pub fn search(
    searcher: &Searcher<'_>,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    session: &Session<'_>,
) -> Result<Found, Failure> {
    let arguments = searcher.arguments;
    let seed = arguments.common.seed;
    let c = arguments.c.as_deref().unwrap_or("?").parse();
    let tune = TuneSvc {
        c: c.map_err(|error| Failure::usage(format!("--C: {error}")))?,
        strategy: searcher.strategy(),
        admission: if arguments.assume_psd { Admission::Assume } else { Admission::Check },
        ..TuneSvc::new(searcher.kernel.clone())
    };
    let (codes, classes) = (codes_of(targets), targets.ncols());
    let folds = stratify_folds(&codes, arguments.folds(), Some(seed))
        .map_err(|error| Failure::usage(format!("--folds: {error}")))?;
    let tuned = searcher.with_checkpoint(|resume, on_trials| {
        Ok(tune.run(samples, &codes, classes, &folds, None, resume, on_trials, session)?)
    })?;
    let TunedSvc { kernel, c, accuracy, trials, warnings } = tuned;
    let learner = SvmLearner::of(kernel, Machine::Svc { c }, seed).admitting(tune.admission);
    Ok(Found { learner: Box::new(learner), score: 1.0 - accuracy, trials, warnings })
}
