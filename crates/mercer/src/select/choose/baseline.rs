//! The score of the best constant prediction.

use crate::learn::search::Measure;
use crate::learn::{Inputs, Problem, Targets};

/// The mean of the measure over the rows where the mean of the targets, the shares of the classes or the most frequent
/// class is predicted everywhere; `None` if there is nothing to predict, or the rows are not all known.
#[must_use]
pub fn baseline(measure: Measure, problem: &Problem<'_>) -> Option<f64> {
    if !matches!(measure, Measure::SquaredError | Measure::LogLoss | Measure::Wrong)
        || matches!(problem.inputs, Inputs::Stream(_))
    {
        return None;
    }
    let weight = |row: usize| problem.weights().map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..problem.nrows()).map(weight).sum();
    match &problem.targets {
        Targets::None => None,
        Targets::Numbers(numbers) => {
            let (rows, columns) = (numbers.nrows(), numbers.ncols());
            let variance = |column: usize| {
                let mean = (0..rows).map(|i| weight(i) * numbers.row(i)[column]).sum::<f64>() / total;
                (0..rows).map(|i| weight(i) * (numbers.row(i)[column] - mean).powi(2)).sum::<f64>() / total
            };
            Some((0..columns).map(variance).sum::<f64>() / columns as f64)
        }
        Targets::Classes { codes, classes } => {
            let mut shares = vec![0.0; classes.len()];
            codes.iter().enumerate().for_each(|(row, &code)| shares[code] += weight(row) / total);
            Some(match measure {
                Measure::LogLoss => shares.iter().filter(|&&share| share > 0.0).map(|p| -p * p.ln()).sum(),
                _ => 1.0 - shares.iter().copied().fold(0.0, f64::max),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_mean_and_the_most_frequent_class() {
        let numbers = Problem::new(&[[0.0], [1.0], [2.0]], &[1.0, 2.0, 6.0]);
        assert_eq!(baseline(Measure::SquaredError, &numbers), Some(14.0 / 3.0));
        let classes = Problem::new(&[[0.0], [1.0], [2.0], [3.0]], &["a", "b", "b", "b"]);
        assert_eq!(baseline(Measure::Wrong, &classes), Some(0.25));
        let entropy = -(0.25f64 * 0.25f64.ln() + 0.75 * 0.75f64.ln());
        assert!((baseline(Measure::LogLoss, &classes).unwrap() - entropy).abs() < 1e-15);
    }
}
