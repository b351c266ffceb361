//! Nyström features against the kernels they stand for.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::{DesignError, KernelError, LandmarkChoice, Landmarks, RowFeatures, kernel_error};
use mercer::gram::Values;
use mercer::kernel::Kernel;
use mercer::pool;
use mercer::real::Precision;
use mercer::session::Session;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CHOICES: [LandmarkChoice; 3] =
    [LandmarkChoice::Uniform, LandmarkChoice::KMeansPlusPlus, LandmarkChoice::RandomlyPivoted];

fn normal(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect()
}

fn dense(n: usize, d: usize, seed: u64) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(n, d, normal(n, d, seed)).unwrap())
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn transform(
    features: &Landmarks,
    samples: &AnySamples<'_>,
    precision: Precision,
    session: &Session<'_>,
) -> Result<Values, DesignError> {
    RowFeatures::Landmarks(features, session).transform(samples, precision, session)
}

fn phi(features: &Landmarks, samples: &AnySamples<'_>) -> Matrix<f64> {
    transform(features, samples, Precision::Double, &Session::default()).unwrap().into_f64()
}

fn error_of(features: &Landmarks, samples: &AnySamples<'_>, pairs: usize, seed: u64) -> KernelError {
    let session = Session::default().with_seed(seed);
    let rows = RowFeatures::Landmarks(features, &session);
    kernel_error(&rows, features.kernel(), samples, pairs, &session).unwrap()
}

/// The number of independent landmarks falls with the smoothness of the kernel, and rounding errors decide about the last of them.
#[test]
fn dependent_landmarks_are_left_out_at_every_width() {
    let samples = dense(200, 3, 11);
    let mut count = 201;
    for step in 0..60 {
        let wide = kernel(&format!("rbf(sigma={})", 1.2f64.powi(step)));
        let features = Landmarks::with_landmarks(&wide, &samples, None, &Session::default()).unwrap();
        let error = error_of(&features, &samples, 200, 0);
        assert!(error.largest < 1e-10, "{wide}: {}", error.largest);
        assert!(features.count() <= count + 5, "{wide}: {} landmarks after {count}", features.count());
        count = features.count();
    }
    assert!(count < 10, "{count} landmarks for a kernel that is nearly constant");
}

#[test]
fn all_rows_as_landmarks_give_the_kernel_itself() {
    let samples = dense(150, 4, 1);
    for text in ["rbf(sigma=2)", "laplacian", "matern(nu=1.5)", "arccos", "rbf + 0.5*cosine"] {
        for choice in CHOICES {
            let features =
                Landmarks::choose(&kernel(text), &samples, 150, choice, &Session::default()).unwrap();
            let error = error_of(&features, &samples, 500, 0);
            assert!(error.largest < 1e-7, "{text} {choice:?}: {}", error.largest);
        }
    }
}

/// K − K̂ is positive semidefinite, and K̂ is K between landmarks.
#[test]
fn landmarks_are_reproduced() {
    let samples = dense(200, 3, 2);
    let rbf = kernel("rbf(sigma=1.5)");
    let landmarks = samples.select(&(0..40).collect::<Vec<_>>());
    let features = Landmarks::with_landmarks(&rbf, &landmarks, None, &Session::default()).unwrap();
    let error = error_of(&features, &landmarks, 300, 0);
    assert!(error.largest < 1e-9, "{}", error.largest);
    let phi = phi(&features, &samples);
    for i in 0..200 {
        let own: f64 = phi.row(i).iter().map(|v| v * v).sum();
        assert!(own < 1.0 + 1e-9, "{own}");
    }
}

#[test]
fn more_landmarks_and_better_landmarks_have_less_error() {
    // Clusters of very different sizes: uniform rows miss the small ones.
    let mut entries = normal(1000, 2, 3);
    for (i, row) in entries.chunks_exact_mut(2).enumerate() {
        if i >= 900 {
            row[0] = 20.0 * ((i % 25) as f64) + 0.05 * row[0];
        }
    }
    let samples = AnySamples::F64(Samples::dense(1000, 2, entries).unwrap());
    let rbf = kernel("rbf(sigma=1)");
    let error = |choice, count: usize| {
        let of_seed = |seed| {
            let features =
                Landmarks::choose(&rbf, &samples, count, choice, &Session::default().with_seed(seed))
                    .unwrap();
            error_of(&features, &samples, 4000, 1).relative
        };
        (0..5).map(of_seed).sum::<f64>() / 5.0
    };
    for choice in CHOICES {
        assert!(error(choice, 120) < 0.7 * error(choice, 30), "{choice:?}");
    }
    assert!(error(LandmarkChoice::RandomlyPivoted, 80) < error(LandmarkChoice::Uniform, 80));
    assert!(error(LandmarkChoice::KMeansPlusPlus, 80) < error(LandmarkChoice::Uniform, 80));
}

#[test]
fn duplicate_landmarks_are_left_out() {
    let samples = dense(60, 3, 4);
    let rows: Vec<usize> = (0..30).chain(0..30).chain([5; 10]).collect();
    let laplacian = kernel("laplacian");
    let features =
        Landmarks::with_landmarks(&laplacian, &samples.select(&rows), None, &Session::default()).unwrap();
    let once = Landmarks::with_landmarks(&laplacian, &samples.select(&rows[..30]), None, &Session::default())
        .unwrap();
    assert_eq!(features.count(), 30);
    let (a, b) = (phi(&features, &samples), phi(&once, &samples));
    for i in 0..60 {
        for j in 0..60 {
            let dot = |m: &Matrix<f64>| m.row(i).iter().zip(m.row(j)).map(|(a, b)| a * b).sum::<f64>();
            assert!((dot(&a) - dot(&b)).abs() < 1e-10);
        }
    }
}

#[test]
fn sparse_and_single_precision_samples_have_the_same_features() {
    let entries = normal(90, 5, 5);
    let narrow: Vec<f32> = entries.iter().map(|v| *v as f32).collect();
    let wide: Vec<f64> = narrow.iter().map(|v| f64::from(*v)).collect();
    let double = AnySamples::F64(Samples::dense(90, 5, wide.clone()).unwrap());
    let single = AnySamples::F32(Samples::dense(90, 5, narrow).unwrap());
    let indptr: Vec<usize> = (0..=90).map(|i| 5 * i).collect();
    let sparse = Samples::sparse(5, indptr, (0..450).map(|i| i % 5).collect::<Vec<u32>>(), wide).unwrap();
    let matern = kernel("matern(nu=0.5)");
    let landmarks = double.select(&(0..90).step_by(3).collect::<Vec<_>>());
    let features = Landmarks::with_landmarks(&matern, &landmarks, None, &Session::default()).unwrap();
    let expected = phi(&features, &double);
    let from_sparse = phi(&features, &AnySamples::F64(sparse));
    let from_single =
        transform(&features, &single, Precision::Single, &Session::default()).unwrap().into_f64();
    for (k, e) in expected.entries().iter().enumerate() {
        assert!((from_sparse.entries()[k] - e).abs() < 1e-9);
        assert!((from_single.entries()[k] - e).abs() < 1e-4);
    }
}

#[test]
fn parts_give_back_the_features() {
    let samples = dense(40, 3, 6);
    let features = Landmarks::choose(
        &kernel("rbf"),
        &samples,
        12,
        LandmarkChoice::RandomlyPivoted,
        &Session::default().with_seed(1),
    )
    .unwrap();
    let again = Landmarks::from_parts(
        features.kernel().clone(),
        features.landmarks().clone(),
        features.whitening().to_vec(),
    )
    .unwrap();
    assert_eq!(phi(&features, &samples), phi(&again, &samples));
    let mut bad = features.whitening().to_vec();
    bad[0] = 0.0;
    assert!(Landmarks::from_parts(kernel("rbf"), features.landmarks().clone(), bad).is_err());
    assert!(Landmarks::from_parts(kernel("rbf"), features.landmarks().clone(), vec![1.0]).is_err());
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let samples = dense(1500, 4, 7);
    for choice in CHOICES {
        let run = |threads| {
            pool::with(Some(threads), || {
                let features = Landmarks::choose(
                    &kernel("rbf"),
                    &samples,
                    100,
                    choice,
                    &Session::default().with_seed(3),
                )
                .unwrap();
                transform(&features, &samples, Precision::Single, &Session::default()).unwrap()
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{choice:?}");
    }
}

#[test]
fn bad_input_is_refused() {
    let samples = dense(10, 2, 8);
    let fit = |count| {
        Landmarks::choose(&kernel("rbf"), &samples, count, LandmarkChoice::Uniform, &Session::default())
    };
    for count in [0, 11] {
        let error = fit(count).unwrap_err();
        assert!(error.to_string().contains("from 1 to the number of samples, 10"), "{error}");
    }
    let features = fit(5).unwrap();
    assert!(matches!(
        transform(&features, &dense(3, 4, 0), Precision::Double, &Session::default()),
        Err(DesignError::Columns { found: 4, expected: 2 })
    ));
    let zero = Landmarks::choose(&kernel("0*rbf"), &samples, 5, LandmarkChoice::Uniform, &Session::default());
    assert_eq!(zero.unwrap_err(), DesignError::NoRank);
    let undefined =
        Landmarks::choose(&kernel("log(<x,z>)"), &samples, 5, LandmarkChoice::Uniform, &Session::default());
    assert!(matches!(undefined.unwrap_err(), DesignError::KernelValue { .. }));
    let tolerance = Landmarks::with_landmarks(&kernel("rbf"), &samples, Some(f64::NAN), &Session::default());
    assert!(matches!(tolerance.unwrap_err(), DesignError::Parameter { .. }));
    let stop = std::sync::atomic::AtomicBool::new(true);
    assert!(
        transform(&features, &samples, Precision::Double, &Session::default().with_watch(&stop)).is_err()
    );
}
