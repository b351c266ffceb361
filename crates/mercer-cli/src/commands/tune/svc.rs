//! The search for support vector classification.

use mercer::data::{AnySamples, Matrix};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{Admission, Problem, Targets};
use mercer::select::{TuneSvc, TunedSvc, stratify_folds};
use mercer::session::Session;

use super::{Found, Searcher};
use crate::failure::Failure;
use crate::learner::codes_of;
use crate::learner::svm::SvmLearner;

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
    let check = if arguments.assume_psd { Admission::Assume } else { Admission::Check };
    let tune = TuneSvc {
        c: c.map_err(|error| Failure::usage(format!("--C: {error}")))?,
        strategy: searcher.strategy(),
        svm: Svm::new(searcher.kernel.clone(), Machine::Svc { c: 1.0 }).admission(check),
    };
    let codes = codes_of(targets);
    let folds = stratify_folds(&codes, arguments.folds(), Some(seed))
        .map_err(|error| Failure::usage(format!("--folds: {error}")))?;
    let problem = Problem::new(samples.view(), Targets::codes(codes, targets.ncols()));
    let tuned = searcher
        .with_checkpoint(|resume, on_trials| Ok(tune.run(&problem, &folds, resume, on_trials, session)?))?;
    let TunedSvc { svm, accuracy, trials, warnings } = tuned;
    let learner = Box::new(SvmLearner::of(svm, seed));
    Ok(Found { learner, score: 1.0 - accuracy, trials, warnings })
}
