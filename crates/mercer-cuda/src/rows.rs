//! Samples on a device, and their features for one kernel.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use cudarc::driver::DevicePtr;
use mercer::data::{AnySamples, Samples, Storage};
use mercer::real::{Precision, Real};
use rayon::prelude::*;

use crate::device::{Bytes, Device, Grid, Held, Plain, arguments, arguments_of};
use crate::error::CudaError;
use crate::printed::Printed;
use crate::source::{Entry, Source};

/// Rows of a block of features.
pub(crate) const BLOCK: usize = 128;

/// Samples in the memory of a device, row-major, in their original precision.
#[derive(Debug)]
pub(crate) struct Rows {
    pub device: Arc<Device>,
    pub count: usize,
    pub precision: Precision,
    values: Bytes,
    _held: Held,
}

impl Rows {
    /// Copies samples to the device as dense rows.
    pub fn new(device: &Arc<Device>, samples: &AnySamples<'_>) -> Result<Self, CudaError> {
        Self::band(device, samples, 0..samples.nrows())
    }

    /// Copies some of the samples.
    pub fn band(
        device: &Arc<Device>,
        samples: &AnySamples<'_>,
        rows: Range<usize>,
    ) -> Result<Self, CudaError> {
        let count = rows.len();
        let (values, precision) = match samples {
            AnySamples::F32(samples) => (upload(device, samples, rows)?, Precision::Single),
            AnySamples::F64(samples) => (upload(device, samples, rows)?, Precision::Double),
        };
        let held = device.hold((count * samples.ncols()) as u64 * precision.bytes());
        Ok(Self { device: Arc::clone(device), count, precision, values, _held: held })
    }

    /// The address of the numbers.
    pub fn at(&self) -> u64 {
        address(&self.device, &self.values)
    }

    /// Maps all rows, or those of `chosen` in that order, to the features of a kernel. The caller holds the device's lock.
    pub fn features(&self, printed: &Printed, chosen: Option<&[usize]>) -> Result<Features, CudaError> {
        let (device, source) = (&self.device, &printed.source);
        let count = chosen.map_or(self.count, <[usize]>::len);
        assert!(chosen.is_none_or(|rows| rows.iter().all(|&row| row < self.count)), "rows of the samples");
        let padded = count.div_ceil(BLOCK).max(1) * BLOCK;
        let mapped = Features { count, ..Features::room(device, source, padded)? };
        if count == 0 {
            return Ok(mapped);
        }
        let index = match chosen {
            Some(rows) => Some(device.upload(&rows.iter().map(|&row| row as i32).collect::<Vec<_>>())?),
            None => None,
        };
        let entry = Entry::Embed { samples: self.precision };
        let function = printed.function(device, entry)?;
        let pointers = [
            address(device, &self.values),
            index.as_ref().map_or(0, |index| address(device, index)),
            count as u64,
            padded as u64,
            address(device, &printed.table),
            address(device, &mapped.features),
            address(device, &mapped.scalars),
        ];
        // SAFETY: the arguments of `embed`; it reads `count` rows or their index and writes `padded` rows.
        unsafe { device.launch(&function, Grid::over(padded), &arguments_of(&pointers))? };
        Ok(mapped)
    }
}

/// The address of bytes on the device.
pub(crate) fn address(device: &Device, bytes: &Bytes) -> u64 {
    bytes.device_ptr(device.stream()).0
}

/// The features and numbers of some rows, padded to whole blocks.
#[derive(Debug)]
pub(crate) struct Features {
    pub count: usize,
    pub padded: usize,
    features: Bytes,
    scalars: Bytes,
    /// The features as half-precision fragments of rows and of columns.
    fragments: [OnceLock<Bytes>; 2],
}

/// The side of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Its rows.
    Rows,
    /// Its columns.
    Columns,
}

/// `Side` of the printed source.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    features: u64,
    scalars: u64,
    fragments: u64,
    padded: i64,
}

impl Features {
    /// Uninitialised memory for `count` rows, a multiple of whole blocks.
    pub fn room(device: &Device, source: &Source, count: usize) -> Result<Self, CudaError> {
        let bytes = source.layout.precision.bytes() as usize;
        Ok(Self {
            count,
            padded: count,
            features: device.allocate(source.layout.width() * count * bytes)?,
            scalars: device.allocate(source.layout.scalars.len() * count * bytes)?,
            fragments: [OnceLock::new(), OnceLock::new()],
        })
    }

    /// The addresses of the features and the numbers.
    pub fn addresses(&self, device: &Device) -> [u64; 2] {
        [address(device, &self.features), address(device, &self.scalars)]
    }

    /// The argument of device functions.
    pub fn side(&self, device: &Device, role: Role) -> Side {
        // Rows and columns have the same fragments unless these are packed.
        let fragments = self.fragments[role as usize].get().or_else(|| self.fragments[0].get());
        Side {
            features: address(device, &self.features),
            scalars: address(device, &self.scalars),
            fragments: fragments.map_or(0, |bytes| address(device, bytes)),
            padded: self.padded as i64,
        }
    }

    /// Creates the fragments for tensor cores, scaled by `scale`. The caller holds the device's lock.
    pub fn split(&self, device: &Device, printed: &Printed, scale: f32, role: Role) -> Result<(), CudaError> {
        let source = &printed.source;
        let role = if source.is_packed() { role } else { Role::Rows };
        if self.fragments[role as usize].get().is_some() {
            return Ok(());
        }
        let count = self.padded / 8 * source.steps() * 32;
        let fragments = device.allocate(count * source.fragment_bytes())?;
        let function = printed.function(device, Entry::Split)?;
        let (from, to, number) = (address(device, &self.features), address(device, &fragments), count as u64);
        let columns = i32::from(role == Role::Columns);
        let values = arguments![from, to, scale, columns, number];
        // SAFETY: the arguments of `split`; it reads `padded` rows and writes `count` fragments.
        unsafe { device.launch(&function, Grid::over(count), &values)? };
        let _ = self.fragments[role as usize].set(fragments);
        Ok(())
    }
}

/// Bytes of sparse samples that are stored as dense ones on the host at a time.
const BAND: usize = 1 << 28;

/// Some samples as dense rows on the device. The device is not locked while threads of the pool work: one of them may wait for it.
fn upload<T: Real + Plain>(
    device: &Device,
    samples: &Samples<'_, T>,
    rows: Range<usize>,
) -> Result<Bytes, CudaError> {
    let width = samples.ncols();
    match samples.storage() {
        Storage::Dense(entries) => {
            let _work = device.lock();
            let to = device.upload(&entries[rows.start * width..rows.end * width])?;
            device.wait()?;
            Ok(to)
        }
        Storage::Sparse { indptr, indices, values } => {
            let row_bytes = width.max(1) * size_of::<T>();
            let mut to = device.allocate(rows.len() * row_bytes)?;
            let height = (BAND / row_bytes).max(1);
            for first in rows.clone().step_by(height) {
                let mut dense = vec![T::default(); height.min(rows.end - first) * width];
                dense.par_chunks_mut(width.max(1)).enumerate().for_each(|(i, row)| {
                    for k in indptr[first + i]..indptr[first + i + 1] {
                        row[indices[k] as usize] = values[k];
                    }
                });
                let _work = device.lock();
                device.write(&dense, (first - rows.start) * width, &mut to)?;
                device.wait()?;
            }
            Ok(to)
        }
    }
}
