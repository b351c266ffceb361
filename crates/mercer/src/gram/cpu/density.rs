//! Whether sparse rows are also multiplied as sparse rows.

use crate::data::with_samples;
use crate::data::{AnySamples, Storage};

/// The cost of one common feature of two sparse rows, relative to one feature of two dense rows in single precision: a
/// scattered sum of one number against a sixteenth of a vector operation. A rough estimate.
const COST_OF_A_MATCH: f64 = 40.0;

/// Whether walking over common features is cheaper than filling in the zeros. The expected number of common
/// features of a pair is Σⱼ pⱼqⱼ, with pⱼ and qⱼ the fractions of rows that have column j. O(stored entries).
pub(super) fn walks_sparse(x: &AnySamples<'_>, z: &AnySamples<'_>) -> bool {
    if !x.is_sparse() && !z.is_sparse() {
        return false;
    }
    let double = matches!(x, AnySamples::F64(_)) || matches!(z, AnySamples::F64(_));
    let dense = x.ncols() as f64 * if double { 2.0 } else { 1.0 };
    let matches: f64 = fractions(x).iter().zip(fractions(z)).map(|(p, q)| p * q).sum();
    COST_OF_A_MATCH * matches < dense
}

/// The fraction of rows that store each column.
fn fractions(samples: &AnySamples<'_>) -> Vec<f64> {
    let row = 1.0 / samples.nrows().max(1) as f64;
    with_samples!(samples, s => match s.storage() {
        Storage::Dense(_) => vec![1.0; s.ncols()],
        Storage::Sparse { indices, .. } => {
            let mut counts = vec![0.0; s.ncols()];
            indices.iter().for_each(|&c| counts[c as usize] += row);
            counts
        }
    })
}
