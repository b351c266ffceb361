//! LIBSVM's model files: text that svm-train writes and svm-predict reads.
//!
//! A header of words (`svm_type`, `kernel_type`, `nr_class`, `rho`, `label`, …), a line `SV`, then one line for each support
//! vector: a coefficient for each class but one, then `index:value` from index 1 on, zeros left out.
//!
//! A precomputed kernel is read as the linear kernel over rows of kernel values: the support vector `0:7` is the seventh unit
//! vector, so ⟨x, e₇⟩ is the kernel value with training row 7. The setting `precomputed` says so.

mod number;
mod read;
mod write;

pub use number::general;

/// The setting that marks a model over rows of kernel values.
pub const PRECOMPUTED: &str = "precomputed";

/// Whether the bytes begin as a LIBSVM model does.
pub(super) fn is_libsvm(bytes: &[u8]) -> bool {
    bytes.starts_with(b"svm_type")
}
