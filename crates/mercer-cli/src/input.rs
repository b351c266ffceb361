//! Turns a file into a learning problem: targets, weights, scaling, held-out rows.

use std::path::Path;

use mercer::data::{
    self, Classes, DataError, Dataset, FilePasses, Matrix, Passes, ReadOptions, ScaleMethod, Scaling, Schema,
    Source, Target, TargetValues, TrainingChunks,
};
use mercer::design::Approximation;
use mercer::gram::DenseGram;
use mercer::kernel::family::periodic::PERIODIC;
use mercer::kernel::{Expr, Value};
use mercer::learn::search::Split;
use mercer::learn::{AnyLearner, Fitted, Inputs, Learner, Lift, Origin, Problem, Requires, Targets};
use mercer::model::{Errors, Facts, Method, Predictor, Score};
use mercer::select::{Choose, Chosen, Open};
use mercer::session::Session;

use crate::args;
use crate::failure::Failure;
use crate::output;

/// The result of a fit without some of the rows.
pub struct HeldOut {
    /// The errors on these rows, one for each target.
    pub errors: Vec<Errors>,
    /// The facts of the fit.
    pub facts: Facts,
    /// A note on rows that were clipped.
    pub note: Option<String>,
}

/// The rows of a file, with targets for a learner.
pub struct Rows {
    /// The rows as read; targets and weights are in the next fields.
    pub dataset: Dataset,
    schema: Schema,
    /// The names of the targets.
    outputs: Vec<String>,
    targets: Targets<'static>,
    weights: Option<Vec<f64>>,
    /// One-class estimation: the known class of each row, 0 for an outlier and 1 for an inlier.
    known: Option<Vec<usize>>,
    /// The rows as a kernel matrix.
    gram: Option<DenseGram<'static, f64>>,
    scale: ScaleMethod,
    /// A note for the user on the scaling.
    unscaled: Option<&'static str>,
}

impl Rows {
    /// The training rows, scaled to mean 0 and standard deviation 1 unless `scale` says otherwise or the kernel of a Gaussian process
    /// has a period that is a number.
    pub fn new(
        (dataset, schema): (Dataset, Schema),
        learner: &AnyLearner,
        scale: Option<ScaleMethod>,
    ) -> Result<Self, Failure> {
        let names: Vec<String> = dataset.targets.iter().map(|target| target.name.clone()).collect();
        let text = dataset.targets.iter().any(|target| target.values.numbers().is_none());
        let (targets, outputs, known) = match learner.requires() {
            Requires::Nothing => {
                let known = match dataset.targets.as_slice() {
                    [target] => inliers(target),
                    _ => None,
                };
                let outputs = if known.is_some() { names } else { vec!["inlier".to_owned()] };
                (Targets::None, outputs, known)
            }
            _ if names.is_empty() => {
                return Err(missing_target(&dataset.source, &dataset.feature_names));
            }
            Requires::Classes => (classes(&dataset, learner)?, names, None),
            Requires::NumbersOrClasses if text => (classes(&dataset, learner)?, names, None),
            Requires::Numbers | Requires::NumbersOrClasses => (numbers(&dataset, learner)?, names, None),
        };
        let (scale, unscaled) = match (scale, learner) {
            (Some(scale), _) => (scale, None),
            (None, AnyLearner::Gp(gp)) if has_period(gp.kernel.expr()) => (ScaleMethod::None, Some(UNSCALED)),
            _ => (ScaleMethod::Standard, None),
        };
        Ok(Self { dataset, schema, outputs, targets, weights: None, known, gram: None, scale, unscaled })
    }

    /// The same rows with weights from a column that is not a target; those of a Gaussian process are divided by their mean.
    pub fn weighted(mut self, weights: Option<Target>, method: Method) -> Result<Self, Failure> {
        let Some(Target { name, values }) = weights else { return Ok(self) };
        let Some(values) = values.numbers() else {
            let source = &self.dataset.source;
            return Err(Failure::usage(format!("{source}: the weights in {name} are not all numbers")));
        };
        let mut values = values.into_owned();
        if method == Method::Gp {
            // The noise is then that of a row of mean weight, as the density of held-out rows assumes.
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            if mean > 0.0 && mean.is_finite() {
                values.iter_mut().for_each(|weight| *weight /= mean);
            }
        }
        self.weights = Some(values);
        Ok(self)
    }

    /// The same rows as a kernel matrix, which is not scaled.
    pub fn precomputed(mut self) -> Result<Self, Failure> {
        self.gram = Some(kernel_matrix(&self.dataset)?);
        self.scale = ScaleMethod::None;
        Ok(self)
    }

    /// The class of each row, if known.
    fn codes(&self) -> Option<&[usize]> {
        match &self.targets {
            Targets::Classes { codes, .. } => Some(codes),
            _ => self.known.as_deref(),
        }
    }

    /// The learner with the tolerance of a regression machine in units of the target's standard deviation, in which it is
    /// scale-free, unless a tolerance is given.
    pub fn in_units(&self, learner: AnyLearner, tol: Option<f64>) -> AnyLearner {
        match (learner, &self.targets) {
            (AnyLearner::Svm(mut svm), Targets::Numbers(numbers)) if tol.is_none() => {
                let values = numbers.entries();
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let deviation =
                    (values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
                if deviation > 0.0 && deviation.is_finite() {
                    svm.solver.tol *= deviation;
                }
                svm.into()
            }
            (learner, _) => learner,
        }
    }

    /// The names of the targets.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// The targets.
    pub fn targets_of(&self) -> &Targets<'static> {
        &self.targets
    }

    /// The number of classes; 1 for a regression.
    pub fn targets(&self) -> usize {
        match &self.targets {
            Targets::Classes { classes, .. } => classes.len(),
            _ => 1,
        }
    }

    /// The problem of all rows, scaled, and notes for the user: on the reading, and on constant columns.
    pub fn problem(&self) -> Result<(Problem<'_>, Vec<String>), Failure> {
        let (problem, constant) = self.part(None)?;
        let constant = constant_columns(&constant, &self.dataset.feature_names);
        let unscaled = self.unscaled.map(str::to_owned);
        let notes = self.dataset.notes.iter().cloned().chain(unscaled);
        let single = match &self.targets {
            Targets::Classes { codes, classes } => single_rows(codes, classes),
            _ => None,
        };
        Ok((problem, notes.chain(constant).chain(single).collect()))
    }

    /// The problem of some rows or of all, and the constant columns.
    pub fn part(&self, chosen: Option<&[usize]>) -> Result<(Problem<'_>, Vec<usize>), Failure> {
        let features = match chosen {
            Some(rows) => self.dataset.features.select(rows),
            None => self.dataset.features.view(),
        };
        let (scaling, constant) = Scaling::of(self.scale, &features)?;
        let inputs = match &self.gram {
            Some(gram) => Inputs::Gram(gram),
            None => scaling.apply(features)?.into(),
        };
        let (targets, weights) = match (chosen, &self.weights) {
            (Some(rows), Some(weights)) => {
                (self.targets.select(rows), Some(rows.iter().map(|&row| weights[row]).collect()))
            }
            (Some(rows), None) => (self.targets.select(rows), None),
            (None, weights) => (self.targets.clone(), weights.clone()),
        };
        let (schema, outputs) = (Some(self.schema.clone()), self.outputs.clone());
        let origin = Origin { schema, outputs, scaling };
        Ok((Problem::new(inputs, targets).weighted(weights).with_origin(origin), constant))
    }

    /// The rows to train on and the held-out ones; `None` if none are held out.
    pub fn split(&self, fraction: f64, session: &Session<'_>) -> Result<Option<Split>, Failure> {
        // Holding out a row of a kernel matrix would also remove its column, which the model needs.
        let fraction = if self.gram.is_some() { 0.0 } else { fraction };
        let rows = self.dataset.nrows();
        let split = Split::hold_out(rows, fraction, session.seed())
            .map_err(|error| Failure::usage(error.to_string()))?;
        if split.is_none() && rows as f64 * fraction >= 1.0 {
            return Err(too_few_rows_left(fraction, rows));
        }
        Ok(match &self.targets {
            Targets::Classes { codes, classes } => {
                split.map(|split| split.with_every_class(codes, classes.len()))
            }
            _ => split,
        })
    }

    /// Chooses the open settings on rows that are not held out; `None` if they are too few.
    pub fn choose(
        &self,
        learner: &AnyLearner,
        open: Open,
        fraction: f64,
        session: &Session<'_>,
    ) -> Result<Option<Chosen>, Failure> {
        let split = self.split(fraction, session)?;
        let (problem, _) = self.part(split.as_ref().map(|split| &split.train[..]))?;
        let choose = Choose { learner: learner.clone(), open };
        let chosen = choose.run(&problem, self.dataset.nrows(), session)?;
        match (chosen, learner.method()) {
            (Some(chosen), Method::NuSvc) => Ok(Some(chosen.feasible(&self.part(None)?.0)?)),
            (chosen, _) => Ok(chosen),
        }
    }

    /// The learner with ν feasible for all rows and without the held-out ones.
    pub fn feasible(
        &self,
        learner: AnyLearner,
        fraction: f64,
        session: &Session<'_>,
    ) -> Result<AnyLearner, Failure> {
        let AnyLearner::Svm(svm) = learner else { return Ok(learner) };
        Ok(svm.feasible(&self.training(fraction, session)?)?.feasible(&self.part(None)?.0)?.into())
    }

    /// The problem of the rows that are not held out.
    pub fn training(&self, fraction: f64, session: &Session<'_>) -> Result<Problem<'_>, Failure> {
        let split = self.split(fraction, session)?;
        Ok(self.part(split.as_ref().map(|split| &split.train[..]))?.0)
    }

    /// The errors on held-out rows of a model that is trained on the others; `None` if no row is held out, and the
    /// reason where the others alone cannot be learnt from.
    pub fn hold_out(
        &self,
        learner: &dyn Learner,
        fraction: f64,
        session: &Session<'_>,
    ) -> Result<Result<Option<HeldOut>, String>, Failure> {
        let Some(Split { train, held_out }) = self.split(fraction, session)? else { return Ok(Ok(None)) };
        let trained =
            || -> Result<Fitted, Failure> { Ok(learner.train(&self.part(Some(&train))?.0, session)?) };
        let Fitted { model, facts, .. } = match trained() {
            Err(failure) if !failure.is_interrupt() => return Ok(Err(failure.message().to_owned())),
            fitted => fitted?,
        };
        let features = self.dataset.features.select(&held_out);
        let outputs = model.predict(&features, session)?;
        let note = clipped(model.clipped_rows(&features)?, "held-out row");
        let mut score = Score::of(&model);
        match &self.targets {
            Targets::Numbers(numbers) => {
                let truth = numbers.select(&held_out);
                score.add_numbers(&truth, &outputs);
                if matches!(&model.predictor, Predictor::GaussianProcess(process) if process.has_variance()) {
                    let deviations = model.deviations(&features, session)?;
                    score.add_deviations(&truth, &outputs, &deviations);
                }
            }
            _ => match self.codes() {
                Some(codes) => score.add_classes(held_out.iter().map(|&row| Ok(Some(codes[row]))), &outputs),
                None => score = Score::of_inliers(&outputs),
            },
        }
        Ok(Ok(Some(HeldOut { errors: score.errors(&self.outputs), facts, note })))
    }
}

/// The note that a period keeps the data in their units.
const UNSCALED: &str = "columns are not scaled: the kernel's period is in their unit (--scale standard scales them nevertheless)";

/// Whether a kernel has a period that is a number or a range of numbers, which is in the unit of its columns.
fn has_period(expr: &Expr) -> bool {
    match expr {
        Expr::Named(named) if named.family == PERIODIC => {
            let period = &named.arguments[0].value;
            matches!(period, Value::Number(_) | Value::PerColumn(_) | Value::TuneBetween(..))
        }
        _ => expr.children().into_iter().any(has_period),
    }
}

/// Reads a training file. If no target is named, a column of text is more likely the target than a feature.
pub fn read(method: Method, path: &Path, options: &ReadOptions) -> Result<(Dataset, Schema), Failure> {
    let missing = options.target.is_empty() && method != Method::OneClass;
    let read = data::read(path, options).map_err(|error| match error {
        DataError::NotANumber { .. } if missing => match data::column_names(path, &options.layout) {
            Ok(columns) => missing_target(&path.display().to_string(), &columns),
            Err(_) => error.into(),
        },
        error => Failure::from(error),
    })?;
    match read.0.targets.first() {
        Some(target)
            if method == Method::OneClass && !options.target.is_empty() && inliers(target).is_none() =>
        {
            let (file, name) = (&read.0.source, &target.name);
            let message =
                format!("{file}: the target {name} of one-class must be 1 for inliers and -1 for outliers");
            Err(Failure::usage(message)
                .hint(format!("one-class needs no target: leave the column out with --drop {name}")))
        }
        _ => Ok(read),
    }
}

/// The copies of the rows that a fit in memory makes: those to train on, and scaled.
const COPIES: u64 = 4;

/// Whether the rows of a file do not fit the memory budget.
pub fn is_large(data: &Path, session: &Session<'_>) -> bool {
    Source::path(data).bytes_of_rows().is_some_and(|bytes| bytes.saturating_mul(COPIES) > session.memory())
}

/// A file that is read in passes, for a learner with this lift.
pub fn passes(
    data: &Path,
    input: &args::Input,
    (learner, lift): (&dyn Learner, &Lift),
    held_out: f64,
    session: &Session<'_>,
) -> Result<FilePasses, Failure> {
    // Only checks the fraction; a hash of the row number chooses the held-out rows here.
    Split::hold_out(10, held_out, session.seed()).map_err(|error| Failure::usage(error.to_string()))?;
    let source = Source::path(data);
    if !source.is_restartable() {
        return Err(DataError::NotRestartable { file: source.name().to_owned() }.into());
    }
    let has_classes = learner.requires() == Requires::Classes;
    let open = if has_classes { TrainingChunks::open_classes } else { TrainingChunks::open };
    let chunks = open(source, &input.read_options(), session)?;
    let schema = chunks.schema();
    if schema.targets.is_empty() {
        return Err(missing_target(&data.display().to_string(), &schema.feature_names()));
    }
    if has_classes {
        one_target(schema.targets.len())?;
    }
    let scale = input.scale.unwrap_or(ScaleMethod::Standard);
    let passes = FilePasses::new(chunks, &lift.survey(scale, held_out, session), session)?;
    if let Some((classes, codes)) = passes.classes() {
        let target = (&*data.display().to_string(), &*passes.survey().targets[0]);
        check_classes(target, classes, codes.len(), learner.method())?;
    }
    let rows = passes.survey().rows;
    if passes.survey().held_out.count() == 0 && rows as f64 * held_out >= 1.0 {
        return Err(too_few_rows_left(held_out, rows as usize));
    }
    match lift {
        Lift::Approximate { approx: Approximation::Nystrom { landmarks, .. }, .. }
            if *landmarks as u64 > rows =>
        {
            Err(Failure::usage(format!(
                "--approx nystrom:{landmarks}: there {} only {}",
                if rows == 1 { "is" } else { "are" },
                data::counted(rows, "row")
            )))
        }
        _ => Ok(passes),
    }
}

/// Notes for the user about the rows of a file.
pub fn notes(passes: &FilePasses) -> Vec<String> {
    let names = passes.schema().map(|schema| schema.feature_names()).unwrap_or_default();
    let constant = constant_columns(&passes.survey().constant, &names);
    let single = passes.classes().and_then(|(classes, codes)| single_rows(codes, classes));
    passes.notes().iter().cloned().chain(constant).chain(single).collect()
}

/// A note on rows that were clipped before a prediction, if there are any.
pub fn clipped(rows: usize, what: &str) -> Option<String> {
    (rows > 0).then(|| {
        let rows = output::counted(rows, what);
        format!(
            "{rows} clipped to the smallest training values, because the kernel needs features of 0 or more"
        )
    })
}

/// The error that too few rows are left besides the held-out ones.
fn too_few_rows_left(fraction: f64, rows: usize) -> Failure {
    Failure::usage(format!(
        "a held-out fraction of {fraction} leaves fewer than two of the {rows} rows to train on; hold out less"
    ))
}

/// The error that no target was named.
fn missing_target(source: &str, columns: &[String]) -> Failure {
    let columns: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    Failure::usage(format!("--target is missing; {source} has the columns {}", columns.join(", ")))
}

/// A note on constant columns, if any.
fn constant_columns(constant: &[usize], names: &[String]) -> Option<String> {
    let name = |&c: &usize| names.get(c).cloned().unwrap_or_else(|| format!("column {c}"));
    let first: Vec<String> = constant.iter().take(8).map(name).collect();
    let more = if constant.len() > 8 { format!(" and {} more", constant.len() - 8) } else { String::new() };
    (!constant.is_empty()).then(|| format!("constant columns, not scaled: {}{more}", first.join(", ")))
}

/// The class of each row for a target of 1 for inliers and -1 for outliers.
fn inliers(target: &Target) -> Option<Vec<usize>> {
    let classes = Classes::inliers();
    (0..target.values.len()).map(|row| classes.find(&target.values, row).ok().flatten()).collect()
}

/// A note on classes of one row, if any.
fn single_rows(codes: &[usize], classes: &Classes) -> Option<String> {
    let mut counts = vec![0; classes.len()];
    codes.iter().for_each(|&code| counts[code] += 1);
    let of_one = |class: &usize| counts[*class] == 1;
    let single: Vec<String> = (0..classes.len()).filter(of_one).map(|class| classes.name(class)).collect();
    let (named, more) = single.split_at(single.len().min(8));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    match named {
        [] => None,
        [one] => Some(format!("class {one} has only 1 row, which is never held out")),
        several => Some(format!(
            "classes {}{more} have only 1 row each, which is never held out",
            several.join(", ")
        )),
    }
}

/// The class of each row.
fn classes(dataset: &Dataset, learner: &dyn Learner) -> Result<Targets<'static>, Failure> {
    one_target(dataset.targets.len())?;
    let target = &dataset.targets[0];
    let (classes, codes) = Classes::of(&target.values);
    check_classes((&dataset.source, &target.name), &classes, codes.len(), learner.method())?;
    Ok(Targets::Classes { codes: codes.into(), classes })
}

/// Rejects more than one target.
fn one_target(targets: usize) -> Result<(), Failure> {
    match targets {
        1 => Ok(()),
        _ => Err(Failure::usage("a classifier has one target, but several are given")),
    }
}

/// Rejects a target, of a file and with this name, that is the same in every row or looks continuous, and warns of one that
/// looks like a name.
fn check_classes(
    (source, target): (&str, &str),
    classes: &Classes,
    rows: usize,
    method: Method,
) -> Result<(), Failure> {
    refuse_measurements((source, target), classes, rows, method)?;
    if classes.len() < 2 {
        return Err(Failure::usage(format!(
            "{source}: the target {target} is {} in every row; a classifier needs two classes or more",
            classes.name(0)
        )));
    }
    if rows >= MANY && 2 * classes.len() > rows {
        output::warn(&format!(
            "the target {target} has {} classes in {rows} rows: of most classes there is one row; is it a name or an identifier?",
            classes.len(),
        ));
    }
    Ok(())
}

/// The fewest rows for a warning about as many classes.
const MANY: usize = 20;

/// The most distinct numbers that count as classes if some have fractions.
const FRACTIONS: usize = 10;

/// The most distinct numbers that count as classes if there are fewer than twice as many rows.
const WHOLE: usize = 20;

/// Rejects a numeric target that looks continuous.
fn refuse_measurements(
    (source, target): (&str, &str),
    classes: &Classes,
    rows: usize,
    method: Method,
) -> Result<(), Failure> {
    let distinct: Vec<f64> = match classes {
        Classes::Numbers(numbers) => numbers.clone(),
        Classes::Integers(integers) => integers.iter().map(|&integer| integer as f64).collect(),
        Classes::Labels(_) => return Ok(()),
    };
    // Neighbours treat numbers as classes only on request.
    if method == Method::Knn {
        return Ok(());
    }
    let fraction = distinct.iter().find(|value| value.fract() != 0.0);
    let measured = match fraction {
        Some(_) => distinct.len() > FRACTIONS,
        None => distinct.len() > WHOLE && 2 * distinct.len() > rows,
    };
    if !measured {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{source}: the target {target} looks continuous: {} different numbers in {rows} rows, such as {}; {method} expects classes",
        distinct.len(),
        fraction.unwrap_or(&distinct[0]),
    ))
    .hint("predict numbers with `mercer fit ridge`, or write the classes as text"))
}

/// One column per target.
fn numbers(dataset: &Dataset, learner: &dyn Learner) -> Result<Targets<'static>, Failure> {
    let mut matrix = Matrix::zeros(dataset.nrows(), dataset.targets.len());
    for (column, target) in dataset.targets.iter().enumerate() {
        let Some(values) = target.values.numbers() else {
            return Err(text_target(dataset, target, learner.method()));
        };
        values.iter().enumerate().for_each(|(row, value)| matrix.row_mut(row)[column] = *value);
    }
    Ok(matrix.into())
}

/// The error that a target has text where numbers are to be predicted.
fn text_target(dataset: &Dataset, target: &Target, method: Method) -> Failure {
    let TargetValues::Labels(labels) = &target.values else {
        return Failure::usage(format!("the target {} holds no numbers", target.name));
    };
    let example = labels.iter().find(|label| label.parse::<f64>().is_err());
    let example = example.map_or_else(String::new, |label| format!(", such as `{label}`"));
    let message = format!(
        "{}: the target {} holds text{example}; {method} predicts numbers",
        dataset.source, target.name
    );
    let has_digits = labels.iter().any(|label| label.contains(|c: char| c.is_ascii_digit()));
    Failure::usage(message).hint(if has_digits {
        "write numbers alone, without signs such as % or $ and without separators of thousands: 28200.00 for 28,200.00; \
         leave the field of an unknown target empty"
    } else {
        "predict classes with `mercer fit svc` or `mercer fit logistic`"
    })
}

/// The rows as a kernel matrix: square, and symmetric up to rounding.
fn kernel_matrix(dataset: &Dataset) -> Result<DenseGram<'static, f64>, Failure> {
    let samples = &dataset.features;
    let (n, columns) = (samples.nrows(), samples.ncols());
    if n != columns {
        return Err(Failure::usage(format!(
            "a precomputed kernel has one column for each row, but there are {n} rows and {columns} columns"
        )));
    }
    let mut entries = vec![0.0; n * n];
    for (row, out) in entries.chunks_exact_mut(n).enumerate() {
        samples.copy_row(row, out);
    }
    let largest = entries.iter().fold(0.0f64, |most, k| most.max(k.abs()));
    for i in 0..n {
        for j in 0..i {
            let (one, other) = (entries[i * n + j], entries[j * n + i]);
            if (one - other).abs() > 1e-6 * largest {
                return Err(Failure::usage(format!(
                    "a kernel matrix is symmetric, but the entry of row {i} and column {j} is {one}, and that of row {j} and \
                     column {i} is {other}"
                )));
            }
        }
    }
    Ok(DenseGram::new(n, entries))
}
