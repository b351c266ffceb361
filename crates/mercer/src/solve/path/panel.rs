//! Householder QR of a tall panel, and blocks of reflections in compact form.

use faer::{Mat, MatMut, MatRef};

use crate::linalg::products;

/// A product of reflections H = (I − v₁v₁ᵀ)(I − v₂v₂ᵀ)… = I − V T⁻¹ Vᵀ, every ‖vⱼ‖² = 2.
///
/// T is the upper triangle of VᵀV with ones on its diagonal (Puglisi 1992).
#[derive(Debug)]
pub(super) struct Reflections {
    pub v: Mat<f64>,
    pub t: Mat<f64>,
}

impl Reflections {
    /// The product of the reflections whose vectors are the columns of `v`.
    pub fn new(v: Mat<f64>) -> Self {
        let t = compact_factor(v.as_ref());
        Self { v, t }
    }

    /// X ← X T⁻¹.
    pub fn divide_by_factor(&self, x: MatMut<'_, f64>) {
        products::solve_unit_lower(self.t.transpose(), x.transpose_mut());
    }

    /// X ← T⁻ᵀ X.
    pub fn solve_transposed(&self, x: MatMut<'_, f64>) {
        products::solve_unit_lower(self.t.transpose(), x);
    }

    /// X ← X H.
    ///
    /// 4·k·m·p flops for X of m × p and k reflections.
    pub fn apply_right(&self, mut x: MatMut<'_, f64>) {
        let mut w = Mat::zeros(x.nrows(), self.v.ncols());
        products::assign(w.as_mut(), 1.0, x.as_ref(), self.v.as_ref());
        self.divide_by_factor(w.as_mut());
        products::add(x.as_mut(), -1.0, w.as_ref(), self.v.transpose());
    }

    /// X ← X Hᵀ.
    pub fn apply_right_transposed(&self, mut x: MatMut<'_, f64>) {
        let mut w = Mat::zeros(x.nrows(), self.v.ncols());
        products::assign(w.as_mut(), 1.0, x.as_ref(), self.v.as_ref());
        products::solve_unit_upper(self.t.as_ref(), w.transpose_mut());
        products::add(x.as_mut(), -1.0, w.as_ref(), self.v.transpose());
    }
}

/// The upper triangle of VᵀV with ones on its diagonal; zeros below.
fn compact_factor(v: MatRef<'_, f64>) -> Mat<f64> {
    let k = v.ncols();
    let mut t = Mat::zeros(k, k);
    products::assign(t.as_mut(), 1.0, v.transpose(), v);
    for j in 0..k {
        t[(j, j)] = 1.0;
        for i in j + 1..k {
            t[(i, j)] = 0.0;
        }
    }
    t
}

/// Factors the m × k `panel`, m ≥ k, as H·R: R, k × k and upper triangular, is left in its first k rows.
pub(super) fn factor_panel(panel: &mut Mat<f64>) -> Reflections {
    let mut v = Mat::zeros(panel.nrows(), panel.ncols());
    factor_columns(panel.as_mut(), v.as_mut(), 0);
    Reflections::new(v)
}

/// Factors the columns of `panel` from row `top` on, by halves (Elmroth and Gustavson 2000): almost
/// all of the work is in matrix products.
fn factor_columns(panel: MatMut<'_, f64>, v: MatMut<'_, f64>, top: usize) {
    let (m, k) = (panel.nrows(), panel.ncols());
    if k == 1 {
        let column = panel.col_mut(0).try_as_col_major_mut().expect("a column of a column-major matrix");
        let vector = v.col_mut(0).try_as_col_major_mut().expect("a column of a column-major matrix");
        reflect(&mut column.as_slice_mut()[top..], &mut vector.as_slice_mut()[top..]);
        return;
    }
    let half = k / 2;
    let (mut left, mut right) = panel.split_at_col_mut(half);
    let (mut v_left, v_right) = v.split_at_col_mut(half);
    factor_columns(left.as_mut(), v_left.as_mut(), top);
    let vectors = v_left.as_ref().subrows(top, m - top);
    let mut rest = right.as_mut().subrows_mut(top, m - top);
    let mut w = Mat::zeros(half, k - half);
    products::assign(w.as_mut(), 1.0, vectors.transpose(), rest.as_ref());
    if half > 1 {
        let t = compact_factor(vectors);
        products::solve_unit_lower(t.transpose(), w.as_mut());
    }
    products::add(rest.as_mut(), -1.0, vectors, w.as_ref());
    factor_columns(right, v_right, top + half);
}

/// The reflection I − vvᵀ that sends `x` to a multiple of the first axis, and `x` there.
fn reflect(x: &mut [f64], v: &mut [f64]) {
    let largest = x.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    if largest == 0.0 {
        v[0] = 2f64.sqrt();
        return;
    }
    let mut squares = 0.0;
    for (v, x) in v.iter_mut().zip(x.iter()) {
        *v = x / largest;
        squares += *v * *v;
    }
    let norm = squares.sqrt().copysign(v[0]);
    v[0] += norm;
    // ‖v‖² = 2·norm·v₀, with no cancellation by the choice of the sign.
    let scale = 1.0 / (norm * v[0]).sqrt();
    v.iter_mut().for_each(|v| *v *= scale);
    x.fill(0.0);
    x[0] = -norm * largest;
}
