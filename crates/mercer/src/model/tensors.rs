//! Reads and writes arrays of a safetensors container.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::data::{AnySamples, Matrix, Samples, Storage, with_samples};
use crate::real::Real;

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

    pub fn samples(samples: &AnySamples<'_>) -> Vec<Self> {
        with_samples!(samples, samples => Self::typed_samples(samples))
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
pub(super) fn numbers<T: Stored>(file: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<T>), String> {
    let tensor = file.tensor(name).map_err(|_| format!("it has no array `{name}`"))?;
    if tensor.dtype() != T::DTYPE {
        return Err(format!("its array `{name}` holds {:?}, not {:?}", tensor.dtype(), T::DTYPE));
    }
    Ok((tensor.shape().to_vec(), tensor.data().chunks_exact(size_of::<T>()).map(T::read).collect()))
}

/// A matrix of finite numbers.
pub(super) fn matrix(file: &SafeTensors<'_>, name: &str) -> Result<Matrix<f64>, String> {
    let (shape, values) = numbers::<f64>(file, name)?;
    let &[nrows, ncols] = shape.as_slice() else {
        return Err(format!("its array `{name}` has {} dimensions, not 2", shape.len()));
    };
    finite(name, &values)?;
    Ok(Matrix::from_entries(nrows, ncols, values))
}

/// The centres, dense or sparse, in either precision.
pub(super) fn samples(file: &SafeTensors<'_>) -> Result<AnySamples<'static>, String> {
    let holds = |name: &str, dtype| file.tensor(name).is_ok_and(|tensor| tensor.dtype() == dtype);
    if holds("centres", Dtype::F32) || holds("centres.values", Dtype::F32) {
        typed_samples(file).map(AnySamples::F32)
    } else {
        typed_samples(file).map(AnySamples::F64)
    }
}

fn typed_samples<T: Real + Stored>(file: &SafeTensors<'_>) -> Result<Samples<'static, T>, String> {
    if file.tensor("centres").is_ok() {
        let (shape, values) = numbers::<T>(file, "centres")?;
        let &[nrows, ncols] = shape.as_slice() else {
            return Err(format!("its array `centres` has {} dimensions, not 2", shape.len()));
        };
        finite("centres", &values)?;
        return Samples::dense(nrows, ncols, values).map_err(|error| error.to_string());
    }
    let (_, columns) = numbers::<u64>(file, "centres.columns")?;
    let (_, indices) = numbers::<u32>(file, "centres.indices")?;
    let (_, indptr) = numbers::<u64>(file, "centres.indptr")?;
    let (_, values) = numbers::<T>(file, "centres.values")?;
    finite("centres.values", &values)?;
    let &[ncols] = columns.as_slice() else {
        return Err("its array `centres.columns` is not one number".into());
    };
    let ncols = usize::try_from(ncols).map_err(|error| error.to_string())?;
    let indptr =
        indptr.into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    Samples::sparse(ncols, indptr, indices, values).map_err(|error| error.to_string())
}

fn finite<T: Real>(name: &str, values: &[T]) -> Result<(), String> {
    match values.iter().position(|value| !value.to_f64().is_finite()) {
        Some(place) => Err(format!("entry {place} of its array `{name}` is not a finite number")),
        None => Ok(()),
    }
}
