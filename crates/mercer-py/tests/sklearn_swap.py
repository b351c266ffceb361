"""A pytest plugin that replaces scikit-learn's estimators by mercer's, so that scikit-learn's own tests run on them.

    pytest -p sklearn_swap --pyargs sklearn.tests.test_kernel_ridge
"""

import importlib
import inspect

import pytest

#: The location of a class in scikit-learn, and the class of mercer that replaces it.
SWAPPED = {
    ("sklearn.gaussian_process", "GaussianProcessClassifier"): "GaussianProcessClassifier",
    ("sklearn.gaussian_process", "GaussianProcessRegressor"): "GaussianProcessRegressor",
    ("sklearn.kernel_approximation", "Nystroem"): "Nystroem",
    ("sklearn.kernel_approximation", "RBFSampler"): "RBFSampler",
    ("sklearn.kernel_ridge", "KernelRidge"): "KernelRidge",
    ("sklearn.neighbors", "KNeighborsClassifier"): "KNeighborsClassifier",
    ("sklearn.neighbors", "KNeighborsRegressor"): "KNeighborsRegressor",
    ("sklearn.svm", "NuSVC"): "NuSVC",
    ("sklearn.svm", "NuSVR"): "NuSVR",
    ("sklearn.svm", "OneClassSVM"): "OneClassSVM",
    ("sklearn.svm", "SVC"): "SVC",
    ("sklearn.svm", "SVR"): "SVR",
}

#: scikit-learn's test modules of swapped classes.
SUITES = [
    "sklearn.gaussian_process.tests.test_gpc",
    "sklearn.gaussian_process.tests.test_gpr",
    "sklearn.tests.test_kernel_approximation",
    "sklearn.tests.test_kernel_ridge",
    "sklearn.neighbors.tests.test_neighbors",
    "sklearn.svm.tests.test_svm",
    "sklearn.svm.tests.test_sparse",
]

FORMS = ("csr_matrix", "csr_array", "lil_matrix", "lil_array")

#: Tests that are expected to fail, each with its reason: {test name, with or without its parameters: reason}.
EXPECTED_FAILURES = {
    "test_probability_raises_futurewarning": "probability=True is not deprecated here",
    "test_svc_nusvc_probA_probB_deprecated": "probA_ and probB_ are no attributes on their way out here",
    "test_unsupervised_inputs": "scikit-learn's trees are not accepted as rows",
    "test_predict_sparse_ball_kd_tree": "sparse queries are supported for every algorithm",
    "test_svr_errors": "a function that returns a matrix of the wrong shape is refused by fit, not only by predict",
}

#: The test asks for as many neighbours as it has for the radius of classes that are not of scikit-learn's private mixin.
EXPECTED_FAILURES |= {
    f"test_neigh_predictions_algorithm_agnosticity[float64-{name}-{counts}-{metric}-100-100-10]": "a test by a private class"
    for name in ("KNeighborsClassifier", "KNeighborsRegressor")
    for counts in ("50-500", "100-1000")
    for metric in ("chebyshev", "cityblock", "euclidean", "l1", "l2", "manhattan", "minkowski", "DM_euclidean")
    if (name, metric) != ("KNeighborsClassifier", "DM_euclidean")
}

#: Tests that may fail: they ask dense and sparse rows for the same dual coefficients to seven digits. Dense rows are centred
#: before distances are taken, sparse ones are not, so kernel values differ by rounding; where two steps are equally good the
#: solver may then go another way, and ends elsewhere within the tolerance.
ROUNDING = {
    *(f"test_svc[{form}-rbf-X_train2-y_train2-X_test2]" for form in FORMS),
    *(f"test_sparse_oneclasssvm[{form}-rbf-X_train2-None-X_test2]" for form in FORMS),
    *(f"test_svc_iris[{kernel}-{form}]" for kernel in ("rbf", "poly") for form in FORMS),
}

#: A test whose latent function is zero by symmetry: the class and whether the probability is at least 1/2 depend on rounding.
TIES = {"test_predict_consistent_structured"}

#: Tests of these modules that do not concern swapped classes: {test name: their subject}.
NOT_OURS = {
    name: subject
    for subject, names in {
        "LinearSVC and LinearSVR alone": (
            "test_crammer_singer_binary",
            "test_dense_liblinear_intercept_handling",
            "test_dual_auto",
            "test_dual_auto_edge_cases",
            "test_liblinear_set_coef",
            "test_linear_svm_convergence_warnings",
            "test_linearsvc",
            "test_linearsvc_crammer_singer",
            "test_linearsvc_fit_sampleweight",
            "test_linearsvc_iris",
            "test_linearsvc_parameters",
            "test_linearsvc_verbose",
            "test_linearsvm_liblinear_sample_weight",
            "test_linearsvr_fit_sampleweight",
            "test_lsvc_intercept_scaling_zero",
            "test_sparse_liblinear_intercept_handling",
        ),
        "PolynomialCountSketch alone": (
            "test_polynomial_count_sketch",
            "test_polynomial_count_sketch_dense_sparse",
        ),
    }.items()
    for name in names
}


def pytest_configure(config):
    import mercer

    for (module, name), ours in SWAPPED.items():
        setattr(importlib.import_module(module), name, getattr(mercer, ours))


def is_of_other_neighbors(item):
    """Whether a test of scikit-learn's neighbours is of classes that have no counterpart here."""
    if item.module.__name__ != "sklearn.neighbors.tests.test_neighbors":
        return False
    source = inspect.getsource(item.function)
    ours = "KNeighborsClassifier" in source or "KNeighborsRegressor" in source
    return not ours or any(name in item.name for name in ("Radius", "NearestNeighbors", "KNeighborsTransformer"))


def pytest_collection_modifyitems(config, items):
    others = [item for item in items if item.originalname in NOT_OURS or is_of_other_neighbors(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]
    for item in items:
        reason = EXPECTED_FAILURES.get(item.name) or EXPECTED_FAILURES.get(item.originalname)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        elif item.name in ROUNDING:
            item.add_marker(pytest.mark.xfail(reason="rounding of dense and sparse rows", strict=False))
        elif item.name in TIES:
            item.add_marker(pytest.mark.xfail(reason="a tie", strict=False))
