//! The Newton step of logistic regression by conjugate gradients.
//!
//! With r = λa + g the step (δ, δb) solves
//!
//! ```text
//! λδ + D(Kδ + 1δbᵀ) = −r        ΣᵢDᵢ(Kδ + 1δbᵀ)ᵢ = −Σᵢgᵢ
//! ```
//!
//! The second line gives δb; put into the first, M δ = −r̃ with M = λI + D̃K, where D̃v = D(v − 1cᵀ), c = (ΣD)⁺ΣDᵢvᵢ, and
//! r̃ = r − D·1(ΣD)⁺Σgᵢ. M is not symmetric, but it is self-adjoint and positive in the inner product ⟨u, v⟩ = tr uᵀKv,
//! the inner product of the functions with coefficients u and v. Conjugate gradients in this inner product need one
//! product with K per step, minimise the quadratic model of the objective itself, do not divide by a curvature, and
//! yield Kδ in addition to δ.
//!
//! This inner product is zero on the null space of K, which for a K of low rank contains most of the residual ρ = −r̃ −
//! Mδ. Adding ρ/λ to δ removes that part: the residual becomes −D̃Kρ/λ. The iteration stops when either residual is
//! small enough. Without a penalty (λ is then a damping) the null space of K does not matter, and the rule uses ⟨ρ, ρ⟩.

use crate::data::Matrix;
use crate::gram::LinearOperator;
use crate::linalg::vectors::add_multiple;
use crate::watch::{Stopped, Watch};

use super::iterate::Residual;
use super::loss::Curvature;

/// A step of the coefficients, and the change of the fit.
pub(super) struct Direction {
    /// δ.
    pub dual: Matrix<f64>,
    /// Kδ.
    pub image: Matrix<f64>,
    /// δb.
    pub intercepts: Vec<f64>,
    /// The number of products with K.
    pub products: usize,
}

/// The accuracy of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// ‖Mδ + r̃‖/‖r̃‖ to reach.
    pub reduction: f64,
    /// The most products with K.
    pub products: usize,
    /// Whether λ is a penalty, so that the null space of K matters.
    pub penalised: bool,
}

/// The Newton step, within the limits of `effort`.
pub(super) fn newton_direction(
    kernel: &dyn LinearOperator,
    lambda: f64,
    curvature: &Curvature<'_>,
    at: &Residual,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Direction, Stopped> {
    let mut search = DirectionSearch::new(lambda, curvature, at, effort);
    let mut product = Matrix::zeros(at.entries.nrows(), at.entries.ncols());
    while let Some(vector) = search.wanted() {
        kernel.apply(&mut product, vector, watch)?;
        search.advance(&product);
    }
    Ok(search.direction())
}

/// The iteration for a Newton step, which requests one product with K at a time, so that the products of several
/// iterations can be computed together.
pub(super) struct DirectionSearch<'a> {
    lambda: f64,
    curvature: &'a Curvature<'a>,
    effort: Effort,
    /// ‖ρ‖ to reach.
    goal: f64,
    /// The step of the intercepts for their gradient.
    answer: Vec<f64>,
    dual: Matrix<f64>,
    image: Matrix<f64>,
    /// ρ.
    left: Matrix<f64>,
    search: Matrix<f64>,
    search_image: Matrix<f64>,
    pushed: Matrix<f64>,
    /// ⟨ρ, ρ⟩ of the last step.
    energy: f64,
    /// ⟨ρ, ρ⟩ of the first.
    first: Option<f64>,
    products: usize,
    done: bool,
}

impl<'a> DirectionSearch<'a> {
    /// Starts from a zero step.
    pub fn new(lambda: f64, curvature: &'a Curvature<'a>, at: &Residual, effort: Effort) -> Self {
        let (n, m) = (at.entries.nrows(), at.entries.ncols());
        let answer = curvature.pooled(&at.pull);
        let mut left = at.entries.clone();
        let mut shift = vec![0.0; m];
        for i in 0..n {
            curvature.times(i, &answer, &mut shift);
            left.row_mut(i).iter_mut().zip(&shift).for_each(|(l, s)| *l = s - *l);
        }
        let zeros = Matrix::zeros(n, m);
        let mut search = Self {
            lambda,
            curvature,
            effort,
            goal: effort.reduction * norm(&left),
            answer,
            dual: zeros.clone(),
            image: zeros.clone(),
            left,
            search: zeros.clone(),
            search_image: zeros.clone(),
            pushed: zeros,
            energy: f64::INFINITY,
            first: None,
            products: 0,
            done: false,
        };
        search.judge();
        search
    }

    /// The vector whose product with K is needed next; `None` if the step is accurate enough.
    pub fn wanted(&self) -> Option<&Matrix<f64>> {
        (!self.done).then_some(&self.left)
    }

    /// Receives the product with K of the [`wanted`](Self::wanted) vector.
    pub fn advance(&mut self, left_image: &Matrix<f64>) {
        self.products += 1;
        let next = dot(&self.left, left_image);
        self.curvature.apply(left_image, &mut self.pushed);
        let first = *self.first.get_or_insert(next);
        // Rounding can make the square of a vector near the null space of K negative.
        let seen = next > 0.0;
        self.done = true;
        let Effort { reduction, penalised, .. } = self.effort;
        if penalised && (!seen || norm(&self.pushed) <= self.lambda * self.goal) {
            add_multiple(&mut self.dual, 1.0 / self.lambda, &self.left);
            add_multiple(&mut self.image, 1.0 / self.lambda, left_image);
            return;
        }
        if !penalised && (!seen || next <= reduction.powi(2) * first) {
            return;
        }
        let beta = if self.energy.is_finite() { next / self.energy } else { 0.0 };
        self.energy = next;
        combine(&mut self.search, beta, &self.left);
        combine(&mut self.search_image, beta, left_image);
        self.curvature.apply(&self.search_image, &mut self.pushed);
        add_multiple(&mut self.pushed, self.lambda, &self.search);
        let bend = dot(&self.search_image, &self.pushed);
        if bend.is_nan() || bend <= 0.0 {
            return;
        }
        let step = self.energy / bend;
        add_multiple(&mut self.dual, step, &self.search);
        add_multiple(&mut self.image, step, &self.search_image);
        add_multiple(&mut self.left, -step, &self.pushed);
        self.judge();
    }

    /// Whether the iteration has finished after this many products.
    fn judge(&mut self) {
        let reached = self.effort.penalised && norm(&self.left) <= self.goal;
        self.done = self.products >= self.effort.products || reached;
    }

    /// The current step.
    pub fn direction(mut self) -> Direction {
        let mean = self.curvature.apply(&self.image, &mut self.pushed);
        let intercepts = self.answer.iter().zip(&mean).map(|(a, c)| -a - c).collect();
        Direction { dual: self.dual, image: self.image, intercepts, products: self.products }
    }
}

/// tr uᵀv.
pub(super) fn dot(u: &Matrix<f64>, v: &Matrix<f64>) -> f64 {
    // Eight independent sums: the order is fixed, and the processor can add them in parallel.
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
