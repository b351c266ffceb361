//! Rows of features and other matrices, borrowed from NumPy or returned to it.

use mercer::data::{AnySamples, InvalidSamples, Matrix, Samples, Storage};
use mercer::real::Real;
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::value_error;

/// A borrowed matrix: a C-ordered array, or `(ncols, indptr, indices, data)` of a sparse one with `uintp` and
/// `uint32` indices. The borrow lasts as long as this value and stops Rust code, not Python code, from writing.
pub enum Rows<'py> {
    /// Dense, single precision.
    DenseF32(PyReadonlyArray2<'py, f32>),
    /// Dense, double precision.
    DenseF64(PyReadonlyArray2<'py, f64>),
    /// Sparse, single precision.
    SparseF32(Sparse<'py, f32>),
    /// Sparse, double precision.
    SparseF64(Sparse<'py, f64>),
}

/// Compressed sparse rows.
type Sparse<'py, T> =
    (usize, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, T>);

impl<'py> FromPyObject<'_, 'py> for Rows<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = object.extract() {
            return Ok(Self::DenseF64(dense));
        }
        if let Ok(dense) = object.extract() {
            return Ok(Self::DenseF32(dense));
        }
        if let Ok(sparse) = object.extract() {
            return Ok(Self::SparseF64(sparse));
        }
        if let Ok(sparse) = object.extract() {
            return Ok(Self::SparseF32(sparse));
        }
        Err(PyTypeError::new_err("rows must be a float32 or float64 matrix, or the parts of a sparse one"))
    }
}

impl Rows<'_> {
    /// The same rows as the library's type, without a copy.
    ///
    /// # Errors
    /// If the buffers are not C-ordered or do not make a matrix.
    pub fn samples(&self) -> PyResult<AnySamples<'_>> {
        Ok(match self {
            Self::DenseF32(array) => AnySamples::F32(dense(array)?),
            Self::DenseF64(array) => AnySamples::F64(dense(array)?),
            Self::SparseF32(parts) => AnySamples::F32(sparse(parts)?),
            Self::SparseF64(parts) => AnySamples::F64(sparse(parts)?),
        })
    }
}

fn dense<'a, T: Real + Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<Samples<'a, T>> {
    Samples::dense(array.shape()[0], array.shape()[1], entries(array)?).map_err(value_error)
}

fn sparse<'a, T: Real + Element>(
    (ncols, indptr, indices, data): &'a Sparse<'_, T>,
) -> PyResult<Samples<'a, T>> {
    let parts: Result<_, InvalidSamples> = Samples::sparse(
        *ncols,
        indptr.as_slice().map_err(value_error)?,
        indices.as_slice().map_err(value_error)?,
        data.as_slice().map_err(value_error)?,
    );
    parts.map_err(value_error)
}

/// The entries of a matrix, row after row. NumPy also calls a matrix in Fortran order contiguous; it is rejected here.
pub fn entries<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("a matrix must be C-ordered"));
    }
    array.as_slice().map_err(value_error)
}

/// The order and the entries of a square matrix.
///
/// # Errors
/// If it is not square or not C-ordered.
pub fn square<'a>(matrix: &'a PyReadonlyArray2<'_, f64>) -> PyResult<(usize, &'a [f64])> {
    let [rows, columns] = [matrix.shape()[0], matrix.shape()[1]];
    if rows != columns {
        return Err(value_error(format!("a kernel matrix is square, but this one is {rows} × {columns}")));
    }
    Ok((rows, entries(matrix)?))
}

/// A copy as the library's type.
pub fn matrix(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix<f64>> {
    let entries = entries(array)?.to_vec();
    Ok(Matrix::from_entries(array.shape()[0], array.shape()[1], entries))
}

/// The matrix as an array, without a copy.
pub fn from_matrix<T: Real + Element>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Bound<'_, PyArray2<T>>> {
    let shape = [matrix.nrows(), matrix.ncols()];
    PyArray1::from_vec(py, matrix.into_entries()).reshape(shape)
}

/// The samples in the form that [`Rows`] reads, without a copy if they are owned.
pub fn from_samples<'py>(py: Python<'py>, samples: AnySamples<'_>) -> PyResult<Bound<'py, PyAny>> {
    match samples {
        AnySamples::F32(samples) => arrays(py, samples),
        AnySamples::F64(samples) => arrays(py, samples),
    }
}

fn arrays<'py, T: Real + Element>(py: Python<'py>, samples: Samples<'_, T>) -> PyResult<Bound<'py, PyAny>> {
    let (rows, columns) = (samples.nrows(), samples.ncols());
    match samples.into_storage() {
        Storage::Dense(entries) => {
            from_matrix(py, Matrix::from_entries(rows, columns, entries.into_owned())).map(Bound::into_any)
        }
        Storage::Sparse { indptr, indices, values } => {
            let indptr = PyArray1::from_vec(py, indptr.into_owned());
            let indices = PyArray1::from_vec(py, indices.into_owned());
            let values = PyArray1::from_vec(py, values.into_owned());
            Ok((columns, indptr, indices, values).into_pyobject(py)?.into_any())
        }
    }
}
