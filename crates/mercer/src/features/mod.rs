//! Feature maps φ with ⟨φ(x),φ(z)⟩ ≈ k(x,z): what stands in for a Gram matrix that does not fit.

mod approximation;
pub mod nystrom;
mod quality;
pub mod random;
mod streamed;

pub use approximation::{ApproximationError, KernelFeatures};
pub use nystrom::{Landmarks, Nystrom};
pub use quality::{KernelError, kernel_error};
pub use random::{Form, RandomFeatures, RandomSpec, Sampling};
pub use streamed::add_samples;
