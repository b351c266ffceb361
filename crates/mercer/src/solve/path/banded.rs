//! A symmetric block tridiagonal matrix B, and the Cholesky factor of B + λI.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Auto, Mat, MatMut, MatRef, Par, Spec};

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

/// B + λI = LLᵀ with L block bidiagonal, as what solving with it needs.
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
    /// Factors B + λI; none where it is not positive definite to working precision.
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
            matmul(pivot.as_mut(), Accum::Add, coupling.as_ref(), coupling.transpose(), -1.0, Par::Seq);
            cholesky(pivot.as_mut())?;
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
    /// 4·r·b·m flops for X of r × m; two blocks are held at a time.
    pub fn forward(&self, x: MatRef<'_, f64>, mut visit: impl FnMut(usize, &[f64])) {
        let width = self.widths().max().unwrap_or(0);
        let mut solved = vec![0.0; width * x.ncols()];
        let mut next = vec![0.0; width * x.ncols()];
        let mut start = 0;
        for (k, (inverse, link)) in self.inverses.iter().zip(&self.links).enumerate() {
            let (height, m) = (inverse.nrows(), x.ncols());
            let mut out = MatMut::from_row_major_slice_mut(&mut next[..height * m], height, m);
            matmul(out.as_mut(), Accum::Replace, inverse.as_ref(), x.subrows(start, height), 1.0, Par::Seq);
            if k > 0 {
                let above = link.ncols();
                let known = MatRef::from_row_major_slice(&solved[..above * m], above, m);
                matmul(out.as_mut(), Accum::Add, link.as_ref(), known, -1.0, Par::Seq);
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
                matmul(
                    solution.subrows_mut(start - above, above),
                    Accum::Add,
                    self.links[k].transpose(),
                    block.as_ref(),
                    -1.0,
                    Par::Seq,
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
                matmul(s.as_mut(), Accum::Add, down.transpose(), right.as_ref(), 1.0, Par::Seq);
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
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// A ← L with A = LLᵀ in the lower triangle; none where A is not positive definite.
pub(super) fn cholesky(mut a: MatMut<'_, f64>) -> Option<()> {
    let n = a.nrows();
    let params = Spec::new(<LltParams as Auto<f64>>::auto());
    let mut scratch = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, params));
    let stack = MemStack::new(&mut scratch);
    cholesky_in_place(a.as_mut(), Default::default(), Par::Seq, stack, params).ok()?;
    // A NaN pivot passes the factorisation's comparison with zero.
    (0..n).all(|i| a[(i, i)] > 0.0).then_some(())
}
