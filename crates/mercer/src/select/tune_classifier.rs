//! Hyper-parameters of logistic regression and the perceptron, chosen by their loss on rows that were left out.

use crate::data::{AnySamples, Matrix};
use crate::gram::{DenseGram, Resident};
use crate::kernel::{Kernel, SearchSpace};
use crate::learn::{Admission, Digest, LearnError, Lift, Logistic, Perceptron};
use crate::session::Session;

use super::axis::{Axis, LambdaSpace};
use super::class_scores::ClassScores;
use super::folds::stratify_folds;
use super::search::{Scorer, Search, Strategy};
use super::split::Split;
use super::trials::Trials;

/// A classifier to tune: all it is but what is searched.
#[derive(Debug, Clone, PartialEq)]
pub enum Classifier {
    /// Logistic regression, of which λ is searched.
    Logistic(Logistic),
    /// The perceptron.
    Perceptron(Perceptron),
}

impl Classifier {
    fn kernel(&self) -> Result<&Kernel, LearnError> {
        let lift = match self {
            Self::Logistic(logistic) => &logistic.lift,
            Self::Perceptron(perceptron) => &perceptron.lift,
        };
        match lift {
            Lift::Kernel(kernel) => Ok(kernel),
            _ => Err(LearnError::Unsupported("a classifier is tuned on a kernel itself, not on features")),
        }
    }

    fn admission(&self) -> Admission {
        match self {
            Self::Logistic(logistic) => logistic.admission,
            Self::Perceptron(perceptron) => perceptron.admission,
        }
    }
}

/// What a wrong answer costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// 1 for a wrong class.
    Accuracy,
    /// −log of the probability of the right class.
    LogLoss,
}

/// Which rows are left out. Every class is spread over the folds as evenly as it goes.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassCriterion {
    /// Each of this many folds in turn.
    Folds(usize),
    /// The rows of each fold in turn, the fold of every row given; none for rows that are always trained on.
    Given(Vec<Option<usize>>),
    /// This fraction of the rows, once.
    HoldOut(f64),
}

/// A search for the kernel's hyper-parameters, and λ, of a classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneClassifier {
    /// The classifier; its kernel has a `?` for what is searched.
    pub classifier: Classifier,
    /// The values of λ; of no meaning to the perceptron.
    pub lambda: LambdaSpace,
    /// What is made small.
    pub judge: Judge,
    /// On which rows.
    pub criterion: ClassCriterion,
    /// Where to look; `None` for what suits the number of hyper-parameters.
    pub strategy: Option<Strategy>,
}

/// What a search for a classifier found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedClassifier {
    /// The kernel with the best hyper-parameters.
    pub kernel: Kernel,
    /// The best λ; 1 for the perceptron.
    pub lambda: f64,
    /// Its mean loss on rows left out.
    pub score: f64,
    /// All that was tried.
    pub trials: Trials,
    /// What a user should know, such as a best value at the end of its range.
    pub warnings: Vec<String>,
}

impl TuneClassifier {
    /// Searches for the hyper-parameters with which the classes of left-out rows are told best. `codes` are the classes,
    /// from 0.
    ///
    /// One kernel matrix a kernel tried, and a path over λ a fold: O(n²) memory. Trials in `resume` are not made again;
    /// `on_trials` is shown all of them after each kernel.
    ///
    /// # Errors
    /// Where the input does not line up, does not fit the memory budget, cannot be split like that or is of another
    /// problem than `resume`; where a perceptron is judged by its probabilities; and where no trial has an answer.
    pub fn run(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        weights: Option<&[f64]>,
        resume: Option<Trials>,
        on_trials: &mut dyn FnMut(&Trials),
        session: &Session<'_>,
    ) -> Result<TunedClassifier, LearnError> {
        self.validate(samples, codes, session)?;
        let scales = session.scales(samples);
        let kernel = self.classifier.kernel()?.resolve_auto(&scales)?;
        let axes = Axis::of_kernel(&kernel, &scales)?;
        let setting = match self.classifier {
            Classifier::Logistic(_) => self.lambda.axis(),
            Classifier::Perceptron(_) => Axis { name: String::new(), space: SearchSpace::OneOf(vec![1.0]) },
        };
        let search = Search {
            strategy: self.strategy.unwrap_or_else(|| Strategy::for_axes(axes.len())),
            axes,
            setting,
            seed: session.seed(),
        };
        let mut digest = Digest::new();
        digest.bytes(
            format!("{:?} {:?} {:?} {}", self.classifier, self.judge, self.criterion, session.seed())
                .as_bytes(),
        );
        digest.samples(samples);
        codes.iter().for_each(|code| digest.number(*code as f64));
        weights.unwrap_or_default().iter().for_each(|w| digest.number(*w));
        let mut trials = Trials::starting(digest.finish(), &search, resume)?;
        let assignment = self.assignment(codes, session)?;
        let mut scorer = Kernels {
            classifier: &self.classifier,
            kernel: &kernel,
            samples,
            resident: session.load(samples)?,
            scores: ClassScores::new(codes, weights, &assignment, self.judge)?,
        };
        let best = search.run(&mut scorer, &mut trials, on_trials, session)?;
        let kernel = kernel.with_values(&best.values)?;
        let mut warnings = search.edge_warnings(&best);
        warnings.extend(self.classifier.admission().decide(&kernel, samples)?.warning);
        let score = best.score.unwrap_or(f64::NAN);
        Ok(TunedClassifier { kernel, lambda: best.setting, score, trials, warnings })
    }

    /// The fold of every row.
    fn assignment(&self, codes: &[usize], session: &Session<'_>) -> Result<Vec<Option<usize>>, LearnError> {
        let parameter =
            |parameter, received: String, allowed| LearnError::Parameter { parameter, received, allowed };
        match &self.criterion {
            ClassCriterion::Folds(folds) => match stratify_folds(codes, *folds, Some(session.seed())) {
                Ok(assignment) => Ok(assignment.into_iter().map(Some).collect()),
                Err(_) => {
                    Err(parameter("folds", folds.to_string(), "at least 2 and at most the number of rows"))
                }
            },
            ClassCriterion::Given(folds) if folds.len() != codes.len() => {
                Err(LearnError::Length { what: "fold numbers", rows: codes.len(), found: folds.len() })
            }
            ClassCriterion::Given(folds) => Ok(folds.clone()),
            ClassCriterion::HoldOut(fraction) => {
                match Split::hold_out(codes.len(), *fraction, session.seed()) {
                    Ok(Some(split)) => {
                        let mut assignment = vec![None; codes.len()];
                        split.held_out.iter().for_each(|&row| assignment[row] = Some(0));
                        Ok(assignment)
                    }
                    _ => Err(parameter(
                        "the held-out fraction",
                        fraction.to_string(),
                        "more than 0 and less than 1, and hold out a row and leave two",
                    )),
                }
            }
        }
    }

    fn validate(
        &self,
        samples: &AnySamples<'_>,
        codes: &[usize],
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let (rows, columns) = (samples.nrows(), samples.ncols());
        if rows == 0 || columns == 0 {
            return Err(LearnError::Empty { rows, columns });
        }
        if codes.len() != rows {
            return Err(LearnError::Length { what: "class labels", rows, found: codes.len() });
        }
        if self.judge == Judge::LogLoss && matches!(self.classifier, Classifier::Perceptron(_)) {
            return Err(LearnError::Unsupported(
                "a perceptron has no probabilities to judge it by; judge it by its accuracy",
            ));
        }
        self.classifier.kernel()?.check_columns(columns)?;
        // The matrix and, at most as large, the part that a fold is trained on with a factor of it.
        let needed = 24 * (rows as u64).saturating_mul(rows as u64);
        let budget = session.memory();
        if needed > budget { Err(LearnError::Memory { rows, needed, budget }) } else { Ok(()) }
    }
}

/// Scores a kernel's hyper-parameters.
struct Kernels<'a> {
    classifier: &'a Classifier,
    kernel: &'a Kernel,
    samples: &'a AnySamples<'a>,
    resident: Box<dyn Resident>,
    scores: ClassScores<'a>,
}

impl Scorer for Kernels<'_> {
    fn score(
        &mut self,
        values: &[f64],
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let kernel = self.kernel.with_values(values)?;
        self.classifier.admission().decide(&kernel, self.samples)?;
        let session = &session.part();
        let gram = DenseGram::<f64>::compute(&*self.resident, &kernel, session)?;
        // Some hyper-parameters may overflow where others do not.
        if !gram.entries().iter().all(|k| k.is_finite()) {
            return Ok(vec![None; settings.len()]);
        }
        let n = self.resident.nrows();
        let gram = Matrix::from_entries(n, n, gram.into_entries());
        self.scores.score(self.classifier, &gram, settings, session)
    }
}
