//! The quality of an approximation of a kernel by features.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::AnySamples;
use crate::gram::GramError;
use crate::kernel::Kernel;
use crate::real::Precision;
use crate::session::Session;
use crate::watch::Watch;

use super::error::DesignError;
use super::features::RowFeatures;

/// The difference of ⟨φ(x),φ(z)⟩ and k(x,z) over a sample of pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelError {
    /// √(Σ(⟨φ(x),φ(z)⟩ − k(x,z))² / Σk(x,z)²): an estimate of ‖ΦΦᵀ − K‖/‖K‖ in the Frobenius norm.
    pub relative: f64,
    /// √ of the mean of the squared differences.
    pub root_mean_square: f64,
    /// The largest difference.
    pub largest: f64,
    /// The number of pairs measured.
    pub pairs: usize,
}

/// The error of `features` against `kernel`, on `pairs` pairs of rows drawn with the seed of the session.
///
/// O(pairs·(D + d)) time. The error of random features falls as 1/√D: twice as many reduce it to 0.71 of its value.
///
/// # Errors
/// If there are no samples or pairs, if the kernel does not fit the samples, or if the session is stopped.
pub fn kernel_error(
    features: &RowFeatures<'_>,
    kernel: &Kernel,
    samples: &AnySamples<'_>,
    pairs: usize,
    session: &Session<'_>,
) -> Result<KernelError, DesignError> {
    let (n, d) = (samples.nrows(), samples.ncols());
    if n == 0 || pairs == 0 {
        return Err(DesignError::parameter(
            "the number of pairs of samples",
            if n == 0 { 0 } else { pairs },
            "1 or more",
        ));
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(session.seed());
    let (mut squares, mut total, mut largest) = (0.0, 0.0, 0.0f64);
    let (mut x, mut z) = (vec![0.0; d], vec![0.0; d]);
    let mut left = pairs;
    while left > 0 {
        let count = left.min(1024);
        left -= count;
        let rows: Vec<usize> = (0..2 * count).map(|_| rng.random_range(0..n)).collect();
        let chosen = samples.select(&rows);
        let phi = features.transform(&chosen, Precision::Double, session)?.into_f64();
        for pair in 0..count {
            session.check()?;
            chosen.copy_row(2 * pair, &mut x);
            chosen.copy_row(2 * pair + 1, &mut z);
            let exact = kernel.eval(&x, &z).map_err(GramError::from)?;
            let found: f64 = phi.row(2 * pair).iter().zip(phi.row(2 * pair + 1)).map(|(a, b)| a * b).sum();
            squares += (found - exact).powi(2);
            total += exact * exact;
            largest = largest.max((found - exact).abs());
        }
    }
    let relative = if squares == 0.0 { 0.0 } else { (squares / total).sqrt() };
    Ok(KernelError { relative, root_mean_square: (squares / pairs as f64).sqrt(), largest, pairs })
}
