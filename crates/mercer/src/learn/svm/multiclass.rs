//! Several classes: one machine for every pair of classes, or one for every class against all others.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::learn::error::LearnError;
use crate::model::pairs_of;
use crate::watch::Watch;

use super::dual::{Labels, Work};
use super::machine::{Decision, Part};
use super::machines::Machines;

/// The scheme for several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One machine per pair of classes, in LIBSVM's layout; the class with most votes wins.
    #[default]
    OneVsOne,
    /// One machine per class against all others; for two classes a single one, which is positive for the second.
    OneVsRest,
}

/// The number of rows from which all threads solve a program together; below, each thread solves separate programs.
pub(super) const LARGE: usize = 8_000;

/// The programs of a scheme: the rows of each class, and the classes that each program separates.
pub(super) struct Programs {
    members: Vec<Vec<usize>>,
    /// A class, and another or all others.
    sides: Vec<(usize, Option<usize>)>,
}

impl Programs {
    /// The programs of labelled rows; rows of weight 0 are left out.
    ///
    /// # Errors
    /// If a class has no row.
    pub fn new(labels: &Labels<'_>, scheme: Multiclass) -> Result<Self, LearnError> {
        let members = members(labels)?;
        let classes = members.len();
        let sides = match scheme {
            Multiclass::OneVsOne => pairs_of(classes).map(|(i, j)| (i, Some(j))).collect(),
            Multiclass::OneVsRest if classes == 2 => vec![(1, None)],
            Multiclass::OneVsRest => (0..classes).map(|class| (class, None)).collect(),
        };
        Ok(Self { members, sides })
    }

    pub fn len(&self) -> usize {
        self.sides.len()
    }

    /// Rows of a program.
    pub fn size(&self, program: usize) -> usize {
        match self.sides[program] {
            (i, Some(j)) => self.members[i].len() + self.members[j].len(),
            _ => self.members.iter().map(Vec::len).sum(),
        }
    }

    /// A program's rows, class by class.
    pub fn part(&self, program: usize) -> Part {
        let (i, other) = self.sides[program];
        let others = (0..self.members.len()).filter(|&class| other.map_or(class != i, |j| class == j));
        let rows = std::iter::once(i).chain(others).flat_map(|class| &self.members[class]);
        Part { rows: rows.copied().collect(), positive: self.members[i].len() }
    }

    /// The largest ν that is feasible for every program: twice the share of its smaller side.
    pub fn largest_nu(&self, labels: &Labels<'_>) -> f64 {
        let weight = |row: &usize| labels.weights.map_or(1.0, |weights| weights[*row]);
        let largest = |program: usize| {
            let Part { rows, positive } = self.part(program);
            let (plus, minus) = rows.split_at(positive);
            let (p, m) = (plus.iter().map(weight).sum::<f64>(), minus.iter().map(weight).sum::<f64>());
            2.0 * p.min(m) / (p + m)
        };
        (0..self.len()).map(largest).fold(1.0, f64::min)
    }

    /// The result of `solve` for each program, given its rows.
    fn each<R: Send>(
        &self,
        work: &Work<'_>,
        solve: impl Fn(Part) -> Result<R, LearnError> + Sync,
    ) -> Result<Vec<R>, LearnError> {
        work.session.begin("support vectors", self.len() as u64);
        let programs: Vec<usize> = (0..self.len()).collect();
        largest_together(
            &programs,
            |&program| self.size(program),
            |&program| {
                work.session.check()?;
                let found = solve(self.part(program));
                work.session.advance(1);
                found
            },
        )
    }
}

/// The rows of each class with a weight above 0; every class has some.
pub(super) fn members(labels: &Labels<'_>) -> Result<Vec<Vec<usize>>, LearnError> {
    let classes = labels.classes;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); classes];
    for (row, &code) in labels.codes.iter().enumerate().filter(|(row, _)| labels.counts(*row)) {
        members.get_mut(code).ok_or(LearnError::Code { row, code, classes })?.push(row);
    }
    let found = members.iter().filter(|class| !class.is_empty()).count();
    if found < 2 {
        return Err(LearnError::Classes { found });
    }
    match members.iter().position(Vec::is_empty) {
        Some(class) => Err(LearnError::EmptyClass { class, classes }),
        None => Ok(members),
    }
}

/// Runs each piece of work, given its number of rows: large ones one after the other, on all threads together; then
/// small ones, each on a separate thread. Results are in the order of the pieces.
pub(super) fn largest_together<W: Sync, R: Send>(
    work: &[W],
    rows: impl Fn(&W) -> usize + Sync,
    solve: impl Fn(&W) -> Result<R, LearnError> + Sync,
) -> Result<Vec<R>, LearnError> {
    let is_large = |piece: &W| rows(piece) >= LARGE;
    let mut solved: Vec<Option<R>> = work.iter().map(|_| None).collect();
    for (piece, place) in work.iter().zip(&mut solved).filter(|(piece, _)| is_large(piece)) {
        *place = Some(solve(piece)?);
    }
    work.par_iter().zip(&mut solved).with_max_len(1).filter(|(piece, _)| !is_large(piece)).try_for_each(
        |(piece, place)| -> Result<(), LearnError> {
            *place = Some(solve(piece)?);
            Ok(())
        },
    )?;
    Ok(solved.into_iter().flatten().collect())
}

impl Work<'_> {
    /// Solves the programs of all classes.
    pub(super) fn classes(&self) -> Result<Machines, LearnError> {
        let scheme = self.svm.multiclass;
        let programs = Programs::new(&self.labels, scheme)?;
        match scheme {
            Multiclass::OneVsOne => {
                let solved = programs.each(self, |part| self.solve(&part))?;
                self.compact(&programs, solved)
            }
            Multiclass::OneVsRest => {
                let solved = programs.each(self, |mut part| {
                    part.rows[part.positive..].sort_unstable();
                    Ok((self.solve(&part)?, part))
                })?;
                self.columns(solved)
            }
        }
    }

    /// The machines of every pair of classes for bounds multiplied by each of `cs`.
    pub(super) fn pairs_along(&self, cs: &[f64]) -> Result<Vec<Machines>, LearnError> {
        let programs = Programs::new(&self.labels, Multiclass::OneVsOne)?;
        let mut solved = programs.each(self, |part| {
            let decision = |solution| self.svm.machine.scale(solution);
            let decisions: Result<Vec<_>, _> =
                self.solve_path(&part, cs)?.into_iter().map(decision).collect();
            Ok(decisions?.into_iter())
        })?;
        let next = |_| self.compact(&programs, solved.iter_mut().filter_map(Iterator::next).collect());
        cs.iter().map(next).collect()
    }

    /// Distinct support vectors, with the coefficients of all pairs.
    fn compact(&self, programs: &Programs, solved: Vec<Decision>) -> Result<Machines, LearnError> {
        let members = &programs.members;
        let (rows, width) = (self.labels.codes.len(), members.len() - 1);
        let mut used = vec![false; rows];
        let mut dense = Matrix::zeros(rows, width);
        for ((i, j), pair) in pairs_of(members.len()).zip(&solved) {
            let (first, second) = pair.coefficients.split_at(members[i].len());
            for (class, column, values) in [(i, j - 1, first), (j, i, second)] {
                for (&row, &value) in members[class].iter().zip(values).filter(|(_, value)| **value != 0.0) {
                    used[row] = true;
                    dense.row_mut(row)[column] = value;
                }
            }
        }
        let chosen: Vec<Vec<usize>> =
            members.iter().map(|class| class.iter().copied().filter(|&row| used[row]).collect()).collect();
        let (support, per_class) = (chosen.concat(), chosen.iter().map(Vec::len).collect());
        let solved = solved.into_iter().map(|pair| (pair.rho, pair.report)).collect();
        let coefficients = dense.select(&support);
        Ok(Machines::new(self.svm.kernel()?.clone(), support, Some(per_class), coefficients, solved))
    }

    /// Support vectors of any machine, and a column of coefficients for each machine.
    fn columns(&self, solved: Vec<(Decision, Part)>) -> Result<Machines, LearnError> {
        let rows = self.labels.codes.len();
        let mut dense = Matrix::zeros(rows, solved.len());
        for (machine, (decision, part)) in solved.iter().enumerate() {
            let terms = part.rows.iter().zip(&decision.coefficients);
            terms.for_each(|(&row, &a)| dense.row_mut(row)[machine] = a);
        }
        let support: Vec<usize> = (0..rows).filter(|&row| dense.row(row).iter().any(|a| *a != 0.0)).collect();
        let solved = solved.into_iter().map(|(decision, _)| (decision.rho, decision.report)).collect();
        let coefficients = dense.select(&support);
        Ok(Machines::new(self.svm.kernel()?.clone(), support, None, coefficients, solved))
    }
}
