//! `--approx` as typed.

use mercer::design::Approximation;

/// `--approx` as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approx {
    /// The exact kernel.
    Exact,
    /// The choice for the size of the data.
    Auto,
    /// This approximation.
    As(Approximation),
}

impl Approx {
    /// Whether anything other than the exact kernel was requested.
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
            "expected fourier:D with an even number D of random features, nystrom:M with a number M of landmarks, auto or none"
                .into()
        }),
    }
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
