//! The instruction set of the vector code: the widest the processor has, or the one `MERCER_SIMD` names.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The environment variable that names the instruction set.
const VARIABLE: &str = "MERCER_SIMD";

/// An instruction set that the vector code of tiles is compiled for.
///
/// The environment variable `MERCER_SIMD` (`avx512`, `avx2`, `neon` or `portable`) chooses one; without it, or where it is
/// empty, the widest that the processor has is used. The variable is read once per process. It steers mercer's own
/// vector code only: faer's matrix products and factorisations always use the widest set of the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InstructionSet {
    /// AVX-512 F, DQ, VL and BW with FMA: vectors of 64 bytes.
    Avx512,
    /// AVX2 with FMA: vectors of 32 bytes.
    Avx2,
    /// NEON of 64-bit ARM processors: vectors of 32 bytes in two registers.
    Neon,
    /// Code for any processor of the architecture the program was compiled for.
    Portable,
}

/// An invalid value of `MERCER_SIMD`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstructionSetError {
    /// Not the name of an instruction set.
    #[error("MERCER_SIMD is `{received}`; allowed are `avx512`, `avx2`, `neon` and `portable`")]
    Unknown {
        /// The text received.
        received: String,
    },
    /// An instruction set that this processor does not have.
    #[error("MERCER_SIMD is `{wanted}`, which this processor does not have; the widest it has is `{widest}`")]
    Unavailable {
        /// The requested set.
        wanted: InstructionSet,
        /// The widest available set.
        widest: InstructionSet,
    },
}

impl InstructionSet {
    /// Every instruction set, the widest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// Whether the processor has the instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => super::x86::has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => super::x86::has_avx2(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Portable => true,
        }
    }

    /// The widest instruction set that the processor has.
    #[must_use]
    pub fn widest() -> Self {
        Self::ALL.into_iter().find(|set| set.is_available()).unwrap_or(Self::Portable)
    }

    /// The instruction set that `MERCER_SIMD` names, or the widest.
    ///
    /// Programs call this at start-up, so that a wrong value is reported and not ignored.
    ///
    /// # Errors
    /// [`InstructionSetError`] if the variable names no instruction set, or one that the processor does not have.
    pub fn chosen() -> Result<Self, InstructionSetError> {
        static CHOSEN: OnceLock<Result<InstructionSet, InstructionSetError>> = OnceLock::new();
        let read = || Self::read(&std::env::var_os(VARIABLE).unwrap_or_default().to_string_lossy());
        CHOSEN.get_or_init(read).clone()
    }

    /// The instruction set in use: the chosen one, and the widest where the choice is an error.
    #[inline]
    pub(crate) fn in_use() -> Self {
        static IN_USE: OnceLock<InstructionSet> = OnceLock::new();
        *IN_USE.get_or_init(|| Self::chosen().unwrap_or_else(|_| Self::widest()))
    }

    fn read(text: &str) -> Result<Self, InstructionSetError> {
        let widest = Self::widest();
        if text.is_empty() {
            return Ok(widest);
        }
        let wanted: Self = text.parse()?;
        if wanted.is_available() {
            Ok(wanted)
        } else {
            Err(InstructionSetError::Unavailable { wanted, widest })
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        })
    }
}

impl FromStr for InstructionSet {
    type Err = InstructionSetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|set| set.to_string() == text)
            .ok_or_else(|| InstructionSetError::Unknown { received: text.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_used_only_if_the_processor_supports_it() {
        for set in InstructionSet::ALL {
            assert_eq!(set.to_string().parse(), Ok(set));
            match InstructionSet::read(&set.to_string()) {
                Ok(read) => assert!(read == set && set.is_available()),
                Err(error) => {
                    assert!(!set.is_available());
                    assert!(
                        error.to_string().contains(&format!("`{}`", InstructionSet::widest())),
                        "{error}"
                    );
                }
            }
        }
        assert_eq!(InstructionSet::read(""), Ok(InstructionSet::widest()));
        let error = InstructionSet::read("AVX9").unwrap_err();
        assert_eq!(
            error.to_string(),
            "MERCER_SIMD is `AVX9`; allowed are `avx512`, `avx2`, `neon` and `portable`"
        );
    }

    #[test]
    fn the_set_in_use_is_the_chosen_one() {
        assert!(InstructionSet::in_use().is_available());
        assert_eq!(InstructionSet::chosen(), Ok(InstructionSet::in_use()));
    }
}
