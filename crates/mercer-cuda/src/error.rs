//! What can go wrong with a device.

use cudarc::driver::DriverError;
use mercer::gram::GramError;
use mercer::memory::human;
use mercer::watch::Stopped;

use crate::device::Ended;

/// Why a device could not be used or did not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library is not there.
    #[error("no NVIDIA driver: the library libcuda was not found")]
    NoDriver,
    /// The compiler's library is not there.
    #[error(
        "no CUDA compiler: the library libnvrtc was not found (it is part of the CUDA toolkit and of the Python package nvidia-cuda-nvrtc)"
    )]
    NoCompiler,
    /// The library of factorisations is not there.
    #[error("no cuSOLVER: the library libcusolver was not found (it is part of the CUDA toolkit)")]
    NoSolver,
    /// K + λI has no Cholesky factor.
    #[error("K + λI is not positive definite to the precision of its values (pivot {pivot})")]
    Indefinite {
        /// The pivot that failed, from 0.
        pivot: usize,
    },
    /// There is no device with this number.
    #[error("no CUDA device {wanted}: {found} found")]
    NoDevice {
        /// The number asked for.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// The device is older than the source that is printed for it.
    #[error("the CUDA device has compute capability {major}.{minor}; 8.0 or later is needed")]
    TooOld {
        /// Its compute capability.
        major: i32,
        /// Its compute capability.
        minor: i32,
    },
    /// The device has too little memory.
    #[error("{} of GPU memory needed, {} of {} free", human(*needed), human(*free), human(*total))]
    Memory {
        /// Bytes asked for.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Printed source did not compile.
    #[error("the CUDA source of a kernel did not compile: {log}")]
    Compile {
        /// What the compiler said.
        log: String,
    },
    /// A call of the driver failed.
    #[error("the CUDA driver reports: {0}")]
    Driver(String),
}

impl From<DriverError> for CudaError {
    fn from(error: DriverError) -> Self {
        let text =
            error.error_string().map_or_else(|_| format!("{error:?}"), |s| s.to_string_lossy().into_owned());
        Self::Driver(text)
    }
}

impl From<CudaError> for GramError {
    fn from(error: CudaError) -> Self {
        Self::Engine(error.to_string())
    }
}

impl From<Ended> for GramError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Stopped => Self::Stopped(Stopped),
            Ended::Failed(error) => error.into(),
        }
    }
}
