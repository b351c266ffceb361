//! Times random features and ridge regression on them: `features [N] [D] [FEATURES] [f32|f64]`.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::features::{KernelFeatures, Landmarks, Nystrom, RandomSpec, add_samples};
use mercer::linalg::{Intercept, NormalEquations};
use mercer::pool;
use mercer::watch::Unwatched;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clock::timed;

pub fn run(arguments: &[String]) {
    let number = |i: usize, otherwise| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(otherwise);
    let (n, d, count) = (number(0, 100_000), number(1, 28), number(2, 2048));
    let single = arguments.get(3).is_none_or(|a| a == "f32");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let entries: Vec<f64> = (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect();
    let targets: Vec<f64> = entries.chunks_exact(d).map(|x| x[0].sin() + x[d - 1]).collect();
    let targets = Matrix::from_entries(n, 1, targets);
    let samples = if single {
        let narrow: Vec<f32> = entries.iter().map(|v| *v as f32).collect();
        Samples::dense(n, d, narrow).map(AnySamples::F32)
    } else {
        Samples::dense(n, d, entries).map(AnySamples::F64)
    };
    let samples = samples.expect("n·d entries");
    let kernel = format!("rbf(gamma={})", 1.0 / d as f64).parse().expect("a kernel");
    pool::with(None, || {
        let random = timed("random: frequencies", || {
            RandomSpec::new(kernel, count, 0).draw(d).expect("a shift-invariant kernel")
        });
        timed("random: transform", || match single {
            true => drop(random.transform_f32(&samples, &Unwatched).expect("features")),
            false => drop(random.transform_f64(&samples, &Unwatched).expect("features")),
        });
        timed("random: features and ridge", || fit(&random, &samples, &targets));
        let kernel = format!("rbf(gamma={})", 1.0 / d as f64).parse().expect("a kernel");
        for choice in [Landmarks::Uniform, Landmarks::RandomlyPivoted] {
            let nystrom = timed(&format!("nyström {choice:?}"), || {
                Nystrom::fit(&kernel, &samples, count, choice, 0, &Unwatched).expect("landmarks")
            });
            if choice == Landmarks::Uniform {
                timed("nyström: features and ridge", || fit(&nystrom, &samples, &targets));
            }
        }
    });
}

fn fit(features: &dyn KernelFeatures, samples: &AnySamples<'_>, targets: &Matrix<f64>) {
    let mut equations = NormalEquations::new(features.features(), 1);
    add_samples(&mut equations, features, samples, targets, None, &Unwatched).expect("sums");
    equations.ridge(1.0, Intercept::Unpenalised, &Unwatched).expect("a fit");
}
