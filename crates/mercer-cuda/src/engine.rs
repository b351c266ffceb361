//! The engine.

use std::fmt;
use std::sync::Arc;

use mercer::data::{AnySamples, Matrix};
use mercer::gram::{CpuEngine, Engine, Gram, GramError, Resident, ValuesRef, Wanted};
use mercer::kernel::Kernel;
use mercer::real::Precision;
use mercer::watch::Watch;

use crate::cache::Cache;
use crate::cholesky::{self, Solved};
use crate::device::Device;
use crate::error::CudaError;
use crate::resident::{CudaResident, on_device};

/// Computes kernel matrices on an NVIDIA GPU.
///
/// Values are computed in the precision of the samples, as by the host engine; sums over tiles are in double precision and in a fixed
/// order, so that the same card gives the same bits in every run. Nothing of a matrix is stored: [`Gram::store`] returns the same
/// matrix, since computing its values again is faster than reading them.
///
/// Methods that cannot return an error of the device end as if stopped; [`Engine::take_fault`] then says what happened.
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
    /// The engine of the device `ordinal`, whose compiled source is kept in the user's cache directory.
    ///
    /// # Errors
    /// Where there is no such device, or where the driver or the compiler is missing.
    pub fn new(ordinal: usize) -> Result<Self, CudaError> {
        Self::with_cache(ordinal, Cache::of_user())
    }

    /// As [`new`](Self::new), with compiled source kept in `cache`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_cache(ordinal: usize, cache: Cache) -> Result<Self, CudaError> {
        Ok(Self { device: Device::open(ordinal, cache)? })
    }

    /// The name of the card.
    #[must_use]
    pub fn card(&self) -> String {
        self.device.name()
    }

    /// Bytes of memory that are free and that there are.
    ///
    /// # Errors
    /// Where the driver fails.
    pub fn memory(&self) -> Result<(u64, u64), CudaError> {
        self.device.memory()
    }

    /// Solves (K + λI)·X = B for the kernel matrix K of `samples`, factorised on the device by cuSOLVER in `precision` and refined
    /// with values in double precision.
    ///
    /// n³/3 multiply-adds; n² numbers of device memory and cuSOLVER's working space.
    ///
    /// # Errors
    /// Where `samples` are another engine's, the kernel does not fit them or single precision is too coarse; where K + λI is not
    /// positive definite; where the device has no room; where `watch` asks to stop.
    pub fn solve(
        &self,
        samples: &dyn Resident,
        kernel: &Kernel,
        precision: Precision,
        (lambda, rhs): (f64, &Matrix<f64>),
        watch: &dyn Watch,
    ) -> Result<Solved, GramError> {
        let samples = on_device(samples, &self.device)?;
        let wanted = if precision == Precision::Single { Wanted::Single } else { Wanted::Double };
        let here = |wanted| samples.matrix(kernel, None, wanted)?.ok_or(GramError::Elsewhere);
        let (gram, exact) = (here(wanted)?, here(Wanted::Double)?);
        Ok(cholesky::solve(&gram, &exact, lambda, rhs, watch)?)
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn take_fault(&self) -> Option<String> {
        self.device.take_fault().map(|error| error.to_string())
    }

    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        Ok(Box::new(CudaResident::new(&self.device, samples.view().into_owned())?))
    }

    /// The matrix stays on the host, whose engine computes with it.
    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError> {
        CpuEngine.adopt(order, values)
    }
}
