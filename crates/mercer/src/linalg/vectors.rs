//! Vectors, and matrices column by column. Sums run in the order of the rows.

use crate::data::Matrix;

/// ⟨a, b⟩.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ‖a‖.
pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `to` += factor·`by`.
pub fn add_multiple(to: &mut Matrix<f64>, factor: f64, by: &Matrix<f64>) {
    to.entries_mut().iter_mut().zip(by.entries()).for_each(|(to, by)| *to += factor * by);
}

/// `fitted` becomes `targets` − `fitted`.
pub fn subtract_from(targets: &Matrix<f64>, fitted: &mut Matrix<f64>) {
    fitted.entries_mut().iter_mut().zip(targets.entries()).for_each(|(f, y)| *f = y - *f);
}

/// ⟨aⱼ, bⱼ⟩ for every column j.
pub fn column_dots(a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    let mut dots = vec![0.0; a.ncols()];
    for i in 0..a.nrows() {
        for (dot, (a, b)) in dots.iter_mut().zip(a.row(i).iter().zip(b.row(i))) {
            *dot += a * b;
        }
    }
    dots
}

/// ‖aⱼ‖ for every column j.
pub fn column_norms(a: &Matrix<f64>) -> Vec<f64> {
    column_dots(a, a).into_iter().map(f64::sqrt).collect()
}

/// The largest ‖aⱼ‖/‖bⱼ‖ over columns j; a column of zeros in `b` counts as norm 1.
pub fn relative_norm(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let (above, below) = (column_norms(a), column_norms(b));
    above.iter().zip(&below).map(|(a, b)| if *b > 0.0 { a / b } else { *a }).fold(0.0, f64::max)
}

/// Some columns of a matrix.
pub fn columns(matrix: &Matrix<f64>, chosen: &[usize]) -> Matrix<f64> {
    let entries = (0..matrix.nrows()).flat_map(|i| chosen.iter().map(move |&c| matrix.row(i)[c])).collect();
    Matrix::from_entries(matrix.nrows(), chosen.len(), entries)
}
