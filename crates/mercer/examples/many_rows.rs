//! Fits 100,000 rows on random Fourier features within a memory budget, and reports progress.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use mercer::prelude::*;
use mercer::watch::Watch;

/// Prints the name of each stage.
struct Stages(Instant);

impl Watch for Stages {
    fn begin(&self, stage: &str, total: u64) {
        eprintln!("{:6.2} s  {stage} ({total} units)", self.0.elapsed().as_secs_f64());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: Vec<[f64; 3]> =
        (0..100_000).map(|i| [1.0, 1.7, 2.3].map(|speed| (speed * f64::from(i)).sin())).collect();
    let y: Vec<f64> = x.iter().map(|[a, b, c]| (2.0 * a).sin() + b * c).collect();

    let kernel: Kernel = "rbf(sigma=1)".parse()?;
    let ridge = Ridge::on((kernel, Approximation::fourier(256))).lambda(1e-3);
    let stages = Stages(Instant::now());
    let session = Session::default().with_memory(1 << 30).with_seed(7).with_watch(&stages);
    let fitted = ridge.train(&Problem::new(&x, &y), &session)?;

    let predicted = fitted.predict(&x)?;
    let squares = y.iter().enumerate().map(|(i, y)| (y - predicted.row(i)[0]).powi(2));
    println!("RMSE {:.2e}", (squares.sum::<f64>() / y.len() as f64).sqrt());
    Ok(())
}
