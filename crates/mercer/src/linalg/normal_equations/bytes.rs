//! Serialises sums, so that partial results can be stored or sent.

use crate::linalg::saved::{self, InvalidSaved, Mark};

use super::{BLOCK, NormalEquations};

const MARK: Mark = "mercer moments 1";

impl NormalEquations {
    /// The sums as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [
            std::slice::from_ref(&self.weight),
            &self.feature_sums,
            &self.target_sums,
            &self.target_squares,
            self.cross.entries(),
        ];
        let blocks = self.blocks.iter().map(Vec::as_slice);
        let counts = [self.features as u64, self.targets as u64, self.rows];
        saved::to_bytes(MARK, &counts, numbers.into_iter().chain(blocks))
    }

    /// The sums that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// If the bytes are not those of sums.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSaved> {
        let ([features, targets, rows], mut numbers) =
            saved::from_bytes(MARK, bytes, |[features, targets, _]| count(features, targets))?;
        // There are as many bytes as both say: they fit the address space.
        let mut equations = Self::new(features as usize, targets as usize);
        equations.rows = rows;
        let slices = [
            std::slice::from_mut(&mut equations.weight),
            &mut equations.feature_sums,
            &mut equations.target_sums,
            &mut equations.target_squares,
            equations.cross.entries_mut(),
        ];
        for slice in slices.into_iter().chain(equations.blocks.iter_mut().map(Vec::as_mut_slice)) {
            slice.iter_mut().zip(&mut numbers).for_each(|(to, v)| *to = v);
        }
        Ok(equations)
    }
}

/// Numbers in the sums of this many features and targets.
fn count(features: u64, targets: u64) -> Option<u64> {
    let block = BLOCK as u64;
    let (whole, rest) = (features / block, features % block);
    // Full bands of blocks up to the diagonal, and the last, shorter one.
    let products = (block * block)
        .checked_mul(whole.checked_mul(whole + 1)? / 2)?
        .checked_add(rest.checked_mul(whole.checked_mul(block)?)?)?
        .checked_add(rest * rest)?;
    let linear = features.checked_mul(targets.checked_add(1)?)?.checked_add(targets.checked_mul(2)?)?;
    products.checked_add(linear)?.checked_add(1)
}
