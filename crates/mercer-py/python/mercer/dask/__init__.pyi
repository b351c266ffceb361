from mercer.dask.gaussian_process_regressor import GaussianProcessRegressor as GaussianProcessRegressor
from mercer.dask.kernel_logistic_regression import KernelLogisticRegression as KernelLogisticRegression
from mercer.dask.kernel_ridge import KernelRidge as KernelRidge
from mercer.dask.kernel_ridge_cv import KernelRidgeCV as KernelRidgeCV
from mercer.dask.svm import SVC as SVC

__all__ = ["GaussianProcessRegressor", "KernelLogisticRegression", "KernelRidge", "KernelRidgeCV", "SVC"]
