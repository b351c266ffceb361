//! A randomised Halton sequence.

use rand::{Rng, RngExt};

use crate::data::Matrix;

use super::draw::uniform;

/// Coordinates beyond this many are independent uniform numbers: their bases are so large that a Halton sequence of any
/// useful length is no more even.
const MOST: usize = 1_000;

/// `count` points of the unit cube, one a row. Coordinate j uses the j-th prime as its base, and each digit has its own
/// random permutation, so that every point is uniformly distributed (Owen 2017).
pub(super) fn halton(count: usize, dimensions: usize, rng: &mut impl Rng) -> Matrix<f64> {
    let mut points = Matrix::zeros(count, dimensions);
    for (j, prime) in primes(dimensions.min(MOST)).into_iter().enumerate() {
        let digits = (53.0 * 2f64.ln() / (prime as f64).ln()).ceil() as usize;
        let permutations: Vec<Vec<u32>> = (0..digits).map(|_| permutation(prime, rng)).collect();
        for i in 0..count {
            let (mut rest, mut value, mut unit) = (i as u64, 0.0, 1.0);
            for permutation in &permutations {
                unit /= f64::from(prime);
                value += unit * f64::from(permutation[(rest % u64::from(prime)) as usize]);
                rest /= u64::from(prime);
            }
            points.row_mut(i)[j] = (value + 0.5 * unit).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        }
    }
    for i in 0..count {
        points.row_mut(i).iter_mut().skip(MOST).for_each(|u| *u = uniform(rng));
    }
    points
}

fn permutation(length: u32, rng: &mut impl Rng) -> Vec<u32> {
    let mut permutation: Vec<u32> = (0..length).collect();
    for i in (1..permutation.len()).rev() {
        permutation.swap(i, rng.random_range(0..=i));
    }
    permutation
}

/// The first primes.
fn primes(count: usize) -> Vec<u32> {
    let mut primes: Vec<u32> = Vec::with_capacity(count);
    let mut candidate = 2;
    while primes.len() < count {
        if primes.iter().take_while(|p| *p * *p <= candidate).all(|p| candidate % p != 0) {
            primes.push(candidate);
        }
        candidate += 1;
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn every_coordinate_is_evenly_filled() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let points = halton(2 * 3 * 5 * 7, 4, &mut rng);
        for (j, prime) in [2, 3, 5, 7].into_iter().enumerate() {
            let mut counts = vec![0; prime];
            for i in 0..points.nrows() {
                counts[(points.row(i)[j] * prime as f64) as usize] += 1;
            }
            assert!(counts.iter().all(|&c| c == 210 / prime), "{prime}: {counts:?}");
        }
    }

    #[test]
    fn primes_are_primes() {
        assert_eq!(primes(10), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert_eq!(primes(1000)[999], 7919);
    }
}
