//! The devices of this process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use mercer::gram::{Engine, default_engine};
use mercer_cuda::DeviceChoice;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::value_error;

/// Engines by process and device.
type Engines = HashMap<(u32, String), Arc<dyn Engine>>;

/// The open engines: opening a GPU takes several tenths of a second, and a process cannot use one that was open when it was forked.
static ENGINES: LazyLock<Mutex<Engines>> = LazyLock::new(Mutex::default);

/// The engine of the device with this name; that of the CPU for `None`.
///
/// # Errors
/// `ValueError` for an unknown device, `RuntimeError` for a GPU that cannot be used.
pub fn engine(name: Option<&str>) -> PyResult<Arc<dyn Engine>> {
    let choice: DeviceChoice = name.unwrap_or("cpu").parse().map_err(value_error)?;
    if choice == DeviceChoice::Cpu {
        return Ok(default_engine());
    }
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), choice.to_string());
    if let Some(engine) = engines.get(&key) {
        return Ok(Arc::clone(engine));
    }
    let engine =
        choice.engine().map_err(|error| PyRuntimeError::new_err(format!("device=\"{choice}\": {error}")))?;
    engines.insert(key, Arc::clone(&engine));
    Ok(engine)
}
