//! The last resort: moves the points of the most promising set to decrease the least relative eigenvalue.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Search;
use super::configurations::{self, Pool};
use super::spectrum::Gram;
use crate::check::Domain;
use crate::check::verdict::Refutation;

/// The most points moved together.
const POINTS: usize = 14;

/// Moves without improvement before the search stops.
const PATIENCE: usize = 400;

impl Search<'_> {
    pub(super) fn descend(&mut self) -> Option<Refutation> {
        if self.domain == Domain::Sphere {
            return None;
        }
        let (mut lowest, pool) = self.best.clone()?;
        self.evidence.tried.push("a descent over the points' positions".into());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut points: Pool = pool.into_iter().take(POINTS).collect();
        let mut current = f64::INFINITY;
        let (mut idle, mut reach) = (0, 1.0);
        while idle < PATIENCE && !self.late() {
            let mut moved = points.clone();
            let index = random.random_range(0..moved.len());
            for c in &mut moved[index] {
                *c = configurations::round(*c + reach * random.random_range(-1.0..1.0));
            }
            if self.domain == Domain::Orthant {
                moved[index].iter_mut().for_each(|c| *c = c.abs());
            }
            if let Domain::Box(low, high) = self.domain {
                moved[index].iter_mut().for_each(|c| *c = c.clamp(low, high));
            }
            if let Domain::Ball(radius) = self.domain
                && configurations::norm(&moved[index]) > radius * 0.999_999
            {
                idle += 1;
                continue;
            }
            let Some(value) = Gram::of(&self.expr, &moved).and_then(|g| g.relative_lowest()) else {
                idle += 1;
                continue;
            };
            if value < current {
                current = value;
                points = moved;
                idle = 0;
                lowest = lowest.min(value);
                self.evidence.lowest_relative_eigenvalue = Some(lowest);
                if value < -1e-9
                    && let Some(found) = self.whole(&points.clone())
                {
                    return Some(found);
                }
            } else {
                idle += 1;
                reach = if idle % 50 == 0 { (reach * 0.5_f64).max(0.01) } else { reach };
            }
        }
        None
    }
}
