//! Fits a noisy curve and predicts between the points.
#![allow(clippy::print_stdout)]

use mercer::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: Vec<[f64; 1]> = (0..60).map(|i| [0.1 * f64::from(i)]).collect();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, p)| p[0].sin() + 0.1 * f64::from(i as i32 % 7 - 3)).collect();

    let fitted = Ridge::new("rbf(sigma=1)".parse()?).lambda(0.1).fit(&x, &y)?;

    let at = [[0.55], [1.55], [3.15], [4.75]];
    let predicted = fitted.predict(&at)?;
    for (i, [x]) in at.iter().enumerate() {
        println!("f({x}) = {:+.3}, sin({x}) = {:+.3}", predicted.row(i)[0], x.sin());
    }
    Ok(())
}
