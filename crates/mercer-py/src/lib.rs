//! The native half of the Python package: kernels, fits, predictions and model files over borrowed arrays.
//!
//! Nothing here keeps state between calls, holds the interpreter's lock while it computes, or lets a panic through.

mod approx_ridge;
mod errors;
mod features;
mod kernel;
mod landmarks;
mod lms;
mod logistic;
mod model;
mod neighbours;
mod perceptron;
mod random_features;
mod ridge;
mod ridge_cg;
mod rows;
mod stream;
mod svm;
mod train;
mod tune;
mod work;

/// The module `mercer._native`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::approx_ridge::{
        NativeSums, choose_approximation, fit_ridge_features, fit_ridge_sums, fold_errors, prepare_features,
        sum_features, sum_folds,
    };
    #[pymodule_export]
    use super::errors::{IndefiniteMatrix, NotAKernel, SingularMatrix};
    #[pymodule_export]
    use super::features::NativeFeatureMap;
    #[pymodule_export]
    use super::kernel::NativeKernel;
    #[pymodule_export]
    use super::landmarks::{choose_landmarks, landmark_features, whiten};
    #[pymodule_export]
    use super::lms::{fit_lms, fit_lms_gram};
    #[pymodule_export]
    use super::logistic::{fit_classes_approx, fit_logistic, fit_logistic_gram, probabilities};
    #[pymodule_export]
    use super::model::NativeModel;
    #[pymodule_export]
    use super::neighbours::{check_smoother, nearest, smooth};
    #[pymodule_export]
    use super::perceptron::{
        cast_votes, fit_perceptron, fit_perceptron_budgeted, fit_perceptron_gram, fit_perceptron_voted,
        update_perceptron,
    };
    #[pymodule_export]
    use super::random_features::{draw_features, random_features};
    #[pymodule_export]
    use super::ridge::{expand, fit_ridge, fit_ridge_gram, fit_ridge_primal, linear, prefers_primal};
    #[pymodule_export]
    use super::ridge_cg::fit_ridge_cg;
    #[pymodule_export]
    use super::stream::fit_ridge_file;
    #[pymodule_export]
    use super::svm::{couple_pairs, decide_pairs, fit_svm, fit_svm_gram, rank_pairs, vote_pairs};
    #[pymodule_export]
    use super::tune::{ridge_path, ridge_path_gram, stratified_folds, svc_grid, svc_grid_gram};
    #[pymodule_export]
    use super::work::available_threads;

    /// Refuses to be imported where `MERCER_SIMD` cannot be followed.
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        match mercer::tile::InstructionSet::chosen() {
            Ok(_) => Ok(()),
            Err(error) => Err(pyo3::exceptions::PyImportError::new_err(error.to_string())),
        }
    }
}
