//! Gaussian processes: a mean and a variance at every point.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{AnySamples, Matrix};
use crate::design::fourier::normal_quantile;
use crate::gram::{GramError, Part, Wanted};
use crate::linalg::dense::multiply;
use crate::linalg::{Cholesky, CholeskyError, products};
use crate::session::Session;

use super::domain::check_samples;
use super::error::ModelError;
use super::expansion::Expansion;

/// The posterior of f ~ GP(0, k) given targets with noise of variance σ², for each of several outputs.
///
/// The mean is an expansion. The variance, in units of the squared scale of an output, is
///
/// ```text
/// v(x) = k(x, x) − |L⁻¹k(x)|² + |P⁻¹k(x)|²
/// ```
///
/// with k(x) the values at the centres. For an exact process LLᵀ = K + σ² and there is no P; for one on inducing points
/// LLᵀ = K and (PPᵀ)⁻¹ is the covariance of the posterior in the coordinates K⁻¹f. For one by conjugate gradients the
/// variance is k(x, x) − |Rᵀk(x)|², which is the variance given as many linear combinations of the targets as R has
/// columns, and therefore never too small.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianProcess {
    /// The mean of the posterior.
    pub mean: Expansion,
    /// The standard deviations that the targets were divided by: one per output.
    pub scales: Vec<f64>,
    /// σ², in units of the squared scale of an output.
    pub noise: f64,
    /// The rows of L up to the diagonal, one after another; `None` if the model was saved without its variance.
    pub factor: Option<Vec<f64>>,
    /// The rows of P up to the diagonal.
    pub posterior_factor: Option<Vec<f64>>,
    /// R, one row per centre; there is no L then.
    pub projection: Option<Matrix<f64>>,
}

/// The map from k(x) to a part of the variance.
enum Root<'a> {
    /// A lower triangle, by its inverse.
    Factor(Cholesky<f64>),
    /// R, by its transpose.
    Projection(&'a Matrix<f64>),
}

/// Samples whose variances are computed at a time.
const AT_ONCE: usize = 512;

/// Fractions of the largest variance that are added to the diagonal of a covariance to draw from it, tried in turn.
const JITTERS: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

impl GaussianProcess {
    /// Whether the model stores what standard deviations need.
    #[must_use]
    pub fn has_variance(&self) -> bool {
        self.factor.is_some() || self.projection.is_some()
    }

    /// The mean at every sample: one row per sample, one column per output.
    ///
    /// # Errors
    /// As [`Expansion::predict`].
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        self.mean.predict(samples, session)
    }

    /// The standard deviation at every sample: one row per sample, one column per output. With `noise` it is that of a new target,
    /// without it that of f; a `noise` in the kernel itself counts in both.
    ///
    /// O(n²) time a sample, n² numbers of memory.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and [`ModelError::NoVariance`] if the model was saved without its variance.
    pub fn deviations(
        &self,
        samples: &AnySamples<'_>,
        noise: bool,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        check_samples(samples, self.mean.centres.ncols(), self.mean.domain)?;
        let roots = self.roots()?;
        let centres = session.load(&self.mean.centres)?;
        let mut deviations = Matrix::zeros(samples.nrows(), self.scales.len());
        for start in (0..samples.nrows()).step_by(AT_ONCE) {
            let rows: Vec<usize> = (start..samples.nrows().min(start + AT_ONCE)).collect();
            let queries = session.load(&samples.select(&rows))?;
            let prior = queries.gram(&self.mean.kernel, Wanted::Double)?.diagonal().into_owned();
            let solved = self.solved(&roots, &*centres, &*queries, session)?;
            for (q, row) in rows.into_iter().enumerate() {
                let part = |(sign, solved): &(f64, Matrix<f64>)| {
                    sign * (0..solved.nrows()).map(|i| solved.row(i)[q].powi(2)).sum::<f64>()
                };
                let explained: f64 = solved.iter().map(part).sum();
                // Rounding may make the variance negative where the data determine f almost exactly.
                let variance = (prior[q] + explained).max(0.0) + if noise { self.noise } else { 0.0 };
                let out = deviations.row_mut(row).iter_mut().zip(&self.scales);
                out.for_each(|(deviation, scale)| *deviation = scale * variance.sqrt());
            }
        }
        Ok(deviations)
    }

    /// The covariance of f at all samples, in units of the squared scale of an output; with `noise`, of new targets.
    ///
    /// O(n²m + nm²) time and O(n² + m²) memory for m samples.
    ///
    /// # Errors
    /// As [`deviations`](Self::deviations).
    pub fn covariance(
        &self,
        samples: &AnySamples<'_>,
        noise: bool,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        check_samples(samples, self.mean.centres.ncols(), self.mean.domain)?;
        let roots = self.roots()?;
        let centres = session.load(&self.mean.centres)?;
        let queries = session.load(samples)?;
        let m = samples.nrows();
        let mut covariance = Matrix::zeros(m, m);
        let prior = queries.gram(&self.mean.kernel, Wanted::Double)?;
        prior.fill(Part::Full, covariance.entries_mut().into(), session).map_err(GramError::from)?;
        for (sign, solved) in self.solved(&roots, &*centres, &*queries, session)? {
            let solved = products::view(&solved);
            products::add(products::view_mut(&mut covariance), sign, solved.transpose(), solved);
        }
        for i in 0..m {
            for j in 0..i {
                covariance.row_mut(j)[i] = covariance.row(i)[j];
            }
            let own = &mut covariance.row_mut(i)[i];
            *own = own.max(0.0) + if noise { self.noise } else { 0.0 };
        }
        Ok(covariance)
    }

    /// Functions drawn from the posterior of one output, at the samples: one row per sample, one column per draw.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance), and if the covariance has no factor.
    pub fn draws(
        &self,
        samples: &AnySamples<'_>,
        output: usize,
        count: usize,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        let mean = self.predict(samples, session)?;
        let covariance = self.covariance(samples, false, session)?;
        let m = samples.nrows();
        let largest = (0..m).fold(0.0f64, |largest, i| largest.max(covariance.row(i)[i]));
        let factor = JITTERS.iter().find_map(|jitter| {
            let mut matrix = covariance.entries().to_vec();
            (0..m).for_each(|i| matrix[i * m + i] += (jitter * largest).max(f64::MIN_POSITIVE));
            match Cholesky::factor(m, matrix, session) {
                Err(CholeskyError::NotPositiveDefinite { .. }) => None,
                other => Some(other),
            }
        });
        let factor = match factor {
            Some(Ok(factor)) => factor.into_triangle(),
            Some(Err(CholeskyError::Stopped(stopped))) => return Err(GramError::from(stopped).into()),
            _ => return Err(ModelError::NoDraws),
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        let normal: Vec<f64> =
            (0..m * count).map(|_| normal_quantile(random.random_range(f64::EPSILON..1.0))).collect();
        let mut draws = Matrix::zeros(m, count);
        for i in 0..m {
            let lower = &factor[i * (i + 1) / 2..][..=i];
            for (d, draw) in draws.row_mut(i).iter_mut().enumerate() {
                let sum: f64 = lower.iter().enumerate().map(|(j, l)| l * normal[j * count + d]).sum();
                *draw = mean.row(i)[output] + self.scales[output] * sum;
            }
        }
        Ok(draws)
    }

    /// Half the width of an interval that contains this fraction of a normal distribution, in standard deviations.
    #[must_use]
    pub fn half_width(probability: f64) -> f64 {
        normal_quantile(0.5 + 0.5 * probability)
    }

    /// The maps whose results make up the variance, with their signs.
    fn roots(&self) -> Result<Vec<(f64, Root<'_>)>, ModelError> {
        let n = self.mean.centres.nrows();
        if let Some(projection) = &self.projection {
            return Ok(vec![(-1.0, Root::Projection(projection))]);
        }
        let factor = self.factor.as_deref().ok_or(ModelError::NoVariance)?;
        let own = std::iter::once((-1.0, factor));
        let all = own.chain(self.posterior_factor.as_deref().map(|factor| (1.0, factor)));
        Ok(all.map(|(sign, triangle)| (sign, Root::Factor(Cholesky::from_triangle(n, triangle)))).collect())
    }

    /// L⁻¹k and P⁻¹k, or Rᵀk, at the queries: one column per query.
    fn solved(
        &self,
        roots: &[(f64, Root<'_>)],
        centres: &dyn crate::gram::Resident,
        queries: &dyn crate::gram::Resident,
        session: &Session<'_>,
    ) -> Result<Vec<(f64, Matrix<f64>)>, ModelError> {
        let cross = centres.cross(&self.mean.kernel, queries)?;
        let mut values = Matrix::zeros(cross.nrows(), cross.ncols());
        cross.fill(Part::Full, values.entries_mut().into(), &session.part()).map_err(GramError::from)?;
        let mut solved = Vec::new();
        for (sign, root) in roots {
            let own = match root {
                Root::Factor(factor) => {
                    let mut own = values.clone();
                    factor.solve_lower(&mut own, &session.part()).map_err(GramError::from)?;
                    own
                }
                Root::Projection(projection) => {
                    let left = products::view(projection).transpose();
                    multiply(left, products::view(&values), &session.part()).map_err(GramError::from)?
                }
            };
            solved.push((*sign, own));
        }
        Ok(solved)
    }

    /// The problem with the parts; `None` if they are valid.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let n = self.mean.centres.nrows();
        let triangles = [("factor", &self.factor), ("posterior factor", &self.posterior_factor)];
        for (name, triangle) in triangles {
            match triangle {
                Some(entries) if entries.len() != n * (n + 1) / 2 => {
                    return Some(format!("a {name} of {} numbers for {n} centres", entries.len()));
                }
                Some(entries) if entries.iter().any(|entry| !entry.is_finite()) => {
                    return Some(format!("a {name} with a number that is not finite"));
                }
                _ => {}
            }
        }
        if let Some(projection) = &self.projection {
            if projection.nrows() != n || self.factor.is_some() {
                return Some(format!("a projection of {} rows for {n} centres", projection.nrows()));
            }
            if projection.entries().iter().any(|entry| !entry.is_finite()) {
                return Some("a projection with a number that is not finite".to_owned());
            }
        }
        if self.scales.len() != self.mean.noutputs()
            || self.scales.iter().any(|s| !(s.is_finite() && *s > 0.0))
        {
            return Some("scales that are not one positive number per output".to_owned());
        }
        (!(self.noise.is_finite() && self.noise >= 0.0)).then(|| format!("noise of variance {}", self.noise))
    }
}
