//! A machine for every pair of classes: f_ij(x) = Σₛ aₛ k(cₛ, x) − ρ_ij, and the vote among them.

use std::ops::Range;

use crate::data::{AnySamples, Matrix};
use crate::gram::{GramError, Resident};
use crate::kernel::Kernel;
use crate::kernel::check::Domain;
use crate::session::Session;

use super::domain::check_samples;
use super::error::ModelError;

/// Multiplications at each sample that cost less than another pass over the samples: a constant, and a term for each
/// column.
const PASS: [usize; 2] = [3_000, 32];

/// Machines for the pairs (0, 1), (0, 2), …, (1, 2), … of classes over one set of support vectors, in LIBSVM's layout.
///
/// For a pair (i, j), the coefficients of class i's support vectors stand in column j − 1, those of class j's in column i.
/// f_ij(x) > 0 is a vote for class i, anything else one for class j; of classes with equally many votes the first wins.
/// A single class has no pairs and always wins: no fit gives such a model, but LIBSVM writes it for training data of
/// one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// k, with every hyper-parameter a number.
    pub kernel: Kernel,
    /// The domain on which k is proven to be positive semidefinite; `None` if that was assumed or is undecided.
    pub domain: Option<Domain>,
    /// The support vectors, class by class.
    pub centres: AnySamples<'static>,
    /// How many of them each class has: one class at least.
    pub per_class: Vec<usize>,
    /// One row per support vector, one column less than there are classes.
    pub coefficients: Matrix<f64>,
    /// ρ of each pair.
    pub rho: Vec<f64>,
}

impl Pairs {
    /// Number of classes.
    #[must_use]
    pub fn nclasses(&self) -> usize {
        self.per_class.len()
    }

    /// Number of pairs, each of which is an output.
    #[must_use]
    pub fn noutputs(&self) -> usize {
        self.rho.len()
    }

    /// The problem that makes this model invalid, such as after reading it from a file; `None` if it is valid.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let (classes, rows) = (self.nclasses(), self.centres.nrows());
        if classes == 0 {
            return Some("no classes".into());
        }
        // The sum of counts that a file claims may overflow.
        let counted = self.per_class.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
        if counted != Some(rows) {
            return Some(format!("{rows} support vectors, but another number in its classes"));
        }
        let shape = (self.coefficients.nrows(), self.coefficients.ncols());
        if shape != (rows, classes - 1) {
            return Some(format!(
                "{} × {} coefficients for {rows} support vectors of {classes} classes",
                shape.0, shape.1
            ));
        }
        let pairs = classes * (classes - 1) / 2;
        if self.rho.len() != pairs {
            return Some(format!("{} offsets for {pairs} pairs of classes", self.rho.len()));
        }
        if !self.rho.iter().all(|rho| rho.is_finite()) {
            return Some("offsets that are not all finite numbers".into());
        }
        None
    }

    /// The coefficients with a column for each pair, 0 for support vectors of other classes.
    #[must_use]
    pub fn by_pair(&self) -> Matrix<f64> {
        let mut columns = Matrix::zeros(self.centres.nrows(), self.noutputs());
        for (class, rows) in self.classes() {
            let places = self.places(class);
            for row in rows {
                let (to, from) = (columns.row_mut(row), self.coefficients.row(row));
                places.iter().zip(from).for_each(|(&pair, a)| to[pair] = *a);
            }
        }
        columns
    }

    /// f of every pair at every sample: one row per sample, one column per pair.
    ///
    /// A kernel value is computed once for all pairs that share its support vector: O(msd) time for m samples and s support
    /// vectors, and O(msK) for K classes; a few tiles of memory beyond the samples and the answer.
    ///
    /// # Errors
    /// If the samples do not have the support vectors' columns or are outside of the kernel's domain, or if the session
    /// asks to stop.
    ///
    /// # Panics
    /// If [`fault`](Self::fault) reports a problem.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        check_samples(samples, self.centres.ncols(), self.domain)?;
        assert_eq!(self.fault(), None, "a model");
        let queries = session.load(samples)?;
        // In one pass, every support vector is multiplied for all pairs, including those without its class.
        let spare = self.centres.nrows() * (self.noutputs() + 1 - self.nclasses());
        let pass = PASS[0] + PASS[1] * samples.ncols();
        let mut out = if spare <= pass * self.nclasses() {
            self.sums_at_once(&*queries, session)?
        } else {
            self.sums_by_class(&*queries, session)?
        };
        (0..out.nrows()).for_each(|row| {
            out.row_mut(row).iter_mut().zip(&self.rho).for_each(|(f, rho)| *f -= rho);
        });
        Ok(out)
    }

    /// Σₛ aₛ k(cₛ, x) of every pair, with a column of coefficients for each.
    fn sums_at_once(&self, queries: &dyn Resident, session: &Session<'_>) -> Result<Matrix<f64>, ModelError> {
        let mut out = Matrix::zeros(queries.nrows(), self.noutputs());
        if self.centres.nrows() == 0 {
            return Ok(out);
        }
        let centres = session.load(&self.centres)?;
        let cross = queries.cross(&self.kernel, &*centres)?;
        cross.apply(&mut out, &self.by_pair(), session).map_err(GramError::from)?;
        Ok(out)
    }

    /// The same class by class: no coefficient that is 0 for its class is multiplied.
    fn sums_by_class(
        &self,
        queries: &dyn Resident,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        let mut out = Matrix::zeros(queries.nrows(), self.noutputs());
        let mut sums = Matrix::zeros(queries.nrows(), self.nclasses() - 1);
        for (class, rows) in self.classes().filter(|(_, rows)| !rows.is_empty()) {
            let rows: Vec<usize> = rows.collect();
            let centres = session.load(&self.centres.select(&rows))?;
            let cross = queries.cross(&self.kernel, &*centres)?;
            cross.apply(&mut sums, &self.coefficients.select(&rows), session).map_err(GramError::from)?;
            let places = self.places(class);
            for row in 0..out.nrows() {
                let (out, sums) = (out.row_mut(row), sums.row(row));
                places.iter().zip(sums).for_each(|(&pair, sum)| out[pair] += sum);
            }
        }
        Ok(out)
    }

    /// Each class with the places of its support vectors.
    fn classes(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.per_class.iter().enumerate().scan(0, |first, (class, &count)| {
            let rows = *first..*first + count;
            *first += count;
            Some((class, rows))
        })
    }

    /// The pair that each column of a class's coefficients belongs to: column c to that with class c, or with c + 1 from the
    /// class itself on.
    fn places(&self, class: usize) -> Vec<usize> {
        let classes = self.nclasses();
        let others = (0..classes).filter(|&other| other != class);
        others.map(|other| place(classes, class.min(other), class.max(other))).collect()
    }
}

/// The index of the pair (i, j), i < j, among all pairs of `classes` classes.
fn place(classes: usize, i: usize, j: usize) -> usize {
    i * (2 * classes - i - 1) / 2 + j - i - 1
}

/// Number of classes that have this many pairs; `None` if no number has.
#[must_use]
pub fn classes_of_pairs(pairs: usize) -> Option<usize> {
    (1..).take_while(|k| k * (k - 1) / 2 <= pairs).last().filter(|k| k * (k - 1) / 2 == pairs)
}

/// The pairs (0, 1), (0, 2), …, (1, 2), … of `classes` classes, in their order.
pub fn pairs_of(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |i| (i + 1..classes).map(move |j| (i, j)))
}

/// The class with most votes, from one row of decisions; the first of those with equally many votes.
///
/// ```
/// use mercer::model::vote;
///
/// assert_eq!(vote(&[0.5]), 0);
/// assert_eq!(vote(&[0.0]), 1);
/// assert_eq!(vote(&[]), 0); // one class has no pairs
/// assert_eq!(vote(&[1.0, -1.0, 1.0]), 0); // 0 beats 1, 2 beats 0, 1 beats 2: all have one vote
/// ```
///
/// # Panics
/// If there is not a decision for every pair of some number of classes.
#[must_use]
pub fn vote(decisions: &[f64]) -> usize {
    let classes = classes_of_pairs(decisions.len()).expect("a decision for every pair of classes");
    let mut votes = vec![0usize; classes];
    for ((i, j), &f) in pairs_of(classes).zip(decisions) {
        votes[if f > 0.0 { i } else { j }] += 1;
    }
    (1..classes).fold(0, |best, class| if votes[class] > votes[best] { class } else { best })
}

/// One number per class from decisions per pair, the largest for the class with most votes: its votes, plus less than
/// half a vote from the size of the decisions (scikit-learn's `decision_function_shape="ovr"`).
///
/// With s_i = Σⱼ f_ij − Σⱼ f_ji the number of class i is its votes + s_i / (3(|s_i| + 1)). As there, a decision of exactly 0 is a
/// vote for the first class of the pair, though it is one for the second in [`vote`].
///
/// # Panics
/// As [`vote`].
#[must_use]
pub fn one_vs_rest_decisions(decisions: &Matrix<f64>) -> Matrix<f64> {
    let classes = classes_of_pairs(decisions.ncols()).expect("a decision for every pair of classes");
    let mut out = Matrix::zeros(decisions.nrows(), classes);
    let mut clear = vec![0.0; classes];
    for row in 0..decisions.nrows() {
        clear.fill(0.0);
        let out = out.row_mut(row);
        for ((i, j), &f) in pairs_of(classes).zip(decisions.row(row)) {
            clear[i] += f;
            clear[j] -= f;
            out[if f < 0.0 { j } else { i }] += 1.0;
        }
        out.iter_mut().zip(&clear).for_each(|(votes, s)| *votes += s / (3.0 * (s.abs() + 1.0)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    #[test]
    fn pairs_have_their_places() {
        for classes in 1..9 {
            for (at, (i, j)) in pairs_of(classes).enumerate() {
                assert_eq!(place(classes, i, j), at);
            }
            assert_eq!(classes_of_pairs(pairs_of(classes).count()), Some(classes));
        }
        assert!([2, 4, 5, 7].into_iter().all(|pairs| classes_of_pairs(pairs).is_none()));
    }

    #[test]
    fn both_ways_to_sum_give_the_decisions() {
        let (per_class, classes) = (vec![3, 0, 2, 4, 1], 5);
        let entry = |k: usize| (k as f64 * 0.7).sin();
        let samples = |rows: usize| {
            AnySamples::F64(Samples::dense(rows, 3, (0..rows * 3).map(entry).collect::<Vec<_>>()).unwrap())
        };
        let pairs = Pairs {
            kernel: "rbf(sigma=1)".parse().unwrap(),
            domain: None,
            centres: samples(10),
            per_class,
            coefficients: Matrix::from_entries(10, classes - 1, (5..45).map(entry).collect()),
            rho: (0..10).map(entry).collect(),
        };
        assert_eq!(pairs.fault(), None);
        let session = Session::default();
        let queries = session.load(&samples(33)).unwrap();
        let [a, b] = [pairs.sums_at_once(&*queries, &session), pairs.sums_by_class(&*queries, &session)]
            .map(Result::unwrap);
        assert_eq!((a.nrows(), a.ncols()), (33, 10));
        assert!(a.entries().iter().zip(b.entries()).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(a.entries().iter().any(|v| v.abs() > 0.1));
    }

    #[test]
    fn a_decision_of_zero_is_a_vote_for_the_first_class() {
        let per_class = one_vs_rest_decisions(&Matrix::from_entries(1, 1, vec![0.0]));
        assert_eq!(per_class.entries(), [1.0, 0.0]);
    }

    #[test]
    fn the_clearer_class_wins_among_equal_votes() {
        let decisions = Matrix::from_entries(1, 3, vec![1.0, -3.0, 2.0]);
        let per_class = one_vs_rest_decisions(&decisions);
        // Each class has one vote; s = (1 − 3, −1 + 2, 3 − 2).
        let expected = [1.0 - 2.0 / 9.0, 1.0 + 1.0 / 6.0, 1.0 + 1.0 / 6.0];
        for (found, expected) in per_class.row(0).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
    }
}
