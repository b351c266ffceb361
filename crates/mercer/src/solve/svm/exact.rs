//! Kβ from the matrix in double precision, and the verification of a solution with it.

use crate::data::Matrix;
use crate::gram::Gram;
use crate::watch::{Stopped, Watch};

use super::decomposition::Spent;
use super::problem::BoxQp;
use super::solution::ends;

/// Kβ for every variable, from the rows of the variables that are not zero.
pub(super) fn product(
    qp: &BoxQp,
    gram: &dyn Gram,
    beta: &[f64],
    watch: &dyn Watch,
    spent: &mut Spent,
) -> Result<Vec<f64>, Stopped> {
    at(qp, gram, beta, qp.rows(), watch, spent)
}

/// Kβ at some rows of the matrix.
fn at(
    qp: &BoxQp,
    gram: &dyn Gram,
    beta: &[f64],
    cols: &[usize],
    watch: &dyn Watch,
    spent: &mut Spent,
) -> Result<Vec<f64>, Stopped> {
    let mut f = Matrix::zeros(cols.len(), 1);
    let (rows, factors): (Vec<usize>, Vec<f64>) =
        (0..qp.len()).filter(|&v| beta[v] != 0.0).map(|v| (qp.rows[v], beta[v])).unzip();
    if !rows.is_empty() {
        spent.evaluations += (rows.len() * cols.len()) as u64;
        let factors = Matrix::from_entries(rows.len(), 1, factors);
        gram.apply_part(cols, &rows, &factors, &mut f, watch)?;
    }
    Ok(f.into_entries())
}

/// Variables at each end of the gradient whose f is recomputed.
const CANDIDATES: usize = 64;

/// The assumed ratio between the largest error anywhere and the largest error observed.
const SAFETY: f64 = 4.0;

/// A solution whose f was computed in single precision, and the matrix for its verification.
pub(super) struct Check<'a> {
    pub qp: &'a BoxQp,
    pub exact: &'a dyn Gram,
    pub beta: &'a [f64],
    pub f: &'a [f64],
    pub tolerance: f64,
}

impl Check<'_> {
    /// Whether the violation is at most the tolerance in double precision.
    ///
    /// f is recomputed for the variables at both ends of the gradient, which determine the violation. Other variables
    /// could do so only with an error larger than their distance from the end, and the observed errors of hundreds of
    /// variables show how large errors are.
    pub fn holds(&self, watch: &dyn Watch, spent: &mut Spent) -> Result<bool, Stopped> {
        let qp = self.qp;
        let mut chosen: Vec<usize> = Vec::new();
        // Per group: the ends among those that are not chosen.
        let mut inside = Vec::new();
        for group in qp.groups() {
            let slopes = |v: usize| qp.slopes(v, self.beta[v]);
            let mut grow: Vec<(f64, usize)> = group.clone().map(|v| (self.f[v] + slopes(v).0, v)).collect();
            let mut shrink: Vec<(f64, usize)> = group.map(|v| (-(self.f[v] + slopes(v).1), v)).collect();
            let mut limits = [f64::INFINITY; 2];
            for (list, limit) in [&mut grow, &mut shrink].into_iter().zip(&mut limits) {
                if list.len() > CANDIDATES {
                    let (_, next, _) = list
                        .select_nth_unstable_by(CANDIDATES, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    *limit = next.0;
                    list.truncate(CANDIDATES);
                }
                chosen.extend(list.iter().filter(|(g, _)| g.is_finite()).map(|(_, v)| *v));
            }
            inside.push((limits[0], -limits[1]));
        }
        chosen.sort_unstable();
        chosen.dedup();
        let cols: Vec<usize> = chosen.iter().map(|&v| qp.rows[v]).collect();
        let true_f = at(qp, self.exact, self.beta, &cols, watch, spent)?;
        let mut f = self.f.to_vec();
        let mut error = 0.0f64;
        for (&v, &value) in chosen.iter().zip(&true_f) {
            error = error.max((f[v] - value).abs());
            f[v] = value;
        }
        let held = ends(qp, self.beta, &f).iter().zip(&inside).all(
            |(&(least, most), &(inner_least, inner_most))| {
                let (least, most) =
                    (least.min(inner_least - SAFETY * error), most.max(inner_most + SAFETY * error));
                most - least <= self.tolerance
            },
        );
        Ok(held && error.is_finite())
    }
}
