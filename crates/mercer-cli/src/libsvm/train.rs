//! svm-train.

use std::path::Path;
use std::process::ExitCode;

use mercer::data::{AnySamples, Classes, Matrix, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Machines, Svm};
use mercer::learn::{self, ClassWeight, Inputs, KernelCheck, LearnError, Origin, Targets};
use mercer::model::{Calibration, Method, Model, pairs_of};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::svm::{SvmReport, SvmSettings};
use mercer::solve::{SolveError, Status};

use super::cross_validation::cross_validate;
use super::problem::Problem;
use super::train_options::{KernelType, TrainOptions};
use super::{Refusal, finish, say};
use crate::output;
use crate::progress::{self, Progress};

/// Runs svm-train.
pub fn train(arguments: &[String]) -> ExitCode {
    finish(run(arguments))
}

fn run(arguments: &[String]) -> Result<(), Refusal> {
    let options = TrainOptions::parse(arguments)?;
    progress::listen();
    let problem = Problem::read(&options.data)?;
    if problem.rows.is_empty() {
        return Err(Refusal::new(format!("{} has no rows", options.data)));
    }
    let watch = Progress::new(true);
    let session = Session::default().with_watch(&watch);
    pool::with(None, || {
        let job = Job::new(&options, &problem)?;
        let rows = job.rows()?;
        if let Some(folds) = options.folds {
            return cross_validate(&job, &rows, folds, &session);
        }
        let model = job.model(&rows, &session)?;
        if progress::interrupted() {
            return Err(Refusal::interrupted());
        }
        let saved = model.save_libsvm(Path::new(&options.model));
        saved.map_err(|error| Refusal::new(format!("can't save model to file {}: {error}", options.model)))
    })
}

/// The training data.
pub struct Job<'a> {
    pub options: &'a TrainOptions,
    pub problem: &'a Problem,
    svm: Svm,
    kernel: Kernel,
    /// Columns of the samples.
    columns: usize,
}

/// The samples, and the kernel matrix if given.
pub struct Rows {
    pub samples: AnySamples<'static>,
    gram: Option<DenseGram<'static, f64>>,
}

impl Rows {
    /// The samples or their kernel matrix.
    pub fn inputs(&self) -> Inputs<'_> {
        match &self.gram {
            Some(gram) => Inputs::Gram(gram),
            None => self.samples.view().into(),
        }
    }
}

impl<'a> Job<'a> {
    fn new(options: &'a TrainOptions, problem: &'a Problem) -> Result<Self, Refusal> {
        let columns = problem.largest.max(1);
        let gamma = if options.gamma == 0.0 { 1.0 / columns as f64 } else { options.gamma };
        let text = match options.kernel_type {
            KernelType::Linear | KernelType::Precomputed => "linear".to_owned(),
            KernelType::Polynomial => {
                format!("poly(degree={}, gamma={gamma:e}, c={:e})", options.degree, options.coef0)
            }
            KernelType::Rbf => format!("rbf(gamma={gamma:e})"),
            KernelType::Sigmoid => format!("sigmoid(gamma={gamma:e}, c={:e})", options.coef0),
        };
        let kernel: Kernel = text.parse().map_err(|error| Refusal::new(format!("ERROR: {error}")))?;
        let cache = Some((options.cache * f64::from(1 << 20)) as u64);
        // LIBSVM's default cache of 100 MB is a small part of today's memory, so mercer's default is used instead.
        let cache = if options.cache == 100.0 { None } else { cache };
        let solver = SvmSettings {
            tol: options.tolerance,
            cache,
            shrinking: options.shrinking,
            ..SvmSettings::default()
        };
        let TrainOptions { svm_type, c, nu, epsilon, .. } = *options;
        let machine = Machine::of(svm_type, Some(c), Some(nu), Some(epsilon));
        let svm = Svm::new(kernel.clone(), machine)
            .probability(options.probability && options.folds.is_none())
            .kernel_check(KernelCheck::Assume)
            .solver(solver);
        Ok(Self { options, problem, svm, kernel, columns })
    }

    /// The samples; for a precomputed kernel the unit vectors of the rows' numbers.
    fn rows(&self) -> Result<Rows, Refusal> {
        let Problem { rows, largest, .. } = self.problem;
        let (indices, values) = match self.options.kernel_type {
            KernelType::Precomputed => (serial_numbers(rows, *largest)?, vec![1.0; rows.len()]),
            _ if rows.iter().any(|row| row.first().is_some_and(|(index, _)| *index == 0)) => {
                return Err(Refusal::new("Wrong input format: index 0 is for precomputed kernels (-t 4)"));
            }
            _ => return Ok(Rows { samples: self.problem.samples(self.columns)?, gram: None }),
        };
        let n = rows.len();
        let mut gram = vec![0.0; n * n];
        for (row, out) in rows.iter().zip(gram.chunks_exact_mut(n)) {
            for (value, column) in out.iter_mut().zip(&indices) {
                let place = row.binary_search_by_key(&(column + 1), |(index, _)| *index);
                *value = place.map_or(0.0, |place| row[place].1);
            }
        }
        let samples = Samples::sparse(*largest, (0..=n).collect::<Vec<_>>(), indices, values);
        let samples = AnySamples::F64(samples.map_err(Refusal::new)?);
        Ok(Rows { samples, gram: Some(DenseGram::new(n, gram)) })
    }

    /// The inputs for predictions on some of the rows: for a precomputed kernel, their kernel values.
    pub fn queries(
        &self,
        samples: &AnySamples<'static>,
        chosen: &[usize],
    ) -> Result<AnySamples<'static>, Refusal> {
        match self.options.kernel_type {
            KernelType::Precomputed => Ok(self.problem.samples(samples.ncols())?.select(chosen)),
            _ => Ok(samples.select(chosen)),
        }
    }

    /// The learner; `labels` are those of the classes, in the order of their codes.
    pub fn svm(&self, labels: &[i32]) -> Svm {
        let svm = self.svm.clone();
        match self.options.svm_type {
            Method::Svc => svm.class_weight(ClassWeight::Each(self.factors(labels))),
            _ => svm,
        }
    }

    /// The factor of C of each class.
    fn factors(&self, labels: &[i32]) -> Vec<f64> {
        let factor = |label: &i32| {
            let own = self.options.weights.iter().filter(|(named, _)| named == label);
            own.map(|(_, weight)| weight).product()
        };
        labels.iter().map(factor).collect()
    }

    fn print(&self, text: &str) {
        if !self.options.quiet {
            say(format_args!("{text}"));
        }
    }

    /// Fits, prints LIBSVM's lines, and creates the model.
    fn model(&self, rows: &Rows, session: &Session<'_>) -> Result<Model, Refusal> {
        let y = &self.problem.labels;
        let (labels, codes) = if self.options.classifies() {
            group(y, &(0..y.len()).collect::<Vec<_>>())
        } else {
            Default::default()
        };
        let unknown = |(label, _): &&(i32, f64)| !labels.is_empty() && !labels.contains(label);
        for (label, _) in self.options.weights.iter().filter(unknown) {
            eprintln!("WARNING: class label {label} specified in weight is not found");
        }
        let targets = match self.options.svm_type {
            Method::Svc | Method::NuSvc => {
                let classes = Classes::Numbers(labels.iter().copied().map(f64::from).collect());
                Targets::Classes { codes: (&codes).into(), classes }
            }
            Method::OneClass => Targets::None,
            _ => y.into(),
        };
        let origin = Origin { outputs: vec!["label".into()], ..Origin::default() };
        let problem = learn::Problem::new(rows.inputs(), targets).with_origin(origin);
        let svm = self.svm(&labels);
        let machines = match labels.len() {
            1 => self.only_class(),
            _ => svm.machines(&problem, session).map_err(in_words)?,
        };
        match labels.len() {
            0 => self.print_single(&machines),
            1 => {}
            _ => self.print_pairs(&machines, &labels, &codes),
        }
        Ok(svm.fitted(machines, &rows.samples, &problem, session).model)
    }

    /// The machines of a single class: no pairs and no support vectors.
    fn only_class(&self) -> Machines {
        self.print("WARNING: training data in only one class. See README for details.\nTotal nSV = 0\n");
        Machines {
            kernel: self.kernel.clone(),
            domain: None,
            support: Vec::new(),
            per_class: Some(vec![0]),
            coefficients: Matrix::zeros(0, 0),
            rho: Vec::new(),
            epsilon: None,
            reports: Vec::new(),
            calibration: self.options.probability.then(|| Calibration::Sigmoids(Vec::new())),
            warnings: Vec::new(),
        }
    }

    /// The lines of a machine without classes.
    fn print_single(&self, found: &Machines) {
        let (c, n) = (self.options.c, self.problem.labels.len() as f64);
        let one_class = self.options.svm_type == Method::OneClass;
        if one_class && self.options.probability && found.calibration.is_none() {
            eprintln!(
                "WARNING: number of positive or negative decision values <5; too few to do a probability estimation."
            );
        }
        let magnitudes = || found.coefficients.entries().iter().map(|a| a.abs());
        let own = match (self.options.svm_type, found.epsilon) {
            (Method::Svr, _) => format!("nu = {:.6}\n", magnitudes().sum::<f64>() / (c * n)),
            (_, Some(epsilon)) => format!("epsilon = {epsilon:.6}\n"),
            _ => String::new(),
        };
        let bound = if one_class { 1.0 } else { c };
        let bounded = magnitudes().filter(|a| *a >= bound * (1.0 - 1e-12)).count();
        self.print_machine(&found.reports[0], &own, found.rho[0], found.support.len(), bounded);
        if let Some(Calibration::Laplace { scale }) = &found.calibration {
            let scale = mercer::model::libsvm::general(*scale, 6);
            self.print(&format!(
                "Prob. model for test data: target value = predicted value + z,\n\
                 z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= {scale}\n"
            ));
        }
    }

    /// The lines of every pair, and the number of support vectors in all.
    fn print_pairs(&self, found: &Machines, labels: &[i32], codes: &[usize]) {
        let counts: Vec<usize> =
            (0..labels.len()).map(|class| codes.iter().filter(|code| **code == class).count()).collect();
        let per_class = found.per_class.as_deref().unwrap_or_default();
        let starts: Vec<usize> = (0..labels.len()).map(|c| per_class[..c].iter().sum()).collect();
        let rows_of = |class: usize| starts[class]..starts[class] + per_class[class];
        let factors = self.factors(labels);
        for (pair, (i, j)) in pairs_of(labels.len()).enumerate() {
            let (mut vectors, mut bounded, mut sum, mut largest) = (0, 0, 0.0, 0.0f64);
            for (class, column) in [(i, j - 1), (j, i)] {
                for s in rows_of(class) {
                    let alpha = found.coefficients.row(s)[column].abs();
                    largest = largest.max(alpha);
                    sum += alpha;
                    vectors += usize::from(alpha > 0.0);
                    // ν-classification is scaled after the solution: its bound is its largest coefficient.
                    bounded += usize::from(alpha >= self.options.c * factors[class] * (1.0 - 1e-12));
                }
            }
            let report = &found.reports[pair];
            let rows = (counts[i] + counts[j]) as f64;
            let own = match self.options.svm_type {
                Method::NuSvc => {
                    // Σα is ν times the rows before it is divided by the margin, whose inverse LIBSVM calls C.
                    let bound = sum / (self.options.nu * rows);
                    let at_bound = |&(s, column): &(usize, usize)| {
                        found.coefficients.row(s)[column].abs() >= bound * (1.0 - 1e-12)
                    };
                    let vectors = rows_of(i).map(|s| (s, j - 1)).chain(rows_of(j).map(|s| (s, i)));
                    bounded = vectors.filter(at_bound).count();
                    format!("C = {bound:.6}\n")
                }
                _ if factors[i] == factors[j] => {
                    format!("nu = {:.6}\n", sum / (self.options.c * factors[i] * rows))
                }
                _ => String::new(),
            };
            self.print_machine(report, &own, found.rho[pair], vectors, bounded);
        }
        self.print(&format!("Total nSV = {}\n", found.support.len()));
    }

    /// The lines of one machine.
    fn print_machine(&self, report: &SvmReport, own: &str, rho: f64, vectors: usize, bounded: usize) {
        if report.status != Status::Converged {
            output::warn(&format!(
                "not converged: the violation of the optimality conditions is {:.3e}, the tolerance {:e}",
                report.violation, self.options.tolerance
            ));
        }
        self.print(&format!(
            "*\noptimization finished, #iter = {}\n{own}obj = {:.6}, rho = {rho:.6}\nnSV = {vectors}, nBSV = {bounded}\n",
            report.iterations, report.objective
        ));
    }
}

/// Distinct labels as whole numbers in the order of their first row, and the index of each row's label among them. If
/// the labels are −1 and 1, 1 comes first: LIBSVM's rule.
pub fn group(labels: &[f64], order: &[usize]) -> (Vec<i32>, Vec<usize>) {
    let mut known: Vec<i32> = Vec::new();
    for &row in order {
        let label = labels[row] as i32;
        if !known.contains(&label) {
            known.push(label);
        }
    }
    if known == [-1, 1] {
        known.reverse();
    }
    let code = |label: &f64| known.iter().position(|k| *k == *label as i32).unwrap_or(0);
    let codes = labels.iter().map(code).collect();
    (known, codes)
}

/// The number of each row of a precomputed kernel, from 0.
fn serial_numbers(rows: &[Vec<(u32, f64)>], largest: usize) -> Result<Vec<u32>, Refusal> {
    let number = |row: &Vec<(u32, f64)>| match row.first() {
        Some((0, value)) if *value >= 1.0 && *value <= largest as f64 => Ok(*value as u32 - 1),
        Some((0, _)) => Err(Refusal::new("Wrong input format: sample_serial_number out of range")),
        _ => Err(Refusal::new("Wrong input format: first column must be 0:sample_serial_number")),
    };
    rows.iter().map(number).collect()
}

/// Errors in LIBSVM's words.
pub fn in_words(error: LearnError) -> Refusal {
    match &error {
        LearnError::Solve(SolveError::InfeasibleNu { largest, .. }) => {
            Refusal::new(format!("ERROR: specified nu is infeasible (at most {largest})"))
        }
        _ if error.is_stop() => Refusal::interrupted(),
        _ => Refusal::new(format!("ERROR: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_in_the_order_of_their_rows() {
        assert_eq!(group(&[3.0, 1.0, 3.0, 2.0], &[0, 1, 2, 3]), (vec![3, 1, 2], vec![0, 1, 0, 2]));
        assert_eq!(group(&[-1.0, 1.0, -1.0], &[0, 1, 2]), (vec![1, -1], vec![1, 0, 1]));
        assert_eq!(group(&[0.0, 1.0], &[1, 0]).0, [1, 0]);
    }
}
