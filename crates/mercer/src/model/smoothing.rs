//! The kernel smoother's weighted means, also where every weight underflows.

use rayon::prelude::*;

use crate::data::{AnySamples, Matrix};
use crate::gram::{GramError, Metric, Part, Wanted};
use crate::kernel::Kernel;
use crate::session::Session;
use crate::watch::Watch;

/// Σⱼ k(x,zⱼ)yⱼ / Σⱼ k(x,zⱼ) for every query x, over the rows z and their targets y.
///
/// Numerator and denominator are one product with the kernel matrix: the targets are extended by a column of ones.
pub(crate) fn smooth(
    kernel: &Kernel,
    rows: &AnySamples<'_>,
    targets: &Matrix<f64>,
    queries: &AnySamples<'_>,
    session: &Session<'_>,
) -> Result<Matrix<f64>, GramError> {
    let mut sums = Matrix::zeros(queries.nrows(), targets.ncols() + 1);
    let (x, z) = (session.load(queries)?, session.load(rows)?);
    x.cross(kernel, &*z)?.apply(&mut sums, &with_ones(targets), session)?;
    let smoother = Smoother { kernel, rows, targets, queries, leave_out: false };
    smoother.means(&sums, session)
}

/// The same at the rows themselves, each without its own target.
pub(crate) fn smooth_leaving_out(
    kernel: &Kernel,
    rows: &AnySamples<'_>,
    targets: &Matrix<f64>,
    session: &Session<'_>,
) -> Result<Matrix<f64>, GramError> {
    let outputs = targets.ncols();
    let targets_and_ones = with_ones(targets);
    let mut sums = Matrix::zeros(rows.nrows(), outputs + 1);
    let resident = session.load(rows)?;
    let gram = resident.gram(kernel, Wanted::Exact)?;
    gram.apply(&mut sums, &targets_and_ones, session)?;
    for (i, own) in gram.diagonal().iter().enumerate() {
        let row = sums.row_mut(i);
        let all = row[outputs];
        row.iter_mut().zip(targets_and_ones.row(i)).for_each(|(sum, y)| *sum -= own * y);
        // The difference is small and dominated by rounding errors.
        if row[outputs] < LEAST_LEFT * all {
            row[outputs] = 0.0;
        }
    }
    let smoother = Smoother { kernel, rows, targets, queries: rows, leave_out: true };
    smoother.means(&sums, session)
}

/// The fraction of the total weight that the other rows must have for the difference to be accurate.
const LEAST_LEFT: f64 = 1e-6;

/// Logarithms of weights in memory at a time: 64 MiB.
const MOST_LOGARITHMS: usize = 1 << 23;

fn with_ones(targets: &Matrix<f64>) -> Matrix<f64> {
    let mut with = Matrix::zeros(targets.nrows(), targets.ncols() + 1);
    for i in 0..targets.nrows() {
        let (row, last) = (with.row_mut(i), targets.ncols());
        row[..last].copy_from_slice(targets.row(i));
        row[last] = 1.0;
    }
    with
}

struct Smoother<'a> {
    kernel: &'a Kernel,
    rows: &'a AnySamples<'a>,
    targets: &'a Matrix<f64>,
    queries: &'a AnySamples<'a>,
    /// Whether query i is row i, whose own target is left out.
    leave_out: bool,
}

impl Smoother<'_> {
    /// The means from sums of weighted targets, the sum of the weights last; computed again where the weights underflow.
    fn means(&self, sums: &Matrix<f64>, session: &Session<'_>) -> Result<Matrix<f64>, GramError> {
        let outputs = self.targets.ncols();
        let least = least_total(self.rows, self.queries);
        let mut means = Matrix::zeros(sums.nrows(), outputs);
        let mut far = Vec::new();
        for i in 0..sums.nrows() {
            let (weighted, total) = sums.row(i).split_at(outputs);
            if total[0] >= least && sums.row(i).iter().all(|sum| sum.is_finite()) {
                means.row_mut(i).iter_mut().zip(weighted).for_each(|(mean, sum)| *mean = sum / total[0]);
            } else {
                far.push(i);
            }
        }
        if !far.is_empty() {
            self.far_means(&far, &mut means, session)?;
        }
        Ok(means)
    }

    /// The means at the queries `far`, from logarithms of the weights. O(nd) for each.
    fn far_means(
        &self,
        far: &[usize],
        means: &mut Matrix<f64>,
        session: &Session<'_>,
    ) -> Result<(), GramError> {
        let n = self.rows.nrows();
        let logarithm = self.kernel.logarithm();
        let rows = session.load(self.rows)?;
        session.begin("far samples", far.len() as u64);
        for chunk in far.chunks((MOST_LOGARITHMS / n).max(1)) {
            session.check()?;
            // In double precision for all data, since differences of large numbers matter.
            let queries = session.load(&self.queries.select(chunk).widened())?;
            let mut logarithms = vec![f64::NEG_INFINITY; chunk.len() * n];
            if let Some(logarithm) = &logarithm {
                queries.cross(logarithm, &*rows)?.fill(
                    Part::Full,
                    (&mut logarithms).into(),
                    &session.part(),
                )?;
            }
            if self.leave_out {
                chunk
                    .iter()
                    .enumerate()
                    .for_each(|(place, &i)| logarithms[place * n + i] = f64::NEG_INFINITY);
            }
            let found: Vec<Option<Vec<f64>>> =
                logarithms.par_chunks(n).map(|logarithms| self.mean_by_logarithms(logarithms)).collect();
            let mut weightless = Vec::new();
            for (place, (&i, mean)) in chunk.iter().zip(found).enumerate() {
                match mean {
                    Some(mean) => means.row_mut(i).copy_from_slice(&mean),
                    None => weightless.push(place),
                }
            }
            let far = queries.select(&weightless);
            let nearest = rows.nearest(&*far, 2, Metric::Euclidean, &session.part())?;
            for (query, &place) in weightless.iter().enumerate() {
                let i = chunk[place];
                let others = nearest.of(query).find(|(row, _)| !(self.leave_out && *row == i));
                if let Some((row, _)) = others {
                    means.row_mut(i).copy_from_slice(self.targets.row(row));
                }
            }
            session.advance(chunk.len() as u64);
        }
        Ok(())
    }

    /// Σⱼ exp(lⱼ − max l)yⱼ over its sum of weights; `None` if every l is −∞ or undefined.
    fn mean_by_logarithms(&self, logarithms: &[f64]) -> Option<Vec<f64>> {
        let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return None;
        }
        let (mut sums, mut total) = (vec![0.0; self.targets.ncols()], 0.0);
        for (j, &logarithm) in logarithms.iter().enumerate() {
            let weight = if logarithm == largest { 1.0 } else { (logarithm - largest).exp() };
            if weight > 0.0 {
                total += weight;
                sums.iter_mut().zip(self.targets.row(j)).for_each(|(sum, y)| *sum += weight * y);
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= total);
        Some(sums)
    }
}

/// The least sum of weights that is used directly: weights lost to underflow in tiles are negligible compared with it.
fn least_total(rows: &AnySamples<'_>, queries: &AnySamples<'_>) -> f64 {
    match (rows, queries) {
        (AnySamples::F32(_), AnySamples::F32(_)) => 1e-25,
        _ => 1e-270,
    }
}
