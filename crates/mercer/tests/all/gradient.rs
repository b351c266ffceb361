//! Sums of derivatives over tiles against the derivatives' own values.

use mercer::data::{AnySamples, Samples};
use mercer::gram::{CpuEngine, Engine, Part, Resident, Wanted};
use mercer::kernel::Kernel;
use mercer::session::Session;
use mercer::watch::Unwatched;

use crate::oracle::noise;

fn positive(count: usize, seed: u64) -> Vec<f64> {
    noise(count, seed).into_iter().map(|v| v + 1.5).collect()
}

fn load(n: usize, d: usize, entries: &[f64]) -> Box<dyn Resident> {
    CpuEngine.load(&AnySamples::F64(Samples::dense(n, d, entries).unwrap())).unwrap()
}

#[test]
fn contractions_are_sums_of_the_derivatives() {
    // More than one tile, and a part of one.
    let (n, m, d) = (290, 41, 3);
    let (x, z) = (positive(n * d, 1), positive(m * d, 2));
    let samples = AnySamples::F64(Samples::dense(n, d, x.clone()).unwrap());
    let session = Session::default();
    for text in [
        "?*rbf(sigma=[?]) + noise(value=?)",
        "?*matern(nu=1.5, length=[?]) + ?*linear[1]",
        "rq(alpha=?, length=?)*periodic(period=?, length=?)[0]",
        "laplacian(gamma=[?]) + chi2(gamma=?) + poly(degree=2, gamma=?, c=?) + wendland(radius=?)",
        "matern(nu=0.5, length=[?])*?",
    ] {
        let open: Kernel = text.parse().unwrap();
        let open = open.resolve_auto(&session.scales(&samples)).unwrap();
        let count = open.tunables().unwrap().len();
        let values: Vec<f64> = (0..count).map(|p| 0.8 + 0.2 * p as f64).collect();
        let derivatives = open.gradient(&values, d).unwrap();
        let (left, right) = (load(n, d, &x), load(m, d, &z));
        let row = |from: &[f64], i: usize| from[i * d..(i + 1) * d].to_vec();

        let mut weights = noise(n * n, 3);
        for i in 0..n {
            for j in 0..i {
                weights[j * n + i] = weights[i * n + j];
            }
        }
        let square = left.gradient(&derivatives, None).unwrap();
        let (found, on_diagonal) =
            (square.contract(&weights, &Unwatched).unwrap(), square.contract_diagonal(&weights[..n]));
        for (p, derivative) in derivatives.iter().enumerate() {
            let at = |i: usize, j: usize| derivative.eval(&row(&x, i), &row(&x, j)).unwrap();
            let terms = (0..n * n).map(|k| weights[k] * at(k / n, k % n));
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
            assert!((found[p] - sum).abs() <= 1e-12 * size, "{text}, {p}: {} is not {sum}", found[p]);
            let sum: f64 = (0..n).map(|i| weights[i] * at(i, i)).sum();
            assert!((on_diagonal[p] - sum).abs() <= 1e-12 * (n as f64 + sum.abs()), "{text}, {p}, diagonal");
        }

        let weights = noise(n * m, 4);
        let cross = left.gradient(&derivatives, Some(&*right)).unwrap();
        let found = cross.contract(&weights, &Unwatched).unwrap();
        for (p, derivative) in derivatives.iter().enumerate() {
            let terms =
                (0..n * m).map(|k| weights[k] * derivative.eval(&row(&x, k / m), &row(&z, k % m)).unwrap());
            let (sum, size) = terms.fold((0.0, 1e-300), |(sum, size), term| (sum + term, size + term.abs()));
            assert!(
                (found[p] - sum).abs() <= 1e-12 * size,
                "{text}, {p}, crossed: {} is not {sum}",
                found[p]
            );
        }
    }
}

#[test]
fn noise_is_on_the_diagonal_of_a_training_matrix_only() {
    let x = [0.0, 1.0, 1.0, 2.0];
    let kernel: Kernel = "rbf + noise(value=0.5)".parse().unwrap();
    let plain: Kernel = "rbf".parse().unwrap();
    let (samples, same) = (load(4, 1, &x), load(4, 1, &x));
    let values = |kernel: &Kernel| {
        let mut values = vec![0.0; 16];
        samples
            .gram(kernel, Wanted::Exact)
            .unwrap()
            .fill(Part::Full, (&mut values).into(), &Unwatched)
            .unwrap();
        values
    };
    let (with, without) = (values(&kernel), values(&plain));
    for k in 0..16 {
        // Rows 1 and 2 are equal, but they are two rows.
        let expected = if k / 4 == k % 4 { 0.5 } else { 0.0 };
        assert_eq!(with[k] - without[k], expected, "entry {k}");
    }
    let mut crossed = vec![0.0; 16];
    samples.cross(&kernel, &*same).unwrap().fill(Part::Full, (&mut crossed).into(), &Unwatched).unwrap();
    assert_eq!(crossed, without);
    let mut part = vec![0.0; 4];
    let gram = samples.gram(&kernel, Wanted::Exact).unwrap();
    gram.block(&[2, 1], &[1, 2], mercer::gram::TileMut::new(&mut part, 2));
    assert_eq!(part, [1.0, 1.5, 1.5, 1.0]);
    assert_eq!(gram.diagonal().to_vec(), [1.5; 4]);
}
