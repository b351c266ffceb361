from mercer.dask.kernel_logistic_regression import KernelLogisticRegression as KernelLogisticRegression
from mercer.dask.kernel_ridge import KernelRidge as KernelRidge
from mercer.dask.kernel_ridge_cv import KernelRidgeCV as KernelRidgeCV
from mercer.dask.svm import SVC as SVC

__all__ = ["KernelLogisticRegression", "KernelRidge", "KernelRidgeCV", "SVC"]
