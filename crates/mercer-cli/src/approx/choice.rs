//! Which approximation: as asked for, or by itself.

use mercer::features::{Approximation, kernel_error};
use mercer::kernel::{Kernel, Spectrum};
use mercer::learn::ApproxRidge;
use mercer::memory;
use mercer::watch::Watch;

use super::survey::Survey;
use crate::args::Fit;
use crate::failure::Failure;

/// `--approx` as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approx {
    /// The kernel as it is.
    Exact,
    /// Whatever the size of the data asks for.
    Auto,
    /// This one.
    As(Approximation),
}

impl Approx {
    /// Whether anything but the kernel as it is was asked for.
    pub fn is_asked(self) -> bool {
        self != Self::Exact
    }
}

/// Reads `fourier:D`, `nystrom:M`, `auto` or `none`.
pub fn parse(text: &str) -> Result<Approx, String> {
    match text {
        "auto" => Ok(Approx::Auto),
        "none" => Ok(Approx::Exact),
        _ => text.parse().map(Approx::As).map_err(|_| {
            "it is fourier:D with an even number D of random features, nystrom:M with a number M of landmarks, auto or none"
                .into()
        }),
    }
}

/// Rows up to which the kernel matrix is formed where it fits.
const EXACT: u64 = 10_000;

/// Features that both kinds are tried with.
const TRIED: usize = 256;

/// Pairs of rows that they are tried on.
const PAIRS: usize = 1_000;

/// The approximation and why, where `auto` chose it; none where none is needed.
pub fn choose(
    arguments: &Fit,
    kernel: &Kernel,
    survey: &Survey,
    watch: &dyn Watch,
) -> Result<Option<(Approximation, Option<String>)>, Failure> {
    if let Some(Approx::As(approximation)) = arguments.approx {
        if let Approximation::Nystrom { landmarks, .. } = approximation
            && landmarks as u64 > survey.rows
        {
            return Err(Failure::usage(format!(
                "--approx nystrom:{landmarks} asks for more landmarks than there are rows, {}",
                survey.rows
            )));
        }
        return Ok(Some((approximation, None)));
    }
    let budget = arguments.memory.unwrap_or_else(memory::default_budget);
    if survey.rows <= EXACT && 8 * survey.rows * survey.rows <= budget {
        return Ok(None);
    }
    let size = size(survey.rows, budget);
    let nystrom = Approximation::nystrom(size.min(survey.sample.nrows()));
    let columns = survey.sample.ncols();
    if let Err(reason) = Spectrum::of(kernel, columns) {
        return Ok(Some((nystrom, Some(format!("landmarks, because random features are out: {reason}")))));
    }
    let seed = arguments.common.seed;
    let tried = TRIED.min(survey.sample.nrows());
    let error = |approximation: Approximation| -> Result<f64, Failure> {
        let features = approximation.of(kernel, &survey.sample, seed, watch)?;
        Ok(kernel_error(&features, kernel, &survey.sample, PAIRS, seed, watch)?.relative)
    };
    let (random, landmarks) = (error(Approximation::fourier(TRIED))?, error(Approximation::nystrom(tried))?);
    let why = format!(
        "with {TRIED} features random ones have a kernel error of {random:.1e} on a sample, landmarks {landmarks:.1e}"
    );
    let chosen = if landmarks < random { nystrom } else { Approximation::fourier(size) };
    Ok(Some((chosen, Some(why))))
}

/// Features for so many rows: 8√n, which keeps the error of the approximation below that of the data for most problems
/// (Rudi and Rosasco 2017), within 512 and 4,096 and the memory.
fn size(rows: u64, budget: u64) -> usize {
    let mut size = ((8.0 * (rows as f64).sqrt()) as usize).clamp(512, 4_096).next_multiple_of(64);
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

    #[test]
    fn words_and_counts_are_read() {
        assert_eq!(parse("auto"), Ok(Approx::Auto));
        assert_eq!(parse("none"), Ok(Approx::Exact));
        assert_eq!(parse("fourier:64"), Ok(Approx::As(Approximation::fourier(64))));
        for bad in ["fourier", "fourier:0", "fourier:3", "nystrom:0", "exact", ""] {
            assert!(parse(bad).unwrap_err().contains("nystrom:M"), "{bad}");
        }
    }
}
