//! One machine for every pair of classes, in LIBSVM's compact layout.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::learn::error::LearnError;
use crate::model::pairs_of;
use crate::session::Session;
use crate::solve::svm::SvmReport;
use crate::watch::Watch;

/// Machines for the pairs (0, 1), (0, 2), …, (1, 2), … of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct OneVsOne {
    /// Rows of the training samples that are a support vector of any pair, class by class and ascending within each.
    pub support: Vec<usize>,
    /// How many of them each class has.
    pub per_class: Vec<usize>,
    /// One row per support vector, one column less than there are classes. For a pair (i, j), the coefficients of class i's
    /// support vectors stand in column j − 1, those of class j's in column i.
    pub coefficients: Matrix<f64>,
    /// ρ of each pair: class i where Σ aₛ k(xₛ, x) > ρ, else class j.
    pub rho: Vec<f64>,
    /// How good the answer is, for each pair.
    pub reports: Vec<SvmReport>,
}

/// One pair's machine: a coefficient for each of its rows, in their order, and ρ.
pub(super) struct Pair {
    pub coefficients: Vec<f64>,
    pub rho: f64,
    pub report: SvmReport,
}

/// From this many rows on a pair is solved by all threads together; below, each thread solves pairs of its own.
const LARGE: usize = 8_000;

/// Solves every pair of classes. `solve` is told the rows of class i, then those of class j, and how many the former are.
pub(super) fn one_vs_one(
    codes: &[usize],
    nclasses: usize,
    present: impl Fn(usize) -> bool,
    session: &Session<'_>,
    solve: impl Fn(&[usize], usize) -> Result<Pair, LearnError> + Sync,
) -> Result<OneVsOne, LearnError> {
    let members = members(codes, nclasses, present)?;
    let solved = each_pair(&members, session, solve)?;
    Ok(compact(codes.len(), &members, solved))
}

/// The rows of each class that are `present`; every class has some.
pub(super) fn members(
    codes: &[usize],
    nclasses: usize,
    present: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<usize>>, LearnError> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); nclasses];
    for (row, &code) in codes.iter().enumerate().filter(|(row, _)| present(*row)) {
        let class = members.get_mut(code).ok_or(LearnError::Code { row, code, classes: nclasses })?;
        class.push(row);
    }
    let found = members.iter().filter(|class| !class.is_empty()).count();
    if found < 2 {
        return Err(LearnError::Classes { found });
    }
    match members.iter().position(Vec::is_empty) {
        Some(class) => Err(LearnError::EmptyClass { class, classes: nclasses }),
        None => Ok(members),
    }
}

/// What `solve` finds for each pair of classes, told the rows of class i, then those of class j, and how many the former
/// are.
pub(super) fn each_pair<R: Send>(
    members: &[Vec<usize>],
    session: &Session<'_>,
    solve: impl Fn(&[usize], usize) -> Result<R, LearnError> + Sync,
) -> Result<Vec<R>, LearnError> {
    let pairs: Vec<(usize, usize)> = pairs_of(members.len()).collect();
    session.begin("support vectors", pairs.len() as u64);
    let size = |&(i, j): &(usize, usize)| members[i].len() + members[j].len();
    largest_together(&pairs, size, |&(i, j)| {
        session.check()?;
        let pair = solve(&[&members[i][..], &members[j][..]].concat(), members[i].len());
        session.advance(1);
        pair
    })
}

/// Does each piece of work, given how many rows it has: large ones one after the other, by all threads together; then small
/// ones, each by a thread of its own. Answers are in the order of the pieces.
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

/// Distinct support vectors, and the coefficients of all pairs beside them.
pub(super) fn compact(rows: usize, members: &[Vec<usize>], solved: Vec<Pair>) -> OneVsOne {
    let width = members.len() - 1;
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
    let support = chosen.concat();
    let entries = support.iter().flat_map(|&row| dense.row(row).to_vec()).collect();
    OneVsOne {
        per_class: chosen.iter().map(Vec::len).collect(),
        coefficients: Matrix::from_entries(support.len(), width, entries),
        support,
        rho: solved.iter().map(|pair| pair.rho).collect(),
        reports: solved.into_iter().map(|pair| pair.report).collect(),
    }
}
