//! The Cholesky factor of the landmarks' kernel matrix, stored by the engine.

use crate::data::AnySamples;
use crate::gram::{GramError, Penalty, Wanted};
use crate::kernel::Kernel;
use crate::linalg::CholeskyFactor;
use crate::real::Precision;
use crate::session::Session;

use super::super::error::{DesignError, check_memory};

/// L with LLᵀ = K_MM + δI for landmarks and the smallest δ tried for which there is a factor.
pub struct LandmarkFactor {
    /// L.
    pub factor: Box<dyn CholeskyFactor>,
    /// δ: 0 unless some landmarks are numerically redundant.
    pub jitter: f64,
}

/// The rounding errors of kernel values of these landmarks, relative to the largest kernel value.
pub(super) fn rounding(landmarks: &AnySamples<'_>) -> f64 {
    match landmarks {
        AnySamples::F32(_) => 1e-6,
        AnySamples::F64(_) => landmarks.nrows() as f64 * f64::EPSILON,
    }
}

/// The factor by which δ grows if it is too small, and the most times that it grows.
const GROWTH: (f64, u32) = (100.0, 3);

impl LandmarkFactor {
    /// The factor for these landmarks, in double precision: a factor magnifies errors of the kernel.
    ///
    /// If a pivot is not above the rounding errors of kernel values, δ is the size of these errors.
    ///
    /// # Errors
    /// If the kernel does not fit the landmarks, if M² numbers do not fit the memory, if no δ is large enough, or if
    /// the session is stopped.
    pub fn new(
        kernel: &Kernel,
        landmarks: &AnySamples<'_>,
        session: &Session<'_>,
    ) -> Result<Self, DesignError> {
        let m = landmarks.nrows();
        check_memory("the kernel matrix of the landmarks", m, m, 16, session.matrix_memory())?;
        let resident = session.load(&landmarks.widened())?;
        let gram = resident.gram(kernel, Wanted::Exact)?;
        let largest = gram.diagonal().iter().copied().fold(0.0, f64::max);
        let least = rounding(landmarks) * largest;
        let mut jitter = 0.0;
        for attempt in 0..=GROWTH.1 {
            let matrix = gram.regularised(Penalty::uniform(jitter), Precision::Double, session);
            let factor = matrix.and_then(|matrix| matrix.try_factor(session)).map_err(GramError::from)?;
            if let Ok(factor) = factor
                && (factor.smallest_pivot() > least || jitter > 0.0)
            {
                return Ok(Self { factor, jitter });
            }
            jitter = least * GROWTH.0.powi(attempt as i32);
        }
        Err(DesignError::NoRank)
    }
}
