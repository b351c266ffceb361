//! Times the search for nearest rows: `neighbours N D M K [f32] [manhattan] [THREADS]` prints the best of five runs in seconds.

use std::time::Instant;

use mercer::data::{AnySamples, Samples};
use mercer::gram::Metric;
use mercer::pool;
use mercer::session::Session;
use mercer::watch::Unwatched;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn normal(n: usize, d: usize, seed: u64, single: bool) -> AnySamples<'static> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let entries: Vec<f64> = (0..n * d).map(|_| random.sample::<f64, _>(rand_distr::StandardNormal)).collect();
    if single {
        let entries: Vec<f32> = entries.iter().map(|v| *v as f32).collect();
        AnySamples::F32(Samples::dense(n, d, entries).expect("n·d entries"))
    } else {
        AnySamples::F64(Samples::dense(n, d, entries).expect("n·d entries"))
    }
}

pub fn run(arguments: &[String]) {
    let single = arguments.iter().any(|a| a == "f32");
    let manhattan = arguments.iter().any(|a| a == "manhattan");
    let numbers: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let [n, d, m, k, ref rest @ ..] = numbers[..] else {
        println!("neighbours N D M K [f32] [manhattan] [THREADS]");
        return;
    };
    let (rows, queries) = (normal(n, d, 0, single), normal(m, d, 1, single));
    let metric = if manhattan { Metric::Manhattan } else { Metric::Euclidean };
    let run = || {
        let (rows, queries) =
            (Session::default().load(&rows).expect("room"), Session::default().load(&queries).expect("room"));
        rows.nearest(&*queries, k, metric, &Unwatched).expect("as many columns")
    };
    let time = |_| {
        let start = Instant::now();
        let nearest = pool::with(rest.first().copied(), run);
        std::hint::black_box(nearest);
        start.elapsed().as_secs_f64()
    };
    println!("{:.4}", (0..5).map(time).fold(f64::INFINITY, f64::min));
}
