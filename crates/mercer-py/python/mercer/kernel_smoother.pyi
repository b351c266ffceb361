from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_estimator import KernelEstimator
from mercer.kernel import Kernel

__all__ = ["KernelSmoother"]

class KernelSmoother(KernelEstimator):
    gamma: float | None
    kernel_params: Mapping[str, Any] | None
    random_state: int | np.random.RandomState | None
    device: str
    X_fit_: Any
    y_fit_: NDArray[np.float64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        gamma: float | None = None,
        kernel_params: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def predict(self, X: Any) -> NDArray[np.floating]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
