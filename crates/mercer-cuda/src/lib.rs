//! Kernel matrices on NVIDIA GPUs.
//!
//! A kernel expression, compiled to a tile program by the library, is printed as CUDA C++ ([`source`]), compiled for the card by NVRTC
//! and kept on disk. [`CudaEngine`] is an engine like that of the host: pass it to a session and every learner uses it.
//!
//! Nothing of CUDA is needed to build this crate. At run time it needs NVIDIA's driver and the library NVRTC; without them
//! [`CudaEngine::new`] returns an error that says what is missing.
//!
//! ```
//! use mercer_cuda::CudaEngine;
//!
//! match CudaEngine::new(0) {
//!     Ok(engine) => assert!(!engine.card().is_empty()),
//!     Err(missing) => assert!(!missing.to_string().is_empty()),
//! }
//! ```

mod cache;
mod choice;
mod cholesky;
mod descent;
mod device;
mod engine;
mod error;
mod matrix;
mod nearest;
mod place;
mod printed;
mod resident;
mod row_sums;
mod rows;
pub mod source;

pub use cache::Cache;
pub use choice::DeviceChoice;
pub use cholesky::Solved;
pub use engine::CudaEngine;
pub use error::CudaError;
