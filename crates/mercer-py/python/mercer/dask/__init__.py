"""Kernel machines on a Dask cluster: the estimators of mercer for dask arrays and data frames.

Workers compute sums over their partitions, the sums are added in the order of the partitions, and mercer's solvers use them on
the client. The same partitions give the same bits for every number of workers.

Requires dask.distributed: ``pip install 'mercer[dask]'``.
"""

from importlib import import_module as _import_module

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("mercer.dask needs dask and distributed: pip install 'mercer[dask]'") from error

_HOME = {
    "GaussianProcessRegressor": "mercer.dask.gaussian_process_regressor",
    "KernelLogisticRegression": "mercer.dask.kernel_logistic_regression",
    "KernelRidge": "mercer.dask.kernel_ridge",
    "KernelRidgeCV": "mercer.dask.kernel_ridge_cv",
    "SVC": "mercer.dask.svm",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'mercer.dask' has no attribute {name!r}") from None
    value = getattr(_import_module(home), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
