//! The precisions that matrices are factored and multiplied in.

use faer::traits::RealField;

use crate::real::Real;

/// A precision of dense linear algebra, `f32` or `f64`: a [`Real`] that faer computes with.
///
/// Sealed, as [`Real`] is.
#[doc(hidden)]
pub trait Scalar: Real + RealField {}

impl Scalar for f32 {}
impl Scalar for f64 {}
