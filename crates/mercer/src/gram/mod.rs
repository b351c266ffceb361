//! The Gram matrix as an operator: apply it, read a block of it, never hold more of it than asked.

mod distance;
mod engine;
mod operator;
mod scales;

pub use distance::kernel_to_distance;
pub use engine::{Engine, GramError, Part, Resident};
pub use operator::{Gram, LinearOperator};
pub use scales::SampleScales;

/// A buffer of zeros that the system hands out page by page, as it is first written.
#[must_use]
pub fn zeroed<T: crate::real::Real>(len: usize) -> Vec<T> {
    vec![T::default(); len]
}
