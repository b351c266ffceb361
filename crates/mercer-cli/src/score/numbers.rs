//! Errors of a regression.

use serde::Serialize;

/// Sums from which the errors of one output follow.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    rows: u64,
    squared: f64,
    absolute: f64,
    mean: f64,
    spread: f64,
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
    /// Mean absolute error; none where only sums of squares are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
    /// 1 − Σ(y−f)²/Σ(y−ȳ)²; none where the targets are all equal.
    pub r2: Option<f64>,
    /// The root mean squared error of predicting the mean of these targets everywhere.
    pub baseline_rmse: f64,
}

impl Moments {
    /// Takes one row in; a target that is not known (NaN) is passed over.
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

    /// The errors, where any row was scored.
    pub fn errors(&self, target: &str) -> Option<NumberErrors> {
        let rows = self.rows as f64;
        (self.rows > 0).then(|| NumberErrors {
            target: target.to_owned(),
            rows: self.rows,
            rmse: (self.squared / rows).sqrt(),
            mae: Some(self.absolute / rows),
            r2: (self.spread > 0.0).then(|| 1.0 - self.squared / self.spread),
            baseline_rmse: (self.spread / rows).sqrt(),
        })
    }
}

impl NumberErrors {
    /// One line for people.
    pub fn line(&self) -> String {
        let r2 = self.r2.map_or_else(|| "undefined (all targets are equal)".into(), |r2| format!("{r2:.4}"));
        let mae = self.mae.map_or_else(String::new, |mae| format!("MAE {mae:.6}, "));
        format!(
            "RMSE {:.6}, {mae}R² {r2} on {} rows; predicting the mean: RMSE {:.6}",
            self.rmse, self.rows, self.baseline_rmse
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
    fn equal_targets_have_no_r2() {
        let mut score = Moments::default();
        assert!(score.errors("y").is_none());
        score.add(1.0, 1.5);
        assert_eq!(score.errors("y").unwrap().r2, None);
    }
}
