//! Densities of frequencies against closed forms and against the kernel, whose Fourier transform they are.

use std::f64::consts::PI;

use mercer_kernel::{Kernel, Spectrum};

fn spectrum(text: &str) -> (Kernel, Spectrum) {
    let kernel: Kernel = text.parse().unwrap();
    let spectrum = Spectrum::of(&kernel, 1).unwrap();
    (kernel, spectrum)
}

#[test]
fn cauchy_frequencies_of_the_laplacian() {
    let places: Vec<f64> = (-40..=40).map(|i| 0.25 * f64::from(i)).collect();
    for text in ["laplacian(gamma=1.5)", "matern(nu=0.5, length=0.6666666666666666)"] {
        let found = spectrum(text).1.marginal(0, &places).density;
        for (place, density) in places.iter().zip(found) {
            let exact = 1.5 / (PI * (1.5 * 1.5 + place * place));
            assert!((density / exact - 1.0).abs() < 1e-6, "{text} at {place}: {density} for {exact}");
        }
    }
}

/// κ(t)/κ(0) = P(ω = 0) + ∫ p(ω) cos(ωt) dω, by the trapezoidal rule on a range that holds all but a negligible part.
#[test]
fn densities_are_transforms_of_the_kernel() {
    for (text, half) in [
        ("rbf(sigma=0.7)", 20.0),
        ("rq(alpha=2.5, length=0.8)", 40.0),
        ("matern(nu=2.5, length=1)", 400.0),
        ("0.5*rbf(sigma=1) + 2*rq(alpha=1, length=2) + 1", 80.0),
        ("rbf(sigma=1)*matern(nu=2.5, length=1)", 400.0),
    ] {
        let (kernel, spectrum) = spectrum(text);
        let count = 40_001;
        let step = 2.0 * half / f64::from(count - 1);
        let places: Vec<f64> = (0..count).map(|i| -half + step * f64::from(i)).collect();
        let marginal = spectrum.marginal(0, &places);
        let at_zero = kernel.eval(&[0.0], &[0.0]).unwrap();
        for t in [0.0, 0.3, 1.0, 2.5] {
            let wave = |(place, density): (&f64, &f64)| density * (place * t).cos();
            let integral = step * places.iter().zip(&marginal.density).map(wave).sum::<f64>();
            let exact = kernel.eval(&[t], &[0.0]).unwrap() / at_zero;
            let found = marginal.at_zero + integral;
            assert!((found - exact).abs() < 2e-4, "{text} at {t}: {found} for {exact}");
        }
    }
}

#[test]
fn columns_that_are_not_read_have_frequency_zero() {
    let kernel: Kernel = "3*rbf(sigma=1)[0] + rbf(sigma=1)[1]".parse().unwrap();
    let marginal = Spectrum::of(&kernel, 2).unwrap().marginal(0, &[0.0]);
    assert_eq!(marginal.at_zero, 0.25);
}
