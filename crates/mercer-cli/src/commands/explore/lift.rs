//! The lift of the textbooks: x₁² + x₂² as a third coordinate, and a plane between two classes there.

use mercer::data::Dataset;
use mercer::design::FeatureMap;
use mercer::learn::{Learner, Problem, Ridge};
use mercer::model::Predictor;
use mercer::session::Session;
use serde::Serialize;

use super::points::{Points, Values};
use super::state::State;
use crate::failure::Failure;

/// λ of the plane; its value hardly matters with three features.
const LAMBDA: f64 = 1e-6;

/// A plane w₁x₁ + w₂x₂ + w₃(x₁² + x₂²) + b = 0.
#[derive(Debug, Serialize)]
pub struct Lifted {
    weights: Vec<f64>,
    intercept: f64,
    /// Rows on their side of the plane, and all rows.
    right: usize,
    rows: usize,
}

/// The plane of least squares between two classes.
pub fn lift(state: &State, file: Option<&Dataset>, session: &Session<'_>) -> Result<Lifted, Failure> {
    let points = Points::of(state, file)?;
    let Values::Classes { codes, names } = &points.values else {
        return Err(Failure::usage(
            "the lift tells two classes apart; choose data with classes, such as rings",
        ));
    };
    if points.names.len() != 2 || names.len() != 2 {
        return Err(Failure::usage("the lift is for two columns and two classes, such as rings"));
    }
    let map: FeatureMap = "x0, x1, x0^2 + x1^2".parse().map_err(Failure::work)?;
    let sides: Vec<f64> = codes.iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect();
    let rows: Vec<[f64; 2]> = points.rows.chunks_exact(2).map(|x| [x[0], x[1]]).collect();
    let fitted = Ridge::on(map).lambda(LAMBDA).train(&Problem::new(&rows[..], &sides), session)?;
    let outputs = fitted.predict(&rows[..])?;
    let right = outputs.entries().iter().zip(&sides).filter(|(f, y)| *f * *y > 0.0).count();
    let Predictor::Linear(linear) = fitted.model.predictor else {
        return Err(Failure::work("the plane has no weights"));
    };
    Ok(Lifted {
        weights: linear.weights.entries().to_vec(),
        intercept: linear.intercepts[0],
        right,
        rows: rows.len(),
    })
}
