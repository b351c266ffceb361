from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._components import Components
from mercer._kernel_estimator import KernelEstimator
from mercer.kernel import Kernel

__all__ = ["Nystroem"]

class Nystroem(Components, KernelEstimator):
    gamma: float | None
    coef0: float | None
    degree: float | None
    kernel_params: dict[str, Any] | None
    landmarks: str | ArrayLike
    random_state: Any
    device: str
    components_: Any
    component_indices_: NDArray[np.int64] | None
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        landmarks: str | ArrayLike = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: None = None) -> Self: ...
    @property
    def normalization_(self) -> NDArray[np.floating]: ...
    def transform(self, X: Any) -> NDArray[np.floating]: ...
