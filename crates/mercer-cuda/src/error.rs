//! Errors of devices.

use cudarc::cublas::result::CublasError;
use cudarc::cusolver::result::CusolverError;
use cudarc::driver::DriverError;
use mercer::gram::GramError;
use mercer::memory::human;

/// Why a device could not be used or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library is missing.
    #[error("no NVIDIA driver: the library libcuda was not found")]
    NoDriver,
    /// The compiler's library is missing.
    #[error(
        "no CUDA compiler: the library libnvrtc was not found (it is part of the CUDA toolkit and of the Python package nvidia-cuda-nvrtc)"
    )]
    NoCompiler,
    /// The libraries of matrix products and factorisations are missing.
    #[error(
        "no cuBLAS or no cuSOLVER: the library libcublas or libcusolver was not found (both are part of the CUDA toolkit and of the \
         Python packages nvidia-cublas and nvidia-cusolver)"
    )]
    NoSolver,
    /// There is no device with this number.
    #[error("no CUDA device {wanted}: {found} found")]
    NoDevice {
        /// The number requested.
        wanted: usize,
        /// The number of devices.
        found: usize,
    },
    /// The device is too old for the printed source.
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
        /// Bytes requested.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// Total bytes.
        total: u64,
    },
    /// Printed source did not compile.
    #[error("the CUDA source of a kernel did not compile: {log}")]
    Compile {
        /// The output of the compiler.
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

impl From<CublasError> for CudaError {
    fn from(error: CublasError) -> Self {
        Self::Driver(format!("{error:?}"))
    }
}

impl From<CusolverError> for CudaError {
    fn from(error: CusolverError) -> Self {
        Self::Driver(format!("{error:?}"))
    }
}

impl From<CudaError> for GramError {
    fn from(error: CudaError) -> Self {
        Self::Engine(error.to_string())
    }
}
