//! Which approximation: as asked for, or by itself.

use mercer::design::Approximation;
use mercer::kernel::Kernel;
use mercer::learn::choose_approximation;
use mercer::session::Session;

use super::survey::Survey;
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

/// The approximation and why, where `auto` chose it; none where none is needed.
pub fn choose(
    approx: Option<Approx>,
    kernel: &Kernel,
    survey: &Survey,
    session: &Session<'_>,
) -> Result<Option<(Approximation, Option<String>)>, Failure> {
    if let Some(Approx::As(approximation)) = approx {
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
    let chosen = choose_approximation(kernel, &survey.sample, survey.rows, session)?;
    Ok(chosen.map(|(approximation, why)| (approximation, Some(why))))
}

#[cfg(test)]
mod tests {
    use super::*;

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
