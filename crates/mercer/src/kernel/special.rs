//! Special functions.

/// The Matérn function of order ν at s ≥ 0: 2^(1−ν)/Γ(ν)·s^ν·K_ν(s), 1 at 0. Closed form at half-integers.
#[must_use]
pub fn matern(nu: f64, s: f64) -> f64 {
    if nu == 0.5 {
        (-s).exp()
    } else if nu == 1.5 {
        (1.0 + s) * (-s).exp()
    } else if nu == 2.5 {
        (1.0 + s + s * s / 3.0) * (-s).exp()
    } else {
        f64::NAN
    }
}
