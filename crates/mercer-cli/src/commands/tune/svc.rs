//! The search for support vector classification.

use mercer::data::{AnySamples, Matrix};
use mercer::learn::Admission;
use mercer::model::Link;
use mercer::select::{Trials, TuneSvc, TunedSvc, stratify_folds};
use mercer::watch::Watch;

use super::checkpoint::Checkpoint;
use super::{Found, Searcher};
use crate::failure::Failure;
use crate::learner::svm::{Machine, SvmLearner};
use crate::output;

/// Searches over C and the kernel, judged on stratified folds of one-hot targets.
pub fn search(
    searcher: &Searcher<'_>,
    samples: &AnySamples<'_>,
    targets: &Matrix<f64>,
    watch: &dyn Watch,
) -> Result<Found, Failure> {
    let arguments = searcher.arguments;
    let seed = arguments.common.seed;
    let c = arguments.c.as_deref().unwrap_or("?").parse();
    let tune = TuneSvc {
        c: c.map_err(|error| Failure::usage(format!("--C: {error}")))?,
        strategy: searcher.strategy(),
        admission: if arguments.assume_psd { Admission::Assume } else { Admission::Check },
        memory: arguments.memory,
        seed,
        ..TuneSvc::new(searcher.kernel.clone())
    };
    let codes: Vec<usize> = (0..targets.nrows()).map(|i| Link::Shares.class(targets.row(i))).collect();
    let folds = stratify_folds(&codes, arguments.folds, Some(seed))
        .map_err(|error| Failure::usage(format!("--folds: {error}")))?;
    let mut checkpoint = arguments.checkpoint.as_deref().map(Checkpoint::open).transpose()?;
    let resume = checkpoint.as_mut().and_then(Checkpoint::take);
    if let Some(trials) = &resume {
        output::note(&arguments.common, &format!("going on from {} trials", trials.rows.len()));
    }
    let mut failure = None;
    let mut on_trials = |trials: &Trials| {
        if let Some(checkpoint) = &checkpoint {
            failure = failure.take().or(checkpoint.keep(trials).err());
        }
    };
    let classes = targets.ncols();
    let tuned = tune.run(samples, &codes, classes, &folds, None, resume, &mut on_trials, watch)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let TunedSvc { kernel, c, accuracy, trials, warnings } = tuned;
    let learner = SvmLearner::of(kernel, Machine::Svc { c }, seed).admitting(tune.admission);
    Ok(Found { learner: Box::new(learner), score: 1.0 - accuracy, trials, warnings })
}
