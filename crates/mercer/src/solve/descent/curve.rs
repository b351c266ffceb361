//! The learning curve.

use serde::{Deserialize, Serialize};

use crate::data::Matrix;

/// The progress of the fit after some passes over the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Passes so far.
    pub epoch: usize,
    /// The mean of (y − f)² over samples and targets.
    pub mse: f64,
    /// ‖K(y − f)‖/‖Ky‖, the largest over the targets; for single samples, each residual is the one at the sample's
    /// visit.
    pub gradient: f64,
}

/// The most points stored.
const POINTS: usize = 200;

/// A curve of bounded length: every second point is dropped whenever there are too many, and the last one is kept.
#[derive(Debug)]
pub(super) struct Curve {
    points: Vec<CurvePoint>,
    /// Epochs between points that stay.
    stride: usize,
}

impl Curve {
    pub fn new() -> Self {
        Self { points: Vec::new(), stride: 1 }
    }

    pub fn push(&mut self, epoch: usize, residual: &Matrix<f64>, gradient: f64) {
        if self.points.last().is_some_and(|last| last.epoch % self.stride != 0) {
            self.points.pop();
        }
        if self.points.len() == POINTS {
            self.stride *= 2;
            self.points.retain(|point| point.epoch % self.stride == 0);
        }
        let squares: f64 = residual.entries().iter().map(|r| r * r).sum();
        let mse = squares / residual.entries().len().max(1) as f64;
        self.points.push(CurvePoint { epoch, mse, gradient });
    }

    pub fn into_points(self) -> Vec<CurvePoint> {
        self.points
    }
}

/// The largest of aⱼ/bⱼ; a zero denominator counts as converged.
pub(super) fn largest_ratio(above: &[f64], below: &[f64]) -> f64 {
    above
        .iter()
        .zip(below)
        .map(|(a, b)| if *b > 0.0 { a / b } else { 0.0 })
        .fold(0.0, |most: f64, ratio| if most.is_nan() || ratio <= most { most } else { ratio })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_thinned_and_keeps_both_ends() {
        for epochs in [1, 199, 200, 201, 777, 12_345] {
            let mut curve = Curve::new();
            let residual = Matrix::from_entries(2, 1, vec![1.0, 3.0]);
            (0..=epochs).for_each(|epoch| curve.push(epoch, &residual, 0.5));
            let points = curve.into_points();
            assert!(points.len() <= POINTS && points.len() >= epochs.min(POINTS / 2), "{}", points.len());
            assert_eq!((points[0].epoch, points.last().unwrap().epoch), (0, epochs));
            assert!(points.windows(2).all(|w| w[0].epoch < w[1].epoch));
            assert_eq!(points[0].mse, 5.0);
        }
    }

    #[test]
    fn a_ratio_to_nothing_is_met_and_nan_is_not_lost() {
        assert_eq!(largest_ratio(&[1.0, 0.0], &[2.0, 0.0]), 0.5);
        assert!(largest_ratio(&[f64::NAN, 1.0], &[1.0, 2.0]).is_nan());
        assert!(largest_ratio(&[1.0, f64::NAN], &[2.0, 1.0]).is_nan());
    }
}
