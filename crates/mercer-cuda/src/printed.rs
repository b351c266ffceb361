//! Printed source on a device: its table of constants and its compiled functions.

use std::sync::{Mutex, PoisonError};

use cudarc::driver::CudaFunction;

use crate::device::{Bytes, Device};
use crate::error::CudaError;
use crate::source::{Entry, Source};

/// Source and its compiled functions, shared by all matrices of a kernel.
#[derive(Debug)]
pub(crate) struct Printed {
    pub source: Source,
    /// The constants that `embed` reads.
    pub table: Bytes,
    functions: Mutex<Vec<(Entry, CudaFunction)>>,
}

impl Printed {
    /// Copies the constants to the device. The caller holds its lock.
    pub fn new(source: Source, device: &Device) -> Result<Self, CudaError> {
        let table = device.upload(&source.table)?;
        Ok(Self { source, table, functions: Mutex::default() })
    }

    /// The function of an entry, compiled on first use.
    pub fn function(&self, device: &Device, entry: Entry) -> Result<CudaFunction, CudaError> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = functions.iter().find(|(e, _)| *e == entry) {
            return Ok(function.clone());
        }
        let shared = self.source.shape(entry).shared;
        let function = device.function(&self.source.text(entry), entry.name(), shared)?;
        functions.push((entry, function.clone()));
        Ok(function)
    }
}
