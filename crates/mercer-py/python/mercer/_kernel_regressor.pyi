from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_estimator import KernelEstimator

__all__ = ["KernelRegressor"]

class KernelRegressor(KernelEstimator):
    dual_coef_: NDArray[np.float64]
    intercept_: float | NDArray[np.float64]
    X_fit_: Any
    n_iter_: int
    def predict(self, X: Any) -> NDArray[np.floating]: ...
    def plot(self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Any = None) -> Any: ...
