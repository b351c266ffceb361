//! Support vector classification for several values of C at once: the path along C, and what it says of rows left out.

use crate::data::{AnySamples, Matrix};
use crate::learn::error::LearnError;
use crate::model::pairs_of;
use crate::session::Session;
use crate::solve::svm::{BoxQp, Solution};
use crate::watch::Watch;

use super::classify::Svc;
use super::one_vs_one::{OneVsOne, Pair, compact, each_pair, largest_together, members};
use super::training::{Training, bounds, check_length, load};

impl Svc {
    /// Fits with each of `cs` in place of C, in their order: every machine starts from the one before, and kernel rows are shared.
    /// Ascending values gain most.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_path(
        &self,
        cs: &[f64],
        samples: &AnySamples<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Vec<OneVsOne>, LearnError> {
        self.kernel.check_columns(samples.ncols())?;
        let resident = load(samples, session)?;
        self.admission.decide(&self.kernel, samples)?;
        self.fit_path_on(cs, &Training::new(&*resident, &self.kernel)?, codes, nclasses, weights, session)
    }

    /// As [`fit_path`](Self::fit_path), on a matrix that is ready; the kernel is not looked at.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_path_on(
        &self,
        cs: &[f64],
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Vec<OneVsOne>, LearnError> {
        let shares = self.shares(cs, training, codes, nclasses, weights)?;
        let members = members(codes, nclasses, |row| weights.is_none_or(|w| w[row] > 0.0))?;
        let mut solved = each_pair(&members, session, |rows, first| {
            let answers = self.path_of(cs, training, &shares, rows, first, session)?;
            let pair = |s: Solution| Pair { rho: s.rho(), coefficients: s.beta, report: s.report };
            Ok(answers.into_iter().map(pair).collect::<Vec<_>>().into_iter())
        })?;
        let fitted =
            |_| compact(codes.len(), &members, solved.iter_mut().filter_map(Iterator::next).collect());
        Ok(cs.iter().map(fitted).collect())
    }

    /// The class of every row, by the machines trained on the rows of all other folds, for each of `cs`. Rows of weight 0 are
    /// not trained on. A class without rows to train on is never the answer.
    ///
    /// Pairs of classes and folds are solved side by side, each along the whole path of C.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and where all rows outside of a fold are of one class.
    #[allow(clippy::too_many_arguments, reason = "the data, and how it is cut")]
    pub fn left_out_on(
        &self,
        cs: &[f64],
        folds: &[usize],
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Vec<Vec<usize>>, LearnError> {
        let shares = self.shares(cs, training, codes, nclasses, weights)?;
        check_length("fold numbers", codes.len(), folds.len())?;
        members(codes, nclasses, |row| weights.is_none_or(|w| w[row] > 0.0))?;
        let nfolds = folds.iter().max().map_or(0, |last| last + 1);
        let out_of =
            |fold: usize| (0..folds.len()).filter(move |&row| folds[row] == fold).collect::<Vec<_>>();
        let held: Vec<Vec<usize>> = (0..nfolds).map(out_of).collect();
        let trained = |fold: usize| {
            let mut classes = vec![Vec::new(); nclasses];
            let counts = |row: &usize| folds[*row] != fold && weights.is_none_or(|w| w[*row] > 0.0);
            (0..codes.len()).filter(counts).for_each(|row| classes[codes[row]].push(row));
            classes
        };
        let rest: Vec<Vec<Vec<usize>>> = (0..nfolds).map(trained).collect();
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
        let present = |&(fold, (i, j)): &(usize, (usize, usize))| {
            !held[fold].is_empty() && !rest[fold][i].is_empty() && !rest[fold][j].is_empty()
        };
        let work: Vec<(usize, (usize, usize))> = (0..nfolds)
            .flat_map(|fold| pairs_of(nclasses).map(move |pair| (fold, pair)))
            .filter(present)
            .collect();
        let size = |&(fold, (i, j)): &(usize, (usize, usize))| rest[fold][i].len() + rest[fold][j].len();
        let verdicts = largest_together(&work, size, |&(fold, (i, j))| {
            session.check()?;
            let classes = &rest[fold];
            let rows = [&classes[i][..], &classes[j][..]].concat();
            let answers = self.path_of(cs, training, &shares, &rows, classes[i].len(), session)?;
            verdicts(&answers, training, &rows, &held[fold], session)
        })?;
        Ok((0..cs.len()).map(|k| voted(k, &work, &verdicts, &held, &rest, codes.len(), nclasses)).collect())
    }

    /// The bound of each row's variable at C = 1.
    fn shares(
        &self,
        cs: &[f64],
        training: &Training<'_>,
        codes: &[usize],
        nclasses: usize,
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, LearnError> {
        check_length("classes", training.nrows(), codes.len())?;
        for &c in cs {
            bounds(c, 0, None)?;
        }
        self.bounds(1.0, codes, nclasses, weights)
    }

    /// The machines that tell the first of some rows from those after them, for each C.
    fn path_of(
        &self,
        cs: &[f64],
        training: &Training<'_>,
        shares: &[f64],
        rows: &[usize],
        first: usize,
        session: &Session<'_>,
    ) -> Result<Vec<Solution>, LearnError> {
        let positive: Vec<bool> = (0..rows.len()).map(|k| k < first).collect();
        let shares: Vec<f64> = rows.iter().map(|&row| shares[row]).collect();
        training.solve_path(&BoxQp::classify(rows, &positive, &shares)?, cs, &self.settings, session)
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

/// The class with most votes for every row, the first of equals, at the k-th C.
fn voted(
    k: usize,
    work: &[(usize, (usize, usize))],
    verdicts: &[Vec<Vec<bool>>],
    held: &[Vec<usize>],
    rest: &[Vec<Vec<usize>>],
    rows: usize,
    nclasses: usize,
) -> Vec<usize> {
    let mut votes = vec![0u32; rows * nclasses];
    for (&(fold, (i, j)), verdicts) in work.iter().zip(verdicts) {
        for (&row, &is_first) in held[fold].iter().zip(&verdicts[k]) {
            votes[row * nclasses + if is_first { i } else { j }] += 1;
        }
    }
    let mut answer = vec![0; rows];
    for (held, classes) in held.iter().zip(rest) {
        let trained: Vec<usize> = (0..nclasses).filter(|&class| !classes[class].is_empty()).collect();
        for &row in held {
            let votes = |class: &usize| votes[row * nclasses + class];
            answer[row] = trained.iter().copied().rev().max_by_key(votes).unwrap_or(0);
        }
    }
    answer
}
