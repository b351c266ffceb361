//! Eigenvalues and eigenvectors of small symmetric matrices by Jacobi's cyclic method (Golub and Van Loan,
//! *Matrix Computations*, 4th edition, §8.5).

/// Sweeps after which the method stops in any case; matrices of a few dozen rows need fewer than ten.
const MOST_SWEEPS: usize = 40;

/// The least eigenvalue of a symmetric matrix of order `n ≥ 1`, row-major with finite entries, and its unit eigenvector.
///
/// Each rotation sets one entry off the diagonal to zero; sweeps over all of them converge quadratically. The error of the eigenvalue is a
/// small multiple of the rounding error of the largest entry. O(n³) time per sweep.
pub fn lowest(n: usize, mut a: Vec<f64>) -> (f64, Vec<f64>) {
    assert_eq!(a.len(), n * n);
    let negligible = 0.1 * f64::EPSILON * a.iter().fold(0.0, |most, v| f64::max(most, v.abs()));
    // Row i becomes the eigenvector of the i-th entry of the diagonal.
    let mut vectors: Vec<f64> = (0..n * n).map(|k| f64::from(k / n == k % n)).collect();
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for q in 1..n {
            for p in 0..q {
                if a[p * n + q].abs() > negligible {
                    let rotation = rotation(a[p * n + p], a[p * n + q], a[q * n + q]);
                    // JᵀAJ: first the rows, then the columns.
                    rotate_rows(&mut a, n, (p, q), rotation);
                    for row in a.chunks_exact_mut(n) {
                        (row[p], row[q]) = rotate(row[p], row[q], rotation);
                    }
                    rotate_rows(&mut vectors, n, (p, q), rotation);
                    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let least =
        (0..n).min_by(|&i, &j| a[i * n + i].total_cmp(&a[j * n + j])).expect("an order of at least 1");
    (a[least * n + least], vectors[least * n..(least + 1) * n].to_vec())
}

/// Cosine and sine of the smaller angle that diagonalises [[app, apq], [apq, aqq]].
fn rotation(app: f64, apq: f64, aqq: f64) -> (f64, f64) {
    let tau = (aqq - app) / (2.0 * apq);
    let tangent = 1.0_f64.copysign(tau) / (tau.abs() + tau.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, tangent * cosine)
}

fn rotate(x: f64, y: f64, (cosine, sine): (f64, f64)) -> (f64, f64) {
    (cosine * x - sine * y, sine * x + cosine * y)
}

/// Rotates rows p < q of a matrix with `n` columns.
fn rotate_rows(matrix: &mut [f64], n: usize, (p, q): (usize, usize), rotation: (f64, f64)) {
    let (before, from_q) = matrix.split_at_mut(q * n);
    for (x, y) in before[p * n..(p + 1) * n].iter_mut().zip(&mut from_q[..n]) {
        (*x, *y) = rotate(*x, *y, rotation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// |Av − λv| and ||v| − 1| are of the size of rounding errors.
    fn assert_lowest(n: usize, entry: impl Fn(usize, usize) -> f64, expected: f64) {
        let a: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let size = a.iter().fold(0.0, |most, v| f64::max(most, v.abs()));
        let (value, vector) = lowest(n, a.clone());
        let tolerance = 10.0 * n as f64 * f64::EPSILON;
        assert!((value - expected).abs() <= tolerance * size, "{n}: {value} instead of {expected}");
        assert!((vector.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() <= tolerance);
        for (row, v) in a.chunks_exact(n).zip(&vector) {
            let product: f64 = row.iter().zip(&vector).map(|(a, v)| a * v).sum();
            assert!((product - value * v).abs() <= tolerance * size, "{n}: {product} and {}", value * v);
        }
    }

    #[test]
    fn second_differences() {
        // Eigenvalues 2 − 2cos(kπ/(n + 1)), k = 1, …, n.
        for n in [1, 2, 3, 10, 49] {
            let entry = |i: usize, j: usize| match i.abs_diff(j) {
                0 => 2.0,
                1 => -1.0,
                _ => 0.0,
            };
            let angle = std::f64::consts::PI / (n as f64 + 1.0);
            assert_lowest(n, entry, 2.0 - 2.0 * angle.cos());
        }
    }

    #[test]
    fn repeated_negative_and_large_eigenvalues() {
        // J − I: n − 1 once, −1 otherwise. Its multiples show that nothing depends on the unit.
        for unit in [1e-200, 1.0, 1e150] {
            assert_lowest(20, |i, j| if i == j { 0.0 } else { unit }, -unit);
        }
        // A reflection I − 2uuᵀ with u = (1, …, 1)/√n: −1 once, 1 otherwise.
        assert_lowest(16, |i, j| f64::from(i == j) - 2.0 / 16.0, -1.0);
        // −10, −9, …, 9 on the diagonal already.
        assert_lowest(20, |i, j| if i == j { (i * 7 % 20) as f64 - 10.0 } else { 0.0 }, -10.0);
    }

    #[test]
    fn a_nearly_singular_matrix() {
        // Hilbert's matrix of order 12 has a least eigenvalue of 2.6e-17, below rounding.
        assert_lowest(12, |i, j| 1.0 / (i + j + 1) as f64, 0.0);
        assert_lowest(5, |_, _| 0.0, 0.0);
    }
}
