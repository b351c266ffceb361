//! What a machine must have for its GPU to be used.

use crate::error::CudaError;

/// The parts of a machine that the engine needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Whether the driver's library was found.
    pub driver: bool,
    /// The version of the compiler NVRTC; `None` if it was not found.
    pub compiler: Option<(i32, i32)>,
    /// The compute capability of the card; `None` before it is known.
    pub card: Option<(i32, i32)>,
    /// Whether cuBLAS and cuSOLVER were found.
    pub solvers: bool,
}

/// The least compute capability.
const LEAST: (i32, i32) = (8, 0);

impl Machine {
    /// Whether nothing is missing.
    ///
    /// # Errors
    /// The first part that is missing or too old.
    pub fn check(&self) -> Result<(), CudaError> {
        if !self.driver {
            return Err(CudaError::NoDriver);
        }
        if let Some((major, minor)) = self.card.filter(|card| *card < LEAST) {
            return Err(CudaError::TooOld { major, minor });
        }
        let found = self.compiler.ok_or(CudaError::NoCompiler)?;
        let needed = first_compiler(self.card.unwrap_or(LEAST));
        if found < needed {
            return Err(CudaError::OldCompiler { found, needed });
        }
        if self.solvers { Ok(()) } else { Err(CudaError::NoSolver) }
    }
}

/// The first version of NVRTC that writes machine code for a card. None before 11.1 hands out machine code.
fn first_compiler(card: (i32, i32)) -> (i32, i32) {
    match card {
        (..=8, ..=6) => (11, 1),
        (8, 7) => (11, 4),
        (..=9, _) => (11, 8),
        (10 | 12, 0) => (12, 8),
        (10 | 12, _) => (12, 9),
        _ => (13, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Machine =
        Machine { driver: true, compiler: Some((12, 8)), card: Some((9, 0)), solvers: true };

    #[test]
    fn every_missing_part_has_its_error() {
        assert_eq!(WHOLE.check(), Ok(()));
        assert_eq!(Machine { driver: false, ..WHOLE }.check(), Err(CudaError::NoDriver));
        assert_eq!(Machine { compiler: None, ..WHOLE }.check(), Err(CudaError::NoCompiler));
        assert_eq!(Machine { solvers: false, ..WHOLE }.check(), Err(CudaError::NoSolver));
        let old = Machine { card: Some((7, 5)), ..WHOLE };
        assert_eq!(old.check(), Err(CudaError::TooOld { major: 7, minor: 5 }));
        // Before the card is known, what any card needs is looked at.
        let unknown = Machine { card: None, ..WHOLE };
        assert_eq!(unknown.check(), Ok(()));
        let needed = Err(CudaError::OldCompiler { found: (10, 2), needed: (11, 1) });
        assert_eq!(Machine { compiler: Some((10, 2)), ..unknown }.check(), needed);
    }

    #[test]
    fn a_compiler_must_know_the_card() {
        let cases = [
            ((8, 0), (11, 1)),
            ((8, 6), (11, 1)),
            ((8, 7), (11, 4)),
            ((8, 9), (11, 8)),
            ((9, 0), (11, 8)),
            ((10, 0), (12, 8)),
            ((10, 3), (12, 9)),
            ((12, 0), (12, 8)),
            ((12, 1), (12, 9)),
        ];
        for (card, needed) in cases {
            let with = |compiler| Machine { compiler: Some(compiler), card: Some(card), ..WHOLE }.check();
            assert_eq!(with(needed), Ok(()), "{card:?}");
            let found = (needed.0, needed.1 - 1);
            assert_eq!(with(found), Err(CudaError::OldCompiler { found, needed }), "{card:?}");
        }
    }
}
