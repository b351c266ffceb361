//! Times logistic regression beside one Cholesky factorisation of the same order: `logistic ROWS CLASSES C`.

use std::time::Instant;

use mercer::data::{AnySamples, Samples};
use mercer::kernel::Kernel;
use mercer::learn::{Learner, Logistic, Targets};
use mercer::linalg::{Cholesky, zeroed};
use mercer::pool;
use mercer::session::Session;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const COLUMNS: usize = 20;

/// Normal samples, their classes slices of a curved function with noise.
fn problem(rows: usize, classes: usize) -> (Vec<f64>, Vec<usize>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let x: Vec<f64> = (0..rows * COLUMNS).map(|_| normal()).collect();
    let values: Vec<f64> = x
        .chunks(COLUMNS)
        .map(|x| x[0] * x[1] + 2.0 * x[2].sin() + x[3] - 0.5 * x[4] * x[4] + 0.5 * normal())
        .collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let codes = values.iter().map(|v| sorted.partition_point(|s| s < v) * classes / rows).collect();
    (x, codes)
}

pub fn run(arguments: &[String]) {
    let argument = |k: usize| arguments.get(k).and_then(|a| a.parse::<f64>().ok());
    let rows = argument(0).map_or(10_000, |n| n as usize);
    let classes = argument(1).map_or(2, |k| k as usize);
    let lambda = 1.0 / argument(2).unwrap_or(1.0);
    let (x, codes) = problem(rows, classes);
    let samples = AnySamples::F64(Samples::dense(rows, COLUMNS, x).expect("rows of columns"));
    let kernel: Kernel = format!("rbf(gamma={})", 1.0 / COLUMNS as f64).parse().expect("a kernel");
    pool::with(None, || {
        let clock = Instant::now();
        let targets = Targets::codes(codes, classes);
        let fitted =
            Logistic::new(kernel).lambda(lambda).fit(&samples, targets).expect("two classes or more");
        let report = fitted.report.expect("a solver");
        let fitted = clock.elapsed().as_secs_f64();
        eprintln!(
            "{}: {} steps, residual {:.1e}, {fitted:.2} s",
            report.solver, report.iterations, report.residual
        );
        let mut matrix: Vec<f64> = zeroed(rows * rows);
        (0..rows).for_each(|i| matrix[i * rows + i] = 2.0);
        let clock = Instant::now();
        Cholesky::factor(rows, matrix, &Session::default()).expect("positive definite");
        let factored = clock.elapsed().as_secs_f64();
        eprintln!("one Cholesky factorisation in f64: {factored:.2} s; ratio {:.2}", fitted / factored);
    });
}
