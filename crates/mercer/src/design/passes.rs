//! Passes over blocks of rows of a design.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use crate::data::Matrix;
use crate::linalg::products;

/// The assignment of rows to parts of the data, such as the folds of a cross-validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts<'a> {
    /// All rows are in part 0.
    All,
    /// The part of each row; rows of no part are left out.
    Table(&'a [Option<usize>]),
}

/// out += α·ΦV for some rows of Φ, row-major, `outputs` columns of V and out.
pub fn add_product(out: &mut [f64], phi: &[f64], v: &Matrix<f64>, alpha: f64) {
    let (width, outputs) = (v.nrows(), v.ncols());
    if out.is_empty() || width == 0 {
        return;
    }
    let v = products::view(v);
    let slice = (out.len() / outputs).div_ceil(16).max(1);
    out.par_chunks_mut(slice * outputs).zip(phi.par_chunks(slice * width)).for_each(|(out, phi)| {
        let height = out.len() / outputs;
        let phi = MatRef::from_row_major_slice(phi, height, width);
        products::add(MatMut::from_row_major_slice_mut(out, height, outputs), alpha, phi, v);
    });
}

/// out += ΦᵀU for some rows of Φ and as many of U, row-major. Each entry of `out` is computed by one thread.
pub fn add_transposed_product(out: &mut Matrix<f64>, phi: &[f64], u: &[f64]) {
    let (width, outputs) = (out.nrows(), out.ncols());
    if phi.is_empty() || outputs == 0 {
        return;
    }
    let height = phi.len() / width;
    let phi = MatRef::from_row_major_slice(phi, height, width);
    let u = MatRef::from_row_major_slice(u, height, outputs);
    let strip = width.div_ceil(16).clamp(8, 128);
    out.entries_mut().par_chunks_mut(strip * outputs).enumerate().for_each(|(place, out)| {
        let rows = out.len() / outputs;
        let out = MatMut::from_row_major_slice_mut(out, rows, outputs);
        products::add(out, 1.0, phi.subcols(place * strip, rows).transpose(), u);
    });
}
