//! Models that keep their rows: k nearest neighbours and the kernel smoother.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{AnySamples, Matrix};
use crate::gram::Metric;
use crate::kernel::Kernel;
use crate::session::Session;

use super::domain::check_samples;
use super::error::ModelError;
use super::smoothing::smooth;

/// The weights of the k nearest rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// All equal.
    #[default]
    Uniform,
    /// 1/distance; rows at distance 0, if any, share all the weight.
    Distance,
}

/// The rows that contribute to a prediction, and their weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Rule {
    /// The k nearest; of equally distant rows those with the lowest numbers.
    Nearest {
        /// How many: from 1 to the number of rows.
        k: usize,
        /// Their weights.
        weights: Weights,
        /// The metric.
        metric: Metric,
    },
    /// All, with the kernel's value as their weight (Nadaraya, 1964; Watson, 1964).
    ///
    /// If every weight underflows, the prediction is its limit: weights are computed from the logarithm of the kernel,
    /// less its largest value; if that is −∞ at every row (a kernel that vanishes beyond some distance), the prediction
    /// is the target of the nearest row. If the kernel is infinite at some rows, these share the weight.
    Smoother {
        /// k ≥ 0, of distances alone, with every hyper-parameter a number.
        kernel: Kernel,
    },
}

/// f(x) = Σᵢ wᵢ(x)yᵢ / Σᵢ wᵢ(x), for each of several outputs.
///
/// For classes the targets are 0 or 1 in one column per class, and f(x) is each class's share of the weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    /// The rows xᵢ.
    pub rows: AnySamples<'static>,
    /// y: one row per row of samples, one column per output.
    pub targets: Matrix<f64>,
    /// w.
    pub rule: Rule,
}

impl Neighbours {
    /// Number of outputs.
    #[must_use]
    pub fn noutputs(&self) -> usize {
        self.targets.ncols()
    }

    /// Number of feature columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.rows.ncols()
    }

    /// The problem that makes this model invalid, such as after reading it from a file; `None` if it is valid.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let (rows, targets) = (self.rows.nrows(), self.targets.nrows());
        if rows == 0 || rows != targets {
            return Some(format!("{rows} rows with {targets} targets"));
        }
        match &self.rule {
            Rule::Nearest { k, .. } if *k == 0 || *k > rows => {
                Some(format!("the {k} nearest of {rows} rows"))
            }
            Rule::Nearest { metric: Metric::Minkowski { p }, .. } if !(*p > 0.0 && p.is_finite()) => {
                Some(format!("the Minkowski distance with p = {p}, which is more than 0 and finite"))
            }
            Rule::Smoother { kernel } => {
                kernel.check_columns(self.ncols()).err().map(|error| error.to_string())
            }
            Rule::Nearest { .. } => None,
        }
    }

    /// f at every sample: one row per sample, one column per output.
    ///
    /// O(mnd) time for m samples and n rows; a few tiles of memory beyond the samples and the answer, and O(n) more per far sample
    /// of a smoother.
    ///
    /// # Errors
    /// If the samples do not have the rows' columns, or if the session is stopped.
    ///
    /// # Panics
    /// If [`fault`](Self::fault) reports a problem.
    pub fn predict(
        &self,
        samples: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, ModelError> {
        check_samples(samples, self.ncols(), None)?;
        assert_eq!(self.fault(), None, "a model");
        match &self.rule {
            Rule::Smoother { kernel } => Ok(smooth(kernel, &self.rows, &self.targets, samples, session)?),
            Rule::Nearest { k, weights, metric } => {
                let outputs = self.noutputs();
                let mut out = Matrix::zeros(samples.nrows(), outputs);
                let at_once = queries_at_once(*k);
                let (rows, queries) = (session.load(&self.rows)?, session.load(samples)?);
                for (chunk, out) in out.entries_mut().chunks_mut((at_once * outputs).max(1)).enumerate() {
                    let chosen: Vec<usize> =
                        (chunk * at_once..samples.nrows().min((chunk + 1) * at_once)).collect();
                    let nearest = rows.nearest(&*queries.select(&chosen), *k, *metric, session)?;
                    out.par_chunks_mut(outputs).enumerate().for_each(|(query, out)| {
                        let mut mean = Mean::new(*weights, outputs);
                        nearest
                            .of(query)
                            .for_each(|(row, distance)| mean.add(self.targets.row(row), distance));
                        out.copy_from_slice(mean.value());
                    });
                }
                Ok(out)
            }
        }
    }
}

/// Queries whose `k` nearest rows are in memory at a time: 64 MiB.
pub(crate) fn queries_at_once(k: usize) -> usize {
    ((1 << 22) / k.max(1)).max(128)
}

/// The weighted mean of targets, added in the order of their distance.
#[derive(Debug)]
pub(crate) struct Mean {
    weights: Weights,
    /// The distance of the first.
    nearest: Option<f64>,
    sums: Vec<f64>,
    total: f64,
    mean: Vec<f64>,
}

impl Mean {
    /// The mean of no targets.
    pub fn new(weights: Weights, outputs: usize) -> Self {
        Self { weights, nearest: None, sums: vec![0.0; outputs], total: 0.0, mean: vec![0.0; outputs] }
    }

    /// Adds a target, at least as far as those before.
    pub fn add(&mut self, target: &[f64], distance: f64) {
        let nearest = *self.nearest.get_or_insert(distance);
        // Weights relative to the nearest row's: none of them overflows.
        let weight = match self.weights {
            Weights::Uniform => 1.0,
            Weights::Distance if distance == nearest => 1.0,
            Weights::Distance => nearest / distance,
        };
        self.total += weight;
        self.sums.iter_mut().zip(target).for_each(|(sum, y)| *sum += weight * y);
    }

    /// Their mean.
    pub fn value(&mut self) -> &[f64] {
        self.mean.iter_mut().zip(&self.sums).for_each(|(mean, sum)| *mean = sum / self.total);
        &self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_matches_take_all_the_weight_and_tiny_distances_do_not_overflow() {
        let mean = |pairs: &[(f64, f64)]| {
            let mut mean = Mean::new(Weights::Distance, 1);
            pairs.iter().for_each(|(y, distance)| mean.add(&[*y], *distance));
            mean.value()[0]
        };
        assert_eq!(mean(&[(1.0, 0.0), (3.0, 0.0), (50.0, 1e-9)]), 2.0);
        assert_eq!(mean(&[(1.0, 5e-324), (4.0, 1e-323)]), 2.0);
        assert_eq!(mean(&[(1.0, 1.0), (4.0, 2.0)]), 2.0);
        assert_eq!(mean(&[(1.0, f64::INFINITY), (4.0, f64::INFINITY)]), 2.5);
    }

    #[test]
    fn rules_are_read_back_as_written() {
        let rules = [
            Rule::Nearest { k: 3, weights: Weights::Distance, metric: Metric::Manhattan },
            Rule::Smoother { kernel: "rbf(sigma=2)".parse().unwrap() },
        ];
        let texts = rules.clone().map(|rule| serde_json::to_string(&rule).unwrap());
        assert_eq!(texts[0], r#"{"nearest":{"k":3,"weights":"distance","metric":"manhattan"}}"#);
        assert_eq!(texts[1], r#"{"smoother":{"kernel":"rbf(sigma=2)"}}"#);
        assert_eq!(texts.map(|text| serde_json::from_str::<Rule>(&text).unwrap()), rules);
    }
}
