//! The engine.

use std::fmt;
use std::sync::Arc;

use mercer::data::AnySamples;
use mercer::gram::{Engine, Gram, GramError, Resident, ValuesRef, WaveSums, default_engine};
use mercer::linalg::SymmetricMatrix;
use mercer::memory::human;

use crate::cache::Cache;
use crate::dense::Waiting;
use crate::device::Device;
use crate::error::CudaError;
use crate::resident::CudaResident;

/// Computes kernel matrices on an NVIDIA GPU.
///
/// Values are computed in the precision of the samples, as by the host engine; sums over tiles are in double precision and in a fixed
/// order, so that the same card gives the same bits in every run. Matrices are not stored: [`Gram::store`] returns the
/// same matrix, since recomputing its values is faster than reading them.
///
/// Methods that cannot return an error of the device end as if stopped; [`Engine::take_fault`] then returns the
/// failure.
#[derive(Clone)]
pub struct CudaEngine {
    device: Arc<Device>,
}

impl fmt::Debug for CudaEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaEngine").field("device", &self.device.name()).finish()
    }
}

impl CudaEngine {
    /// The engine of the device `ordinal`, with compiled source in the user's cache directory.
    ///
    /// # Errors
    /// If there is no such device, or if the driver, the compiler, cuBLAS or cuSOLVER is missing or too old for the device.
    pub fn new(ordinal: usize) -> Result<Self, CudaError> {
        Self::with_cache(ordinal, Cache::of_user())
    }

    /// As [`new`](Self::new), with compiled source in `cache`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_cache(ordinal: usize, cache: Cache) -> Result<Self, CudaError> {
        Ok(Self { device: Device::open(ordinal, cache)? })
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The name of the card.
    #[must_use]
    pub fn card(&self) -> String {
        self.device.name()
    }

    /// Free and total bytes of memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn free_memory(&self) -> Result<(u64, u64), CudaError> {
        self.device.memory()
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn describe(&self) -> String {
        let Device { ordinal, .. } = *self.device;
        format!(
            "cuda:{ordinal}, {}, {} for samples and matrices",
            self.card(),
            human(self.device.whole_room())
        )
    }

    fn memory(&self) -> Option<u64> {
        Some(self.device.room())
    }

    fn wave_sums(&self) -> Option<&dyn WaveSums> {
        Some(self)
    }

    fn symmetric(&self, order: usize, lower: Vec<f64>) -> Box<dyn SymmetricMatrix> {
        Box::new(Waiting::new(&self.device, order, lower))
    }

    fn take_fault(&self) -> Option<GramError> {
        self.device.take_fault().map(GramError::from)
    }

    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        Ok(Box::new(CudaResident::new(&self.device, samples.view().into_owned())?))
    }

    /// The matrix stays on the host, and the host engine computes with it.
    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError> {
        default_engine().adopt(order, values)
    }
}
