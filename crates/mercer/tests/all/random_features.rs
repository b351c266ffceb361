//! Random features against the kernels they stand for. Seeds are fixed; tolerances are several standard errors.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{DesignError, Form, RandomFeatures, RandomSpec, RowFeatures, Sampling, kernel_error};
use mercer::kernel::{Kernel, SpectrumError};
use mercer::pool;
use mercer::real::Precision;
use mercer::session::Session;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Every law, per-column lengths, subsets, products, sums and constants.
const KERNELS: [&str; 14] = [
    "rbf(sigma=1.5)",
    "rbf(sigma=[1, 2, 0.5, 1, 3])",
    "laplacian(gamma=0.3)",
    "laplacian(gamma=[0.1, 0.2, 0.3, 0.4, 0.5])",
    "matern(nu=0.5, length=2)",
    "matern(nu=1.5, length=2)",
    "matern(nu=2.2, length=[1, 2, 3, 2, 1])",
    "rq(alpha=0.5, length=1.5)",
    "rq(alpha=3)",
    "rbf(sigma=1)[0..3]*matern(length=2)[2..5]",
    "rbf(sigma=2)*rq(length=2)",
    "2*rbf(sigma=3) + 0.5*laplacian(gamma=0.2)[1,4] + 1",
    "(rbf(sigma=2) + 0.5)^2",
    "exp(-0.1*|x-z|^2 - 0.2*|x-z|_1)",
];

fn normal(n: usize, d: usize, seed: u64) -> AnySamples<'static> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let entries: Vec<f64> = (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect();
    AnySamples::F64(Samples::dense(n, d, entries).unwrap())
}

fn spec(kernel: &str, features: usize, sampling: Sampling, seed: u64) -> RandomSpec {
    RandomSpec { sampling, ..RandomSpec::new(kernel.parse::<Kernel>().unwrap(), features, seed) }
}

/// The root mean square error over pairs, averaged over several draws of the frequencies.
fn error(spec: &RandomSpec, samples: &AnySamples<'_>, draws: u64) -> f64 {
    let squares = (0..draws).map(|seed| {
        let features = RandomSpec { seed, ..spec.clone() }.draw(samples.ncols()).unwrap();
        kernel_error(&(&features).into(), &spec.kernel, samples, 300, &Session::default().with_seed(5))
            .unwrap()
            .root_mean_square
            .powi(2)
    });
    (squares.sum::<f64>() / draws as f64).sqrt()
}

fn in_double(features: &RandomFeatures, samples: &AnySamples<'_>) -> Result<Matrix<f64>, DesignError> {
    let values = RowFeatures::from(features).transform(samples, Precision::Double, &Session::default())?;
    Ok(values.into_f64())
}

fn in_single(features: &RandomFeatures, samples: &AnySamples<'_>) -> Result<Matrix<f64>, DesignError> {
    let values = RowFeatures::from(features).transform(samples, Precision::Single, &Session::default())?;
    Ok(values.into_f64())
}

#[test]
fn the_error_falls_as_the_root_of_the_number_of_features() {
    let samples = normal(200, 5, 1);
    for kernel in KERNELS {
        for form in [Form::Pairs, Form::Shifted] {
            for sampling in [Sampling::Plain, Sampling::Orthogonal] {
                let at = |features| {
                    error(&RandomSpec { form, ..spec(kernel, features, sampling, 0) }, &samples, 12)
                };
                let (few, many) = (at(64), at(1024));
                // 16 times the features: a quarter of the error. Averages of 12 draws are within a third of that.
                let ratio = few / many;
                assert!((2.8..5.6).contains(&ratio), "{kernel} {form:?} {sampling:?}: {few} {many}");
            }
        }
    }
}

#[test]
fn the_mean_over_draws_is_the_kernel() {
    let samples = normal(8, 5, 2);
    let (mut x, mut z) = (vec![0.0; 5], vec![0.0; 5]);
    for kernel in KERNELS {
        for sampling in [Sampling::Orthogonal, Sampling::Plain, Sampling::QuasiMonteCarlo] {
            let (draws, features) = (300, 64);
            let parsed: Kernel = kernel.parse().unwrap();
            let mut mean = Matrix::<f64>::zeros(8, 8);
            for seed in 0..draws {
                let features = spec(kernel, features, sampling, seed).draw(5).unwrap();
                let phi = in_double(&features, &samples).unwrap();
                for i in 0..8 {
                    for j in 0..8 {
                        let dot: f64 = phi.row(i).iter().zip(phi.row(j)).map(|(a, b)| a * b).sum();
                        mean.row_mut(i)[j] += dot / draws as f64;
                    }
                }
            }
            let total = parsed.eval(&x, &x).unwrap();
            for i in 0..8 {
                for j in 0..8 {
                    samples.copy_row(i, &mut x);
                    samples.copy_row(j, &mut z);
                    let exact = parsed.eval(&x, &z).unwrap();
                    // 300·32 frequencies, a standard error below 0.008 of k(x,x); 64 pairs are looked at.
                    let error = (mean.row(i)[j] - exact).abs();
                    assert!(error < 0.035 * total, "{kernel} {sampling:?}: {error}");
                }
            }
            x.fill(0.0);
        }
    }
}

#[test]
fn orthogonal_features_beat_plain_ones() {
    for d in [4, 16] {
        let samples = normal(200, d, 3);
        let length = (d as f64).sqrt();
        for kernel in [
            format!("rbf(sigma={length})"),
            format!("matern(nu=2.5, length={length})"),
            format!("rq(alpha=2, length={length})"),
            format!("rbf(sigma={length})*rbf(sigma={length})"),
        ] {
            let at = |sampling| error(&spec(&kernel, 4 * d, sampling, 0), &samples, 60);
            let (orthogonal, plain) = (at(Sampling::Orthogonal), at(Sampling::Plain));
            assert!(orthogonal < 0.95 * plain, "{kernel}, {d}: {orthogonal} {plain}");
        }
    }
}

#[test]
fn quasi_random_features_beat_plain_ones_in_few_dimensions() {
    let samples = normal(200, 2, 3);
    for kernel in ["rbf(sigma=2)", "laplacian(gamma=0.3)", "matern(nu=1.5, length=2)"] {
        let at = |sampling| error(&spec(kernel, 512, sampling, 0), &samples, 20);
        let (quasi, plain) = (at(Sampling::QuasiMonteCarlo), at(Sampling::Plain));
        assert!(quasi < 0.6 * plain, "{kernel}: {quasi} {plain}");
    }
}

/// The Laplacian is a product over coordinates: directions must not be made orthogonal for it.
#[test]
fn the_laplacian_is_drawn_coordinate_by_coordinate() {
    let draw = |sampling| spec("laplacian(gamma=0.5)", 512, sampling, 7).draw(6).unwrap();
    assert_eq!(draw(Sampling::Orthogonal), draw(Sampling::Plain));
    let features = draw(Sampling::Plain);
    // Half of Cauchy variables of scale γ are below γ in absolute value; 6·256 of them, standard error 0.013.
    let entries = features.frequencies().entries();
    let inside = entries.iter().filter(|w| w.abs() < 0.5).count() as f64 / entries.len() as f64;
    assert!((inside - 0.5).abs() < 0.05, "{inside}");
}

#[test]
fn orthogonal_frequencies_are_orthogonal_in_blocks() {
    let features =
        spec("matern(nu=1.5, length=[1, 2, 4])[0,2,3]", 20, Sampling::Orthogonal, 1).draw(5).unwrap();
    let w = features.frequencies();
    for block in [0, 3, 6] {
        for i in block..block + 3 {
            assert_eq!((w.row(i)[1], w.row(i)[4]), (0.0, 0.0));
            for j in block..i {
                // In coordinates where the kernel is isotropic.
                let dot: f64 = [(0, 1.0), (2, 2.0), (3, 4.0)]
                    .map(|(c, l)| w.row(i)[c] * w.row(j)[c] * l * l)
                    .iter()
                    .sum();
                let norms: f64 = [i, j]
                    .map(|r| {
                        [(0, 1.0), (2, 2.0), (3, 4.0)]
                            .map(|(c, l)| (w.row(r)[c] * l).powi(2))
                            .iter()
                            .sum::<f64>()
                    })
                    .iter()
                    .product();
                assert!(dot.abs() < 1e-10 * norms.sqrt());
            }
        }
    }
}

#[test]
fn a_constant_costs_one_frequency_and_is_exact() {
    let samples = normal(50, 3, 4);
    let kernel: Kernel = "0.001*rbf + 1 + 2".parse().unwrap();
    let features = RandomSpec::new(kernel.clone(), 16, 0).draw(3).unwrap();
    let error = kernel_error(&(&features).into(), &kernel, &samples, 100, &Session::default()).unwrap();
    assert!(error.largest < 3e-3);
    assert_eq!(features.amplitudes().iter().filter(|a| **a > 1.0).count(), 1);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let samples = normal(300, 7, 5);
    let run = |threads| {
        pool::with(Some(threads), || {
            let features = spec("matern + rbf*rq", 200, Sampling::Orthogonal, 11).draw(7).unwrap();
            let phi = in_single(&features, &samples).unwrap();
            (features, phi)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
    let other = spec("matern + rbf*rq", 200, Sampling::Orthogonal, 12).draw(7).unwrap();
    assert!(one.0 != other);
}

/// Heavy tails have phases of a million turns, which have no correct digits in single precision.
#[test]
fn single_precision_features_match_double_precision() {
    let entries: Vec<f32> = (0..200).map(|i| 50.0 + (i as f32).sin()).collect();
    let single = AnySamples::F32(Samples::dense(50, 4, entries.clone()).unwrap());
    let double: Vec<f64> = entries.iter().map(|v| f64::from(*v)).collect();
    let double = AnySamples::F64(Samples::dense(50, 4, double).unwrap());
    for kernel in ["laplacian(gamma=100)", "matern(nu=0.1, length=0.01)", "rbf"] {
        let features = spec(kernel, 256, Sampling::Orthogonal, 1).draw(4).unwrap();
        let a = in_single(&features, &single).unwrap();
        let b = in_double(&features, &double).unwrap();
        let amplitude = features.amplitudes()[0];
        let worst = a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6 * amplitude, "{kernel}: {worst}");
    }
}

#[test]
fn features_of_a_row_do_not_depend_on_its_neighbours() {
    let samples = normal(100, 5, 6);
    let features = spec("rbf", 100, Sampling::Orthogonal, 1).draw(5).unwrap();
    let all = in_double(&features, &samples).unwrap();
    for row in [0, 7, 13, 99] {
        let alone = in_double(&features, &samples.select(&[row])).unwrap();
        assert_eq!(alone.row(0), all.row(row));
    }
}

#[test]
fn random_features_can_be_kept_as_text_or_as_matrices() {
    let spec = RandomSpec { form: Form::Shifted, ..spec("rq(alpha=2)", 33, Sampling::Plain, 4) };
    let text = serde_json::to_string(&spec).unwrap();
    let again: RandomSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(spec, again);
    let features = spec.draw(3).unwrap();
    assert_eq!(features, again.draw(3).unwrap());
    let kept = RandomFeatures::from_matrices(
        features.frequencies().clone(),
        features.shifts().map(<[f64]>::to_vec),
        features.amplitudes().to_vec(),
    );
    assert_eq!(kept.unwrap(), features);
}

#[test]
fn bad_input_is_refused() {
    let draw = |kernel: &str, features| spec(kernel, features, Sampling::Orthogonal, 0).draw(3);
    for features in [0, 7] {
        assert!(matches!(draw("rbf", features), Err(DesignError::Parameter { .. })));
    }
    let error = draw("rbf + matern + rq", 4).unwrap_err();
    assert!(error.to_string().contains("3 or more"), "{error}");
    assert!(matches!(draw("poly", 8), Err(DesignError::Spectrum(SpectrumError::NotShiftInvariant { .. }))));
    assert!(matches!(draw("rbf", 1 << 60), Err(DesignError::Memory { .. })));
    let features = draw("rbf", 8).unwrap();
    let error = in_double(&features, &normal(2, 4, 0)).unwrap_err();
    assert_eq!(error, DesignError::Columns { found: 4, expected: 3 });
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert!(
        RowFeatures::from(&features)
            .transform(&normal(2, 3, 0), Precision::Double, &Session::default().with_watch(&stop))
            .is_err()
    );
    assert!(RandomFeatures::from_matrices(Matrix::zeros(2, 2), None, vec![1.0]).is_err());
    assert!(RandomFeatures::from_matrices(Matrix::zeros(1, 2), None, vec![f64::NAN]).is_err());
    assert!(in_single(&features, &normal(0, 3, 0)).unwrap().entries().is_empty());
}

/// Extreme shapes overflow every intermediate number there is, and still give features.
#[test]
fn extreme_shapes_give_finite_features_or_are_refused() {
    let samples = normal(20, 2, 1);
    let shapes = [
        // Half of the frequencies are beyond 10¹⁰⁰.
        ("matern(nu=0.001)", true),
        ("rq(alpha=0.001)", false),
        ("matern(nu=1e8)", false),
        ("rq(alpha=1e300)", false),
    ];
    for (kernel, lost) in
        shapes.into_iter().chain([("laplacian(gamma=1e200)", true), ("rbf(sigma=1e-200)", true)])
    {
        let features = spec(kernel, 64, Sampling::Orthogonal, 1).draw(2).unwrap();
        match in_single(&features, &samples) {
            Ok(phi) => assert!(phi.entries().iter().all(|v| v.is_finite()), "{kernel}"),
            Err(error) => assert!(lost && matches!(error, DesignError::Phase { .. }), "{kernel}: {error}"),
        }
    }
}
