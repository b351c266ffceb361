//! Which approximation of a kernel the size of the data asks for.

use crate::data::AnySamples;
use crate::design::{Approximation, kernel_error};
use crate::kernel::{Kernel, Spectrum};
use crate::session::Session;

use super::approx_ridge::ApproxRidge;
use super::error::LearnError;

/// Rows up to which the kernel matrix is formed where it fits.
const EXACT: u64 = 10_000;

/// Features that both kinds are tried with.
const TRIED: usize = 256;

/// Pairs of samples that they are tried on.
const PAIRS: usize = 1_000;

/// The approximation for this number of rows, of which `sample` is a part, and why; none where the kernel matrix is small enough.
///
/// Random features and landmarks are both tried on the sample, and the kind that is closer to the kernel is taken. `memory`
/// is the budget in bytes; `None` for four fifths of what is available.
///
/// # Errors
/// Where the kernel does not fit the samples, and where the session is stopped.
pub fn choose_approximation(
    kernel: &Kernel,
    sample: &AnySamples<'_>,
    rows: u64,
    session: &Session<'_>,
) -> Result<Option<(Approximation, String)>, LearnError> {
    let budget = session.memory();
    if rows <= EXACT && 8 * rows * rows <= budget {
        return Ok(None);
    }
    let size = size(rows, budget);
    let nystrom = Approximation::nystrom(size.min(sample.nrows()));
    if let Err(reason) = Spectrum::of(kernel, sample.ncols()) {
        return Ok(Some((nystrom, format!("landmarks, because random features are out: {reason}"))));
    }
    let tried = TRIED.min(sample.nrows());
    let error = |approximation: Approximation| -> Result<f64, LearnError> {
        let features = approximation.of(kernel, sample, session)?;
        Ok(kernel_error(&features.ready(sample.ncols(), None, session)?, kernel, sample, PAIRS, session)?
            .relative)
    };
    let (random, landmarks) = (error(Approximation::fourier(TRIED))?, error(Approximation::nystrom(tried))?);
    let why = format!(
        "with {TRIED} features random ones have a kernel error of {random:.1e} on a sample, landmarks {landmarks:.1e}"
    );
    Ok(Some((if landmarks < random { nystrom } else { Approximation::fourier(size) }, why)))
}

/// The number of features for this number of rows: 8√n, which keeps the error of the approximation below that of the data for most problems
/// (Rudi and Rosasco 2017), from 512 to 4,096.
#[must_use]
pub fn suggested_features(rows: u64) -> usize {
    ((8.0 * (rows as f64).sqrt()) as usize).clamp(512, 4_096).next_multiple_of(64)
}

/// As many, as far as the memory goes.
fn size(rows: u64, budget: u64) -> usize {
    let mut size = suggested_features(rows);
    while size > 64 && ApproxRidge::bytes_needed(size, 1) > budget {
        size -= 64;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_rows_and_the_memory() {
        assert_eq!(size(20_000, u64::MAX), 1_152);
        assert_eq!(size(10_000_000_000, u64::MAX), 4_096);
        assert!(size(10_000_000_000, 50 << 20) < 2_500);
    }
}
