//! One machine for every class against all others.

use crate::data::Matrix;
use crate::learn::error::LearnError;
use crate::session::Session;
use crate::solve::svm::SvmReport;
use crate::watch::Watch;

use super::one_vs_one::{Pair, members};

/// A machine for each class that tells it from all others; for two classes one, which is positive for the second.
#[derive(Debug, Clone, PartialEq)]
pub struct OneVsRest {
    /// Rows of the training samples that are a support vector of any machine, ascending.
    pub support: Vec<usize>,
    /// One row per support vector, one column per machine.
    pub coefficients: Matrix<f64>,
    /// ρ of each machine: its class where Σ aₛ k(xₛ, x) > ρ.
    pub rho: Vec<f64>,
    /// How good the answer is, for each machine.
    pub reports: Vec<SvmReport>,
}

/// Solves every class against the rest. `solve` is told the rows of the class, then all others, and how many the former are.
pub(super) fn one_vs_rest(
    codes: &[usize],
    nclasses: usize,
    present: impl Fn(usize) -> bool,
    session: &Session<'_>,
    solve: impl Fn(&[usize], usize) -> Result<Pair, LearnError>,
) -> Result<OneVsRest, LearnError> {
    let members = members(codes, nclasses, &present)?;
    let machines = if nclasses == 2 { 1..2 } else { 0..nclasses };
    session.begin("support vectors", machines.len() as u64);
    let mut dense = Matrix::zeros(codes.len(), machines.len());
    let (mut rho, mut reports) = (Vec::new(), Vec::new());
    for (machine, class) in machines.enumerate() {
        session.check()?;
        let others = (0..codes.len()).filter(|&row| codes[row] != class && present(row));
        let both: Vec<usize> = members[class].iter().copied().chain(others).collect();
        let solved = solve(&both, members[class].len())?;
        both.iter().zip(&solved.coefficients).for_each(|(&row, &a)| dense.row_mut(row)[machine] = a);
        rho.push(solved.rho);
        reports.push(solved.report);
        session.advance(1);
    }
    let support: Vec<usize> =
        (0..codes.len()).filter(|&row| dense.row(row).iter().any(|a| *a != 0.0)).collect();
    Ok(OneVsRest { coefficients: dense.select(&support), support, rho, reports })
}
