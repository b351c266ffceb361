//! Rows with targets, accessed through the sums of a Gaussian process on inducing points.

use crate::data::{AnySamples, Matrix};
use crate::gram::{GramError, Part, Resident, Wanted};
use crate::kernel::Kernel;
use crate::linalg::dense::mirror_lower;
use crate::linalg::{Cholesky, NormalEquations, zeroed};
use crate::session::Session;
use crate::solve::{InducingSums, RowSlopes, SolveError, factor_of_points, whiten};
use crate::watch::Watch;

use super::super::cost::GP_BLOCK;
use super::super::error::LearnError;

/// Rows with targets, accessed through the sums that the bound of a Gaussian process on inducing points needs.
///
/// All sums add up over parts of the rows, so the rows may be in memory ([`RowBlocks`]) or on several machines. `values` are those of
/// the kernel's unknowns.
pub trait ProcessRows: Sync {
    /// The sums that determine the bound.
    ///
    /// # Errors
    /// If kernel values cannot be computed or are not finite, or if the session is stopped.
    fn sums(&self, values: &[f64], session: &Session<'_>) -> Result<InducingSums, LearnError>;

    /// The part of the derivative of the bound in the logarithm of each unknown that comes from kernel values of rows.
    ///
    /// # Errors
    /// As [`sums`](Self::sums).
    fn gradient(
        &self,
        values: &[f64],
        slopes: &RowSlopes,
        session: &Session<'_>,
    ) -> Result<Vec<f64>, LearnError>;
}

/// The quantities that rows on several machines need before summation.
#[derive(Debug, Clone)]
pub struct ProcessStart {
    /// The kernel with its unknowns, every `auto` a number.
    pub kernel: Kernel,
    /// The inducing points.
    pub points: AnySamples<'static>,
    /// The offset and the scale of each target.
    pub means: Vec<f64>,
    /// See `means`.
    pub scales: Vec<f64>,
}

impl ProcessStart {
    /// The targets in the units of the sums.
    #[must_use]
    pub fn normalised(&self, targets: &Matrix<f64>) -> Matrix<f64> {
        let mut normalised = targets.clone();
        for i in 0..normalised.nrows() {
            let units = self.means.iter().zip(&self.scales);
            normalised
                .row_mut(i)
                .iter_mut()
                .zip(units)
                .for_each(|(y, (mean, scale))| *y = (*y - mean) / scale);
        }
        normalised
    }
}

/// The targets of all rows of positive weight.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetMoments {
    /// The number of these rows.
    pub rows: u64,
    /// The mean of each target.
    pub means: Vec<f64>,
    /// The sum of its squared deviations from the mean.
    pub squares: Vec<f64>,
}

/// Rows in memory, summed block by block.
pub struct RowBlocks<'a> {
    blocks: Vec<Block>,
    points: Box<dyn Resident>,
    kernel: &'a Kernel,
    outputs: usize,
    rows: usize,
    log_weights: f64,
}

struct Block {
    samples: Box<dyn Resident>,
    targets: Matrix<f64>,
    weights: Option<Vec<f64>>,
}

impl<'a> RowBlocks<'a> {
    /// Takes rows with targets of zero mean. Rows of weight 0 are ignored; without weights all are 1.
    ///
    /// O(nd) time and memory.
    ///
    /// # Errors
    /// If there is not one row of targets and one weight for each sample, or if the engine cannot hold the samples.
    pub fn new(
        kernel: &'a Kernel,
        points: &AnySamples<'_>,
        samples: &AnySamples<'_>,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let n = samples.nrows();
        for (what, found) in [("targets", targets.nrows()), ("weights", weights.map_or(n, <[f64]>::len))] {
            if found != n {
                return Err(LearnError::Length { what, rows: n, found });
            }
        }
        let counted: Vec<usize> = (0..n).filter(|&row| weights.is_none_or(|w| w[row] > 0.0)).collect();
        let block = |rows: &[usize]| {
            Ok::<_, LearnError>(Block {
                samples: session.load(&samples.select(rows).widened())?,
                targets: targets.select(rows),
                weights: weights.map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            })
        };
        Ok(Self {
            blocks: counted.chunks(GP_BLOCK).map(block).collect::<Result<_, _>>()?,
            points: session.load(&points.widened())?,
            kernel,
            outputs: targets.ncols(),
            rows: counted.len(),
            log_weights: weights.map_or(0.0, |weights| counted.iter().map(|&row| weights[row].ln()).sum()),
        })
    }

    /// The kernel values of a block of rows with the inducing points.
    fn fill(
        &self,
        block: &Block,
        kernel: &Kernel,
        out: &mut [f64],
        session: &Session<'_>,
    ) -> Result<(), LearnError> {
        let cross = block.samples.cross(kernel, &*self.points)?;
        Ok(cross.fill(Part::Full, out.into(), &session.part()).map_err(GramError::from)?)
    }
}

/// The Cholesky factor of the kernel matrix of inducing points, with its jitter.
pub(super) fn factor_points(
    points: &dyn Resident,
    kernel: &Kernel,
    session: &Session<'_>,
) -> Result<Cholesky<f64>, LearnError> {
    let m = points.nrows();
    let mut k = Matrix::zeros(m, m);
    let gram = points.gram(kernel, Wanted::Double)?;
    gram.fill(Part::Full, k.entries_mut().into(), &session.part()).map_err(GramError::from)?;
    Ok(factor_of_points(k, &session.part())?)
}

impl ProcessRows for RowBlocks<'_> {
    fn sums(&self, values: &[f64], session: &Session<'_>) -> Result<InducingSums, LearnError> {
        let kernel = self.kernel.with_values(values)?;
        let factor = factor_points(&*self.points, &kernel, session)?;
        let m = self.points.nrows();
        let mut sums = NormalEquations::new(m, self.outputs);
        let mut diagonal = 0.0;
        let mut phi = Matrix::zeros(0, m);
        for block in &self.blocks {
            session.check()?;
            if phi.nrows() != block.samples.nrows() {
                phi = Matrix::zeros(block.samples.nrows(), m);
            }
            self.fill(block, &kernel, phi.entries_mut(), session)?;
            whiten(&factor, &mut phi);
            sums.add(&phi, &block.targets, block.weights.as_deref(), &session.part())
                .map_err(|_| LearnError::Solve(SolveError::NotFinite))?;
            let own = block.samples.gram(&kernel, Wanted::Double)?;
            let own = own.diagonal();
            diagonal += match &block.weights {
                Some(weights) => own.iter().zip(weights).map(|(k, w)| k * w).sum::<f64>(),
                None => own.iter().sum(),
            };
        }
        let mut products = Matrix::from_entries(m, m, sums.lower());
        mirror_lower(&mut products);
        Ok(InducingSums {
            rows: self.rows,
            products,
            cross: sums.cross().clone(),
            target_squares: sums.target_squares().iter().sum(),
            diagonal,
            log_weights: self.log_weights,
        })
    }

    fn gradient(
        &self,
        values: &[f64],
        slopes: &RowSlopes,
        session: &Session<'_>,
    ) -> Result<Vec<f64>, LearnError> {
        let kernel = self.kernel.with_values(values)?;
        let derivatives = self.kernel.gradient(values, self.points.ncols())?;
        let mut gradient = vec![0.0; values.len()];
        let m = self.points.nrows();
        let most = self.blocks.first().map_or(0, |block| block.samples.nrows());
        let (mut phi, mut weights) = (zeroed::<f64>(most * m), zeroed::<f64>(most * m));
        for block in &self.blocks {
            session.check()?;
            let n = block.samples.nrows();
            let (phi, adjoint) = (&mut phi[..n * m], &mut weights[..n * m]);
            self.fill(block, &kernel, phi, session)?;
            slopes.by_rows(phi, block.targets.entries(), block.weights.as_deref(), adjoint);
            let of_rows = block.samples.gradient(&derivatives, Some(&*self.points))?;
            let by_rows = of_rows.contract(adjoint, &session.part()).map_err(GramError::from)?;
            let own: Vec<f64> = match &block.weights {
                Some(weights) => weights.iter().map(|w| w * slopes.by_diagonal).collect(),
                None => vec![slopes.by_diagonal; n],
            };
            let by_diagonal = block.samples.gradient(&derivatives, None)?.contract_diagonal(&own);
            let parts = by_rows.into_iter().zip(by_diagonal);
            gradient.iter_mut().zip(parts).for_each(|(sum, (a, b))| *sum += a + b);
        }
        Ok(gradient)
    }
}
