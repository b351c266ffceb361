//! Times random features and ridge regression on them: `features [N] [D] [FEATURES] [f32|f64] [SIGMA] [LAMBDA]`.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{Design, LandmarkChoice, Landmarks, Parts, RandomSpec, Recomputed, RowFeatures};
use mercer::linalg::{Intercept, NormalEquations};
use mercer::pool;
use mercer::prelude::{Approximation, Kernel, Learner, Problem, Ridge};
use mercer::session::Session;
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
    let real = |i: usize, otherwise: f64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(otherwise);
    let sigma = real(4, (d as f64 / 2.0).sqrt());
    let kernel: Kernel = format!("rbf(sigma={sigma})").parse().expect("a kernel");
    let ridge = Ridge::on((kernel.clone(), Approximation::fourier(count))).lambda(real(5, 1.0));
    pool::with(None, || {
        let fitted = timed("ridge on random features", || {
            ridge.train(&Problem::new(samples.clone(), &targets), &Session::default()).expect("a fit")
        });
        println!("{:?}", fitted.report);
        let random = timed("random: frequencies", || {
            RandomSpec::new(kernel, count, 0).draw(d).expect("a shift-invariant kernel")
        });
        let session = Session::default();
        let rows = RowFeatures::from(&random);
        timed("random: transform", || {
            rows.transform(&samples, rows.precision(&samples), &session).expect("features")
        });
        timed("random: features and ridge", || fit(rows, &samples, &targets));
        let kernel = format!("rbf(gamma={})", 1.0 / d as f64).parse().expect("a kernel");
        for choice in [LandmarkChoice::Uniform, LandmarkChoice::RandomlyPivoted] {
            let landmarks = timed(&format!("landmarks {choice:?}"), || {
                Landmarks::choose(&kernel, &samples, count, choice, &session).expect("landmarks")
            });
            if choice == LandmarkChoice::Uniform {
                let rows = RowFeatures::Landmarks(&landmarks, &session);
                timed("landmarks: features and ridge", || fit(rows, &samples, &targets));
            }
        }
    });
}

fn fit(features: RowFeatures<'_>, samples: &AnySamples<'_>, targets: &Matrix<f64>) {
    let mut equations = [NormalEquations::new(features.count(), 1)];
    let (design, session) = (Recomputed::new(features, samples).expect("columns"), Session::default());
    design.normal_equations(targets, None, &Parts::All, &mut equations, &session).expect("sums");
    equations[0].ridge(1.0, Intercept::Centred, &session).expect("a fit");
}
