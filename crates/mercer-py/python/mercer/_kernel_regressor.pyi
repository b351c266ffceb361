from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_estimator import KernelEstimator

__all__ = ["KernelRegressor"]

class KernelRegressor(KernelEstimator):
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    bias: Literal["none", "centred", "column"]
    random_state: int | np.random.RandomState | None
    device: str
    dual_coef_: NDArray[np.float64]
    intercept_: float | NDArray[np.float64]
    X_fit_: Any
    n_iter_: int
    def predict(self, X: Any) -> NDArray[np.floating]: ...
    def plot(self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Any = None) -> Any: ...
