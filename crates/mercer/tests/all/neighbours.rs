//! Nearest neighbours and the kernel smoother against their definitions, pair by pair.

use std::sync::atomic::AtomicBool;

use crate::oracle::noise;
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{CpuEngine, Engine, GramError, Metric, Nearest};
use mercer::kernel::Kernel;
use mercer::learn::search::Measure;
use mercer::learn::{Fitted, Knn, LearnError, Learner, Problem, Smoother};
use mercer::model::{ModelError, Weights};
use mercer::pool;
use mercer::session::Session;
use mercer::watch::{Unwatched, Watch};
use proptest::prelude::*;

/// The `k` rows nearest to each query.
fn neighbours(
    rows: &AnySamples<'_>,
    queries: &AnySamples<'_>,
    k: usize,
    metric: Metric,
    watch: &dyn Watch,
) -> Result<Nearest, GramError> {
    CpuEngine.load(rows)?.nearest(&*CpuEngine.load(queries)?, k, metric, watch)
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Double,
    Single,
    Sparse,
    SparseSingle,
}

fn samples(ncols: usize, entries: &[f64], form: Form) -> AnySamples<'static> {
    let nrows = entries.len() / ncols;
    let single = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in entries.chunks(ncols) {
        for (column, value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(column as u32);
            values.push(*value);
        }
        indptr.push(values.len());
    }
    match form {
        Form::Double => AnySamples::F64(Samples::dense(nrows, ncols, entries.to_vec()).unwrap()),
        Form::Single => AnySamples::F32(Samples::dense(nrows, ncols, single(entries)).unwrap()),
        Form::Sparse => AnySamples::F64(Samples::sparse(ncols, indptr, indices, values).unwrap()),
        Form::SparseSingle => {
            AnySamples::F32(Samples::sparse(ncols, indptr, indices, single(&values)).unwrap())
        }
    }
}

fn row(samples: &AnySamples<'_>, i: usize) -> Vec<f64> {
    let mut out = vec![0.0; samples.ncols()];
    samples.copy_row(i, &mut out);
    out
}

/// Every distance.
const METRICS: [Metric; 5] = [
    Metric::Euclidean,
    Metric::Manhattan,
    Metric::Chebyshev,
    Metric::Minkowski { p: 3.0 },
    Metric::Minkowski { p: 0.5 },
];

/// Rows by their distance to a point, then by their number.
fn ranked(rows: &AnySamples<'_>, point: &[f64], metric: Metric) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = (0..rows.nrows())
        .map(|i| {
            let differences: Vec<f64> = row(rows, i).iter().zip(point).map(|(a, b)| b - a).collect();
            let measure = match metric {
                Metric::Euclidean => differences.iter().map(|d| d * d).sum(),
                Metric::Manhattan => differences.iter().map(|d| d.abs()).sum(),
                Metric::Chebyshev => differences.iter().fold(0.0, |most: f64, d| most.max(d.abs())),
                Metric::Minkowski { p } => {
                    let most = differences.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
                    let powers: f64 = differences.iter().map(|d| (d.abs() / most).powf(p)).sum();
                    if most == 0.0 { 0.0 } else { most * powers.powf(1.0 / p) }
                }
                _ => panic!("{metric:?} has no definition here"),
            };
            (i, measure)
        })
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    if metric == Metric::Euclidean {
        all.iter_mut().for_each(|(_, measure)| *measure = measure.sqrt());
    }
    all
}

fn agrees(rows: &AnySamples<'_>, queries: &AnySamples<'_>, k: usize, metric: Metric) {
    let found = neighbours(rows, queries, k, metric, &Unwatched).unwrap();
    assert_eq!(found.k, k);
    for i in 0..queries.nrows() {
        let expected = &ranked(rows, &row(queries, i), metric)[..k];
        assert_eq!(found.of(i).collect::<Vec<_>>(), expected, "query {i}, {metric:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn neighbours_match_brute_force(
        (n, m, d) in (1usize..400, 1usize..150, 1usize..12),
        // How many values there are (few make ties and duplicates), their scale and how far off they are.
        (values, scale, offset) in (2usize..200, prop::sample::select(vec![1e-20, 1.0, 1e3, 1e18]), prop::sample::select(vec![0.0, 1e5])),
        seed in any::<u64>(),
        share in 0.0..1.0f64,
        forms in prop::sample::select(vec![
            (Form::Double, Form::Double), (Form::Single, Form::Single), (Form::Sparse, Form::Sparse),
            (Form::Double, Form::Single), (Form::SparseSingle, Form::Double), (Form::SparseSingle, Form::SparseSingle),
        ]),
        metric in prop::sample::select(METRICS.to_vec()),
    ) {
        let half = values as f64 / 2.0;
        let entries = |count, seed| -> Vec<f64> {
            noise(count, seed).iter().map(|v| scale * ((v * half).round() + offset)).collect()
        };
        let rows = samples(d, &entries(n * d, seed), forms.0);
        let queries = samples(d, &entries(m * d, seed ^ 0xABCD), forms.1);
        let k = 1 + (share * share * (n - 1) as f64) as usize;
        agrees(&rows, &queries, k, metric);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Enough rows and queries for them to be arranged by where they are.
    #[test]
    fn arranged_neighbours_match_brute_force(
        (n, m, d, k) in (1_024usize..2_500, 128usize..300, 1usize..6, 1usize..40),
        values in prop::sample::select(vec![1.0, 2.0, 9.0, 1e3, 1e9]),
        single in any::<bool>(),
        metric in prop::sample::select(vec![Metric::Euclidean, Metric::Manhattan]),
        seed in any::<u64>(),
    ) {
        let entries = |count, seed| -> Vec<f64> { noise(count, seed).iter().map(|v| (v * values).round() / 7.0).collect() };
        let form = if single { Form::Single } else { Form::Double };
        let rows = samples(d, &entries(n * d, seed), form);
        agrees(&rows, &samples(d, &entries(m * d, seed ^ 0xABCD), form), k, metric);
    }
}

#[test]
fn all_rows_in_order_and_wide_sparse_rows() {
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        for form in [Form::Double, Form::Single, Form::Sparse] {
            let rows = samples(3, &noise(300 * 3, 1), form);
            agrees(&rows, &samples(3, &noise(140 * 3, 2), form), 300, metric);
        }
        // One entry in a hundred: walked without zeros.
        let thin = |seed| -> Vec<f64> {
            let keep = noise(300 * 200, seed ^ 77);
            noise(300 * 200, seed)
                .iter()
                .zip(keep)
                .map(|(v, keep)| if keep > 0.98 { *v } else { 0.0 })
                .collect()
        };
        agrees(&samples(200, &thin(1), Form::Sparse), &samples(200, &thin(2), Form::Sparse), 7, metric);
        // Sums longer than a chunk of features.
        agrees(
            &samples(700, &noise(300 * 700, 1), Form::Double),
            &samples(700, &noise(10 * 700, 2), Form::Double),
            9,
            metric,
        );
    }
}

#[test]
fn overflow_and_empty_input_do_not_panic() {
    let rows = samples(1, &[1e200, -1e200, 3.0], Form::Double);
    let found = neighbours(&rows, &rows, 2, Metric::Euclidean, &Unwatched).unwrap();
    assert_eq!(found.rows, [0, 2, 1, 2, 2, 0]);
    // Squares that are finite in double precision alone.
    let rows = samples(1, &[-1.6e19, 1.6e19, 1.2e19, 1e19], Form::Double);
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        agrees(&rows, &samples(1, &[2e19, 1e19, -1.5e19], Form::Double), 2, metric);
        let vast = samples(1, &[3e38, -3e38, 2e38, 1e39], Form::Double);
        agrees(&vast, &vast, 3, metric);
    }
    let rows = samples(1, &[1e200, -1e200, 3.0], Form::Double);
    let none = neighbours(&rows, &samples(1, &[], Form::Double), 2, Metric::Euclidean, &Unwatched).unwrap();
    assert!(none.rows.is_empty());
    assert_eq!(neighbours(&rows, &rows, 9, Metric::Euclidean, &Unwatched).unwrap().k, 3);
    let other = samples(2, &[0.0; 2], Form::Double);
    let wrong = neighbours(&rows, &other, 1, Metric::Euclidean, &Unwatched);
    assert!(matches!(wrong, Err(GramError::Columns { rows: 2, cols: 1 })));
}

fn targets(n: usize, outputs: usize, seed: u64) -> Matrix<f64> {
    Matrix::from_entries(n, outputs, noise(n * outputs, seed))
}

fn classes(n: usize, count: usize, seed: u64) -> Matrix<f64> {
    let mut one_hot = Matrix::zeros(n, count);
    for (i, v) in noise(n, seed).iter().enumerate() {
        one_hot.row_mut(i)[((v + 1.0) / 2.0 * count as f64) as usize % count] = 1.0;
    }
    one_hot
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} ≠ {b}");
    }
}

#[test]
fn predictions_are_weighted_means_of_the_nearest_targets() {
    let rows =
        samples(2, &noise(200 * 2, 1).iter().map(|v| (v * 6.0).round()).collect::<Vec<_>>(), Form::Double);
    let queries = samples(
        2,
        &noise(60 * 2, 2).iter().map(|v| (v * 12.0).round() / 2.0).collect::<Vec<_>>(),
        Form::Double,
    );
    let y = targets(200, 2, 3);
    for weights in [Weights::Uniform, Weights::Distance] {
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let model = Knn::new(6).weights(weights).metric(metric).fit(&rows, &y).unwrap();
            assert_eq!((model.model.predictor.noutputs(), model.model.predictor.ncols()), (2, 2));
            let predicted = model.predict(&queries).unwrap();
            for i in 0..60 {
                let nearest = &ranked(&rows, &row(&queries, i), metric)[..6];
                let exact = nearest[0].1 == 0.0;
                let weight = |d: f64| match weights {
                    Weights::Uniform => 1.0,
                    Weights::Distance if exact => f64::from(u8::from(d == 0.0)),
                    Weights::Distance => 1.0 / d,
                };
                let total: f64 = nearest.iter().map(|(_, d)| weight(*d)).sum();
                let mean =
                    |o: usize| nearest.iter().map(|(j, d)| weight(*d) * y.row(*j)[o]).sum::<f64>() / total;
                close(predicted.row(i), &[mean(0), mean(1)], 1e-13);
            }
        }
    }
}

/// The samples without row `i`, and their targets.
fn without(samples: &AnySamples<'_>, y: &Matrix<f64>, i: usize) -> (AnySamples<'static>, Matrix<f64>) {
    let others: Vec<usize> = (0..samples.nrows()).filter(|j| *j != i).collect();
    let entries = others.iter().flat_map(|&j| y.row(j).to_vec()).collect();
    (samples.select(&others), Matrix::from_entries(others.len(), y.ncols(), entries))
}

fn mean_loss(loss: Measure, predicted: &[Vec<f64>], y: &Matrix<f64>) -> f64 {
    let best =
        |values: &[f64]| (0..values.len()).rev().max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
    let of = |(i, p): (usize, &Vec<f64>)| match loss {
        Measure::SquaredError => {
            p.iter().zip(y.row(i)).map(|(p, y)| (p - y).powi(2)).sum::<f64>() / p.len() as f64
        }
        Measure::Wrong => f64::from(u8::from(best(p) != best(y.row(i)))),
        _ => unreachable!(),
    };
    predicted.iter().enumerate().map(of).sum::<f64>() / y.nrows() as f64
}

#[test]
fn leaving_one_out_is_fitting_without_it() {
    let n = 61;
    // A grid of few points: many duplicates of a row have lower numbers than it.
    let coarse: Vec<f64> = noise(n * 2, 5).iter().map(|v| v.round()).collect();
    for entries in [coarse, noise(n * 2, 6)] {
        for form in [Form::Double, Form::Single, Form::Sparse] {
            let x = samples(2, &entries, form);
            for (y, loss) in [(targets(n, 2, 7), Measure::SquaredError), (classes(n, 3, 8), Measure::Wrong)] {
                let refitted = |fit: &dyn Fn(&AnySamples<'_>, &Matrix<f64>) -> Fitted| {
                    let predicted: Vec<Vec<f64>> = (0..n)
                        .map(|i| {
                            let (others, y) = without(&x, &y, i);
                            fit(&others, &y).predict(x.select(&[i])).unwrap().into_entries()
                        })
                        .collect();
                    mean_loss(loss, &predicted, &y)
                };
                for weights in [Weights::Uniform, Weights::Distance] {
                    let knn = Knn::new(1).weights(weights).metric(Metric::Manhattan);
                    let found = knn.leave_one_out(&x, &y, n - 1, loss, &Session::default()).unwrap();
                    assert_eq!(found.len(), n - 1);
                    for k in [1, 2, 5, 30, n - 1] {
                        let expected = refitted(&|x, y| knn.k(k).fit(x, y).unwrap());
                        close(&[found[k - 1]], &[expected], 1e-12);
                    }
                }
                let tolerance = if matches!(form, Form::Single) { 1e-4 } else { 1e-9 };
                for text in [
                    "rbf(sigma=0.7)",
                    "rbf(sigma=0.01)",
                    "laplacian(gamma=3)",
                    "max(0, 0.5-|x-z|)",
                    "1/|x-z|",
                ] {
                    let smoother = Smoother::new(text.parse().unwrap());
                    let found = smoother.leave_one_out(&x, &y, loss, &Session::default()).unwrap();
                    let expected = refitted(&|x, y| smoother.fit(x, y).unwrap());
                    close(&[found], &[expected], tolerance);
                }
            }
        }
    }
}

#[test]
fn the_smoother_is_a_weighted_mean() {
    let (x, y) = (samples(3, &noise(300, 1), Form::Double), targets(100, 2, 2));
    let queries = samples(3, &noise(60, 3), Form::Double);
    for text in [
        "rbf(sigma=0.4)",
        "laplacian",
        "matern(nu=1.5)",
        "rq(alpha=2)",
        "max(0, 2.5-|x-z|)",
        "rbf[0]*rbf(sigma=[1,2])[1,2]",
        "exp(-|x-z|)*(1+cos(3*|x-z|_1))",
        "1e-300*rbf",
    ] {
        let kernel: Kernel = text.parse().unwrap();
        let predicted = Smoother::new(kernel.clone()).fit(&x, &y).unwrap().predict(&queries).unwrap();
        for i in 0..20 {
            let weights: Vec<f64> =
                (0..100).map(|j| kernel.eval(&row(&queries, i), &row(&x, j)).unwrap()).collect();
            let total: f64 = weights.iter().sum();
            let mean =
                |o: usize| weights.iter().enumerate().map(|(j, w)| w / total * y.row(j)[o]).sum::<f64>();
            close(predicted.row(i), &[mean(0), mean(1)], 1e-10);
        }
    }
}

/// Far away the Gaussian's weights are exp((|x−z|² of the nearest − |x−z|²)/(2σ²)) relative to the nearest row's.
#[test]
fn far_samples_predict_the_limit() {
    for form in [Form::Double, Form::Single, Form::Sparse] {
        let x = samples(1, &[0.0, 1.0, -3.0, 1.0], form);
        let y = Matrix::from_entries(4, 1, vec![5.0, 2.0, 9.0, 4.0]);
        let smoothed = |text: &str, at: f64| {
            let model = Smoother::new(text.parse().unwrap()).fit(&x, &y).unwrap();
            model.predict(samples(1, &[at], form)).unwrap().into_entries()[0]
        };
        // Two rows at 1 share the weight.
        close(&[smoothed("rbf(sigma=0.01)", 1e3)], &[3.0], 1e-12);
        close(&[smoothed("rbf(sigma=1e-6)", -2.0)], &[9.0], 1e-12);
        close(&[smoothed("laplacian(gamma=1e4)", 0.4)], &[5.0], 1e-12);
        close(&[smoothed("matern(nu=2.5, length=1e-5)", 0.6)], &[3.0], 1e-9);
        // Beyond the support of every row: the nearest, of two the first.
        assert_eq!(smoothed("max(0, 1-|x-z|)", 7.0), 2.0);
        assert_eq!(smoothed("max(0, 1-|x-z|)", -90.0), 9.0);
        // Weights that underflow but are comparable: |x−z|² is 41² against 40² twice, over 2·0.9².
        let ratio = (-(41f64 * 41.0 - 40.0 * 40.0) / (2.0 * 0.81)).exp();
        close(&[smoothed("rbf(sigma=0.9)", 41.0)], &[(6.0 + 5.0 * ratio) / (2.0 + ratio)], 1e-9);
        close(&[smoothed("rbf(sigma=0.9) + rbf(sigma=0.5)", 41.0)], &[3.0], 1e-9);
        // A kernel that is infinite at 0 interpolates.
        assert_eq!(smoothed("1/|x-z|^2", 0.0), 5.0);
        assert_eq!(smoothed("1/|x-z|^2", 1.0), 3.0);
    }
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let (x, y) = (samples(4, &noise(700 * 4, 1), Form::Single), targets(700, 2, 2));
    let answer = |threads| {
        pool::with(Some(threads), || {
            let nearest = neighbours(&x, &x, 5, Metric::Euclidean, &Unwatched).unwrap();
            let knn = Knn::new(3);
            let smoother = Smoother::new("rbf(sigma=0.05)".parse().unwrap());
            let losses = knn.leave_one_out(&x, &y, 9, Measure::SquaredError, &Session::default()).unwrap();
            let loss = smoother.leave_one_out(&x, &y, Measure::SquaredError, &Session::default()).unwrap();
            let predicted = smoother.fit(&x, &y).unwrap().predict(&x).unwrap();
            (nearest, losses, loss.to_bits(), predicted)
        })
    };
    assert_eq!(answer(1), answer(3));
}

#[test]
fn a_stop_ends_the_work() {
    let (x, y) = (samples(4, &noise(700 * 4, 1), Form::Double), targets(700, 1, 2));
    let stop = AtomicBool::new(true);
    let session = Session::default().with_watch(&stop);
    let searched = neighbours(&x, &x, 5, Metric::Euclidean, &stop);
    assert!(matches!(searched, Err(GramError::Stopped(_))));
    assert!(Knn::new(3).leave_one_out(&x, &y, 9, Measure::SquaredError, &session).unwrap_err().is_stop());
    let smoother = Smoother::new("rbf".parse().unwrap());
    assert!(smoother.leave_one_out(&x, &y, Measure::SquaredError, &session).unwrap_err().is_stop());
    let predicted = smoother.fit(&x, &y).unwrap().model.predict(&x, &session);
    assert!(matches!(predicted, Err(ModelError::Gram(GramError::Stopped(_)))));
}

#[test]
fn invalid_settings_are_refused() {
    let (x, y) = (samples(2, &noise(20, 1), Form::Double), targets(10, 1, 2));
    let message = |error: LearnError| error.to_string();
    assert_eq!(message(Knn::new(0).fit(&x, &y).unwrap_err()), "k is 0; it must be 1 or more");
    let too_many = Knn::new(11).fit(&x, &y).unwrap_err();
    assert!(matches!(too_many, LearnError::TooManyNeighbours { k: 11, rows: 10 }));
    assert!(Knn::new(1).leave_one_out(&x, &y, 10, Measure::SquaredError, &Session::default()).is_err());
    let empty = samples(2, &[], Form::Double);
    assert!(matches!(Knn::new(1).fit(&empty, targets(0, 1, 1)), Err(LearnError::Empty { .. })));
    assert!(matches!(Knn::new(1).fit(&x, targets(9, 1, 1)), Err(LearnError::Length { found: 9, .. })));
    let infinite = Matrix::from_entries(10, 1, vec![f64::INFINITY; 10]);
    assert!(matches!(
        Knn::new(1).fit(&x, &infinite),
        Err(LearnError::NonFinite { what: "target", row: 0, .. })
    ));
    let mut entries = noise(20, 1);
    entries[7] = f64::NAN;
    let missing = samples(2, &entries, Form::Double);
    assert!(matches!(
        Knn::new(1).fit(&missing, &y),
        Err(LearnError::NonFinite { what: "feature", row: 3, .. })
    ));

    let smoother = |text: &str| Smoother::new(text.parse().unwrap()).fit(&x, &y);
    for text in ["linear", "poly(degree=2)", "rbf*<x,z>", "0.1-|x-z|", "cos(9*|x-z|)"] {
        assert!(matches!(smoother(text), Err(LearnError::NotAWeight { .. })), "{text}");
    }
    assert!(smoother("rbf(sigma=auto)").is_ok());
    assert!(matches!(smoother("rbf[5]"), Err(LearnError::Kernel(_))));
    // Positive on these samples, if not everywhere.
    assert!(smoother("9-|x-z|").is_ok());
    let one = samples(1, &[1.0], Form::Double);
    let lonely = Smoother::new("rbf".parse().unwrap());
    assert!(
        lonely.leave_one_out(&one, &targets(1, 1, 1), Measure::SquaredError, &Session::default()).is_err()
    );
    let model = Knn::new(1).fit(&x, &y).unwrap();
    assert!(matches!(model.predict(&one), Err(ModelError::Columns { found: 1, expected: 2 })));
}

#[test]
fn classes_are_predicted_as_shares() {
    let x = samples(1, &[0.0, 1.0, 2.0, 10.0, 11.0], Form::Double);
    let classes = ["b", "a", "b", "c", "c"];
    let shares = Knn::new(3).fit(&x, &classes).unwrap().predict(samples(1, &[0.9], Form::Double)).unwrap();
    close(shares.row(0), &[1.0 / 3.0, 2.0 / 3.0, 0.0], 1e-15);
    let smoother = Smoother::new("max(0, 3-|x-z|)".parse().unwrap());
    let shares = smoother.fit(&x, &classes).unwrap().predict(samples(1, &[1.0], Form::Double)).unwrap();
    close(shares.row(0), &[3.0 / 7.0, 4.0 / 7.0, 0.0], 1e-15);
    let weighted = Problem::new(&x, &classes).weighted(Some(vec![1.0; 5]));
    assert!(matches!(Knn::new(1).train(&weighted, &Session::default()), Err(LearnError::Unsupported(_))));
}
