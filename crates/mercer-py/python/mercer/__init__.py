"""Kernel machines: write a kernel as a formula, train with it, and predict.

>>> import numpy as np, mercer
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> k = mercer.Kernel("rbf(sigma=1)") + 2 * mercer.Kernel("linear")
>>> k(X).shape
(4, 4)
>>> model = mercer.KernelRidge(kernel=k, alpha=0.1).fit(X, X[:, 0] ** 2)
>>> model.predict(X).shape
(4,)

Each name is loaded when it is first used: importing mercer does not import scikit-learn.
"""

import os as _os
from importlib import import_module as _import_module

__version__ = "0.1.0"

_HOME = {
    "FeatureMap": "mercer.feature_map",
    "GaussianProcessClassifier": "mercer.gaussian_process_classifier",
    "GaussianProcessRegressor": "mercer.gaussian_process_regressor",
    "IndefiniteMatrix": "mercer._native",
    "KNeighborsClassifier": "mercer.neighbors",
    "KNeighborsRegressor": "mercer.neighbors",
    "Kernel": "mercer.kernel",
    "KernelLMS": "mercer.kernel_lms",
    "KernelLogisticRegression": "mercer.kernel_logistic_regression",
    "KernelPerceptron": "mercer.kernel_perceptron",
    "KernelRidge": "mercer.kernel_ridge",
    "KernelRidgeCV": "mercer.kernel_ridge_cv",
    "KernelSmoother": "mercer.kernel_smoother",
    "Model": "mercer.model",
    "NotAKernel": "mercer._native",
    "NuSVC": "mercer.svm",
    "NuSVR": "mercer.svm",
    "Nystroem": "mercer.nystroem",
    "OneClassSVM": "mercer.svm",
    "PolynomialFeatureMap": "mercer.feature_map",
    "RBFSampler": "mercer.random_features",
    "RandomFourierFeatures": "mercer.random_features",
    "SVC": "mercer.svm",
    "SVCCV": "mercer.svc_cv",
    "SVR": "mercer.svm",
    "SingularMatrix": "mercer._native",
    "Verdict": "mercer.verdict",
    "load": "mercer.model",
    "show_versions": "mercer.versions",
}

__all__ = sorted(_HOME)

if _os.environ.get("MERCER_SIMD"):
    # A value that cannot be followed is an ImportError now, not when the first name is used.
    _import_module("mercer._native")


def __getattr__(name):
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}") from None
    value = getattr(_import_module(home), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
