//! How landmarks are chosen among samples.

use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::AnySamples;
use crate::design::error::{DesignError, check_memory};
use crate::gram::{Wanted, low_rank_factor};
use crate::kernel::Kernel;
use crate::session::Session;
use crate::watch::Watch;

/// How landmarks are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LandmarkChoice {
    /// All rows are equally likely. O(M).
    #[default]
    Uniform,
    /// The seeding of k-means++ (Arthur and Vassilvitskii 2007): each next one with probability in proportion to its
    /// squared Euclidean distance from those chosen, among at most 20M rows. O(M²d).
    KMeansPlusPlus,
    /// Randomly pivoted Cholesky: each next one with probability in proportion to the residual of the kernel's
    /// diagonal. O(nM²).
    RandomlyPivoted,
}

/// Candidate rows of k-means++ per landmark.
const CANDIDATES: usize = 20;

impl LandmarkChoice {
    /// `count` distinct rows, in the order they were chosen.
    ///
    /// # Errors
    /// If `count` is 0 or more than the number of samples, if the kernel does not fit the samples, if the memory does
    /// not suffice, or if the session is stopped.
    pub fn choose(
        self,
        kernel: &Kernel,
        samples: &AnySamples<'_>,
        count: usize,
        session: &Session<'_>,
    ) -> Result<Vec<usize>, DesignError> {
        let n = samples.nrows();
        if count == 0 || count > n {
            return Err(DesignError::parameter(
                "the number of landmarks",
                count,
                format!("from 1 to the number of samples, {n}"),
            ));
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        Ok(match self {
            Self::Uniform => index::sample(&mut rng, n, count).into_vec(),
            Self::KMeansPlusPlus => {
                let candidates = index::sample(&mut rng, n, n.min(CANDIDATES * count)).into_vec();
                let chosen = seeds(&samples.select(&candidates), count, &mut rng, session)?;
                filled(chosen.into_iter().map(|c| candidates[c]).collect(), n, count)
            }
            Self::RandomlyPivoted => {
                check_memory("the factor of the kernel matrix", n, count, 4, session.matrix_memory())?;
                let resident = session.load(samples)?;
                let gram = resident.gram(kernel, Wanted::Exact)?;
                let pivoted = low_rank_factor(&*gram, count, 1e-6, session.seed(), session)?;
                filled(pivoted.pivots, n, count)
            }
        })
    }
}

/// `chosen`, extended to `count` rows by the first rows that are not among them: all others coincide with chosen ones,
/// so any will do.
fn filled(mut chosen: Vec<usize>, n: usize, count: usize) -> Vec<usize> {
    if chosen.len() < count {
        let mut taken = vec![false; n];
        chosen.iter().for_each(|&i| taken[i] = true);
        let missing = count - chosen.len();
        chosen.extend((0..n).filter(|&i| !taken[i]).take(missing));
    }
    chosen
}

/// The seeding of k-means++.
fn seeds(
    samples: &AnySamples<'_>,
    count: usize,
    rng: &mut Xoshiro256PlusPlus,
    watch: &dyn Watch,
) -> Result<Vec<usize>, DesignError> {
    let (n, d) = (samples.nrows(), samples.ncols());
    let mut nearest = vec![f64::INFINITY; n];
    let mut centre = vec![0.0; d];
    let mut chosen = vec![rng.random_range(0..n)];
    watch.begin("k-means++", count as u64);
    while chosen.len() < count {
        watch.check()?;
        samples.copy_row(chosen[chosen.len() - 1], &mut centre);
        let norm: f64 = centre.iter().map(|c| c * c).sum();
        nearest.par_chunks_mut(256).enumerate().for_each(|(band, nearest)| {
            for (r, nearest) in nearest.iter_mut().enumerate() {
                // Over stored entries: Σ(x−c)² = Σ over stored of ((x−c)² − c²) + |c|².
                let mut squared = norm;
                samples.visit_row(band * 256 + r, |j, x| squared += x * (x - 2.0 * centre[j]));
                *nearest = nearest.min(squared.max(0.0));
            }
        });
        nearest[chosen[chosen.len() - 1]] = 0.0;
        let total: f64 = nearest.iter().sum();
        if total.is_nan() || total <= 0.0 {
            break;
        }
        let mut at = rng.random::<f64>() * total;
        let passed = |d: &f64| {
            at -= d;
            at < 0.0 && *d > 0.0
        };
        let Some(next) = nearest.iter().position(passed).or_else(|| nearest.iter().rposition(|d| *d > 0.0))
        else {
            break;
        };
        chosen.push(next);
        watch.advance(1);
    }
    Ok(chosen)
}
