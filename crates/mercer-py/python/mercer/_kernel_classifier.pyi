from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_estimator import KernelEstimator

__all__ = ["KernelClassifier"]

class KernelClassifier(KernelEstimator):
    degree: float
    coef0: float
    max_iter: int
    random_state: int | np.random.RandomState | None
    device: str
    classes_: NDArray[Any]
    dual_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    X_fit_: Any
    n_iter_: int
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
    def plot(self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Any = None) -> Any: ...
