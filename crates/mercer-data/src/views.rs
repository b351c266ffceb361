//! Conversions between samples or matrices and the arrays of other crates, behind the features `ndarray` and `faer`.

#[cfg(feature = "ndarray")]
mod ndarray {
    use ndarray::{Array2, ArrayView2};

    use crate::{AnySamples, Matrix, Samples};

    macro_rules! views {
        ($variant:ident, $kind:ty) => {
            /// One row per sample. A view in row-major order without gaps is borrowed; any other is copied.
            impl<'a> From<ArrayView2<'a, $kind>> for AnySamples<'a> {
                fn from(view: ArrayView2<'a, $kind>) -> Self {
                    let (rows, columns) = view.dim();
                    let samples = match view.to_slice() {
                        Some(entries) => Samples::dense(rows, columns, entries),
                        None => Samples::dense(rows, columns, view.iter().copied().collect::<Vec<_>>()),
                    };
                    Self::$variant(samples.expect("as many entries as the shape says"))
                }
            }

            /// One row per sample.
            impl<'a> From<&'a Array2<$kind>> for AnySamples<'a> {
                fn from(array: &'a Array2<$kind>) -> Self {
                    array.view().into()
                }
            }
        };
    }
    views!(F32, f32);
    views!(F64, f64);

    impl From<Matrix<f64>> for Array2<f64> {
        fn from(matrix: Matrix<f64>) -> Self {
            let shape = (matrix.nrows(), matrix.ncols());
            Self::from_shape_vec(shape, matrix.into_entries()).expect("as many entries as the shape says")
        }
    }

    #[cfg(test)]
    mod tests {
        use ndarray::array;

        use super::*;

        #[test]
        fn views_in_any_order_are_the_same_samples() {
            let rows = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
            let columns = array![[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]];
            let matrix = Matrix::from_entries(2, 3, (1..7).map(f64::from).collect());
            assert_eq!(AnySamples::from(&rows), AnySamples::from(&matrix));
            assert_eq!(AnySamples::from(columns.t()), AnySamples::from(&matrix));
            assert_eq!(Array2::from(matrix), rows);
        }
    }
}

#[cfg(feature = "faer")]
mod faer {
    use faer::{Mat, MatRef};

    use crate::{AnySamples, Matrix, Samples};

    /// One row per sample, copied: faer's matrices are in column-major order.
    impl From<MatRef<'_, f64>> for AnySamples<'static> {
        fn from(view: MatRef<'_, f64>) -> Self {
            let (rows, columns) = (view.nrows(), view.ncols());
            let entries: Vec<f64> =
                (0..rows).flat_map(|row| (0..columns).map(move |column| view[(row, column)])).collect();
            Self::F64(Samples::dense(rows, columns, entries).expect("as many entries as the shape says"))
        }
    }

    /// One row per sample, copied.
    impl From<&Mat<f64>> for AnySamples<'static> {
        fn from(matrix: &Mat<f64>) -> Self {
            matrix.as_ref().into()
        }
    }

    impl<'a> From<&'a Matrix<f64>> for MatRef<'a, f64> {
        fn from(matrix: &'a Matrix<f64>) -> Self {
            Self::from_row_major_slice(matrix.entries(), matrix.nrows(), matrix.ncols())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_matrix_and_back() {
            let mat = Mat::from_fn(2, 3, |i, j| (3 * i + j) as f64);
            let matrix = Matrix::from_entries(2, 3, (0..6).map(f64::from).collect());
            assert_eq!(AnySamples::from(&mat), AnySamples::from(&matrix));
            assert_eq!(MatRef::from(&matrix), mat.as_ref());
        }
    }
}
