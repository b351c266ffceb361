from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._kernel_regressor import KernelRegressor
from mercer.kernel import Kernel

__all__ = ["KernelLMS"]

class KernelLMS(KernelRegressor):
    step: Literal["auto"] | float
    max_iter: int
    solver: Literal["batch", "sgd"]
    tol: float
    gamma: float | None
    step_: float
    loss_curve_: NDArray[np.float64]
    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        step: Literal["auto"] | float = "auto",
        max_iter: int = 100,
        solver: Literal["batch", "sgd"] = "batch",
        tol: float = 1e-6,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        bias: Literal["none", "centred", "column"] = "none",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
