//! Chooses the width of a Gaussian kernel and λ by the leave-one-out error.
#![allow(clippy::print_stdout)]

use mercer::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: Vec<[f64; 1]> = (0..80).map(|i| [0.1 * f64::from(i)]).collect();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, p)| p[0].sin() + 0.1 * f64::from(i as i32 % 7 - 3)).collect();

    let tune = Tune::new(Ridge::new("rbf(sigma=?)".parse()?));
    let tuned = tune.run(&Problem::new(&x, &y), &Session::default())?;

    println!("{} trials; leave-one-out error {:.4}", tuned.trials.rows.len(), tuned.score.sqrt());
    let fitted = tuned.learner.fit(&x, &y)?;
    println!("f(1.55) = {:+.3}", fitted.predict(&[[1.55]])?.row(0)[0]);
    Ok(())
}
