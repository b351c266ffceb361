//! `mercer plan`.

use std::io::{self, Write};

use mercer::data::{
    Classes, FilePasses, Passes, ScaleMethod, Scaling, Source, SurveyOptions, TrainingChunks,
};
use mercer::design::FeatureMap;
use mercer::kernel::Kernel;
use mercer::learn::Lift;
use mercer::pool;
use mercer::select::plan::{self, PlanError, Shape, Task};

use crate::args::{Method, Plan};
use crate::failure::Failure;
use crate::output;
use crate::progress::{self, Progress};
use crate::training::read_for_training;

/// Values tried for each `?` of a kernel.
const TRIED: usize = 10;

/// Measures, and prints what would be done.
pub fn run(arguments: &Plan) -> Result<(), Failure> {
    progress::listen();
    let kernel: Kernel = arguments.kernel.parse()?;
    let features = arguments
        .features
        .as_ref()
        .map(|text| text.parse::<FeatureMap>())
        .transpose()
        .map_err(|error| Failure::usage(format!("in --features: {error}")))?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(arguments.memory, &watch);
    let plan = match (&arguments.data, arguments.shape) {
        // The rows of a file are gone through, not held: it may be larger than memory.
        (Some(path), _) if arguments.method == Method::Ridge && Source::path(path).is_restartable() => {
            let options = arguments.input.read_options();
            let chunks = TrainingChunks::open(Source::path(path), &options, &session)?;
            let options = SurveyOptions {
                scale: arguments.input.scale.unwrap_or(ScaleMethod::Standard),
                sample: Lift::from(kernel.clone()).sample_rows(),
                seed: arguments.common.seed,
                held_out: 0.0,
            };
            let passes =
                pool::with(arguments.common.threads(), || FilePasses::new(chunks, &options, &session))?;
            passes.notes().iter().for_each(|note| output::note(&arguments.common, note));
            let survey = passes.survey();
            let targets = survey.targets.len().max(1);
            let rows = usize::try_from(survey.rows).unwrap_or(usize::MAX);
            let task = task(arguments, &kernel, features.as_ref(), rows, survey.sample.ncols())?;
            let plan = || {
                let shape = (rows, targets);
                plan::Plan::for_part(task, &kernel, &survey.sample, shape, &session)
            };
            pool::with(arguments.common.threads(), plan)
        }
        (Some(path), _) => {
            let (dataset, _) = read_for_training(arguments.method, path, &arguments.input.read_options())?;
            dataset.notes.iter().for_each(|note| output::note(&arguments.common, note));
            let (scaling, _) =
                Scaling::fit(arguments.input.scale.unwrap_or(ScaleMethod::Standard), &dataset.features)?;
            let targets = match (arguments.method, dataset.targets.as_slice()) {
                (Method::Logistic | Method::Perceptron, [target]) => {
                    decisions(Classes::of(&target.values).0.len())
                }
                (_, targets) => targets.len().max(1),
            };
            let samples = scaling.apply(dataset.features)?;
            let task = task(arguments, &kernel, features.as_ref(), samples.nrows(), samples.ncols())?;
            let plan = || plan::Plan::for_samples(task, &kernel, &samples, targets, &session);
            pool::with(arguments.common.threads(), plan)
        }
        (None, shape) => {
            let (rows, columns) = shape.unwrap_or_default();
            let targets = match arguments.method {
                Method::Logistic | Method::Perceptron => decisions(arguments.classes),
                _ => arguments.input.target.len().max(1),
            };
            let shape = Shape { rows, columns, targets, dtype: arguments.input.dtype };
            let task = task(arguments, &kernel, features.as_ref(), rows, columns)?;
            let plan = || plan::Plan::for_shape(task, &kernel, shape, &session);
            pool::with(arguments.common.threads(), plan)
        }
    };
    let plan = plan.map_err(|error| match error {
        error if error.is_stop() => Failure::interrupted(),
        PlanError::Gram(error) => error.into(),
        error => Failure::usage(error),
    })?;
    watch.finish();
    if arguments.common.json {
        return output::print_json(&plan);
    }
    writeln!(io::stdout(), "{plan}").map_err(|error| Failure::stdout(&error))
}

/// The outputs that tell this many classes apart.
fn decisions(classes: usize) -> usize {
    if classes > 2 { classes } else { 1 }
}

fn task(
    arguments: &Plan,
    kernel: &Kernel,
    features: Option<&FeatureMap>,
    rows: usize,
    columns: usize,
) -> Result<Task, Failure> {
    let tunables = kernel.tunables()?.len();
    let queries = arguments.queries.unwrap_or(rows);
    let count = |map: &FeatureMap| -> Result<u64, Failure> {
        map.check_columns(columns)?;
        Ok(map.count(columns)?)
    };
    Ok(match arguments.method {
        Method::Ridge if tunables > 0 => {
            let tried = || TRIED.saturating_pow(u32::try_from(tunables).unwrap_or(u32::MAX));
            let kernels = arguments.kernels.unwrap_or_else(tried);
            Task::TuneRidge { kernels, lambdas: arguments.lambdas }
        }
        Method::Ridge => {
            if !arguments.lambda.is_finite() || arguments.lambda < 0.0 {
                return Err(Failure::usage(format!(
                    "lambda is {}; it must be a finite number, 0 or more",
                    arguments.lambda
                )));
            }
            match features {
                Some(map) => Task::RidgeFeatures { features: count(map)? },
                // A kernel with more features than can be counted is one for the dual.
                None => {
                    let own = FeatureMap::of_kernel(kernel, columns);
                    let features = own.and_then(|map| map.count(columns).ok());
                    Task::Ridge { lambda: arguments.lambda, features }
                }
            }
        }
        Method::Lms => Task::Lms {
            epochs: arguments.epochs.unwrap_or(200),
            stochastic: arguments.sgd,
            features: features.map(count).transpose()?,
        },
        Method::Smoother => Task::Smoother { queries },
        Method::Knn => Task::Neighbours { queries, k: arguments.k },
        Method::Logistic => Task::Logistic,
        Method::Perceptron => Task::Perceptron { epochs: arguments.epochs.unwrap_or(100) },
        Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass if tunables > 0 => {
            return Err(Failure::usage("there is no plan for the tuning of support vectors").hint(
                "give the kernel's numbers to plan one fit; folds and values of C share its kernel matrix",
            ));
        }
        Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => Task::SupportVectors,
    })
}
