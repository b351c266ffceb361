//! The Newton step of logistic regression by conjugate gradients.
//!
//! With r = λa + g the step (δ, δb) solves
//!
//! ```text
//! λδ + D(Kδ + 1δbᵀ) = −r        ΣᵢDᵢ(Kδ + 1δbᵀ)ᵢ = −Σᵢgᵢ
//! ```
//!
//! The second line gives δb; put into the first, M δ = −r̃ with M = λI + D̃K, where D̃v = D(v − 1cᵀ), c = (ΣD)⁺ΣDᵢvᵢ, and
//! r̃ = r − D·1(ΣD)⁺Σgᵢ. M is not symmetric, but it is self-adjoint and positive in the inner product ⟨u, v⟩ = tr uᵀKv, the
//! inner product of the functions that u and v stand for. Conjugate gradients there need one product with K a step, minimise
//! the quadratic model of the objective itself, divide by no curvature, and leave behind Kδ beside δ.
//!
//! What K sends to zero that inner product does not see, and for a K of low rank that is most of the residual
//! ρ = −r̃ − Mδ. Adding ρ/λ to δ settles it: the residual becomes −D̃Kρ/λ, without it. The work ends when either residual
//! is small enough. Without a penalty (λ is then a damping) what K sends to zero does not matter, and ⟨ρ, ρ⟩ ends the work.

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::vectors::add_multiple;
use crate::watch::{Stopped, Watch};

use super::iterate::Residual;
use super::loss::Curvature;

/// A step of the coefficients, and what it does to the fit.
pub(super) struct Direction {
    /// δ.
    pub dual: Matrix<f64>,
    /// Kδ.
    pub image: Matrix<f64>,
    /// δb.
    pub intercepts: Vec<f64>,
    /// Products with K that it took.
    pub products: usize,
}

/// How far a step is worked out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// ‖Mδ + r̃‖/‖r̃‖ to reach.
    pub reduction: f64,
    /// Products with K at most.
    pub products: usize,
    /// Whether λ is a penalty, so that what K does not see counts too.
    pub penalised: bool,
}

/// The Newton step, as far as `effort` allows.
pub(super) fn newton_direction(
    kernel: &dyn LinearOperator,
    lambda: f64,
    curvature: &Curvature<'_>,
    at: &Residual,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Direction, Stopped> {
    let (n, m) = (at.entries.nrows(), at.entries.ncols());
    let answer = curvature.pooled(&at.pull);
    let mut left = at.entries.clone();
    let mut shift = vec![0.0; m];
    for i in 0..n {
        curvature.times(i, &answer, &mut shift);
        left.row_mut(i).iter_mut().zip(&shift).for_each(|(l, s)| *l = s - *l);
    }
    let mut dual = Matrix::zeros(n, m);
    let mut image = Matrix::zeros(n, m);
    let (mut search, mut search_image) = (Matrix::zeros(n, m), Matrix::zeros(n, m));
    let (mut left_image, mut pushed) = (Matrix::zeros(n, m), Matrix::zeros(n, m));
    let goal = effort.reduction * norm(&left);
    let (mut energy, mut initial) = (f64::INFINITY, None);
    let mut products = 0;
    while products < effort.products && !(effort.penalised && norm(&left) <= goal) {
        kernel.apply(&mut left_image, &left, watch)?;
        products += 1;
        let next = dot(&left, &left_image);
        curvature.apply(&left_image, &mut pushed);
        let first = *initial.get_or_insert(next);
        // Rounding can make what K hardly sees negative.
        let seen = next > 0.0;
        if effort.penalised && (!seen || norm(&pushed) <= lambda * goal) {
            add_multiple(&mut dual, 1.0 / lambda, &left);
            add_multiple(&mut image, 1.0 / lambda, &left_image);
            break;
        }
        if !effort.penalised && (!seen || next <= effort.reduction.powi(2) * first) {
            break;
        }
        let beta = if energy.is_finite() { next / energy } else { 0.0 };
        energy = next;
        combine(&mut search, beta, &left);
        combine(&mut search_image, beta, &left_image);
        curvature.apply(&search_image, &mut pushed);
        add_multiple(&mut pushed, lambda, &search);
        let bend = dot(&search_image, &pushed);
        if bend.is_nan() || bend <= 0.0 {
            break;
        }
        let step = energy / bend;
        add_multiple(&mut dual, step, &search);
        add_multiple(&mut image, step, &search_image);
        add_multiple(&mut left, -step, &pushed);
    }
    let mean = curvature.apply(&image, &mut pushed);
    let intercepts = answer.iter().zip(&mean).map(|(a, c)| -a - c).collect();
    Ok(Direction { dual, image, intercepts, products })
}

/// tr uᵀv.
pub(super) fn dot(u: &Matrix<f64>, v: &Matrix<f64>) -> f64 {
    // Eight sums side by side: the order is fixed, and the processor can keep all of them going.
    let mut sums = [0.0; 8];
    for (u, v) in u.entries().chunks(8).zip(v.entries().chunks(8)) {
        for ((s, u), v) in sums.iter_mut().zip(u).zip(v) {
            *s += u * v;
        }
    }
    sums.iter().sum()
}

/// ‖u‖.
pub(super) fn norm(u: &Matrix<f64>) -> f64 {
    dot(u, u).sqrt()
}

/// v + factor·u in place of u.
fn combine(u: &mut Matrix<f64>, factor: f64, v: &Matrix<f64>) {
    for (u, v) in u.entries_mut().iter_mut().zip(v.entries()) {
        *u = v + factor * *u;
    }
}
