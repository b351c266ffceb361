//! `mercer plan`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use mercer::data::{
    Classes, FilePasses, Passes, ScaleMethod, Scaling, Source, SurveyOptions, TrainingChunks,
};
use mercer::design::FeatureMap;
use mercer::gram::default_engine;
use mercer::kernel::Kernel;
use mercer::learn::cost::{Size, Task};
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{
    AnyLearner, Gp, Knn, Learner, Lift, Lms, LmsSolver, Logistic, Perceptron, Ridge, Smoother,
};
use mercer::model::Method;
use mercer::pool;
use mercer::select::default_kernel;
use mercer::select::plan::{self, PlanError};
use mercer::session::Session;
use mercer_cuda::DeviceChoice;

use crate::args::{Plan, methods_of};
use crate::failure::Failure;
use crate::input;
use crate::output;
use crate::progress::{self, Progress};

/// Values tried for each `?` of a kernel.
const TRIED: usize = 10;

/// Measures, and prints the plan.
pub fn run(arguments: &Plan) -> Result<(), Failure> {
    progress::listen();
    let kernel: Kernel = match &arguments.kernel {
        Some(text) => text.parse()?,
        None => default_kernel(arguments.method),
    };
    let features = arguments
        .features
        .as_ref()
        .map(|text| text.parse::<FeatureMap>())
        .transpose()
        .map_err(|error| Failure::usage(format!("in --features: {error}")))?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(arguments.memory, &watch)?;
    // With automatic choice of the device, plans for all are shown, so that the user can compare the times.
    let is_auto = arguments.common.device == DeviceChoice::Auto;
    let host = (is_auto && session.engine().name() != "cpu").then(|| session.on(default_engine()));
    let plan_on = |session: &Session<'_>| {
        let job = Job { arguments, kernel: kernel.clone(), features: features.clone(), session };
        pool::with(arguments.common.threads(), || match &arguments.data {
            // The rows of a file are read once and not stored: it may be larger than memory.
            Some(path) if arguments.method == Method::Ridge && Source::path(path).is_restartable() => {
                job.of_passes(path)
            }
            Some(path) => job.of_rows(path),
            None => job.of_shape(),
        })
    };
    let mut plans = vec![(session.engine().name(), plan_on(&session)?)];
    if let Some(host) = &host {
        plans.push((host.engine().name(), plan_on(host)?));
    }
    watch.finish();
    if arguments.common.json {
        return match plans.as_slice() {
            [(_, plan)] if !is_auto => output::print_json(plan),
            _ => output::print_json(&plans.into_iter().collect::<BTreeMap<_, _>>()),
        };
    }
    if let [(_, plan)] = plans.as_slice() {
        return writeln!(io::stdout(), "{plan}{}", of_choice(arguments))
            .map_err(|error| Failure::stdout(&error));
    }
    for (name, plan) in plans {
        writeln!(io::stdout(), "--device {name}\n{plan}{}\n", of_choice(arguments))
            .map_err(|error| Failure::stdout(&error))?;
    }
    Ok(())
}

/// A line on the choice of a fit without flags, which is not in the plan.
fn of_choice(arguments: &Plan) -> &'static str {
    let chooses = methods_of("no-tune").is_some_and(|methods| methods.contains(&arguments.method));
    if chooses && arguments.kernel.is_none() && arguments.features.is_none() {
        "\nwithout --kernel, `mercer fit` first chooses the kernel on a sample of at most 2,000 rows, which is not in these times"
    } else {
        ""
    }
}

/// The work to plan.
struct Job<'a> {
    arguments: &'a Plan,
    kernel: Kernel,
    features: Option<FeatureMap>,
    session: &'a Session<'a>,
}

impl Job<'_> {
    /// Plans for a file of any size.
    fn of_passes(&self, path: &Path) -> Result<plan::Plan, Failure> {
        let Self { arguments, kernel, session, .. } = self;
        let chunks = TrainingChunks::open(Source::path(path), &arguments.input.read_options(), *session)?;
        let scale = arguments.input.scale.unwrap_or(ScaleMethod::Standard);
        // Only the survey is used.
        let options = SurveyOptions { memory: 0, ..Lift::from(kernel.clone()).survey(scale, 0.0, session) };
        let passes = FilePasses::new(chunks, &options, *session)?;
        passes.notes().iter().for_each(|note| output::note(&arguments.common, note));
        let survey = passes.survey();
        let rows = usize::try_from(survey.rows).unwrap_or(usize::MAX);
        let (task, shape) = (self.task(rows, survey.sample.ncols())?, (rows, survey.targets.len().max(1)));
        plan::Plan::for_samples(task, kernel, &survey.sample, shape, session).map_err(in_words)
    }

    /// Plans for rows in memory.
    fn of_rows(&self, path: &Path) -> Result<plan::Plan, Failure> {
        let Self { arguments, kernel, session, .. } = self;
        let (dataset, _) = input::read(arguments.method, path, &arguments.input.read_options())?;
        dataset.notes.iter().for_each(|note| output::note(&arguments.common, note));
        let scale = arguments.input.scale.unwrap_or(ScaleMethod::Standard);
        let (scaling, _) = Scaling::of(scale, &dataset.features)?;
        let targets = match (arguments.method, dataset.targets.as_slice()) {
            (Method::Logistic | Method::Perceptron, [target]) => {
                decisions(Classes::of(&target.values).0.len())
            }
            (_, targets) => targets.len().max(1),
        };
        let samples = scaling.apply(dataset.features)?;
        let task = self.task(samples.nrows(), samples.ncols())?;
        plan::Plan::for_samples(task, kernel, &samples, (samples.nrows(), targets), session).map_err(in_words)
    }

    /// Plans for known numbers of rows and columns.
    fn of_shape(&self) -> Result<plan::Plan, Failure> {
        let Self { arguments, kernel, session, .. } = self;
        let (rows, columns) = arguments.shape.unwrap_or_default();
        let targets = match arguments.method {
            Method::Logistic | Method::Perceptron => decisions(arguments.classes),
            _ => arguments.input.target.len().max(1),
        };
        let shape = Size { rows, columns, targets, dtype: arguments.input.dtype };
        plan::Plan::for_shape(self.task(rows, columns)?, kernel, shape, session).map_err(in_words)
    }

    /// The tuning of a kernel with `?`, otherwise the training of a learner.
    fn task(&self, rows: usize, columns: usize) -> Result<Task, Failure> {
        let Self { arguments, kernel, .. } = self;
        let tunables = kernel.tunables()?.len();
        match self.learner() {
            AnyLearner::Ridge(_) if tunables > 0 => {
                let tried = || TRIED.saturating_pow(u32::try_from(tunables).unwrap_or(u32::MAX));
                let kernels = arguments.kernels.unwrap_or_else(tried);
                Ok(Task::TuneRidge { kernels, lambdas: arguments.lambdas })
            }
            AnyLearner::Svm(_) if tunables > 0 => Err(Failure::usage(
                "`plan` does not cover the tuning of support vector machines",
            )
            .hint(
                "give the kernel's numbers to plan one fit; folds and values of C share its kernel matrix",
            )),
            learner if tunables > 0 && !matches!(learner, AnyLearner::Gp(_)) => {
                let method = learner.method();
                Err(Failure::usage(format!("there is no plan for the tuning of {method}"))
                    .hint("give the kernel's numbers to plan one fit"))
            }
            AnyLearner::Ridge(_) if !arguments.lambda.is_finite() || arguments.lambda < 0.0 => {
                let lambda = arguments.lambda;
                Err(Failure::usage(format!("lambda is {lambda}; it must be a finite number, 0 or more")))
            }
            learner => Ok(Task::of(&learner, columns, arguments.queries.unwrap_or(rows))?),
        }
    }

    /// The learner; settings that a plan does not depend on take their defaults.
    fn learner(&self) -> AnyLearner {
        let Self { arguments, kernel, features, .. } = self;
        let kernel = kernel.clone();
        let lift = features.clone().map_or_else(|| Lift::from(kernel.clone()), Lift::from);
        match arguments.method {
            Method::Ridge => Ridge::on(lift).lambda(arguments.lambda).into(),
            Method::Lms => {
                let lms = Lms::on(lift);
                let epochs = arguments.epochs.unwrap_or(lms.epochs);
                lms.epochs(epochs)
                    .solver(if arguments.sgd { LmsSolver::Sgd } else { LmsSolver::Batch })
                    .into()
            }
            Method::Smoother => Smoother::new(kernel).into(),
            Method::Knn => Knn::new(arguments.k).into(),
            Method::Gp => Gp::new(kernel).into(),
            Method::Logistic => Logistic::new(kernel).into(),
            Method::Perceptron => {
                let perceptron = Perceptron::new(kernel);
                let passes = arguments.epochs.unwrap_or(perceptron.passes);
                perceptron.passes(passes).into()
            }
            _ => Svm::new(kernel, Machine::of(arguments.method, None, None, None)).into(),
        }
    }
}

fn in_words(error: PlanError) -> Failure {
    match error {
        error if error.is_stop() => Failure::interrupted(),
        PlanError::Gram(error) => error.into(),
        error => Failure::usage(error),
    }
}

/// The number of outputs for this many classes.
fn decisions(classes: usize) -> usize {
    if classes > 2 { classes } else { 1 }
}
