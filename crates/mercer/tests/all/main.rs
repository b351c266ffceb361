//! The tests of the library through its public interface, in one program: it is linked once.

mod approx_classes;
mod approx_ridge;
mod features;
mod golden;
mod gram;
mod held_hinge;
mod iterative_ridge;
mod libsvm_files;
mod lms;
mod logistic;
mod model_file;
mod neighbours;
mod nystrom;
mod perceptron;
mod plan;
mod random_features;
mod ridge;
mod ridge_features;
mod ridge_path;
mod svm;
mod svm_learn;
mod svm_model;
mod tune_approx_ridge;
mod tune_classifier;
mod tune_ridge;
mod tune_svc;
