//! C-classification for several values of C at once: the path along C, and the classes of rows left out.

use crate::data::Matrix;
use crate::learn::error::LearnError;
use crate::learn::problem::Problem;
use crate::learn::search::Parts;
use crate::model::pairs_of;
use crate::session::Session;
use crate::solve::svm::Solution;
use crate::watch::Watch;

use super::Svm;
use super::dual::{Labels, Work};
use super::machine::{Machine, Part, check_cost};
use super::machines::Machines;
use super::multiclass::{largest_together, members};
use super::training::Training;

impl Svm {
    /// The machines of every pair of classes with each of `cs` in place of C, in their order: every machine starts from the one
    /// before, and kernel rows are shared. Ascending values gain most.
    ///
    /// # Errors
    /// As [`machines`](Self::machines), and for other machines than C-classification.
    pub fn path(
        &self,
        cs: &[f64],
        problem: &Problem<'_>,
        session: &Session<'_>,
    ) -> Result<Vec<Machines>, LearnError> {
        let samples = problem.samples()?;
        let kernel = self.kernel()?;
        kernel.check_columns(samples.ncols())?;
        let admitted = self.admission.decide(kernel, samples)?;
        let resident = session.load(samples)?;
        let training = Training::new(&*resident, kernel)?;
        let along =
            self.along(cs, &training, Labels::of(problem, &self.machine)?, session)?.pairs_along(cs)?;
        let warnings: Vec<String> = admitted.warning.into_iter().collect();
        let checked = |machines| Machines { domain: admitted.domain, warnings: warnings.clone(), ..machines };
        Ok(along.into_iter().map(checked).collect())
    }

    /// The class of every row of a fold by the machines trained on the rows outside of it, for each of `cs`; 0 for rows of no fold.
    /// Rows of weight 0 are not trained on. A class without rows to train on is never the answer.
    ///
    /// Pairs of classes and folds are solved in parallel, each along the whole path of C.
    ///
    /// # Errors
    /// As [`machines`](Self::machines), and where all rows outside of a fold are of one class.
    pub(super) fn left_out(
        &self,
        cs: &[f64],
        folds: &Parts,
        training: &Training<'_>,
        labels: Labels<'_>,
        session: &Session<'_>,
    ) -> Result<Vec<Vec<usize>>, LearnError> {
        let work = self.along(cs, training, labels, session)?;
        members(&labels)?;
        let cut = Cut::new(folds, &labels)?;
        let programs = cut.programs();
        let size = |&(fold, (i, j)): &Program| cut.rest[fold][i].len() + cut.rest[fold][j].len();
        let verdicts = largest_together(&programs, size, |&(fold, (i, j))| {
            session.check()?;
            let classes = &cut.rest[fold];
            let part = Part { rows: [&classes[i][..], &classes[j][..]].concat(), positive: classes[i].len() };
            let answers = work.solve_path(&part, cs)?;
            verdicts(&answers, training, &part.rows, &cut.held[fold], session)
        })?;
        Ok((0..cs.len()).map(|k| cut.voted(k, folds.of_row.len(), &programs, &verdicts)).collect())
    }

    /// The work with every bound as for C = 1.
    fn along<'a>(
        &'a self,
        cs: &[f64],
        training: &'a Training<'_>,
        labels: Labels<'a>,
        session: &'a Session<'_>,
    ) -> Result<Work<'a>, LearnError> {
        if !matches!(self.machine, Machine::Svc { .. }) {
            return Err(LearnError::Unsupported("only C-classification has a path along C"));
        }
        for &c in cs {
            check_cost(c)?;
        }
        Work::bounded(self, training, labels, 1.0, session)
    }
}

/// A fold, and the pair of classes that is told apart without it.
type Program = (usize, (usize, usize));

/// The rows of every fold, and those of the other folds by their class.
struct Cut {
    held: Vec<Vec<usize>>,
    rest: Vec<Vec<Vec<usize>>>,
}

impl Cut {
    fn new(folds: &Parts, labels: &Labels<'_>) -> Result<Self, LearnError> {
        let held = folds.rows();
        let trained = |fold: usize| {
            let mut classes = vec![Vec::new(); labels.classes];
            let counts = |row: &usize| folds.of_row[*row] != Some(fold) && labels.counts(*row);
            (0..folds.of_row.len()).filter(counts).for_each(|row| classes[labels.codes[row]].push(row));
            classes
        };
        let rest: Vec<Vec<Vec<usize>>> = (0..folds.count).map(trained).collect();
        for (fold, classes) in rest.iter().enumerate().filter(|(fold, _)| !held[*fold].is_empty()) {
            let found = classes.iter().filter(|class| !class.is_empty()).count();
            if found < 2 {
                return Err(LearnError::Parameter {
                    parameter: "folds",
                    received: format!("a fold, number {fold}, without which there is {found} class"),
                    allowed: "such that two classes are left without any of them",
                });
            }
        }
        Ok(Self { held, rest })
    }

    /// Every fold with every pair of classes that has rows to train on.
    fn programs(&self) -> Vec<Program> {
        let of = |(fold, classes): (usize, &Vec<Vec<usize>>)| {
            pairs_of(classes.len()).map(move |pair| (fold, pair)).collect::<Vec<_>>()
        };
        let present = |&(fold, (i, j)): &Program| {
            !(self.held[fold].is_empty() || self.rest[fold][i].is_empty() || self.rest[fold][j].is_empty())
        };
        self.rest.iter().enumerate().flat_map(of).filter(present).collect()
    }

    /// The class with most votes for every row, the first of equals, at the k-th C.
    fn voted(&self, k: usize, rows: usize, programs: &[Program], verdicts: &[Vec<Vec<bool>>]) -> Vec<usize> {
        let classes = self.rest.first().map_or(0, Vec::len);
        let mut votes = vec![0u32; rows * classes];
        for (&(fold, (i, j)), verdicts) in programs.iter().zip(verdicts) {
            for (&row, &is_first) in self.held[fold].iter().zip(&verdicts[k]) {
                votes[row * classes + if is_first { i } else { j }] += 1;
            }
        }
        let mut answer = vec![0; rows];
        for (held, rest) in self.held.iter().zip(&self.rest) {
            let trained: Vec<usize> = (0..classes).filter(|&class| !rest[class].is_empty()).collect();
            for &row in held {
                let votes = |class: &usize| votes[row * classes + class];
                answer[row] = trained.iter().copied().rev().max_by_key(votes).unwrap_or(0);
            }
        }
        answer
    }
}

/// Whether each of the rows `held` is of the first class of a pair, for each C.
fn verdicts(
    answers: &[Solution],
    training: &Training<'_>,
    rows: &[usize],
    held: &[usize],
    session: &Session<'_>,
) -> Result<Vec<Vec<bool>>, LearnError> {
    let used: Vec<usize> =
        (0..rows.len()).filter(|&k| answers.iter().any(|answer| answer.beta[k] != 0.0)).collect();
    let support: Vec<usize> = used.iter().map(|&k| rows[k]).collect();
    let factors = used.iter().flat_map(|&k| answers.iter().map(move |answer| answer.beta[k])).collect();
    let factors = Matrix::from_entries(used.len(), answers.len(), factors);
    let mut sums = Matrix::zeros(held.len(), answers.len());
    training.rows().apply_part(held, &support, &factors, &mut sums, session)?;
    let sides = |(o, answer): (usize, &Solution)| {
        let rho = answer.rho();
        (0..held.len()).map(|row| sums.row(row)[o] > rho).collect()
    };
    Ok(answers.iter().enumerate().map(sides).collect())
}
