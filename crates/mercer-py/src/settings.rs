//! Settings of the library read from Python objects: dicts, lists, text, numbers, `None` and kernels.
//!
//! Numbers are not converted to text, so that they keep their bits.

use mercer::data::Number;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::errors::value_error;
use crate::kernel::NativeKernel;

/// Reads a value of the library from a Python object.
///
/// # Errors
/// `ValueError` where the object does not describe such a value.
pub fn read<T: DeserializeOwned>(object: &Bound<'_, PyAny>) -> PyResult<T> {
    serde_json::from_value(value(object)?).map_err(value_error)
}

/// Reads a value of an enum by its name in settings.
///
/// # Errors
/// `ValueError` where it has no value of this name.
pub fn named<T: DeserializeOwned>(name: &str) -> PyResult<T> {
    serde_json::from_value(name.into()).map_err(value_error)
}

fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(if object.is_none() {
        Value::Null
    } else if let Ok(truth) = object.cast::<PyBool>() {
        truth.is_true().into()
    } else if let Ok(number) = object.cast::<PyFloat>() {
        serde_json::to_value(Number(number.value())).map_err(value_error)?
    } else if let Ok(number) = object.cast::<PyInt>() {
        number.extract::<u64>().map(Value::from).or_else(|_| number.extract::<i64>().map(Value::from))?
    } else if let Ok(text) = object.cast::<PyString>() {
        text.to_string().into()
    } else if let Ok(kernel) = object.cast::<NativeKernel>() {
        serde_json::to_value(&kernel.get().0).map_err(value_error)?
    } else if let Ok(dict) = object.cast::<PyDict>() {
        let entry = |(name, entry): (Bound<'_, PyAny>, _)| Ok((name.extract::<String>()?, value(&entry)?));
        Value::Object(dict.iter().map(entry).collect::<PyResult<_>>()?)
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        Value::Array(object.try_iter()?.map(|item| value(&item?)).collect::<PyResult<_>>()?)
    } else {
        let kind = object.get_type().name()?;
        return Err(value_error(format!(
            "a setting is a number, a text, a kernel, a list or a dict, not of type {kind}"
        )));
    })
}
