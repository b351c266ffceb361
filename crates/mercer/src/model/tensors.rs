//! Reads and writes arrays of a safetensors container.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::data::{AnySamples, Matrix, Samples, Storage, with_samples};
use crate::real::Real;

use super::parts::{Array, Arrays};

/// An array to write.
pub(super) struct Tensor {
    pub name: &'static str,
    dtype: Dtype,
    shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Tensor {
    pub fn view(&self) -> Result<TensorView<'_>, safetensors::SafeTensorError> {
        TensorView::new(self.dtype, self.shape.clone(), &self.bytes)
    }

    pub fn numbers<T: Stored>(name: &'static str, shape: &[usize], values: &[T]) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.append_to(&mut bytes));
        Self { name, dtype: T::DTYPE, shape: shape.to_vec(), bytes }
    }

    /// The tensors of an array: several for sparse rows.
    pub fn of(name: &'static str, array: &Array<'_>) -> Vec<Self> {
        match array {
            Array::Samples(samples) => with_samples!(samples, samples => Self::typed_samples(samples)),
            Array::Matrix(matrix) => {
                vec![Self::numbers(name, &[matrix.nrows(), matrix.ncols()], matrix.entries())]
            }
            Array::Numbers(numbers) => vec![Self::numbers(name, &[numbers.len()], numbers)],
            Array::Counts(counts) => {
                let counts: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
                vec![Self::numbers(name, &[counts.len()], &counts)]
            }
        }
    }

    fn typed_samples<T: Real + Stored>(samples: &Samples<'_, T>) -> Vec<Self> {
        match samples.storage() {
            Storage::Dense(entries) => {
                vec![Self::numbers("centres", &[samples.nrows(), samples.ncols()], entries)]
            }
            Storage::Sparse { indptr, indices, values } => {
                let indptr: Vec<u64> = indptr.iter().map(|&p| p as u64).collect();
                vec![
                    Self::numbers("centres.columns", &[1], &[samples.ncols() as u64]),
                    Self::numbers("centres.indices", &[indices.len()], indices),
                    Self::numbers("centres.indptr", &[indptr.len()], &indptr),
                    Self::numbers("centres.values", &[values.len()], values),
                ]
            }
        }
    }
}

/// The number type of a tensor, little-endian.
pub(super) trait Stored: Copy {
    const DTYPE: Dtype;
    fn append_to(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! stored {
    ($type:ty, $dtype:ident) => {
        impl Stored for $type {
            const DTYPE: Dtype = Dtype::$dtype;

            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("a chunk of this type's size"))
            }
        }
    };
}

stored!(f32, F32);
stored!(f64, F64);
stored!(u8, U8);
stored!(u32, U32);
stored!(u64, U64);

/// The numbers of a tensor and its shape.
fn numbers<T: Stored>(file: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<T>), String> {
    let tensor = file.tensor(name).map_err(|_| format!("it has no array `{name}`"))?;
    if tensor.dtype() != T::DTYPE {
        return Err(format!("its array `{name}` holds {:?}, not {:?}", tensor.dtype(), T::DTYPE));
    }
    Ok((tensor.shape().to_vec(), tensor.data().chunks_exact(size_of::<T>()).map(T::read).collect()))
}

impl Arrays for SafeTensors<'_> {
    fn has(&self, name: &str) -> bool {
        self.tensor(name).is_ok()
    }

    fn samples(&self, name: &str) -> Result<AnySamples<'static>, String> {
        let holds = |name: &str| self.tensor(name).is_ok_and(|tensor| tensor.dtype() == Dtype::F32);
        if holds(name) || holds("centres.values") {
            typed_samples(self).map(AnySamples::F32)
        } else {
            typed_samples(self).map(AnySamples::F64)
        }
    }

    fn matrix(&self, name: &str) -> Result<Matrix<f64>, String> {
        let (nrows, ncols, values) = finite_matrix(self, name)?;
        Ok(Matrix::from_entries(nrows, ncols, values))
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        Ok(numbers(self, name)?.1)
    }

    fn counts(&self, name: &str) -> Result<Vec<usize>, String> {
        sizes(numbers(self, name)?.1)
    }
}

fn sizes(counts: Vec<u64>) -> Result<Vec<usize>, String> {
    counts.into_iter().map(usize::try_from).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// The shape and the entries of a matrix of finite numbers.
fn finite_matrix<T: Real + Stored>(
    file: &SafeTensors<'_>,
    name: &str,
) -> Result<(usize, usize, Vec<T>), String> {
    let (shape, values) = numbers(file, name)?;
    let &[nrows, ncols] = shape.as_slice() else {
        return Err(format!("its array `{name}` has {} dimensions, not 2", shape.len()));
    };
    finite(name, &values)?;
    Ok((nrows, ncols, values))
}

/// The centres, dense or sparse.
fn typed_samples<T: Real + Stored>(file: &SafeTensors<'_>) -> Result<Samples<'static, T>, String> {
    if file.has("centres") {
        let (nrows, ncols, values) = finite_matrix::<T>(file, "centres")?;
        return Samples::dense(nrows, ncols, values).map_err(|error| error.to_string());
    }
    let (_, columns) = numbers::<u64>(file, "centres.columns")?;
    let (_, indices) = numbers::<u32>(file, "centres.indices")?;
    let (_, indptr) = numbers::<u64>(file, "centres.indptr")?;
    let (_, values) = numbers::<T>(file, "centres.values")?;
    finite("centres.values", &values)?;
    let &[ncols] = sizes(columns)?.as_slice() else {
        return Err("its array `centres.columns` is not one number".into());
    };
    Samples::sparse(ncols, sizes(indptr)?, indices, values).map_err(|error| error.to_string())
}

fn finite<T: Real>(name: &str, values: &[T]) -> Result<(), String> {
    match values.iter().position(|value| !value.to_f64().is_finite()) {
        Some(place) => Err(format!("entry {place} of its array `{name}` is not a finite number")),
        None => Ok(()),
    }
}
