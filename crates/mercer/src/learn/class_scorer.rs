//! Scores of a classifier on held-out rows, for every setting at one kernel.

use crate::data::Matrix;
use crate::design::add_product;
use crate::gram::{DenseGram, Resident};
use crate::kernel::Kernel;
use crate::model::Link;
use crate::session::Session;
use crate::watch::Watch;

use super::error::{KERNEL_MATRIX, LearnError};
use super::problem::Problem;
use super::ridge::finite_gram;
use super::search::{Criterion, LeftOut, Measure, NO_KERNEL, Parts, Score, Scorer, Tally};

/// All rows outside a fold are of one class.
pub(super) const ONE_CLASS_LEFT: LearnError = LearnError::Unsupported(
    "a fold leaves only rows of one class to train on; use fewer folds, or gather more rows of each class",
);

/// A classifier Σᵢ aᵢ k(xᵢ, ·) + b that is trained on the rows outside of a fold.
pub(super) trait FoldTrainer {
    /// The interpretation of its outputs.
    const LINK: Link;

    /// The answer for each of `shared`, in their order; `None` if there is none.
    fn train_fold(
        &self,
        gram: &DenseGram<'_, f64>,
        fold: &Fold,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Trained>>, LearnError>;

    /// The outputs at the rows held out of each fold, for each of `shared`; `None` if there is no answer.
    fn outputs_left_out(
        &self,
        gram: &Matrix<f64>,
        folds: &Folds,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Vec<Option<Matrix<f64>>>>, LearnError> {
        folds.all.iter().map(|fold| self.outputs_of_fold(gram, fold, shared, session)).collect()
    }

    /// The outputs at the rows held out of one fold, for each of `shared`; `None` if there is no answer.
    fn outputs_of_fold(
        &self,
        gram: &Matrix<f64>,
        fold: &Fold,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Matrix<f64>>>, LearnError> {
        session.check()?;
        let part = block(gram, &fold.train, &fold.train);
        let part = DenseGram::new(fold.train.len(), part.into_entries());
        let trained = self.train_fold(&part, fold, shared, session)?;
        let cross = block(gram, &fold.held_out, &fold.train);
        Ok(trained.into_iter().map(|found| Some(outputs(&cross, &found?))).collect())
    }
}

/// The folds, and the class of every row.
pub(super) struct Folds {
    pub all: Vec<Fold>,
    pub codes: Vec<usize>,
    pub classes: usize,
}

/// Dual coefficients and intercepts.
pub(super) type Trained = (Matrix<f64>, Vec<f64>);

/// Rows to train on, and rows to score.
pub(super) struct Fold {
    pub train: Vec<usize>,
    pub held_out: Vec<usize>,
    /// The classes that have a row to train on, ascending.
    pub present: Vec<usize>,
    /// The index of each training row's class among them.
    pub codes: Vec<usize>,
    /// The weight of each training row; `None` if every row counts 1.
    pub weights: Option<Vec<f64>>,
}

/// The folds of labelled samples, prepared for any kernel.
pub(super) struct ClassScorer<'a, L> {
    learner: L,
    resident: Box<dyn Resident>,
    weights: Option<&'a [f64]>,
    folds: Folds,
    measure: Measure,
}

impl<'a, L: FoldTrainer> ClassScorer<'a, L> {
    /// # Errors
    /// If the criterion is not one of folds or leaves rows of one class alone, or if the memory budget is exceeded.
    pub fn new(
        learner: L,
        problem: &'a Problem<'a>,
        criterion: &Criterion,
        measure: Measure,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let rows = problem.nrows();
        // The matrix and, at most as large, the part that a fold is trained on with a factor of it.
        let needed = 24 * (rows as u64).saturating_mul(rows as u64);
        LearnError::check_memory(rows, KERNEL_MATRIX, needed, session.memory())?;
        let LeftOut::Parts(parts) = criterion.on(problem, session)? else {
            return Err(LearnError::Unsupported("a classifier is scored by folds or held-out rows"));
        };
        let ((codes, classes), weights) = (problem.codes()?, problem.weights());
        Ok(Self {
            learner,
            resident: session.load(problem.samples()?)?,
            weights,
            folds: Folds {
                all: folds(codes, weights, &parts, &problem.counted())?,
                codes: codes.to_vec(),
                classes,
            },
            measure,
        })
    }

    /// The predictions at the held-out rows of one fold.
    fn tally(&self, fold: &Fold, outputs: &Matrix<f64>) -> Tally {
        let Folds { codes, classes, .. } = &self.folds;
        let outputs = among_all(outputs, &fold.present, *classes);
        let shares = L::LINK.probabilities(&outputs);
        let mut tally = Tally::of_classes(self.measure, *classes);
        for (place, &row) in fold.held_out.iter().enumerate() {
            let shares = shares.as_ref().map(|shares| shares.row(place));
            tally.add_outputs(codes[row], L::LINK, outputs.row(place), shares, self.weight(row));
        }
        tally
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }
}

impl<L: FoldTrainer> Scorer for ClassScorer<'_, L> {
    /// The score of the predictions at the held-out rows.
    fn score(
        &mut self,
        kernel: Option<&Kernel>,
        shared: &[f64],
        session: &Session<'_>,
    ) -> Result<Vec<Option<Score>>, LearnError> {
        let session = &session.part();
        let gram = finite_gram(&*self.resident, kernel.ok_or(NO_KERNEL)?, session)?;
        let outputs = self.learner.outputs_left_out(&gram, &self.folds, shared, session)?;
        let score = |place: usize| {
            let folds = self.folds.all.iter().zip(&outputs);
            let tallies: Option<Vec<Tally>> =
                folds.map(|(fold, outputs)| Some(self.tally(fold, outputs[place].as_ref()?))).collect();
            Tally::score(&tallies?)
        };
        Ok((0..shared.len()).map(score).collect())
    }
}

/// Extends the outputs of a classifier of the classes `present` to all classes: the others are impossible.
fn among_all(outputs: &Matrix<f64>, present: &[usize], classes: usize) -> Matrix<f64> {
    if present.len() == classes {
        return outputs.clone();
    }
    let mut all =
        Matrix::from_entries(outputs.nrows(), classes, vec![f64::NEG_INFINITY; outputs.nrows() * classes]);
    for row in 0..outputs.nrows() {
        let of_present = match outputs.row(row) {
            [decision] => vec![0.0, *decision],
            several => several.to_vec(),
        };
        let place = all.row_mut(row);
        present.iter().zip(of_present).for_each(|(&class, output)| place[class] = output);
    }
    all
}

/// The rows `counted` outside and inside of each part.
fn folds(
    codes: &[usize],
    weights: Option<&[f64]>,
    parts: &Parts,
    counted: &[usize],
) -> Result<Vec<Fold>, LearnError> {
    let fold = |part: usize| {
        let (held_out, train): (Vec<usize>, Vec<usize>) =
            counted.iter().partition(|&&row| parts.of_row[row] == Some(part));
        let mut present: Vec<usize> = train.iter().map(|&row| codes[row]).collect();
        present.sort_unstable();
        present.dedup();
        if present.len() < 2 {
            return Err(ONE_CLASS_LEFT);
        }
        let place = |class| present.partition_point(|p| *p < class);
        let codes = train.iter().map(|&row| place(codes[row])).collect();
        let weights = weights.map(|all| train.iter().map(|&row| all[row]).collect());
        Ok(Fold { train, held_out, present, codes, weights })
    };
    (0..parts.count).map(fold).collect()
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
    add_product(out.entries_mut(), cross.entries(), dual, 1.0);
    out
}
