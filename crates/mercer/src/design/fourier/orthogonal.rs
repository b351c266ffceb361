//! Random orthogonal directions.

use faer::{MatMut, MatRef};
use rand::Rng;

use crate::data::Matrix;
use crate::linalg::{Cholesky, products};
use crate::watch::Unwatched;

use super::draw::uniform;
use super::quantile::normal;

/// `count` ≤ `dimensions` orthonormal rows, uniformly distributed (the first rows of a Haar matrix).
///
/// A Gaussian matrix G = LQ with a positive diagonal of L has Q of this law, and L is the Cholesky factor of GGᵀ. Done
/// twice, because the condition number of G enters squared: Q is then orthonormal to working precision. O(count²·d).
pub(super) fn directions(dimensions: usize, count: usize, rng: &mut impl Rng) -> Matrix<f64> {
    loop {
        let entries = (0..count * dimensions).map(|_| normal(uniform(rng))).collect();
        let gaussian = Matrix::from_entries(count, dimensions, entries);
        // A draw too close to singular has probability near 0: draw again.
        if let Some(rows) = orthonormalised(gaussian).and_then(orthonormalised) {
            return rows;
        }
    }
}

fn orthonormalised(mut rows: Matrix<f64>) -> Option<Matrix<f64>> {
    let count = rows.nrows();
    let mut gram = vec![0.0; count * count];
    let view = products::view(&rows);
    let out = MatMut::from_row_major_slice_mut(&mut gram, count, count);
    products::assign(out, 1.0, view, view.transpose());
    let factor = Cholesky::factor(count, gram, &Unwatched).ok()?;
    let lower = MatRef::from_row_major_slice(factor.lower(), count, count);
    products::solve_lower(lower, products::view_mut(&mut rows));
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn rows_are_orthonormal_and_point_everywhere() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for (dimensions, count) in [(1, 1), (7, 7), (50, 50), (300, 20)] {
            let rows = directions(dimensions, count, &mut rng);
            for i in 0..count {
                for j in 0..=i {
                    let dot: f64 = rows.row(i).iter().zip(rows.row(j)).map(|(a, b)| a * b).sum();
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-13);
                }
            }
        }
        // E q₀² = 1/d and E q₀ = 0 for every entry of a Haar matrix; 2,000 draws of variance at most 1.
        let (mut mean, mut square) = (0.0, 0.0);
        for _ in 0..2_000 {
            let last = directions(3, 3, &mut rng).row(2)[0];
            mean += last / 2_000.0;
            square += last * last / 2_000.0;
        }
        assert!(mean.abs() < 0.05 && (square - 1.0 / 3.0).abs() < 0.03, "{mean} {square}");
    }
}
