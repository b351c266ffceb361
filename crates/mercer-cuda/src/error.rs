//! Errors of devices.

use cudarc::cublas::result::CublasError;
use cudarc::cublas::sys::cublasStatus_t;
use cudarc::cusolver::result::CusolverError;
use cudarc::cusolver::sys::cusolverStatus_t;
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
        "no CUDA compiler: the library libnvrtc is not on the loader's path (LD_LIBRARY_PATH); it is part of the CUDA toolkit, and of the \
         package nvidia-cuda-nvrtc, where mercer finds it if it runs in Python"
    )]
    NoCompiler,
    /// The compiler does not know the device.
    #[error("the CUDA compiler NVRTC is version {}.{}; this GPU needs {}.{} or later", found.0, found.1, needed.0, needed.1)]
    OldCompiler {
        /// Its version.
        found: (i32, i32),
        /// The first version that has the device.
        needed: (i32, i32),
    },
    /// The libraries of matrix products and factorisations are missing.
    #[error(
        "no cuBLAS or no cuSOLVER: the library libcublas or libcusolver is not on the loader's path (LD_LIBRARY_PATH); both are part of \
         the CUDA toolkit, and of the packages nvidia-cublas and nvidia-cusolver, where mercer finds them if it runs in Python"
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
    /// A library found too little memory on the device.
    #[error("{library} ran out of GPU memory")]
    LibraryMemory {
        /// The library.
        library: &'static str,
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
    /// A call of a library failed.
    #[error("{library} reports: {status}")]
    Library {
        /// The library.
        library: &'static str,
        /// The status that it returned.
        status: String,
    },
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
        let is_memory = error.0 == cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED;
        Self::of_library("cuBLAS", is_memory, format!("{:?}", error.0))
    }
}

impl From<CusolverError> for CudaError {
    fn from(error: CusolverError) -> Self {
        let is_memory = error.0 == cusolverStatus_t::CUSOLVER_STATUS_ALLOC_FAILED;
        Self::of_library("cuSOLVER", is_memory, format!("{:?}", error.0))
    }
}

impl CudaError {
    fn of_library(library: &'static str, is_memory: bool, status: String) -> Self {
        if is_memory { Self::LibraryMemory { library } } else { Self::Library { library, status } }
    }
}

impl From<CudaError> for GramError {
    fn from(error: CudaError) -> Self {
        match error {
            CudaError::Memory { .. } | CudaError::LibraryMemory { .. } => {
                Self::EngineMemory(error.to_string())
            }
            _ => Self::Engine(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_their_library() {
        let product = CudaError::from(CublasError(cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED));
        assert_eq!(product.to_string(), "cuBLAS reports: CUBLAS_STATUS_EXECUTION_FAILED");
        assert!(matches!(GramError::from(product), GramError::Engine(_)));
        let factor = CudaError::from(CusolverError(cusolverStatus_t::CUSOLVER_STATUS_INTERNAL_ERROR));
        assert_eq!(factor.to_string(), "cuSOLVER reports: CUSOLVER_STATUS_INTERNAL_ERROR");
        for memory in [
            CudaError::from(CublasError(cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED)),
            CudaError::from(CusolverError(cusolverStatus_t::CUSOLVER_STATUS_ALLOC_FAILED)),
            CudaError::Memory { needed: 3, free: 2, total: 4 },
        ] {
            assert!(memory.to_string().contains("GPU memory"), "{memory}");
            assert!(matches!(GramError::from(memory), GramError::EngineMemory(_)));
        }
    }
}
