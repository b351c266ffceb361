//! Times the Cholesky factorisation in both precisions beside faer's own: `cholesky ORDER THREADS`.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, cholesky_in_place, cholesky_in_place_scratch};
use faer::{Auto, MatMut, Par, Spec};
use mercer::linalg::{Cholesky, Scalar};
use mercer::pool;
use mercer::real::Real;
use mercer::watch::Unwatched;

fn matrix<T: Real>(n: usize) -> Vec<T> {
    let entry =
        |i: usize, j: usize| (-((i as f64 - j as f64) / 50.0).powi(2)).exp() + if i == j { 0.1 } else { 0.0 };
    (0..n * n).map(|k| T::from_f64(entry(k / n, k % n))).collect()
}

fn report<T: Real>(name: &str, n: usize, run: impl Fn(Vec<T>)) {
    let best = (0..3)
        .map(|_| {
            let a = matrix::<T>(n);
            let clock = Instant::now();
            run(a);
            clock.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    let flops = (n as f64).powi(3) / 3.0;
    eprintln!("{name:<20} n = {n}: {best:.3} s, {:.0} GFLOP/s", flops / best / 1e9);
}

fn compare<T: Scalar>(n: usize, threads: usize) {
    report::<T>(&format!("blocks {}", T::NAME), n, |a| {
        Cholesky::factor(n, a, &Unwatched).expect("positive definite");
    });
    report::<T>(&format!("faer {}", T::NAME), n, |mut a| {
        let params = Spec::new(<LltParams as Auto<T>>::auto());
        let par = Par::rayon(threads);
        let mut scratch = MemBuffer::new(cholesky_in_place_scratch::<T>(n, par, params));
        let a = MatMut::from_column_major_slice_mut(&mut a, n, n);
        cholesky_in_place(a, Default::default(), par, MemStack::new(&mut scratch), params)
            .expect("positive definite");
    });
}

pub fn run(arguments: &[String]) {
    let argument =
        |k: usize, default: usize| arguments.get(k).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (n, threads) = (argument(0, 6_000), argument(1, 2));
    pool::with(Some(threads), || {
        compare::<f64>(n, threads);
        compare::<f32>(n, threads);
    });
}
