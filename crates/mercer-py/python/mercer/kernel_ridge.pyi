from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._file_fits import FileFits
from mercer._kernel_regressor import KernelRegressor
from mercer.kernel import Kernel

__all__ = ["KernelRidge"]

class RidgeEstimator(KernelRegressor):
    approx: str | None
    approx_: str | None
    coef_: NDArray[np.float64]
    quality_: dict[str, Any]
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

class KernelRidge(FileFits, RidgeEstimator):
    alpha: float | ArrayLike
    gamma: float | None
    solver: Literal["auto", "cholesky", "mixed", "primal", "cg"]
    tol: float
    max_iter: int | None
    residual_: float | None
    n_samples_seen_: int
    def __init__(
        self,
        alpha: float | ArrayLike = 1,
        *,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approx: str | None = None,
        solver: Literal["auto", "cholesky", "mixed", "primal", "cg"] = "auto",
        bias: Literal["none", "centred", "column"] = "none",
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Self: ...
    def merge(self, other: Self) -> Self: ...
