//! The Newton step for two classes by Cholesky: iteratively reweighted least squares.
//!
//! With S = D^½ and B = λI + SKS,
//!
//! ```text
//! (λI + DK)⁻¹ = (I − S B⁻¹ S K)/λ        (λI + DK)⁻¹ S = S B⁻¹
//! ```
//!
//! so that there is no division by a curvature, which may be zero (Rasmussen & Williams, 2006, algorithm 3.1). With
//! x = −(λI + DK)⁻¹r and y = (λI + DK)⁻¹D1 the step is δ = x − δb·y, and 1ᵀ(a + δ) = 0 gives δb = 1ᵀ(a + x)/1ᵀy.

use crate::data::Matrix;
use crate::solve::direct::{Factor, solve_direct};
use crate::solve::error::SolveError;
use crate::solve::system::Regularised;
use crate::watch::Watch;

use super::cg::Direction;
use super::iterate::{Iterate, Residual};
use super::loss::Curvature;
use super::products::Products;

/// The Newton step to the accuracy of the factor: n³/3 multiply-adds and a few products with K.
pub(super) fn factored_direction(
    products: &Products<'_>,
    lambda: f64,
    curvature: &Curvature<'_>,
    intercept: bool,
    at: &Iterate,
    residual: &Residual,
    watch: &dyn Watch,
) -> Result<Direction, SolveError> {
    let n = at.dual.nrows();
    let roots: Vec<f64> = (0..n).map(|i| curvature.scalar(i).sqrt()).collect();
    let mut image = Matrix::zeros(n, 1);
    products.exact().apply(&mut image, &residual.entries, watch)?;
    let mut rhs = Matrix::zeros(n, 2);
    for (i, root) in roots.iter().enumerate() {
        rhs.row_mut(i).copy_from_slice(&[root * image.row(i)[0], *root]);
    }
    let system = Regularised::new(products.gram(), lambda, Some(&roots));
    let (solved, _) = solve_direct(&system, &rhs, Factor::Auto, watch)?;
    let r = residual.entries.entries();
    let x: Vec<f64> = (0..n).map(|i| (roots[i] * solved.row(i)[0] - r[i]) / lambda).collect();
    let y: Vec<f64> = (0..n).map(|i| roots[i] * solved.row(i)[1]).collect();
    let along: f64 = y.iter().sum();
    let intercept = if intercept && along > 0.0 {
        (x.iter().sum::<f64>() + at.dual.entries().iter().sum::<f64>()) / along
    } else {
        0.0
    };
    let dual = Matrix::from_entries(n, 1, x.iter().zip(&y).map(|(x, y)| x - intercept * y).collect());
    products.exact().apply(&mut image, &dual, watch)?;
    Ok(Direction { dual, image, intercepts: vec![intercept], products: 2 })
}
