//! Errors of a regression.

use serde::Serialize;

use crate::model::GaussianProcess;

/// The weight, sum, mean, Σw(v − mean)² (West 1979, Communications of the ACM 22) and count of some numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    pub weight: f64,
    pub sum: f64,
    mean: f64,
    pub squares: f64,
    rows: f64,
}

impl Moments {
    pub fn add(&mut self, value: f64, weight: f64) {
        if weight > 0.0 {
            self.merge(Self { weight, sum: weight * value, mean: value, squares: 0.0, rows: 1.0 });
        }
    }

    pub fn merge(&mut self, other: Self) {
        let weight = self.weight + other.weight;
        if other.weight > 0.0 {
            let gap = other.mean - self.mean;
            // gap² alone could overflow at the first number.
            self.squares += other.squares + gap * (gap * self.weight * other.weight / weight);
            self.mean += gap * other.weight / weight;
            self.weight = weight;
            self.sum += other.sum;
            self.rows += other.rows;
        }
    }

    /// The standard error of the mean.
    pub fn error(&self) -> Option<f64> {
        (self.rows > 1.0).then(|| (self.squares / self.weight / (self.rows - 1.0)).sqrt())
    }
}

/// Sums for the errors of one output, each row with its weight.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ErrorSums {
    rows: u64,
    squared: f64,
    absolute: f64,
    targets: Moments,
}

impl ErrorSums {
    /// Adds the target of a row and its difference from the prediction.
    pub fn add(&mut self, target: f64, error: f64, weight: f64) {
        self.rows += 1;
        self.squared += weight * error * error;
        self.absolute += weight * error.abs();
        self.targets.add(target, weight);
    }

    /// Adds the sums over other rows.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.squared += other.squared;
        self.absolute += other.absolute;
        self.targets.merge(other.targets);
    }

    /// Σ(y−f)²/Σ(y−ȳ)², which is 1 − R².
    pub fn unexplained(&self) -> f64 {
        self.squared / self.targets.squares
    }
}

/// The errors of one output of a regression, accumulated row by row.
#[derive(Debug, Clone, Default)]
pub struct NumberSums {
    errors: ErrorSums,
    /// Rows with a standard deviation.
    predictive: u64,
    log_density: f64,
    /// The number of targets inside of each of [`LEVELS`].
    inside: [u64; LEVELS.len()],
}

/// The intervals whose coverage is counted.
const LEVELS: [f64; 3] = [0.5, 0.9, 0.95];

/// The quality of the distributions of a regression.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DensityErrors {
    /// The mean of −log p(y).
    pub nlpd: f64,
    /// The fraction of targets inside of the 50% interval.
    pub coverage_50: f64,
    /// The same for the 90% interval.
    pub coverage_90: f64,
    /// The same for the 95% interval.
    pub coverage_95: f64,
}

/// The errors of one output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberErrors {
    /// The target's name.
    pub target: String,
    /// Rows scored.
    pub rows: u64,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// 1 − Σ(y−f)²/Σ(y−ȳ)²; `None` if the targets are all equal.
    pub r2: Option<f64>,
    /// The root mean squared error of predicting the mean of these targets everywhere.
    pub baseline_rmse: f64,
    /// The quality of the distributions, if the model has them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub density: Option<DensityErrors>,
}

impl NumberSums {
    /// Adds one row; an unknown target (NaN) is skipped.
    pub fn add(&mut self, target: f64, prediction: f64) {
        if !target.is_nan() {
            self.errors.add(target, target - prediction, 1.0);
        }
    }

    /// Adds the standard deviation of a row.
    pub fn add_deviation(&mut self, target: f64, prediction: f64, deviation: f64) {
        if target.is_nan() {
            return;
        }
        self.predictive += 1;
        let standardised = (target - prediction) / deviation;
        let tau = 2.0 * std::f64::consts::PI;
        self.log_density -= 0.5 * standardised * standardised + deviation.ln() + 0.5 * tau.ln();
        for (inside, level) in self.inside.iter_mut().zip(LEVELS) {
            *inside += u64::from(standardised.abs() <= GaussianProcess::half_width(level));
        }
    }

    fn density(&self) -> Option<DensityErrors> {
        let rows = self.predictive as f64;
        let [coverage_50, coverage_90, coverage_95] = self.inside.map(|inside| inside as f64 / rows);
        let nlpd = -self.log_density / rows;
        (self.predictive > 0).then_some(DensityErrors { nlpd, coverage_50, coverage_90, coverage_95 })
    }

    /// The errors, if any row was scored.
    #[must_use]
    pub fn errors(&self, target: &str) -> Option<NumberErrors> {
        let ErrorSums { rows: count, squared, absolute, targets } = &self.errors;
        let rows = *count as f64;
        (*count > 0).then(|| NumberErrors {
            target: target.to_owned(),
            rows: *count,
            rmse: (squared / rows).sqrt(),
            mae: absolute / rows,
            r2: (targets.squares > 0.0).then(|| 1.0 - self.errors.unexplained()),
            baseline_rmse: (targets.squares / rows).sqrt(),
            density: self.density(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_three_rows() {
        let mut score = NumberSums::default();
        for (y, f) in [(1.0, 2.0), (2.0, 2.0), (6.0, 4.0), (f64::NAN, 1.0)] {
            score.add(y, f);
        }
        let errors = score.errors("y").unwrap();
        assert_eq!(errors.rows, 3);
        assert!((errors.rmse - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((errors.mae - 1.0).abs() < 1e-15);
        // Σ(y−3)² = 4 + 1 + 9.
        assert!((errors.r2.unwrap() - (1.0 - 5.0 / 14.0)).abs() < 1e-15);
        assert!((errors.baseline_rmse - (14.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn densities_of_standard_deviations() {
        let mut score = NumberSums::default();
        for (y, f, deviation) in [(0.0, 0.0, 1.0), (2.0, 0.0, 2.0), (3.0, 0.0, 1.0), (1.8, 0.0, 1.0)] {
            score.add(y, f);
            score.add_deviation(y, f, deviation);
        }
        let density = score.errors("y").unwrap().density.unwrap();
        // Half the rows are within 0.674 deviations of ±1 at most; 1.8 is beyond 1.645 but within 1.96.
        assert_eq!((density.coverage_50, density.coverage_90, density.coverage_95), (0.25, 0.5, 0.75));
        let squares = (0.0 + 1.0 + 9.0 + 3.24) / 4.0;
        let expected = 0.5 * squares + 0.25 * 2.0f64.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
        assert!((density.nlpd - expected).abs() < 1e-15);
    }

    #[test]
    fn equal_targets_have_no_r2() {
        let mut score = NumberSums::default();
        assert!(score.errors("y").is_none());
        score.add(1.0, 1.5);
        assert_eq!(score.errors("y").unwrap().r2, None);
    }
}
