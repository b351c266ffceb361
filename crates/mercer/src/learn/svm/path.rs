//! Several values of C or ν at once: the path of C-classification along C, and the predictions of all machines at
//! held-out rows.

use crate::data::Matrix;
use crate::learn::class_scorer::ONE_CLASS_LEFT;
use crate::learn::error::LearnError;
use crate::learn::problem::Problem;
use crate::learn::search::Parts;
use crate::model::pairs_of;
use crate::session::Session;
use crate::watch::Watch;

use super::Svm;
use super::dual::{Labels, Work};
use super::machine::{Decision, Machine, Part, check_cost};
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
        let found = self.kernel_check.decide(kernel, samples)?;
        let resident = session.load(samples)?;
        let training = Training::new(&*resident, kernel)?;
        if !matches!(self.machine, Machine::Svc { .. }) {
            return Err(LearnError::Unsupported("only C-classification has a path along C"));
        }
        let along =
            self.along(cs, &training, Labels::of(problem, &self.machine)?, session)?.pairs_along(cs)?;
        let warnings: Vec<String> = found.warning.into_iter().collect();
        let checked = |machines| Machines { domain: found.domain, warnings: warnings.clone(), ..machines };
        Ok(along.into_iter().map(checked).collect())
    }

    /// The prediction at every row of a fold by the machines trained on the rows outside of it, for each of `values` of C or ν, none
    /// where ν is infeasible; 0 for rows of no fold. Rows of weight 0 are not trained on. A class without rows to train
    /// on is never predicted.
    ///
    /// Pairs of classes and folds are solved in parallel, each along the whole path of C.
    ///
    /// # Errors
    /// As [`machines`](Self::machines), and if all rows outside of a fold are of one class.
    pub(super) fn classes_left_out(
        &self,
        values: &[f64],
        folds: &Parts,
        training: &Training<'_>,
        labels: Labels<'_>,
        session: &Session<'_>,
    ) -> Result<Vec<Option<Predicted>>, LearnError> {
        let work = self.along(values, training, labels, session)?;
        members(&labels)?;
        let cut = Cut::new(folds, &labels)?;
        let programs = cut.programs();
        let size = |&(fold, (i, j)): &Program| cut.rest[fold][i].len() + cut.rest[fold][j].len();
        let verdicts = largest_together(&programs, size, |&(fold, (i, j))| {
            session.check()?;
            let classes = &cut.rest[fold];
            let part = Part { rows: [&classes[i][..], &classes[j][..]].concat(), positive: classes[i].len() };
            let answers = work.decisions_along(&part, values)?;
            outputs(&answers, training, &part.rows, &cut.held[fold], session)
        })?;
        let rows = folds.of_row.len();
        let voted = |k: usize| {
            let feasible = verdicts.iter().all(|outputs| outputs[k].is_some());
            feasible.then(|| Predicted {
                classes: cut.voted(k, rows, &programs, &verdicts),
                decisions: cut.decisions(k, rows, &programs, &verdicts),
            })
        };
        Ok((0..values.len()).map(voted).collect())
    }

    /// The output at every row of a fold by the machine trained on the rows outside of it, for each of `values` of C or ν; 0 for
    /// rows of no fold. Rows of weight 0 are not trained on.
    ///
    /// # Errors
    /// As [`machines`](Self::machines).
    pub(super) fn outputs_left_out(
        &self,
        values: &[f64],
        folds: &Parts,
        training: &Training<'_>,
        labels: Labels<'_>,
        session: &Session<'_>,
    ) -> Result<Vec<Option<Vec<f64>>>, LearnError> {
        let work = self.along(values, training, labels, session)?;
        let (held, rows) = (folds.rows(), folds.of_row.len());
        let numbers: Vec<usize> = (0..folds.count).collect();
        let found = largest_together(
            &numbers,
            |_| rows,
            |&fold| {
                session.check()?;
                let counts = |row: &usize| folds.of_row[*row] != Some(fold) && labels.counts(*row);
                let part = Part { rows: (0..rows).filter(counts).collect(), positive: 0 };
                let answers = work.decisions_along(&part, values)?;
                outputs(&answers, training, &part.rows, &held[fold], session)
            },
        )?;
        let gathered = |k: usize| {
            let mut all = vec![0.0; rows];
            for (held, outputs) in held.iter().zip(&found) {
                held.iter().zip(outputs[k].as_ref()?).for_each(|(&row, output)| all[row] = *output);
            }
            Some(all)
        };
        Ok((0..values.len()).map(gathered).collect())
    }

    /// The programs with every bound as for C = 1.
    fn along<'a>(
        &'a self,
        values: &[f64],
        training: &'a Training<'_>,
        labels: Labels<'a>,
        session: &'a Session<'_>,
    ) -> Result<Work<'a>, LearnError> {
        for &value in values {
            check_cost(value)?;
        }
        Work::bounded(self, training, labels, 1.0, session)
    }
}

/// The predictions of machines at held-out rows.
pub(super) struct Predicted {
    /// The class of each row.
    pub classes: Vec<usize>,
    /// With two classes, the decision at each row, positive for the first.
    pub decisions: Option<Vec<f64>>,
}

/// A fold, and the pair of classes separated by the other rows.
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
        let too_few = |classes: &[Vec<usize>]| classes.iter().filter(|class| !class.is_empty()).count() < 2;
        if held.iter().zip(&rest).any(|(held, classes)| !held.is_empty() && too_few(classes)) {
            return Err(ONE_CLASS_LEFT);
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

    /// The decision for every row at the k-th C, if there are two classes.
    fn decisions(
        &self,
        k: usize,
        rows: usize,
        programs: &[Program],
        outputs: &[Vec<Option<Vec<f64>>>],
    ) -> Option<Vec<f64>> {
        if self.rest.first().map_or(0, Vec::len) != 2 {
            return None;
        }
        let mut decisions = vec![0.0; rows];
        for ((fold, _), outputs) in programs.iter().zip(outputs) {
            let outputs = outputs[k].iter().flatten();
            self.held[*fold].iter().zip(outputs).for_each(|(&row, output)| decisions[row] = *output);
        }
        Some(decisions)
    }

    /// The class with most votes for every row, the first of equals, at the k-th C.
    fn voted(
        &self,
        k: usize,
        rows: usize,
        programs: &[Program],
        outputs: &[Vec<Option<Vec<f64>>>],
    ) -> Vec<usize> {
        let classes = self.rest.first().map_or(0, Vec::len);
        let mut votes = vec![0u32; rows * classes];
        for (&(fold, (i, j)), outputs) in programs.iter().zip(outputs) {
            for (&row, &output) in self.held[fold].iter().zip(outputs[k].iter().flatten()) {
                votes[row * classes + if output > 0.0 { i } else { j }] += 1;
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

/// The outputs at the rows `held` of each answer.
fn outputs(
    answers: &[Option<Decision>],
    training: &Training<'_>,
    rows: &[usize],
    held: &[usize],
    session: &Session<'_>,
) -> Result<Vec<Option<Vec<f64>>>, LearnError> {
    let coefficient =
        |answer: &Option<Decision>, k: usize| answer.as_ref().map_or(0.0, |a| a.coefficients[k]);
    let used: Vec<usize> =
        (0..rows.len()).filter(|&k| answers.iter().any(|answer| coefficient(answer, k) != 0.0)).collect();
    let support: Vec<usize> = used.iter().map(|&k| rows[k]).collect();
    let factors =
        used.iter().flat_map(|&k| answers.iter().map(move |answer| coefficient(answer, k))).collect();
    let factors = Matrix::from_entries(used.len(), answers.len(), factors);
    let mut sums = Matrix::zeros(held.len(), answers.len());
    training.rows().apply_part(held, &support, &factors, &mut sums, session)?;
    let shifted = |(o, answer): (usize, &Option<Decision>)| {
        let rho = answer.as_ref()?.rho;
        Some((0..held.len()).map(|row| sums.row(row)[o] - rho).collect())
    };
    Ok(answers.iter().enumerate().map(shifted).collect())
}
