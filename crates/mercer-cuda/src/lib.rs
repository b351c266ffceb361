//! Kernel matrices on NVIDIA GPUs.
//!
//! A kernel expression, compiled to a tile program by the library, is printed as CUDA C++ ([`source`]), compiled for
//! the card by NVRTC and cached on disk. [`CudaEngine`] is an engine like that of the host: pass it to a session and
//! every learner uses it.
//!
//! Building this crate does not need CUDA. At run time it needs NVIDIA's driver and the libraries NVRTC, cuBLAS and
//! cuSOLVER; without them [`CudaEngine::new`] returns an error that names the missing library.
//!
//! ```
//! use mercer_cuda::CudaEngine;
//!
//! match CudaEngine::new(0) {
//!     Ok(engine) => assert!(!engine.card().is_empty()),
//!     Err(missing) => assert!(!missing.to_string().is_empty()),
//! }
//! ```

mod blas;
mod cache;
mod choice;
mod dense;
mod descent;
mod device;
mod engine;
mod error;
mod low_rank;
mod machine;
mod matrix;
mod nearest;
mod printed;
mod resident;
mod row_sums;
mod rows;
pub mod source;
mod waves;

pub use cache::Cache;
pub use choice::DeviceChoice;
pub use engine::CudaEngine;
pub use error::CudaError;
