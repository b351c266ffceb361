//! The precisions that matrices are factored and multiplied in.

use faer::traits::RealField;

use crate::real::Real;

/// A precision of dense linear algebra, `f32` or `f64`: a [`Real`] that faer computes with.
///
/// Sealed, as [`Real`] is.
#[doc(hidden)]
pub trait Scalar: Real + RealField {
    /// The values in double precision.
    fn into_doubles(values: Vec<Self>) -> Vec<f64>;
}

impl Scalar for f32 {
    fn into_doubles(values: Vec<Self>) -> Vec<f64> {
        values.into_iter().map(f64::from).collect()
    }
}

impl Scalar for f64 {
    fn into_doubles(values: Vec<Self>) -> Vec<f64> {
        values
    }
}
