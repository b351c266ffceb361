//! A symmetric block tridiagonal matrix B, and the Cholesky factor of B + λI.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, MatMut, MatRef, Par};

use crate::linalg::{factor_in_place, products};

/// A symmetric block tridiagonal matrix: diagonal blocks in full, and the blocks below them.
#[derive(Debug, Default)]
pub(super) struct Banded {
    /// Bₖₖ.
    pub diagonal: Vec<Mat<f64>>,
    /// Bₖ₊₁,ₖ.
    pub below: Vec<Mat<f64>>,
}

impl Banded {
    pub fn order(&self) -> usize {
        self.diagonal.iter().map(Mat::nrows).sum()
    }
}

/// B + λI = LLᵀ with L block bidiagonal, stored in the form used for solving.
///
/// ```text
/// LₖₖLₖₖᵀ = Bₖₖ + λI − EₖEₖᵀ      Eₖ = Bₖ,ₖ₋₁ Lₖ₋₁,ₖ₋₁⁻ᵀ
/// ```
#[derive(Debug)]
pub(super) struct BandedCholesky {
    /// Lₖₖ⁻¹.
    inverses: Vec<Mat<f64>>,
    /// Lₖₖ⁻¹Eₖ; empty for the first block.
    links: Vec<Mat<f64>>,
}

impl BandedCholesky {
    /// Factors B + λI; `None` if it is not positive definite to working precision.
    ///
    /// O(r·b²) for r rows in blocks of b.
    pub fn factor(band: &Banded, lambda: f64) -> Option<Self> {
        let largest = band
            .diagonal
            .iter()
            .flat_map(|block| (0..block.nrows()).map(|i| block[(i, i)]))
            .fold(0.0, f64::max);
        let floor = band.order() as f64 * f64::EPSILON * (largest + lambda);
        let (mut inverses, mut links): (Vec<Mat<f64>>, Vec<Mat<f64>>) = (Vec::new(), Vec::new());
        for (k, block) in band.diagonal.iter().enumerate() {
            let width = block.nrows();
            let mut pivot = block.clone();
            (0..width).for_each(|i| pivot[(i, i)] += lambda);
            let coupling = match k {
                0 => Mat::zeros(width, 0),
                _ => product(band.below[k - 1].as_ref(), inverses[k - 1].transpose()),
            };
            products::add(pivot.as_mut(), -1.0, coupling.as_ref(), coupling.transpose());
            factor_in_place(pivot.as_mut()).ok()?;
            if (0..width).any(|i| pivot[(i, i)] * pivot[(i, i)] <= floor) {
                return None;
            }
            let mut inverse = Mat::zeros(width, width);
            invert_lower_triangular(inverse.as_mut(), pivot.as_ref(), Par::Seq);
            links.push(product(inverse.as_ref(), coupling.as_ref()));
            inverses.push(inverse);
        }
        Some(Self { inverses, links })
    }

    fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.inverses.iter().map(Mat::nrows)
    }

    /// Calls `visit` with each block of rows of L⁻¹X, row-major, and the number of its first row.
    ///
    /// 4·r·b·m flops for X of r × m; two blocks are in memory at a time.
    pub fn forward(&self, x: MatRef<'_, f64>, mut visit: impl FnMut(usize, &[f64])) {
        let width = self.widths().max().unwrap_or(0);
        let mut solved = vec![0.0; width * x.ncols()];
        let mut next = vec![0.0; width * x.ncols()];
        let mut start = 0;
        for (k, (inverse, link)) in self.inverses.iter().zip(&self.links).enumerate() {
            let (height, m) = (inverse.nrows(), x.ncols());
            let mut out = MatMut::from_row_major_slice_mut(&mut next[..height * m], height, m);
            products::assign(out.as_mut(), 1.0, inverse.as_ref(), x.subrows(start, height));
            if k > 0 {
                let above = link.ncols();
                let known = MatRef::from_row_major_slice(&solved[..above * m], above, m);
                products::add(out.as_mut(), -1.0, link.as_ref(), known);
            }
            visit(start, &next[..height * m]);
            start += height;
            std::mem::swap(&mut solved, &mut next);
        }
    }

    /// (B + λI)⁻¹X.
    pub fn solve(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut solution = Mat::zeros(x.nrows(), x.ncols());
        self.forward(x, |start, block| copy_rows(solution.as_mut(), start, block));
        let mut start = x.nrows();
        for k in (0..self.inverses.len()).rev() {
            let width = self.inverses[k].nrows();
            start -= width;
            let block = solution.subrows(start, width).to_owned();
            let solved = product(self.inverses[k].transpose(), block.as_ref());
            if k > 0 {
                let above = self.links[k].ncols();
                // Lᵀ couples block k to block k − 1 through Eₖᵀ, and Eₖᵀ Lₖₖ⁻ᵀ is the transposed link.
                products::add(
                    solution.subrows_mut(start - above, above),
                    -1.0,
                    self.links[k].transpose(),
                    block.as_ref(),
                );
            }
            solution.subrows_mut(start, width).copy_from(&solved);
        }
        solution
    }

    /// The trace of (B + λI)⁻¹, from its diagonal blocks (Takahashi 1973). O(r·b²).
    ///
    /// ```text
    /// Sₖₖ = Lₖₖ⁻ᵀ(I + FᵀSₖ₊₁,ₖ₊₁F)Lₖₖ⁻¹      F = Eₖ₊₁
    /// ```
    pub fn trace_of_inverse(&self, band: &Banded) -> f64 {
        let mut trace = 0.0;
        let mut later: Option<Mat<f64>> = None;
        for k in (0..self.inverses.len()).rev() {
            let inverse = &self.inverses[k];
            let mut s = product(inverse.transpose(), inverse.as_ref());
            if let Some(later) = later {
                // Eₖ₊₁Lₖₖ⁻¹ = Bₖ₊₁,ₖ Lₖₖ⁻ᵀ Lₖₖ⁻¹.
                let down = product(band.below[k].as_ref(), s.as_ref());
                let right = product(later.as_ref(), down.as_ref());
                products::add(s.as_mut(), 1.0, down.transpose(), right.as_ref());
            }
            trace += (0..s.nrows()).map(|i| s[(i, i)]).sum::<f64>();
            later = Some(s);
        }
        trace
    }
}

/// Copies rows, row-major, to the rows of `out` from `start` on.
pub(super) fn copy_rows(out: MatMut<'_, f64>, start: usize, rows: &[f64]) {
    let width = out.ncols();
    let rows = MatRef::from_row_major_slice(rows, rows.len() / width.max(1), width);
    out.subrows_mut(start, rows.nrows()).copy_from(rows);
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    products::assign(out.as_mut(), 1.0, a, b);
    out
}
