//! Points with rational coordinates on the unit sphere, by stereographic projection, and seeded random sets.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::configurations::{self, Pool};
use crate::check::Domain;
use crate::check::exact::{self, Q};

/// Denominators of the projection parameters; small ones give short fractions.
const DENOMINATOR: f64 = 12.0;

/// About `count` rational points of the sphere in R^dim, the axes first.
pub fn rational_points(dim: usize, count: usize) -> Pool {
    let mut pool: Pool = Vec::new();
    let mut push = |point: Vec<f64>| {
        if !pool.contains(&point) {
            pool.push(point);
        }
    };
    for axis in 0..dim.min(8) {
        for sign in [1.0, -1.0] {
            let mut point = vec![0.0; dim];
            point[axis] = sign;
            push(point);
        }
    }
    if dim >= 2 {
        for (a, b) in
            [(0.6, 0.8), (0.8, 0.6), (-0.6, 0.8), (0.28, 0.96), (0.96, 0.28), (-0.8, 0.6), (-0.28, 0.96)]
        {
            let mut point = vec![0.0; dim];
            (point[0], point[1]) = (a, b);
            push(point);
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for _ in 0..count.min(60) {
            push(project(&random_parameters(dim, 2.0, &mut random)));
        }
    }
    pool
}

fn random_parameters(dim: usize, spread: f64, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    (1..dim).map(|_| (random.random_range(-spread..spread) * DENOMINATOR).round() / DENOMINATOR).collect()
}

/// (2y, |y|²−1)/(|y|²+1).
fn project(y: &[f64]) -> Vec<f64> {
    let squared: f64 = y.iter().map(|c| c * c).sum();
    y.iter().map(|c| 2.0 * c / (squared + 1.0)).chain([(squared - 1.0) / (squared + 1.0)]).collect()
}

/// The rational point of the sphere approximated by a double one from this module.
pub fn exact(point: &[f64]) -> Option<Vec<Q>> {
    if point.iter().all(|c| c.abs() == 1.0 || *c == 0.0) {
        return point.iter().map(|c| exact::from_decimal(*c)).collect();
    }
    let (last, rest) = point.split_last()?;
    if (1.0 - last).abs() < 1e-9 {
        return None;
    }
    // y = rest/(1 − last), read as a fraction with a small denominator: 12 from `project`, 1 to 50 from the list.
    let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0, 12.0];
    let y: Vec<f64> = rest.iter().map(|c| c / (1.0 - last)).collect();
    let denominator =
        steps.into_iter().find(|s| y.iter().all(|c| ((c * s).round() - c * s).abs() < 1e-9)).unwrap_or(1e4);
    let y: Vec<Q> = y
        .iter()
        .map(|c| Some(exact::from_decimal((c * denominator).round())? / exact::from_decimal(denominator)?))
        .collect::<Option<_>>()?;
    let squared = y.iter().fold(exact::int(0), |sum, c| sum + c * c);
    let below = &squared + exact::int(1);
    Some(y.iter().map(|c| exact::int(2) * c / &below).chain([(&squared - exact::int(1)) / &below]).collect())
}

/// Seeded random sets of several sizes and spreads in the domain.
pub fn random_pools(dim: usize, domain: Domain) -> Vec<Pool> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut pools = Vec::new();
    for spread in [1.0, 3.0, 0.3, 10.0] {
        for count in [12, 40] {
            if domain == Domain::Sphere {
                if dim >= 2 {
                    pools.push(
                        (0..count).map(|_| project(&random_parameters(dim, spread, &mut random))).collect(),
                    );
                }
                continue;
            }
            let pool: Pool = (0..count)
                .map(|_| {
                    (0..dim).map(|_| configurations::round(random.random_range(-spread..spread))).collect()
                })
                .collect();
            pools.push(configurations::fit(&pool, domain));
        }
    }
    pools
}
