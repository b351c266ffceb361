//! Scores of a classifier on rows it has not seen, for every setting at one kernel.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::data::Matrix;
use crate::gram::DenseGram;
use crate::learn::{Coefficients, Inputs, LearnError, Logistic, Problem, Targets};
use crate::model::{Link, probabilities};
use crate::pool;
use crate::session::Session;
use crate::solve::LogisticError;
use crate::watch::Watch;

use super::tune_classifier::{Classifier, Judge};

/// The least probability that counts: a class that was held to be impossible costs no more than this.
const LEAST: f64 = 1e-15;

/// Dual coefficients and intercepts.
type Trained = (Matrix<f64>, Vec<f64>);

/// A part of the rows to train on, and the rest to be judged by.
struct Fold {
    train: Vec<usize>,
    held_out: Vec<usize>,
    /// The classes that have a row to train on, ascending.
    present: Vec<usize>,
    /// The place of each training row's class among them.
    codes: Vec<usize>,
}

/// The folds of labelled rows.
pub(super) struct ClassScores<'a> {
    codes: &'a [usize],
    weights: Option<&'a [f64]>,
    folds: Vec<Fold>,
    judge: Judge,
}

impl<'a> ClassScores<'a> {
    /// Judges by `judge` on each fold in turn; `assignment` has the fold of each row, none for rows that are always
    /// trained on.
    pub fn new(
        codes: &'a [usize],
        weights: Option<&'a [f64]>,
        assignment: &[Option<usize>],
        judge: Judge,
    ) -> Result<Self, LearnError> {
        let count = assignment.iter().flatten().max().map_or(0, |most| most + 1);
        let mut folds = Vec::with_capacity(count);
        for fold in 0..count {
            let counts = |row: &usize| weights.is_none_or(|w| w[*row] > 0.0);
            let (held_out, train): (Vec<usize>, Vec<usize>) =
                (0..codes.len()).filter(counts).partition(|&row| assignment[row] == Some(fold));
            let mut present: Vec<usize> = train.iter().map(|&row| codes[row]).collect();
            present.sort_unstable();
            present.dedup();
            if present.len() < 2 {
                return Err(LearnError::Unsupported(
                    "a fold leaves rows of one class to train on; use fewer folds, or gather more rows of each class",
                ));
            }
            let place = |class| present.partition_point(|p| *p < class);
            let codes = train.iter().map(|&row| place(codes[row])).collect();
            folds.push(Fold { train, held_out, present, codes });
        }
        Ok(Self { codes, weights, folds, judge })
    }

    /// The mean loss over the rows that are held out, for each setting; none where there is no answer.
    pub fn score(
        &self,
        classifier: &Classifier,
        gram: &Matrix<f64>,
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<f64>>, LearnError> {
        let mut losses: Vec<Option<f64>> = vec![Some(0.0); settings.len()];
        let mut total = 0.0;
        for fold in &self.folds {
            session.check()?;
            let trained = self.train(classifier, fold, gram, settings, session)?;
            let cross = block(gram, &fold.held_out, &fold.train);
            total += fold.held_out.iter().map(|&row| self.weight(row)).sum::<f64>();
            for (loss, found) in losses.iter_mut().zip(trained) {
                *loss = match (loss.take(), found) {
                    (Some(sum), Some(found)) => Some(sum + self.loss(fold, &outputs(&cross, &found))),
                    _ => None,
                };
            }
        }
        Ok(losses.into_iter().map(|loss| loss.map(|sum| sum / total)).collect())
    }

    /// The dual coefficients and intercepts for each setting.
    fn train(
        &self,
        classifier: &Classifier,
        fold: &Fold,
        gram: &Matrix<f64>,
        settings: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Trained>>, LearnError> {
        let part = block(gram, &fold.train, &fold.train);
        let part = DenseGram::new(fold.train.len(), part.into_entries());
        let (codes, classes) = (fold.codes.as_slice(), fold.present.len());
        let weights: Option<Vec<f64>> =
            self.weights.map(|all| fold.train.iter().map(|&row| all[row]).collect());
        match classifier {
            Classifier::Perceptron(perceptron) => {
                let dual = perceptron.dual(&part, codes, classes, session)?;
                let intercepts = vec![0.0; dual.ncols()];
                Ok(settings.iter().map(|_| Some((dual.clone(), intercepts.clone()))).collect())
            }
            Classifier::Logistic(logistic) => {
                // From strong to weak penalties each answer is a good start for the next.
                let mut order: Vec<usize> = (0..settings.len()).collect();
                order.sort_by(|&a, &b| settings[b].total_cmp(&settings[a]));
                let lambdas: Vec<f64> = order.iter().map(|&place| settings[place]).collect();
                let logistic = logistic.clone().with_class_weight(logistic.class_weight.among(&fold.present));
                let targets = Targets::codes(codes, classes);
                let problem = Problem::new(Inputs::Gram(&part), targets).weighted(weights);
                let path = path(&logistic, &problem, &lambdas, session)?;
                let mut answers = vec![None; settings.len()];
                for (place, found) in order.into_iter().zip(path) {
                    answers[place] = found.map(|found| (found.dual, found.intercepts));
                }
                Ok(answers)
            }
        }
    }

    /// The sum of the losses of one fold's held-out rows.
    fn loss(&self, fold: &Fold, outputs: &Matrix<f64>) -> f64 {
        let shares = match self.judge {
            Judge::LogLoss => Some(probabilities(outputs)),
            Judge::Accuracy => None,
        };
        let loss = |(place, &row): (usize, &usize)| {
            let truth = fold.present.binary_search(&self.codes[row]);
            let loss = match (&shares, truth) {
                (Some(shares), Ok(class)) => -shares.row(place)[class].max(LEAST).ln(),
                (Some(_), Err(_)) => -LEAST.ln(),
                (None, truth) => f64::from(u8::from(truth != Ok(Link::Decisions.class(outputs.row(place))))),
            };
            self.weight(row) * loss
        };
        fold.held_out.iter().enumerate().map(loss).sum()
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }
}

/// The path over descending `lambdas`; none for λ = 0 where it has no minimum.
fn path(
    logistic: &Logistic,
    problem: &Problem<'_>,
    lambdas: &[f64],
    session: &Session<'_>,
) -> Result<Vec<Option<Coefficients>>, LearnError> {
    match logistic.path(problem, lambdas, session) {
        Err(LearnError::Logistic(LogisticError::Separable)) => {
            let penalised = lambdas.partition_point(|lambda| *lambda > 0.0);
            let path = logistic.path(problem, &lambdas[..penalised], session)?;
            let mut found: Vec<_> = path.into_iter().map(Some).collect();
            found.resize_with(lambdas.len(), || None);
            Ok(found)
        }
        path => Ok(path?.into_iter().map(Some).collect()),
    }
}

/// The entries of `gram` at `rows` and `columns`.
fn block(gram: &Matrix<f64>, rows: &[usize], columns: &[usize]) -> Matrix<f64> {
    let mut entries = Vec::with_capacity(rows.len() * columns.len());
    for &row in rows {
        let row = gram.row(row);
        entries.extend(columns.iter().map(|&column| row[column]));
    }
    Matrix::from_entries(rows.len(), columns.len(), entries)
}

/// f at the rows of `cross`.
fn outputs(cross: &Matrix<f64>, (dual, intercepts): &Trained) -> Matrix<f64> {
    let (rows, width) = (cross.nrows(), intercepts.len());
    let mut out = Matrix::from_entries(rows, width, intercepts.repeat(rows));
    let left = MatRef::from_row_major_slice(cross.entries(), rows, cross.ncols());
    let right = MatRef::from_row_major_slice(dual.entries(), dual.nrows(), width);
    let place = MatMut::from_row_major_slice_mut(out.entries_mut(), rows, width);
    matmul(place, Accum::Add, left, right, 1.0, Par::rayon(pool::available()));
    out
}
