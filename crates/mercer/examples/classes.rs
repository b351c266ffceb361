//! Separates two rings with a support vector machine and prints calibrated probabilities.
#![allow(clippy::print_stdout)]

use std::f64::consts::TAU;

use mercer::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ring = |i: usize, radius: f64| {
        let (angle, radius) = (TAU * i as f64 / 80.0, radius + 0.3 * (i as f64).sin());
        [radius * angle.cos(), radius * angle.sin()]
    };
    let x: Vec<[f64; 2]> = (0..160).map(|i| ring(i, if i % 2 == 0 { 1.0 } else { 2.0 })).collect();
    let y: Vec<&str> = (0..160).map(|i| if i % 2 == 0 { "inner" } else { "outer" }).collect();

    let svc = Svm::new("rbf(gamma=1)".parse()?, Machine::Svc { c: 10.0 }).probability(true);
    let fitted = svc.fit(&x, &y)?;

    let at = [[0.0, 0.9], [1.5, 0.0], [-2.1, 0.3]];
    let outputs = fitted.predict(&at)?;
    let probabilities = fitted.model.probabilities(&outputs).expect("the machine is calibrated");
    for ((i, point), class) in at.iter().enumerate().zip(fitted.predict_classes(&at)?) {
        let [inner, outer] = probabilities.row(i) else { unreachable!("two classes") };
        println!("{point:?}: {class} (inner {inner:.2}, outer {outer:.2})");
    }
    Ok(())
}
