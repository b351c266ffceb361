//! Errors of a regression.

use mercer::model::GaussianProcess;
use serde::Serialize;

use crate::output::number;

/// Sums for the errors of one output.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    rows: u64,
    squared: f64,
    absolute: f64,
    mean: f64,
    spread: f64,
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
    /// Mean absolute error; `None` if only sums of squares are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
    /// 1 − Σ(y−f)²/Σ(y−ȳ)²; `None` if the targets are all equal.
    pub r2: Option<f64>,
    /// The root mean squared error of predicting the mean of these targets everywhere.
    pub baseline_rmse: f64,
    /// The quality of the distributions, if the model has them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub density: Option<DensityErrors>,
}

impl Moments {
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

    /// Adds one row; an unknown target (NaN) is skipped.
    pub fn add(&mut self, target: f64, prediction: f64) {
        if target.is_nan() {
            return;
        }
        self.rows += 1;
        let error = target - prediction;
        self.squared += error * error;
        self.absolute += error.abs();
        let step = target - self.mean;
        self.mean += step / self.rows as f64;
        self.spread += step * (target - self.mean);
    }

    /// The errors, if any row was scored.
    pub fn errors(&self, target: &str) -> Option<NumberErrors> {
        let rows = self.rows as f64;
        (self.rows > 0).then(|| NumberErrors {
            target: target.to_owned(),
            rows: self.rows,
            rmse: (self.squared / rows).sqrt(),
            mae: Some(self.absolute / rows),
            r2: (self.spread > 0.0).then(|| 1.0 - self.squared / self.spread),
            baseline_rmse: (self.spread / rows).sqrt(),
            density: self.density(),
        })
    }
}

impl NumberErrors {
    /// The warning that the errors are larger than those of predicting the mean.
    pub fn worse_than_mean(&self) -> Option<String> {
        (self.rmse > self.baseline_rmse).then(|| {
            format!(
                "{} is predicted no better than by its mean (RMSE {}, against {}); check the columns and the target",
                self.target,
                number(self.rmse, 6),
                number(self.baseline_rmse, 6)
            )
        })
    }

    /// One line of text.
    pub fn line(&self) -> String {
        let r2 = self.r2.map_or_else(|| "undefined (all targets are equal)".into(), |r2| format!("{r2:.4}"));
        let mae = self.mae.map_or_else(String::new, |mae| format!("MAE {}, ", number(mae, 6)));
        let density = self.density.as_ref().map_or_else(String::new, |density| {
            let DensityErrors { nlpd, coverage_50, coverage_90, coverage_95 } = density;
            format!(
                "; NLPD {nlpd:.4}, intervals of 50/90/95% hold {:.1}/{:.1}/{:.1}%",
                100.0 * coverage_50,
                100.0 * coverage_90,
                100.0 * coverage_95
            )
        });
        format!(
            "RMSE {}, {mae}R² {r2} on {} rows; predicting the mean: RMSE {}{density}",
            number(self.rmse, 6),
            self.rows,
            number(self.baseline_rmse, 6)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_three_rows() {
        let mut score = Moments::default();
        for (y, f) in [(1.0, 2.0), (2.0, 2.0), (6.0, 4.0), (f64::NAN, 1.0)] {
            score.add(y, f);
        }
        let errors = score.errors("y").unwrap();
        assert_eq!(errors.rows, 3);
        assert!((errors.rmse - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!((errors.mae.unwrap() - 1.0).abs() < 1e-15);
        // Σ(y−3)² = 4 + 1 + 9.
        assert!((errors.r2.unwrap() - (1.0 - 5.0 / 14.0)).abs() < 1e-15);
        assert!((errors.baseline_rmse - (14.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn errors_of_small_and_huge_targets_have_digits() {
        for (unit, shown) in [(1e-9, "RMSE 1.290994e-9"), (1.0, "RMSE 1.290994,"), (1e30, "RMSE 1.290994e30")]
        {
            let mut score = Moments::default();
            [(1.0, 2.0), (2.0, 2.0), (6.0, 4.0)].iter().for_each(|(y, f)| score.add(y * unit, f * unit));
            let line = score.errors("y").unwrap().line();
            assert!(line.starts_with(shown), "{line}");
        }
    }

    #[test]
    fn densities_of_standard_deviations() {
        let mut score = Moments::default();
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
    fn errors_above_those_of_the_mean_are_told() {
        for (f, is_worse) in [(2.0, false), (9.0, true)] {
            let mut score = Moments::default();
            [1.0, 2.0, 3.0].iter().for_each(|y| score.add(*y, f));
            let warning = score.errors("y").unwrap().worse_than_mean();
            assert_eq!(warning.is_some_and(|text| text.contains("no better than by its mean")), is_worse);
        }
    }

    #[test]
    fn equal_targets_have_no_r2() {
        let mut score = Moments::default();
        assert!(score.errors("y").is_none());
        score.add(1.0, 1.5);
        assert_eq!(score.errors("y").unwrap().r2, None);
    }
}
