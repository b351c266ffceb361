//! The native half of the Python package: kernels, fits, predictions and model files over borrowed arrays.
//!
//! Only [`remote::RemoteFit`] keeps state between calls. Nothing holds the interpreter's lock while it computes, or lets a panic
//! through.

mod chunks;
mod contents;
mod decisions;
mod device;
mod errors;
mod features;
mod gaussian_process;
mod kernel;
mod landmarks;
mod model;
mod neighbours;
mod parts;
mod process;
mod random_features;
mod remote;
mod remote_gram;
mod rows;
mod settings;
mod stream;
mod sums;
mod train;
mod tune;
mod work;

/// The module `mercer._native`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::chunks::{entry_moments, inverse_variance, product_rows, row_hashes, sample_rows, sum_losses};
    #[pymodule_export]
    use super::decisions::{balanced_class_weight, couple_pairs, probabilities, rank_pairs, vote_pairs};
    #[pymodule_export]
    use super::errors::{IndefiniteMatrix, NotAKernel, SingularMatrix};
    #[pymodule_export]
    use super::features::NativeFeatureMap;
    #[pymodule_export]
    use super::gaussian_process::{
        gp_class_covariances, gp_classification, gp_probabilities, gp_regression, solve_lower,
    };
    #[pymodule_export]
    use super::kernel::NativeKernel;
    #[pymodule_export]
    use super::landmarks::{choose_landmarks, landmark_features, whiten};
    #[pymodule_export]
    use super::model::NativeModel;
    #[pymodule_export]
    use super::neighbours::nearest;
    #[pymodule_export]
    use super::parts::{deviations, predict};
    #[pymodule_export]
    use super::process::{prepare_process, sum_process};
    #[pymodule_export]
    use super::random_features::{draw_features, random_features};
    #[pymodule_export]
    use super::remote::RemoteFit;
    #[pymodule_export]
    use super::stream::fit_file;
    #[pymodule_export]
    use super::sums::{
        NativeSums, choose_approximation, fold_errors, prepare_features, solve_sums, sum_features,
    };
    #[pymodule_export]
    use super::train::{prefers_primal, train, update_perceptron};
    #[pymodule_export]
    use super::tune::{ridge_path, stratified_folds, svc_grid};
    #[pymodule_export]
    use super::work::{available_threads, instruction_set};

    /// Fails to import if `MERCER_SIMD` is invalid.
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        match mercer::tile::InstructionSet::chosen() {
            Ok(_) => Ok(()),
            Err(error) => Err(pyo3::exceptions::PyImportError::new_err(error.to_string())),
        }
    }
}
